/// <reference path="./bundled.d.ts" />
// Computes layouts in a worker.

import { layouts } from "layout-library";

/** @typedef {import("./layered.js").Request} Request */
/** @typedef {import("./layered.js").Layout} Layout */

/** Compute layouts in a worker. A new request cancels the previous one. */
export class Layouter {
  #worker = started();
  #count = 0;
  /** @type {{ id: number, request: Request, resolve: (layout: Layout | null | Promise<Layout>) => void } | null} */
  #awaited = null;

  constructor() {
    this.#worker?.addEventListener("message", ({ data: { id, layout } }) => {
      if (id === this.#awaited?.id) this.#settle(layout);
    });
    this.#worker?.addEventListener("error", (event) => {
      event.preventDefault();
      this.#worker = null;
      if (this.#awaited) this.#settle(here(this.#awaited.request));
    });
  }

  /** Return the layout, or null if a newer request cancels it. @param {Request} request */
  layout(request) {
    this.forget();
    if (!this.#worker) return here(request);
    const id = ++this.#count;
    this.#worker.postMessage({ id, request });
    return /** @type {Promise<Layout | null>} */ (
      new Promise((resolve) => {
        this.#awaited = { id, request, resolve };
      })
    );
  }

  /** Cancel the current request. */
  forget() {
    this.#settle(null);
  }

  close() {
    this.forget();
    this.#worker?.terminate();
  }

  /** @param {Layout | null | Promise<Layout>} layout */
  #settle(layout) {
    this.#awaited?.resolve(layout);
    this.#awaited = null;
  }
}

/** Lay out on the main thread: the content security policies of some notebooks block workers. @param {Request} request */
async function here(request) {
  return layouts()(request);
}

/**
 * Serve layout requests. The worker runs the source text of this function, so it must not use anything outside it.
 * @param {(request: Request) => Layout} arranged
 */
function serve(arranged) {
  addEventListener("message", ({ data: { id, request } }) => postMessage({ id, layout: arranged(request) }));
}

/** @returns {Worker | null} */
function started() {
  const url = URL.createObjectURL(new Blob([`(${serve})((${layouts})())`], { type: "text/javascript" }));
  try {
    return new Worker(url);
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(url);
  }
}
