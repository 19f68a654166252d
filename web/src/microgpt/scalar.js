// All information about one number of an opened step.
//
// To reuse the sentences of walks, this module builds a small graph around the node: its operands, its users, the other
// operands of the users, and a root that replaces the rest of the program and passes each user its gradient.

import { Graph } from "../core/graph.js";
import { Walk } from "../walk/steps.js";
import { chainRule, computed, contributionSentence, stepSentence } from "../walk/words.js";
import { titleOf } from "./titles.js";

/** @typedef {import("../types.js").BackwardStep} BackwardStep */
/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("./document.js").Lesson} Lesson */
/** @typedef {import("./program.js").Program} Program */
/** @typedef {import("./protocol.js").Link} Link */
/** @typedef {import("./protocol.js").Opened} Opened */
/** @typedef {import("./protocol.js").Scalar} Scalar */

/** @param {Lesson} lesson @param {Opened} opened @param {number} node @returns {Scalar} */
export function scalarOf(lesson, opened, node) {
  const program = lesson.programFor(opened.tokens.length);
  const around = new Surroundings(program, opened, node);
  const walk = new Walk(around.graph);
  const rule = chainRule(walk, around.center, walk.moment(walk.steps.length));
  const step = walk.backward.find(({ place }) => place === around.center);
  const row = program.rowOf(node);
  return {
    node,
    name: program.names[node],
    title: titleOf(lesson, opened, node),
    data: opened.data[node],
    grad: opened.grad[node],
    operation: row?.name ?? "",
    symbol: row?.symbol ?? "",
    computed: computed(walk.graph.nodes[around.center], walk.graph, false),
    derivative: rule.derivative,
    chainRule: rule.symbolic,
    sentence: step ? stepSentence(walk, step, false) : "",
    operands: operandLinks(lesson, program, opened, node, walk, step),
    users: rule.terms.filter(({ user }) => around.users.has(user)).map((term) => {
      const user = Number(around.users.get(term.user));
      return link(lesson, opened, user, { position: term.position, partial: term.local, amount: term.amount ?? 0, sentence: term.sentence });
    }),
    line: program.lines[node],
    source: lesson.lineOfSource(program.lines[node]),
  };
}

/**
 * @param {Lesson} lesson @param {Program} program @param {Opened} opened @param {number} node
 * @param {Walk} walk @param {BackwardStep | undefined} step visits the node
 */
function operandLinks(lesson, program, opened, node, walk, step) {
  return Array.from(program.operandsOf(node), (slot, position) => {
    const given = step?.contributions.find((contribution) => contribution.position === position);
    const isConstant = slot >= program.size;
    return link(lesson, opened, slot, {
      position,
      partial: isConstant ? NaN : program.partial(node, position, opened.data),
      amount: given?.amount ?? 0,
      sentence: given ? contributionSentence(walk, given) : "",
    });
  });
}

/** @param {Lesson} lesson @param {Opened} opened @param {number} slot @param {Pick<Link, "position" | "partial" | "amount" | "sentence">} rest @returns {Link} */
function link(lesson, opened, slot, rest) {
  const { program } = lesson;
  const { data } = opened;
  if (slot >= program.size) return { node: -1, name: String(data[slot]), title: String(data[slot]), data: data[slot], ...rest };
  return { node: slot, name: program.names[slot], title: titleOf(lesson, opened, slot), data: data[slot], ...rest };
}

/** A small graph around a node. */
class Surroundings {
  /** @type {Node[]} */
  #nodes = [];
  /** The users by index in the small graph. @type {Map<number, number>} */
  users = new Map();

  /** @param {Program} program @param {Opened} opened @param {number} node */
  constructor(program, opened, node) {
    this.program = program;
    this.opened = opened;
    this.center = this.#add(node, new Map());
    const known = new Map([[node, this.center]]); // operands that users share are added once
    const users = new Set(program.usersOf(node).map((use) => use.node));
    for (const user of [...users].reverse()) this.users.set(this.#add(user, known), user);
    const isAtEnd = node === program.root || users.has(program.root);
    this.graph = new Graph(this.#nodes, isAtEnd ? this.#nodes.length - 1 : this.#addRest());
  }

  /** Add a node after those of its operands that are not yet in the graph. @param {number} node @param {Map<number, number>} known indices in the small graph, by node */
  #add(node, known) {
    const { program, opened } = this;
    const slots = [...program.operandsOf(node)];
    const isConstant = (/** @type {number} */ slot) => slot >= program.size;
    const operands = slots.map((slot) => {
      if (isConstant(slot)) return -1;
      if (!known.has(slot)) known.set(slot, this.#push(slot, [], [], []));
      return Number(known.get(slot));
    });
    const constants = slots.map((slot) => (isConstant(slot) ? opened.data[slot] : NaN));
    const partials = slots.map((slot, position) => (isConstant(slot) ? NaN : program.partial(node, position, opened.data)));
    return this.#push(node, operands, constants, partials);
  }

  /** @param {number} node @param {number[]} operands @param {number[]} constants @param {number[]} partials @returns {number} its index */
  #push(node, operands, constants, partials) {
    const { program, opened } = this;
    const [name, kind] = [program.names[node], operands.length ? program.kinds[node] : 0];
    return this.#nodes.push({
      ...blank(this.#nodes.length, name, opened.data[node]),
      operation: program.operations[kind],
      ...program.rules[kind],
      symbol: program.rowOfKind(kind)?.symbol ?? "",
      operands,
      constants,
      partials,
    }) - 1;
  }

  /** Add the loss as a custom node with the users as operands. */
  #addRest() {
    const { program, opened } = this;
    const users = [...this.users];
    return this.#nodes.push({
      ...blank(this.#nodes.length, program.names[program.root], opened.data[program.root]),
      symbol: "…",
      operands: users.map(([place]) => place),
      constants: users.map(() => NaN),
      partials: users.map(([, user]) => opened.grad[user]),
      byHand: true,
    }) - 1;
  }
}

/** Create a leaf. @param {number} place @param {string} name @param {number} data @returns {Node} */
function blank(place, name, data) {
  const unknown = { row: null, reduction: null, gather: null, source: null, byHand: false };
  const empty = { operation: "", symbol: "", operands: [], constants: [], partials: [] };
  return { place, name, label: name, data, grad: NaN, ...unknown, ...empty };
}
