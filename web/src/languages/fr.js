// Ce que dit la page, en français. On vouvoie ; les nombres ont un point décimal, car on les tape aussi dans les expressions.
// Les espaces devant : ; ! ? et dans les guillemets sont insécables : tests/languages.test.js y veille.

/** @import * as en from "./en.js" */

/** @param {number | bigint} number */
const grouped = (number) => number.toLocaleString("fr");

/** @param {number} count @param {string} one @param {string} several */
const counted = (count, one, several) => `${grouped(count)} ${Math.abs(count) < 2 ? one : several}`;

/** @param {readonly string[]} items */
const listed = (items) => items.join(" et ");

/** @type {typeof en.language} */
export const language = {
  code: "fr",
  name: "Français",
  choose: "Langue",
  page: "gradwalk : comment naissent les gradients",
};

/** @type {typeof en.presets} */
export const presets = {
  own: "votre propre expression",
  product: {
    title: "(a + b)·c",
    lesson: "Une somme copie son gradient vers ses deux opérandes. Un produit échange : chaque opérande reçoit le gradient multiplié par la valeur de l’autre opérande.",
  },
  neuron: {
    title: "un neurone avec tanh",
    lesson: "Un neurone à deux entrées. Son biais est choisi pour que les nombres tombent juste : observez le gradient qui revient derrière tanh.",
  },
  square: {
    title: "a·a",
    lesson: "La feuille a est les deux opérandes du produit. Deux arêtes la relient au produit, et chacune ramène une contribution à a.",
  },
  double: {
    title: "a + a",
    lesson: "Le plus petit graphe qui a besoin de +=. Avec =, la seconde contribution écrase la première, et le gradient est faux.",
  },
  twice: {
    title: "(a·b)·(a + b)",
    lesson: "Les deux feuilles servent deux fois, donc chacune reçoit deux contributions. Passez à = et voyez laquelle des deux se perd.",
  },
  loss: {
    title: "(a·b + c)·f",
    lesson: "Le premier graphe classique. Ouvrez l’onglet Vérification, décalez un nœud de 0.0001 et comparez le résultat avec la rétropropagation.",
  },
  reuse: {
    title: "(a·b + a)²",
    lesson: "Le produit et la somme utilisent tous deux a. Le gradient de a n’est complet que lorsque leurs deux contributions sont arrivées.",
  },
  diamond: {
    title: "le losange",
    lesson: "Deux chemins mènent de a à d. Ouvrez l’onglet Ordre et visitez a trop tôt : la contribution d’un chemin se perd.",
  },
  network: {
    title: "un réseau à deux couches",
    lesson: "Deux entrées, deux neurones cachés avec tanh, une sortie, et le carré de son erreur.",
  },
  softmax: {
    title: "softmax et entropie croisée",
    lesson: "Le premier score est celui de la bonne classe. Quel rapport y a-t-il entre les gradients des scores et leurs probabilités ?",
  },
};

/** @type {typeof en.afterwards} */
export const afterwards = {
  neuron: "C’est bien cela : o = 0.7071, et le gradient derrière tanh est 0.5.",
  square: "Les deux contributions s’additionnent en 2a.",
  softmax: "Les gradients sont les probabilités, moins 1 pour la bonne classe : -0.341, 0.242, 0.099.",
};

/** @type {typeof en.header} */
export const header = {
  name: "gradwalk",
  presets: "Graphes de la leçon",
  expression: "Expression, comme tanh(x*w + b), ou plusieurs, comme dans e = a + b; f = e*c",
  draw: "Dessiner",
  menu: "Menu",
  share: "Partager",
  print: "Imprimer",
  present: "Présenter",
  presentKey: "Présenter (f)",
  file: "Ouvrir un fichier",
  home: "Fermer le fichier",
  theme: "Couleurs",
  start: (numbers) => `Au départ, ${numbers}.`,
  values: "Changer les nombres",
  themes: { auto: "auto", light: "clair", dark: "sombre" },
  help: "Aide",
  close: "Fermer",
  letters: "Les lettres seules sont des touches",
  signs: [
    "Un nœud est une valeur : son nom, son nombre et son gradient. Ce qui n’est pas encore connu est pâle.",
    "Le signe devant un nom est l’opération qui a produit la valeur. Chaque arête qui entre dans un nœud vient d’un opérande : sélectionnez-la pour voir sa dérivée locale.",
    "Faites glisser le nombre d’une feuille vers la gauche ou la droite, comme un curseur : tout ce qui en découle change, et le parcours reste où il est.",
    "Dans la passe arrière, un nœud transmet à chaque opérande une contribution : le propre gradient du nœud, appelé gradient amont, multiplié par la dérivée locale. La somme des contributions à un opérande est le gradient de cet opérande.",
    "Pointez un nœud, ou sélectionnez-le : ses chemins vers la racine s’allument. Chaque chemin montre le produit des dérivées locales le long de ce chemin. La somme de ces produits est le gradient.",
    "Le halo marque l’étape actuelle. Une coche marque un nœud que la passe arrière a visité. Un fanion est une contribution en chemin vers un opérande.",
    "Les arêtes colorées sont les contributions qui remontent : le bleu est positif, l’orange est négatif, et une arête plus épaisse est une contribution plus grande. Une arête barrée, en tirets, est une contribution perdue.",
  ],
  keys: [
    ["n", "étape suivante (aussi → hors du graphe)"],
    ["b", "une étape en arrière (aussi ←)"],
    ["Pg suiv, Pg préc", "une étape en avant, une en arrière ; les télécommandes envoient ces touches (pas dans les champs de texte)"],
    ["s", "au début"],
    ["e", "à la fin"],
    ["p", "lecture ou pause"],
    ["g", "vers le graphe"],
    ["flèches", "dans le graphe : de nœud en nœud, le long des arêtes"],
    ["Entrée", "dans le graphe : sélectionner un nœud ou une arête, ouvrir une partie"],
    ["d", "dans le graphe : vers les arêtes d’un nœud, puis d’arête en arête"],
    ["[ ]", "dans le graphe : un nombre plus petit ou plus grand pour une feuille (aussi Alt avec les flèches haut et bas ; avec Maj par pas plus fins)"],
    ["+ - 0", "dans le graphe : plus près, plus loin, tout le graphe"],
    ["f", "présenter : le graphe et la phrase remplissent l’écran (Échap pour quitter)"],
    ["?", "cette aide"],
  ],
};

/** @type {typeof en.tabs} */
export const tabs = {
  title: "Que faire",
  names: { walk: "Parcours", order: "Ordre", check: "Vérification", train: "Entraînement", exercises: "Exercices" },
};

/** @type {typeof en.transport} */
export const transport = {
  title: "Parcours",
  start: "Au début",
  startKey: "Au début (s)",
  back: "Une étape en arrière",
  backKey: "Une étape en arrière (b)",
  next: "Étape suivante",
  nextKey: "Étape suivante (n)",
  again: "Depuis le début",
  finished: (root) => `Fini : chaque nœud montre son gradient, la dérivée de ${root} par rapport à lui.`,
  end: "Jusqu’à la fin",
  endKey: "Jusqu’à la fin (e)",
  play: "Lecture",
  playKey: "Lecture ou pause (p)",
  pause: "Pause",
  timeline: "Étape du parcours",
  speed: "Vitesse",
  speeds: { slow: "lente", normal: "normale", fast: "rapide", fastest: "très rapide" },
  nothing: "Aucune valeur n’est encore connue. L’étape suivante donne sa valeur à la première feuille.",
  phase(phase, position, forward, backward) {
    if (phase === "start") return "Avant la première étape";
    if (phase === "forward") return `Passe avant : étape ${position} sur ${forward}${position === forward ? ", terminée" : ""}`;
    if (phase === "seed") return "Graine : la passe arrière commence";
    const at = `Passe arrière : étape ${position - forward - 1} sur ${backward}`;
    return phase === "end" ? `${at}, terminée` : at;
  },
};

/** @type {typeof en.summary} */
export const summary = {
  title: "Aperçu",
  findings: "À regarder",
  facts: (nodes, parameters, depth) => `${grouped(nodes)} nœuds, ${grouped(parameters)} paramètres, ${grouped(depth)} opérations sur le plus long chemin.`,
  largest: "Plus grands gradients\u00a0:",
};

/** @type {typeof en.values} */
export const values = {
  title: "Valeurs à modifier",
  search: "Chercher un nom",
  noNumber: (text) => `« ${text} » n’est pas un nombre : écrivez-en un, comme -1.5, 2e3, inf ou nan.`,
};

/** @type {typeof en.arrays} */
export const arrays = {
  title: "Tableaux",
  measure: "Ce qui est montré",
  measures: { data: "les valeurs", gradient: "les gradients" },
  unknown: "?",
  cell: (name, data, gradient) => `${name} = ${data}, gradient ${gradient}`,
  steepest: (name, root) => `Chaque barre est un nombre d’une ligne, teinté selon son gradient. Parmi ces nombres, c’est ${name} qui, en augmentant, diminue le plus ${root}.`,
};

/** @type {typeof en.writing} */
export const writing = {
  title: "Une contribution s’écrit avec",
  accumulate: "s’ajoute à ce qui est là",
  overwrite: "l’écrase",
};

/** @type {typeof en.twin} */
export const twin = {
  title: "Toutes les valeurs",
  columns: ["nœud", "obtenu par", "valeur", "gradient", "état"],
  leaf: "donné",
  unknown: "?",
  active: "cette étape",
  visited: "visité",
  nodes: (count) => `${counted(count, "nœud", "nœuds")} : ouvrez la partie pour voir`,
};

/** @type {typeof en.source} */
export const source = { title: "Programme" };

