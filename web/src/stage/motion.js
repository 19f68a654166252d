// A step in motion: numbers travel along lines, become products half-way, and land. Decoration: the picture at rest says
// it all, so nothing here is heard, and nothing moves for those who ask for less motion.

import { signOf } from "./boxes.js";
import { drawn, Ruler } from "./svg.js";

/** @typedef {import("./svg.js").Point} Point */
/** @typedef {import("../types.js").Flight} Flight */
/** @typedef {{ flight: Flight, box: { corner: Point, width: number }, path: SVGPathElement | null }} Course */

const MOST_PACES = 5; // that all of a step takes: where more lands, each does so faster
const FORWARD = 0.6; // of a pace: there is nothing to work out on the way
const TOLD = 0.9; // of a pace, that what came of it can be read
const SAMPLES = 20; // points along half of a path
const HEIGHT = 20;
const FONT = 12;
const DROP = 46; // how far above a box what comes along no line begins
const ABOVE = 18; // how far above a line's middle the local derivative stands
const LARGEST = 2; // that a token grows by where the drawing is small

// When what happens to a contribution, from 0 to 1.
const [ARRIVED, MULTIPLIED, LEFT, LANDED] = [0.38, 0.5, 0.6, 0.94];

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

export class Motion {
  element = drawn("g", { class: "motion", "aria-hidden": "true" });
  /** @type {Promise<void>} fulfilled when nothing moves */
  settled = Promise.resolve();
  /** @type {(() => void) | null} what ends the motion that goes on */
  #end = null;

  /**
   * Show landings one after the other. `onLanded` is told how many have landed, at first none; null at the end, which
   * comes at once where nothing is to move.
   * @param {readonly (readonly Course[])[]} landings @param {number} pace milliseconds a landing
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

  /** End it at once, as it would have ended. */
  finish() {
    this.#end?.();
  }
}

/** What moves, made as it is needed. Only transforms and opacities change. */
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
    this.#scale = Math.min(Math.max(1, 1 / drawing), LARGEST); // readable where the drawing is small
  }

  /** @param {Course} course */
  async fly({ flight, box, path }) {
    const classes = ["token", flight.amount === null ? "forward" : signOf(flight.amount), flight.isLost ? "lost" : ""].join(" ");
    const [carries, becomes] = [flight.carries, flight.becomes].map((text) => this.#pill(text));
    const token = drawn("g", { class: classes }, becomes, carries);
    const points = path ? pointsAlong(path, flight.isBackward) : above(box);
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

  /** Say what came of those that have landed. @param {readonly Course[]} courses @returns {Promise<void>} */
  async tell(courses) {
    await Promise.all(
      courses.map(({ flight, box }) => {
        if (!flight.told) return undefined;
        const told = drawn("g", { class: flight.isLost || flight.harms ? "told lost" : "told" }, this.#pill(flight.told));
        const at = { x: box.corner.x + box.width / 2, y: box.corner.y - HEIGHT / 2 - 4 };
        const [from, to] = [at, { x: at.x, y: at.y - 6 }].map((point) => this.#at(point));
        const frames = [
          { opacity: 0, transform: from },
          { offset: 0.1, opacity: 1, transform: to },
          { offset: 0.85, opacity: 1, transform: to },
          { opacity: 0, transform: to },
        ];
        return this.#act(told, [[told, frames]], TOLD);
      }),
    );
  }

  /**
   * Show something as long as it moves. What is taken away before its end comes to an end with the motion's.
   * @param {SVGGElement} shown @param {readonly (readonly [SVGElement, Keyframe[]])[]} moves @param {number} [paces]
   */
  async #act(shown, moves, paces = 1) {
    this.#layer.append(shown);
    const duration = this.#time * paces;
    await Promise.all(moves.map(([actor, frames]) => actor.animate(frames, { duration, fill: "both" }).finished));
    shown.remove();
  }

  /**
   * Frames along points between two times, slowly at first and at last.
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

/** Points along a line, from where a number sets out to where it lands. @param {SVGPathElement} path @param {boolean} isBackward */
function pointsAlong(path, isBackward) {
  const length = path.getTotalLength();
  const points = Array.from({ length: 2 * SAMPLES + 1 }, (_, i) => {
    const { x, y } = path.getPointAtLength((length * i) / (2 * SAMPLES));
    return { x, y };
  });
  return isBackward ? points.reverse() : points;
}

/** From above into a box. @param {Course["box"]} box @returns {Point[]} */
function above({ corner, width }) {
  const x = corner.x + width / 2;
  return Array.from({ length: SAMPLES + 1 }, (_, i) => ({ x, y: corner.y - DROP + ((DROP + HEIGHT) * i) / SAMPLES }));
}

/** When 3t² - 2t³ is a number from 0 to 1. @param {number} share */
function inverseEase(share) {
  return 0.5 - Math.sin(Math.asin(1 - 2 * share) / 3);
}
