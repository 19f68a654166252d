// Computes the model from the state: state and document -> graph -> walk -> moment and scene.

import { links, orders as say } from "../languages/languages.js";
import { exercise } from "./exercises/exercises.js";
import { CONSTANTS, evaluate, parse } from "../core/expression.js";
import { few } from "../core/names.js";
import { onTop } from "../learn/descent.js";
import { START, startOf } from "./state.js";
import { fittedTraining } from "./training.js";
import { parts, pathTo, scene } from "../walk/modules/modules.js";
import { nudged } from "../walk/nudged.js";
import { swept, Walk } from "../walk/steps.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./document.js").Document} Document */
/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Part} Part */

/**
 * Everything that the page shows, computed anew for every state and never modified.
 * @typedef {object} Model
 * @property {State} state
 * @property {string} program source of the graph: the state's program or an exercise's; "" for a document
 * @property {Document | null} document walk from a page's data, a notebook or a file
 * @property {import("./passes.js").Pass | null} pass the pass of the graph, if the program has passes
 * @property {Graph} graph
 * @property {Walk} walk in the default order, or in the document's order
 * @property {Walk} shown walk of the timeline; in the order puzzle, the reader's order once it is complete
 * @property {boolean} isPlaced whether the reader's order in the puzzle is complete
 * @property {number} last last position of the timeline
 * @property {import("../types.js").Moment} moment
 * @property {Part} whole
 * @property {import("../types.js").Scene} scene
 * @property {import("../types.js").Node | null} selected by the reader; else the root, at the end of the walk over an own program
 * @property {boolean} isFinished whether the root is selected because the walk over an own program has ended
 * @property {ReadonlyMap<number, number>} stored gradients of leaves from before the pass, by node index, as in
 *   training without zero_grad
 * @property {import("../walk/nudged.js").Nudged | null} nudge effect of nudging the selected node, if gradients are checked
 * @property {boolean} isAsking whether a question is open; then products and local derivatives are hidden
 * @property {import("./chapters.js").Question | null} asks the lesson's open question
 * @property {number | null} asked index of the node whose gradient an exercise asks for
 */

/**
 * Return a function from states to models that reuses the unchanged parts of its last result.
 *
 * The function throws `ExpressionError` or `GraphError` if the program and values do not give a graph. It drops names
 * in a state that the graph does not have.
 * @param {Document | null} document
 * @returns {(state: State) => Model}
 */
export function modeler(document) {
  const graphOf = remembered((/** @type {string} */ program, /** @type {ReadonlyMap<string, number>} */ values, /** @type {Graph | null} */ given) =>
    given ? changed(given, values) : evaluate(parse(program), values),
  );
  const completedOf = remembered(completed);
  const exerciseOf = remembered(exercise);
  const wholeOf = remembered(parts);
  const leafValuesOf = remembered(leafValues);
  const sceneOf = remembered(scene);
  const walkOf = remembered(
    (/** @type {Graph} */ graph, /** @type {boolean} */ overwrite, /** @type {boolean} */ isOwn) =>
      new Walk(graph, (isOwn && document?.order) || swept(graph), overwrite),
  );
  const nudgedOf = remembered(nudged);
  const momentOf = remembered((/** @type {Walk} */ walk, /** @type {number} */ position) => walk.moment(position));
  const reordered = remembered(
    (/** @type {Graph} */ graph, /** @type {readonly string[]} */ order, /** @type {boolean} */ overwrite) =>
      new Walk(graph, placesOf(graph, order), overwrite),
  );

  return (given) => {
    /** @type {State} */
    const wanted = document && given.mode === "exercises" ? { ...given, mode: "walk" } : given; // documents have no exercises
    const isExercise = wanted.mode === "exercises";
    const pass = passOf(document, wanted.pass);
    const recorded = document && (pass?.graph ?? document.graph);
    const values = recorded ? leafValuesOf(recorded, wanted.values) : completedOf(wanted.program, wanted.values);
    const question = isExercise ? exerciseOf(wanted.exercise) : null;
    const { program, values: numbers } = question ?? { program: wanted.program, values };
    const graph = graphOf(program, numbers, recorded);
    const whole = wholeOf(graph);
    const isOwn = !pass || pass.number === document?.passes.own;
    const training = fittedTraining(wanted.training, graph, document ? "" : program);
    const state = fitted({ ...wanted, values, training, pass: pass && !isOwn ? pass.number : 0 }, graph, whole);
    const walk = walkOf(graph, state.overwrite && !isExercise, isOwn);
    const isPlaced = state.order.length === walk.order.length;
    const isPuzzle = state.mode === "order";
    const shown = isPuzzle && isPlaced ? reordered(graph, state.order, state.overwrite) : walk;
    const last = isPuzzle && !isPlaced ? shown.forward.length : shown.length;
    const first = isExercise ? shown.forward.length : 0; // an exercise shows all values from the start
    const position = Math.min(Math.max(state.position, first), last);
    const isFinished = !state.chapter && state.mode === "walk" && position === last && startOf("walk", program) > 0;
    const stored = storedOf(graph, state);
    const chosen = graph.nodes.find((node) => node.name === state.selected) ?? null;
    const selected = chosen ?? (isFinished ? graph.nodes[graph.root] : null);
    return {
      state: { ...state, position },
      program,
      document,
      pass,
      graph,
      walk,
      shown,
      isPlaced,
      last,
      moment: onTop(momentOf(shown, position), stored),
      whole,
      scene: sceneOf(graph, whole, state.open || whole.key),
      selected,
      isFinished: isFinished && !chosen,
      stored,
      nudge: state.mode === "check" && selected ? nudgedOf(walk, state.method, selected.place, state.h) : null,
      isAsking: isExercise && position < last,
      asks: null,
      asked: question ? graph.nodes.findIndex(({ name }) => name === question.by) : null,
    };
  };
}

