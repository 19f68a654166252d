// The lines on the stage. Values flow along them to the right or downward, and gradients flow back.

import { signOf, weightOf } from "./boxes.js";
import { set, write } from "../dom.js";
import { general } from "../core/numbers.js";
import { arrowhead, curve, drawn, headLength, exceeds } from "./svg.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("../types.js").Edge} Edge */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Moment} Moment */
/** @typedef {import("../types.js").Contribution} Contribution */

export const TAG = 20; // height of a contribution's tag
const POINT = 9; // length of the tag's tip
const FONT = 12;
const DIGITS = 4; // significant digits of a contribution; the sentence below the stage shows all of them
const FORWARD = 1.5; // width of a line before a gradient has passed along it

/** Line of one edge, or of all edges between two boxes. */
export class Line {
  #look = "";
  /** @type {readonly Point[]} from the source box to the target box */
  points = [];
  leadsBack = false;
  isDown = false;
  title = drawn("title");
  glow = drawn("path", { class: "glow" });
  stroke = drawn("path", { class: "stroke" });
  head = drawn("path", { class: "head" });
  cross = drawn("path", { class: "cross" });
  /** Click target and focus target, wider than the visible line. */
  button = drawn("path", { class: "hit" }, this.title);
  element;

  /** @param {Edge} edge @param {readonly Node[]} nodes @param {import("./svg.js").Ruler} ruler */
  constructor(edge, nodes, ruler) {
    this.edge = edge;
    this.ruler = ruler;
    this.isInert = edge.givers.every((giver, i) => (nodes[giver]?.row ?? nodes[giver]?.gather)?.inert.includes(edge.positions[i]));
    this.element = drawn("g", { class: "line" }, this.glow, this.stroke, this.head, this.cross, this.button);
    set(this.button, "role", edge.operand === null ? "img" : "button");
    set(this.button, "tabindex", edge.operand === null ? null : -1);
    this.tag = drawn("g", { class: "tag" }, drawn("path"), drawn("text"));
    this.tagWidth = 0;
    this.count = edge.operand === null && edge.count > 1 ? this.#counted(edge.count) : null;
  }

  /**
   * @param {readonly Point[]} points @param {boolean} leadsBack whether it runs against the flow of the drawing
   * @param {boolean} isDown whether the drawing flows downward
   */
  route(points, leadsBack, isDown) {
    this.points = points;
    this.leadsBack = leadsBack;
    this.isDown = isDown;
    this.#look = ""; // forces a repaint
    const path = curve(points, isDown);
    set(this.glow, "d", path);
    set(this.button, "d", path);
    const [start, turn] = points;
    const [aside, along] = isDown ? [-5, 5] : [5, -5];
    if (start) set(this.cross, "d", `M${start.x + aside},${start.y + along}${isDown ? "l10,10m-10,0l10,-10" : "l10,10m0,-10l-10,10"}`);
    if (start && turn && this.count) {
      const [from, to] = [points[points.length - 3] ?? start, points[points.length - 2] ?? turn];
      set(this.count, "transform", `translate(${(from.x + to.x) / 2},${(from.y + to.y) / 2})`);
    }
  }

  /** @param {readonly Node[]} nodes @param {Moment} moment @param {import("./boxes.js").Marks} marks @param {import("./boxes.js").Texts} texts */
  paint(nodes, moment, { selected, largest, isAsking }, texts) {
    const { operand, givers } = this.edge;
    const amount = this.#largest(moment);
    const isActive = moment.phase !== "seed" && moment.active !== null && givers.includes(moment.active);
    const isLost = [...moment.lost].some((key) => this.holds(key));
    const classes = [
      "line",
      operand === null ? "bundle" : "",
      this.isInert ? "inert" : "",
      this.leadsBack ? "leads-back" : "",
      givers.some((giver) => moment.known[giver]) ? "" : "unknown",
      isLost ? "lost" : signOf(amount),
      amount === null ? "" : "back",
      isActive ? `active ${moment.phase}` : "",
      selected && "edge" in selected && this.holds(selected.edge) ? "selected" : "",
    ].filter(Boolean);
    const look = [...classes, amount, largest, isAsking, ...this.#partials(nodes)].join(" ");
    if (look === this.#look) return;
    this.#look = look;
    set(this.element, "class", classes.join(" "));
    this.#paintStroke(amount, largest, isActive);
    this.#paintTag(amount, classes);
    const name = operand === null ? texts.nameOfBundle(this.edge) : texts.nameOfEdge(operand);
    set(this.button, "aria-label", name);
    write(this.title, name);
  }

  /** Whether its tag is visible. */
  get isTagged() {
    return this.tag.classList.contains("shown");
  }

  /** Place the tag at the start of the line. @param {number} aside y of the tag, or its x if the drawing flows downward */
  hang(aside) {
    const { x, y } = this.points[0] ?? { x: 0, y: 0 };
    const place = this.isDown ? `${aside},${y + 2}` : `${x + 2},${aside}`;
    set(this.tag, "transform", `translate(${place})`);
  }

  /** Return the local derivatives shown in the line's name. @param {readonly Node[]} nodes */
  #partials(nodes) {
    return this.edge.operand === null ? [] : this.edge.givers.map((giver, i) => nodes[giver].partials[this.edge.positions[i]]);
  }

  /** Return the contribution with the largest absolute value. @param {Moment} moment @returns {number | null} */
  #largest({ contributions }) {
    /** @type {number | null} */
    let found = null;
    this.edge.givers.forEach((giver, i) => {
      const position = this.edge.positions[i];
      const amount = contributions.amount ? contributions.amount(giver, position) : (contributions.get(`${giver}:${position}`)?.amount ?? null);
      if (amount !== null && exceeds(amount, found)) found = amount;
    });
    return found;
  }

