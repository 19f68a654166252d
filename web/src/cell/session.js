/// <reference path="../stage/bundled.d.ts" />
// The page's side of protocol.js. Stopping a program terminates its worker.

import { pythonWorker } from "python-library";

/** @typedef {import("./protocol.js").Reply} Reply */
/** @typedef {import("./protocol.js").Python} Python */

export class Session {
  /** @type {Worker | null} */
  #worker = null;
  /** @type {string | null} the program to run as soon as Python is loaded */
  #waiting = null;
  isReady = false;

  /** @param {Python} python @param {(reply: Reply) => void} listener */
  constructor(python, listener) {
    this.python = python;
    this.listener = listener;
  }

  /** Start loading Python in a worker. */
  start() {
    if (this.#worker) return;
    this.#worker = started((reply) => this.#hear(reply));
    this.#worker.postMessage({ type: "start", python: this.python });
  }

  /** @param {string} program */
  run(program) {
    this.start();
    if (this.isReady) this.#worker?.postMessage({ type: "run", program });
    else this.#waiting = program;
  }

  /** Terminate the worker and any running program. */
  close() {
    this.#worker?.terminate();
    [this.#worker, this.#waiting, this.isReady] = [null, null, false];
  }

  /** @param {Reply} reply */
  #hear(reply) {
    const wasReady = this.isReady;
    if (reply.type === "failed") this.close();
    this.isReady ||= reply.type === "ready";
    this.listener(reply.type === "failed" && wasReady ? { ...reply, type: "ended" } : reply);
    const waiting = this.#waiting;
    if (reply.type !== "ready" || waiting === null) return;
    this.#waiting = null;
    this.run(waiting);
  }
}

/** @param {typeof import("./worker.js").python} python must be self-contained: the worker gets only its source text */
function listen(python) {
  const take = python((reply) => postMessage(reply));
  addEventListener("message", ({ data }) => take(data));
}

/** @param {(reply: Reply) => void} listener */
function started(listener) {
  const url = URL.createObjectURL(new Blob([`(${listen})((${pythonWorker})())`], { type: "text/javascript" }));
  const worker = new Worker(url);
  URL.revokeObjectURL(url);
  worker.addEventListener("message", ({ data }) => listener(data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    listener({ type: "failed", text: event.message });
  });
  return worker;
}
