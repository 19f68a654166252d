// What the page says, all but its sentences about steps (sentences.js) and its errors (errors.js).

export const presets = {
  own: "your own expression",
  product: {
    title: "(a + b)·c",
    lesson: "A sum copies its gradient to both operands. A product swaps: each operand gets the other one's value.",
  },
  neuron: {
    title: "a neuron with tanh",
    lesson: "A neuron with two inputs. Its bias is chosen so that the numbers come out tidy: o = 0.7071, and the gradient behind tanh is 0.5.",
  },
  square: {
    title: "a·a",
    lesson: "One node is both operands: two edges lead back to it, and their contributions add up to 2a.",
  },
  double: {
    title: "a + a",
    lesson: "The smallest graph that goes wrong without +=: with = the second contribution overwrites the first.",
  },
  twice: {
    title: "(a·b)·(a + b)",
    lesson: "Both leaves are used twice. Switch to = and see which half of each gradient is lost.",
  },
  loss: {
    title: "(a·b + c)·f",
    lesson: "The classic first graph. Nudge any node by 0.0001 under Check and compare with what backpropagation says.",
  },
  reuse: {
    title: "(a·b + a)²",
    lesson: "a is used by the product and by the sum: its gradient has to wait for both.",
  },
  diamond: {
    title: "the diamond",
    lesson: "Two paths lead from a to d. Under Order, visit a too early and one path's contribution is lost.",
  },
  network: {
    title: "a two-layer network",
    lesson: "Two inputs, two hidden neurons with tanh, one output, and the square of its error.",
  },
  softmax: {
    title: "softmax with cross-entropy",
    lesson: "The first score is that of the right class. The gradients come out as the probabilities, less 1 for the right one: -0.341, 0.242, 0.099.",
  },
};

export const header = {
  name: "gradwalk",
  presets: "Graphs of the lesson",
  expression: "Expression, such as tanh(x*w + b), or several as in e = a + b; f = e*c",
  draw: "Draw",
  link: "Copy link",
  copied: "The link is copied.",
  notCopied: "The link is in the address bar.",
  file: "Open a file",
  home: "Close the file",
  theme: "Colours",
  themes: { auto: "auto", light: "light", dark: "dark" },
  help: "Help",
  close: "Close",
  letters: "Single letters are keys",
  /** @type {readonly string[]} */
  signs: [
    "A box is a value: its name, its data, and its gradient. What is not known yet is faint.",
    "A round sign is an operation. Every line into it is an operand: select it for its local derivative.",
    "Backward, a node passes to each operand a contribution: its own gradient, which is called upstream there, times the local derivative. What an operand gets adds up to its gradient.",
    "The halo is where the walk stands; a tick marks what the backward pass has visited; a flag is a contribution on its way.",
    "Colours on lines are contributions flowing back: blue positive, orange negative, thicker for larger. A crossed, dashed line is one that was lost.",
  ],
  /** @type {readonly (readonly [string, string])[]} */
  keys: [
    ["n", "next step (also → outside of the graph)"],
    ["b", "a step back (also ←)"],
    ["s", "to the start"],
    ["e", "to the end"],
    ["p", "play or pause"],
    ["g", "to the graph"],
    ["arrows", "in the graph: from box to box, along the lines"],
    ["Enter", "in the graph: select a box or a line, open a part"],
    ["d", "in the graph: to the lines of a box, and from line to line"],
    ["+ - 0", "in the graph: nearer, farther, all of it"],
    ["?", "this help"],
  ],
};

export const tabs = {
  title: "What to do",
  names: { walk: "Walk", order: "Order", check: "Check", exercises: "Exercises" },
};

export const transport = {
  title: "Walk",
  start: "To the start",
  startKey: "To the start (s)",
  back: "A step back",
  backKey: "A step back (b)",
  next: "Next step",
  nextKey: "Next step (n)",
  end: "Run to the end",
  endKey: "Run to the end (e)",
  play: "Play",
  playKey: "Play or pause (p)",
  pause: "Pause",
  timeline: "Step of the walk",
  speed: "Speed",
  speeds: { slow: "slow", normal: "normal", fast: "fast", fastest: "fastest" },
  nothing: "Nothing is known yet. The next step gives the first leaf its number.",
  /** @param {string} phase @param {number} position @param {number} forward steps @param {number} backward steps */
  phase(phase, position, forward, backward) {
    if (phase === "start") return "Before the first step";
    if (phase === "forward") return `Forward: step ${position} of ${forward}`;
    const at = `Backward: step ${position - forward} of ${backward}`;
    return phase === "end" ? `${at}, done` : at;
  },
};

export const values = {
  title: "Values you can change",
  /** @param {number} count */
  more: (count) => `And ${count.toLocaleString("en")} more leaves: select one on the graph to change it.`,
  /** @param {string} text */
  noNumber: (text) => `“${text}” is not a number: write one such as -1.5, 2e3, inf or nan.`,
};

