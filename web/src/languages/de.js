// Was die Seite sagt, auf Deutsch. Angeredet wird mit du; Zahlen haben einen Dezimalpunkt, weil man sie auch in Ausdrücke tippt.

/** @import * as en from "./en.js" */

/** @param {number | bigint} number */
const grouped = (number) => number.toLocaleString("de");

/** @param {number | bigint} count @param {string} one @param {string} several */
const counted = (count, one, several) => `${grouped(count)} ${count === 1 || count === 1n ? one : several}`;

/** @param {readonly string[]} items */
const listed = (items) => items.join(" und ");

/** @type {typeof en.language} */
export const language = {
  code: "de",
  name: "Deutsch",
  choose: "Sprache",
  page: "gradwalk: wie Gradienten entstehen",
};

/** @type {typeof en.presets} */
export const presets = {
  own: "eigener Ausdruck",
  product: {
    title: "(a + b)·c",
    lesson: "Eine Summe kopiert ihren Gradienten zu beiden Operanden. Ein Produkt vertauscht: Jeder Operand bekommt den Gradienten mal den Wert des anderen Operanden.",
  },
  neuron: {
    title: "ein Neuron mit tanh",
    lesson: "Ein Neuron mit zwei Eingängen. Sein Bias ist so gewählt, dass die Zahlen glatt aufgehen: Achte auf den Gradienten, der hinter tanh zurückkommt.",
  },
  square: {
    title: "a·a",
    lesson: "Das Blatt a ist beide Operanden des Produkts. Zwei Kanten verbinden es mit dem Produkt, und jede trägt einen Beitrag zu a zurück.",
  },
  double: {
    title: "a + a",
    lesson: "Der kleinste Graph, der += braucht. Mit = überschreibt der zweite Beitrag den ersten, und der Gradient ist falsch.",
  },
  twice: {
    title: "(a·b)·(a + b)",
    lesson: "Beide Blätter werden zweimal benutzt. Also bekommt jedes zwei Beiträge. Stell auf = um und sieh nach, welcher der beiden verloren geht.",
  },
  loss: {
    title: "(a·b + c)·f",
    lesson: "Der klassische erste Graph. Öffne den Reiter Probe, verändere einen Knoten um 0.0001 und vergleiche das Ergebnis mit der Backpropagation.",
  },
  reuse: {
    title: "(a·b + a)²",
    lesson: "Das Produkt und die Summe benutzen beide a. Der Gradient von a ist erst vollständig, wenn die Beiträge beider angekommen sind.",
  },
  diamond: {
    title: "die Raute",
    lesson: "Zwei Pfade führen von a nach d. Öffne den Reiter Reihenfolge und besuche a zu früh: Der Beitrag eines Pfades geht verloren.",
  },
  network: {
    title: "ein Netz mit zwei Schichten",
    lesson: "Zwei Eingänge, zwei verborgene Neuronen mit tanh, ein Ausgang und das Quadrat seines Fehlers.",
  },
  softmax: {
    title: "Softmax mit Kreuzentropie",
    lesson: "Der erste Score gehört zur richtigen Klasse. Wie hängen die Gradienten der Scores mit den Wahrscheinlichkeiten zusammen?",
  },
};

/** @type {typeof en.afterwards} */
export const afterwards = {
  neuron: "So ist es: o = 0.7071, und der Gradient hinter tanh ist 0.5.",
  square: "Die beiden Beiträge ergeben zusammen 2a.",
  softmax: "Die Gradienten sind die Wahrscheinlichkeiten, bei der richtigen Klasse um 1 vermindert: -0.341, 0.242, 0.099.",
};

/** @type {typeof en.header} */
export const header = {
  name: "gradwalk",
  presets: "Graphen der Lektion",
  expression: "Ausdruck wie tanh(x*w + b), oder mehrere wie in e = a + b; f = e*c",
  draw: "Zeichnen",
  menu: "Menü",
  share: "Teilen",
  print: "Drucken",
  present: "Vorführen",
  presentKey: "Vorführen (f)",
  file: "Datei öffnen",
  home: "Datei schließen",
  theme: "Farben",
  start: (numbers) => `Am Anfang ist ${numbers}.`,
  values: "Zahlen ändern",
  themes: { auto: "auto", light: "hell", dark: "dunkel" },
  help: "Hilfe",
  close: "Schließen",
  letters: "Einzelne Buchstaben sind Tasten",
  signs: [
    "Ein Kasten ist ein Wert: sein Name, seine Zahl und sein Gradient. Was noch nicht bekannt ist, ist blass.",
    "Das Zeichen vor einem Namen ist die Operation, aus der der Wert hervorging. Jede Kante, die in seinen Kasten führt, ist ein Operand: Wähle sie aus, um die lokale Ableitung zu sehen.",
    "Zieh die Zahl eines Blatts nach links oder rechts wie einen Schieberegler: Alles, was aus ihr folgt, ändert sich, und der Durchlauf bleibt, wo er ist.",
    "Im Rückwärtsdurchlauf gibt ein Knoten jedem Operanden einen Beitrag weiter: seinen eigenen Gradienten, den ankommenden Gradienten, mal die lokale Ableitung. Die Beiträge zu einem Operanden summieren sich zu dessen Gradienten.",
    "Zeig auf einen Kasten oder wähle ihn aus: Seine Pfade zur Wurzel leuchten auf. Jeder Pfad zeigt das Produkt der lokalen Ableitungen auf ihm. Die Summe dieser Produkte ist der Gradient.",
    "Der helle Hof markiert den aktuellen Schritt. Ein Haken markiert einen Knoten, den der Rückwärtsdurchlauf besucht hat. Ein Fähnchen ist ein Beitrag auf dem Weg zu einem Operanden.",
    "Farbige Kanten sind Beiträge, die zurückfließen: Blau ist positiv, Orange ist negativ, und eine dickere Kante ist ein größerer Beitrag. Eine durchgestrichene, gestrichelte Kante ist ein verlorener Beitrag.",
  ],
  keys: [
    ["n", "nächster Schritt (außerhalb des Graphen auch →)"],
    ["b", "ein Schritt zurück (auch ←)"],
    ["Bild ab, Bild auf", "ein Schritt vor, ein Schritt zurück; Presenter senden diese Tasten (nicht in Textfeldern)"],
    ["s", "an den Anfang"],
    ["e", "ans Ende"],
    ["p", "abspielen oder anhalten"],
    ["g", "zum Graphen"],
    ["Pfeile", "im Graphen: von Kasten zu Kasten, den Kanten nach"],
    ["Eingabe", "im Graphen: einen Kasten oder eine Kante auswählen, einen Teil öffnen"],
    ["d", "im Graphen: zu den Kanten eines Kastens, dann von Kante zu Kante"],
    ["[ ]", "im Graphen: eine kleinere oder größere Zahl für ein Blatt (auch Alt mit den Pfeilen auf und ab; mit Umschalt in feineren Schritten)"],
    ["+ - 0", "im Graphen: näher, weiter weg, alles"],
    ["f", "vorführen: Graph und Satz füllen den Bildschirm (Escape beendet)"],
    ["?", "diese Hilfe"],
  ],
};

/** @type {typeof en.tabs} */
export const tabs = {
  title: "Was du tun kannst",
  names: { walk: "Durchlauf", order: "Reihenfolge", check: "Probe", train: "Training", exercises: "Übungen" },
};

/** @type {typeof en.transport} */
export const transport = {
  title: "Durchlauf",
  start: "An den Anfang",
  startKey: "An den Anfang (s)",
  back: "Ein Schritt zurück",
  backKey: "Ein Schritt zurück (b)",
  next: "Nächster Schritt",
  nextKey: "Nächster Schritt (n)",
  end: "Bis ans Ende",
  endKey: "Bis ans Ende (e)",
  play: "Abspielen",
  playKey: "Abspielen oder anhalten (p)",
  pause: "Anhalten",
  timeline: "Schritt des Durchlaufs",
  speed: "Geschwindigkeit",
  speeds: { slow: "langsam", normal: "mittel", fast: "schnell", fastest: "sehr schnell" },
  nothing: "Noch ist kein Wert bekannt. Der nächste Schritt gibt dem ersten Blatt seinen Wert.",
  phase(phase, position, forward, backward) {
    if (phase === "start") return "Vor dem ersten Schritt";
    if (phase === "forward") return `Vorwärts: Schritt ${position} von ${forward}${position === forward ? ", fertig" : ""}`;
    if (phase === "seed") return "Startwert: Der Rückwärtsdurchlauf beginnt";
    const at = `Rückwärts: Schritt ${position - forward - 1} von ${backward}`;
    return phase === "end" ? `${at}, fertig` : at;
  },
};

/** @type {typeof en.values} */
export const values = {
  title: "Werte, die du ändern kannst",
  more: (count) =>
    count === 1
      ? "Und noch 1 Blatt: Wähle es im Graphen aus, um es zu ändern."
      : `Und noch ${grouped(count)} Blätter: Wähle eines im Graphen aus, um es zu ändern.`,
  noNumber: (text) => `„${text}“ ist keine Zahl: Schreib eine wie -1.5, 2e3, inf oder nan.`,
};

/** @type {typeof en.arrays} */
export const arrays = {
  title: "Felder",
  measure: "Was zu sehen ist",
  measures: { data: "Werte", gradient: "Gradienten" },
  unknown: "?",
  cell: (name, data, gradient) => `${name} = ${data}, Gradient ${gradient}`,
  steepest: (name, root) => `Jeder Balken ist eine Zahl einer Zeile, gefärbt nach ihrem Gradienten. Unter diesen Zahlen senkt ein größeres ${name} ${root} am meisten.`,
};

/** @type {typeof en.writing} */
export const writing = {
  title: "Ein Beitrag wird geschrieben mit",
  accumulate: "addiert zu dem, was da ist",
  overwrite: "überschreibt es",
};

/** @type {typeof en.twin} */
export const twin = {
  title: "Alle Werte",
  columns: ["Knoten", "entsteht als", "Wert", "Gradient", "jetzt"],
  leaf: "gegeben",
  unknown: "?",
  active: "dieser Schritt",
  visited: "besucht",
  nodes: (count) => `${counted(count, "Knoten", "Knoten")}: öffne den Teil, um sie zu sehen`,
};

/** @type {typeof en.source} */
export const source = { title: "Programm" };

/** @type {typeof en.timeline} */
export const timeline = {
  title: "Durchläufe",
  slider: "Durchlauf des Programms",
  back: "Der Durchlauf davor",
  next: "Der nächste Durchlauf",
  pass: (number, count, line) => `Durchlauf ${number} von ${count}${line === null ? "" : `: backward() in Zeile ${line}`}`,
  range: (name, here, first, last) => `${name} = ${here}; es geht über alle Durchläufe von ${first} bis ${last}`,
  curve: (name, count, first, last, least) =>
    `${name} über ${counted(count, "Durchlauf", "Durchläufe")}: zuerst ${first}, zuletzt ${last}, am kleinsten ${least}. Der Regler darüber führt zu einem Durchlauf.`,
  point: (number, name, data) => `Durchlauf ${number}: ${name} = ${data}`,
  notKept: (number, data) =>
    `Durchlauf ${number} ergab ${data}. Sein Graph ist nicht in dieser Datei: Mit gradwalk walk --pass ${number} ist er zu sehen.`,
};

/** @type {typeof en.earlier} */
export const earlier = {
  title: "Was in .grad steht",
  intro: (count) =>
    `${count === 1 ? "Ein Blatt hatte" : `${grouped(count)} Blätter hatten`} schon vor diesem Durchlauf einen Gradienten, den nichts auf 0 gesetzt hat. backward() addiert dazu, also ist .grad nicht der Gradient dieses Durchlaufs allein.`,
  columns: ["Blatt", "hier", "davor", ".grad jetzt", "seit"],
  since: (since) => (since ? `Durchlauf ${since}` : "so gesetzt"),
  more: (count) => `und ${grouped(count)} weitere`,
  told(own, grad, now, since) {
    const because = since ? `seit Durchlauf ${since} nicht auf 0 gesetzt` : "vom Programm gesetzt";
    return `Der Gradient dieses Durchlaufs ist ${own}. Davor war .grad ${grad} (${because}). Also ist .grad jetzt ${now}.`;
  },
};

