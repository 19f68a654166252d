// Draws a grid of numbers on a canvas: the color shows the absolute value, and a stroke marks negative numbers.

const SMALLEST = 13; // pixels of a cell and its gap
const GAP = 1; // pixels between cells
const LETTERS = 12; // pixels, of row and column headings
const FAINTEST = 0.06; // opacity of 0
const STROKED = -0.08; // negative shares closer to 0 have no stroke

/** @typedef {import("./palette.js").Colors} Colors */

/**
 * @typedef {object} Grid
 * @property {readonly string[]} rows headings; "" for none
 * @property {readonly string[]} columns headings
 * @property {ArrayLike<number>} nodes row by row; -1 where there is no cell
 * @property {number} most end of the scale
 * @property {boolean} isShare whether numbers are between 0 and 1
 * @property {number} [current] index of the marked row, if any
 * @property {number} [parts] rows between dividing lines
 * @property {number} [partsAcross] columns between dividing lines
 */

/**
 * The layout of the cells.
 * @typedef {{ left: number, top: number, size: number, width: number, height: number }} Geometry pixels
 */

/**
 * Compute the layout with the largest cells that fit; if the smallest do not fit, the grid is wider than the room.
 * @param {Grid} grid @param {number} room width in pixels @param {number} largest maximum size of a cell @returns {Geometry}
 */
export function geometryOf({ rows, columns }, room, largest) {
  const left = rows.some(Boolean) ? LETTERS + 8 : 0;
  const top = columns.some(Boolean) ? LETTERS + 6 : 0;
  const size = Math.max(Math.min(Math.floor((room - left) / columns.length), largest), SMALLEST);
  return { left, top, size, width: left + size * columns.length, height: top + size * rows.length };
}

/**
 * @param {HTMLCanvasElement} canvas @param {Grid} grid @param {Geometry} geometry
 * @param {import("./view.js").View} view @param {Colors} colors
 */
export function paint(canvas, grid, geometry, view, colors) {
  const context = sized(canvas, geometry);
  if (!context) return;
  const { left, top, size } = geometry;
  const { length: across } = grid.columns;
  const numbers = view.numbers;
  headings(context, grid, geometry, colors);
  marked(context, grid, geometry, colors);
  for (let i = 0; i < grid.nodes.length; i += 1) {
    const node = grid.nodes[i];
    if (node < 0) continue;
    const [x, y] = [left + (i % across) * size, top + Math.floor(i / across) * size];
    cell(context, x, y, size, numbers[node] / grid.most, grid.isShare, colors);
    if (node === view.selected) ring(context, x, y, size, colors.ink, colors.paper);
    else if (view.onPath.has(node)) ring(context, x, y, size, colors.active, colors.paper);
  }
  partings(context, grid, geometry, colors);
}

/** @param {HTMLCanvasElement} canvas @param {Geometry} geometry */
function sized(canvas, { width, height }) {
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) {
    [canvas.width, canvas.height] = [across, down];
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

/** @param {CanvasRenderingContext2D} context @param {Grid} grid @param {Geometry} geometry @param {Colors} colors */
function headings(context, { rows, columns, current }, { left, top, size }, colors) {
  context.font = `${LETTERS}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace`;
  context.textBaseline = "middle";
  context.textAlign = "center";
  columns.forEach((letter, i) => {
    context.fillStyle = colors.faint;
    context.fillText(letter, left + (i + 0.5) * size, top - 9);
  });
  rows.forEach((letter, i) => {
    const isCurrent = i === current;
    context.fillStyle = colors.halo;
    if (isCurrent) context.fillRect(0, top + i * size, left - 2, size - GAP);
    context.fillStyle = isCurrent ? colors.ink : colors.faint;
    context.fillText(letter, (left - 4) / 2, top + (i + 0.5) * size);
  });
}

/** Draw a line around the marked row. @param {CanvasRenderingContext2D} context @param {Grid} grid @param {Geometry} geometry @param {Colors} colors */
function marked(context, { nodes, columns, current = -1 }, { left, top, size }, colors) {
  if (current < 0) return;
  let count = columns.length;
  while (count && !(nodes[current * columns.length + count - 1] >= 0)) count -= 1;
  context.lineWidth = 1;
  context.strokeStyle = colors.ink;
  context.strokeRect(left - 1, top + current * size - 1, count * size + 1, size + 1);
}

/**
 * @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size
 * @param {number} share number divided by the end of the scale @param {boolean} isShare @param {Colors} colors
 */
function cell(context, x, y, size, share, isShare, colors) {
  const side = size - GAP;
  context.globalAlpha = Math.min(FAINTEST + (1 - FAINTEST) * Math.abs(share || 0), 1);
  context.fillStyle = isShare ? colors.share : share < 0 ? colors.negative : share > 0 ? colors.positive : colors.line;
  context.fillRect(x, y, side, side);
  context.globalAlpha = 1;
  if (!(share < STROKED)) return;
  context.fillStyle = share < -0.5 ? colors.paper : colors.negative;
  context.fillRect(x + side * 0.3, y + side / 2 - 0.5, side * 0.4, 1);
}

/** Draw a ring around a cell in two colors, to be visible on any background. @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size @param {string} color @param {string} around */
function ring(context, x, y, size, color, around) {
  context.lineWidth = 2;
  context.strokeStyle = around;
  context.strokeRect(x + 1.5, y + 1.5, size - GAP - 3, size - GAP - 3);
  context.strokeStyle = color;
  context.strokeRect(x - 0.5, y - 0.5, size - GAP + 1, size - GAP + 1);
}

/** Draw lines between the parts of a grid. @param {CanvasRenderingContext2D} context @param {Grid} grid @param {Geometry} geometry @param {Colors} colors */
function partings(context, { rows, columns, parts = 0, partsAcross = 0 }, { left, top, size, width, height }, colors) {
  context.fillStyle = colors.ink;
  for (let row = parts; parts && row < rows.length; row += parts) context.fillRect(left, top + row * size - 1, width - left, 1);
  for (let column = partsAcross; partsAcross && column < columns.length; column += partsAcross) {
    context.fillRect(left + column * size - 1, top, 1, height - top);
  }
}
