// The boxes on the stage: nodes, and collapsed groups of nodes.
//
// Fonts have the minimum size that fit.js assumes, so text stays legible when the drawing is scaled down.

import { set, write } from "../dom.js";
import { short } from "../core/numbers.js";
import { oneLine } from "../core/names.js";
import { QUOTIENT, QuotientBlock } from "./quotient.js";
import { drawn, exceeds, shortened } from "./svg.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("./svg.js").Ruler} Ruler */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").Moment} Moment */

/**
 * Texts of the stage. A name describes an element and its current state in full, for screen readers.
 * @typedef {object} Texts
 * @property {(place: number) => string} nameOfNode
 * @property {(key: import("../types.js").EdgeKey) => string} nameOfEdge
 * @property {(part: Part) => string} nameOfPart
 * @property {(edge: import("../types.js").Edge) => string} nameOfBundle
 * @property {string} data caption before a node's data
 * @property {string} gradient caption before a node's gradient
 * @property {(count: number) => string} count node count of a group, as in "40 nodes"
 * @property {(done: number, total: number) => string} progress, as in "12 of 40"
 * @property {(gradient: string) => string} largest largest gradient of a group
 * @property {(groups: import("../core/groups.js").Groups, shapes: import("./picture.js").Shapes) => string} pictureNote shown
 *   below a picture of a network
 */

/**
 * Marks painted in addition to the state of the walk.
 * @typedef {object} Marks
 * @property {{ place: number } | { edge: import("../types.js").EdgeKey } | null} selected
 * @property {ReadonlyMap<number, number>} badges by node index: its position in the order the reader chose
 * @property {import("./quotient.js").NudgeMarks | null} [nudge] effect of a nudge, in a drawing with room for it
 * @property {boolean} [isAsking] whether a question is open; then names do not give away the answer
 * @property {boolean} [isFixed] whether the numbers of the leaves cannot be dragged
 * @property {number | null} [asked] index of the node that a question asks about
 * @property {number} largest largest absolute gradient in the whole walk; it gets the heaviest line
 */

const CARD = 58; // height of a card
const ROW = 17; // height of its data and gradient rows
const HEADER = 23; // height of its header, with operation and label
const PADDING = 8;
const RADIUS = 7;
const PILL = 19; // height of an operation's pill
const PORT = 9; // distance between line ends at a box, if there is room
const TALLEST = 240; // maximum height of a box with many operands
const TICK = 15; // width of a visited node's tick
const NARROWEST = 92;
const WIDEST_LABEL = 116;
const WIDEST_SYMBOL = 84;
const COLUMNS = "-0.707107"; // the widest number that fits; longer numbers are squeezed
const SHEETS = 4; // offset between the stacked sheets of a collapsed group
const PART = { width: 176, height: 84 };

const LABEL = 13;
const SYMBOL = 13;
const NUMBER = 12;
const KEY = 12;
const BOLD = 600;

/**
 * Compute one width for all cards, so that the columns are even.
 * @param {readonly Node[]} nodes @param {Ruler} ruler
 */
export function cardWidth(nodes, ruler) {
  const numbers = ruler.width("data", KEY) + 8 + ruler.width(COLUMNS, NUMBER);
  const heads = nodes.map((node) => {
    const label = Math.min(ruler.width(oneLine(node.name), LABEL, BOLD), WIDEST_LABEL);
    return pillOf(node, ruler).room + label + TICK;
  });
  return 2 * Math.ceil((Math.max(NARROWEST - 2 * PADDING, numbers, ...heads) + 2 * PADDING) / 2);
}

/** Measure the pill with a node's operation. @param {Node} node @param {Ruler} ruler */
function pillOf(node, ruler) {
  if (!node.operands.length) return { symbol: "", width: 0, room: 0 };
  const symbol = shortened(symbolOf(node), WIDEST_SYMBOL, (text) => ruler.width(text, SYMBOL));
  const width = Math.max(PILL, Math.ceil(ruler.width(symbol, SYMBOL)) + 10);
  return { symbol, width, room: width + 2 };
}

