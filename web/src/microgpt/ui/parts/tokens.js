// The opened name, with a choice of the letter to predict.

import { element, fill, set, write } from "../../../dom.js";
import { say } from "../../texts.js";
import { percent } from "../numbers.js";
import { part, tell } from "../picture.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("../address.js").Choices} Choices */

const { tokens: words } = say;

export class Tokens {
  #shown = ""; // the name whose letters are shown
  /** @type {{ choice: HTMLInputElement, share: HTMLElement }[]} */
  #places = [];

  /** @param {(change: Partial<Choices>) => void} act */
  constructor(act) {
    this.act = act;
    this.field = element("input", { type: "text", id: "name", autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-describedby": "name-problem" });
    this.problem = element("p", { class: "problem", id: "name-problem", role: "alert" });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.refuse("");
      act({ name: this.field.value.trim() });
    };
    this.form = element("form", { class: "open", onsubmit }, element("label", { for: "name" }, words.name), this.field, element("button", { class: "main" }, words.open));
    this.list = element("div", { class: "places" });
    this.told = element("p", { class: "told-of", role: "status" });
    this.element = part("tokens", words.heading, words.intro, this.form, this.problem, element("fieldset", {}, element("legend", {}, words.places), this.list), this.told);
  }

  /** @param {View} view */
  update(view) {
    const { name } = view.opened;
    if (name !== this.#shown) this.#show(view);
    this.#places.forEach(({ choice, share }, place) => {
      const told = percent(view.probabilities(place)[view.opened.targets[place]]);
      choice.checked = place === view.place;
      set(choice, "aria-label", words.choice(place, view.target(place), view.isEnd(place), told));
      write(share, told);
    });
    const share = percent(view.probabilities(view.place)[view.opened.targets[view.place]]);
    set(this.told, "role", view.isRunning ? null : "status");
    tell(this.told, words.told(name.slice(0, view.place), view.place, view.target(view.place), view.isEnd(view.place), share));
  }

  /** Show a problem with the name in the field. @param {string} problem */
  refuse(problem) {
    write(this.problem, problem);
    set(this.field, "aria-invalid", problem !== "" && "true");
  }

  /** @param {View} view */
  #show(view) {
    this.#shown = view.opened.name;
    this.refuse("");
    if (!this.field.matches(":focus")) this.field.value = this.#shown;
    this.#places = Array.from({ length: view.places }, (_, place) => {
      const choice = element("input", { type: "radio", name: "place", value: place, onchange: () => this.act({ place }) });
      return { choice, share: element("span", { class: "share" }) };
    });
    fill(this.list, element("span", { class: "from", "aria-hidden": "true" }, "·"), ...this.#places.map(({ choice, share }, place) => element(
      "label",
      { "data-place": place },
      choice,
      element("span", { class: "count" }, words.number(place, view.isEnd(place))),
      element("b", {}, view.target(place) || "·"),
      share,
    )));
  }
}
