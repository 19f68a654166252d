// The training panel: take single steps of gradient descent or keep training, and see how loss and parameters change.

import { button, element, select, set, write } from "../../dom.js";
import { training as say } from "../../languages/languages.js";
import { general, plain, readNumber } from "../../core/numbers.js";
import { descend, descended, isLoss } from "../../learn/descent.js";
import { chain } from "../../learn/network.js";
import { compares, isRate } from "../../model/training.js";
import { LossCurve } from "./curve.js";
import { Flow, Parameters, parametersOf } from "./parameter_table.js";
import { Points } from "./points.js";

/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {import("../../model/state.js").State} State */
/** @typedef {import("../../learn/descent.js").Descent} Descent */

/**
 * Steps that were taken but are not yet shown on the whole page.
 * @typedef {object} Ahead
 * @property {import("../../core/graph.js").Graph} graph after these steps
 * @property {number} count
 * @property {Descent} step the last step
 * @property {Descent} next
 */

const SPEEDS = { slow: 1500, normal: 200, fast: 0, fastest: 0 }; // milliseconds between steps; 0: one step per frame
const BUDGET = 8; // milliseconds per frame for training at the fastest speed
const REST = 3; // pause between updates of the whole page, as a multiple of the time that an update takes
const TOLD = 3; // parameters that the sentence names
const CHAIN = 6;

export class Training {
  /** @type {Model | null} */
  #model = null;
  /** The values at step 0. @type {ReadonlyMap<string, number>} */
  #begun = new Map();
  #count = 0;
  #isOwn = false; // whether the current change of state is a training step
  #frame = 0;
  #due = 0; // time of the next step
  /** The training data and settings when the curve began. @type {readonly unknown[]} */
  #subject = [];
  /** @type {Descent | null} the step that the button would take */
  #next = null;
  /** @type {Ahead | null} */
  #ahead = null;
  #showAt = 0; // time of the next update of the whole page