/** @type {typeof en.timeline} */
export const timeline = {
  title: "Passes",
  slider: "Passe du programme",
  back: "La passe précédente",
  next: "La passe suivante",
  pass: (number, count, line) => `Passe ${number} sur ${count}${line === null ? "" : ` : backward() à la ligne ${line}`}`,
  range: (name, here, first, last) => `${name} = ${here} ; il va de ${first} à ${last} au fil des passes`,
  curve: (name, count, first, last, least) =>
    `${name} au fil de ${counted(count, "passe", "passes")} : d’abord ${first}, enfin ${last}, au plus bas ${least}. Le curseur au-dessus mène à une passe.`,
  point: (number, name, data) => `passe ${number} : ${name} = ${data}`,
  notKept: (number, data) =>
    `La passe ${number} a donné ${data}. Son graphe n’est pas dans ce fichier : pour le voir, gradwalk walk --pass ${number}.`,
};

/** @type {typeof en.earlier} */
export const earlier = {
  title: "Ce que contient .grad",
  intro: (count) =>
    `${count === 1 ? "Une feuille avait" : `${grouped(count)} feuilles avaient`} déjà avant cette passe un gradient que rien n’avait remis à 0. backward() s’y ajoute : .grad n’est donc pas le gradient de cette seule passe.`,
  columns: ["feuille", "cette passe", "avant", ".grad", "depuis"],
  since: (since) => (since ? `passe ${since}` : "donné ainsi"),
  more: (count) => `et ${grouped(count)} de plus`,
  told(own, grad, now, since) {
    const because = since ? `pas remis à 0 depuis la passe ${since}` : "donné par le programme";
    return `Le gradient de cette passe est ${own}. Avant, .grad valait ${grad} (${because}). Donc .grad est maintenant ${now}.`;
  },
};

/** @type {typeof en.parts} */
export const parts = {
  path: "Où dans le graphe",
  whole: "graphe entier",
};

/** @type {typeof en.stage} */
export const stage = {
  title: "Graphe",
  zoomIn: "Plus près",
  zoomOut: "Plus loin",
  fit: "Tout montrer",
  pictureNote: (shown) => (shown ? `Montré : ${shown}.` : ""),
  shapes: { squares: "Carré : paramètre.", lines: "Ligne : paramètre.", squaresAndLines: "Carré, ligne : paramètre.", circles: "Cercle : sortie." },
  openBox: "Ouvrez une boîte pour voir l’intérieur.",
  node: (name, data, gradient, status) =>
    [name, data && `valeur ${data}`, gradient && `gradient ${gradient}`, status].filter(Boolean).join(", "),
  unknown: "pas encore connue",
  active: "cette étape",
  visited: "visité",
  asked: "objet de la question",
  data: "val.",
  gradient: "grad",
  edge: (from, to, position, local, contribution) =>
    [
      `arête de ${from} vers ${to}, opérande ${position + 1}`,
      local && `dérivée locale ${local}`,
      contribution && `contribution ${contribution}`,
    ]
      .filter(Boolean)
      .join(", "),
  part: (name, count, known, visited) =>
    `${name} : ${counted(count, "nœud", "nœuds")}, ${counted(known, "connu", "connus")}, ${counted(visited, "visité", "visités")} ; ouvrir`,
  bundle: (from, to, count) => `${counted(count, "arête", "arêtes")} de ${from} vers ${to}`,
  count: (count) => counted(count, "nœud", "nœuds"),
  progress: (done, total) => `${done} sur ${total}`,
  largest: (gradient) => `plus grand gradient ${gradient}`,
};

/** @type {typeof en.motion} */
export const motion = {
  factor: (local) => `× ${local}`,
  landed: {
    added: (before, amount, after) => `${before} + ${amount} = ${after}`,
    overwrites: (before, amount) => `${amount} à la place de ${before}`,
    late: "trop tard",
  },
};

/** @type {typeof en.paths} */
export const paths = {
  title: (count) => (count === 1 ? "Le chemin vers la racine" : `Les ${grouped(count)} chemins vers la racine`),
  product: (path, locals, product) => `${path} : ${locals.length > 1 ? `${locals.join(" · ")} = ${product}` : product}`,
  sum: (products, sum) => `${products.map((product) => (product.startsWith("-") ? `(${product})` : product)).join(" + ")} = ${sum}`,
  end: (product) => `= ${product}`,
  more: (count) => `Et ${grouped(count)} de plus.`,
  early: "Les produits le long des chemins sont connus une fois la passe avant terminée.",
};

/** @type {typeof en.diagnoses} */
export const diagnoses = {
  general: (answer) =>
    `Pas ${answer}. Suivez chaque chemin en remontant depuis la racine. Multipliez les dérivées locales le long de chaque chemin, et additionnez là où des chemins se rejoignent.`,
  sign: (answer) => `Pas ${answer}. Regardez le signe.`,
  brings: (path, product) => `${path} (${product})`,
  missing: (answer, kept, missed, isOverwritten) =>
    `${answer} vient seulement par ${listed(kept)}. Il manque : ${listed(missed)}. Additionnez les contributions de tous les chemins${isOverwritten ? " ; avec = au lieu de +=, seule la dernière contribution reste" : ""}.`,
  overwritten: (answer) =>
    `${answer} est le résultat avec = : une contribution en a écrasé une autre. Additionnez les contributions, comme le fait +=.`,
  swapped: (answer, node) =>
    `${answer} vient de la propre valeur d’un opérande, en ${node}. Un produit échange : la dérivée locale pour un opérande est la valeur de l’autre.`,
  sumAsProduct: (answer, node, symbol) =>
    `${answer} prend ${node} pour un produit. Mais l’opération y est ${symbol}, dont les dérivées locales sont 1 ou -1.`,
  oneSign: (answer, node) =>
    `${answer} a un signe faux : ${node} soustrait son opérande, et la dérivée locale est donc -1.`,
  upstream: (answer, user, by) =>
    `${answer} n’est que la dérivée locale ∂${user}/∂${by}. Multipliez-la par le gradient de ${user}.`,
  upstreams: (answer, by) =>
    `${answer} additionne les dérivées locales de tous les nœuds qui utilisent ${by}. Multipliez d’abord chaque dérivée locale par le gradient de son nœud.`,
  factor: (answer, user, operand, local) => `${answer} oublie un facteur : la dérivée locale ∂${user}/∂${operand} = ${local}.`,
  along: (answer) =>
    `${answer} additionne des dérivées locales le long d’un chemin. Le long d’un chemin, multipliez ; n’additionnez que là où des chemins se rejoignent.`,
  between: (answer) => `${answer} multiplie les chemins entre eux. Multipliez le long de chaque chemin, puis additionnez.`,
  data: (answer, node) => `${answer} est la valeur de ${node}. On demande à quelle vitesse la racine change.`,
  reciprocal: (answer) => `${answer} est 1 divisé par la dérivée : numérateur et dénominateur sont échangés.`,
  quotient: (answer, root, by, step) =>
    `${answer} est la variation de ${root} pour 1 de ${by}, sur un pas de ${step}. La dérivée est ce que cela devient pour des pas de plus en plus petits.`,
};

/** @type {typeof en.folds} */
export const folds = {
  more: (count) => `… ${grouped(count)} de plus …`,
  whole: "Tout afficher",
  less: "Afficher moins",
};

/** @type {typeof en.inspector} */
export const inspector = {
  title: "Ici",
  nothing: "Sélectionnez un nœud ou une arête dans le graphe. Sans sélection, ce panneau montre l’étape actuelle du parcours.",
  made: "obtenu par",
  operation: "c’est-à-dire",
  data: "valeur",
  source: "créé à",
  sum: "Règle de dérivation en chaîne",
  local: "dérivée locale",
  formula: "règle",
  rule: (operand, formula) => (operand ? `∂out/∂${operand} = ${formula}` : formula),
  contribution: "contribution",
  open: "pas encore connu",
  total: (gradient) => `en tout ${gradient}`,
  wrongTotal: (gradient, right) => `en tout ${gradient}, alors que ce devrait être ${right}`,
  stored: (gradient) => `${gradient} était là avant cette passe`,
  root: "C’est la racine : son gradient vaut 1 par définition.",
  unused: "Aucun gradient ne parvient à ce nœud : la racine n’en dépend pas, ou bien les opérations qui l’utilisent ne lui transmettent jamais de gradient.",
  inert: "Aucun gradient ne passe par cette arête : l’opération ne transmet jamais de gradient à cet opérande.",
  lost: (because) => `perdue : ${because}`,
  back: (name) => `Tout sur ${name}`,
};

/** @type {typeof en.orders} */
export const orders = {
  title: "Le puzzle de l’ordre",
  intro: "Dans quel ordre la passe arrière doit-elle visiter les nœuds ? Cliquez sur les nœuds ici ou dans le graphe, faites-les glisser, ou utilisez les touches. Puis lancez votre ordre.",
  pool: "Nœuds à placer",
  list: "Votre ordre",
  run: "Lancer cet ordre",
  right: "Montrer un bon ordre",
  clear: "Vider",
  handle: "Faites glisser à la souris ou au doigt, ou déplacez avec les flèches ; Suppr retire le nœud",
  placed: (name, at) => `${name}, visité en position ${at}`,
  up: (name) => `Visiter ${name} plus tôt`,
  down: (name) => `Visiter ${name} plus tard`,
  remove: (name) => `Retirer ${name}`,
  left: (count, isLesson) =>
    count
      ? `Encore ${count} à placer.`
      : `Tous sont placés : lancez la passe${isLesson ? "." : ", ou regardez-la avec « Étape suivante »."}`,
  tooMany: (count, most) => `Le puzzle est fait pour des graphes d’au plus ${most} nœuds, et celui-ci en a ${grouped(count)}.`,
  unknown: (names) => `Laissé de côté, car absent du graphe : ${names.join(", ")}.`,
};

