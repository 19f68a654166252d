// What esbuild has to be told to bundle src/.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const sources = join(dirname(fileURLToPath(import.meta.url)), "src");

/** Style sheets come as text, as small as they can be. @type {import("esbuild").Plugin} */
export const styles = {
  name: "styles",
  setup({ onLoad }) {
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), { loader: "css", minify: true, target: "es2022" });
      return { contents: code, loader: "text" };
    });
  },
};

/**
 * A module that exports one function which needs nothing from outside it: the page can run it, and so can a worker that
 * is given its text. So what it returns, and all that this imports, is in the bundle once for both.
 * @param {string} name of the module @param {string} entry in src/ @param {string} wrapper the function @param {string} given what it returns
 * @returns {import("esbuild").Plugin}
 */
function library(name, entry, wrapper, given) {
  const options = /** @type {const} */ ({ bundle: true, minify: true, write: false, target: "es2022", format: "iife", globalName: "library" });
  return {
    name,
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`^${name}$`) }, ({ path }) => ({ path, namespace: name }));
      onLoad({ filter: /.*/, namespace: name }, async () => {
        const result = await build({ entryPoints: [join(sources, entry)], ...options });
        return { contents: `export function ${wrapper}() { ${result.outputFiles[0].text} return library.${given}; }`, loader: "js" };
      });
    },
  };
}

export const layoutLibrary = library("layout-library", "stage/layered.js", "layouts", "arranged");
export const trainingLibrary = library("training-library", "microgpt/worker.js", "training", "serve");
export const pythonLibrary = library("python-library", "cell/worker.js", "pythonWorker", "python");
