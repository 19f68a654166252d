// A printed chapter of the lesson: its questions with room for the answers, a picture whenever the graph changes, and a
// page with the answers.

import { element } from "../dom.js";
import { short } from "../core/numbers.js";
import { lesson as say } from "../languages/languages.js";
import { quantityIn, stageOf } from "../model/chapters.js";
import { modeler } from "../model/model.js";
import { bare } from "../model/state.js";
import { veiled } from "../model/exercises/hide_answers.js";
import { line } from "../panels/shell/paper.js";
import { rich } from "../rich.js";
import { wordsOf } from "./guide.js";

/** @typedef {import("../model/chapters.js").Chapter} Chapter */
/** @typedef {import("../model/model.js").Model} Model */

/** @param {Chapter} chapter */
export function titleOf(chapter) {
  return say.chapters[chapter.key].title;
}

/**
 * Create the pages of a chapter: its introduction, its questions, and the answers on the last page.
 * @param {Chapter} chapter @param {ReadonlyMap<number, Element>} pictures by index of the beat
 */
export function handout(chapter, pictures) {
  /** @type {HTMLElement[]} */
  const scenes = []; // each has a picture, and the texts of all beats until the next picture
  for (const i of onPaper(chapter)) {
    const beat = chapter.beats[i];
    const words = wordsOf(chapter, beat.key);
    const text = typeof words === "string" ? words : (("paper" in words && words.paper) || words.text);
    if (!scenes.length || pictures.has(i)) scenes.push(element("section", { class: "scene" }, pictures.get(i), element("div")));
    scenes.at(-1)?.lastElementChild?.append(element("p", {}, ...rich(text)), ...answerTo(words, beat.ask !== undefined));
  }
  return [...scenes, answers(chapter)];
}

/** Create the page with the correct answers. @param {Chapter} chapter */
function answers(chapter) {
  const modelOf = modeler(null);
  const items = chapter.beats.flatMap(({ ask, key }, i) => {
    if (!ask) return [];
    const { graph, walk } = modelOf({ ...bare(), ...stageOf(chapter, i) });
    const words = wordsOf(chapter, key);
    if (ask.kind === "number") return [[short(quantityIn(ask.answer, graph))]];
    if (ask.kind === "choice") return [rich(/** @type {import("./question.js").ChoiceWords} */ (words).options[ask.right])];
    return [[say.orderOr(walk.order.map((place) => graph.nodes[place].name).join(", "))]];
  });
  const list = element("ol", {}, ...items.map((item) => element("li", {}, ...item)));
  return element("section", { class: "answers" }, element("h2", {}, say.answers), list);
}

/** Return the indices of the beats to print: all up to the first question, then questions only. Other beats give answers away. @param {Chapter} chapter */
function onPaper({ beats }) {
  const first = beats.findIndex(({ ask }) => ask);
  return [...beats.keys()].filter((i) => i <= first || beats[i].ask);
}

/**
 * Draw the graphs of the printed beats. Each graph is drawn as in its first question: later it would give answers away.
 * @param {Chapter} chapter @param {(model: Model) => Promise<Element | null>} draw
 */
export async function picturesOf(chapter, draw) {
  const modelOf = modeler(null);
  /** @type {Map<number, Element>} */
  const found = new Map();
  const keyOf = (/** @type {number} */ i) => {
    const { program, values, mode } = stageOf(chapter, i);
    return JSON.stringify([program, ...values, mode]);
  };
  const printed = onPaper(chapter);
  for (const [at, i] of printed.entries()) {
    if (at && keyOf(i) === keyOf(printed[at - 1])) continue;
    const asked = printed.slice(at).find((other) => chapter.beats[other].ask && keyOf(other) === keyOf(i)) ?? i;
    const picture = await draw(veiled(modelOf({ ...bare(), ...stageOf(chapter, asked) }), chapter.beats[asked].ask ?? null));
    if (picture) found.set(i, picture);
  }
  return found;
}

/** Create a line for the answer, or the options to choose from. @param {import("./guide.js").Words} words @param {boolean} isAsked */
function answerTo(words, isAsked) {
  if (!isAsked) return [];
  if (typeof words === "string" || !("options" in words)) return [line()];
  return [element("ul", { class: "options" }, ...words.options.map((option) => element("li", {}, ...rich(option))))];
}
