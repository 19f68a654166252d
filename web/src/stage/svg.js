// SVG helpers: elements, text that fits its width, and curves.

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {{ x: number, y: number }} Point */

/**
 * Create an SVG element with attributes and children.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {...SVGElement} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function drawn(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/**
 * Shorten text to a maximum width by cutting out the middle.
 * @param {string} text @param {number} widest @param {(text: string) => number} width
 */
export function shortened(text, widest, width) {
  if (width(text) <= widest) return text;
  const letters = Array.from(graphemes.segment(text), ({ segment }) => segment);
  const kept = (/** @type {number} */ count) => {
    const head = letters.slice(0, Math.ceil(count / 2));
    const tail = letters.slice(letters.length - Math.floor(count / 2));
    return `${head.join("")}…${tail.join("")}`;
  };
  let fits = 0;
  let tooMany = letters.length;
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1;
    if (width(kept(middle)) <= widest) fits = middle;
    else tooMany = middle;
  }
  return kept(fits);
}

/** Measures text in an element's font. */
export class Ruler {
  #context = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  #family;

  /** @param {Element} element in the document */
  constructor(element) {
    this.#family = getComputedStyle(element).fontFamily;
  }

  /** Measure the width of text in pixels. @param {string} text @param {number} size @param {number} [weight] */
  width(text, size, weight = 400) {
    this.#context.font = `${weight} ${size}px ${this.#family}`;
    return this.#context.measureText(text).width;
  }
}

/**
 * Draw a path through points; it enters and leaves each point along the flow of the drawing.
 * @param {readonly Point[]} points @param {boolean} [isDown] whether the flow is downward; otherwise it is to the right
 */
export function curve(points, isDown = false) {
  const commands = points.map(({ x, y }, i) => {
    const before = points[i - 1];
    if (!before) return `M${rounded(x)},${rounded(y)}`;
    if (before.y === y) return `H${rounded(x)}`;
    if (before.x === x) return `V${rounded(y)}`;
    const [half, end] = [{ x: (before.x + x) / 2, y: (before.y + y) / 2 }, `${rounded(x)},${rounded(y)}`];
    if (isDown) return `C${rounded(before.x)},${rounded(half.y)} ${rounded(x)},${rounded(half.y)} ${end}`;
    return `C${rounded(half.x)},${rounded(before.y)} ${rounded(half.x)},${rounded(y)} ${end}`;
  });
  return commands.join("");
}

/**
 * Draw a triangle with its tip at a point.
 * @param {Point} tip @param {1 | -1} direction 1 points with the flow, -1 against it
 * @param {number} weight width of its line @param {boolean} isDown whether the flow is downward
 */
export function arrowhead({ x, y }, direction, weight, isDown) {
  const half = rounded(3 + weight * 0.8);
  const back = rounded(-direction * headLength(weight));
  const sides = isDown ? `l-${half},${back}h${2 * half}z` : `l${back},-${half}v${2 * half}z`;
  return `M${rounded(x)},${rounded(y)}${sides}`;
}

/** @param {number} weight */
export function headLength(weight) {
  return 6 + weight * 1.2;
}

/** Round a coordinate to a tenth of a pixel. @param {number} value */
export function rounded(value) {
  return Math.round(value * 10) / 10;
}

/**
 * Return whether a number has a larger absolute value than the largest so far; nan counts as the largest of all.
 * @param {number} number @param {number | null} largest
 */
export function exceeds(number, largest) {
  return largest === null || (!Number.isNaN(largest) && !(Math.abs(number) <= Math.abs(largest)));
}
