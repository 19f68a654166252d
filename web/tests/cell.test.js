// The Python cell's session and worker; the test plays the other side of each.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EXAMPLES } from "../src/cell/examples.js";
import { python } from "../src/cell/worker.js";
import * as en from "../src/languages/en.js";

/** Return a folder like the page's, whose Pyodide answers each program with its length. @param {string} fails the name of an archive that is missing */
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

test("the worker unpacks archives, reports progress and answers", async () => {
  const { replies, unpacked, folder, take, answered } = played();
  const ready = answered("ready");
  take({ type: "start", python: { folder, packages: ["numpy.whl", "gradwalk.zip"] } });
  await ready;
  assert.deepEqual(unpacked, ["numpy.whl", "gradwalk.zip"]);
  assert.deepEqual(replies, [...[0, 1, 2, 3].map((done) => ({ type: "loading", done, of: 4 })), { type: "ready" }]);
  take({ type: "run", program: "x = 1" });
  assert.deepEqual(replies.slice(-2), [{ type: "output", text: "é\n" }, { type: "answer", text: "5" }]);
});

test("after 100 lines in 300 ms, output is batched", async (context) => {
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

test("missing files are reported", async () => {
  const { folder, take, answered } = played("gradwalk.zip");
  const failed = answered("failed");
  take({ type: "start", python: { folder, packages: ["numpy.whl", "gradwalk.zip"] } });
  assert.match((await failed).text, /gradwalk\.zip: 404 Not Found/);
});

test("every example has a name and ends with a newline", () => {
  assert.deepEqual(Object.keys(EXAMPLES), Object.keys(en.cell.names));
  for (const program of Object.values(EXAMPLES)) assert.match(program, /^(import numpy as np\n)?from gradwalk import [^]*\n$/);
});
