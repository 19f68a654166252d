// The groups of nodes that Python found: modules, samples or steps, and the boxes of a network.

import { graphErrors as say } from "../languages/languages.js";
import { integers } from "./columns.js";
import { GraphError, isItem, listed, readText } from "./reading.js";

/** @typedef {readonly string[]} Path of a module: the parts of its dotted name */

/**
 * @typedef {object} Groups
 * @property {readonly Path[]} paths of the modules
 * @property {Int32Array} modules by node index: the module, as an index into `paths`
 * @property {string} kind of the repetitions: "samples", "steps", "terms"; "" for none
 * @property {number} count of the repetitions
 * @property {Int32Array} numbers by node index: the repetition, from 0; -1 outside of the repetitions
 * @property {readonly string[]} names of the boxes of the overview; empty without an overview
 * @property {Int32Array} boxes by node index: the box, as an index into `names`
 * @property {string} picture SVG text of the overview; "" without an overview
 */

/**
 * Read the groups of a walk, in the format of docs/walk.schema.json; null without groups.
 * @param {unknown} groups @param {unknown} overview @param {number} count of the nodes @returns {Groups | null}
 */
export function groupsIn(groups, overview, count) {
  if (groups === undefined) return null;
  if (!isItem(groups)) throw new GraphError(say.badColumn("groups"));
  const paths = listed(groups, "paths", "groups").map((names, i) => texts({ names }, `groups.paths[${i}]`));
  const column = (/** @type {import("./reading.js").Item} */ item, /** @type {string} */ key, /** @type {number} */ least, /** @type {number} */ end) => {
    const found = integers(item, key);
    if (found.length !== count || found.some((number) => number < least || number >= end)) throw new GraphError(say.badColumn(key));
    return found;
  };
  const found = {
    paths,
    modules: column(groups, "modules", 0, paths.length),
    kind: String(groups.kind ?? ""),
    count: Number(groups.count) || 0,
    numbers: column(groups, "numbers", -1, Number(groups.count) || 0),
  };
  if (!isItem(overview)) return { ...found, names: [], boxes: new Int32Array(count), picture: "" };
  const names = texts(overview, "overview");
  return { ...found, names, boxes: column(overview, "boxes", 0, names.length), picture: readText(overview.picture, "overview.picture") };
}

/** @param {import("./reading.js").Item} item @param {string} what @returns {readonly string[]} */
function texts(item, what) {
  return listed(item, "names", what).map((name) => readText(name, what));
}
