// The title, and a menu with the parts of the page and the color themes.

import { button, element, icon } from "../../dom.js";
import { say } from "../texts.js";

const BARS = "M1 3h14v2H1zM1 7h14v2H1zM1 11h14v2H1z";
const BELOW = 6; // pixels from the button
const THEMES = /** @type {const} */ (["auto", "light", "dark"]);

export class Header {
  /** @param {(theme: typeof THEMES[number]) => void} onTheme */
  constructor(onTheme) {
    const themes = THEMES.map((theme) => element("option", { value: theme }, say.themes[theme]));
    this.theme = element("select", { onchange: () => onTheme(/** @type {typeof THEMES[number]} */ (this.theme.value)) }, ...themes);
    const parts = Object.entries(say.sections).map(([key, name]) => element("li", {}, element("a", { href: `#${key}`, onclick: (/** @type {Event} */ event) => this.#go(event, key) }, name)));
    this.menu = element("div", { class: "menu", popover: "auto", role: "group", "aria-label": say.menu }, element("nav", { "aria-label": say.contents }, element("ul", {}, ...parts)), element("label", {}, element("span", {}, say.theme), this.theme));
    this.button = button(icon(BARS), () => {}, { "aria-label": say.menu, title: say.menu });
    this.button.popoverTargetElement = this.menu;
    this.menu.addEventListener("beforetoggle", () => this.#place());
    const title = element("h1", {}, say.title, element("span", { class: "promise" }, say.promise));
    this.element = element("header", {}, title, element("div", { class: "tools" }, this.button, this.menu));
  }

  /** Scroll to a part of the page. The fragment is kept because it holds the visitor's choices. @param {Event} event @param {string} key */
  #go(event, key) {
    event.preventDefault();
    this.menu.hidePopover();
    const heading = /** @type {ShadowRoot} */ (this.element.getRootNode()).getElementById(key);
    heading?.scrollIntoView({ block: "start" });
    heading?.focus({ preventScroll: true });
  }

  #place() {
    const { bottom, right } = this.button.getBoundingClientRect();
    this.menu.style.top = `${bottom + BELOW}px`;
    this.menu.style.right = `${document.documentElement.clientWidth - right}px`;
  }
}
