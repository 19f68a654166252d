// The lines on the stage: what values flow along, to the right or downwards, and gradients back.

import { signOf, weightOf } from "./boxes.js";
import { set, write } from "../dom.js";
import { general } from "../core/numbers.js";
import { arrowhead, curve, drawn, headLength, exceeds } from "./svg.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("../types.js").Edge} Edge */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Moment} Moment */
/** @typedef {import("../types.js").Contribution} Contribution */

export const TAG = 20; // the height of a contribution's tag
const POINT = 9; // the length of its tip
const FONT = 12;
const DIGITS = 4; // of a contribution: the sentence below the stage has all
const FORWARD = 1.5; // the weight of a line that no gradient has come along yet

/** One edge, or all edges between two boxes. */
export class Line {
  #look = "";
  /** @type {readonly Point[]} from the box it leaves to the box it enters */
  points = [];
  leadsBack = false;
  isDown = false;
  title = drawn("title");
  glow = drawn("path", { class: "glow" });
  stroke = drawn("path", { class: "stroke" });
  head = drawn("path", { class: "head" });
  cross = drawn("path", { class: "cross" });
  /** What is clicked and has the focus: wider than what is seen. */
  button = drawn("path", { class: "hit" }, this.title);
  element;

  /** @param {Edge} edge @param {readonly Node[]} nodes @param {import("./svg.js").Ruler} ruler */
  constructor(edge, nodes, ruler) {
    this.edge = edge;
    this.ruler = ruler;
    this.givers = edge.operands.map(placesOf);
    this.isInert = this.givers.every(([giver, position]) => (nodes[giver]?.row ?? nodes[giver]?.gather)?.inert.includes(position));
    this.element = drawn("g", { class: "line" }, this.glow, this.stroke, this.head, this.cross, this.button);
    set(this.button, "role", edge.operand === null ? "img" : "button");
    set(this.button, "tabindex", edge.operand === null ? null : -1);
    this.tag = drawn("g", { class: "tag" }, drawn("path"), drawn("text"));
    this.tagWidth = 0;
    this.count = edge.operand === null && edge.count > 1 ? this.#counted(edge.count) : null;
  }

  /**
   * @param {readonly Point[]} points @param {boolean} leadsBack against the flow of the drawing
   * @param {boolean} isDown whether that flow is downwards
   */
  route(points, leadsBack, isDown) {
    this.points = points;
    this.leadsBack = leadsBack;
    this.isDown = isDown;
    this.#look = ""; // it is to be painted anew
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
    const { operand, operands } = this.edge;
    const contribution = this.#largest(moment);
    const amount = contribution?.amount ?? null;
    const isActive = moment.phase !== "seed" && this.givers.some(([giver]) => giver === moment.active);
    const isLost = operands.some((key) => moment.lost.has(key));
    const classes = [
      "line",
      operand === null ? "bundle" : "",
      this.isInert ? "inert" : "",
      this.leadsBack ? "leads-back" : "",
      this.givers.some(([giver]) => moment.known[giver]) ? "" : "unknown",
      isLost ? "lost" : signOf(amount),
      amount === null ? "" : "back",
      isActive ? `active ${moment.phase}` : "",
      selected && "edge" in selected && operands.includes(selected.edge) ? "selected" : "",
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

  /** Whether its tag is to be seen. */
  get isTagged() {
    return this.tag.classList.contains("shown");
  }

  /** Put the tag at the line's end, so far aside. @param {number} aside a height, or how far to the right where the flow is down */
  hang(aside) {
    const { x, y } = this.points[0] ?? { x: 0, y: 0 };
    const place = this.isDown ? `${aside},${y + 2}` : `${x + 2},${aside}`;
    set(this.tag, "transform", `translate(${place})`);
  }

  /** The local derivatives that its name tells. @param {readonly Node[]} nodes */
  #partials(nodes) {
    return this.edge.operand === null ? [] : this.givers.map(([giver, position]) => nodes[giver].partials[position]);
  }

  /** The contribution of the largest size. @param {Moment} moment @returns {Contribution | null} */
  #largest({ contributions }) {
    let found = null;
    for (const key of this.edge.operands) {
      const contribution = contributions.get(key);
      if (contribution && exceeds(contribution.amount, found?.amount ?? null)) found = contribution;
    }
    return found;
  }

  /**
   * Before gradient flows the arrow is at the end; afterwards at the start.
   * @param {number | null} amount @param {number} largest @param {boolean} isActive
   */
  #paintStroke(amount, largest, isActive) {
    const points = [...this.points];
    const weight = amount === null ? FORWARD + (isActive ? 1 : 0) : weightOf(amount, largest);
    const direction = (amount === null) !== this.leadsBack ? 1 : -1;
    const tip = /** @type {Point} */ (amount === null ? points.at(-1) : points[0]);
    // The line ends inside the arrowhead: it would stand out beside the tip.
    const back = direction * (headLength(weight) - 2);
    const inside = this.isDown ? { x: tip.x, y: tip.y - back } : { x: tip.x - back, y: tip.y };
    if (amount === null) points[points.length - 1] = inside;
    else points[0] = inside;
    set(this.stroke, "d", curve(points, this.isDown));
    set(this.head, "d", arrowhead(tip, direction, weight, this.isDown));
    this.stroke.style.strokeWidth = `${weight}px`;
    this.glow.style.strokeWidth = `${weight + 7}px`;
  }

  /** A tag that points where its contribution goes. @param {number | null} amount @param {readonly string[]} classes */
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

/** @param {string} key @returns {[giver: number, position: number]} */
function placesOf(key) {
  const at = key.indexOf(":"); // not split: a line between parts stands for thousands
  return [Number(key.slice(0, at)), Number(key.slice(at + 1))];
}
