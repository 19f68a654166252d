// The exercises: one question at a time. Answers are checked and recorded; a hint shows one step of the walk.

import { button, element, fill, set, write } from "../../dom.js";
import { exercises as say } from "../../languages/languages.js";
import { answerTo, asked, exercise, isRight } from "../../model/exercises/exercises.js";
import { numberIn } from "../../model/exercises/answers.js";
import { short } from "../../core/numbers.js";
import { diagnose } from "../../walk/diagnosis.js";
import { forget, record, solved } from "../../model/exercises/results.js";
import { forgetPlace } from "../../model/preferences.js";
import { HandIn } from "./hand_in.js";

const KIND = "exercise";

export class Exercise {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    this.number = -1;
    this.current = exercise(0);
    this.hints = 0;
    this.moment = { position: 0, last: 0 };
    this.question = element("h3", { class: "question", tabindex: -1 });
    this.input = element("input", { type: "text", autocomplete: "off", spellcheck: "false", "aria-label": say.answer });
    this.feedback = element("p", { class: "feedback", role: "status" });
    this.hint = button(say.hint, () => this.#giveHint());
    this.next = button(say.next, () => this.#turn(1));
    this.score = element("p", { class: "note" });
    this.handIn = new HandIn();
    this.forget = button(say.forget, () => this.#forget(), { class: "quiet" });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#judge();
    };
    this.form = element("form", { onsubmit }, this.input, element("button", { class: "main" }, say.check), this.hint);
    this.element = element(
      "section",
      { class: "exercise" },
      element("h2", {}, say.title),
      this.question,
      element("p", {}, say.how),
      this.form,
      this.feedback,
      element("div", { class: "buttons" }, button(say.previous, () => this.#turn(-1)), this.next),
      this.score,
      this.handIn.element,
      this.forget,
    );
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ state, shown, last }) {
    const { position } = state;
    this.moment = { position, last };
    if (state.exercise !== this.number) this.#show(state.exercise);
    set(this.hint, "aria-disabled", position === last && "true");
    this.hints = Math.max(this.hints, position - shown.forward.length);
    this.#showResults();
  }

  /** @param {number} number */
  #show(number) {
    this.number = number;
    this.current = exercise(number);
    this.hints = 0;
    this.input.value = "";
    set(this.next, "class", null);
    fill(this.feedback);
    write(this.question, say.question(number + 1, this.current.root, this.current.by));
  }

  #judge() {
    const answer = numberIn(this.input.value);
    const right = answerTo(this.current);
    set(this.input, "aria-invalid", answer === null && "true");
    if (answer === null) return this.#say(say.noNumber(this.input.value), "");
    const { current, hints } = this;
    record({ kind: KIND, key: current.key, answer: this.input.value, isRight: isRight(answer, right), hinted: hints > 0 });
    this.#showResults();
    if (!isRight(answer, right)) return this.#say(this.#diagnosis(answer), "wrong");
    this.#say(say.right(this.current.root, this.current.by, short(right)), "right");
    set(this.next, "class", "main");
    return this.act({ position: this.moment.last });
  }

  /** Explain what is wrong with an answer. @param {number} answer */
  #diagnosis(answer) {
    const { graph, place } = asked(this.current);
    return diagnose(graph, graph.root, place, answer);
  }

  #giveHint() {
    fill(this.feedback);
    this.act({ position: this.moment.position + 1 });
  }

  /** @param {number} by */
  #turn(by) {
    this.act({ exercise: Math.max(this.number + by, 0), position: 0 });
    this.question.focus();
  }

  #forget() {
    forget();
    forgetPlace();
    this.#showResults();
    this.question.focus(); // the button is gone
  }

  #showResults() {
    this.handIn.update();
    this.forget.hidden = this.handIn.element.hidden; // until the first answer
    const found = solved(KIND);
    write(this.score, say.score([...found.values()].map(({ alone }) => alone), found.has(this.current.key)));
  }

  /** @param {string} text @param {string} verdict */
  #say(text, verdict) {
    set(this.feedback, "data-verdict", verdict);
    write(this.feedback, text);
  }
}
