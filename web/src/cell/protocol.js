// The messages between the page and the worker that runs Python. Types only.

/**
 * @typedef {{ type: "loading", done: number, of: number }
 *   | { type: "ready" }
 *   | { type: "output", text: string }
 *   | { type: "answer", text: string }
 *   | { type: "failed", text: string }
 *   | { type: "ended", text: string }} Reply "failed" if Python could not be loaded, "ended" if a program stopped Python; an answer's text is JSON, as described in src/gradwalk/cli/cell.py
 */

/** @typedef {{ folder: string, packages: readonly string[] }} Python the URL of a folder with Pyodide, and the archives in it to unpack */

/** @typedef {{ type: "start", python: Python } | { type: "run", program: string }} Request */

export {};
