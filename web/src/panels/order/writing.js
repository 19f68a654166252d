// A switch between accumulating contributions with += and overwriting the gradient with =.

import { element } from "../../dom.js";
import { writing as say } from "../../languages/languages.js";

export class Writing {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    const choices = [
      { overwrite: false, sign: "+=", meaning: say.accumulate },
      { overwrite: true, sign: "=", meaning: say.overwrite },
    ];
    this.choices = choices.map(({ overwrite, sign, meaning }) => {
      const input = element("input", { type: "radio", name: "writing", onchange: () => act({ overwrite }) });
      return { overwrite, input, label: element("label", {}, input, element("code", {}, sign), ` ${meaning}`) };
    });
    const labels = this.choices.map(({ label }) => label);
    this.element = element("fieldset", { class: "switch" }, element("legend", {}, say.title), ...labels);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ state }) {
    for (const { overwrite, input } of this.choices) input.checked = state.overwrite === overwrite;
  }
}
