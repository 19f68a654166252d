// The stage draws a scene as boxes and lines, paints the state of a walk, and handles keyboard navigation.

import { cardWidth, NodeBox, PartBox, symbolOf } from "./boxes.js";
import { Picture, PictureBox } from "./picture.js";
import { set } from "../dom.js";
import { MARGIN } from "./fit.js";
import { Layouter } from "./layout.js";
import { Line, TAG } from "./lines.js";
import { Minimap } from "./minimap.js";
import { Slider } from "./slider.js";
import { Motion } from "./motion.js";
import { drawn, Ruler } from "./svg.js";
import { View } from "./view.js";
import { Ways } from "./path_highlight.js";

/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Scene} Scene */
/** @typedef {import("../types.js").Moment} Moment */
/** @typedef {import("../types.js").Happening} Happening */
/** @typedef {import("./boxes.js").Marks} Marks */
/** @typedef {{ readonly nodes: readonly Node[] }} Graph */
/** @typedef {NodeBox | PartBox | PictureBox} Box */
/** @typedef {import("./svg.js").Point} Point */
/** @typedef {Box | Line} Thing focusable element */

/**
 * @typedef {object} Actions
 * @property {(place: number) => void} onNode
 * @property {(key: import("../types.js").EdgeKey) => void} onEdge
 * @property {(key: string) => void} onPart
 * @property {(place: number) => void} onDot a node of a picture
 * @property {(place: number, number: number, isFinal: boolean) => void} onValue a leaf gets another number; only the
 *   last call of a drag is final
 * @property {() => import("./fit.js").Size} corner size of the lower right corner that buttons cover
 * @property {(place: number | null) => void} onPoint a node is hovered or focused; null when it no longer is
 */

const ZOOM = 1.25;
const MOST_FLIGHTS = 120; // maximum number of flights to animate; steps with more are shown at once
const NEARLY_STRAIGHT = 12; // a line with a smaller offset is drawn straight, by moving its start
const SHORT = 12; // minimum length of a straight end; the arrowhead would hide a shorter one
const TAGS_APART = 2;
const WIDEST_TAG = 80;
const RESIZED = 0.08; // relative change of the room that triggers a new layout

// In a drawing that runs downward, the operands of a box are above it.
const TURNED = { ArrowUp: "ArrowLeft", ArrowDown: "ArrowRight", ArrowLeft: "ArrowUp", ArrowRight: "ArrowDown" };

export class Stage {
  #callbacks;
  #layouter = new Layouter();
  #lines = drawn("g");
  #boxes = drawn("g");
  #tags = drawn("g", { "aria-hidden": "true" });
  #motion = new Motion();
  #ways = new Ways();
  /** @type {readonly import("../types.js").Way[]} */
  #lit = [];
  #svg;
  #view;
  #minimap;
  #slider;
  /** @type {Graph | null} graph of the boxes */
  #graph = null;
  #structure = "";
  /** @type {Map<string, Box>} by key of the item */
  #boxOf = new Map();
  /** @type {Map<Element, Thing>} */
  #thingOf = new Map();
  /** @type {Line[]} */
  #drawnLines = [];
  /** @type {Map<import("../types.js").EdgeKey, Line | undefined>} lines of edges that have been looked for */
  #lineOf = new Map();
  /** @type {{ graph: Graph, moment: Moment, marks: Marks } | null} arguments of the last `paint` */
  #painted = null;
  /** @type {Moment | null} replaces the painted moment during an animation */
  #between = null;
  /** @type {Thing | null} focusable by Tab */
  #current = null;
  /** @type {Box | null} box whose lines the keyboard visits */
  #origin = null;
  /** @type {import("./layered.js").Layout | null} */
  #layout = null;
  /** @type {import("./layered.js").Request | null} request of the current layout */
  #request = null;
  #followed = ""; // key of the current box
  #series = "";
  #isLaying = false;
  /** @type {Picture | null} shown instead of boxes and lines */
  #picture = null;

