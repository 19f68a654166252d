// Changing a leaf's number by dragging horizontally with mouse, finger or pen, or by keyboard.

/** @typedef {import("../types.js").Node} Node */

const PIXELS = 4; // pixels of a drag per step
const FINER = 10; // divisor of the step with shift

/** Keys that step a number, with their direction. @type {Readonly<Record<string, 1 | -1>>} */
const KEYS = { "]": 1, "[": -1, "}": 1, "{": -1 };
/** Keys with alt. @type {Readonly<Record<string, 1 | -1>>} */
const KEYS_WITH_ALT = { ArrowUp: 1, ArrowDown: -1 };

export class Slider {
  /** @type {{ place: number, start: number, number: number, x: number, isFine: boolean } | null} the drag in progress */
  #held = null;
  #hasMoved = false;
  #frame = 0;

  /**
   * @param {SVGSVGElement} svg
   * @param {(target: any) => { node: Node, button: SVGElement } | null} leafAt returns the leaf at a target, if it may be changed
   * @param {(place: number, number: number, isFinal: boolean) => void} onValue
   */
  constructor(svg, leafAt, onValue) {
    this.leafAt = leafAt;
    this.onValue = onValue;
    svg.addEventListener("pointerdown", (event) => this.#onDown(event), { capture: true });
    svg.addEventListener("pointermove", (event) => this.#onMove(event, svg));
    for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) svg.addEventListener(end, () => this.#onUp());
    svg.addEventListener("click", (event) => this.#onClick(event), { capture: true });
  }

  /** Step the number of the focused leaf; return whether the key was handled. @param {KeyboardEvent} event @param {any} target */
  takes(event, target) {
    const direction = (event.altKey ? KEYS_WITH_ALT : KEYS)[event.key];
    const leaf = direction && this.leafAt(target);
    if (!leaf) return false;
    event.preventDefault();
    event.stopPropagation();
    this.onValue(leaf.node.place, stepped(leaf.node.data, direction, event.shiftKey), true);
    return true;
  }

  /** @param {PointerEvent} event */
  #onDown(event) {
    this.#hasMoved = false;
    const isSlide = event.target instanceof Element && event.target.classList.contains("slide");
    const leaf = isSlide && event.button === 0 ? this.leafAt(event.target) : null;
    if (!leaf || this.#held) return;
    event.stopPropagation(); // prevents panning
    leaf.button.focus({ preventScroll: true });
    const { place, data } = leaf.node;
    this.#held = { place, start: data, number: data, x: event.clientX, isFine: event.shiftKey };
  }

  /** @param {PointerEvent} event @param {SVGSVGElement} svg */
  #onMove(event, svg) {
    const held = this.#held;
    if (!held) return;
    if (!event.buttons) return this.#onUp(); // released outside the drawing
    if (event.shiftKey !== held.isFine) Object.assign(held, { start: held.number, x: event.clientX, isFine: event.shiftKey });
    const number = stepped(held.start, Math.trunc((event.clientX - held.x) / PIXELS), held.isFine);
    if (number === held.number) return;
    held.number = number;
    this.#hasMoved = true;
    svg.setPointerCapture(event.pointerId); // not earlier, because capture redirects clicks
    this.#frame ||= requestAnimationFrame(() => this.#tell(held.place, held.number, false));
  }

  #onUp() {
    const held = this.#held;
    this.#held = null;
    if (held && this.#hasMoved) this.#tell(held.place, held.number, true);
  }

  /** @param {number} place @param {number} number @param {boolean} isFinal */
  #tell(place, number, isFinal) {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.onValue(place, number, isFinal);
  }

  /** Suppress the click at the end of a drag. @param {MouseEvent} event */
  #onClick(event) {
    if (this.#hasMoved && event.detail > 0) event.stopPropagation();
    this.#hasMoved = false;
  }
}

/**
 * Step a number. A step is about a tenth of its leading digit, and results are multiples of the step.
 * @param {number} number @param {number} steps @param {boolean} isFine
 */
export function stepped(number, steps, isFine) {
  if (!steps) return number;
  const size = 10 ** (Math.floor(Math.log10(Math.abs(number) || 1)) - 1) / (isFine ? FINER : 1);
  return Number(((Math.round(number / size) + steps) * size).toPrecision(12));
}
