// Computes walks, checks and modules of the graphs that tests/explain/page/test_page_walk.py sends. JSON in, JSON out.

import { readFileSync, writeSync } from "node:fs";

import { checkAll, nudge } from "../src/walk/check.js";
import { Graph } from "../src/core/graph.js";
import { plain } from "../src/core/numbers.js";
import { parts } from "../src/walk/modules/modules.js";
import { Walk } from "../src/walk/steps.js";
import { because, contributionSentence, formula, lossSentence, stepSentence, wrongSentence } from "../src/walk/words.js";

/** @type {{ walks: any[], checks: any[], nudges: any[], modules: any[] }} */
const given = JSON.parse(readFileSync(0, "utf8"));

/** @param {{ graph: unknown, order: number[], overwrite: boolean }} item */
function walked({ graph: json, order, overwrite }) {
  const graph = Graph.fromDocument(json);
  const walk = new Walk(graph, order, overwrite);
  return {
    swept: new Walk(graph).order,
    forward: walk.forward.map((step) => stepSentence(walk, step)),
    backward: walk.backward.map((step) => ({
      ...step,
      sentence: stepSentence(walk, step),
      contributions: step.contributions.map((part) => ({
        ...part,
        formula: formula(graph.nodes[part.giver], part.position),
        sentence: contributionSentence(walk, part),
      })),
    })),
    gradients: walk.order.map((place) => walk.gradients[place]),
    right: walk.right,
    legal: walk.isLegal,
    legal_orders: walk.legalOrders?.toString() ?? null,
    wrong: walk.wrong.map((wrong) => ({
      ...wrong,
      sentence: wrongSentence(walk, wrong),
      losses: wrong.losses.map((loss) => ({
        ...loss,
        because: because(graph, loss),
        sentence: lossSentence(graph, loss, wrong.place),
      })),
    })),
    moments: Array.from({ length: walk.steps.length }, (_, step) => {
      const moment = walk.moment(step < walk.seeded ? step : step + 1); // Python's walk takes the seed as given
      return {
        ...moment,
        contributions: [...moment.contributions].map(([edge, { amount }]) => [edge, amount]),
        lost: [...moment.lost],
      };
    }),
  };
}

/** Copy a part and the parts in it. @param {import("../src/types.js").Part} part @returns {object} */
function outlined({ name, places, children }) {
  return { name, places, parts: children.filter((child) => typeof child !== "number").map(outlined) };
}

const found = {
  walks: given.walks.map(walked),
  checks: given.checks.map(({ graph, method }) => checkAll(Graph.fromDocument(graph), method)),
  nudges: given.nudges.map(({ graph, place, h, method }) => nudge(Graph.fromDocument(graph), place, h, method)),
  modules: given.modules.map(({ graph, groups, overview }) => {
    const read = Graph.fromDocument(graph, groups, overview);
    return { paths: read.groups && [...read.groups.modules].map((module) => read.groups?.paths[module]), whole: outlined(parts(read)) };
  }),
};

const text = JSON.stringify(found, (_, value) => {
  return typeof value === "number" && !Number.isFinite(value) ? plain(value) : value;
});
for (let rest = Buffer.from(text); rest.length; ) rest = rest.subarray(writeSync(1, rest));
