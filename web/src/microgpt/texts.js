// The texts of the microgpt page in the reader's language. The page is loaded again when the reader chooses another one.

import { speak } from "../languages/languages.js";
import { languageFor } from "../model/preferences.js";
import { de } from "./languages/de.js";
import { en } from "./languages/en.js";
import { fr } from "./languages/fr.js";

/** The texts by language. @type {Readonly<Record<string, typeof en>>} */
export const CATALOGUES = { en, de, fr };

/** The code of the language; tests outside a browser are in English. */
export const code = typeof document === "undefined" ? "en" : languageFor("");

speak(code); // for the sentences of walks
export const say = CATALOGUES[code] ?? en;
