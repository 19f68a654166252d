// What esbuild has to be told to bundle src/.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const stage = join(dirname(fileURLToPath(import.meta.url)), "src/stage");

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
 * `layout-library` is one function that needs nothing from outside it: the page can run it, and so can a worker that is
 * given its text. So the library is in the bundle once.
 * @type {import("esbuild").Plugin}
 */
export const layoutLibrary = {
  name: "layout-library",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^layout-library$/ }, ({ path }) => ({ path, namespace: "layout-library" }));
    onLoad({ filter: /.*/, namespace: "layout-library" }, async () => {
      const result = await build({
        entryPoints: [join(stage, "layered.js")],
        bundle: true,
        minify: true,
        write: false,
        target: "es2022",
        format: "iife",
        globalName: "library",
      });
      return { contents: `export function layouts() { ${result.outputFiles[0].text} return library.arranged; }`, loader: "js" };
    });
  },
};