/** @type {typeof en.parts} */
export const parts = {
  path: "Wo im Graphen",
  whole: "ganzer Graph",
};

/** @type {typeof en.stage} */
export const stage = {
  title: "Graph",
  zoomIn: "Näher",
  zoomOut: "Weiter weg",
  fit: "Alles zeigen",
  node: (name, data, gradient, status) =>
    [name, data && `Wert ${data}`, gradient && `Gradient ${gradient}`, status].filter(Boolean).join(", "),
  unknown: "noch nicht bekannt",
  active: "dieser Schritt",
  visited: "besucht",
  asked: "danach ist gefragt",
  data: "Wert",
  gradient: "Grad",
  edge: (from, to, position, local, contribution) =>
    [
      `Kante von ${from} nach ${to}, Operand ${position + 1}`,
      local && `lokale Ableitung ${local}`,
      contribution && `Beitrag ${contribution}`,
    ]
      .filter(Boolean)
      .join(", "),
  part: (name, count, known, visited) => `${name}: ${count} Knoten, ${known} bekannt, ${visited} besucht; öffnen`,
  bundle: (from, to, count) => `${count} Kanten von ${from} nach ${to}`,
  count: (count) => `${grouped(count)} Knoten`,
  progress: (done, total) => `${done} von ${total}`,
  largest: (gradient) => `größter Gradient ${gradient}`,
};

/** @type {typeof en.motion} */
export const motion = {
  factor: (local) => `× ${local}`,
  landed: {
    added: (before, amount, after) => `${before} + ${amount} = ${after}`,
    overwrites: (before, amount) => `${amount} statt ${before}`,
    late: "zu spät",
  },
};

/** @type {typeof en.paths} */
export const paths = {
  title: (count) => (count === 1 ? "Der Pfad zur Wurzel" : `Die ${grouped(count)} Pfade zur Wurzel`),
  product: (path, locals, product) => `${path}: ${locals.length > 1 ? `${locals.join(" · ")} = ${product}` : product}`,
  sum: (products, sum) => `${products.map((product) => (product.startsWith("-") ? `(${product})` : product)).join(" + ")} = ${sum}`,
  end: (product) => `= ${product}`,
  more: (count) => `Und ${grouped(count)} weitere.`,
  early: "Die Produkte entlang der Pfade sind bekannt, sobald der Vorwärtsdurchlauf fertig ist.",
};

/** @type {typeof en.diagnoses} */
export const diagnoses = {
  general: (answer) =>
    `Nicht ${answer}. Geh jeden Pfad von der Wurzel zurück. Multipliziere die lokalen Ableitungen entlang jedes Pfades, und addiere, wo Pfade zusammenkommen.`,
  sign: (answer) => `Nicht ${answer}. Achte auf das Vorzeichen.`,
  brings: (path, product) => `${path} (${product})`,
  missing: (answer, kept, missed, isOverwritten) =>
    `${answer} kommt nur über ${listed(kept)}. Es fehlt: ${listed(missed)}. Addiere die Beiträge aller Pfade${isOverwritten ? "; mit = statt += bleibt nur der letzte Beitrag stehen" : ""}.`,
  overwritten: (answer) => `${answer} ist das Ergebnis mit =: Ein späterer Beitrag hat einen früheren überschrieben. Addiere die Beiträge, wie += es tut.`,
  swapped: (answer, node) =>
    `Bei ${answer} ist in ${node} der eigene Wert des Operanden eingesetzt. Ein Produkt vertauscht: Die lokale Ableitung nach einem Operanden ist der Wert des anderen.`,
  sumAsProduct: (answer, node, symbol) =>
    `${answer} behandelt ${node} wie ein Produkt. Aber die Operation dort ist ${symbol}, und deren lokale Ableitungen sind 1 oder -1.`,
  oneSign: (answer, node) =>
    `Bei ${answer} ist ein Vorzeichen falsch: ${node} zieht seinen Operanden ab, also ist die lokale Ableitung -1.`,
  upstream: (answer, user, by) =>
    `${answer} ist nur die lokale Ableitung ∂${user}/∂${by}. Multipliziere sie mit dem Gradienten von ${user}.`,
  upstreams: (answer, by) =>
    `${answer} ist die Summe der lokalen Ableitungen aller Knoten, die ${by} benutzen. Multipliziere zuerst jede lokale Ableitung mit dem Gradienten ihres Knotens.`,
  factor: (answer, user, operand, local) => `Bei ${answer} fehlt ein Faktor: die lokale Ableitung ∂${user}/∂${operand} = ${local}.`,
  along: (answer) =>
    `${answer} addiert lokale Ableitungen entlang eines Pfades. Entlang eines Pfades wird multipliziert; addiert wird nur, wo Pfade zusammenkommen.`,
  between: (answer) => `${answer} multipliziert die Pfade miteinander. Multipliziere entlang jedes Pfades, und addiere dann.`,
  data: (answer, node) => `${answer} ist der Wert von ${node}. Gefragt ist, wie schnell sich die Wurzel ändert.`,
  reciprocal: (answer) => `${answer} ist 1 geteilt durch die Ableitung: Zähler und Nenner sind vertauscht.`,
  quotient: (answer, root, by, step) =>
    `${answer} ist der Differenzenquotient für die Schrittweite ${step}: die Änderung von ${root} geteilt durch die Änderung von ${by}. Die Ableitung ist der Grenzwert dieses Quotienten für immer kleinere Schritte.`,
};

/** @type {typeof en.folds} */
export const folds = {
  more: (count) => `… ${grouped(count)} weitere …`,
  whole: "Alles zeigen",
  less: "Weniger zeigen",
};

/** @type {typeof en.inspector} */
export const inspector = {
  title: "Hier",
  nothing: "Wähle im Graphen einen Kasten oder eine Kante aus. Solange nichts ausgewählt ist, zeigt dieses Feld den aktuellen Schritt des Durchlaufs.",
  made: "entsteht als",
  operation: "das ist",
  data: "Wert",
  source: "entsteht in",
  sum: "Kettenregel",
  local: "lokale Ableitung",
  formula: "Regel",
  rule: (operand, formula) => (operand ? `∂out/∂${operand} = ${formula}` : formula),
  contribution: "Beitrag",
  open: "noch nicht bekannt",
  total: (gradient) => `zusammen ${gradient}`,
  wrongTotal: (gradient, right) => `zusammen ${gradient}, und es müsste ${right} sein`,
  stored: (gradient) => `${gradient} war schon vor diesem Durchlauf da`,
  root: "Das ist die Wurzel: Ihr Gradient ist definitionsgemäß 1.",
  unused: "Zu diesem Knoten fließt kein Gradient: Die Wurzel hängt nicht von ihm ab, oder die Operationen, die ihn benutzen, geben ihm nie einen Gradienten weiter.",
  inert: "Auf dieser Kante fließt kein Gradient: Die Operation gibt diesem Operanden nie einen Gradienten weiter.",
  lost: (because) => `verloren: ${because}`,
  back: (name) => `Alles zu ${name}`,
};

/** @type {typeof en.orders} */
export const orders = {
  title: "Das Reihenfolge-Rätsel",
  intro: "In welcher Reihenfolge soll der Rückwärtsdurchlauf die Knoten besuchen? Klick die Knoten hier oder im Graphen an, zieh sie, oder nimm die Tasten. Dann lass deine Reihenfolge laufen.",
  pool: "Noch nicht eingereihte Knoten",
  list: "Deine Reihenfolge",
  run: "So durchlaufen",
  right: "Lösung zeigen",
  clear: "Leeren",
  handle: "Zieh mit Maus oder Finger, oder verschieb mit den Pfeiltasten; Entf nimmt ihn heraus",
  placed: (name, at) => `${name}, besucht als Nummer ${at}`,
  up: (name) => `${name} früher besuchen`,
  down: (name) => `${name} später besuchen`,
  remove: (name) => `${name} herausnehmen`,
  left: (count, isLesson) =>
    count
      ? `Noch ${count} einzureihen.`
      : `Alle sind eingereiht: Lass den Durchlauf laufen${isLesson ? "." : ", oder sieh ihm mit „Nächster Schritt“ zu."}`,
  tooMany: (count, most) => `Das Rätsel ist für Graphen mit höchstens ${most} Knoten, und dieser hat ${grouped(count)}.`,
  unknown: (names) => `Ausgelassen, weil es im Graphen nicht vorkommt: ${names.join(", ")}.`,
};

/** @type {typeof en.outcomes} */
export const outcomes = {
  gradients: "Gradienten dieses Durchlaufs",
  right: "richtig",
  allRight: "Alle Gradienten sind richtig.",
  uncounted: "Es gibt zu viele zulässige Reihenfolgen, um sie zu zählen.",
  overwriting: "Beiträge werden mit = geschrieben, deshalb können sie auch in zulässigen Reihenfolgen verloren gehen.",
  derivative: (root, by) => `∂${root}/∂${by}`,
  wrong: (right) => `falsch: er ist ${right}`,
  someWrong: (count) => (count === 1 ? "Ein Gradient ist falsch." : `${grouped(count)} Gradienten sind falsch.`),
  legal(count, isLegal) {
    const isOne = count === 1n;
    if (isLegal) {
      return isOne ? "Das ist die einzige zulässige Reihenfolge." : `Das ist eine von ${grouped(count)} zulässigen Reihenfolgen.`;
    }
    const there = isOne ? "Es gibt nur eine zulässige Reihenfolge." : `Es gibt ${grouped(count)} zulässige Reihenfolgen.`;
    return `Diese Reihenfolge ist nicht zulässig: Ein Knoten muss nach allen Knoten kommen, die ihn benutzen. ${there}`;
  },
  more: (count) => `Und ${grouped(count)} weitere.`,
};

/** @type {typeof en.checks} */
export const checks = {
  title: "Numerische Probe",
  intro: "Verändere einen Knoten um h, berechne alles neu, was von ihm abhängt, und teile die Änderung der Wurzel durch h: Das muss sein Gradient sein.",
  step: "h",
  found: "wird für jeden Knoten gesucht",
  method: "Differenz",
  methods: { central: "zentral", forward: "vorwärts" },
  columns: ["Knoten", "Urteil", "Backprop", "Quotient", "Fehler"],
  select: "Wähle einen Knoten aus, um zu sehen, was seine Veränderung bewirkt.",
  none: "–",
  secret: "?",
  slider: "Schrittweite h, von 1e-10 bis 1e-1",
  error: "Fehler",
  sides: { rounding: "Rundung", bending: "Krümmung" },
  curve: (error, step) => `Fehler des Quotienten über der Schrittweite h: am kleinsten ist er mit ${error}, bei etwa h = ${step}`,
  traces: {
    own: (data, step) => `angestupst um ${step}, von ${data} aus`,
    moved: (data, change) => `${data} nach dem Stups, eine Änderung um ${change}`,
    still: (data, change) => `${data} nach dem Stups, eine Änderung um ${change}`,
  },
  quotient: (quotient, gradient, verdict) => [`Differenzenquotient ${quotient}`, `Gradient zum Vergleich ${gradient}`, verdict].filter(Boolean).join(", "),
  notNudged: (name, verdict) => `${name} lässt sich nicht verändern: ${verdict}.`,
  verdicts: {
    agrees: "stimmt überein",
    differs: "weicht ab",
    kink: "Knick",
    "not finite": "nicht endlich",
    "by hand": "von Hand gemacht",
    stored: "Ableitungen gespeichert, keine Regel",
    stopped: "angehalten",
    rounding: "geht in der Rundung unter",
    jump: "Sprung",
    coarse: "h ist zu groß",
    stale: "veraltet",
  },
  nudged: (root, name, step, up, down, quotient, backprop) =>
    [
      `mit ${name} + ${step} wird ${root} zu ${up}`,
      down === null ? "" : `mit ${name} - ${step} zu ${down}`,
      `der Quotient ist ${quotient}; die Backpropagation sagt ${backprop}`,
    ]
      .filter(Boolean)
      .join("; "),
  noStep: (text) => `„${text}“ ist keine Schrittweite: Schreib eine positive Zahl wie 0.0001, oder lass das Feld leer.`,
  closed: "Alle Knoten liegen in geschlossenen Teilen des Graphen. Öffne einen Teil oder wähle einen Knoten, um ihn zu prüfen.",
  others: (count) =>
    count === 1
      ? "1 weiterer Knoten steht in einem geschlossenen Teil des Graphen."
      : `${grouped(count)} weitere Knoten stehen in geschlossenen Teilen des Graphen.`,
};

