// The visitor's choices as the fragment of a link.

/**
 * @typedef {object} Choices
 * @property {string} name the opened name; "" for the first training name
 * @property {number} place the letter that is predicted, counted from 0
 * @property {string} node the name of the selected number; "" for none
 * @property {"data" | "grad"} shows
 * @property {number} head whose inside is shown
 * @property {number} pace steps of the training per second, one of `PACES`
 * @property {readonly string[] | null} names entered by the visitor; null for the default names
 */

/** Steps of the training per second, slowest first; 0 for no limit. */
export const PACES = [1, 5, 20, 100, 0];
const LONGEST = 1500; // characters of the names in a link

/** @returns {Choices} */
export function untouched() {
  return { name: "", place: 3, node: "", shows: "data", head: 2, pace: 20, names: null };
}

/** Format choices and a step as a fragment. @param {Choices} choices @param {number} step */
export function fragmentOf({ name, place, node, shows, head, pace, names }, step) {
  const all = names?.join(" ") ?? "";
  const parts = new URLSearchParams({ step: String(step), name, place: String(place + 1), head: String(head + 1) });
  if (node) parts.set("node", node);
  if (pace !== untouched().pace) parts.set("pace", String(pace));
  if (shows === "grad") parts.set("show", "gradients");
  if (all && all.length <= LONGEST) parts.set("names", all);
  return parts.toString();
}

/** Parse a fragment; invalid parts keep their defaults. @param {string} fragment @returns {{ choices: Choices, step: number }} */
export function chosenBy(fragment) {
  const parts = new URLSearchParams(fragment);
  const without = untouched();
  const names = parts.get("names")?.slice(0, LONGEST).split(/\s+/).filter(Boolean);
  const choices = {
    name: (parts.get("name") ?? "").slice(0, 60),
    place: counted(parts.get("place"), without.place + 1) - 1,
    node: (parts.get("node") ?? "").slice(0, 80),
    shows: /** @type {"data" | "grad"} */ (parts.get("show") === "gradients" ? "grad" : "data"),
    head: counted(parts.get("head"), without.head + 1) - 1,
    pace: PACES.find((pace) => String(pace) === parts.get("pace")) ?? without.pace,
    names: names?.length ? names : null,
  };
  return { choices, step: counted(parts.get("step"), 0, 0) };
}

/** Parse a number of at least `from`. @param {string | null} text @param {number} otherwise @param {number} [from] */
function counted(text, otherwise, from = 1) {
  return text !== null && /^\d{1,6}$/.test(text) ? Math.max(Number(text), from) : otherwise;
}
