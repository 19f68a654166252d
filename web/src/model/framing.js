// What a teacher can put around a graph in a link, besides what is shown: a language, a theme, a note, a question, a bare frame, a large one.

import { LANGUAGES, links as say } from "../languages/languages.js";
import { isEncodedAnswer } from "./exercises/ask.js";

/** @typedef {"auto" | "light" | "dark"} Theme */

/**
 * @typedef {object} Framing
 * @property {string} language code of one of LANGUAGES; "" where the link leaves it to the reader
 * @property {Theme | null} theme null where the link leaves it to the reader
 * @property {string} note shown above the graph, as plain text
 * @property {string} question of the teacher's own, as plain text; "" for none
 * @property {string} answer to it, as ask.js encodes it; "" where it is for discussion
 * @property {boolean} isEmbedded whether the page stands in a frame of another, and shows no more than it has to
 * @property {boolean} isPresented whether it is shown at the front of a room: the graph and the sentence, large
 */

/** @type {readonly Theme[]} */
export const THEMES = ["auto", "light", "dark"];

export const LONGEST_NOTE = 500;
export const LONGEST_QUESTION = 300;
export const LONGEST_TYPED = 200; // of an answer, as a teacher types it
const LONGEST_ANSWER = 2000; // as it is encoded

/** @returns {Framing} */
export function unframed() {
  return { language: "", theme: null, note: "", question: "", answer: "", isEmbedded: false, isPresented: false };
}

/** @type {Record<string, (text: string) => Partial<Framing> | null>} null where the text makes no sense */
const READERS = {
  lang: (text) => (Object.hasOwn(LANGUAGES, text) ? { language: text } : null),
  theme(text) {
    const theme = THEMES.find((known) => known === text);
    return theme ? { theme } : null;
  },
  note: (text) => (text.length <= LONGEST_NOTE ? { note: text } : null),
  ask: (text) => (text.trim() && text.length <= LONGEST_QUESTION ? { question: text } : null),
  answer: (text) => (text.length <= LONGEST_ANSWER && isEncodedAnswer(text) ? { answer: text } : null),
  embed: (text) => (text === "1" ? { isEmbedded: true } : null),
  present: (text) => (text === "1" ? { isPresented: true } : null),
};

/** Whether a key of a link is one of these. @param {string} key */
export function isFraming(key) {
  return Object.hasOwn(READERS, key);
}

/**
 * What a link's parts say of these, and what of them makes no sense.
 * @param {Iterable<[string, string]>} parts @returns {{ framing: Framing, problems: string[] }}
 */
export function framed(parts) {
  let framing = unframed();
  /** @type {string[]} */
  const problems = [];
  for (const [key, text] of parts) {
    const change = isFraming(key) ? READERS[key](text) : {};
    if (change) framing = { ...framing, ...change };
    else problems.push(say.senseless(key, text));
  }
  if (!framing.answer || framing.question) return { framing, problems };
  return { framing: { ...framing, answer: "" }, problems: [...problems, say.senseless("answer", framing.answer)] };
}

/** The same as parts of a link. @param {Framing} framing @returns {[string, string][]} */
export function framingParts({ language, theme, note, question, answer, isEmbedded, isPresented }) {
  /** @type {[string, string][]} */
  const parts = [];
  if (language) parts.push(["lang", language]);
  if (theme) parts.push(["theme", theme]);
  if (note) parts.push(["note", note]);
  if (question) parts.push(["ask", question]);
  if (question && answer) parts.push(["answer", answer]);
  if (isPresented) parts.push(["present", "1"]);
  if (isEmbedded) parts.push(["embed", "1"]);
  return parts;
}
