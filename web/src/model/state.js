// The reader's choices, and their encoding as the fragment of a link that a teacher can share.

import { links as say } from "../languages/languages.js";
import { plain, readNumber } from "../core/numbers.js";
import { chapterOf, stageOf } from "./chapters.js";
import { framed, framingParts, isFraming, unframed } from "./framing.js";
import { PRESETS, presetOf } from "./presets.js";
import { TRAINING_READERS, UNTRAINED, writeTraining } from "./training.js";

/** @typedef {"walk" | "order" | "check" | "train" | "exercises"} Mode */

/**
 * @typedef {object} State
 * @property {string} chapter key of the lesson's open chapter; "" in the lab
 * @property {number} beat number of the beat in the chapter, from 0
 * @property {readonly string[]} done keys of the completed chapters
 * @property {string} program in the grammar of the command line; "" for a document
 * @property {ReadonlyMap<string, number>} values of leaves, by name; for a document, only the changed ones
 * @property {number} position number of steps taken
 * @property {Mode} mode
 * @property {readonly string[]} order names of the nodes placed in the order puzzle
 * @property {boolean} overwrite whether contributions replace the gradient, like = instead of +=
 * @property {string} selected name of the selected node; "" for none
 * @property {number} operand operand position of the selected edge into the selected node; -1 for none
 * @property {string} open key of the open group; "" for the default
 * @property {number} exercise number of the question, from 0
 * @property {number} pass number of the program's backward() call; 0 for the document's own
 * @property {number} h step of difference quotients; 0 for the best one
 * @property {"central" | "forward"} method
 * @property {import("./training.js").Training} training
 */

/** @type {readonly Mode[]} */
export const MODES = ["walk", "order", "check", "train", "exercises"];

export const START = 1; // number of leaves without one

/**
 * Return the position where a mode begins. The walk of a preset begins before the first step. The walk of an own
 * expression or a document begins at the end, where all gradients are known.
 * @param {Mode} mode @param {string} program
 */
export function startOf(mode, program) {
  const isPreset = PRESETS.some((preset) => preset.program === program);
  return mode === "exercises" || (mode === "walk" && isPreset) ? 0 : Infinity;
}

export const LONGEST_LINK = 1_000_000; // maximum length in characters that browsers accept

/** @param {import("./presets.js").Preset} preset @returns {State} */
export function stateOf(preset) {
  return {
    ...bare(),
    position: startOf("walk", preset.program),
    program: preset.program,
    values: new Map(Object.entries(preset.values)),
  };
}

/** Return the default state, used for documents. @returns {State} */
export function bare() {
  return {
    chapter: "",
    beat: 0,
    done: [],
    program: "",
    values: new Map(),
    position: Infinity,
    mode: "walk",
    order: [],
    overwrite: false,
    selected: "",
    operand: -1,
    open: "",
    exercise: 0,
    pass: 0,
    h: 0,
    method: "central",
    training: UNTRAINED,
  };
}

/** Encode a state as the fragment of a link, without #. Values equal to the start are omitted. @param {State} state @param {State} [start] */
export function encoded(state, start = bare()) {
  const preset = PRESETS.find(({ program }) => program === state.program);
  const usual = preset ? new Map(Object.entries(preset.values)) : bare().values;
  if (state.chapter) return encodedChapter(state);
  const parts = new URLSearchParams();
  if (state.done.length) parts.set("done", state.done.join(","));
  if (state.mode === "exercises") return new URLSearchParams({ mode: state.mode, exercise: String(state.exercise) }).toString();
  if (preset) parts.set("show", preset.key);
  else if (state.program) parts.set("f", state.program);
  if (!equal(state.values, usual)) parts.set("at", listed(state.values));
  if (state.mode !== start.mode) parts.set("mode", state.mode);
  if (state.position !== startOf(state.mode, state.program)) parts.set("step", String(state.position));
  if (state.order.length) parts.set("order", JSON.stringify(state.order));
  if (state.overwrite !== start.overwrite) parts.set("write", state.overwrite ? "=" : "+=");
  if (state.selected) parts.set("node", state.selected);
  if (state.operand >= 0) parts.set("operand", String(state.operand));
  if (state.open) parts.set("open", state.open);
  if (state.pass) parts.set("pass", String(state.pass));
  if (state.h) parts.set("h", plain(state.h));
  if (state.method !== start.method) parts.set("method", state.method);
  writeTraining(parts, state.training);
  return parts.toString();
}

