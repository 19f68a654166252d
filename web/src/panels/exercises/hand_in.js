// Export of the reader's answers for a teacher, as a file or as a code.

import { button, element, write } from "../../dom.js";
import { exercises as say } from "../../languages/languages.js";
import { code, json, summary } from "../../model/exercises/results.js";

export class HandIn {
  constructor() {
    this.code = element("code");
    this.element = element("div", { class: "hand-in" }, element("p", { class: "note" }, say.code, this.code, say.noProof), button(say.file, download));
  }

  /** Show the code after the first answer. */
  update() {
    this.element.hidden = summary().tries === 0;
    write(this.code, code());
  }
}

/** Download all answers as a file. */
function download() {
  const address = URL.createObjectURL(new Blob([json()], { type: "application/json" }));
  element("a", { href: address, download: "gradwalk-results.json" }).click();
  URL.revokeObjectURL(address);
}
