/// <reference path="./bundled.d.ts" />
// Layouts, worked out in a worker.

import { layouts } from "layout-library";

/** @typedef {import("./layered.js").Request} Request */
/** @typedef {import("./layered.js").Layout} Layout */

/** Works out layouts, one at a time: only the last that was asked for is given. */
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

  /** The layout, or null if another was asked for before it was ready. @param {Request} request */
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

  /** Give up the layout that was asked for. */
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

/** Some notebooks' content security policies refuse workers: then the page itself lays out. @param {Request} request */
async function here(request) {
  return layouts()(request);
}

/** What the worker does: its text is all that a worker gets. @param {(request: Request) => Layout} arranged */
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
