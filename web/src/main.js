// The module that pages and notebooks load. A page's element with data-gradwalk is filled; a notebook calls `render`.

import { App } from "./app.js";
import { followed, onceSeen, rested, shadowed, sheltered, show } from "./surroundings.js";

/** @typedef {import("./panels/header.js").Theme} Theme */

/**
 * What anywidget hands to `render`: the traits of the Python object, and the element to fill.
 * @typedef {object} Model
 * @property {(trait: string) => unknown} get
 * @property {(trait: string, value: unknown) => void} set
 * @property {(event: string, callback: () => void) => void} on
 * @property {(event: string, callback: () => void) => void} off
 * @property {() => void} save_changes
 */

/** Show the walk of a notebook's widget. @param {{ model: Model, el: HTMLElement }} widget @returns {() => void} what takes it away */
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

/** @param {HTMLElement} root @param {HTMLElement} host @param {Model} model @returns {() => void} what ends it */
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
  const app = new App(root, String(model.get("document")), own, { kind: "widget", remember: remembered.call, theme });
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
    remembered.cancel();
    unfollow();
    unshelter();
    app.close();
  };
}

/** Fill a page with the lesson, or with the walk that stands in it as data. @param {HTMLElement} host */
function mount(host) {
  host.dataset.kind = "page";
  document.body.style.margin = "0";
  const data = document.querySelector("script[data-gradwalk-document]")?.textContent ?? null;
  let own = location.hash.slice(1);
  const remembered = rested((fragment) => {
    const isElsewhere = subjectOf(fragment) !== subjectOf(own);
    own = fragment;
    if (isElsewhere) history.pushState(null, "", `#${fragment}`); // the way back leads there
    else history.replaceState(null, "", `#${fragment}`);
  });
  const theme = (/** @type {Theme} */ wanted) => show(host, wanted);
  const app = new App(shadowed(host), data, own, { kind: "page", remember: remembered.call, theme });
  window.addEventListener("hashchange", () => {
    const fragment = location.hash.slice(1);
    if (fragment !== own) app.go((own = fragment));
  });
}

/** What a fragment shows, whatever step it stands at. @param {string} fragment */
function subjectOf(fragment) {
  const parts = new URLSearchParams(fragment);
  return JSON.stringify(["show", "f", "mode", "exercise"].map((key) => parts.get(key)));
}

for (const host of document.querySelectorAll("[data-gradwalk]")) {
  if (host instanceof HTMLElement && !host.shadowRoot) mount(host);
}

export default { render };
