// The data to show: an opened name and the visitor's choices.

/** @typedef {import("../document.js").Lesson} Lesson */
/** @typedef {import("../protocol.js").Opened} Opened */
/** @typedef {import("../protocol.js").Path} Path */
/** @typedef {import("./address.js").Choices} Choices */

export class View {
  /**
   * @param {Lesson} lesson @param {Opened} opened @param {Choices} choices
   * @param {Path | null} path the marked path
   * @param {boolean} isRunning whether training is running, so that the next view follows soon
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

  /** The numbers that the cells show, by node. */
  get numbers() {
    return this.opened[this.choices.shows];
  }

  /** Return the node with a name; -1 if the opened name does not use it. @param {string} name */
  find(name) {
    const node = this.lesson.program.find(name);
    return node >= 0 && Number.isNaN(this.opened.data[node]) ? -1 : node;
  }

  /** Return the letter that is read at a place; "" for the start. @param {number} place */
  read(place) {
    return place ? this.lesson.letter(this.opened.tokens[place]) : "";
  }

  /** Return whether the name ends after a place. @param {number} place */
  isEnd(place) {
    return this.opened.targets[place] === this.lesson.end;
  }

  /** Return the letter that follows a place; "" for the end. @param {number} place */
  target(place) {
    return this.isEnd(place) ? "" : this.lesson.letter(this.opened.targets[place]);
  }

  /** Compute the predicted probabilities of all letters after a place, and of the end, which comes last. @param {number} place */
  probabilities(place) {
    const logits = Array.from({ length: this.lesson.end + 1 }, (_, letter) => this.opened.data[this.find(`place${place}.logit.${letter}`)]);
    const largest = Math.max(...logits);
    const sizes = logits.map((logit) => Math.exp(logit - largest));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    return sizes.map((size) => size / total);
  }

  /** Return the attention weights of a head at a place, by the place that it attends to. @param {number} head @param {number} place */
  attention(head, place) {
    const nodes = Array.from({ length: place + 1 }, (_, seen) => this.find(`place${place}.attention.head${head}.weight.${seen}`));
    return nodes.map((node) => this.opened.data[node]);
  }

  /** Return the name of the largest attention weight of a head at a place. @param {number} head @param {number} place */
  largestWeight(head, place) {
    return `place${place}.attention.head${head}.weight.${largestOf(this.attention(head, place))}`;
  }
}

/** Return the index of the largest number. @param {readonly number[]} numbers */
export function largestOf(numbers) {
  return numbers.reduce((best, number, i) => (number > numbers[best] ? i : best), 0);
}