  /** Return whether the line is the line of an edge. @param {import("../types.js").EdgeKey} key */
  holds(key) {
    const [giver, position] = key.split(":").map(Number);
    let i = this.edge.givers.indexOf(giver);
    while (this.edge.givers[i] === giver && this.edge.positions[i] !== position) i++;
    return this.edge.givers[i] === giver;
  }

  /**
   * Draw the line. The arrowhead is at its end, or at its start once gradient has flowed back.
   * @param {number | null} amount @param {number} largest @param {boolean} isActive
   */
  #paintStroke(amount, largest, isActive) {
    const points = [...this.points];
    const weight = amount === null ? FORWARD + (isActive ? 1 : 0) : weightOf(amount, largest);
    const direction = (amount === null) !== this.leadsBack ? 1 : -1;
    const tip = /** @type {Point} */ (amount === null ? points.at(-1) : points[0]);
    // The line ends inside the arrowhead; otherwise it would show beside the tip.
    const back = direction * (headLength(weight) - 2);
    const inside = this.isDown ? { x: tip.x, y: tip.y - back } : { x: tip.x - back, y: tip.y };
    if (amount === null) points[points.length - 1] = inside;
    else points[0] = inside;
    set(this.stroke, "d", curve(points, this.isDown));
    set(this.head, "d", arrowhead(tip, direction, weight, this.isDown));
    this.stroke.style.strokeWidth = `${weight}px`;
    this.glow.style.strokeWidth = `${weight + 7}px`;
  }

  /** Draw the tag, which points in the direction of the contribution. @param {number | null} amount @param {readonly string[]} classes */
  #paintTag(amount, classes) {
    const isShown = amount !== null && this.edge.operand !== null && classes.includes("active backward");
    set(this.tag, "class", ["tag", isShown ? "shown" : "", ...classes.slice(1)].join(" "));
    if (!isShown) return;
    const [outline, text] = /** @type {any} */ (this.tag.children);
    const words = `${amount > 0 ? "+" : ""}${general(amount + 0, DIGITS)}`;
    const width = Math.ceil(this.ruler.width(words, FONT, 600));
    this.tagWidth = width + 10;
    write(text, words);
    const half = TAG / 2;
    set(text, "x", this.isDown ? 0 : POINT + 2 + width / 2);
    set(text, "y", this.isDown ? POINT + half + 4.5 : 4.5);
    const aside = width / 2 + 5 - POINT;
    const shape = this.isDown
      ? `M0,0l${POINT},${POINT}h${aside}v${TAG - 2}h${-2 * (aside + POINT)}v${2 - TAG}h${aside}z`
      : `M0,0L${POINT},${-half}h${width + 6}a4,4 0 0 1 4,4v${TAG - 8}a4,4 0 0 1 -4,4h${-width - 6}z`;
    set(outline, "d", shape);
  }

  /** @param {number} count */
  #counted(count) {
    const words = `×${count}`;
    const width = Math.ceil(this.ruler.width(words, FONT)) + 10;
    const text = drawn("text", { y: 4 });
    text.textContent = words;
    return drawn("g", { class: "count" }, drawn("rect", { x: -width / 2, y: -9, width, height: 18, rx: 9 }), text);
  }
}
