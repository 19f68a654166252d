// Keys that the page leaves to the focused control.

const STEPS = ["n", "b", "ArrowLeft", "ArrowRight", "PageDown", "PageUp"]; // including the keys of presenters

/**
 * Return whether a control needs a key itself. In lists, checkboxes and radio buttons the keys of STEPS still move the
 * walk, so a presenter's clicker never selects another graph.
 * @param {HTMLElement} target @param {string} key
 */
export function keeps(target, key) {
  if (target.matches("dialog *, textarea, input:not([type=radio], [type=checkbox], [type=range])")) return true;
  if (target.matches("input[type=range]:not(.timeline)")) return key !== "PageDown" && key !== "PageUp";
  if (target.matches("input, select")) return !STEPS.includes(key);
  const isAcross = key === "ArrowLeft" || key === "ArrowRight";
  if (!target.matches(".scroll, .told")) return false;
  return isAcross ? target.scrollWidth > target.clientWidth : key.startsWith("Arrow");
}
