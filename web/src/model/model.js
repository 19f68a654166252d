// From what the reader has chosen to what there is to see: state and document -> graph -> walk -> moment and scene.

import { links, orders as say } from "../english/page.js";
import { exercise } from "./exercises.js";
import { CONSTANTS, evaluate, parse } from "../core/expression.js";
import { parts, pathTo, scene } from "../walk/modules.js";
import { swept, Walk } from "../walk/steps.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./document.js").Document} Document */
/** @typedef {import("../core/graph.js").Graph} Graph */
/** @typedef {import("../types.js").Part} Part */

/**
 * All that the page shows, worked out. It is made anew for every state and never changed.
 * @typedef {object} Model
 * @property {State} state
 * @property {string} program what the graph was made from: the state's, or an exercise's; "" for a document
 * @property {Document | null} document the walk that was handed in, if any
 * @property {Graph} graph
 * @property {Walk} walk in the right order, or in that of the document
 * @property {Walk} shown the walk that the timeline goes through: in the order puzzle, the reader's once it is whole
 * @property {boolean} isPlaced whether the order puzzle has a whole order
 * @property {number} last the last position of the timeline
 * @property {import("../types.js").Moment} moment
 * @property {Part} whole
 * @property {import("../types.js").Scene} scene
 * @property {import("../types.js").Node | null} selected
 */

/**
 * A function from states to models that keeps what has not changed since the last one.
 *
 * It throws `ExpressionError` and `GraphError` for programs and values that make no graph. Names in a state that the
 * graph does not have are dropped.
 * @param {Document | null} document
 * @returns {(state: State) => Model}
 */
export function modeller(document) {
  const graphOf = remembered((/** @type {string} */ program, /** @type {ReadonlyMap<string, number>} */ values) =>
    document ? changed(document.graph, values) : evaluate(parse(program), values),
  );
  const completedOf = remembered(completed);
  const exerciseOf = remembered(exercise);
  const wholeOf = remembered(parts);
  const leafValuesOf = remembered(leafValues);
  const sceneOf = remembered(scene);
  const walkOf = remembered(
    (/** @type {Graph} */ graph, /** @type {boolean} */ overwrite) =>
      new Walk(graph, document?.order ?? swept(graph), overwrite),
  );
  const reordered = remembered(
    (/** @type {Graph} */ graph, /** @type {readonly string[]} */ order, /** @type {boolean} */ overwrite) =>
      new Walk(graph, placesOf(graph, order), overwrite),
  );

  return (given) => {
    /** @type {State} */
    const wanted = document && given.mode === "exercises" ? { ...given, mode: "walk" } : given; // it asks nothing
    const isExercise = wanted.mode === "exercises";
    const values = document ? leafValuesOf(document.graph, wanted.values) : completedOf(wanted.program, wanted.values);
    const asked = isExercise ? exerciseOf(wanted.exercise) : { program: wanted.program, values };
    const graph = graphOf(asked.program, asked.values);
    const whole = wholeOf(graph);
    const state = fitted({ ...wanted, values }, graph, whole);
    const walk = walkOf(graph, state.overwrite && !isExercise);
    const isPlaced = state.order.length === walk.order.length;
    const isPuzzle = state.mode === "order";
    const shown = isPuzzle && isPlaced ? reordered(graph, state.order, state.overwrite) : walk;
    const last = isPuzzle && !isPlaced ? shown.forward.length : shown.steps.length;
    const first = isExercise ? shown.forward.length : 0; // a question shows all values
    const position = Math.min(Math.max(state.position, first), last);
    return {
      state: { ...state, position },
      program: asked.program,
      document,
      graph,
      walk,
      shown,
      isPlaced,
      last,
      moment: shown.moment(position),
      whole,
      scene: sceneOf(graph, whole, state.open || whole.key),
      selected: graph.nodes.find((node) => node.name === state.selected) ?? null,
    };
  };
}

/**
 * A number for every name of a program, and for no other: 1 where none is given, so that there is something to change.
 * What is complete is given back itself, so that what was worked out of it is kept.
 * @param {string} program @param {ReadonlyMap<string, number>} given
 */
function completed(program, given) {
  const { names } = parse(program);
  if (given.size === names.length && names.every((name) => given.has(name))) return given;
  return new Map(names.map((name) => [name, given.get(name) ?? CONSTANTS.get(name) ?? 1]));
}

/** The places of named nodes; -1 where there is none. @param {Graph} graph @param {readonly string[]} names */
export function placesOf(graph, names) {
  const places = new Map(graph.nodes.map((node) => [node.name, node.place]));
  return names.map((name) => places.get(name) ?? -1);
}

/** What a state asks for that is not in its model. @param {State} state @param {Model} model @returns {string[]} */
export function dropped(state, model) {
  const { order, selected } = model.state;
  const lost = state.order.filter((name) => !order.includes(name));
  const values = [...state.values.keys()].filter((name) => !model.state.values.has(name));
  const problems = [...lost, ...values].length ? [say.unknown([...lost, ...values])] : [];
  if (state.mode !== model.state.mode) problems.push(links.senseless("mode", state.mode));
  if (state.selected && !selected) problems.push(links.noNode(state.selected));
  return problems;
}

/** The state without names that the graph does not have. @param {State} state @param {Graph} graph @param {Part} whole */
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

/** The names of visited nodes, each once; the same list where nothing is left out. @param {Graph} graph @param {readonly string[]} names */
function visited(graph, names) {
  const known = new Set(swept(graph).map((place) => graph.nodes[place].name));
  const kept = [...new Set(names)].filter((name) => known.has(name));
  return kept.length === names.length ? names : kept;
}

/**
 * Of numbers by name, those of leaves; the same map where all are.
 * @param {Graph} graph @param {ReadonlyMap<string, number>} values
 */
function leafValues(graph, values) {
  const places = placesOf(graph, [...values.keys()]);
  const known = [...values].filter((_, i) => graph.nodes[places[i]]?.operands.length === 0);
  return known.length === values.size ? values : new Map(known);
}

/** The graph with other numbers at its leaves. @param {Graph} graph @param {ReadonlyMap<string, number>} values */
function changed(graph, values) {
  if (!values.size) return graph;
  const places = placesOf(graph, [...values.keys()]);
  return graph.withData(new Map([...values.values()].map((value, i) => [places[i], value])));
}

/**
 * A function that keeps its last result, and gives it again for the same arguments.
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
