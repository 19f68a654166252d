// What boxes and lines of the stage are called: for those who hear the graph, and for those who point at it.

import { stage as say } from "../english/page.js";
import { short } from "../core/numbers.js";
import { writtenPartial } from "../walk/words.js";

/** @typedef {import("./model.js").Model} Model */

/** A node with what is known of it. @param {Model} model @param {number} place */
export function nodeCaption({ graph, moment }, place) {
  const { name, data } = graph.nodes[place];
  const gradient = moment.gradients[place];
  const status = moment.active === place ? say.active : moment.visited[place] ? say.visited : "";
  return say.node(name, moment.known[place] ? short(data) : say.unknown, gradient === null ? "" : short(gradient), status);
}

/** A line between two nodes, with its local derivative and what has passed. @param {Model} model @param {import("../types.js").EdgeKey} key */
export function edgeCaption({ graph, moment }, key) {
  const [place, operand] = key.split(":").map(Number);
  const node = graph.nodes[place];
  const contribution = moment.contributions.get(key);
  const partial = [writtenPartial(node, operand, graph), short(node.partials[operand])];
  const local = moment.known[place] ? [...new Set(partial)].filter(Boolean).join(" = ") : partial[0];
  const passed = contribution ? short(contribution.amount) : "";
  return say.edge(graph.nodes[node.operands[operand]].name, node.name, operand, local, passed);
}

/** All lines between two boxes. @param {Model} model @param {import("../types.js").Edge} edge */
export function bundleCaption({ graph, scene }, { from, to, count }) {
  const nameOf = (/** @type {string} */ key) => {
    const item = scene.items.find((shown) => shown.key === key);
    return item?.part ? item.part.name : graph.nodes[item?.place ?? 0].name;
  };
  return say.bundle(nameOf(from), nameOf(to), count);
}

/** A closed part, with how much of it is known. @param {Model} model @param {import("../types.js").Part} part */
export function partCaption({ moment }, { name, places }) {
  const count = (/** @type {readonly boolean[]} */ flags) => places.filter((place) => flags[place]).length;
  return say.part(name, places.length, count(moment.known), count(moment.visited));
}
