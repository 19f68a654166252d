// Settings that a teacher can add to a link: language, theme, note, question, and an embedded or presentation layout.

import { LANGUAGES, links as say } from "../languages/languages.js";
import { isEncodedAnswer } from "./exercises/ask.js";

/** @typedef {"auto" | "light" | "dark"} Theme */

/**
 * @typedef {object} Framing
 * @property {string} language code of one of LANGUAGES; "" leaves the choice to the reader
 * @property {Theme | null} theme null leaves the choice to the reader
 * @property {string} note shown above the graph, as plain text
 * @property {string} question teacher's own question, as plain text; "" for none
 * @property {string} answer as encoded by ask.js; "" for a question that is open for discussion
 * @property {boolean} isEmbedded whether the page is embedded in another page and shows only the essentials
 * @property {boolean} isPresented whether the graph and the sentence are shown large, for an audience
 */

/** @type {readonly Theme[]} */
export const THEMES = ["auto", "light", "dark"];

export const LONGEST_NOTE = 500;
export const LONGEST_QUESTION = 300;
export const LONGEST_TYPED = 200; // characters of an answer that a teacher types
const LONGEST_ANSWER = 2000; // characters of an encoded answer

/** @returns {Framing} */
export function unframed() {
  return { language: "", theme: null, note: "", question: "", answer: "", isEmbedded: false, isPresented: false };
}

/** @type {Record<string, (text: string) => Partial<Framing> | null>} null for invalid text */
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

/** Return whether a key of a link is one of these settings. @param {string} key */
export function isFraming(key) {
  return Object.hasOwn(READERS, key);
}

/**
 * Read the settings from a link's parts, and describe the invalid ones.
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

/** Convert the settings to parts of a link. @param {Framing} framing @returns {[string, string][]} */
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
