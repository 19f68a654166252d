// The microgpt page: document, program, training, returning to a step, names, and paths.
// tests/explain/page/test_microgpt_page.py compares all numbers with Python's.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { decoded } from "../src/microgpt/document.js";
import { readNames } from "../src/microgpt/names.js";
import { pathTo, pathToToken, strongestPath } from "../src/microgpt/paths.js";
import { Program } from "../src/microgpt/program.js";
import { scalarOf } from "../src/microgpt/scalar.js";
import { randomNumbers, Trainer } from "../src/microgpt/trainer.js";
import { View } from "../src/microgpt/ui/view.js";
import { serve } from "../src/microgpt/worker.js";

/** @typedef {import("../src/microgpt/protocol.js").Opened} Opened */
/** @typedef {import("../src/microgpt/protocol.js").Reply} Reply */
/** @typedef {import("../src/microgpt/protocol.js").Request} Request */

const json = JSON.parse(readFileSync(new URL("../../src/gradwalk/explain/page/microgpt.json", import.meta.url), "utf8"));
const lesson = await decoded(json);
const { program } = lesson;

/** @param {number} count of steps @param {readonly string[]} [names] */
function trained(count, names = ["ada", "zoe", "bo"]) {
  const trainer = new Trainer(lesson, names);
  for (let step = 0; step < count; step += 1) trainer.advance();
  return trainer;
}

/** @param {number} found @param {number} expected @param {number} tolerance */
function near(found, expected, tolerance) {
  assert(Math.abs(found - expected) <= tolerance * Math.max(1, Math.abs(expected)), `${found}, not ${expected}`);
}

// The document

test("every node has a unique name", () => {
  assert.equal(new Set(program.names).size, program.size);
  for (const name of ["query.3.5", "token.0", "place3.attention.head2.weight.1", "place15.logit.26", "loss.15", "loss"]) {
    assert.equal(program.names[program.find(name)], name);
  }
  assert.equal(program.find("nothing"), -1);
  assert.equal(program.find("loss"), program.root);
  assert.equal(program.find("narrow.15.63"), lesson.weights.length - 1);
});

test("operands precede the nodes that use them", () => {
  for (let node = 0; node < program.size; node += 1) {
    for (const slot of program.operandsOf(node)) assert(slot < node || slot >= program.size);
  }
});

test("letters are encoded and decoded", () => {
  assert.deepEqual(lesson.encode("abc"), { tokens: [26, 0, 1, 2], targets: [0, 1, 2, 26] });
  assert.equal(lesson.text([0, 1, 26]), "ab·");
  assert.equal(lesson.names.length, 200);
  assert(lesson.names.every((name) => /^[a-z]{1,15}$/.test(name)));
});

test("the suggested weight is the largest of its head", () => {
  const choices = /** @type {import("../src/microgpt/ui/address.js").Choices} */ ({ node: "", place: 0 });
  const seen = new Set();
  for (const steps of [0, 20]) {
    const opened = trained(steps).open("maximilian");
    const view = new View(lesson, opened, choices, null, false);
    for (let place = 0; place < opened.tokens.length; place += 1) {
      const name = view.largestWeight(2, place);
      const weights = view.attention(2, place);
      assert.equal(opened.data[program.find(name)], Math.max(...weights));
      seen.add(name.split(".").at(-1));
    }
  }
  assert(seen.size > 2);
});

// Both passes

test("gradients agree with difference quotients of the loss", () => {
  const trainer = trained(5);
  const { data, grad } = trainer.open("maximilian");
  const shorter = lesson.programFor("maximilian".length + 1);
  const random = randomNumbers(3);
  for (let turn = 0; turn < 40; turn += 1) {
    const weight = Math.floor(random() * lesson.weights.length);
    const [above, below] = [1e-5, -1e-5].map((step) => {
      const changed = data.slice();
      changed[weight] += step;
      return shorter.forward(changed);
    });
    near(grad[weight], (above - below) / 2e-5, 1e-8);
  }
});

test("compiled programs agree exactly with the interpreted table", () => {
  for (const places of [1, 7, 16]) {
    const [quick, plain] = [lesson.programFor(places), new Program(lesson.programFor(places).columns, true)];
    plain.end = quick.end;
    const numbers = [quick, plain].map((one) => {
      const data = one.numbers();
      data.set(lesson.weights);
      for (const slot of [...lesson.tokens, ...lesson.targets]) data[slot] = slot % 27;
      const grad = new Float64Array(data.length);
      one.forward(data);
      one.backward(data, grad);
      return [data, grad];
    });
    assert.deepEqual(numbers[0], numbers[1]);
    assert(numbers[0][1].every(Number.isFinite));
  }
});

