// A plot of a function: the curve, the current point, a tangent of a given slope, and a secant.

import { set, write } from "../dom.js";
import { drawn, rounded } from "../stage/svg.js";

const [WIDTH, HEIGHT, MARGIN] = [320, 190, 14];
const SAMPLES = 96;

/**
 * @typedef {object} Drawing
 * @property {readonly [up: string, across: string]} names of the axes
 * @property {(x: number) => number} f
 * @property {readonly [from: number, to: number]} over the range of x
 * @property {number} at x of the current point
 * @property {number} slope of the tangent at `at`
 * @property {number} [other] x of a second point; a secant joins both points
 */

export class Plot {
  constructor() {
    this.axes = drawn("path", { class: "axes" });
    this.curve = drawn("path", { class: "curve" });
    this.tangent = drawn("path", { class: "tangent" });
    this.secant = drawn("path", { class: "secant" });
    this.point = drawn("circle", { class: "point", r: 5 });
    this.other = drawn("circle", { class: "point other", r: 5 });
    this.up = drawn("text", { class: "axis", x: 4, y: 14 });
    this.across = drawn("text", { class: "axis across", x: WIDTH - 4, y: HEIGHT - 5 });
    const lines = [this.axes, this.up, this.across, this.curve, this.tangent, this.secant, this.other, this.point];
    this.element = drawn("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, ...lines);
  }

  /** @param {string} name the accessible name @param {Drawing} drawing */
  show(name, { names: [up, across], f, over: [from, to], at, slope, other }) {
    const samples = Array.from({ length: SAMPLES + 1 }, (_, i) => from + ((to - from) * i) / SAMPLES);
    const points = samples.map((x) => ({ x, y: f(x) })).filter(({ y }) => Number.isFinite(y));
    const heights = [...points.map(({ y }) => y), f(at)].filter(Number.isFinite);
    const [low, high] = widened(Math.min(...heights), Math.max(...heights));
    const toX = (/** @type {number} */ x) => rounded(MARGIN + ((x - from) / (to - from)) * (WIDTH - 2 * MARGIN));
    const toY = (/** @type {number} */ y) => rounded(HEIGHT - MARGIN - ((y - low) / (high - low)) * (HEIGHT - 2 * MARGIN));
    const line = (/** @type {number} */ x0, /** @type {number} */ y0, /** @type {number} */ x1, /** @type {number} */ y1) =>
      [x0, y0, x1, y1].every(Number.isFinite) ? `M${toX(x0)},${toY(y0)}L${toX(x1)},${toY(y1)}` : "";
    const y = f(at);
    set(this.element, "aria-label", name);
    write(this.up, up);
    write(this.across, across);
    set(this.axes, "d", [low <= 0 && high >= 0 ? line(from, 0, to, 0) : "", from <= 0 && to >= 0 ? line(0, low, 0, high) : ""].join(""));
    set(this.curve, "d", points.map((point, i) => `${i ? "L" : "M"}${toX(point.x)},${toY(point.y)}`).join(""));
    set(this.tangent, "d", line(from, y + slope * (from - at), to, y + slope * (to - at)));
    moved(this.point, toX(at), toY(y));
    const isJoined = other !== undefined && other !== at && Number.isFinite(f(other));
    const ratio = isJoined ? (f(other) - y) / (other - at) : 0;
    set(this.secant, "d", isJoined ? line(from, y + ratio * (from - at), to, y + ratio * (to - at)) : "");
    set(this.other, "visibility", isJoined ? null : "hidden");
    if (isJoined) moved(this.other, toX(other), toY(f(other)));
  }
}

/** @param {SVGElement} point @param {number} x @param {number} y */
function moved(point, x, y) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return;
  set(point, "cx", x);
  set(point, "cy", y);
}

/** Return an interval with a margin. @param {number} low @param {number} high */
function widened(low, high) {
  const room = (high - low || Math.abs(low) || 1) * 0.12;
  return [low - room, high + room];
}
