// The labeled arrays of the open part, as heat maps. The selected row is also drawn as bars, or as arcs if it holds
// attention weights (the array is causal, and the row sums to 1).

import { element, fill, scroller, select, set, write } from "../../dom.js";
import { arrays as say } from "../../languages/languages.js";
import { short } from "../../core/numbers.js";
import { drawn } from "../../stage/svg.js";
import { arraysOf } from "../../walk/arrays.js";
import { innermost, pathTo } from "../../walk/modules/modules.js";

/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {import("../../walk/arrays.js").LabeledArray} LabeledArray */
/** @typedef {{ row: number, column: number, place: number, element: HTMLElement }} Cell */

const STEPS = /** @type {Record<string, readonly [down: number, across: number]>} */ ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] });
const [WIDTH, HEIGHT] = [320, 72]; // pixels, of the drawing of arcs or bars
const THICKEST = 8; // pixels, of an arc
const LEAST = 0.01; // smallest weight that is drawn as an arc

export class Arrays {
  /** @type {Model | null} */
  #model = null;
  /** @type {readonly LabeledArray[]} all arrays of the graph */
  #all = [];
  /** @type {LabeledArray | null} */
  #array = null;
  /** @type {Cell[]} */
  #cells = [];
  /** @type {Cell | null} the cell in the tab order */
  #current = null;

  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    const onchange = () => this.#model && this.#show(this.#model);
    this.chosen = element("select", { "aria-label": say.title, onchange });
    this.measure = select(Object.entries(say.measures), { "aria-label": say.measure, onchange });
    this.map = element("table", { class: "map", role: "grid", onkeydown: (/** @type {KeyboardEvent} */ event) => this.#onKey(event) });
    this.read = element("p", { class: "read" });
    this.arcs = drawn("svg", { class: "arcs", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    this.bars = drawn("svg", { class: "bars", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
    this.steepest = element("p", { class: "note" });
    this.element = element(
      "section",
      { class: "arrays" },
      element("h2", {}, say.title),
      element("div", { class: "choices" }, this.chosen, this.measure),
      scroller(say.title, this.map),
      this.read,
      this.arcs,
      this.bars,
      this.steepest,
    );
    this.map.addEventListener("pointerover", ({ target }) => this.#tell(this.#cellOf(target)));
    this.map.addEventListener("focusin", ({ target }) => this.#tell(this.#cellOf(target)));
    this.map.addEventListener("click", ({ target }) => this.#choose(this.#cellOf(target)));
  }

  /** @param {Model} model */
  update(model) {
    const before = this.#model;
    this.#model = model;
    if (model.graph !== before?.graph) this.#all = arraysOf(model.graph);
    if (model.graph !== before?.graph || model.state.open !== before.state.open) this.#list(model);
    this.element.hidden = !this.chosen.options.length;
    if (!this.element.hidden) this.#show(model);
  }

  /** List the arrays that have cells in the open part; keep the chosen array if it is among them. @param {Model} model */
  #list({ whole, state }) {
    const part = pathTo(whole, state.open || whole.key).at(-1) ?? whole;
    const inside = new Set(part.places);
    const kept = this.chosen.value;
    const listed = this.#all.filter(({ name, rows }) => name === kept || rows.some(({ places }) => places.some((place) => inside.has(place))));
    fill(this.chosen, ...listed.map(({ name }) => element("option", { value: name }, name)));
    const first = listed.find(({ name }) => name === kept) ?? listed.find(({ isCausal }) => isCausal) ?? listed[0];
    if (first) this.chosen.value = first.name;
  }

  /** @param {Model} model */
  #show(model) {
    const array = this.#all.find(({ name }) => name === this.chosen.value);
    if (!array) return;
    if (array !== this.#array) this.#build(array);
    const numbers = this.#cells.map(({ place }) => this.#numberAt(model, place));
    const largest = Math.max(0, ...numbers.filter((number) => number !== null && Number.isFinite(number)).map((number) => Math.abs(Number(number))));
    this.#cells.forEach((cell, i) => tint(cell.element, numbers[i], largest));
    const selected = this.#cells.find(({ place }) => place === model.selected?.place);
    for (const { place, element: box } of this.#cells) set(box, "aria-selected", String(place === model.selected?.place));
    this.#makeCurrent(selected ?? this.#current ?? this.#cells[0]);
    this.#tell(selected ?? null);
    this.#drawRow(model, array, selected?.row ?? array.rows.length - 1);
  }

  /** @param {LabeledArray} array */
  #build(array) {
    this.#array = array;
    [this.#cells, this.#current] = [[], null];
    set(this.map, "aria-label", array.name);
    const rows = array.rows.map(({ name, places }, row) => {
      const boxes = places.map((place, column) => {
        if (place < 0) return element("td");
        const box = element("td", { role: "gridcell", tabindex: -1 });
        this.#cells.push({ row, column, place, element: box });
        return box;
      });
      const header = name && element("th", { role: "rowheader", scope: "row" }, name); // a vector has no names of rows
      return element("tr", { role: "row" }, header, ...boxes);
    });
    fill(this.map, element("tbody", { role: "rowgroup" }, ...rows));
  }

  /** Return the value or gradient of a node; null if it is not known yet. @param {Model} model @param {number} place */
  #numberAt({ graph, moment }, place) {
    if (this.measure.value === "gradient") return moment.gradients[place];
    return moment.known[place] ? graph.nodes[place].data : null;
  }

  /** @param {EventTarget | null} target */
  #cellOf(target) {
    return this.#cells.find((cell) => cell.element === target) ?? null;
  }

  /** Describe a cell. @param {Cell | null} cell */
  #tell(cell) {
    if (!cell || !this.#model) return write(this.read, "");
    const { graph, moment } = this.#model;
    const node = graph.nodes[cell.place];
    const gradient = moment.gradients[cell.place];
    const text = say.cell(node.name, moment.known[cell.place] ? short(node.data) : say.unknown, gradient === null ? say.unknown : short(gradient));
    set(cell.element, "aria-label", text);
    return write(this.read, text);
  }

  /** Select the node of a cell and open its part. @param {Cell | null} cell */
  #choose(cell) {
    if (!cell || !this.#model) return;
    const { graph, whole } = this.#model;
    this.act({ selected: graph.nodes[cell.place].name, operand: -1, open: innermost(whole, cell.place).key });
  }

  /** @param {Cell | undefined} cell */
  #makeCurrent(cell) {
    if (this.#current) set(this.#current.element, "tabindex", -1);
    this.#current = cell ?? null;
    if (cell) set(cell.element, "tabindex", 0);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const current = this.#current;
    if (!current || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) this.#go(current, step);
    else if (event.key === "Enter" || event.key === " ") this.#choose(current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Focus the next cell in a direction. @param {Cell} from @param {readonly [down: number, across: number]} step */
  #go(from, [down, across]) {
    const ahead = this.#cells.filter(({ row, column }) => {
      return (down ? column === from.column : row === from.row) && (row - from.row) * down + (column - from.column) * across > 0;
    });
    const next = down + across > 0 ? ahead[0] : ahead.at(-1);
    if (!next) return;
    this.#makeCurrent(next);
    this.#tell(next); // before a screen reader announces it
    next.element.focus();
  }

  /** Draw a row as arcs or as bars. @param {Model} model @param {LabeledArray} array @param {number} row */
  #drawRow(model, array, row) {
    const { places } = array.rows[row];
    const numbers = places.map((place) => (place < 0 || !model.moment.known[place] ? NaN : model.graph.nodes[place].data));
    const isShare = array.isCausal && Math.abs(numbers.reduce((sum, number) => sum + number, 0) - 1) < 1e-6;
    set(this.arcs, "hidden", !isShare);
    set(this.bars, "hidden", isShare || numbers.length < 2 || !numbers.every(Number.isFinite));
    this.arcs.replaceChildren(...(isShare ? arcsOf(numbers, array.width) : []));
    const gradients = places.map((place) => (place < 0 ? null : model.moment.gradients[place]));
    const slopes = gradients.map((gradient) => gradient ?? 0);
    const steepest = slopes.indexOf(Math.min(...slopes));
    const isKnown = !this.bars.hasAttribute("hidden") && slopes[steepest] < 0;
    this.bars.replaceChildren(...(this.bars.hasAttribute("hidden") ? [] : barsOf(numbers, gradients, isKnown ? steepest : -1)));
    write(this.steepest, isKnown ? say.steepest(model.graph.nodes[places[steepest]].name, model.graph.nodes[model.graph.root].name) : "");
  }
}

/** Color a cell by its number. @param {Element & ElementCSSInlineStyle} box @param {number | null} number @param {number} largest */
function tint(box, number, largest) {
  set(box, "class", number === null ? "unknown" : number < 0 ? "negative" : "positive");
  const share = number && largest ? Math.sqrt(Math.min(Math.abs(number) / largest, 1)) : 0; // the square root keeps small numbers visible
  box.style.setProperty("--share", `${Math.round(100 * (Number.isNaN(share) ? 1 : share))}%`);
}

/** Draw arcs from the last position of a row to every position; the width shows the weight. @param {readonly number[]} weights @param {number} count of places */
function arcsOf(weights, count) {
  const at = (/** @type {number} */ i) => ((i + 0.5) * WIDTH) / count;
  const [end, foot] = [at(weights.length - 1), HEIGHT - 6];
  const arcs = weights.map((weight, i) => {
    if (weight < LEAST) return null;
    const height = Math.min(foot - 4, 12 + (end - at(i)) / 4);
    const loop = i === weights.length - 1 ? `M${end - 4},${foot}C${end - 14},${foot - 22} ${end + 14},${foot - 22} ${end + 4},${foot}` : "";
    const path = loop || `M${end},${foot}C${end},${foot - height} ${at(i)},${foot - height} ${at(i)},${foot}`;
    return drawn("path", { d: path, "stroke-width": weight * THICKEST, opacity: 0.35 + 0.65 * weight });
  });
  const dots = Array.from({ length: count }, (_, i) => drawn("circle", { cx: at(i), cy: foot, r: i < weights.length ? 2.5 : 1 }));
  return [...arcs.filter((arc) => arc !== null), ...dots];
}

/**
 * Draw a row as bars from 0, colored by their gradients.
 * @param {readonly number[]} numbers @param {readonly (number | null)[]} gradients @param {number} marked the bar with a pointer; -1 for none
 */
function barsOf(numbers, gradients, marked) {
  const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)];
  const scale = (HEIGHT - 14) / (high - low || 1);
  const zero = 12 + high * scale;
  const wide = WIDTH / numbers.length;
  const largest = Math.max(...gradients.map((gradient) => Math.abs(gradient ?? 0)));
  const bars = numbers.map((number, i) => {
    const bar = drawn("rect", { x: i * wide + 0.1 * wide, y: number > 0 ? zero - number * scale : zero, width: 0.8 * wide, height: Math.abs(number) * scale });
    tint(bar, gradients[i], largest);
    return bar;
  });
  const middle = (marked + 0.5) * wide;
  const pointer = marked < 0 ? [] : [drawn("path", { class: "pointer", d: `M${middle - 5},0h10l-5,8z` })];
  return [...bars, drawn("path", { d: `M0,${zero}H${WIDTH}` }), ...pointer];
}
