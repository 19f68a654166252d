// A large graph as parts that can be opened: the modules that its nodes belong to, and runs of nodes where there are
// more than can be looked at together.

import { modules as say } from "../../languages/languages.js";
import { said } from "../../core/names.js";
import { modulePaths } from "./module_of.js";
import { edgeKey } from "../passes.js";

/** @typedef {import("../../core/graph.js").Graph} Graph */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Item} Item */
/** @typedef {import("../../types.js").Scene} Scene */
/** @typedef {import("./module_of.js").Path} Path */

/**
 * A module while the graph is being divided: its own nodes, and the modules in it by name.
 * @typedef {{ path: Path, nodes: number[], modules: Map<string, Module> }} Module
 */

const SMALL = 60; // a graph of so many nodes is shown as it is
const MOST = 24; // boxes that opening a part shows
const DEEPEST = 16; // levels of modules that are told apart

/** @type {Path} */
const NONE = [];

/** The graph as a tree of parts. @param {Graph} graph @returns {Part} */
export function parts(graph) {
  const places = graph.nodes.map(({ place }) => place);
  return partOf(say.whole, places, () => (places.length <= SMALL ? places : opened(moduleTree(graph), graph)));
}

/**
 * The parts from the whole down to the one with a key; none where there is no such part.
 * @param {Part} whole @param {string} key
 */
export function pathTo(whole, key) {
  const first = Number(/^part (\d+)\+/u.exec(key)?.[1]);
  /** @type {Part[]} */
  const path = [];
  for (let part = /** @type {Part | undefined} */ (whole); part; part = innerPart(part, first)) {
    path.push(part);
    if (part.key === key) return path;
  }
  return [];
}

/** The innermost part that has a node in it: opening it shows the node. @param {Part} whole @param {number} place @returns {Part} */
export function innermost(whole, place) {
  let part = whole;
  for (let inner = innerPart(part, place); inner; inner = innerPart(part, place)) part = inner;
  return part;
}

/** The part in another one that has a node in it. @param {Part} part @param {number} place */
function innerPart({ children }, place) {
  return children.filter((child) => typeof child !== "number").find((child) => holds(child, place));
}

// What is drawn

/**
 * What is shown when a part is open: what is in it, and all around it closed.
 * @param {Graph} graph @param {Part} whole @param {string} openKey @returns {Scene}
 */
export function scene(graph, whole, openKey) {
  const open = new Set(pathTo(whole, openKey));
  const isShown = (/** @type {Part | number} */ child) => typeof child === "number" || !open.has(child);
  const items = [...open].flatMap((part) => part.children.filter(isShown)).map(itemFor);
  return { items, edges: edgesBetween(graph, items) };
}

/** The key of the box that holds a node. @param {Scene} scene @param {number} place */
export function itemOf(scene, place) {
  return scene.items.find((item) => (item.part ? holds(item.part, place) : item.place === place))?.key ?? null;
}

/** @param {Part | number} child @returns {Item} */
function itemFor(child) {
  if (typeof child === "number") return { key: `node ${child}`, place: child, part: null };
  return { key: child.key, place: null, part: child };
}

/** Whether a part has a node in it: its places are in order. @param {Part} part @param {number} place */
function holds({ places }, place) {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < place) low = middle + 1;
    else high = middle;
  }
  return places[low] === place;
}

/**
 * The lines between boxes: one for every operand of a node from another, one in all where a part is at either end.
 * @param {Graph} graph @param {readonly Item[]} items @returns {readonly import("../../types.js").Edge[]}
 */
function edgesBetween(graph, items) {
  const boxes = new Int32Array(graph.nodes.length);
  items.forEach((item, box) => {
    if (item.part) for (const place of item.part.places) boxes[place] = box;
    else boxes[item.place] = box;
  });
  /** @type {Map<string, { from: string, to: string, operands: import("../../types.js").EdgeKey[] }>} */
  const lines = new Map();
  for (const { place, operands } of graph.nodes) {
    operands.forEach((operand, position) => {
      if (operand < 0 || boxes[operand] === boxes[place]) return;
      const [from, to] = [items[boxes[operand]], items[boxes[place]]];
      const edge = edgeKey(place, position);
      const key = from.part || to.part ? `${boxes[operand]} ${boxes[place]}` : edge;
      const line = lines.get(key);
      if (line) line.operands.push(edge);
      else lines.set(key, { from: from.key, to: to.key, operands: [edge] });
    });
  }
  return [...lines.values()].map((line) => {
    const count = line.operands.length;
    return { ...line, count, operand: count === 1 ? line.operands[0] : null };
  });
}

// Modules

/** The innermost module that holds all nodes. @param {Graph} graph @returns {Module} */
function moduleTree(graph) {
  const root = moduleOf(NONE);
  /** @type {Map<Path, Module>} most nodes share their path with others */
  const known = new Map();
  modulePaths(graph).forEach((path, place) => {
    const module = known.get(path) ?? moduleAt(root, path);
    known.set(path, module);
    module.nodes.push(place);
  });
  return essential(root);
}

