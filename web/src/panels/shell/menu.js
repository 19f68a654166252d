// A menu for rarely used controls. It opens below its button and closes on Escape or a click elsewhere.

import { button, element, icon } from "../../dom.js";
import { header as say } from "../../languages/languages.js";

const BARS = "M1 3h14v2H1zM1 7h14v2H1zM1 11h14v2H1z";
const BELOW = 6; // pixels from the button

export class Menu {
  /** @param {readonly (HTMLElement | null)[]} entries actions, which close the menu, and choices, which do not */
  constructor(entries) {
    this.element = element("div", { class: "menu", popover: "auto", role: "group", "aria-label": say.menu }, ...entries);
    this.button = button(icon(BARS), () => {}, { "aria-label": say.menu, title: say.menu });
    this.button.popoverTargetElement = this.element;
    this.element.addEventListener("beforetoggle", () => {
      this.#place();
      if (this.element.matches(":focus-within")) this.button.focus(); // Chromium does not restore the focus in a shadow tree
    });
    this.element.addEventListener("click", ({ target }) => {
      if (target instanceof Element && target.closest("button")) this.element.hidePopover();
    }, { capture: true }); // runs before the action, which may move the focus
  }

  /** Open the menu. */
  show() {
    this.element.showPopover();
  }

  #place() {
    const { bottom, right } = this.button.getBoundingClientRect();
    this.element.style.top = `${bottom + BELOW}px`;
    this.element.style.right = `${document.documentElement.clientWidth - right}px`;
  }
}
