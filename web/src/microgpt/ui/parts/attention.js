// The attention weights of each head: a grid for all letters, and arcs and a sentence for the selected letter.

import { element } from "../../../dom.js";
import { drawn, rounded } from "../../../stage/svg.js";
import { say } from "../../texts.js";
import { Cells } from "./cells.js";
import { HeadInside } from "./head.js";
import { percent } from "../numbers.js";
import { scaleOf } from "../palette.js";
import { Legend, part, Readout, tell } from "../picture.js";
import { largestOf } from "../view.js";

/** @typedef {import("../view.js").View} View */
/** @typedef {import("./cells.js").Board} Board */

const { attention: words } = say;
const HEIGHT = 62; // pixels of the arcs
const THICKEST = 10;

export class Attention {
  /** @param {Board} board @param {(change: Partial<import("../address.js").Choices>) => void} act @param {number} heads */
  constructor(board, act, heads) {
    this.readout = new Readout();
    this.legend = new Legend();
    this.heads = Array.from({ length: heads }, (_, head) => new Head(board, head, this.readout.read));
    this.inside = new HeadInside(board, act, heads);
    this.row = element("div", { class: "heads" }, ...this.heads.map((head) => head.element));
    this.element = part(
      "attention",
      words.heading,
      words.intro,
      this.row,
      this.readout.element,
      element("div", { class: "legends" }, this.legend.element, element("span", { class: "note" }, words.axes)),
      this.inside.element,
    );
  }

  /** @param {View} view */
  update(view) {
    const isShare = view.choices.shows === "data";
    const most = isShare ? 1 : scaleOf(this.heads.flatMap((head) => head.nodesOf(view)), view.numbers);
    this.row.style.setProperty("--letters", String(view.places));
    for (const head of this.heads) head.update(view, most, isShare);
    this.legend.update(view, most, isShare);
    this.inside.update(view);
  }
}

class Head {
  /** @type {View | null} */
  #view = null;

  /** @param {Board} board @param {number} head @param {(text: string) => void} read */
  constructor(board, head, read) {
    this.head = head;
    this.arcs = drawn("svg", { class: "arcs", width: 0, height: HEIGHT, "aria-hidden": "true" });
    const title = words.head(head);
    this.cells = new Cells(board, { title, tell: (row, column) => this.#tell(row, column), read, largest: 30, above: this.arcs, onDrawn: () => this.#drawArcs() });
    this.told = element("p", { class: "looks", "data-head": head });
    this.element = element("figure", { class: "head" }, element("figcaption", {}, title), this.cells.element, this.told);
  }

  /** Return the nodes of the weights by predicted letter, then by attended letter. @param {View} view */
  nodesOf(view) {
    const all = [...Array(view.places).keys()];
    return all.flatMap((place) => all.map((seen) => (seen > place ? -1 : view.find(`place${place}.attention.head${this.head}.weight.${seen}`))));
  }

  /** @param {View} view @param {number} most @param {boolean} isShare */
  update(view, most, isShare) {
    this.#view = view;
    const all = [...Array(view.places).keys()];
    const rows = all.map((place) => view.target(place) || "·");
    const columns = all.map((place) => view.read(place) || "·");
    this.cells.show({ rows, columns, nodes: this.nodesOf(view), most, isShare, current: view.place }, view);
    this.#say(view);
  }

  /** @param {View} view */
  #say(view) {
    const weights = view.attention(this.head, view.place);
    const seen = largestOf(weights);
    const letter = 1 + largestOf(weights.slice(1));
    const { place, opened: { name } } = view;
    const mostly = words.told(this.head, place, view.isEnd(place), name, seen, view.read(seen), percent(weights[seen]));
    const ofLetters = seen ? "" : words.ofLetters(letter, view.read(letter), percent(weights[letter]));
    tell(this.told, place ? `${mostly}${ofLetters}.` : words.only(this.head));
  }

  /** @param {number} place @param {number} seen */
  #tell(place, seen) {
    const view = this.#view;
    return view ? words.weight(this.head, place, view.target(place), view.isEnd(place), seen, view.read(seen)) : "";
  }

  /** Draw arcs from the letter that is read to each letter that it attends to. */
  #drawArcs() {
    const { geometry } = this.cells;
    if (!geometry || !this.#view) return;
    const { place } = this.#view;
    const weights = this.#view.attention(this.head, place);
    const x = (/** @type {number} */ seen) => rounded(geometry.left + (seen + 0.5) * geometry.size);
    this.arcs.setAttribute("width", String(geometry.width));
    const strongest = largestOf(weights);
    const arcs = weights.map((weight, seen) => drawn("path", {
      d: arc(x(place), x(seen), weights.length, Math.abs(place - seen)),
      "stroke-width": rounded(Math.max(weight * THICKEST, 0.4)),
      class: seen === strongest ? "strongest" : "",
    }));
    this.arcs.replaceChildren(...arcs, drawn("circle", { cx: x(place), cy: HEIGHT - 5, r: 4 }));
  }
}

/** Draw an arc whose height grows with the distance; an arc from a letter to itself is a loop. @param {number} from @param {number} to @param {number} count @param {number} distance */
function arc(from, to, count, distance) {
  const [bottom, top] = [HEIGHT - 5, rounded(HEIGHT - 5 - (18 + (HEIGHT - 34) * (distance / Math.max(count - 1, 1))))];
  if (!distance) return `M${from} ${bottom}c-12 -24 12 -24 0 0`;
  return `M${from} ${bottom}C${from} ${top - 8} ${to} ${top - 8} ${to} ${bottom}`;
}
