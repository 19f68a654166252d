// The questions of the lesson: a number to work out, or a choice. Feedback explains what is wrong with an answer.

import { button, element, fill, set } from "../dom.js";
import { short } from "../core/numbers.js";
import { lesson as say } from "../languages/languages.js";
import { numberIn } from "../model/exercises/answers.js";
import { quantityIn } from "../model/chapters.js";
import { isRight } from "../model/exercises/exercises.js";
import { rich } from "../rich.js";
import { mistakeIn } from "../walk/diagnosis.js";

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {Extract<import("../model/chapters.js").Question, { kind: "number" }>} NumberQuestion */
/** @typedef {Extract<import("../model/chapters.js").Question, { kind: "choice" }>} ChoiceQuestion */

/**
 * The texts of a question about a number, and of a choice.
 * @typedef {{ text: string, right: string, mistakes: Readonly<Record<string, string>> }} NumberWords
 * @typedef {{ text: string, options: readonly string[], feedback: readonly string[] }} ChoiceWords
 */

/**
 * A question in the panel. It reports every answer to its `onAnswer` callback.
 * @typedef {object} Asked
 * @property {HTMLElement} element
 * @property {HTMLElement} told feedback to the last answer
 * @property {(graph: Graph) => void} update
 * @property {() => void} show shows the answer
 * @property {() => void} focus
 * @property {string} draft the content of its field, if it has one
 */

/** A form for a number. @implements {Asked} */
export class NumberForm {
  /**
   * @param {NumberQuestion} question @param {NumberWords} words @param {boolean} diagnoses whether feedback may mention paths
   * @param {(answer: string, isRight: boolean) => void} onAnswer
   */
  constructor(question, words, diagnoses, onAnswer) {
    this.question = question;
    this.words = words;
    this.diagnoses = diagnoses;
    this.onAnswer = onAnswer;
    /** @type {Graph | null} */
    this.graph = null;
    this.input = element("input", { type: "text", inputmode: "text", autocomplete: "off", spellcheck: "false", "aria-label": say.answer });
    this.told = element("p", { class: "feedback", role: "status" });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#judge();
    };
    const form = element("form", { onsubmit }, this.input, element("button", { class: "main" }, say.check));
    this.element = element("div", { class: "ask" }, form);
  }

  /** @param {Graph} graph */
  update(graph) {
    this.graph = graph;
  }

  show() {
    this.#tell(`${say.shown(short(this.#right))} ${this.words.right}`, "");
  }

  focus() {
    this.input.focus();
  }

  get draft() {
    return this.input.value;
  }

  set draft(text) {
    this.input.value = text;
  }

  get #right() {
    return quantityIn(this.question.answer, /** @type {Graph} */ (this.graph));
  }

  #judge() {
    const answer = numberIn(this.input.value);
    set(this.input, "aria-invalid", answer === null && "true");
    if (answer === null) return this.#tell(say.noNumber(this.input.value), "");
    const isDone = isRight(answer, this.#right);
    this.#tell(isDone ? `${say.right} ${this.words.right}` : this.#mistake(answer), isDone ? "right" : "wrong");
    return this.onAnswer(this.input.value, isDone);
  }

  /** Explain what is wrong with a number. @param {number} answer */
  #mistake(answer) {
    const graph = /** @type {Graph} */ (this.graph);
    const known = Object.entries(this.question.mistakes ?? {}).find(([, quantity]) => isRight(answer, quantityIn(quantity, graph)));
    if (known) return this.words.mistakes[known[0]];
    if (isRight(-answer, this.#right)) return say.sign;
    const { answer: asked } = this.question;
    const by = "gradient" in asked && this.diagnoses ? graph.nodes.findIndex(({ name }) => name === asked.gradient) : -1;
    return (by >= 0 && mistakeIn(graph, graph.root, by, answer)?.told(short(answer))) || say.wrong(short(answer));
  }

  /** @param {string} text @param {string} verdict */
  #tell(text, verdict) {
    set(this.told, "data-verdict", verdict);
    fill(this.told, element("span", {}, ...rich(text)));
  }
}

/** A list of options, each with its feedback. @implements {Asked} */
export class Choice {
  /** @param {ChoiceQuestion} question @param {ChoiceWords} words @param {(answer: string, isRight: boolean) => void} onAnswer */
  constructor({ right }, { options, feedback }, onAnswer) {
    this.right = right;
    this.feedback = feedback;
    this.draft = "";
    this.told = element("p", { class: "feedback", role: "status" });
    const choose = (/** @type {number} */ i) => {
      const verdict = i === right ? "right" : "wrong";
      this.#tell(i, i === right ? `${say.right} ${feedback[i]}` : feedback[i], verdict);
      onAnswer(`${i + 1}: ${options[i]}`, i === right);
    };
    this.buttons = options.map((option, i) => {
      const face = button("", () => choose(i), { class: "option" });
      fill(face, ...rich(option));
      return face;
    });
    this.element = element("div", { class: "ask options" }, ...this.buttons);
  }

  update() {}

  show() {
    this.#tell(this.right, `${say.shownChoice} ${this.feedback[this.right]}`, "");
  }

  /** Mark an option and explain it. @param {number} option @param {string} text @param {string} verdict "" if the answer is shown */
  #tell(option, text, verdict) {
    set(this.buttons[option], "data-verdict", verdict || "right");
    set(this.told, "data-verdict", verdict);
    fill(this.told, element("span", {}, ...rich(text)));
  }

  focus() {
    this.buttons[0].focus();
  }
}
