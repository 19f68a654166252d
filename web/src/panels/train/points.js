// The training data: the numbers in the graph alone, or points in the plane for a network. Readers can add their own points.

import { button, element, icon, radios, select, set, write } from "../../dom.js";
import { training } from "../../languages/languages.js";
import { general, readNumber, short } from "../../core/numbers.js";
import { Batch } from "../../learn/batch.js";
import { ACTIVATIONS, designOf, HIDDEN, LOSSES, network, outputOf, USUAL } from "../../learn/network.js";
import { columnsOf, made, MOST, needsScaling, PointsError, read, rounded, scaled } from "../../learn/points.js";
import { DATA, LINKED, takesPoints } from "../../model/training.js";
import { Plane, sign } from "./plane.js";

/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {import("../../model/state.js").State} State */
/** @typedef {import("../../model/training.js").Data} Data */
/** @typedef {import("../../learn/points.js").Point} Point */
/** @typedef {import("../../learn/network.js").Design} Design */

const CLICKS = /** @type {const} */ (["show", "one", "other"]); // meanings of a click in the plane
export const RATE = 0.5; // suits the networks on this page
const AGAIN = "M8 2a6 6 0 1 0 5.7 4.1l-1.9.6A4 4 0 1 1 8 4v2.6L12.2 3 8-.6z";

export class Points {
  /** @type {Model | null} */
  #model = null;
  /** @type {readonly Point[]} */
  #points = [];
  /** @type {readonly unknown[]} the settings that the points were made from */
  #source = [];
  /** @type {Batch | null} */
  #batch = null;
  /** @type {Batch | null} the grid points of the plane */
  #grid = null;

