// The page: it holds the state, has it made into a model, and shows that in the stage and the panels.

import { bundleCaption, edgeCaption, nodeCaption, partCaption } from "./model/captions.js";
import { button, element, fill, set } from "./dom.js";
import { files as say, parts as partNames, stage as stageWords, tabs } from "./english/page.js";
import { ExpressionError } from "./core/expression.js";
import { GraphError } from "./core/graph.js";
import { itemOf, pathTo } from "./walk/modules.js";
import { dropped, modeller } from "./model/model.js";
import { Checks } from "./panels/checks.js";
import { Exercise } from "./panels/exercise.js";
import { Header } from "./panels/header.js";
import { Inspector } from "./panels/inspector.js";
import { Order } from "./panels/order.js";
import { Outcome } from "./panels/outcome.js";
import { Source } from "./panels/source.js";
import { Transport } from "./panels/transport.js";
import { Twin } from "./panels/twin.js";
import { Values } from "./panels/values.js";
import { Writing } from "./panels/writing.js";
import { PRESETS } from "./model/presets.js";
import { Stage } from "./stage/stage.js";
import { bare, decoded, encoded, MODES, STARTS, stateOf } from "./model/state.js";
import { read } from "./model/document.js";

/** @typedef {import("./model/state.js").State} State */
/** @typedef {import("./model/model.js").Model} Model */

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
  /**
   * Where the walk stood when the reader turned to another mode, and of what it was.
   * @type {Pick<State, "program" | "values" | "position"> | null}
   */
  #left = null;
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
    /** @type {import("./model/document.js").Document | null} what is shown in place of the lesson */
    this.document = null;
    /**
     * What the page is of, and where it stood, while it shows a file that the reader has opened: no link leads to that.
     * @type {{ document: import("./model/document.js").Document | null, fragment: string } | null}
     */
    this.home = null;
    this.#modelOf = modeller(null);
    this.#state = startOf(null);

    this.header = new Header(act, {
      open: (text) => this.#openFile(text),
      close: () => this.#closeFile(),
      theme: surroundings.theme,
      link: () => `${location.href.split("#")[0]}#${this.fragment}`,
      isPage,
    });
    this.transport = new Transport(act);
    this.source = new Source(act);
    this.order = new Order(act);
    this.exercise = new Exercise(act);
    const [inspector, writing, outcome, twin] = [new Inspector(act), new Writing(act), new Outcome(), new Twin(act)];
    /** What each mode shows in the panel. */
    this.panels = {
      walk: [outcome, inspector, new Values(act), writing, twin],
      order: [this.order, outcome, writing, inspector, twin],
      check: [new Checks(act), inspector, twin],
      exercises: [this.exercise, twin],
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
      nameOfNode: (place) => (this.#model ? nodeCaption(this.#model, place) : ""),
      nameOfEdge: (key) => (this.#model ? edgeCaption(this.#model, key) : ""),
      nameOfPart: (part) => (this.#model ? partCaption(this.#model, part) : ""),
      nameOfBundle: (edge) => (this.#model ? bundleCaption(this.#model, edge) : ""),
      data: stageWords.data,
      gradient: stageWords.gradient,
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
    const { model, problem } = this.#attempt(wanted);
    if (!model) return this.header.fail(problem, "program");
    this.#show(model);
    return this.home ? undefined : this.surroundings.remember(this.fragment);
  };

  /** The state as the fragment of a link. */
  get fragment() {
    return encoded(this.#state, startOf(this.document));
  }

  /** Take what a link's fragment says; the problems with it are told. @param {string} fragment */
  go(fragment) {
    const start = startOf(this.document);
    const { state, problems } = decoded(fragment, start);
    const { model, problem } = this.#attempt(state);
    if (model) {
      this.#show(model);
      this.header.fail([...problems, ...dropped(state, model)].join("\n"));
      return;
    }
    const usual = this.#model?.document === this.document ? this.#model : this.#attempt(start).model;
    if (usual) this.#show(usual);
    this.header.keep(state.program);
    this.header.fail([...problems, problem].join("\n"), "program");
  }

  /**
   * Show another walk or graph, given as JSON; where it is none, that is told, and what was shown stays.
   * @param {string} text @param {string} [fragment] @returns {boolean} whether it is shown
   */
  open(text, fragment = "") {
    const { document, problem } = this.#read(text);
    if (document) this.#turn(document, fragment);
    else {
      if (!this.#model) this.go("");
      this.header.fail(problem);
    }
    return document !== null;
  }

  /** Stop what runs by itself. */
  close() {
    this.transport.stop();
    this.stage.close();
  }

  /** Show a document, or the lesson. @param {import("./model/document.js").Document | null} document @param {string} fragment */
  #turn(document, fragment) {
    this.document = document;
    this.#modelOf = modeller(document);
    this.go(fragment);
  }

  /** Show a file that the reader has opened, until it is closed. @param {string} text */
  #openFile(text) {
    this.home ??= { document: this.document, fragment: this.fragment };
    if (!this.open(text) && this.document === this.home.document) this.home = null;
    this.header.showHome(this.home !== null);
  }

  #closeFile() {
    if (!this.home) return;
    const { document, fragment } = this.home;
    this.home = null;
    this.header.showHome(false);
    this.#turn(document, fragment);
  }

  /** The model of a state, or why there is none. @param {State} state @returns {{ model: Model | null, problem: string }} */
  #attempt(state) {
    try {
      return { model: this.#modelOf(state), problem: "" };
    } catch (error) {
      return { model: null, problem: problemOf(error) };
    }
  }

  /** @param {string} text @returns {{ document: import("./model/document.js").Document | null, problem: string }} */
  #read(text) {
    try {
      return { document: read(text), problem: "" };
    } catch (error) {
      return { document: null, problem: say.refused(problemOf(error)) };
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

  /** @param {import("./model/state.js").Mode} mode */
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

  /** @param {import("./model/state.js").Mode} mode */
  #turnTo(mode) {
    const { mode: before, program, values, position } = this.#state;
    if (mode === before) return;
    if (before === "walk") this.#left = { program, values, position };
    const isSame = this.#left?.program === program && this.#left.values === values;
    this.act({ mode, position: mode === "walk" && isSame ? Number(this.#left?.position) : STARTS[mode] });
  }

  /** @param {number} place */
  #choose(place) {
    const node = this.#model?.graph.nodes[place];
    if (!node) return;
    if (this.#state.mode === "order" && this.order.takes(node.name)) this.order.append(node.name);
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
    const isScrolling = event.key.startsWith("Arrow") && target instanceof HTMLElement && target.matches(".scroll, .told");
    if (isTyping || isScrolling || !this.header.hasKeys || this.header.help.open || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
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
    if (!action || (this.transport.controls.hidden && !"g?".includes(event.key))) return;
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
    this.#showPath(model, before);
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
      this.panel.scrollTop = 0;
    }
    for (const panel of shown) panel.update(model);
  }

  /** @param {Model} model @param {Model | null} before */
  #showPath({ whole, state }, before) {
    if (whole === before?.whole && state.open === before.state.open) return;
    const hadFocus = this.path.matches(":focus-within");
    const path = pathTo(whole, state.open || whole.key);
    this.path.hidden = path.length < 2;
    const links = path.map((part, i) => {
      const isLast = i === path.length - 1;
      return button(i ? part.name : partNames.whole, () => this.act({ open: part.key }), { "aria-current": isLast && "location" });
    });
    fill(this.path, ...links);
    if (hadFocus) links.at(-1)?.focus();
    if (hadFocus && this.path.hidden) this.stage.enter();
  }

  /** @param {Model} model @param {Model | null} before */
  async #showStage(model, before) {
    const { graph, scene, moment, state, selected } = model;
    const edge = selected && state.operand >= 0 ? `${selected.place}:${state.operand}` : null;
    this.stage.paint(graph, moment, {
      selected: edge ? { edge } : selected && { place: selected.place },
      badges: new Map(state.mode === "order" ? badgesOf(model) : []),
      largest: model.shown.largest,
    });
    if (scene !== before?.scene || graph !== before.graph) await this.stage.show(graph, scene);
    const isStep = moment.position !== before?.moment.position && this.#model === model;
    if (isStep && moment.active !== null) this.stage.focus(itemOf(scene, moment.active) ?? "");
  }
}

/** What is wrong with what the reader gave. Other errors are not the reader's. @param {unknown} error */
function problemOf(error) {
  if (error instanceof ExpressionError || error instanceof GraphError) return error.message;
  throw error;
}

/** The state that a page begins with. @param {import("./model/document.js").Document | null} document @returns {State} */
function startOf(document) {
  return document ? { ...bare(), overwrite: document.overwrite } : stateOf(PRESETS[0]);
}

/** The number of each placed node in the order. @param {Model} model @returns {[number, number][]} */
function badgesOf({ graph, state }) {
  return state.order.map((name, i) => [graph.nodes.findIndex((node) => node.name === name), i + 1]);
}
