// The texts of the page in the current language. All modules import their texts from here.
//
// `speak` rebinds these exports. Texts that were read before stay in the old language, so the page is built again.

import * as de from "./de.js";
import * as en from "./en.js";
import * as fr from "./fr.js";

/** @typedef {typeof en} Catalogue the texts of one language; each language is one file */

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
  folds,
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
  summary,
  tabs,
  timeline,
  training,
  transport,
  twin,
  values,
  writing,
} = en;

/** Switch to another language. @param {string} code a key of `LANGUAGES` */
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
    folds,
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
    summary,
    tabs,
    timeline,
    training,
    transport,
    twin,
    values,
    writing,
  } = LANGUAGES[code]);
}
