// Small networks for points in the plane, as expression programs with inputs x1 and x2 and output o.

import { rounded, uniform } from "./points.js";

/**
 * @typedef {object} Design
 * @property {readonly number[]} hidden number of neurons in each hidden layer
 * @property {"tanh" | "relu" | "sigmoid"} activation
 * @property {"square" | "hinge"} loss
 */

/** Choices for the design. */
export const HIDDEN = [[], [2], [3], [4], [6], [8], [3, 3], [4, 4], [8, 8]];
export const ACTIVATIONS = /** @type {const} */ (["tanh", "relu", "sigmoid"]);
export const LOSSES = /** @type {const} */ (["square", "hinge"]);

/** @type {Design} */
export const USUAL = { hidden: [4], activation: "tanh", loss: "square" };

const LETTERS = [["w", "b", "h"], ["u", "d", "g"]]; // names of a layer's weights, biases and neurons
const LOSS = { square: "L = (o - y)**2", hinge: "L = relu(1 - y*o)" };

/**
 * Build a network with random weights from a seed. With square loss, the output passes through tanh.
 * @param {Design} design @param {number} seed @returns {{ program: string, values: ReadonlyMap<string, number> }}
 */
export function network({ hidden, activation, loss }, seed) {
  const draw = uniform(1000 + seed);
  /** @type {Map<string, number>} */
  const values = new Map();
  const weight = (/** @type {string} */ name, /** @type {number} */ inputs) => {
    values.set(name, rounded((2 * draw() - 1) * Math.sqrt((activation === "relu" ? 6 : 3) / inputs)));
    return name;
  };
  const bias = (/** @type {string} */ name) => {
    values.set(name, 0);
    return name;
  };
  let inputs = ["x1", "x2"];
  const lines = [];
  for (const [layer, size] of hidden.entries()) {
    const [w, b, h] = LETTERS[layer];
    const neurons = Array.from({ length: size }, (_, j) => `${h}${j + 1}`);
    for (const [j, neuron] of neurons.entries()) {
      const products = inputs.map((input, i) => `${weight(`${w}${j + 1}${i + 1}`, inputs.length)}*${input}`);
      lines.push(`${neuron} = ${activation}(${products.join(" + ")} + ${bias(`${b}${j + 1}`)})`);
    }
    inputs = neurons;
  }
  const output = `${inputs.map((input, i) => `${weight(`v${i + 1}`, inputs.length)}*${input}`).join(" + ")} + ${bias("c")}`;
  lines.push(`o = ${loss === "square" ? `tanh(${output})` : output}`, LOSS[loss]);
  return { program: lines.join("; "), values };
}

/** @type {Map<string, Design> | null} */
let designs = null;

/** Find the design of a program, ignoring the numbers; null if no design matches. @param {string} program */
export function designOf(program) {
  designs ??= new Map(everyDesign().toReversed().map((design) => [network(design, 0).program, design]));
  return designs.get(program) ?? null;
}

/** @returns {Design[]} */
function everyDesign() {
  return HIDDEN.flatMap((hidden) => ACTIVATIONS.flatMap((activation) => LOSSES.map((loss) => ({ hidden, activation, loss }))));
}

/** Build a chain of tanh with weights so large that tanh saturates and the gradient vanishes. @param {number} length */
export function chain(length) {
  const names = Array.from({ length }, (_, i) => `h${i + 1}`);
  const lines = names.map((name, i) => `${name} = tanh(w${i + 1}*${i ? names[i - 1] : "x"})`);
  const weights = names.map((_, i) => /** @type {const} */ ([`w${i + 1}`, 2]));
  return { program: [...lines, `L = (h${length} - y)**2`].join("; "), values: new Map([["x", 1], ...weights, ["y", 0.5]]) };
}

/**
 * Find the network's output, the last node that depends on x1 or x2 but not on the class y; -1 if there is none.
 * @param {import("../core/graph.js").Graph} graph
 */
export function outputOf({ nodes, root }) {
  const knows = new Uint8Array(nodes.length); // depends on y
  const sees = new Uint8Array(nodes.length); // depends on x1 or x2
  let output = -1;
  for (const { place, name, operands } of nodes.slice(0, root + 1)) {
    const isLeaf = operands.length === 0;
    knows[place] = Number(isLeaf ? name === "y" : operands.some((operand) => knows[operand]));
    sees[place] = Number(isLeaf ? name === "x1" || name === "x2" : operands.some((operand) => sees[operand]));
    if (sees[place] && !knows[place] && !isLeaf) output = place;
  }
  return output;
}
