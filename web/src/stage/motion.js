// Animation of steps: numbers move along lines, are multiplied half-way, and land; lost numbers fall off. It adds no
// information, so it is hidden from screen readers and does not run if the user prefers reduced motion.

import { signOf } from "./boxes.js";
import { drawn, Ruler } from "./svg.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("../types.js").Flight} Flight */
/** @typedef {{ flight: Flight, box: { corner: Point, width: number, height: number }, path: SVGPathElement | null, isDown: boolean }} Course */

const MOST_PACES = 5; // maximum duration in paces; with more landings each gets faster
const FORWARD = 0.6; // duration of a forward flight in paces, shorter because nothing is multiplied
const TOLD = 0.9; // duration of a result's text in paces, long enough to read
const SAMPLES = 20; // points per half of a path
const HEIGHT = 20;
const FONT = 12;
const FALL = 70; // distance that a lost number falls
const APART = 46; // distance from the box at which a number without a line starts
const ABOVE = 18; // height of the local derivative above the middle of a line
const LARGEST = 2; // maximum enlargement of a token in a small drawing

// Times of the phases of a contribution's flight, from 0 to 1.
const [ARRIVED, MULTIPLIED, LEFT, LANDED] = [0.38, 0.5, 0.6, 0.94];

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

export class Motion {
  element = drawn("g", { class: "motion", "aria-hidden": "true" });
  /** @type {Promise<void>} resolves when the animation has ended */
  settled = Promise.resolve();
  /** @type {(() => void) | null} ends the running animation */
  #end = null;

  /**
   * Animate landings one after the other. `onLanded` gets the number of landings so far, starting at 0, and null at the
   * end. It is not called if there is nothing to animate.
   * @param {readonly (readonly Course[])[]} landings @param {number} pace milliseconds per landing
   * @param {SVGSVGElement} svg @param {(landed: number | null) => void} onLanded
   */
  start(landings, pace, svg, onLanded) {
    const moving = landings.filter((courses) => courses.length).length;
    if (!moving || !pace || reduced.matches || document.hidden) return;
    const time = Math.min(pace, (pace * MOST_PACES) / moving);
    const actors = new Actors(this.element, svg, time);
    let isOver = false;
    this.settled = new Promise((resolve) => {
      this.#end = () => {
        isOver = true;
        this.#end = null;
        this.element.replaceChildren();
        onLanded(null);
        resolve();
      };
    });
    const run = async () => {
      onLanded(0);
      let told = Promise.resolve();
      for (const [i, courses] of landings.entries()) {
        await Promise.all(courses.map((course) => actors.fly(course)));
        if (isOver) return;
        onLanded(i + 1);
        told = actors.tell(courses);
      }
      await told;
      if (!isOver) this.finish();
    };
    run();
  }

  /** Jump to the end of the animation. */
  finish() {
    this.#end?.();
  }
}

/** The animated elements, created on demand. Only transforms and opacities are animated. */
class Actors {
  #layer;
  #ruler;
  #time;
  #scale;

  /** @param {SVGGElement} layer @param {SVGSVGElement} svg @param {number} time */
  constructor(layer, svg, time) {
    this.#layer = layer;
    this.#ruler = new Ruler(svg);
    this.#time = time;
    const drawing = layer.getScreenCTM()?.a ?? 1;
    this.#scale = Math.min(Math.max(1, 1 / drawing), LARGEST); // keeps tokens legible in a small drawing
  }

  /** @param {Course} course */
  async fly({ flight, box, path, isDown }) {
    const classes = ["token", flight.amount === null ? "forward" : signOf(flight.amount), flight.isLost ? "lost" : ""].join(" ");
    const [carries, becomes] = [flight.carries, flight.becomes].map((text) => this.#pill(text));
    const token = drawn("g", { class: classes }, becomes, carries);
    const points = path ? pointsAlong(path, flight.isBackward) : into(box, isDown, flight.amount === null ? -1 : 1);
    if (flight.factor) return this.#multiplied(flight, token, carries, becomes, points);
    const frames = this.#frames(points, 0, LANDED);
    return this.#act(token, [[token, frames]], flight.isBackward ? 1 : FORWARD);
  }

  /**
   * @param {Flight} flight @param {SVGGElement} token @param {SVGGElement} carries @param {SVGGElement} becomes
   * @param {readonly Point[]} points
   */
  #multiplied(flight, token, carries, becomes, points) {
    const half = SAMPLES;
    const middle = points[half] ?? points[0];
    const factor = drawn("g", { class: "factor" }, this.#pill(flight.factor));
    const place = this.#at({ x: middle.x, y: middle.y - ABOVE * this.#scale });
    const frames = [...this.#frames(points.slice(0, half + 1), 0, ARRIVED), ...this.#frames(points.slice(half), LEFT, LANDED)];
    const isSeen = (/** @type {number[]} */ ...times) => times.map((offset, i) => ({ offset, opacity: [0, 1, 1, 0][i] }));
    return this.#act(drawn("g", {}, token, factor), [
      [token, frames],
      [carries, [{ opacity: 1 }, { offset: MULTIPLIED - 0.02, opacity: 1 }, { offset: MULTIPLIED + 0.02, opacity: 0 }, { opacity: 0 }]],
      [becomes, [{ opacity: 0 }, { offset: MULTIPLIED - 0.02, opacity: 0 }, { offset: MULTIPLIED + 0.02, opacity: 1 }, { opacity: 1 }]],
      [factor, isSeen(0, 0.12, LEFT, 0.75).map((frame) => ({ ...frame, transform: place })).concat({ offset: 1, opacity: 0, transform: place })],
    ]);
  }

