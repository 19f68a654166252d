// Types shared by the modules; no code.

/**
 * A formula as data: a variable ("x", "y", "z", "out"), a number, or an operator or function with its operands.
 * @typedef {string | number | [string, ...Formula[]]} Formula
 */

/**
 * An operation of the table, as tools/generate.py prints it from ops/table.py.
 * @typedef {object} Row
 * @property {string} name
 * @property {string} symbol in drawings
 * @property {number} arity
 * @property {boolean} isOperator whether it is written between its operands, as in a + b
 * @property {boolean} isFunction whether it is called by name
 * @property {boolean} selects whether it passes on one operand and ignores the rest
 * @property {readonly number[]} inert operand positions that never receive gradient
 * @property {boolean} isExact whether the partials are the derivatives of forward; false only for stop_gradient
 * @property {string} words description for readers
 * @property {(x: number, y: number, z: number) => number} forward
 * @property {readonly ((x: number, y: number, z: number, out: number) => number)[]} partials
 * @property {readonly Formula[]} formulas of the partials
 */

/**
 * An operation for any number of operands: an optional start, then the operands of the elements. For elements of
 * several operands, the first operands of all elements come first, then the second operands.
 * @typedef {object} Reduction
 * @property {string} name
 * @property {string} symbol in drawings
 * @property {number} groups number of operands per element
 * @property {number} starts 1 if the first operand is the start, else 0
 * @property {string} takes description of the accepted operand counts
 * @property {boolean} selects whether it passes on some operands and ignores the rest
 * @property {string} words description for readers
 * @property {number} first initial total, if there is no start
 * @property {(total: number, x: number, y: number, z: number) => number} step computes the total after an element
 * @property {readonly ((x: number, y: number, z: number, out: number) => number)[]} partials by operand of an element
 * @property {readonly Formula[]} formulas of the partials
 * @property {((out: number) => number) | null} startPartial
 * @property {Formula | null} startFormula of startPartial
 */

/**
 * A table lookup: an index and a table of any number of operands; it passes on the operand that the index selects.
 * @typedef {object} Gather
 * @property {string} name
 * @property {string} symbol in drawings
 * @property {boolean} selects whether it passes on some operands and ignores the rest
 * @property {readonly number[]} inert operand positions that never receive gradient
 * @property {string} takes description of the accepted operand counts
 * @property {string} words description for readers
 */

/** @typedef {{ file: string, line: number, text: string }} SourceLine text is the line as it ran, "" if unknown */

/**
 * A node of a graph. Its operands are indices of earlier nodes; -1 for a constant.
 * @typedef {object} Node
 * @property {number} place index of the node in the graph
 * @property {string} name unique: the label, with a number if an earlier node has the same label; v1, v2, ... by index
 *   without a label
 * @property {string} label "" for none
 * @property {string} operation name of the table row; "" for leaves and custom nodes
 * @property {Row | null} row null for leaves, custom nodes, reductions and gathers
 * @property {Reduction | null} reduction null for all other nodes
 * @property {Gather | null} gather null for all other nodes
 * @property {string} symbol "" for leaves
 * @property {readonly number[]} operands
 * @property {readonly number[]} constants by position; NaN for operands that are nodes
 * @property {readonly number[]} partials by position; NaN for constants
 * @property {number} data
 * @property {number} grad .grad when the graph was recorded
 * @property {SourceLine | null} source
 * @property {boolean} byHand whether it has a custom backward rule
 */

/**
 * The contribution of a node to the gradient of its operand at a position: amount = upstream · local.
 * @typedef {object} Contribution
 * @property {number} giver index of the contributing node
 * @property {number} place index of the operand
 * @property {number} position
 * @property {number} upstream
 * @property {boolean} ofNothing true if no gradient has reached the node, so that it contributes nothing
 * @property {number} local
 * @property {number} amount
 * @property {number} before operand's gradient before the contribution
 * @property {number} after
 * @property {boolean} late whether the operand had already been visited, so that the contribution is lost
 * @property {boolean} again whether the operand had received an earlier contribution
 */

