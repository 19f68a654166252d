// The reader's answers to exercises and the lesson. They are stored only in the browser; the reader can hand them in as
// a file or a short code.

/** @typedef {"exercise" | "lesson" | "question"} Kind a "question" is a teacher's own, from a link */

/**
 * @typedef {object} Answer
 * @property {Kind} kind of question
 * @property {string} key identifies the question
 * @property {string} answer as typed; "" if the reader had the answer shown
 * @property {boolean} isRight
 * @property {boolean} hinted whether a hint was taken before
 */

/** @typedef {Answer & { at: string }} Kept with the time, such as 2026-01-31T12:00:00.000Z */

/**
 * Counts of the questions that were `asked` (tried or shown), answered `right`, right at the `first` try, and right
 * `alone`, without a hint; and of all `tries`.
 * @typedef {{ asked: number, right: number, first: number, alone: number, tries: number }} Summary
 */

/** Results of one question. @typedef {{ right: boolean, first: boolean, alone: boolean, tries: number, shown: boolean }} Standing */

const STORE = "gradwalk.results";
const KINDS = new Set(["exercise", "lesson", "question"]);
const MOST = 5000; // maximum number of answers
const LONGEST = 200; // maximum characters of an answer
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; // without letters that look like digits

/** @type {Kept[] | null} */
let kept = null;

/** Record an answer. @param {Answer} given @param {Date} [time] */
export function record({ kind, key, answer, isRight, hinted }, time = new Date()) {
  const answers = [...all(), { kind, key, answer: answer.slice(0, LONGEST), isRight, hinted, at: time.toISOString() }];
  keep(answers.slice(-MOST));
}

/** Delete all answers. */
export function forget() {
  keep([]);
}

/** Return the questions of a kind that were answered right, by key. @param {Kind} kind @returns {ReadonlyMap<string, Standing>} */
export function solved(kind) {
  const questions = byQuestion().filter(([answer]) => answer.kind === kind);
  return new Map(questions.map((answers) => /** @type {const} */ ([answers[0].key, standing(answers)])).filter(([, { right }]) => right));
}

/** Return the last answer to each question of a kind, by key; "" if it was shown. @param {Kind} kind @returns {ReadonlyMap<string, Answer>} */
export function answersTo(kind) {
  return new Map(all().filter((answer) => answer.kind === kind).map((answer) => [answer.key, answer]));
}

/** @returns {Summary} */
export function summary() {
  const standings = byQuestion().map(standing);
  const count = (/** @type {"right" | "first" | "alone"} */ what) => standings.filter((question) => question[what]).length;
  const tries = standings.reduce((sum, question) => sum + question.tries, 0);
  return { asked: standings.length, right: count("right"), first: count("first"), alone: count("alone"), tries };
}

/** @param {readonly Kept[]} answers to one question @returns {Standing} */
function standing(answers) {
  const at = answers.findIndex(({ isRight }) => isRight);
  const until = answers.slice(0, at + 1);
  const alone = at >= 0 && !until.some((answer) => answer.hinted || isShown(answer));
  return { right: at >= 0, first: at === 0 && alone, alone, tries: answers.filter((answer) => !isShown(answer)).length, shown: answers.some(isShown) };
}

/** Return whether the page showed the answer, instead of the reader giving it. @param {Kept} answer */
function isShown({ answer }) {
  return answer === "";
}

/** Format the summary as a short code to hand in, such as 7-5-4-4-12-K3. The checksum at its end detects typing errors, not cheating. */
export function code() {
  const { asked, right, first, alone, tries } = summary();
  const numbers = [asked, right, first, alone, tries].join("-");
  return `${numbers}-${checksum(numbers)}`;
}

/** Format all answers, by question, as the text of a file. */
export function json() {
  const questions = byQuestion().map((answers) => ({
    kind: answers[0].kind,
    key: answers[0].key,
    ...standing(answers),
    hinted: answers.some(({ hinted }) => hinted),
    answers: answers.filter((answer) => !isShown(answer)).map(({ answer, isRight, hinted, at }) => ({ answer, right: isRight, hinted, at })),
  }));
  return JSON.stringify({ gradwalk: "results", version: 1, summary: summary(), code: code(), questions }, null, 2);
}

/** Group the answers by question, in the order in which the questions were first answered. */
function byQuestion() {
  /** @type {Map<string, Kept[]>} */
  const found = new Map();
  for (const answer of all()) {
    const key = JSON.stringify([answer.kind, answer.key]);
    const answers = found.get(key);
    if (answers) answers.push(answer);
    else found.set(key, [answer]);
  }
  return [...found.values()];
}

/** Compute a checksum of two characters that detects any wrong digit and any two swapped digits. @param {string} text */
export function checksum(text) {
  const sum = [...text].reduce((before, letter) => (before * 37 + letter.charCodeAt(0)) % 1021, 7);
  return DIGITS[sum >> 5] + DIGITS[sum & 31];
}

/** @returns {readonly Kept[]} */
function all() {
  kept ??= stored();
  return kept;
}

/** @param {Kept[]} answers */
function keep(answers) {
  kept = answers;
  try {
    localStorage.setItem(STORE, JSON.stringify(answers));
  } catch {
    // storage is full or forbidden: the answers are lost when the page is closed
  }
}

/** @returns {Kept[]} */
function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(found) ? found.filter(isKept).slice(-MOST) : [];
  } catch {
    return []; // storage is unavailable or invalid
  }
}

/** @param {any} item @returns {item is Kept} */
function isKept(item) {
  const isText = ["kind", "key", "answer", "at"].every((name) => typeof item?.[name] === "string");
  return isText && KINDS.has(item.kind) && typeof item.isRight === "boolean" && typeof item.hinted === "boolean";
}
