"""Find out whether a program is linear in some of its inputs, which transposition requires."""

from __future__ import annotations

from collections.abc import Sequence

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, NAMES, TAKE

# For each linear operation, the products of operands that are added: the positions of the factors.
_SUMS = {
    "add": ((0,), (1,)),
    "sub": ((0,), (1,)),
    "neg": ((0,),),
    "mul": ((0, 1),),
    "muladd": ((0, 1), (2,)),
    "mulsub": ((0, 1), (2,)),
    "submul": ((0, 1), (2,)),
}


def nonlinear_operation(code: Code, varies: Sequence[bool]) -> str:
    """Return the name of an operation that is not linear in the inputs marked in `varies`, or "".

    Results of calls, such as loops, are assumed to be linear in their operands.
    """
    zeros = {code.inputs + i for i, number in enumerate(code.constants) if number == 0.0}
    depends = code.depending(varies)
    for index, (opcode, *operands) in enumerate(code.rows, code.first):
        if not depends[index]:
            if _is_zero(opcode, operands, zeros):
                zeros.add(index)
        elif opcode != CALL and not _is_linear(code, opcode, operands, depends, zeros):
            return NAMES[opcode]
    outside = [index for index in code.outputs if not depends[index] and index not in zeros]
    return "a result that does not depend on them" if outside else ""


def _is_zero(opcode: int, operands: Sequence[int], zeros: set[int]) -> bool:
    """Return whether a result is 0 for finite operands, such as the product of a number and a tangent of 0."""
    factors_of_terms = ((0,),) if NAMES[opcode] == "div" else _SUMS.get(NAMES[opcode], ())
    terms = [any(operands[i] in zeros for i in factors) for factors in factors_of_terms]
    return bool(terms) and all(terms)


def _is_linear(code: Code, opcode: int, operands: Sequence[int], depends: Sequence[bool], zeros: set[int]) -> bool:
    """Return whether an instruction is linear in the operands that depend on the inputs."""
    name = NAMES[opcode]
    if name == "div":
        return not depends[operands[1]]
    if name in ("where", "take"):
        entries = code.tables[operands[1]] if opcode == TAKE else operands[1:]
        return not depends[operands[0]] and all(depends[index] or index in zeros for index in entries)
    if name not in _SUMS:
        return False
    return all(_is_linear_product([operands[i] for i in factors], depends, zeros) for factors in _SUMS[name])


def _is_linear_product(factors: Sequence[int], depends: Sequence[bool], zeros: set[int]) -> bool:
    return sum(depends[index] for index in factors) == 1 or any(index in zeros for index in factors)