/** @typedef {{ kind: "forward", place: number }} ForwardStep */

/**
 * @typedef {object} BackwardStep
 * @property {"backward"} kind
 * @property {number} place
 * @property {number} upstream
 * @property {readonly Contribution[]} contributions
 */

/** The step that sets the root's gradient to 1. @typedef {{ kind: "seed", place: number }} SeedStep */

/** @typedef {ForwardStep | SeedStep | BackwardStep} Step */

/** Identifies an operand position of a node: `${place}:${position}`. @typedef {string} EdgeKey */

/**
 * Contributions by edge. `amount` returns one of them by giver and position, faster than `get`.
 * @typedef {Iterable<[EdgeKey, Contribution]> & { get: (key: EdgeKey) => Contribution | undefined, amount?: (giver: number, position: number) => number | null }} Contributions
 */

/**
 * The state of a walk after some steps.
 * @typedef {object} Moment
 * @property {number} position number of steps taken
 * @property {"start" | "forward" | "seed" | "backward" | "end"} phase
 * @property {readonly boolean[]} known by node index: whether data has been computed
 * @property {readonly (number | null)[]} gradients by node index; null before the first contribution
 * @property {readonly boolean[]} visited by node index: whether the backward pass has visited the node
 * @property {Contributions} contributions by edge
 * @property {ReadonlySet<EdgeKey>} lost edges whose contributions were lost
 * @property {number | null} active node of the last step
 */

/**
 * A path from a node to the root.
 * @typedef {object} Path
 * @property {readonly number[]} places node indices from the node to the root
 * @property {readonly EdgeKey[]} edges edges between consecutive nodes
 * @property {readonly number[]} locals local derivative of each edge
 * @property {number} product product of the local derivatives, the path's contribution to the gradient
 */

/**
 * A highlighted path on the stage, with a label at its end.
 * @typedef {{ edges: readonly EdgeKey[], end: string }} Way `end` is the label, "" for none
 */

/**
 * The animated flight of a number along an edge, or from above if there is no edge.
 * @typedef {object} Flight
 * @property {EdgeKey | null} edge
 * @property {number} place index of the node where it lands
 * @property {boolean} isBackward
 * @property {string} carries number at the start
 * @property {string} factor factor on the way; "" for none
 * @property {string} becomes number at the end
 * @property {number | null} amount the number at the end if it is a gradient
 * @property {string} told text about the result; "" if it is obvious
 * @property {string} falls number that is lost at the landing and falls off the box; "" for none
 * @property {boolean} isLost whether it arrives too late
 * @property {boolean} harms whether it overwrites an earlier contribution
 */

/**
 * The animation of some steps.
 * @typedef {object} Happening
 * @property {readonly (readonly Flight[])[]} flights flights grouped by landing; the flights of a group land together
 * @property {(landed: number) => Moment} moment returns the state after some landings
 * @property {number} pace milliseconds per landing
 */

/**
 * A group of nodes that is drawn as one box and can be opened.
 * @typedef {object} Part
 * @property {string} key unique
 * @property {string} name
 * @property {number} number of the sample or step, from 0; -1 for other groups
 * @property {readonly number[]} places indices of all nodes inside, sorted
 * @property {readonly (Part | number)[]} children shown when it is open: groups, and indices of single nodes
 */

/**
 * A box on the stage: a node or a collapsed group.
 * @typedef {{ key: string, place: number, part: null } | { key: string, place: null, part: Part }} Item
 */

/**
 * A line on the stage: one operand position between two nodes, or all edges between two boxes.
 * @typedef {object} Edge
 * @property {string} from key of an item
 * @property {string} to key of an item
 * @property {number} count
 * @property {EdgeKey | null} operand its only edge; null if it has several
 * @property {readonly number[]} givers of all of its edges, in the order of the nodes
 * @property {readonly number[]} positions of the operands of these edges
 */

/**
 * Boxes and lines. Groups with a picture replace them; then the items are the parts in the picture.
 * @typedef {{ items: readonly Item[], edges: readonly Edge[], pictured: import("./core/groups.js").Groups | null }} Scene
 */

export {};
