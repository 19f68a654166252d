// Which keys the page leaves to the control that has the focus.

const STEPS = ["n", "b", "ArrowLeft", "ArrowRight", "PageDown", "PageUp"]; // those of presenters among them

/**
 * Whether a control needs a key itself. A list to choose from, a switch and a slider have the arrows up and down: what
 * steps through the walk does so there, too, so that a presenter's click never shows another graph.
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
