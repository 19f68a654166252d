// The nudge shown on the graph: a slider for its step, a sentence, and a plot of its error against the step.

import { element, write } from "../../dom.js";
import { ErrorCurve } from "../../panels/check/error_curve.js";
import { nudgeSentence } from "../../panels/check/nudged.js";
import { StepSlider } from "../../panels/check/step.js";

export class Quotient {
  /**
   * @param {Extract<import("../../model/chapters.js").Figure, { kind: "quotient" }>} figure
   * @param {(change: Partial<import("../../model/state.js").State>) => void} act
   */
  constructor({ isCurved, finest }, act) {
    this.step = new StepSlider(act, finest);
    this.told = element("p", { class: "readout", "aria-live": "polite" });
    this.curve = isCurved ? new ErrorCurve() : null;
    this.element = element("div", { class: "figure" }, this.step.element, this.told, this.curve?.element ?? null);
  }

  /** @param {import("../../model/model.js").Model} model */
  update(model) {
    this.step.update(model);
    this.curve?.update(model);
    write(this.told, nudgeSentence(model));
  }
}
