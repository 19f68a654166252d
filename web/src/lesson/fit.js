// The words beside a presented stage, as large as they can be read at once: a clicker does not scroll.

/** Shares of the size that the room has words in, down to what can still be read. */
const SHARES = [1, 0.92, 0.84, 0.76, 0.68, 0.6];

/**
 * Keep what is in a scrolled element in sight, while it is presented, by its `--fit`.
 * @param {HTMLElement} body @param {readonly HTMLElement[]} parts of it that change
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

/** Bring into sight what is still below, while it is presented: whether there was any. @param {HTMLElement} body */
export function showsMore(body) {
  const { scrollTop, scrollHeight, clientHeight } = body;
  const isBelow = scrollHeight - clientHeight - scrollTop > 1;
  if (!isBelow || !body.closest("[data-presented]")) return false;
  body.scrollTop = scrollTop + clientHeight;
  return true;
}
