"""Print LLVM IR, compile it, and keep the machine code."""
