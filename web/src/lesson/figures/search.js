// micrograd's backward() beside the stage, line by line: the depth-first topological sort, the seed, and the visits.

import { button, element, set, write } from "../../dom.js";
import { figures as say } from "../../languages/languages.js";
import { CODE, search, SEEDED, STEPPED } from "../../walk/search.js";
import { Player, reduced } from "./player.js";

/** @typedef {import("../../model/model.js").Model} Model */

const PAUSE = 450; // milliseconds per line

export class Search {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    this.at = 0;
    /** @type {Model | null} */
    this.model = null;
    /** @type {readonly import("../../walk/search.js").Event[]} */
    this.events = [];
    this.lines = CODE.map((line) => element("li", {}, element("code", {}, line)));
    this.player = new Player();
    const stopped = (/** @type {() => void} */ action) => () => {
      this.player.stop();
      action();
    };
    this.next = button(say.stepSearch, stopped(() => this.#go(this.at + 1)), { class: "main" });
    this.again = button(say.restartSearch, stopped(() => this.#go(0)));
    this.topo = element("p", { class: "readout" });
    this.element = element(
      "div",
      { class: "figure search" },
      element("div", { class: "buttons" }, this.next, this.again),
      this.topo,
      element("ol", { class: "code", "aria-label": say.code }, ...this.lines),
    );
  }

  /** @param {Model} model */
  update(model) {
    const isNew = model.graph !== this.model?.graph;
    this.model = model;
    if (isNew) this.events = search(model.graph);
    if (isNew) this.at = 0;
    this.#show();
  }

  /** Play the search line by line, until the reader takes over. */
  begin() {
    const step = () => {
      this.#go(this.at + 1);
      return this.at < this.events.length;
    };
    if (!reduced.matches) this.player.start(step, PAUSE);
  }

  close() {
    this.player.stop();
  }

  /** The marks on the stage: each node's index in the list so far, and the current node. */
  get marks() {
    const event = this.events[Math.min(this.at, this.events.length - 1)];
    const isSearching = this.at < this.events.length;
    return { badges: new Map(event?.topo.map((place, i) => [place, i + 1])), active: isSearching ? (event?.place ?? null) : null };
  }

  /** @param {number} at index of an event of the search; after these come the seed and the visits */
  #go(at) {
    const { walk } = /** @type {Model} */ (this.model);
    this.at = Math.min(at, this.events.length + walk.backward.length);
    const known = walk.forward.length;
    const seeds = walk.steps.length - known - walk.backward.length;
    const beyond = this.at - this.events.length;
    this.act({ position: beyond < 0 ? known : known + seeds + beyond });
    this.lines.find((line) => line.ariaCurrent)?.scrollIntoView({ block: "nearest" });
  }

  #show() {
    const { graph, walk } = /** @type {Model} */ (this.model);
    const event = this.events[Math.min(this.at, this.events.length - 1)];
    const beyond = this.at - this.events.length;
    const line = beyond < 0 ? event.line : beyond === 0 ? SEEDED : STEPPED;
    this.lines.forEach((item, i) => set(item, "aria-current", i === line && "step"));
    write(this.topo, `topo: ${event.topo.map((place) => graph.nodes[place].name).join(", ")}`);
    set(this.next, "aria-disabled", beyond === walk.backward.length && "true");
  }
}
