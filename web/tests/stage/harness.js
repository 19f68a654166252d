// Shows the stage alone, for tests and pictures: open(json, { order, overwrite, part }), then show(position, marks).

import { Graph } from "../../src/core/graph.js";
import { itemOf, parts, scene } from "../../src/walk/modules/modules.js";
import { swept, Walk } from "../../src/walk/steps.js";
import { Stage } from "../../src/stage/stage.js";
import stageCss from "../../src/stage/stage.css";
import css from "../../src/style.css";

const host = document.createElement("div");
document.body.append(host);
const shadow = host.attachShadow({ mode: "open" });
shadow.adoptedStyleSheets = [css, stageCss].map((text) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  return sheet;
});
const frame = document.createElement("div");
Object.assign(frame.style, { width: "100vw", height: "100vh" });
shadow.append(frame);

const said = [];
let graph, walk, shown, moment;
const stage = new Stage(frame, {
  onNode: (place) => said.push(["node", place]),
  onEdge: (key) => said.push(["edge", key]),
  onPart: (key) => said.push(["part", key]),
  onValue: (place, number, isFinal) => said.push(["value", place, number, isFinal]),
  onPoint: () => {},
  corner: () => ({ width: 140, height: 54 }),
  data: "data",
  gradient: "grad",
  nameOfNode: (place) => `${graph.nodes[place].name} = ${graph.nodes[place].data}, ${moment.gradients[place]}`,
  nameOfEdge: (key) => `edge ${key} ${moment.contributions.get(key)?.amount}`,
  nameOfPart: (part) => `part ${part.name}`,
  progress: (done, total) => `${done} of ${total}`,
  nameOfBundle: ({ count }) => `${count} lines`,
  count: (count) => `${count} nodes`,
  largest: (gradient) => `largest gradient ${gradient}`,
});

async function open(json, { order, overwrite = false, part } = {}) {
  graph = Graph.fromDocument(json);
  walk = new Walk(graph, order ?? swept(graph), overwrite);
  const whole = parts(graph);
  shown = scene(graph, whole, part ?? whole.key);
  const start = performance.now();
  await stage.show(graph, shown);
  return { wait: performance.now() - start, items: shown.items.length, steps: walk.steps.length, parts: whole.children.filter((c) => typeof c !== "number").map((c) => c.key) };
}

function show(position, marks = {}) {
  moment = walk.moment(position < 0 ? walk.steps.length + 1 + position : position);
  const largest = Math.max(...walk.gradients.filter((g) => g !== null && Number.isFinite(g)).map(Math.abs));
  const badges = new Map(marks.badges ?? []);
  const start = performance.now();
  stage.paint(graph, moment, { selected: null, largest, ...marks, badges });
  const took = performance.now() - start;
  if (moment.active !== null) stage.focus(itemOf(shown, moment.active));
  return took;
}

Object.assign(window, { harness: { open, show, stage, said, shadow } });
