// What happens in a walk, in English: functions of ready-made names and numbers. words.js chooses among them.

export const unnamed = "?";

export const forward = {
  /** @param {string} name @param {string} number */
  given: (name, number) => `${name} is given: ${number}`,
  /** @param {string} name @param {string} symbol @param {number} operands @param {string} number */
  counted: (name, symbol, operands, number) => `${name} = ${symbol} of ${operands} operands = ${number}`,
};

/** Whose turn it is, and with what gradient. */
export const visited = {
  /** @param {string} name */
  root: (name) => `${name} is the root: its gradient is 1.`,
  /** @param {string} name @param {string} gradient */
  leaf: (name, gradient) => `${name} is a leaf: it keeps its gradient ${gradient}.`,
  /** @param {string} name @param {string} gradient */
  inner: (name, gradient) => `${name} has gradient ${gradient}.`,
};

/** What a rule does. */
export const rules = {
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
  hasGotNothing: (symbol) => `${symbol} has got nothing itself`,
};

/** What an operand gets by it. */
export const gets = {
  /** @param {string} name @param {string} upstream */
  all: (name, upstream) => `${name} gets upstream ${upstream} as it is`,
  /** @param {string} name @param {string} upstream */
  nothing: (name, upstream) => `${name} gets nothing of upstream ${upstream}`,
  /** @param {string} name */
  nothingAtAll: (name) => `${name} gets nothing`,
  /** @param {string} name @param {string} upstream @param {string} factor @param {string} amount */
  scaled: (name, upstream, factor, amount) => `${name} gets upstream ${upstream} times ${factor}, making ${amount}`,
};

const ORDINALS = ["first", "second", "third"];

/** What never passes back, to the operands of these names. */
export const kept = {
  /** @param {string} symbol @param {readonly string[]} names */
  stopped: (symbol, names) => `${symbol} passes nothing to ${names.join(" and ")}.`,
  /** @param {string} symbol @param {readonly number[]} positions none: it is so in all @param {readonly string[]} names */
  flat: (symbol, positions, names) => {
    const where = positions.length ? ` in its ${positions.map((i) => ORDINALS[i]).join(" and ")} operand` : "";
    return `${symbol} is flat${where}: it passes nothing to ${names.join(" and ")}.`;
  },
};

/** What upstream is multiplied by. */
export const factors = {
  /** @param {string} number */
  constant: (number) => `the constant ${number}`,
  /** @param {string} name @param {string} number */
  valueOf: (name, number) => `${name}'s value ${number}`,
  /** @param {string} name @param {string} number */
  ownValue: (name, number) => `${name}'s own value ${number}`,
  /** @param {string} formula @param {string} number */
  formula: (formula, number) => `${formula} (${number})`,
  /** The local derivative of a reduction where it is another operand of the element. @param {number} operand counted from 1 */
  beside: (operand) => `the factor beside it, number ${operand} of the operands`,
};

/** What becomes of a contribution where it arrives. */
export const received = {
  late: ", too late: it has been visited already",
  /** @param {string} before */
  overwrites: (before) => `, which overwrites ${before}`,
  /** @param {string} before @param {string} after */
  onTop: (before, after) => `, on top of ${before}: ${after} in all`,
};

/** A rule, and all whom it was applied to. @param {string} rule @param {readonly string[]} clauses */
export const applied = (rule, clauses) => `${rule}: ${clauses.join("; ")}`;

export const losses = {
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

/** The names of parts of a graph. */
export const parts = {
  whole: "the whole graph",
  /** @param {string} first @param {string} last */
  nodes: (first, last) => `nodes ${first} to ${last}`,
  /** @param {string} first @param {string} last */
  modules: (first, last) => `${first} to ${last}`,
};
