"""Compilation of kernels to machine code with LLVM."""