/**
 * Encode a beat of a chapter and the values that the reader changed in it. The beat determines the rest of the state.
 * @param {State} state
 */
function encodedChapter({ chapter: key, beat, done, values, h }) {
  const parts = new URLSearchParams({ chapter: key });
  if (beat) parts.set("beat", String(beat));
  if (done.length) parts.set("done", done.join(","));
  const chapter = chapterOf(key);
  const stage = chapter && stageOf(chapter, beat);
  if (stage && !equal(values, stage.values)) parts.set("at", listed(values));
  if (stage && h && h !== stage.h) parts.set("h", plain(h));
  return parts.toString();
}

/** @param {ReadonlyMap<string, number>} values */
function listed(values) {
  return [...values].map(([name, value]) => `${escaped(name)}:${plain(value)}`).join(",");
}

/**
 * Decode a link's fragment and describe its invalid parts. Settings with invalid parts keep their initial values.
 * @param {string} fragment @param {State} start
 * @returns {{ state: State, framing: import("./framing.js").Framing, problems: string[] }}
 */
export function decoded(fragment, start) {
  /** @type {string[]} */
  const problems = [];
  if (fragment.length > LONGEST_LINK) return { state: start, framing: unframed(), problems: [say.tooLong(fragment.length, LONGEST_LINK)] };
  const parts = new URLSearchParams(fragment);
  let state = { ...start };
  const { framing, problems: unclear } = framed(parts);
  for (const [key, text] of parts) {
    if (isFraming(key)) continue;
    const isKnown = Object.hasOwn(READERS, key) && (start.program || !LESSON.has(key));
    const change = isKnown ? READERS[key](text, state) : null;
    if (change) state = { ...state, ...change };
    else problems.push(say.senseless(key, text));
  }
  if (!parts.has("step") && !state.chapter) state = { ...state, position: startOf(state.mode, state.program) };
  return { state, framing, problems: [...problems, ...unclear] };
}

/** Return the language code in a fragment; "" for none. @param {string} fragment */
export function languageIn(fragment) {
  return fragment.length > LONGEST_LINK ? "" : framed(new URLSearchParams(fragment)).framing.language;
}

/** Append the teacher's settings to a fragment. @param {string} fragment @param {import("./framing.js").Framing} framing */
export function within(fragment, framing) {
  const parts = framingParts(framing);
  return [fragment, parts.length ? new URLSearchParams(parts).toString() : ""].filter(Boolean).join("&");
}

// Keys that do not apply to a document, which has a fixed program.
const LESSON = new Set(["show", "f", "exercise", "chapter", "beat", "done"]);

/**
 * Readers of the keys of a link; they return null for invalid text.
 * @type {Record<string, (text: string, state: State) => Partial<State> | null>}
 */
const READERS = {
  chapter(text) {
    const chapter = chapterOf(text);
    return chapter ? stageOf(chapter, 0) : null;
  },
  beat(text, { chapter: key }) {
    const chapter = chapterOf(key);
    const isBeat = chapter !== undefined && /^\d{1,3}$/.test(text) && Number(text) < chapter.beats.length;
    return isBeat ? stageOf(chapter, Number(text)) : null;
  },
  done(text) {
    const keys = text.split(",");
    return keys.every((key) => chapterOf(key)) ? { done: [...new Set(keys)] } : null;
  },
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
  pass: (text) => whole(text, (pass) => ({ pass })),
  h(text) {
    const h = readNumber(text);
    return h !== null && h > 0 && Number.isFinite(h) ? { h } : null;
  },
  method: (text) => (text === "forward" || text === "central" ? { method: text } : null),
  ...Object.fromEntries(Object.entries(TRAINING_READERS).map(([key, read]) => [key, (text, { training }) => {
    const change = read(text);
    return change && { training: { ...training, ...change } };
  }])),
};

/** Escape a name for a list of names and values. @param {string} name */
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
