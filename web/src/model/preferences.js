// What the reader has chosen for good. It lasts where the browser keeps anything, and else as long as the page.

import { LANGUAGES } from "../languages/languages.js";
import { THEMES } from "./framing.js";

/** @typedef {import("./framing.js").Theme} Theme */

/** The theme that was chosen last. @returns {Theme} */
export function keptTheme() {
  return THEMES.find((theme) => theme === kept("theme")) ?? "auto";
}

/** @param {Theme} theme */
export function keepTheme(theme) {
  keep("theme", theme);
}

/**
 * The language that a reader gets: that of the link, else the one chosen last, else the browser's first that there is,
 * else English.
 * @param {string} inLink "" for none @returns {string} a code of LANGUAGES
 */
export function languageFor(inLink) {
  const browsers = navigator.languages.map((tag) => tag.split("-")[0].toLowerCase());
  return [inLink, kept("language"), ...browsers].find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

/** @param {string} code */
export function keepLanguage(code) {
  keep("language", code);
}

/** @param {string} key */
function kept(key) {
  try {
    return localStorage.getItem(`gradwalk.${key}`) ?? "";
  } catch {
    return ""; // no storage here
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
