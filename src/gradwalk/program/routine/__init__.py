"""Routines: programs with loops, branches and arrays, ready to be printed in a language such as LLVM IR."""
