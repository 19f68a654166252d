// The English texts of the page. Every other language is a file like this one, and the type checker makes sure that it
// is complete. Functions get formatted names and numbers; the modules of the page choose among the texts.

export const language = {
  code: "en",
  name: "English",
  choose: "Language",
  page: "gradwalk: how gradients are made",
};

export const presets = {
  own: "your own expression",
  product: {
    title: "(a + b)·c",
    lesson: "A sum copies its gradient to both operands. A product swaps: each operand gets the gradient times the value of the other operand.",
  },
  neuron: {
    title: "a neuron with tanh",
    lesson: "A neuron with two inputs. Its bias is chosen to give simple numbers. Watch how much of the gradient gets through tanh.",
  },
  square: {
    title: "a·a",
    lesson: "The leaf a is both operands of the product. Two lines connect it to the product, and each line carries a contribution back to a.",
  },
  double: {
    title: "a + a",
    lesson: "The smallest graph that needs +=. With = the second contribution overwrites the first, and the gradient is wrong.",
  },
  twice: {
    title: "(a·b)·(a + b)",
    lesson: "Both leaves are used twice, so each gets two contributions. Switch to = and see which of the two is lost.",
  },
  loss: {
    title: "(a·b + c)·f",
    lesson: "The classic first graph. Open the tab Check, nudge any node by 0.0001, and compare the result with backpropagation.",
  },
  reuse: {
    title: "(a·b + a)²",
    lesson: "The product and the sum both use a. The gradient of a is complete only when the contributions of both have arrived.",
  },
  diamond: {
    title: "the diamond",
    lesson: "Two paths lead from a to d. Open the tab Order and visit a too early: the contribution of one path is lost.",
  },
  network: {
    title: "a two-layer network",
    lesson: "Two inputs, two hidden neurons with tanh, one output, and the square of its error.",
  },
  softmax: {
    title: "softmax with cross-entropy",
    lesson: "The first score belongs to the right class. How are the gradients of the scores related to the probabilities?",
  },
};

/** Notes to show at the end of a walk; shown earlier, they would give an answer away. */
export const afterwards = {
  neuron: "The output is o = 0.7071, and half of the gradient, 0.5, gets through tanh.",
  square: "The two contributions add up to 2a.",
  softmax: "Each gradient equals the probability of its class, minus 1 for the right class: -0.341, 0.242, 0.099.",
};

export const header = {
  name: "gradwalk",
  presets: "Graphs of the lesson",
  expression: "Expression such as tanh(x*w + b), or several such as e = a + b; f = e*c",
  draw: "Draw",
  menu: "Menu",
  share: "Share",
  print: "Print",
  present: "Present",
  presentKey: "Present (f)",
  file: "Open a file",
  home: "Close the file",
  theme: "Colors",
  /** @param {string} numbers such as x = w = 1 */
  start: (numbers) => `To begin with, ${numbers}.`,
  values: "Change the numbers",
  themes: { auto: "auto", light: "light", dark: "dark" },
  help: "Help",
  close: "Close",
  letters: "Single-letter shortcuts",
  /** @type {readonly string[]} */
  signs: [
    "A node is a value: its name, its data, and its gradient. Numbers that are not known yet are faint.",
    "The sign before a name is the operation that made the value. Every line into a node comes from an operand: select the line to see the local derivative.",
    "Drag a leaf's data left or right, like a slider: every value that depends on the leaf changes, and the walk stays at its step.",
    "In the backward pass, a node passes a contribution to each operand: the node's own gradient, called the upstream gradient, times the local derivative. The contributions to an operand add up to the operand's gradient.",
    "Point at a node or select it: its paths to the root light up. Each path shows the product of the local derivatives along it. The sum of these products is the gradient.",
    "The halo marks the current step. A tick marks a node that the backward pass has visited. A flag is a contribution on its way to an operand.",
    "Colored lines are contributions flowing back: blue is positive, orange is negative, and a thicker line is a larger contribution. A crossed, dashed line is a lost contribution.",
  ],
  /** @type {readonly (readonly [string, string])[]} */
  keys: [
    ["n", "next step (also →, unless the focus is in the graph)"],
    ["b", "a step back (also ←)"],
    ["PageDown PageUp", "next step and step back; presentation remotes send these keys (not in text fields)"],
    ["s", "to the start"],
    ["e", "to the end"],
    ["p", "play or pause"],
    ["g", "to the graph"],
    ["arrows", "in the graph: move from node to node along the lines"],
    ["Enter", "in the graph: select a node or a line, or open a part of the graph"],
    ["d", "in the graph: move to the lines of a node, then from line to line"],
    ["[ ]", "in the graph: decrease or increase the number of a leaf (also Alt with the up and down arrows; Shift for finer steps)"],
    ["+ - 0", "in the graph: zoom in, zoom out, show everything"],
    ["f", "present: the graph and the sentence about the step fill the screen (press Escape to exit)"],
    ["?", "this help"],
  ],
};

export const tabs = {
  title: "What to do",
  names: { walk: "Walk", order: "Order", check: "Check", train: "Train", exercises: "Exercises" },
};

export const transport = {
  title: "Walk",
  start: "To the start",
  startKey: "To the start (s)",
  back: "A step back",
  backKey: "A step back (b)",
  next: "Next step",
  nextKey: "Next step (n)",
  again: "From the beginning",
  /** @param {string} root */
  finished: (root) => `Done: every node shows its gradient, the derivative of ${root} with respect to it.`,
  end: "Run to the end",
  endKey: "Run to the end (e)",
  play: "Play",
  playKey: "Play or pause (p)",
  pause: "Pause",
  timeline: "Step of the walk",
  speed: "Speed",
  speeds: { slow: "slow", normal: "normal", fast: "fast", fastest: "fastest" },
  nothing: "No value is known yet. The next step gives the first leaf its value.",
  /** @param {"start" | "forward" | "seed" | "backward" | "end"} phase @param {number} position @param {number} forward steps @param {number} backward steps */
  phase(phase, position, forward, backward) {
    if (phase === "start") return "Before the first step";
    if (phase === "forward") return `Forward: step ${position} of ${forward}${position === forward ? ", done" : ""}`;
    if (phase === "seed") return "Seed: the backward pass begins";
    const at = `Backward: step ${position - forward - 1} of ${backward}`;
    return phase === "end" ? `${at}, done` : at;
  },
};

export const summary = {
  title: "Summary",
  findings: "What to look at",
  /** @param {number} nodes @param {number} parameters @param {number} depth */
  facts: (nodes, parameters, depth) => `${nodes.toLocaleString("en")} nodes, ${parameters.toLocaleString("en")} parameters, ${depth.toLocaleString("en")} operations on the longest path.`,
  largest: "Largest gradients:",
};

export const values = {
  title: "Values you can change",
  search: "Find by name",
  /** @param {string} text */
  noNumber: (text) => `“${text}” is not a number: write one such as -1.5, 2e3, inf or nan.`,
};

export const arrays = {
  title: "Arrays",
  measure: "Numbers shown",
  measures: { data: "values", gradient: "gradients" },
  unknown: "?",
  /** @param {string} name @param {string} data @param {string} gradient */
  cell: (name, data, gradient) => `${name} = ${data}, gradient ${gradient}`,
  /** @param {string} name @param {string} root */
  steepest: (name, root) => `Each bar is a number of one row, colored by its gradient. Among these numbers, raising ${name} lowers ${root} the most.`,
};

export const writing = {
  title: "Contributions are written with",
  accumulate: "adds to what is there",
  overwrite: "overwrites it",
};

export const twin = {
  title: "All values",
  columns: ["node", "computed as", "data", "gradient", "status"],
  leaf: "given",
  unknown: "?",
  active: "this step",
  visited: "visited",
  /** @param {number} count */
  nodes: (count) => `${count.toLocaleString("en")} nodes: open this part to see them`,
};

export const source = { title: "Program" };

export const timeline = {
  title: "Passes",
  slider: "Pass of the program",
  back: "The pass before",
  next: "The next pass",
  /** @param {number} number @param {number} count @param {number | null} line of backward() */
  pass(number, count, line) {
    return `Pass ${number} of ${count}${line === null ? "" : `: backward() at line ${line}`}`;
  },
  /** @param {string} name of the root @param {string} here @param {string} first @param {string} last */
  range: (name, here, first, last) => `${name} = ${here}; it goes from ${first} to ${last} over all passes`,
  /** @param {string} name @param {number} count @param {string} first @param {string} last @param {string} least */
  curve: (name, count, first, last, least) =>
    `${name} over ${count} passes: first ${first}, last ${last}, smallest ${least}. The slider above selects a pass.`,
  /** @param {number} number @param {string} name @param {string} data */
  point: (number, name, data) => `pass ${number}: ${name} = ${data}`,
  /** @param {number} number @param {string} data */
  notKept: (number, data) => `Pass ${number} computed ${data}. The graph of this pass is not in this file. To see it, run gradwalk walk with --pass ${number}.`,
};

