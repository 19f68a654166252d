// Bundles src/ into the one module that the Python package ships: ../src/gradwalk/explain/page/page.js. `--check` only compares.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { layoutLibrary, styles } from "./plugins.js";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/gradwalk/explain/page/page.js");
const LICENSED = ["@dagrejs/dagre", "@dagrejs/graphlib", "@stdlib/math-base-special-erf"];

/** The licences of the libraries in the bundle, as one comment. */
function licences() {
  const texts = LICENSED.map((name) => {
    const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8");
    return `${name}\n\n${text.trim()}`;
  });
  return `/*! This module contains:\n\n${texts.join("\n\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

const result = await build({
  entryPoints: [join(here, "src/main.js")],
  bundle: true,
  minify: true,
  write: false,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none", // the licences stand whole at the end of the module
  plugins: [layoutLibrary, styles],
});
const text = result.outputFiles[0].text + licences();

if (process.argv.includes("--check")) {
  if (readFileSync(target, "utf8") !== text) {
    console.error("src/gradwalk/explain/page/page.js is not what web/src gives: run `npm run build` in web/");
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
  console.log(`page.js: ${Math.round(Buffer.byteLength(text) / 1000)} kB`);
}
