// The order puzzle: the reader puts the nodes in an order and runs the backward pass. outcome.js shows the result.

import { button, element, fill, set, write } from "../../dom.js";
import { orders as say } from "../../languages/languages.js";
import { swept } from "../../walk/steps.js";

const MOST = 60; // nodes; larger graphs have no puzzle

const STILL = 6; // pixels that a pointer may move during a click
const NEAR = 24; // pixels around the list in which a drop still counts

/** @typedef {import("../../model/model.js").Model} Model */
/** @typedef {{ x: number, y: number }} Point on the screen */

export class Order {
  /** @param {(change: Partial<import("../../model/state.js").State>, from?: number) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {readonly string[]} */
    this.order = [];
    /** @type {import("../../core/graph.js").Graph | null} */
    this.graph = null;
    /** @type {Model | null} */
    this.model = null;
    this.intro = element("p", { class: "intro" }, say.intro);
    this.pool = element("div", { class: "pool", role: "group", "aria-label": say.pool });
    this.list = element("ol", { class: "order", "aria-label": say.list });
    this.run = button(say.run, () => this.#run(), { class: "main" });
    this.buttons = element(
      "div",
      { class: "buttons" },
      this.run,
      button(say.right, () => this.#place(this.#rightOrder()), { class: "solution" }),
      button(say.clear, () => this.#place([])),
    );
    this.left = element("p", { role: "status" });
    this.body = element("div", {}, this.intro, this.pool, this.list, this.left, this.buttons);
    this.refusal = element("p", { class: "note" });
    this.element = element("section", { class: "puzzle" }, element("h2", {}, say.title), this.refusal, this.body);
  }

  /** @param {Model} model */
  update(model) {
    const isChanged = model.graph !== this.graph || model.state.order !== this.order;
    [this.model, this.graph, this.order] = [model, model.graph, model.state.order];
    const visits = model.walk.order.length;
    this.body.hidden = visits > MOST;
    write(this.refusal, visits > MOST ? say.tooMany(visits, MOST) : "");
    if (visits > MOST) return;
    if (isChanged) this.#list();
    set(this.run, "aria-disabled", !model.isPlaced && "true");
    const isRun = model.isPlaced && model.moment.position === model.last;
    write(this.left, isRun ? "" : say.left(visits - this.order.length, Boolean(model.state.chapter)));
  }

  /** Return whether a node can be appended to the order. @param {string} name */
  takes(name) {
    return !this.body.hidden && !this.order.includes(name) && this.#rightOrder().includes(name);
  }

  /** Append a node to the order. @param {string} name */
  append(name) {
    this.#place([...this.order, name]);
  }

  #list() {
    const focused = this.#focused();
    const chip = [...this.pool.children].findIndex((child) => child === focused);
    const names = this.#rightOrder().reverse();
    const unplaced = names.filter((name) => !this.order.includes(name));
    fill(this.pool, ...unplaced.map((name) => this.#chip(name)));
    fill(this.list, ...this.order.map((name, i) => this.#item(name, i)));
    if (!focused) return;
    const chips = pressables(this.pool);
    if (chip >= 0) return (chips[chip] ?? chips[0] ?? this.run).focus();
    const { node, move } = focused.dataset;
    const same = pressables(this.body).filter(({ dataset }) => dataset.node === node);
    return (same.find(({ dataset }) => dataset.move === move) ?? same[0])?.focus();
  }

  /** Return the node button that has the focus. */
  #focused() {
    return /** @type {HTMLElement | null} */ (this.body.querySelector("[data-node]:focus"));
  }

  /** @param {string} name */
  #chip(name) {
    return this.#draggable(name, () => this.append(name), { class: "chip" });
  }

  /** @param {string} name @param {number} i */
  #item(name, i) {
    const moved = (/** @type {number} */ to) => () => this.#move(name, to);
    /** @type {Record<string, () => void>} */
    const keys = { ArrowUp: moved(i - 1), ArrowDown: moved(i + 1), Delete: () => this.#remove(name), Backspace: () => this.#remove(name) };
    const handle = this.#draggable(name, () => this.act({ selected: name, operand: -1 }), {
      class: "handle",
      title: say.handle,
      "aria-label": say.placed(name, i + 1),
      "aria-keyshortcuts": "ArrowUp ArrowDown Delete",
      onkeydown(/** @type {KeyboardEvent} */ event) {
        const action = keys[event.key];
        if (!action) return;
        event.preventDefault();
        event.stopPropagation();
        action();
      },
    });
    return element(
      "li",
      {},
      handle,
      button("↑", moved(i - 1), { "aria-label": say.up(name), "data-node": name, "data-move": "up" }),
      button("↓", moved(i + 1), { "aria-label": say.down(name), "data-node": name, "data-move": "down" }),
      button("✕", () => this.#remove(name), { "aria-label": say.remove(name), "data-node": name }),
    );
  }

  /**
   * Create a button for a node that can be clicked, or dragged with a mouse, pen or finger.
   * @param {string} name @param {() => void} onclick @param {Parameters<typeof element>[1]} properties
   */
  #draggable(name, onclick, properties) {
    const made = element("span", { role: "button", tabindex: 0, "data-node": name, ...properties }, name);
    const onDrop = (/** @type {Point} */ point) => this.#drop(name, point);
    dragged(made, (point) => this.#markPlace(point), onDrop, onclick);
    made.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      onclick();
    });
    return made;
  }

