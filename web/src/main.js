// The module that pages and notebooks load. A page's element with data-gradwalk is filled; a notebook calls `render`.

import { App } from "./app.js";
import stageCss from "./stage.css";
import css from "./style.css";

/**
 * What anywidget hands to `render`: the traits of the Python object, and the element to fill.
 * @typedef {object} Model
 * @property {(trait: string) => unknown} get
 * @property {(trait: string, value: unknown) => void} set
 * @property {(event: string, callback: () => void) => void} on
 * @property {(event: string, callback: () => void) => void} off
 * @property {() => void} save_changes
 */

/** @typedef {import("./panels/header.js").Theme} Theme */

/** Show the walk of a notebook's widget. @param {{ model: Model, el: HTMLElement }} widget @returns {() => void} */
function render({ model, el }) {
  const host = document.createElement("div");
  host.dataset.kind = "widget";
  el.append(host);
  const root = shadowed(host);
  const show = themed(host);
  const theme = (/** @type {Theme} */ wanted) => show(wanted === "auto" ? themeAround(el) : wanted);
  theme("auto");
  let own = String(model.get("state"));
  const remember = (/** @type {string} */ fragment) => {
    own = fragment;
    model.set("state", fragment);
    model.save_changes();
  };
  const app = new App(root, String(model.get("document")), own, { kind: "widget", remember: rested(remember), theme });
  const unshelter = sheltered(host);
  const onState = () => {
    const state = String(model.get("state"));
    if (state !== own) app.go((own = state));
  };
  const onDocument = () => app.open(String(model.get("document")));
  model.on("change:state", onState);
  model.on("change:document", onDocument);
  return () => {
    model.off("change:state", onState);
    model.off("change:document", onDocument);
    unshelter();
    app.close();
  };
}

/** Fill a page with the lesson, or with the walk that stands in it as data. @param {HTMLElement} host */
function mount(host) {
  host.dataset.kind = "page";
  document.body.style.margin = "0";
  const data = document.querySelector("script[data-gradwalk-document]")?.textContent ?? null;
  const root = shadowed(host);
  const remember = (/** @type {string} */ fragment) => {
    own = fragment;
    history.replaceState(null, "", `#${fragment}`);
  };
  let own = location.hash.slice(1);
  const app = new App(root, data, own, { kind: "page", remember: rested(remember), theme: themed(host) });
  window.addEventListener("hashchange", () => {
    const fragment = location.hash.slice(1);
    if (fragment !== own) app.go((own = fragment));
  });
}

/** An element's own tree, with the styles. @param {HTMLElement} host @returns {HTMLElement} to fill */
function shadowed(host) {
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [css, stageCss].map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  const root = document.createElement("div");
  root.style.height = "100%";
  shadow.append(root);
  return root;
}

const REST = 200; // milliseconds

/** A function that is called once for many calls in a row: browsers refuse to note every step of a fast walk. @param {(text: string) => void} f */
function rested(f) {
  let timer = 0;
  return (/** @type {string} */ text) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => f(text), REST);
  };
}

/** @param {HTMLElement} host @returns {(theme: Theme) => void} */
function themed(host) {
  return (theme) => {
    if (theme === "auto") delete host.dataset.theme;
    else host.dataset.theme = theme;
  };
}

/**
 * Keep plain keys from the notebook around an element, which has commands on them: in JupyterLab d, d deletes a cell.
 * Keys with ctrl, such as that which saves, stay the notebook's.
 * @param {HTMLElement} host @returns {() => void} what ends it
 */
function sheltered(host) {
  const isPlain = (/** @type {KeyboardEvent} */ event) => !(event.ctrlKey || event.metaKey || event.altKey);
  host.addEventListener("keydown", (event) => {
    if (isPlain(event)) event.stopPropagation();
  });
  // JupyterLab listens on the document, before the element does, and looks for this attribute.
  const mark = (/** @type {KeyboardEvent} */ event) => {
    host.toggleAttribute("data-lm-suppress-shortcuts", isPlain(event));
  };
  window.addEventListener("keydown", mark, { capture: true });
  return () => window.removeEventListener("keydown", mark, { capture: true });
}

/** The theme of the notebook around an element: dark where its text is light. @param {HTMLElement} place */
function themeAround(place) {
  const [red = 0, green = 0, blue = 0] = getComputedStyle(place).color.match(/[\d.]+/g)?.map(Number) ?? [];
  return red + green + blue > 3 * 128 ? "dark" : "light";
}

for (const host of document.querySelectorAll("[data-gradwalk]")) {
  if (host instanceof HTMLElement && !host.shadowRoot) mount(host);
}

export default { render };