export const earlier = {
  title: "What .grad holds",
  /** @param {number} count */
  intro: (count) =>
    `${count === 1 ? "One leaf" : `${count} leaves`} already had a gradient when this pass began, because nothing had set .grad to 0. backward() adds to .grad, so .grad is not the gradient of this pass alone.`,
  columns: ["leaf", "this pass", "before", ".grad now", "since"],
  /** @param {number} since */
  since: (since) => (since ? `pass ${since}` : "it was set"),
  /** @param {number} count */
  more: (count) => `and ${count} more`,
  /** @param {string} own @param {string} grad @param {string} now @param {number} since */
  told(own, grad, now, since) {
    const because = since ? `not zeroed since pass ${since}` : "set by the program";
    return `The gradient of this pass is ${own}. Before, .grad was ${grad} (${because}). So .grad is now ${now}.`;
  },
};

export const parts = {
  path: "Where in the graph",
  whole: "whole graph",
};

export const stage = {
  title: "Graph",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  fit: "Show everything",
  /** @param {string} shown the sample or step in the picture; "" for none */
  pictureNote: (shown) => (shown ? `Shown: ${shown}.` : ""),
  shapes: { squares: "Square: parameter.", lines: "Line: parameter.", squaresAndLines: "Square, line: parameter.", circles: "Circle: output." },
  openBox: "Open a box to see inside.",
  /** @param {string} name @param {string} data @param {string} gradient @param {string} status */
  node: (name, data, gradient, status) =>
    [name, data && `value ${data}`, gradient && `gradient ${gradient}`, status].filter(Boolean).join(", "),
  unknown: "not known yet",
  active: "this step",
  visited: "visited",
  asked: "asked about",
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

/** Labels of the animation of a step, in which numbers travel along lines. */
export const motion = {
  /** The factor that multiplies a gradient on its way. @param {string} local the local derivative */
  factor: (local) => `× ${local}`,
  /** The effect of a contribution when it lands. */
  landed: {
    /** @param {string} before @param {string} amount @param {string} after */
    added: (before, amount, after) => `${before} + ${amount} = ${after}`,
    /** @param {string} before @param {string} amount */
    overwrites: (before, amount) => `${amount} in place of ${before}`,
    late: "too late",
  },
};

/** The paths from a node to the root. */
export const paths = {
  /** @param {number} count */
  title: (count) => (count === 1 ? "The path to the root" : `The ${count.toLocaleString("en")} paths to the root`),
  /** @param {string} path @param {readonly string[]} locals @param {string} product */
  product: (path, locals, product) => `${path}: ${locals.length > 1 ? `${locals.join(" · ")} = ${product}` : product}`,
  /** @param {readonly string[]} products @param {string} sum */
  sum: (products, sum) => `${products.map((product) => (product.startsWith("-") ? `(${product})` : product)).join(" + ")} = ${sum}`,
  /** @param {string} product at the end of a path */
  end: (product) => `= ${product}`,
  /** @param {number} count */
  more: (count) => `And ${count.toLocaleString("en")} more.`,
  early: "The products along the paths are known when the forward pass is done.",
};

/** Feedback to a wrong answer: the mistake that leads to this number. */
export const diagnoses = {
  /** @param {string} answer */
  general: (answer) => `Not ${answer}. Follow every path from the root back. Multiply the local derivatives along each path, and add where paths meet.`,
  /** @param {string} answer */
  sign: (answer) => `Not ${answer}. Look at the sign.`,
  /** @param {string} path @param {string} product */
  brings: (path, product) => `${path} (${product})`,
  /** @param {string} answer @param {readonly string[]} kept @param {readonly string[]} missed @param {boolean} isOverwritten whether = gives the same number */
  missing: (answer, kept, missed, isOverwritten) =>
    `${answer} comes from ${kept.join(" and ")} only. Missing: ${missed.join(" and ")}. Add the contributions of all paths${isOverwritten ? "; with = instead of +=, only the last contribution is kept" : ""}.`,
  /** @param {string} answer */
  overwritten: (answer) => `${answer} is the result with =: a later contribution overwrote an earlier one. Add the contributions, as += does.`,
  /** @param {string} answer @param {string} node */
  swapped: (answer, node) => `${answer} uses an operand's own value at ${node}. A product swaps: the local derivative for an operand is the value of the other operand.`,
  /** @param {string} answer @param {string} node @param {string} symbol */
  sumAsProduct: (answer, node, symbol) => `${answer} treats ${node} as a product. But its operation is ${symbol}, and the local derivatives of ${symbol} are 1 or -1.`,
  /** @param {string} answer @param {string} node */
  oneSign: (answer, node) => `${answer} has one sign wrong: ${node} subtracts this operand, so the local derivative is -1.`,
  /** @param {string} answer @param {string} user @param {string} by */
  upstream: (answer, user, by) => `${answer} is only the local derivative ∂${user}/∂${by}. Multiply it by the gradient of ${user}.`,
  /** @param {string} answer @param {string} by */
  upstreams: (answer, by) => `${answer} adds up the local derivatives of all nodes that use ${by}. First multiply each local derivative by the gradient of its node.`,
  /** @param {string} answer @param {string} user @param {string} operand @param {string} local */
  factor: (answer, user, operand, local) => `${answer} leaves out a factor: the local derivative ∂${user}/∂${operand} = ${local}.`,
  /** @param {string} answer */
  along: (answer) => `${answer} adds up local derivatives along a path. Multiply them along a path, and add only where paths meet.`,
  /** @param {string} answer */
  between: (answer) => `${answer} multiplies the paths together. Multiply along each path, then add the products.`,
  /** @param {string} answer @param {string} node */
  data: (answer, node) => `${answer} is the value of ${node}. The question asks how fast the root changes.`,
  /** @param {string} answer */
  reciprocal: (answer) => `${answer} is 1 divided by the derivative: numerator and denominator are swapped.`,
  /** @param {string} answer @param {string} root @param {string} by @param {string} step */
  quotient: (answer, root, by, step) =>
    `${answer} is the difference quotient for a step of ${step}: the change of ${root} divided by the change of ${by}. The derivative is the limit of this quotient for smaller and smaller steps.`,
};

/** Long names and lists: the mark for omitted items, and the button. */
export const folds = {
  /** @param {number} count */
  more: (count) => `… ${count.toLocaleString("en")} more …`,
  whole: "Show all",
  less: "Show less",
};

export const inspector = {
  title: "Here",
  nothing: "Select a node or a line on the graph. Without a selection, this panel shows the current step of the walk.",
  made: "computed as",
  operation: "operation",
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
  total: (gradient) => `total ${gradient}`,
  /** @param {string} gradient @param {string} right */
  wrongTotal: (gradient, right) => `total ${gradient}, but it should be ${right}`,
  /** @param {string} gradient */
  stored: (gradient) => `${gradient} from before this pass`,
  root: "It is the root: its gradient is 1 by definition.",
  unused: "No gradient flows to this node: the root does not depend on it, or the operations that use it never pass a gradient to it.",
  inert: "No gradient flows along this line: the operation never passes a gradient to this operand.",
  /** @param {string} because */
  lost: (because) => `lost: ${because}`,
  /** @param {string} name */
  back: (name) => `All of ${name}`,
};

export const orders = {
  title: "The order puzzle",
  intro: "In which order should the backward pass visit the nodes? Click the nodes here or on the graph, drag them, or use the keys. Then run your order.",
  pool: "Nodes to place",
  list: "Your order",
  run: "Run this order",
  right: "Show a right order",
  clear: "Clear",
  handle: "Drag with mouse or finger, or move with the arrow keys; Delete removes the node",
  /** @param {string} name @param {number} at */
  placed: (name, at) => `${name}, visited as number ${at}`,
  /** @param {string} name */
  up: (name) => `Visit ${name} earlier`,
  /** @param {string} name */
  down: (name) => `Visit ${name} later`,
  /** @param {string} name */
  remove: (name) => `Remove ${name}`,
  /** @param {number} count @param {boolean} isLesson whether running it is the only option */
  left: (count, isLesson) =>
    count ? `${count} to place.` : isLesson ? "All nodes are placed: run the order." : "All nodes are placed: run the order, or watch it with Next step.",
  /** @param {number} count @param {number} most */
  tooMany: (count, most) => `The puzzle works for graphs of at most ${most} nodes, but this graph has ${count.toLocaleString("en")}.`,
  /** @param {readonly string[]} names */
  unknown: (names) => `Ignored, because it is not in the graph: ${names.join(", ")}.`,
};

export const outcomes = {
  gradients: "Gradients of this walk",
  right: "right",
  allRight: "Every gradient is right.",
  uncounted: "There are too many legal orders to count.",
  overwriting: "Contributions are written with =, so even a legal order can lose some of them.",
  /** @param {string} root @param {string} by */
  derivative: (root, by) => `∂${root}/∂${by}`,
  /** @param {string} right */
  wrong: (right) => `wrong: it should be ${right}`,
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
  intro: "Nudge a node by h, recompute everything that depends on it, and divide the root's change by h: the result must match the gradient.",
  step: "h",
  found: "chosen for each node",
  method: "Difference",
  methods: { central: "central", forward: "forward" },
  columns: ["node", "verdict", "backprop", "quotient", "error"],
  select: "Select a node to see what changes when it is nudged.",
  none: "–",
  secret: "?",
  slider: "Step h, from 1e-10 to 1e-1",
  error: "error",
  sides: { rounding: "rounding", bending: "bending" },
  /** @param {string} error @param {string} step */
  curve: (error, step) => `Error of the difference quotient for each step h: the smallest is ${error}, near h = ${step}`,
  /** Descriptions of a box for screen readers while a node is nudged. */
  traces: {
    /** @param {string} data @param {string} step */
    own: (data, step) => `nudged by ${step}, from ${data}`,
    /** @param {string} data @param {string} change */
    moved: (data, change) => `${data} after the nudge, a change of ${change}`,
    /** @param {string} data @param {string} change */
    still: (data, change) => `${data} after the nudge, a change of ${change}`,
  },
  /** @param {string} quotient @param {string} gradient @param {string} verdict "" if it is not shown */
  quotient: (quotient, gradient, verdict) => [`difference quotient ${quotient}`, `gradient to compare ${gradient}`, verdict].filter(Boolean).join(", "),
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
      `with ${name} + ${step}, ${root} is ${up}`,
      down === null ? "" : `with ${name} - ${step}, it is ${down}`,
      `the quotient is ${quotient}; backpropagation says ${backprop}`,
    ]
      .filter(Boolean)
      .join("; "),
  /** @param {string} text */
  noStep: (text) => `“${text}” is not a valid step: write a positive number such as 0.0001, or leave the field empty.`,
  closed: "All nodes are in closed parts of the graph. Open a part, or select a node, to check it.",
  /** @param {number} count */
  others: (count) => `${count.toLocaleString("en")} other nodes are in closed parts of the graph.`,
};