/** @type {typeof en.outcomes} */
export const outcomes = {
  gradients: "Gradients de ce parcours",
  right: "juste",
  allRight: "Tous les gradients sont justes.",
  uncounted: "Il y a trop d’ordres valides pour les compter.",
  overwriting: "Les contributions s’écrivent avec =, si bien qu’un ordre valide peut en perdre aussi.",
  derivative: (root, by) => `∂${root}/∂${by}`,
  wrong: (right) => `faux : c’est ${right}`,
  someWrong: (count) => (count === 1 ? "Un gradient est faux." : `${grouped(count)} gradients sont faux.`),
  legal(count, isLegal) {
    const isOne = count === 1n;
    if (isLegal) return isOne ? "C’est le seul ordre valide." : `C’est l’un des ${grouped(count)} ordres valides.`;
    const there = isOne ? "Il y a un seul ordre valide." : `Il y a ${grouped(count)} ordres valides.`;
    return `Cet ordre n’est pas valide : un nœud doit venir après tous les nœuds qui l’utilisent. ${there}`;
  },
  more: (count) => `Et ${grouped(count)} de plus.`,
};

/** @type {typeof en.checks} */
export const checks = {
  title: "Vérification numérique",
  intro: "Décalez un nœud de h, recalculez tout ce qui en dépend, et divisez par h la variation de la racine : ce doit être son gradient.",
  step: "h",
  found: "cherché pour chaque nœud",
  method: "Différence",
  methods: { central: "centrée", forward: "avant" },
  columns: ["nœud", "verdict", "rétroprop.", "quotient", "erreur"],
  select: "Sélectionnez un nœud pour voir ce qui change quand on le décale.",
  none: "–",
  secret: "?",
  slider: "Pas h, de 1e-10 à 1e-1",
  error: "erreur",
  sides: { rounding: "arrondi", bending: "courbure" },
  curve: (error, step) => `Erreur du quotient selon le pas h : la plus petite est ${error}, vers h = ${step}`,
  traces: {
    own: (data, step) => `décalé de ${step}, à partir de ${data}`,
    moved: (data, change) => `${data} après le décalage, une variation de ${change}`,
    still: (data, change) => `${data} après le décalage, une variation de ${change}`,
  },
  quotient: (quotient, gradient, verdict) => [`taux d’accroissement ${quotient}`, `gradient à comparer ${gradient}`, verdict].filter(Boolean).join(", "),
  notNudged: (name, verdict) => `${name} ne peut pas être décalé : ${verdict}.`,
  verdicts: {
    agrees: "concorde",
    differs: "diffère",
    kink: "point anguleux",
    "not finite": "non fini",
    "by hand": "fait à la main",
    stored: "dérivées enregistrées, sans règle",
    stopped: "arrêté",
    rounding: "perdu dans l’arrondi",
    jump: "saut",
    coarse: "h est trop grand",
    stale: "périmé",
  },
  nudged: (root, name, step, up, down, quotient, backprop) =>
    [
      `avec ${name} + ${step}, ${root} devient ${up}`,
      down === null ? "" : `avec ${name} - ${step}, ${down}`,
      `le quotient est ${quotient} ; la rétropropagation dit ${backprop}`,
    ]
      .filter(Boolean)
      .join(" ; "),
  noStep: (text) => `« ${text} » n’est pas un pas : écrivez un nombre positif comme 0.0001, ou laissez le champ vide.`,
  closed: "Tous les nœuds sont dans des parties fermées du graphe. Ouvrez une partie, ou choisissez un nœud, pour le vérifier.",
  others: (count) =>
    count === 1
      ? "1 autre nœud se trouve dans une partie fermée du graphe."
      : `${grouped(count)} autres nœuds se trouvent dans des parties fermées du graphe.`,
};

/** @type {typeof en.exercises} */
export const exercises = {
  title: "Exercices",
  how: "Toutes les valeurs sont connues. Calculez le gradient par la règle de dérivation en chaîne ; un pour cent d’écart est accepté. Vous pouvez écrire des produits comme 3*2.",
  answer: "Votre réponse",
  check: "Vérifier",
  hint: "Indice : une étape",
  next: "Question suivante",
  previous: "Précédente",
  forget: "Oublier mes progrès",
  file: "Résultats dans un fichier",
  code: "Code à remettre : ",
  noProof: ". Le code contient cinq nombres, pour les exercices et la leçon ensemble : questions, réponses justes, réponses justes au premier essai, réponses justes sans indice, et essais. Ses derniers caractères révèlent les fautes de frappe. Il peut être falsifié, donc il ne prouve rien.",
  question: (number, root, by) => `${number}. Que vaut ∂${root}/∂${by} ?`,
  noNumber: (text) =>
    text.trim() ? `« ${text} » n’est pas un nombre : écrivez-en un, comme -1.5, 1/3 ou 3*2.` : "Écrivez d’abord un nombre.",
  right: (root, by, gradient) => `Juste : ∂${root}/∂${by} = ${gradient}.`,
  score(alone, isOne) {
    if (!alone.length) return "Aucune question résolue pour l’instant.";
    const solved = `Questions résolues : ${alone.length}, dont ${alone.filter(Boolean).length} sans indice.`;
    return isOne ? `${solved} Celle-ci en fait partie.` : solved;
  },
};

/** @type {typeof en.links} */
export const links = {
  tooLong: (length, most) => `Le lien compte ${grouped(length)} caractères, et au plus ${grouped(most)} sont lus.`,
  senseless: (key, text) => `Le lien dit ${key}=${text.slice(0, 80)}, ce qui n’a pas de sens ici : laissé de côté.`,
  noNode: (name) => `Le lien sélectionne ${name}, et il n’y a pas de tel nœud.`,
};

/** @type {typeof en.share} */
export const share = {
  title: "Partager",
  link: "Lien",
  copy: "Copier le lien",
  copied: "Copié.",
  notCopied: "Le texte est sélectionné : copiez-le avec le clavier.",
  ofFile: "Cette page est un fichier sur votre ordinateur. Pour la partager, mettez le fichier sur un site, ou envoyez-le avec le lien. Remplacez ensuite la partie du lien qui précède le # par la nouvelle adresse du fichier.",
  start: "Commence",
  here: "là où tout en est",
  begin: "avec ce graphe, rien de connu",
  theirs: "au choix du lecteur",
  presented: "pour une salle : le graphe et la phrase remplissent l’écran",
  note: "Note au-dessus du graphe",
  question: "Votre propre question",
  answer: "Bonne réponse ; les autres après un point-virgule",
  noQuestion: "La question apparaît avec le graphe. Si vous donnez une bonne réponse, la page vérifie les réponses des élèves.",
  noAnswer: "Sans bonne réponse, la question est seulement montrée, pour en discuter.",
  keptAnswer: "La bonne réponse du lien que vous avez ouvert est conservée.",
  counts: (ways) => `Compte comme juste : ${ways.join(" ; ")}. Le lien ne montre pas la réponse, mais qui essaie toutes les réponses probables la trouve.`,
  exactly: (number) => `exactement ${number}`,
  rounded: (number) => `ce qui s’arrondit à ${number}`,
  word: (word) => `le texte « ${word} »`,
  embed: "Intégrer dans une page",
  snippet: "HTML",
  copySnippet: "Copier le HTML",
  src: "src doit être l’adresse de cette page : son adresse sur un site, ou son nom de fichier si le fichier est à côté de la page qui l’intègre.",
};

/** @type {typeof en.ask} */
export const ask = {
  title: "Question",
  answer: "Réponse à la question",
  check: "Vérifier",
  nothing: "Écrivez d’abord une réponse.",
  noNumber: (text) => `« ${text} » n’est pas un nombre : écrivez-en un comme -1.5, 1/3 ou 3*2.`,
  right: "Juste.",
  wrong: "Ce n’est pas juste. Essayez encore.",
};

/** @type {typeof en.paper} */
export const paper = { name: "Nom", answer: "Réponse" };

/** @type {typeof en.present} */
export const present = { leave: "Quitter (Échap)" };

/** @type {typeof en.files} */
export const files = {
  notJson: (reason) => `Ce n’est pas du JSON : ${reason}`,
  noVersion: "absente",
  version: (version, known) => `La version de ce parcours est ${version} ; seule la version ${known} peut être lue.`,
  noOrder: "L’ordre de ce parcours doit contenir une fois chaque nœud qui reçoit un gradient, et aucun autre nœud.",
  refused: (problem) =>
    `Le fichier ne peut pas être montré. ${problem}\nLes fichiers à ouvrir sont écrits par gradwalk walk --json, Walk.to_json() et Graph.to_json() ; d’un script, gradwalk walk --page fait une page.`,
};

// La leçon. Dans ses textes, `x` est du code, *x* est mis en relief, et $…$ est une formule, où [a/b] est une fraction et ^2
// un carré.

