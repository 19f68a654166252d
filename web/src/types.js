// What the modules hand to each other. Types only: nothing here runs.

/**
 * A formula as data: a name ("x", "y", "z", "out"), a number, or an operator (or function) with its operands.
 * @typedef {string | number | [string, ...Formula[]]} Formula
 */

/**
 * A row of the table, as tools/generate.py prints it from ops/table.py.
 * @typedef {object} Row
 * @property {string} name
 * @property {string} symbol what a drawing shows
 * @property {number} arity
 * @property {boolean} isOperator whether text writes it between its operands, as in a + b
 * @property {boolean} isFunction whether it is called by its name
 * @property {boolean} selects whether it passes on one operand and leaves out the others
 * @property {readonly number[]} inert positions of operands that it never passes anything to
 * @property {boolean} isExact whether the partials are the derivatives of forward, as they are but for stop_gradient
 * @property {string} words what it is, for a reader
 * @property {(x: number, y: number, z: number) => number} forward
 * @property {readonly ((x: number, y: number, z: number, out: number) => number)[]} partials
 * @property {readonly Formula[]} formulas of the partials
 */

/**
 * A row for any number of operands: the start, where it takes one, then one operand of each element after the other.
 * Of pairs, the first of all of them stand before the second.
 * @typedef {object} Reduction
 * @property {string} name
 * @property {string} symbol what a drawing shows
 * @property {number} groups the number of operands in an element
 * @property {number} starts 1 where the first operand is the start, else 0
 * @property {string} takes how many operands, in words
 * @property {boolean} selects whether it passes on some operands and leaves out the others
 * @property {string} words what it is, for a reader
 * @property {number} first the total before the first element, where there is no start
 * @property {(total: number, x: number, y: number, z: number) => number} step the total after an element
 * @property {readonly ((x: number, y: number, z: number, out: number) => number)[]} partials by operand of an element
 * @property {readonly Formula[]} formulas of the partials
 * @property {((out: number) => number) | null} startPartial
 * @property {Formula | null} startFormula of startPartial
 */

/**
 * A row for an index and a table of any number of operands, of which it passes on the one that the index picks.
 * @typedef {object} Gather
 * @property {string} name
 * @property {string} symbol what a drawing shows
 * @property {boolean} selects whether it passes on some operands and leaves out the others
 * @property {readonly number[]} inert positions of operands that it never passes anything to
 * @property {string} takes how many operands, in words
 * @property {string} words what it is, for a reader
 */

/** @typedef {{ file: string, line: number, text: string }} SourceLine the line as it ran; text is "" where it is not known */

/**
 * One node of a graph. Operands are places of earlier nodes; -1 where a constant stands.
 * @typedef {object} Node
 * @property {number} place
 * @property {string} name its own: the label, with a number where an earlier node has the same; else v1, v2, ... by place
 * @property {string} label "" where it has none
 * @property {string} operation the row's name; "" for leaves and hand-made nodes
 * @property {Row | null} row null for leaves, hand-made nodes, reductions and gathers
 * @property {Reduction | null} reduction null for all other nodes
 * @property {Gather | null} gather null for all other nodes
 * @property {string} symbol "" for leaves
 * @property {readonly number[]} operands
 * @property {readonly number[]} constants by position; NaN where a node stands
 * @property {readonly number[]} partials by position; NaN where a constant stands
 * @property {number} data
 * @property {number} grad as .grad was when it was recorded
 * @property {SourceLine | null} source
 * @property {boolean} byHand whether its rule was set by hand
 * @property {string} scope the named scopes that it was made in, with dots between them; "" where there are none
 */

/**
 * What a node passes back to the operand at a position: amount = upstream · local.
 * @typedef {object} Contribution
 * @property {number} giver place of the node that passes it back
 * @property {number} place of the operand
 * @property {number} position
 * @property {number} upstream
 * @property {boolean} ofNothing whether nothing has reached the node: then it passes nothing on
 * @property {number} local
 * @property {number} amount
 * @property {number} before the operand's gradient before it arrived
 * @property {number} after
 * @property {boolean} late whether the operand had been visited: then it is lost
 * @property {boolean} again whether the operand had got a contribution before
 */

/** @typedef {{ kind: "forward", place: number }} ForwardStep */

/**
 * @typedef {object} BackwardStep
 * @property {"backward"} kind
 * @property {number} place
 * @property {number} upstream
 * @property {readonly Contribution[]} contributions
 */

/** The root gets the gradient 1. @typedef {{ kind: "seed", place: number }} SeedStep */

/** @typedef {ForwardStep | SeedStep | BackwardStep} Step */

/** An operand position of a node: `${place}:${position}`. @typedef {string} EdgeKey */

/** @typedef {Iterable<[EdgeKey, Contribution]> & { get: (key: EdgeKey) => Contribution | undefined }} Contributions */

/**
 * What is known after some steps of a walk.
 * @typedef {object} Moment
 * @property {number} position how many steps have been taken
 * @property {"start" | "forward" | "seed" | "backward" | "end"} phase
 * @property {readonly boolean[]} known by place: whether data has been filled in
 * @property {readonly (number | null)[]} gradients by place; null where nothing has arrived
 * @property {readonly boolean[]} visited by place: whether the backward pass has visited it
 * @property {Contributions} contributions by the edge that they came along
 * @property {ReadonlySet<EdgeKey>} lost contributions that did not count
 * @property {number | null} active the node of the last step
 */

/**
 * A way from a node to the root.
 * @typedef {object} Path
 * @property {readonly number[]} places from the node to the root
 * @property {readonly EdgeKey[]} edges from each to the next
 * @property {readonly number[]} locals the local derivative of each edge
 * @property {number} product of them: what comes back to the node by this path
 */

/** A path as it is lit on the stage; `end`: what stands at its end, "" for nothing. @typedef {{ edges: readonly EdgeKey[], end: string }} Way */

/**
 * A number on its way along an edge, or from above where there is none.
 * @typedef {object} Flight
 * @property {EdgeKey | null} edge
 * @property {number} place of the node where it lands
 * @property {boolean} isBackward
 * @property {string} carries the number that it sets out with
 * @property {string} factor what that is multiplied by on its way; "" for nothing
 * @property {string} becomes the number that it lands with
 * @property {number | null} amount the same where it is a gradient
 * @property {string} told what comes of it where it lands; "" where that is plain
 * @property {boolean} isLost whether it comes too late
 * @property {boolean} harms whether it overwrites what came before
 */

/**
 * A step as it happens.
 * @typedef {object} Happening
 * @property {readonly (readonly Flight[])[]} flights that land one after the other; those of one landing together
 * @property {(landed: number) => Moment} moment what is known when so many have landed
 * @property {number} pace milliseconds a landing
 */

/**
 * A part of a graph that can be drawn as one box and opened.
 * @typedef {object} Part
 * @property {string} key unique
 * @property {string} name
 * @property {readonly number[]} places all nodes inside, in order
 * @property {readonly (Part | number)[]} children what opening it shows: parts, and places of single nodes
 */

/**
 * A box on the stage: a node, or a closed part.
 * @typedef {{ key: string, place: number, part: null } | { key: string, place: null, part: Part }} Item
 */

/**
 * A line on the stage. Between two nodes it is one operand position; else all that lead from one box to the other.
 * @typedef {object} Edge
 * @property {string} from key of an item
 * @property {string} to key of an item
 * @property {number} count
 * @property {EdgeKey | null} operand the one it stands for; null where it stands for several
 * @property {readonly EdgeKey[]} operands all of them
 */

/** @typedef {{ items: readonly Item[], edges: readonly Edge[] }} Scene */

export {};
