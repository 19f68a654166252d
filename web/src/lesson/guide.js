// The lesson beside the stage: one beat at a time, with its text and a question or a figure.

import { button, element, fill, set, write } from "../dom.js";
import { lesson as say } from "../languages/languages.js";
import { CHAPTERS, chapterOf, stageOf } from "../model/chapters.js";
import { record } from "../model/exercises/results.js";
import { HandIn } from "../panels/exercises/hand_in.js";
import { rich } from "../rich.js";
import { Beside } from "./figures/beside.js";
import { Count } from "./figures/count.js";
import { Descent } from "./figures/descent.js";
import { Nudge } from "./figures/nudge.js";
import { Quotient } from "./figures/quotient.js";
import { Search } from "./figures/search.js";
import { Tangent } from "./figures/tangent.js";
import { fitted, showsMore } from "./fit.js";
import { Choice, NumberForm } from "./question.js";

/** @typedef {import("../model/model.js").Model} Model */
/** @typedef {import("../model/state.js").State} State */
/** @typedef {import("../model/chapters.js").Chapter} Chapter */
/** @typedef {import("../model/chapters.js").Figure} Figure */
/** @typedef {import("./question.js").NumberWords} NumberWords */
/** @typedef {import("./question.js").ChoiceWords} ChoiceWords */
/** @typedef {{ element: HTMLElement, update: (model: Model) => void }} Panel */

/**
 * The texts of a beat: one paragraph, or the texts of its question.
 * @typedef {{ text: string, paper: string, right: string, wrong: string }} OrderWords `paper`: the text in the printed handout
 * @typedef {string | NumberWords | ChoiceWords | OrderWords} Words
 */

