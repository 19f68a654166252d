// A list of the paths from a node to the root: the product along each path, and their sum, the gradient.

import { element } from "../../dom.js";
import { few, isLong } from "../../core/names.js";
import { paths as say } from "../../languages/languages.js";
import { short } from "../../core/numbers.js";
import { pathCounts, pathName, pathsFrom } from "../../walk/paths.js";

/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {import("../../types.js").Way} Way */

const LISTED = 12; // paths, unless the reader asks for all

/**
 * List the paths of a node. Their products are shown if they are known and do not give away an answer.
 * @param {Model} model @param {number} place @param {boolean} isWhole whether to show long lists whole
 * @param {() => HTMLElement} more creates the button that shows them whole @returns {HTMLElement[]}
 */
export function pathList(model, place, isWhole, more) {
  const { graph, shown } = model;
  if (place === graph.root) return [];
  const paths = pathsFrom(graph, place, isWhole ? undefined : LISTED, shown.users);
  if (!paths.length) return [];
  const count = pathCounts(graph)[place];
  const isKnown = areKnown(model);
  const items = paths.map((path) => {
    const name = pathName(graph, path, isWhole);
    return element("li", {}, isKnown ? say.product(name, few(path.locals.map(short), isWhole), short(path.product)) : name);
  });
  if (count > paths.length) items.push(element("li", {}, say.more(count - paths.length)));
  else if (isKnown && count > 1) {
    const products = few(paths.map(({ product }) => short(product)), isWhole);
    items.push(element("li", { class: "gradient" }, say.sum(products, short(shown.right[place]))));
  }
  return [
    element("h3", {}, say.title(count)),
    element("ul", { class: "paths" }, ...items),
    ...(count > LISTED || paths.some(({ places }) => isLong(places)) ? [more()] : []),
    ...(isKnown ? [] : [element("p", { class: "note" }, say.early)]),
  ];
}

/** Return the paths of a node to highlight on the stage, with their products if these are known. @param {Model} model @param {number} place @returns {readonly Way[]} */
export function waysOf(model, place) {
  if (model.asks?.kind === "choice" || place === model.graph.root) return []; // the question may be which boxes depend on a node
  // A nudge shows its quotient instead. Next to a walk with wrong gradients, the correct products would look like
  // results of that walk.
  const isKnown = areKnown(model) && !model.nudge && !model.shown.wrong.length;
  const paths = pathsFrom(model.graph, place, undefined, model.shown.users);
  return paths.map(({ edges, product }) => ({ edges, end: isKnown ? say.end(short(product)) : "" }));
}

/** Return whether the products may be shown: the forward pass is done, and no question is open. @param {Model} model */
function areKnown({ graph, moment, isAsking }) {
  return moment.known[graph.root] && !isAsking;
}
