// Graphs of the lesson. Programs are in the grammar of expression.js; names become labels.

/**
 * @typedef {object} Preset
 * @property {Exclude<keyof typeof import("../languages/en.js").presets, "own">} key in links and language files
 * @property {string} program
 * @property {Readonly<Record<string, number>>} values
 */

// Softmax of three scores, whose exponentials are computed once. The loss is -log of the first probability.
const SOFTMAX = "e1 = exp(z1); e2 = exp(z2); e3 = exp(z3); s = e1 + e2 + e3; p = e1/s; L = -log(p)";

const NETWORK =
  "h1 = tanh(w11*x1 + w12*x2 + b1); h2 = tanh(w21*x1 + w22*x2 + b2); o = v1*h1 + v2*h2 + c; L = (o - y)**2";

/** @type {readonly Preset[]} */
export const PRESETS = [
  { key: "product", program: "e = a + b; f = e*c", values: { a: 2, b: -3, c: 10 } },
  {
    key: "neuron",
    program: "x1w1 = x1*w1; x2w2 = x2*w2; x1w1x2w2 = x1w1 + x2w2; n = x1w1x2w2 + b; o = tanh(n)",
    values: { x1: 2, x2: 0, w1: -3, w2: 1, b: 6.8813735870195432 },
  },
  { key: "square", program: "f = a*a", values: { a: 3 } },
  { key: "double", program: "b = a + a", values: { a: 3 } },
  { key: "twice", program: "d = a*b; e = a + b; f = d*e", values: { a: -2, b: 3 } },
  { key: "loss", program: "e = a*b; d = e + c; L = d*f", values: { a: 2, b: -3, c: 10, f: -2 } },
  { key: "reuse", program: "c = a*b; d = c + a; e = d**2", values: { a: 2, b: 3 } },
  { key: "diamond", program: "b = a + 1; c = a*3; d = b*c", values: { a: 2 } },
  {
    key: "network",
    program: NETWORK,
    values: {
      ...{ x1: 1, x2: -0.5, w11: 0.8, w12: -0.4, b1: 0.1, w21: -0.6, w22: 0.9, b2: 0.2 },
      ...{ v1: 1.2, v2: -0.7, c: 0.05, y: 1 },
    },
  },
  { key: "softmax", program: SOFTMAX, values: { z1: 2, z2: 1, z3: 0.1 } },
];

/** @param {string} key @returns {Preset | undefined} */
export function presetOf(key) {
  return PRESETS.find((preset) => preset.key === key);
}
