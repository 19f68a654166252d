// A question that a teacher put into the link, with a field for the answer. Answers are checked and recorded.

import { element, set, write } from "../../dom.js";
import { ask as say } from "../../languages/languages.js";
import { numberIn } from "../../model/exercises/answers.js";
import { isNumeric, isRightAnswer } from "../../model/exercises/ask.js";
import { record } from "../../model/exercises/results.js";
import { mistakeIn } from "../../walk/diagnosis.js";
import { gradients } from "../../walk/steps.js";
import { plain, short } from "../../core/numbers.js";

/** @typedef {import("../../model/framing.js").Framing} Framing */
/** @typedef {import("../../model/model.js").Model} Model */

const KIND = "question";

export class Ask {
  constructor() {
    this.question = "";
    this.answer = "";
    /** @type {Model | null} */
    this.model = null;
    this.text = element("p", { class: "asks", id: "teachers-question" });
    const labels = { "aria-label": say.answer, "aria-describedby": "teachers-question" };
    this.input = element("input", { type: "text", autocomplete: "off", spellcheck: "false", maxlength: 200, ...labels });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#judge();
    };
    this.form = element("form", { onsubmit }, this.input, element("button", { class: "main" }, say.check));
    this.feedback = element("p", { class: "feedback", role: "status" });
    this.element = element("section", { class: "asked", "aria-label": say.title }, this.text, this.form, this.feedback);
  }

  /** Show the question from a link. @param {Framing} framing */
  frame({ question, answer }) {
    this.element.hidden = question === "";
    this.form.hidden = answer === "";
    if (question === this.question && answer === this.answer) return;
    [this.question, this.answer] = [question, answer];
    write(this.text, question);
    this.input.value = "";
    this.#tell("", "");
  }

  /** @param {Model} model */
  update(model) {
    this.model = model;
  }

  /** Take over the typed answer from the page in another language. @param {Ask} before */
  follow({ input }) {
    this.input.value = input.value;
  }

  #judge() {
    const given = this.input.value;
    const isUnclear = !given.trim() || (isNumeric(this.answer) && numberIn(given) === null);
    set(this.input, "aria-invalid", isUnclear && "true");
    if (isUnclear) return this.#tell(given.trim() ? say.noNumber(given) : say.nothing, "");
    const isRight = this.#isRight(given);
    record({ kind: KIND, key: this.question, answer: given, isRight, hinted: false });
    return isRight ? this.#tell(say.right, "right") : this.#tell(this.#mistake(given) ?? say.wrong, "wrong");
  }

  /** @param {string} given */
  #isRight(given) {
    return isRightAnswer(given, this.question, this.answer);
  }

  /** Explain a wrong number if the question asks for the gradient of the selected node. @param {string} given */
  #mistake(given) {
    const { graph, selected } = /** @type {Model} */ (this.model);
    const number = numberIn(given);
    if (number === null || !selected || !this.#isRight(plain(gradients(graph)[selected.place]))) return null;
    return mistakeIn(graph, graph.root, selected.place, number)?.told(short(number)) ?? null;
  }

  /** @param {string} text @param {string} verdict */
  #tell(text, verdict) {
    set(this.feedback, "data-verdict", verdict);
    write(this.feedback, text);
  }
}
