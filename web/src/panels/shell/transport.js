// The controls of the walk (start, back, next, end, play, timeline), and a sentence about the last step.

import { button, element, fill, icon, select, set, write } from "../../dom.js";
import { folds, training, transport as say } from "../../languages/languages.js";
import { said } from "../../core/names.js";
import { short } from "../../core/numbers.js";
import { stepSentence } from "../../walk/words.js";

// Milliseconds per step, by the name of the speed.
const SPEEDS = { slow: 3000, normal: 1500, fast: 500, fastest: 60 };

// Duration of the animation of a contribution, in milliseconds; 0 for none.
const PACES = { slow: 2600, normal: 1300, fast: 500, fastest: 0 };

const LEAST_REST = 0.25; // minimum pause after the animation, as a share of the time of a step

const ICONS = {
  start: "M2 2h2v12H2zM12 2l2 2-4 4 4 4-2 2-6-6z",
  back: "M10 2l2 2-4 4 4 4-2 2-6-6z",
  next: "M6 2L4 4l4 4-4 4 2 2 6-6z",
  end: "M12 2h2v12h-2zM4 2L2 4l4 4-4 4 2 2 6-6z",
  play: "M4 2v12l10-6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
};

export class Transport {
  /**
   * @param {(change: Partial<import("../../model/state.js").State>) => void} act
   * @param {() => Promise<void>} settled resolves when the last step has been shown
   */
  constructor(act, settled) {
    this.act = act;
    this.settled = settled;
    this.position = 0;
    this.last = 0;
    /** @type {object | null} identifies the current playback, if any */
    this.playing = null;
    /** @type {import("../../model/state.js").Mode} */
    this.mode = "walk";
    /** @type {import("../../core/graph.js").Graph | null} */
    this.graph = null;
    const go = (/** @type {() => number} */ to) => () => this.#go(to());
    this.buttons = {
      start: button(icon(ICONS.start), go(() => 0), { "aria-label": say.start, title: say.startKey }),
      back: button(icon(ICONS.back), go(() => this.position - 1), { "aria-label": say.back, title: say.backKey }),
      play: button("", () => this.toggle(), { title: say.playKey }),
      next: button("", go(() => (this.position === this.last ? 0 : this.position + 1)), { class: "main" }),
      end: button(icon(ICONS.end), go(() => this.last), { "aria-label": say.end, title: say.endKey }),
    };
    face(this.buttons.play, ICONS.play, say.play);
    this.timeline = element("input", {
      type: "range",
      class: "timeline",
      min: 0,
      step: 1,
      "aria-label": say.timeline,
      oninput: () => this.#go(this.timeline.valueAsNumber),
    });
    this.speed = select(Object.entries(say.speeds), { "aria-label": say.speed, onchange: () => this.#changeSpeed() });
    this.speed.value = "normal";
    this.phase = element("p", { class: "phase", id: "phase" });
    this.sentence = element("p", { class: "sentence", "aria-live": "polite" });
    /** @type {import("../../types.js").Step | undefined} the last step */
    this.step = undefined;
    this.nothing = say.nothing; // told if there is no last step
    this.isWhole = false;
    this.tellWhole = () => {};
    const turn = () => {
      this.isWhole = !this.isWhole;
      this.tellWhole();
    };
    this.more = button(folds.whole, turn, { class: "link", hidden: true });
    const { start, back, play, next, end } = this.buttons;
    this.controls = element("div", { class: "buttons" }, start, back, next, end, this.timeline, play, this.speed);
    this.told = element("div", { class: "told", role: "group", "aria-labelledby": "phase" }, this.phase, this.sentence, this.more);
    this.element = element("section", { class: "transport", "aria-label": say.title }, this.told, this.controls);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ state, graph, shown, moment, last, stored, isFinished }) {
    if (state.mode !== this.mode || graph !== this.graph) this.stop();
    [this.mode, this.graph] = [state.mode, graph];
    const wouldTell = state.mode === "exercises" && moment.position < last; // the remaining steps would give the answer away
    this.controls.hidden = wouldTell || state.chapter !== ""; // the lesson has its own buttons
    this.position = moment.position;
    this.last = last;
    if (this.position === last) this.stop();
    const { start, back, next, end } = this.buttons;
    for (const control of [start, back]) disable(control, this.position === 0);
    disable(end, this.position === last);
    const isOver = this.position === last;
    face(next, isOver ? ICONS.start : ICONS.next, isOver ? say.again : say.next);
    set(next, "title", isOver ? null : say.nextKey);
    set(this.timeline, "max", last);
    this.timeline.value = String(this.position);
    const forward = shown.graph.nodes.length;
    const share = (/** @type {number} */ steps) => `${(100 * steps) / shown.length}%`;
    this.timeline.style.setProperty("--split", share(forward));
    this.timeline.style.setProperty("--seeded", share(shown.seeded));
    const phase = say.phase(moment.phase, this.position, forward, shown.order.length);
    set(this.timeline, "aria-valuetext", phase);
    set(this.phase, "data-phase", moment.phase);
    write(this.phase, phase);
    const step = isFinished ? undefined : shown.step(this.position);
    this.nothing = isFinished ? say.finished(said(graph.nodes[graph.root].name)) : say.nothing;
    if (step !== this.step) this.isWhole = false;
    this.step = step;
    const before = stored.get(moment.active ?? -1); // gradients from before the pass, if zero_grad was not called
    const isOnTop = before !== undefined && step?.kind === "backward";
    const onTop = isOnTop ? ` ${training.onTop(short(before), short(Number(moment.gradients[step.place])))}` : "";
    this.tellWhole = () => this.#tell(shown, onTop);
    this.#tell(shown, onTop);
  }

  /**
   * Describe the last step. Long names and lists are folded until the reader asks for all.
   * @param {import("../../walk/steps.js").Walk} walk @param {string} onTop a sentence about gradients from before the pass
   */
  #tell(walk, onTop) {
    const sentence = (this.step ? stepSentence(walk, this.step, this.isWhole) : this.nothing) + onTop;
    write(this.sentence, sentence);
    this.more.hidden = !this.step || (!this.isWhole && sentence === stepSentence(walk, this.step) + onTop);
    write(this.more, this.isWhole ? folds.less : folds.whole);
    set(this.told, "tabindex", this.told.scrollHeight > this.told.clientHeight && 0); // makes an overflowing text scrollable by keyboard
  }

