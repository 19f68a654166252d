// The training service, in a worker or in the page: it handles requests, sends replies, and trains in short slices.

import { decoded } from "./document.js";
import { readNames } from "./names.js";
import { randomNumbers, Trainer } from "./trainer.js";

/** @typedef {import("./protocol.js").Reply} Reply */
/** @typedef {import("./protocol.js").Request} Request */

const SLICE = 15; // milliseconds of training per slice
const BETWEEN_REPORTS = 80; // milliseconds, at least, at full speed

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
  /** The run in progress: the step to pause at, steps per second (0 for no limit), and milliseconds between reports. */
  #run = { until: 0, pace: 0, between: 0 };
  #reported = { step: 0, time: 0 };
  /** @type {ReturnType<typeof setTimeout> | undefined} the next slice */
  #timer = undefined;

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
        return this.#train(trainer, request);
      case "step":
        return this.#train(trainer, { until: trainer.step + request.count, pace: 0, between: BETWEEN_REPORTS });
      case "pause":
        return this.#train(trainer, { ...this.#run, until: 0 });
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
    this.#run.until = 0;
    this.#reported = { step, time: performance.now() };
    this.reply({ type: "ready", step, steps, names, problems });
  }

  // Training

  /** Train from now on as this run tells, also if another run is in progress. @param {Trainer} trainer @param {{ until: number, pace: number, between: number }} run */
  #train(trainer, { until, pace, between }) {
    this.#run = { until, pace, between };
    this.#reported.time = performance.now();
    this.#slice(trainer);
  }

  /** @param {Trainer} trainer */
  #isRunning(trainer) {
    return trainer.canGoOn && trainer.step < this.#run.until;
  }

  /** Train for one slice, or take one step of a paced run; pending requests run before the next slice. @param {Trainer} trainer */
  #slice(trainer) {
    const { pace, between } = this.#run;
    const start = performance.now();
    clearTimeout(this.#timer);
    while (this.#isRunning(trainer)) {
      trainer.advance();
      if (pace || performance.now() > start + SLICE) break;
    }
    const isRunning = this.#isRunning(trainer);
    if (!isRunning || performance.now() - this.#reported.time >= between) this.#report(trainer);
    if (isRunning) this.#timer = setTimeout(() => this.#isRunning(trainer) && this.#slice(trainer), pace && start + 1000 / pace - performance.now());
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

  /** @param {Trainer} trainer @param {number} step */
  #goTo(trainer, step) {
    const furthest = trainer.losses.length;
    if (this.#reported.step < trainer.step) this.#report(trainer); // otherwise these losses would never be reported
    this.#run.until = 0;
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
