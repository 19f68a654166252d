// The stage: a scene drawn in boxes and lines, painted as it is at a moment of a walk, and walked through by keyboard.

import { cardWidth, NodeBox, PartBox, symbolOf } from "./boxes.js";
import { set } from "../dom.js";
import { Layouter } from "./layout.js";
import { Line } from "./lines.js";
import { drawn, Ruler } from "./svg.js";
import { View } from "./view.js";

/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Scene} Scene */
/** @typedef {import("../types.js").Moment} Moment */
/** @typedef {import("./boxes.js").Marks} Marks */
/** @typedef {{ readonly nodes: readonly Node[] }} Graph */
/** @typedef {NodeBox | PartBox} Box */
/** @typedef {Box | Line} Thing what can have the focus */

/**
 * @typedef {object} Actions
 * @property {(place: number) => void} onNode
 * @property {(key: import("../types.js").EdgeKey) => void} onEdge
 * @property {(key: string) => void} onPart
 */

const ZOOM = 1.25;
const NEARLY_STRAIGHT = 12; // a line that would rise or fall by less leaves its box where it can be straight
const SHORT = 12; // a straight end would be hidden by its arrowhead
const NEAR_TAGS = { x: 90, y: 22 }; // tags that are closer to each other are moved apart

export class Stage {
  #callbacks;
  #layouter = new Layouter();
  #lines = drawn("g");
  #boxes = drawn("g");
  #tags = drawn("g", { "aria-hidden": "true" });
  #svg;
  #view;
  /** @type {Graph | null} whose boxes are drawn */
  #graph = null;
  #structure = "";
  /** @type {Map<string, Box>} by key of the item */
  #boxOf = new Map();
  /** @type {Map<Element, Thing>} */
  #thingOf = new Map();
  /** @type {Line[]} */
  #drawnLines = [];
  /** @type {{ graph: Graph, moment: Moment, marks: Marks } | null} what was painted last */
  #painted = null;
  /** @type {Thing | null} the one that Tab reaches */
  #current = null;
  /** @type {Box | null} whose lines the keyboard goes through */
  #origin = null;

