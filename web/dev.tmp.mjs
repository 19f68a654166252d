import { build } from "esbuild";
import { writeFileSync } from "node:fs";
import { layoutLibrary, pythonLibrary, styles, trainingLibrary } from "./plugins.js";
const r = await build({ entryPoints: ["src/main.js"], bundle: true, minify: false, write: false, format: "esm", target: "es2022", charset: "utf8", legalComments: "none", plugins: [layoutLibrary, pythonLibrary, trainingLibrary, styles] });
writeFileSync("/tmp/w/page-dev.js", r.outputFiles[0].text);