test("shorter names have no numbers at unused places", () => {
  const { data, grad } = trained(0).open("a");
  const beyond = program.find("place2.logit.0");
  assert(Number.isNaN(data[beyond]) && Number.isNaN(grad[beyond]));
  assert(Number.isFinite(data[program.find("place1.logit.0")]));
  near(data[program.root], (data[program.find("loss.0")] + data[program.find("loss.1")]) / 2, 1e-15);
});

// A small program: f = (a·b + a·b·c) · 2, by hand

const small = new Program({
  operations: ["", "mul", "add"],
  kinds: Uint8Array.of(0, 0, 0, 1, 1, 2, 1),
  offsets: Int32Array.of(0, 0, 0, 0, 2, 4, 6, 8),
  operands: Int32Array.of(0, 1, 3, 2, 3, 4, 5, -1),
  constants: [2],
  outputs: [6],
  sums: [],
  lines: new Int32Array(7),
  scopes: Array(7).fill(""),
  names: [..."abc", "ab", "abc", "sum", "f"],
});

/** @param {readonly number[]} leaves @returns {Opened} */
function opened(leaves) {
  const data = small.numbers();
  data.set(leaves);
  const grad = new Float64Array(data.length);
  const loss = small.forward(data);
  small.backward(data, grad);
  return { step: 0, name: "", tokens: [0], targets: [], loss, data, grad };
}

const around = /** @type {any} */ ({ programFor: () => small, program: small });

test("forward and backward pass of a small program", () => {
  const { loss, grad } = opened([3, 5, 7]);
  assert.equal(loss, 240);
  assert.deepEqual([...grad.slice(0, 3)], [80, 48, 30]);
  assert.deepEqual(small.usersOf(3), [{ node: 5, position: 0 }, { node: 4, position: 0 }]);
  assert.deepEqual(small.usersOf(6), []);
});

/** Compute the products of all paths from the root to a node. @param {Opened} given @param {number} node @returns {number[]} */
function products({ data }, node) {
  /** @type {number[]} */
  const found = [];
  /** @param {number} from @param {number} product */
  const follow = (from, product) => {
    if (from === node) found.push(product);
    small.operandsOf(from).forEach((slot, position) => {
      if (slot < small.size) follow(slot, product * small.partial(from, position, data));
    });
  };
  follow(small.root, 1);
  return found;
}

test("the path to a node has the largest contribution", () => {
  const random = randomNumbers(4);
  for (let turn = 0; turn < 50; turn += 1) {
    const given = opened([0, 1, 2].map(() => 4 * random() - 2));
    for (const node of [0, 1, 2, 3, 4, 5, 6]) {
      const found = pathTo(around, given, node);
      const all = products(given, node);
      near(Math.abs(found?.product ?? NaN), Math.max(...all.map(Math.abs)), 1e-14);
      near(found?.share ?? NaN, (found?.product ?? NaN) / all.reduce((sum, product) => sum + product), 1e-9);
      assert.equal(found?.nodes.at(-1), node);
    }
  }
});

test("the strongest path follows the largest contributions", () => {
  assert.deepEqual(strongestPath(around, opened([3, 5, 7])).nodes.map((node) => small.names[node]), ["f", "sum", "ab", "a"]);
});

test("there is a path to every letter of a name", () => {
  const given = trained(20).open("zoe");
  const shorter = lesson.programFor(4);
  for (const [place, token] of given.tokens.entries()) {
    const path = pathToToken(lesson, given, place);
    assert(path);
    path.nodes.forEach((node, i) => {
      if (i) assert.equal(shorter.operandsOf(path.nodes[i - 1])[path.positions[i]], node);
    });
    assert.equal(path.nodes[0], program.root);
    assert.match(program.names[path.nodes[path.nodes.length - 1]], new RegExp(`^letters\\.${token}\\.`));
    assert(Math.abs(path.product) > 0);
  }
  const weight = strongestPath(lesson, given).nodes.at(-1) ?? -1;
  assert(weight >= 0 && weight < lesson.weights.length);
});

// Training

test("training reduces the loss and is reproducible", () => {
  const [one, other] = [trained(60), trained(60)];
  assert.deepEqual(one.losses, other.losses);
  assert(one.losses[57] < one.losses[0] / 2);
});

