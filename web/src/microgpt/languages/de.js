// Alle Texte der Seite microgpt, auf Deutsch.

/** @import { en } from "./en.js" */

/** @param {number} number @param {string} letter @param {boolean} [isEnd] */
const letterOf = (number, letter, isEnd = false) => {
  if (isEnd) return "das Ende";
  return number ? `Buchstabe ${number}, „${letter}“` : "der Anfang";
};

/** @param {string} letters */
const listed = (letters) => [...letters].map((letter) => `„${letter}“`).join(", ");

/** @type {typeof en} */
export const de = {
  title: "microgpt",
  promise: "jeder Skalar ist zu sehen",
  page: "microgpt: jeder Skalar ist zu sehen · gradwalk",
  contents: "Auf dieser Seite",
  sections: { train: "Lernen", tokens: "Ein Name", embedding: "Einbettung", attention: "Aufmerksamkeit", neurons: "Neuronen", prediction: "Vorhersage", weights: "Alle Gewichte" },
  menu: "Menü",
  theme: "Farben",
  themes: { auto: "wie das System", light: "hell", dark: "dunkel" },
  loading: "Das aufgezeichnete Programm wird entpackt …",
  broken: (text) => `Etwas ist schiefgegangen: ${text}`,

  transport: {
    title: "Training",
    train: "Trainieren",
    pause: "Anhalten",
    step: "Ein Schritt",
    back: "Ein Schritt zurück",
    restart: "Von vorn",
    at: (step, steps) => `Schritt ${step} von ${steps}`,
    loss: (loss) => `Verlust ${loss}`,
    speed: "Geschwindigkeit",
    pace: (pace) => (pace ? `${pace} ${pace === 1 ? "Schritt" : "Schritte"}/s` : "volles Tempo"),
    catching: (step) => `Training bis Schritt ${step}, zu dem der Link führt …`,
    shows: "Felder zeigen",
    kinds: { data: "Werte", grad: "Gradienten" },
  },

  train: {
    heading: "Ein GPT lernt Namen",
    intro: "Das ist ein ganzes GPT, so klein, dass jede seiner *4.192 Zahlen* zu sehen ist. Es lernt, wie man Namen schreibt: In jedem Schritt liest es einen Namen und lernt, jeden Buchstaben aus denen davor vorherzusagen. Drück auf *Trainieren*: Der Verlust fällt, und was es schreibt, sieht immer mehr nach Namen aus.",
    names: "Namen zum Lernen",
    hint: "Ein Name hat höchstens 15 Buchstaben, von a bis z. Trenn Namen durch Leerzeichen, Kommas oder neue Zeilen. Deine Namen ersetzen die vorgegebenen.",
    use: "Diese Namen nehmen",
    given: "Zurück zu den vorgegebenen Namen",
    count: (count) => (count === 1 ? "Es lernt aus 1 Namen." : `Es lernt aus ${count.toLocaleString("de")} Namen.`),
    unused: "Du hast die Namen geändert. Wenn du sie nimmst, fängt das Training von vorn an.",
    more: (count) => `… und ${count} weitere solche Probleme.`,
    problem: ({ kind, name, letters, used }) => {
      if (kind === "empty") return "Es gibt keinen Namen zum Lernen: Schreib mindestens einen Namen mit Buchstaben von a bis z.";
      if (kind === "long") return `„${name}“ ist zu lang: Gelesen wird „${used}“.`;
      return `„${name}“ wird weggelassen: Darin steht ${listed(letters)}, und erlaubt sind nur die Buchstaben a bis z.`;
    },
  },

  curve: {
    title: "Verlust je Schritt",
    name: "Schritt des Trainings",
    hint: "Zieh, oder nimm die Pfeiltasten, um zurückzugehen.",
    to: "Zu Schritt",
    go: "Los",
    chance: "geraten",
    dots: "ein Punkt: ein Schritt",
    mean: (count) => `Linie: Mittel aus ${count} Schritten`,
    none: "Noch gab es keinen Schritt.",
    at: (step, isTaken, loss, mean) => `Schritt ${step}: ${isTaken ? "" : "letzter "}Verlust ${loss}, Mittel ${mean}`,
  },

  samples: {
    title: "Namen, die es schreibt",
    more: "Fünf schreiben",
    temperature: "Temperatur",
    warmth: (number) => `${number}: ${Number(number) < 0.4 ? "vorsichtig" : Number(number) > 0.9 ? "wild" : "ausgewogen"}`,
    isNew: "neu",
    isKnown: "aus den Daten",
    counted: (known, fresh) => `Von diesen ${known + fresh} Namen ${known === 1 ? "steht" : "stehen"} ${known} in den Daten, und ${fresh} ${fresh === 1 ? "ist" : "sind"} neu.`,
    memorized: (count, mean) =>
      `*Es hat ${count === 1 ? "den Namen" : `zumindest einige der ${count} Namen`} auswendig gelernt:* Sein mittlerer Verlust ist ${mean}. Mit 5.163 Namen trainiert, hat dieses Modell auf Namen, die es nicht gelesen hat, einen Verlust von 2.1. Gib ihm mehr Namen, dann muss es lernen, wie man sie schreibt.`,
    at: (step) => `Schritt ${step}`,
    nothing: "(nichts)",
  },

  tokens: {
    heading: "Öffne es bei einem Namen",
    intro: "Das Modell liest einen Namen von links nach rechts und sagt jeden Buchstaben aus den Buchstaben davor vorher. Wähl *den Buchstaben, den es vorhersagt*. Alle Bilder unten zeigen diese Vorhersage.",
    name: "Ein Name zum Ansehen",
    open: "Öffnen",
    places: "Der vorhergesagte Buchstabe",
    number: (place, isEnd) => (isEnd ? "Ende" : String(place + 1)),
    choice: (place, letter, isEnd, share) => `${letterOf(place + 1, letter, isEnd)}: ${share}`,
    told: (read, place, letter, isEnd, share) =>
      `${read ? `Es hat „${read}“ gelesen` : "Es hat noch nichts gelesen"} und sagt vorher, was kommt. Richtig ist: ${letterOf(place + 1, letter, isEnd)}. Das Modell gibt dem die Wahrscheinlichkeit *${share}*.`,
    refused: ({ kind, letters, used }) => {
      if (kind === "empty") return "Schreib einen Namen.";
      if (kind === "long") return `Der Name ist zu lang: Nur „${used}“ passt.`;
      return `Nur die Buchstaben a bis z sind erlaubt, nicht ${listed(letters)}.`;
    },
  },

  cells: {
    help: "Pfeiltasten bewegen, die Eingabetaste öffnet eine Zahl.",
    at: (what, data, grad) => `${what}: Wert ${data}, Gradient ${grad}`,
    hint: "Zeig auf ein Feld, um es zu lesen; klick es an oder drück die Eingabetaste, um es zu öffnen.",
    shares: "Anteil",
    scale: { data: "Wert", grad: "Gradient" },
    negative: "Felder mit Strich sind negativ",
  },

  embedding: {
    heading: "Aus Buchstaben werden Zahlen",
    intro: "Das Modell hat 16 Zahlen für jeden Buchstaben und 16 Zahlen für jede Stelle in einem Namen. Es addiert die Zahlen eines Buchstabens und seiner Stelle und bringt alle Summen auf dieselbe Größe. Das ergibt *eine Zeile für jeden gelesenen Buchstaben*.",
    pictures: { letters: "sein Buchstabe", places: "seine Stelle", sums: "Summe, skaliert" },
    letter: (letter, i) => `Zahl ${i + 1} von ${letter ? `„${letter}“` : "Anfang"}`,
    place: (place, i) => `Zahl ${i + 1} von Stelle ${place + 1}`,
    sum: (place, letter, i) => `Zahl ${i + 1} nach der Summe: ${letterOf(place, letter)}`,
  },

  attention: {
    heading: "Vier Köpfe blicken zurück",
    intro: "Um einen Buchstaben vorherzusagen, blickt jeder Kopf auf die gelesenen Buchstaben zurück. *Ein Gewicht zwischen 0 und 1 sagt, wie sehr er auf jeden von ihnen blickt*. Die Gewichte einer Zeile ergeben zusammen 1.",
    axes: "Zeilen: der vorhergesagte Buchstabe. Spalten: der Buchstabe, auf den geblickt wird. Bögen: die markierte Zeile; ein dickerer Bogen ist ein größeres Gewicht.",
    head: (head) => `Kopf ${head + 1}`,
    weight: (head, place, target, isEnd, seen, letter) => `Kopf ${head + 1}, Vorhersage: ${letterOf(place + 1, target, isEnd)}, Blick auf: ${letterOf(seen, letter)}`,
    told: (head, place, isEnd, name, seen, letter, share) =>
      `Kopf ${head + 1}, Vorhersage für ${isEnd ? "das Ende" : `Buchstabe ${place + 1}`} von „${name}“. Größtes Gewicht: *${letterOf(seen, letter)}* (${share})`,
    ofLetters: (seen, letter, share) => `, und unter den Buchstaben: *${letterOf(seen, letter)}* (${share})`,
    only: (head) => `Kopf ${head + 1} kann nur auf den Anfang blicken.`,
    inside: "Wie ein Kopf wählt, wohin er blickt",
    why: "Der Kopf berechnet eine *Anfrage* (query) für die Vorhersage, und einen *Schlüssel* (key) und *Werte* (values) für jeden gelesenen Buchstaben. Wo ein Schlüssel der Anfrage ähnelt, ist die Punktzahl hoch. Softmax macht aus den Punktzahlen Gewichte. Das Ergebnis ist die gewichtete Summe der Werte der Buchstaben.",
    parts: { query: "Anfrage", key: "Schlüssel", score: "Punktzahlen", weight: "Gewichte", value: "Werte", found: "gemischt" },
    cell: (part, head, seen, letter, i) => `${part} von Kopf ${head + 1} für: ${letterOf(seen, letter)}${i < 0 ? "" : `, Zahl ${i + 1}`}`,
    own: (part, head, i) => `${part} von Kopf ${head + 1}, Zahl ${i + 1}`,
  },

  neurons: {
    heading: "64 Neuronen denken",
    intro: "Jedes Neuron berechnet eine gewichtete Summe der 16 Zahlen. Ist die Summe negativ, gibt das Neuron stattdessen 0 aus: *Es schläft, sein Feld ist leer*, und kein Gradient geht hindurch.",
    picture: "Neuronen",
    neuron: (i) => `Neuron ${i + 1}`,
    told: (awake, all) => `${awake} von ${all} sind an dieser Stelle wach.`,
  },

  prediction: {
    heading: "Was kommen kann",
    intro: "Jeder Buchstabe bekommt eine Punktzahl, sein *Logit*. Softmax macht aus den Logits Wahrscheinlichkeiten. Der Verlust ist groß, wenn der Buchstabe, der wirklich folgt, eine kleine Wahrscheinlichkeit hat.",
    picture: "Logits",
    logit: (letter) => `Logit von ${letter || "Ende"}`,
    target: "was folgt",
    likeliest: (list) => `Am wahrscheinlichsten: ${list}.`,
    one: (letter, share) => `${letter || "Ende"} ${share}`,
    told: (letter, share, rank, loss) =>
      `Wirklich folgt: ${letter ? `„${letter}“` : "das Ende"}. Die Wahrscheinlichkeit dafür ist *${share}*, Rang ${rank}. Der Verlust ist hier der negative Logarithmus dieser Wahrscheinlichkeit, ${loss}.`,
    loss: "Den Verlust an dieser Stelle öffnen",
  },

  weights: {
    heading: "Alle 4.192 Gewichte",
    intro: "Das Training ändert diese Zahlen. Alle anderen Zahlen werden aus ihnen berechnet. Ein *Gradient* sagt, wie sich der Verlust dieses Namens ändern würde, wenn das Gewicht ein wenig wüchse. Linien trennen die vier Köpfe.",
    titles: {
      letters: "Buchstaben", places: "Stellen", query: "Anfrage", key: "Schlüssel", value: "Werte", mix: "Mischen", widen: "Weiten", narrow: "Verengen", unembed: "Ausbetten",
    },
    about: {
      letters: "eine Zeile für jeden Buchstaben",
      places: "eine Zeile für jede Stelle",
      query: "was Köpfe fragen",
      key: "was Buchstaben antworten",
      value: "was Buchstaben geben",
      mix: "Köpfe, zusammengeführt",
      widen: "von 16 Zahlen zu 64 Neuronen: eine Spalte für jedes Neuron",
      narrow: "von 64 Neuronen zu 16 Zahlen: eine Spalte für jedes Neuron",
      unembed: "eine Zeile für jeden nächsten Buchstaben",
    },
    matrix: (name) => `Matrix ${name}`,
    cell: (matrix, row, column) => `${matrix}, Zeile ${row + 1}, Spalte ${column + 1}`,
    find: "Eine Zahl mit ihrem Namen finden",
    example: "etwa query.3.5 oder place3.logit.4",
    go: "Finden",
    unknown: (name) => `„${name}“ kommt in der Rechnung für diesen Namen nicht vor.`,
  },

  titles: {
    letterOf,
    quoted: (letter) => (letter ? `„${letter}“` : "das Ende"),
    predicting: (next) => `Vorhersage: ${next}`,
    weight: "Gewicht",
    scale: "Faktor zu einer Größe",
    operations: { sumprod: "Summe von Produkten", take: "die ausgewählte Zahl", maximum: "die größere von zweien" },
    scopes: { embed: "Einbettung", norm: "Norm", attention: "Aufmerksamkeit", head: "Kopf", mlp: "Neuronen", logits: "Logits", loss: "Verlust" },
    names: {
      "token.#": ([place], { read }) => `was gelesen wird: ${read(place)}`,
      "target.#": ([place], { next }) => `was folgt: ${next(place)}`,
      "place#.embed.take.#": ([place, i], { read }) => `Zahl ${i + 1} des Buchstabens · ${read(place)}`,
      "place#.embed.sum.#": ([place, i], { read }) => `Zahl ${i + 1} von Buchstabe und Stelle zusammen · ${read(place)}`,
      "place#.embed.x.#": ([place, i], { read }) => `Zahl ${i + 1} nach der Einbettung · ${read(place)}`,
      "place#.attention.query.#": ([place, i], { read }) => `Zahl ${i + 1} der Anfrage · ${read(place)}`,
      "place#.attention.key.#": ([place, i], { read }) => `Zahl ${i + 1} des Schlüssels · ${read(place)}`,
      "place#.attention.value.#": ([place, i], { read }) => `Zahl ${i + 1} der Werte · ${read(place)}`,
      "place#.attention.head#.score.#": ([place, head, seen], { read, next }) => `wie gut es zur Anfrage von Kopf ${head + 1} passt: ${read(seen)} · Vorhersage: ${next(place)}`,
      "place#.attention.head#.weight.#": ([place, head, seen], { read, next }) => `wie sehr Kopf ${head + 1} darauf blickt: ${read(seen)} · Vorhersage: ${next(place)}`,
      "place#.attention.head#.found.#": ([place, head, i], { next }) => `Zahl ${i + 1} von dem, was Kopf ${head + 1} fand · Vorhersage: ${next(place)}`,
      "place#.attention.x.#": ([place, i], { next }) => `Zahl ${i + 1} nach der Aufmerksamkeit · Vorhersage: ${next(place)}`,
      "place#.mlp.hidden.#": ([place, i], { next }) => `Neuron ${i + 1} · Vorhersage: ${next(place)}`,
      "place#.mlp.x.#": ([place, i], { next }) => `Zahl ${i + 1} nach den Neuronen · Vorhersage: ${next(place)}`,
      "place#.logit.#": ([place, token], { letter, next }) => `Logit: ${letter(token)} · Vorhersage: ${next(place)}`,
      "loss.#": ([place], { next }) => `Verlust: ${next(place)}`,
      "loss": () => "der Verlust: das Mittel über alle Buchstaben",
      "letters.#.#": ([token, i], { letter }) => `Zahl ${i + 1} des Buchstabens: ${letter(token)} · Gewicht`,
      "unembed.#.#": ([token, i], { letter }) => `Zahl ${i + 1} von dem, was dafür spricht: ${letter(token)} · Gewicht`,
      "places.#.#": ([place, i]) => `Zahl ${i + 1} von Stelle ${place + 1} · Gewicht`,
    },
  },

  inspector: {
    title: "Die gewählte Zahl",
    prompt: "Wähl ein Feld, um hier seine Zahl zu sehen: den Wert, den Gradienten und woher er kommt, die Zahlen, aus denen sie berechnet wird, und ihre Zeile im Programm.",
    begin: "Oder fang hiermit an:",
    beginnings: { loss: "der Verlust dieses Namens", weight: "wohin Kopf 3 blickt", parameter: "ein Gewicht der Anfrage" },
    back: "Zurück",
    forward: "Vor",
    close: "Schließen",
    value: "Wert",
    gradient: "Gradient",
    because: "Warum dieser Gradient",
    nudge: (size, sign) => {
      if (sign === 0) return "Eine kleine Änderung dieser Zahl ändert den Verlust nicht.";
      return `Wenn diese Zahl ein wenig wüchse, würde der Verlust um das ${size}-Fache davon ${sign > 0 ? "wachsen" : "fallen"}.`;
    },
    isRoot: "Diese Zahl ist der Verlust selbst, also ist ihr Gradient 1.",
    isUnused: "Der Verlust dieses Namens hängt nicht von dieser Zahl ab, also kommt kein Gradient zu ihr zurück.",
    isIdle: "Die Zahlen, die aus dieser Zahl berechnet werden, geben ihr 0 zurück: Jeder ihrer Gradienten, mal der lokalen Ableitung, ist 0.",
    one: (amount, upstream, partial) => `Eine Zahl gibt Gradient an diese Zahl zurück: ihren eigenen Gradienten ${upstream}, mal der lokalen Ableitung ${partial} = *${amount}*.`,
    many: (count, sum, grad) =>
      `${count} Zahlen geben Gradient an diese Zahl zurück, jede ihren eigenen Gradienten mal der lokalen Ableitung. Die Kettenregel addiert diese Beiträge: ${sum} = *${grad}*.`,
    others: (count) => `(${count} weitere)`,
    made: "Woraus sie berechnet wird",
    leaf: "Diese Zahl ist gegeben, nicht berechnet.",
    used: "Was Gradient an sie zurückgibt",
    gets: (partial, amount) => `Ableitung ${partial}, also bekommt sie ${amount}`,
    gives: (upstream, partial) => `ihr Gradient ${upstream} × Ableitung ${partial}`,
    constant: "eine Konstante: Sie bekommt nichts",
    formulas: "In Formeln",
    all: (count) => `Alle ${count} zeigen`,
    fewer: "Nur die größten zeigen",

    line: (file, line) => `${file}, Zeile ${line}`,
    path: "Stärkster Weg vom Verlust",
    pathHere: "Zu dieser Zahl",
    pathToken: "Zum zuletzt gelesenen Buchstaben",
    pathHide: "Den Weg ausblenden",
    pathTold: (steps, product, grad) =>
      `Dieser Weg hat ${steps} Schritte. Das Produkt der lokalen Ableitungen auf ihm ist ${product}. Die Summe über alle Wege ist der Gradient der letzten Zahl, ${grad}.`,
    both: (data, grad) => `Wert ${data}, Gradient ${grad}`,
    gone: "Diese Zahl kommt in der Rechnung für diesen Namen nicht vor.",
  },
};
