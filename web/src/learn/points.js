// Points in the plane with two classes, from a seeded generator or from a reader's text.

import { training } from "../languages/languages.js";
import { readNumber } from "../core/numbers.js";

/** @typedef {{ readonly x1: number, readonly x2: number, readonly y: number }} Point y is the class: 1 or -1 */
/** @typedef {"moons" | "circles" | "xor" | "blobs"} Kind */

/** @type {readonly Kind[]} */
export const KINDS = ["moons", "circles", "xor", "blobs"];
export const MOST = 2000; // maximum number of points to read

const COUNT = 100;
const TOLD = 4; // maximum number of problems to report
const NAMES = /** @type {const} */ (["x1", "x2", "y"]);

/** Error in a text of points, with the problems of its lines. */
export class PointsError extends Error {
  name = "PointsError";
}

/** Return a seeded generator of numbers in [0, 1): mulberry32 by Tommy Ettinger, public domain. @param {number} seed */
export function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Generate points of a kind from a seed, with alternating classes. @param {Kind} kind @param {number} seed @returns {readonly Point[]} */
export function made(kind, seed) {
  const draw = uniform(seed);
  const noise = (/** @type {number} */ spread) => spread * Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  return Array.from({ length: COUNT }, (_, i) => {
    const y = i % 2 ? -1 : 1;
    const [x1, x2] = PLACES[kind](y, draw, noise);
    return { x1: rounded(x1), x2: rounded(x2), y };
  });
}

/** @type {Record<Kind, (y: number, draw: () => number, noise: (spread: number) => number) => readonly [number, number]>} */
const PLACES = {
  moons(y, draw, noise) {
    const turn = Math.PI * draw();
    const [across, up] = y > 0 ? [Math.cos(turn) - 0.5, Math.sin(turn) - 0.25] : [0.5 - Math.cos(turn), 0.25 - Math.sin(turn)];
    return [across + noise(0.1), up + noise(0.1)];
  },
  circles(y, draw, noise) {
    const [turn, radius] = [2 * Math.PI * draw(), y > 0 ? 0.4 : 1.1];
    return [radius * Math.cos(turn) + noise(0.1), radius * Math.sin(turn) + noise(0.1)];
  },
  xor(y, draw) {
    const [x1, x2, side] = [0.1 + 0.9 * draw(), 0.1 + 0.9 * draw(), draw() < 0.5 ? 1 : -1];
    return [side * x1, side * y * x2];
  },
  blobs: (y, _, noise) => [0.65 * y + noise(0.3), 0.5 * y + noise(0.3)],
};

/** Round to the three decimals that a box can show. @param {number} number */
export function rounded(number) {
  return Number(number.toFixed(3)) + 0;
}

/** Convert points to columns, by leaf name. @param {readonly Point[]} points */
export function columnsOf(points) {
  return new Map(NAMES.map((name) => [name, Float64Array.from(points, (point) => point[name])]));
}

/** Standardize both coordinates to mean 0 and standard deviation 1. @param {readonly Point[]} points @returns {readonly Point[]} */
export function scaled(points) {
  const [first, second] = /** @type {const} */ (["x1", "x2"]).map((name) => {
    const numbers = points.map((point) => point[name]);
    const mean = numbers.reduce((total, number) => total + number, 0) / numbers.length;
    const deviation = Math.sqrt(numbers.reduce((total, number) => total + (number - mean) ** 2, 0) / numbers.length) || 1;
    return (/** @type {number} */ number) => rounded((number - mean) / deviation);
  });
  return points.map(({ x1, x2, y }) => ({ x1: first(x1), x2: second(x2), y }));
}

/** Return whether some coordinates are so large that a small network learns badly from them. @param {readonly Point[]} points */
export function needsScaling(points) {
  return points.some(({ x1, x2 }) => Math.abs(x1) > 6 || Math.abs(x2) > 6);
}

/**
 * Read points from text, one `x1,x2,y` per line, separated by commas, semicolons or tabs. A header may give another
 * order. The classes are 1 and -1, or 1 and 0. Throws `PointsError` with the invalid lines.
 * @param {string} text @returns {readonly Point[]}
 */
export function read(text) {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/).map((line, i) => ({ number: i + 1, line: line.trim() }));
  const filled = lines.filter(({ line }) => line);
  if (!filled.length) throw new PointsError(training.csv.empty);
  const separator = separatorOf(filled[0].line);
  const rows = filled.map(({ number, line }) => ({ number, cells: line.split(separator).map(unquoted) }));
  const header = rows[0].cells.every((cell) => numberOf(cell, separator) === null) ? rows.shift() : undefined;
  const places = placesOf(header, rows[0]?.cells.length ?? 0);
  if (!rows.length) throw new PointsError(training.csv.empty);
  if (rows.length > MOST) throw new PointsError(training.csv.tooMany(rows.length, MOST));
  const problems = rows.flatMap((row) => problemsOf(row, places, separator));
  if (problems.length) throw new PointsError([...problems.slice(0, TOLD), ...(problems.length > TOLD ? [training.csv.more(problems.length - TOLD)] : [])].join("\n"));
  const points = rows.map(({ cells }) => {
    const [x1, x2, y] = places.map((place) => Number(numberOf(cells[place], separator)));
    return { x1, x2, y };
  });
  const classes = new Set(points.map(({ y }) => y));
  if (classes.has(0) && classes.has(-1)) throw new PointsError(training.csv.threeClasses);
  return points.map(({ x1, x2, y }) => ({ x1: x1 + 0, x2: x2 + 0, y: y > 0 ? 1 : -1 })); // + 0 turns -0 into 0
}

/** @param {string} line */
function separatorOf(line) {
  return ["\t", ";"].find((sign) => line.includes(sign)) ?? ",";
}

/**
 * Return the columns of x1, x2 and y.
 * @param {{ number: number, cells: readonly string[] } | undefined} header @param {number} width number of cells in the
 *   first data line
 */
function placesOf(header, width) {
  if (!header) {
    if (width !== 3) throw new PointsError(training.csv.width(1, width));
    return [0, 1, 2];
  }
  const names = header.cells.map((cell) => cell.toLowerCase());
  const found = NAMES.map((name) => names.indexOf(name));
  if (!found.includes(-1)) return found;
  if (names.length !== 3) throw new PointsError(training.csv.header(header.cells));
  return [0, 1, 2];
}

/**
 * Return the problems of a line.
 * @param {{ number: number, cells: readonly string[] }} row @param {readonly number[]} places @param {string} separator
 */
function problemsOf({ number, cells }, places, separator) {
  if (cells.length <= Math.max(...places) || (places.join() === "0,1,2" && cells.length !== 3)) return [training.csv.width(number, cells.length)];
  return places.flatMap((place, i) => {
    const found = numberOf(cells[place], separator);
    if (found === null || !Number.isFinite(found)) return [training.csv.noNumber(number, NAMES[i], cells[place])];
    return NAMES[i] === "y" && ![1, 0, -1].includes(found) ? [training.csv.noClass(number, cells[place])] : [];
  });
}

/** @param {string} cell */
function unquoted(cell) {
  return cell.trim().replace(/^"(.*)"$/, "$1").trim();
}

/** Parse a cell; a decimal comma is allowed unless commas are the separator. @param {string} cell @param {string} separator */
function numberOf(cell, separator) {
  return readNumber(separator === "," ? cell : cell.replace(",", "."));
}
