// Preferences of the reader and the place in the lesson, in the browser's local storage if available.

import { LANGUAGES } from "../languages/languages.js";
import { chapterOf } from "./chapters.js";
import { THEMES } from "./framing.js";

/** @typedef {import("./framing.js").Theme} Theme */
/** @typedef {Pick<import("./state.js").State, "chapter" | "beat" | "done">} Place in the lesson, with the completed chapters */

/** Return the stored theme. @returns {Theme} */
export function keptTheme() {
  return THEMES.find((theme) => theme === kept("theme")) ?? "auto";
}

/** @param {Theme} theme */
export function keepTheme(theme) {
  keep("theme", theme);
}

/**
 * Return the reader's language: from the link, else the stored one, else the browser's first supported language, else
 * English.
 * @param {string} inLink "" for none @returns {string} code of LANGUAGES
 */
export function languageFor(inLink) {
  const browsers = navigator.languages.map((tag) => tag.split("-")[0].toLowerCase());
  return [inLink, kept("language"), ...browsers].find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

/** @param {string} code */
export function keepLanguage(code) {
  keep("language", code);
}

/** Return the last place in the lesson; null if none is stored or the lesson no longer has it. @returns {Place | null} */
export function keptPlace() {
  const [chapter, beat, ...done] = kept("place").split(",");
  const isPlace = Number(beat) < (chapterOf(chapter)?.beats.length ?? 0);
  return isPlace ? { chapter, beat: Number(beat), done: done.filter(chapterOf) } : null;
}

/** @param {Place} place */
export function keepPlace({ chapter, beat, done }) {
  keep("place", [chapter, beat, ...done].join(","));
}

export function forgetPlace() {
  keep("place", "");
}

/** @param {string} key */
function kept(key) {
  try {
    return localStorage.getItem(`gradwalk.${key}`) ?? "";
  } catch {
    return ""; // storage is unavailable
  }
}

/** @param {string} key @param {string} choice */
function keep(key, choice) {
  try {
    localStorage.setItem(`gradwalk.${key}`, choice);
  } catch {
    // storage is full or forbidden
  }
}
