// Describes the steps of a walk in plain sentences.
//
// The wording follows from the table's formulas: a derivative of 1 copies; a derivative that is the other operand swaps
// and scales; a selected operand gets the gradient and the unselected ones get nothing; a derivative that is always 0
// is flat; any other derivative scales.

import { sentences as say } from "../languages/languages.js";
import { folded, resolved, substituted, text } from "../core/formula.js";
import { formulaOf, passing, selects } from "../core/graph.js";
import { elementOf } from "../core/rules.js";
import { lostContributions } from "./losses.js";
import { bracketed, few, isSingle, said } from "../core/names.js";
import { short } from "../core/numbers.js";
import { edgeKey } from "./passes.js";

/** @typedef {import("../types.js").Node} Node */
/** @typedef {import("../types.js").Formula} Formula */
/** @typedef {import("../types.js").EdgeKey} EdgeKey */
/** @typedef {import("../types.js").Contribution} Contribution */
/** @typedef {import("../types.js").Moment} Moment */
/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("./steps.js").Walk} Walk */
/** @typedef {import("./losses.js").Loss} Loss */
/** @typedef {import("./losses.js").LostContribution} LostContribution */
/** @typedef {import("./losses.js").WrongGradient} WrongGradient */

const OPERANDS = ["x", "y", "z"];
const MOST_ENTRIES = 8; // maximum number of table entries to write out
const MOST_REASONS = 5; // maximum number of reasons in a sentence

// Steps

/**
 * Describe a step.
 * @param {Walk} walk @param {import("../types.js").Step} step
 * @param {boolean} [isWhole] whether to show long names and lists whole @returns {string}
 */
export function stepSentence(walk, step, isWhole = true) {
  const node = walk.graph.nodes[step.place];
  if (step.kind === "forward") return computed(node, walk.graph, isWhole);
  if (step.kind === "seed") return say.seeded(derivativeOf(said(node.name, isWhole), said(node.name, isWhole)));
  const isRoot = step.place === walk.graph.root;
  const told = [visited(node, step.upstream, isRoot, isWhole), joined(walk, step.contributions, isWhole), kept(node, walk.graph, isWhole)];
  return told.filter(Boolean).join(" ");
}

/** Describe a node's contribution to one operand. @param {Walk} walk @param {Contribution} given */
export function contributionSentence(walk, given) {
  const { rule, clause } = passedOn(walk, given, false);
  return say.applied(rule, [clause]);
}

/** Describe the computation of a node's number. @param {Node} node @param {Graph} graph @param {boolean} isWhole */
export function computed(node, graph, isWhole) {
  const [name, number] = [said(node.name, isWhole), short(node.data)];
  if (!node.operands.length) return say.forward.given(name, number);
  if (!node.row && !node.gather) return say.forward.counted(name, said(node.symbol), node.operands.length, number);
  const numbers = node.operands.map((_, position) => short(numberOf(node, position, graph)));
  return [...new Set([name, written(node, graph, isWhole), applied(node, few(numbers, isWhole)), number])].join(" = ");
}

/**
 * Format an operation applied to the names of its operands.
 * @param {Node} node @param {Graph} graph @param {boolean} isWhole whether to show long names and lists whole
 */
export function written(node, graph, isWhole) {
  const names = node.operands.map((place, i) => (place < 0 ? short(node.constants[i]) : said(graph.nodes[place].name, isWhole)));
  return applied(node, few(names, isWhole));
}

/** Format an operation applied to operands in program syntax. @param {Node} node @param {readonly string[]} operands */
function applied({ row, gather, symbol }, operands) {
  if (gather) {
    const [index, ...table] = operands;
    const shown = table.length <= MOST_ENTRIES ? table : [...table.slice(0, 3), "...", table[table.length - 1]];
    return `${symbol}([${shown.join(", ")}], ${index})`;
  }
  if (!row?.isOperator || row.name === "abs") return `${row?.name ?? symbol}(${operands.join(", ")})`;
  const bracketed = operands.map((x) => (isSingle(x) ? x : `(${x})`));
  return row.arity === 1 ? `-${bracketed[0]}` : bracketed.join(` ${row.symbol} `);
}

/** Describe the visit of a node and its gradient. @param {Node} node @param {number} upstream @param {boolean} isRoot @param {boolean} isWhole */
function visited(node, upstream, isRoot, isWhole) {
  const name = said(node.name, isWhole);
  if (isRoot) return say.visited.root(name);
  return (node.operands.length ? say.visited.inner : say.visited.leaf)(name, short(upstream));
}

