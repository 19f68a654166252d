// A switch between accumulating contributions with += and overwriting the gradient with =.

import { element, radios } from "../../dom.js";
import { writing as say } from "../../languages/languages.js";

export class Writing {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    const faces = [["+=", say.accumulate], ["=", say.overwrite]].map(([sign, meaning]) => [element("code", {}, sign), ` ${meaning}`]);
    const { inputs, element: fieldset } = radios(say.title, "writing", faces, (i) => act({ overwrite: i === 1 }));
    this.inputs = inputs;
    this.element = fieldset;
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ state }) {
    this.inputs[Number(state.overwrite)].checked = true;
  }
}