/** @type {typeof en.lesson} */
export const lesson = {
  title: "Leçon",
  lab: "Labo",
  views: "Leçon ou labo",
  chapters: {
    back: {
      title: "En avant, puis en arrière",
      beats: {
        start: "Un programme qui apprend a besoin de *gradients*. Un gradient dit à quelle vitesse un résultat change quand une entrée change. Dans quinze minutes, vous saurez comment un ordinateur les trouve. Voici notre premier programme : `f = (a + b)·c`.",
        forward: "D’abord, en avant. Chaque nœud se calcule à partir de ses *opérandes*, les nœuds qui mènent à lui : `e = a + b`, puis `f = e·c`. Le résultat est −10.",
        predict: {
          text: "Quand `a` augmente un peu, `f` change aussi. *Combien de fois plus vite que `a` ?*",
          right: "`a` a augmenté de 0.01, et `f` de 0.1 : dix fois plus. Le gradient de `a` est donc 10.",
          mistakes: {
            one: "`e` change aussi vite que `a`. Mais ensuite, `e` est multiplié par `c`.",
            change: "Quand `a` bouge de 0.01, `f` bouge de 0.1. C’est combien de fois plus vite ?",
            own: "2 est la valeur de `a`. À quelle vitesse `f` change-t-il ?",
            root: "−10 est la valeur de `f`. À quelle vitesse change-t-il ?",
          },
        },
        seed: "Maintenant, *en arrière*, pour trouver tous les gradients d’un coup. On part du résultat. `f` change exactement aussi vite que lui-même : son gradient est donc 1. Ce 1 est la *graine*.",
        flows: "La graine remonte par les traits du graphe, appelés arêtes. Chaque arête la multiplie par une *dérivée locale*. Quand `e` augmente de 1, `f` augmente de `c` = 10. Donc `e` reçoit 1 · 10. De même, `c` reçoit 1 · (−1).",
        sum: {
          text: "`e = a + b` a reçu 10. Quand `b` augmente de 1, `e` augmente de 1. *Quel est le gradient de `b` ?* (On l’écrit $[∂f/∂b]$.)",
          paper: "En arrière, la graine 1 part de `f`, et chaque arête la multiplie par sa dérivée locale. Donc `e = a + b` reçoit 1 · 10. Quand `b` augmente de 1, `e` augmente de 1. *Quel est le gradient de `b` ?* (On l’écrit $[∂f/∂b]$.)",
          right: "`b` reçoit 10 · 1, et `a` reçoit le 10 que vous aviez prédit.",
          mistakes: {
            one: "1 est la dérivée locale. Multipliez-la par 10, le gradient de `e`.",
            own: "−3 est la valeur de `b`. Dans une somme, les valeurs ne comptent pas.",
            beside: "Vous avez multiplié par la valeur de `a`. Mais `e` est une somme : à quelle vitesse augmente-t-elle quand `b` augmente ?",
          },
        },
      },
      recap: "Une seule passe arrière trouve tous les gradients.",
    },
    pattern: {
      title: "Ce qui se répète",
      beats: {
        again: "Un programme plus long : `e = a·b`, `d = e + c`, `L = d·f`. Regardez sa passe arrière. Le produit donne à chaque opérande ce qu’il a reçu, multiplié par la valeur de l’*autre*. La somme donne aux deux ce qu’elle a reçu, tel quel.",
        practice: {
          text: "C’est maintenant le tour de `e = a·b`. Son gradient est −2. *Quel est le gradient de `a` ?*",
          right: "`a` reçoit −3, la valeur de `b`, fois −2.",
          mistakes: {
            local: "−3 est la dérivée locale. Multipliez-la par −2, le gradient de `e`.",
            unswapped: "C’est le gradient de `b`. Un produit échange : `a` reçoit la valeur de `b`, fois −2.",
            copied: "Une somme copie. Mais `e = a·b` est un produit.",
          },
        },
      },
      recap: "Une somme copie. Un produit échange et multiplie.",
    },
    neuron: {
      title: "Un neurone",
      beats: {
        meet: "Les réseaux sont faits de neurones, et en voici un. Il multiplie chaque entrée `x` par un poids `w`, additionne les produits et un biais `b`, et fait passer la somme `n` par `tanh`. Seule l’opération `tanh` est nouvelle.",
        slope: "`tanh` ramène tout nombre entre −1 et 1. Sa dérivée locale est la *pente* de la courbe : 1 là où elle est la plus raide, presque 0 là où elle est plate. Déplacez `n` et regardez.",
        half: "Ici, la pente est 0.5. `o` a reçu 1, et *la moitié passe* jusqu’à `n`.",
        weight: {
          text: "Les sommes ont copié 0.5 jusqu’à `x1w1 = x1·w1`. *Quel est le gradient du poids `w1` ?*",
          right: "`w1` reçoit la valeur de `x1`, fois ce que le produit a reçu : 2 · 0.5.",
          mistakes: {
            upstream: "0.5 est ce que le produit a reçu. Multipliez ce nombre par la dérivée locale.",
            local: "2 est la dérivée locale. Multipliez-la par 0.5, ce que le produit a reçu.",
            unswapped: "C’est le gradient de `x1`. Un produit échange : `w1` reçoit la valeur de `x1`, fois 0.5.",
            own: "−3 est la valeur de `w1`. Un produit échange : `w1` reçoit la valeur de `x1`, fois 0.5.",
          },
        },
        zero: {
          text: "L’autre poids, `w2`, reçoit 0. *Pourquoi ?*",
          options: ["Son entrée `x2` vaut 0", "`w2` est trop petit", "`tanh` ne laisse rien passer"],
          feedback: [
            "Tant que `x2` vaut 0, changer `w2` ne change rien.",
            "La taille de `w2` ne compte pas ici. Un produit échange : que reçoit `w2` ?",
            "`tanh` a laissé passer la moitié du gradient, pour les deux poids.",
          ],
        },
      },
      recap: "tanh laisse passer une part du gradient : autant que sa pente.",
    },
    twice: {
      title: "Pourquoi +=",
      beats: {
        both: {
          text: "Dans `f = a·a`, deux arêtes mènent de `a` à `f`. *Quel est le gradient de `a` ?*",
          right: "Chaque arête apporte 3, et tout *s’additionne* : 3 + 3.",
          mistakes: {
            one: "3 est ce qu’apporte une arête. Il y en a deux.",
            value: "9 est la valeur de `f`. À quelle vitesse change-t-il ?",
          },
        },
        lost: "C’est pourquoi les programmes écrivent `+=`, qui ajoute à ce qui est là. Avec `=`, le second 3 *remplace* le premier, qui est perdu. Le gradient est la moitié de ce qu’il devrait être, et aucune erreur ne vous le dit.",
      },
      recap: "Là où des arêtes se rejoignent, les gradients s’additionnent : `+=`.",
    },
    order: {
      title: "À qui le tour ?",
      beats: {
        turns: "`a` sert deux fois, à `b` et à `c`. Les nœuds passent à tour de rôle. À son tour, un nœud transmet le gradient qu’il a reçu *jusque-là*. Il ne passe qu’une fois.",
        puzzle: {
          text: "*Dans quel ordre les nœuds doivent-ils passer ?* Choisissez-les un par un, puis lancez votre ordre.",
          paper: "*Dans quel ordre les nœuds doivent-ils passer ?* Écrivez leurs noms.",
          right: "6 et 9 sont arrivés à temps à `a` : 6 + 9 = 15.",
        },
        early: "Supposons que `b` passe avant `d`. Il n’a rien reçu, donc il transmet 0. Puis `d` envoie 6 à `b`, *trop tard* : `b` a déjà eu son tour. Le gradient de `a` est 9 au lieu de 15.",
        late: "Dans cet ordre, `a` attend `b` et `c`. Rien ne se perd.",
      },
      recap: "Un nœud passe après tous les nœuds qui l’utilisent.",
    },
    sort: {
      title: "L’ordre, en code",
      beats: {
        append: {
          text: "Comment un programme trouve-t-il cet ordre ? Il suit les arêtes du résultat vers les entrées, met chaque nœud dans une liste, puis lit la liste *à l’envers*. *Quand doit-il y mettre un nœud ?*",
          options: ["Dès qu’il l’atteint", "Après tous les opérandes du nœud", "Quand tout est fini"],
          feedback: [
            "Il atteint d’abord le résultat. Lue à l’envers, la liste finirait par le résultat, qui doit être le premier.",
            "Ainsi, dans la liste, les opérandes viennent avant les résultats. Lue à l’envers, c’est l’ordre que vous avez trouvé.",
            "Tous les nœuds y entreraient alors d’un coup, sans aucun ordre.",
          ],
        },
        search: "micrograd, une petite bibliothèque Python, fait ainsi. `append` vient après la boucle sur les opérandes. Les nombres sont les places dans la liste : c’est un *tri topologique*. `reversed` la lit de 4 à 1.",
      },
      recap: "Triez les nœuds, puis parcourez la liste à l’envers.",
    },
    now: {
      title: "Ce que vous savez faire",
      beats: {
        done: "Voilà la rétropropagation. Elle trouve tous les gradients d’un programme, et presque tous les réseaux de neurones apprennent avec elle. Continuez avec ce qui vous plaît :",
      },
      recap: "Partez de 1, multipliez le long de chaque arête, additionnez là où elles se rejoignent, et respectez l’ordre de passage.",
    },
    nudge: {
      title: "Ce que prédit un gradient",
      beats: {
        see: "Déplacez `a` : le point suit la droite, et les nombres des nœuds suivent aussi. `f` change toujours *10 fois* plus vite que `a`. C’est la pente de la droite, et c’est le gradient de `a`.",
        promise: {
          text: "Le gradient de `c` est −1. *Que fait `f` quand `c` passe de 10 à 10.1 ?*",
          options: ["Il baisse d’environ 0.1", "Il monte d’environ 0.1", "Il tombe à −1"],
          feedback: [
            "La variation est 0.1 fois −1.",
            "La grandeur est juste. Mais regardez le signe : avec un gradient négatif, `f` baisse quand `c` monte.",
            "−1 n’est pas la nouvelle valeur de `f`. C’est la vitesse à laquelle `f` change.",
          ],
        },
        kept: "Voyez vous-même : la droite descend. Chaque entrée a son propre gradient, et vous pouvez vérifier chacun de cette façon.",
      },
      recap: "Changez un peu une entrée : le résultat change de cette variation fois le gradient.",
    },
    saturation: {
      title: "Quand tanh s’aplatit",
      beats: {
        steepest: {
          text: "Déplacez `n` le long de la courbe. *Où la pente est-elle la plus grande, et combien vaut-elle ?*",
          options: ["Loin à droite : presque 1", "Au milieu : 1", "Elle est la même partout"],
          feedback: [
            "Loin à droite, c’est la *valeur* qui est presque 1. Mais la courbe y est plate : sa pente est presque 0.",
            "En 0, la pente vaut 1, et des deux côtés elle descend vers 0.",
            "Seule une droite a partout la même pente.",
          ],
        },
        slope: {
          text: "La pente a une formule qui utilise le résultat `o` : c’est $1 − o^2$. Ici, `o` vaut 0.7071. *Que vaut la pente ?*",
          right: "Le carré de `o` est 0.5, et 1 − 0.5 = 0.5. La moitié du gradient passe donc.",
          mistakes: {
            value: "C’est `o`. Prenez son carré, et soustrayez-le de 1.",
            unsquared: "C’est 1 − `o`. Prenez le carré de `o` avant de soustraire.",
          },
        },
        saturated: "Maintenant, le biais est 12. `o` vaut 0.99999, la courbe est plate, et *presque aucun gradient ne passe* : les gradients avant `tanh` sont presque 0. Le neurone est *saturé*. Il ne peut presque plus apprendre.",
        vanished: "Ce neurone devrait donner −0.8, et il donne presque 1. Sa perte `L`, le carré de l’erreur, est grande. Faites dix pas d’apprentissage : il ne se passe presque rien. Dans les réseaux profonds, beaucoup de facteurs comme celui-ci se multiplient, et le gradient *s’évanouit*.",
      },
      recap: "tanh multiplie un gradient par $1 − o^2$ : par 1 au milieu, par presque 0 là où la courbe est plate.",
    },
    paths: {
      title: "D’autres chemins, d’autres ordres",
      beats: {
        paths: {
          text: "`a` sert à `d = a·b` et à `e = a + b`, et `f = d·e`. `a` vaut −2 et `b` vaut 3. Le gradient de `d` est 1, et celui de `e` est −6. *Quel est le gradient de `a` ?*",
          right: "3 · 1 arrive par `d`, et 1 · (−6) arrive par `e`.",
          mistakes: {
            first: "3 arrive par `d`. Il manque ce qui arrive par `e`.",
            second: "−6 arrive par `e`. Il manque ce qui arrive par `d`.",
          },
        },
        met: "Deux chemins mènent de `a` au résultat. Multipliez le long de chaque chemin, et additionnez là où ils se rejoignent. Avec `=`, un chemin est perdu.",
        which: {
          text: "Un autre programme : `L = d·f`, `d = e + c`, `e = a·b`. *Lequel de ces ordres donne un gradient faux ?*",
          options: ["`L`, `f`, `d`, `c`, `e`, `b`, `a`", "`L`, `d`, `e`, `a`, `b`, `c`, `f`", "`L`, `e`, `d`, `a`, `b`, `c`, `f`"],
          feedback: [
            "Ici, chaque nœud passe après tous les nœuds qui l’utilisent. Les entrées comme `f` ne transmettent rien : elles peuvent passer tôt.",
            "Ici, chaque nœud passe après tous les nœuds qui l’utilisent. Un graphe peut avoir plusieurs ordres justes, et celui-ci en est un.",
            "`d` utilise `e`. Si `e` passe avant `d`, il n’a rien reçu, et il n’a rien à transmettre.",
          ],
        },
        early: "Ici, `c = a·b`, `d = c + a` et `e = d**2`, le carré de `d`. Mais `c` passe avant `d`. Il n’a rien reçu, donc il transmet 0. Le gradient de `a` est 16 au lieu de 64. (micrograd ajouterait tout de même à `c.grad` le 16 arrivé trop tard. Mais `a.grad` serait faux.)",
      },
      recap: "Un gradient est une somme sur tous les chemins. Un mauvais ordre en perd une partie.",
    },
    check: {
      title: "Faire confiance, et vérifier",
      beats: {
        quotient: {
          text: "Pouvez-vous faire confiance à un gradient ? Décalez un nœud et comparez. Ici, `a` est décalé de `h` = 0.0001. Avec `a` + `h`, `L` vaut −7.9994 ; avec `a` − `h`, il vaut −8.0006. *Divisez la variation de `L` par celle de `a` : que trouvez-vous ?*",
          right: "0.0012 / 0.0002 = 6. Ce quotient est le *taux d’accroissement*.",
          mistakes: {
            change: "C’est la variation de `L` d’un bout à l’autre. Divisez-la par celle de `a`.",
            half: "Prenez les deux bouts : `L` est passé de −8.0006 à −7.9994.",
            step: "`a` est passé de 2 − `h` à 2 + `h` : il a varié de 2 fois `h`.",
            up: "C’est la variation de `L` d’un seul côté. Divisez-la par celle de `a`.",
          },
        },
        drawn: "La rétropropagation a eu lieu aussi. Le nœud de la racine montre le quotient *à côté du gradient*, et les deux concordent. Choisissez un autre nœud : c’est lui qui est décalé. Changez ensuite `h`.",
        notice: {
          text: "Supposons que le code dise `=` là où il devrait dire `+=`. Ici, `a` sert deux fois, donc son gradient sera faux. *Le quotient le montrera-t-il ?*",
          options: ["Non : il sera faux de la même façon", "Seulement si `h` est assez petit", "Oui : il différera du gradient"],
          feedback: [
            "D’où vient le quotient ? Seulement de passes avant. Elles n’utilisent pas `+=`.",
            "Il manque au gradient une contribution entière. La différence se voit même si `h` n’est pas très petit.",
            "Le quotient vient de la passe avant seule, donc la faute ne le touche pas.",
          ],
        },
        caught: "La vérification a trouvé la faute : le gradient est 3, mais le quotient est −3. Ce que l’autre chemin apportait a été écrasé. Python n’a signalé aucune erreur : seule la vérification montre la faute. Changez `h` : le gradient reste faux.",
        bent: "À cause de `tanh`, `o` ne suit pas une droite. Avec `h` = 0.1, le quotient est inexact. Diminuez `h`, et regardez le quotient se rapprocher du gradient, −1.5.",
        small: {
          paper: "Avec `h` = 0.1, le quotient pour `x1` est −1.521 ; avec `h` = 0.01, il est −1.5002, et le gradient est −1.5. *Le plus petit `h` est-il donc le meilleur ?*",
          text: "Un `h` plus petit a amélioré le quotient. *Le plus petit `h` est-il donc le meilleur ?*",
          options: ["Oui, plus il est petit, mieux c’est", "Non : avec un `h` minuscule, le quotient est de nouveau moins bon", "À partir d’un certain point, `h` ne change plus rien"],
          feedback: [
            "Avec des nombres exacts, oui. Mais l’ordinateur garde environ 16 chiffres. Combien de chiffres justes reste-t-il quand on soustrait deux nombres presque égaux ?",
            "L’ordinateur garde environ 16 chiffres. La différence de deux nombres presque égaux n’a plus que quelques chiffres justes.",
            "Ce serait vrai si les nombres avaient une infinité de chiffres. L’ordinateur en garde environ 16.",
          ],
        },
        rounded: "À `h` = 1e-10, les derniers chiffres du quotient sont du bruit. (Ce bruit est normal pour un pas si petit : le verdict le tolère.) La courbe montre l’erreur pour chaque `h`. À droite, la fonction *se courbe*. À gauche, l’ordinateur *arrondit*. Le meilleur `h` est entre les deux.",
      },
      recap: "Le taux d’accroissement vérifie un gradient, mais il est lent et inexact. La rétropropagation est rapide, et exacte aux arrondis près.",
    },
    training: {
      title: "Apprendre",
      beats: {
        loss: "Un neurone donne la sortie `o`. La bonne sortie est `y`. Le carré de l’erreur est la *perte* `L`. Apprendre, c’est réduire la perte. Les gradients disent comment.",
        which: {
          text: "Le gradient de `w` est négatif. *Pour réduire `L`, que doit faire `w` ?*",
          options: ["Monter", "Descendre", "Rester"],
          feedback: [
            "Avec un gradient négatif, `L` baisse quand `w` monte. On change donc `w` *contre* le gradient.",
            "Alors `L` monterait : avec un gradient négatif, `w` et `L` varient en sens contraires.",
            "Ce ne serait juste que si le gradient était 0.",
          ],
        },
        descend: "Un pas, c’est `w −= rate · w.grad`, et de même pour `b`. Ici, rate est le taux d’apprentissage. `w` et `b` sont des *paramètres* : des nombres que l’apprentissage peut changer. C’est la *descente de gradient*. Faites dix pas, et regardez la perte.",
        rate: {
          paper: "Chaque paramètre fait donc de petits pas : `w −= rate · w.grad`, et de même pour `b`, avec `rate` = 0.1. *Et si le taux d’apprentissage est 25 fois plus grand ?*",
          text: "*Et si le taux d’apprentissage est 25 fois plus grand ?*",
          options: ["Le neurone apprend 25 fois plus vite", "Cela ne change rien", "Un pas peut sauter au-delà du minimum"],
          feedback: [
            "Un gradient ne prédit que l’effet de *petites* variations.",
            "Chaque pas serait 25 fois plus long.",
            "Un gradient ne prédit que l’effet de *petites* variations.",
          ],
        },
        large: "Faites un pas : `w` saute au-delà du minimum, là où `tanh` est plate. Presque aucun gradient n’y passe, et la perte reste où elle est.",
        again: {
          text: "`w.grad` contient encore le gradient de la dernière passe. *Que se passe-t-il si rien ne le remet à 0 avant la passe arrière suivante ?*",
          options: ["Le nouveau gradient le remplace", "Le nouveau gradient s’y ajoute", "Python signale une erreur"],
          feedback: [
            "Cela arriverait avec `=`. Mais le code dit `+=`.",
            "Le code dit `+=`. Les gradients des passes précédentes s’additionnent donc, sauf si `zero_grad()` les remet à 0.",
            "Python ne signale aucune erreur, et c’est pourquoi cette faute est si fréquente.",
          ],
        },
        unzeroed: "Sans `zero_grad()`, chaque pas suit la *somme de tous les gradients jusque-là*. Les pas deviennent donc plus grands, sautent au-delà du minimum, et oscillent. Activez et désactivez `zero_grad()`, et recommencez.",
      },
      recap: "Passe avant, `zero_grad`, passe arrière, un petit pas contre le gradient. Et on recommence.",
    },
    passes: {
      title: "Pourquoi en arrière ?",
      beats: {
        runs: {
          text: "Ce réseau a huit entrées et poids, et on veut le gradient de chacun. *Si vous les décalez un par un, combien de fois au moins le programme doit-il s’exécuter ?*",
          right: "Il s’exécute une fois sans décalage, et une fois pour chacun des huit.",
          mistakes: {
            plain: "Presque. Il faut une exécution de plus, sans décalage, pour comparer.",
            one: "Une exécution décale un nombre, et donne un gradient.",
            central: "Cela suffit pour décaler chaque nombre deux fois. Mais moins d’exécutions suffisent.",
          },
        },
        count: "Calculez les gradients des deux façons, et comptez les exécutions. Comparez aussi les gradients.",
        million: {
          text: "*Un réseau a un million de poids. Combien de passes arrière faut-il pour avoir tous leurs gradients ?*",
          options: ["Une", "Mille", "Un million"],
          feedback: [
            "C’est pour cela que l’on peut entraîner de grands réseaux.",
            "Une passe arrière visite chaque nœud une fois, quel que soit le nombre de poids.",
            "C’est ce que coûtent les décalages : une exécution par poids.",
          ],
        },
        once: "Un décalage mesure *une entrée à la fois*. La passe arrière part *du résultat, une seule fois*, et atteint chaque nœud. Chaque nœud additionne ce qu’il reçoit, et transmet la somme une seule fois. Ainsi, *aucune arête n’est parcourue deux fois*.",
      },
      recap: "Une passe arrière donne le gradient d’un résultat par rapport à chaque nœud.",
    },
    own: {
      title: "Vos propres données",
      beats: {
        expression: "Dans le labo, vous pouvez taper n’importe quelle expression, changer ses nombres, et parcourir ses gradients, en avant et en arrière. Commencez par celle-ci, ou tapez la vôtre.",
        points: "Vous pouvez aussi donner vos propres points à un réseau : cliquez dans le plan pour les ajouter, ou collez un tableau. Puis entraînez le réseau, et regardez bouger la frontière entre les deux classes.",
        program: "Et vous pouvez observer votre propre programme Python : `gradwalk walk --page script.py` montre chaque `backward()` du programme sur une page comme celle-ci. Ce graphe est la dernière partie d’un modèle de langage : softmax et sa perte.",
      },
      recap: "Tout ce que montre la leçon marche aussi avec vos nombres.",
    },
  },
  minutes: (count) => `${count} min`,
  minutesInAll: (count) => `Toute la leçon : ${count} min`,
  resume: (title) => `Reprendre à « ${title} »`,
  further: "Pour aller plus loin",
  answers: "Réponses",
  orderOr: (order) => `${order}, ou un autre ordre où chaque nœud passe après tous les nœuds qui l’utilisent`,
  contents: "Chapitres",
  next: "Continuer",
  nextChapter: "Chapitre suivant",
  back: "Retour",
  check: "Vérifier",
  show: "Montrez-moi",
  handIn: "Remettre vos réponses",
  answer: "Votre réponse",
  right: "Exact.",
  shown: (answer) => `C’est ${answer}.`,
  shownChoice: "C’est la réponse marquée.",
  beat: (beat, count) => `${beat} sur ${count}`,
  noNumber: exercises.noNumber,
  wrong: (answer) => `Pas ${answer}. Regardez encore le graphe, ou choisissez « Montrez-moi ».`,
  sign: "La grandeur est juste. Regardez le signe.",
};