/**
 * Join the contributions into sentences, one for all operands treated by the same rule.
 * @param {Walk} walk @param {readonly Contribution[]} contributions @param {boolean} isWhole
 */
function joined(walk, contributions, isWhole) {
  /** @type {Map<string, string[]>} */
  const clauses = new Map();
  for (const given of contributions) {
    const { rule, clause } = passedOn(walk, given, isWhole);
    const told = clauses.get(rule);
    if (told) told.push(clause);
    else clauses.set(rule, [clause]);
  }
  return [...clauses].map(([rule, told]) => `${say.applied(rule, few(told, isWhole))}.`).join(" ");
}

// Rules

/** @typedef {{ rule: string, clause: string }} Told a rule, and its effect on an operand */

/** Describe a contribution and its effect on the operand's gradient. @param {Walk} walk @param {Contribution} given @param {boolean} isWhole @returns {Told} */
function passedOn({ graph, overwrite }, given, isWhole) {
  const { rule, clause } = byRule(graph, given, isWhole);
  if (given.late) return { rule, clause: clause + say.received.late };
  if (!given.again) return { rule, clause };
  const [before, after] = [short(given.before), short(given.after)];
  return { rule, clause: clause + (overwrite ? say.received.overwrites(before) : say.received.onTop(before, after)) };
}

/** @param {Graph} graph @param {Contribution} given @param {boolean} isWhole @returns {Told} */
function byRule(graph, { giver, place, position, upstream, ofNothing, local }, isWhole) {
  const node = graph.nodes[giver];
  const [symbol, name, from] = [said(node.symbol), said(graph.nodes[place].name, isWhole), short(upstream)];
  const asItIs = (/** @type {string} */ rule) => ({ rule, clause: say.gets.all(name, from) });
  const scaled = (/** @type {string} */ rule, /** @type {string} */ factor) => {
    return { rule, clause: say.gets.scaled(name, from, factor, short(local * upstream)) };
  };
  const partial = formulaOf(node, position);
  if (ofNothing && !Number.isFinite(local)) {
    return { rule: say.rules.hasGotNothing(symbol), clause: say.gets.nothingAtAll(name) };
  }
  if (node.byHand) return scaled(say.rules.byHand(symbol), short(local));
  if (partial === null) return scaled(say.rules.madeWith(symbol), short(local));
  if (selects(node)) {
    if (local === 0) return { rule: say.rules.holdsBack(symbol), clause: say.gets.nothing(name, from) };
    return local === 1 ? asItIs(say.rules.letsThrough(symbol)) : scaled(say.rules.splits(symbol), short(local));
  }
  const element = elementOf(node, position, node.operands.length);
  if (partial === 1) return asItIs((element.length ? say.rules.copies : say.rules.copiesToStart)(symbol));
  if (partial === -1) return scaled(say.rules.flips(symbol), short(-1));
  const other = typeof partial === "string" ? OPERANDS.indexOf(partial) : -1;
  if (other >= 0) return scaled(say.rules.swaps(symbol), valueOf(node, element[other], graph, isWhole));
  const chosen = resolved(partial, numbersOf(node, position, graph));
  const factor =
    chosen === "out"
      ? say.factors.ownValue(said(node.name, isWhole), short(node.data))
      : say.factors.formula(text(folded(substituted(chosen, namesOf(node, position, graph, isWhole)))), short(local));
  return scaled(say.rules.scales(symbol), factor);
}

/** Explain why some operands never receive gradient from a node; "" if all of them do. @param {Node} node @param {Graph} graph @param {boolean} isWhole */
function kept(node, graph, isWhole) {
  const inert = node.byHand ? [] : ((node.row ?? node.gather)?.inert ?? []);
  const places = inert.map((position) => node.operands[position]).filter((place) => place >= 0);
  if (!places.length) return "";
  const all = [...new Set(places.map((place) => said(graph.nodes[place].name, isWhole)))];
  const [symbol, names] = [said(node.symbol), few(all, isWhole)];
  if (node.row?.isExact === false) return say.kept.stopped(symbol, names);
  return say.kept.flat(symbol, inert.length === node.operands.length ? [] : inert, names);
}

/** Return whether the local derivatives of a node do not come from a formula of the table. @param {Node} node */
function isByHand(node) {
  return node.byHand || !node.operation;
}

