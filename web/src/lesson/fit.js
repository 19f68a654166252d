// Text size in presentations: as large as fits without scrolling, because a presenter's remote cannot scroll.

/** Font sizes to try, relative to the full size; the last one is the smallest legible size. */
const SHARES = [1, 0.92, 0.84, 0.76, 0.68, 0.6];

/**
 * Shrink the text of a scrollable element by its `--fit` property until everything fits, while it is presented.
 * @param {HTMLElement} body @param {readonly HTMLElement[]} parts children that change
 */
export function fitted(body, parts) {
  const observer = new ResizeObserver(() => {
    const shares = body.closest("[data-presented]") ? SHARES : [1];
    for (const share of shares) {
      body.style.setProperty("--fit", String(share));
      if (body.scrollHeight <= body.clientHeight) return;
    }
  });
  for (const part of [body, ...parts]) observer.observe(part);
}

/** Scroll down by one page if there is more text below, while it is presented. Return whether it scrolled. @param {HTMLElement} body */
export function showsMore(body) {
  const { scrollTop, scrollHeight, clientHeight } = body;
  const isBelow = scrollHeight - clientHeight - scrollTop > 1;
  if (!isBelow || !body.closest("[data-presented]")) return false;
  body.scrollTop = scrollTop + clientHeight;
  return true;
}
