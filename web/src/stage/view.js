// The visible part of a drawing. Drag to pan; pinch, or use ctrl and the wheel, to zoom.

import { AFAR, fittedScale, MARGIN, NEAR } from "./fit.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("./fit.js").Size} Size */
/** @typedef {{ x: number, y: number, width: number, height: number }} Rectangle */

const LEAST = 0.05;
const MOST = 4;
const SLACK = 60; // how much of the drawing stays in view, however far it is dragged
const CLICK = 4; // maximum movement of a pointer during a click

/** Pan and zoom of a drawing. Scrolling by wheel or with one finger still scrolls the page vertically. */
export class View {
  #svg;
  #world;
  #callbacks;
  #x = 0;
  #y = 0;
  #scale = 1;
  #content = { width: 0, height: 0 };
  #isAcross = false;
  /** @type {number | null} minimum scale of the automatic fit; null once the reader has panned or zoomed */
  #fitted = NEAR.least;
  #limits = NEAR;
  /** @type {Map<number, Point>} positions of the pressed pointers */
  #pointers = new Map();
  #travelled = 0;
  #resized;

  /**
   * @param {SVGSVGElement} svg @param {SVGGElement} world the group that is transformed
   * @param {{ onMove: (seen: Rectangle, fits: boolean) => void, onResize: () => void, corner: () => Size }} callbacks
   *   `onMove` gets the visible part of the drawing, and whether all of it could be visible; `onResize` reports a new
   *   size; `corner` returns the size of the lower right corner that buttons cover
   */
  constructor(svg, world, callbacks) {
    this.#svg = svg;
    this.#world = world;
    this.#callbacks = callbacks;
    this.#resized = new ResizeObserver(([{ contentRect }]) => {
      if (!contentRect.width) return; // hidden, for example in a collapsed notebook cell
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

  /**
   * Show a drawing of another size.
   * @param {Size} content @param {boolean} [isAcross] whether its whole width is shown, even if its text becomes small
   */
  hold(content, isAcross = false) {
    this.#content = content;
    this.#isAcross = isAcross;
    this.#fitAtLeast(this.#limits.least);
  }

  /** Set the scale for an audience or for a single reader. @param {boolean} isAfar */
  enlarge(isAfar) {
    const limits = isAfar ? AFAR : NEAR;
    if (limits === this.#limits) return;
    this.#limits = limits;
    this.#fitAtLeast(limits.least);
  }

  /** Fit the whole drawing into the view. */
  fit() {
    this.#glide(() => this.#fitAtLeast(LEAST));
  }

  /** @param {number} factor */
  zoom(factor) {
    const { width, height } = this.size;
    this.#fitted = null;
    this.#glide(() => this.#zoomAt(factor, { x: width / 2, y: height / 2 }));
  }

  /** Return whether a part of the drawing fits into the view at the current scale. @param {Rectangle} part */
  hasRoomFor(part) {
    const { width, height } = this.size;
    return part.width * this.#scale <= width - 2 * MARGIN && part.height * this.#scale <= height - 2 * MARGIN;
  }

  /** Pan until a part of the drawing is in view. @param {Rectangle} part */
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

  /** Center the view on a point of the drawing, without animation. @param {Point} point */
  center({ x, y }) {
    const { width, height } = this.size;
    this.#follow(() => this.#move(width / 2 - x * this.#scale, height / 2 - y * this.#scale, this.#scale));
  }

  close() {
    this.#resized.disconnect();
  }

  /**
   * Fit the whole drawing into the view, or show its beginning if the scale would be less than a minimum.
   * @param {number} minimum
   */
  #fitAtLeast(minimum) {
    this.#fitted = minimum;
    const { width, height } = this.size;
    const across = fittedScale({ ...this.#content, height: 1 }, this.size, this.#limits.most);
    const least = this.#isAcross ? Math.min(minimum, across) : minimum;
    const whole = fittedScale(this.#content, this.size, this.#limits.most);
    const scale = whole >= Math.min(least, this.#limits.whole) ? whole : least;
    const found = this.#placed(scale);
    const above = { width, height: height - this.#callbacks.corner().height + MARGIN };
    const smaller = fittedScale(this.#content, above, this.#limits.most);
    const isSmaller = !found.isClear && smaller >= least;
    const { x, y } = isSmaller ? this.#placed(smaller) : found;
    this.#move(Math.round(x), Math.round(y), isSmaller ? smaller : scale);
  }

  /**
   * Compute the position of the drawing at some scale, centered or aligned to its beginning, and whether it is clear of
   * the buttons.
   * @param {number} scale
   */
  #placed(scale) {
    const { width, height } = this.size;
    const drawing = { width: this.#content.width * scale, height: this.#content.height * scale };
    const x = drawing.width > width - MARGIN ? MARGIN : (width - drawing.width) / 2;
    const y = drawing.height > height - MARGIN ? MARGIN : (height - drawing.height) / 2;
    return clear({ x, y, ...drawing }, this.size, this.#callbacks.corner());
  }

  /** @param {number} factor @param {Point} at fixed point on the screen */
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

  /** Whether the whole drawing fits into the view. */
  get #fits() {
    const { width, height } = this.size;
    return this.#content.width * this.#scale <= width && this.#content.height * this.#scale <= height;
  }

  /** Move with an animation. Dragging and pinching are not animated. @param {() => void} move */
  #glide(move) {
    this.#world.classList.add("gliding");
    move();
  }

  get size() {
    return { width: this.#svg.clientWidth, height: this.#svg.clientHeight };
  }

  /** Return the position of an event in pixels, relative to the stage. @param {MouseEvent} event @returns {Point} */
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
    if (!event.buttons) this.#pointers.delete(event.pointerId); // released outside the drawing
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
   * Zoom when one of two fingers moves, and pan by half of its movement. The other finger pans by the other half.
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

  /** Suppress the click at the end of a drag. @param {MouseEvent} event */
  #onClick(event) {
    if (this.#travelled >= CLICK && event.detail > 0) event.stopPropagation();
    this.#travelled = 0;
  }
}

/**
 * Compute the shift that brings an interval into view.
 * @param {number} start @param {number} length @param {number} room
 */
function shift(start, length, room) {
  if (start < MARGIN || length > room - 2 * MARGIN) return MARGIN - start;
  return Math.min(0, room - MARGIN - (start + length));
}

/**
 * Move a rectangle above or beside the buttons in the corner, if there is room.
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
