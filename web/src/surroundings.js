// What is around the page: the element it fills, and the notebook's theme, keys and comings and goings.

import cellCss from "./cell/cell.css";
import arraysCss from "./panels/walk/arrays.css";
import lessonCss from "./lesson/lesson.css";
import motionCss from "./stage/motion.css";
import paperCss from "./panels/shell/paper.css";
import presentCss from "./panels/shell/present.css";
import shareCss from "./panels/shell/share.css";
import trainingCss from "./panels/train/training.css";
import stageCss from "./stage/stage.css";
import timelineCss from "./panels/walk/timeline.css";
import waysCss from "./stage/path_highlight.css";
import checksCss from "./panels/check/checks.css";
import quotientCss from "./stage/quotient.css";
import css from "./style.css";

/** @typedef {import("./panels/shell/header.js").Theme} Theme */

const REST = 200; // milliseconds

/** An element's own tree, with the styles. @param {HTMLElement} host @returns {HTMLElement} to fill */
export function shadowed(host) {
  const shadow = host.attachShadow({ mode: "open" });
  const sheets = [css, stageCss, motionCss, waysCss, timelineCss, trainingCss, checksCss, arraysCss, quotientCss, lessonCss, shareCss, cellCss, presentCss, paperCss];
  shadow.adoptedStyleSheets = sheets.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
  const root = document.createElement("div");
  root.style.height = "100%";
  shadow.append(root);
  return root;
}

/** Leave a margin around what is printed: a shadow tree cannot say so. */
export function paged() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("@page { margin: 12mm; }");
  document.adoptedStyleSheets.push(sheet);
}

/**
 * A function that is called once for many calls in a row: browsers refuse to note every step of a fast walk.
 * @param {(text: string) => void} f
 * @returns {{ call: (text: string) => void, cancel: () => void }}
 */
export function rested(f) {
  let timer = 0;
  return {
    call(text) {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => f(text), REST);
    },
    cancel: () => window.clearTimeout(timer),
  };
}

/** Give an element a theme; "auto" is that of the system. @param {HTMLElement} host @param {Theme} theme */
export function show(host, theme) {
  if (theme === "auto") delete host.dataset.theme;
  else host.dataset.theme = theme;
}

/**
 * The theme of the notebook around an element, now and whenever it changes: notebooks have themes of their own, and say
 * so by attributes of the page's body or root.
 * @param {HTMLElement} place @param {(theme: Theme) => void} onTheme
 * @returns {() => void} what ends it
 */
export function followed(place, onTheme) {
  const tell = () => onTheme(isLight(getComputedStyle(place).color) ? "dark" : "light");
  const changes = new MutationObserver(tell);
  for (const root of [document.documentElement, document.body]) changes.observe(root, { attributes: true });
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", tell);
  tell();
  return () => {
    changes.disconnect();
    system.removeEventListener("change", tell);
  };
}

/** Whether a colour, in any of CSS's notations, is nearer to white than to black. @param {string} colour */
function isLight(colour) {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return false;
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return red + green + blue > 3 * 128;
}

/**
 * Wait until an element can be seen: text cannot be measured before, nor the notebook's colours told.
 * @param {HTMLElement} host @param {() => void} onSeen
 * @returns {() => void} what ends the waiting
 */
export function onceSeen(host, onSeen) {
  const sizes = new ResizeObserver(([{ contentRect }]) => {
    if (!contentRect.width) return;
    sizes.disconnect();
    onSeen();
  });
  sizes.observe(host);
  return () => sizes.disconnect();
}

/**
 * Keep plain keys from the notebook around an element, which has commands on them: in JupyterLab d, d deletes a cell.
 * Keys with ctrl, such as that which saves, stay the notebook's.
 * @param {HTMLElement} host @returns {() => void} what ends it
 */
export function sheltered(host) {
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
