// Decode the document that tools/microgpt_document.py wrote.

import { toNumber } from "../core/numbers.js";
import { Program } from "./program.js";

/** @typedef {import("./protocol.js").MicrogptDocument} MicrogptDocument */
/** @typedef {import("./protocol.js").PackedProgram} PackedProgram */

const END = "·"; // the symbol of the end of a name

/** Microgpt before training: its program, its weights, and the names to train on. */
export class Lesson {
  /**
   * @param {MicrogptDocument} document @param {Program} program @param {Program} update
   */
  constructor({ letters, config, source, names, matrices, weights }, program, update) {
    this.letters = letters;
    this.config = config;
    this.source = source;
    this.names = names.split(" ");
    this.matrices = matrices;
    this.weights = floats(weights);
    this.program = program; // computes the loss of a name that fills all places
    this.update = update;
    const places = [...Array(config.places).keys()];
    this.tokens = places.map((place) => program.find(`token.${place}`)); // the input nodes, by place
    this.targets = places.map((place) => program.find(`target.${place}`));
    this.logits = places.map((place) => [...Array(letters.length + 1).keys()].map((letter) => program.find(`place${place}.logit.${letter}`)));
    /** @type {Program[]} */
    this.shorter = [];
  }

  /** The token before and after a name. */
  get end() {
    return this.letters.length;
  }

  /** The maximum length of a name. */
  get longest() {
    return this.config.places - 1;
  }

  /** Return the program for the loss of a name that fills this many places. @param {number} places */
  programFor(places) {
    return (this.shorter[places] ??= this.program.upTo(places));
  }

  /** Return the input tokens, and the token that follows each of them. @param {string} name in letters of the alphabet */
  encode(name) {
    const letters = [...name].map((letter) => this.letters.indexOf(letter));
    return { tokens: [this.end, ...letters], targets: [...letters, this.end] };
  }

  /** @param {number} token */
  letter(token) {
    return this.letters[token] ?? END;
  }

  /** @param {readonly number[]} tokens */
  text(tokens) {
    return tokens.map((token) => this.letter(token)).join("");
  }

  /** Return a line of the source, counted from 1. @param {number} line */
  lineOfSource(line) {
    return this.source.text.split("\n")[line - 1] ?? "";
  }
}

/** @param {MicrogptDocument} document */
export async function decoded(document) {
  const names = document.matrices.flatMap(({ name, rows, columns }) =>
    Array.from({ length: rows * columns }, (_, i) => `${name}.${Math.floor(i / columns)}.${i % columns}`));
  const { sums } = document.program;
  const [program, update] = await Promise.all([unpacked(document.program, names, sums), unpacked(document.update)]);
  return new Lesson(document, program, update);
}

/** @param {PackedProgram} packed @param {readonly string[]} [names] of the first nodes @param {readonly number[]} [sums] */
async function unpacked(packed, names = [], sums = []) {
  const [kinds, counts, steps, lines, scopes, labels] = await Promise.all([
    integers(packed.kinds),
    integers(packed.counts),
    integers(packed.operands),
    integers(packed.lines),
    texts(packed.scopes),
    texts(packed.labels),
  ]);
  return new Program({
    operations: packed.operations,
    kinds: Uint8Array.from(kinds),
    offsets: summed(counts, [0]),
    operands: added(kinds, counts, steps),
    constants: packed.constants.map(toNumber),
    outputs: packed.outputs,
    sums,
    lines: summed(lines),
    scopes,
    names: named(packed.operations, kinds, scopes, labels, names),
  });
}

/**
 * Decode operands, which are stored as differences from the previous node of the same kind with the same operand count.
 * @param {Int32Array} kinds @param {Int32Array} counts @param {Int32Array} steps
 */
function added(kinds, counts, steps) {
  const operands = steps.slice();
  /** @type {Map<number, number>} where the operands of the last node of each kind and count begin */
  const begins = new Map();
  let at = 0;
  kinds.forEach((kind, node) => {
    const key = kind * operands.length + counts[node];
    const before = begins.get(key);
    if (before !== undefined) for (let i = 0; i < counts[node]; i += 1) operands[at + i] += operands[before + i];
    begins.set(key, at);
    at += counts[node];
  });
  return operands;
}

/**
 * Name every node: scope and label, or only the label if it begins with a dot, or scope, operation and a number without a label.
 * @param {readonly string[]} operations @param {Int32Array} kinds
 * @param {readonly string[]} scopes @param {readonly string[]} labels @param {readonly string[]} first names of the first nodes
 */
function named(operations, kinds, scopes, labels, first) {
  /** @type {Map<string, number>} */
  const uses = new Map();
  return labels.map((label, node) => {
    if (node < first.length) return first[node];
    const scope = scopes[node] ? `${scopes[node]}.` : "";
    if (label) return label.startsWith(".") ? label.slice(1) : scope + label;
    const name = scope + operations[kinds[node]];
    const use = uses.get(name) ?? 0;
    uses.set(name, use + 1);
    return `${name}.${use}`;
  });
}

// Packed columns

/** @param {string} text in base64 */
function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** @param {string} packed */
async function inflated(packed) {
  const stream = new Blob([bytes(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

/** @param {string} packed */
async function texts(packed) {
  return new TextDecoder().decode(await inflated(packed)).split("\n");
}

/** @param {string} packed little-endian, like all machines that browsers run on */
async function integers(packed) {
  return new Int32Array(await inflated(packed));
}

/** @param {string} packed little-endian */
function floats(packed) {
  return new Float64Array(bytes(packed).buffer);
}

/** Compute the cumulative sums. @param {Int32Array} numbers @param {readonly number[]} [first] numbers to put first */
function summed(numbers, first = []) {
  let total = 0;
  return Int32Array.from([...first, ...numbers], (number) => (total += number));
}