  /** @param {(change: Partial<State>) => void} act */
  constructor(act) {
    this.act = act;
    this.intro = element("p");
    this.subject = select(Object.entries(say.subjects), { "aria-label": say.subject, onchange: () => this.#learnFrom(this.subject.value) });
    this.rate = element("input", { type: "text", "aria-label": say.rate, autocomplete: "off", spellcheck: "false", onchange: () => this.#changeRate(readNumber(this.rate.value)) });
    this.problem = element("p", { class: "problem", role: "alert" });
    this.step = button(say.step, () => this.#stepOnce(), { class: "main" });
    this.run = button(say.run, () => this.#toggle());
    this.speed = select(Object.entries(say.speeds), { class: "speed", "aria-label": say.speed });
    this.speed.value = "fast";
    this.moves = element("p", { class: "stepped", "aria-live": "polite" });
    this.zeroed = element("input", { type: "checkbox", onchange: () => this.#choose({ isZeroed: this.zeroed.checked }) });
    this.zeroedNote = element("p", { class: "note" });
    this.curve = new LossCurve();
    this.points = new Points((change) => this.act(change), () => this.#restart());
    this.parameters = new Parameters((learned) => this.#choose({ learned }));
    this.flow = new Flow();
    this.element = element("section", { class: "training" }, ...this.#parts());
  }

  /** @param {Model} model */
  update(model) {
    const { state, graph, document } = model;
    this.#model = model;
    this.#ahead = null;
    const { rate, learned, isZeroed, data } = state.training;
    this.points.update(model);
    const subject = [model.program, document, data, this.points.list];
    if (subject.some((item, i) => item !== this.#subject[i])) this.#begin(subject);
    else if (!this.#isOwn && !this.#count) this.#begun = state.values;
    const { batch } = this.points;
    const parameters = parametersOf(graph, learned, batch?.columns);
    this.#next = descend(graph, { parameters, rate, isZeroed, stored: state.training.stored, points: batch });
    this.#showChoices(model);
    this.curve.put(this.#count, this.#next.loss);
    this.parameters.update(parameters, this.#next.moves);
    this.flow.update(graph, this.#next.moves);
  }

  /** Stop training. */
  stop() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#ahead = null;
    write(this.run, say.run);
    set(this.moves, "aria-live", "polite");
  }

  #parts() {
    const smaller = button("÷3", () => this.#changeRate(scaledRate(this.#rate, 1 / 3)), { "aria-label": say.smaller, title: say.smaller });
    const larger = button("×3", () => this.#changeRate(scaledRate(this.#rate, 3)), { "aria-label": say.larger, title: say.larger });
    return [
      element("h2", {}, say.title),
      element("div", { class: "chosen-of" }, element("span", { "aria-hidden": "true" }, say.subject), this.subject),
      this.intro,
      element("div", { class: "rate" }, element("span", { "aria-hidden": "true" }, say.rate), this.rate, smaller, larger),
      this.problem,
      element("div", { class: "buttons" }, this.step, this.run, button(say.reset, () => this.#reset()), this.speed),
      this.points.field,
      this.moves,
      this.curve.element,
      element("div", { class: "switch" }, element("label", {}, this.zeroed, element("code", {}, say.zeroed)), this.zeroedNote),
      this.points.own,
      this.parameters.element,
      this.flow.element,
    ];
  }

  get #rate() {
    return this.#model?.state.training.rate ?? 1;
  }

  /** @param {Model} model */
  #showChoices({ state, graph, document }) {
    const { rate, isZeroed, data } = state.training;
    const root = graph.nodes[graph.root].name;
    const count = this.points.list.length;
    write(this.intro, data ? say.introOver(root, count) : [say.intro(root), isLoss(root) ? "" : say.noLoss(root)].filter(Boolean).join(" "));
    this.subject.value = data || "graph";
    for (const option of this.subject.options) option.hidden = document !== null && option.value !== "graph";
    if (!this.rate.matches(":focus")) this.rate.value = plain(rate);
    this.zeroed.checked = isZeroed;
    write(this.zeroedNote, isZeroed ? say.zeroedNote : say.keptNote);
    if (!this.#count) this.#say(data && !count ? say.noPoints : this.#next?.values.size ? say.start : say.noParameters);
  }

  // Actions of the reader

  /** @param {Partial<import("../../model/training.js").Training>} change */
  #choose(change) {
    const { state } = /** @type {Model} */ (this.#model);
    this.act({ training: { ...state.training, ...change } });
  }

  /** @param {string} subject */
  #learnFrom(subject) {
    this.stop();
    const { state } = /** @type {Model} */ (this.#model);
    const steep = subject === "chain" ? { ...chain(CHAIN), position: Infinity, selected: "", training: { ...state.training, data: /** @type {const} */ (""), learned: null, stored: new Map() } } : null;
    const change = steep ?? this.points.changeTo(subject);
    if (change) this.act(change);
  }

  /** @param {number | null} rate */
  #changeRate(rate) {
    const isGood = rate !== null && isRate(rate);
    set(this.rate, "aria-invalid", !isGood && "true");
    write(this.problem, isGood ? "" : say.noRate(this.rate.value));
    if (!isGood) return;
    if (this.#count && rate !== this.#rate) this.curve.mark(this.#count, say.curve.changed(this.#count, plain(rate)));
    this.rate.value = plain(rate);
    this.#choose({ rate });
  }

  #stepOnce() {
    this.#pause();
    if (this.#advance(() => false)) this.#show();
  }

  /** Stop training and show the steps taken so far. */
  #pause() {
    this.#show();
    this.stop();
  }

  #toggle() {
    if (this.#frame) return this.#pause();
    write(this.run, say.pause);
    set(this.moves, "aria-live", "off"); // too fast for a screen reader
    this.#due = 0;
    this.#showAt = 0;
    this.#frame = requestAnimationFrame((now) => this.#tick(now));
  }

  #reset() {
    this.stop();
    const { state } = /** @type {Model} */ (this.#model);
    const shown = ["x1", "x2", "y"].filter((name) => this.points.batch?.columns.has(name)).map((name) => /** @type {const} */ ([name, Number(state.values.get(name))]));
    const values = new Map([...this.#begun, ...shown]); // keeps the point in the graph
    this.#restart();
    this.act({ values, position: Infinity, training: { ...state.training, stored: new Map() } });
  }

  // Training

  /** Start over with other training data. @param {readonly unknown[]} subject */
  #begin(subject) {
    const isMore = this.#subject.slice(0, 3).every((item, i) => item === subject[i]) && subject[2] === "own";
    this.#subject = subject;
    if (isMore && this.#count) return; // only a point was added: training continues
    this.stop();
    this.#restart();
    this.#begun = /** @type {Model} */ (this.#model).state.values;
  }

  #restart() {
    this.#count = 0;
    this.curve.clear();
  }

  /** @param {number} now */
  #tick(now) {
    if (!this.element.isConnected) return this.stop(); // the page is in another mode
    if (now >= this.#due) {
      const speed = /** @type {keyof typeof SPEEDS} */ (this.speed.value);
      this.#due = now + SPEEDS[speed];
      const until = performance.now() + BUDGET;
      const hasStepped = this.#advance(() => speed === "fastest" && performance.now() < until);
      if (!hasStepped) return this.#pause();
      const isDue = SPEEDS[speed] > 0 || performance.now() >= this.#showAt;
      if (!(isDue ? this.#show() : this.#preview())) return this.stop();
    }
    if (this.#frame) this.#frame = requestAnimationFrame((next) => this.#tick(next));
  }

  /**
   * Take one step, and more steps while `isMore()` is true, without showing them. Return whether a step could be taken.
   * @param {() => boolean} isMore
   */
  #advance(isMore) {
    const { state, graph, program } = /** @type {Model} */ (this.#model);
    const { batch } = this.points;
    let { graph: current, next, count } = this.#ahead ?? { graph, next: this.#next, count: this.#count };
    if (!next?.values.size || (state.training.data && !batch)) return false;
    const canGoOn = program !== "" && !compares(program); // otherwise the page has to evaluate the graph after each step
    for (let isFirst = true; isFirst || (canGoOn && isMore() && Number.isFinite(next.loss)); isFirst = false) {
      /** @type {Descent} */
      const step = next;
      if (this.#ahead && !canGoOn) return true;
      count += 1;
      if (canGoOn) {
        current = descended(current, step);
        next = descend(current, { ...state.training, parameters: step.values.keys(), stored: step.gradients, points: batch });
        this.curve.put(count, next.loss);
      }
      this.#ahead = { graph: current, next, count, step };
    }
    return true;
  }

  /** Update only the plane, which is fast; the graph is updated later. Return whether training can continue. */
  #preview() {
    const { graph, next } = /** @type {Ahead} */ (this.#ahead);
    this.points.preview(graph);
    return Number.isFinite(next.loss) || this.#show();
  }

  /** Show the steps taken so far on the whole page. Return whether training can continue. */
  #show() {
    if (!this.#ahead) return true;
    const { state, graph } = /** @type {Model} */ (this.#model);
    const { step, count } = this.#ahead;
    const [began, before] = [performance.now(), this.#count];
    const stored = state.training.isZeroed ? state.training.stored : step.gradients;
    this.#ahead = null;
    this.#count = count;
    this.#isOwn = true;
    this.act({ values: new Map([...state.values, ...step.values]), position: Infinity, training: { ...state.training, stored } });
    this.#isOwn = false;
    const now = performance.now();
    this.#showAt = now + REST * (now - began);
    const isTaken = this.#model?.graph !== graph || [...step.values].every(([name, value]) => Object.is(this.#model?.state.values.get(name), value));
    if (!isTaken) this.#count = before; // the page shows why: the graph has a hand-made node
    else this.#tell(step, count);
    return isTaken && Number.isFinite(this.#next?.loss);
  }

  /** Describe what a step has done. @param {Descent} step @param {number} count */
  #tell(step, count) {
    const { graph, state } = /** @type {Model} */ (this.#model);
    const { data, rate, isZeroed } = state.training;
    const name = graph.nodes[graph.root].name;
    const root = data ? say.meanOf(name, this.points.list.length) : name;
    const moved = step.moves.filter(({ isParameter }) => isParameter);
    const told = moved.slice(0, TOLD).flatMap(({ name: parameter, before, stored, fresh, gradient, after }) => [
      isZeroed ? "" : say.added(parameter, digits(stored), digits(fresh), digits(gradient)),
      say.moved(parameter, digits(before), digits(rate), gradient < 0 ? `(${digits(gradient)})` : digits(gradient), digits(after)),
    ]);
    const after = this.#next?.loss ?? NaN;
    const isLost = !Number.isFinite(after);
    const more = moved.length > TOLD ? say.others(moved.length - TOLD) : "";
    this.#say([say.stepped(count, root, digits(step.loss), digits(after)), ...told, more, isLost ? say.lost(root) : ""].filter(Boolean).join("\n"), isLost);
  }

  /** @param {string} text @param {boolean} [isWrong] */
  #say(text, isWrong = false) {
    set(this.moves, "data-verdict", isWrong && "wrong");
    write(this.moves, text);
  }
}

/** Multiply a rate by a factor and round it to two digits. @param {number} rate @param {number} factor */
function scaledRate(rate, factor) {
  return Number((rate * factor).toPrecision(2));
}

/** Format a number with four digits, to keep lines with several numbers short. @param {number} number */
function digits(number) {
  return general(number, 4);
}
