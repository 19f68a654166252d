// Divides a large graph into groups that can be opened: the modules, samples and steps that Python found, and runs of
// nodes if a group has too many to show at once.

import { modules as say } from "../../languages/languages.js";
import { said, withBrackets } from "../../core/names.js";
import { edgeKey } from "../passes.js";

/** @typedef {import("../../core/graph.js").Graph} Graph */
/** @typedef {import("../../types.js").Part} Part */
/** @typedef {import("../../types.js").Item} Item */
/** @typedef {import("../../types.js").Scene} Scene */

/**
 * A module during the division, or one of its samples or steps: its own nodes, and its submodules by name.
 * @typedef {{ name: string, number: number, nodes: number[], modules: Map<string, Module> }} Module
 */

const SMALL = 60; // a graph with at most this many nodes is not divided
const MOST = 24; // maximum number of boxes in an open group
const DEEPEST = 16; // maximum depth of modules

/** Divide a graph into a tree of groups. @param {Graph} graph @returns {Part} */
export function parts(graph) {
  const places = graph.nodes.map(({ place }) => place);
  if (graph.groups?.picture) {
    return partOf("", places, () => [...moduleTree(graph).modules.values()].map((box) => modulePart(box, graph)));
  }
  return partOf("", places, () => (places.length <= SMALL ? places : opened(essential(moduleTree(graph)), graph)));
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
 * Build the scene with a group open: its children, and the groups around it that are connected with it, collapsed.
 * @param {Graph} graph @param {Part} whole @param {string} openKey @returns {Scene}
 */
export function scene(graph, whole, openKey) {
  const open = new Set(pathTo(whole, openKey));
  const isShown = (/** @type {Part | number} */ child) => typeof child === "number" || !open.has(child);
  const items = [...open].flatMap((part) => part.children.filter(isShown)).map(itemFor);
  if (openKey === whole.key && graph.groups?.picture) return { items, edges: [], pictured: graph.groups };
  const edges = edgesBetween(graph, items);
  const inner = new Set(items.slice(-[...open][open.size - 1].children.length).map(({ key }) => key));
  const shown = new Set(inner);
  for (const { from, to } of edges) if (inner.has(from) || inner.has(to)) shown.add(from).add(to);
  return { items: items.filter(({ key }) => shown.has(key)), edges: edges.filter(({ from, to }) => shown.has(from) && shown.has(to)), pictured: null };
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
  /** @type {Map<string | number, { from: string, to: string, givers: number[], positions: number[] }>} */
  const lines = new Map();
  for (const { place, operands } of graph.nodes) {
    const into = boxes[place];
    for (let position = 0; position < operands.length; position++) {
      const out = boxes[operands[position]] ?? into; // a constant has no box
      if (out === into) continue;
      const isBundle = items[out].part || items[into].part;
      const key = isBundle ? out * items.length + into : edgeKey(place, position);
      let line = lines.get(key);
      if (!line) lines.set(key, (line = { from: items[out].key, to: items[into].key, givers: [], positions: [] }));
      line.givers.push(place);
      line.positions.push(position);
    }
  }
  return [...lines.values()].map((line) => {
    const { length: count, 0: giver } = line.givers;
    return { ...line, count, operand: count === 1 ? edgeKey(giver, line.positions[0]) : null };
  });
}

// Modules

/** Build the tree of boxes and modules. @param {Graph} graph @returns {Module} */
function moduleTree({ nodes, groups }) {
  const root = moduleOf("");
  /** @type {Map<number, Module>} most nodes share a box and module */
  const known = new Map();
  for (const { place } of nodes) {
    const [box, path] = groups ? [groups.boxes[place], groups.modules[place]] : [0, 0];
    const key = groups ? box * groups.paths.length + path : 0;
    let module = known.get(key);
    if (!module) known.set(key, (module = groups ? moduleAt(root, groups, box, path) : root));
    module.nodes.push(place);
  }
  return root;
}

/**
 * Find a module in a box, creating it if necessary.
 * @param {Module} root @param {import("../../core/groups.js").Groups} groups @param {number} box @param {number} path
 */
function moduleAt(root, { names, paths }, box, path) {
  let module = names.length ? inside(root, `box ${box}`, names[box]) : root;
  const steps = paths[path].slice(0, DEEPEST);
  steps.forEach((step, i) => (module = inside(module, step, withBrackets(steps.slice(0, i + 1).join(".")))));
  return module;
}

/** Find a submodule, creating it if necessary. @param {Module} module @param {string} key @param {string} name */
function inside({ modules }, key, name) {
  const found = modules.get(key) ?? moduleOf(name);
  modules.set(key, found);
  return found;
}

/** @param {string} name @param {number} [number] @returns {Module} */
function moduleOf(name, number = -1) {
  return { name, number, nodes: [], modules: new Map() };
}

/** Skip modules that contain only a single submodule. @param {Module} module @returns {Module} */
function essential(module) {
  let inner = module;
  while (!inner.nodes.length && inner.modules.size === 1) [inner] = inner.modules.values();
  return { ...inner, name: module.name, number: module.number };
}

// Groups

/**
 * Return the children of an open module, ordered by their first node.
 * @param {Module} module @param {Graph} graph @returns {readonly (Part | number)[]}
 */
function opened(module, graph) {
  const { nodes: held, modules } = dissolved(module, graph);
  const { nodes, samples: repeated } = divided(held, module, modules.length, graph);
  const crowd = Math.min(nodes.length, MOST / 2); // boxes for nodes or runs of nodes
  const inner = modules.map((child) => modulePart(child, graph)).sort((one, other) => one.places[0] - other.places[0]);
  const samples = repeated.map((child) => modulePart(child, graph));
  const others = runs(inner, (MOST - crowd) / (samples.length ? 2 : 1), (first, last) => say.modules(first.name, last.name));
  const kind = graph.groups?.kind ?? "";
  const boxes = [...others, ...runs(samples, MOST - crowd - others.length, (first, last) => say.repetitions(kind, first.number + 1, last.number + 1))];
  const nameOf = (/** @type {number} */ place) => said(graph.nodes[place].name);
  const rest = runs(nodes, MOST - boxes.length, (first, last) => say.nodes(nameOf(first), nameOf(last)));
  return [...boxes, ...rest].sort((one, other) => firstOf(one) - firstOf(other));
}

/** @param {Module} module @param {Graph} graph @returns {Part} */
function modulePart(module, graph) {
  return partOf(said(module.name), inOrder(placesOf(module)), () => opened(essential(module), graph), module.number);
}

/**
 * Return the nodes and submodules of a module. Submodules are replaced by their contents if all of these fit, so that
 * readers need not open them, unless this would hide nodes in a run. The nodes of a sample count as one.
 * @param {Module} module @param {Graph} graph
 */
function dissolved(module, { groups }) {
  const number = (/** @type {number} */ place) => (groups && groups.count > 1 ? groups.numbers[place] : -1);
  const size = (/** @type {readonly number[]} */ nodes) => new Set(nodes.map((place) => (number(place) < 0 ? -1 - place : number(place)))).size;
  let nodes = module.nodes;
  let modules = [...module.modules.values()].map(essential);
  while (modules.length) {
    const brought = modules.flatMap((inner) => inner.nodes);
    const inner = modules.flatMap(({ modules: inside }) => [...inside.values()].map(essential));
    const shown = brought.length ? size([...nodes, ...brought]) : Math.min(size(nodes), MOST / 2);
    if (shown + inner.length > MOST) break;
    nodes = [...nodes, ...brought];
    modules = inner;
  }
  return { nodes: nodes.sort((one, other) => one - other), modules };
}

/**
 * Divide nodes into samples or steps, and nodes outside of them. If all nodes fit, or are in one sample, they are not divided.
 * @param {readonly number[]} nodes @param {Module} module that they belong to @param {number} others number of other boxes @param {Graph} graph
 */
function divided(nodes, module, others, { groups }) {
  if (!groups || groups.count < 2 || module.number >= 0 || nodes.length + others <= MOST) return { nodes, samples: [] };
  /** @type {Map<number, Module>} */
  const samples = new Map();
  /** @type {number[]} */
  const single = [];
  for (const place of nodes) {
    const number = groups.numbers[place];
    let sample = samples.get(number);
    if (!sample && number >= 0) samples.set(number, (sample = moduleOf(say.repetition(groups.kind, number + 1, groups.count), number)));
    (sample?.nodes ?? single).push(place);
  }
  if (samples.size + single.length + others < 2) return { nodes, samples: [] };
  return { nodes: single, samples: [...samples.values()].sort((one, other) => one.number - other.number) };
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
 * @param {string} name @param {readonly number[]} places @param {() => readonly (Part | number)[]} open
 * @param {number} [number] of the sample or step @returns {Part}
 */
function partOf(name, places, open, number = -1) {
  /** @type {readonly (Part | number)[] | null} */
  let children = null;
  return {
    key: `part ${places[0]}+${places.length}`,
    name,
    number,
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
