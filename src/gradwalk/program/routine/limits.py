"""Limits of the programs that are lowered to routines."""

from __future__ import annotations

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL

# Maximum number of instructions, without results of calls, and of table entries of a program. It limits the time of the
# search for loops.
MOST_SEARCHED = 500_000
# Default for the largest number of bytes that a loop stores for its reverse pass: see `Lowering` in lower_program.py.
MEMORY = 1 << 28


# The largest weight of a batch inside a program that becomes a loop of the routine.
_MOST_IN_LOOP = 20_000


def why_not_lowerable(code: Code, *, contract: bool = False) -> str:
    """Return the reason why a program cannot be lowered, or "".

    `contract` says whether the routine may compute a batch inside the program one sample after the other, which adds
    the results of the samples in another order. If the result is "", `routine` may still raise `TooLargeError`.
    """
    size = int((code.instructions[::4] != CALL).sum()) + sum(map(len, code.tables))
    if size > MOST_SEARCHED:
        return f"{size:,} instructions and table entries are too many: at most {MOST_SEARCHED:,}"
    refused = (call.refusal for call, _ in code.calls if not (contract and call.weight <= _MOST_IN_LOOP))
    return next(filter(None, refused), "")