/** @type {typeof en.exercises} */
export const exercises = {
  title: "Übungen",
  how: "Alle Werte sind bekannt. Rechne den Gradienten mit der Kettenregel aus; ein Prozent daneben gilt noch. Produkte wie 3*2 sind erlaubt.",
  answer: "Deine Antwort",
  check: "Prüfen",
  hint: "Tipp: ein Schritt",
  next: "Nächste Frage",
  previous: "Vorige",
  forget: "Meinen Fortschritt vergessen",
  file: "Ergebnisse als Datei",
  code: "Code zum Abgeben: ",
  noProof: ". Der Code enthält fünf Anzahlen für Übungen und Lektion zusammen: Fragen, richtige Antworten, richtige im ersten Versuch, richtige ohne Tipp, und Versuche. An seinen letzten Zeichen erkennt man Tippfehler. Er lässt sich fälschen, also beweist er nichts.",
  question: (number, root, by) => `${number}. Was ist ∂${root}/∂${by}?`,
  noNumber: (text) => (text.trim() ? `„${text}“ ist keine Zahl: Schreib eine wie -1.5, 1/3 oder 3*2.` : "Schreib zuerst eine Zahl."),
  right: (root, by, gradient) => `Richtig: ∂${root}/∂${by} = ${gradient}.`,
  score(alone, isOne) {
    if (!alone.length) return "Noch keine gelöst.";
    const solved = `Gelöst: ${alone.length}, davon ${alone.filter(Boolean).length} ohne Tipp.`;
    return isOne ? `${solved} Diese gehört dazu.` : solved;
  },
};

/** @type {typeof en.links} */
export const links = {
  tooLong: (length, most) => `Der Link ist ${grouped(length)} Zeichen lang, und höchstens ${grouped(most)} werden gelesen.`,
  senseless: (key, text) => `Im Link steht ${key}=${text.slice(0, 80)}; das ergibt hier keinen Sinn: ausgelassen.`,
  noNode: (name) => `Der Link wählt ${name} aus, und so einen Knoten gibt es nicht.`,
};

/** @type {typeof en.share} */
export const share = {
  title: "Teilen",
  link: "Link",
  copy: "Link kopieren",
  copied: "Kopiert.",
  notCopied: "Der Text ist ausgewählt: Kopiere ihn mit der Tastatur.",
  ofFile: "Diese Seite ist eine Datei auf deinem Rechner. Um sie zu teilen, leg die Datei auf eine Website oder schick sie mit dem Link zusammen. Ersetze dann den Teil des Links vor dem # durch die neue Adresse der Datei.",
  start: "Beginnt",
  here: "so, wie alles gerade steht",
  begin: "mit diesem Graphen, nichts bekannt",
  theirs: "wie die Leser es haben",
  presented: "für vorn im Raum: Graph und Satz füllen den Bildschirm",
  note: "Hinweis über dem Graphen",
  question: "Eigene Frage",
  answer: "Richtige Antwort; weitere nach Semikolon",
  noQuestion: "Die Frage steht beim Graphen. Wenn du eine richtige Antwort angibst, prüft die Seite die Antworten der Lernenden.",
  noAnswer: "Ohne richtige Antwort wird die Frage nur gezeigt, zum Besprechen.",
  keptAnswer: "Die richtige Antwort aus dem Link, den du geöffnet hast, bleibt erhalten.",
  counts: (ways) => `Als richtig gilt: ${ways.join("; ")}. Der Link zeigt die Antwort nicht, aber wer alle naheliegenden Antworten probiert, findet sie.`,
  exactly: (number) => `genau ${number}`,
  rounded: (number) => `was gerundet ${number} ergibt`,
  word: (word) => `der Text „${word}“`,
  embed: "In eine Seite einbetten",
  snippet: "HTML",
  copySnippet: "HTML kopieren",
  src: "src muss die Adresse dieser Seite sein: ihre Adresse auf einer Website, oder ihr Dateiname, wenn die Datei neben der einbettenden Seite liegt.",
};

/** @type {typeof en.ask} */
export const ask = {
  title: "Frage",
  answer: "Antwort auf die Frage",
  check: "Prüfen",
  nothing: "Schreib zuerst eine Antwort.",
  noNumber: (text) => `„${text}“ ist keine Zahl: Schreib eine wie -1.5, 1/3 oder 3*2.`,
  right: "Richtig.",
  wrong: "Nicht richtig. Versuch es noch einmal.",
};

/** @type {typeof en.paper} */
export const paper = { name: "Vor- und Nachname", answer: "Antwort" };

/** @type {typeof en.present} */
export const present = { leave: "Beenden (Escape)" };

/** @type {typeof en.files} */
export const files = {
  notJson: (reason) => `Das ist kein JSON: ${reason}`,
  noVersion: "keine",
  version: (version, known) => `Die Version dieses Durchlaufs ist ${version}; gelesen werden kann Version ${known}.`,
  noOrder: "Die Reihenfolge dieses Durchlaufs muss jeden Knoten, der einen Gradienten bekommt, genau einmal enthalten, und keinen anderen.",
  refused: (problem) =>
    `Die Datei lässt sich nicht zeigen. ${problem}\nDateien zum Öffnen schreiben gradwalk walk --json, Walk.to_json() und Graph.to_json(); aus einem Skript macht gradwalk walk --page eine Seite.`,
};

// Die Lektion. In ihren Texten ist `x` Code, *x* betont und $…$ eine Formel, in der [a/b] ein Bruch ist und ^2 ein Quadrat.

