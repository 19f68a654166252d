// Bundles src/ into the modules of the Python package in ../src/gradwalk/explain/page/: page.js, and microgpt.js for
// the microgpt page. With `--check`, compares them instead of writing them.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { layoutLibrary, pythonLibrary, styles, trainingLibrary } from "./plugins.js";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "../src/gradwalk/explain/page");
const isChecking = process.argv.includes("--check");

/** Combine the licenses of bundled code into a comment. @param {readonly string[]} libraries */
function licenses(libraries) {
  /** @type {Map<string, string>} the names, by license */
  const names = new Map();
  for (const name of libraries) {
    const text = readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim().replace(/\n\s*\n\s*/g, "\n\n").replace(/\n[ \t]+/g, "\n");
    names.set(text, [names.get(text), name].filter(Boolean).join(", "));
  }
  names.set(noticeIn("core/erf.js"), "FreeBSD's s_erf.c");
  const texts = Array.from(names, ([text, name]) => `${name}\n\n${text}`);
  return `/*! This module contains:\n\n${texts.join("\n\n\n").replaceAll("*/", "* /")}\n*/\n`;
}

/** Return the copyright notice in the first comment of a source. @param {string} source in src/ */
function noticeIn(source) {
  const [comment] = readFileSync(join(here, "src", source), "utf8").split("\n\n");
  return comment.slice(comment.indexOf("Copyright")).replaceAll("\n// ", "\n");
}

/** @param {string} entry in src/ @param {readonly string[]} libraries bundled in it */
async function bundled(entry, libraries) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none", // complete licenses are at the end of the module
    plugins: [layoutLibrary, pythonLibrary, trainingLibrary, styles],
  });
  return result.outputFiles[0].text + licenses(libraries);
}

/** @param {string} name of the file @param {string} text */
function written(name, text) {
  writeFileSync(join(page, name), text);
  console.log(`${name}: ${Math.round(Buffer.byteLength(text) / 1000)} kB`);
}

/** @param {string} name of the file @param {string} text */
function checked(name, text) {
  const path = join(page, name);
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  console.error(`src/gradwalk/explain/page/${name} is not what web/src gives: run \`npm run build\` in web/`);
  process.exitCode = 1;
}

const keep = isChecking ? checked : written;
keep("page.js", await bundled("main.js", ["@dagrejs/dagre", "@dagrejs/graphlib"]));
keep("microgpt.js", await bundled("microgpt/main.js", []));