export const exercises = {
  title: "Exercises",
  how: "All values are known. Work out the gradient with the chain rule. An answer within 1% of the gradient counts as right. You may type a product such as 3*2.",
  answer: "Your answer",
  check: "Check",
  hint: "Hint: walk one step",
  next: "Next question",
  previous: "Previous",
  forget: "Forget my progress",
  file: "Results as a file",
  code: "Code to hand in: ",
  noProof: ". The code contains five counts for the exercises and the lesson together: questions, right answers, right answers at the first try, right answers without a hint, and tries. Its last characters detect typing errors. The code can be forged, so it proves nothing.",
  /** @param {number} number @param {string} root @param {string} by */
  question: (number, root, by) => `${number}. What is ∂${root}/∂${by}?`,
  /** @param {string} text */
  noNumber: (text) => (text.trim() ? `“${text}” is not a number: write one such as -1.5, 1/3 or 3*2.` : "Write a number first."),
  /** @param {string} root @param {string} by @param {string} gradient */
  right: (root, by, gradient) => `Right: ∂${root}/∂${by} = ${gradient}.`,
  /** @param {readonly boolean[]} alone for each solved question, whether it was solved without a hint @param {boolean} isOne whether the current question is solved */
  score(alone, isOne) {
    if (!alone.length) return "None solved yet.";
    const solved = `Solved: ${alone.length}, ${alone.filter(Boolean).length} of them without a hint.`;
    return isOne ? `${solved} This is one of them.` : solved;
  },
};

export const links = {
  /** @param {number} length @param {number} most */
  tooLong: (length, most) => `The link is ${length.toLocaleString("en")} characters long; the limit is ${most.toLocaleString("en")}.`,
  /** @param {string} key @param {string} text */
  senseless: (key, text) => `The link contains ${key}=${text.slice(0, 80)}, which is not valid here and is ignored.`,
  /** @param {string} name */
  noNode: (name) => `The link selects ${name}, but there is no such node.`,
};

export const share = {
  title: "Share",
  link: "Link",
  copy: "Copy link",
  copied: "Copied.",
  notCopied: "Copying failed. The text is selected: copy it with the keyboard.",
  ofFile: "This page is a file on your computer. To share it, put the file on a website, or send the file together with the link. Then replace the part of the link before the # with the new address of the file.",
  start: "Begins",
  here: "in the current state",
  begin: "with this graph, nothing known",
  theirs: "the reader's own setting",
  presented: "for presenting: the graph and the sentence about the step fill the screen",
  note: "Note above the graph",
  question: "Question of your own",
  answer: "Right answer; others after semicolons",
  noQuestion: "The question is shown with the graph. If you give a right answer, the page checks the answers of learners.",
  noAnswer: "Without a right answer, the question is only shown, for discussion.",
  keptAnswer: "The right answer from the link that you opened is kept.",
  /** @param {readonly string[]} ways */
  counts: (ways) => `Counts as right: ${ways.join("; ")}. The link does not show the answer, but somebody who tries all likely answers can find it.`,
  /** @param {string} number */
  exactly: (number) => `exactly ${number}`,
  /** @param {string} number */
  rounded: (number) => `anything that rounds to ${number}`,
  /** @param {string} word */
  word: (word) => `the text “${word}”`,
  embed: "Embed in a page",
  snippet: "HTML",
  copySnippet: "Copy HTML",
  src: "src must be the address of this page: its URL on a website, or its file name if the file lies next to the page that embeds it.",
};

/** A teacher's question to the learner. */
export const ask = {
  title: "Question",
  answer: "Answer to the question",
  check: "Check",
  nothing: "Write an answer first.",
  /** @param {string} text */
  noNumber: (text) => `“${text}” is not a number: write one such as -1.5, 1/3 or 3*2.`,
  right: "Right.",
  wrong: "Not right. Try again.",
};

/** The printed page. */
export const paper = {
  name: "Name",
  answer: "Answer",
};

/** The page in a presentation. */
export const present = { leave: "Leave (Escape)" };

export const files = {
  /** @param {string} reason */
  notJson: (reason) => `This is not JSON: ${reason}`,
  noVersion: "none",
  /** @param {string} version @param {number} known */
  version: (version, known) => `This walk has version ${version}, but only version ${known} can be read.`,
  noOrder: "The order of this walk must list each node that receives a gradient once, and no other node.",
  /** @param {string} problem */
  refused: (problem) =>
    `The file cannot be shown. ${problem}\nOpen a file written by gradwalk walk --json, Walk.to_json() or Graph.to_json(). To make a page from a script, use gradwalk walk --page.`,
};

// The lesson. In its texts `x` is code, *x* is emphasized, and $…$ is a formula, in which [a/b] is a fraction and ^2 a square.

