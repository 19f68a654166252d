// Finds the module of each node of a graph, from the labels of parameters, named scopes and loop iterations.
//
// Parameter labels name modules: `layers.0.neurons.2.b` is a parameter of the module `layers.0.neurons.2`, which is
// part of `layers.0`. A computed node belongs to the module whose parameters it uses, or to the module of its only
// operand, such as a neuron's sum before its activation function.
//
// A node made in a named scope belongs to that scope, and within the scope to the module whose parameters it uses or
// whose results, made in the same scope, are its operands. The parameters of a module belong to the innermost scope
// that contains all their users. Numbered scopes that use the same parameters, such as `place0` and `place1`, are
// repetitions of one computation: the nodes of `place1.attention` go to `place1` of `attention`.
//
// Loop iterations are treated like modules: `newton.3.val` is the carry `val` after iteration 3 of the loop `newton`.
// Nodes that only one iteration uses belong to it, and within it to their scope and module.

/** @typedef {import("../../core/graph.js").Graph} Graph */
/** @typedef {import("../../types.js").Node} Node */
/** @typedef {readonly string[]} Path of a module: the parts of its dotted name */
/** @typedef {{ kept: Path, repeated: Path }} Split the names of a scope, without and with repetition */

/** @type {Path} */
const NONE = [];

/** Return the path of every node's module, by node index. @param {Graph} graph @returns {readonly Path[]} */
export function modulePaths(graph) {
  const parameters = parameterPaths(graph);
  const paths = scopedPaths(graph, parameters, pathsByParameters(graph, parameters));
  const iterations = iterationPaths(graph);
  return iterations ? paths.map((path, place) => [...(iterations[place] ?? NONE), ...path]) : paths;
}

/** Return the common prefix of two paths, the innermost module that contains both. @param {Path} one @param {Path} other @returns {Path} */
function common(one, other) {
  if (one === other) return one;
  const apart = one.findIndex((name, level) => name !== other[level]);
  return apart < 0 ? one : one.slice(0, apart);
}

/** Cache a function of a text. @template T @param {(text: string) => T} f @returns {(text: string) => T} */
function once(f) {
  /** @type {Map<string, T>} */
  const known = new Map();
  return (text) => {
    const found = known.get(text) ?? f(text);
    known.set(text, found);
    return found;
  };
}

/** @param {string} text @returns {Path} */
function namesIn(text) {
  return text ? text.split(".") : NONE;
}

// Parameters

/**
 * Return the module named by the label of each parameter, by node index; empty for all other nodes.
 * @param {Graph} graph @returns {readonly Path[]}
 */
function parameterPaths({ nodes }) {
  const pathOf = once((text) => text.split("."));
  return nodes.map(({ label, operands }) => {
    const dot = operands.length ? -1 : label.lastIndexOf(".");
    return dot < 0 ? NONE : pathOf(label.slice(0, dot));
  });
}

/**
 * Return the path of every node's module according to the parameters it uses, by node index.
 * @param {Graph} graph @param {readonly Path[]} parameters @returns {readonly Path[]}
 */
function pathsByParameters({ nodes }, parameters) {
  const paths = [...parameters];
  for (const { place, operands, scope } of nodes) {
    /** @type {Path | null} */
    let used = null;
    for (const operand of operands) {
      const path = operand < 0 ? NONE : parameters[operand];
      if (path.length) used = used ? common(used, path) : path;
    }
    if (used) paths[place] = used;
    else if ((scope && operands.length) || operands.length === 1) paths[place] = handedOn(operands, nodes, paths, scope);
  }
  return paths;
}

/**
 * Return the common module of the operands, or an empty path if an operand was made in another scope.
 * @param {readonly number[]} operands @param {readonly Node[]} nodes @param {readonly Path[]} paths @param {string} scope
 */
function handedOn(operands, nodes, paths, scope) {
  /** @type {Path | null} */
  let shared = null;
  for (const operand of operands) {
    if (operand < 0) continue;
    if (nodes[operand].scope !== scope) return NONE;
    shared = shared ? common(shared, paths[operand]) : paths[operand];
  }
  return shared ?? NONE;
}

// Scopes

/**
 * Return the paths of all modules, with their scopes, by node index.
 * @param {Graph} graph @param {readonly Path[]} parameters @param {readonly Path[]} own by the parameters alone
 * @returns {readonly Path[]}
 */
function scopedPaths({ nodes }, parameters, own) {
  if (!nodes.some(({ scope }) => scope)) return own;
  const repeated = repeatedSeries(nodes, parameters);
  const splitOf = once((scope) => split(namesIn(scope), repeated));
  const around = pathsAround(nodes, parameters, splitOf);
  const pathIn = insideOnce();
  return nodes.map(({ place, scope }) => {
    if (parameters[place].length) return pathIn(around.get(own[place]) ?? NONE, own[place], NONE);
    const { kept, repeated: again } = splitOf(scope);
    return pathIn(kept, own[place], again);
  });
}

