// The messages between the page and the training worker, and the engine's interface to the page. Types only.
//
// The page creates one `Session` (session.js) and sends it `Request`s; its listener receives each `Reply`. Training runs
// in a worker or, if workers are not available, in slices in the page; the interface is the same.
// Places, heads and steps are counted from 0. Step s uses the weights after s updates.

/**
 * The document, as tools/microgpt_document.py writes it and document.js decodes it.
 * @typedef {object} MicrogptDocument
 * @property {"microgpt"} gradwalk
 * @property {number} version
 * @property {{ file: string, text: string }} source the recorded program
 * @property {string} letters the alphabet; a token is an index into it, or its length for the end of a name
 * @property {Config} config
 * @property {string} names to train on by default, separated by spaces
 * @property {readonly { name: string, rows: number, columns: number }[]} matrices of weights, in the order of `weights`
 * @property {string} weights before training, as base64 of little-endian float64
 * @property {PackedProgram & { sums: readonly number[] }} program computes the loss of a name that fills all places; `sums[n - 1]` is
 *   the node that adds up the losses of the first n places
 * @property {PackedProgram} update Adam's update of one weight
 */

/**
 * @typedef {object} Config
 * @property {number} width
 * @property {number} heads
 * @property {number} places
 * @property {number} steps of the whole training; the learning rate falls to 0 by then
 */

/**
 * A recorded program, its leaves first. Columns are zlib-compressed base64 of little-endian int32, or of text with one line per node.
 * @typedef {object} PackedProgram
 * @property {readonly string[]} operations by kind; "" for leaves
 * @property {readonly (number | "nan" | "inf" | "-inf")[]} constants
 * @property {readonly number[]} outputs
 * @property {string} kinds of the nodes
 * @property {string} counts of their operands
 * @property {string} operands the index of a node, or -1 minus the index of a constant; stored as differences from the
 *   previous node of the same kind with the same operand count
 * @property {string} lines of the source, counted from 1, 0 for none; stored as differences
 * @property {string} scopes
 * @property {string} labels without their scopes; a label that begins with a dot is a full name
 */

// Requests of the page

/**
 * `names` are the names as the visitor entered them, in upper or lower case, or null for the names of the document.
 * `seed` is the seed for samples.
 * @typedef {{ type: "start", document: MicrogptDocument, names: readonly string[] | null, seed?: number, steps?: number }} Start
 * @typedef {{ type: "names", names: readonly string[] }} Names train on other names, from the beginning
 * @typedef {{ type: "run", until: number, pace: number, between: number }} Run train up to step `until`, or until a pause is requested:
 *   `pace` steps per second, 0 for no limit, with at least `between` milliseconds between two messages
 * @typedef {{ type: "pause" }} Pause
 * @typedef {{ type: "step", count: number }} Step take `count` steps without a limit on their pace, and pause
 * @typedef {{ type: "goto", step: number }} Goto pause, and return to an earlier step or train up to a later one without interruption
 * @typedef {{ type: "open", name?: string }} Open run both passes with the current weights, for a name or for the next name to train on. Does not pause
 * @typedef {{ type: "sample", count: number, temperature: number }} Sample generate names with the current weights
 * @typedef {Start | Names | Run | Pause | Step | Goto | Open | Sample} Request
 */

// Replies to the page

/**
 * The names were read, after "start" and "names". The step is 0, and training is paused. If no name is usable, `names` is
 * empty and training cannot start.
 * @typedef {{ type: "ready", step: number, steps: number, names: readonly string[], problems: readonly NameProblem[] }} Ready
 */

/**
 * Steps were taken, or a "goto" or "pause" is done. `losses` are the losses of the steps since the last message, in
 * order; the last one belongs to `step - 1`. After "goto" to an earlier step, `losses` is empty.
 * @typedef {object} Progress
 * @property {"progress"} type
 * @property {number} step the next step
 * @property {readonly number[]} losses
 * @property {number} rate steps per second; 0 while paused
 * @property {boolean} running
 * @property {string} name the next name to train on
 */

/**
 * @typedef {{ type: "opened", opened: Opened }} OpenedReply
 * @typedef {{ type: "samples", step: number, samples: readonly string[] }} Samples
 * @typedef {{ type: "refused", problem: NameProblem }} Refused a name that cannot be opened
 * @typedef {{ type: "problem", text: string }} Problem an unexpected error
 * @typedef {Ready | Progress | OpenedReply | Samples | Refused | Problem} Reply
 */

/**
 * A problem with a name that the visitor entered; the page explains it.
 * "letters": the name has letters outside the alphabet and is skipped. "long": the name is cut to `used`.
 * "empty": no usable name is left (`name` is "").
 * @typedef {{ kind: "letters" | "long" | "empty", name: string, letters: string, used: string }} NameProblem
 */

/**
 * Both passes for one name with the weights of a step. Nodes that a shorter name does not use are NaN in both arrays.
 * @typedef {object} Opened
 * @property {number} step
 * @property {string} name
 * @property {readonly number[]} tokens the input: the end token, then the letters; one per place
 * @property {readonly number[]} targets the token that follows each of `tokens`
 * @property {number} loss
 * @property {Float64Array} data by node, then by constant
 * @property {Float64Array} grad derivative of the loss with respect to each node
 */

// Functions of the engine that run in the page itself; each takes a few milliseconds.
//
// document.js: `decoded(document)` → Promise<Lesson>: letters, config, source, names, matrices, weights, program, update;
//   lesson.text(tokens) and lesson.letter(token) return letters, "·" for the end; lesson.programFor(places) is the program of a shorter name.
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
 * An edge of the graph: a contribution to the gradient of a node, or from the node to an operand.
 * @typedef {object} Link
 * @property {number} node the operand or user; -1 for a constant
 * @property {number} position of the operand
 * @property {string} name
 * @property {string} title a description for readers
 * @property {number} data
 * @property {number} partial derivative of the result with respect to the operand; NaN for constants
 * @property {number} amount the contribution: partial · gradient of the result
 * @property {string} sentence
 */

/**
 * All information about a node of an opened step.
 * @typedef {object} Scalar
 * @property {number} node
 * @property {string} name such as place3.attention.head2.weight.1
 * @property {string} title a description for readers, such as "how much head 3 looks at letter 1, “e” · predicting letter 4, “a”"
 * @property {number} data @property {number} grad
 * @property {string} operation name in the table; "" for leaves
 * @property {string} symbol
 * @property {string} computed a sentence about how its value was computed
 * @property {string} derivative such as ∂loss/∂x
 * @property {string} chainRule a formula of its gradient as a sum over the users
 * @property {string} sentence its contributions to its operands
 * @property {readonly Link[]} operands by position
 * @property {readonly Link[]} users with the contribution of each
 * @property {number} line of the source that created the node, counted from 1; 0 for none
 * @property {string} source text of that line
 */

/**
 * A path through the program, starting at the loss.
 * @typedef {object} Path
 * @property {readonly number[]} nodes from the loss on
 * @property {readonly number[]} positions operand position of each node in the node before it; -1 for the loss
 * @property {number} product of the derivatives along the path: its contribution to the last node's gradient
 * @property {number} share of the last node's gradient
 */

export {};
