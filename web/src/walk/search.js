// Depth-first search for a topological order, step by step as in micrograd's `Value.backward`.

import { passing } from "../core/graph.js";

/** The source lines of micrograd's method (Andrej Karpathy, MIT license), without comments. */
export const CODE = [
  "topo = []",
  "visited = set()",
  "def build_topo(v):",
  "    if v not in visited:",
  "        visited.add(v)",
  "        for child in v._prev:",
  "            build_topo(child)",
  "        topo.append(v)",
  "build_topo(self)",
  "self.grad = 1",
  "for v in reversed(topo):",
  "    v._backward()",
];

const [ASKED, ADDED, CALLED, APPENDED, BEGUN] = [3, 4, 6, 7, 8];
export const SEEDED = 9;
export const STEPPED = 11;

/**
 * The state of the search after a line has run.
 * @typedef {object} Event
 * @property {number} line of `CODE`, from 0
 * @property {number} place node that the line is about
 * @property {readonly number[]} topo
 */

/**
 * Run the search from the root and record an event for each line that has an effect.
 * @param {import("../core/graph.js").Graph} graph @returns {readonly Event[]}
 */
export function search(graph) {
  /** @type {Event[]} */
  const events = [];
  /** @type {{ place: number, children: readonly number[], next: number }[]} */
  const calls = [];
  const visited = new Set();
  /** @type {number[]} */
  const topo = [];
  const note = (/** @type {number} */ line, /** @type {number} */ place) =>
    events.push({ line, place, topo: [...topo] });
  const enter = (/** @type {number} */ place) => {
    const children = visited.has(place) ? [] : [...new Set(passing(graph.nodes[place]).map((operand) => operand.place))];
    calls.push({ place, children, next: visited.has(place) ? -1 : 0 });
    note(ASKED, place);
    if (visited.has(place)) return;
    visited.add(place);
    note(ADDED, place);
  };

  note(BEGUN, graph.root);
  enter(graph.root);
  for (let call = calls.at(-1); call; call = calls.at(-1)) {
    const child = call.children[call.next];
    if (child !== undefined) {
      call.next += 1;
      note(CALLED, child);
      enter(child);
      continue;
    }
    if (call.next >= 0) {
      topo.push(call.place);
      note(APPENDED, call.place);
    }
    calls.pop();
  }
  return events;
}