/** @type {typeof en.figures} */
export const figures = {
  plot: (root, node) => `${root} en fonction de ${node}`,
  nudge: "Décalage",
  moved: (node, from, to) => `${node} : ${from} → ${to}`,
  quotient: (root, node, quotient) => `variation de ${root} / variation de ${node} = ${quotient}`,
  gradient: (gradient) => `gradient ${gradient}`,
  noQuotient: "aucune variation : pas de quotient",
  value: (name, number) => `${name} = ${number}`,
  slope: (slope) => `pente ${slope}`,
  adds: "avec +=",
  overwrites: "avec =",
  from: (giver) => `de ${giver}`,
  lateFrom: (giver) => `de ${giver}, trop tard`,
  comes: (name) => `Contributions à ${name}`,
  stepSearch: "Ligne suivante",
  restartSearch: "Depuis le début",
  code: "backward() de micrograd",
  step: "Un pas",
  steps: "Dix pas",
  restart: "Recommencer",
  zeroes: "zero_grad() avant chaque passe",
  rate: "taux",
  taken: (count) => `${grouped(count)} pas`,
  lab: "Ouvrir dans le labo",
  runNudges: "Tout décaler",
  runBackward: "Lancer la passe arrière",
  leaf: "feuille",
  nudges: "par décalages",
  backward: "par passe arrière",
  runs: (runs) => `${counted(runs, "exécution", "exécutions")} du programme`,
  oneBackward: "1 exécution, et 1 passe arrière",
};

