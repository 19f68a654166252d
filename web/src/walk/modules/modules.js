// Divides a large graph into groups that can be opened: its modules, and runs of nodes if a module has too many to show
// at once.

import { modules as say } from "../../languages/languages.js";
import { said } from "../../core/names.js";
import { edgeKey } from "../passes.js";

/** @typedef {import("../../core/graph.js").Graph} Graph */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Item} Item */
/** @typedef {import("../../types.js").Scene} Scene */
/** @typedef {import("../../core/graph.js").Path} Path */

/**
 * A module during the division: its own nodes, and its submodules by name.
 * @typedef {{ path: Path, nodes: number[], modules: Map<string, Module> }} Module
 */

const SMALL = 60; // a graph with at most this many nodes is not divided
const MOST = 24; // maximum number of boxes in an open group
const DEEPEST = 16; // maximum depth of modules

/** @type {Path} */
const NONE = [];

/** Divide a graph into a tree of groups. @param {Graph} graph @returns {Part} */
export function parts(graph) {
  const places = graph.nodes.map(({ place }) => place);
  return partOf(say.whole, places, () => (places.length <= SMALL ? places : opened(moduleTree(graph), graph)));
}

/**
 * Return the groups from the whole graph down to the one with a key; empty if there is none.
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

/** Return the innermost group that contains a node; opening it shows the node. @param {Part} whole @param {number} place @returns {Part} */
export function innermost(whole, place) {
  let part = whole;
  for (let inner = innerPart(part, place); inner; inner = innerPart(part, place)) part = inner;
  return part;
}

/** Return the child group that contains a node. @param {Part} part @param {number} place */
function innerPart({ children }, place) {
  return children.filter((child) => typeof child !== "number").find((child) => holds(child, place));
}

// Drawing

/**
 * Build the scene with a group open: its children, and the other groups around it collapsed.
 * @param {Graph} graph @param {Part} whole @param {string} openKey @returns {Scene}
 */
export function scene(graph, whole, openKey) {
  const open = new Set(pathTo(whole, openKey));
  const isShown = (/** @type {Part | number} */ child) => typeof child === "number" || !open.has(child);
  const items = [...open].flatMap((part) => part.children.filter(isShown)).map(itemFor);
  return { items, edges: edgesBetween(graph, items) };
}

/** Return the key of the box that contains a node. @param {Scene} scene @param {number} place */
export function itemOf(scene, place) {
  return scene.items.find((item) => (item.part ? holds(item.part, place) : item.place === place))?.key ?? null;
}

/** @param {Part | number} child @returns {Item} */
function itemFor(child) {
  if (typeof child === "number") return { key: `node ${child}`, place: child, part: null };
  return { key: child.key, place: null, part: child };
}

/** Return whether a group contains a node, by binary search in its sorted indices. @param {Part} part @param {number} place */
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
 * Return the lines between boxes: one per operand between two nodes, a single line if either end is a group.
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

/** Build the tree of modules. @param {Graph} graph @returns {Module} */
function moduleTree(graph) {
  const root = moduleOf(NONE);
  /** @type {Map<Path, Module>} most nodes share a path */
  const known = new Map();
  graph.nodes.forEach(({ place }) => {
    const path = graph.modules?.[place] ?? NONE;
    const module = known.get(path) ?? moduleAt(root, path);
    known.set(path, module);
    module.nodes.push(place);
  });
  return essential(root);
}

/** Find the module at a path, creating it if necessary. @param {Module} root @param {Path} path */
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

/** Skip modules that contain only a single submodule. @param {Module} module @returns {Module} */
function essential(module) {
  let inner = module;
  while (!inner.nodes.length && inner.modules.size === 1) [inner] = inner.modules.values();
  return { ...inner, path: module.path };
}

// Groups

/**
 * Return the children of an open module, ordered by their first node.
 * @param {Module} module @param {Graph} graph @returns {readonly (Part | number)[]}
 */
function opened(module, graph) {
  const { nodes, modules } = dissolved(module);
  const crowd = Math.min(nodes.length, MOST / 2); // boxes for nodes or runs of nodes
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
 * Return the nodes and submodules of a module. Submodules are replaced by their contents if all of these fit, so that
 * readers need not open them, unless this would hide nodes in a run.
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
 * Return the children if there is room for all of them, else divide them into consecutive runs. The number of runs is
 * about the number of children per run, with nested runs if necessary.
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
 * Make a group. Its first index and its size identify it, because groups are nested or disjoint. Its children are
 * computed on first access.
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

/** Return all nodes of a module, including its submodules. @param {Module} module @returns {number[]} */
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
  return Array.from(Int32Array.from(places).sort()); // a typed array sorts several times faster, without a compare function
}

/** @param {Part | number} child */
function firstOf(child) {
  return typeof child === "number" ? child : child.places[0];
}
