// Encodes the answer to a teacher's question for a link, as a hash of each accepted answer.
//
// The hash prevents learners from reading the answer in the link. It is not secure: trying all likely answers finds it.

import { readNumber } from "../../core/numbers.js";
import { numberIn, pointed } from "./answers.js";

const BETWEEN = ";"; // separates accepted answers that a teacher types
const HALF = 1e-9; // relative: a number this close to a rounding boundary is accepted both ways
const EXACT = 6; // decimal places to which a whole number must match
const MOST_PLACES = 99;
const WORD = "w";
const ARITHMETIC = /^[\d\s.()+*/-]*\d\s*[*/][\d\s.()+*/-]*$/; // such as 1/3 and 3*2
const FIGURES = 3; // significant digits of computed answers such as 1/3
const ENCODED = /^(?:(?:w|-?\d{1,3})\.[0-9a-z]{13}(?:~(?!$)|$))+$/;

/**
 * Encode the answers that a teacher has typed; "" for no answer. Numbers must match to the decimal places typed, whole
 * numbers exactly, and the results of arithmetic such as 1/3 to three significant digits; anything else is a word.
 * @param {string} typed one answer, or several separated by semicolons
 * @param {string} question part of the hash, so that equal answers to different questions have different codes
 */
export function encodedAnswer(typed, question) {
  const codes = waysIn(typed).map(({ number, places, word }) => {
    if (number === null) return `${WORD}.${hash(question, WORD, word)}`;
    return `${places}.${hash(question, String(places), rounded(number, places))}`;
  });
  return codes.join("~");
}

/**
 * Parse each accepted answer.
 * @param {string} typed @returns {{ number: number | null, places: number, isExact: boolean, word: string }[]} `word`
 *   is used if `number` is null
 */
export function waysIn(typed) {
  const ways = typed.split(BETWEEN).map((way) => workedOut(pointed(way.trim()))).filter(Boolean);
  return ways.map((way) => {
    const number = readNumber(way);
    const isNumber = number !== null && Number.isFinite(number);
    return { number: isNumber ? number : null, places: placesOf(way), isExact: isWhole(way), word: plainWord(way) };
  });
}

/** Return whether a text of a link can be an encoded answer. @param {string} text */
export function isEncodedAnswer(text) {
  return ENCODED.test(text);
}

/** Return whether a learner's answer is right. @param {string} given @param {string} question @param {string} encoded */
export function isRightAnswer(given, question, encoded) {
  const number = numberIn(given);
  return encoded.split("~").some((way) => {
    const [places, code] = way.split(".");
    if (places === WORD) return code === hash(question, WORD, plainWord(pointed(given)));
    if (number === null) return false;
    const near = [number * (1 - HALF), number * (1 + HALF)];
    return near.some((each) => code === hash(question, places, rounded(each, Number(places))));
  });
}

/** Return whether the answer must be a number. @param {string} encoded */
export function isNumeric(encoded) {
  return encoded.split("~").every((way) => !way.startsWith(WORD));
}

/** Evaluate arithmetic; return anything else unchanged. @param {string} way */
function workedOut(way) {
  const number = ARITHMETIC.test(way) ? numberIn(way) : null;
  if (number === null) return way;
  return Number.isInteger(number) ? String(number) : number.toPrecision(FIGURES);
}

/** @param {string} way */
function isWhole(way) {
  return !/[.e]/i.test(way);
}

/** Count the decimal places that were typed; negative for numbers such as 1.5e9. @param {string} way */
function placesOf(way) {
  if (isWhole(way)) return EXACT;
  const [mantissa, exponent = "0"] = way.toLowerCase().split("e");
  const behind = (mantissa.split(".")[1] ?? "").replace(/\D/g, "").length;
  return Math.min(Math.max(behind - Number(exponent), -MOST_PLACES), MOST_PLACES);
}

/** Format a number with a fixed number of decimal places. @param {number} number @param {number} places */
function rounded(number, places) {
  const kept = places < 0 ? Math.round(number * 10 ** places) : Number(number.toFixed(places));
  return String(kept + 0); // + 0 turns -0 into 0
}

/** Normalize a word: letter case, Unicode form, whitespace. @param {string} word */
function plainWord(word) {
  return word.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}\p{S}\p{P}]+/gu, " ").trim();
}

/** Hash some parts to 13 characters (64-bit FNV-1a, public domain). @param {...string} parts */
function hash(...parts) {
  const bytes = new TextEncoder().encode(parts.join("\0"));
  const code = bytes.reduce((before, byte) => BigInt.asUintN(64, (before ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n);
  return code.toString(36).padStart(13, "0");
}