/** @type {typeof en.lesson} */
export const lesson = {
  title: "Lektion",
  lab: "Labor",
  views: "Lektion oder Labor",
  chapters: {
    nudge: {
      title: "Was ein Gradient vorhersagt",
      goal: "Lernen, was ein Gradient ist, indem du eine Zahl anstupst, also ein wenig änderst.",
      beats: {
        meet: "Ein Programm macht aus Zahlen ein Ergebnis. Dieses nimmt `a`, `b` und `c` und berechnet `f = (a + b)·c`. Mit den Zahlen in den Kästen ist `f` gleich −10.",
        predict: {
          text: "Bevor wir nachsehen: Erhöhe `a` um ein winziges Stück, etwa von 2 auf 2.001. *Das Wievielfache der Änderung von `a` ist die Änderung von `f`?*",
          right: "Ja. `e` ändert sich genauso stark wie `a`, und `f` dann `c` = 10 mal so stark.",
          mistakes: {
            one: "`e` ändert sich tatsächlich genauso stark wie `a`. Aber dann wird `e` mit `c` multipliziert.",
            change: "Um so viel ändert sich `f`, wenn sich `a` um 0.001 ändert. Teile es durch 0.001.",
            own: "Das ist der Wert von `a`. Gefragt ist nach den Änderungen von `a` und `f`, nicht nach ihren Werten.",
            root: "Das ist der Wert von `f`. Gefragt ist, wie schnell sich `f` ändert.",
          },
        },
        see: "Bewege den Regler: Der Punkt läuft auf dem Graphen von `f` entlang. In der Nähe von `a` = 2 ist die Änderung von `f` das *10-Fache* der Änderung von `a`. Diese Zahl ist der *Gradient von `f` nach `a`*: $[df/da] = 10$. Er ist die Steigung der Geraden.",
        promise: {
          text: "Der Gradient von `f` nach `c` ist −1. *Was macht `f`, wenn `c` von 10 auf 10.1 wächst?*",
          options: ["Es fällt um etwa 0.1.", "Es steigt um etwa 0.1.", "Es fällt auf −1."],
          feedback: [
            "Ja: 0.1 mal −1.",
            "Die Größe stimmt. Aber achte auf das Vorzeichen: Bei negativem Gradienten fällt `f`, wenn `c` steigt.",
            "−1 ist nicht der neue Wert von `f`. Es ist ein Verhältnis: die Änderung von `f` geteilt durch die Änderung von `c`.",
          ],
        },
        kept: "Sieh selbst: Die Gerade fällt. Ein Gradient sagt vorher, was eine kleine Änderung bewirkt. Jeder Eingang hat seinen eigenen Gradienten, und jeden kannst du so überprüfen.",
      },
      recap: "Ändere einen Eingang ein wenig, und das Ergebnis ändert sich um den Gradienten mal diese Änderung.",
    },
    forward: {
      title: "Vorwärts: Ein Graph merkt sich den Weg",
      goal: "Sehen, wie aus einer Formel beim Rechnen ein Graph wird.",
      beats: {
        remember: "Jeden Eingang von Hand anzustupsen ist mühsam. Um Gradienten stattdessen zu berechnen, muss sich ein Programm *merken, wie es sein Ergebnis berechnet hat*. Jeder Wert wird ein Kasten. Noch ist kein Wert bekannt.",
        leaves: "`a` und `b` sind gegeben: Sie wurden nicht berechnet. Solche Kästen heißen *Blätter*.",
        product: "Ihr Produkt ist ein neuer Kasten, `e = a·b`. Er kennt seinen Wert, −6, und er merkt sich seine *Operanden*, also die Kästen, aus denen er entstand: `a` und `b`.",
        sum: {
          text: "Auch `c` ist gegeben. Der nächste Kasten ist `d = e + c`. *Welchen Wert bekommt er?*",
          right: "Ja: −6 + 10.",
          mistakes: {
            product: "Das ist das Produkt von `e` und `c`. Aber `d` ist ihre Summe.",
            sign: "Achte auf das Vorzeichen von `e`: Es ist −6.",
          },
        },
        summed: "`d` ist 4 und merkt sich `e` und `c`. Der Graph wächst von den Eingängen zum Ergebnis, die Operanden immer zuerst.",
        last: {
          text: "Der letzte Kasten ist `L = d·f`, und `f` ist −2. *Was ist `L`?*",
          right: "Ja: 4 mal −2.",
          mistakes: { sum: "Das ist die Summe von `d` und `f`. Aber `L` ist ihr Produkt." },
        },
        done: "Das war der *Vorwärtsdurchlauf*. Aus `L` entsteht kein Kasten mehr: Es ist die *Wurzel*, das Ergebnis, dessen Gradienten wir suchen.",
        reach: {
          text: "Angenommen, `a` ändert sich. *Welche anderen Kästen ändern sich mit?*",
          options: ["Nur `e`", "`e`, `d` und `L`", "Alle"],
          feedback: [
            "`e` ändert sich als Erstes. Aber `d` entsteht aus `e`.",
            "Ja: jeder Kasten, der direkt oder indirekt aus `a` berechnet wird, bis zur Wurzel. Die Gradienten nehmen denselben Weg, nur rückwärts.",
            "`b`, `c` und `f` sind gegeben: Sie entstehen nicht aus `a`.",
          ],
        },
      },
      recap: "Der Vorwärtsdurchlauf berechnet jeden Kasten und merkt sich dessen Operanden.",
    },
    seed: {
      title: "Der Startwert: ein erster Gradient",
      goal: "Den einen Gradienten finden, den man ohne Rechnung kennt.",
      beats: {
        turn: "Jetzt geht es rückwärts. Wir wollen den Gradienten von `L` nach *jedem* Kasten: $[dL/da]$, $[dL/db]$ und so weiter. Den Gradienten eines Kastens berechnet man aus den Gradienten der Kästen, die ihn benutzen. Also beginnen wir bei der Wurzel und brauchen dort einen ersten Gradienten.",
        self: {
          text: "*Was ist der Gradient von `L` nach `L` selbst,* $[dL/dL]$?",
          right: "Ja: Ändert sich `L` um 0.001, dann ändert sich `L` um 0.001. Das Verhältnis ist 1.",
          mistakes: {
            zero: "0 würde heißen, dass sich `L` nicht ändert, wenn sich `L` ändert.",
            value: "Das ist der Wert von `L`. Gefragt ist nach der Änderung von `L`, geteilt durch die Änderung von `L`.",
          },
        },
        planted: "Diese 1 ist der *Startwert* (englisch *seed*, Saatkorn). In micrograd, der kleinen Python-Bibliothek, an die sich dieser Kurs hält, ist es die Zeile `self.grad = 1`. Alle anderen Gradienten beginnen bei 0. (Ein Kasten zeigt keinen Gradienten, bis ein Beitrag angekommen ist.) Jeder Gradient wird aus dem Startwert berechnet.",
        other: {
          text: "*Wie wären die Gradienten mit 2 als Startwert?*",
          options: ["Dieselben Gradienten", "Nur `L` hätte einen anderen Gradienten", "Alle Gradienten wären verdoppelt"],
          feedback: [
            "Alle Gradienten werden durch Multiplizieren und Addieren aus dem Startwert berechnet. Was geschieht, wenn er sich verdoppelt?",
            "Die anderen Gradienten werden aus dem Gradienten von `L` berechnet, also würden sie sich auch ändern.",
            "Ja. Mit Startwert 2 sind es die Gradienten von 2·`L`. Mit Startwert 0 wären alle Gradienten 0.",
          ],
        },
      },
      recap: "Der Gradient der Wurzel ist 1: $[dL/dL] = 1$. Damit startet der Rückwärtsdurchlauf.",
    },
    rule: {
      title: "Die eine Regel",
      goal: "Einen Gradienten durch ein Produkt und eine Summe weitergeben.",
      beats: {
        rule: "Jetzt gibt jeder Kasten einen Beitrag an jeden seiner Operanden weiter. Dafür gibt es eine einzige Regel: `operand.grad += local · this.grad`. `local` ist die *lokale Ableitung*: eine kleine Änderung *dieses Kastens*, geteilt durch die Änderung des Operanden, die sie bewirkt, während alle anderen Operanden gleich bleiben. `this.grad` ist der *ankommende Gradient*: der Gradient dieses Kastens. `+=` addiert den Beitrag zum bisherigen Gradienten. Warum addiert wird, zeigt Kapitel 6.",
        local: {
          text: "`L = d·f`, mit `d` = 4 und `f` = −2. Sieh dir die Kante von `d` nach `L` an. *Was ist ihre lokale Ableitung,* $[∂L/∂d]$? (Man schreibt ∂, wo alles andere bleibt, wie es ist.)",
          right: "Ja. In einem Produkt wird eine Änderung des einen Faktors mit dem *anderen* multipliziert: 0.001 mehr bei `d` sind 0.001 · (−2) bei `L`.",
          mistakes: {
            own: "4 ist der Wert von `d` selbst. Wenn `d` um 0.001 wächst: Um wie viel ändert sich dann `d·f`?",
            whole: "Das ist der Wert von `L`. Gefragt ist, wie schnell sich `L` ändert.",
            one: "Das wäre die Regel für eine Summe. Hier wird eine Änderung von `d` mit `f` multipliziert.",
          },
        },
        other: {
          text: "Jetzt der andere Operand: *Was bekommt `f`?* Multipliziere die lokale Ableitung mit dem Gradienten von `L`, also mit 1.",
          right: "Ja: 4, der Wert von `d`, mal 1.",
          mistakes: { own: "−2 ist der Wert von `f` selbst. Die lokale Ableitung ist der Wert des anderen Faktors, `d`." },
        },
        swapped: "*Ein Produkt vertauscht*: Jeder Operand bekommt den Wert des anderen Operanden, mal den ankommenden Gradienten. Jetzt ist der Gradient von `d` −2 und der Gradient von `f` 4.",
        sum: {
          text: "Als Nächstes `d = e + c`. Es hat den Gradienten −2. *Was bekommt `e`?*",
          right: "Ja. Wächst `e` um 0.001, dann auch `d`: Die lokale Ableitung einer Summe ist 1.",
          mistakes: {
            beside: "10 ist der Wert von `c`: Das wäre die Regel für ein Produkt. Was macht `d`, wenn `e` um 1 wächst?",
            local: "1 ist die lokale Ableitung. Multipliziere sie jetzt mit dem Gradienten von `d`.",
            own: "−6 ist der Wert von `e`. Die lokale Ableitung einer Summe hängt nicht von den Werten ab.",
          },
        },
        copied: "*Eine Summe kopiert*: `e` und `c` bekommen beide den Gradienten von `d`, −2, unverändert.",
        through: {
          text: "Jetzt `e = a·b`, mit `a` = 2 und `b` = −3; der Gradient ist −2. *Was bekommt `a`?*",
          right: "Ja: −3, der Wert von `b`, mal −2. Das ist die Kettenregel: $[dL/da] = [dL/de]·[∂e/∂a]$.",
          mistakes: {
            local: "−3 ist die lokale Ableitung. Multipliziere sie jetzt mit dem Gradienten von `e`, −2.",
            unswapped: "Das bekommt `b`. Ein Produkt vertauscht: `a` bekommt den Wert von `b`, mal den Gradienten von `e`.",
          },
        },
        all: "Fertig. Jeder Kasten hat jetzt seinen Gradienten, $[dL/d•]$. Um seine Beiträge weiterzugeben, brauchte jeder Kasten nur seine Operanden und seinen eigenen Gradienten.",
      },
      recap: "`operand.grad += local · this.grad`. Summen kopieren, Produkte vertauschen.",
    },
    neuron: {
      title: "Ein Neuron",
      goal: "Sehen, was tanh mit einem Gradienten macht.",
      beats: {
        meet: "Das ist ein Neuron. Es multipliziert jeden Eingang mit einem Gewicht, addiert einen Bias `b` und wendet tanh auf die Summe `n` an. Produkte und Summen kennst du. Neu ist tanh.",
        curve: "tanh bildet jede Zahl auf eine Zahl zwischen −1 und 1 ab. Seine lokale Ableitung ist die *Steigung* der Kurve an der Stelle `n`. Bewege `n` und sieh dir die Tangente an die Kurve an. (Der Bias ist vorerst 5.)",
        steepest: {
          text: "*Wo ist die Steigung am größten, und wie groß ist sie dort?*",
          options: ["Weit rechts: fast 1", "In der Mitte: 1", "Sie ist überall gleich"],
          feedback: [
            "Dort ist der *Wert* fast 1. Die Kurve ist dort flach: Ihre Steigung ist fast 0.",
            "Ja. Bei 0 ist die Steigung 1, und nach beiden Seiten fällt sie auf 0.",
            "Nur eine Gerade hat überall dieselbe Steigung.",
          ],
        },
        slope: {
          text: "Für die Steigung gibt es eine Formel, die das Ergebnis `o` benutzt: Die Steigung ist $1 − o^2$. Der Bias ist wieder 6.88, und `o` = 0.7071. *Wie groß ist die Steigung?*",
          right: "Ja: 1 − 0.5.",
          mistakes: {
            value: "Das ist `o`. Quadriere es, und zieh das Quadrat von 1 ab.",
            unsquared: "Das ist 1 − `o`. Quadriere `o`, bevor du es abziehst.",
          },
        },
        passed: "Also kommt die Hälfte des Gradienten von `o` bei `n` an: 0.5 · 1. Die Summen vor `n` kopieren 0.5 zu allen ihren Operanden.",
        weight: {
          text: "`x1w1 = x1·w1` hat den Gradienten 0.5. *Was bekommt das Gewicht `w1`?*",
          right: "Ja: `x1` = 2, mal 0.5.",
          mistakes: {
            upstream: "0.5 ist der ankommende Gradient. Multipliziere ihn mit der lokalen Ableitung.",
            local: "2 ist die lokale Ableitung. Multipliziere sie mit dem ankommenden Gradienten, 0.5.",
            unswapped: "Das bekommt `x1`. Ein Produkt vertauscht: `w1` bekommt den Wert von `x1`, mal den ankommenden Gradienten.",
            own: "−3 ist der Wert von `w1` selbst. Ein Produkt vertauscht: `w1` bekommt den Wert von `x1`, mal den ankommenden Gradienten.",
          },
        },
        zero: {
          text: "Das andere Gewicht, `w2`, bekommt 0. *Warum?*",
          options: ["Sein Eingang `x2` ist 0", "Sein Wert ist zu klein", "tanh lässt nichts durch"],
          feedback: [
            "Ja. Solange `x2` gleich 0 ist, kann `w2` am Ergebnis nichts ändern.",
            "Auf den Wert von `w2` kommt es hier nicht an. Ein Produkt vertauscht: `w2` bekommt den Wert des anderen Faktors, mal den ankommenden Gradienten.",
            "tanh ließ die Hälfte des Gradienten durch, für beide Gewichte.",
          ],
        },
        all: "Das sind alle Gradienten des Neurons. Die Gradienten von `w1`, `w2` und `b` sagen, wie man den Ausgang ändert, indem man diese drei Zahlen ändert.",
        saturated: "Jetzt ist der Bias 12. `o` ist 0.99999, die Kurve ist flach, und *es kommt kaum Gradient durch*: Alle Gradienten vor tanh sind fast 0. So ein Neuron heißt gesättigt. Es kann kaum lernen.",
      },
      recap: "tanh multipliziert einen Gradienten mit $1 − o^2$: in der Mitte der Kurve mit 1, wo sie flach ist mit fast 0.",
    },
    twice: {
      title: "Ein Wert, zweimal benutzt",
      goal: "Wissen, warum es += heißt und nicht =.",
      beats: {
        meet: "`b = a + a`: Ein Wert kann mehr als einmal benutzt werden. Zwei Kanten führen von `a` nach `b`, und jede trägt einen Beitrag zu `a` zurück.",
        both: {
          text: "*Was ist der Gradient von `a`?* Um wie viel wächst `b`, wenn `a` um 0.001 wächst?",
          right: "Ja. `b` wächst doppelt so stark wie `a`.",
          mistakes: {
            one: "1 ist der Beitrag *einer* Kante. Es sind zwei Kanten.",
            own: "3 ist der Wert von `a`. Die lokalen Ableitungen einer Summe hängen nicht von den Werten ab.",
            value: "6 ist der Wert von `b`. Gefragt ist, wie schnell sich `b` ändert.",
            change: "Um so viel wächst `b`. Teile es durch die Änderung von `a`.",
          },
        },
        added: "Jede Kante trägt den Beitrag 1 zurück, eine nach der anderen. Jeder Beitrag wird zum bisherigen Gradienten *addiert*. Deshalb steht in der Regel `+=`.",
        equals: {
          text: "Angenommen, die Regel hieße `operand.grad = local · this.grad`. *Was wäre der Gradient von `a`?*",
          right: "Ja. Die zweite 1 ersetzt die erste.",
          mistakes: {
            right: "Das kommt mit `+=` heraus. Mit `=` wird der zweite Beitrag nicht addiert.",
            zero: "Der letzte Beitrag bleibt in `a.grad` stehen.",
          },
        },
        lost: "Hier siehst du `=` neben `+=`. Mit `=` wurde die 1 der durchgestrichenen Kante überschrieben. Der Gradient ist *halb so groß, wie er sein müsste*, und keine Fehlermeldung sagt es dir.",
        paths: {
          text: "Hier wird `a` von `d = a·b` und von `e = a + b` benutzt, und `f = d·e`. `a` ist −2 und `b` ist 3. Der Gradient von `d` ist 1, und der Gradient von `e` ist −6. *Was ist der Gradient von `a`?*",
          right: "Ja: 3 · 1 über `d`, plus 1 · (−6) über `e`. Multipliziere entlang jedes Pfades, und addiere, wo Pfade zusammenkommen.",
          mistakes: {
            first: "3 ist der Beitrag über `d`. Der Beitrag über `e`, −6, fehlt.",
            second: "−6 ist der Beitrag über `e`. Der Beitrag über `d`, 3, fehlt.",
          },
        },
        met: "Zwei Pfade führen von `a` zur Wurzel, also bekommt `a` zwei Beiträge, und sein Gradient ist ihre Summe.",
      },
      recap: "Ein Gradient ist eine Summe über alle Pfade, also werden Beiträge addiert: `+=`.",
    },
    order: {
      title: "Wer ist an der Reihe?",
      goal: "Verstehen, welche Reihenfolgen für den Rückwärtsdurchlauf richtig sind, und wie ein Programm eine findet.",
      beats: {
        question: "`a` wird von `b` und von `c` benutzt, und beide von `d`. Ein Kasten nach dem anderen kommt an die Reihe und gibt den Gradienten weiter, den er *in diesem Moment* hat. Beiträge, die später ankommen, werden nicht weitergegeben.",
        puzzle: {
          text: "*In welcher Reihenfolge sollten die Kästen drankommen?* Wähle einen Kasten nach dem anderen, im Graphen oder in der Liste. Lass deine Reihenfolge dann laufen.",
          paper: "*In welcher Reihenfolge sollten die Kästen drankommen?* Schreib ihre Namen auf.",
          right: "Ja: Kein Gradient ist falsch.",
          wrong: "Ein Beitrag geht verloren. Lies, welcher, und ändere die Reihenfolge.",
        },
        why: "Ein Kasten darf seinen Gradienten erst weitergeben, wenn *jeder Kasten, der ihn benutzt, schon an der Reihe war*. Dann ist sein Gradient vollständig. Eine solche Reihenfolge heißt *topologisch*. Hier ist sie umgekehrt: Ergebnisse kommen vor Operanden.",
        early: "Hier ist `c = a·b`, `d = c + a` und `e = d**2`, das Quadrat von `d`. Aber `c` kam vor `d` an die Reihe. In diesem Moment war bei `c` noch kein Beitrag angekommen, also gab `c` 0 an `a` und `b` weiter. Der Beitrag von `d` zu `c` kommt *zu spät, um weitergegeben zu werden*: Der Gradient von `a` ist 16 statt 64. (micrograd würde diesen Beitrag trotzdem zu `c.grad` addieren. Dann wäre `c.grad` richtig, aber `a.grad` falsch.)",
        which: {
          text: "Zurück zu `L = d·f`, `d = e + c`, `e = a·b`. *Welche dieser Reihenfolgen ergibt einen falschen Gradienten?*",
          options: ["`L`, `f`, `d`, `c`, `e`, `b`, `a`", "`L`, `d`, `e`, `a`, `b`, `c`, `f`", "`L`, `e`, `d`, `a`, `b`, `c`, `f`"],
          feedback: [
            "In dieser Reihenfolge kommt jeder Kasten nach allen Kästen, die ihn benutzen. Blätter wie `f` geben nichts weiter, also dürfen sie irgendwann nach diesen Kästen kommen.",
            "In dieser Reihenfolge kommt jeder Kasten nach allen Kästen, die ihn benutzen: `d` nach `L`, `e` nach `d`. Ein Graph kann mehrere richtige Reihenfolgen haben, und dies ist eine.",
            "Ja. `d` benutzt `e`. Kommt `e` vor `d` an die Reihe, ist bei `e` noch kein Beitrag angekommen, und es hat nichts weiterzugeben.",
          ],
        },
        append: {
          text: "Wie findet ein Programm so eine Reihenfolge? Durch *Tiefensuche*: Es geht von der Wurzel zu einem Operanden, weiter zu dessen Operanden und so fort, und nimmt jeden Kasten in eine Liste auf. *Wann muss ein Kasten hinein, damit in der Liste Operanden vor Ergebnissen stehen?*",
          options: ["Wenn er zum ersten Mal gesehen wird", "Wenn alle seine Operanden darin sind", "Wenn nichts mehr zu tun ist"],
          feedback: [
            "Die Suche erreicht die Wurzel zuerst, also stünde die Wurzel vor all ihren Operanden.",
            "Ja. Also stehen Operanden vor Ergebnissen. Rückwärts gelesen, vom Ende zum Anfang, hat die Liste Ergebnisse vor Operanden.",
            "Dann kämen alle Kästen auf einmal hinein, und ihre Reihenfolge wäre nicht bestimmt.",
          ],
        },
        search: "Das ist `backward()` aus micrograd. Geh es Schritt für Schritt durch: `append` steht nach der Schleife, also kommt ein Kasten *nach* seinen Operanden in die Liste. Die Zahlen an den Kästen sind ihre Plätze darin; und `visited` sorgt dafür, dass ein zweimal benutzter Kasten nur einmal hineinkommt.",
        reversed: "`reversed(topo)` ist die Reihenfolge des Rückwärtsdurchlaufs. Sie beginnt bei der Wurzel und kommt erst zu `a`, wenn alle Beiträge dort angekommen sind.",
      },
      recap: "Jeder Kasten kommt nach allen an die Reihe, die ihn benutzen. Tiefensuche findet so eine Reihenfolge.",
    },
    check: {
      title: "Vertrauen und nachprüfen",
      goal: "Einen Gradienten allein mit dem Vorwärtsdurchlauf überprüfen.",
      beats: {
        doubt: "Du kannst jetzt jeden Gradienten ausrechnen. Aber kannst du deinem Ergebnis *trauen*, und einem Programm, das Gradienten für dich berechnet? Ein Gradient sagt vorher, was ein Stups bewirkt. Also *stups einen Kasten an* und vergleiche. Du brauchst nur den Vorwärtsdurchlauf.",
        quotient: {
          text: "`a` bekommt einen Stups von `h` = 0.0001, und die hellen Kästen sind bis `L` gefolgt. Mit `a` + `h` ist `L` gleich −7.9994, mit `a` − `h` gleich −8.0006. *Teile die Änderung von `L` durch die Änderung von `a`: Was kommt heraus?*",
          right: "Ja: 0.0012 / 0.0002. Das ist der *Differenzenquotient*.",
          mistakes: {
            change: "Um so viel hat sich `L` von einem Ende zum anderen geändert. Teile es durch die Änderung von `a`.",
            half: "Denk an beide Enden: von −8.0006 bis −7.9994.",
            step: "`a` ging von 2 − `h` bis 2 + `h`: Es hat sich um 2 mal `h` geändert.",
            up: "Um so viel hat sich `L` auf einer Seite geändert. Teile es durch die Änderung von `a`.",
          },
        },
        drawn: "Jetzt ist auch die Backpropagation gelaufen: Im Kasten der Wurzel steht der Quotient *neben dem Gradienten*, und beide stimmen überein. Wähle einen anderen Kasten, dann bekommt er den Stups. Verändere dann `h`. `L` ist eine lineare Funktion jedes Kastens, also ändert sich der Quotient kaum.",
        notice: {
          text: "Angenommen, in der Regel steht `=` statt `+=`. Hier wird `a` zweimal benutzt, also wird sein Gradient falsch. *Wird der Quotient das zeigen?*",
          options: ["Nein: Er wird genauso falsch", "Nur wenn `h` klein genug ist", "Ja: Er wird vom Gradienten abweichen"],
          feedback: [
            "Woraus wird der Quotient berechnet? Nur aus Vorwärtsdurchläufen, und in ihnen kommt kein `+=` vor.",
            "Dem Gradienten fehlt ein ganzer Beitrag. Der Unterschied zeigt sich auch, wenn `h` nicht sehr klein ist.",
            "Ja. Der Quotient kommt allein aus dem Vorwärtsdurchlauf, also steckt der Fehler nicht in ihm.",
          ],
        },
        caught: "Die Probe hat den Fehler gefunden: Der Gradient ist 3, aber der Quotient ist −3. Der Beitrag −6 wurde überschrieben. Python meldete keinen Fehler, also zeigt ihn nur die Probe. Verändere `h`: Der Gradient bleibt falsch.",
        bent: "Wegen `tanh` ist `o` keine lineare Funktion von `x1`. Mit `h` = 0.1 ist der Quotient ungenau. Mach `h` kleiner und sieh zu, wie der Quotient dem Gradienten näher kommt, der −1.5 ist.",
        small: {
          paper: "Mit `h` = 0.1 ist der Quotient für `x1` gleich −1.521, mit `h` = 0.01 gleich −1.5002, und der Gradient ist −1.5. *Ist also das kleinste `h` das beste?*",
          text: "Ein kleineres `h` hat den Quotienten besser gemacht. *Ist also das kleinste `h` das beste?*",
          options: ["Ja, je kleiner, desto besser", "Nein: Mit winzigem `h` wird der Quotient wieder schlechter", "Ab irgendwann macht `h` keinen Unterschied mehr"],
          feedback: [
            "Mit exakten Zahlen schon. Aber der Computer behält nur etwa 16 Stellen. Wie viele richtige Stellen hat die Differenz zweier fast gleicher Zahlen?",
            "Ja. Der Computer behält etwa 16 Stellen. Die Differenz zweier fast gleicher Zahlen hat nur noch wenige richtige Stellen.",
            "So wäre es, wenn Zahlen unendlich viele Stellen hätten. Der Computer behält etwa 16.",
          ],
        },
        rounded: "Bei `h` = 1e-10 sind die letzten Stellen des Quotienten Rauschen. (So viel Rauschen ist bei einem so kleinen Schritt zu erwarten, darum gilt es noch als Übereinstimmung.) Die Kurve zeigt den Fehler für jedes `h`. Rechts ist der Fehler groß, weil die Funktion *gekrümmt* ist. Links ist er groß, weil der Computer *rundet*. Das beste `h` liegt dazwischen.",
      },
      recap: "Der Differenzenquotient überprüft einen Gradienten, aber er ist langsam und ungenau. Die Backpropagation ist schnell, und bis auf Rundung genau.",
    },
    training: {
      title: "Lernen",
      goal: "Mit Gradienten einen Fehler verkleinern, und sehen, was schiefgehen kann.",
      beats: {
        loss: "Ein Neuron gibt `o` aus. Die richtige Ausgabe ist `y`. Das Quadrat des Fehlers ist der *Verlust* `L` (englisch *loss*): Lernen heißt, ihn kleiner zu machen. Die Gradienten sagen, wie.",
        which: {
          text: "$[dL/dw]$ ist negativ. *Was sollte `w` tun, damit `L` kleiner wird?*",
          options: ["Steigen", "Sinken", "Bleiben"],
          feedback: [
            "Ja. Bei negativem Gradienten fällt `L`, wenn `w` steigt. Also ändern wir `w` *gegen* den Gradienten.",
            "Dann würde `L` steigen: Bei negativem Gradienten ändern sich `w` und `L` in entgegengesetzter Richtung.",
            "Das wäre nur richtig, wenn der Gradient 0 wäre.",
          ],
        },
        descend: "Ein Schritt ist `w −= rate · w.grad`, und so für jeden anderen *Parameter*. Parameter sind die Zahlen, die beim Lernen geändert werden dürfen: hier `w` und `b`. Die *Lernrate* `rate` sagt, wie groß ein Schritt ist. Das ist *Gradientenabstieg*. Mach ein paar Schritte und sieh dir die Kurve des Verlusts an.",
        rate: {
          paper: "Also macht jeder Parameter kleine Schritte: `w −= rate · w.grad`, und ebenso `b`, mit `rate` = 0.1. *Und wenn die Lernrate 25-mal so groß ist?*",
          text: "*Und wenn die Lernrate 25-mal so groß ist?*",
          options: ["Es lernt 25-mal so schnell", "Es macht keinen Unterschied", "Ein Schritt kann über das Minimum hinwegspringen"],
          feedback: [
            "Ein Gradient sagt nur vorher, was *kleine* Änderungen bewirken.",
            "Jeder Schritt wäre 25-mal so lang.",
            "Ja. Ein Gradient sagt nur vorher, was kleine Änderungen bewirken.",
          ],
        },
        large: "Mach einen Schritt: `w` springt über das Minimum hinaus, dorthin, wo tanh flach ist. Dort kommt kaum noch Gradient durch, und der Verlust bleibt, wie er ist.",
        again: {
          text: "In `w.grad` steht noch der Gradient des letzten Durchlaufs. *Was geschieht, wenn ihn vor dem nächsten Rückwärtsdurchlauf nichts auf 0 setzt?*",
          options: ["Der neue Gradient ersetzt ihn", "Der neue Gradient wird dazuaddiert", "Python meldet einen Fehler"],
          feedback: [
            "Das geschähe mit `=`. Aber in der Regel steht `+=`.",
            "Ja: In der Regel steht `+=`. Also summieren sich die Gradienten früherer Durchläufe, wenn `zero_grad()` sie nicht auf 0 setzt.",
            "Python meldet keinen Fehler, und deshalb ist dieser Fehler so häufig.",
          ],
        },
        unzeroed: "Ohne `zero_grad()` folgt jeder Schritt der *Summe aller bisherigen Gradienten*: Also werden die Schritte größer, springen über das Minimum hinaus und schwingen hin und her. Vom zweiten Schritt an zeigen die Zeilen darunter, welche Gradienten addiert werden. (Nur Blätter behalten ihre Gradienten: Jeder Vorwärtsdurchlauf macht die anderen Kästen neu.) Schalte `zero_grad()` ein und aus, und fang neu an.",
        vanished: "Hier, mit `w` = 4, `b` = 2 und `y` = −0.8, ist das Neuron gesättigt. Der Verlust ist etwa so groß wie möglich, aber $1 − o^2$ ist fast 0, also kommt bei `w` und `b` kaum Gradient an. In tiefen Netzen werden viele solche Faktoren multipliziert, und der Gradient *verschwindet*.",
      },
      recap: "Vorwärts, `zero_grad`, rückwärts, ein kleiner Schritt gegen den Gradienten; und wieder von vorn.",
    },
    passes: {
      title: "Warum rückwärts?",
      goal: "Zählen, wie viele Läufe alle Gradienten kosten: mit Anstupsen und mit einem Rückwärtsdurchlauf.",
      beats: {
        many: "Das ist ein Netz mit zwei Schichten. Es hat acht Blätter, und wir wollen den Gradienten jedes Blattes.",
        runs: {
          text: "*Durch Anstupsen: Wie oft muss das Programm mindestens laufen, um alle acht Gradienten zu bekommen?*",
          right: "Ja: einmal so, wie es ist, und einmal für jedes angestupste Blatt.",
          mistakes: {
            plain: "Fast. Ein weiterer Lauf, ohne Stups, ist zum Vergleich nötig.",
            one: "Ein Lauf stupst ein Blatt an und sagt nur etwas über dieses Blatt.",
            central: "Das würde für zwei Stupser je Blatt reichen. Aber weniger Läufe genügen.",
          },
        },
        count: "Berechne die Gradienten auf beide Arten und zähle die Läufe. Vergleiche auch die Gradienten.",
        million: {
          text: "*Ein Netz hat eine Million Gewichte. Wie viele Rückwärtsdurchläufe braucht es für alle ihre Gradienten?*",
          options: ["Einen", "Tausend", "Eine Million"],
          feedback: [
            "Ja. Nur deshalb lassen sich Netze überhaupt trainieren.",
            "Jeder Kasten wird einmal besucht, wie viele Blätter es auch gibt.",
            "So viel kostet das Anstupsen: ein Lauf für jedes Gewicht.",
          ],
        },
        once: "Anstupsen misst die Wirkung *eines Eingangs nach dem anderen*. Der Rückwärtsdurchlauf beginnt *einmal beim Ergebnis* und erreicht jeden Kasten. Ein Durchlauf genügt, weil *Pfade sich Kästen teilen*: Jeder Kasten addiert alle seine Beiträge und gibt die Summe ein einziges Mal weiter. Also wird kein Stück eines Pfades zweimal berechnet.",
        end: "Du hast alle Teile der Backpropagation gesehen: einen Graphen, der sich den Weg merkt, einen Startwert, eine Regel, `+=`, eine Reihenfolge und eine Probe. Das sind etwa hundert Zeilen Python, und damit wird fast jedes neuronale Netz trainiert.",
      },
      recap: "Ein Rückwärtsdurchlauf liefert den Gradienten eines Ergebnisses nach jedem Kasten.",
    },
  },
  number: (number, count) => `Kapitel ${number} von ${count}`,
  goal: "Ziel",
  recap: "Kurz gesagt",
  answers: "Antworten",
  orderOr: (order) => `${order}, oder eine andere Reihenfolge, in der jeder Kasten nach allen Kästen kommt, die ihn benutzen`,
  contents: "Kapitel",
  next: "Weiter",
  nextChapter: "Nächstes Kapitel",
  back: "Zurück",
  check: "Prüfen",
  show: "Zeig es mir",
  handIn: "Deine Antworten abgeben",
  answer: "Deine Antwort",
  shown: (answer) => `Es ist ${answer}.`,
  shownChoice: "Es ist die markierte.",
  beat: (beat, count) => `Schritt ${beat} von ${count}`,
  noNumber: exercises.noNumber,
  wrong: (answer) => `Nicht ${answer}. Sieh dir den Graphen noch einmal an, oder lass es dir zeigen.`,
  sign: "Die Größe stimmt; achte auf das Vorzeichen.",
  after: {
    title: "Wie es weitergeht",
    ways: [
      ["Dein eigener Ausdruck", "Öffne das Labor und tippe einen ein."],
      ["Dein eigenes Programm", "`gradwalk walk --page script.py` macht so eine Seite aus jedem `backward()` eines Skripts."],
      ["Das Tutorial", "`docs/tutorial.md` macht in Python weiter, von einem Value bis zu einem Netz."],
      ["Die Bibliothek", "`pip install gradwalk`: dieselbe Regel, nur schnell, mit den Namen von JAX."],
    ],
  },
};