// Ce qui se passe dans un parcours.

const ORDINALS = ["premier", "deuxième", "troisième"];

/** Une énumération devant laquelle « à » se répète. @param {readonly string[]} items */
const toEach = (items) => items.map((item) => `à ${item}`).join(" et ");

/** @type {typeof en.sentences} */
export const sentences = {
  forward: {
    given: (name, number) => `${name} est donné : ${number}`,
    counted: (name, symbol, operands, number) => `${name} = ${symbol} de ${counted(operands, "opérande", "opérandes")} = ${number}`,
  },
  seeded: (derivative) =>
    `${derivative} = 1 : le gradient de la racine par rapport à elle-même vaut 1. C’est la graine de la passe arrière.`,
  visited: {
    root: (name) => `${name} est la racine : son gradient vaut 1.`,
    leaf: (name, gradient) => `${name} est une feuille : elle garde son gradient ${gradient}.`,
    inner: (name, gradient) => `${name} a le gradient ${gradient}.`,
  },
  rules: {
    byHand: (symbol) => `${symbol} suit une règle faite à la main`,
    madeWith: (symbol) => `${symbol} a les dérivées locales données à sa création`,
    copiesToStart: (symbol) => `${symbol} copie vers sa valeur de départ`,
    copies: (symbol) => `${symbol} copie`,
    flips: (symbol) => `${symbol} change le signe`,
    swaps: (symbol) => `${symbol} échange et multiplie`,
    scales: (symbol) => `${symbol} multiplie`,
    holdsBack: (symbol) => `${symbol} retient`,
    letsThrough: (symbol) => `${symbol} laisse passer`,
    splits: (symbol) => `${symbol} est à égalité et partage`,
    hasGotNothing: (symbol) => `${symbol} n’a lui-même rien reçu`,
  },
  gets: {
    all: (name, upstream) => `${name} reçoit le gradient amont ${upstream} tel quel`,
    nothing: (name, upstream) => `${name} ne reçoit rien du gradient amont ${upstream}`,
    nothingAtAll: (name) => `${name} ne reçoit rien`,
    scaled: (name, upstream, factor, amount) =>
      `${name} reçoit le gradient amont ${upstream} multiplié par ${factor}, soit ${amount}`,
  },
  kept: {
    stopped: (symbol, names) => `${symbol} ne transmet rien ${toEach(names)}.`,
    flat: (symbol, positions, names) => {
      const ordinals = listed(positions.map((i) => ORDINALS[i]));
      const where = positions.length ? ` en son ${ordinals} opérande` : "";
      return `${symbol} est constant par morceaux${where} : rien n’est transmis ${toEach(names)}.`;
    },
  },
  factors: {
    constant: (number) => `la constante ${number}`,
    valueOf: (name, number) => `la valeur ${number} de ${name}`,
    ownValue: (name, number) => `la valeur ${number} de ${name} même`,
    formula: (formula, number) => `${formula} (${number})`,
    beside: (operand) => `l’autre facteur, opérande ${operand}`,
  },
  received: {
    late: ", mais trop tard : ce nœud a déjà été visité",
    overwrites: (before) => `, qui écrase ${before}`,
    onTop: (before, after) => `, qui s’ajoute à ${before} : ${after} en tout`,
  },
  applied: (rule, clauses) => `${rule} : ${clauses.join(" ; ")}`,
  losses: {
    wrong: (name, got, right) => `${name} reçoit ${got} et devrait recevoir ${right}.`,
    late: (giver, amount, taker, because) =>
      `La contribution ${amount} de ${giver} à ${taker} est arrivée trop tard : ${because}`,
    lost: (giver, amount, taker, because) => `La contribution ${amount} de ${giver} à ${taker} a été perdue : ${because}`,
    visitedAfter: (giver, taker) => `${giver} a été visité après ${taker}`,
    writtenOver: (giver, amount) => `la contribution ${amount} de ${giver} l’a écrasée`,
    passedOn: (name, amount, derivative, number, missing) =>
      ` ; il manque donc au gradient de ${name} la part ${amount} fois ${derivative} ${number} = ${missing}`,
    more: (count) => ` Et ${grouped(count)} de plus.`,
  },
};

/** @type {typeof en.modules} */
export const modules = {
  nodes: (first, last) => `nœuds ${first} à ${last}`,
  modules: (first, last) => `${first} à ${last}`,
  repetition: (kind, number, count) => `${{ samples: "exemple", steps: "étape" }[kind] ?? "terme"} ${number} sur ${count}`,
  repetitions: (kind, first, last) => `${{ samples: "exemples", steps: "étapes" }[kind] ?? "termes"} ${first} à ${last}`,
};

