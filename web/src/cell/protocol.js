// What the page and the worker in which Python runs say to each other. Types only.

/**
 * @typedef {{ type: "loading", done: number, of: number }
 *   | { type: "ready" }
 *   | { type: "output", text: string }
 *   | { type: "answer", text: string }
 *   | { type: "failed", text: string }
 *   | { type: "ended", text: string }} Reply it failed before Python was there, or ended with a program; an answer's text is JSON, as src/gradwalk/cli/cell.py describes it
 */

/** @typedef {{ folder: string, packages: readonly string[] }} Python the address of a folder with Pyodide, and the archives in it to unpack */

/** @typedef {{ type: "start", python: Python } | { type: "run", program: string }} Request */

export {};
