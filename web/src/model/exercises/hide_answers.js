// Hides everything that would give away the answer to the lesson's open question.

/** @typedef {import("../model.js").Model} Model */
/** @typedef {import("../chapters.js").Question} Question */
/** @typedef {import("../../types.js").Moment} Moment */

/**
 * Return the model with the answer hidden; unchanged without an open question.
 * @param {Model} model @param {Question | null} asks @returns {Model}
 */
export function veiled(model, asks) {
  if (!asks) return model;
  return { ...model, asks, isAsking: true, moment: withoutAnswer(model.moment, model, asks) };
}

/** Remove the gradient in question from a moment. @param {Moment} moment @param {Pick<Model, "graph">} model @param {Question | null} asks @returns {Moment} */
export function withoutAnswer(moment, { graph }, asks) {
  if (asks?.kind !== "number" || !("gradient" in asks.answer)) return moment;
  const { gradient: name } = asks.answer;
  const place = graph.nodes.findIndex((node) => node.name === name);
  if (moment.gradients[place] === null) return moment;
  return {
    ...moment,
    gradients: moment.gradients.map((gradient, i) => (i === place ? null : gradient)),
    visited: moment.visited.map((isVisited, i) => isVisited && i !== place),
    contributions: new Map([...moment.contributions].filter(([, contribution]) => contribution.place !== place)),
  };
}
