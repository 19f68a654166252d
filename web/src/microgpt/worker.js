// The training service, in a worker or in the page: it handles requests, sends replies, and trains in short slices.

import { decoded } from "./document.js";
import { readNames } from "./names.js";
import { randomNumbers, Trainer } from "./trainer.js";

/** @typedef {import("./protocol.js").Reply} Reply */
/** @typedef {import("./protocol.js").Request} Request */

const SLICE = 15; // milliseconds of training per slice
const BETWEEN_REPORTS = 80; // minimum, in milliseconds

/**
 * @param {(reply: Reply) => void} reply
 * @returns {(request: Request) => void} handles requests one after the other
 */
export function serve(reply) {
  const service = new Service(reply);
  let last = Promise.resolve();
  return (request) => {
    last = last.then(() => service.take(request)).catch((error) => reply({ type: "problem", text: String(error) }));
  };
}

class Service {
  /** @type {Trainer | null} */
  #trainer = null;
  #random = randomNumbers(1);
  #until = 0; // the step to pause at
  #reported = { step: 0, time: 0 };
  #isAwake = false;

  /** @param {(reply: Reply) => void} reply */
  constructor(reply) {
    this.reply = reply;
  }

  /** @param {Request} request */
  async take(request) {
    if (request.type === "start") {
      this.#random = randomNumbers(request.seed ?? 1);
      this.#trainer = new Trainer(await decoded(request.document), request.names, request.steps);
      this.#ready(this.#trainer);
    } else if (this.#trainer) this.#do(request, this.#trainer);
  }

  /** @param {Exclude<Request, { type: "start" }>} request @param {Trainer} trainer */
  #do(request, trainer) {
    switch (request.type) {
      case "names":
        trainer.setNames(request.names);
        return this.#ready(trainer);
      case "run":
        return this.#run(trainer, trainer.steps);
      case "step":
        return this.#run(trainer, trainer.step + request.count);
      case "pause":
        return this.#pause(trainer);
      case "goto":
        return this.#goTo(trainer, request.step);
      case "open":
        return this.#open(trainer, request.name);
      case "sample":
        return this.#sample(trainer, request.count, request.temperature);
    }
  }

  /** @param {Trainer} trainer */
  #ready(trainer) {
    const { step, steps, names, problems } = trainer;
    this.#until = 0;
    this.#reported = { step, time: performance.now() };
    this.reply({ type: "ready", step, steps, names, problems });
  }

  // Training

  /** @param {Trainer} trainer @param {number} until */
  #run(trainer, until) {
    this.#reported.time = performance.now();
    this.#until = until;
    if (!this.#isRunning(trainer)) this.#report(trainer);
    else if (!this.#isAwake) this.#slice(trainer);
  }

  /** @param {Trainer} trainer */
  #isRunning(trainer) {
    return trainer.canGoOn && trainer.step < this.#until;
  }

  /** Train for one slice; pending requests run before the next slice. @param {Trainer} trainer */
  #slice(trainer) {
    const end = performance.now() + SLICE;
    while (this.#isRunning(trainer) && performance.now() < end) trainer.advance();
    this.#isAwake = this.#isRunning(trainer);
    if (!this.#isAwake || performance.now() - this.#reported.time >= BETWEEN_REPORTS) this.#report(trainer);
    if (this.#isAwake) setTimeout(() => this.#wake(trainer));
  }

  /** @param {Trainer} trainer */
  #wake(trainer) {
    this.#isAwake = false;
    if (this.#isRunning(trainer)) this.#slice(trainer);
  }

  /** @param {Trainer} trainer */
  #report(trainer) {
    const { step, name, losses } = trainer;
    const running = this.#isRunning(trainer);
    const [taken, time] = [step - this.#reported.step, performance.now()];
    const rate = running && taken > 0 ? (1000 * taken) / (time - this.#reported.time) : 0;
    const news = losses.slice(this.#reported.step, step);
    this.#reported = { step, time };
    this.reply({ type: "progress", step, losses: news, rate, running, name });
  }

  /** @param {Trainer} trainer */
  #pause(trainer) {
    this.#until = 0;
    this.#report(trainer);
  }

  /** @param {Trainer} trainer @param {number} step */
  #goTo(trainer, step) {
    const furthest = trainer.losses.length;
    if (this.#reported.step < trainer.step) this.#report(trainer); // otherwise these losses would never be reported
    this.#until = 0;
    trainer.goTo(step);
    this.#reported.step = Math.min(furthest, trainer.step);
    this.#report(trainer);
  }

  // Inspection

  /** @param {Trainer} trainer @param {string} [given] */
  #open(trainer, given = trainer.name) {
    const { letters, longest } = trainer.lesson;
    const { names, problems } = readNames([given], letters, longest);
    if (problems.length) this.reply({ type: "refused", problem: problems[0] });
    else this.reply({ type: "opened", opened: trainer.open(names[0]) });
  }

  /** @param {Trainer} trainer @param {number} count @param {number} temperature */
  #sample(trainer, count, temperature) {
    const samples = Array.from({ length: count }, () => trainer.sample(temperature, this.#random));
    this.reply({ type: "samples", step: trainer.step, samples });
  }
}
