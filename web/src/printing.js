// Printing: the graph with the current state of the walk, or a chapter with a picture for each change of its graph.

import { element } from "./dom.js";
import { presets } from "./languages/languages.js";
import { picturesOf } from "./lesson/handout.js";
import { nudgeMarks } from "./model/nudges.js";
import { PRESETS } from "./model/presets.js";
import { printed } from "./panels/shell/paper.js";
import { Stage } from "./stage/stage.js";

/** @typedef {import("./model/model.js").Model} Model */

/**
 * Build the printed view of the lab.
 * @param {Model} model
 * @param {object} shown parts of the current view
 * @param {Element | null} shown.picture of the graph
 * @param {{ phase: Element, sentence: Element }} shown.transport phase and sentence of the step
 * @param {string} shown.question question of an exercise; "" for none
 * @param {Element | null} shown.table table of all values
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
 * Draw the pictures of a chapter off screen.
 * @param {import("./model/chapters.js").Chapter} chapter @param {HTMLElement} host in the page; holds the drawing temporarily
 * @param {import("./stage/boxes.js").Texts} texts
 */
export async function chapterPictures(chapter, host, texts) {
  const unseen = element("div", { class: "unseen" });
  host.append(unseen);
  const [none, unsaid] = [() => {}, () => ""]; // paper needs neither actions nor accessible names
  const names = { nameOfNode: unsaid, nameOfEdge: unsaid, nameOfPart: unsaid, nameOfBundle: unsaid };
  const stage = new Stage(unseen, { ...texts, ...names, onNode: none, onEdge: none, onPart: none, onDot: none, onValue: none, onPoint: none, corner: () => ({ width: 0, height: 0 }) });
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
