// Layouts of random graphs: boxes stand apart, and lines pass between them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { layered } from "../src/stage/layered.js";

/** Numbers from 0 to 1, the same in every run. @param {number} seed */
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

for (let seed = 1; seed <= 30; seed += 1) {
  test(`graph ${seed}`, () => {
    const { sizes, edges } = request(seed);
    const { corners, columns, routes } = layered({ sizes, edges });
    const boxes = corners.map(({ x, y }, i) => ({ x, y, right: x + sizes[i].width, bottom: y + sizes[i].height }));
    boxes.forEach((box, i) => {
      assert.ok(box.right <= columns[i].right + 1 && box.x >= columns[i].left - 1);
      for (const other of boxes.slice(0, i)) {
        const apart = box.x >= other.right || other.x >= box.right || box.y >= other.bottom || other.y >= box.bottom;
        assert.ok(apart, "boxes overlap");
      }
    });
    edges.forEach(([from, to], i) => {
      const xs = [columns[from].right, ...routes[i].map(({ x }) => x), columns[to].left];
      assert.deepEqual(xs, xs.toSorted((a, b) => a - b), "a line turns back");
      for (const { x, y } of routes[i]) {
        const isInside = boxes.some((box) => x > box.x && x < box.right && y > box.y && y < box.bottom);
        assert.ok(!isInside, "a line runs through a box");
      }
    });
  });
}