  /**
   * @param {HTMLElement} host in the document, with a definite size
   * @param {Actions & import("./boxes.js").Texts} callbacks
   */
  constructor(host, callbacks) {
    this.#callbacks = callbacks;
    const world = drawn("g", { class: "world" }, this.#boxes, this.#lines, this.#ways.element, this.#tags, this.#motion.element);
    this.#svg = drawn("svg", { class: "stage", role: "group" }, world);
    host.append(this.#svg);
    this.#minimap = new Minimap(host, (point) => this.#view.center(point));
    this.#view = new View(this.#svg, world, {
      onMove: (seen, fits) => this.#minimap.look(seen, fits),
      onResize: () => this.#adapt(),
      corner: callbacks.corner,
    });
    this.#slider = new Slider(this.#svg, (target) => this.#leafAt(target), callbacks.onValue);
    this.#svg.addEventListener("click", ({ target }) => {
      const place = Picture.nodeAt(target);
      if (place === null) this.#activate(this.#thingAt(target));
      else callbacks.onDot(place);
    });
    this.#svg.addEventListener("pointerover", ({ target, pointerType }) => {
      Picture.explain(target, callbacks.nameOfNode);
      if (pointerType === "mouse") this.#point(this.#thingAt(target));
    });
    host.addEventListener("pointerleave", () => this.#point(null));
    host.addEventListener("focusout", () => this.#point(null));
    // The listener is not on the drawing, because browsers add SVG elements with a focus listener to the Tab order.
    host.addEventListener("focusin", ({ target }) => this.#onFocus(this.#thingAt(target)));
    this.#svg.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /**
   * Draw a scene. If only numbers changed, the boxes and lines are kept. Otherwise the old drawing stays until the new
   * layout is ready.
   * @param {Graph} graph @param {Scene} scene
   * @param {number | null} [checked] index of the root if boxes need room for the effect of a nudge, else null
   * @param {string} [series] drawings of one series have the same direction, unless the room changes
   */
  async show(graph, scene, checked = null, series = "") {
    const structure = structureOf(graph, scene) + (checked ?? "");
    if (structure === this.#structure) {
      this.#layouter.forget();
      this.#graph = graph;
      this.#repaint();
      return;
    }
    if (scene.pictured) return this.#showPicture(graph, scene, scene.pictured, structure);
    const ruler = new Ruler(this.#svg);
    const boxes = boxesOf(graph, scene, ruler, this.#callbacks, checked);
    const places = new Map(scene.items.map(({ key }, i) => [key, i]));
    const at = (/** @type {string} */ key) => /** @type {number} */ (places.get(key));
    const request = {
      sizes: boxes.map(({ width, height }) => ({ width, height })),
      edges: scene.edges.map(({ from, to }) => /** @type {const} */ ([at(from), at(to)])),
    };
    const isDown = series && series === this.#series ? this.#layout?.manner.isDown : undefined;
    const gain = series ? 1 : undefined; // in a series, size matters more than direction
    const layout = await this.#laid({ ...request, isDown, gain });
    if (!layout) return;
    this.#series = series;
    const lines = scene.edges.map((edge) => new Line(edge, graph.nodes, ruler));
    this.#graph = graph;
    this.#structure = structure;
    this.#followed = "";
    this.#picture?.caption.remove();
    this.#picture = null;
    this.#replace(scene.items.map(({ key }) => key), boxes, lines);
    this.#place(layout);
    this.#adapt();
  }

  /** @param {Graph} graph @param {Scene} scene @param {import("../core/groups.js").Groups} groups @param {string} structure */
  #showPicture(graph, { items }, groups, structure) {
    this.#layouter.forget();
    this.#motion.finish();
    this.#picture?.caption.remove();
    const shown = new Picture(groups.picture, items.flatMap(({ part }) => part ?? []), graph, (shapes) => this.#callbacks.pictureNote(groups, shapes));
    [this.#graph, this.#structure, this.#followed, this.#request, this.#picture] = [graph, structure, "", null, shown];
    this.#layout = { width: shown.width, height: shown.height, corners: [], columns: [], routes: [], manner: { isDown: false, betweenColumns: 0, betweenBoxes: 0, betweenLines: 0 } };
    this.#replace(shown.boxes.map(({ part }) => part.key), shown.boxes, []);
    this.#svg.after(shown.caption);
    this.#minimap.hold(shown, shown.boxes);
    this.#view.hold(shown, true);
    this.#repaint();
  }

  /**
   * Paint the state of a walk. If the graph is still being laid out, the state is painted when it is drawn.
   * @param {Graph} graph @param {Moment} moment @param {Marks} marks
   */
  paint(graph, moment, marks) {
    const isOther = moment !== this.#painted?.moment;
    this.#painted = { graph, moment, marks };
    if (isOther) this.#motion.finish(); // it paints, too
    this.#repaint();
  }

  /** Promise that resolves when no animation is running. */
  get settled() {
    return this.#motion.settled;
  }

  /** Play the animation that leads to the painted moment. @param {Happening} happening */
  play({ flights, moment, pace }) {
    if (flights.flat().length > MOST_FLIGHTS) return;
    const courses = flights.map((landing) => landing.flatMap((flight) => this.#course(flight) ?? []));
    this.#motion.start(courses, pace, this.#svg, (landed) => {
      this.#between = landed === null ? null : moment(landed);
      this.#repaint();
    });
  }

  /** Return the course of a flight; null inside a collapsed group. @param {import("../types.js").Flight} flight */
  #course(flight) {
    const { edge, place } = flight;
    const box = Array.from(this.#boxOf.values()).find((item) => (item instanceof NodeBox ? item.place === place : item.part.places.includes(place)));
    const line = edge && this.#lineWith(edge);
    return box && (line || !edge) ? { flight, box, path: line ? line.button : null, isDown: this.#isDown } : null;
  }

  /** Return the line of an edge. @param {import("../types.js").EdgeKey} edge */
  #lineWith(edge) {
    if (!this.#lineOf.has(edge)) this.#lineOf.set(edge, this.#drawnLines.find((line) => line.holds(edge)));
    return this.#lineOf.get(edge);
  }

  /** Highlight the paths from a node to the root; an empty list removes the highlight. @param {readonly import("../types.js").Way[]} ways */
  light(ways) {
    if (!ways.length && !this.#lit.length) return;
    this.#lit = ways;
    const pathOf = (/** @type {string} */ edge) => {
      const path = this.#lineWith(edge)?.button;
      return path?.hasAttribute("d") ? path : null; // a new line has no path before the layout is ready
    };
    this.#ways.show(ways, pathOf, this.#isDown, new Ruler(this.#svg));
  }

  /** @param {Thing | null} thing */
  #point(thing) {
    this.#callbacks.onPoint(thing instanceof NodeBox ? thing.place : null);
  }

  /** Set the scale for an audience or for a single reader. @param {boolean} isAfar */
  enlarge(isAfar) {
    this.#view.enlarge(isAfar);
    this.focus(this.#followed);
  }

  /** Copy the whole drawing for printing; null before the first layout. */
  picture() {
    if (!this.#layout) return null;
    const copy = /** @type {SVGSVGElement} */ (this.#svg.cloneNode(true));
    const { width, height } = this.#layout;
    for (const hit of copy.querySelectorAll(".hit, .slide")) hit.remove();
    for (const group of copy.querySelectorAll(".world")) group.removeAttribute("style");
    set(copy, "viewBox", [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN].join(" "));
    copy.style.maxWidth = `${width + 2 * MARGIN}px`;
    set(copy, "role", "img");
    return copy;
  }

  /** Fit the whole drawing into the view. */
  fit() {
    this.#view.fit();
  }

  /** @param {number} factor */
  zoom(factor) {
    this.#view.zoom(factor);
  }

  /** Bring a box into view, together with its operands if there is room. @param {string} key key of its item */
  focus(key) {
    const box = this.#boxOf.get(key);
    if (!box) return;
    this.#followed = key;
    const entering = this.#drawnLines.filter(({ edge }) => edge.to === key);
    const seen = [box];
    for (const { edge } of entering) {
      const other = this.#boxOf.get(edge.from) ?? box;
      if (this.#view.hasRoomFor(around([...seen, other]))) seen.push(other);
    }
    this.#view.reveal(around(seen));
  }

  /** Give the drawing keyboard focus. */
  enter() {
    if (this.#current) this.#focus(this.#current);
  }

  close() {
    this.#motion.finish();
    this.#layouter.close();
    this.#view.close();
    this.#minimap.close();
    this.#picture?.caption.remove();
    this.#svg.remove();
  }

  /** Lay out in the available room; return null if a newer request cancels the layout. @param {import("./layered.js").Request} request */
  async #laid(request) {
    const asked = { ...request, room: this.#view.size };
    this.#isLaying = true;
    const layout = await this.#layouter.layout(asked);
    if (!layout) return null;
    this.#isLaying = false;
    this.#request = asked;
    return layout;
  }

  /** Lay out again after a change in size, which may change direction and spacing. */
  async #adapt() {
    const { room } = this.#request ?? {};
    if (!room || !this.#request || this.#isLaying) return;
    const { width, height } = this.#view.size;
    const isNear = Math.abs(width / room.width - 1) < RESIZED && Math.abs(height / room.height - 1) < RESIZED;
    if (isNear) return;
    const layout = await this.#laid({ ...this.#request, isDown: undefined });
    const isSame = JSON.stringify(layout?.manner) === JSON.stringify(this.#layout?.manner);
    if (!layout) return;
    if (!isSame) this.#place(layout);
    this.focus(this.#followed);
    this.#adapt();
  }

  /** Move all boxes and lines to their positions in a layout. @param {import("./layered.js").Layout} layout */
  #place(layout) {
    this.#motion.finish();
    this.#layout = layout;
    const boxes = [...this.#boxOf.values()];
    const places = new Map(Array.from(this.#boxOf.keys(), (key, i) => [key, i]));
    layout.corners.forEach((corner, i) => boxes[i]?.moveTo(corner));
    routeLines(this.#drawnLines, boxes, (key) => /** @type {number} */ (places.get(key)), layout);
    this.#minimap.hold(layout, boxes);
    this.#view.hold(layout);
    this.light(this.#lit);
    this.#repaint();
  }

  get #isDown() {
    return this.#layout?.manner.isDown ?? false;
  }

  #repaint() {
    if (!this.#graph || this.#painted?.graph !== this.#graph) return;
    const { graph, marks } = this.#painted;
    const moment = this.#between ?? this.#painted.moment;
    for (const box of this.#boxOf.values()) {
      if (!(box instanceof NodeBox)) box.paint(moment, marks, this.#callbacks);
      else box.paint(/** @type {Node} */ (graph.nodes[box.place]), moment, marks, this.#callbacks);
    }
    this.#picture?.paint(graph, moment, this.#callbacks);
    for (const line of this.#drawnLines) line.paint(graph.nodes, moment, marks, this.#callbacks);
    hangTags(this.#drawnLines.filter((line) => line.isTagged), this.#isDown);
    this.#svg.classList.toggle("fixed", marks.isFixed ?? false);
    this.#svg.classList.toggle("nudging", Boolean(marks.nudge));
    this.#minimap.paint();
  }

  /** @param {readonly string[]} keys of the boxes @param {readonly Box[]} boxes @param {Line[]} lines */
  #replace(keys, boxes, lines) {
    const focused = this.#focusedKey();
    this.#boxOf = new Map(keys.map((key, i) => [key, /** @type {Box} */ (boxes[i])]));
    this.#drawnLines = lines;
    this.#lineOf = new Map();
    this.#thingOf = new Map([...boxes, ...lines].map((thing) => [thing.button, thing]));
    this.#boxes.replaceChildren(...(this.#picture ? [this.#picture.element] : boxes.map(({ element }) => element)));
    this.#lines.replaceChildren(...lines.map(({ element }) => element));
    this.#tags.replaceChildren(...lines.flatMap(({ tag, count }) => (count ? [count, tag] : [tag])));
    this.#current = null;
    this.#origin = null;
    const kept = focused === null ? undefined : (this.#boxOf.get(focused) ?? boxes.at(-1));
    this.#makeCurrent(kept ?? boxes[0] ?? null);
    if (kept) this.#focus(kept);
  }

  /** Return the key of the focused box. */
  #focusedKey() {
    const focused = this.#svg.querySelector(":focus");
    const thing = focused && this.#thingOf.get(focused);
    const box = thing instanceof Line ? this.#origin : thing;
    return Array.from(this.#boxOf).find(([, item]) => item === box)?.[0] ?? null;
  }

  /** @param {EventTarget | null} target */
  #thingAt(target) {
    const element = /** @type {Element | null} */ (target);
    const button = element?.closest("[role=button]") ?? element?.parentElement?.querySelector(":scope > [role=button]");
    return (button && this.#thingOf.get(button)) ?? null;
  }

  /** Return the leaf at a target, or the focused leaf, if its number may be changed. @param {EventTarget | Thing | null} target */
  #leafAt(target) {
    const thing = target instanceof Element ? this.#thingAt(target) : target;
    if (!(thing instanceof NodeBox) || !this.#graph || !this.#painted || this.#painted.marks.isFixed) return null;
    const node = /** @type {Node} */ (this.#graph.nodes[thing.place]);
    if (node.operands.length || !Number.isFinite(node.data) || !this.#painted.moment.known[node.place]) return null;
    return { node, button: thing.button };
  }

  /** @param {Thing | null} thing */
  #activate(thing) {
    if (thing instanceof NodeBox) this.#callbacks.onNode(thing.place);
    else if (thing && "part" in thing) this.#callbacks.onPart(thing.part.key);
    else if (thing?.edge.operand) this.#callbacks.onEdge(thing.edge.operand);
  }

  /** @param {Thing | null} thing */
  #onFocus(thing) {
    if (!thing) return;
    this.#makeCurrent(thing);
    if (thing.button.matches(":focus-visible")) {
      this.#reveal(thing); // focus came by Tab from outside
      this.#point(thing);
    }
    if (!(thing instanceof Line)) this.#origin = thing;
  }

  /** Make an element the only one in the Tab order. @param {Thing | null} thing */
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
    if (event.ctrlKey || event.metaKey || !this.#current) return;
    if (this.#slider.takes(event, this.#current)) return;
    if (event.altKey) return;
    const key = this.#isDown ? (/** @type {Record<string, string>} */ (TURNED)[event.key] ?? event.key) : event.key;
    const command = this.#commands()[key];
    if (!command) return;
    event.preventDefault();
    event.stopPropagation();
    const thing = command();
    if (thing) this.#focus(thing);
  }

  /**
   * Return the command of each key. A command returns the element to focus, if any.
   * @returns {Record<string, () => Thing | null | undefined | void>}
   */
  #commands() {
    const thing = /** @type {Thing} */ (this.#current);
    /** @type {Record<string, () => Thing | null | undefined>} */
    const directions = this.#picture
      ? { ArrowLeft: () => this.#boxAfter(thing, -1), ArrowRight: () => this.#boxAfter(thing, 1), ArrowUp: () => this.#boxAfter(thing, -1), ArrowDown: () => this.#boxAfter(thing, 1) }
      : thing instanceof Line
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

  /** Return the next or the previous box of a picture. @param {Thing} thing @param {1 | -1} direction */
  #boxAfter(thing, direction) {
    const boxes = [...this.#boxOf.values()];
    return boxes[(boxes.indexOf(/** @type {Box} */ (thing)) + direction + boxes.length) % boxes.length];
  }

  /**
   * Return the connected box whose position across the flow is closest.
   * @param {Box} box @param {"from" | "to"} near @param {"from" | "to"} far
   */
  #joined(box, near, far) {
    const others = this.#drawnLines
      .filter(({ edge }) => this.#boxOf.get(edge[near]) === box)
      .map(({ edge }) => /** @type {Box} */ (this.#boxOf.get(edge[far])));
    return nearest(others, (other) => Math.abs(this.#aside(other) - this.#aside(box)));
  }

  /** Return the next box across the flow in a direction, preferring the same column. @param {Box} box @param {1 | -1} direction */
  #boxBeside(box, direction) {
    const end = (/** @type {Box} */ { corner, width, height }) => (this.#isDown ? corner.y + height : corner.x + width);
    const apart = (/** @type {Box} */ other) => this.#aside(other) - this.#aside(box);
    const beyond = Array.from(this.#boxOf.values()).filter((other) => apart(other) * direction > 1);
    return nearest(beyond, (other) => Math.abs(apart(other)) + 4 * Math.abs(end(other) - end(box)));
  }

  /** Return the position of a box across the flow of the drawing. @param {Box} box */
  #aside({ middle }) {
    return this.#isDown ? middle.x : middle.y;
  }

  /** Cycle through the lines of a box. @param {Line} line @param {1 | -1} direction */
  #lineBeside(line, direction) {
    const lines = this.#linesOf(this.#origin ?? /** @type {Box} */ (this.#boxOf.get(line.edge.to)));
    return lines[(lines.indexOf(line) + direction + lines.length) % lines.length];
  }

  /** Return the selectable lines of a box: incoming lines, then outgoing ones. @param {Box} box @returns {Line[]} */
  #linesOf(box) {
    const lines = this.#drawnLines.filter(({ edge }) => edge.operand !== null);
    return [
      ...lines.filter(({ edge }) => this.#boxOf.get(edge.to) === box),
      ...lines.filter(({ edge }) => this.#boxOf.get(edge.from) === box),
    ];
  }
}

/** Serialize everything in a drawing except its numbers. @param {Graph} graph @param {Scene} scene */
function structureOf({ nodes }, { items, edges, pictured }) {
  const described = items.map((item) => {
    const node = item.part ? null : nodes[item.place];
    if (!node) return [item.key, item.part?.places.length];
    return [item.key, node.name, node.operands.length ? symbolOf(node) : ""];
  });
  return JSON.stringify([described, pictured?.picture.length, edges.map(({ from, to, count, givers, positions }) => [from, to, count, givers[0], positions[0]])]);
}

/**
 * @param {Graph} graph @param {Scene} scene @param {Ruler} ruler @param {import("./boxes.js").Texts} texts
 * @param {number | null} checked @returns {Box[]}
 */
function boxesOf({ nodes }, { items, edges }, ruler, texts, checked) {
  const shown = items.flatMap(({ place }) => (place === null ? [] : [/** @type {Node} */ (nodes[place])]));
  const width = cardWidth(shown, ruler);
  /** @type {Map<string, number>} */
  const entries = new Map();
  for (const { to } of edges) entries.set(to, (entries.get(to) ?? 0) + 1);
  const roomOf = (/** @type {number} */ place) => (checked === null ? "" : place === checked ? "quotient" : "change");
  return items.map((item) =>
    item.part
      ? new PartBox(item.part, ruler)
      : new NodeBox(/** @type {Node} */ (nodes[item.place]), entries.get(item.key) ?? 0, width, ruler, texts, roomOf(item.place)),
  );
}

/**
 * Route each line from box to box. Lines into an operation are in the order of its operands; other lines are in the
 * order of their directions.
 * @param {readonly Line[]} lines @param {readonly Box[]} boxes @param {(key: string) => number} at
 * @param {import("./layered.js").Layout} layout
 */
function routeLines(lines, boxes, at, { manner: { isDown }, columns, routes }) {
  const { along, aside, point } = axes(isDown);
  const ends = lines.map(({ edge }, i) => {
    const [from, to] = [at(edge.from), at(edge.to)];
    const route = routes[i] ?? [];
    const leadsBack = (columns[from]?.start ?? 0) > (columns[to]?.start ?? 0);
    return { i, from, to, route, leadsBack };
  });
  const leaving = grouped(ends, ({ from }) => from);
  const entering = grouped(ends, ({ to }) => to);
  const toward = (/** @type {(typeof ends)[number]} */ { route, to }) => aside(route[0] ?? boxes[to]?.middle ?? NOWHERE);
  for (const group of leaving.values()) group.sort((a, b) => toward(a) - toward(b));
  for (const end of ends) {
    const [from, to] = /** @type {[Box, Box]} */ ([boxes[end.from], boxes[end.to]]);
    const out = /** @type {typeof ends} */ (leaving.get(end.from));
    const into = /** @type {typeof ends} */ (entering.get(end.to));
    let exit = from.exit(out.indexOf(end), out.length, isDown);
    const entry = to.entry(into.indexOf(end), into.length, isDown);
    const next = end.route[0] ?? entry;
    const isNearlyStraight = out.length === 1 && Math.abs(aside(next) - aside(exit)) < NEARLY_STRAIGHT;
    if (isNearlyStraight) exit = point(along(exit), aside(next));
    const start = columns[end.to]?.start ?? along(entry);
    const turn = along(entry) - start > SHORT ? [point(start, aside(entry))] : [];
    const back = [from.entry(0, 1, isDown), ...end.route, to.exit(0, 1, isDown)];
    lines[end.i]?.route(end.leadsBack ? back : [exit, ...end.route, ...turn, entry], end.leadsBack, isDown);
  }
}

/** Build functions that split a point into coordinates along and across the flow, and combine these. @param {boolean} isDown */
function axes(isDown) {
  return {
    along: (/** @type {Point} */ { x, y }) => (isDown ? y : x),
    aside: (/** @type {Point} */ { x, y }) => (isDown ? x : y),
    point: (/** @type {number} */ along, /** @type {number} */ aside) => (isDown ? { x: aside, y: along } : { x: along, y: aside }),
  };
}

const NOWHERE = { x: 0, y: 0 };

/** Place the tags at the starts of their lines without overlap. @param {readonly Line[]} lines @param {boolean} isDown */
function hangTags(lines, isDown) {
  const { along, aside } = axes(isDown);
  const sizeOf = (/** @type {Line} */ { tagWidth }) => (isDown ? tagWidth + TAGS_APART : TAG + TAGS_APART);
  const near = isDown ? TAG + TAGS_APART : WIDEST_TAG;
  /** @type {{ along: number, start: number, size: number, lines: Line[] }[]} groups of tags that would overlap, each placed side by side */
  const rows = [];
  const endOf = (/** @type {Line} */ { points }) => points[0] ?? NOWHERE;
  const inTurn = [...lines].sort((a, b) => aside(endOf(a)) - aside(endOf(b)));
  for (const line of inTurn) {
    const [end, size] = [endOf(line), sizeOf(line)];
    const start = aside(end) - size / 2;
    const row = rows.find((other) => Math.abs(other.along - along(end)) < near && start < other.start + other.size);
    if (row) row.lines.push(line);
    else rows.push({ along: along(end), start, size: 0, lines: [line] });
    /** @type {{ size: number }} */ (row ?? rows.at(-1)).size += size;
  }
  for (const { lines: hung, size } of rows) {
    let at = (aside(endOf(hung[0])) + aside(endOf(/** @type {Line} */ (hung.at(-1)))) - size) / 2;
    for (const line of hung) {
      line.hang(at + sizeOf(line) / 2);
      at += sizeOf(line);
    }
  }
}

/** Compute the bounding rectangle of some boxes. @param {readonly Box[]} boxes @returns {import("./view.js").Rectangle} */
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
