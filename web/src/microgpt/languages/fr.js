// Tous les textes de la page microgpt, en français.

/** @import { en } from "./en.js" */

/** @param {number} number @param {string} letter @param {boolean} [isEnd] */
const letterOf = (number, letter, isEnd = false) => {
  if (isEnd) return "la fin";
  return number ? `la lettre ${number}, « ${letter} »` : "le début";
};

/** @param {string} letters */
const listed = (letters) => [...letters].map((letter) => `« ${letter} »`).join(", ");

/** @type {typeof en} */
export const fr = {
  title: "microgpt",
  promise: "chaque scalaire est visible",
  page: "microgpt : chaque scalaire est visible · gradwalk",
  contents: "Sur cette page",
  sections: { train: "Apprendre", tokens: "Un nom", embedding: "Plongement", attention: "Attention", neurons: "Neurones", prediction: "Prédiction", weights: "Tous les poids" },
  menu: "Menu",
  theme: "Couleurs",
  themes: { auto: "comme le système", light: "clair", dark: "sombre" },
  loading: "Ouverture du programme enregistré…",
  broken: (text) => `Quelque chose s’est mal passé : ${text}`,

  transport: {
    title: "Entraînement",
    train: "Entraîner",
    pause: "Pause",
    step: "Une étape",
    back: "Une étape en arrière",
    restart: "Recommencer",
    at: (step, steps) => `étape ${step} sur ${steps}`,
    loss: (loss) => `perte ${loss}`,
    speed: "Vitesse",
    pace: (pace) => (pace ? `${pace} ${pace === 1 ? "étape" : "étapes"}/s` : "au plus vite"),
    catching: (step) => `entraînement jusqu’à l’étape ${step}, où mène le lien…`,
    shows: "Les cases montrent",
    kinds: { data: "valeurs", grad: "gradients" },
  },

  train: {
    heading: "Un GPT apprend des noms",
    intro: "Voici un GPT entier, assez petit pour que l’on voie chacun de ses *4 192 nombres*. Il apprend comment s’écrivent les noms : à chaque étape, il lit un nom et apprend à prédire chaque lettre à partir des précédentes. Appuyez sur *Entraîner* : la perte baisse, et ce qu’il écrit ressemble de plus en plus à des noms.",
    names: "Noms à apprendre",
    hint: "Un nom a au plus 15 lettres, de a à z. Séparez les noms par des espaces, des virgules ou des retours à la ligne. Vos noms remplacent les noms donnés.",
    use: "Utiliser ces noms",
    given: "Revenir aux noms donnés",
    count: (count) => (count === 1 ? "Il apprend à partir de 1 nom." : `Il apprend à partir de ${count.toLocaleString("fr")} noms.`),
    unused: "Vous avez changé les noms. Si vous les utilisez, l’entraînement recommence depuis le début.",
    more: (count) => `… et ${count} autres problèmes de ce genre.`,
    problem: ({ kind, name, letters, used }) => {
      if (kind === "empty") return "Il n’y a aucun nom à apprendre : écrivez au moins un nom avec des lettres de a à z.";
      if (kind === "long") return `« ${name} » est trop long : on lit « ${used} ».`;
      return `« ${name} » est laissé de côté : il contient ${listed(letters)}, et seules les lettres de a à z sont permises.`;
    },
  },

  curve: {
    title: "Perte par étape",
    name: "Étape de l’entraînement",
    hint: "Faites glisser, ou utilisez les flèches, pour revenir.",
    to: "Étape",
    go: "Aller",
    chance: "au hasard",
    dots: "un point : une étape",
    mean: (count) => `ligne : moyenne de ${count} étapes`,
    none: "Aucune étape n’a encore eu lieu.",
    at: (step, isTaken, loss, mean) => `étape ${step} : ${isTaken ? "" : "dernière "}perte ${loss}, moyenne ${mean}`,
  },

  samples: {
    title: "Noms qu’il écrit",
    more: "En écrire cinq",
    temperature: "Température",
    warmth: (number) => `${number} : ${Number(number) < 0.4 ? "prudent" : Number(number) > 0.9 ? "fou" : "équilibré"}`,
    isNew: "nouveau",
    isKnown: "dans les données",
    counted: (known, fresh) => `Sur ces ${known + fresh} noms, ${known} ${known < 2 ? "est" : "sont"} dans les données et ${fresh} ${fresh < 2 ? "est nouveau" : "sont nouveaux"}.`,
    memorized: (count, mean) =>
      `*Il a appris par cœur* ${count === 1 ? "le nom" : `au moins une partie des ${count} noms`} : sa perte moyenne est de ${mean}. Entraîné sur 5 163 noms, ce modèle a une perte de 2.1 sur des noms qu’il n’a pas lus. Donnez-lui plus de noms, et il devra apprendre comment ils s’écrivent.`,
    at: (step) => `étape ${step}`,
    nothing: "(rien)",
  },

  tokens: {
    heading: "Ouvrez-le sur un nom",
    intro: "Le modèle lit un nom de gauche à droite et prédit chaque lettre à partir des lettres qui la précèdent. Choisissez *la lettre qu’il prédit*. Toutes les images plus bas montrent cette prédiction.",
    name: "Un nom à regarder",
    open: "Ouvrir",
    places: "La lettre prédite",
    number: (place, isEnd) => (isEnd ? "fin" : String(place + 1)),
    choice: (place, letter, isEnd, share) => `${letterOf(place + 1, letter, isEnd)} : ${share}`,
    told: (read, place, letter, isEnd, share) =>
      `${read ? `Il a lu « ${read} »` : "Il n’a encore rien lu"}, et prédit la suite. La bonne réponse est ${letterOf(place + 1, letter, isEnd)}, et le modèle lui donne la probabilité *${share}*.`,
    refused: ({ kind, letters, used }) => {
      if (kind === "empty") return "Écrivez un nom.";
      if (kind === "long") return `Le nom est trop long : seul « ${used} » tient.`;
      return `Seules les lettres de a à z sont permises, pas ${listed(letters)}.`;
    },
  },

  cells: {
    help: "Les flèches déplacent, Entrée ouvre un nombre.",
    at: (what, data, grad) => `${what} : valeur ${data}, gradient ${grad}`,
    hint: "Pointez une case pour la lire ; cliquez dessus, ou appuyez sur Entrée, pour l’ouvrir.",
    shares: "part",
    scale: { data: "valeur", grad: "gradient" },
    negative: "les cases avec un trait sont négatives",
  },

  embedding: {
    heading: "Les lettres deviennent des nombres",
    intro: "Le modèle a 16 nombres pour chaque lettre, et 16 nombres pour chaque place dans un nom. Il additionne les nombres d’une lettre et de sa place, et ramène toutes les sommes à la même taille. On obtient *une ligne pour chaque lettre lue*.",
    pictures: { letters: "sa lettre", places: "sa place", sums: "somme, ajustée" },
    letter: (letter, i) => `nombre ${i + 1} : ${letter ? `« ${letter} »` : "le début"}`,
    place: (place, i) => `nombre ${i + 1} de la place ${place + 1}`,
    sum: (place, letter, i) => `nombre ${i + 1} après la somme : ${letterOf(place, letter)}`,
  },

  attention: {
    heading: "Quatre têtes regardent en arrière",
    intro: "Pour prédire une lettre, chaque tête regarde les lettres déjà lues. *Un poids entre 0 et 1 dit combien elle regarde chacune d’elles*. La somme des poids d’une ligne est 1.",
    axes: "Lignes : la lettre prédite. Colonnes : la lettre regardée. Arcs : la ligne marquée ; un arc plus épais est un poids plus grand.",
    head: (head) => `Tête ${head + 1}`,
    weight: (head, place, target, isEnd, seen, letter) => `La tête ${head + 1}, qui prédit ${letterOf(place + 1, target, isEnd)}, regarde ${letterOf(seen, letter)}`,
    told: (head, place, isEnd, name, seen, letter, share) =>
      `La tête ${head + 1}, qui prédit ${isEnd ? "la fin" : `la lettre ${place + 1}`} de « ${name} », regarde surtout *${letterOf(seen, letter)}* (${share})`,
    ofLetters: (seen, letter, share) => `, et parmi les lettres surtout *${letterOf(seen, letter)}* (${share})`,
    only: (head) => `La tête ${head + 1} n’a que le début à regarder.`,
    inside: "Comment une tête choisit où regarder",
    why: "La tête calcule une *requête* (query) pour la prédiction, et une *clé* (key) et des *valeurs* (values) pour chaque lettre lue. Là où une clé ressemble à la requête, le score est élevé. Softmax transforme les scores en poids. Le résultat est la somme pondérée des valeurs des lettres.",
    parts: { query: "requête", key: "clés", score: "scores", weight: "poids", value: "valeurs", found: "mélange" },
    cell: (part, head, seen, letter, i) => `${part} de la tête ${head + 1} pour ${letterOf(seen, letter)}${i < 0 ? "" : `, nombre ${i + 1}`}`,
    own: (part, head, i) => `${part} de la tête ${head + 1}, nombre ${i + 1}`,
  },

  neurons: {
    heading: "64 neurones pensent",
    intro: "Chaque neurone calcule une somme pondérée des 16 nombres. Si la somme est négative, le neurone donne 0 à la place : *il dort, sa case est vide*, et aucun gradient ne le traverse.",
    picture: "Neurones",
    neuron: (i) => `neurone ${i + 1}`,
    told: (awake, all) => `${awake} sur ${all} sont éveillés à cette place.`,
  },

  prediction: {
    heading: "Ce qui peut suivre",
    intro: "Chaque lettre reçoit un score, son *logit*. Softmax transforme les logits en probabilités. La perte est grande si la lettre qui suit vraiment a une faible probabilité.",
    picture: "Logits",
    logit: (letter) => `logit : ${letter || "la fin"}`,
    target: "ce qui suit",
    likeliest: (list) => `Les plus probables : ${list}.`,
    one: (letter, share) => `${letter || "fin"} ${share}`,
    told: (letter, share, rank, loss) =>
      `${letter ? `« ${letter} »` : "La fin"} suit vraiment. Sa probabilité est *${share}*, rang ${rank}. La perte est ici l’opposé du logarithme de cette probabilité, ${loss}.`,
    loss: "Ouvrir la perte à cette place",
  },

  weights: {
    heading: "Tous les 4 192 poids",
    intro: "L’entraînement change ces nombres. Tous les autres nombres sont calculés à partir d’eux. Un *gradient* dit comment la perte de ce nom changerait si le poids augmentait un peu. Des lignes séparent les quatre têtes.",
    titles: {
      letters: "lettres", places: "positions", query: "requête", key: "clé", value: "valeur", mix: "mélange", widen: "élargir", narrow: "resserrer", unembed: "sortie",
    },
    about: {
      letters: "une ligne par lettre",
      places: "une ligne par place",
      query: "ce que demandent les têtes",
      key: "ce que répondent les lettres",
      value: "ce que donnent les lettres",
      mix: "les têtes, réunies",
      widen: "de 16 nombres à 64 neurones : une colonne par neurone",
      narrow: "de 64 neurones à 16 nombres : une colonne par neurone",
      unembed: "une ligne par lettre suivante",
    },
    matrix: (name) => `matrice ${name}`,
    cell: (matrix, row, column) => `${matrix}, ligne ${row + 1}, colonne ${column + 1}`,
    find: "Trouver un nombre par son nom",
    example: "comme query.3.5 ou place3.logit.4",
    go: "Trouver",
    unknown: (name) => `« ${name} » n’existe pas dans le calcul de ce nom.`,
  },

  titles: {
    letterOf,
    quoted: (letter) => (letter ? `« ${letter} »` : "la fin"),
    predicting: (next) => `prédiction : ${next}`,
    weight: "poids",
    scale: "facteur vers une même taille",
    operations: { sumprod: "somme de produits", take: "le nombre choisi", maximum: "le plus grand de deux" },
    scopes: { embed: "plongement", norm: "norme", attention: "attention", head: "tête", mlp: "neurones", logits: "logits", loss: "perte" },
    names: {
      "token.#": ([place], { read }) => `ce qui est lu : ${read(place)}`,
      "target.#": ([place], { next }) => `ce qui suit : ${next(place)}`,
      "place#.embed.take.#": ([place, i], { read }) => `nombre ${i + 1} de la lettre · ${read(place)}`,
      "place#.embed.sum.#": ([place, i], { read }) => `nombre ${i + 1} de la lettre et de la place ensemble · ${read(place)}`,
      "place#.embed.x.#": ([place, i], { read }) => `nombre ${i + 1} après le plongement · ${read(place)}`,
      "place#.attention.query.#": ([place, i], { read }) => `nombre ${i + 1} de la requête · ${read(place)}`,
      "place#.attention.key.#": ([place, i], { read }) => `nombre ${i + 1} de la clé · ${read(place)}`,
      "place#.attention.value.#": ([place, i], { read }) => `nombre ${i + 1} de la valeur · ${read(place)}`,
      "place#.attention.head#.score.#": ([place, head, seen], { read, next }) => `accord avec la requête de la tête ${head + 1} : ${read(seen)} · prédiction : ${next(place)}`,
      "place#.attention.head#.weight.#": ([place, head, seen], { read, next }) => `combien la tête ${head + 1} regarde ${read(seen)} · prédiction : ${next(place)}`,
      "place#.attention.head#.found.#": ([place, head, i], { next }) => `nombre ${i + 1} de ce que la tête ${head + 1} a trouvé · prédiction : ${next(place)}`,
      "place#.attention.x.#": ([place, i], { next }) => `nombre ${i + 1} après l’attention · prédiction : ${next(place)}`,
      "place#.mlp.hidden.#": ([place, i], { next }) => `neurone ${i + 1} · prédiction : ${next(place)}`,
      "place#.mlp.x.#": ([place, i], { next }) => `nombre ${i + 1} après les neurones · prédiction : ${next(place)}`,
      "place#.logit.#": ([place, token], { letter, next }) => `logit : ${letter(token)} · prédiction : ${next(place)}`,
      "loss.#": ([place], { next }) => `perte : ${next(place)}`,
      "loss": () => "la perte : la moyenne sur toutes les lettres",
      "letters.#.#": ([token, i], { letter }) => `nombre ${i + 1} de la lettre : ${letter(token)} · poids`,
      "unembed.#.#": ([token, i], { letter }) => `nombre ${i + 1} de ce qui parle pour : ${letter(token)} · poids`,
      "places.#.#": ([place, i]) => `nombre ${i + 1} de la place ${place + 1} · poids`,
    },
  },

  inspector: {
    title: "Le nombre choisi",
    prompt: "Choisissez une case pour voir ici son nombre : la valeur, le gradient et son origine, les nombres dont il est calculé, et sa ligne du programme.",
    begin: "Ou commencez par :",
    beginnings: { loss: "la perte de ce nom", weight: "où regarde la tête 3", parameter: "un poids de la requête" },
    back: "Retour",
    forward: "En avant",
    close: "Fermer",
    value: "Valeur",
    gradient: "Gradient",
    because: "Pourquoi ce gradient",
    nudge: (size, sign) => {
      if (sign === 0) return "Un petit changement de ce nombre ne change pas la perte.";
      return `Si ce nombre augmentait un peu, la perte ${sign > 0 ? "augmenterait" : "baisserait"} de ${size} fois cette quantité.`;
    },
    isRoot: "Ce nombre est la perte elle-même, donc son gradient est 1.",
    isUnused: "La perte de ce nom ne dépend pas de ce nombre, donc aucun gradient ne lui revient.",
    isIdle: "Les nombres calculés à partir de ce nombre lui rendent 0 : chacun de leurs gradients, multiplié par la dérivée locale, est 0.",
    one: (amount, upstream, partial) => `Un seul nombre rend du gradient à ce nombre : son propre gradient ${upstream} multiplié par la dérivée locale ${partial} = *${amount}*.`,
    many: (count, sum, grad) =>
      `${count} nombres rendent du gradient à ce nombre. Chacun rend son propre gradient multiplié par la dérivée locale. La règle de la chaîne additionne ces contributions : ${sum} = *${grad}*.`,
    others: (count) => `(${count} autres)`,
    made: "De quoi il est calculé",
    leaf: "Ce nombre est donné, pas calculé.",
    used: "Ce qui lui rend du gradient",
    gets: (partial, amount) => `dérivée ${partial}, donc il reçoit ${amount}`,
    gives: (upstream, partial) => `son gradient ${upstream} × dérivée ${partial}`,
    constant: "une constante : elle ne reçoit rien",
    formulas: "En formules",
    all: (count) => `Montrer les ${count}`,
    fewer: "Montrer les plus grands",

    line: (file, line) => `${file}, ligne ${line}`,
    path: "Chemin le plus fort depuis la perte",
    pathHere: "Vers ce nombre",
    pathToken: "Vers la dernière lettre lue",
    pathHide: "Masquer le chemin",
    pathTold: (steps, product, grad) =>
      `Ce chemin a ${steps} étapes. Le produit des dérivées locales le long du chemin est ${product}. La somme sur tous les chemins est le gradient du dernier nombre, ${grad}.`,
    both: (data, grad) => `valeur ${data}, gradient ${grad}`,
    gone: "Ce nombre ne fait pas partie du calcul de ce nom.",
  },
};