/** Format an operation with its constants in position, as in `2 *` and `max(·, 0)`. @param {Node} node */
export function symbolOf({ symbol, operands, constants, row, gather }) {
  const plain = oneLine(symbol) || "?";
  if (gather || operands.length > 3 || operands.every((operand) => operand >= 0)) return plain;
  const written = (/** @type {string} */ blank) =>
    operands.map((operand, i) => (operand >= 0 ? blank : short(constants[i] ?? NaN)));
  if (!row?.isOperator) return `${plain}(${written("·").join(", ")})`;
  const [left, right] = written("");
  return `${left} ${plain} ${right}`.trim();
}

/** A box on the stage: an SVG element with a size and connection points for lines. */
export class Box {
  /** The state that was painted last, to skip repainting the same state. */
  #look = "";
  corner = { x: 0, y: 0 };
  width = 0;
  height = 0;
  title = drawn("title");
  element = drawn("g");
  /** Click target and focus target on top of the picture. Its accessible name describes the picture. */
  button = drawn("rect", { class: "hit", role: "button", tabindex: -1 }, this.title);

  /** @param {readonly SVGElement[]} picture */
  show(picture) {
    set(this.button, "width", this.width);
    set(this.button, "height", this.height);
    this.element.append(drawn("g", { "aria-hidden": "true" }, ...picture), this.button);
  }

  /** @param {Point} corner */
  moveTo(corner) {
    this.corner = corner;
    this.element.setAttribute("transform", `translate(${corner.x},${corner.y})`);
  }

  /** @returns {Point} */
  get middle() {
    return { x: this.corner.x + this.width / 2, y: this.corner.y + this.height / 2 };
  }

  /**
   * Return the start of the i-th of `count` outgoing lines, on the right side or at the bottom.
   * @param {number} i @param {number} count @param {boolean} isDown @returns {Point}
   */
  exit(i, count, isDown) {
    const { x, y } = this.middle;
    if (isDown) return { x: x + spread(i, count, 22, this.width - 4 * RADIUS), y: this.corner.y + this.height };
    return { x: this.corner.x + this.width, y: y + spread(i, count, 14, this.height - 2 * RADIUS) };
  }

  /**
   * Return the end of the i-th of `count` incoming lines, on the left side or at the top.
   * @param {number} i @param {number} count @param {boolean} isDown @returns {Point}
   */
  entry(i, count, isDown) {
    const { x, y } = this.middle;
    if (isDown) return { x: x + spread(i, count, 36, this.width - 4 * RADIUS), y: this.corner.y };
    return { x: this.corner.x, y: y + spread(i, count, 20, this.height - 3 * RADIUS) };
  }

