// The colors of the theme for drawing on a canvas, and the scale of numbers.

import { element } from "../../dom.js";

const NAMES = /** @type {const} */ (["paper", "ink", "faint", "line", "rule", "accent", "share", "positive", "negative", "hairline", "active", "halo"]);

/** @typedef {Record<typeof NAMES[number], string>} Colors */

export class Palette {
  /** @type {Set<() => void>} */
  #listeners = new Set();
  /** @type {Colors | null} */
  #colors = null;

  /** @param {HTMLElement} root element that defines the colors */
  constructor(root) {
    this.probe = element("span", { hidden: true, class: "probe" });
    root.append(this.probe);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => this.changed());
    }
  }

  /** @returns {Colors} */
  get colors() {
    return (this.#colors ??= /** @type {Colors} */ (Object.fromEntries(NAMES.map((name) => [name, this.#read(name)]))));
  }

  /** Call a listener when the colors change. @param {() => void} listener */
  follow(listener) {
    this.#listeners.add(listener);
  }

  /** Notify the listeners of a new theme. */
  changed() {
    this.#colors = null;
    for (const listener of this.#listeners) listener();
  }

  /** @param {string} name */
  #read(name) {
    this.probe.style.color = `var(--${name})`;
    return getComputedStyle(this.probe).color;
  }
}

/** Compute the end of a color scale: a round number that is at least the largest absolute value of the nodes. @param {Iterable<number>} nodes @param {Float64Array} numbers */
export function scaleOf(nodes, numbers) {
  let largest = 0;
  for (const node of nodes) if (node >= 0 && Math.abs(numbers[node]) > largest) largest = Math.abs(numbers[node]);
  if (!(largest > 0) || !Number.isFinite(largest)) return 1;
  const power = 10 ** Math.floor(Math.log10(largest));
  return ([1, 1.5, 2, 3, 5, 7].find((factor) => factor * power >= largest) ?? 10) * power;
}
