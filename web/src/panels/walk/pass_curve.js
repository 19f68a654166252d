// A small curve of the result of each pass of a program, with a clickable column for each pass.

import { drawn } from "../../stage/svg.js";

const [WIDTH, HEIGHT, MARGIN] = [300, 60, 5];

/**
 * Draw the elements of a curve: its line, broken where a number is not finite, and a column for each number.
 * @param {readonly number[]} numbers @param {readonly string[]} words the tooltip of each @param {(i: number) => void} onChoose
 */
export function figure(numbers, words, onChoose) {
  const points = places(numbers);
  const width = WIDTH / numbers.length;
  const columns = points.map(({ x, y }, i) => {
    const marks = [
      drawn("rect", { class: "hit", x: i * width, y: 0, width, height: HEIGHT }),
      drawn("line", { class: "here", x1: x, x2: x, y1: 0, y2: HEIGHT }),
      ...(Number.isNaN(y) ? [] : [drawn("path", { class: "dot", d: `M${x} ${y}h0.01` })]),
    ];
    const title = drawn("title");
    title.textContent = words[i];
    const column = drawn("g", { class: "column" }, title, ...marks);
    column.addEventListener("click", () => onChoose(i));
    return column;
  });
  return [drawn("path", { class: "curve", d: path(points) }), ...columns];
}

/** Compute the coordinates of the points of a curve; y is NaN where a number is not finite. @param {readonly number[]} numbers */
export function places(numbers) {
  const finite = numbers.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  return numbers.map((number, i) => {
    const share = high > low ? (number / 2 - low / 2) / (high / 2 - low / 2) : 0.5; // halved, so that the difference cannot overflow
    const y = Number.isFinite(number) ? HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN) : NaN;
    return { x: ((i + 0.5) * WIDTH) / numbers.length, y };
  });
}

/** @param {readonly { x: number, y: number }[]} points */
function path(points) {
  return points
    .map(({ x, y }, i) => {
      if (Number.isNaN(y)) return "";
      const isFirst = i === 0 || Number.isNaN(points[i - 1].y);
      return `${isFirst ? "M" : "L"}${x.toFixed(2)} ${y.toFixed(2)}`;
    })
    .join("");
}
