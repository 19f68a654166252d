// Bundles src/ into the one module that the Python package ships: ../src/gradwalk/explain/page/page.js. `--check` only compares.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/gradwalk/explain/page/page.js");
const LICENSED = ["@dagrejs/dagre", "@dagrejs/graphlib", "@stdlib/math-base-special-erf"];

/** @param {string} entry @param {import("esbuild").BuildOptions} options */
async function bundled(entry, options) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    target: "es2022",
    charset: "utf8",
    legalComments: "none", // the licences stand whole at the end of the module
    loader: { ".css": "text" },
    ...options,
  });
  return result.outputFiles?.[0].text ?? "";
}

/** The licences of the libraries in the bundle, as one comment. */
function licences() {
  const texts = LICENSED.map((name) => {
    const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8");
    return `${name}\n\n${text.trim()}`;
  });
  return `/*! This module contains:\n\n${texts.join("\n\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

const worker = await bundled("stage/layout.worker.js", { format: "iife" });
const page = await bundled("main.js", { format: "esm", define: { LAYOUT_WORKER: JSON.stringify(worker) } });
const text = page + licences();

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("src/gradwalk/explain/page/page.js is not what web/src gives: run `npm run build` in web/");
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
  console.log(`page.js: ${Math.round(text.length / 1024)} kB`);
}