export class Guide {
  /**
   * @param {(change: Partial<State>) => void} act
   * @param {{ puzzle: readonly Panel[] }} panels the order puzzle, for the question about it
   */
  constructor(act, { puzzle }) {
    this.act = act;
    this.puzzle = puzzle;
    this.shown = "";
    /** @type {Model | null} */
    this.model = null;
    /** @type {Set<string>} beats whose question has been answered */
    this.answered = new Set();
    /** @type {import("./question.js").Asked | null} */
    this.asked = null;
    /** @type {Map<string, string>} the unfinished answers of other beats */
    this.drafts = new Map();
    /** @type {(Panel & { close?: () => void, marks?: Search["marks"] }) | null} */
    this.figure = null;
    this.number = element("p", { class: "number" });
    this.title = element("h2", { tabindex: -1 });
    this.goal = element("p", { class: "goal" });
    this.words = element("div", { class: "words", "aria-live": "polite" });
    this.beside = element("div", { class: "beside-words" });
    this.verdict = element("p", { class: "feedback", role: "status" });
    this.recap = element("div", { class: "recap", role: "status" });
    this.handIn = new HandIn();
    this.handing = element("details", { class: "handing" }, element("summary", {}, say.handIn), this.handIn.element);
    /** @type {import("../walk/steps.js").Walk | null} the walk of the order that was run last */
    this.judged = null;
    this.back = button(say.back, () => this.goBack());
    this.next = button(say.next, () => this.goOn(), { class: "main" });
    this.at = element("span", { class: "at note" });
    this.contents = CHAPTERS.map((chapter, i) => {
      const { title } = say.chapters[chapter.key];
      return button(String(i + 1), () => this.#enter(chapter, 0), { class: "chapter", "aria-label": `${i + 1}. ${title}`, title });
    });
    const chapters = element("nav", { class: "contents", "aria-label": say.contents }, ...this.contents);
    const body = element("div", { class: "body" }, this.number, this.title, this.goal, this.words, this.beside, this.recap, this.handing);
    const foot = element("div", { class: "foot" }, this.back, this.at, this.next);
    this.element = element("section", { class: "guide", "aria-label": say.title }, chapters, body, foot);
    this.body = body;
    fitted(body, [this.words, this.beside, this.recap]);
  }

  /** @param {Model} model */
  update(model) {
    this.model = model;
    const { chapter: key, beat, done } = model.state;
    const chapter = chapterOf(key);
    if (!chapter) return;
    const isNew = this.shown !== `${key}.${beat}`;
    if (isNew) this.#show(chapter, beat);
    this.asked?.update(model.graph);
    this.figure?.update(model);
    if (chapter.beats[beat].ask?.kind === "order") this.#judgeOrder(model);
    this.contents.forEach((item, i) => {
      set(item, "aria-current", CHAPTERS[i] === chapter && "step");
      set(item, "data-done", done.includes(CHAPTERS[i].key));
    });
    this.#showFoot(chapter, beat);
  }

  /** Return the open question, or null. @param {Model} model @returns {import("../model/chapters.js").Question | null} */
  openIn(model) {
    const { chapter: key, beat } = model.state;
    const ask = chapterOf(key)?.beats[beat].ask;
    if (!ask || this.answered.has(`${key}.${beat}`)) return null;
    return ask.kind === "order" && isSolved(model) ? null : ask;
  }

  /** The marks of the figure on the stage, or null. */
  get marks() {
    return this.figure?.marks ?? null;
  }

  /** Go to the next beat or chapter; before that, scroll to hidden text and show the answer to an open question. */
  goOn() {
    if (showsMore(this.body)) return undefined;
    const { chapter, beat } = this.#here();
    if (!this.#isAnswered(chapter, beat)) return this.#reveal();
    if (beat + 1 < chapter.beats.length) return this.#enter(chapter, beat + 1);
    const following = CHAPTERS[CHAPTERS.indexOf(chapter) + 1];
    const done = [...new Set([...this.#state.done, chapter.key])];
    if (following) this.#enter(following, 0, done);
    else this.act({ done });
    return undefined;
  }

  /** Go to the previous beat, or to the end of the previous chapter. */
  goBack() {
    const { chapter, beat } = this.#here();
    const before = CHAPTERS[CHAPTERS.indexOf(chapter) - 1];
    if (beat > 0) this.#enter(chapter, beat - 1);
    else if (before) this.#enter(before, before.beats.length - 1);
  }

  /** Take over the answers and drafts of the guide in another language. @param {Guide} before */
  follow({ answered, drafts, shown, asked }) {
    this.answered = answered;
    this.drafts = drafts;
    if (asked) drafts.set(shown, asked.draft);
  }

  /** Stop the animations of the figure. */
  close() {
    this.figure?.close?.();
  }

  get #state() {
    return /** @type {Model} */ (this.model).state;
  }

  #here() {
    const { chapter, beat } = this.#state;
    return { chapter: /** @type {Chapter} */ (chapterOf(chapter)), beat };
  }

  /** @param {Chapter} chapter @param {number} beat @param {readonly string[]} [done] */
  #enter(chapter, beat, done = this.#state.done) {
    const isElsewhere = chapter.key !== this.#state.chapter;
    const isEnd = chapter === CHAPTERS.at(-1) && beat + 1 === chapter.beats.length;
    this.act({ ...stageOf(chapter, beat), done: isEnd ? [...new Set([...done, chapter.key])] : done });
    if (isElsewhere) this.title.focus();
  }

  /** @param {Chapter} chapter @param {number} number of the beat */
  #show(chapter, number) {
    this.close();
    if (this.asked) this.drafts.set(this.shown, this.asked.draft);
    this.shown = `${chapter.key}.${number}`;
    const { ask, key, figure } = chapter.beats[number];
    const { title, goal } = say.chapters[chapter.key];
    const words = wordsOf(chapter, key);
    write(this.number, say.number(CHAPTERS.indexOf(chapter) + 1, CHAPTERS.length));
    write(this.title, title);
    write(this.goal, number ? "" : goal);
    fill(this.words, element("p", {}, ...rich(typeof words === "string" ? words : words.text)));
    this.figure = figure ? this.#figure(figure) : null;
    this.asked = this.#ask(ask, words, isPathKnown(chapter));
    if (this.asked) this.asked.draft = this.drafts.get(this.shown) ?? "";
    fill(this.verdict);
    const puzzle = ask?.kind === "order" ? [this.verdict, ...this.puzzle.map((panel) => panel.element)] : [];
    fill(this.beside, this.asked?.element, ...puzzle, this.figure?.element);
    this.body.scrollTop = 0;
  }

  /** @param {Figure} figure */
  #figure(figure) {
    if (figure.kind === "nudge") return new Nudge(figure);
    if (figure.kind === "tangent") return new Tangent(figure, this.act);
    if (figure.kind === "beside") return new Beside(figure);
    if (figure.kind === "search") return new Search(this.act);
    if (figure.kind === "quotient") return new Quotient(figure, this.act);
    if (figure.kind === "count") return new Count(this.act);
    return new Descent(figure, this.act);
  }