/** @type {typeof en.figures} */
export const figures = {
  plot: (root, node) => `${root} über ${node}`,
  nudge: "Stups",
  moved: (node, from, to) => `${node}: ${from} → ${to}`,
  quotient: (root, node, quotient) => `Änderung von ${root} / Änderung von ${node} = ${quotient}`,
  gradient: (gradient) => `Gradient ${gradient}`,
  noQuotient: "keine Änderung: kein Quotient",
  value: (name, number) => `${name} = ${number}`,
  slope: (slope) => `Steigung ${slope}`,
  adds: "mit +=",
  overwrites: "mit =",
  from: (giver) => `von ${giver}`,
  lateFrom: (giver) => `von ${giver}, zu spät`,
  start: "zuerst",
  comes: (name) => `Was bei ${name} ankommt`,
  stepSearch: "Nächste Zeile",
  restartSearch: "Von vorn",
  code: "backward() aus micrograd",
  visited: "besucht",
  list: "topo",
  calls: "laufende Aufrufe",
  searched: "Die Suche ist fertig: Umgedreht ist das die Reihenfolge des Rückwärtsdurchlaufs.",
  step: "Schritt",
  steps: "Zehn Schritte",
  restart: "Neu anfangen",
  zeroes: "zero_grad() vor jedem Durchlauf",
  rate: "Lernrate",
  taken: (count) => counted(count, "Schritt", "Schritte"),
  runNudges: "Alle anstupsen",
  runBackward: "Rückwärts laufen lassen",
  leaf: "Blatt",
  nudges: "durch Anstupsen",
  backward: "rückwärts",
  runs: (runs) => `${counted(runs, "Lauf", "Läufe")} des Programms`,
  oneBackward: "1 Lauf und 1 Rückwärtsdurchlauf",
};

