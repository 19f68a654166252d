// Evaluate one operation of the table, and its local derivatives, on numbers. Graphs, reruns and microgpt share this
// code.

/** @import { Gather, Reduction, Row } from "../types.js" */

/** @typedef {{ row: Row | null, reduction: Reduction | null, gather: Gather | null }} Rules all null for leaves */

/** Compute the result of an operation. @param {Rules} rules @param {readonly number[]} numbers */
export function forward({ row, reduction, gather }, numbers) {
  if (row) return row.forward(numbers[0], numbers[1], numbers[2]);
  if (gather) return numbers[picked(numbers)] ?? NaN;
  if (!reduction) return NaN;
  const { groups, starts, first, step } = reduction;
  const length = (numbers.length - starts) / groups;
  let total = starts ? numbers[0] : first;
  for (let i = starts; i < starts + length; i += 1) {
    total = step(total, numbers[i], numbers[i + length], numbers[i + 2 * length]);
  }
  return total;
}

/**
 * Compute the local derivative of an operation at a position.
 * @param {Rules} rules
 * @param {number} position
 * @param {readonly number[]} numbers of its operands
 * @param {number} out
 */
export function partial(rules, position, numbers, out) {
  const { row, reduction, gather } = rules;
  if (row) return row.partials[position](numbers[0], numbers[1], numbers[2], out);
  if (gather) return position && picked(numbers) < 1 ? NaN : Number(position === picked(numbers));
  if (!reduction) return NaN;
  if (position < reduction.starts) return reduction.startPartial?.(out) ?? NaN;
  const element = elementOf(rules, position, numbers.length);
  const [x, y, z] = element.map((i) => numbers[i]);
  return reduction.partials[element.indexOf(position)](x, y, z, out);
}

/**
 * Return the operand positions that the derivative at a position calls x, y and z: all of them; for a reduction, the
 * operands of the same element (none for its start); for a table lookup, the index.
 * @param {Rules} rules
 * @param {number} position
 * @param {number} count of operands
 */
export function elementOf({ reduction, gather }, position, count) {
  if (gather) return [0];
  if (!reduction) return Array.from({ length: count }, (_, i) => i);
  const { groups, starts } = reduction;
  if (position < starts) return [];
  const length = (count - starts) / groups;
  const first = starts + ((position - starts) % length);
  return Array.from({ length: groups }, (_, group) => first + group * length);
}

/**
 * Return the position of the operand that the index, the first number, selects; 0 or -1 if the index is invalid.
 * @param {readonly number[]} numbers
 */
export function picked([index, ...table]) {
  const at = index < 0 ? index + table.length : index;
  return at in table ? at + 1 : -1;
}