/** The module in another one that a path leads to, made where it is not there yet. @param {Module} root @param {Path} path */
function moduleAt(root, path) {
  let module = root;
  for (const name of path.slice(0, DEEPEST)) {
    const inner = module.modules.get(name) ?? moduleOf([...module.path, name]);
    module.modules.set(name, inner);
    module = inner;
  }
  return module;
}

/** @param {Path} path @returns {Module} */
function moduleOf(path) {
  return { path, nodes: [], modules: new Map() };
}

/**
 * A module, with what is in the only module in it where it has nothing else.
 * @param {Module} module @returns {Module}
 */
function essential(module) {
  let inner = module;
  while (!inner.nodes.length && inner.modules.size === 1) [inner] = inner.modules.values();
  return { ...inner, path: module.path };
}

// Parts

/**
 * What opening a module shows, what comes first first.
 * @param {Module} module @param {Graph} graph @returns {readonly (Part | number)[]}
 */
function opened(module, graph) {
  const { nodes, modules } = dissolved(module);
  const crowd = Math.min(nodes.length, MOST / 2); // boxes for nodes, which may be runs of them
  const inner = modules.map((child) => modulePart(child, graph)).sort((one, other) => one.places[0] - other.places[0]);
  const boxes = runs(inner, MOST - crowd, (first, last) => say.modules(first.name, last.name));
  const nameOf = (/** @type {number} */ place) => said(graph.nodes[place].name);
  const rest = runs(nodes, MOST - boxes.length, (first, last) => say.nodes(nameOf(first), nameOf(last)));
  return [...boxes, ...rest].sort((one, other) => firstOf(one) - firstOf(other));
}

/** @param {Module} module @param {Graph} graph @returns {Part} */
function modulePart(module, graph) {
  return partOf(said(module.path.join(".")), inOrder(placesOf(module)), () => opened(module, graph));
}

/**
 * The nodes and modules of a module, with what is in its modules in place of them as long as that can be shown: then
 * there is no need to open them. No node is buried in a run for it.
 * @param {Module} module
 */
function dissolved(module) {
  let nodes = module.nodes;
  let modules = [...module.modules.values()].map(essential);
  while (modules.length) {
    const brought = modules.flatMap((inner) => inner.nodes);
    const inside = modules.flatMap((inner) => [...inner.modules.values()].map(essential));
    const shown = brought.length ? nodes.length + brought.length : Math.min(nodes.length, MOST / 2);
    if (shown + inside.length > MOST) break;
    nodes = [...nodes, ...brought];
    modules = inside;
  }
  return { nodes: nodes.sort((one, other) => one - other), modules };
}

/**
 * Children as they are where there is room for them; else in runs that follow each other, about as many as there are
 * in each, and runs of runs where it takes that.
 * @template {Part | number} Child
 * @param {readonly Child[]} children @param {number} room @param {(first: Child, last: Child) => string} name
 * @returns {readonly (Part | Child)[]}
 */
function runs(children, room, name) {
  const size = children.length;
  if (size <= room) return children;
  let levels = 2;
  while (room * MOST ** (levels - 1) < size) levels++;
  const count = Math.min(Math.ceil(size ** (1 / levels)), room);
  return Array.from({ length: count }, (_, i) => {
    const run = children.slice(Math.floor((i * size) / count), Math.floor(((i + 1) * size) / count));
    return partOf(name(run[0], run[run.length - 1]), placesIn(run), () => runs(run, MOST, name));
  });
}

/**
 * Parts hold each other or have nothing in common, so the first place and the size tell them apart. What opening one
 * shows is worked out when it is first looked at.
 * @param {string} name @param {readonly number[]} places @param {() => readonly (Part | number)[]} open @returns {Part}
 */
function partOf(name, places, open) {
  /** @type {readonly (Part | number)[] | null} */
  let children = null;
  return {
    key: `part ${places[0]}+${places.length}`,
    name,
    places,
    get children() {
      return (children ??= open());
    },
  };
}

/** @param {readonly (Part | number)[]} children */
function placesIn(children) {
  return inOrder(children.flatMap((child) => (typeof child === "number" ? [child] : child.places)));
}

/** All nodes of a module, and of those in it. @param {Module} module @returns {number[]} */
function placesOf(module) {
  const pending = [module];
  const places = [];
  for (let inner = pending.pop(); inner; inner = pending.pop()) {
    for (const place of inner.nodes) places.push(place);
    pending.push(...inner.modules.values());
  }
  return places;
}

/** @param {readonly number[]} places */
function inOrder(places) {
  return Array.from(Int32Array.from(places).sort()); // several times faster than a sort that compares
}

/** @param {Part | number} child */
function firstOf(child) {
  return typeof child === "number" ? child : child.places[0];
}
