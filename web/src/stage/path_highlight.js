// Highlights the paths from a node to the root, each in its own shade and dash pattern, with its product at the end.

import { drawn } from "./svg.js";

/** @typedef {import("../types.js").Way} Way */

const MOST = 8; // maximum number of distinct paths; beyond it only their edges are highlighted
const APART = 4; // pixels between paths that share a line
const HEIGHT = 18;
const FONT = 12;
const SHADES = 4;
const FLAG = 52; // room for a contribution's tag at the end of the line
const GAP = 3;

/** @typedef {{ x: number, y: number, width: number }} Spot */

export class Ways {
  element = drawn("g", { class: "ways", "aria-hidden": "true" });

  /**
   * @param {readonly Way[]} ways
   * @param {(edge: import("../types.js").EdgeKey) => SVGPathElement | null} pathOf returns the line of an edge, if it is drawn
   * @param {boolean} isDown whether the drawing flows downward
   * @param {import("./svg.js").Ruler} ruler
   */
  show(ways, pathOf, isDown, ruler) {
    const isMany = ways.length > MOST;
    const shown = isMany ? [{ edges: [...new Set(ways.flatMap(({ edges }) => edges))], end: "" }] : ways;
    /** @type {Spot[]} positions of the labels so far */
    const taken = [];
    const drawing = shown.flatMap(({ edges, end }, i) => {
      const lines = edges.flatMap((edge) => pathOf(edge) ?? []);
      const aside = (i - (shown.length - 1) / 2) * APART;
      const shift = isDown ? `translate(${aside},0)` : `translate(0,${aside})`;
      const parts = [...new Set(lines)].map((line) => drawn("path", { d: line.getAttribute("d") ?? "", transform: shift }));
      const [first] = lines;
      const label = first && end ? [this.#end(first, end, ruler, taken)] : [];
      return [drawn("g", { class: `way shade-${i % SHADES}` }, ...parts), ...label];
    });
    // Labels are drawn above all lines.
    const isLine = (/** @type {Element} */ part) => part.classList.contains("way");
    this.element.replaceChildren(...drawing.filter(isLine), ...drawing.filter((part) => !isLine(part)));
  }

  /**
   * Place the label on a path's first line, below the labels already there.
   * @param {SVGPathElement} line @param {string} text @param {import("./svg.js").Ruler} ruler @param {Spot[]} taken
   */
  #end(line, text, ruler, taken) {
    const width = Math.ceil(ruler.width(text, FONT, 600)) + 12;
    const { x, y: start } = line.getPointAtLength(Math.min(width / 2 + FLAG, line.getTotalLength() / 2));
    let y = start;
    for (const other of taken.sort((one, another) => one.y - another.y)) {
      const isNear = Math.abs(other.x - x) < (other.width + width) / 2 && Math.abs(other.y - y) < HEIGHT + GAP;
      if (isNear) y = other.y + HEIGHT + GAP;
    }
    taken.push({ x, y, width });
    const words = drawn("text", { y: 4.5 });
    words.textContent = text;
    const box = drawn("rect", { x: -width / 2, y: -HEIGHT / 2, width, height: HEIGHT, rx: 4 });
    return drawn("g", { class: "brings", transform: `translate(${x},${y})` }, box, words);
  }
}
