// What the reader has answered, in exercises and in the lesson: kept here and nowhere else, handed in as a file or as a short code.

/** @typedef {"exercise" | "lesson" | "question"} Kind a question is a teacher's own, in a link */

/**
 * @typedef {object} Answer
 * @property {Kind} kind of question
 * @property {string} key the same question has the same key
 * @property {string} answer as it was given; "" where the reader had the answer shown in place of giving one
 * @property {boolean} isRight
 * @property {boolean} hinted whether a hint was taken before
 */

/** @typedef {Answer & { at: string }} Kept with the time, as in 2026-01-31T12:00:00.000Z */

/**
 * How many questions were tried or shown; how many of them answered right, at the first try, and without a hint before; and all tries.
 * @typedef {{ asked: number, right: number, first: number, alone: number, tries: number }} Summary
 */

/** What is known of a question. @typedef {{ right: boolean, first: boolean, alone: boolean, tries: number, shown: boolean }} Standing */

const STORE = "gradwalk.results";
const KINDS = new Set(["exercise", "lesson", "question"]);
const MOST = 5000; // answers
const LONGEST = 200; // letters of one
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; // no letter that is taken for another

/** @type {Kept[] | null} */
let kept = null;

/** Keep an answer. @param {Answer} given @param {Date} [time] */
export function record({ kind, key, answer, isRight, hinted }, time = new Date()) {
  const answers = [...all(), { kind, key, answer: answer.slice(0, LONGEST), isRight, hinted, at: time.toISOString() }];
  keep(answers.slice(-MOST));
}

/** Forget all answers. */
export function forget() {
  keep([]);
}

/** The questions of a kind that were answered right, by key. @param {Kind} kind @returns {ReadonlyMap<string, Standing>} */
export function solved(kind) {
  const questions = byQuestion().filter(([answer]) => answer.kind === kind);
  return new Map(questions.map((answers) => /** @type {const} */ ([answers[0].key, standing(answers)])).filter(([, { right }]) => right));
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

/** Whether the answer was shown in place of one. @param {Kept} answer */
function isShown({ answer }) {
  return answer === "";
}

/** The summary as a short text to hand in, such as 7-5-4-4-12-K3: its end tells a typing error. It proves nothing. */
export function code() {
  const { asked, right, first, alone, tries } = summary();
  const numbers = [asked, right, first, alone, tries].join("-");
  return `${numbers}-${checksum(numbers)}`;
}

/** What a code says; null where it was not copied right. @param {string} text @returns {Summary | null} */
export function decodedSummary(text) {
  const found = /^((\d+)-(\d+)-(\d+)-(\d+)-(\d+))-([0-9A-Z]{2})$/.exec(text.trim().toUpperCase());
  if (!found || checksum(found[1]) !== found[7]) return null;
  const [asked, right, first, alone, tries] = found.slice(2, 7).map(Number);
  return { asked, right, first, alone, tries };
}

/** All answers, by question, as the text of a file. */
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

/** The answers to each question, in the order in which they were first asked. */
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

/** Two letters: any one digit that is wrong changes them, and so do two that are exchanged. @param {string} text */
function checksum(text) {
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
    // storage is full or forbidden: the answers last as long as the page
  }
}

/** @returns {Kept[]} */
function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return Array.isArray(found) ? found.filter(isKept).slice(-MOST) : [];
  } catch {
    return []; // no storage here, or not of ours
  }
}

/** @param {any} item @returns {item is Kept} */
function isKept(item) {
  const isText = ["kind", "key", "answer", "at"].every((name) => typeof item?.[name] === "string");
  return isText && KINDS.has(item.kind) && typeof item.isRight === "boolean" && typeof item.hinted === "boolean";
}