export const writing = {
  title: "Contributions are written with",
  accumulate: "adds to what is there",
  overwrite: "overwrites it",
};

export const twin = {
  title: "All values",
  columns: ["node", "made as", "data", "gradient", "now"],
  leaf: "given",
  unknown: "?",
  active: "this step",
  visited: "visited",
  /** @param {number} count */
  nodes: (count) => `${count.toLocaleString("en")} nodes: open to see them`,
};

export const source = { title: "Program" };

export const parts = {
  path: "Where in the graph",
  whole: "whole graph",
};

export const stage = {
  title: "Graph",
  zoomIn: "Nearer",
  zoomOut: "Farther",
  fit: "Show all of it",
  /** @param {string} name @param {string} data @param {string} gradient @param {string} status */
  node: (name, data, gradient, status) =>
    [name, data && `value ${data}`, gradient && `gradient ${gradient}`, status].filter(Boolean).join(", "),
  unknown: "not known yet",
  active: "this step",
  visited: "visited",
  data: "data",
  gradient: "grad",
  /** @param {string} from @param {string} to @param {number} position @param {string} local @param {string} contribution */
  edge: (from, to, position, local, contribution) =>
    [
      `line from ${from} to ${to}, operand ${position + 1}`,
      local && `local derivative ${local}`,
      contribution && `contribution ${contribution}`,
    ]
      .filter(Boolean)
      .join(", "),
  /** @param {string} name @param {number} count @param {number} known @param {number} visited */
  part: (name, count, known, visited) => `${name}: ${count} nodes, ${known} known, ${visited} visited; open`,
  /** @param {string} from @param {string} to @param {number} count */
  bundle: (from, to, count) => `${count} lines from ${from} to ${to}`,
  /** @param {number} count */
  count: (count) => `${count.toLocaleString("en")} nodes`,
  /** @param {number} done @param {number} total */
  progress: (done, total) => `${done} of ${total}`,
  /** @param {string} gradient */
  largest: (gradient) => `largest gradient ${gradient}`,
};

export const inspector = {
  title: "Here",
  nothing: "Select a box or a line on the graph. Without a selection, this follows the walk.",
  made: "made as",
  operation: "which is",
  data: "data",
  source: "made at",
  sum: "Chain rule",
  local: "local derivative",
  formula: "rule",
  /** @param {string} operand @param {string} formula */
  rule: (operand, formula) => (operand ? `∂out/∂${operand} = ${formula}` : formula),
  contribution: "contribution",
  open: "not known yet",
  /** @param {string} gradient */
  total: (gradient) => `in all ${gradient}`,
  /** @param {string} gradient @param {string} right */
  wrongTotal: (gradient, right) => `in all ${gradient}, and it should be ${right}`,
  /** @param {number} count */
  more: (count) => `and ${count.toLocaleString("en")} more`,
  root: "It is the root: its gradient is 1 by definition.",
  unused: "No gradient flows to it: nothing that leads to the root depends on it, or it only decides.",
  inert: "No gradient passes here: the operand only decides.",
  /** @param {string} because */
  lost: (because) => `lost: ${because}`,
  /** @param {string} name */
  back: (name) => `All of ${name}`,
};

export const orders = {
  title: "The order puzzle",
  intro: "In which order should the backward pass visit the nodes? Click them, here or on the graph, drag them, or use the keys. Then run it.",
  pool: "Nodes to place",
  list: "Your order",
  run: "Run this order",
  right: "Show a right order",
  clear: "Clear",
  handle: "Drag, or move with the arrow keys; Delete takes it out",
  /** @param {string} name @param {number} at */
  placed: (name, at) => `${name}, visited as number ${at}`,
  /** @param {string} name */
  up: (name) => `Visit ${name} earlier`,
  /** @param {string} name */
  down: (name) => `Visit ${name} later`,
  /** @param {string} name */
  remove: (name) => `Take ${name} out`,
  /** @param {number} count */
  left: (count) => (count ? `${count} to place.` : "All are placed: run it, or watch it with Next step."),
  /** @param {number} count @param {number} most */
  tooMany: (count, most) => `The puzzle is for graphs of at most ${most} nodes, and this one has ${count.toLocaleString("en")}.`,
  /** @param {readonly string[]} names */
  unknown: (names) => `The graph has no ${names.join(", ")}: left out.`,
};

