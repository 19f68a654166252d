// Text size in presentations: as large as fits without scrolling, because a presenter's remote cannot scroll.

/** Font sizes to try, relative to the full size; the last one is the smallest legible size. */
const SHARES = [1, 0.92, 0.84, 0.76, 0.68, 0.6];

/**
 * In a presentation, reduce the text size of a scrollable element with its `--fit` property until all text fits.
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

/**
 * In a presentation, scroll down by one page if there is more text below. Return whether it scrolled.
 * @param {HTMLElement} body
 */
export function showsMore(body) {
  const { scrollTop, scrollHeight, clientHeight } = body;
  const isBelow = scrollHeight - clientHeight - scrollTop > 1;
  if (!isBelow || !body.closest("[data-presented]")) return false;
  body.scrollTop = scrollTop + clientHeight;
  return true;
}