// Was in einem Durchlauf geschieht.

const ORDINALS = ["ersten", "zweiten", "dritten"];

/** @type {typeof en.sentences} */
export const sentences = {
  forward: {
    given: (name, number) => `${name} ist gegeben: ${number}`,
    counted: (name, symbol, operands, number) => `${name} = ${symbol} von ${operands} Operanden = ${number}`,
  },
  seeded: (derivative) =>
    `${derivative} = 1: Der Gradient der Wurzel nach sich selbst ist 1. Mit diesem Startwert beginnt der Rückwärtsdurchlauf.`,
  visited: {
    root: (name) => `${name} ist die Wurzel: Ihr Gradient ist 1.`,
    leaf: (name, gradient) => `${name} ist ein Blatt: Es behält seinen Gradienten ${gradient}.`,
    inner: (name, gradient) => `${name} hat den Gradienten ${gradient}.`,
  },
  rules: {
    byHand: (symbol) => `${symbol} folgt einer von Hand gemachten Regel`,
    madeWith: (symbol) => `${symbol} hat die lokalen Ableitungen, die bei der Entstehung angegeben wurden`,
    copiesToStart: (symbol) => `${symbol} kopiert zum Startwert`,
    copies: (symbol) => `${symbol} kopiert`,
    flips: (symbol) => `${symbol} kehrt das Vorzeichen um`,
    swaps: (symbol) => `${symbol} vertauscht und skaliert`,
    scales: (symbol) => `${symbol} skaliert`,
    holdsBack: (symbol) => `${symbol} hält zurück`,
    letsThrough: (symbol) => `${symbol} lässt durch`,
    splits: (symbol) => `${symbol} steht bei Gleichstand und teilt auf`,
    hasGotNothing: (symbol) => `${symbol} hat selbst nichts bekommen`,
  },
  gets: {
    all: (name, upstream) => `${name} bekommt den ankommenden Gradienten ${upstream} unverändert`,
    nothing: (name, upstream) => `${name} bekommt nichts vom ankommenden Gradienten ${upstream}`,
    nothingAtAll: (name) => `${name} bekommt nichts`,
    scaled: (name, upstream, factor, amount) =>
      `${name} bekommt den ankommenden Gradienten ${upstream}, multipliziert mit ${factor}, also ${amount}`,
  },
  kept: {
    stopped: (symbol, names) => `${symbol} gibt an ${listed(names)} nichts weiter.`,
    flat: (symbol, positions, names) => {
      const where = positions.length ? ` im ${listed(positions.map((i) => ORDINALS[i]))} Operanden` : "";
      return `${symbol} ist${where} flach: An ${listed(names)} wird nichts weitergegeben.`;
    },
  },
  factors: {
    constant: (number) => `der Konstanten ${number}`,
    valueOf: (name, number) => `dem Wert ${number} von ${name}`,
    ownValue: (name, number) => `dem Wert ${number} von ${name} selbst`,
    formula: (formula, number) => `${formula} (${number})`,
    beside: (operand) => `der andere Faktor, Operand ${operand}`,
  },
  received: {
    late: ", aber zu spät: Der Knoten ist schon besucht",
    overwrites: (before) => `, und das überschreibt ${before}`,
    onTop: (before, after) => `, zusätzlich zu ${before}: zusammen ${after}`,
  },
  applied: (rule, clauses) => `${rule}: ${clauses.join("; ")}`,
  losses: {
    wrong: (name, got, right) => `${name} bekommt ${got} und müsste ${right} bekommen.`,
    late: (giver, amount, taker, because) => `Der Beitrag ${amount} von ${giver} an ${taker} kam zu spät: ${because}`,
    lost: (giver, amount, taker, because) => `Der Beitrag ${amount} von ${giver} an ${taker} ging verloren: ${because}`,
    visitedAfter: (giver, taker) => `${giver} wurde nach ${taker} besucht`,
    writtenOver: (giver, amount) => `der Beitrag ${amount} von ${giver} hat ihn überschrieben`,
    passedOn: (name, amount, derivative, number, missing) =>
      `; damit fehlt dem Gradienten von ${name} der Anteil ${amount} mal ${derivative} ${number} = ${missing}`,
    more: (count) => ` Und ${grouped(count)} weitere.`,
  },
};

