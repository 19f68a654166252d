// The walk's controls: a step on or back, all of them, from the start; play; a timeline; and what the last step did.

import { button, element, fill, icon, set, write } from "../dom.js";
import { transport as say } from "../english/page.js";
import { stepSentence } from "../walk/words.js";

// Milliseconds a step, by the name of the speed.
const SPEEDS = { slow: 3000, normal: 1500, fast: 500, fastest: 60 };

const LONG = 150; // letters of a sentence that may have to be scrolled

const ICONS = {
  start: "M2 2h2v12H2zM12 2l2 2-4 4 4 4-2 2-6-6z",
  back: "M10 2l2 2-4 4 4 4-2 2-6-6z",
  next: "M6 2L4 4l4 4-4 4 2 2 6-6z",
  end: "M12 2h2v12h-2zM4 2L2 4l4 4-4 4 2 2 6-6z",
  play: "M4 2v12l10-6z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
};

export class Transport {
  /** @param {(change: Partial<import("../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    this.position = 0;
    this.last = 0;
    this.timer = 0;
    /** @type {import("../model/state.js").Mode} */
    this.mode = "walk";
    /** @type {import("../core/graph.js").Graph | null} */
    this.graph = null;
    const go = (/** @type {() => number} */ to) => () => this.#go(to());
    this.buttons = {
      start: button(icon(ICONS.start), go(() => 0), { "aria-label": say.start, title: say.startKey }),
      back: button(icon(ICONS.back), go(() => this.position - 1), { "aria-label": say.back, title: say.backKey }),
      play: button("", () => this.toggle(), { title: say.playKey }),
      next: button("", go(() => this.position + 1), { class: "main", title: say.nextKey }),
      end: button(icon(ICONS.end), go(() => this.last), { "aria-label": say.end, title: say.endKey }),
    };
    face(this.buttons.play, ICONS.play, say.play);
    face(this.buttons.next, ICONS.next, say.next);
    this.timeline = element("input", {
      type: "range",
      class: "timeline",
      min: 0,
      step: 1,
      "aria-label": say.timeline,
      oninput: () => this.#go(this.timeline.valueAsNumber),
    });
    const options = Object.entries(say.speeds).map(([name, title]) =>
      element("option", { value: name, selected: name === "normal" }, title),
    );
    this.speed = element("select", { "aria-label": say.speed, onchange: () => this.#changeSpeed() }, ...options);
    this.phase = element("p", { class: "phase", id: "phase" });
    this.sentence = element("p", { class: "sentence", "aria-live": "polite" });
    const { start, back, play, next, end } = this.buttons;
    this.controls = element("div", { class: "buttons" }, start, back, next, end, this.timeline, play, this.speed);
    this.told = element("div", { class: "told", role: "group", "aria-labelledby": "phase" }, this.phase, this.sentence);
    this.element = element("section", { class: "transport", "aria-label": say.title }, this.told, this.controls);
  }

  /** @param {import("../model/model.js").Model} model */
  update({ state, graph, shown, moment, last }) {
    if (state.mode !== this.mode || graph !== this.graph) this.stop();
    [this.mode, this.graph] = [state.mode, graph];
    this.controls.hidden = state.mode === "exercises" && moment.position < last; // they would give the answer away
    this.position = moment.position;
    this.last = last;
    if (this.position === last) this.stop();
    const { start, back, play, next, end } = this.buttons;
    for (const control of [start, back]) disable(control, this.position === 0);
    for (const control of [play, next, end]) disable(control, this.position === last);
    set(this.timeline, "max", last);
    this.timeline.value = String(this.position);
    const forward = shown.forward.length;
    this.timeline.style.setProperty("--split", `${(100 * forward) / Math.max(shown.steps.length, 1)}%`);
    const phase = say.phase(moment.phase, this.position, forward, shown.backward.length);
    set(this.timeline, "aria-valuetext", phase);
    set(this.phase, "data-phase", moment.phase);
    write(this.phase, phase);
    const step = shown.steps[this.position - 1];
    const sentence = step ? stepSentence(shown, step) : say.nothing;
    write(this.sentence, sentence);
    set(this.told, "tabindex", sentence.length > LONG && 0);
  }

  /** Play where the walk stands still, stop where it plays. */
  toggle() {
    if (this.timer) this.stop();
    else if (this.position < this.last) this.#play();
  }

  /** Stop playing. */
  stop() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.#showPlaying();
  }

  #play() {
    const name = /** @type {keyof typeof SPEEDS} */ (this.speed.value);
    this.timer = window.setInterval(() => this.act({ position: this.position + 1 }), SPEEDS[name]);
    this.#showPlaying();
    this.act({ position: this.position + 1 });
  }

  #showPlaying() {
    face(this.buttons.play, this.timer ? ICONS.pause : ICONS.play, this.timer ? say.pause : say.play);
    set(this.sentence, "aria-live", this.timer ? "off" : "polite"); // nobody can listen that fast
  }

  #changeSpeed() {
    if (!this.timer) return;
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
 * Give a button a sign and a word; where there is little room, only the sign shows.
 * @param {HTMLButtonElement} control @param {string} shape @param {string} word
 */
function face(control, shape, word) {
  fill(control, icon(shape), element("span", { class: "word" }, word));
  set(control, "aria-label", word);
}

/**
 * Say that a control does nothing now, but leave it where the focus is: a disabled button would lose it.
 * @param {HTMLButtonElement} control @param {boolean} isDisabled
 */
function disable(control, isDisabled) {
  set(control, "aria-disabled", isDisabled && "true");
}
