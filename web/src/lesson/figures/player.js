// Plays the steps of a figure one after the other.

export const reduced = matchMedia("(prefers-reduced-motion: reduce)");

export class Player {
  #timer = 0;

  /**
   * Call a function now and after each pause until it returns false. If the reader prefers reduced motion, there are no
   * pauses.
   * @param {() => boolean} step returns whether there is another step @param {number} pause in milliseconds
   */
  start(step, pause) {
    this.stop();
    if (reduced.matches) while (step());
    else this.#play(step, pause);
  }

  /** Return whether steps remain. */
  get isPlaying() {
    return this.#timer !== 0;
  }

  stop() {
    window.clearTimeout(this.#timer);
    this.#timer = 0;
  }

  /** @param {() => boolean} step @param {number} pause */
  #play(step, pause) {
    this.#timer = 0;
    if (step()) this.#timer = window.setTimeout(() => this.#play(step, pause), pause);
  }
}
