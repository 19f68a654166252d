// A dialog that creates a link with a teacher's note and question, and the HTML that embeds the same link in another
// page.

import { button, element, fill, select, set, write } from "../../dom.js";
import { header, language, LANGUAGES, lesson, share as say } from "../../languages/languages.js";
import { encodedAnswer, waysIn } from "../../model/exercises/ask.js";
import { CHAPTERS } from "../../model/chapters.js";
import { LONGEST_NOTE, LONGEST_QUESTION, LONGEST_TYPED, unframed } from "../../model/framing.js";

/** @typedef {import("../../model/framing.js").Framing} Framing */
/** @typedef {import("../../model/framing.js").Theme} Theme */

const [HERE, BEGIN] = ["here", "begin"]; // targets of a link, besides the keys of chapters
const COPIED = 4000; // milliseconds for which the message is shown

export class Share {
  /**
   * @param {(start: string, framing: Framing) => string} fragmentOf from a target: "here" for the current state, "begin" for the start of the walk,
   *   or the key of a chapter
   */
  constructor(fragmentOf) {
    this.fragmentOf = fragmentOf;
    /** The framing of this page. */
    this.framing = unframed();
    const oninput = () => this.#show();
    const { auto, ...themes } = header.themes;
    const names = Object.entries(LANGUAGES).map(([code, { language: { name } }]) => /** @type {const} */ ([code, name]));
    this.start = element("select", { oninput });
    this.language = select([["", say.theirs], ...names], { oninput });
    this.theme = select([["", say.theirs], ...Object.entries(themes)], { oninput });
    this.presents = element("input", { type: "checkbox", oninput });
    this.note = element("textarea", { rows: 2, maxlength: LONGEST_NOTE, oninput });
    this.question = element("textarea", { rows: 2, maxlength: LONGEST_QUESTION, oninput });
    const typing = { autocomplete: "off", spellcheck: "false", maxlength: LONGEST_TYPED };
    this.answer = element("input", { type: "text", ...typing, "aria-describedby": "share-right", oninput });
    this.right = element("p", { class: "note", id: "share-right" });
    this.link = element("textarea", { rows: 2, readonly: true, spellcheck: "false", onfocus: () => this.link.select() });
    this.snippet = element("textarea", { rows: 3, readonly: true, spellcheck: "false", onfocus: () => this.snippet.select() });
    this.told = element("span", { class: "note", role: "status" });
    const isFile = location.protocol === "file:";
    this.element = element(
      "dialog",
      { class: "share", "aria-label": say.title },
      element("h2", {}, say.title),
      field(say.link, this.link, button(say.copy, () => this.#copy(this.link), { class: "main" })),
      isFile ? element("p", { class: "note" }, say.ofFile) : null,
      this.told,
      element("div", { class: "choices" }, field(say.start, this.start), field(language.choose, this.language), field(header.theme, this.theme)),
      element("label", { class: "checked" }, this.presents, say.presented),
      field(say.note, this.note),
      field(say.question, this.question),
      field(say.answer, this.answer),
      this.right,
      element("details", {}, element("summary", {}, say.embed), field(say.snippet, this.snippet, button(say.copySnippet, () => this.#copy(this.snippet))), element("p", { class: "note" }, say.src)),
      element("form", { method: "dialog" }, element("button", {}, header.close)),
    );
  }

  /**
   * Show the link to the current state.
   * @param {Framing} framing @param {{ isLesson: boolean, hasLesson: boolean }} subject whether a chapter is shown, and whether there are any
   */
  open(framing, { isLesson, hasLesson }) {
    if (framing !== this.framing) this.#take(framing);
    const chapters = hasLesson ? CHAPTERS.map(({ key }) => option(key, lesson.chapters[key].title)) : [];
    const wanted = this.start.value;
    fill(this.start, option(HERE, say.here), isLesson ? null : option(BEGIN, say.begin), ...chapters);
    if ([...this.start.options].some(({ value }) => value === wanted)) this.start.value = wanted;
    this.element.showModal();
    this.#show();
  }

  /** Fill the fields with the framing of this page. @param {Framing} framing */
  #take(framing) {
    this.framing = framing;
    this.language.value = framing.language;
    this.theme.value = framing.theme === "auto" ? "" : (framing.theme ?? "");
    this.presents.checked = framing.isPresented;
    this.note.value = framing.note;
    this.question.value = framing.question;
    this.answer.value = "";
  }

  /** The framing in the fields. @returns {Framing} */
  get #framing() {
    const [note, question, typed] = [this.note, this.question, this.answer].map(({ value }) => value.trim());
    const kept = question === this.framing.question ? this.framing.answer : ""; // the encoded answer cannot be read, but can be passed on
    return {
      ...unframed(),
      language: this.language.value,
      theme: /** @type {Theme | ""} */ (this.theme.value) || null,
      note,
      question,
      answer: question && typed ? encodedAnswer(typed, question) : kept,
      isPresented: this.presents.checked,
    };
  }

  #show() {
    const [framing, start] = [this.#framing, this.start.value];
    const page = location.href.split("#")[0];
    this.link.value = `${page}#${this.fragmentOf(start, framing)}`;
    const file = location.protocol === "file:" ? page.slice(page.lastIndexOf("/") + 1) : page;
    const source = `${file}#${this.fragmentOf(start, { ...framing, isEmbedded: true, isPresented: false })}`;
    this.snippet.value = `<iframe src="${source.replaceAll("&", "&amp;")}" title="gradwalk" width="100%" height="600" style="border: 0"></iframe>`;
    this.answer.disabled = !framing.question;
    write(this.right, this.#understood(framing));
  }

  /** Describe which answers are accepted. @param {Framing} framing */
  #understood({ question, answer }) {
    if (!question) return say.noQuestion;
    if (!answer) return say.noAnswer;
    const ways = waysIn(this.answer.value);
    if (!ways.length) return say.keptAnswer;
    return say.counts(ways.map(({ number, isExact, word }) => {
      return number === null ? say.word(word) : isExact ? say.exactly(word) : say.rounded(word);
    }));
  }

  /** @param {HTMLTextAreaElement} text */
  async #copy(text) {
    try {
      await navigator.clipboard.writeText(text.value);
      write(this.told, say.copied);
    } catch {
      text.select(); // if the clipboard is not available, the reader can copy the selection
      write(this.told, say.notCopied);
    }
    window.setTimeout(() => write(this.told, ""), COPIED);
  }
}

/** @param {string} value @param {string} title */
function option(value, title) {
  return element("option", { value }, title);
}

/** @param {string} name @param {HTMLElement} control @param {...HTMLElement} beside */
function field(name, control, ...beside) {
  set(control, "aria-label", name); // inside a label, the accessible name of a select would include its options
  return element("div", { class: "row" }, element("label", {}, element("span", {}, name), control), ...beside);
}