/** Describe an operand's number and name its node. @param {Node} node @param {number} position @param {Graph} graph @param {boolean} isWhole */
function valueOf(node, position, graph, isWhole) {
  const number = short(numberOf(node, position, graph));
  const place = node.operands[position];
  return place < 0 ? say.factors.constant(number) : say.factors.valueOf(said(graph.nodes[place].name, isWhole), number);
}

/** @param {Node} node @param {number} position @param {Graph} graph */
function numberOf(node, position, graph) {
  const place = node.operands[position];
  return place < 0 ? node.constants[position] : graph.nodes[place].data;
}

/**
 * Return the numbers of x, y, z and out in the derivative at a position.
 * @param {Node} node @param {number} position @param {Graph} graph
 */
function numbersOf(node, position, graph) {
  /** @type {Record<string, number>} */
  const numbers = { out: node.data };
  elementOf(node, position, node.operands.length).forEach((operand, i) => (numbers[OPERANDS[i]] = numberOf(node, operand, graph)));
  return numbers;
}

/**
 * Return the operand names and constants that replace x, y and z in the derivative at a position.
 * @param {Node} node @param {number} position @param {Graph} graph @param {boolean} isWhole
 */
function namesOf(node, position, graph, isWhole) {
  /** @type {Record<string, Formula>} */
  const names = {};
  elementOf(node, position, node.operands.length).forEach((operand, i) => {
    const place = node.operands[operand];
    names[OPERANDS[i]] = place < 0 ? node.constants[operand] : bracketed(said(graph.nodes[place].name, isWhole));
  });
  return names;
}

// Losses

/** Explain a wrong gradient. @param {Walk} walk @param {WrongGradient} wrong */
export function wrongSentence({ graph }, { place, got, right, losses }) {
  const reasons = losses.slice(0, MOST_REASONS).map((loss) => `${lossSentence(graph, loss, place)}.`);
  const more = losses.length > MOST_REASONS ? say.losses.more(losses.length - MOST_REASONS) : "";
  return [say.losses.wrong(said(graph.nodes[place].name), short(got), short(right)), ...reasons].join(" ") + more;
}

/** Describe the effect of a lost contribution on a node. @param {Graph} graph @param {Loss} loss @param {number} place */
export function lossSentence(graph, loss, place) {
  const [giver, taker, node] = [loss.giver, loss.taker, place].map((i) => said(graph.nodes[i].name));
  const how = loss.overwrittenBy ? say.losses.lost : say.losses.late;
  const told = how(giver, short(loss.amount), taker, because(graph, loss));
  if (loss.taker === place) return told;
  const [amount, derivative, missing] = [loss.amount, loss.derivative, loss.missing].map(short);
  return told + say.losses.passedOn(node, amount, derivativeOf(taker, node), derivative, missing);
}

/** Explain why a contribution was lost. @param {Graph} graph @param {LostContribution} loss */
export function because(graph, { giver, taker, overwrittenBy }) {
  const nameOf = (/** @type {number} */ place) => said(graph.nodes[place].name);
  if (!overwrittenBy) return say.losses.visitedAfter(nameOf(giver), nameOf(taker));
  return say.losses.writtenOver(nameOf(overwrittenBy.giver), short(overwrittenBy.amount));
}

// The chain rule

/**
 * One term of the chain rule at a node: the gradient of a user times the local derivative.
 *
 * `formula` is the local derivative from the table, in x, y, z and out; `written` is the same with node names and
 * resolved branches. Both are empty for custom rules and for positions that never pass gradient. `upstream` and
 * `amount` are null until the user has been visited.
 * @typedef {object} EdgeStory
 * @property {EdgeKey} edge
 * @property {number} user
 * @property {number} place of the operand
 * @property {number} position
 * @property {string} symbolic product, such as dL/de · ∂e/∂a
 * @property {string} derivative local derivative, such as ∂e/∂a
 * @property {string} formula
 * @property {string} written
 * @property {number} local
 * @property {number | null} upstream
 * @property {number | null} amount
 * @property {"waiting" | "arrived" | "late" | "overwritten" | "inert"} status
 * @property {string} because reason for a loss, else ""
 * @property {string} sentence description of the contribution, "" until it has arrived
 */