  /** Show the results of the numbers that have landed. @param {readonly Course[]} courses @returns {Promise<void>} */
  async tell(courses) {
    await Promise.all([
      ...courses.map(({ flight, box }) => {
        if (!flight.told) return undefined;
        const told = drawn("g", { class: flight.isLost || flight.harms ? "told lost" : "told" }, this.#pill(flight.told));
        const at = { x: box.corner.x + box.width / 2, y: Math.max(box.corner.y - HEIGHT / 2 - 4, 0) }; // at the top edge, over the box
        const [from, to] = [at, { x: at.x, y: at.y - 6 }].map((point) => this.#at(point));
        const frames = [
          { opacity: 0, transform: from },
          { offset: 0.1, opacity: 1, transform: to },
          { offset: 0.85, opacity: 1, transform: to },
          { opacity: 0, transform: to },
        ];
        return this.#act(told, [[told, frames]], TOLD);
      }),
      ...courses.map((course) => this.#fall(course)),
    ]);
  }

  /** Let a lost number fall off its box. @param {Course} course */
  async #fall({ flight, box }) {
    if (!flight.falls) return;
    const lost = drawn("g", { class: "token lost" }, this.#pill(flight.falls));
    const at = { x: box.corner.x + box.width / 2, y: box.corner.y + HEIGHT };
    const fallen = { x: at.x + FALL / 4, y: at.y + FALL };
    const frames = [
      { transform: this.#at(at), opacity: 1, easing: "ease-in" },
      { offset: 0.7, transform: this.#at(fallen), opacity: 1 },
      { transform: this.#at(fallen), opacity: 0 },
    ];
    await this.#act(lost, [[lost, frames]], TOLD);
  }

  /**
   * Show an element for the duration of its animations, then remove it; `finish` may have removed it earlier.
   * @param {SVGGElement} shown @param {readonly (readonly [SVGElement, Keyframe[]])[]} moves @param {number} [paces]
   */
  async #act(shown, moves, paces = 1) {
    this.#layer.append(shown);
    const duration = this.#time * paces;
    await Promise.all(moves.map(([actor, frames]) => actor.animate(frames, { duration, fill: "both" }).finished));
    shown.remove();
  }

  /**
   * Build keyframes along points between two times, with ease-in and ease-out.
   * @param {readonly Point[]} points @param {number} start @param {number} end @returns {Keyframe[]}
   */
  #frames(points, start, end) {
    const last = points.length - 1;
    return points.map((point, i) => {
      const t = inverseEase(i / last);
      return { offset: start + (end - start) * t, transform: this.#at(point) };
    });
  }

  /** @param {Point} point */
  #at({ x, y }) {
    return `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) scale(${this.#scale})`;
  }

  /** @param {string} words */
  #pill(words) {
    const width = Math.ceil(this.#ruler.width(words, FONT, 600)) + 14;
    const text = drawn("text", { y: 4.5 });
    text.textContent = words;
    return drawn("g", {}, drawn("rect", { x: -width / 2, y: -HEIGHT / 2, width, height: HEIGHT, rx: HEIGHT / 2 }), text);
  }
}

/** Sample points along a line in the direction of the flight. @param {SVGPathElement} path @param {boolean} isBackward */
function pointsAlong(path, isBackward) {
  const length = path.getTotalLength();
  const points = Array.from({ length: 2 * SAMPLES + 1 }, (_, i) => {
    const { x, y } = path.getPointAtLength((length * i) / (2 * SAMPLES));
    return { x, y };
  });
  return isBackward ? points.reverse() : points;
}

/**
 * Sample points from the free side of a box into it: a leaf's number comes from before it, the seed from behind the root.
 * @param {Course["box"]} box @param {boolean} isDown direction of the drawing @param {-1 | 1} side @returns {Point[]}
 */
function into({ corner, width, height }, isDown, side) {
  const middle = { x: corner.x + width / 2, y: corner.y + height / 2 };
  const far = side * (APART + (isDown ? height : width) / 2);
  return Array.from({ length: SAMPLES + 1 }, (_, i) => {
    const left = far * (1 - i / SAMPLES);
    return isDown ? { x: middle.x, y: middle.y + left } : { x: middle.x + left, y: middle.y };
  });
}

/** Invert 3t² - 2t³ on the interval from 0 to 1. @param {number} share */
function inverseEase(share) {
  return 0.5 - Math.sin(Math.asin(1 - 2 * share) / 3);
}