export const lesson = {
  title: "Lesson",
  lab: "Lab",
  views: "Lesson or lab",
  chapters: {
    back: {
      title: "Forward, then back",
      beats: {
        start: "A program that learns needs *gradients*. A gradient says how fast a result changes when an input changes. In fifteen minutes you will know how a computer finds them. This is our first program: `f = (a + b)·c`.",
        forward: "Forward first. Each node is computed from its *operands*, the nodes that lead into it: `e = a + b`, then `f = e·c`. The result is −10.",
        predict: {
          text: "Raise `a` a little, and `f` changes too. *How many times faster than `a` does `f` change?*",
          right: "`a` rose by 0.01, and `f` rose by 0.1: ten times as much. So the gradient of `a` is 10.",
          mistakes: {
            one: "`e` changes as fast as `a`. But then `e` is multiplied by `c`.",
            change: "0.1 would be how far `f` moves when `a` moves by 0.01. How many times faster is that?",
            own: "2 is the value of `a`. How fast does `f` change?",
            root: "−10 is the value of `f`. How fast does it change?",
          },
        },
        seed: "Now *backward*, to find every gradient at once. We start at the result. `f` changes exactly as fast as itself, so its gradient is 1. This 1 is the *seed*.",
        flows: "The seed travels back. Each line multiplies it by a *local derivative*. When `e` grows by 1, `f` grows by `c` = 10. So `e` receives 1 · 10. In the same way, `c` receives 1 · (−1).",
        sum: {
          text: "`e = a + b` has received 10. When `b` grows by 1, `e` grows by 1. *What is the gradient of `b`?* (It is written $[∂f/∂b]$.)",
          paper: "Backward, the seed 1 begins at `f`, and each line multiplies it by its local derivative. So `e = a + b` receives 1 · 10. When `b` grows by 1, `e` grows by 1. *What is the gradient of `b`?* (It is written $[∂f/∂b]$.)",
          right: "`b` gets 10 · 1, and `a` gets the 10 that you predicted.",
          mistakes: {
            one: "1 is the local derivative. Multiply it by 10, the gradient of `e`.",
            own: "−3 is the value of `b`. In a sum, the values do not matter.",
            beside: "You multiplied by the value of `a`. But `e` is a sum: how fast does it grow when `b` grows?",
          },
        },
      },
      recap: "One pass backward finds every gradient.",
    },
    pattern: {
      title: "The pattern",
      beats: {
        again: "A longer program: `e = a·b`, `d = e + c`, `L = d·f`. Watch it run backward. The product gives each operand the value of the *other* operand, times what arrived. The sum passes on what arrived, to both.",
        practice: {
          text: "Now it is the turn of `e = a·b`. Its gradient is −2. *What is the gradient of `a`?*",
          right: "`a` gets −3, the value of `b`, times −2.",
          mistakes: {
            local: "−3 is the local derivative. Multiply it by −2, the gradient of `e`.",
            unswapped: "That is the gradient of `b`. Multiplication swaps: `a` gets the value of `b`, times −2.",
            copied: "Addition copies. But `e = a·b` is a multiplication.",
          },
        },
      },
      recap: "Addition copies. Multiplication swaps and scales.",
    },
    neuron: {
      title: "A neuron",
      beats: {
        meet: "Networks are built of neurons, and this is one. It multiplies each input `x` by a weight `w`, adds the products and a bias `b`, and puts the sum `n` through `tanh`. Only `tanh` is a new operation.",
        slope: "`tanh` squeezes every number between −1 and 1. Its local derivative is the *slope* of the curve: 1 where it is steepest, almost 0 where it is flat. Move `n` and see.",
        half: "Here the slope is 0.5. `o` received 1, and *half of it gets through* to `n`.",
        weight: {
          text: "The sums copied 0.5 all the way to `x1w1 = x1·w1`. *What is the gradient of the weight `w1`?*",
          right: "`w1` gets the value of `x1`, times what arrived: 2 · 0.5.",
          mistakes: {
            upstream: "0.5 is what arrived. Multiply it by the local derivative.",
            local: "2 is the local derivative. Multiply it by the 0.5 that arrived.",
            unswapped: "That is the gradient of `x1`. Multiplication swaps: `w1` gets the value of `x1`, times 0.5.",
            own: "−3 is the value of `w1`. Multiplication swaps: `w1` gets the value of `x1`, times 0.5.",
          },
        },
        zero: {
          text: "The other weight, `w2`, gets 0. *Why?*",
          options: ["Its input `x2` is 0", "`w2` is too small", "`tanh` lets nothing through"],
          feedback: [
            "As long as `x2` is 0, changing `w2` changes nothing.",
            "The size of `w2` does not matter here. Multiplication swaps: what does `w2` get?",
            "`tanh` let half of the gradient through, for both weights.",
          ],
        },
      },
      recap: "tanh lets a part of the gradient through: as much as its slope.",
    },
    twice: {
      title: "Why +=",
      beats: {
        both: {
          text: "In `f = a·a`, two lines lead from `a` to `f`. *What is the gradient of `a`?*",
          right: "Each line brings 3, and what they bring is *added*: 3 + 3.",
          mistakes: {
            one: "3 is what one line brings. There are two lines.",
            value: "9 is the value of `f`. How fast does it change?",
          },
        },
        lost: "That is why programs write `+=`, which adds to what is there. With `=`, the second 3 *replaces* the first, and the first is lost. The gradient is half of what it should be, and no error tells you.",
      },
      recap: "Where lines meet, gradients add up: `+=`.",
    },
    order: {
      title: "Whose turn is it?",
      beats: {
        turns: "`a` is used twice, by `b` and by `c`. The nodes take turns. On its turn, a node passes on the gradient that it has received *so far*. It has only one turn.",
        puzzle: {
          text: "*In which order should the nodes take their turns?* Choose them one by one, then run your order.",
          paper: "*In which order should the nodes take their turns?* Write down their names.",
          right: "6 and 9 reached `a` in time: 6 + 9 = 15.",
        },
        early: "Suppose `b` takes its turn before `d`. It has received nothing, so it passes on 0. Then `d` sends 6 to `b`, *too late*: `b` has had its turn. The gradient of `a` is 9, and it should be 15.",
        late: "In this order `a` waits for `b` and for `c`. Nothing is lost.",
      },
      recap: "A node takes its turn after all nodes that use it.",
    },
    sort: {
      title: "The order, in code",
      beats: {
        append: {
          text: "How does a program find this order? It follows the lines from the result to the inputs, adds each node to a list, and then reads the list *backward*. *When should it add a node?*",
          options: ["As soon as it gets there", "After all operands of the node", "When everything is done"],
          feedback: [
            "It gets to the result first. Read backward, the list would end with the result, which has to be first.",
            "Then operands come before results in the list. Read backward, it is the order that you found.",
            "Then all nodes would be added at once, in no order.",
          ],
        },
        search: "micrograd, a small Python library, does it like this. `append` comes after the loop over the operands. The numbers are the places in the list: this is a *topological sort*. `reversed` reads it from 4 to 1.",
      },
      recap: "Sort the nodes, then walk the list backward.",
    },
    now: {
      title: "What you can do now",
      beats: {
        done: "This is backpropagation. It finds all gradients of a program, and nearly every neural network learns with it. Go on with what you like:",
      },
      recap: "Start with 1, multiply along each line, add where lines meet, and take turns in order.",
    },
    nudge: {
      title: "What a gradient predicts",
      beats: {
        see: "Move `a`: the dot follows the line, and the numbers of the nodes follow, too. `f` always changes *10 times* as fast as `a`. That is the slope of the line, and it is the gradient of `a`.",
        promise: {
          text: "The gradient of `c` is −1. *What will `f` do when `c` grows from 10 to 10.1?*",
          options: ["It falls by about 0.1", "It rises by about 0.1", "It falls to −1"],
          feedback: [
            "The change is 0.1 times −1.",
            "The size is right. But look at the sign: with a negative gradient, `f` falls when `c` rises.",
            "−1 is not the new value of `f`. It says how fast `f` changes.",
          ],
        },
        kept: "See for yourself: the line falls. Every input has its own gradient, and you can check each one like this.",
      },
      recap: "Change an input a little: the result changes by the gradient times that change.",
    },
    saturation: {
      title: "When tanh goes flat",
      beats: {
        steepest: {
          text: "Move `n` along the curve. *Where is the slope largest, and what is it there?*",
          options: ["Far to the right: nearly 1", "In the middle: 1", "It is the same everywhere"],
          feedback: [
            "Far to the right the *value* is nearly 1. But the curve is flat there: its slope is nearly 0.",
            "At 0 the slope is 1, and on both sides it falls toward 0.",
            "Only a straight line has the same slope everywhere.",
          ],
        },
        slope: {
          text: "The slope has a formula that uses the result `o`: it is $1 − o^2$. Here `o` is 0.7071. *What is the slope?*",
          right: "The square of `o` is 0.5, and 1 − 0.5 = 0.5. So half of the gradient gets through.",
          mistakes: {
            value: "That is `o`. Square it, and subtract the square from 1.",
            unsquared: "That is 1 − `o`. Square `o` before you subtract it.",
          },
        },
        saturated: "Now the bias is 12. `o` is 0.99999, the curve is flat, and *hardly any gradient gets through*: the gradients before `tanh` are almost 0. The neuron is *saturated*. It can hardly learn.",
        vanished: "This neuron should output −0.8, and it outputs almost 1. Its loss `L`, the square of the error, is large. Take ten steps of learning: almost nothing happens. In deep networks many such factors are multiplied, and the gradient *vanishes*.",
      },
      recap: "tanh multiplies a gradient by $1 − o^2$: by 1 in the middle, by almost 0 where the curve is flat.",
    },
    paths: {
      title: "More paths, more orders",
      beats: {
        paths: {
          text: "`a` is used by `d = a·b` and by `e = a + b`, and `f = d·e`. `a` is −2 and `b` is 3. The gradient of `d` is 1, and the gradient of `e` is −6. *What is the gradient of `a`?*",
          right: "3 · 1 comes through `d`, and 1 · (−6) comes through `e`.",
          mistakes: {
            first: "3 is what comes through `d`. What comes through `e` is missing.",
            second: "−6 is what comes through `e`. What comes through `d` is missing.",
          },
        },
        met: "Two paths lead from `a` to the result. Multiply along each path, and add where the paths meet. With `=`, one path is lost.",
        which: {
          text: "Another program: `L = d·f`, `d = e + c`, `e = a·b`. *Which of these orders gives a wrong gradient?*",
          options: ["`L`, `f`, `d`, `c`, `e`, `b`, `a`", "`L`, `d`, `e`, `a`, `b`, `c`, `f`", "`L`, `e`, `d`, `a`, `b`, `c`, `f`"],
          feedback: [
            "Here each node comes after all nodes that use it. Inputs such as `f` pass nothing on, so they may come early.",
            "Here each node comes after all nodes that use it. A graph can have several right orders, and this is one.",
            "`d` uses `e`. If `e` comes before `d`, it has received nothing, and has nothing to pass on.",
          ],
        },
        early: "Here `c = a·b`, `d = c + a` and `e = d**2`, the square of `d`. But `c` takes its turn before `d`. It has received nothing, so it passes on 0. The gradient of `a` is 16, and it should be 64. (micrograd would still add the late 16 to `c.grad`. But `a.grad` would be wrong.)",
      },
      recap: "A gradient is a sum over all paths. A wrong order loses some of them.",
    },
    check: {
      title: "Trust, and check",
      beats: {
        quotient: {
          text: "Can you trust a gradient? Nudge a node and compare. Here `a` is nudged by `h` = 0.0001. With `a` + `h`, `L` is −7.9994; with `a` − `h` it is −8.0006. *Divide the change of `L` by the change of `a`: what comes out?*",
          right: "0.0012 / 0.0002 = 6. This is the *difference quotient*.",
          mistakes: {
            change: "That is how much `L` changed from one end to the other. Divide it by the change of `a`.",
            half: "Use both ends: `L` went from −8.0006 to −7.9994.",
            step: "`a` went from 2 − `h` to 2 + `h`: it changed by 2 times `h`.",
            up: "That is how much `L` changed on one side. Divide it by the change of `a`.",
          },
        },
        drawn: "Backpropagation has run, too. The node of the root shows the quotient *beside the gradient*, and they agree. Choose another node to nudge that node instead. Then move `h`.",
        notice: {
          text: "Suppose the code says `=` where it should say `+=`. Here `a` is used twice, so its gradient will be wrong. *Will the quotient show this?*",
          options: ["No: it will be wrong in the same way", "Only if `h` is small enough", "Yes: it will differ from the gradient"],
          feedback: [
            "What is the quotient computed from? Only from forward passes. They do not use `+=`.",
            "A whole contribution is missing from the gradient. The difference shows even if `h` is not very small.",
            "The quotient comes from the forward pass alone, so the mistake does not affect it.",
          ],
        },
        caught: "The check found the mistake: the gradient is 3, but the quotient is −3. What the other path brought was overwritten. Python raised no error, so only the check shows it. Move `h`: the gradient stays wrong.",
        bent: "Because of `tanh`, `o` does not follow a straight line. With `h` = 0.1 the quotient is inexact. Make `h` smaller, and watch the quotient come closer to the gradient, −1.5.",
        small: {
          paper: "With `h` = 0.1 the quotient for `x1` is −1.521, with `h` = 0.01 it is −1.5002, and the gradient is −1.5. *So is the smallest `h` the best?*",
          text: "A smaller `h` made the quotient better. *So is the smallest `h` the best?*",
          options: ["Yes, the smaller the better", "No: with a tiny `h` the quotient gets worse again", "Below some size, `h` makes no difference"],
          feedback: [
            "With exact numbers it is. But the computer keeps about 16 digits. How many right digits does the difference of two nearly equal numbers have?",
            "The computer keeps about 16 digits. The difference of two nearly equal numbers has only a few right digits left.",
            "That would be so if numbers had infinitely many digits. The computer keeps about 16.",
          ],
        },
        rounded: "At `h` = 1e-10 the last digits of the quotient are noise. (This much noise is expected for such a small step, so the verdict accepts it.) The curve shows the error for every `h`. On the right, the function *bends*. On the left, the computer *rounds*. The best `h` lies between.",
      },
      recap: "The difference quotient checks a gradient, but it is slow and inexact. Backpropagation is fast, and exact except for rounding.",
    },
    training: {
      title: "Learning",
      beats: {
        loss: "A neuron outputs `o`. The right output is `y`. The square of the error is the *loss* `L`. Learning means making the loss smaller. The gradients say how.",
        which: {
          text: "The gradient of `w` is negative. *To make `L` smaller, what should `w` do?*",
          options: ["Go up", "Go down", "Stay"],
          feedback: [
            "With a negative gradient, `L` falls when `w` rises. So we change `w` *against* the gradient.",
            "Then `L` would rise: with a negative gradient, `w` and `L` change in opposite directions.",
            "That would be right only if the gradient were 0.",
          ],
        },
        descend: "One step is `w −= rate · w.grad`, and the same for `b`. `w` and `b` are *parameters*: numbers that learning may change. This is *gradient descent*. Take ten steps, and watch the loss.",
        rate: {
          paper: "So each parameter takes small steps: `w −= rate · w.grad`, and the same for `b`, with `rate` = 0.1. *What if the rate is 25 times as large?*",
          text: "*What if the rate is 25 times as large?*",
          options: ["It learns 25 times as fast", "It makes no difference", "A step can jump past the minimum"],
          feedback: [
            "A gradient predicts only the effect of *small* changes.",
            "Every step would be 25 times as long.",
            "A gradient predicts only the effect of *small* changes.",
          ],
        },
        large: "Take a step: `w` jumps past the minimum, to where `tanh` is flat. Hardly any gradient gets through there, and the loss stays where it is.",
        again: {
          text: "`w.grad` still holds the gradient of the last pass. *What happens if nothing sets it to 0 before the next backward pass?*",
          options: ["The new gradient replaces it", "The new gradient is added to it", "Python raises an error"],
          feedback: [
            "That would happen with `=`. But the code says `+=`.",
            "The code says `+=`. So the gradients of earlier passes add up, unless `zero_grad()` sets them to 0.",
            "Python raises no error, and that is why this mistake is so common.",
          ],
        },
        unzeroed: "Without `zero_grad()` each step uses the *sum of all gradients so far*. So the steps get larger, jump past the minimum, and swing back and forth. Switch `zero_grad()` on and off, and start again.",
      },
      recap: "Run forward, call `zero_grad`, run backward, and take a small step against the gradient. Repeat.",
    },
    passes: {
      title: "Why backward?",
      beats: {
        runs: {
          text: "This network has eight inputs and weights, and we want the gradient of each. *If you nudge them one by one, how many times does the program have to run, at least?*",
          right: "It runs once without a nudge, and once for each of the eight.",
          mistakes: {
            plain: "Nearly. One more run, without a nudge, is needed for comparison.",
            one: "One run nudges one number, and gives one gradient.",
            central: "That is enough for two nudges of each number. But fewer runs are enough.",
          },
        },
        count: "Compute the gradients both ways, and count the runs. Compare the gradients, too.",
        million: {
          text: "*A network has a million weights. How many backward passes does it take to get all their gradients?*",
          options: ["One", "A thousand", "A million"],
          feedback: [
            "That is why large networks can be trained at all.",
            "A backward pass visits every node once, however many weights there are.",
            "That is the cost of nudging: one run for every weight.",
          ],
        },
        once: "A nudge measures *one input at a time*. The backward pass starts *at the result, once*, and reaches every node. Each node adds up what it receives and passes on the sum once. So *no edge is travelled twice*.",
      },
      recap: "One backward pass gives the gradient of one result with respect to every node.",
    },
    own: {
      title: "Your own data",
      beats: {
        expression: "In the lab you can type any expression, change its numbers, and walk through its gradients, forward and backward. Start with this one, or type your own.",
        points: "You can also give a network your own points: click in the plane to add them, or paste a table. Then train the network and watch the border between the two classes move.",
        program: "And you can look into a Python program of your own: `gradwalk walk --page script.py` shows every `backward()` of the program on a page like this one. This graph is the last part of a language model: softmax and its loss.",
      },
      recap: "Everything in the lesson works with your own numbers, too.",
    },
  },
  /** @param {number} count */
  minutes: (count) => `${count} min`,
  /** The length of the lesson. @param {number} count */
  minutesInAll: (count) => `The whole lesson: ${count} min`,
  /** @param {string} title of a chapter */
  resume: (title) => `Continue at “${title}”`,
  further: "Go further",
  answers: "Answers",
  /** @param {string} order */
  orderOr: (order) => `${order}, or another order in which each node comes after all nodes that use it`,
  contents: "Chapters",
  next: "Continue",
  nextChapter: "Next chapter",
  back: "Back",
  check: "Check",
  show: "Show me",
  handIn: "Hand in your answers",
  answer: "Your answer",
  right: "Right.",
  /** @param {string} answer */
  shown: (answer) => `It is ${answer}.`,
  shownChoice: "It is the marked one.",
  /** @param {number} beat @param {number} count */
  beat: (beat, count) => `${beat} of ${count}`,
  /** @param {string} text */
  noNumber: (text) => (text.trim() ? `“${text}” is not a number: write one such as -1.5, 1/3 or 3*2.` : "Write a number first."),
  /** @param {string} answer */
  wrong: (answer) => `Not ${answer}. Look at the graph again, or choose “Show me”.`,
  sign: "The size is right. Look at the sign.",
};

