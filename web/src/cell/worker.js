// Python, in a worker: Pyodide with NumPy and gradwalk, loaded from the folder beside the page.

/** @typedef {import("./protocol.js").Reply} Reply */
/** @typedef {import("./protocol.js").Request} Request */

/**
 * Needs nothing from outside it: its text is all that the worker gets.
 * @param {(reply: Reply) => void} reply
 * @returns {(request: Request) => void} what takes requests
 */
export function python(reply) {
  /** @type {(program: string) => string} */
  let answer;
  const text = (/** @type {string} */ line) => reply({ type: "output", text: line });

  /** @param {import("./protocol.js").Python} where */
  async function start({ folder, packages }) {
    let done = 0;
    const tell = () => reply({ type: "loading", done: done++, of: packages.length + 2 });
    tell();
    const { loadPyodide } = await import(`${folder}pyodide.mjs`);
    const pyodide = await loadPyodide({ indexURL: folder, stdout: text, stderr: text });
    tell();
    for (const name of packages) {
      const response = await fetch(folder + name);
      if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
      pyodide.unpackArchive(await response.arrayBuffer(), "zip", { extractDir: "/packages" });
      tell();
    }
    pyodide.runPython('import sys; sys.path.append("/packages")');
    answer = pyodide.pyimport("gradwalk.cli.cell").answer;
    reply({ type: "ready" });
  }

  return (request) => {
    if (request.type === "start") start(request.python).catch((error) => reply({ type: "failed", text: String(error) }));
    else reply({ type: "answer", text: answer(request.program) });
  };
}
