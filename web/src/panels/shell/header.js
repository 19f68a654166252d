// The header: choose a graph of the lesson, type an expression or open a file; share a link; set theme and language.

import { button, element, fill, icon, select, set, write } from "../../dom.js";
import { few } from "../../core/names.js";
import { afterwards, header as say, language, LANGUAGES, presets } from "../../languages/languages.js";
import { Menu } from "./menu.js";
import { PRESETS, presetOf } from "../../model/presets.js";
import { START, startOf, stateOf } from "../../model/state.js";

/** @typedef {import("../../model/framing.js").Theme} Theme */

const SHARE = "M8 1l4 4H9v6H7V5H4zM2 9h2v4h8V9h2v6H2z";

export class Header {
  /**
   * @param {(change: Partial<import("../../model/state.js").State>) => void} act
   * @param {{ open: (text: string) => void, close: () => void, theme: (theme: Theme) => void, speak: (code: string) => void, share: () => void, values: () => void, print: () => void, present: () => void, isPage: boolean }} page
   */
  constructor(act, page) {
    this.act = act;
    this.page = page;
    this.program = "";
    this.isRefused = false;
    /** @type {import("../../model/state.js").Mode} */
    this.mode = "walk";
    this.exercise = 0;
    const graphs = PRESETS.map(({ key }) => /** @type {const} */ ([key, presets[key].title]));
    this.presets = select([["", presets.own], ...graphs], { "aria-label": say.presets, onchange: () => this.#show(this.presets.value) });
    this.input = element("input", {
      type: "text",
      class: "program",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      "aria-label": say.expression,
      "aria-describedby": "problem",
    });
    this.problem = element("pre", { class: "problem", id: "problem", role: "alert" });
    this.lesson = element("p", { class: "note" });
    this.values = button(say.values, page.values, { class: "link" });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.act({ program: this.input.value, ...this.#start(this.input.value) });
    };
    this.form = element("form", { onsubmit }, this.presets, this.input, element("button", { class: "main" }, say.draw));
    this.title = element("p", { class: "of" });
    this.file = element("input", { type: "file", accept: ".json,application/json", hidden: true, onchange: () => this.#read() });
    this.theme = select(Object.entries(say.themes), { "aria-label": say.theme, onchange: () => page.theme(/** @type {Theme} */ (this.theme.value)) });
    const names = Object.entries(LANGUAGES).map(([code, { language: { name } }]) =>
      element("option", { value: code, lang: code, selected: code === language.code }, name),
    );
    this.languages = element("select", { "aria-label": language.choose }, ...names);
    this.isChoosing = false; // whether the reader is choosing a language in the focused menu
    this.languages.addEventListener("change", () => {
      this.isChoosing = this.languages.matches(":focus");
      page.speak(this.languages.value);
    });
    this.keys = element("input", { type: "checkbox", checked: true });
    this.help = help(this.keys);
    this.share = button(icon(SHARE), page.share, { "aria-label": say.share, title: say.share });
    this.share.append(element("span", { class: "word" }, say.share));
    this.home = button(say.home, page.close, { hidden: true });
    this.menu = new Menu([
      page.isPage ? button(say.file, () => this.file.click()) : null,
      button(say.present, page.present, { title: say.presentKey }),
      page.isPage ? button(say.print, page.print) : null,
      chosen(language.choose, this.languages),
      chosen(say.theme, this.theme),
      button(say.help, () => this.help.showModal()),
    ]);
    this.tools = element("div", { class: "tools" }, this.home, page.isPage ? this.share : null, this.file, this.menu.button, this.menu.element);
    this.brand = element("h1", {}, say.name);
    this.element = element("header", {}, this.brand, this.title, this.form, this.tools, this.problem, this.lesson, this.help);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ state, program, document, moment, last }) {
    [this.mode, this.exercise] = [state.mode, state.exercise];
    this.form.hidden = document !== null || state.chapter !== "";
    write(this.title, document ? document.of : "");
    if (program !== this.program) {
      this.program = program;
      this.input.value = program;
    }
    const preset = PRESETS.find((known) => known.program === program);
    this.presets.value = preset?.key ?? "";
    if (document || state.chapter || state.mode === "exercises") fill(this.lesson);
    else if (preset) write(this.lesson, noteOn(preset.key, moment.position === last));
    else this.#tellStart(state);
    if (!this.isRefused || this.input.value === program) this.fail("");
  }

  /** Take over the state of the header of the page in another language. @param {Header} before */
  follow(before) {
    this.keys.checked = before.keys.checked;
    this.keep(before.input.value);
    if (!before.isChoosing) return;
    this.menu.show();
    this.languages.focus(); // the reader has just chosen a language here
  }

  /** Add a section below the bar, and a button that opens it. @param {{ toggle: HTMLElement, element: HTMLElement }} section */
  offer({ toggle, element }) {
    this.tools.prepend(toggle);
    this.problem.before(element);
  }

  /** Put a program into the field, so that the reader can correct it. @param {string} program */
  keep(program) {
    this.input.value = program;
  }

  /** Show an error about an expression, a link or a file. @param {string} problem @param {"program" | ""} [of] */
  fail(problem, of = "") {
    this.isRefused = of === "program"; // the error stays until the expression is corrected
    write(this.problem, problem);
    set(this.input, "aria-invalid", this.isRefused && "true");
  }

  /** Show the button that closes a file, or the button that shares a link: a file has no link. @param {boolean} isAway */
  showHome(isAway) {
    this.home.hidden = !isAway;
    this.share.hidden = isAway;
  }

  /** Whether single-letter shortcuts are on: speech input may trigger them by accident, so they can be switched off. */
  get hasKeys() {
    return this.keys.checked;
  }

  /** Tell which leaves of an own expression have the number of a leaf without one. @param {import("../../model/state.js").State} state */
  #tellStart({ values, mode }) {
    const names = [...values.keys()].filter((name) => values.get(name) === START);
    const told = names.length ? say.start([...few(names, false), START].join(" = ")) : "";
    fill(this.lesson, ...(values.size && mode === "walk" ? [told, " ", this.values] : []));
  }

  /** Return the mode and position for another graph: the mode stays, except that exercises end. @param {string} program */
  #start(program) {
    const mode = this.mode === "exercises" ? "walk" : this.mode;
    return { mode, position: startOf(mode, program) };
  }

  /** @param {string} key */
  #show(key) {
    const preset = presetOf(key);
    if (preset) this.act({ ...stateOf(preset), exercise: this.exercise, ...this.#start(preset.program) });
    else this.input.select();
  }

  async #read() {
    const file = this.file.files?.[0];
    if (!file) return;
    this.file.value = ""; // allows opening the same file again
    this.page.open(await file.text());
  }
}

/** Return the note about a graph of the lesson. @param {import("../../model/presets.js").Preset["key"]} key @param {boolean} isEnd */
function noteOn(key, isEnd) {
  /** @type {Partial<Record<typeof key, string>>} */
  const known = afterwards;
  return [presets[key].lesson, isEnd && known[key]].filter(Boolean).join(" ");
}

/** Label a select. @param {string} name @param {HTMLSelectElement} choice */
function chosen(name, choice) {
  return element("label", {}, element("span", {}, name), choice);
}

/** Create the help dialog with the signs and the keyboard shortcuts. @param {HTMLInputElement} hasKeys */
function help(hasKeys) {
  const keys = say.keys.flatMap(([key, meaning]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, meaning)]);
  const close = element("form", { method: "dialog" }, element("button", { class: "main" }, say.close));
  const legend = say.signs.map((sign) => element("li", {}, sign));
  const title = element("h2", {}, say.help);
  return element("dialog", { "aria-label": say.help }, title, element("label", {}, hasKeys, ` ${say.letters}`), element("ul", {}, ...legend), element("dl", {}, ...keys), close);
}