export const figures = {
  /** @param {string} root @param {string} node */
  plot: (root, node) => `${root} over ${node}`,
  nudge: "Nudge",
  /** @param {string} node @param {string} from @param {string} to */
  moved: (node, from, to) => `${node}: ${from} → ${to}`,
  /** @param {string} root @param {string} node @param {string} quotient */
  quotient: (root, node, quotient) => `change of ${root} / change of ${node} = ${quotient}`,
  /** @param {string} gradient */
  gradient: (gradient) => `gradient ${gradient}`,
  noQuotient: "no change: no quotient",
  /** @param {string} name @param {string} number */
  value: (name, number) => `${name} = ${number}`,
  /** @param {string} slope */
  slope: (slope) => `slope ${slope}`,
  adds: "with +=",
  overwrites: "with =",
  /** @param {string} giver */
  from: (giver) => `from ${giver}`,
  /** @param {string} giver */
  lateFrom: (giver) => `from ${giver}, too late`,
  /** @param {string} name */
  comes: (name) => `Contributions to ${name}`,
  stepSearch: "Next line",
  restartSearch: "From the start",
  code: "micrograd's backward()",
  step: "Step",
  steps: "Ten steps",
  restart: "Start again",
  zeroes: "zero_grad() before each pass",
  rate: "rate",
  /** @param {number} count */
  taken: (count) => (count === 1 ? "1 step" : `${count} steps`),
  lab: "Open it in the lab",
  runNudges: "Nudge them all",
  runBackward: "Run backward",
  leaf: "leaf",
  nudges: "by nudging",
  backward: "backward",
  /** @param {number} runs */
  runs: (runs) => (runs === 1 ? "1 run of the program" : `${runs} runs of the program`),
  oneBackward: "1 run, and 1 backward pass",
};

