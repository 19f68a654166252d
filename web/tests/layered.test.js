// Layouts of random graphs: boxes do not overlap, and lines do not cross boxes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { arranged, layered } from "../src/stage/layered.js";

/** Return a generator of reproducible numbers from 0 to 1. @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

/** @param {number} seed @returns {import("../src/stage/layered.js").Request} */
function request(seed) {
  const next = random(seed);
  const count = 2 + Math.floor(next() * 50);
  const sizes = Array.from({ length: count }, () => ({ width: 80 + 2 * Math.floor(next() * 60), height: 62 }));
  /** @type {[number, number][]} */
  const edges = [];
  for (let to = 1; to < count; to += 1) {
    for (let i = Math.floor(next() * 3); i > 0; i -= 1) edges.push([Math.floor(next() * to), to]);
  }
  return { sizes, edges };
}

const DOWN = { isDown: true, betweenColumns: 50, betweenBoxes: 20, betweenLines: 12 };

for (let seed = 1; seed <= 30; seed += 1) {
  test(`graph ${seed}, to the right`, () => checkLayout(request(seed), undefined));
  test(`graph ${seed}, downwards`, () => checkLayout(request(seed), DOWN));
}

/** @param {import("../src/stage/layered.js").Request} request @param {import("../src/stage/layered.js").Manner | undefined} manner */
function checkLayout({ sizes, edges }, manner) {
  const { corners, columns, routes } = layered({ sizes, edges }, manner);
  const along = (/** @type {{ x: number, y: number }} */ { x, y }) => (manner?.isDown ? y : x);
  const boxes = corners.map(({ x, y }, i) => ({ x, y, right: x + sizes[i].width, bottom: y + sizes[i].height }));
  boxes.forEach((box, i) => {
    const end = along({ x: box.right, y: box.bottom });
    assert.ok(end <= columns[i].end + 1 && along(box) >= columns[i].start - 1);
    for (const other of boxes.slice(0, i)) {
      const apart = box.x >= other.right || other.x >= box.right || box.y >= other.bottom || other.y >= box.bottom;
      assert.ok(apart, "boxes overlap");
    }
  });
  edges.forEach(([from, to], i) => {
    const way = [columns[from].end, ...routes[i].map(along), columns[to].start];
    assert.deepEqual(way, way.toSorted((a, b) => a - b), "a line turns back");
    for (const { x, y } of routes[i]) {
      const isInside = boxes.some((box) => x > box.x && x < box.right && y > box.y && y < box.bottom);
      assert.ok(!isInside, "a line runs through a box");
    }
  });
}

// A chain of values, each computed from the previous one.
const CHAIN = {
  sizes: Array.from({ length: 8 }, () => ({ width: 120, height: 58 })),
  edges: Array.from({ length: 7 }, (_, i) => /** @type {const} */ ([i, i + 1])),
};

test("the layout takes the direction with the larger scale", () => {
  assert.equal(arranged({ ...CHAIN, room: { width: 1800, height: 500 } }).manner.isDown, false);
  assert.equal(arranged({ ...CHAIN, room: { width: 400, height: 900 } }).manner.isDown, true);
});

test("boxes are closer when space is limited", () => {
  const { width } = arranged({ ...CHAIN, room: { width: 1800, height: 500 } });
  const close = arranged({ ...CHAIN, room: { width: 1300, height: 100 } });
  const tooLarge = arranged({ ...CHAIN, room: { width: 700, height: 100 } });
  assert.equal(tooLarge.width, width, "spacing is not reduced when the graph cannot fit");
  assert.ok(!close.manner.isDown && close.width < width);
});
