// The functions of real numbers that formulas are written in, by name.

export * from "./libm.js";
export * from "./special.js";