// Sentences about the steps of a walk.

const forward = {
  /** @param {string} name @param {string} number */
  given: (name, number) => `${name} is given: ${number}`,
  /** @param {string} name @param {string} symbol @param {number} operands @param {string} number */
  counted: (name, symbol, operands, number) => `${name} = ${symbol} of ${operands} operands = ${number}`,
};

/** The step between the passes. @param {string} derivative such as df/df */
const seeded = (derivative) =>
  `${derivative} = 1: the root's gradient with respect to itself is 1. That is the seed of the backward pass.`;

/** The visited node and its gradient. */
const visited = {
  /** @param {string} name */
  root: (name) => `${name} is the root: its gradient is 1.`,
  /** @param {string} name @param {string} gradient */
  leaf: (name, gradient) => `${name} is a leaf: it keeps its gradient ${gradient}.`,
  /** @param {string} name @param {string} gradient */
  inner: (name, gradient) => `${name} has gradient ${gradient}.`,
};

/** The effect of a local rule. */
const rules = {
  /** @param {string} symbol */
  byHand: (symbol) => `${symbol} follows a rule made by hand`,
  /** @param {string} symbol */
  madeWith: (symbol) => `${symbol} has the local derivatives that it was made with`,
  /** @param {string} symbol */
  copiesToStart: (symbol) => `${symbol} copies to its start`,
  /** @param {string} symbol */
  copies: (symbol) => `${symbol} copies`,
  /** @param {string} symbol */
  flips: (symbol) => `${symbol} flips the sign`,
  /** @param {string} symbol */
  swaps: (symbol) => `${symbol} swaps and scales`,
  /** @param {string} symbol */
  scales: (symbol) => `${symbol} scales`,
  /** @param {string} symbol */
  holdsBack: (symbol) => `${symbol} holds back`,
  /** @param {string} symbol */
  letsThrough: (symbol) => `${symbol} lets through`,
  /** @param {string} symbol */
  splits: (symbol) => `${symbol} is at a tie and splits`,
  /** @param {string} symbol */
  hasGotNothing: (symbol) => `${symbol} has received no gradient itself`,
};

/** The contribution to an operand. */
const gets = {
  /** @param {string} name @param {string} upstream */
  all: (name, upstream) => `${name} gets upstream ${upstream} unchanged`,
  /** @param {string} name @param {string} upstream */
  nothing: (name, upstream) => `${name} gets nothing of upstream ${upstream}`,
  /** @param {string} name */
  nothingAtAll: (name) => `${name} gets nothing`,
  /** @param {string} name @param {string} upstream @param {string} factor @param {string} amount */
  scaled: (name, upstream, factor, amount) => `${name} gets upstream ${upstream} times ${factor}, making ${amount}`,
};

const ORDINALS = ["first", "second", "third"];

/** Operations that never pass a gradient to the operands with these names. */
const kept = {
  /** @param {string} symbol @param {readonly string[]} names */
  stopped: (symbol, names) => `${symbol} passes nothing to ${names.join(" and ")}.`,
  /** @param {string} symbol @param {readonly number[]} positions the flat operands; empty if all are flat @param {readonly string[]} names */
  flat: (symbol, positions, names) => {
    const where = positions.length ? ` in its ${positions.map((i) => ORDINALS[i]).join(" and ")} operand` : "";
    return `${symbol} is flat${where}: it passes nothing to ${names.join(" and ")}.`;
  },
};

/** The factors that multiply the upstream gradient. */
const factors = {
  /** @param {string} number */
  constant: (number) => `the constant ${number}`,
  /** @param {string} name @param {string} number */
  valueOf: (name, number) => `${name}'s value ${number}`,
  /** @param {string} name @param {string} number */
  ownValue: (name, number) => `${name}'s own value ${number}`,
  /** @param {string} formula @param {string} number */
  formula: (formula, number) => `${formula} (${number})`,
  /** The local derivative of a reduction if it equals another operand of the same element. @param {number} operand counted from 1 */
  beside: (operand) => `the other factor, operand ${operand}`,
};

/** The effect of a contribution on the gradient of the operand. */
const received = {
  late: ", too late: it has been visited already",
  /** @param {string} before */
  overwrites: (before) => `, which overwrites ${before}`,
  /** @param {string} before @param {string} after */
  onTop: (before, after) => `, on top of ${before}: ${after} in all`,
};

/** A rule, and the operands that it was applied to. @param {string} rule @param {readonly string[]} clauses */
const applied = (rule, clauses) => `${rule}: ${clauses.join("; ")}`;

const losses = {
  /** @param {string} name @param {string} got @param {string} right */
  wrong: (name, got, right) => `${name} gets ${got} and should get ${right}.`,
  /** @param {string} giver @param {string} amount @param {string} taker @param {string} because */
  late: (giver, amount, taker, because) => `${giver}'s contribution ${amount} to ${taker} came too late: ${because}`,
  /** @param {string} giver @param {string} amount @param {string} taker @param {string} because */
  lost: (giver, amount, taker, because) => `${giver}'s contribution ${amount} to ${taker} was lost: ${because}`,
  /** @param {string} giver @param {string} taker */
  visitedAfter: (giver, taker) => `${giver} was visited after ${taker}`,
  /** @param {string} giver @param {string} amount */
  writtenOver: (giver, amount) => `${giver}'s ${amount} was written over it`,
  /**
   * @param {string} name @param {string} amount @param {string} derivative @param {string} number
   * @param {string} missing
   */
  passedOn: (name, amount, derivative, number, missing) =>
    `; so ${name} misses ${amount} times ${derivative} ${number} = ${missing}`,
  /** @param {number} count */
  more: (count) => ` And ${count.toLocaleString("en-US")} more.`,
};

export const sentences = { forward, seeded, visited, rules, gets, kept, factors, received, applied, losses };

/** The names of parts of a graph. */
export const modules = {
  /** @param {string} first @param {string} last */
  nodes: (first, last) => `nodes ${first} to ${last}`,
  /** @param {string} first @param {string} last */
  modules: (first, last) => `${first} to ${last}`,
  /** A sample or step. @param {string} kind @param {number} number @param {number} count */
  repetition: (kind, number, count) => `${{ samples: "sample", steps: "step" }[kind] ?? "term"} ${number} of ${count}`,
  /** @param {string} kind @param {number} first @param {number} last */
  repetitions: (kind, first, last) => `${{ samples: "samples", steps: "steps" }[kind] ?? "terms"} ${first} to ${last}`,
};

