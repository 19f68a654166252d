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
    lesson: "Das Blatt a ist beide Operanden des Produkts. Zwei Linien verbinden es mit dem Produkt, und jede trägt einen Beitrag zu a zurück.",
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
    "Ein Knoten ist ein Wert: sein Name, seine Zahl und sein Gradient. Was noch nicht bekannt ist, ist blass.",
    "Das Zeichen vor einem Namen ist die Operation, aus der der Wert hervorging. Jede Linie, die in einen Knoten führt, kommt von einem Operanden: Wähle sie aus, um die lokale Ableitung zu sehen.",
    "Zieh die Zahl eines Blatts nach links oder rechts wie einen Schieberegler: Alles, was aus ihr folgt, ändert sich, und der Durchlauf bleibt, wo er ist.",
    "Im Rückwärtsdurchlauf gibt ein Knoten jedem Operanden einen Beitrag weiter: seinen eigenen Gradienten, den ankommenden Gradienten, mal die lokale Ableitung. Die Beiträge zu einem Operanden summieren sich zu dessen Gradienten.",
    "Zeig auf einen Knoten oder wähle ihn aus: Seine Pfade zur Wurzel leuchten auf. Jeder Pfad zeigt das Produkt der lokalen Ableitungen auf ihm. Die Summe dieser Produkte ist der Gradient.",
    "Der helle Hof markiert den aktuellen Schritt. Ein Haken markiert einen Knoten, den der Rückwärtsdurchlauf besucht hat. Ein Fähnchen ist ein Beitrag auf dem Weg zu einem Operanden.",
    "Farbige Linien sind Beiträge, die zurückfließen: Blau ist positiv, Orange ist negativ, und eine dickere Linie ist ein größerer Beitrag. Eine durchgestrichene, gestrichelte Linie ist ein verlorener Beitrag.",
  ],
  keys: [
    ["n", "nächster Schritt (außerhalb des Graphen auch →)"],
    ["b", "ein Schritt zurück (auch ←)"],
    ["Bild ab, Bild auf", "ein Schritt vor, ein Schritt zurück; Presenter senden diese Tasten (nicht in Textfeldern)"],
    ["s", "an den Anfang"],
    ["e", "ans Ende"],
    ["p", "abspielen oder anhalten"],
    ["g", "zum Graphen"],
    ["Pfeile", "im Graphen: von Knoten zu Knoten, den Linien nach"],
    ["Eingabe", "im Graphen: einen Knoten oder eine Linie auswählen, einen Teil öffnen"],
    ["d", "im Graphen: zu den Linien eines Knotens, dann von Linie zu Linie"],
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
  again: "Von vorn",
  finished: (root) => `Fertig: Jeder Knoten zeigt seinen Gradienten, die Ableitung von ${root} nach ihm.`,
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

/** @type {typeof en.summary} */
export const summary = {
  title: "Überblick",
  findings: "Was auffällt",
  facts: (nodes, parameters, depth) => `${grouped(nodes)} Knoten, ${grouped(parameters)} Parameter, ${grouped(depth)} Operationen auf dem längsten Pfad.`,
  largest: "Größte Gradienten:",
};

/** @type {typeof en.values} */
export const values = {
  title: "Werte, die du ändern kannst",
  search: "Nach Namen suchen",
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
  pictureNote: (shown) => (shown ? `Zu sehen: ${shown}.` : ""),
  shapes: { squares: "Quadrat: Parameter.", lines: "Linie: Parameter.", squaresAndLines: "Quadrat, Linie: Parameter.", circles: "Kreis: Ausgabe." },
  openBox: "Öffne einen Kasten, um hineinzusehen.",
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
      `Linie von ${from} nach ${to}, Operand ${position + 1}`,
      local && `lokale Ableitung ${local}`,
      contribution && `Beitrag ${contribution}`,
    ]
      .filter(Boolean)
      .join(", "),
  part: (name, count, known, visited) => `${name}: ${count} Knoten, ${known} bekannt, ${visited} besucht; öffnen`,
  bundle: (from, to, count) => `${count} Linien von ${from} nach ${to}`,
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
  nothing: "Wähle im Graphen einen Knoten oder eine Linie aus. Solange nichts ausgewählt ist, zeigt dieses Feld den aktuellen Schritt des Durchlaufs.",
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
  inert: "Auf dieser Linie fließt kein Gradient: Die Operation gibt diesem Operanden nie einen Gradienten weiter.",
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
    back: {
      title: "Vorwärts, dann zurück",
      beats: {
        start: "Ein Programm, das lernt, braucht *Gradienten*. Ein Gradient sagt, wie schnell sich ein Ergebnis ändert, wenn sich ein Eingang ändert. In fünfzehn Minuten weißt du, wie ein Computer Gradienten findet. Das ist unser erstes Programm: `f = (a + b)·c`.",
        forward: "Zuerst vorwärts. Jeder Knoten wird aus seinen *Operanden* berechnet, also aus den Knoten, von denen eine Linie zu ihm führt: `e = a + b`, dann `f = e·c`. Das Ergebnis ist −10.",
        predict: {
          text: "Erhöhe `a` ein wenig, und auch `f` ändert sich. *Wie viel Mal so schnell wie `a` ändert sich `f`?*",
          right: "`a` stieg um 0.01 und `f` um 0.1: zehnmal so viel. Der Gradient von `a` ist also 10.",
          mistakes: {
            one: "`e` ändert sich so schnell wie `a`. Aber dann wird `e` mit `c` multipliziert.",
            change: "Um 0.1 bewegt sich `f`, wenn sich `a` um 0.01 bewegt. Wie viel Mal so schnell ist das?",
            own: "2 ist der Wert von `a`. Wie schnell ändert sich `f`?",
            root: "−10 ist der Wert von `f`. Wie schnell ändert er sich?",
          },
        },
        seed: "Jetzt *rückwärts*, um alle Gradienten auf einmal zu finden. Wir beginnen beim Ergebnis. `f` ändert sich genau so schnell wie `f`, also ist sein Gradient 1. Diese 1 ist der *Startwert*.",
        flows: "Der Startwert wandert zurück. Jede Linie multipliziert ihn mit einer *lokalen Ableitung*. Wächst `e` um 1, dann wächst `f` um `c` = 10. Bei `e` kommt also 1 · 10 an, und bei `c` genauso 1 · (−1).",
        sum: {
          text: "Bei `e = a + b` ist 10 angekommen. Wächst `b` um 1, dann wächst `e` um 1. *Was ist der Gradient von `b`?* (Man schreibt ihn $[∂f/∂b]$.)",
          paper: "Rückwärts beginnt der Startwert 1 bei `f`, und jede Linie multipliziert ihn mit ihrer lokalen Ableitung. Bei `e = a + b` kommt also 1 · 10 an. Wächst `b` um 1, dann wächst `e` um 1. *Was ist der Gradient von `b`?* (Man schreibt ihn $[∂f/∂b]$.)",
          right: "`b` bekommt 10 · 1, und `a` bekommt die 10, die du vorhergesagt hast.",
          mistakes: {
            one: "1 ist die lokale Ableitung. Multipliziere sie mit 10, dem Gradienten von `e`.",
            own: "−3 ist der Wert von `b`. Bei einer Summe kommt es auf die Werte nicht an.",
            beside: "Du hast mit dem Wert von `a` multipliziert. Aber `e` ist eine Summe: Wie schnell wächst sie, wenn `b` wächst?",
          },
        },
      },
      recap: "Ein einziger Durchlauf rückwärts findet alle Gradienten.",
    },
    pattern: {
      title: "Das Muster",
      beats: {
        again: "Ein längeres Programm: `e = a·b`, `d = e + c`, `L = d·f`. Sieh zu, wie es rückwärts läuft. Das Produkt gibt jedem Operanden den Wert des *anderen* Operanden, mal das, was ankam. Die Summe gibt das, was ankam, an beide weiter.",
        practice: {
          text: "Jetzt ist `e = a·b` an der Reihe. Sein Gradient ist −2. *Was ist der Gradient von `a`?*",
          right: "`a` bekommt −3, den Wert von `b`, mal −2.",
          mistakes: {
            local: "−3 ist die lokale Ableitung. Multipliziere sie mit −2, dem Gradienten von `e`.",
            unswapped: "Das ist der Gradient von `b`. Ein Produkt vertauscht: `a` bekommt den Wert von `b`, mal −2.",
            copied: "Eine Summe kopiert. Aber `e = a·b` ist ein Produkt.",
          },
        },
      },
      recap: "Eine Summe kopiert. Ein Produkt vertauscht und skaliert.",
    },
    neuron: {
      title: "Ein Neuron",
      beats: {
        meet: "Netze bestehen aus Neuronen, und das ist eines. Es multipliziert jeden Eingang `x` mit einem Gewicht `w`, addiert die Produkte und einen Bias `b` und schickt die Summe `n` durch `tanh`. Als Operation ist nur `tanh` neu.",
        slope: "`tanh` quetscht jede Zahl zwischen −1 und 1. Seine lokale Ableitung ist die *Steigung* der Kurve: 1, wo sie am steilsten ist, fast 0, wo sie flach ist. Bewege `n`, und sieh selbst.",
        half: "Hier ist die Steigung 0.5. Bei `o` kam 1 an. *Die Hälfte davon kommt durch*, bis zu `n`.",
        weight: {
          text: "Die Summen haben 0.5 bis zu `x1w1 = x1·w1` kopiert. *Was ist der Gradient des Gewichts `w1`?*",
          right: "`w1` bekommt den Wert von `x1`, mal das, was ankam: 2 · 0.5.",
          mistakes: {
            upstream: "0.5 ist das, was ankam. Multipliziere es mit der lokalen Ableitung.",
            local: "2 ist die lokale Ableitung. Multipliziere sie mit den 0.5, die ankamen.",
            unswapped: "Das ist der Gradient von `x1`. Ein Produkt vertauscht: `w1` bekommt den Wert von `x1`, mal 0.5.",
            own: "−3 ist der Wert von `w1`. Ein Produkt vertauscht: `w1` bekommt den Wert von `x1`, mal 0.5.",
          },
        },
        zero: {
          text: "Das andere Gewicht, `w2`, bekommt 0. *Warum?*",
          options: ["Sein Eingang `x2` ist 0", "`w2` ist zu klein", "`tanh` lässt nichts durch"],
          feedback: [
            "Solange `x2` gleich 0 ist, ändert `w2` nichts am Ergebnis.",
            "Auf die Größe von `w2` kommt es hier nicht an. Ein Produkt vertauscht: Was bekommt `w2`?",
            "`tanh` ließ die Hälfte des Gradienten durch, für beide Gewichte.",
          ],
        },
      },
      recap: "tanh lässt einen Teil des Gradienten durch: so viel, wie seine Steigung angibt.",
    },
    twice: {
      title: "Warum +=",
      beats: {
        both: {
          text: "In `f = a·a` führen zwei Linien von `a` nach `f`. *Was ist der Gradient von `a`?*",
          right: "Jede Linie bringt 3, und beides wird *addiert*: 3 + 3.",
          mistakes: {
            one: "3 ist das, was eine Linie bringt. Es sind aber zwei Linien.",
            value: "9 ist der Wert von `f`. Wie schnell ändert er sich?",
          },
        },
        lost: "Darum schreiben Programme `+=`: Es addiert zu dem, was schon da ist. Mit `=` *ersetzt* die zweite 3 die erste, und die erste ist verloren. Der Gradient ist nur halb so groß, wie er sein sollte, und keine Fehlermeldung sagt es dir.",
      },
      recap: "Wo Linien zusammenkommen, werden Gradienten addiert: `+=`.",
    },
    order: {
      title: "Wer ist an der Reihe?",
      beats: {
        turns: "`a` wird zweimal benutzt, von `b` und von `c`. Die Knoten kommen nacheinander an die Reihe. Jeder gibt dann den Gradienten weiter, der *bis dahin* bei ihm angekommen ist. Jeder kommt nur einmal dran.",
        puzzle: {
          text: "*In welcher Reihenfolge sollten die Knoten drankommen?* Wähle einen nach dem anderen, und lass deine Reihenfolge dann laufen.",
          paper: "*In welcher Reihenfolge sollten die Knoten drankommen?* Schreib ihre Namen auf.",
          right: "6 und 9 kamen rechtzeitig bei `a` an: 6 + 9 = 15.",
        },
        early: "Angenommen, `b` kommt vor `d` an die Reihe. Bei `b` ist nichts angekommen, also gibt es 0 weiter. Dann schickt `d` 6 an `b`, aber *zu spät*: `b` war schon dran. Der Gradient von `a` ist 9, und er müsste 15 sein.",
        late: "In dieser Reihenfolge wartet `a` auf `b` und auf `c`. Nichts geht verloren.",
      },
      recap: "Ein Knoten kommt nach allen Knoten an die Reihe, die ihn benutzen.",
    },
    sort: {
      title: "Die Reihenfolge im Code",
      beats: {
        append: {
          text: "Wie findet ein Programm diese Reihenfolge? Es folgt den Linien vom Ergebnis zu den Eingängen, nimmt jeden Knoten in eine Liste auf und liest die Liste dann *rückwärts*. *Wann sollte es einen Knoten aufnehmen?*",
          options: ["Sobald es dort ankommt", "Nach allen Operanden des Knotens", "Wenn alles erledigt ist"],
          feedback: [
            "Beim Ergebnis kommt es zuerst an. Rückwärts gelesen stünde das Ergebnis am Ende, aber es muss am Anfang stehen.",
            "Dann stehen in der Liste Operanden vor Ergebnissen. Rückwärts gelesen ist das die Reihenfolge, die du gefunden hast.",
            "Dann kämen alle Knoten auf einmal in die Liste, ohne Reihenfolge.",
          ],
        },
        search: "So macht es micrograd, eine kleine Python-Bibliothek. `append` steht nach der Schleife über die Operanden. Die Zahlen sind die Plätze in der Liste: eine *topologische Sortierung*. `reversed` liest sie von 4 bis 1.",
      },
      recap: "Sortiere die Knoten, dann geh die Liste rückwärts durch.",
    },
    now: {
      title: "Was du jetzt kannst",
      beats: {
        done: "Das ist Backpropagation. Sie findet alle Gradienten eines Programms, und fast jedes neuronale Netz lernt mit ihr. Mach weiter, womit du willst:",
      },
      recap: "Fang mit 1 an, multipliziere entlang jeder Linie, addiere, wo Linien zusammenkommen, und halte die Reihenfolge ein.",
    },
    nudge: {
      title: "Was ein Gradient vorhersagt",
      beats: {
        see: "Bewege `a`: Der Punkt folgt der Geraden, und auch die Zahlen in den Knoten ändern sich. `f` ändert sich immer *10-mal* so schnell wie `a`. Das ist die Steigung der Geraden, und das ist der Gradient von `a`.",
        promise: {
          text: "Der Gradient von `c` ist −1. *Was macht `f`, wenn `c` von 10 auf 10.1 wächst?*",
          options: ["Es fällt um etwa 0.1", "Es steigt um etwa 0.1", "Es fällt auf −1"],
          feedback: [
            "Die Änderung ist 0.1 mal −1.",
            "Die Größe stimmt. Aber achte auf das Vorzeichen: Bei negativem Gradienten fällt `f`, wenn `c` steigt.",
            "−1 ist nicht der neue Wert von `f`. Die Zahl sagt, wie schnell sich `f` ändert.",
          ],
        },
        kept: "Sieh selbst: Die Gerade fällt. Jeder Eingang hat seinen eigenen Gradienten, und jeden kannst du so überprüfen.",
      },
      recap: "Ändere einen Eingang ein wenig: Das Ergebnis ändert sich um den Gradienten mal diese Änderung.",
    },
    saturation: {
      title: "Wenn tanh flach wird",
      beats: {
        steepest: {
          text: "Bewege `n` die Kurve entlang. *Wo ist die Steigung am größten, und wie groß ist sie dort?*",
          options: ["Weit rechts: fast 1", "In der Mitte: 1", "Sie ist überall gleich"],
          feedback: [
            "Weit rechts ist der *Wert* fast 1. Aber die Kurve ist dort flach: Ihre Steigung ist fast 0.",
            "Bei 0 ist die Steigung 1, und nach beiden Seiten geht sie gegen 0.",
            "Nur eine Gerade hat überall dieselbe Steigung.",
          ],
        },
        slope: {
          text: "Für die Steigung gibt es eine Formel, die das Ergebnis `o` benutzt: $1 − o^2$. Hier ist `o` gleich 0.7071. *Wie groß ist die Steigung?*",
          right: "Das Quadrat von `o` ist 0.5, und 1 − 0.5 = 0.5. Also kommt die Hälfte des Gradienten durch.",
          mistakes: {
            value: "Das ist `o`. Quadriere es, und zieh das Quadrat von 1 ab.",
            unsquared: "Das ist 1 − `o`. Quadriere `o`, bevor du es abziehst.",
          },
        },
        saturated: "Jetzt ist der Bias 12. `o` ist 0.99999, die Kurve ist flach, und *es kommt kaum Gradient durch*: Die Gradienten vor `tanh` sind fast 0. Das Neuron ist *gesättigt*. Es kann kaum lernen.",
        vanished: "Dieses Neuron soll −0.8 ausgeben, aber es gibt fast 1 aus. Sein Verlust `L`, das Quadrat des Fehlers, ist groß. Lass es zehn Schritte lernen: Fast nichts passiert. In tiefen Netzen werden viele solche Faktoren multipliziert, und der Gradient *verschwindet*.",
      },
      recap: "tanh multipliziert einen Gradienten mit $1 − o^2$: in der Mitte mit 1, und wo die Kurve flach ist, mit fast 0.",
    },
    paths: {
      title: "Mehr Pfade, mehr Reihenfolgen",
      beats: {
        paths: {
          text: "`a` wird von `d = a·b` und von `e = a + b` benutzt, und `f = d·e`. `a` ist −2 und `b` ist 3. Der Gradient von `d` ist 1, und der Gradient von `e` ist −6. *Was ist der Gradient von `a`?*",
          right: "Über `d` kommt 3 · 1, und über `e` kommt 1 · (−6).",
          mistakes: {
            first: "3 kommt über `d`. Was über `e` kommt, fehlt.",
            second: "−6 kommt über `e`. Was über `d` kommt, fehlt.",
          },
        },
        met: "Zwei Pfade führen von `a` zum Ergebnis. Multipliziere entlang jedes Pfades, und addiere, wo die Pfade zusammenkommen. Mit `=` geht ein Pfad verloren.",
        which: {
          text: "Ein anderes Programm: `L = d·f`, `d = e + c`, `e = a·b`. *Welche dieser Reihenfolgen ergibt einen falschen Gradienten?*",
          options: ["`L`, `f`, `d`, `c`, `e`, `b`, `a`", "`L`, `d`, `e`, `a`, `b`, `c`, `f`", "`L`, `e`, `d`, `a`, `b`, `c`, `f`"],
          feedback: [
            "Hier kommt jeder Knoten nach allen Knoten, die ihn benutzen. Eingänge wie `f` geben nichts weiter, also dürfen sie früh drankommen.",
            "Hier kommt jeder Knoten nach allen Knoten, die ihn benutzen. Ein Graph kann mehrere richtige Reihenfolgen haben, und das ist eine davon.",
            "`d` benutzt `e`. Kommt `e` vor `d`, dann ist bei `e` noch nichts angekommen, und es hat nichts weiterzugeben.",
          ],
        },
        early: "Hier ist `c = a·b`, `d = c + a` und `e = d**2`, das Quadrat von `d`. Aber `c` kommt vor `d` an die Reihe. Bei `c` ist noch nichts angekommen, also gibt es 0 weiter. Der Gradient von `a` ist 16, und er müsste 64 sein. (micrograd würde die späte 16 noch zu `c.grad` addieren. Aber `a.grad` wäre falsch.)",
      },
      recap: "Ein Gradient ist eine Summe über alle Pfade. In einer falschen Reihenfolge gehen einige verloren.",
    },
    check: {
      title: "Vertrauen und nachprüfen",
      beats: {
        quotient: {
          text: "Kannst du einem Gradienten trauen? Stups einen Knoten an, und vergleiche. Hier bekommt `a` einen Stups um `h` = 0.0001. Mit `a` + `h` ist `L` gleich −7.9994, mit `a` − `h` gleich −8.0006. *Teile die Änderung von `L` durch die Änderung von `a`: Was kommt heraus?*",
          right: "0.0012 / 0.0002 = 6. Das ist der *Differenzenquotient*.",
          mistakes: {
            change: "Um so viel hat sich `L` von einem Ende zum anderen geändert. Teile es durch die Änderung von `a`.",
            half: "Nimm beide Enden: `L` ging von −8.0006 auf −7.9994.",
            step: "`a` ging von 2 − `h` auf 2 + `h`: Es hat sich um 2 mal `h` geändert.",
            up: "Um so viel hat sich `L` auf einer Seite geändert. Teile es durch die Änderung von `a`.",
          },
        },
        drawn: "Auch die Backpropagation ist gelaufen. An der Wurzel steht der Quotient *neben dem Gradienten*, und beide stimmen überein. Wähle einen anderen Knoten, um ihn anzustupsen. Verändere dann `h`.",
        notice: {
          text: "Angenommen, im Code steht `=`, wo `+=` stehen sollte. Hier wird `a` zweimal benutzt, also wird sein Gradient falsch. *Wird der Quotient das zeigen?*",
          options: ["Nein: Er wird genauso falsch", "Nur wenn `h` klein genug ist", "Ja: Er wird vom Gradienten abweichen"],
          feedback: [
            "Woraus wird der Quotient berechnet? Nur aus Vorwärtsdurchläufen. In ihnen kommt kein `+=` vor.",
            "Dem Gradienten fehlt ein ganzer Beitrag. Der Unterschied zeigt sich auch, wenn `h` nicht sehr klein ist.",
            "Der Quotient kommt allein aus dem Vorwärtsdurchlauf, also steckt der Fehler nicht in ihm.",
          ],
        },
        caught: "Die Probe hat den Fehler gefunden: Der Gradient ist 3, aber der Quotient ist −3. Was der andere Pfad brachte, wurde überschrieben. Python hat keinen Fehler gemeldet, also zeigt ihn nur die Probe. Verändere `h`: Der Gradient bleibt falsch.",
        bent: "Wegen `tanh` folgt `o` keiner Geraden. Mit `h` = 0.1 ist der Quotient ungenau. Mach `h` kleiner, und sieh zu, wie der Quotient dem Gradienten −1.5 näher kommt.",
        small: {
          paper: "Mit `h` = 0.1 ist der Quotient für `x1` gleich −1.521, mit `h` = 0.01 gleich −1.5002, und der Gradient ist −1.5. *Ist also das kleinste `h` das beste?*",
          text: "Ein kleineres `h` hat den Quotienten besser gemacht. *Ist also das kleinste `h` das beste?*",
          options: ["Ja, je kleiner, desto besser", "Nein: Mit winzigem `h` wird der Quotient wieder schlechter", "Irgendwann macht `h` keinen Unterschied mehr"],
          feedback: [
            "Mit exakten Zahlen schon. Aber der Computer behält nur etwa 16 Stellen. Wie viele richtige Stellen hat die Differenz zweier fast gleicher Zahlen?",
            "Der Computer behält etwa 16 Stellen. Die Differenz zweier fast gleicher Zahlen hat nur noch wenige richtige Stellen.",
            "So wäre es, wenn Zahlen unendlich viele Stellen hätten. Der Computer behält etwa 16.",
          ],
        },
        rounded: "Bei `h` = 1e-10 sind die letzten Stellen des Quotienten Rauschen. (So viel Rauschen ist bei einem so kleinen Schritt zu erwarten, darum gilt es noch als Übereinstimmung.) Die Kurve zeigt den Fehler für jedes `h`. Rechts entsteht er, weil die Funktion *gekrümmt* ist. Links entsteht er, weil der Computer *rundet*. Das beste `h` liegt dazwischen.",
      },
      recap: "Der Differenzenquotient überprüft einen Gradienten, aber er ist langsam und ungenau. Die Backpropagation ist schnell, und bis auf Rundung genau.",
    },
    training: {
      title: "Lernen",
      beats: {
        loss: "Ein Neuron gibt `o` aus. Die richtige Ausgabe ist `y`. Das Quadrat des Fehlers ist der *Verlust* `L` (englisch *loss*). Lernen heißt, den Verlust kleiner zu machen. Die Gradienten sagen, wie.",
        which: {
          text: "Der Gradient von `w` ist negativ. *Was sollte `w` tun, damit `L` kleiner wird?*",
          options: ["Steigen", "Sinken", "Bleiben"],
          feedback: [
            "Bei negativem Gradienten fällt `L`, wenn `w` steigt. Also ändern wir `w` *gegen* den Gradienten.",
            "Dann würde `L` steigen: Bei negativem Gradienten ändern sich `w` und `L` in entgegengesetzter Richtung.",
            "Das wäre nur richtig, wenn der Gradient 0 wäre.",
          ],
        },
        descend: "Ein Schritt ist `w −= rate · w.grad`, und genauso für `b`. (*rate* ist die Lernrate.) `w` und `b` sind *Parameter*: Zahlen, die das Lernen ändern darf. Das ist *Gradientenabstieg*. Mach zehn Schritte, und achte auf den Verlust.",
        rate: {
          paper: "Also macht jeder Parameter kleine Schritte: `w −= rate · w.grad`, und genauso `b`, mit der Lernrate `rate` = 0.1. *Was passiert, wenn sie 25-mal so groß ist?*",
          text: "*Was passiert, wenn die Lernrate 25-mal so groß ist?*",
          options: ["Es lernt 25-mal so schnell", "Es macht keinen Unterschied", "Ein Schritt kann über das Minimum hinwegspringen"],
          feedback: [
            "Ein Gradient sagt nur vorher, was *kleine* Änderungen bewirken.",
            "Jeder Schritt wäre 25-mal so lang.",
            "Ein Gradient sagt nur vorher, was *kleine* Änderungen bewirken.",
          ],
        },
        large: "Mach einen Schritt: `w` springt über das Minimum hinweg, dorthin, wo `tanh` flach ist. Dort kommt kaum Gradient durch, und der Verlust bleibt, wie er ist.",
        again: {
          text: "In `w.grad` steht noch der Gradient des letzten Durchlaufs. *Was passiert, wenn ihn vor dem nächsten Rückwärtsdurchlauf niemand auf 0 setzt?*",
          options: ["Der neue Gradient ersetzt ihn", "Der neue Gradient wird dazuaddiert", "Python meldet einen Fehler"],
          feedback: [
            "Das würde mit `=` passieren. Aber im Code steht `+=`.",
            "Im Code steht `+=`. Also summieren sich die Gradienten früherer Durchläufe, wenn `zero_grad()` sie nicht auf 0 setzt.",
            "Python meldet keinen Fehler, und gerade deshalb ist dieser Fehler so häufig.",
          ],
        },
        unzeroed: "Ohne `zero_grad()` benutzt jeder Schritt die *Summe aller bisherigen Gradienten*. Also werden die Schritte größer, springen über das Minimum hinweg und schwingen hin und her. Schalte `zero_grad()` ein und aus, und fang neu an.",
      },
      recap: "Vorwärts, `zero_grad`, rückwärts, ein kleiner Schritt gegen den Gradienten. Und wieder von vorn.",
    },
    passes: {
      title: "Warum rückwärts?",
      beats: {
        runs: {
          text: "Dieses Netz hat zusammen acht Eingänge und Gewichte, und wir wollen alle acht Gradienten. *Wenn du jede Zahl einzeln anstupst: Wie oft muss das Programm mindestens laufen?*",
          right: "Es läuft einmal ohne Stups, und einmal für jede der acht Zahlen.",
          mistakes: {
            plain: "Fast. Zum Vergleich braucht es noch einen Lauf ohne Stups.",
            one: "Ein Lauf stupst eine Zahl an und liefert einen Gradienten.",
            central: "Das reicht für zwei Stupser je Zahl. Aber es geht mit weniger Läufen.",
          },
        },
        count: "Berechne die Gradienten auf beide Arten, und zähle die Läufe. Vergleiche auch die Gradienten.",
        million: {
          text: "*Ein Netz hat eine Million Gewichte. Wie viele Rückwärtsdurchläufe braucht es für alle ihre Gradienten?*",
          options: ["Einen", "Tausend", "Eine Million"],
          feedback: [
            "Nur deshalb kann man große Netze überhaupt trainieren.",
            "Ein Rückwärtsdurchlauf besucht jeden Knoten einmal, egal wie viele Gewichte es gibt.",
            "So viel kostet das Anstupsen: ein Lauf für jedes Gewicht.",
          ],
        },
        once: "Ein Stups misst *immer nur einen Eingang*. Der Rückwärtsdurchlauf beginnt *einmal, beim Ergebnis*, und erreicht jeden Knoten. Jeder Knoten addiert, was bei ihm ankommt, und gibt die Summe einmal weiter. So wird *keine Linie zweimal durchlaufen*.",
      },
      recap: "Ein Rückwärtsdurchlauf liefert den Gradienten eines Ergebnisses nach jedem Knoten.",
    },
    own: {
      title: "Deine eigenen Daten",
      beats: {
        expression: "Im Labor kannst du jeden Ausdruck eintippen, seine Zahlen ändern und seinen Gradienten Schritt für Schritt folgen, vorwärts und rückwärts. Fang mit diesem an, oder tippe einen eigenen ein.",
        points: "Du kannst einem Netz auch deine eigenen Punkte geben: Klick in die Ebene, oder füg eine Tabelle ein. Dann trainiere das Netz, und sieh zu, wie sich die Grenze zwischen den beiden Klassen bewegt.",
        program: "Und du kannst in dein eigenes Python-Programm hineinsehen: `gradwalk walk --page script.py` zeigt jedes `backward()` des Programms auf einer Seite wie dieser. Dieser Graph ist der letzte Teil eines Sprachmodells: Softmax und sein Verlust.",
      },
      recap: "Alles aus der Lektion geht auch mit deinen eigenen Zahlen.",
    },
  },
  minutes: (count) => `${count} Min.`,
  minutesInAll: (count) => `Die ganze Lektion: ${count} Min.`,
  resume: (title) => `Weiter bei „${title}“`,
  further: "Wie es weitergeht",
  answers: "Antworten",
  orderOr: (order) => `${order}, oder eine andere Reihenfolge, in der jeder Knoten nach allen Knoten kommt, die ihn benutzen`,
  contents: "Kapitel",
  next: "Weiter",
  nextChapter: "Nächstes Kapitel",
  back: "Zurück",
  check: "Prüfen",
  show: "Zeig es mir",
  handIn: "Deine Antworten abgeben",
  answer: "Deine Antwort",
  right: "Richtig.",
  shown: (answer) => `Es ist ${answer}.`,
  shownChoice: "Es ist die markierte Antwort.",
  beat: (beat, count) => `${beat} von ${count}`,
  noNumber: exercises.noNumber,
  wrong: (answer) => `Nicht ${answer}. Sieh dir den Graphen noch einmal an, oder wähle „Zeig es mir“.`,
  sign: "Die Größe stimmt. Achte auf das Vorzeichen.",
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
  comes: (name) => `Was bei ${name} ankommt`,
  stepSearch: "Nächste Zeile",
  restartSearch: "Von vorn",
  code: "backward() aus micrograd",
  step: "Schritt",
  steps: "Zehn Schritte",
  restart: "Neu anfangen",
  zeroes: "zero_grad() vor jedem Durchlauf",
  rate: "Lernrate",
  taken: (count) => counted(count, "Schritt", "Schritte"),
  lab: "Im Labor öffnen",
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
  nodes: (first, last) => `Knoten ${first} bis ${last}`,
  modules: (first, last) => `${first} bis ${last}`,
  repetition: (kind, number, count) => `${{ samples: "Beispiel", steps: "Schritt" }[kind] ?? "Term"} ${number} von ${count}`,
  repetitions: (kind, first, last) => `${{ samples: "Beispiele", steps: "Schritte" }[kind] ?? "Terme"} ${first} bis ${last}`,
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
