// The texts of the page in the language that was chosen last: everything imports them from here.
//
// They are bound anew by `speak`, so whoever keeps a text keeps it in the language of that time: the page is made again.

import * as de from "./de.js";
import * as en from "./en.js";
import * as fr from "./fr.js";

/** @typedef {typeof en} Catalogue what a language has to say; a language is one file */

/** @type {Readonly<Record<string, Catalogue>>} */
export const LANGUAGES = { en, de, fr };

export let {
  afterwards,
  arrays,
  ask,
  cell,
  checks,
  diagnoses,
  earlier,
  exercises,
  expressionErrors,
  figures,
  files,
  graphErrors,
  header,
  inspector,
  language,
  lesson,
  links,
  modules,
  motion,
  operations,
  orders,
  outcomes,
  paper,
  parts,
  paths,
  present,
  presets,
  sentences,
  share,
  source,
  stage,
  tabs,
  timeline,
  training,
  transport,
  twin,
  values,
  writing,
} = en;

/** Speak another language from now on. @param {string} code of one of `LANGUAGES` */
export function speak(code) {
  ({
    afterwards,
    arrays,
    ask,
    cell,
    checks,
    diagnoses,
    earlier,
    exercises,
    expressionErrors,
    figures,
    files,
    graphErrors,
    header,
    inspector,
    language,
    lesson,
    links,
    modules,
    motion,
    operations,
    orders,
    outcomes,
    paper,
    parts,
    paths,
    present,
    presets,
    sentences,
    share,
    source,
    stage,
    tabs,
    timeline,
    training,
    transport,
    twin,
    values,
    writing,
  } = LANGUAGES[code]);
}