/** The table's English names of operations. Other languages use them when they have no translation. */
export const operations = {
  /** The name of an operation. @param {string} _name @param {string} words of the table */
  words: (_name, words) => words,
  /** The operand count of an operation that takes any number of operands. @param {string} words of the table */
  takes: (words) => words,
};

// Errors about invalid graphs and expressions: what was given, what was expected, and how to correct it.

/** A graph in JSON. `where` is a node, such as "node 3"; `what` one of its parts; `given` is shown as JSON. */
export const graphErrors = {
  notAGraph: 'this is not a graph: the entry "gradwalk": "graph" is missing',
  noOutput: "the graph has no output",
  theGraph: "the graph",
  anOutput: "an output",
  missing: "missing",

  /** @param {number} length */
  aList: (length) => `a list of ${length}`,

  /** @param {string} given @param {number} one @param {number} other */
  otherVersion: (given, one, other) => `this graph has version ${given}; versions ${one} and ${other} can be read`,

  /** @param {string} key */
  badColumn: (key) => `the column ${key} of the graph is damaged or belongs to another graph`,

  /** @param {number} count @param {string} names */
  severalOutputs: (count, names) =>
    `this needs a graph with one root, but this graph has ${count}: ${names}`,

  /** @param {number} place @param {number} count */
  outputOutside: (place, count) => `an output refers to node ${place}, but the graph has ${count} nodes`,

  /** @param {string} where @param {string} key @param {readonly string[]} known */
  unknownKey: (where, key, known) => `${where} has the unknown key '${key}'; known keys: ${known.join(", ")}`,

  /** @param {string} where @param {string} key */
  noList: (where, key) => `${where} needs a list of ${key}`,

  /** @param {number} place */
  nodeAt: (place) => `node ${place}`,

  /** @param {string} where @param {string} given */
  notAnObject: (where, given) => `${where} is ${given}, not an object`,

  /** @param {string} where */
  operationAndSymbol: (where) =>
    `${where} has both an operation and a symbol; only hand-made nodes have a symbol`,

  /** @param {string} where @param {string} given */
  unknownOperation: (where, given) => `${where} has the unknown operation ${given}`,

  /** @param {string} where @param {number} operands @param {number} partials */
  unequalLists: (where, operands, partials) =>
    `${where} has ${operands} operands and ${partials} partials`,

  /** @param {string} where @param {string} operation @param {number | string} takes in words unless it is a single number @param {number} given */
  miscounted: (where, operation, takes, given) =>
    `${where} (${operation}) takes ${takes} operands, not ${given}`,

  /** @param {string} where @param {number} given */
  noOperation: (where, given) => `${where} has operands (${given}) but no operation`,

  /** @param {string} where @param {number} operand */
  notEarlier: (where, operand) =>
    `${where} has node ${operand} as operand, not an earlier node`,

  /** @param {string} where @param {string} given */
  constantWithPartial: (where, given) => `a constant of ${where} has the partial ${given}, not null`,

  /** @param {string} where @param {string} given */
  badByHand: (where, given) => `by_hand of ${where} must be true, got ${given}`,

  /** @param {string} what */
  empty: (what) => `${what} is empty: leave it out`,

  /** @param {string} where @param {string} given */
  badSource: (where, given) => `the source of ${where} is ${given}, not a file and a line`,

  /** @param {string} where @param {number} letters @param {number} most */
  longText: (where, letters, most) => `the text of ${where} must have at most ${most} characters, got ${letters}`,

  /** @param {string} what @param {string} given */
  notAPlace: (what, given) => `${what} is ${given}, not the index of a node`,

  /** @param {string} what @param {string} given */
  notANumber: (what, given) => `${what} is ${given}, not a number`,

  /** @param {string} what */
  tooLarge: (what) => `${what} is too large for a float`,

  /** @param {string} what @param {string} given */
  notAText: (what, given) => `${what} is ${given}, not a string`,

  /** The name of a part of a node in the messages above. @param {string} part @param {string} where */
  partOf: (part, where) => `${part} of ${where}`,

  parts: {
    data: "the data",
    gradient: "the gradient",
    label: "the label",
    scope: "the scope",
    symbol: "the symbol",
    line: "the line",
    file: "the file",
    text: "the text",
    operand: "an operand",
    partial: "a partial",
    constant: "a constant",
  },

  /** @param {string} name @param {boolean} byHand */
  madeByHand: (name, byHand) =>
    `${name} was made ${byHand ? "by hand" : "with its derivatives"}: its formula is unknown, so its operands cannot be changed`,
};

const CALLS = "call functions by their bare names, as in exp(x)";

/** @typedef {{ problem: string, hint?: string }} Said */

/** Errors in expressions, the same as in Python's expression.py. Each has the problem and, if there is one, a hint. */
const either = new Intl.ListFormat("en-GB", { type: "disjunction" });

export const expressionErrors = {
  syntax: {
    empty: { problem: "the expression is empty", hint: "write one such as tanh(x*w + b)" },
    unused: {
      problem: "the result of this part is not used",
      hint: "give it a name, as in e = a + b, and use that",
    },
    tooLarge: { problem: "this integer is too large for a float" },
    chained: {
      problem: "comparisons cannot be chained",
      hint: "compare twice and multiply, as in (0 < x) * (x < 1)",
    },
    comma: { problem: "syntax error: a comma is only allowed between arguments" },
    unmatched: { problem: "syntax error: unmatched ')'" },
    neverClosed: { problem: "syntax error: '(' was never closed" },
    notArithmetic: {
      problem: "this is not arithmetic",
      hint: "use only numbers, names, + - * / // % **, one of < <= > >=, brackets and functions such as exp(x)",
    },
    star: { problem: "* is not allowed before an argument here" },
    noOperand: { problem: "syntax error: a number or a name is missing" },
    noOperator: {
      problem: "syntax error: an operator is missing",
      hint: "for a product write *, and for a function brackets, as in 2*exp(x)",
    },
    caret: { problem: "^ is not an operation here", hint: "for powers write **" },
    notAFunction: {
      problem: "only functions called by name are part of an expression",
      hint: `${CALLS}; for a product write *`,
    },
    noName: { problem: "syntax error: only a part can be given a name", hint: "as in e = a + b; f = e*c" },
  },

  /** @param {string} attribute with its dot @returns {Said} */
  attribute: (attribute) => ({
    problem: `attributes such as ${attribute} are not part of an expression`,
    hint: CALLS,
  }),

  /** @param {string} text @returns {Said} */
  notReal: (text) => ({ problem: `${text} is not a real number` }),

  /** @param {string} name @param {readonly string[]} close @returns {Said} */
  unknownFunction: (name, close) => ({
    problem: `unknown function '${name}'`,
    hint: close.length ? `did you mean ${either.format(close)}?` : "functions have the names of Python's math module, such as exp, log or tanh",
  }),

  /** @param {string} name @param {number} takes @param {number} given @param {boolean} canNest @returns {Said} */
  arity: (name, takes, given, canNest) => ({
    problem: `${name}() takes ${takes} ${takes === 1 ? "argument" : "arguments"}, not ${given}`,
    hint: canNest && given > 2 ? `nest the calls: ${name}(${name}(x, y), z)` : undefined,
  }),

  /** @param {string} name @returns {Said} */
  namedArgument: (name) => ({ problem: `${name}() takes no named arguments` }),

  /** @param {string} name @returns {Said} */
  madeTwice: (name) => ({ problem: `'${name}' is defined twice`, hint: "give one of the two parts another name" }),

  /** @param {string} name @returns {Said} */
  usedBefore: (name) => ({
    problem: `'${name}' is used before it is defined`,
    hint: "define a name once, before it is used",
  }),

  /** @param {string} name @returns {Said} */
  numbersAlone: (name) => ({
    problem: `'${name}' is computed from numbers only`,
    hint: `leave this part out, and give ${name} a value as you do for other names`,
  }),

  /** @param {string} name @param {string} other @returns {Said} */
  anotherName: (name, other) => ({
    problem: `'${name}' would be a second name for '${other}'`,
    hint: `use ${other} itself`,
  }),

  /** @param {string} name @param {string} suggested @returns {Said} */
  noValue: (name, suggested) => ({
    problem: `no value is given for the name '${name}'`,
    hint: `give it one: ${name}=${suggested}`,
  }),

  /** @param {string} name @param {string} value @returns {Said} */
  madeItself: (name, value) => ({
    problem: `${name}=${value} is given, but the program computes ${name} itself`,
  }),

  /** @param {string} name @param {string} value @param {string} known @returns {Said} */
  noSuchName: (name, value, known) => ({
    problem: `${name}=${value} is given, but the expression has no '${name}'; it has: ${known || "none"}`,
  }),
};

