// The page: combines the visitor's choices, the engine's replies, and the parts that show them.
//
// Data flows one way: the engine's replies and the visitor's choices form a View, which every part shows. Parts change
// choices by `act`, and the page sends requests to the engine.

import { element, fill } from "../../dom.js";
import { pathTo, pathToToken } from "../paths.js";
import { say } from "../texts.js";
import { Attention } from "./parts/attention.js";
import { Embedding } from "./parts/embedding.js";
import { Header } from "./header.js";
import { Inspector } from "./inspector.js";
import { Neurons } from "./parts/neurons.js";
import { Prediction } from "./parts/prediction.js";
import { Tokens } from "./parts/tokens.js";
import { Train } from "./train.js";
import { Transport } from "./transport.js";
import { View } from "./view.js";
import { Weights } from "./parts/weights.js";

/** @typedef {import("../protocol.js").Reply} Reply */
/** @typedef {import("../protocol.js").Request} Request */
/** @typedef {import("../protocol.js").Opened} Opened */
/** @typedef {import("../protocol.js").Progress} Progress */
/** @typedef {import("./address.js").Choices} Choices */

const LIVE = 150; // milliseconds between views during training
const BETWEEN = { paced: 0, free: 80, reduced: 500 }; // milliseconds between reports of the training, at least
const INVENT_EVERY = 50; // steps
const INVENTED = 5;

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

/**
 * The callbacks that connect the page to its environment.
 * @typedef {object} Surroundings
 * @property {(request: Request) => void} send
 * @property {(choices: Choices, step: number) => void} remember
 * @property {(theme: "auto" | "light" | "dark") => void} theme
 */

export class Page {
  /** @type {Opened | null} */
  #opened = null;
  /** Requests that the engine has not answered yet. */
  #asked = { open: false, goto: false };
  #wanted = { open: false, goto: -1 };
  #openedAt = 0; // time of the last "open" request
  #invented = 0; // the step of the last samples
  #until = 0; // the step that a link leads to, until training has reached it
  #isLinked = false; // whether a link leads to a number that the page has not shown yet
  #isOwn = false; // whether the visitor entered the names
  /** The target of the shown path: a node, or the letter just read. @type {{ kind: "here" | "token" | "", node: string }} */
  #path = { kind: "", node: "" };
  /** @type {import("./parts/cells.js").Cells | null} the grid to return to by keyboard */
  #from = null;
  #isDue = false; // whether an update is scheduled for the next frame
  #end = 0; // the step where the run in progress ends
  #progress = { step: 0, steps: 1, loss: NaN, rate: 0, running: false };

