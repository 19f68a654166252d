"""Lower a tape to a `Program`: keep only the instructions that the outputs need, and fuse products into sums.

If a product is used only once, and by a sum or difference, both operations are fused into one instruction. The
operation table defines the fused operations. Both operations are still rounded separately, so results do not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, TAKE
from gradwalk.program.instructions.instruction_store import CONSTANT, INPUT, InstructionStore
from gradwalk.program.program import Program, trusted

if not TYPE_CHECKING and cython.compiled:
    import cython

_input = cython.declare(cython.int, INPUT)
_constant = cython.declare(cython.int, CONSTANT)
_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)
_inner = cython.declare(cython.int, -1)  # marks an instruction that is fused into the instruction that uses it


def lower(store: InstructionStore, outputs: list[int]) -> Program:
    """Return a program with the instructions that `outputs` depend on. All inputs of the tape are its inputs."""
    use_cells = numpy.zeros(store.length, numpy.int32)  # per instruction: how often it is used
    fused_cells = numpy.zeros(store.length, numpy.int32)  # see `_fuse`
    index_cells = numpy.empty(store.length, numpy.int32)  # per instruction: its index in the program
    use: cython.p_int = c_compat.integers(use_cells)
    fused: cython.p_int = c_compat.integers(fused_cells)
    index: cython.p_int = c_compat.integers(index_cells)
    constants: list = []
    calls: list = []
    tables: list = []
    i: cython.int
    for i in outputs:
        use[i] += 2  # counted twice, so that an output is never fused into another instruction
    steps: cython.int = _count_uses(store, use) - _fuse(store, use, fused)
    for i in range(store.length):
        if store.opcode[i] == _input:
            index[i] = store.x[i]
        elif store.opcode[i] == _constant and use[i] > 0:
            index[i] = store.inputs + len(constants)
            constants.append(store.number(i))
    instructions = numpy.zeros(4 * steps, numpy.int32)
    _write(store, c_compat.integers(instructions), index, use, fused, store.inputs + len(constants), calls, tables)
    return trusted(Code(store.inputs, constants, instructions, calls, [index[i] for i in outputs], tables=tables))


@cython.cfunc
def _count_uses(store: InstructionStore, use: cython.p_int) -> cython.int:
    """Write the number of uses of each instruction to `use`; return the number of instructions that are used."""
    i: cython.int
    arity: cython.int
    steps: cython.int = 0
    latest: cython.int = -1  # the call whose results were visited last; the results of a call are adjacent
    for i in range(store.length - 1, -1, -1):
        if use[i] == 0 or store.opcode[i] <= 0:
            continue
        steps += 1
        if store.opcode[i] == _call:
            if store.x[i] != latest:
                latest = store.x[i]
                for operand in store.calls[latest][1]:
                    use[operand] += 2
            continue
        if store.opcode[i] == _take:
            use[store.x[i]] += 1
            for operand in store.tables[store.y[i]]:
                use[operand] += 1
            continue
        arity = evaluate.arity(store.opcode[i])
        use[store.x[i]] += 1
        if arity > 1:
            use[store.y[i]] += 1
        if arity > 2:
            use[store.z[i]] += 1
    return steps


@cython.cfunc
def _fuse(store: InstructionStore, use: cython.p_int, fused: cython.p_int) -> cython.int:
    """Choose the products to fuse; return their number.

    In `fused`, the entry of a fused sum or difference is set to the fused opcode, and the entry of its product to -1.
    """
    i: cython.int
    position: cython.int
    operand: cython.int
    opcode: cython.int
    count: cython.int = 0
    for i in range(store.length):
        if use[i] == 0 or store.opcode[i] <= 0 or evaluate.arity(store.opcode[i]) == 0:
            continue
        for position in range(2):
            operand = store.y[i] if position else store.x[i]
            opcode = evaluate.fusion(store.opcode[i], position, store.opcode[operand])
            if opcode != 0 and use[operand] == 1 and fused[operand] == 0:
                fused[i] = opcode
                fused[operand] = _inner
                count += 1
                break
    return count


@cython.cfunc
def _write(
    store: InstructionStore,
    code: cython.p_int,
    index: cython.p_int,
    use: cython.p_int,
    fused: cython.p_int,
    first: cython.int,
    calls: list,
    tables: list,
) -> object:
    """Write the instructions, calls and tables of a program to `code`, `calls` and `tables`.

    The index of each instruction in the program is written to `index`; `first` is the index of the first instruction.
    """
    i: cython.int
    k: cython.int = 0
    opcode: cython.int
    x: cython.int
    y: cython.int
    numbers: dict = {}  # position of a call on the tape -> its position in the program
    table_numbers: dict = {}  # position of a table on the tape -> its position in the program
    for i in range(store.length):
        opcode = store.opcode[i]
        if use[i] == 0 or opcode <= 0 or fused[i] == _inner:
            continue
        x, y = store.x[i], store.y[i]
        if opcode == _call:
            if x not in numbers:
                numbers[x] = len(calls)
                calls.append((store.calls[x][0], [index[operand] for operand in store.calls[x][1]]))
            code[k], code[k + 1], code[k + 2] = _call, numbers[x], y
        elif opcode == _take:
            if y not in table_numbers:
                table_numbers[y] = len(tables)
                tables.append([index[operand] for operand in store.tables[y]])
            code[k], code[k + 1], code[k + 2] = _take, index[x], table_numbers[y]
        elif fused[i] == 0:
            _write_row(code, k, opcode, index, x, y, store.z[i])
        elif fused[x] == _inner:
            _write_row(code, k, fused[i], index, store.x[x], store.y[x], y)
        else:
            _write_row(code, k, fused[i], index, store.x[y], store.y[y], x)
        index[i] = first
        first += 1
        k += 4
    return None


@cython.cfunc
@cython.inline
def _write_row(
    code: cython.p_int,
    k: cython.int,
    opcode: cython.int,
    index: cython.p_int,
    x: cython.int,
    y: cython.int,
    z: cython.int,
) -> object:
    """Write an instruction to `code`. Its operands are converted from tape indices to indices in the program."""
    arity: cython.int = evaluate.arity(opcode)
    code[k] = opcode
    code[k + 1] = index[x]
    code[k + 2] = index[y] if arity > 1 else 0
    code[k + 3] = index[z] if arity > 2 else 0
    return None
