// The training names, the loss curve, and the generated names.

import { button, element, fill, set, write } from "../../dom.js";
import { say } from "../texts.js";
import { Curve } from "./parts/curve.js";
import { part } from "./picture.js";
import { Samples } from "./parts/samples.js";

/** @typedef {import("../protocol.js").NameProblem} NameProblem */
/** @typedef {import("../document.js").Lesson} Lesson */

const { train: words } = say;
const TOLD = 4; // problems to show

export class Train {
  #shown = ""; // the training names, as text

  /**
   * @param {Lesson} lesson
   * @param {{ use: (names: readonly string[] | null) => void, go: (step: number) => void, run: (step: number) => void, invent: () => void }} act
   */
  constructor(lesson, act) {
    this.act = act;
    this.field = element("textarea", { id: "names", rows: 6, spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-describedby": "names-hint names-problems", oninput: () => this.#tellUnused() });
    this.problems = element("ul", { class: "problems", id: "names-problems", role: "alert" });
    this.count = element("p", { class: "note", role: "status" });
    this.use = button(words.use, () => act.use(split(this.field.value)));
    this.given = button(words.given, () => act.use(null), { class: "quiet" });
    this.curve = new Curve(act, lesson.end + 1);
    this.samples = new Samples(act.invent);
    const names = element(
      "div",
      { class: "names" },
      element("label", { for: "names" }, element("h3", {}, words.names)),
      element("p", { class: "note", id: "names-hint" }, words.hint),
      this.field,
      this.problems,
      element("div", { class: "buttons" }, this.use, this.given),
      this.count,
      this.samples.memorized,
    );
    this.element = part("train", words.heading, words.intro, element("div", { class: "training" }, this.curve.element, this.samples.element, names));
  }

  /**
   * Show the names and problems of a new training.
   * @param {readonly string[]} names @param {readonly NameProblem[]} problems @param {boolean} isOwn @param {number} steps
   */
  begin(names, problems, isOwn, steps) {
    if (names.length) {
      this.#shown = names.join(" ");
      this.field.value = this.#shown;
    }
    this.given.hidden = !isOwn;
    this.curve.begin(steps);
    this.samples.begin(names);
    set(this.field, "aria-invalid", problems.length > 0 && "true");
    const told = problems.slice(0, TOLD).map((problem) => element("li", {}, words.problem(problem)));
    const rest = problems.length - told.length;
    fill(this.problems, ...told, rest ? element("li", {}, words.more(rest)) : null);
    this.use.classList.remove("main");
    write(this.count, names.length ? words.count(names.length) : "");
  }

  #tellUnused() {
    const isChanged = split(this.field.value).join(" ") !== this.#shown;
    this.use.classList.toggle("main", isChanged);
    write(this.count, isChanged ? words.unused : words.count(this.#shown.split(" ").length));
  }
}

/** Split a text into names. @param {string} text */
export function split(text) {
  return text.split(/[\s,;]+/).filter(Boolean);
}
