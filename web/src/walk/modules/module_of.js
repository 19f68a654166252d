// Which module each node of a graph belongs to: by the labels of parameters, named scopes, and iterations of loops.
//
// The labels of parameters say what belongs together: `layers.0.neurons.2.b` is a parameter of the module
// `layers.0.neurons.2`, which is a part of `layers.0`. A computed node belongs to the module whose parameters it uses,
// or to the one that made its only operand, such as a neuron's sum before its activation function.
//
// What was made in a named scope belongs to it, and there to the module whose parameters it uses, or in which its
// operands were made that are of the same scope. The parameters of a module belong to the innermost scope that holds all
// that uses them. Scopes that are numbered and use the same parameters, such as `place0` and `place1`, are one computation
// done several times: what is in `place1.attention` is `place1` of `attention`.
//
// Iterations of a loop are like modules: `newton.3.val` is what goes round at the end of iteration 3 of the loop over
// `newton`. All that only this iteration uses belongs to it, and there to the scope and the module.

/** @typedef {import("../../core/graph.js").Graph} Graph */
/** @typedef {import("../../types.js").Node} Node */
/** @typedef {readonly string[]} Path of a module: its name at every dot */
/** @typedef {{ kept: Path, repeated: Path }} Split the names of a scope: those that are no repetition, and those that are */

/** @type {Path} */
const NONE = [];

/** The path of every node's module, by place. @param {Graph} graph @returns {readonly Path[]} */
export function modulePaths(graph) {
  const parameters = parameterPaths(graph);
  const paths = scopedPaths(graph, parameters, pathsByParameters(graph, parameters));
  const iterations = iterationPaths(graph);
  return iterations ? paths.map((path, place) => [...(iterations[place] ?? NONE), ...path]) : paths;
}

/** The innermost module that holds both. @param {Path} one @param {Path} other @returns {Path} */
function common(one, other) {
  if (one === other) return one;
  const apart = one.findIndex((name, level) => name !== other[level]);
  return apart < 0 ? one : one.slice(0, apart);
}

/** A function of a text that is worked out once for each. @template T @param {(text: string) => T} f @returns {(text: string) => T} */
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

/** The module that the label of each parameter names, by place; empty for all other nodes. @param {Graph} graph @returns {readonly Path[]} */
function parameterPaths({ nodes }) {
  const pathOf = once((text) => text.split("."));
  return nodes.map(({ label, operands }) => {
    const dot = operands.length ? -1 : label.lastIndexOf(".");
    return dot < 0 ? NONE : pathOf(label.slice(0, dot));
  });
}

/**
 * The path of every node's module by the parameters that it uses, by place.
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
 * The module of operands that were made in a scope, all of them.
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
 * The paths of all modules in the scopes of the graph, by place.
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

/** The series of scopes that use the same parameters. @param {readonly Node[]} nodes @param {readonly Path[]} parameters */
function repeatedSeries(nodes, parameters) {
  /** @type {Set<string>} */
  const found = new Set();
  const compared = once((one) => once((other) => found.add(sharedSeries(namesIn(one), namesIn(other)))));
  /** @type {Map<Path, string>} the scope that first uses the parameters of a module */
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

/** The series that two scopes are in, where they first differ; "" where that is none. @param {Path} one @param {Path} other */
function sharedSeries(one, other) {
  const level = common(one, other).length;
  if (level >= Math.min(one.length, other.length)) return "";
  const series = seriesOf(one, level);
  return series === seriesOf(other, level) ? series : "";
}

/** A scope without the numbers in its names, such as "place#" for "place3"; "" where its last has none. @param {Path} names @param {number} level */
function seriesOf(names, level) {
  if (!/[0-9]$/u.test(names[level])) return "";
  return `${names.slice(0, level + 1).map((name) => name.replace(/[0-9]+$/u, "")).join(".")}#`;
}

/** @param {Path} names of a scope @param {ReadonlySet<string>} repeated series @returns {Split} */
function split(names, repeated) {
  const isRepeated = names.map((_, level) => repeated.has(seriesOf(names, level)));
  return { kept: names.filter((_, level) => !isRepeated[level]), repeated: names.filter((_, level) => isRepeated[level]) };
}

/**
 * The innermost scope that holds all that uses the parameters of a module, by its path.
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

/** What `inside` gives, made once for the same paths. @returns {typeof inside} */
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

/** The path of a module in a scope, whose names its own path may begin with. @param {Path} scope @param {Path} own @param {Path} repeated @returns {Path} */
function inside(scope, own, repeated) {
  const isSpelled = scope.every((name, level) => name === own[level]);
  return [...(isSpelled ? own : [...scope, ...own]), ...repeated];
}

// Iterations

/**
 * The iteration of each node that is in one, by place, such as ["newton", "3"], after those around it; null without any.
 * @param {Graph} graph @returns {readonly (Path | undefined)[] | null}
 */
function iterationPaths({ nodes }) {
  const ends = nodes.map(({ label, operands }) => (operands.length && label ? iterationNamed(label) : null));
  if (!ends.some((end) => end?.length)) return null;
  /** @type {(Path | undefined)[]} */
  const found = nodes.map(() => undefined);
  for (const { place, label, operands } of nodes.toReversed()) {
    const path = ends[place] ?? found[place] ?? NONE; // from what uses a node back to it
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
 * The iteration that a label such as `newton.3.val` names; that around a loop for what it starts from.
 * @param {string} label @returns {Path | null}
 */
function iterationNamed(label) {
  const path = label.split(".");
  const last = path.pop() ?? "";
  if (path.at(-1) === "start") return path.slice(0, -2);
  const isOne = path.length > 0 && path.length % 2 === 0 && path.every((name, level) => level % 2 === 0 || /^\d+$/u.test(name));
  return isOne && !/^\d+$/u.test(last) ? path : null; // h.0.1 is in an array
}
