// The paths from a node to the root, as a list: what each multiplies, and that their sum is the gradient.

import { element } from "../../dom.js";
import { paths as say } from "../../languages/languages.js";
import { short } from "../../core/numbers.js";
import { pathCounts, pathName, pathsFrom } from "../../walk/paths.js";

/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {import("../../types.js").Way} Way */

const LISTED = 12;
const MOST_FACTORS = 8; // that are written out

/** The paths of a node, with their products where they are known and give nothing away. @param {Model} model @param {number} place @returns {HTMLElement[]} */
export function pathList(model, place) {
  const { graph, shown } = model;
  const paths = pathsFrom(graph, place, LISTED, shown.users);
  if (place === graph.root || !paths.length) return [];
  const count = pathCounts(graph)[place];
  const isKnown = areKnown(model);
  const items = paths.map((path) => {
    const name = pathName(graph, path);
    return element("li", {}, isKnown ? say.product(name, factors(path.locals), short(path.product)) : name);
  });
  if (count > paths.length) items.push(element("li", {}, say.more(count - paths.length)));
  else if (isKnown && count > 1) {
    const products = paths.map(({ product }) => short(product));
    items.push(element("li", { class: "gradient" }, say.sum(products, short(shown.right[place]))));
  }
  return [
    element("h3", {}, say.title(count)),
    element("ul", { class: "paths" }, ...items),
    ...(isKnown ? [] : [element("p", { class: "note" }, say.early)]),
  ];
}

/** The paths of a node for the stage to light, those that it can tell apart with their products. @param {Model} model @param {number} place @returns {readonly Way[]} */
export function waysOf(model, place) {
  if (model.asks?.kind === "choice") return []; // which boxes depend on a node may be what is asked
  // Of a nudge the quotient is the matter; beside a wrong walk, what should come would read as what has come.
  const isKnown = areKnown(model) && !model.nudge && !model.shown.wrong.length;
  const paths = pathsFrom(model.graph, place, undefined, model.shown.users);
  return paths.map(({ edges, product }) => ({ edges, end: isKnown ? say.end(short(product)) : "" }));
}

/** Local derivatives are known when the forward pass is done; a question asks for their products. @param {Model} model */
function areKnown({ graph, moment, isAsking }) {
  return moment.known[graph.root] && !isAsking;
}

/** Factors as text, the middle left out where there are many. @param {readonly number[]} numbers */
function factors(numbers) {
  if (numbers.length <= MOST_FACTORS) return numbers.map(short);
  return [...numbers.slice(0, 4).map(short), "…", ...numbers.slice(-3).map(short)];
}
