// The page: holds the state, computes the model from it, and shows the model in the stage and the panels.

import { bundleCaption, edgeCaption, nodeCaption, partCaption, pictureNote } from "./model/captions.js";
import { button, element, fill, set, write } from "./dom.js";
import { files as say, lesson as lessonWords, parts as partNames, present, stage as stageWords, tabs } from "./languages/languages.js";
import { ExpressionError } from "./core/expression.js";
import { GraphError } from "./core/graph.js";
import { animationOf } from "./walk/step_animation.js";
import { innermost, itemOf, pathTo } from "./walk/modules/modules.js";
import { dropped, modeler } from "./model/model.js";
import { chapterOf, ROUTE, stageOf } from "./model/chapters.js";
import { Guide } from "./lesson/guide.js";
import { handout, titleOf } from "./lesson/handout.js";
import { Cell } from "./cell/cell.js";
import { Ask } from "./panels/shell/ask.js";
import { Arrays } from "./panels/walk/arrays.js";
import { Checks } from "./panels/check/checks.js";
import { Exercise } from "./panels/exercises/exercise.js";
import { Header } from "./panels/shell/header.js";
import { Inspector } from "./panels/walk/inspector.js";
import { Order } from "./panels/order/order.js";
import { Outcome } from "./panels/order/outcome.js";
import { Paper } from "./panels/shell/paper.js";
import { waysOf } from "./panels/walk/paths.js";
import { EarlierGradients } from "./panels/walk/earlier.js";
import { Share } from "./panels/shell/share.js";
import { Source } from "./panels/shell/source.js";
import { Training } from "./panels/train/training.js";
import { Transport } from "./panels/shell/transport.js";
import { Twin } from "./panels/shell/graph_table.js";
import { Summary } from "./panels/walk/summary.js";
import { Values } from "./panels/walk/values.js";
import { Writing } from "./panels/order/writing.js";
import { PRESETS } from "./model/presets.js";
import { chapterPictures, sheetOf } from "./printing.js";
import { Stage } from "./stage/stage.js";
import { bare, decoded, encoded, MODES, startOf as startIn, stateOf, within } from "./model/state.js";
import { isFraming, unframed } from "./model/framing.js";
import { keeps } from "./keys.js";
import { keepPlace, keepTheme, keptPlace, keptTheme } from "./model/preferences.js";
import { read } from "./model/document.js";
import { nudgeMarks } from "./model/nudges.js";
import { veiled, withoutAnswer } from "./model/exercises/hide_answers.js";
import { restarted } from "./model/training.js";

/** @typedef {import("./model/state.js").State} State */
/** @typedef {import("./model/model.js").Model} Model */

/**
 * The environment of the page. After a change of language, the owner of the App replaces it by a new one.
 * @typedef {object} Surroundings
 * @property {"page" | "widget"} kind only a "page" has an address bar and all keys to itself
 * @property {(fragment: string) => void} remember stores the state in the address bar or the notebook
 * @property {(theme: import("./panels/shell/header.js").Theme) => void} theme
 * @property {(code: string) => void} speak changes the language
 * @property {import("./cell/protocol.js").Python | null} python set if the page is served together with Python
 */

const APART = 10; // pixels between the graph and the buttons above it

export class App {
  /** @type {Model | null} */
  #model = null;
  /**
   * Program and position of the walk when the reader last switched to another mode.
   * @type {Pick<State, "program" | "position"> | null}
   */
  #left = null;
  /** @type {number | null} node that is hovered or focused */
  #pointed = null;
  /** @type {State} */
  #state;
  #modelOf;
  #ends = new AbortController();

