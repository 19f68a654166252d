// The page's environment: the element it fills, and the notebook's theme, keys and visibility.

import cellCss from "./cell/cell.css";
import arraysCss from "./panels/walk/arrays.css";
import lessonCss from "./lesson/lesson.css";
import motionCss from "./stage/motion.css";
import paperCss from "./panels/shell/paper.css";
import pictureCss from "./stage/picture.css";
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

/** Attach a shadow tree with the style sheets. @param {HTMLElement} host @returns {HTMLElement} root element to fill */
export function shadowed(host) {
  const shadow = host.attachShadow({ mode: "open" });
  const sheets = [css, stageCss, pictureCss, motionCss, waysCss, timelineCss, trainingCss, checksCss, arraysCss, quotientCss, lessonCss, shareCss, cellCss, presentCss, paperCss];
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

/** Set the margin of printed pages, which is not possible inside a shadow tree. */
export function paged() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("@page { margin: 12mm; }");
  document.adoptedStyleSheets.push(sheet);
}

/**
 * Debounce a function. Browsers limit how often the history may change, which a fast walk would exceed.
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

/** Set the theme of an element; "auto" uses the system's. @param {HTMLElement} host @param {Theme} theme */
export function show(host, theme) {
  if (theme === "auto") delete host.dataset.theme;
  else host.dataset.theme = theme;
}

/**
 * Follow the theme of the notebook around an element. Notebooks have their own themes and mark them with attributes of
 * the page's body or root.
 * @param {HTMLElement} place @param {(theme: Theme) => void} onTheme
 * @returns {() => void} stops following
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

/** Return whether a CSS color is closer to white than to black. @param {string} color */
function isLight(color) {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return false;
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
  return red + green + blue > 3 * 128;
}

/**
 * Wait until an element is visible; before that, text cannot be measured and the notebook's colors are unknown.
 * @param {HTMLElement} host @param {() => void} onSeen
 * @returns {() => void} stops waiting
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
 * Keep plain keys from the notebook's commands (in JupyterLab d, d deletes a cell). Key combinations with ctrl, such as
 * for saving, still reach the notebook.
 * @param {HTMLElement} host @returns {() => void} stops this
 */
export function sheltered(host) {
  const isPlain = (/** @type {KeyboardEvent} */ event) => !(event.ctrlKey || event.metaKey || event.altKey);
  host.addEventListener("keydown", (event) => {
    if (isPlain(event)) event.stopPropagation();
  });
  // JupyterLab's own listener on the document runs first and checks this attribute.
  const mark = (/** @type {KeyboardEvent} */ event) => {
    host.toggleAttribute("data-lm-suppress-shortcuts", isPlain(event));
  };
  window.addEventListener("keydown", mark, { capture: true });
  return () => window.removeEventListener("keydown", mark, { capture: true });
}
