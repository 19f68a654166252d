// Which part of a drawing is in view: panned by dragging, zoomed by pinching or with ctrl and the wheel.

import { AFAR, fittedScale, MARGIN, NEAR } from "./fit.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("./fit.js").Size} Size */
/** @typedef {{ x: number, y: number, width: number, height: number }} Rectangle */

const LEAST = 0.05;
const MOST = 4;
const SLACK = 60; // how much of the drawing stays in view however far it is dragged
const CLICK = 4; // how far a pointer may move in a click

/** The part in view. One finger up or down still scrolls the page, and so does the wheel. */
export class View {
  #svg;
  #world;
  #callbacks;
  #x = 0;
  #y = 0;
  #scale = 1;
  #content = { width: 0, height: 0 };
  /** @type {number | null} the least scale at which it stays fitted; null once the reader has moved it */
  #fitted = NEAR.least;
  #limits = NEAR;
  /** @type {Map<number, Point>} where the pressed pointers are */
  #pointers = new Map();
  #travelled = 0;
  #resized;

  /**
   * @param {SVGSVGElement} svg @param {SVGGElement} world the group that is moved
   * @param {{ onMove: (seen: Rectangle, fits: boolean) => void, onResize: () => void, corner: () => Size }} callbacks
   *   which part of the drawing is seen, and whether all of it could be; that the room for it has changed; and how much of
   *   the lower right corner has buttons over it
   */
  constructor(svg, world, callbacks) {
    this.#svg = svg;
    this.#world = world;
    this.#callbacks = callbacks;
    this.#resized = new ResizeObserver(([{ contentRect }]) => {
      if (!contentRect.width) return; // hidden, as in a folded cell of a notebook
      if (this.#fitted !== null) this.#fitAtLeast(this.#fitted);
      else this.#move(this.#x, this.#y, this.#scale);
      callbacks.onResize();
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
    this.#fitAtLeast(this.#limits.least);
  }

  /** Show it as it is read from afar, or near. @param {boolean} isAfar */
  enlarge(isAfar) {
    const limits = isAfar ? AFAR : NEAR;
    if (limits === this.#limits) return;
    this.#limits = limits;
    this.#fitAtLeast(limits.least);
  }

  /** Show all of the drawing, however small. */
  fit() {
    this.#glide(() => this.#fitAtLeast(LEAST));
  }

  /** @param {number} factor */
  zoom(factor) {
    const { width, height } = this.size;
    this.#fitted = null;
    this.#glide(() => this.#zoomAt(factor, { x: width / 2, y: height / 2 }));
  }

  /** Whether a part of the drawing could be seen at once. @param {Rectangle} part */
  hasRoomFor(part) {
    const { width, height } = this.size;
    return part.width * this.#scale <= width - 2 * MARGIN && part.height * this.#scale <= height - 2 * MARGIN;
  }

  /** Bring a part of the drawing into view, unless it is. @param {Rectangle} part */
  reveal(part) {
    const { width, height } = this.size;
    const size = { width: part.width * this.#scale, height: part.height * this.#scale };
    const before = { x: this.#x + part.x * this.#scale, y: this.#y + part.y * this.#scale };
    const after = { x: before.x + shift(before.x, size.width, width), y: before.y + shift(before.y, size.height, height) };
    const place = this.#fits ? after : clear({ ...after, ...size }, this.size, this.#callbacks.corner());
    const [x, y] = [this.#x + place.x - before.x, this.#y + place.y - before.y];
    if (x === this.#x && y === this.#y) return;
    this.#fitted = null;
    this.#glide(() => this.#move(x, y, this.#scale));
  }

  /** Bring a point of the drawing to the middle of the stage, at once. @param {Point} point */
  centre({ x, y }) {
    const { width, height } = this.size;
    this.#follow(() => this.#move(width / 2 - x * this.#scale, height / 2 - y * this.#scale, this.#scale));
  }

  close() {
    this.#resized.disconnect();
  }

  /** Show all of the drawing, or its beginning where it would be smaller than that. @param {number} least */
  #fitAtLeast(least) {
    this.#fitted = least;
    const { width, height } = this.size;
    const scale = Math.max(least, fittedScale(this.#content, this.size, this.#limits.most));
    const found = this.#placed(scale);
    const above = { width, height: height - this.#callbacks.corner().height + MARGIN };
    const smaller = fittedScale(this.#content, above, this.#limits.most);
    const isSmaller = !found.isClear && smaller >= least;
    const { x, y } = isSmaller ? this.#placed(smaller) : found;
    this.#move(Math.round(x), Math.round(y), isSmaller ? smaller : scale);
  }

  /** Where a drawing of some scale stands, in the middle or from its beginning on, and whether no button lies over it. @param {number} scale */
  #placed(scale) {
    const { width, height } = this.size;
    const drawing = { width: this.#content.width * scale, height: this.#content.height * scale };
    const x = drawing.width > width - MARGIN ? MARGIN : (width - drawing.width) / 2;
    const y = drawing.height > height - MARGIN ? MARGIN : (height - drawing.height) / 2;
    return clear({ x, y, ...drawing }, this.size, this.#callbacks.corner());
  }

  /** @param {number} factor @param {Point} at what stays in its place on the screen */
  #zoomAt(factor, at) {
    const scale = Math.min(Math.max(this.#scale * factor, LEAST), MOST);
    const ratio = scale / this.#scale;
    this.#move(at.x - (at.x - this.#x) * ratio, at.y - (at.y - this.#y) * ratio, scale);
  }

  /** @param {number} x @param {number} y @param {number} scale */
  #move(x, y, scale) {
    const { width, height } = this.size;
    this.#scale = scale;
    this.#x = Math.min(Math.max(x, SLACK - this.#content.width * scale), width - SLACK);
    this.#y = Math.min(Math.max(y, SLACK - this.#content.height * scale), height - SLACK);
    this.#world.style.transform = `translate(${this.#x}px, ${this.#y}px) scale(${scale})`;
    this.#callbacks.onMove({ x: -this.#x / scale, y: -this.#y / scale, width: width / scale, height: height / scale }, this.#fits);
  }

  /** Whether all of the drawing could be seen at once. */
  get #fits() {
    const { width, height } = this.size;
    return this.#content.width * this.#scale <= width && this.#content.height * this.#scale <= height;
  }

  /** Move smoothly; dragging and pinching follow the hand at once. @param {() => void} move */
  #glide(move) {
    this.#world.classList.add("gliding");
    move();
  }

  get size() {
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

/**
 * Where to put what would lie under the buttons in the corner: above them or beside them, where there is room.
 * @param {Rectangle} part @param {Size} room @param {Size} corner
 */
function clear({ x, y, width, height }, room, corner) {
  const [over, aside] = [y + height - (room.height - corner.height), x + width - (room.width - corner.width)];
  if (over <= 0 || aside <= 0) return { x, y, isClear: true };
  if (y - over >= MARGIN / 2) return { x, y: y - over, isClear: true };
  const isRoom = x - aside >= MARGIN / 2;
  return { x: isRoom ? x - aside : x, y, isClear: isRoom };
}

/** @param {Point} a @param {Point} b */
function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
