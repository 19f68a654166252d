// The page: it holds the state, has it made into a model, and shows that in the stage and the panels.

import { button, element, fill, set } from "./dom.js";
import { files as say, parts as partNames, stage as stageWords, tabs } from "./english/page.js";
import { ExpressionError } from "./expression.js";
import { GraphError } from "./graph.js";
import { itemOf, pathTo } from "./modules.js";
import { dropped, modeller } from "./model.js";
import { short } from "./numbers.js";
import { Checks } from "./panels/checks.js";
import { Exercise } from "./panels/exercise.js";
import { Header } from "./panels/header.js";
import { Inspector } from "./panels/inspector.js";
import { Order } from "./panels/order.js";
import { Source } from "./panels/source.js";
import { Transport } from "./panels/transport.js";
import { Twin } from "./panels/twin.js";
import { Values } from "./panels/values.js";
import { PRESETS } from "./presets.js";
import { Stage } from "./stage.js";
import { bare, decoded, encoded, MODES, stateOf } from "./state.js";
import { read } from "./document.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./model.js").Model} Model */

/**
 * What is around the page.
 * @typedef {object} Surroundings
 * @property {"page" | "widget"} kind a page has the address bar and the keyboard to itself
 * @property {(fragment: string) => void} remember where the state goes: the address bar, or the notebook
 * @property {(theme: import("./panels/header.js").Theme) => void} theme
 */

export class App {
  /** @type {Model | null} */
  #model = null;
  /** @type {State} */
  #state;
  #modelOf;

  /**
   * @param {HTMLElement} host
   * @param {string | null} text the JSON of a walk to show; the lesson where there is none
   * @param {string} fragment of a link: where to start
   * @param {Surroundings} surroundings
   */
  constructor(host, text, fragment, surroundings) {
    const { act } = this;
    const isPage = surroundings.kind === "page";
    this.surroundings = surroundings;
    /** @type {import("./document.js").Document | null} */
    this.document = null;
    this.#modelOf = modeller(null);
    this.#state = startOf(null);

    this.header = new Header(act, {
      open: (text) => this.open(text),
      theme: surroundings.theme,
      link: () => `${location.href.split("#")[0]}#${encoded(this.#state)}`,
      isPage,
    });
    this.transport = new Transport(act);
    this.source = new Source(act);
    this.order = new Order(act);
    this.exercise = new Exercise(act);
    const inspector = new Inspector(act);
    /** What each mode shows in the panel. */
    this.panels = {
      walk: [inspector, new Values(act), new Twin(act)],
      order: [this.order, inspector],
      check: [new Checks(act), inspector],
      exercises: [this.exercise],
    };
    this.tabs = MODES.map((mode) => this.#tab(mode));
    this.panel = element("div", { role: "tabpanel", id: "panel", tabindex: -1 });
    this.path = element("nav", { class: "path", "aria-label": partNames.path });
    const drawing = element("div", { class: "stage" });
    this.frame = element(
      "div",
      { class: "frame" },
      this.header.element,
      this.source.element,
      element("section", { class: "graph", "aria-label": stageWords.title }, drawing, this.path, this.#zoom()),
      this.transport.element,
      element(
        "aside",
        { class: "panel", "aria-label": tabs.title },
        element("div", { role: "tablist", "aria-label": tabs.title }, ...this.tabs),
        this.panel,
      ),
    );
    host.append(element("div", { class: "app" }, this.frame));
    this.stage = new Stage(drawing, {
      onNode: (place) => this.#choose(place),
      onEdge: (key) => this.#chooseEdge(key),
      onPart: (key) => act({ open: key }),
      nameOfNode: (place) => this.#nameOfNode(place),
      nameOfEdge: (key) => this.#nameOfEdge(key),
      nameOfPart: (part) => this.#nameOfPart(part),
      nameOfBundle: (edge) => this.#nameOfBundle(edge),
      count: stageWords.count,
      progress: stageWords.progress,
      largest: stageWords.largest,
    });
    const keys = isPage ? host.ownerDocument : this.frame;
    keys.addEventListener("keydown", (event) => this.#onKey(/** @type {KeyboardEvent} */ (event)));
    if (text === null) this.go(fragment);
    else this.open(text, fragment);
  }

  /** Change what the reader has chosen, and show it. Where that makes no graph, say so and leave all as it was. @param {Partial<State>} change */
  act = (change) => {
    const wanted = { ...this.#state, ...change };
    const model = this.#attempt(wanted);
    if (!model) return;
    this.#show(model);
    this.surroundings.remember(encoded(model.state));
  };

  /** Take what a link's fragment says; the problems with it are told. @param {string} fragment */
  go(fragment) {
    const start = startOf(this.document);
    const { state, problems } = decoded(fragment, start);
    const model = this.#attempt(state);
    if (!model) {
      const problem = this.header.problem.textContent ?? "";
      const usual = this.#model ?? this.#attempt(start);
      if (usual) this.#show(usual);
      this.header.keep(state.program);
      this.header.fail([...problems, problem].join("\n"));
      return;
    }
    this.#show(model);
    this.header.fail([...problems, ...dropped(state, model)].join("\n"));
  }

  /**
   * Show another walk or graph, given as JSON; where it is none, that is told, and what was shown stays.
   * @param {string} text @param {string} [fragment]
   */
  open(text, fragment = "") {
    const found = this.#guarded(() => read(text), say.refused);
    if (found) {
      this.document = found;
      this.#modelOf = modeller(found);
      this.go(fragment);
    } else if (!this.#model) {
      const problem = this.header.problem.textContent ?? "";
      this.go("");
      this.header.fail(problem);
    }
  }

  /** Stop what runs by itself. */
  close() {
    this.transport.stop();
    this.stage.close();
  }

  /** @param {State} state @returns {Model | null} */
  #attempt(state) {
    return this.#guarded(() => this.#modelOf(state), (problem) => problem);
  }

  /**
   * The result, or null where what the reader gave makes none: that is told.
   * @template Result @param {() => Result} work @param {(problem: string) => string} told @returns {Result | null}
   */
  #guarded(work, told) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ExpressionError || error instanceof GraphError)) throw error;
      this.header.fail(told(error.message));
      return null;
    }
  }

  // What there is on the page

  #zoom() {
    const { zoomIn, zoomOut, fit } = stageWords;
    return element(
      "div",
      { class: "zoom" },
      button("+", () => this.stage.zoom(1.25), { "aria-label": zoomIn, title: zoomIn }),
      button("−", () => this.stage.zoom(0.8), { "aria-label": zoomOut, title: zoomOut }),
      button("⤢", () => this.stage.fit(), { "aria-label": fit, title: fit }),
    );
  }

