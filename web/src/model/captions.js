// Accessible names and tooltips of the boxes and lines on the stage.

import { modules as groupNames, stage as say } from "../languages/languages.js";
import { short } from "../core/numbers.js";
import { nudgeCaption } from "./nudges.js";
import { writtenPartial } from "../walk/words.js";

/** @typedef {import("./model.js").Model} Model */

/** Describe a node and its current data and gradient. @param {Model} model @param {number} place */
export function nodeCaption(model, place) {
  const { graph, moment, asked } = model;
  const { name, data } = graph.nodes[place];
  const gradient = moment.gradients[place];
  const status = moment.active === place ? say.active : moment.visited[place] ? say.visited : "";
  const told = [status, asked === place ? say.asked : "", nudgeCaption(model, place)].filter(Boolean).join(", ");
  return say.node(name, moment.known[place] ? short(data) : say.unknown, gradient === null ? "" : short(gradient), told);
}

/**
 * Describe an edge with its contribution and local derivative. While a question is open, the local derivative is hidden
 * until it has been used.
 * @param {Model} model @param {import("../types.js").EdgeKey} key
 */
export function edgeCaption({ graph, moment, isAsking }, key) {
  const [place, operand] = key.split(":").map(Number);
  const node = graph.nodes[place];
  const contribution = moment.contributions.get(key);
  const partial = [writtenPartial(node, operand, graph), short(node.partials[operand])];
  const known = moment.known[place] ? [...new Set(partial)].filter(Boolean).join(" = ") : partial[0];
  const passed = contribution ? short(contribution.amount) : "";
  return say.edge(graph.nodes[node.operands[operand]].name, node.name, operand, isAsking && !contribution ? "" : known, passed);
}

/** Describe the lines between two boxes. @param {Model} model @param {import("../types.js").Edge} edge */
export function bundleCaption({ graph, scene }, { from, to, count }) {
  const nameOf = (/** @type {string} */ key) => {
    const item = scene.items.find((shown) => shown.key === key);
    return item?.part ? item.part.name : graph.nodes[item?.place ?? 0].name;
  };
  return say.bundle(nameOf(from), nameOf(to), count);
}

/** Describe a collapsed group and its progress. @param {Model} model @param {import("../types.js").Part} part */
export function partCaption({ moment }, { name, places }) {
  const count = (/** @type {readonly boolean[]} */ flags) => places.filter((place) => flags[place]).length;
  return say.part(name, places.length, count(moment.known), count(moment.visited));
}

/**
 * Name the sample or step that Python draws, and the meaning of the shapes. Python draws the first sample, or the second
 * step, because the first step may have no carry.
 * @param {import("../core/groups.js").Groups} groups @param {import("../stage/picture.js").Shapes} shapes
 */
export function pictureNote({ kind, count }, { squares, lines, circles }) {
  const shown = say.pictureNote(count > 1 ? groupNames.repetition(kind, kind === "steps" ? 2 : 1, count) : "");
  const shapes = say.shapes;
  const parameters = squares && lines ? shapes.squaresAndLines : squares ? shapes.squares : lines ? shapes.lines : "";
  return [shown, parameters, circles ? shapes.circles : "", say.openBox].filter(Boolean).join(" ");
}
