// The lesson beside the stage: one beat at a time, with its text and a question or a figure.

import { button, element, fill, set, write } from "../dom.js";
import { lesson as say } from "../languages/languages.js";
import { CHAPTERS, chapterOf, departureOf, FURTHER, ROUTE, stageOf } from "../model/chapters.js";
import { answersTo, record } from "../model/exercises/results.js";
import { HandIn } from "../panels/exercises/hand_in.js";
import { rich } from "../rich.js";
import { wrongSentence } from "../walk/words.js";
import { Beside } from "./figures/beside.js";
import { Count } from "./figures/count.js";
import { Descent } from "./figures/descent.js";
import { Lab } from "./figures/lab.js";
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
 * @typedef {{ text: string, paper: string, right: string }} OrderWords `paper`: the text in the printed handout
 * @typedef {string | NumberWords | ChoiceWords | OrderWords} Words
 */

export class Guide {
  /**
   * @param {(change: Partial<State>, from?: number | null) => void} act
   * @param {Panel} puzzle the order puzzle, for the question about it
   */
  constructor(act, puzzle) {
    this.act = act;
    this.puzzle = puzzle;
    this.shown = "";
    /** @type {Model | null} */
    this.model = null;
    const kept = answersTo("lesson");
    /** @type {Set<string>} beats whose question has been answered, now or in an earlier visit */
    this.answered = new Set([...kept].filter(([, { isRight, answer }]) => isRight || !answer).map(([key]) => key));
    /** @type {import("./question.js").Asked | null} */
    this.asked = null;
    /** @type {Map<string, string>} the answers in the fields of the beats that are not shown */
    this.drafts = new Map(Array.from(kept, ([key, { answer }]) => [key, answer]));
    /** @type {(Panel & { close?: () => void, begin?: () => void, marks?: Search["marks"] }) | null} */
    this.figure = null;
    this.number = element("p", { class: "number" });
    this.title = element("h2", { tabindex: -1 });
    this.resume = button("", () => {}, { class: "resume", hidden: true });
    this.words = element("div", { class: "words", "aria-live": "polite" });
    this.beside = element("div", { class: "beside-words" });
    this.verdict = element("p", { class: "feedback", role: "status" });
    this.recap = element("p", { class: "recap", role: "status" });
    /** Verdict and the sentence to keep, above the buttons, where they are always in view. */
    this.dock = element("div", { class: "dock" });
    this.after = element("div", { class: "after" });
    this.handIn = new HandIn();
    this.handing = element("details", { class: "handing" }, element("summary", {}, say.handIn), this.handIn.element);
    /** @type {Chapter | null} the chapter whose end is shown */
    this.ended = null;
    /** @type {import("../walk/steps.js").Walk | null} the walk of the order that was run last */
    this.judged = null;
    this.back = button(say.back, () => this.goBack());
    this.next = button(say.next, () => this.goOn(), { class: "main" });
    this.at = element("span", { class: "at note" });
    this.contents = new Map(ROUTE.map((chapter) => [chapter, this.#link(chapter, { class: "chapter" })]));
    const chapters = element("nav", { class: "contents", "aria-label": say.contents }, ...this.contents.values());
    const body = element("div", { class: "body" }, this.number, this.title, this.words, this.resume, this.beside, this.after, this.handing);
    const foot = element("div", { class: "foot" }, this.dock, this.back, this.at, this.next);
    this.element = element("section", { class: "guide", "aria-label": say.title }, chapters, body, foot);
    this.body = body;
    fitted(body, [this.words, this.beside, this.after]);
  }

  /** @param {Model} model */
  update(model) {
    this.model = model;
    const { chapter: key, beat, done } = model.state;
    const chapter = chapterOf(key);
    if (!chapter) return;
    if (this.shown !== idOf(chapter, beat)) this.#show(chapter, beat);
    this.asked?.update(model.graph);
    this.figure?.update(model);
    if (chapter.beats[beat].ask?.kind === "order") this.#judgeOrder(model);
    for (const [other, link] of this.contents) {
      set(link, "aria-current", other === chapter && "step");
      set(link, "data-done", done.includes(other.key));
    }
    this.#showFoot(chapter, beat);
  }

  /** Offer to continue at a place of an earlier visit. @param {import("../model/preferences.js").Place | null} place */
  offer(place) {
    const chapter = place && chapterOf(place.chapter);
    const isAhead = chapter && (chapter !== ROUTE[0] || place.beat > 0);
    this.resume.hidden = !isAhead;
    if (!isAhead) return;
    write(this.resume, say.resume(say.chapters[chapter.key].title));
    this.resume.onclick = () => this.#enter(chapter, place.beat, place.done);
  }

  /** Return the open question, or null. @param {Model} model @returns {import("../model/chapters.js").Question | null} */
  openIn(model) {
    const { chapter: key, beat } = model.state;
    const chapter = chapterOf(key);
    const ask = chapter?.beats[beat].ask;
    if (!chapter || !ask || this.answered.has(idOf(chapter, beat))) return null;
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
    const following = followingOf(chapter);
    return following ? this.#enter(following, 0) : undefined;
  }

  /** Go to the previous beat, or to the end of the previous chapter. */
  goBack() {
    const { chapter, beat } = this.#here();
    const at = ROUTE.indexOf(chapter);
    const before = at < 0 ? ROUTE.at(-1) : ROUTE[at - 1];
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
    const { chapter: before, beat: last } = this.#here();
    const isLater = chapter === before ? beat > last : CHAPTERS.indexOf(chapter) > CHAPTERS.indexOf(before);
    const from = isLater ? departureOf(chapter, beat, this.#state) : null;
    const stage = stageOf(chapter, beat, this.answered.has(idOf(chapter, beat)));
    this.act({ ...stage, done: this.#doneAt(chapter, beat, done) }, from);
    if (chapter !== before) this.title.focus();
    if (isLater) this.figure?.begin?.();
  }

  /** @param {Chapter} chapter @param {number} number of the beat */
  #show(chapter, number) {
    this.close();
    if (this.asked) this.drafts.set(this.shown, this.asked.draft);
    this.shown = idOf(chapter, number);
    const { ask, key, figure } = chapter.beats[number];
    const words = wordsOf(chapter, key);
    const isStart = chapter === ROUTE[0] && number === 0;
    const isShort = ROUTE.includes(chapter); // its minutes are above
    write(this.number, isStart ? say.minutesInAll(minutesOf(ROUTE)) : isShort ? "" : say.minutes(chapter.minutes));
    write(this.title, say.chapters[chapter.key].title);
    set(this.title, "data-again", number > 0);
    if (!isStart) this.resume.hidden = true;
    fill(this.words, element("p", {}, ...rich(typeof words === "string" ? words : words.text)));
    this.figure = figure ? this.#figure(figure) : null;
    this.asked = this.#ask(ask, words, chapter !== ROUTE[0] || number > 2);
    if (this.asked) this.asked.draft = this.drafts.get(this.shown) ?? "";
    set(this.verdict, "data-verdict", "");
    fill(this.verdict);
    const puzzle = ask?.kind === "order" ? this.puzzle.element : null;
    fill(this.beside, this.figure?.element, this.asked?.element, puzzle);
    fill(this.dock, this.asked?.told ?? this.verdict, this.recap);
    for (const scrolled of [this.body, this.element.closest(".frame")]) scrolled?.scrollTo(0, 0);
  }

  /** @param {Figure} figure */
  #figure(figure) {
    if (figure.kind === "nudge") return new Nudge(figure, this.act);
    if (figure.kind === "tangent") return new Tangent(figure, this.act);
    if (figure.kind === "beside") return new Beside(figure);
    if (figure.kind === "search") return new Search(this.act);
    if (figure.kind === "quotient") return new Quotient(figure, this.act);
    if (figure.kind === "count") return new Count(this.act);
    if (figure.kind === "lab") return new Lab(figure, this.act);
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
   * Record an answer to the open question. Once the question is settled, the stage shows everything and moves on.
   * @param {string} answer "" if the answer was shown @param {boolean} isRight @param {boolean} isSettled
   */
  #take(answer, isRight, isSettled) {
    if (this.answered.has(this.shown)) return;
    this.#record(answer, isRight);
    if (!isSettled) return;
    this.answered.add(this.shown);
    const { chapter, beat } = this.#here();
    const { done, position: from } = this.#state;
    const { ask, then } = chapter.beats[beat];
    const { position, values } = ask?.kind === "order" ? this.#state : stageOf(chapter, beat, true);
    this.act({ position, values, done: this.#doneAt(chapter, beat, done) }, then?.values ? 0 : from);
  }

  /** @param {string} answer @param {boolean} isRight */
  #record(answer, isRight) {
    record({ kind: "lesson", key: this.shown, answer, isRight, hinted: false });
  }

  /** Check the order puzzle and record the answer. @param {Model} model */
  #judgeOrder(model) {
    this.puzzle.update(model);
    const isRun = isWhole(model);
    const isRight = isSolved(model);
    const { chapter, beat } = this.#here();
    const words = /** @type {OrderWords} */ (wordsOf(chapter, chapter.beats[beat].key));
    const verdict = isRun ? (isRight ? "right" : "wrong") : "";
    set(this.verdict, "data-verdict", verdict);
    if (!isRun) fill(this.verdict);
    if (!isRun || model.shown === this.judged) return;
    this.judged = model.shown;
    const told = isRight ? rich(`${say.right} ${words.right}`) : [wrongSentence(model.shown, /** @type {import("../walk/losses.js").WrongGradient} */ (model.shown.wrong.at(-1)))];
    fill(this.verdict, element("span", {}, ...told));
    if (this.answered.has(this.shown)) return;
    this.#record(model.state.order.join(", "), isRight);
    if (isRight) this.answered.add(this.shown);
  }

  /** Show the answer to the question. */
  #reveal() {
    const { chapter, beat } = this.#here();
    this.#take("", false, true);
    if (chapter.beats[beat].ask?.kind === "order") {
      const { graph, walk } = /** @type {Model} */ (this.model);
      this.act({ order: walk.order.map((place) => graph.nodes[place].name), position: Infinity }, walk.seeded);
    } else {
      this.asked?.show();
    }
  }

  /** Return the completed chapters once a beat is shown: the last beat completes its chapter. @param {Chapter} chapter @param {number} beat @param {readonly string[]} done */
  #doneAt(chapter, beat, done) {
    const isEnd = beat + 1 === chapter.beats.length && this.#isAnswered(chapter, beat);
    return isEnd ? [...new Set([...done, chapter.key])] : done;
  }

  /** @param {Chapter} chapter @param {number} beat */
  #isAnswered(chapter, beat) {
    return chapter.beats[beat].ask === undefined || this.answered.has(idOf(chapter, beat));
  }

  /** @param {Chapter} chapter @param {number} beat */
  #showFoot(chapter, beat) {
    const isLast = beat + 1 === chapter.beats.length;
    const isAnswered = this.#isAnswered(chapter, beat);
    write(this.at, placeOf(chapter, beat));
    write(this.next, !isAnswered ? say.show : isLast ? say.nextChapter : say.next);
    set(this.next, "class", isAnswered ? "main" : null);
    this.next.hidden = isLast && isAnswered && !followingOf(chapter);
    set(this.back, "aria-disabled", beat === 0 && chapter === ROUTE[0] && "true");
    this.#showEnd(isLast && isAnswered ? chapter : null);
  }

