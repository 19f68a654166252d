// The gradient check: a table that compares every gradient with a difference quotient.

import { button, element, fill, radios, set, table, write } from "../../dom.js";
import { checks as say } from "../../languages/languages.js";
import { digits, plain, readNumber, short } from "../../core/numbers.js";
import { checkWalk } from "../../walk/nudged.js";
import { ErrorCurve } from "./error_curve.js";
import { nudgeSentence } from "./nudged.js";
import { StepSlider } from "./step.js";

const MOST = 300; // rows
const METHODS = /** @type {const} */ (["central", "forward"]);

/** @typedef {import("../../walk/steps.js").Walk} Walk */

export class Checks {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {unknown[]} the inputs that the table was built from */
    this.made = [];
    this.step = element("input", {
      type: "text",
      inputmode: "text",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: say.found,
      onchange: () => this.#changeStep(),
    });
    this.problem = element("span", { class: "problem", role: "alert" });
    this.method = radios(say.method, "method", METHODS.map((method) => [say.methods[method]]), (i) => this.act({ method: METHODS[i] }));
    this.nudged = element("div", { class: "nudged", "aria-live": "polite" });
    this.slider = new StepSlider(act);
    this.curve = new ErrorCurve();
    this.body = element("tbody");
    this.table = table(say.title, say.columns, this.body);
    this.note = element("p", { class: "note" });
    this.element = element(
      "section",
      { class: "checks" },
      element("h2", {}, say.title),
      element("p", {}, say.intro),
      element("div", { class: "field" }, element("label", {}, element("span", {}, say.step), this.step), this.problem),
      this.slider.element,
      this.method.element,
      this.nudged,
      this.curve.element,
      this.table,
      this.note,
    );
  }

  /** @param {import("../../model/model.js").Model} model */
  update(model) {
    const { walk, state, selected, scene } = model;
    this.slider.update(model);
    this.method.inputs[METHODS.indexOf(state.method)].checked = true;
    if (!this.step.matches(":focus")) this.step.value = state.h ? plain(state.h) : "";
    const onStage = scene.items.flatMap((item) => (item.part ? [] : [item.place])).slice(0, MOST);
    const inPart = selected && !onStage.includes(selected.place) ? [selected.place] : []; // the selected node may be in a closed part
    const made = [walk, state.h, state.method, scene, inPart[0], selected];
    const isMade = made.map((item, i) => item === this.made[i]);
    this.made = made;
    if (isMade.every(Boolean)) return;
    this.curve.update(model);
    if (!isMade.slice(0, -1).every(Boolean)) this.#fill(walk, [...inPart, ...onStage], state);
    for (const row of this.body.rows) set(row, "data-selected", row.dataset.node === selected?.name);
    write(this.nudged, nudgeSentence(model));
  }

  /** @param {Walk} walk @param {readonly number[]} places @param {import("../../model/state.js").State} state */
  #fill(walk, places, { h, method }) {
    const { graph } = walk;
    const rows = checkWalk(walk, method, places, h);
    fill(this.body, ...rows.map((row, i) => this.#row(graph.nodes[places[i]].name, row)));
    this.table.hidden = !places.length;
    const others = graph.nodes.length - places.length;
    write(this.note, !places.length ? say.closed : others ? say.others(others) : "");
  }

  /** @param {string} name @param {import("../../walk/check.js").Nudge} row */
  #row(name, { backprop, quotient, error, verdict }) {
    const select = button(name, () => this.act({ selected: name, operand: -1 }));
    const off = Number.isFinite(error) ? (error ? error.toExponential(0) : "0") : say.none;
    const numbers = [short(backprop), digits(quotient), off].map((text) => element("td", {}, text));
    const told = element("td", { "data-verdict": verdict }, say.verdicts[verdict]);
    return element("tr", { "data-node": name }, element("th", { scope: "row" }, select), told, ...numbers);
  }

  #changeStep() {
    const text = this.step.value.trim();
    const h = text ? readNumber(text) : 0;
    const isStep = h !== null && h >= 0 && Number.isFinite(h) && (h > 0 || !text);
    set(this.step, "aria-invalid", !isStep && "true");
    write(this.problem, isStep ? "" : say.noStep(text));
    if (isStep) this.act({ h });
  }
}