export const outcomes = {
  gradients: "Gradients of this walk",
  right: "right",
  allRight: "Every gradient is right.",
  uncounted: "There are too many legal orders to count.",
  overwriting: "Contributions are written with =, so legal orders can lose them, too.",
  /** @param {string} root @param {string} by */
  derivative: (root, by) => `∂${root}/∂${by}`,
  /** @param {string} right */
  wrong: (right) => `wrong: it is ${right}`,
  /** @param {number} count */
  someWrong: (count) => (count === 1 ? "One gradient is wrong." : `${count} gradients are wrong.`),
  /** @param {bigint} count @param {boolean} isLegal */
  legal(count, isLegal) {
    const orders = `${count.toLocaleString("en")} legal order${count === 1n ? "" : "s"}`;
    if (isLegal) return count === 1n ? "This is the only legal order." : `This is one of ${orders}.`;
    return `This order is not legal: a node has to come after all nodes that use it. There ${count === 1n ? "is" : "are"} ${orders}.`;
  },
  /** @param {number} count */
  more: (count) => `And ${count.toLocaleString("en")} more.`,
};

export const checks = {
  title: "Numerical check",
  intro: "Nudge a node by h, compute all that depends on it again, and divide the root's change by h: that has to be its gradient.",
  step: "h",
  found: "found for each node",
  method: "Difference",
  methods: { central: "central", forward: "forward" },
  columns: ["node", "backprop", "quotient", "error", "verdict"],
  select: "Select a node to see what its nudge does.",
  none: "–",
  /** @param {string} name @param {string} verdict */
  notNudged: (name, verdict) => `${name} cannot be nudged: ${verdict}.`,
  verdicts: {
    agrees: "agrees",
    differs: "differs",
    kink: "kink",
    "not finite": "not finite",
    "by hand": "made by hand",
    stored: "derivatives stored, no rule",
    stopped: "stopped",
    rounding: "lost in rounding",
    jump: "jump",
    coarse: "h is too large",
    stale: "stale",
  },
  /**
   * @param {string} root @param {string} name @param {string} step @param {string} up @param {string | null} down
   * @param {string} quotient @param {string} backprop
   */
  nudged: (root, name, step, up, down, quotient, backprop) =>
    [
      `${name} + ${step} makes ${root} ${up}`,
      down === null ? "" : `${name} - ${step} makes it ${down}`,
      `the quotient is ${quotient}; backpropagation says ${backprop}`,
    ]
      .filter(Boolean)
      .join("; "),
  /** @param {string} text */
  noStep: (text) => `“${text}” is not a step: write a positive number such as 0.0001, or nothing.`,
  /** @param {number} count */
  others: (count) => `${count.toLocaleString("en")} other nodes stand in closed parts of the graph.`,
};

export const exercises = {
  title: "Exercises",
  how: "All values are known. Work the gradient out by the chain rule; one percent off still counts. Products such as 3*2 are fine.",
  answer: "Your answer",
  check: "Check",
  hint: "Hint: walk one step",
  next: "Next question",
  previous: "Previous",
  forget: "Forget my progress",
  /** @param {number} number @param {string} root @param {string} by */
  question: (number, root, by) => `${number}. What is ∂${root}/∂${by}?`,
  /** @param {string} text */
  noNumber: (text) => (text.trim() ? `“${text}” is not a number: write one such as -1.5, 1/3 or 3*2.` : "Write a number first."),
  /** @param {string} answer @param {boolean} isNegated */
  wrong: (answer, isNegated) =>
    `Not ${answer}.${isNegated ? " Look at the sign." : ""} Follow every path from the root back; multiply along a path, add where paths meet.`,
  /** @param {string} root @param {string} by @param {string} gradient */
  right: (root, by, gradient) => `Right: ∂${root}/∂${by} = ${gradient}.`,
  /** @param {readonly boolean[]} alone for each solved one, whether without a hint @param {boolean} isOne whether this is one of them */
  score(alone, isOne) {
    if (!alone.length) return "None solved yet.";
    const solved = `Solved: ${alone.length}, of them ${alone.filter(Boolean).length} without a hint.`;
    return isOne ? `${solved} This is one of them.` : solved;
  },
};

export const links = {
  /** @param {number} length @param {number} most */
  tooLong: (length, most) => `The link is ${length.toLocaleString("en")} characters long, and at most ${most.toLocaleString("en")} are read.`,
  /** @param {string} key @param {string} text */
  senseless: (key, text) => `The link says ${key}=${text.slice(0, 80)}, which makes no sense here: left out.`,
  /** @param {string} name */
  noNode: (name) => `The link selects ${name}, and there is no such node.`,
};

export const files = {
  /** @param {string} reason */
  notJson: (reason) => `This is not JSON: ${reason}`,
  /** @param {string} version @param {number} known */
  version: (version, known) => `This walk has version ${version}; version ${known} can be read.`,
  noOrder: "This walk's order is not one of the nodes that gradient flows to, each once.",
  /** @param {string} problem */
  refused: (problem) =>
    `The file cannot be shown. ${problem}\nFiles to open are written by gradwalk walk --json, Walk.to_json() and Graph.to_json(); of a script, gradwalk walk --page makes a page.`,
};
