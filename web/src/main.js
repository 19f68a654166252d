// Entry point for pages and notebooks. Elements with data-gradwalk are filled automatically; notebooks call `render`.

import { App } from "./app.js";
import { language, speak } from "./languages/languages.js";
import { keepLanguage, languageFor } from "./model/preferences.js";
import { languageIn, LONGEST_LINK } from "./model/state.js";
import { followed, onceSeen, paged, rested, shadowed, sheltered, show } from "./surroundings.js";

/** @typedef {import("./panels/shell/header.js").Theme} Theme */

/**
 * The interface of anywidget's model: the traits of the Python object.
 * @typedef {object} Model
 * @property {(trait: string) => unknown} get
 * @property {(trait: string, value: unknown) => void} set
 * @property {(event: string, callback: () => void) => void} on
 * @property {(event: string, callback: () => void) => void} off
 * @property {() => void} save_changes
 */

/** Show the walk of a notebook widget. @param {{ model: Model, el: HTMLElement }} widget @returns {() => void} removes it */
function render({ model, el }) {
  const host = document.createElement("div");
  host.dataset.kind = "widget";
  el.append(host);
  const root = shadowed(host);
  let end = onceSeen(host, () => (end = filled(root, host, model)));
  return () => {
    end();
    host.remove();
  };
}

/** @param {HTMLElement} root @param {HTMLElement} host @param {Model} model @returns {() => void} removes it */
function filled(root, host, model) {
  let chosen = /** @type {Theme} */ ("auto");
  let around = /** @type {Theme} */ ("light");
  const paint = () => show(host, chosen === "auto" ? around : chosen);
  const unfollow = followed(/** @type {HTMLElement} */ (host.parentElement), (theme) => {
    around = theme;
    paint();
  });
  const unshelter = sheltered(host);
  let own = String(model.get("state"));
  const remembered = rested((fragment) => {
    own = fragment;
    model.set("state", fragment);
    model.save_changes();
  });
  const theme = (/** @type {Theme} */ wanted) => {
    chosen = wanted;
    paint();
  };
  const surroundings = /** @type {const} */ ({ kind: "widget", remember: remembered.call, theme, python: null });
  const filling = new Shown(root, String(model.get("document")), own, surroundings, () => (host.lang = language.code));
  const onState = () => {
    const state = String(model.get("state"));
    if (state !== own) filling.go((own = state));
  };
  const onDocument = () => filling.app.open(String(model.get("document")));
  model.on("change:state", onState);
  model.on("change:document", onDocument);
  return () => {
    model.off("change:state", onState);
    model.off("change:document", onDocument);
    remembered.cancel();
    unfollow();
    unshelter();
    filling.close();
  };
}

/** Fill a page with the lesson, or with the walk embedded in it as data. @param {HTMLElement} host */
function mount(host) {
  host.dataset.kind = "page";
  document.body.style.margin = "0";
  paged();
  const data = document.querySelector("script[data-gradwalk-document]")?.textContent ?? null;
  const address = () => location.hash.slice(1);
  let own = address();
  const remembered = rested((fragment) => {
    if (address() !== own) return; // the reader has changed the address; the event follows
    if (subjectOf(fragment) !== subjectOf(own)) history.pushState(null, "", `#${fragment}`); // lets the reader go back
    else history.replaceState(null, "", `#${fragment}`);
    own = address();
  });
  const theme = (/** @type {Theme} */ wanted) => show(host, wanted);
  const surroundings = /** @type {const} */ ({ kind: "page", remember: remembered.call, theme, python: pythonBeside(host) });
  const filling = new Shown(shadowed(host), data, own, surroundings, () => {
    document.documentElement.lang = language.code;
    if (data === null) document.title = language.page;
  });
  window.addEventListener("hashchange", () => {
    if (address() === own) return;
    own = address();
    remembered.cancel();
    filling.go(own);
  });
}

/**
 * Return the location of Python if the page is served with it. A page opened as a file cannot load anything.
 * @param {HTMLElement} host @returns {import("./cell/protocol.js").Python | null}
 */
function pythonBeside({ dataset: { python } }) {
  if (!python || !location.protocol.startsWith("http")) return null;
  return { folder: new URL("pyodide/", location.href).href, packages: python.split(" ") };
}

/** An App that is replaced when the language changes. */
class Shown {
  /**
   * @param {HTMLElement} root @param {string | null} text @param {string} fragment
   * @param {Omit<import("./app.js").Surroundings, "speak">} surroundings @param {() => void} onLanguage
   */
  constructor(root, text, fragment, surroundings, onLanguage) {
    speakFor(fragment);
    onLanguage();
    this.root = root;
    this.surroundings = { ...surroundings, speak: choose };
    this.onLanguage = onLanguage;
    this.app = new App(root, text, fragment, this.surroundings);
    shown.add(this);
  }

  /** Go to a fragment, in its language. @param {string} fragment */
  go(fragment) {
    speakFor(fragment);
    this.app.go(fragment);
  }

  again() {
    const before = this.app;
    before.close();
    this.onLanguage();
    this.app = new App(this.root, null, "", this.surroundings, before);
  }

  close() {
    shown.delete(this);
    this.app.close();
  }
}

/** All instances; they share one language. @type {Set<Shown>} */
const shown = new Set();

/** Store the reader's language, and switch all instances to it. @param {string} code */
function choose(code) {
  keepLanguage(code);
  turnTo(code);
  for (const { app } of shown) app.ask(code);
}

/** Switch to the language of a link, or to the reader's language if the link has none. @param {string} fragment */
function speakFor(fragment) {
  turnTo(languageFor(languageIn(fragment)));
}

/** @param {string} code */
function turnTo(code) {
  if (code === language.code) return;
  speak(code);
  for (const one of shown) one.again();
}

/**
 * Return a key for the graph, mode and question of a fragment, which ignores the step of the walk.
 * @param {string} fragment
 */
function subjectOf(fragment) {
  if (fragment.length > LONGEST_LINK) return ""; // too long to be read
  const parts = new URLSearchParams(fragment);
  return JSON.stringify(["show", "f", "mode", "exercise", "chapter", "beat"].map((key) => parts.get(key)));
}

for (const host of document.querySelectorAll("[data-gradwalk]")) {
  if (host instanceof HTMLElement && !host.shadowRoot) mount(host);
}

export default { render };
