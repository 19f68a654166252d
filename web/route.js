// Counts the screens, words, questions and minutes of the lesson: `node route.js [LANGUAGE]`.
//
// The words are all that a learner reads on the way: titles, texts, options, the feedback to right answers, and the
// sentences to keep. A learner reads 130 words in a minute, takes half a minute for a question, and looks at the stage
// of each screen for eight seconds.

import { FURTHER, ROUTE } from "./src/model/chapters.js";
import { LANGUAGES } from "./src/languages/languages.js";

/** @typedef {import("./src/model/chapters.js").Chapter} Chapter */
/** @typedef {{ screens: number, words: number, questions: number, minutes: number, stated: number }} Count */

const WORDS_A_MINUTE = 130;
const [A_QUESTION, A_SCREEN] = [1 / 2, 8 / 60]; // minutes

/** Count one chapter. @param {Chapter} chapter @param {string} language @returns {Count} */
export function countOf({ key, beats, minutes: stated }, language) {
  const { title, recap, beats: texts } = LANGUAGES[language].lesson.chapters[key];
  const spoken = beats.map((beat) => /** @type {any} */ (texts)[beat.key]).flatMap((words) =>
    typeof words === "string" ? [words] : [words.text, ...(words.options ?? []), words.right ?? ""],
  );
  const chosen = beats.flatMap(({ key: beat, ask }) => (ask?.kind === "choice" ? [/** @type {any} */ (texts)[beat].feedback[ask.right]] : []));
  const words = [title, recap, ...spoken, ...chosen].reduce((sum, text) => sum + wordsIn(text), 0);
  const questions = beats.filter(({ ask }) => ask).length;
  const minutes = words / WORDS_A_MINUTE + questions * A_QUESTION + beats.length * A_SCREEN;
  return { screens: beats.length, words, questions, minutes, stated };
}

/** Add up counts. @param {readonly Count[]} counts @returns {Count} */
export function sumOf(counts) {
  const sum = (/** @type {keyof Count} */ what) => counts.reduce((before, count) => before + count[what], 0);
  return { screens: sum("screens"), words: sum("words"), questions: sum("questions"), minutes: sum("minutes"), stated: sum("stated") };
}

/** Count the words of a text. A formula in code or between dollar signs is one word. @param {string} text */
function wordsIn(text) {
  return text.replaceAll(/`[^`]*`|\$[^$]*\$/g, "x").split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** @param {string} title @param {Count} count */
function line(title, { screens, words, questions, minutes, stated }) {
  const numbers = [screens, words, questions, minutes.toFixed(1), stated];
  return [title.padEnd(28), ...numbers.map((number) => String(number).padStart(10))].join("");
}

/** @param {string} language */
function print(language) {
  const { chapters } = LANGUAGES[language].lesson;
  console.log(["".padEnd(28), ...["screens", "words", "questions", "minutes", "stated"].map((head) => head.padStart(10))].join(""));
  for (const part of [ROUTE, FURTHER]) {
    for (const chapter of part) console.log(line(chapters[chapter.key].title, countOf(chapter, language)));
    console.log(`${line(part === ROUTE ? "The lesson" : "Further chapters", sumOf(part.map((chapter) => countOf(chapter, language))))}\n`);
  }
}

if (process.argv[1]?.endsWith("route.js")) print(process.argv[2] ?? "en");
