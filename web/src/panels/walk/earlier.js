// A table of .grad after a pass that started with gradients from earlier passes, to which backward() adds.

import { button, element, fill, table, write } from "../../dom.js";
import { earlier as say } from "../../languages/languages.js";
import { short } from "../../core/numbers.js";

const MOST = 100; // rows

export class EarlierGradients {
  /** @param {(change: Partial<import("../../model/state.js").State>) => void} act */
  constructor(act) {
    this.act = act;
    /** @type {unknown[]} the inputs that the table was built from */
    this.made = [];
    this.intro = element("p");
    this.body = element("tbody");
    this.more = element("p", { class: "note" });
    this.element = element("section", { class: "earlier" }, element("h2", {}, say.title), this.intro, table(say.title, say.columns, this.body), this.more);
  }

  /** @param {import("../../model/model.js").Model} model */
  update({ pass, walk, state, graph }) {
    const all = pass && !state.values.size ? pass.earlier : []; // with changed values, the gradients of the program do not apply
    this.element.hidden = !all.length;
    if (!all.length || [pass, walk].every((item, i) => item === this.made[i])) return;
    this.made = [pass, walk];
    write(this.intro, say.intro(all.length));
    const rows = all.slice(0, MOST).map(({ place, grad, now, since }) => {
      const { name } = graph.nodes[place];
      const choose = () => this.act({ selected: name, operand: -1 });
      const numbers = [walk.right[place], grad, now].map((number) => element("td", {}, short(number)));
      const because = element("td", {}, say.since(since));
      return element("tr", { "data-node": name }, element("th", { scope: "row" }, button(name, choose)), ...numbers, because);
    });
    fill(this.body, ...rows);
    write(this.more, all.length > MOST ? say.more(all.length - MOST) : "");
  }
}