/**
 * A node's gradient as a sum with one term per edge to a user; the root's gradient is 1, without terms. `total` is the
 * sum so far, null before the first contribution. `derivative` is the left side of the equation; a long sum is folded.
 * @typedef {{ derivative: string, symbolic: string, terms: readonly EdgeStory[], total: number | null, right: number }} ChainRule
 */

/** Build the chain rule at a node. @param {Walk} walk @param {number} place @param {Moment} moment @returns {ChainRule} */
export function chainRule(walk, place, moment) {
  const lost = lostAt(walk, moment);
  const users = place === walk.graph.root ? [] : walk.users.of(place); // finding all users takes long in a large graph
  const terms = users.map(({ user, position }) => story(walk, user, position, moment, lost));
  const [root, node] = [walk.graph.root, place].map((i) => said(walk.graph.nodes[i].name));
  const products = few(terms.map(({ symbolic }) => symbolic), false);
  const sum = place === walk.graph.root ? "1" : products.join(" + ") || "0";
  const derivative = derivativeOf(root, node);
  return {
    derivative,
    symbolic: `${derivative} = ${sum}`,
    terms,
    total: moment.gradients[place],
    right: walk.right[place],
  };
}

/** Build the term of an edge. @param {Walk} walk @param {EdgeKey} edge @param {Moment} moment @returns {EdgeStory} */
export function edgeStory(walk, edge, moment) {
  const [user, position] = edge.split(":").map(Number);
  return story(walk, user, position, moment, lostAt(walk, moment));
}

/**
 * @param {Walk} walk @param {number} user @param {number} position @param {Moment} moment
 * @param {ReadonlyMap<EdgeKey, LostContribution>} lost @returns {EdgeStory}
 */
function story(walk, user, position, moment, lost) {
  const { graph } = walk;
  const node = graph.nodes[user];
  const place = node.operands[position];
  const edge = edgeKey(user, position);
  const given = moment.contributions.get(edge);
  const loss = lost.get(edge);
  const isInert = !passing(node).some((operand) => operand.position === position);
  const [root, name, operand] = [graph.root, user, place].map((i) => said(graph.nodes[i].name));
  const derivative = `∂${bracketed(name)}/∂${bracketed(operand)}`;
  const arrival = loss ? (loss.overwrittenBy ? "overwritten" : "late") : given ? "arrived" : "waiting";
  return {
    edge,
    user,
    place,
    position,
    symbolic: `${derivativeOf(root, name)} · ${derivative}`,
    derivative,
    formula: formula(node, position),
    written: writtenPartial(node, position, graph),
    local: node.partials[position],
    upstream: given?.upstream ?? null,
    amount: given?.amount ?? null,
    status: isInert ? "inert" : arrival,
    because: loss ? because(graph, loss) : "",
    sentence: given ? contributionSentence(walk, given) : "",
  };
}

/** Return the contributions lost so far, by edge. @param {Walk} walk @param {Moment} moment */
function lostAt(walk, moment) {
  const lost = walk.isRight ? [] : lostContributions(walk.taken(moment.position), walk.overwrite);
  return new Map(lost.map((loss) => [edgeKey(loss.giver, loss.position), loss]));
}

/** Format the local derivative in the variables of the table. @param {Node} node @param {number} position */
export function formula(node, position) {
  const partial = formulaOf(node, position);
  if (isByHand(node) || partial === null) return "";
  const other = node.reduction && typeof partial === "string" ? OPERANDS.indexOf(partial) : -1;
  const beside = elementOf(node, position, node.operands.length)[other] ?? position;
  return beside === position ? text(partial) : say.factors.beside(beside + 1);
}

/**
 * Format the local derivative with node names and resolved branches.
 * @param {Node} node @param {number} position @param {Graph} graph
 */
export function writtenPartial(node, position, graph) {
  const partial = namedPartial(node, position, graph);
  return partial === null ? "" : text(partial);
}

/**
 * Build the local derivative with node names as a formula; null if the table has none.
 * @param {Node} node @param {number} position @param {Graph} graph
 */
export function namedPartial(node, position, graph) {
  const partial = formulaOf(node, position);
  if (isByHand(node) || partial === null) return null;
  const names = { ...namesOf(node, position, graph, false), out: bracketed(said(node.name)) };
  return folded(substituted(resolved(partial, numbersOf(node, position, graph)), names));
}

/** Format d one / d other. @param {string} one @param {string} other */
function derivativeOf(one, other) {
  return `d${bracketed(one)}/d${bracketed(other)}`;
}