  /** Return the index in the order at which a drop at `point` would insert; null if the point is outside the list. @param {Point} point */
  #placeAt({ x, y }) {
    const { left, right, top, bottom } = this.list.getBoundingClientRect();
    if (x < left || x > right || y < top - NEAR || y > bottom + NEAR) return null;
    const middles = [...this.list.children].map((item) => {
      const box = item.getBoundingClientRect();
      return box.top + box.height / 2;
    });
    return middles.filter((middle) => middle < y).length;
  }

  /** Show where a drop at `point` would insert the node. @param {Point | null} point */
  #markPlace(point) {
    const to = point && this.#placeAt(point);
    const items = [...this.list.children];
    items.forEach((item, i) => set(item, "data-drop", i === to ? "before" : to === items.length && i === to - 1 ? "behind" : null));
    set(this.list, "data-drop", to !== null);
  }

  /** @param {string} name @param {Point} point */
  #drop(name, point) {
    const to = this.#placeAt(point);
    if (to === null) return;
    const from = this.order.indexOf(name);
    this.#move(name, from >= 0 && from < to ? to - 1 : to);
  }

  /** @param {string} name @param {number} to */
  #move(name, to) {
    const others = this.order.filter((other) => other !== name);
    others.splice(Math.max(to, 0), 0, name);
    this.#place(others);
  }

  /** @param {string} name */
  #remove(name) {
    this.#place(this.order.filter((other) => other !== name));
  }

  /** @param {readonly string[]} order */
  #place(order) {
    this.act({ order, position: this.model?.walk.forward.length ?? 0 });
  }

  #rightOrder() {
    return this.graph ? swept(this.graph).map((place) => this.#name(place)) : [];
  }

  #run() {
    if (this.model?.isPlaced) this.act({ position: this.model.last }, this.model.shown.seeded);
  }

  /** @param {number} place */
  #name(place) {
    return this.graph?.nodes[place]?.name ?? "";
  }
}

/** Return the buttons of nodes within an element. @param {HTMLElement} place @returns {HTMLElement[]} */
function pressables(place) {
  return [...place.querySelectorAll("[data-node]")].filter((found) => found instanceof HTMLElement);
}

/**
 * Make an element draggable with pointer events. HTML drag and drop does not support touch.
 * @param {HTMLElement} target
 * @param {(point: Point | null) => void} onMove null at the end
 * @param {(point: Point) => void} onDrop
 * @param {() => void} onClick when it was pressed but not dragged
 */
function dragged(target, onMove, onDrop, onClick) {
  /** @type {Point | null} the point where it was pressed */
  let start = null;
  let isDragged = false;
  const end = () => {
    start = null;
    target.style.translate = "";
    set(target, "data-dragged", null);
    onMove(null);
  };
  target.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    [start, isDragged] = [{ x: event.clientX, y: event.clientY }, false];
    target.setPointerCapture(event.pointerId);
  });
  target.addEventListener("pointermove", ({ clientX: x, clientY: y }) => {
    if (!start) return;
    isDragged ||= Math.hypot(x - start.x, y - start.y) > STILL;
    if (!isDragged) return;
    target.style.translate = `${x - start.x}px ${y - start.y}px`;
    set(target, "data-dragged", true);
    onMove({ x, y });
  });
  target.addEventListener("pointerup", ({ clientX: x, clientY: y }) => {
    const isDrop = start !== null && isDragged;
    end();
    if (isDrop) onDrop({ x, y });
  });
  target.addEventListener("pointercancel", end);
  target.addEventListener("click", () => {
    if (!isDragged) onClick();
    isDragged = false;
  });
}
