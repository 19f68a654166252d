// The entry point of the microgpt page: it builds the lesson from the data embedded in the page.

import { element, fill, set } from "../dom.js";
import { rested, show } from "../surroundings.js";
import { keepTheme, keptTheme } from "../model/preferences.js";
import css from "../style.css";
import { decoded } from "./document.js";
import microgptCss from "./microgpt.css";
import { Session } from "./session.js";
import { say } from "./texts.js";
import { chosenBy, fragmentOf } from "./ui/address.js";
import { Page } from "./ui/page.js";
import { Palette } from "./ui/palette.js";

/** @typedef {import("./protocol.js").MicrogptDocument} MicrogptDocument */

/** Keeps the focused element clear of the bars at the edges of the window. */
const SCROLLING = `
  html { scroll-padding: 64px 0 76px; }
  @media (width < 980px) { html { scroll-padding-bottom: 112px; } html:has([data-open]) { scroll-padding-bottom: calc(50dvh + 112px); } }`;

/** @param {string} text */
function sheetOf(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
}

/** Attach a shadow root with the styles to an element. @param {HTMLElement} host */
function shadowed(host) {
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [css, microgptCss].map(sheetOf);
  document.adoptedStyleSheets.push(sheetOf(SCROLLING));
  const root = element("div", { class: "root" });
  shadow.append(root);
  return root;
}

/** @param {HTMLElement} host @param {MicrogptDocument} given */
async function mount(host, given) {
  const root = shadowed(host);
  document.documentElement.lang = say.language;
  document.title = say.page;
  document.body.style.margin = "0";
  show(host, keptTheme());
  fill(root, element("p", { class: "loading", role: "status" }, say.loading));
  const lesson = await decoded(given);
  const palette = new Palette(/** @type {any} */ (root.parentNode));
  const start = chosenBy(location.hash.slice(1));
  let own = location.hash;
  const noted = rested((fragment) => {
    if (location.hash !== own) return; // the reader has changed the address; a hashchange event follows
    history.replaceState(null, "", `#${fragment}`);
    own = location.hash;
  });
  const page = new Page(root, lesson, palette, start, {
    send: (request) => session.send(request),
    remember(choices, step) {
      set(host, "data-open", choices.node !== "");
      noted.call(fragmentOf(choices, step));
    },
    theme(theme) {
      keepTheme(theme);
      show(host, theme);
      palette.changed();
    },
  });
  page.header.theme.value = keptTheme();
  const session = new Session((reply) => page.hear(reply));
  window.addEventListener("hashchange", () => location.reload()); // another link was opened in this tab
  session.send({ type: "start", document: given, names: start.choices.names });
}

const host = document.querySelector("[data-gradwalk]");
const data = document.querySelector("script[data-gradwalk-document]")?.textContent;
if (host instanceof HTMLElement && data) mount(host, JSON.parse(data));
