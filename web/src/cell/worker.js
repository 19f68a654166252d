// Python in a worker: Pyodide with NumPy and gradwalk, loaded from the folder next to the page.

/** @typedef {import("./protocol.js").Reply} Reply */
/** @typedef {import("./protocol.js").Request} Request */

/**
 * Serve Python. This function must be self-contained: the worker gets only its source text.
 * @param {(reply: Reply) => void} reply
 * @returns {(request: Request) => void} handles requests
 */
export function python(reply) {
  /** @type {(program: string) => string} */
  let answer;

  let [unsent, writes, since] = ["", 0, 0];

  function send() {
    if (unsent !== "") reply({ type: "output", text: unsent });
    unsent = "";
  }

  /** Send printed lines, at most 100 messages per 300 ms: 100,000 lines per second would freeze the page. @param {string} text */
  function print(text) {
    unsent += text;
    const now = performance.now();
    if (now - since > 300) [writes, since] = [0, now];
    if (++writes <= 100) send();
  }

  /** Create an output stream for Python. The decoder handles characters that are split between chunks. */
  function output() {
    const letters = new TextDecoder();
    /** @param {Uint8Array} bytes */
    const write = (bytes) => (print(letters.decode(bytes, { stream: true })), bytes.length);
    return { write };
  }

  /** @param {string} program */
  function run(program) {
    const text = answer(program);
    send();
    reply({ type: "answer", text });
  }

  /** @param {import("./protocol.js").Python} where */
  async function start({ folder, packages }) {
    let done = 0;
    const tell = () => reply({ type: "loading", done: done++, of: packages.length + 2 });
    tell();
    const { loadPyodide } = await import(`${folder}pyodide.mjs`);
    const pyodide = await loadPyodide({ indexURL: folder, stdin: () => null });
    pyodide.setStdout(output());
    pyodide.setStderr(output());
    tell();
    for (const name of packages) {
      const response = await fetch(folder + name);
      if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
      pyodide.unpackArchive(await response.arrayBuffer(), "zip", { extractDir: "/packages" });
      tell();
    }
    pyodide.runPython('import sys; sys.path.append("/packages"); sys.stdout.reconfigure(line_buffering=True)');
    answer = pyodide.pyimport("gradwalk.cli.cell").answer;
    reply({ type: "ready" });
  }

  return (request) => {
    if (request.type === "start") start(request.python).catch((error) => reply({ type: "failed", text: String(error) }));
    else run(request.program);
  };
}
