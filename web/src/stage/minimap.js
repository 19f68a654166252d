// The minimap in a corner of the stage. It appears if only a part of the drawing is in view, and marks that part and
// the current node.

import { set } from "../dom.js";
import { drawn } from "./svg.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("./view.js").Rectangle} Rectangle */
/** @typedef {{ corner: Point, width: number, height: number, element: Element }} Box */

const MOST = { width: 148, height: 88 }; // in screen pixels
const BESIDE = 12; // distance from the sides of the stage
const EDGE = 8; // extra width and height for its borders
const SHARE = 0.3; // maximum share of the stage's width and height
const LEAST_STAGE = 320; // minimum height of the stage in pixels; on a smaller stage the minimap would cover too much
const HERE = 10; // weight of covering the current box relative to other boxes

// Possible corners in order of preference; the fourth corner has buttons.
const CORNERS = /** @type {const} */ ([
  { name: "", isRight: false, isAbove: false },
  { name: "above", isRight: false, isAbove: true },
  { name: "above beside", isRight: true, isAbove: true },
]);

export class Minimap {
  #scale = 1;
  #content = { width: 1, height: 1 };
  #view = { x: 0, y: 0, scale: 1 };
  #seen = drawn("rect", { class: "seen", rx: 2 });
  #marks = drawn("g");
  /** @type {{ box: Box, mark: SVGRectElement }[]} */
  #pairs = [];
  #svg = drawn("svg", { class: "minimap", "aria-hidden": "true" }, this.#marks, this.#seen);

  /** @param {HTMLElement} host @param {(point: Point) => void} onChoose called with the point of the drawing to bring into view */
  constructor(host, onChoose) {
    this.#hide(true);
    host.append(this.#svg);
    const choose = (/** @type {PointerEvent} */ event) => {
      const { left, top } = this.#svg.getBoundingClientRect();
      onChoose({ x: (event.clientX - left) / this.#scale, y: (event.clientY - top) / this.#scale });
    };
    this.#svg.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.#svg.setPointerCapture(event.pointerId);
      choose(event);
    });
    this.#svg.addEventListener("pointermove", (event) => {
      if (this.#svg.hasPointerCapture(event.pointerId)) choose(event);
    });
  }

  /** Show another drawing. @param {{ width: number, height: number }} content @param {readonly Box[]} boxes */
  hold(content, boxes) {
    this.#content = content;
    this.#pairs = boxes.map((box) => {
      const { corner, width, height } = box;
      return { box, mark: drawn("rect", { x: corner.x, y: corner.y, width, height, rx: 8 }) };
    });
    this.#marks.replaceChildren(...this.#pairs.map(({ mark }) => mark));
  }

  /** Mark the current box and the boxes not reached yet. */
  paint() {
    for (const { box, mark } of this.#pairs) {
      const { classList } = box.element;
      set(mark, "class", classList.contains("active") ? "here" : classList.contains("unknown") ? "blank" : null);
    }
    this.#makeWay();
  }

  /** Mark the visible part of the drawing, or hide the minimap if all of it is visible. @param {Rectangle} seen @param {boolean} fits */
  look({ x, y, width, height }, fits) {
    const { clientWidth, clientHeight } = /** @type {Element} */ (this.#svg.parentElement);
    const isHidden = fits || clientHeight < LEAST_STAGE;
    this.#hide(isHidden);
    if (isHidden) return;
    const { width: across, height: down } = this.#content;
    const most = { width: Math.min(MOST.width, clientWidth * SHARE), height: Math.min(MOST.height, clientHeight * SHARE) };
    this.#scale = Math.min(most.width / across, most.height / down);
    set(this.#svg, "width", Math.round(across * this.#scale));
    set(this.#svg, "height", Math.round(down * this.#scale));
    set(this.#svg, "viewBox", `0 0 ${across} ${down}`);
    const [left, top] = [Math.max(x, 0), Math.max(y, 0)];
    set(this.#seen, "x", left);
    set(this.#seen, "y", top);
    set(this.#seen, "width", Math.max(0, Math.min(x + width, across) - left));
    set(this.#seen, "height", Math.max(0, Math.min(y + height, down) - top));
    this.#view = { x, y, scale: clientHeight / height };
    this.#makeWay();
  }

  close() {
    this.#svg.remove();
  }

  /** Move to the corner where the minimap covers least of the boxes, especially of the current box. */
  #makeWay() {
    const host = this.#svg.parentElement;
    if (!host || this.#svg.hasAttribute("hidden")) return;
    const [width, height] = ["width", "height"].map((side) => Number(this.#svg.getAttribute(side)) + EDGE);
    const covered = CORNERS.map(({ isRight, isAbove }) => {
      const left = isRight ? host.clientWidth - BESIDE - width : BESIDE;
      const top = isAbove ? BESIDE : host.clientHeight - BESIDE - height;
      return this.#covered({ x: left, y: top, width, height });
    });
    set(this.#svg, "class", `minimap ${CORNERS[covered.indexOf(Math.min(...covered))].name}`.trim());
  }

  /**
   * Compute the total area of the boxes under a rectangle of the stage; the area of the current box counts HERE times.
   * @param {Rectangle} part in screen pixels
   */
  #covered(part) {
    const { x, y, scale } = this.#view;
    return this.#pairs.reduce((sum, { box: { corner, width, height, element } }) => {
      const [left, top] = [(corner.x - x) * scale, (corner.y - y) * scale];
      const across = overlap(left, width * scale, part.x, part.width);
      const down = overlap(top, height * scale, part.y, part.height);
      return sum + across * down * (element.classList.contains("active") ? HERE : 1);
    }, 0);
  }

  /** @param {boolean} isHidden */
  #hide(isHidden) {
    set(this.#svg, "hidden", isHidden);
  }
}

/** Compute the overlap of two intervals. @param {number} a @param {number} long @param {number} b @param {number} wide */
function overlap(a, long, b, wide) {
  return Math.max(0, Math.min(a + long, b + wide) - Math.max(a, b));
}
