// What the visitor has written as names, made into names that the model can be trained on.

/** @typedef {import("./protocol.js").NameProblem} NameProblem */

/**
 * The names that can be used, in their order, and what is wrong with the others.
 * @param {readonly string[]} given in whatever letters @param {string} letters of the alphabet @param {number} longest
 */
export function readNames(given, letters, longest) {
  /** @type {string[]} */
  const names = [];
  /** @type {NameProblem[]} */
  const problems = [];
  for (const name of given.map(tidied).filter(Boolean)) {
    const problem = problemOf(name, letters, longest);
    if (problem) problems.push(problem);
    if (!problem || problem.used) names.push(problem?.used ?? name);
  }
  if (!names.length) problems.push({ kind: "empty", name: "", letters: "", used: "" });
  return { names, problems };
}

/** @param {string} name */
function tidied(name) {
  return name.normalize("NFC").trim().toLowerCase();
}

/** @param {string} name @param {string} letters @param {number} longest @returns {NameProblem | null} */
function problemOf(name, letters, longest) {
  const strange = [...new Set(name)].filter((letter) => !letters.includes(letter));
  if (strange.length) return { kind: "letters", name, letters: strange.join(""), used: "" };
  if (name.length > longest) return { kind: "long", name, letters: "", used: name.slice(0, longest) };
  return null;
}
