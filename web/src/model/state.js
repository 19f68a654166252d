// What the reader has chosen, all of it; and the same as the fragment of a link that a teacher can share.

import { links as say } from "../english/page.js";
import { plain, readNumber } from "../core/numbers.js";
import { PRESETS, presetOf } from "./presets.js";

/** @typedef {"walk" | "order" | "check" | "exercises"} Mode */

/**
 * @typedef {object} State
 * @property {string} program in the grammar of the command line; "" where a document is shown
 * @property {ReadonlyMap<string, number>} values of leaves, by name; for a document, those that were changed
 * @property {number} position how many steps have been taken
 * @property {Mode} mode
 * @property {readonly string[]} order names of the nodes placed in the order puzzle
 * @property {boolean} overwrite whether contributions are written with = in place of +=
 * @property {string} selected name of a node; "" for none
 * @property {number} operand position of the selected node's operand whose edge is selected; -1 for none
 * @property {string} open key of the part that is open; "" for the one that fits
 * @property {number} exercise which question, from 0
 * @property {number} h the step of difference quotients; 0 for one that is found
 * @property {"central" | "forward"} method
 */

/** @type {readonly Mode[]} */
export const MODES = ["walk", "order", "check", "exercises"];

/** Where each mode begins: with nothing known, or at the end of what it shows. @type {Readonly<Record<Mode, number>>} */
export const STARTS = { walk: 0, order: Infinity, check: Infinity, exercises: 0 };

const LONGEST_LINK = 1_000_000; // what browsers take

/** @param {import("./presets.js").Preset} preset @returns {State} */
export function stateOf(preset) {
  return {
    ...bare(),
    program: preset.program,
    values: new Map(Object.entries(preset.values)),
  };
}

/** A state with nothing chosen, as for a document. @returns {State} */
export function bare() {
  return {
    program: "",
    values: new Map(),
    position: 0,
    mode: "walk",
    order: [],
    overwrite: false,
    selected: "",
    operand: -1,
    open: "",
    exercise: 0,
    h: 0,
    method: "central",
  };
}

/** The state as the fragment of a link, without its #. Only what differs from the start is in it. @param {State} state @param {State} [start] */
export function encoded(state, start = bare()) {
  const preset = PRESETS.find(({ program }) => program === state.program);
  const usual = preset ? new Map(Object.entries(preset.values)) : bare().values;
  const parts = new URLSearchParams();
  if (state.mode === "exercises") return new URLSearchParams({ mode: state.mode, exercise: String(state.exercise) }).toString();
  if (preset) parts.set("show", preset.key);
  else if (state.program) parts.set("f", state.program);
  if (!equal(state.values, usual)) parts.set("at", [...state.values].map(([name, value]) => `${escaped(name)}:${plain(value)}`).join(","));
  if (state.mode !== start.mode) parts.set("mode", state.mode);
  if (state.position) parts.set("step", String(state.position));
  if (state.order.length) parts.set("order", JSON.stringify(state.order));
  if (state.overwrite !== start.overwrite) parts.set("write", state.overwrite ? "=" : "+=");
  if (state.selected) parts.set("node", state.selected);
  if (state.operand >= 0) parts.set("operand", String(state.operand));
  if (state.open) parts.set("open", state.open);
  if (state.h) parts.set("h", plain(state.h));
  if (state.method !== start.method) parts.set("method", state.method);
  return parts.toString();
}

/**
 * The state that a link's fragment tells, and what in it made no sense: that is left as it is at the start.
 * @param {string} fragment @param {State} start
 * @returns {{ state: State, problems: string[] }}
 */
export function decoded(fragment, start) {
  /** @type {string[]} */
  const problems = [];
  if (fragment.length > LONGEST_LINK) return { state: start, problems: [say.tooLong(fragment.length, LONGEST_LINK)] };
  const parts = new URLSearchParams(fragment);
  let state = { ...start };
  for (const [key, text] of parts) {
    const isKnown = Object.hasOwn(READERS, key) && (start.program || !LESSON.has(key));
    const change = isKnown ? READERS[key](text, state) : null;
    if (change) state = { ...state, ...change };
    else problems.push(say.senseless(key, text));
  }
  return { state, problems };
}

// What a page of a document does not have: there the program is given.
const LESSON = new Set(["show", "f", "exercise"]);

/**
 * What each key of a link stands for; null where the text makes no sense.
 * @type {Record<string, (text: string, state: State) => Partial<State> | null>}
 */
const READERS = {
  show(text) {
    const preset = presetOf(text);
    return preset ? { program: preset.program, values: new Map(Object.entries(preset.values)) } : null;
  },
  f: (text) => ({ program: text, values: new Map() }),
  at(text, { values }) {
    const pairs = text ? text.split(",").map((pair) => pair.split(":")) : [];
    const numbers = pairs.map(([, number]) => readNumber(number ?? ""));
    if (pairs.some((pair) => pair.length !== 2) || numbers.includes(null)) return null;
    return { values: new Map([...values, ...pairs.map(([name], i) => /** @type {const} */ ([unescaped(name), Number(numbers[i])]))]) };
  },
  mode: (text) => {
    const mode = MODES.find((known) => known === text);
    return mode ? { mode } : null;
  },
  step: (text) => whole(text, (position) => ({ position })),
  order(text) {
    const names = parsed(text);
    const isList = Array.isArray(names) && names.every((name) => typeof name === "string");
    return isList ? { order: names } : null;
  },
  write: (text) => (text === "=" || text === "+=" ? { overwrite: text === "=" } : null),
  node: (text) => ({ selected: text }),
  operand: (text) => whole(text, (operand) => ({ operand })),
  exercise: (text) => whole(text, (exercise) => ({ exercise })),
  open: (text) => ({ open: text }),
  h(text) {
    const h = readNumber(text);
    return h !== null && h > 0 && Number.isFinite(h) ? { h } : null;
  },
  method: (text) => (text === "forward" || text === "central" ? { method: text } : null),
};

/** A name, for a list of them with their values. @param {string} name */
function escaped(name) {
  return name.replace(/[%,:]/g, encodeURIComponent);
}

/** @param {string} name */
function unescaped(name) {
  return name.replace(/%(25|2C|3A)/g, decodeURIComponent);
}

/** @param {string} text @param {(number: number) => Partial<State>} change */
function whole(text, change) {
  return /^\d{1,7}$/.test(text) ? change(Number(text)) : null;
}

/** @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param {ReadonlyMap<string, number>} one @param {ReadonlyMap<string, number>} other */
function equal(one, other) {
  return one.size === other.size && [...one].every(([name, value]) => Object.is(other.get(name), value));
}
