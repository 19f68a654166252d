// Zero contour of a function of the plane, from its numbers on a grid, by marching squares.

/** @typedef {readonly [x: number, y: number]} Spot in grid cells */

/**
 * Return the segments of the contour, each from one side of a cell to another.
 * @param {ArrayLike<number>} numbers row by row @param {number} width length of a row
 * @returns {readonly (readonly [Spot, Spot])[]}
 */
export function contour(numbers, width) {
  const height = numbers.length / width;
  /** @type {(readonly [Spot, Spot])[]} */
  const pieces = [];
  for (let y = 0; y + 1 < height; y += 1) {
    for (let x = 0; x + 1 < width; x += 1) {
      const crossings = crossingsOf(numbers, width, x, y);
      if (crossings.length >= 2) pieces.push([crossings[0], crossings[1]]);
      if (crossings.length === 4) pieces.push([crossings[2], crossings[3]]);
    }
  }
  return pieces;
}

/**
 * Return the points where the contour crosses the sides of a cell, in order around it.
 * @param {ArrayLike<number>} numbers @param {number} width @param {number} x @param {number} y
 */
function crossingsOf(numbers, width, x, y) {
  const corners = /** @type {const} */ ([[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]]);
  const heights = corners.map(([column, row]) => numbers[row * width + column]);
  /** @type {Spot[]} */
  const found = [];
  for (let i = 0; i < 4; i += 1) {
    const next = (i + 1) % 4;
    const [from, to] = [heights[i], heights[next]];
    if (from > 0 === to > 0) continue;
    const share = from / (from - to);
    found.push([corners[i][0] + share * (corners[next][0] - corners[i][0]), corners[i][1] + share * (corners[next][1] - corners[i][1])]);
  }
  return found;
}