  /**
   * @param {HTMLElement} host
   * @param {string | null} text JSON of a walk to show; null for the lesson
   * @param {string} fragment initial fragment of a link
   * @param {Surroundings} surroundings
   * @param {App | null} [before] previous App, in another language, to continue from
   */
  constructor(host, text, fragment, surroundings, before = null) {
    const { act } = this;
    this.surroundings = surroundings;
    const isPage = this.#isPage;
    /** @type {import("./model/document.js").Document | null} shown instead of the lesson */
    this.document = null;
    /**
     * The page's own document and fragment while a file from the reader is shown. A file cannot be linked to.
     * @type {{ document: import("./model/document.js").Document | null, fragment: string } | null}
     */
    this.home = null;
    /** Settings that a teacher added to the link. */
    this.framing = unframed();
    /** @type {import("./model/framing.js").Theme} */
    this.theme = isPage ? keptTheme() : "auto";
    this.#modelOf = modeler(null);
    this.#state = startOf(null);

    this.header = new Header(act, this.#headerActions);
    this.share = new Share((start, framing) => within(encoded(this.#startingAt(start), startOf(this.document)), framing));
    this.asked = new Ask();
    this.paper = new Paper();
    this.transport = new Transport(act, () => this.stage.settled);
    this.source = new Source(act);
    this.order = new Order(act);
    this.exercise = new Exercise(act);
    this.training = new Training(act);
    const [inspector, writing, outcome, twin] = [new Inspector(act), new Writing(act), new Outcome(), new Twin(act)];
    this.values = new Values(act);
    this.twin = twin;
    /** Panels of each mode. */
    this.panels = {
      walk: [outcome, new Summary((place) => this.#goTo(place)), inspector, new Arrays(act), new EarlierGradients(act), this.values, writing, twin],
      order: [this.order, outcome, writing, inspector, twin],
      check: [new Checks(act), new EarlierGradients(act), inspector, twin],
      train: [this.training, inspector, twin],
      exercises: [this.exercise, twin],
    };
    this.guide = new Guide(act, this.order);
    /** Position in the lesson before the switch to the lab. @type {Pick<State, "chapter" | "beat">} */
    this.lessonAt = { chapter: ROUTE[0].key, beat: 0 };
    this.views = [button(lessonWords.title, () => this.#toLesson()), button(lessonWords.lab, () => act({ chapter: "" }))];
    this.viewSwitch = element("div", { class: "views", role: "group", "aria-label": lessonWords.views }, ...this.views);
    this.header.brand.after(this.viewSwitch);
    /** Editor for Python, if available. */
    this.cell = surroundings.python && new Cell(surroundings.python, (text) => this.#openFile(text));
    if (this.cell) this.header.offer(this.cell);
    this.tabs = MODES.map((mode) => this.#tab(mode));
    this.tablist = element("div", { role: "tablist", "aria-label": tabs.title }, ...this.tabs);
    this.panel = element("div", { role: "tabpanel", id: "panel", tabindex: -1 });
    this.path = element("nav", { class: "path", "aria-label": partNames.path });
    const drawing = element("div", { class: "stage" });
    this.note = element("p", { class: "teacher" });
    this.leave = button("✕", () => this.present(false), { class: "leave", "aria-label": present.leave, title: present.leave });
    this.zooming = this.#zoom();
    this.frame = this.#frameAround(drawing);
    this.element = /** @type {HTMLElement} */ (element("div", { class: "app" }, this.frame));
    host.append(this.element, this.paper.element);
    this.texts = {
      nameOfNode: (/** @type {number} */ place) => (this.#model ? nodeCaption(this.#model, place) : ""),
      nameOfEdge: (/** @type {string} */ key) => (this.#model ? edgeCaption(this.#model, key) : ""),
      nameOfPart: (/** @type {import("./types.js").Part} */ part) => (this.#model ? partCaption(this.#model, part) : ""),
      nameOfBundle: (/** @type {import("./types.js").Edge} */ edge) => (this.#model ? bundleCaption(this.#model, edge) : ""),
      data: stageWords.data,
      gradient: stageWords.gradient,
      count: stageWords.count,
      progress: stageWords.progress,
      largest: stageWords.largest,
      /** Set before a picture is shown. */
      pictureNote,
    };
    this.stage = new Stage(drawing, {
      ...this.texts,
      onNode: (place) => this.#choose(place),
      onEdge: (key) => this.#chooseEdge(key),
      onPart: (key) => act({ open: key }),
      onDot: (place) => this.#goTo(place),
      onValue: (place, number, isFinal) => this.#setValue(place, number, isFinal),
      onPoint: (place) => this.#point(place),
      corner: () => ({ width: this.zooming.offsetWidth + 2 * APART, height: this.zooming.offsetHeight + 2 * APART }),
    });
    this.#listen(isPage ? host.ownerDocument : this.frame);
    if (before) this.#follow(before);
    else if (text === null) this.go(fragment);
    else this.open(text, fragment);
  }

  /** Return the actions of the header's controls. @returns {ConstructorParameters<typeof Header>[1]} */
  get #headerActions() {
    return {
      open: (text) => this.#openFile(text),
      close: () => this.#closeFile(),
      theme: (theme) => this.#chooseTheme(theme),
      speak: this.surroundings.speak,
      share: () => this.share.open(this.framing, { isLesson: this.#state.chapter !== "", hasLesson: !this.document }),
      values: () => this.values.focus(),
      print: () => this.print(),
      present: () => this.present(true),
      isPage: this.#isPage,
    };
  }

  /** @param {EventTarget} keys target of the key listener */
  #listen(keys) {
    const { signal } = this.#ends;
    keys.addEventListener("keydown", (event) => this.#onKey(/** @type {KeyboardEvent} */ (event)), { signal });
    if (!this.#isPage) return;
    window.addEventListener("beforeprint", () => this.paper.isFilled || this.#fillPaper(new Map()), { signal });
    window.addEventListener("afterprint", () => this.paper.clear(), { signal });
  }

  /**
   * Change the state and show it. If the new state does not give a graph, report the problem and keep the old state.
   * @param {Partial<State>} change
   * @param {number | null} [from] position of the walk where an animation begins that leads to the new state; null animates
   *   only a step to the next position
   */
  act = (change, from = null) => {
    const isOther = change.program !== undefined && change.program !== this.#state.program;
    const wanted = { ...this.#state, ...(isOther && { training: restarted(this.#state.training) }), ...change };
    const { model, problem } = this.#attempt(wanted);
    if (!model) return this.header.fail(problem, "program");
    this.#show(model, from);
    return this.#remember();
  };

  #remember() {
    if (!this.home) this.surroundings.remember(this.fragment);
    const { chapter, beat, done } = this.#state;
    if (chapter && this.#isPage) keepPlace({ chapter, beat, done });
  }

  get #isPage() {
    return this.surroundings.kind === "page";
  }

  /** Add a language to the link. @param {string} code of the current language */
  ask(code) {
    this.framing = { ...this.framing, language: code };
    this.act({});
  }

  /** The state as the fragment of a link. */
  get fragment() {
    return within(encoded(this.#state, startOf(this.document)), this.framing);
  }

  /** Apply a link's fragment and report its problems. @param {string} fragment */
  go(fragment) {
    const asked = [...new URLSearchParams(fragment).keys()].filter((key) => !isFraming(key));
    const isBegun = this.document !== null || (asked.length > 0 && !asked.includes("chapter"));
    const kept = this.#isPage ? keptPlace() : null;
    const start = isBegun ? startOf(this.document) : { ...startOf(null), ...stageOf(ROUTE[0], 0), done: kept?.done ?? [] };
    this.guide.offer(asked.length ? null : kept);
    const { state, framing, problems } = decoded(fragment, start);
    this.framing = framing;
    this.#frame();
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

  /** Apply the teacher's settings. */
  #frame() {
    const theme = this.framing.theme ?? this.theme;
    this.header.theme.value = theme;
    this.surroundings.theme(theme);
    write(this.note, this.framing.note);
    this.asked.frame(this.framing);
    this.frame.toggleAttribute("data-asked", this.framing.question !== "");
    this.frame.toggleAttribute("data-embedded", this.framing.isEmbedded);
    this.frame.toggleAttribute("data-presented", this.framing.isPresented);
    this.stage.enlarge(this.framing.isPresented);
  }

  /** Set the reader's theme, which overrides the theme of the link. @param {import("./model/framing.js").Theme} theme */
  #chooseTheme(theme) {
    [this.theme, this.framing] = [theme, { ...this.framing, theme: null }];
    if (this.#isPage) keepTheme(theme);
    this.#frame();
    this.#remember();
  }

  /** Start or end the presentation: only the graph and the sentence, enlarged for an audience. @param {boolean} isPresented */
  present(isPresented) {
    if (isPresented === this.framing.isPresented) return;
    this.framing = { ...this.framing, isPresented };
    this.#frame();
    this.#remember();
    const { next } = this.#state.chapter ? this.guide : this.transport.buttons;
    if (isPresented) next.focus();
    else this.header.menu.button.focus();
  }

  /** Print the current view, or all of the open chapter. */
  async print() {
    const chapter = chapterOf(this.#state.chapter);
    this.#fillPaper(chapter ? await chapterPictures(chapter, this.element, this.texts) : new Map());
    window.print();
  }

  /** Fill the print view. @param {ReadonlyMap<number, Element>} pictures of a chapter's beats; if empty, the first beat uses the picture on the screen */
  #fillPaper(pictures) {
    if (!this.#model) return;
    const { state } = this.#model;
    const picture = this.stage.picture();
    const chapter = chapterOf(state.chapter);
    if (chapter) {
      const isUntold = state.beat === 0; // later pictures may give away answers
      const known = pictures.size || !picture || !isUntold ? pictures : new Map([[0, picture]]);
      return this.paper.fill(this.framing, titleOf(chapter), ...handout(chapter, known));
    }
    const question = (state.mode === "exercises" && this.exercise.question.textContent) || "";
    const table = this.twin.element.querySelector("table");
    return this.paper.fill(this.framing, ...sheetOf(this.#model, { picture, transport: this.transport, question, table }));
  }

  /** Return the state of a link with another starting point. @param {string} start "here", "begin" or the key of a chapter @returns {State} */
  #startingAt(start) {
    const chapter = chapterOf(start);
    if (chapter) return { ...startOf(null), ...stageOf(chapter, 0) };
    return { ...this.#state, done: [], ...(start === "begin" && { mode: "walk", position: startIn("walk", this.#state.program), selected: "", operand: -1 }) };
  }

  /**
   * Show a walk or graph from JSON. If the JSON is invalid, report the problem and keep the current view.
   * @param {string} text @param {string} [fragment] @returns {boolean} whether the JSON was valid
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

  /** Continue from an App in another language. @param {App} before */
  #follow(before) {
    [this.document, this.home] = [before.document, before.home];
    this.#modelOf = modeler(this.document);
    this.#left = before.#left;
    [this.framing, this.theme] = [before.framing, before.theme];
    this.#frame();
    this.lessonAt = before.lessonAt;
    this.guide.follow(before.guide);
    this.asked.follow(before.asked);
    if (before.cell) this.cell?.follow(before.cell);
    const { model } = this.#attempt(before.#state);
    if (model) this.#show(model);
    this.header.follow(before.header);
    this.header.showHome(this.home !== null);
  }

  /** Stop all timers and listeners, and remove the page. */
  close() {
    this.#ends.abort();
    this.element.remove();
    this.paper.element.remove();
    this.cell?.close();
    this.guide.close();
    this.transport.stop();
    this.training.stop();
    this.stage.close();
  }

  /** Show a document, or the lesson. @param {import("./model/document.js").Document | null} document @param {string} fragment */
  #turn(document, fragment) {
    this.document = document;
    this.#modelOf = modeler(document);
    this.go(fragment);
  }

  /** Show a file from the reader until it is closed. @param {string} text @returns {boolean} whether the file was valid */
  #openFile(text) {
    this.home ??= { document: this.document, fragment: this.fragment };
    const isShown = this.open(text);
    if (!isShown && this.document === this.home.document) this.home = null;
    this.header.showHome(this.home !== null);
    return isShown;
  }

  #closeFile() {
    if (!this.home) return;
    const { document, fragment } = this.home;
    this.home = null;
    this.header.showHome(false);
    this.#turn(document, fragment);
  }

  /** Compute the model of a state, or describe the problem. @param {State} state @returns {{ model: Model | null, problem: string }} */
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

  // Elements

  /** Build the layout of the page. @param {HTMLElement} drawing of the graph */
  #frameAround(drawing) {
    return element(
      "div",
      { class: "frame" },
      this.header.element,
      this.source.element,
      this.asked.element,
      element("section", { class: "graph", "aria-label": stageWords.title }, this.note, drawing, this.path, this.zooming),
      this.transport.element,
      element(
        "aside",
        { class: "panel", "aria-label": tabs.title },
        this.tablist,
        this.panel,
        this.guide.element,
      ),
      this.leave,
      this.share.element,
    );
  }

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

  // Actions

  /** Return to the last position in the lesson. */
  #toLesson() {
    const chapter = chapterOf(this.lessonAt.chapter);
    if (chapter && !this.#state.chapter) this.act(stageOf(chapter, this.lessonAt.beat));
  }

  /** @param {import("./model/state.js").Mode} mode */
  #turnTo(mode) {
    const { mode: before, program, position } = this.#state;
    if (mode === before) return;
    if (before === "walk") this.#left = { program, position };
    const isSame = this.#left?.program === program;
    this.act({ mode, position: mode === "walk" && isSame ? Number(this.#left?.position) : startIn(mode, program) });
  }

  /** @param {number} place */
  #choose(place) {
    const node = this.#model?.graph.nodes[place];
    if (!node) return;
    if (this.#state.mode === "order" && this.order.takes(node.name)) this.order.append(node.name);
    else this.act({ selected: this.#state.selected === node.name && this.#state.operand < 0 ? "" : node.name, operand: -1 });
  }

  /** Select a node and open its part. @param {number} place */
  #goTo(place) {
    const { graph, whole } = this.#model ?? {};
    if (graph && whole) this.act({ selected: graph.nodes[place].name, operand: -1, open: innermost(whole, place).key });
  }

  /** @param {string} key */
  #chooseEdge(key) {
    const [place, operand] = key.split(":").map(Number);
    if (this.#model) this.act({ selected: this.#model.graph.nodes[place].name, operand });
  }

  /**
   * Set the number of a leaf that is being dragged, at the same position of the walk. Only the final number is stored
   * in the link.
   * @param {number} place @param {number} number @param {boolean} isFinal
   */
  #setValue(place, number, isFinal) {
    const name = this.#model?.graph.nodes[place]?.name ?? "";
    const { model, problem } = this.#attempt({ ...this.#state, values: new Map([...this.#state.values, [name, number]]) });
    if (!model) return this.header.fail(problem, "program");
    this.#show(model);
    return isFinal ? this.#remember() : undefined;
  }

  /** @param {number | null} place */
  #point(place) {
    if (place === this.#pointed) return;
    this.#pointed = place;
    if (this.#model) this.#light(this.#model);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const target = event.composedPath()[0];
    const isCovered = this.header.help.open || this.share.element.open;
    if (event.key === "Escape" && this.framing.isPresented && !isCovered && !event.defaultPrevented) return this.present(false);
    if (event.key === "p" && (event.ctrlKey || event.metaKey) && !isCovered && this.#isPage) {
      event.preventDefault();
      this.print(); // the browser's own command does not wait for the drawings
      return undefined;
    }
    const isPlain = !(event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented);
    if (!isPlain || !this.header.hasKeys || isCovered || (target instanceof HTMLElement && keeps(target, event.key))) return undefined;
    const { buttons, position, last } = this.transport;
    const [next, back] = this.#state.chapter ? [this.guide.next, this.guide.back] : [buttons.next, buttons.back];
    /** @type {Record<string, () => void>} */
    const actions = {
      n: () => next.click(),
      ArrowRight: () => next.click(),
      PageDown: () => next.click(),
      PageUp: () => back.click(),
      b: () => back.click(),
      ArrowLeft: () => back.click(),
      s: () => buttons.start.click(),
      e: () => buttons.end.click(),
      p: () => this.transport.toggle(),
      f: () => this.present(!this.framing.isPresented),
      g: () => this.stage.enter(),
      "?": () => this.header.help.showModal(),
    };
    const action = actions[event.key];
    const isOver = position === last && ["n", "ArrowRight", "PageDown"].includes(event.key); // only the button begins again
    const isIdle = this.#state.chapter ? "sep".includes(event.key) : isOver || (this.transport.controls.hidden && !"fg?".includes(event.key));
    if (!action || isIdle) return undefined;
    event.preventDefault();
    return action();
  }

  // Display

  /** @param {Model} given @param {number | null} [from] as in `act` */
  #show(given, from = null) {
    const model = veiled(given, this.guide.openIn(given));
    const before = this.#model;
    [this.#model, this.#state] = [model, model.state];
    if (model.graph !== before?.graph) this.#pointed = null;
    set(this.frame, "class", model.document?.files.size || Number(model.document?.passes.all.length) > 1 ? "frame has-source" : "frame");
    this.header.update(model);
    this.asked.update(model);
    this.transport.update(model);
    this.source.update(model);
    this.#showPanel(model, before);
    this.#showPath(model, before);
    this.#showStage(model, before, from);
  }

  /** @param {Model} model @param {Model | null} before */
  #showPanel(model, before) {
    const { mode } = model.state;
    const isLesson = model.state.chapter !== "";
    if (isLesson) this.lessonAt = { chapter: model.state.chapter, beat: model.state.beat };
    set(this.frame, "data-view", isLesson ? "lesson" : "lab");
    this.viewSwitch.hidden = model.document !== null;
    this.views.forEach((view, i) => set(view, "aria-pressed", (i === 0) === isLesson ? "true" : "false"));
    for (const [part, isHidden] of /** @type {const} */ ([[this.guide.element, !isLesson], [this.panel, isLesson], [this.tablist, isLesson]])) part.hidden = isHidden;
    if (isLesson) return this.guide.update(model);
    const shown = this.panels[mode];
    this.tabs.forEach((tab, i) => {
      set(tab, "aria-selected", MODES[i] === mode ? "true" : "false");
      set(tab, "tabindex", MODES[i] === mode ? 0 : -1);
      tab.hidden = MODES[i] === "exercises" && this.document !== null;
    });
    if (mode !== before?.state.mode || before?.state.chapter) {
      set(this.panel, "aria-labelledby", `tab-${mode}`);
      fill(this.panel, ...shown.map((panel) => panel.element));
      this.panel.scrollTop = 0;
    }
    for (const panel of shown) panel.update(model);
    return undefined;
  }

  /** @param {Model} model @param {Model | null} before */
  #showPath(model, before) {
    const { whole, state } = model;
    const path = pathTo(whole, state.open || whole.key);
    if (whole !== before?.whole || state.open !== before.state.open) this.#fillPath(path);
    const hiding = hidingPart(model, path);
    [...this.path.children].forEach((link, i) => set(link, "class", path[i] === hiding && `active ${model.moment.phase}`));
  }

  /** @param {readonly import("./types.js").Part[]} path */
  #fillPath(path) {
    const hadFocus = this.path.matches(":focus-within");
    this.path.hidden = path.length < 2;
    const links = path.map((part, i) => {
      const isLast = i === path.length - 1;
      return button(i ? part.name : partNames.whole, () => this.act({ open: part.key }), { "aria-current": isLast && "location" });
    });
    fill(this.path, ...links);
    if (hadFocus) links.at(-1)?.focus();
    if (hadFocus && this.path.hidden) this.stage.enter();
  }

  /** @param {Model} model @param {Model | null} before @param {number | null} from */
  async #showStage(model, before, from) {
    const { graph, scene, moment, state, selected } = model;
    const edge = selected && state.operand >= 0 ? `${selected.place}:${state.operand}` : null;
    const lesson = state.chapter ? this.guide.marks : null;
    const marks = {
      selected: edge ? { edge } : selected && { place: selected.place },
      badges: lesson?.badges ?? new Map(state.mode === "order" ? badgesOf(model) : []),
      asked: model.asked,
      nudge: nudgeMarks(model),
      isAsking: model.isAsking,
      isFixed: state.mode === "exercises" || state.chapter !== "", // a change would give away answers or contradict the text
      largest: moment.position > model.shown.seeded ? model.shown.largest : 0, // gradients are not shown before
    };
    const active = lesson?.active ?? (marks.nudge || model.isFinished ? null : moment.active); // a nudge is not a step of the walk
    this.stage.paint(graph, active === moment.active ? moment : { ...moment, active }, marks);
    this.#light(model);
    const checked = model.nudge ? graph.root : null;
    const isChecked = Boolean(before?.nudge);
    if (scene !== before?.scene || graph !== before.graph || isChecked !== (checked !== null)) await this.stage.show(graph, scene, checked, state.chapter);
    if (this.#model !== model) return;
    this.#animate(model, from ?? (before && isNext(model, before) ? before.moment.position : moment.position));
    if (state.open && state.open !== before?.state.open) this.stage.focus(openedKey(model));
    const isNudge = marks.nudge && (!before?.nudge || before.graph !== graph);
    if (isNudge) this.stage.focus(itemOf(scene, graph.root) ?? "");
    const isStep = moment.position !== before?.moment.position;
    if (isStep && !marks.nudge && active !== null) this.stage.focus(itemOf(scene, active) ?? "");
    else if (model.isFinished && !scene.pictured && !isSameProgram(model, before)) this.stage.fit();
  }

  /** Highlight the paths from the hovered node, or else from the selected one. @param {Model} model */
  #light(model) {
    const { graph, state, selected } = model;
    const chosen = state.operand < 0 ? selected?.place : undefined;
    const pointed = this.#pointed !== null && this.#pointed < graph.nodes.length ? this.#pointed : chosen;
    this.stage.light(pointed === undefined ? [] : waysOf(model, pointed));
  }

  /** Animate the steps from a position to the model's own. @param {Model} model @param {number} from */
  #animate(model, from) {
    const { shown, asks, moment: { position } } = model;
    if (from >= position) return;
    const { flights, moment } = animationOf(shown, from, position);
    this.stage.play({ flights, moment: (landed) => withoutAnswer(moment(landed), model, asks), pace: this.transport.pace });
  }
}

/** Return whether two models show the same graph, perhaps with other numbers. @param {Model} model @param {Model | null} before */
function isSameProgram({ document, program, pass }, before) {
  return before !== null && document === before.document && program === before.program && pass === before.pass;
}

/** Return whether a model is one step ahead of another. @param {Model} model @param {Model} before */
function isNext({ shown, scene, moment }, before) {
  return shown === before.shown && scene === before.scene && moment.position === before.moment.position + 1;
}

/** Return the message of an error in the reader's input; rethrow other errors. @param {unknown} error */
function problemOf(error) {
  if (error instanceof ExpressionError || error instanceof GraphError) return error.message;
  throw error;
}

/**
 * Return the innermost part of the path that contains the node of the step, if no box on the stage does.
 * @param {Model} model @param {readonly import("./types.js").Part[]} path
 */
function hidingPart({ scene, isFinished, moment: { active } }, path) {
  return isFinished || active === null || itemOf(scene, active) !== null ? undefined : path.findLast(({ places }) => places.includes(active));
}

/** Return the initial state of a page. @param {import("./model/document.js").Document | null} document @returns {State} */
function startOf(document) {
  return document ? { ...bare(), overwrite: document.overwrite } : stateOf(PRESETS[0]);
}

/** Return the key of the box to focus in an opened group: the selected node's, or else the first. @param {Model} model */
function openedKey({ whole, scene, state, selected }) {
  const { places } = pathTo(whole, state.open).at(-1) ?? whole;
  return itemOf(scene, selected && places.includes(selected.place) ? selected.place : places[0]) ?? "";
}

/** Return the number of each placed node in the reader's order. @param {Model} model @returns {[number, number][]} */
function badgesOf({ graph, state }) {
  return state.order.map((name, i) => [graph.nodes.findIndex((node) => node.name === name), i + 1]);
}