  /** Start or stop playing. */
  toggle() {
    if (this.playing) return this.stop();
    if (this.position === this.last) this.#go(0);
    return this.#play();
  }

  /** Duration of the animation of a contribution at the chosen speed, in milliseconds. */
  get pace() {
    return PACES[this.#speed];
  }

  get #speed() {
    return /** @type {keyof typeof SPEEDS} */ (this.speed.value);
  }

  /** Stop playing. */
  stop() {
    this.playing = null;
    this.#showPlaying();
  }

  async #play() {
    const playing = (this.playing = {});
    const time = SPEEDS[this.#speed];
    this.#showPlaying();
    while (this.playing === playing) {
      const began = performance.now();
      this.act({ position: this.position + 1 });
      await this.settled();
      const rest = Math.max(time - (performance.now() - began), time * LEAST_REST);
      await new Promise((resolve) => window.setTimeout(resolve, rest));
    }
  }

  #showPlaying() {
    face(this.buttons.play, this.playing ? ICONS.pause : ICONS.play, this.playing ? say.pause : say.play);
    set(this.sentence, "aria-live", this.playing ? "off" : "polite"); // too fast for a screen reader
  }

  #changeSpeed() {
    if (!this.playing) return;
    this.stop();
    this.#play();
  }

  /** @param {number} position */
  #go(position) {
    this.stop();
    this.act({ position: Math.min(Math.max(position, 0), this.last) });
  }
}

/**
 * Give a button an icon and a word; on small screens only the icon shows.
 * @param {HTMLButtonElement} control @param {string} shape @param {string} word
 */
function face(control, shape, word) {
  if (control.getAttribute("aria-label") === word) return;
  fill(control, icon(shape), element("span", { class: "word" }, word));
  set(control, "aria-label", word);
}

/**
 * Mark a control as disabled with ARIA: the `disabled` attribute would make it lose the focus.
 * @param {HTMLButtonElement} control @param {boolean} isDisabled
 */
function disable(control, isDisabled) {
  set(control, "aria-disabled", isDisabled && "true");
}