/** @type {typeof en.modules} */
export const modules = {
  whole: "der ganze Graph",
  nodes: (first, last) => `Knoten ${first} bis ${last}`,
  modules: (first, last) => `${first} bis ${last}`,
};

/** @type {Readonly<Record<string, string>>} */
const OPERATIONS = {
  add: "Summe",
  sub: "Differenz",
  mul: "Produkt",
  div: "Quotient",
  pow: "Potenz",
  neg: "Gegenzahl",
  abs: "Betrag",
  exp: "Exponentialfunktion",
  expm1: "exp(x) - 1, genau nahe 0",
  exp2: "2 hoch x",
  log: "natürlicher Logarithmus",
  log2: "Logarithmus zur Basis 2",
  log10: "Logarithmus zur Basis 10",
  log1p: "log(1 + x), genau nahe 0",
  sqrt: "Quadratwurzel",
  cbrt: "Kubikwurzel, auch aus negativen Zahlen",
  log1mexp: "log(1 - exp(x)), genau für alle x < 0",
  sin: "Sinus eines Winkels im Bogenmaß",
  cos: "Kosinus eines Winkels im Bogenmaß",
  tan: "Tangens eines Winkels im Bogenmaß",
  asin: "Arkussinus, im Bogenmaß",
  acos: "Arkuskosinus, im Bogenmaß",
  atan: "Arkustangens, im Bogenmaß",
  sinh: "Sinus hyperbolicus",
  cosh: "Kosinus hyperbolicus",
  tanh: "Tangens hyperbolicus",
  asinh: "Areasinus hyperbolicus",
  acosh: "Areakosinus hyperbolicus",
  atanh: "Areatangens hyperbolicus",
  sinc: "sin(π · x) / (π · x), und 1 bei 0",
  sigmoid: "1 / (1 + exp(-x))",
  relu: "x, wo es positiv ist, sonst 0",
  softplus: "log(1 + exp(x))",
  silu: "x · sigmoid(x), auch Swish genannt",
  gelu: "x · norm_cdf(x), exakt und nicht über tanh",
  erf: "Fehlerfunktion",
  erfc: "1 - erf(x), genau für große x",
  erfcx: "exp(x²) · erfc(x), ohne Unterlauf",
  norm_pdf: "Dichte der Normalverteilung",
  norm_cdf: "Verteilungsfunktion der Normalverteilung",
  norm_ppf: "Quantil der Normalverteilung: die Umkehrung von norm_cdf",
  gamma: "Gammafunktion",
  lgamma: "Logarithmus des Betrags der Gammafunktion",
  digamma: "Ableitung von lgamma",
  trigamma: "Ableitung von digamma",
  atan2: "Winkel des Punktes mit Ordinate x und Abszisse y, im Bogenmaß",
  hypot: "Länge des Vektors (x, y)",
  maximum: "die größere von zweien; nan, wenn eine nan ist",
  minimum: "die kleinere von zweien; nan, wenn eine nan ist",
  where: "y, wo x nicht null ist, sonst z",
  sign: "-1, 0 oder 1 nach dem Vorzeichen von x",
  floor: "größte ganze Zahl bis x",
  ceil: "kleinste ganze Zahl ab x",
  trunc: "x ohne seinen Bruchteil",
  rint: "nächste ganze Zahl; von zweien die gerade",
  less: "1, wo x < y, sonst 0",
  less_equal: "1, wo x <= y, sonst 0",
  equal: "1, wo x und y gleich sind, sonst 0",
  floor_divide: "abgerundeter Quotient",
  mod: "was von x / y nach dem Abrunden bleibt, mit dem Vorzeichen von y",
  fmod: "was von x / y nach dem Runden zur 0 hin bleibt, mit dem Vorzeichen von x",
  remainder: "was von x / y nach dem Runden zur nächsten ganzen Zahl bleibt (von zweien zur geraden)",
  fmax: "die größere von zweien; die andere, wenn eine nan ist",
  fmin: "die kleinere von zweien; die andere, wenn eine nan ist",
  copysign: "Betrag von x mit dem Vorzeichen von y",
  logaddexp: "log(exp(x) + exp(y))",
  stop_gradient: "x selbst, und kein Gradient geht hindurch",
  sumprod: "Startwert + p[0]·q[0] + p[1]·q[1] + ..., in dieser Reihenfolge addiert",
  take: "die Zahl einer Tabelle, auf die ein Index zeigt",
};

/** @type {Readonly<Record<string, string>>} */
const TAKES = { "an odd number of": "eine ungerade Anzahl", "at least two": "mindestens zwei" };

/** @type {typeof en.operations} */
export const operations = {
  words: (name, words) => OPERATIONS[name] ?? words,
  takes: (words) => TAKES[words],
};

// Was zu einem Graphen oder einem Ausdruck gesagt wird, der keinen Sinn ergibt: was gegeben war, was erwartet wurde, und
// wie man es behebt.

/** @type {typeof en.graphErrors} */
export const graphErrors = {
  notAGraph: 'das ist kein Graph: "gradwalk": "graph" fehlt',
  noOutput: "der Graph hat keinen Ausgang",
  theGraph: "der Graph",
  anOutput: "ein Ausgang",
  aList: (length) => `eine Liste der Länge ${length}`,
  missing: "nicht angegeben",
  otherVersion: (given, one, other) => `die Version dieses Graphen ist ${given}; gelesen werden die Versionen ${one} und ${other}`,
  badColumn: (key) => `die Spalte ${key} des Graphen ist beschädigt oder gehört zu einem anderen Graphen`,
  severalOutputs: (count, names) =>
    `hier wird ein Graph mit einer Wurzel gebraucht, und dieser hat ${count}: ${names}`,
  outputOutside: (place, count) => `ein Ausgang ist der von Knoten ${place}, und es gibt nur ${count} Knoten`,
  unknownKey: (where, key, known) => `${where} hat „${key}“; bekannt sind: ${known.join(", ")}`,
  noList: (where, key) => `${where} hat keine Liste „${key}“`,
  nodeAt: (place) => `Knoten ${place}`,
  notAnObject: (where, given) => `${where} ist ${given}, kein Objekt`,
  operationAndSymbol: (where) =>
    `${where} hat zugleich eine Operation der Tabelle und das Symbol einer von Hand gemachten`,
  unknownOperation: (where, given) => `${where} hat die unbekannte Operation ${given}`,
  unequalLists: (where, operands, partials) =>
    `${where} hat ${counted(operands, "Operanden", "Operanden")} und ${counted(partials, "partielle Ableitung", "partielle Ableitungen")}`,
  miscounted: (where, operation, takes, given) => `${where} (${operation}) braucht ${takes} Operanden, nicht ${given}`,
  noOperation: (where, given) => `${where} hat Operanden (${given}), aber keine Operation`,
  notEarlier: (where, operand) => `${where} hat Knoten ${operand} als Operanden, und der steht nicht davor`,
  constantWithPartial: (where, given) => `bei einer Konstanten von ${where} steht die partielle Ableitung ${given} statt null`,
  badByHand: (where, given) => `by_hand von ${where} ist ${given}, und kann nur true sein`,
  empty: (what) => `${what} ist leer: lass ihn weg`,
  badSource: (where, given) => `die Quelle von ${where} ist ${given}, nicht eine Datei und eine Zeile`,
  longText: (where, letters, most) =>
    `der Text von ${where} hat ${letters} Zeichen, und höchstens ${most} werden gelesen`,
  notAPlace: (what, given) => `${what} ist ${given}, nicht die Nummer eines Knotens`,
  notANumber: (what, given) => `${what} ist ${given}, keine Zahl`,
  tooLarge: (what) => `${what} ist zu groß für eine Gleitkommazahl`,
  notAText: (what, given) => `${what} ist ${given}, kein Text`,
  partOf: (part, where) => `${part} von ${where}`,
  parts: {
    data: "der Wert",
    gradient: "der Gradient",
    label: "der Name",
    scope: "der Bereich",
    symbol: "das Symbol",
    line: "die Zeile",
    file: "die Datei",
    text: "der Text",
    operand: "ein Operand",
    partial: "eine partielle Ableitung",
    constant: "eine Konstante",
  },
  madeByHand: (name, byHand) =>
    `${name} wurde ${byHand ? "von Hand" : "mit fertigen Ableitungen"} gemacht: wie es berechnet wird, ist nicht bekannt, also lässt sich nicht ändern, woraus es entstand`,
};

const CALLS = "ruf Funktionen mit ihrem bloßen Namen auf, wie in exp(x)";

const either = new Intl.ListFormat("de", { type: "disjunction" });

