// What the page and the worker that trains say to each other, and what the engine gives the page. Types only.
//
// The page makes one `Session` (session.js) and sends it `Request`s; each `Reply` comes to the listener it was given.
// Whether a worker trains or, where workers are refused, the page itself in slices, makes no difference to it.
// Numbers are counted from 0 throughout: places, heads, steps. Step s is the one taken at the weights after s steps.

/**
 * The document, as tools/microgpt_document.py writes it and document.js decodes it.
 * @typedef {object} MicrogptDocument
 * @property {"microgpt"} gradwalk
 * @property {number} version
 * @property {{ file: string, text: string }} source the program that was recorded
 * @property {string} letters of the alphabet; a token is a place in it, or their number for the end of a name
 * @property {Config} config
 * @property {string} names to train on until the visitor has given others, with spaces between them
 * @property {readonly { name: string, rows: number, columns: number }[]} matrices of weights, in their order
 * @property {string} weights before training: base64 of float64, little-endian
 * @property {PackedProgram & { sums: readonly number[] }} program the loss of a name that fills all places; its `sums` are
 *   the nodes that add up the losses of the first places, by their number less 1
 * @property {PackedProgram} update of one weight by Adam
 */

/**
 * @typedef {object} Config
 * @property {number} width
 * @property {number} heads
 * @property {number} places
 * @property {number} steps of a whole training: by then, the rate has fallen to 0
 */

/**
 * A recorded program, its leaves first. Columns are base64 of zlib: of int32, little-endian, or of text with a line a node.
 * @typedef {object} PackedProgram
 * @property {readonly string[]} operations by kind; "" for leaves
 * @property {readonly (number | "nan" | "inf" | "-inf")[]} constants
 * @property {readonly number[]} outputs
 * @property {string} kinds of the nodes
 * @property {string} counts of their operands
 * @property {string} operands, each less that of the last node of the same kind with as many: nodes, or -1 less the place of
 *   a constant
 * @property {string} lines of the source, from 1, each less the one before; 0 for none
 * @property {string} scopes
 * @property {string} labels, without their scopes; behind a dot, names by themselves
 */

// What the page asks for

/**
 * `names` are as the visitor has written them, in whatever letters; null for those of the document. `seed` is that of
 * the samples.
 * @typedef {{ type: "start", document: MicrogptDocument, names: readonly string[] | null, seed?: number, steps?: number }} Start
 * @typedef {{ type: "names", names: readonly string[] }} Names train on others, from the beginning
 * @typedef {{ type: "run" }} Run train on until told to pause, or until the last step
 * @typedef {{ type: "pause" }} Pause
 * @typedef {{ type: "step", count: number }} Step take so many steps, and pause
 * @typedef {{ type: "goto", step: number }} Goto pause, and return to any step that was taken; or train on to one that was not, at a stretch
 * @typedef {{ type: "open", name?: string }} Open run both passes at the weights as they are: of a name, or of the next to train on. Does not pause
 * @typedef {{ type: "sample", count: number, temperature: number }} Sample invent names with the weights as they are
 * @typedef {Start | Names | Run | Pause | Step | Goto | Open | Sample} Request
 */

// What it hears

/**
 * Names were read: after "start" and "names". Step is 0, and nothing runs. Of no usable name at all, there is no
 * training until others are given: `names` is empty then.
 * @typedef {{ type: "ready", step: number, steps: number, names: readonly string[], problems: readonly NameProblem[] }} Ready
 */

/**
 * Steps were taken, or a "goto" or "pause" is done. `losses` are those of the steps before `step`, the last of them
 * last: of the steps since the last message. After "goto" to a step that was taken there are none.
 * @typedef {object} Progress
 * @property {"progress"} type
 * @property {number} step the next to be taken
 * @property {readonly number[]} losses
 * @property {number} rate steps a second, 0 while it pauses
 * @property {boolean} running
 * @property {string} name the next to train on
 */

/**
 * @typedef {{ type: "opened", opened: Opened }} OpenedReply
 * @typedef {{ type: "samples", step: number, samples: readonly string[] }} Samples
 * @typedef {{ type: "refused", problem: NameProblem }} Refused a name that cannot be opened
 * @typedef {{ type: "problem", text: string }} Problem what should not happen
 * @typedef {Ready | Progress | OpenedReply | Samples | Refused | Problem} Reply
 */

