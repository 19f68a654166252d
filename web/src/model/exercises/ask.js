// The answer to a teacher's own question, as it stands in a link: not in clear, but a hash of each way to give it.
//
// That keeps it from being read in passing. It is no secret: whoever tries all likely answers finds it.

import { readNumber } from "../../core/numbers.js";
import { numberIn, pointed } from "./answers.js";

const BETWEEN = ";"; // ways to give an answer, as a teacher types them
const HALF = 1e-9; // relative: what is so near to the middle of two roundings counts as either
const EXACT = 6; // places to which a whole number must be met
const MOST_PLACES = 99;
const WORD = "w";
const ARITHMETIC = /^[\d\s.()+*/-]*\d\s*[*/][\d\s.()+*/-]*$/; // as 1/3 and 3*2
const FIGURES = 3; // of what is worked out, such as 1/3, that count
const ENCODED = /^(?:(?:w|-?\d{1,3})\.[0-9a-z]{13}(?:~(?!$)|$))+$/;

/**
 * What a teacher has typed, for a link: "" for no answer. Numbers count as right to the places that are typed, whole ones exactly,
 * and what arithmetic such as 1/3 makes to three figures; anything else is a word.
 * @param {string} typed one answer, or several with semicolons between them
 * @param {string} question that it answers: the same answer to another question is another code
 */
export function encodedAnswer(typed, question) {
  const codes = waysIn(typed).map(({ number, places, word }) => {
    if (number === null) return `${WORD}.${hash(question, WORD, word)}`;
    return `${places}.${hash(question, String(places), rounded(number, places))}`;
  });
  return codes.join("~");
}

/**
 * Each way to give an answer, as it is understood.
 * @param {string} typed @returns {{ number: number | null, places: number, isExact: boolean, word: string }[]} `word`: where it is no number
 */
export function waysIn(typed) {
  const ways = typed.split(BETWEEN).map((way) => workedOut(pointed(way.trim()))).filter(Boolean);
  return ways.map((way) => {
    const number = readNumber(way);
    const isNumber = number !== null && Number.isFinite(number);
    return { number: isNumber ? number : null, places: placesOf(way), isExact: isWhole(way), word: plainWord(way) };
  });
}

/** Whether a text of a link can be such an answer. @param {string} text */
export function isEncodedAnswer(text) {
  return ENCODED.test(text);
}

/** Whether what a learner has typed is a right answer. @param {string} given @param {string} question @param {string} encoded */
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

/** Whether an answer can only be a number. @param {string} encoded */
export function isNumeric(encoded) {
  return encoded.split("~").every((way) => !way.startsWith(WORD));
}

/** Arithmetic as the number that it makes; anything else as it is. @param {string} way */
function workedOut(way) {
  const number = ARITHMETIC.test(way) ? numberIn(way) : null;
  if (number === null) return way;
  return Number.isInteger(number) ? String(number) : number.toPrecision(FIGURES);
}

/** @param {string} way */
function isWhole(way) {
  return !/[.e]/i.test(way);
}

/** How many places behind the point were typed; fewer than none for 1.5e9. @param {string} way */
function placesOf(way) {
  if (isWhole(way)) return EXACT;
  const [mantissa, exponent = "0"] = way.toLowerCase().split("e");
  const behind = (mantissa.split(".")[1] ?? "").replace(/\D/g, "").length;
  return Math.min(Math.max(behind - Number(exponent), -MOST_PLACES), MOST_PLACES);
}

/** A number to so many places, always written in the same way. @param {number} number @param {number} places */
function rounded(number, places) {
  const kept = places < 0 ? Math.round(number * 10 ** places) : Number(number.toFixed(places));
  return String(kept + 0); // + 0 makes -0 plain
}

/** A word without what makes no difference. @param {string} word */
function plainWord(word) {
  return word.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}\p{S}\p{P}]+/gu, " ").trim();
}

/** The same few letters for the same parts. (FNV-1a of 64 bits, public domain) @param {...string} parts */
function hash(...parts) {
  const bytes = new TextEncoder().encode(parts.join("\0"));
  const code = bytes.reduce((before, byte) => BigInt.asUintN(64, (before ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n);
  return code.toString(36).padStart(13, "0");
}
