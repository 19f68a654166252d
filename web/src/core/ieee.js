// All real functions that formulas can call, by name.

export * from "./libm.js";
export * from "./special.js";
