// One question after another: the answer is checked, a hint walks one step, and what was solved is remembered here.

import { button, element, fill, set, write } from "../dom.js";
import { exercises as say } from "../english/page.js";
import { answerTo, exercise, isRight } from "../model/exercises.js";
import { evaluate, parse } from "../core/expression.js";
import { short } from "../core/numbers.js";

const STORE = "gradwalk.exercises";

/** @typedef {{ solved: Record<string, boolean> }} Progress by key of the exercise, whether it was solved without a hint */

export class Exercise {
  /** @param {(change: Partial<import("../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    this.number = -1;
    this.current = exercise(0);
    this.hints = 0;
    this.position = 0;
    this.forward = 0;
    this.last = 0;
    this.progress = remembered();
    this.question = element("h3", { class: "question", tabindex: -1 });
    this.input = element("input", { type: "text", autocomplete: "off", spellcheck: "false", "aria-label": say.answer });
    this.feedback = element("p", { class: "feedback", role: "status" });
    this.hint = button(say.hint, () => this.#giveHint());
    this.next = button(say.next, () => this.#turn(1));
    this.score = element("p", { class: "note" });
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
      button(say.forget, () => this.#forget(), { class: "quiet" }),
    );
  }

  /** @param {import("../model/model.js").Model} model */
  update({ state, shown, last }) {
    this.forward = shown.forward.length;
    this.last = last;
    if (state.exercise !== this.number) this.#show(state.exercise);
    set(this.hint, "aria-disabled", state.position === last && "true");
    this.hints = Math.max(this.hints, state.position - this.forward);
    this.position = state.position;
    const { solved } = this.progress;
    write(this.score, say.score(Object.values(solved), Object.hasOwn(solved, this.current.key)));
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
    if (!isRight(answer, right)) return this.#say(say.wrong(short(answer), Math.sign(answer) === -Math.sign(right)), "wrong");
    this.progress.solved[this.current.key] ??= this.hints === 0;
    remember(this.progress);
    this.#say(say.right(this.current.root, this.current.by, short(right)), "right");
    set(this.next, "class", "main");
    return this.act({ position: this.last });
  }

  #giveHint() {
    fill(this.feedback);
    this.act({ position: this.position + 1 });
  }

  /** @param {number} by */
  #turn(by) {
    this.act({ exercise: Math.max(this.number + by, 0), position: 0 });
    this.question.focus();
  }

  #forget() {
    this.progress = { solved: {} };
    remember(this.progress);
    write(this.score, say.score([], false));
  }

  /** @param {string} text @param {string} verdict */
  #say(text, verdict) {
    set(this.feedback, "data-verdict", verdict);
    write(this.feedback, text);
  }
}

/** The number that an answer such as -1.5 or 3*2 stands for; null for anything else. @param {string} text */
function numberIn(text) {
  try {
    const graph = evaluate(parse(text.replaceAll("\u2212", "-")), new Map());
    const number = graph.nodes[graph.root].data;
    return Number.isFinite(number) ? number : null;
  } catch {
    return null;
  }
}

/** @returns {Progress} */
function remembered() {
  try {
    const stored = JSON.parse(localStorage.getItem(STORE) ?? "{}");
    const solved = Object.entries(stored?.solved ?? {}).map(([key, alone]) => [key, alone === true]);
    return { solved: Object.fromEntries(solved) };
  } catch {
    return { solved: {} }; // no storage here, or not of ours: progress lasts as long as the page
  }
}

/** @param {Progress} progress */
function remember(progress) {
  try {
    localStorage.setItem(STORE, JSON.stringify(progress));
  } catch {
    // storage is full or forbidden: progress lasts as long as the page
  }
}