export const training = {
  title: "Gradient descent",
  /** @param {string} root */
  intro: (root) => `Each step runs a forward pass and a backward pass. Then it sets p = p − rate · p.grad for every parameter p. The aim is to make ${root} smaller.`,
  /** @param {string} root */
  noLoss: (root) => `The name ${root} does not suggest a loss. Training makes ${root} smaller anyway, even below 0.`,
  /** @param {string} root @param {number} count */
  introOver: (root, count) => `The loss is the mean of ${root} over ${count} points; the graph shows one of these points. Each step sets p = p − rate · p.grad for every parameter p.`,
  subject: "Learn from",
  subjects: {
    graph: "the graph on the stage",
    chain: "a chain of six tanh with large weights",
    moons: "two moons",
    circles: "circles",
    xor: "four squares (xor)",
    blobs: "two blobs",
    own: "your own points",
  },
  rate: "Learning rate",
  smaller: "÷3: a third of the rate",
  larger: "×3: three times the rate",
  /** @param {string} text */
  noRate: (text) => `“${text}” is not a learning rate: write a positive number such as 0.1.`,
  step: "Step",
  run: "Run",
  pause: "Pause",
  reset: "Reset",
  speed: "Speed of training",
  speeds: { slow: "slow", normal: "normal", fast: "fast", fastest: "fastest" },
  zeroed: "zero_grad before each pass",
  zeroedNote: "Each pass begins at gradient 0.",
  keptNote: "Nothing zeroes the gradients: each pass adds its gradients to those of the earlier passes.",
  start: "No step has been taken.",
  /** @param {number} count @param {string} root @param {string} before @param {string} after */
  stepped: (count, root, before, after) => `Step ${count}: ${root} goes from ${before} to ${after}.`,
  /** @param {string} root @param {number} count */
  meanOf: (root, count) => `the mean of ${root} over ${count} points`,
  /** @param {string} name @param {string} before @param {string} rate @param {string} gradient @param {string} after */
  moved: (name, before, rate, gradient, after) => `${name}: ${before} − ${rate} · ${gradient} = ${after}`,
  /** @param {string} name @param {string} stored @param {string} fresh @param {string} gradient */
  added: (name, stored, fresh, gradient) => `${name}.grad was ${stored}, and this pass adds ${fresh}: ${gradient}`,
  /** @param {number} count */
  others: (count) => `and ${count} more, below`,
  /** @param {string} stored @param {string} gradient */
  onTop: (stored, gradient) => `The gradients of earlier passes, ${stored}, are still there: ${gradient} in all.`,
  /** @param {string} root */
  lost: (root) => `${root} is no longer finite: the learning rate is too large. Reset, and try a smaller rate.`,
  noParameters: "No parameter is chosen: a step changes nothing.",
  noPoints: "There are no points yet: click in the plane of x1 and x2, or paste some points.",

  parameters: "Parameters",
  columns: ["learn", "value", "gradient"],
  /** @param {string} name */
  learn: (name) => `learn ${name}`,
  /** @param {number} count */
  more: (count) => `And ${count.toLocaleString("en")} more leaves.`,
  all: "All",
  none: "None",
  usual: "Default",

  curve: {
    title: "Loss by step",
    log: "logarithmic",
    steps: "step",
    empty: "The loss after each step will appear here.",
    /** @param {number} step @param {string} loss */
    at: (step, loss) => `step ${step}: ${loss}`,
    /** @param {number} first @param {number} last @param {string} before @param {string} after */
    summary: (first, last, before, after) => `Loss from step ${first} to ${last}: from ${before} to ${after}`,
    /** @param {number} step @param {string} rate */
    changed: (step, rate) => `rate ${rate} from step ${step}`,
  },

  flow: {
    title: "How much gradient arrives",
    intro: "Each bar is the mean size of the gradients that pass back through the same number of functions. The scale is logarithmic.",
    /** @param {number} count @param {readonly string[]} names @param {number} more */
    layer: (count, names, more) =>
      `${names.join(", ")}${more ? ` and ${more} more` : ""}: ${count === 0 ? "through no function" : `through ${count} function${count === 1 ? "" : "s"}`}`,
    /** @param {string} local */
    local: (local) => `the last function multiplies the gradient by ${local} on average`,
    /** @param {string} ratio */
    vanishes: (ratio) => `The mean gradient of the farthest layer is ${ratio} times the mean gradient of the nearest layer.`,
  },

  points: {
    title: "Points",
    network: "Network",
    /** @param {readonly number[]} hidden */
    sizes: (hidden) => `2-${[...hidden, 1].join("-")}${hidden.length ? "" : " (no hidden layer)"}`,
    activation: "Function",
    loss: "Loss",
    losses: { square: "square", hinge: "hinge" },
    own: "a graph of your own",
    others: "Other points and weights",
    /** @param {number} right @param {number} count @param {string} share @param {string} loss */
    accuracy: (right, count, share, loss) => `Accuracy ${share} (${right} of ${count}), loss ${loss}`,
    /** @param {number} right @param {number} count */
    field: (right, count) => `The plane of x1 and x2 with ${count} points, ${right} of them on the right side of the line where the output is 0`,
    classes: { one: "class 1", other: "class -1" },
    click: "A click",
    clicks: { show: "shows a point", one: "adds class 1", other: "adds class -1" },
    shown: "Point on the graph",
    /** @param {string} x1 @param {string} x2 @param {string} y @param {string} output */
    point: (x1, x2, y, output) => `x1 = ${x1}, x2 = ${x2}, class ${y}; output ${output}`,
    none: "Select a point to show it on the graph and walk it.",
    byHand: "Your own points",
    hint: "Write one point per line: x1,x2,y with y = 1 or -1 (or 1 and 0). Separate with commas, semicolons or tabs. A header is optional.",
    text: "Points as text",
    use: "Use these points",
    open: "Open a CSV file",
    add: "Add",
    class: "class",
    undo: "Remove the last point",
    clear: "Remove all points",
    scale: "Scale the coordinates to mean 0 and standard deviation 1",
    scaleNote: "Some coordinates are large: a small network learns better from scaled coordinates.",
    /** @param {number} count */
    used: (count) => `${count} points are read.`,
    /** @param {number} most */
    full: (most) => `There are already ${most} points, which is the limit.`,
    /** @param {number} most */
    unlinked: (most) => `A link can hold at most ${most} points, so these points are only on this page.`,
    /** @param {string} name @param {string} text */
    noCoordinate: (name, text) => `“${text}” is not a number for ${name}: write one such as -0.5.`,
  },

  csv: {
    empty: "There are no points in the text: write lines such as 0.5,-1.2,1.",
    /** @param {number} line @param {number} width */
    width: (line, width) => `Line ${line} has ${width} ${width === 1 ? "value" : "values"}, but 3 were expected: x1, x2, y.`,
    /** @param {number} line @param {string} name @param {string} text */
    noNumber: (line, name, text) => `Line ${line}: ${name} is “${text.slice(0, 40)}”, but a number was expected, such as -0.5.`,
    /** @param {number} line @param {string} text */
    noClass: (line, text) => `Line ${line}: y is “${text.slice(0, 40)}”, but 1 or -1 was expected, or 1 or 0.`,
    /** @param {readonly string[]} names */
    header: (names) => `The header has ${names.map((name) => `“${name.slice(0, 40)}”`).join(", ")}, but x1, x2 and y were expected.`,
    threeClasses: "The column y has 1, 0 and -1, but two classes were expected: 1 and -1, or 1 and 0.",
    /** @param {number} count @param {number} most */
    tooMany: (count, most) => `There are ${count.toLocaleString("en")} points, but at most ${most.toLocaleString("en")} are allowed.`,
    /** @param {number} count */
    more: (count) => `And ${count.toLocaleString("en")} more lines with problems.`,
  },
};

/** The Python cell, if the page is served together with Python. */
export const cell = {
  title: "Python",
  toggle: "Write a program in Python",
  program: "Program in Python",
  run: "Run",
  runKey: "Run (Ctrl or Shift with Enter)",
  stop: "Stop",
  examples: "Examples",
  example: "an example …",
  names: { neuron: "a neuron", loop: "a training loop", twice: "a gradient that was not zeroed", function: "many samples with vmap" },
  output: "What the program printed",
  loading: "Loading Python …",
  ready: "Python is ready.",
  running: "The program is running …",
  stopped: "The program was stopped.",
  shown: "The program has finished. Its graph is below.",
  nothing: "The program has finished, but there is no Value to show: call backward(), or end with a Value.",
  /** @param {number} line */
  wrongLine: (line) => `There is an error in line ${line}.`,
  wrong: "There is an error.",
  /** @param {string} problem */
  failed: (problem) => `Python could not be loaded: ${problem}`,
  /** @param {string} problem */
  ended: (problem) => `The program has stopped Python, which is being loaded again: ${problem}`,
};
