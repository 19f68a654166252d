// The cell's end of the conversation with Python, and the worker's, each with the other one played by the test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EXAMPLES } from "../src/cell/examples.js";
import { python } from "../src/cell/worker.js";
import * as en from "../src/languages/en.js";

/** A folder as the page's is, whose Pyodide answers each program with its length. @param {string} fails the name of an archive that is missing */
function played(fails = "") {
  /** @type {unknown[]} */
  const replies = [];
  /** @type {string[]} */
  const unpacked = [];
  const folder = `data:text/javascript,${encodeURIComponent(`
    export async function loadPyodide() {
      let out;
      return {
        setStdout: (taker) => { out = taker; },
        setStderr() {},
        unpackArchive: (buffer) => globalThis.unpacked.push(new TextDecoder().decode(buffer)),
        runPython() {},
        pyimport: () => ({ answer: (program) => {
          for (const _ of program.split("\\n")) out.write(new TextEncoder().encode("é\\n"));
          return String(program.length);
        } }),
      };
    }
  //`)}`;
  Object.assign(globalThis, {
    unpacked,
    fetch: async (/** @type {string} */ url) => {
      const name = url.slice(folder.length);
      return name === fails ? new Response("", { status: 404, statusText: "Not Found" }) : new Response(name);
    },
  });
  const answered = (/** @type {string} */ type) =>
    new Promise((resolve) => waiting.push([type, resolve]));
  /** @type {[string, (reply: any) => void][]} */
  const waiting = [];
  const take = python((reply) => {
    replies.push(reply);
    for (const [type, resolve] of waiting) if (type === reply.type) resolve(reply);
  });
  return { replies, unpacked, folder, take, answered };
}

test("the worker unpacks all archives in order, says how far it is, and answers", async () => {
  const { replies, unpacked, folder, take, answered } = played();
  const ready = answered("ready");
  take({ type: "start", python: { folder, packages: ["numpy.whl", "gradwalk.zip"] } });
  await ready;
  assert.deepEqual(unpacked, ["numpy.whl", "gradwalk.zip"]);
  assert.deepEqual(replies, [...[0, 1, 2, 3].map((done) => ({ type: "loading", done, of: 4 })), { type: "ready" }]);
  take({ type: "run", program: "x = 1" });
  assert.deepEqual(replies.slice(-2), [{ type: "output", text: "é\n" }, { type: "answer", text: "5" }]);
});

test("a hundred lines come one by one in 300 ms, further ones together", async (context) => {
  let now = 1000;
  context.mock.method(performance, "now", () => now);
  const { replies, folder, take, answered } = played();
  const ready = answered("ready");
  take({ type: "start", python: { folder, packages: [] } });
  await ready;
  const printed = (/** @type {number} */ count) => {
    const before = replies.length;
    take({ type: "run", program: "\n".repeat(count - 1) });
    return replies.slice(before, -1).map((reply) => /** @type {any} */ (reply).text.split("\n").length - 1);
  };
  assert.deepEqual(printed(250), [...Array(100).fill(1), 150]);
  now += 301;
  assert.deepEqual(printed(3), [1, 1, 1]);
});

test("what is missing in the folder is told", async () => {
  const { folder, take, answered } = played("gradwalk.zip");
  const failed = answered("failed");
  take({ type: "start", python: { folder, packages: ["numpy.whl", "gradwalk.zip"] } });
  assert.match((await failed).text, /gradwalk\.zip: 404 Not Found/);
});

test("every example has a name, and ends with a line's end", () => {
  assert.deepEqual(Object.keys(EXAMPLES), Object.keys(en.cell.names));
  for (const program of Object.values(EXAMPLES)) assert.match(program, /^(import numpy as np\n)?from gradwalk import [^]*\n$/);
});