test("training can return to every step", () => {
  const trainer = trained(0);
  const weights = Array.from({ length: 81 }, () => {
    const copy = trainer.weights.slice();
    trainer.advance();
    return copy;
  });
  const losses = [...trainer.losses];
  for (const step of [80, 3, 50, 49, 51, 0, 25, 26, 80, 79]) {
    trainer.goTo(step);
    assert.equal(trainer.step, step);
    assert.deepEqual(trainer.weights, weights[step]);
  }
  assert.deepEqual(trainer.losses, losses);
  trainer.goTo(5000);
  assert.equal(trainer.step, trainer.steps);
  assert.equal(trainer.canGoOn, false);
});

test("the learning rate decays over the given steps", () => {
  const short = new Trainer(lesson, ["ada"], 10);
  short.goTo(10);
  const before = short.weights.slice();
  assert.equal(short.canGoOn, false);
  const again = new Trainer(lesson, ["ada"], 10);
  again.goTo(9);
  assert(Math.max(...again.weights.map((weight, i) => Math.abs(weight - before[i]))) < 0.002);
});

test("opening a name does not affect training", () => {
  const [one, other] = [trained(10), trained(10)];
  const before = one.weights.slice();
  assert.equal(one.open().name, other.name);
  one.open("quentin");
  one.sample(0.5, randomNumbers(1));
  assert.deepEqual(one.weights, before);
  assert.equal(one.advance(), other.advance());
});

test("samples are reproducible names from the alphabet", () => {
  const trainer = trained(90);
  const [one, other] = [randomNumbers(7), randomNumbers(7)];
  const samples = Array.from({ length: 20 }, () => trainer.sample(0.3, one));
  assert.deepEqual(samples, Array.from({ length: 20 }, () => trainer.sample(0.3, other)));
  assert(samples.every((name) => /^[a-z]{0,16}$/.test(name)));
  assert(samples.filter((name) => ["ada", "zoe", "bo"].includes(name)).length > 10, samples.join());
});

// Names

test("names are normalized and problems reported", () => {
  const { names, problems } = readNames([" Ada", "", "o'neil", "zoë", "abcdefghijklmnopq", "BO "], lesson.letters, 15);
  assert.deepEqual(names, ["ada", "abcdefghijklmno", "bo"]);
  assert.deepEqual(problems, [
    { kind: "letters", name: "o'neil", letters: "'", used: "" },
    { kind: "letters", name: "zoë", letters: "ë", used: "" },
    { kind: "long", name: "abcdefghijklmnopq", letters: "", used: "abcdefghijklmno" },
  ]);
  assert.deepEqual(readNames([" "], lesson.letters, 15).problems.map(({ kind }) => kind), ["empty"]);
});

test("training needs at least one name", () => {
  const trainer = new Trainer(lesson, ["?"]);
  assert.equal(trainer.canGoOn, false);
  trainer.goTo(10);
  assert.equal(trainer.step, 0);
  trainer.setNames(["eve"]);
  trainer.goTo(10);
  assert.deepEqual([trainer.step, trainer.losses.length, trainer.name], [10, 10, "eve"]);
});

// One number

test("a number has a description, operands and users", () => {
  const given = trained(20).open("zoe");
  const found = scalarOf(lesson, given, program.find("place3.attention.head2.weight.1"));
  assert.match(found.title, /head 3 looks at letter 1, “z”/);
  assert.deepEqual([found.operation, found.symbol, found.operands.length, found.users.length], ["div", "/", 2, 4]);
  assert.match(found.source, /softmax/);
  assert.match(found.computed, /^place3\.attention\.head2\.weight\.1 = /);
  assert.match(found.chainRule, /^dloss\/d\(place3\.attention\.head2\.weight\.1\) = /);
  assert(found.users.every(({ sentence, title }) => sentence && title));
});

test("every gradient is the sum of contributions from users", () => {
  const given = trained(20).open("zo");
  const shorter = lesson.programFor(3);
  for (let node = 0; node < program.size; node += 53) {
    if (!shorter.has(node)) continue;
    const { users, grad, operands, title, name } = scalarOf(lesson, given, node);
    assert(title && name);
    if (node !== program.root) near(users.reduce((sum, { amount }) => sum + amount, 0), grad, 1e-12);
    for (const { amount, partial } of operands) if (amount) near(amount, partial * grad, 1e-14);
  }
});

