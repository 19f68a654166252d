// A slider for the step of difference quotients, over powers of ten.

import { element, set, write } from "../../dom.js";
import { checks as say } from "../../languages/languages.js";
import { short } from "../../core/numbers.js";

export const [FINEST, COARSEST] = [-10, -1]; // powers of ten

export class StepSlider {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act @param {number} [finest] power of ten */
  constructor(act, finest = FINEST) {
    const oninput = () => act({ h: Number(`1e${this.slider.value}`) });
    this.slider = element("input", { type: "range", min: finest, max: COARSEST, step: 1, "aria-label": say.slider, oninput });
    this.number = element("output");
    const ends = element("div", { class: "ends", "aria-hidden": "true" }, element("span", {}, `1e${finest}`), element("span", {}, `1e${COARSEST}`));
    this.element = element("div", { class: "step-slider" }, element("span", { class: "name", "aria-hidden": "true" }, "h ="), this.number, this.slider, ends);
  }

  /** @param {import("../../model/model.js").Model} model if each node has a step of its own, the slider shows the step of the selected node */
  update({ state, nudge }) {
    const h = state.h || nudge?.h || 0;
    write(this.number, h ? short(h) : say.none);
    set(this.slider, "aria-valuetext", h ? short(h) : say.found);
    this.slider.value = String(Math.round(Math.log10(h || 1e-5)));
  }
}
