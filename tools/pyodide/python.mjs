/**
 * Python in Node, by Pyodide: `node python.mjs [--packages WHEEL_OR_FOLDER]... [--mount FOLDER] -m MODULE ARGUMENT...`.
 * The folder is mounted as /checkout, where the module runs. `--packages numpy` is Pyodide's own NumPy, from its
 * servers. Environment variables that begin with GRADWALK_ are handed on.
 */

import { readFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadPyodide } from "../../web/node_modules/pyodide/pyodide.mjs";

// Node would print the line of pyodide.asm.js that threw, a megabyte.
process.on("uncaughtException", (error) => {
  console.error(String(error.stack ?? error).slice(0, 4000));
  process.exit(1);
});

const given = process.argv.slice(2);
const end = given.indexOf("-m");
const { values } = parseArgs({
  args: given.slice(0, end),
  options: { packages: { type: "string", multiple: true, default: [] }, mount: { type: "string", default: "." } },
});

const handedOn = Object.entries(process.env).filter(([name]) => name.startsWith("GRADWALK_"));
const pyodide = await loadPyodide({
  args: ["-X", "faulthandler"],
  env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1", ...Object.fromEntries(handedOn) },
});

/** Where packages are imported from, in order. */
const path = [];
for (const [index, name] of values.packages.entries()) {
  const folder = `/packages/${index}`;
  if (name.endsWith(".whl")) {
    pyodide.unpackArchive(new Uint8Array(readFileSync(name)), "wheel", { extractDir: folder });
    path.push(folder);
  } else if (name.includes("/")) {
    pyodide.FS.mkdirTree(folder);
    pyodide.mountNodeFS(folder, resolve(name));
    path.push(folder);
  } else await pyodide.loadPackage(name);
}
pyodide.FS.mkdirTree("/checkout");
pyodide.mountNodeFS("/checkout", resolve(values.mount));

const [, module, ...rest] = given.slice(end);
pyodide.globals.set("module", module);
pyodide.globals.set("path", pyodide.toPy(path));
pyodide.globals.set("arguments", pyodide.toPy([basename(module), ...rest]));
const status = pyodide.runPython(`
import os, runpy, sys, traceback

os.chdir("/checkout")
sys.path[:0] = path
sys.argv = arguments
try:
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    status = 0
except SystemExit as ended:
    status = ended.code if isinstance(ended.code, int) else bool(ended.code)
except BaseException:
    traceback.print_exc()
    status = 1
status`);
process.exit(Number(status));
