// esbuild plugins for bundling src/.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const sources = join(dirname(fileURLToPath(import.meta.url)), "src");

/** Import style sheets as minified text. @type {import("esbuild").Plugin} */
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
 * Bundle a module into one self-contained function. The page can call the function, and a worker can run its source
 * text, so the code is in the bundle only once.
 * @param {string} name of the module @param {string} entry in src/ @param {string} wrapper name of the function @param
 *   {string} given export that it returns
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
