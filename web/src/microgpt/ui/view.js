// What there is to see: an opened name, and what of it the visitor has chosen.

/** @typedef {import("../document.js").Lesson} Lesson */
/** @typedef {import("../protocol.js").Opened} Opened */
/** @typedef {import("../protocol.js").Path} Path */
/** @typedef {import("./address.js").Choices} Choices */

export class View {
  /**
   * @param {Lesson} lesson @param {Opened} opened @param {Choices} choices
   * @param {Path | null} path that is marked
   * @param {boolean} isRunning whether training goes on, and the next view comes soon
   */
  constructor(lesson, opened, choices, path, isRunning) {
    this.lesson = lesson;
    this.opened = opened;
    this.choices = choices;
    this.path = path;
    this.onPath = new Set(path?.nodes);
    this.isRunning = isRunning;
    this.places = opened.tokens.length;
    this.place = Math.min(choices.place, this.places - 1);
    this.selected = this.find(choices.node);
  }

  /** What the cells show of each node. */
  get numbers() {
    return this.opened[this.choices.shows];
  }

  /** The node of a name; -1 where this name's computation has none. @param {string} name */
  find(name) {
    const node = this.lesson.program.find(name);
    return node >= 0 && Number.isNaN(this.opened.data[node]) ? -1 : node;
  }

  /** The letter that is read at a place; "" for the start. @param {number} place */
  read(place) {
    return place ? this.lesson.letter(this.opened.tokens[place]) : "";
  }

  /** Whether the end is what follows at a place. @param {number} place */
  isEnd(place) {
    return this.opened.targets[place] === this.lesson.end;
  }

  /** The letter that follows at a place; "" for the end. @param {number} place */
  target(place) {
    return this.isEnd(place) ? "" : this.lesson.letter(this.opened.targets[place]);
  }

  /** The probabilities of all letters to follow at a place, the end last. @param {number} place */
  probabilities(place) {
    const logits = Array.from({ length: this.lesson.end + 1 }, (_, letter) => this.opened.data[this.find(`place${place}.logit.${letter}`)]);
    const largest = Math.max(...logits);
    const sizes = logits.map((logit) => Math.exp(logit - largest));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return sizes.map((size) => size / total);
  }

  /** How much a head looks at each place from one. @param {number} head @param {number} place */
  attention(head, place) {
    const nodes = Array.from({ length: place + 1 }, (_, seen) => this.find(`place${place}.attention.head${head}.weight.${seen}`));
    return nodes.map((node) => this.opened.data[node]);
  }

  /** The name of the weight of the place that a head looks at most. @param {number} head @param {number} place */
  largestWeight(head, place) {
    return `place${place}.attention.head${head}.weight.${largestOf(this.attention(head, place))}`;
  }
}

/** Where the largest of some numbers is. @param {readonly number[]} numbers */
export function largestOf(numbers) {
  return numbers.reduce((best, number, i) => (number > numbers[best] ? i : best), 0);
}