/** @type {typeof en.expressionErrors} */
export const expressionErrors = {
  syntax: {
    empty: { problem: "der Ausdruck ist leer", hint: "schreib einen wie tanh(x*w + b)" },
    unused: {
      problem: "das Ergebnis dieses Teils wird nicht benutzt",
      hint: "gib ihm einen Namen, wie in e = a + b, und benutze den",
    },
    tooLarge: { problem: "diese ganze Zahl ist zu groß für eine Gleitkommazahl" },
    chained: {
      problem: "Vergleiche lassen sich nicht verketten",
      hint: "vergleiche zweimal und multipliziere, wie in (0 < x) * (x < 1)",
    },
    comma: { problem: "Syntaxfehler: ein Komma kann nur zwischen Argumenten stehen" },
    unmatched: { problem: "Syntaxfehler: zu dieser „)“ fehlt die öffnende Klammer" },
    neverClosed: { problem: "Syntaxfehler: diese „(“ wird nie geschlossen" },
    notArithmetic: {
      problem: "das ist kein Rechenausdruck",
      hint: "es gibt Zahlen, Namen, + - * / // % **, eines von < <= > >=, Klammern und Funktionen wie exp(x)",
    },
    star: { problem: "* kann hier nicht vor einem Argument stehen" },
    noOperand: { problem: "Syntaxfehler: hier fehlt eine Zahl oder ein Name" },
    noOperator: {
      problem: "Syntaxfehler: hier fehlt ein Operator",
      hint: "schreib für ein Produkt * und für eine Funktion Klammern, wie in 2*exp(x)",
    },
    caret: { problem: "^ ist hier keine Operation", hint: "schreib für Potenzen **" },
    notAFunction: {
      problem: "aufrufen lassen sich in einem Ausdruck nur Funktionen mit Namen",
      hint: `${CALLS}; für ein Produkt schreib *`,
    },
    noName: { problem: "Syntaxfehler: nur ein Teil kann einen Namen bekommen", hint: "wie in e = a + b; f = e*c" },
  },
  attribute: (attribute) => ({ problem: `Attribute wie ${attribute} gehören nicht in einen Ausdruck`, hint: CALLS }),
  notReal: (text) => ({ problem: `${text} ist keine reelle Zahl` }),
  unknownFunction: (name, close) => ({
    problem: `unbekannte Funktion „${name}“`,
    hint: close.length ? `meinst du ${either.format(close)}?` : "Funktionen heißen wie in Pythons Modul math, zum Beispiel exp, log oder tanh",
  }),
  arity: (name, takes, given, canNest) => ({
    problem: `${name}() braucht ${takes} ${takes === 1 ? "Argument" : "Argumente"}, nicht ${given}`,
    hint: canNest && given > 2 ? `schachtle bei mehreren die Aufrufe: ${name}(${name}(x, y), z)` : undefined,
  }),
  namedArgument: (name) => ({ problem: `${name}() nimmt keine benannten Argumente` }),
  madeTwice: (name) => ({ problem: `„${name}“ entsteht zweimal`, hint: "gib einem der beiden einen anderen Namen" }),
  usedBefore: (name) => ({
    problem: `„${name}“ wird benutzt, bevor es entsteht`,
    hint: "ein Name entsteht einmal, und zwar bevor er benutzt wird",
  }),
  numbersAlone: (name) => ({
    problem: `„${name}“ entsteht nur aus Zahlen`,
    hint: `lass diesen Teil weg, und gib ${name} seinen Wert wie anderen Namen auch`,
  }),
  anotherName: (name, other) => ({
    problem: `„${name}“ wäre nur ein anderer Name für „${other}“`,
    hint: `benutze ${other} selbst`,
  }),
  noValue: (name, suggested) => ({
    problem: `für den Namen „${name}“ ist kein Wert gegeben`,
    hint: `gib ihm einen: ${name}=${suggested}`,
  }),
  madeItself: (name, value) => ({ problem: `${name}=${value} ist gegeben, aber das Programm berechnet ${name} selbst` }),
  noSuchName: (name, value, known) => ({
    problem: `${name}=${value} ist gegeben, aber im Ausdruck kommt „${name}“ nicht vor; es gibt: ${known || "keine Namen"}`,
  }),
};

/** @type {typeof en.training} */
export const training = {
  title: "Gradientenabstieg",
  intro: (root) =>
    `Jeder Schritt macht einen Vorwärtsdurchlauf und einen Rückwärtsdurchlauf. Dann setzt er p = p − Lernrate · p.grad für jeden Parameter p. Das Ziel ist, ${root} kleiner zu machen.`,
  noLoss: (root) => `Dem Namen nach ist ${root} kein Verlust. Es wird trotzdem kleiner gemacht, wenn möglich bis unter 0.`,
  introOver: (root, count) =>
    `Der Verlust ist der Mittelwert von ${root} über ${counted(count, "Punkt", "Punkte")}; der Graph zeigt einen davon. Ein Schritt: p = p − Lernrate · p.grad für jeden Parameter p.`,
  subject: "Lernen aus",
  subjects: {
    graph: "dem gezeigten Graphen",
    chain: "einer Kette aus sechs tanh mit großen Gewichten",
    moons: "zwei Monden",
    circles: "Kreisen",
    xor: "vier Quadraten (xor)",
    blobs: "zwei Haufen",
    own: "deinen eigenen Punkten",
  },
  rate: "Lernrate",
  smaller: "÷3: ein Drittel der Lernrate",
  larger: "×3: dreifache Lernrate",
  noRate: (text) => `„${text}“ ist keine Lernrate: Schreib eine positive Zahl wie 0.1.`,
  step: "Schritt",
  run: "Laufen",
  pause: "Anhalten",
  reset: "Zurücksetzen",
  speed: "Geschwindigkeit des Trainings",
  speeds: transport.speeds,
  zeroed: "zero_grad vor jedem Durchlauf",
  zeroedNote: "Jeder Durchlauf beginnt mit Gradient 0.",
  keptNote: "Nichts setzt die Gradienten auf 0: Jeder Durchlauf addiert seine Gradienten zu denen der früheren Durchläufe.",
  start: "Noch ist kein Schritt getan.",
  stepped: (count, root, before, after) => `Schritt ${count}: ${root} geht von ${before} auf ${after}.`,
  meanOf: (root, count) => `der Mittelwert von ${root} über ${counted(count, "Punkt", "Punkte")}`,
  moved: (name, before, rate, gradient, after) => `${name}: ${before} − ${rate} · ${gradient} = ${after}`,
  added: (name, stored, fresh, gradient) => `in ${name}.grad stand ${stored}, der Durchlauf addiert ${fresh}: ${gradient}`,
  others: (count) => `und ${grouped(count)} weitere, weiter unten`,
  onTop: (stored, gradient) => `Die Gradienten früherer Durchläufe, ${stored}, sind noch da: zusammen ${gradient}.`,
  lost: (root) =>
    `${root} ist keine Zahl mehr, die sich verkleinern lässt: Die Lernrate ist zu groß. Setz zurück, und versuch es mit einer kleineren.`,
  noParameters: "Es ist kein Parameter ausgewählt: Ein Schritt ändert nichts.",
  noPoints: "Noch gibt es keine Punkte: Klick in die Ebene von x1 und x2, oder füg Punkte ein.",
  parameters: "Parameter",
  columns: ["lernen", "Wert", "Gradient"],
  learn: (name) => `${name} lernen`,
  more: (count) => (count === 1 ? "Und noch 1 Blatt." : `Und noch ${grouped(count)} Blätter.`),
  all: "Alle",
  none: "Keine",
  usual: "Die üblichen",
  curve: {
    title: "Verlust je Schritt",
    log: "logarithmisch",
    steps: "Schritt",
    empty: "Hier wird der Verlust je Schritt stehen.",
    at: (step, loss) => `Schritt ${step}: ${loss}`,
    summary: (first, last, before, after) => `Verlust von Schritt ${first} bis ${last}: von ${before} auf ${after}`,
    changed: (step, rate) => `Lernrate ${rate} ab Schritt ${step}`,
  },
  flow: {
    title: "Wie viel Gradient ankommt",
    intro: "Jeder Balken ist die mittlere Größe der Gradienten, die auf dem Rückweg durch gleich viele Funktionen gehen. Die Skala ist logarithmisch.",
    layer: (count, names, more) =>
      `${names.join(", ")}${more ? ` und ${more} weitere` : ""}: ${count === 0 ? "durch keine Funktion" : `durch ${counted(count, "Funktion", "Funktionen")}`}`,
    local: (local) => `die letzte Funktion multipliziert den Gradienten im Mittel mit ${local}`,
    vanishes: (ratio) => `Der mittlere Gradient der fernsten Schicht ist ${ratio} mal der mittlere Gradient der nächsten Schicht.`,
  },
  points: {
    title: "Punkte",
    network: "Netz",
    sizes: (hidden) => `2-${[...hidden, 1].join("-")}${hidden.length ? "" : " (keine verborgene Schicht)"}`,
    activation: "Funktion",
    loss: "Verlust",
    losses: { square: "quadratisch", hinge: "Hinge" },
    own: "ein eigener Graph",
    others: "Andere Punkte und Gewichte",
    accuracy: (right, count, share, loss) => `Genauigkeit ${share} (${right} von ${count}), Verlust ${loss}`,
    field: (right, count) =>
      `Die Ebene von x1 und x2 mit ${counted(count, "Punkt", "Punkten")}, davon ${right} auf der richtigen Seite der Linie, auf der die Ausgabe 0 ist`,
    classes: { one: "Klasse 1", other: "Klasse -1" },
    click: "Ein Klick",
    clicks: { show: "zeigt einen Punkt", one: "fügt Klasse 1 hinzu", other: "fügt Klasse -1 hinzu" },
    shown: "Punkt im Graphen",
    point: (x1, x2, y, output) => `x1 = ${x1}, x2 = ${x2}, Klasse ${y}; Ausgabe ${output}`,
    none: "Wähle einen Punkt aus: Dann steht er im Graphen, und du kannst ihn durchlaufen.",
    byHand: "Deine eigenen Punkte",
    hint: "Zeilen der Form x1,x2,y mit y = 1 oder -1 (oder 1 und 0). Kommas, Semikolons oder Tabulatoren; wenn du magst, mit Kopfzeile.",
    text: "Punkte als Text",
    use: "Diese Punkte nehmen",
    open: "CSV-Datei öffnen",
    add: "Hinzufügen",
    class: "Klasse",
    undo: "Den letzten zurücknehmen",
    clear: "Alle wegnehmen",
    scale: "Koordinaten auf Mittelwert 0 und Standardabweichung 1 skalieren",
    scaleNote: "Einige Koordinaten sind groß: Ein kleines Netz lernt besser aus skalierten.",
    used: (count) => (count === 1 ? "1 Punkt ist gelesen." : `${grouped(count)} Punkte sind gelesen.`),
    full: (most) => `Es sind schon ${most} Punkte, mehr werden nicht genommen.`,
    unlinked: (most) => `In einen Link passen höchstens ${most} Punkte, also sind diese Punkte nur auf dieser Seite.`,
    noCoordinate: (name, text) => `„${text}“ ist keine Zahl für ${name}: Schreib eine wie -0.5.`,
  },
  csv: {
    empty: "Im Text stehen keine Punkte: Schreib Zeilen wie 0.5,-1.2,1.",
    width: (line, width) => `Zeile ${line} hat ${counted(width, "Wert", "Werte")}, erwartet waren 3: x1, x2, y.`,
    noNumber: (line, name, text) => `Zeile ${line}: ${name} ist „${text.slice(0, 40)}“, erwartet war eine Zahl wie -0.5.`,
    noClass: (line, text) => `Zeile ${line}: y ist „${text.slice(0, 40)}“, erwartet war 1 oder -1, oder 1 oder 0.`,
    header: (names) =>
      `In der Kopfzeile steht ${names.map((name) => `„${name.slice(0, 40)}“`).join(", ")}, erwartet waren x1, x2 und y.`,
    threeClasses: "In der Spalte y stehen 1, 0 und -1, erwartet waren zwei Klassen: 1 und -1, oder 1 und 0.",
    tooMany: (count, most) => `Das sind ${grouped(count)} Punkte, und höchstens ${grouped(most)} werden genommen.`,
    more: (count) =>
      count === 1 ? "Und 1 weitere Zeile mit Problemen." : `Und ${grouped(count)} weitere Zeilen mit Problemen.`,
  },
};

/** @type {typeof en.cell} */
export const cell = {
  title: "Python",
  toggle: "Ein Programm in Python schreiben",
  program: "Programm in Python",
  run: "Ausführen",
  runKey: "Ausführen (Strg oder Umschalt mit Eingabe)",
  stop: "Anhalten",
  examples: "Beispiele",
  example: "ein Beispiel …",
  names: { neuron: "ein Neuron", loop: "eine Trainingsschleife", twice: "ein nicht genullter Gradient", function: "viele Stichproben mit vmap" },
  output: "Was das Programm ausgegeben hat",
  loading: "Python wird geladen …",
  ready: "Python ist bereit.",
  running: "Das Programm läuft …",
  stopped: "Das Programm wurde angehalten.",
  shown: "Das Programm ist zu Ende gelaufen. Sein Graph steht darunter.",
  nothing: "Das Programm ist zu Ende gelaufen und hat keinen Value erzeugt, der sich durchlaufen ließe: rufe backward() auf, oder ende mit einem Value.",
  wrongLine: (line) => `In Zeile ${line} ist ein Fehler.`,
  wrong: "Es ist ein Fehler aufgetreten.",
  failed: (problem) => `Python ließ sich nicht laden: ${problem}`,
  ended: (problem) => `Das Programm hat Python beendet, das jetzt neu geladen wird: ${problem}`,
};
