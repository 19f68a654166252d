// The order puzzle: place the nodes in an order, and run it. What comes of it is told by outcome.js.

import { button, element, fill, set, write } from "../dom.js";
import { orders as say } from "../english/page.js";
import { swept } from "../walk/steps.js";

const MOST = 60; // nodes that anybody would put in order

/** @typedef {import("../model/model.js").Model} Model */

export class Order {
  /** @param {(change: Partial<import("../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {readonly string[]} */
    this.order = [];
    /** @type {import("../core/graph.js").Graph | null} */
    this.graph = null;
    /** @type {Model | null} */
    this.model = null;
    this.intro = element("p", {}, say.intro);
    this.pool = element("div", { class: "pool", role: "group", "aria-label": say.pool });
    this.list = element("ol", {
      class: "order",
      "aria-label": say.list,
      ondragover: (/** @type {DragEvent} */ event) => event.preventDefault(),
      ondrop: (/** @type {DragEvent} */ event) => this.#drop(event, this.order.length),
    });
    this.run = button(say.run, () => this.#run(), { class: "main" });
    this.buttons = element(
      "div",
      { class: "buttons" },
      this.run,
      button(say.right, () => this.#place(this.#rightOrder())),
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
    write(this.left, isRun ? "" : say.left(visits - this.order.length));
  }

  /** Whether a node can be put at the end of the order. @param {string} name */
  takes(name) {
    return !this.body.hidden && !this.order.includes(name) && this.#rightOrder().includes(name);
  }

  /** Put a node at the end of the order. @param {string} name */
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

  /** The button of a node that has the focus. The panel can stand in a shadow root. */
  #focused() {
    const root = /** @type {Document | ShadowRoot} */ (this.body.getRootNode());
    const focused = root.activeElement;
    return focused instanceof HTMLElement && this.body.contains(focused) && focused.dataset.node ? focused : null;
  }

  /** @param {string} name */
  #chip(name) {
    return draggable(name, () => this.append(name), { class: "chip" });
  }

  /** @param {string} name @param {number} i */
  #item(name, i) {
    const moved = (/** @type {number} */ to) => () => this.#move(name, to);
    /** @type {Record<string, () => void>} */
    const keys = { ArrowUp: moved(i - 1), ArrowDown: moved(i + 1), Delete: () => this.#remove(name), Backspace: () => this.#remove(name) };
    const handle = draggable(name, () => this.act({ selected: name, operand: -1 }), {
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
    const item = element(
      "li",
      {},
      handle,
      button("↑", moved(i - 1), { "aria-label": say.up(name), "data-node": name, "data-move": "up" }),
      button("↓", moved(i + 1), { "aria-label": say.down(name), "data-node": name, "data-move": "down" }),
      button("✕", () => this.#remove(name), { "aria-label": say.remove(name), "data-node": name }),
    );
    item.addEventListener("drop", (event) => {
      const { top, height } = item.getBoundingClientRect();
      this.#drop(event, event.clientY < top + height / 2 ? i : i + 1);
    });
    return item;
  }

  /** @param {DragEvent} event @param {number} to which place in the order it is dropped before */
  #drop(event, to) {
    event.preventDefault();
    event.stopPropagation();
    const name = event.dataTransfer?.getData("text/plain") ?? "";
    const isKnown = this.model?.walk.order.some((place) => this.#name(place) === name);
    const from = this.order.indexOf(name);
    if (isKnown) this.#move(name, from >= 0 && from < to ? to - 1 : to);
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
    if (this.model?.isPlaced) this.act({ position: this.model.last });
  }

  /** @param {number} place */
  #name(place) {
    return this.graph?.nodes[place]?.name ?? "";
  }
}

/** What can be pressed for a node. @param {HTMLElement} place @returns {HTMLElement[]} */
function pressables(place) {
  return [...place.querySelectorAll("[data-node]")].filter((found) => found instanceof HTMLElement);
}

/**
 * A button that can be dragged. It is none of HTML's: Firefox does not drag those.
 * @param {string} name of the node @param {() => void} onclick
 * @param {Parameters<typeof element>[1]} properties
 */
function draggable(name, onclick, properties) {
  const made = element("span", { role: "button", tabindex: 0, draggable: "true", "data-node": name, onclick, ...properties }, name);
  made.addEventListener("dragstart", (event) => event.dataTransfer?.setData("text/plain", name));
  made.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onclick();
  });
  return made;
}
