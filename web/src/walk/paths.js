// Gradients as sums over paths: every way from a node to the root has a product of local derivatives.

import { said } from "../core/names.js";
import { contribution, edgeKey, leavesOut, swept, usersOf } from "./passes.js";
import { passing } from "../core/graph.js";

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Path} Path */

const MOST_PATHS = 64; // that are listed
const MOST_EDGES = 100_000; // on all that are listed: those of a long chain are long
const MOST_NAMES = 10; // that are written out

/**
 * The paths from a node to the root, in the order in which their nodes were made; of many the first ones.
 * There are none where no gradient flows, and one without an edge from the root to itself.
 * @param {Graph} graph @param {number} place @param {number} [most] @param {ReturnType<typeof usersOf>} [users]
 * @returns {readonly Path[]}
 */
export function pathsFrom(graph, place, most = MOST_PATHS, users = usersOf(graph)) {
  /** @type {Path[]} */
  const found = [];
  /** @type {{ place: number, before: Trail | null }[]} */
  const open = [{ place, before: null }];
  let edges = 0;
  while (open.length && found.length < most && edges < MOST_EDGES) {
    const { place: at, before } = /** @type {(typeof open)[number]} */ (open.pop());
    if (at === graph.root) edges += found[found.push(pathOf(graph, place, before)) - 1].edges.length;
    // What is opened last is followed first: users in the order in which they were made.
    const lastFirst = users[at].toSorted((one, other) => other.user - one.user || other.position - one.position);
    for (const { user, position } of lastFirst) open.push({ place: user, before: { user, position, before } });
  }
  return found;
}

/** The way so far, from its last edge back to the first. @typedef {{ user: number, position: number, before: Trail | null }} Trail */

/** @param {Graph} graph @param {number} start @param {Trail | null} way @returns {Path} */
function pathOf({ nodes }, start, way) {
  const steps = [];
  let [product, flows] = [1, true];
  for (let step = way; step; step = step.before) {
    const giver = nodes[step.user];
    product = flows ? contribution(giver, step.position, product) : 0; // not even 0 · inf behind what is left out
    flows &&= !leavesOut(giver, step.position);
    steps.push(step);
  }
  steps.reverse();
  return {
    places: [start, ...steps.map(({ user }) => user)],
    edges: steps.map(({ user, position }) => edgeKey(user, position)),
    locals: steps.map(({ user, position }) => nodes[user].partials[position]),
    product,
  };
}

/** How many paths lead from each node to the root, by place; without end above 1e308. @param {Graph} graph @returns {readonly number[]} */
export function pathCounts(graph) {
  const counts = graph.nodes.map(() => 0);
  counts[graph.root] = 1;
  for (const giver of swept(graph)) {
    for (const { place } of passing(graph.nodes[giver])) counts[place] += counts[giver];
  }
  return counts;
}

/** A path by the names of its nodes, the middle left out where there are many. @param {Graph} graph @param {Path} path */
export function pathName({ nodes }, { places }) {
  const name = (/** @type {number} */ place) => said(nodes[place].name);
  if (places.length <= MOST_NAMES) return places.map(name).join(" → ");
  return [...places.slice(0, 4).map(name), "…", ...places.slice(-3).map(name)].join(" → ");
}
