// What is printed: the graph with the walk where it stands, or a chapter with a picture wherever its graph changes.

import { element } from "./dom.js";
import { presets } from "./languages/languages.js";
import { picturesOf } from "./lesson/handout.js";
import { nudgeMarks } from "./model/nudges.js";
import { PRESETS } from "./model/presets.js";
import { printed } from "./panels/shell/paper.js";
import { Stage } from "./stage/stage.js";

/** @typedef {import("./model/model.js").Model} Model */

/**
 * The lab on paper, under its title.
 * @param {Model} model
 * @param {object} shown on the screen
 * @param {Element | null} shown.picture of the graph
 * @param {{ phase: Element, sentence: Element }} shown.transport what it tells of the step
 * @param {string} shown.question that an exercise asks; "" for none
 * @param {Element | null} shown.table of all values
 * @returns {[title: string, ...parts: (Element | null | undefined)[]]}
 */
export function sheetOf({ document: file, program }, { picture, transport: { phase, sentence }, question, table }) {
  const preset = PRESETS.find((known) => known.program === program);
  const title = file ? file.of : preset ? presets[preset.key].title : program;
  const code = preset && element("p", { class: "program" }, program);
  const told = element("p", { class: "told" }, element("b", {}, `${phase.textContent}. `), sentence.textContent);
  return [title, code, picture, told, question ? element("p", { class: "asks" }, question) : null, table && printed(table)];
}

/**
 * The pictures of a chapter, drawn out of sight.
 * @param {import("./model/chapters.js").Chapter} chapter @param {HTMLElement} host in the page, for as long as that takes
 * @param {import("./stage/boxes.js").Texts} texts
 */
export async function chapterPictures(chapter, host, texts) {
  const unseen = element("div", { class: "unseen" });
  host.append(unseen);
  const [none, unsaid] = [() => {}, () => ""]; // nobody acts on paper, nor hears it
  const names = { nameOfNode: unsaid, nameOfEdge: unsaid, nameOfPart: unsaid, nameOfBundle: unsaid };
  const stage = new Stage(unseen, { ...texts, ...names, onNode: none, onEdge: none, onPart: none, onValue: none, onPoint: none, corner: () => ({ width: 0, height: 0 }) });
  const pictures = await picturesOf(chapter, async (model) => {
    const { graph, scene, moment, shown, state } = model;
    const marks = { selected: null, badges: new Map(), asked: null, nudge: nudgeMarks(model), largest: shown.largest };
    stage.paint(graph, moment, marks);
    await stage.show(graph, scene, state.mode === "check" ? graph.root : null);
    return stage.picture();
  });
  stage.close();
  unseen.remove();
  return pictures;
}