  /**
   * @param {HTMLElement} root @param {import("../document.js").Lesson} lesson @param {import("./palette.js").Palette} palette
   * @param {{ choices: Choices, step: number }} start @param {Surroundings} surroundings
   */
  constructor(root, lesson, palette, { choices, step }, surroundings) {
    this.lesson = lesson;
    this.choices = choices;
    this.surroundings = surroundings;
    this.#until = step;
    this.#isOwn = choices.names !== null;
    this.#isLinked = choices.node !== "";
    const act = (/** @type {Partial<Choices>} */ change) => this.act(change);
    const board = { palette, choose: (/** @type {number} */ node, /** @type {import("./parts/cells.js").Cells | null} */ from) => this.#choose(node, from) };
    this.header = new Header(surroundings.theme);
    this.train = new Train(lesson, { use: (names) => this.#use(names), go: (to) => this.#goTo(to), run: (to) => this.#run(to), invent: () => this.#invent() });
    this.tokens = new Tokens(act);
    this.parts = [this.tokens, new Embedding(board), new Attention(board, act, lesson.config.heads), new Neurons(board), new Prediction(board), new Weights(board, lesson)];
    this.inspector = new Inspector(lesson, { choose: (node) => this.#turn(node), path: (kind) => this.#showPath(kind), leave: () => this.#leave() });
    this.transport = new Transport({ toggle: () => this.#toggle(), step: () => this.#step(), back: () => this.#goTo(this.#progress.step - 1), restart: () => this.#goTo(0), act });
    this.problem = element("p", { class: "problem fatal", role: "alert" });
    fill(root, this.#frame());
    this.transport.choose(choices);
    document.addEventListener("visibilitychange", () => this.#open());
  }

  #frame() {
    const column = element("div", { class: "column" }, this.problem, this.train.element, ...this.parts.map((part) => part.element));
    return element("div", { class: "microgpt" }, element("p", { id: "cells-help", hidden: true }, say.cells.help), this.header.element, element("div", { class: "beside" }, column, this.inspector.element), this.transport.element);
  }

  /** Change the visitor's choices. @param {Partial<Choices>} change */
  act(change) {
    const before = this.choices;
    this.choices = { ...before, ...change };
    this.transport.choose(this.choices);
    if (this.choices.name !== before.name) this.#open();
    if (this.choices.pace !== before.pace && this.#progress.running && !this.#until) this.#run(this.#end);
    this.#showSoon();
    this.#remember();
  }

  // Replies of the engine

  /** @param {Reply} reply */
  hear(reply) {
    switch (reply.type) {
      case "ready":
        return this.#begin(reply);
      case "progress":
        return this.#advance(reply);
      case "opened":
        return this.#look(reply.opened);
      case "samples":
        return this.train.samples.put(reply.step, reply.samples);
      case "refused":
        return this.#refuse(reply.problem);
      default:
        this.problem.textContent = say.broken(reply.text);
        return undefined;
    }
  }

  /** @param {import("../protocol.js").Ready} ready */
  #begin({ step, steps, names, problems }) {
    this.#asked = { open: false, goto: false };
    this.#wanted = { open: false, goto: -1 };
    this.train.begin(names, problems, this.#isOwn, steps);
    this.#progress = { step, steps, loss: NaN, rate: 0, running: false };
    this.#until = Math.min(this.#until, steps);
    if (!this.choices.name) this.#lookAt(names[0] ?? this.#opened?.name ?? this.lesson.names[0]);
    if (names.length) this.#invent();
    if (this.#until) this.surroundings.send({ type: "step", count: this.#until });
    this.transport.update(this.#progress, this.#until);
    this.#open();
  }

  /** @param {Progress} progress */
  #advance({ step, losses, rate, running }) {
    this.#asked.goto = false;
    this.train.curve.show(step, losses, this.#wanted.goto >= 0 ? this.#wanted.goto : step); // the requested step, so that key presses before the reply count from it
    this.#invented = Math.min(this.#invented, step); // training may have returned to an earlier step
    const hasStopped = this.#progress.running && !running;
    this.#progress = { ...this.#progress, step, rate, running, loss: this.train.curve.loss };
    if (step >= this.#until || (!running && !losses.length)) this.#until = 0;
    this.train.samples.judge(this.train.curve.recent);
    this.transport.update(this.#progress, this.#until);
    if (running && step - this.#invented >= INVENT_EVERY) this.#invent();
    if (!running && this.#wanted.goto >= 0) return this.#goTo(this.#wanted.goto);
    if (!running || performance.now() - this.#openedAt > LIVE) this.#open();
    if (hasStopped || !running) this.#remember();
    return undefined;
  }

  /** @param {Opened} opened */
  #look(opened) {
    this.#asked.open = false;
    this.#opened = opened;
    this.#showSoon();
    if (this.#wanted.open) this.#open();
  }

  /** @param {import("../protocol.js").NameProblem} problem */
  #refuse(problem) {
    this.#asked.open = false;
    this.#lookAt(this.#opened?.name ?? this.lesson.names[0]);
    this.tokens.refuse(say.tokens.refused(problem));
    if (!this.#opened) this.#open(); // a link may contain a name that is refused
  }

  /** @param {string} name */
  #lookAt(name) {
    this.choices = { ...this.choices, name };
  }

  // Requests to the engine

  /** Request both passes of the opened name with the current weights, one request at a time. */
  #open() {
    this.#wanted.open = this.#asked.open;
    if (this.#asked.open || document.hidden) return;
    this.#asked.open = true;
    this.#openedAt = performance.now();
    this.surroundings.send({ type: "open", name: this.choices.name });
  }

  #toggle() {
    if (this.#progress.running) this.surroundings.send({ type: "pause" });
    else if (this.#progress.step < this.#progress.steps) this.#run(this.#progress.steps);
  }

  /** Train at the chosen pace up to a step, or return to it. @param {number} until */
  #run(until) {
    if (until <= this.#progress.step) return this.#goTo(until);
    const { pace } = this.choices;
    this.#end = until;
    this.#until = 0;
    this.transport.showRunning(this.#progress.running = true);
    const between = reduced.matches ? BETWEEN.reduced : pace ? BETWEEN.paced : BETWEEN.free;
    return this.surroundings.send({ type: "run", until, pace, between });
  }

  #step() {
    if (this.#progress.step < this.#progress.steps) this.surroundings.send({ type: "step", count: 1 });
  }

  /** Go to a step, one request at a time; of several pending requests, only the last one is sent. @param {number} step */
  #goTo(step) {
    if (step < 0) return;
    this.#wanted.goto = this.#asked.goto ? step : -1;
    if (this.#asked.goto) return;
    this.#asked.goto = true;
    this.#until = 0;
    this.surroundings.send({ type: "goto", step });
  }

  /** Train on other names, from the beginning. @param {readonly string[] | null} names null for the names of the document */
  #use(names) {
    this.#isOwn = names !== null;
    this.#until = 0;
    this.choices = { ...this.choices, names, name: "" };
    this.surroundings.send({ type: "names", names: names ?? this.lesson.names });
    this.#remember();
  }

  #invent() {
    this.#invented = this.#progress.step;
    this.surroundings.send({ type: "sample", count: INVENTED, temperature: this.train.samples.temperature });
  }

  // The selected number

  /** @param {number} node @param {import("./parts/cells.js").Cells | null} from the grid, if the node was selected by keyboard */
  #choose(node, from) {
    this.act({ node: this.lesson.program.names[node] });
    this.#show();
    this.#from = from ?? this.#from;
    if (from) this.inspector.focus();
  }

  /** Select another number, or none. @param {string} node */
  #turn(node) {
    this.act({ node });
    if (!node) this.#leave();
  }

  /** Return the focus to the grid where the selection began. */
  #leave() {
    this.#from?.focus();
  }

  // Views

  /** @param {"here" | "token" | ""} kind */
  #showPath(kind) {
    this.#path = { kind, node: this.choices.node };
    this.#showSoon();
  }

  #showSoon() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      this.#show();
    });
  }

  #show() {
    const opened = this.#opened;
    if (!opened) return;
    const view = new View(this.lesson, opened, this.choices, this.#pathOf(opened), this.#progress.running);
    for (const part of this.parts) part.update(view);
    this.inspector.update(view);
    if (this.#isLinked) this.tokens.element.scrollIntoView();
    this.#isLinked = false;
  }

  /** @param {Opened} opened */
  #pathOf(opened) {
    const { kind, node: name } = this.#path;
    if (kind === "token") return pathToToken(this.lesson, opened, Math.min(this.choices.place, opened.tokens.length - 1));
    const node = kind ? this.lesson.program.find(name) : -1;
    return node >= 0 ? pathTo(this.lesson, opened, node) : null;
  }

  #remember() {
    this.surroundings.remember(this.choices, this.#until || this.#progress.step);
  }
}
