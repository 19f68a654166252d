// The sentence about the nudge of the selected node.

import { checks as say } from "../../languages/languages.js";
import { said } from "../../core/names.js";
import { digits, short } from "../../core/numbers.js";

/** @param {import("../../model/model.js").Model} model */
export function nudgeSentence({ nudge, graph, selected }) {
  if (!nudge || !selected) return say.select;
  if (Number.isNaN(nudge.quotient)) return say.notNudged(said(selected.name), say.verdicts[nudge.verdict]);
  const places = Math.min(Math.max(10, 4 - Math.floor(Math.log10(nudge.h))), 17); // enough digits to show the change from a tiny step
  const [up, down] = [nudge.up, nudge.down ?? NaN].map((number) => digits(number, places));
  const [quotient, backprop] = [nudge.quotient, nudge.backprop].map((number) => digits(number));
  const [root, name] = [graph.nodes[graph.root], selected].map((node) => said(node.name));
  return say.nudged(root, name, short(nudge.h), up, nudge.down === null ? null : down, quotient, backprop);
}
