// What plugins.js makes for the bundle.

declare module "*.css" {
  const text: string;
  export default text;
}

/** Of layered.js. */
declare module "layout-library" {
  /** Its `arranged`; the function needs nothing from outside it. */
  export function layouts(): typeof import("./layered.js").arranged;
}

/** Of microgpt/worker.js. */
declare module "training-library" {
  /** Its `serve`; the function needs nothing from outside it. */
  export function training(): typeof import("../microgpt/worker.js").serve;
}

/** Of cell/worker.js. */
declare module "python-library" {
  /** Its `python`; the function needs nothing from outside it. */
  export function pythonWorker(): typeof import("../cell/worker.js").python;
}
