// The picture of a network that Python draws. Its boxes open, and its circles, squares and lines have the colors of the
// current gradients or values of their nodes.

import { element, set, write } from "../dom.js";
import { short } from "../core/numbers.js";
import { Box, lookOf, rings } from "./boxes.js";
import { drawn } from "./svg.js";

/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").Moment} Moment */
/** @typedef {{ place: number, shape: SVGElement, isLine: boolean }} Dot a shape with the color of a node */

/** @typedef {{ squares: boolean, lines: boolean, circles: boolean }} Shapes the kinds of shapes that a picture has; circles of leaves do not count */

const ELEMENTS = new Set(["svg", "g", "rect", "path", "text", "title"]);
const FORBIDDEN = /^(on|style|href)/u; // attributes; a file may come from anywhere
const RESULT = " = "; // separates the name of a result from its number

/** A box of the picture, which stands for a part. */
export class PictureBox extends Box {
  /** @param {Part} part @param {SVGElement} element @param {import("./svg.js").Point} origin */
  constructor(part, element, origin) {
    super();
    this.part = part;
    this.element = /** @type {SVGGElement} */ (element);
    const border = /** @type {SVGElement} */ (element.querySelector(":scope > rect.fill-box"));
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(border.getAttribute(name)));
    this.corner = { x: x + origin.x, y: y + origin.y };
    [this.width, this.height] = [width, height];
    for (const child of element.children) set(child, "aria-hidden", "true");
    border.classList.add("card");
    const around = drawn("g", { transform: `translate(${x},${y})`, "aria-hidden": "true" }, ...rings(width, height));
    for (const [name, value] of Object.entries({ x, y, width, height })) set(this.button, name, value);
    border.before(around);
    border.after(this.button);
  }

  /** @param {Moment} moment @param {import("./boxes.js").Marks} marks @param {import("./boxes.js").Texts} texts */
  paint(moment, { selected }, texts) {
    const { count, isActive, isSelected } = lookOf(this.part, moment, selected);
    const classes = ["part", isActive ? `active ${moment.phase}` : "", isSelected ? "selected" : ""].filter(Boolean);
    if (this.changed([...classes, count], () => texts.nameOfPart(this.part))) set(this.element, "class", classes.join(" "));
  }
}

export class Picture {
  /** @type {PictureBox[]} */
  boxes = [];
  /** @type {Dot[]} */
  #dots = [];
  #texts;
  #what = element("span");
  #numbers = ["positive", "negative"].map((sign) => element("span", { class: sign }));
  /** The meaning of the shapes and colors. */
  caption;

  /**
   * @param {string} text of an SVG file @param {readonly Part[]} parts @param {import("./stage.js").Graph} graph
   * @param {(shapes: Shapes) => string} note shown below the picture
   */
  constructor(text, parts, { nodes }, note) {
    const file = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    const body = copied(file) ?? drawn("g");
    const [, x, y] = /translate\(([\d.]+),([\d.]+)\)/u.exec(body.querySelector("g")?.getAttribute("transform") ?? "") ?? [];
    this.width = Number(file.getAttribute("width"));
    this.height = Number(file.getAttribute("height"));
    for (const box of /** @type {NodeListOf<SVGElement>} */ (body.querySelectorAll("[data-box]"))) {
      const part = parts.find(({ places }) => places.includes(Number(box.dataset.box)));
      if (part) this.boxes.push(new PictureBox(part, box, { x: Number(x), y: Number(y) }));
    }
    const marked = /** @type {SVGElement[]} */ ([...body.querySelectorAll("[data-node]")]);
    this.#dots = marked
      .filter(({ localName }) => localName !== "text")
      .map((shape) => ({ place: Number(shape.dataset.node), shape, isLine: shape.localName === "path" }));
    this.#texts = marked.filter(({ localName }) => localName === "text");
    const isRound = (/** @type {Dot} */ { shape }) => 2 * Number(shape.getAttribute("rx")) >= Number(shape.getAttribute("width"));
    const shapes = {
      squares: this.#dots.some((dot) => !dot.isLine && !isRound(dot)),
      lines: this.#dots.some(({ isLine }) => isLine),
      circles: this.#dots.some((dot) => !dot.isLine && isRound(dot) && nodes[dot.place]?.operands.length > 0),
    };
    this.caption = element("p", { class: "caption" }, this.#what, ...this.#numbers, " ", note(shapes));
    this.element = drawn("g", { class: "picture" }, body);
  }

  /** Return the node of a circle, square or line; null for other targets. @param {EventTarget | null} target */
  static nodeAt(target) {
    const { node } = target instanceof SVGElement ? target.dataset : { node: undefined };
    return node === undefined ? null : Number(node);
  }

  /**
   * Color the nodes by their gradients, or by their values before the backward pass.
   * @param {import("./stage.js").Graph} graph @param {Moment} moment @param {import("./boxes.js").Texts} texts
   */
  paint({ nodes }, moment, texts) {
    const isBackward = !["start", "forward"].includes(moment.phase);
    const numbers = this.#dots.map(({ place }) => (isBackward ? moment.gradients[place] : moment.known[place] ? nodes[place].data : null) ?? 0);
    let largest = 0;
    numbers.forEach((number, i) => {
      if (!this.#dots[i].isLine && Number.isFinite(number)) largest = Math.max(largest, Math.abs(number));
    });
    this.#dots.forEach(({ shape, isLine }, i) => {
      const size = largest ? Math.min(Math.abs(numbers[i]) / largest, 1) : 0;
      const sign = numbers[i] > 0 ? "positive" : numbers[i] < 0 ? "negative" : "";
      const kind = isLine ? "stroke" : "fill";
      shape.style[kind] = sign || isLine ? `var(--${sign || "line"})` : "";
      set(shape, `${kind}-opacity`, sign ? (0.15 + 0.85 * Math.sqrt(size)).toFixed(2) : isLine ? null : 0);
      if (isLine) set(shape, "stroke-width", sign ? (0.6 + 2 * size).toFixed(1) : 0.8);
    });
    for (const text of this.#texts) {
      const { data, place } = nodes[Number(text.dataset.node)];
      const number = moment.known[place] ? short(data) : "?";
      const [name, result] = (text.textContent ?? "").split(RESULT);
      write(text, result === undefined ? number : `${name}${RESULT}${number}`);
    }
    write(this.#what, isBackward ? texts.gradient : texts.data);
    this.#numbers.forEach((color, i) => write(color, `${"+−"[i]}${short(largest)}`));
  }

  /** Describe a shape when it is pointed at. @param {EventTarget | null} target @param {(place: number) => string} name */
  static explain(target, name) {
    const place = Picture.nodeAt(target);
    const title = target instanceof SVGRectElement ? target.parentElement?.querySelector(":scope > title") : null;
    if (title && place !== null) write(title, name(place));
  }
}

/** Copy an element with all harmless elements and attributes in it; null if the element itself is not harmless. @param {Element} given @returns {SVGElement | null} */
function copied(given) {
  if (!ELEMENTS.has(given.localName)) return null;
  const made = drawn(given.localName === "svg" ? "g" : /** @type {"g"} */ (given.localName));
  for (const { name, value } of given.attributes) {
    if (given.localName !== "svg" && !FORBIDDEN.test(name)) made.setAttribute(name, value);
  }
  for (const [, kind, role] of (given.getAttribute("class") ?? "").matchAll(/(fill|stroke)-(\w+)/gu)) made.style.setProperty(kind, `var(--${role})`);
  if (!given.children.length && given.textContent) made.textContent = given.textContent;
  for (const child of given.children) made.append(copied(child) ?? "");
  return made;
}
