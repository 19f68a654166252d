// Check the names that the visitor entered, for training.

/** @typedef {import("./protocol.js").NameProblem} NameProblem */

/**
 * Return the usable names, in order, and the problems of all other names.
 * @param {readonly string[]} given in upper or lower case @param {string} letters of the alphabet @param {number} longest
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
