// Which part of a drawing is in view: panned by dragging, zoomed by pinching or with ctrl and the wheel.

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {{ x: number, y: number, width: number, height: number }} Rectangle */

const LEAST_READABLE = 0.45;
const LARGEST_FIT = 1.25;
const LEAST = 0.05;
const MOST = 3;
const MARGIN = 20; // around the drawing, in pixels of the screen
const SLACK = 60; // how much of the drawing stays in view however far it is dragged
const CLICK = 4; // how far a pointer may move in a click

/** The part in view. One finger up or down still scrolls the page, and so does the wheel. */
export class View {
  #svg;
  #world;
  #x = 0;
  #y = 0;
  #scale = 1;
  #content = { width: 0, height: 0 };
  /** @type {number | null} the least scale at which it stays fitted; null once the reader has moved it */
  #fitted = LEAST_READABLE;
  /** @type {Map<number, Point>} where the pressed pointers are */
  #pointers = new Map();
  #travelled = 0;
  #resized;

  /** @param {SVGSVGElement} svg @param {SVGGElement} world the group that is moved */
  constructor(svg, world) {
    this.#svg = svg;
    this.#world = world;
    this.#resized = new ResizeObserver(([{ contentRect }]) => {
      if (!contentRect.width) return; // hidden, as in a folded cell of a notebook
      if (this.#fitted !== null) this.#fitAtLeast(this.#fitted);
      else this.#move(this.#x, this.#y, this.#scale);
    });
    this.#resized.observe(svg);
    svg.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    svg.addEventListener("pointerdown", (event) => this.#onDown(event));
    svg.addEventListener("pointermove", (event) => this.#onMove(event));
    for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) {
      svg.addEventListener(end, (event) => this.#onUp(event));
    }
    svg.addEventListener("click", (event) => this.#onClick(event), { capture: true });
  }

  /** Take a drawing of another size. @param {{ width: number, height: number }} content */
  hold(content) {
    this.#content = content;
    this.#fitAtLeast(LEAST_READABLE);
  }

  /** Show all of the drawing, however small. */
  fit() {
    this.#glide(() => this.#fitAtLeast(LEAST));
  }

  /** @param {number} factor */
  zoom(factor) {
    const { width, height } = this.#size();
    this.#fitted = null;
    this.#glide(() => this.#zoomAt(factor, { x: width / 2, y: height / 2 }));
  }

  /** Whether a part of the drawing could be seen at once. @param {Rectangle} part */
  hasRoomFor(part) {
    const { width, height } = this.#size();
    return part.width * this.#scale <= width - 2 * MARGIN && part.height * this.#scale <= height - 2 * MARGIN;
  }

  /** Bring a part of the drawing into view, unless it is. @param {Rectangle} part */
  reveal(part) {
    const { width, height } = this.#size();
    const x = this.#x + shift(this.#x + part.x * this.#scale, part.width * this.#scale, width);
    const y = this.#y + shift(this.#y + part.y * this.#scale, part.height * this.#scale, height);
    if (x === this.#x && y === this.#y) return;
    this.#fitted = null;
    this.#glide(() => this.#move(x, y, this.#scale));
  }

  close() {
    this.#resized.disconnect();
  }

  /** Show all of the drawing, or its beginning where it would be smaller than that. @param {number} least */
  #fitAtLeast(least) {
    this.#fitted = least;
    const { width, height } = this.#size();
    const across = (width - 2 * MARGIN) / this.#content.width;
    const down = (height - 2 * MARGIN) / this.#content.height;
    const scale = Math.max(least, Math.min(across, down, LARGEST_FIT));
    const drawing = { width: this.#content.width * scale, height: this.#content.height * scale };
    const x = drawing.width > width - MARGIN ? MARGIN : (width - drawing.width) / 2;
    this.#move(Math.round(x), Math.round((height - drawing.height) / 2), scale);
  }

  /** @param {number} factor @param {Point} at what stays in its place on the screen */
  #zoomAt(factor, at) {
    const scale = Math.min(Math.max(this.#scale * factor, LEAST), MOST);
    const ratio = scale / this.#scale;
    this.#move(at.x - (at.x - this.#x) * ratio, at.y - (at.y - this.#y) * ratio, scale);
  }

  /** @param {number} x @param {number} y @param {number} scale */
  #move(x, y, scale) {
    const { width, height } = this.#size();
    this.#scale = scale;
    this.#x = Math.min(Math.max(x, SLACK - this.#content.width * scale), width - SLACK);
    this.#y = Math.min(Math.max(y, SLACK - this.#content.height * scale), height - SLACK);
    this.#world.style.transform = `translate(${this.#x}px, ${this.#y}px) scale(${scale})`;
  }

  /** Move smoothly; dragging and pinching follow the hand at once. @param {() => void} move */
  #glide(move) {
    this.#world.classList.add("gliding");
    move();
  }

  #size() {
    return { width: this.#svg.clientWidth, height: this.#svg.clientHeight };
  }

  /** Where an event is, in pixels from the corner of the stage. @param {MouseEvent} event @returns {Point} */
  #at(event) {
    const { left, top } = this.#svg.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  /** @param {() => void} move */
  #follow(move) {
    this.#fitted = null;
    this.#world.classList.remove("gliding");
    move();
  }

  /** @param {WheelEvent} event */
  #onWheel(event) {
    const isPinch = event.ctrlKey || event.metaKey;
    const isAcross = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!isPinch && !isAcross) return;
    event.preventDefault();
    const perLine = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    if (isPinch) this.#follow(() => this.#zoomAt(Math.exp(-event.deltaY * perLine * 0.004), this.#at(event)));
    else this.#follow(() => this.#move(this.#x - event.deltaX * perLine, this.#y, this.#scale));
  }

  /** @param {PointerEvent} event */
  #onDown(event) {
    if (event.button !== 0) return;
    if (!this.#pointers.size) this.#travelled = 0;
    this.#pointers.set(event.pointerId, this.#at(event));
  }

  /** @param {PointerEvent} event */
  #onMove(event) {
    if (!event.buttons) this.#pointers.delete(event.pointerId); // it was let go outside
    const from = this.#pointers.get(event.pointerId);
    if (!from) return;
    const to = this.#at(event);
    this.#pointers.set(event.pointerId, to);
    this.#travelled += Math.hypot(to.x - from.x, to.y - from.y);
    if (this.#travelled < CLICK) return;
    this.#svg.setPointerCapture(event.pointerId);
    this.#svg.classList.add("dragged");
    const other = Array.from(this.#pointers).find(([id]) => id !== event.pointerId)?.[1];
    this.#follow(() => {
      if (other) this.#pinch(from, to, other);
      else this.#move(this.#x + to.x - from.x, this.#y + to.y - from.y, this.#scale);
    });
  }

  /**
   * Zoom as one of two fingers moves, and pan half as far, as the other pans the other half.
   * @param {Point} from @param {Point} to @param {Point} other
   */
  #pinch(from, to, other) {
    this.#move(this.#x + (to.x - from.x) / 2, this.#y + (to.y - from.y) / 2, this.#scale);
    const factor = distance(to, other) / Math.max(distance(from, other), 1);
    this.#zoomAt(factor, { x: (to.x + other.x) / 2, y: (to.y + other.y) / 2 });
  }

  /** @param {PointerEvent} event */
  #onUp(event) {
    this.#pointers.delete(event.pointerId);
    if (!this.#pointers.size) this.#svg.classList.remove("dragged");
  }

  /** The click at the end of a drag is none. @param {MouseEvent} event */
  #onClick(event) {
    if (this.#travelled >= CLICK && event.detail > 0) event.stopPropagation();
    this.#travelled = 0;
  }
}

/**
 * How far to move what lies outside, so that it lies inside.
 * @param {number} start @param {number} length @param {number} room
 */
function shift(start, length, room) {
  if (start < MARGIN || length > room - 2 * MARGIN) return MARGIN - start;
  return Math.min(0, room - MARGIN - (start + length));
}

/** @param {Point} a @param {Point} b */
function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