/**
 * What is wrong with a name that the visitor gave; the page says it in words.
 * "letters": it has letters that are not in the alphabet, and is left out. "long": it is cut to `used`.
 * "empty": nothing is left of all names (`name` is "").
 * @typedef {{ kind: "letters" | "long" | "empty", name: string, letters: string, used: string }} NameProblem
 */

/**
 * Both passes of one name at the weights of a step. Nodes that a shorter name does not reach have nan for both.
 * @typedef {object} Opened
 * @property {number} step
 * @property {string} name
 * @property {readonly number[]} tokens that are read: the end first, then the letters; as many as there are places
 * @property {readonly number[]} targets what follows each
 * @property {number} loss
 * @property {Float64Array} data by node; behind the nodes, the constants
 * @property {Float64Array} grad by node: the derivative of the loss
 */

// What the engine gives the page, besides. All of it is quick (a few milliseconds), and runs in the page itself.
//
// document.js: `decoded(document)` → Promise<Lesson>: letters, config, source, names, matrices, weights, program, update;
//   lesson.text(tokens) and lesson.letter(token) are letters, the end is "·"; lesson.programFor(places) is the program of a shorter name.
// program.js: `Program`: program.find("place3.attention.head2.weight.1") → node or -1; program.names[node]; program.lines[node];
//   program.scopes[node]; program.operandsOf(node) → slots; program.usersOf(node) → [{ node, position }];
//   program.partialsOf(node, opened.data) → numbers by position.
//   Labels that are there for every place p (head h, component i): `token.p`, `target.p`, `placep.embed.sum.i`, `placep.embed.x.i`,
//   `placep.attention.query.i` (key, value), `placep.attention.headh.score.q`, `…headh.weight.q` (how much p looks at q ≤ p),
//   `…headh.found.i`, `placep.attention.x.i`, `placep.mlp.hidden.i`, `placep.mlp.x.i`, `placep.logit.l`, `loss.p`, and `loss` for all;
//   the weights are `letters.r.c`, `places.r.c`, `query.r.c`, ….
// scalar.js: `scalarOf(lesson, opened, node)` → Scalar, below.
// paths.js: `strongestPath(lesson, opened)` from the loss to a weight, always along the largest contribution;
//   `pathToToken(lesson, opened, place)`, `pathTo(lesson, opened, node)` whose product of derivatives is largest → Path, below.

/**
 * A number that the gradient of one node is made of, or that it gives on.
 * @typedef {object} Link
 * @property {number} node the operand or user; -1 for a constant
 * @property {number} position of the operand
 * @property {string} name
 * @property {string} title what it is, for a reader
 * @property {number} data
 * @property {number} partial of the result by the operand; nan for constants
 * @property {number} amount that goes back: partial · gradient of the result
 * @property {string} sentence
 */

/**
 * All that is known of a node of an opened step.
 * @typedef {object} Scalar
 * @property {number} node
 * @property {string} name such as place3.attention.head2.weight.1
 * @property {string} title for a reader, such as "how much head 3 looks at letter 1, “e” · predicting letter 4, “a”"
 * @property {number} data @property {number} grad
 * @property {string} operation its row's name; "" for leaves
 * @property {string} symbol
 * @property {string} computed how its number came about, as a sentence
 * @property {string} derivative such as ∂loss/∂x
 * @property {string} chainRule its gradient as a sum over the users, as a formula
 * @property {string} sentence what it passes back, and to whom
 * @property {readonly Link[]} operands by position
 * @property {readonly Link[]} users what each passes back to it
 * @property {number} line of the source that made it, counted from 1; 0 where there is none
 * @property {string} source that line's text
 */

/**
 * A way through the program, from the loss.
 * @typedef {object} Path
 * @property {readonly number[]} nodes the loss first
 * @property {readonly number[]} positions by which each was reached: of the operand of the node before; -1 for the loss
 * @property {number} product of the derivatives along it: what the last node's gradient gets by this path
 * @property {number} share of the last node's gradient
 */

export {};