/** @type {Readonly<Record<string, string>>} */
const OPERATIONS = {
  add: "somme",
  sub: "différence",
  mul: "produit",
  div: "quotient",
  pow: "puissance",
  neg: "opposé",
  abs: "valeur absolue",
  exp: "exponentielle",
  expm1: "exp(x) - 1, précis près de 0",
  exp2: "2 à la puissance x",
  log: "logarithme naturel",
  log2: "logarithme de base 2",
  log10: "logarithme de base 10",
  log1p: "log(1 + x), précis près de 0",
  sqrt: "racine carrée",
  cbrt: "racine cubique, aussi des nombres négatifs",
  log1mexp: "log(1 - exp(x)), précis pour tout x < 0",
  sin: "sinus d’un angle en radians",
  cos: "cosinus d’un angle en radians",
  tan: "tangente d’un angle en radians",
  asin: "arc sinus, en radians",
  acos: "arc cosinus, en radians",
  atan: "arc tangente, en radians",
  sinh: "sinus hyperbolique",
  cosh: "cosinus hyperbolique",
  tanh: "tangente hyperbolique",
  asinh: "argument sinus hyperbolique",
  acosh: "argument cosinus hyperbolique",
  atanh: "argument tangente hyperbolique",
  sinc: "sin(π · x) / (π · x), et 1 en 0",
  sigmoid: "1 / (1 + exp(-x))",
  relu: "x là où il est positif, sinon 0",
  softplus: "log(1 + exp(x))",
  silu: "x · sigmoid(x), aussi appelé swish",
  gelu: "x · norm_cdf(x), exact et non par tanh",
  erf: "fonction d’erreur",
  erfc: "1 - erf(x), précis pour les grands x",
  erfcx: "exp(x²) · erfc(x), sans soupassement",
  norm_pdf: "densité de la loi normale",
  norm_cdf: "fonction de répartition de la loi normale",
  norm_ppf: "quantile de la loi normale : la réciproque de norm_cdf",
  gamma: "fonction gamma",
  lgamma: "logarithme de la valeur absolue de la fonction gamma",
  digamma: "dérivée de lgamma",
  trigamma: "dérivée de digamma",
  atan2: "angle du point d’ordonnée x et d’abscisse y, en radians",
  hypot: "longueur du vecteur (x, y)",
  maximum: "le plus grand des deux ; nan si l’un l’est",
  minimum: "le plus petit des deux ; nan si l’un l’est",
  where: "y là où x n’est pas nul, sinon z",
  sign: "-1, 0 ou 1 selon le signe de x",
  floor: "plus grand entier jusqu’à x",
  ceil: "plus petit entier à partir de x",
  trunc: "x sans sa partie fractionnaire",
  rint: "entier le plus proche ; de deux, celui qui est pair",
  less: "1 là où x < y, sinon 0",
  less_equal: "1 là où x <= y, sinon 0",
  equal: "1 là où x et y sont égaux, sinon 0",
  floor_divide: "quotient arrondi vers le bas",
  mod: "reste de x / y arrondi vers le bas, avec le signe de y",
  fmod: "reste de x / y arrondi vers 0, avec le signe de x",
  remainder: "reste de x / y arrondi à l’entier le plus proche (de deux, celui qui est pair)",
  fmax: "le plus grand des deux ; l’autre si l’un est nan",
  fmin: "le plus petit des deux ; l’autre si l’un est nan",
  copysign: "valeur absolue de x avec le signe de y",
  logaddexp: "log(exp(x) + exp(y))",
  stop_gradient: "x lui-même, et aucun gradient ne passe",
  sumprod: "départ + p[0]·q[0] + p[1]·q[1] + ..., additionnés dans cet ordre",
  take: "le nombre d’un tableau que désigne un indice",
};

/** @type {Readonly<Record<string, string>>} */
const TAKES = { "an odd number of": "un nombre impair", "at least two": "au moins deux" };

/** @type {typeof en.operations} */
export const operations = {
  words: (name, words) => OPERATIONS[name] ?? words,
  takes: (words) => TAKES[words],
};

// Ce qui est dit d’un graphe ou d’une expression qui n’a pas de sens : ce qui était donné, ce qui était attendu, et comment
// y remédier.

/** @type {typeof en.graphErrors} */
export const graphErrors = {
  notAGraph: 'ce n’est pas un graphe : il n’a pas "gradwalk": "graph"',
  noOutput: "le graphe n’a pas de sortie",
  theGraph: "le graphe",
  anOutput: "une sortie",
  aList: (length) => `une liste de longueur ${length}`,
  missing: "non indiqué",
  otherVersion: (given, one, other) => `la version de ce graphe est ${given} ; seules les versions ${one} et ${other} peuvent être lues`,
  badColumn: (key) => `la colonne ${key} du graphe est abîmée, ou celle d’un autre graphe`,
  severalOutputs: (count, names) => `il faut ici un graphe à une racine, et celui-ci en a ${count} : ${names}`,
  outputOutside: (place, count) => `une sortie est celle du nœud ${place}, et il n’y a que ${counted(count, "nœud", "nœuds")}`,
  unknownKey: (where, key, known) => `${where} a « ${key} » ; sont connus : ${known.join(", ")}`,
  noList: (where, key) => `${where} n’a pas de liste « ${key} »`,
  nodeAt: (place) => `le nœud ${place}`,
  notAnObject: (where, given) => `${where} est ${given}, et non un objet`,
  operationAndSymbol: (where) =>
    `${where} a à la fois une opération de la table et le symbole d’une opération faite à la main`,
  unknownOperation: (where, given) => `${where} a l’opération inconnue ${given}`,
  unequalLists: (where, operands, partials) =>
    `${where} a ${counted(operands, "opérande", "opérandes")} et ${counted(partials, "dérivée partielle", "dérivées partielles")}`,
  miscounted: (where, operation, takes, given) =>
    `${where} (${operation}) prend ${takes} ${takes === "un nombre impair" ? "d’opérandes" : takes === 1 ? "opérande" : "opérandes"}, et non ${given}`,
  noOperation: (where, given) => `${where} a des opérandes (${given}) mais pas d’opération`,
  notEarlier: (where, operand) => `${where} a pour opérande le nœud ${operand}, qui ne le précède pas`,
  constantWithPartial: (where, given) => `dans ${where}, une constante a la dérivée partielle ${given}, et non null`,
  badByHand: (where, given) => `dans ${where}, by_hand est ${given}, et ne peut être que true`,
  empty: (what) => `${what} est vide : il vaut mieux l’omettre`,
  badSource: (where, given) => `dans ${where}, la source est ${given}, et non un fichier et une ligne`,
  longText: (where, letters, most) => `dans ${where}, le texte a ${letters} caractères, et au plus ${most} sont lus`,
  notAPlace: (what, given) => `${what} est ${given}, et non le numéro d’un nœud`,
  notANumber: (what, given) => `${what} est ${given}, et non un nombre`,
  tooLarge: (what) => `${what} : trop grand pour un nombre à virgule flottante`,
  notAText: (what, given) => `${what} est ${given}, et non un texte`,
  partOf: (part, where) => `dans ${where}, ${part}`,
  parts: {
    data: "la valeur",
    gradient: "le gradient",
    label: "le nom",
    scope: "la portée",
    symbol: "le symbole",
    line: "la ligne",
    file: "le fichier",
    text: "le texte",
    operand: "un opérande",
    partial: "une dérivée partielle",
    constant: "une constante",
  },
  madeByHand: (name, byHand) =>
    `${name} a été fait ${byHand ? "à la main" : "avec ses dérivées"} : on ne sait pas comment il se calcule, et ce dont il est fait ne peut donc pas changer`,
};

const CALLS = "appelez les fonctions par leur seul nom, comme dans exp(x)";

const either = new Intl.ListFormat("fr", { type: "disjunction" });

/** @type {typeof en.expressionErrors} */
export const expressionErrors = {
  syntax: {
    empty: { problem: "l’expression est vide", hint: "écrivez-en une, comme tanh(x*w + b)" },
    unused: {
      problem: "le résultat de cette partie n’est pas utilisé",
      hint: "donnez-lui un nom, comme dans e = a + b, et utilisez-le",
    },
    tooLarge: { problem: "cet entier est trop grand pour un nombre à virgule flottante" },
    chained: {
      problem: "les comparaisons ne s’enchaînent pas",
      hint: "comparez deux fois et multipliez, comme dans (0 < x) * (x < 1)",
    },
    comma: { problem: "erreur de syntaxe : une virgule ne peut être qu’entre des arguments" },
    unmatched: { problem: "erreur de syntaxe : cette « ) » ne ferme rien" },
    neverClosed: { problem: "erreur de syntaxe : cette « ( » n’est jamais fermée" },
    notArithmetic: {
      problem: "ce n’est pas de l’arithmétique",
      hint: "il y a des nombres, des noms, + - * / // % **, un de < <= > >=, des parenthèses et des fonctions comme exp(x)",
    },
    star: { problem: "* ne peut pas précéder un argument ici" },
    noOperand: { problem: "erreur de syntaxe : il manque un nombre ou un nom" },
    noOperator: {
      problem: "erreur de syntaxe : il manque un opérateur",
      hint: "écrivez * pour un produit, et des parenthèses pour une fonction, comme dans 2*exp(x)",
    },
    caret: { problem: "^ n’est pas une opération ici", hint: "pour une puissance, écrivez **" },
    notAFunction: {
      problem: "dans une expression, seules les fonctions s’appellent, par leur nom",
      hint: `${CALLS} ; pour un produit, écrivez *`,
    },
    noName: {
      problem: "erreur de syntaxe : seule une partie peut recevoir un nom",
      hint: "comme dans e = a + b; f = e*c",
    },
  },
  attribute: (attribute) => ({
    problem: `les attributs comme ${attribute} n’ont pas leur place dans une expression`,
    hint: CALLS,
  }),
  notReal: (text) => ({ problem: `${text} n’est pas un nombre réel` }),
  unknownFunction: (name, close) => ({
    problem: `fonction inconnue « ${name} »`,
    hint: close.length ? `vouliez-vous dire ${either.format(close)} ?` : "les fonctions portent les noms du module math de Python, comme exp, log ou tanh",
  }),
  arity: (name, takes, given, canNest) => ({
    problem: `${name}() prend ${takes} ${takes === 1 ? "argument" : "arguments"}, et non ${given}`,
    hint: canNest && given > 2 ? `pour davantage, imbriquez les appels : ${name}(${name}(x, y), z)` : undefined,
  }),
  namedArgument: (name) => ({ problem: `${name}() ne prend pas d’arguments nommés` }),
  madeTwice: (name) => ({ problem: `« ${name} » est défini deux fois`, hint: "donnez un autre nom à l’un des deux" }),
  usedBefore: (name) => ({
    problem: `« ${name} » est utilisé avant d’être défini`,
    hint: "un nom se définit une fois, avant de servir",
  }),
  numbersAlone: (name) => ({
    problem: `« ${name} » n’est fait que de nombres`,
    hint: `supprimez cette partie, et donnez sa valeur à ${name} comme aux autres noms`,
  }),
  anotherName: (name, other) => ({
    problem: `« ${name} » ne serait qu’un autre nom de « ${other} »`,
    hint: `utilisez ${other} directement`,
  }),
  noValue: (name, suggested) => ({
    problem: `aucune valeur n’est donnée pour le nom « ${name} »`,
    hint: `donnez-lui-en une : ${name}=${suggested}`,
  }),
  madeItself: (name, value) => ({ problem: `${name}=${value} est donné, mais le programme calcule ${name} lui-même` }),
  noSuchName: (name, value, known) => ({
    problem: `${name}=${value} est donné, mais l’expression n’a pas « ${name} » ; elle a : ${known || "aucun nom"}`,
  }),
};