test("the loss and the tokens can be inspected", () => {
  const given = trained(1).open("zo");
  const root = scalarOf(lesson, given, program.root);
  assert.deepEqual([root.grad, root.users.length, root.operands.map(({ data }) => data)[1]], [1, 0, 3]);
  const token = scalarOf(lesson, given, program.find("token.1"));
  assert.deepEqual([token.data, token.grad, token.users.length, token.operands.length], [25, 0, 0, 0]);
});

// The worker

/** Return a worker's message handler and its replies. */
function worker() {
  /** @type {Reply[]} */
  const replies = [];
  /** @type {(() => void) | null} */
  let heard = null;
  const take = serve((reply) => {
    replies.push(reply);
    heard?.();
  });
  /** Wait for the next reply that satisfies the predicate. @type {(isWanted: (reply: Reply) => boolean) => Promise<any>} */
  const next = (isWanted) => new Promise((resolve) => {
    const look = () => {
      const at = replies.findIndex(isWanted);
      if (at >= 0) resolve(replies.splice(0, at + 1).pop());
    };
    heard = look;
    look();
  });
  return { take, next };
}

test("the worker trains until paused and reports losses once", async () => {
  const { take, next } = worker();
  take({ type: "start", document: json, names: ["Ada", "zoe!"] });
  const ready = await next(({ type }) => type === "ready");
  assert.deepEqual([ready.step, ready.names, ready.problems.length], [0, ["ada"], 1]);
  take({ type: "run", until: 1000, pace: 0, between: 80 });
  /** @type {number[]} */
  const losses = [];
  let [step, running] = [0, true];
  while (step < 30) {
    const reply = await next(({ type }) => type === "progress");
    losses.push(...reply.losses);
    ({ step, running } = reply);
    assert(running && reply.rate > 0);
  }
  take({ type: "pause" });
  const last = await next((reply) => reply.type === "progress" && !reply.running);
  losses.push(...last.losses);
  assert.equal(losses.length, last.step);
  take({ type: "goto", step: 7 });
  assert.deepEqual(await next(({ type }) => type === "progress"), { type: "progress", step: 7, losses: [], rate: 0, running: false, name: "ada" });
  take({ type: "step", count: 3 });
  const stepped = await next((reply) => reply.type === "progress" && !reply.running);
  assert.deepEqual([stepped.step, stepped.losses], [10, losses.slice(7, 10)]);
});

test("a paced run reports every step, can change its pace, and stops at the chosen step", async () => {
  const { take, next } = worker();
  take({ type: "start", document: json, names: ["ada"] });
  take({ type: "run", until: 9, pace: 100, between: 0 });
  for (let step = 1; step < 5; step += 1) {
    const { step: at, losses, running } = await next(({ type }) => type === "progress");
    assert.deepEqual([at, losses.length, running], [step, 1, true]);
  }
  take({ type: "run", until: 9, pace: 0.001, between: 0 }); // a step now, and one in a quarter of an hour
  assert.equal((await next((reply) => reply.type === "progress" && reply.step === 5)).running, true);
  take({ type: "pause" });
  const paused = await next((reply) => reply.type === "progress" && !reply.running);
  assert.equal(paused.step, 5);
  take({ type: "run", until: 9, pace: 0, between: 0 });
  assert.equal((await next((reply) => reply.type === "progress" && !reply.running)).step, 9);
});

test("a run reports no more often than it is asked to", async () => {
  const { take, next } = worker();
  take({ type: "start", document: json, names: ["ada"] });
  for (const [until, pace] of [[20, 200], [40, 0]]) {
    take({ type: "run", until, pace, between: 1e6 });
    const { step, losses, running } = await next(({ type }) => type === "progress");
    assert.deepEqual([step, losses.length, running], [until, 20, false]);
  }
});

test("the worker opens, samples and changes names", async () => {
  const { take, next } = worker();
  take({ type: "start", document: json, names: null });
  take({ type: "open" });
  assert.equal((await next(({ type }) => type === "opened")).opened.name, lesson.names[0]);
  take({ type: "open", name: "Wolf" });
  assert.equal((await next(({ type }) => type === "opened")).opened.name, "wolf");
  take({ type: "open", name: "w0lf" });
  assert.equal((await next(({ type }) => type === "refused")).problem.letters, "0");
  take({ type: "sample", count: 3, temperature: 1 });
  assert.equal((await next(({ type }) => type === "samples")).samples.length, 3);
  take({ type: "step", count: 2 });
  take({ type: "names", names: ["kim"] });
  take({ type: "goto", step: 3 });
  const reply = await next((reply) => reply.type === "progress" && reply.step === 3);
  assert.deepEqual([reply.name, reply.losses.length], ["kim", 3]);
});
