// Each folder of src imports only from itself and from the layers below it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SOURCES = join(dirname(fileURLToPath(import.meta.url)), "../src");
const LAYERS = ["languages", "core", "walk", "learn", "dom.js", "mathml.js", "rich.js", "stage", "model", "panels", "lesson", "cell", "printing.js", "keys.js", "app.js", "surroundings.js", "microgpt", "main.js"];

/** @param {string} path of a module, from src */
function layerOf(path) {
  return LAYERS.indexOf(path.split("/")[0]);
}

test("lower layers never import higher ones", () => {
  const modules = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".js") && path !== "types.js");
  assert(modules.length > 40);
  for (const path of modules) {
    const text = readFileSync(join(SOURCES, path), "utf8");
    const imported = [...text.matchAll(/^(?:import|export) (?:.* from )?"(\..*\.js)";$/gm)].map(([, name]) => name);
    assert(layerOf(path) >= 0, `${path} belongs to no layer`);
    for (const name of imported) {
      const other = relative(SOURCES, normalize(join(SOURCES, dirname(path), name)));
      assert(layerOf(other) <= layerOf(path), `${path} imports ${other}, which is above it`);
    }
  }
});