  /** @param {import("../model/chapters.js").Question | undefined} ask @param {Words} words @param {boolean} diagnoses whether feedback may mention paths */
  #ask(ask, words, diagnoses) {
    const onAnswer = (/** @type {string} */ answer, /** @type {boolean} */ isRight) => this.#take(answer, isRight, isRight);
    if (ask?.kind === "number") return new NumberForm(ask, /** @type {NumberWords} */ (words), diagnoses, onAnswer);
    if (ask?.kind === "choice") return new Choice(ask, /** @type {ChoiceWords} */ (words), onAnswer);
    return null;
  }

  /**
   * Record an answer to the open question. Once the question is settled, the graph shows everything again.
   * @param {string} answer "" if the answer was shown @param {boolean} isRight @param {boolean} isSettled
   */
  #take(answer, isRight, isSettled) {
    if (this.answered.has(this.shown)) return;
    this.#record(answer, isRight);
    if (!isSettled) return;
    this.answered.add(this.shown);
    this.act({});
  }

  /** @param {string} answer @param {boolean} isRight */
  #record(answer, isRight) {
    const { chapter, beat } = this.#here();
    record({ kind: "lesson", key: `${chapter.key}.${chapter.beats[beat].key}`, answer, isRight, hinted: false });
    this.handIn.update();
  }

  /** Check the order puzzle and record the answer. @param {Model} model */
  #judgeOrder(model) {
    for (const panel of this.puzzle) panel.update(model);
    const isRun = isWhole(model);
    const isRight = isSolved(model);
    const { chapter, beat } = this.#here();
    const words = /** @type {OrderWords} */ (wordsOf(chapter, chapter.beats[beat].key));
    set(this.verdict, "data-verdict", isRun && (isRight ? "right" : "wrong"));
    write(this.verdict, isRun ? (isRight ? words.right : words.wrong) : "");
    if (!isRun || model.shown === this.judged || this.answered.has(this.shown)) return;
    this.judged = model.shown;
    this.#record(model.state.order.join(", "), isRight);
    if (isRight) this.answered.add(this.shown);
  }

  /** Show the answer to the question. */
  #reveal() {
    const { chapter, beat } = this.#here();
    this.#take("", false, true);
    if (chapter.beats[beat].ask?.kind === "order") {
      const { graph, walk } = /** @type {Model} */ (this.model);
      this.act({ order: walk.order.map((place) => graph.nodes[place].name), position: Infinity });
    } else {
      this.asked?.show();
    }
  }

  /** @param {Chapter} chapter @param {number} beat */
  #isAnswered({ key, beats }, beat) {
    return beats[beat].ask === undefined || this.answered.has(`${key}.${beat}`);
  }

  /** @param {Chapter} chapter @param {number} beat */
  #showFoot(chapter, beat) {
    const isLast = beat + 1 === chapter.beats.length;
    const isAnswered = this.#isAnswered(chapter, beat);
    const isEnd = isLast && chapter === CHAPTERS.at(-1);
    write(this.at, say.beat(beat + 1, chapter.beats.length));
    write(this.next, !isAnswered ? say.show : isLast ? say.nextChapter : say.next);
    set(this.next, "class", isAnswered ? "main" : null);
    this.next.hidden = isEnd && isAnswered;
    set(this.back, "aria-disabled", beat === 0 && chapter === CHAPTERS[0] && "true");
    this.recap.hidden = !(isLast && isAnswered);
    this.handIn.update();
    this.handing.hidden = this.recap.hidden || this.handIn.element.hidden;
    if (this.recap.hidden) return;
    const { recap } = say.chapters[chapter.key];
    fill(this.recap, element("h3", {}, say.recap), element("p", {}, ...rich(recap)), isEnd ? ways() : null);
  }
}

/** Return whether the lesson has already explained products along paths. @param {Chapter} chapter */
function isPathKnown(chapter) {
  return CHAPTERS.indexOf(chapter) >= CHAPTERS.findIndex(({ key }) => key === "rule");
}

/** Return whether the order puzzle has been run. @param {Model} model */
function isWhole({ isPlaced, state, last }) {
  return isPlaced && state.position === last;
}

/** Return whether the order puzzle was run without losing a contribution. @param {Model} model */
function isSolved(model) {
  return isWhole(model) && !model.shown.wrong.length;
}

/** Return the texts of a beat. @param {Chapter} chapter @param {string} beat its key @returns {Words} */
export function wordsOf(chapter, beat) {
  const { beats } = /** @type {{ beats: Record<string, Words> }} */ (/** @type {unknown} */ (say.chapters[chapter.key]));
  return beats[beat];
}

/** Create the list of things to do after the lesson. */
function ways() {
  const list = say.after.ways.flatMap(([term, what]) => [element("dt", {}, term), element("dd", {}, ...rich(what))]);
  return element("div", { class: "after" }, element("h3", {}, say.after.title), element("dl", {}, ...list));
}