  /** Return whether the state differs from the painted one; if so, update the name. @param {readonly unknown[]} state @param {() => string} name */
  changed(state, name) {
    const look = state.join(" ");
    if (look === this.#look) return false;
    this.#look = look;
    const text = name();
    set(this.button, "aria-label", text);
    write(this.title, text);
    return true;
  }
}

/** Room reserved for a nudge: a row for the change, and in the root's box also the quotient. @typedef {"change" | "quotient" | ""} NudgeRoom */

/** Card of a node: operation and label, data, gradient. */
export class NodeBox extends Box {
  /**
   * @param {Node} node @param {number} entries number of incoming lines @param {number} width
   * @param {Ruler} ruler @param {Texts} texts @param {NudgeRoom} [room]
   */
  constructor(node, entries, width, ruler, texts, room = "") {
    super();
    this.place = node.place;
    this.ruler = ruler;
    this.pill = pillOf(node, ruler);
    this.width = room === "quotient" ? Math.max(width, QUOTIENT.width) : width;
    const card = CARD + (room ? ROW : 0);
    this.height = Math.max(card, Math.min(TALLEST, 16 + PORT * entries)) + (room === "quotient" ? QUOTIENT.height : 0);
    this.hasRoom = room !== "";
    this.last = room ? 2 : 1; // row of the gradient
    this.captions = texts;
    this.keys = { data: key("data", texts.data, baseline(0)), change: key("change", "", baseline(1)) };
    this.numbers = { data: this.#number("data", 0), change: this.#number("change", 1), grad: this.#number("grad", this.last) };
    this.quotient = room === "quotient" ? new QuotientBlock(this.width, card, ruler) : null;
    this.share = drawn("path", { class: "share", d: foot(this.width, this.height, this.height - HEADER - this.last * ROW - 1) });
    this.badge = drawn("g", { class: "badge" });
    this.#build(node, texts);
    if (!node.operands.length) this.#makeSlide();
  }

  /** @param {Node} node @param {Moment} moment @param {Marks} marks @param {Texts} texts */
  paint({ place, data }, moment, { selected, badges, asked, largest, nudge }, texts) {
    const known = moment.known[place] ?? false;
    const gradient = moment.gradients[place] ?? null;
    const trace = this.hasRoom ? nudge?.traces.get(place) : undefined;
    const badge = badges.get(place) ?? (asked === place ? "?" : "");
    const classes = [
      "node",
      known ? "" : "unknown",
      signOf(gradient),
      moment.visited[place] ? "visited" : "",
      moment.active === place ? `active ${moment.phase}` : "",
      selected && "place" in selected && selected.place === place ? "selected" : "",
      badge ? "placed" : "",
      asked === place ? "asked" : "",
      trace ? `nudge ${trace.kind}` : "",
    ].filter(Boolean);
    const share = shareOf(gradient, largest);
    const quotient = (this.quotient && nudge?.quotient) ?? null;
    const told = [trace, quotient].flatMap((part) => Object.values(part ?? {}));
    if (!this.changed([...classes, data, gradient, share, badge, ...told], () => texts.nameOfNode(place))) return;
    set(this.element, "class", classes.join(" "));
    this.element.style.setProperty("--turn", String(trace?.turn ?? 0));
    write(this.keys.data, trace?.key ?? this.captions.data);
    write(this.keys.change, trace?.mark ?? "");
    this.#write(this.numbers.data, trace?.data ?? (known ? short(data) : "?"), this.keys.data);
    this.#write(this.numbers.change, trace?.change ?? "", this.keys.change);
    this.quotient?.paint(quotient);
    this.#write(this.numbers.grad, gradient === null ? "" : short(gradient));
    this.share.style.fillOpacity = String(gradient ? 0.1 + 0.18 * share : 0);
    const [, number] = this.badge.children;
    if (number) write(number, String(badge));
  }

  /** @param {Node} node @param {Texts} texts */
  #build(node, texts) {
    const { width, height } = this;
    const start = PADDING + (this.pill.room ? this.pill.room - 3 : 0);
    const measured = (/** @type {string} */ text) => this.ruler.width(text, LABEL, BOLD);
    const text = drawn("text", { class: node.label ? "label" : "label unnamed", x: start, y: 16 });
    text.textContent = shortened(oneLine(node.name), width - start - PADDING - TICK + 2, measured);
    // A nested viewport clips glyphs and combining marks that overflow.
    const window = drawn("svg", { width: width - TICK, height: HEADER, class: "window" }, text);
    this.badge.append(drawn("circle", { r: 11, cx: 0, cy: -1 }), drawn("text", { x: 0, y: 3.5 }));
    const [halo, outline] = rings(width, height);
    this.show([
      halo,
      drawn("rect", { class: "card", x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: RADIUS }),
      this.share,
      drawn("path", { class: "rule", d: `M1,${HEADER - 0.5}H${width - 1}` }),
      ...this.#operation(),
      window,
      this.keys.data,
      this.numbers.data,
      ...(this.hasRoom ? [this.keys.change, this.numbers.change] : []),
      key("grad", texts.gradient, baseline(this.last)),
      this.numbers.grad,
      ...(this.quotient ? [this.quotient.element] : []),
      tick(width),
      outline,
      this.badge,
    ]);
  }

  #operation() {
    const { symbol, width } = this.pill;
    if (!symbol) return [];
    const text = drawn("text", { class: "symbol", x: 2.5 + width / 2, y: 16 });
    text.textContent = symbol;
    return [drawn("rect", { class: "pill", x: 2.5, y: 2.5, width, height: PILL - 1, rx: RADIUS - 2 }), text];
  }