/** Find the series of scopes that use the same parameters. @param {readonly Node[]} nodes @param {readonly Path[]} parameters */
function repeatedSeries(nodes, parameters) {
  /** @type {Set<string>} */
  const found = new Set();
  const compared = once((one) => once((other) => found.add(sharedSeries(namesIn(one), namesIn(other)))));
  /** @type {Map<Path, string>} first scope that uses the parameters of each module */
  const users = new Map();
  for (const { operands, scope } of nodes) {
    for (const operand of operands) {
      const path = operand < 0 ? NONE : parameters[operand];
      if (!path.length) continue;
      const first = users.get(path) ?? scope;
      users.set(path, first);
      if (first !== scope) compared(first)(scope);
    }
  }
  found.delete("");
  return found;
}

/**
 * Return the series of two scopes at the first name where they differ; "" if they are not in the same series.
 * @param {Path} one @param {Path} other
 */
function sharedSeries(one, other) {
  const level = common(one, other).length;
  if (level >= Math.min(one.length, other.length)) return "";
  const series = seriesOf(one, level);
  return series === seriesOf(other, level) ? series : "";
}

/**
 * Replace the numbers in a scope's names, such as "place#" for "place3"; "" if the last name is not numbered.
 * @param {Path} names @param {number} level
 */
function seriesOf(names, level) {
  if (!/[0-9]$/u.test(names[level])) return "";
  return `${names.slice(0, level + 1).map((name) => name.replace(/[0-9]+$/u, "")).join(".")}#`;
}

/** @param {Path} names parts of a scope @param {ReadonlySet<string>} repeated series @returns {Split} */
function split(names, repeated) {
  const isRepeated = names.map((_, level) => repeated.has(seriesOf(names, level)));
  return { kept: names.filter((_, level) => !isRepeated[level]), repeated: names.filter((_, level) => isRepeated[level]) };
}

/**
 * Map each module path to the innermost scope that contains all users of its parameters.
 * @param {readonly Node[]} nodes @param {readonly Path[]} parameters @param {(scope: string) => Split} splitOf
 */
function pathsAround(nodes, parameters, splitOf) {
  /** @type {Map<Path, Path>} */
  const around = new Map();
  for (const { operands, scope } of nodes) {
    const { kept } = splitOf(scope);
    for (const operand of operands) {
      const path = operand < 0 ? NONE : parameters[operand];
      if (path.length) around.set(path, common(around.get(path) ?? kept, kept));
    }
  }
  return around;
}

/** Cache `inside`, so that equal paths are the same object. @returns {typeof inside} */
function insideOnce() {
  /** @type {Map<Path, Map<Path, Map<Path, Path>>>} */
  const known = new Map();
  return (scope, own, repeated) => {
    const byOwn = known.get(scope) ?? new Map();
    const byRepeated = byOwn.get(own) ?? new Map();
    const path = byRepeated.get(repeated) ?? inside(scope, own, repeated);
    known.set(scope, byOwn.set(own, byRepeated.set(repeated, path)));
    return path;
  };
}

/**
 * Build the path of a module in a scope; the module's own path may already begin with the scope.
 * @param {Path} scope @param {Path} own @param {Path} repeated @returns {Path}
 */
function inside(scope, own, repeated) {
  const isSpelled = scope.every((name, level) => name === own[level]);
  return [...(isSpelled ? own : [...scope, ...own]), ...repeated];
}

// Iterations

/**
 * Return the iteration of each node, by node index, such as ["newton", "3"], after the enclosing iterations; null for a
 * graph without iterations.
 * @param {Graph} graph @returns {readonly (Path | undefined)[] | null}
 */
function iterationPaths({ nodes }) {
  const ends = nodes.map(({ label, operands }) => (operands.length && label ? iterationNamed(label) : null));
  if (!ends.some((end) => end?.length)) return null;
  /** @type {(Path | undefined)[]} */
  const found = nodes.map(() => undefined);
  for (const { place, label, operands } of nodes.toReversed()) {
    const path = ends[place] ?? found[place] ?? NONE; // from users back to operands
    const isParameter = !operands.length && label.includes(".");
    found[place] = isParameter ? NONE : path;
    for (const operand of operands) {
      if (operand < 0) continue;
      const shared = common(found[operand] ?? path, path);
      found[operand] = shared.slice(0, shared.length - (shared.length % 2));
    }
  }
  return found;
}

/**
 * Parse the iteration from a label such as `newton.3.val`. The initial value of a loop belongs to the enclosing
 * iteration.
 * @param {string} label @returns {Path | null}
 */
function iterationNamed(label) {
  const path = label.split(".");
  const last = path.pop() ?? "";
  if (path.at(-1) === "start") return path.slice(0, -2);
  const isOne = path.length > 0 && path.length % 2 === 0 && path.every((name, level) => level % 2 === 0 || /^\d+$/u.test(name));
  return isOne && !/^\d+$/u.test(last) ? path : null; // h.0.1 is an array element
}
