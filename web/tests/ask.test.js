// A teacher's question: which answers are right, and that a link does not reveal them.

import assert from "node:assert/strict";
import { test } from "node:test";

import { encodedAnswer, isEncodedAnswer, isNumeric, isRightAnswer } from "../src/model/exercises/ask.js";

const QUESTION = "What is ∂L/∂a?";

/** @param {string} typed @param {string} given */
function isRight(typed, given) {
  return isRightAnswer(given, QUESTION, encodedAnswer(typed, QUESTION));
}

test("answers must agree to the decimals of the expected number", () => {
  for (const given of ["0.42", ".42", "0.4199", "0.4249", "0.415", "0.425", "21/50", "0,42", " +0.42 ", "4.2e-1", "0.420"]) {
    assert(isRight("0.42", given), given);
  }
  for (const given of ["0.4", "0.43", "-0.42", "42", "0.414", "0.426", "", "x", "0.42 or so"]) assert(!isRight("0.42", given), given);
  for (const half of ["0.12", "0.13"]) assert(isRight(half, "0.125"), "a half may be rounded up or down");
  assert(isRight("-0.42", "−0.42"));
  assert(isRight("0,5", "1/2"));
  assert(isRight("1.5e9", "1520000000"));
  assert(!isRight("1.5e9", "1560000000"));
  assert(isRight("2e-7", "0.00000024"));
});

test("answers to fractions need three significant digits", () => {
  for (const given of ["0.333", "1/3", "0.3333", "2/6"]) assert(isRight("1/3", given), given);
  for (const given of ["0.33", "0.34", "3"]) assert(!isRight("1/3", given), given);
  for (const given of ["6", "3*2"]) assert(isRight("3*2", given), given);
  assert(isRight("1/2000", "0.0005"));
  assert.equal(isNumeric(encodedAnswer("1/3", "")), true);
  assert.equal(isNumeric(encodedAnswer("e/d", "")), false);
});

test("integers must be exact", () => {
  for (const given of ["10", "10.0", "5*2", "30/3", "1e1"]) assert(isRight("10", given), given);
  for (const given of ["10.4", "9.99", "-10", "100"]) assert(!isRight("10", given), given);
  for (const given of ["0", "-0", "0.0", "1 - 1"]) assert(isRight("0", given), given);
  assert(!isRight("0", "0.3"));
  assert(isRight("-3", "1 - 4"));
});

test("rounded answers are right for many numbers", () => {
  for (let i = 1; i < 400; i++) {
    const number = (i * 7919) % 1000 / 7 - 60;
    for (const places of [1, 2, 4]) {
      assert(isRight(number.toFixed(places), String(number)), `${number} to ${places}`);
      const off = number + 1.02 * 10 ** -places;
      assert(!isRight(number.toFixed(places), String(off)), `${off} to ${places}`);
    }
  }
});

test("words match without regard to case and spaces", () => {
  const typed = "chain rule; the Chain  Rule ;Kettenregel";
  for (const given of ["chain rule", " CHAIN   rule", "the chain rule", "kettenregel", "Ｋettenregel"]) assert(isRight(typed, given), given);
  for (const given of ["", "rule", "chainrule", "sum"]) assert(!isRight(typed, given), given);
  assert(isRight("0.5; one half", "One Half"));
  assert(isRight("0.5; one half", "1/2"));
  assert(isRight("+=", "+="));
  assert.equal(isNumeric(encodedAnswer("0.5; 1.50", "")), true);
  assert.equal(isNumeric(encodedAnswer("0.5; one half", "")), false);
});

test("links encode answers, differently for each question", () => {
  for (const typed of ["0.42", "10", "1.5e300", "2e-300", "secret; other", "é ü 名", "inf"]) {
    const code = encodedAnswer(typed, QUESTION);
    assert(isEncodedAnswer(code), code);
    assert.match(code, /^[\w.~-]+$/);
    assert(!code.includes(typed) && !code.includes("secret"));
    assert.notEqual(code, encodedAnswer(typed, `${QUESTION} `));
    assert.equal(code, encodedAnswer(typed, QUESTION));
  }
  assert.equal(encodedAnswer(" ; ;", QUESTION), "");
});

test("invalid encoded answers are rejected", () => {
  const code = "0123456789abc";
  for (const text of ["", "10", "0.25", "w", "w.", ".", `2.${code}~`, `~2.${code}`, `2.${code.toUpperCase()}`, `x.${code}`, `1234.${code}`, `2.${code}~w`, `w.${code}0`]) {
    assert(!isEncodedAnswer(text), text);
  }
  for (const text of [`2.${code}`, `w.${code}~-3.${code}`]) assert(isEncodedAnswer(text), text);
});