  /** Add the drag area over the right half of a leaf's number, on top of the box's own click target. */
  #makeSlide() {
    const y = baseline(0) + 3.5;
    const start = this.width / 2 + 4;
    this.element.append(
      drawn("path", { class: "track", d: `M${start + 4},${y}H${this.width - PADDING}` }),
      drawn("rect", { class: "slide", x: start, y: HEADER, width: this.width - start - 1, height: ROW + 2 }),
    );
  }

  /** @param {string} kind @param {number} row */
  #number(kind, row) {
    return drawn("text", { class: `number ${kind}`, x: this.width - PADDING, y: baseline(row) });
  }

  /**
   * @param {SVGTextElement} target @param {string} text @param {SVGTextElement} [key] caption beside the number;
   *   without it the number gets its default width
   */
  #write(target, text, key) {
    if (target.textContent === text) return;
    target.textContent = text;
    const left = this.width - 2 * PADDING - 6 - (key ? this.ruler.width(key.textContent ?? "", KEY) : Infinity);
    const room = Math.max(this.ruler.width(COLUMNS, NUMBER), left);
    squeeze(target, this.ruler.width(text, NUMBER) > room ? room : null);
  }
}

/** Box of a collapsed group, drawn as a stack of sheets: its name, its progress and its largest gradient. */
export class PartBox extends Box {
  /** @param {Part} part @param {Ruler} ruler */
  constructor(part, ruler) {
    super();
    this.part = part;
    this.ruler = ruler;
    this.width = PART.width + 2 * SHEETS;
    this.height = PART.height + 2 * SHEETS;
    this.bar = drawn("path", { class: "bar" });
    this.count = drawn("text", { class: "key", x: PADDING, y: 54 });
    this.progress = drawn("text", { class: "key at-end", x: PART.width - PADDING, y: 54 });
    this.largest = drawn("text", { class: "key grad", x: PADDING, y: PART.height - 6 });
    this.share = drawn("path", { class: "share", d: foot(PART.width, PART.height, ROW) });
    this.#build();
  }

  /** @param {Moment} moment @param {Marks} marks @param {Texts} texts */
  paint(moment, { largest, selected }, texts) {
    const { places } = this.part;
    const { isBackward, count, isActive, isSelected, gradient } = lookOf(this.part, moment, selected);
    const classes = [
      "part",
      gradient === null ? "" : Number.isFinite(gradient) ? "some" : "unbounded",
      isActive ? `active ${moment.phase}` : "",
      isSelected ? "selected" : "",
      isBackward || count ? "" : "unknown",
      isBackward && count === places.length ? "visited" : "",
    ].filter(Boolean);
    if (!this.changed([...classes, count, gradient, largest], () => texts.nameOfPart(this.part))) return;
    set(this.element, "class", classes.join(" "));
    const full = PART.width - 2 * PADDING;
    set(this.bar, "d", count ? `M${PADDING},33h${(full * count) / places.length}` : "");
    this.#write(this.count, texts.count(places.length), full * 0.5);
    this.#write(this.progress, texts.progress(count, places.length), full * 0.45);
    this.#write(this.largest, gradient === null ? "" : texts.largest(short(gradient)), full);
    this.share.style.fillOpacity = String(gradient ? 0.1 + 0.18 * shareOf(gradient, largest) : 0);
  }

  #build() {
    const { width, height } = PART;
    const room = width - 2 * PADDING - TICK;
    const name = drawn("text", { class: "label", x: PADDING, y: 19 });
    name.textContent = shortened(oneLine(this.part.name), room, (text) => this.ruler.width(text, LABEL, BOLD));
    const sheets = [2, 1, 0].map((i) => {
      const corner = { x: i * SHEETS + 0.5, y: i * SHEETS + 0.5 };
      const size = { width: width - 1, height: height - 1, rx: RADIUS };
      return drawn("rect", { class: i ? "card sheet" : "card", ...corner, ...size });
    });
    const [halo, outline] = rings(this.width, this.height);
    this.show([
      halo,
      ...sheets,
      drawn("svg", { width: width - TICK, height: HEADER, class: "window" }, name),
      drawn("path", { class: "groove", d: `M${PADDING},33h${width - 2 * PADDING}` }),
      this.bar,
      this.count,
      this.progress,
      this.share,
      this.largest,
      tick(width),
      outline,
    ]);
  }

  /** @param {SVGTextElement} target @param {string} text @param {number} room */
  #write(target, text, room) {
    write(target, text);
    squeeze(target, this.ruler.width(text, KEY) > room ? room : null);
  }
}