/** @type {typeof en.training} */
export const training = {
  title: "Descente de gradient",
  intro: (root) =>
    `Chaque pas fait une passe avant et une passe arrière. Puis il pose p = p − taux · p.grad pour chaque paramètre p. Le but est de faire baisser ${root}.`,
  noLoss: (root) => `D’après son nom, ${root} n’est pas une perte. Il est réduit quand même, sous 0 si c’est possible.`,
  introOver: (root, count) =>
    `La perte est la moyenne de ${root} sur ${counted(count, "point", "points")} ; le graphe en montre un. Un pas : p = p − taux · p.grad pour chaque paramètre p.`,
  subject: "Apprendre de",
  subjects: {
    graph: "du graphe affiché",
    chain: "une chaîne de six tanh à grands poids",
    moons: "deux lunes",
    circles: "des cercles",
    xor: "quatre carrés (xor)",
    blobs: "deux nuages",
    own: "vos propres points",
  },
  rate: "Taux d’apprentissage",
  smaller: "÷3 : un tiers du taux",
  larger: "×3 : trois fois le taux",
  noRate: (text) => `« ${text} » n’est pas un taux d’apprentissage : écrivez un nombre positif comme 0.1.`,
  step: "Un pas",
  run: "Lancer",
  pause: "Pause",
  reset: "Réinitialiser",
  speed: "Vitesse de l’entraînement",
  speeds: transport.speeds,
  zeroed: "zero_grad avant chaque passe",
  zeroedNote: "Chaque passe commence au gradient 0.",
  keptNote: "Rien ne remet les gradients à 0 : chaque passe ajoute ses gradients à ceux des passes précédentes.",
  start: "Aucun pas n’a été fait.",
  stepped: (count, root, before, after) => `Pas ${count} : ${root} passe de ${before} à ${after}.`,
  meanOf: (root, count) => `la moyenne de ${root} sur ${counted(count, "point", "points")}`,
  moved: (name, before, rate, gradient, after) => `${name} : ${before} − ${rate} · ${gradient} = ${after}`,
  added: (name, stored, fresh, gradient) => `${name}.grad contenait ${stored}, la passe ajoute ${fresh} : ${gradient}`,
  others: (count) => `et ${grouped(count)} de plus, ci-dessous`,
  onTop: (stored, gradient) => `Les gradients des passes précédentes, ${stored}, sont encore là : ${gradient} en tout.`,
  lost: (root) =>
    `${root} n’est plus un nombre qui puisse baisser : le taux d’apprentissage est trop grand. Réinitialisez, et essayez-en un plus petit.`,
  noParameters: "Aucun paramètre n’est choisi : un pas ne change rien.",
  noPoints: "Il n’y a pas encore de points : cliquez dans le plan de x1 et x2, ou collez des points.",
  parameters: "Paramètres",
  columns: ["apprendre", "valeur", "gradient"],
  learn: (name) => `apprendre ${name}`,
  more: (count) => (count === 1 ? "Et 1 autre feuille." : `Et ${grouped(count)} autres feuilles.`),
  all: "Tous",
  none: "Aucun",
  usual: "Les habituels",
  curve: {
    title: "Perte par pas",
    log: "logarithmique",
    steps: "pas",
    empty: "La perte par pas s’affichera ici.",
    at: (step, loss) => `pas ${step} : ${loss}`,
    summary: (first, last, before, after) => `Perte du pas ${first} au pas ${last} : de ${before} à ${after}`,
    changed: (step, rate) => `taux ${rate} à partir du pas ${step}`,
  },
  flow: {
    title: "Combien de gradient arrive",
    intro: "Chaque barre est la grandeur moyenne des gradients qui traversent, en remontant, le même nombre de fonctions. L’échelle est logarithmique.",
    layer: (count, names, more) =>
      `${names.join(", ")}${more ? ` et ${more} de plus` : ""} : ${count === 0 ? "à travers aucune fonction" : `à travers ${counted(count, "fonction", "fonctions")}`}`,
    local: (local) => `la dernière fonction multiplie le gradient par ${local} en moyenne`,
    vanishes: (ratio) => `Le gradient moyen de la couche la plus éloignée est ${ratio} fois celui de la couche la plus proche.`,
  },
  points: {
    title: "Points",
    network: "Réseau",
    sizes: (hidden) => `2-${[...hidden, 1].join("-")}${hidden.length ? "" : " (sans couche cachée)"}`,
    activation: "Fonction",
    loss: "Perte",
    losses: { square: "quadratique", hinge: "charnière" },
    own: "un graphe à vous",
    others: "D’autres points et poids",
    accuracy: (right, count, share, loss) => `Exactitude ${share} (${right} sur ${count}), perte ${loss}`,
    field: (right, count) =>
      `Le plan de x1 et x2 avec ${counted(count, "point", "points")}, dont ${right} du bon côté de la ligne où la sortie vaut 0`,
    classes: { one: "classe 1", other: "classe -1" },
    click: "Un clic",
    clicks: { show: "montre un point", one: "ajoute la classe 1", other: "ajoute la classe -1" },
    shown: "Point dans le graphe",
    point: (x1, x2, y, output) => `x1 = ${x1}, x2 = ${x2}, classe ${y} ; sortie ${output}`,
    none: "Sélectionnez un point : il apparaît alors dans le graphe, pour être parcouru.",
    byHand: "Vos propres points",
    hint: "Des lignes x1,x2,y avec y = 1 ou -1 (ou 1 et 0). Virgules, points-virgules ou tabulations ; un en-tête si vous voulez.",
    text: "Points sous forme de texte",
    use: "Utiliser ces points",
    open: "Ouvrir un fichier CSV",
    add: "Ajouter",
    class: "classe",
    undo: "Retirer le dernier",
    clear: "Tout retirer",
    scale: "Les ramener à une moyenne de 0 et un écart type de 1",
    scaleNote: "Certaines coordonnées sont grandes : un petit réseau apprend mieux de points ramenés à l’échelle.",
    used: (count) => (count === 1 ? "1 point est lu." : `${grouped(count)} points sont lus.`),
    full: (most) => `Il y a ${most} points, et on n’en prend pas plus.`,
    unlinked: (most) => `Un lien a de la place pour ${most} points : ceux-ci restent sur cette page seulement.`,
    noCoordinate: (name, text) => `« ${text} » n’est pas un nombre pour ${name} : écrivez-en un, comme -0.5.`,
  },
  csv: {
    empty: "Il n’y a pas de points dans le texte : écrivez des lignes comme 0.5,-1.2,1.",
    width: (line, width) => `La ligne ${line} a ${counted(width, "valeur", "valeurs")}, et il en fallait 3 : x1, x2, y.`,
    noNumber: (line, name, text) => `Ligne ${line} : ${name} est « ${text.slice(0, 40)} », et il fallait un nombre, comme -0.5.`,
    noClass: (line, text) => `Ligne ${line} : y est « ${text.slice(0, 40)} », et il fallait 1 ou -1, ou bien 1 ou 0.`,
    header: (names) =>
      `L’en-tête a ${names.map((name) => `« ${name.slice(0, 40)} »`).join(", ")}, et il fallait x1, x2 et y.`,
    threeClasses: "La colonne y a 1, 0 et -1, et il fallait deux classes : 1 et -1, ou 1 et 0.",
    tooMany: (count, most) => `Cela fait ${grouped(count)} points, et on en prend au plus ${grouped(most)}.`,
    more: (count) =>
      count === 1 ? "Et 1 autre ligne à problème." : `Et ${grouped(count)} autres lignes à problème.`,
  },
};

/** @type {typeof en.cell} */
export const cell = {
  title: "Python",
  toggle: "Écrire un programme en Python",
  program: "Programme en Python",
  run: "Exécuter",
  runKey: "Exécuter (Ctrl ou Maj avec Entrée)",
  stop: "Arrêter",
  examples: "Exemples",
  example: "un exemple…",
  names: { neuron: "un neurone", loop: "une boucle d’apprentissage", twice: "un gradient qui n’a pas été remis à zéro", function: "beaucoup d’exemples avec vmap" },
  output: "Ce que le programme a affiché",
  loading: "Chargement de Python…",
  ready: "Python est prêt.",
  running: "Le programme s’exécute…",
  stopped: "Le programme a été arrêté.",
  shown: "Le programme est allé jusqu’au bout. Son graphe est en dessous.",
  nothing: "Le programme est allé jusqu’au bout sans créer de Value à parcourir : appelez backward(), ou terminez par une Value.",
  wrongLine: (line) => `Il y a une erreur à la ligne ${line}.`,
  wrong: "Il y a une erreur.",
  failed: (problem) => `Python n’a pas pu être chargé : ${problem}`,
  ended: (problem) => `Python lui-même s’est arrêté avec ce programme, et est rechargé : ${problem}`,
};