  /**
   * @param {HTMLElement} host in the document, with a size of its own
   * @param {Actions & import("./boxes.js").Texts} callbacks
   */
  constructor(host, callbacks) {
    this.#callbacks = callbacks;
    const world = drawn("g", { class: "world" }, this.#boxes, this.#lines, this.#tags);
    this.#svg = drawn("svg", { class: "stage", role: "group" }, world);
    host.append(this.#svg);
    this.#view = new View(this.#svg, world);
    this.#svg.addEventListener("click", ({ target }) => this.#activate(this.#thingAt(target)));
    // Not on the drawing: browsers make an SVG element that listens for the focus a stop for Tab.
    host.addEventListener("focusin", ({ target }) => this.#onFocus(this.#thingAt(target)));
    this.#svg.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /**
   * Draw a scene. A scene with the boxes and lines that are there already keeps them; else the old drawing stays until
   * the new one has been laid out.
   * @param {Graph} graph @param {Scene} scene
   */
  async show(graph, scene) {
    const structure = structureOf(graph, scene);
    if (structure === this.#structure) {
      this.#layouter.forget();
      this.#graph = graph;
      this.#repaint();
      return;
    }
    const ruler = new Ruler(this.#svg);
    const boxes = boxesOf(graph, scene, ruler, this.#callbacks);
    const places = new Map(scene.items.map(({ key }, i) => [key, i]));
    const at = (/** @type {string} */ key) => /** @type {number} */ (places.get(key));
    const layout = await this.#layouter.layout({
      sizes: boxes.map(({ width, height }) => ({ width, height })),
      edges: scene.edges.map(({ from, to }) => [at(from), at(to)]),
    });
    if (!layout) return;
    const lines = scene.edges.map((edge) => new Line(edge, graph.nodes, ruler));
    layout.corners.forEach((corner, i) => boxes[i]?.moveTo(corner));
    routeLines(lines, boxes, at, layout);
    this.#graph = graph;
    this.#structure = structure;
    this.#replace(scene, boxes, lines);
    this.#view.hold(layout);
    this.#repaint();
  }

  /**
   * Paint what is known at a moment. What is painted for a graph that is still being laid out is seen when it is drawn.
   * @param {Graph} graph @param {Moment} moment @param {Marks} marks
   */
  paint(graph, moment, marks) {
    this.#painted = { graph, moment, marks };
    this.#repaint();
  }

  fit() {
    this.#view.fit();
  }

  /** @param {number} factor */
  zoom(factor) {
    this.#view.zoom(factor);
  }

  /** Bring a box into view, unless it is, and what leads to it where there is room. @param {string} key of its item */
  focus(key) {
    const box = this.#boxOf.get(key);
    if (!box) return;
    const entering = this.#drawnLines.filter(({ edge }) => edge.to === key);
    const all = around([box, ...entering.map(({ edge }) => this.#boxOf.get(edge.from) ?? box)]);
    this.#view.reveal(this.#view.hasRoomFor(all) ? all : around([box]));
  }

  /** Give the keyboard to the drawing. */
  enter() {
    if (this.#current) this.#focus(this.#current);
  }

  close() {
    this.#layouter.close();
    this.#view.close();
    this.#svg.remove();
  }

  #repaint() {
    if (!this.#graph || this.#painted?.graph !== this.#graph) return;
    const { graph, moment, marks } = this.#painted;
    for (const box of this.#boxOf.values()) {
      if (box instanceof PartBox) box.paint(moment, marks, this.#callbacks);
      else box.paint(/** @type {Node} */ (graph.nodes[box.place]), moment, marks, this.#callbacks);
    }
    for (const line of this.#drawnLines) line.paint(graph.nodes, moment, marks, this.#callbacks);
    hangTags(this.#drawnLines.filter((line) => line.isTagged));
  }

  /** @param {Scene} scene @param {readonly Box[]} boxes @param {Line[]} lines */
  #replace(scene, boxes, lines) {
    const focused = this.#focusedKey();
    this.#boxOf = new Map(scene.items.map(({ key }, i) => [key, /** @type {Box} */ (boxes[i])]));
    this.#drawnLines = lines;
    this.#thingOf = new Map([...boxes, ...lines].map((thing) => [thing.button, thing]));
    this.#boxes.replaceChildren(...boxes.map(({ element }) => element));
    this.#lines.replaceChildren(...lines.map(({ element }) => element));
    this.#tags.replaceChildren(...lines.flatMap(({ tag, count }) => (count ? [count, tag] : [tag])));
    this.#current = null;
    this.#origin = null;
    const kept = focused === null ? undefined : (this.#boxOf.get(focused) ?? boxes.at(-1));
    this.#makeCurrent(kept ?? boxes[0] ?? null);
    if (kept) this.#focus(kept);
  }

  /** The key of the box that has the focus. */
  #focusedKey() {
    const focused = this.#svg.querySelector(":focus");
    const thing = focused && this.#thingOf.get(focused);
    const box = thing instanceof Line ? this.#origin : thing;
    return Array.from(this.#boxOf).find(([, item]) => item === box)?.[0] ?? null;
  }

  /** @param {EventTarget | null} target */
  #thingAt(target) {
    const element = /** @type {Element | null} */ (target)?.closest("[role=button]");
    return (element && this.#thingOf.get(element)) ?? null;
  }

  /** @param {Thing | null} thing */
  #activate(thing) {
    if (thing instanceof NodeBox) this.#callbacks.onNode(thing.place);
    else if (thing instanceof PartBox) this.#callbacks.onPart(thing.part.key);
    else if (thing?.edge.operand) this.#callbacks.onEdge(thing.edge.operand);
  }

  /** @param {Thing | null} thing */
  #onFocus(thing) {
    if (!thing) return;
    this.#makeCurrent(thing);
    if (thing.button.matches(":focus-visible")) this.#reveal(thing); // Tab came from outside
    if (!(thing instanceof Line)) this.#origin = thing;
  }

  /** Let Tab reach it, and nothing else. @param {Thing | null} thing */
  #makeCurrent(thing) {
    if (this.#current) set(this.#current.button, "tabindex", -1);
    if (thing) set(thing.button, "tabindex", 0);
    this.#current = thing;
  }

  /** @param {Thing} thing */
  #focus(thing) {
    thing.button.focus({ preventScroll: true });
    this.#reveal(thing);
  }

  /** @param {Thing} thing */
  #reveal(thing) {
    if (thing instanceof Line) {
      const { x, y, width, height } = thing.button.getBBox();
      this.#view.reveal({ x, y, width, height });
    } else {
      this.#view.reveal(around([thing]));
    }
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.#current) return;
    const command = this.#commands()[event.key];
    if (!command) return;
    event.preventDefault();
    event.stopPropagation();
    const thing = command();
    if (thing) this.#focus(thing);
  }

  /**
   * What keys do; the thing that gets the focus, if any.
   * @returns {Record<string, () => Thing | null | undefined | void>}
   */
  #commands() {
    const thing = /** @type {Thing} */ (this.#current);
    /** @type {Record<string, () => Thing | null | undefined>} */
    const directions =
      thing instanceof Line
        ? {
            ArrowLeft: () => this.#boxOf.get(thing.edge.from),
            ArrowRight: () => this.#boxOf.get(thing.edge.to),
            ArrowUp: () => this.#lineBeside(thing, -1),
            ArrowDown: () => this.#lineBeside(thing, 1),
            d: () => this.#lineBeside(thing, 1),
            Escape: () => this.#origin,
          }
        : {
            ArrowLeft: () => this.#joined(thing, "to", "from"),
            ArrowRight: () => this.#joined(thing, "from", "to"),
            ArrowUp: () => this.#boxBeside(thing, -1),
            ArrowDown: () => this.#boxBeside(thing, 1),
            d: () => this.#linesOf(thing)[0],
          };
    return {
      ...directions,
      Enter: () => this.#activate(thing),
      " ": () => this.#activate(thing),
      "+": () => this.zoom(ZOOM),
      "=": () => this.zoom(ZOOM),
      "-": () => this.zoom(1 / ZOOM),
      0: () => this.fit(),
    };
  }

  /**
   * The box at the other end of a line that is at most the same height.
   * @param {Box} box @param {"from" | "to"} near @param {"from" | "to"} far
   */
  #joined(box, near, far) {
    const others = this.#drawnLines
      .filter(({ edge }) => this.#boxOf.get(edge[near]) === box)
      .map(({ edge }) => /** @type {Box} */ (this.#boxOf.get(edge[far])));
    return nearest(others, (other) => Math.abs(other.left.y - box.left.y));
  }

  /** The next box above or below, rather than aside. @param {Box} box @param {1 | -1} direction */
  #boxBeside(box, direction) {
    const right = (/** @type {Box} */ { corner, width }) => corner.x + width;
    const beyond = Array.from(this.#boxOf.values()).filter((other) => (other.left.y - box.left.y) * direction > 1);
    return nearest(beyond, (other) => {
      return Math.abs(other.left.y - box.left.y) + 4 * Math.abs(right(other) - right(box));
    });
  }

  /** Lines of the same box in turn. @param {Line} line @param {1 | -1} direction */
  #lineBeside(line, direction) {
    const lines = this.#linesOf(this.#origin ?? /** @type {Box} */ (this.#boxOf.get(line.edge.to)));
    return lines[(lines.indexOf(line) + direction + lines.length) % lines.length];
  }

  /**
   * The lines of a box that can be chosen: those that enter it, then those that leave it.
   * @param {Box} box @returns {Line[]}
   */
  #linesOf(box) {
    const lines = this.#drawnLines.filter(({ edge }) => edge.operand !== null);
    return [
      ...lines.filter(({ edge }) => this.#boxOf.get(edge.to) === box),
      ...lines.filter(({ edge }) => this.#boxOf.get(edge.from) === box),
    ];
  }
}

/** All that a drawing has but the numbers in it. @param {Graph} graph @param {Scene} scene */
function structureOf({ nodes }, { items, edges }) {
  const described = items.map((item) => {
    const node = item.part ? null : nodes[item.place];
    if (!node) return [item.key, item.part?.places.length];
    return [item.key, node.name, node.operands.length ? symbolOf(node) : ""];
  });
  return JSON.stringify([described, edges.map(({ from, to, operands }) => [from, to, operands])]);
}

/**
 * @param {Graph} graph @param {Scene} scene @param {Ruler} ruler @param {import("./boxes.js").Texts} texts
 * @returns {Box[]}
 */
function boxesOf({ nodes }, { items, edges }, ruler, texts) {
  const shown = items.flatMap(({ place }) => (place === null ? [] : [/** @type {Node} */ (nodes[place])]));
  const width = cardWidth(shown, ruler);
  /** @type {Map<string, number>} */
  const entries = new Map();
  for (const { to } of edges) entries.set(to, (entries.get(to) ?? 0) + 1);
  return items.map((item) =>
    item.part
      ? new PartBox(item.part, ruler)
      : new NodeBox(/** @type {Node} */ (nodes[item.place]), entries.get(item.key) ?? 0, width, ruler, texts),
  );
}

/**
 * Lead each line from its box to the next. The ends at a box lie apart: at an operation in the order of its operands,
 * elsewhere in the order of where the lines go.
 * @param {readonly Line[]} lines @param {readonly Box[]} boxes @param {(key: string) => number} at
 * @param {import("./layered.js").Layout} layout
 */
function routeLines(lines, boxes, at, { columns, routes }) {
  const ends = lines.map(({ edge }, i) => {
    const [from, to] = [at(edge.from), at(edge.to)];
    const route = routes[i] ?? [];
    const leadsBack = (columns[from]?.left ?? 0) > (columns[to]?.left ?? 0);
    return { i, from, to, route, leadsBack };
  });
  const leaving = grouped(ends, ({ from }) => from);
  const entering = grouped(ends, ({ to }) => to);
  const heightOf = (/** @type {(typeof ends)[number]} */ { route, to }) => (route[0] ?? boxes[to]?.left ?? NOWHERE).y;
  for (const group of leaving.values()) group.sort((a, b) => heightOf(a) - heightOf(b));
  for (const end of ends) {
    const [from, to] = /** @type {[Box, Box]} */ ([boxes[end.from], boxes[end.to]]);
    const out = /** @type {typeof ends} */ (leaving.get(end.from));
    const into = /** @type {typeof ends} */ (entering.get(end.to));
    const exit = from.exit(out.indexOf(end), out.length);
    const entry = to.entry(into.indexOf(end), into.length);
    const next = end.route[0] ?? entry;
    if (out.length === 1 && Math.abs(next.y - exit.y) < NEARLY_STRAIGHT) exit.y = next.y;
    const left = columns[end.to]?.left ?? entry.x;
    const turn = entry.x - left > SHORT ? [{ x: left, y: entry.y }] : [];
    const points = end.leadsBack ? [from.left, ...end.route, to.exit(0, 1)] : [exit, ...end.route, ...turn, entry];
    lines[end.i]?.route(points, end.leadsBack);
  }
}

const NOWHERE = { x: 0, y: 0 };

/** Hang the tags at their lines' ends, apart from each other. @param {readonly Line[]} lines */
function hangTags(lines) {
  /** @type {{ x: number, y: number, lines: Line[] }[]} tags that would overlap hang in one row, from the top down */
  const rows = [];
  const byHeight = lines.map((line) => ({ line, end: line.points[0] ?? NOWHERE })).sort((a, b) => a.end.y - b.end.y);
  for (const { line, end } of byHeight) {
    const row = rows.find(({ x, y, lines: hung }) => {
      return Math.abs(x - end.x) < NEAR_TAGS.x && end.y < y + NEAR_TAGS.y * hung.length;
    });
    if (row) row.lines.push(line);
    else rows.push({ ...end, lines: [line] });
  }
  for (const { y, lines: hung } of rows) {
    const middle = (y + (hung.at(-1)?.points[0]?.y ?? y)) / 2;
    hung.forEach((line, i) => line.hang(middle + (i - (hung.length - 1) / 2) * NEAR_TAGS.y));
  }
}

/** The rectangle around boxes. @param {readonly Box[]} boxes @returns {import("./view.js").Rectangle} */
function around(boxes) {
  const x = Math.min(...boxes.map(({ corner }) => corner.x));
  const y = Math.min(...boxes.map(({ corner }) => corner.y));
  const right = Math.max(...boxes.map(({ corner, width }) => corner.x + width));
  const bottom = Math.max(...boxes.map(({ corner, height }) => corner.y + height));
  return { x, y, width: right - x, height: bottom - y };
}

/** @template Item @param {readonly Item[]} items @param {(item: Item) => number} key @returns {Map<number, Item[]>} */
function grouped(items, key) {
  /** @type {Map<number, Item[]>} */
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

/** @template Item @param {readonly Item[]} items @param {(item: Item) => number} distance @returns {Item | null} */
function nearest(items, distance) {
  let found = null;
  for (const item of items) if (!found || distance(item) < distance(found)) found = item;
  return found;
}