/**
 * Summarize the nodes of a part: how many the pass has reached, and the largest gradient.
 * @param {Part} part @param {Moment} moment @param {Marks["selected"]} selected
 */
export function lookOf({ places }, moment, selected) {
  const isBackward = moment.phase === "backward" || moment.phase === "end";
  const done = isBackward ? moment.visited : moment.known;
  const chosen = selected && "place" in selected ? selected.place : null;
  let [count, isActive, isSelected] = [0, false, false];
  /** @type {number | null} */
  let gradient = null;
  for (const place of places) {
    if (done[place]) count += 1;
    if (place === moment.active) isActive = true;
    if (place === chosen) isSelected = true;
    const found = moment.gradients[place];
    if (found !== null && exceeds(found, gradient)) gradient = Math.abs(found);
  }
  return { isBackward, count, isActive, isSelected, gradient };
}

/** @param {number | null} gradient */
export function signOf(gradient) {
  if (gradient === null) return "";
  if (!Number.isFinite(gradient)) return "unbounded";
  return gradient > 0 ? "positive" : gradient < 0 ? "negative" : "zero";
}

/** Compute the width in pixels of a line that carries a gradient. @param {number | null} gradient @param {number} largest */
export function weightOf(gradient, largest) {
  return Math.round((1.5 + 3.5 * shareOf(gradient, largest)) * 10) / 10;
}

/** Compute the size of a gradient relative to the largest, as a square root from 0 to 1. @param {number | null} gradient @param {number} largest */
function shareOf(gradient, largest) {
  if (!gradient || !largest) return 0;
  return Number.isFinite(gradient) ? Math.sqrt(Math.min(Math.abs(gradient) / largest, 1)) : 1;
}

/**
 * Compute the offset of the i-th of `count` line ends from the middle of a side.
 * @param {number} i @param {number} count @param {number} step @param {number} room
 */
function spread(i, count, step, room) {
  return (i - (count - 1) / 2) * Math.min(step, room / Math.max(count - 1, 1));
}

/** @param {number} row index of the row below the header */
function baseline(row) {
  return HEADER + ROW * row + 12.5;
}

/** @param {"data" | "change" | "grad"} kind @param {string} caption @param {number} y */
function key(kind, caption, y) {
  const text = drawn("text", { class: `key ${kind}`, x: PADDING, y });
  text.textContent = caption;
  return text;
}

/**
 * Draw the ring around an active box, and the outline around a selected or focused one.
 * @param {number} width @param {number} height
 */
export function rings(width, height) {
  return /** @type {const} */ ([
    drawn("rect", { class: "halo", x: -6, y: -6, width: width + 12, height: height + 12, rx: RADIUS + 6 }),
    drawn("rect", { class: "outline", x: -4, y: -4, width: width + 8, height: height + 8, rx: RADIUS + 4 }),
  ]);
}

/** Draw the tick of a visited node in the upper right corner of a card. @param {number} width */
function tick(width) {
  return drawn("path", { class: "tick", d: `M${width - 18},12l4,4.5l7,-9` });
}

/**
 * Compress text to the available width.
 * @param {SVGTextElement} text @param {number | null} room null if the text fits
 */
function squeeze(text, room) {
  set(text, "textLength", room);
  set(text, "lengthAdjust", room === null ? null : "spacingAndGlyphs");
}

/** Draw the bottom of a card, with its rounded corners. @param {number} width @param {number} height @param {number} high */
function foot(width, height, high) {
  const turn = RADIUS - 1;
  const arc = `a${turn},${turn} 0 0 1`;
  const right = `v${high - 1 - turn}${arc} -${turn},${turn}`;
  return `M1,${height - high}H${width - 1}${right}H${1 + turn}${arc} -${turn},-${turn}z`;
}