  /** @param {import("./state.js").Mode} mode */
  #tab(mode) {
    const onclick = () => this.#turnTo(mode);
    const onkeydown = (/** @type {KeyboardEvent} */ event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      const shown = this.tabs.filter((tab) => !tab.hidden);
      const next = shown.at((shown.indexOf(tab) + by) % shown.length);
      next?.focus();
      next?.click();
    };
    const tab = button(tabs.names[mode], onclick, { role: "tab", id: `tab-${mode}`, "aria-controls": "panel", onkeydown });
    return tab;
  }

  // What happens

  /** @param {import("./state.js").Mode} mode */
  #turnTo(mode) {
    const forward = this.#model?.walk.forward.length ?? 0;
    const isLeaving = this.#state.mode === "exercises" && mode !== "exercises";
    const positions = { walk: isLeaving ? 0 : this.#state.position, order: forward, check: Infinity, exercises: 0 };
    if (mode !== this.#state.mode) this.act({ mode, position: positions[mode] });
  }

  /** @param {number} place */
  #choose(place) {
    const node = this.#model?.graph.nodes[place];
    if (!node) return;
    const isPuzzle = this.#state.mode === "order" && !this.#state.order.includes(node.name);
    if (isPuzzle && this.#model?.walk.order.includes(place)) this.order.append(node.name);
    else this.act({ selected: this.#state.selected === node.name && this.#state.operand < 0 ? "" : node.name, operand: -1 });
  }

  /** @param {string} key */
  #chooseEdge(key) {
    const [place, operand] = key.split(":").map(Number);
    if (this.#model) this.act({ selected: this.#model.graph.nodes[place].name, operand });
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const target = event.composedPath()[0];
    const isTyping = target instanceof HTMLElement && target.matches("input, select, textarea, dialog *");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { buttons } = this.transport;
    /** @type {Record<string, () => void>} */
    const actions = {
      n: () => buttons.next.click(),
      ArrowRight: () => buttons.next.click(),
      b: () => buttons.back.click(),
      ArrowLeft: () => buttons.back.click(),
      s: () => buttons.start.click(),
      e: () => buttons.end.click(),
      p: () => this.transport.toggle(),
      g: () => this.stage.enter(),
      "?": () => this.header.help.showModal(),
    };
    const action = actions[event.key];
    if (!action || (this.#state.mode === "exercises" && !"g?".includes(event.key))) return;
    event.preventDefault();
    action();
  }

  // Showing

  /** @param {Model} model */
  #show(model) {
    const before = this.#model;
    [this.#model, this.#state] = [model, model.state];
    set(this.frame, "class", model.document?.files.size ? "frame has-source" : "frame");
    this.header.update(model);
    this.transport.update(model);
    this.source.update(model);
    this.#showPanel(model, before);
    this.#showPath(model);
    this.#showStage(model, before);
  }

  /** @param {Model} model @param {Model | null} before */
  #showPanel(model, before) {
    const { mode } = model.state;
    const shown = this.panels[mode];
    this.tabs.forEach((tab, i) => {
      set(tab, "aria-selected", MODES[i] === mode ? "true" : "false");
      set(tab, "tabindex", MODES[i] === mode ? 0 : -1);
      tab.hidden = MODES[i] === "exercises" && this.document !== null;
    });
    if (mode !== before?.state.mode) {
      set(this.panel, "aria-labelledby", `tab-${mode}`);
      fill(this.panel, ...shown.map((panel) => panel.element));
    }
    for (const panel of shown) panel.update(model);
  }

  /** @param {Model} model */
  #showPath({ whole, state }) {
    const path = pathTo(whole, state.open || whole.key);
    this.path.hidden = path.length < 2;
    const links = path.map((part, i) => {
      const isLast = i === path.length - 1;
      return button(i ? part.name : partNames.whole, () => this.act({ open: part.key }), { "aria-current": isLast && "location" });
    });
    if (!this.path.hidden || this.path.childElementCount) fill(this.path, ...links);
  }

  /** @param {Model} model @param {Model | null} before */
  async #showStage(model, before) {
    const { graph, scene, moment, state, selected } = model;
    const edge = selected && state.operand >= 0 ? `${selected.place}:${state.operand}` : null;
    this.stage.paint(graph, moment, {
      selected: edge ? { edge } : selected && { place: selected.place },
      badges: new Map(state.mode === "order" ? badgesOf(model) : []),
      largest: largestOf(model.shown),
    });
    if (scene !== before?.scene || graph !== before.graph) await this.stage.show(graph, scene);
    const isStep = moment.position !== before?.moment.position && this.#model === model;
    if (isStep && moment.active !== null) this.stage.focus(itemOf(scene, moment.active) ?? "");
  }

  /** @param {number} place */
  #nameOfNode(place) {
    if (!this.#model) return "";
    const { graph, moment } = this.#model;
    const node = graph.nodes[place];
    const gradient = moment.gradients[place];
    const status = moment.active === place ? stageWords.active : moment.visited[place] ? stageWords.visited : "";
    const data = moment.known[place] ? short(node.data) : stageWords.unknown;
    return stageWords.node(node.name, data, gradient === null ? "" : short(gradient), status);
  }

  /** @param {string} key */
  #nameOfEdge(key) {
    if (!this.#model) return "";
    const { graph, moment } = this.#model;
    const [place, operand] = key.split(":").map(Number);
    const node = graph.nodes[place];
    const contribution = moment.contributions.get(key);
    const from = graph.nodes[node.operands[operand]].name;
    const local = moment.known[place] ? short(node.partials[operand]) : "";
    return stageWords.edge(from, node.name, operand, local, contribution ? short(contribution.amount) : "");
  }

  /** @param {import("./types.js").Edge} edge */
  #nameOfBundle({ from, to, count }) {
    const nameOf = (/** @type {string} */ key) => {
      const item = this.#model?.scene.items.find((shown) => shown.key === key);
      return item?.part?.name ?? this.#model?.graph.nodes[item?.place ?? -1]?.name ?? "";
    };
    return stageWords.bundle(nameOf(from), nameOf(to), count);
  }

  /** @param {import("./types.js").Part} part */
  #nameOfPart(part) {
    const moment = this.#model?.moment;
    const count = (/** @type {readonly boolean[] | undefined} */ flags) => part.places.filter((place) => flags?.[place]).length;
    return stageWords.part(part.name, part.places.length, count(moment?.known), count(moment?.visited));
  }
}

/** The state that a page begins with. @param {import("./document.js").Document | null} document @returns {State} */
function startOf(document) {
  return document ? { ...bare(), overwrite: document.overwrite } : stateOf(PRESETS[0]);
}

/** The largest size of a gradient or contribution in a walk, by which lines are drawn. @param {import("./steps.js").Walk} walk */
function largestOf(walk) {
  let largest = 0;
  for (const { upstream, contributions } of walk.backward) {
    for (const size of [upstream, ...contributions.map(({ amount }) => amount)].map(Math.abs)) {
      if (Number.isFinite(size) && size > largest) largest = size;
    }
  }
  return largest;
}

/** The number of each placed node in the order. @param {Model} model @returns {[number, number][]} */
function badgesOf({ graph, state }) {
  return state.order.map((name, i) => [graph.nodes.findIndex((node) => node.name === name), i + 1]);
}