/** Return the gradients of leaves from before the pass, by node index. @param {Graph} graph @param {State} state */
function storedOf(graph, { chapter, mode, training: { stored, data } }) {
  const isShown = (mode === "train" || chapter) && !data; // the gradients belong to all points; the stage shows one
  const places = isShown ? placesOf(graph, [...stored.keys()]) : [];
  return new Map(places.map((place) => [place, Number(stored.get(graph.nodes[place].name))]));
}

/**
 * Complete the values of a program: given values, constants such as pi, or `START`. A complete map is
 * returned itself, so that cached results stay valid.
 * @param {string} program @param {ReadonlyMap<string, number>} given
 */
function completed(program, given) {
  const { names } = parse(program);
  if (given.size === names.length && names.every((name) => given.has(name))) return given;
  return new Map(names.map((name) => [name, given.get(name) ?? CONSTANTS.get(name) ?? START]));
}

/**
 * Return the pass with the given number if its graph is stored, else the document's own pass.
 * @param {Document | null} document @param {number} number
 */
function passOf(document, number) {
  const { all, own } = document?.passes ?? { all: [], own: 0 };
  return all.find((pass) => pass.isKept && pass.number === number) ?? all.find((pass) => pass.number === own) ?? null;
}

/** Return the indices of named nodes; -1 for unknown names. @param {Graph} graph @param {readonly string[]} names */
export function placesOf(graph, names) {
  if (!names.length) return [];
  const places = new Map(graph.nodes.map((node) => [node.name, node.place]));
  return names.map((name) => places.get(name) ?? -1);
}

/** Describe the parts of a state that its model dropped. @param {State} state @param {Model} model @returns {string[]} */
export function dropped(state, model) {
  const { order, selected } = model.state;
  const lost = state.order.filter((name) => !order.includes(name));
  const values = [...state.values.keys()].filter((name) => !model.state.values.has(name));
  const problems = [...lost, ...values].length ? [say.unknown(few([...lost, ...values], false))] : [];
  if (state.pass !== model.state.pass && state.pass !== model.document?.passes.own) problems.push(links.senseless("pass", String(state.pass)));
  if (state.mode !== model.state.mode) problems.push(links.senseless("mode", state.mode));
  if (state.selected && !selected) problems.push(links.noNode(state.selected));
  return problems;
}

/** Drop the names from a state that the graph does not have. @param {State} state @param {Graph} graph @param {Part} whole */
function fitted(state, graph, whole) {
  const node = graph.nodes.find(({ name }) => name === state.selected);
  return {
    ...state,
    order: state.order.length ? visited(graph, state.order) : state.order,
    selected: node ? state.selected : "",
    operand: node && node.operands[state.operand] >= 0 ? state.operand : -1,
    open: state.open && pathTo(whole, state.open).length ? state.open : "",
  };
}

/** Return the names of visited nodes without duplicates; the same list if it is complete. @param {Graph} graph @param {readonly string[]} names */
function visited(graph, names) {
  const known = new Set(swept(graph).map((place) => graph.nodes[place].name));
  const kept = [...new Set(names)].filter((name) => known.has(name));
  return kept.length === names.length ? names : kept;
}

/**
 * Return the values of leaves only; the same map if all values are of leaves.
 * @param {Graph} graph @param {ReadonlyMap<string, number>} values
 */
function leafValues(graph, values) {
  const places = placesOf(graph, [...values.keys()]);
  const known = [...values].filter((_, i) => graph.nodes[places[i]]?.operands.length === 0);
  return known.length === values.size ? values : new Map(known);
}

/** Replace numbers at the leaves of a graph. @param {Graph} graph @param {ReadonlyMap<string, number>} values */
function changed(graph, values) {
  if (!values.size) return graph;
  const places = placesOf(graph, [...values.keys()]);
  return graph.withData(new Map([...values.values()].map((value, i) => [places[i], value])));
}

/**
 * Cache the last result of a function, for calls with the same arguments.
 * @template {unknown[]} Arguments @template Result
 * @param {(...given: Arguments) => Result} f
 * @returns {(...given: Arguments) => Result}
 */
function remembered(f) {
  /** @type {{ given: Arguments, result: Result } | null} */
  let last = null;
  return (...given) => {
    if (!last || !given.every((argument, i) => argument === last?.given[i])) last = { given, result: f(...given) };
    return last.result;
  };
}
