"""Print programs as LLVM IR, compile them, and cache the machine code."""
