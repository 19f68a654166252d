/// <reference path="../stage/bundled.d.ts" />
// The page's side of protocol.js: training runs in a worker or, if workers are not available, in the page itself.

import { training } from "training-library";

/** @typedef {import("./protocol.js").Reply} Reply */
/** @typedef {import("./protocol.js").Request} Request */
/** @typedef {typeof import("./worker.js").serve} Serve */

export class Session {
  #worker;
  /** Requests sent before the worker's first reply; if the worker cannot start, the page handles them. @type {Request[]} */
  #unheard = [];
  /** @type {((request: Request) => void) | null} */
  #here = null;

  /** @param {(reply: Reply) => void} listener */
  constructor(listener) {
    this.listener = listener;
    this.#worker = started();
    if (!this.#worker) this.#here = training()(listener);
    this.#worker?.addEventListener("message", ({ data }) => {
      this.#unheard = [];
      listener(data);
    });
    this.#worker?.addEventListener("error", (event) => this.#failed(event));
  }

  /** @param {Request} request */
  send(request) {
    if (this.#here) return this.#here(request);
    this.#unheard.push(request);
    this.#worker?.postMessage(request);
  }

  close() {
    this.#worker?.terminate();
  }

  /** @param {ErrorEvent} event */
  #failed(event) {
    event.preventDefault();
    if (this.#here) return;
    if (!this.#isFirst()) return this.listener({ type: "problem", text: event.message });
    this.#here = training()(this.listener);
    this.#unheard.forEach(this.#here);
  }

  /** Return whether the worker has never replied. If it fails now, it could not be started. */
  #isFirst() {
    return this.#unheard[0]?.type === "start";
  }
}

/** Serve requests in the worker. Must be self-contained: the worker gets only the source text. @param {Serve} serve */
function listen(serve) {
  const take = serve((reply) => {
    const given = reply.type === "opened" ? [reply.opened.data.buffer, reply.opened.grad.buffer] : [];
    postMessage(reply, { transfer: /** @type {ArrayBuffer[]} */ (given) });
  });
  addEventListener("message", ({ data }) => take(data));
}

/** @returns {Worker | null} */
function started() {
  const url = URL.createObjectURL(new Blob([`(${listen})((${training})())`], { type: "text/javascript" }));
  try {
    return new Worker(url);
  } catch {
    return null;
  } finally {
    URL.revokeObjectURL(url);
  }
}
