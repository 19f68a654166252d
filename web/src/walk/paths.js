// Gradients as sums over paths: each path from a node to the root contributes the product of its local derivatives.

import { brief, few } from "../core/names.js";
import { contribution, edgeKey, leavesOut, swept, Users } from "./passes.js";
import { passing } from "../core/graph.js";

/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Path} Path */

const MOST_PATHS = 64; // maximum number of paths in a list
const MOST_EDGES = 100_000; // maximum number of edges on all paths of a list, because the paths of a long chain are long

/**
 * List the paths from a node to the root in the order of their nodes, up to a limit. If no gradient flows to the node,
 * there are none. The root has one path, without edges.
 * @param {Graph} graph @param {number} place @param {number} [most] @param {Users} [users]
 * @returns {readonly Path[]}
 */
export function pathsFrom(graph, place, most = MOST_PATHS, users = new Users(graph)) {
  /** @type {Path[]} */
  const found = [];
  /** @type {{ place: number, before: Trail | null }[]} */
  const open = [{ place, before: null }];
  let edges = 0;
  while (open.length && found.length < most && edges < MOST_EDGES) {
    const { place: at, before } = /** @type {(typeof open)[number]} */ (open.pop());
    if (at === graph.root) edges += found[found.push(pathOf(graph, place, before)) - 1].edges.length;
    // The last path pushed is continued first, so users come out in the order in which they were made.
    const lastFirst = users.of(at).toSorted((one, other) => other.user - one.user || other.position - one.position);
    for (const { user, position } of lastFirst) open.push({ place: user, before: { user, position, before } });
  }
  return found;
}

/** A path as a linked list from its last edge back to its first. @typedef {{ user: number, position: number, before: Trail | null }} Trail */

/** @param {Graph} graph @param {number} start @param {Trail | null} way @returns {Path} */
function pathOf({ nodes }, start, way) {
  const steps = [];
  let [product, flows] = [1, true];
  for (let step = way; step; step = step.before) {
    const giver = nodes[step.user];
    product = flows ? contribution(giver, step.position, product) : 0; // not nan for 0 · inf
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

/**
 * Count the paths from each node to the root, by node index. Counts above 1.8e308 are infinite.
 * @param {Graph} graph @returns {readonly number[]}
 */
export function pathCounts(graph) {
  const counts = graph.nodes.map(() => 0);
  counts[graph.root] = 1;
  for (const giver of swept(graph)) {
    for (const { place } of passing(graph.nodes[giver])) counts[place] += counts[giver];
  }
  return counts;
}

/** Format a path as the names of its nodes. @param {Graph} graph @param {Path} path @param {boolean} [isWhole] whether to name all nodes of a long path */
export function pathName({ nodes }, { places }, isWhole = false) {
  return few(places.map((place) => brief(nodes[place].name)), isWhole).join(" → ");
}