  /** Show the sentence to keep, and the chapters to go further with after the lesson. @param {Chapter | null} ended the chapter that ends here, if any */
  #showEnd(ended) {
    const isFurther = ended !== null && !followingOf(ended);
    this.handIn.update();
    this.handing.hidden = !isFurther || this.handIn.element.hidden;
    if (ended === this.ended) return;
    this.ended = ended;
    fill(this.recap, ...(ended ? rich(say.chapters[ended.key].recap) : []));
    fill(this.after, ...(isFurther ? this.#further(ended) : []));
  }

  /** Create the list of the chapters to go further with. @param {Chapter} current */
  #further(current) {
    const { done } = this.#state;
    const items = FURTHER.filter((chapter) => chapter !== current).map((chapter) =>
      element("li", { "data-done": done.includes(chapter.key) }, this.#link(chapter, { class: "further" })),
    );
    return [element("h3", {}, say.further), element("ul", {}, ...items)];
  }

  /** Create a button that opens a chapter. @param {Chapter} chapter @param {Parameters<typeof button>[2]} properties */
  #link(chapter, properties) {
    const { title } = say.chapters[chapter.key];
    const minutes = say.minutes(chapter.minutes);
    const name = element("span", { class: "name" }, title);
    const link = button("", () => this.#enter(chapter, 0), { ...properties, title: `${title}, ${minutes}` });
    link.append(name, element("span", { class: "minutes" }, minutes));
    return link;
  }
}

/** Return the identifier of a beat, which answers are stored with. @param {Chapter} chapter @param {number} beat */
function idOf({ key, beats }, beat) {
  return `${key}.${beats[beat].key}`;
}

/** Return the chapter that follows, if any: chapters to go further with are read in any order. @param {Chapter} chapter */
function followingOf(chapter) {
  return ROUTE[ROUTE.indexOf(chapter) + 1 || ROUTE.length];
}

/** @param {readonly Chapter[]} chapters */
function minutesOf(chapters) {
  return chapters.reduce((sum, { minutes }) => sum + minutes, 0);
}

/** Return the number of a screen and the number of all screens, of the lesson or of a further chapter. @param {Chapter} chapter @param {number} beat */
function placeOf(chapter, beat) {
  const at = ROUTE.indexOf(chapter);
  const screens = (/** @type {readonly Chapter[]} */ chapters) => chapters.reduce((sum, { beats }) => sum + beats.length, 0);
  return at < 0 ? say.beat(beat + 1, chapter.beats.length) : say.beat(screens(ROUTE.slice(0, at)) + beat + 1, screens(ROUTE));
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