  /** @param {(change: Partial<State>) => void} act @param {() => void} onNew called when the training data changes */
  constructor(act, onNew) {
    const { points: say } = training;
    this.act = act;
    this.onNew = onNew;
    this.hidden = choice(HIDDEN.map((hidden, i) => [String(i), say.sizes(hidden)]), say.network, () => this.#build());
    this.activation = choice(ACTIVATIONS.map((name) => [name, name]), say.activation, () => this.#build());
    this.loss = choice(LOSSES.map((name) => [name, say.losses[name]]), say.loss, () => this.#build());
    this.plane = new Plane((x1, x2, near) => this.#click(x1, x2, near));
    const clicks = CLICKS.map((name) => [name === "show" ? null : sign(name), say.clicks[name]]);
    this.clicks = radios(say.click, "click", clicks, () => {});
    this.clicks.inputs[0].checked = true;
    set(this.clicks.element, "class", "clicks");
    this.accuracy = element("p", { class: "tell" });
    this.number = element("input", { type: "number", class: "number", min: 1, step: 1, onchange: () => this.#show(this.number.valueAsNumber - 1) });
    this.point = element("p", { class: "note" });
    this.text = element("textarea", { "aria-label": say.text, spellcheck: "false", placeholder: "x1,x2,y\n0.5,-1.2,1\n-0.3,0.8,-1" });
    this.file = element("input", { type: "file", accept: ".csv,.txt,text/csv,text/plain", hidden: true, onchange: () => this.#readFile() });
    this.problem = element("p", { class: "problem", role: "alert" });
    this.status = element("p", { class: "note", role: "status" });
    this.unlinked = element("p", { class: "note" });
    this.scaling = element("p", { class: "note" }, say.scaleNote, " ", button(say.scale, () => this.#take(scaled(this.#points))));
    this.fields = /** @type {const} */ (["x1", "x2"]).map((name) => element("input", { type: "text", "aria-label": name, autocomplete: "off" }));
    this.class = select([["1", "1"], ["-1", "−1"]], { "aria-label": say.class });
    this.field = element("div", { class: "points" }, this.#network(), ...this.#field());
    this.own = element("div", { class: "points" }, this.clicks.element, this.#own());
  }

  /** The training points; empty when training on the numbers in the graph. */
  get list() {
    return this.#points;
  }

  /** The training points as one batch; null when training on the numbers in the graph or when there are no points. */
  get batch() {
    return this.#batch;
  }

  /** @param {Model} model */
  update(model) {
    const { state, graph, program } = model;
    const { data, seed, own } = state.training;
    this.#model = model;
    for (const part of [this.field, this.own]) part.hidden = !data;
    const source = [data, seed, data === "own" ? own : null, program];
    if (source.some((item, i) => item !== this.#source[i])) this.#replace(source, data, seed, own);
    if (!data) return;
    const design = designOf(program);
    this.hidden.value = String(design ? HIDDEN.findIndex((hidden) => String(hidden) === String(design.hidden)) : "");
    this.activation.value = design?.activation ?? "";
    this.loss.value = design?.loss ?? "";
    const place = placeAmong(this.#points, state.values);
    this.plane.mark(place);
    if (!this.number.matches(":focus")) this.number.value = place < 0 ? "" : String(place + 1);
    set(this.number, "max", this.#points.length);
    this.#tell(graph, place);
  }

  /** Show the results of a graph with new parameters before the rest of the page is updated. @param {import("../../core/graph.js").Graph} graph */
  preview(graph) {
    if (this.#points.length) this.#tell(graph, placeAmong(this.#points, /** @type {Model} */ (this.#model).state.values));
  }

  /** Return the change of state that selects other training data. @param {string} subject @returns {Partial<State> | null} */
  changeTo(subject) {
    const model = /** @type {Model} */ (this.#model);
    const { training: chosen } = model.state;
    if (subject === "graph") return { training: { ...chosen, data: "" } };
    const data = DATA.find((known) => known === subject);
    if (!data) return null;
    const points = data === "own" ? chosen.own : made(/** @type {import("../../learn/points.js").Kind} */ (data), chosen.seed);
    if (takesPoints(model.graph, model.program)) return { training: { ...chosen, data }, values: valuesAt(model.state.values, points[0]), position: Infinity };
    return this.#networkFor(USUAL, data, chosen.seed, points);
  }

  // Elements of the panel

  #network() {
    const { points: say } = training;
    const others = button(icon(AGAIN), () => this.#build(1), { "aria-label": say.others, title: say.others });
    return element("div", { class: "network" }, this.hidden, this.activation, this.loss, others);
  }

  #field() {
    const { points: say } = training;
    return [this.accuracy, this.plane.element, element("div", { class: "add" }, element("label", {}, say.shown, this.number)), this.point];
  }

  #own() {
    const { points: say } = training;
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#add();
    };
    const [x1, x2] = this.fields;
    return element(
      "details",
      { class: "by-hand" },
      element("summary", {}, say.byHand),
      element("p", { class: "note" }, say.hint),
      this.text,
      element("div", { class: "buttons" }, button(say.use, () => this.#read(this.text.value)), button(say.open, () => this.file.click()), this.file),
      this.problem,
      this.status,
      this.scaling,
      this.unlinked,
      element("form", { class: "add", onsubmit }, element("label", {}, "x1", x1), element("label", {}, "x2", x2), element("label", {}, say.class, this.class), element("button", {}, say.add)),
      element("div", { class: "buttons" }, button(say.undo, () => this.#take(this.#points.slice(0, -1))), button(say.clear, () => this.#take([]))),
    );
  }

  // Actions

  /** @param {readonly unknown[]} source @param {Data} data @param {number} seed @param {readonly Point[]} own */
  #replace(source, data, seed, own) {
    const { graph } = /** @type {Model} */ (this.#model);
    this.#source = source;
    this.#points = data === "own" ? own : data ? made(data, seed) : [];
    this.#batch = this.#points.length ? new Batch(graph, columnsOf(this.#points), this.#points.length) : null;
    this.#grid = null;
    if (!data) return;
    this.plane.place(this.#points);
    this.scaling.hidden = data !== "own" || !needsScaling(this.#points);
    write(this.unlinked, data === "own" && own.length > LINKED ? training.points.unlinked(LINKED) : "");
    const output = outputOf(graph);
    const { x1, x2 } = this.plane.grid;
    if (output >= 0) this.#grid = new Batch(graph, new Map([["x1", x1], ["x2", x2]]), x1.length, output);
  }

  /** Show how well the network fits the points. @param {import("../../core/graph.js").Graph} graph @param {number} place */
  #tell(graph, place) {
    const { points: say } = training;
    const output = outputOf(graph);
    this.#batch?.forward(graph);
    const outputs = output >= 0 && this.#batch ? this.#batch.column(output) : new Float64Array(0);
    const right = this.#points.filter(({ y }, i) => outputs[i] * y > 0).length;
    const count = this.#points.length;
    const share = `${Math.round((1000 * right) / count) / 10} %`;
    write(this.accuracy, count ? say.accuracy(right, count, share, general(this.#batch?.mean() ?? NaN, 4)) : training.noPoints);
    this.plane.call(say.field(right, count));
    if (this.#grid) {
      this.#grid.forward(graph);
      this.plane.color(this.#grid.column(output));
    }
    const point = this.#points[place];
    write(this.point, point ? say.point(short(point.x1), short(point.x2), short(point.y), short(outputs[place])) : say.none);
  }

  /** Set the inputs of the graph to a point. @param {number} place */
  #show(place) {
    const point = this.#points[place];
    const model = /** @type {Model} */ (this.#model);
    if (point) this.act({ values: valuesAt(model.state.values, point), position: Infinity });
  }

  /** @param {number} x1 @param {number} x2 @param {number} near */
  #click(x1, x2, near) {
    const chosen = CLICKS[this.clicks.inputs.findIndex(({ checked }) => checked)];
    if (chosen === "show") return near >= 0 ? this.#show(near) : undefined;
    return this.#take([...this.#points, { x1: rounded(x1), x2: rounded(x2), y: chosen === "one" ? 1 : -1 }]);
  }

  /** Add the point from the number fields. */
  #add() {
    const numbers = this.fields.map((field) => readNumber(field.value));
    const wrong = numbers.findIndex((number) => number === null || !Number.isFinite(number));
    this.fields.forEach((field, i) => set(field, "aria-invalid", i === wrong && "true"));
    if (wrong >= 0) return write(this.problem, training.points.noCoordinate(["x1", "x2"][wrong], this.fields[wrong].value));
    const [x1, x2] = numbers.map(Number);
    return this.#take([...this.#points, { x1, x2, y: Number(this.class.value) }]);
  }

  /** Train on the reader's own points. @param {readonly Point[]} own */
  #take(own) {
    const { state } = /** @type {Model} */ (this.#model);
    if (own.length > MOST) return write(this.problem, training.points.full(MOST));
    write(this.problem, "");
    write(this.status, "");
    const values = placeAmong(own, state.values) >= 0 ? state.values : valuesAt(state.values, own[0]);
    return this.act({ values, position: Infinity, training: { ...state.training, data: "own", own } });
  }

  /** @param {string} text */
  #read(text) {
    try {
      const points = read(text);
      this.#take(points);
      write(this.status, training.points.used(points.length));
    } catch (error) {
      if (!(error instanceof PointsError)) throw error;
      write(this.status, "");
      write(this.problem, error.message);
    }
  }

  async #readFile() {
    const file = this.file.files?.[0];
    if (!file) return;
    this.file.value = ""; // allows opening the same file again
    const text = await file.text();
    this.text.value = text.slice(0, 100_000);
    this.#read(text);
  }

  /** Build the chosen network. @param {number} [by] added to the seed, for other weights and points */
  #build(by = 0) {
    const model = /** @type {Model} */ (this.#model);
    const { data, seed } = model.state.training;
    const next = (seed + by) % 1_000_000;
    const hidden = HIDDEN[Number(this.hidden.value)] ?? USUAL.hidden;
    const activation = ACTIVATIONS.find((name) => name === this.activation.value) ?? USUAL.activation;
    const loss = LOSSES.find((name) => name === this.loss.value) ?? USUAL.loss;
    const points = by && data !== "own" && data ? made(data, next) : this.#points;
    this.act(this.#networkFor({ hidden, activation, loss }, data, next, points));
    this.onNew();
  }

  /** @param {Design} design @param {Data} data @param {number} seed @param {readonly Point[]} points @returns {Partial<State>} */
  #networkFor(design, data, seed, points) {
    const { state } = /** @type {Model} */ (this.#model);
    const { program, values } = network(design, seed);
    const rate = state.training.data ? state.training.rate : RATE;
    return {
      program,
      values: valuesAt(new Map([...values, ["x1", 0], ["x2", 0], ["y", 1]]), points[0]),
      position: Infinity,
      selected: "",
      operand: -1,
      open: "",
      order: [],
      training: { ...state.training, data, seed, rate, learned: null, stored: new Map() },
    };
  }
}

/** Return the values with x1, x2 and y set to a point. @param {ReadonlyMap<string, number>} values @param {Point | undefined} point */
function valuesAt(values, point) {
  return point ? new Map([...values, ["x1", point.x1], ["x2", point.x2], ["y", point.y]]) : values;
}

/** Return the index of the point whose numbers are in the graph; -1 for none. @param {readonly Point[]} points @param {ReadonlyMap<string, number>} values */
function placeAmong(points, values) {
  return points.findIndex(({ x1, x2, y }) => x1 === values.get("x1") && x2 === values.get("x2") && y === values.get("y"));
}

/** Create a select with an accessible name. @param {readonly (readonly [value: string, title: string])[]} options @param {string} name @param {() => void} onchange */
function choice(options, name, onchange) {
  return select([["", training.points.own], ...options], { "aria-label": name, title: name, onchange });
}
