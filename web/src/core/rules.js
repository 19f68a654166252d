// What the table says of one operation, applied to numbers: the one evaluator of graphs, reruns and microgpt.

/** @import { Gather, Reduction, Row } from "../types.js" */

/** @typedef {{ row: Row | null, reduction: Reduction | null, gather: Gather | null }} Rules all null for leaves */

/**
 * What an operation gives for numbers of its operands.
 * @param {Rules} rules
 * @param {readonly number[]} numbers
 */
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
 * The local derivative of an operation at a position.
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
 * The positions of the operands that the derivative at a position calls x, y and z: all of them, or for a reduction
 * those of the same element; of what is taken from a table, the index. Its start, if it has one, is in no element.
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
 * The position of the operand that an index picks, which is the first of the numbers; 0 or -1 where it is none.
 * @param {readonly number[]} numbers
 */
export function picked([index, ...table]) {
  const at = index < 0 ? index + table.length : index;
  return at in table ? at + 1 : -1;
}
