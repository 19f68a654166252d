// Paths from the loss back through the program of a name.
//
// The gradient of a node is the sum over all paths from the loss to it; each path contributes the product of its derivatives.

/** @typedef {import("./document.js").Lesson} Lesson */
/** @typedef {import("./program.js").Program} Program */
/** @typedef {import("./protocol.js").Opened} Opened */
/** @typedef {import("./protocol.js").Path} Path */

/**
 * Follow the largest contribution at each node, from the loss to a leaf.
 * @param {Lesson} lesson @param {Opened} opened
 */
export function strongestPath(lesson, opened) {
  const program = programOf(lesson, opened);
  const [nodes, positions] = [[program.root], [-1]];
  for (let next = mostGiven(program, opened, program.root); next; next = mostGiven(program, opened, next.node)) {
    nodes.push(next.node);
    positions.push(next.position);
  }
  return measured(program, opened, nodes, positions);
}

/**
 * Find the path with the largest product of derivatives to a node; null if no gradient reaches it.
 * @param {Lesson} lesson @param {Opened} opened @param {number} node
 */
export function pathTo(lesson, opened, node) {
  const program = programOf(lesson, opened);
  return traced(program, opened, node, largestProducts(program, opened));
}

/**
 * Find the path with the largest product to any component of the embedding of the letter at a place.
 * @param {Lesson} lesson @param {Opened} opened @param {number} place
 */
export function pathToToken(lesson, opened, place) {
  const program = programOf(lesson, opened);
  const found = largestProducts(program, opened);
  const embedding = embeddedAt(lesson, program, place);
  const best = embedding.reduce((best, node) => (found.products[node] > found.products[best] ? node : best), embedding[0]);
  const path = traced(program, opened, best, found);
  if (!path) return null;
  const position = program.picked(best, opened.data);
  return measured(program, opened, [...path.nodes, program.operandsOf(best)[position]], [...path.positions, position]);
}

/** Find the nodes that look up the embedding of the letter at a place. @param {Lesson} lesson @param {Program} program @param {number} place */
function embeddedAt({ tokens }, program, place) {
  const found = [];
  for (let node = 0; node < program.end; node += 1) {
    if (program.rules[program.kinds[node]].gather && program.operandsOf(node)[0] === tokens[place]) found.push(node);
  }
  return found;
}

/** @param {Lesson} lesson @param {Opened} opened */
function programOf(lesson, { tokens }) {
  return lesson.programFor(tokens.length);
}

/** Find the operand with the largest contribution from a node; null if all contributions are 0. @param {Program} program @param {Opened} opened @param {number} node */
function mostGiven(program, { data, grad }, node) {
  let most = null;
  let largest = 0;
  const partials = program.partialsOf(node, data);
  program.operandsOf(node).forEach((slot, position) => {
    const amount = Math.abs(partials[position] * grad[node]);
    if (slot >= program.size || !program.passes(node, position) || !(amount > largest)) return;
    largest = amount;
    most = { node: slot, position };
  });
  return /** @type {{ node: number, position: number } | null} */ (most);
}

/**
 * Compute for each node the largest absolute product of derivatives over all paths from the loss to the node. Also
 * store the last edge of the path with this product, as the user and the operand position.
 * @param {Program} program @param {Opened} opened
 */
function largestProducts(program, { data }) {
  const products = new Float64Array(program.size);
  const [users, positions] = [new Int32Array(program.size).fill(-1), new Int32Array(program.size).fill(-1)];
  products[program.root] = 1;
  for (let user = program.root; user >= 0; user -= 1) {
    if (!products[user]) continue;
    program.operandsOf(user).forEach((slot, position) => {
      if (slot >= program.size || !program.passes(user, position)) return;
      const product = products[user] * Math.abs(program.partial(user, position, data));
      if (!(product > products[slot])) return;
      products[slot] = product;
      users[slot] = user;
      positions[slot] = position;
    });
  }
  return { products, users, positions };
}

/**
 * Reconstruct the path with the largest product to a node.
 * @param {Program} program @param {Opened} opened @param {number} node @param {ReturnType<typeof largestProducts>} found
 */
function traced(program, opened, node, { products, users, positions }) {
  if (!(products[node] > 0)) return null;
  const [way, by] = [[node], [positions[node]]];
  for (let user = users[node]; user >= 0; user = users[user]) {
    way.push(user);
    by.push(positions[user]);
  }
  return measured(program, opened, way.reverse(), by.reverse());
}

/** @param {Program} program @param {Opened} opened @param {readonly number[]} nodes @param {readonly number[]} positions @returns {Path} */
function measured(program, { data, grad }, nodes, positions) {
  let product = 1;
  for (let i = 1; i < nodes.length; i += 1) product *= program.partial(nodes[i - 1], positions[i], data);
  return { nodes, positions, product, share: product / grad[nodes[nodes.length - 1]] };
}
