"""A graph while it is worked on: instructions that are simplified as they are appended, and differentiated.

An instruction is an opcode and up to three operands, places of earlier instructions. Appending one first looks whether
it is a constant, is equal to a simpler one for every number that IEEE 754 has, or stands there already. Everything here
is compiled and takes time linear in the number of instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.ops import c_compat, evaluate
from gradwalk.ops.evaluate import ARITIES, NAMES, SUMPROD
from gradwalk.ops.vjp_rules import ADJOINT, OUT, template
from gradwalk.program import program
from gradwalk.program.program import Program

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

INPUT = cython.declare(cython.int, 0)  # its first operand is the number of the input
CONSTANT = cython.declare(cython.int, -1)  # its operands are the halves of the number
CALL = cython.declare(cython.int, program.CALL)  # its operands are the place in `calls`, and which result it is

ADD = cython.declare(cython.int, NAMES.index("add"))
SUB = cython.declare(cython.int, NAMES.index("sub"))
MUL = cython.declare(cython.int, NAMES.index("mul"))
DIV = cython.declare(cython.int, NAMES.index("div"))
NEG = cython.declare(cython.int, NAMES.index("neg"))
POW = cython.declare(cython.int, NAMES.index("pow"))
WHERE = cython.declare(cython.int, NAMES.index("where"))
MULADD = cython.declare(cython.int, program.MULADD)
MULSUB = cython.declare(cython.int, program.MULSUB)
SUBMUL = cython.declare(cython.int, program.SUBMUL)
FUSED = cython.declare(cython.int, -1)  # for the number of uses of a product that is run with the sum that needs it
_OUT = cython.declare(cython.int, OUT)
_ADJOINT = cython.declare(cython.int, ADJOINT)
_SUMPROD = cython.declare(cython.int, SUMPROD)

NO_PLACE = -2  # where the place of an instruction could stand
NONE = cython.declare(cython.int, NO_PLACE)
_PROBES = cython.declare(cython.int, 4)  # how far from its own cell of the table an instruction is looked for
# The largest table fits into a processor's cache, which makes a large graph several times faster to work on. An
# instruction that stood more than about this many earlier may then not be found again.
_LARGEST_TABLE = cython.declare(cython.int, 1 << 16)


@cython.final
@cython.cclass
class Tape:
    """Instructions, operands before results; `calls` holds what the calls among them call.

    >>> tape = Tape()
    >>> x = tape.input()
    >>> y = tape.append("mul", x, x)
    >>> tape.append("mul", x, x) == y
    True
    >>> [gradient] = tape.reverse([(y, tape.constant(1.0))], [x])
    >>> print(tape.program([gradient]))
    program(v0):
      v1 = v0 + v0
      return v1
    """

    calls = cython.declare(list, visibility="readonly")
    inputs = cython.declare(cython.int, visibility="readonly")  # how many there are
    length: cython.int
    _capacity: cython.int
    _opcode: cython.p_int
    _x: cython.p_int
    _y: cython.p_int
    _z: cython.p_int
    _rows: Any  # the arrays that these point to
    _table: cython.p_int  # by hash: in each cell the rest of the hash, and the place of an instruction or NONE
    _mask: cython.int
    _cells: Any
    _stamp: Stamp

    def __init__(self, capacity: cython.int = 256) -> None:
        self.calls = []
        self.inputs = 0
        self.length = 0
        self._capacity = 0
        self._rows = []
        self._stamp = Stamp()
        self._reserve(max(capacity, 256))

    def __len__(self) -> int:
        return self.length

    # Appending

    def input(self) -> int:
        """The place of one more input."""
        self.inputs += 1
        return self._appended(INPUT, self.inputs - 1, 0, 0)

    def constant(self, number: cython.double) -> int:
        """The place of a constant."""
        return self._constant(number)

    def append(self, name: str, x: cython.int, y: cython.int = 0, z: cython.int = 0) -> int:
        """The place of an operation of the table on operands at these places."""
        return self._emit(NAMES.index(name), x, y, z)

    def call(self, function: Any, operands: list) -> int:
        """The place of the first result of a function's call with operands at these places; the others come after it.

        The function is a `Call` in blocks.py.
        """
        position: cython.int
        base: cython.int = self.length
        self.calls.append((function, operands, base))
        for position in range(function.outputs):
            self._appended(CALL, len(self.calls) - 1, position, 0)
        return base

    @cython.cfunc
    @cython.exceptval(-1)
    def _constant(self, number: cython.double) -> cython.int:
        return self._shared(CONSTANT, c_compat.low_bits(number), c_compat.high_bits(number), 0)

    @cython.cfunc
    @cython.exceptval(-1)
    def _emit(self, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        """The place of the simplest instruction that gives the same number."""
        arity: cython.int = evaluate.arity(opcode)
        if arity < 3:
            z = 0
        if arity < 2:
            y = 0
        if self._opcode[x] == CONSTANT and (arity < 2 or self._opcode[y] == CONSTANT):
            if arity < 3:
                return self._constant(evaluate.value(opcode, self._number(x), self._number(y), 0.0))
            return y if self._number(x) != 0.0 else z
        simpler: cython.int = self._simpler(opcode, x, y, z)
        if simpler != NONE:
            return simpler
        return self._shared(opcode, x, y, z)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _simpler(self, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        """The place of an equal instruction by an identity that is exact in IEEE 754, signed zeros and nan included."""
        if opcode == ADD:
            return self._simpler_sum(x, y)
        if opcode == SUB:
            return self._simpler_difference(x, y)
        if opcode == MUL:
            return self._simpler_product(x, y)
        if opcode == DIV:
            return self._simpler_quotient(x, y)
        if opcode == NEG and self._opcode[x] == NEG:
            return self._x[x]
        if opcode == POW and self._opcode[y] == CONSTANT:
            return self._simpler_power(x, self._number(y))
        if opcode == WHERE and self._opcode[x] == CONSTANT:
            return y if self._number(x) != 0.0 else z
        if opcode == WHERE and y == z:
            return y
        return NONE

    @cython.cfunc
    @cython.exceptval(-1)
    def _simpler_sum(self, x: cython.int, y: cython.int) -> cython.int:
        if self._opcode[y] == NEG:
            return self._emit(SUB, x, self._x[y], 0)
        if self._opcode[x] == NEG:
            return self._emit(SUB, y, self._x[x], 0)
        if self._is_minus_zero(y):
            return x
        return y if self._is_minus_zero(x) else NONE

    @cython.cfunc
    @cython.exceptval(-1)
    def _simpler_difference(self, x: cython.int, y: cython.int) -> cython.int:
        if self._opcode[y] == NEG:
            return self._emit(ADD, x, self._x[y], 0)
        if self._opcode[y] == CONSTANT and self._number(y) == 0.0 and not self._is_minus_zero(y):
            return x
        return self._emit(NEG, y, 0, 0) if self._is_minus_zero(x) else NONE

    @cython.cfunc
    @cython.exceptval(-1)
    def _simpler_product(self, x: cython.int, y: cython.int) -> cython.int:
        if self._opcode[x] == CONSTANT:
            x, y = y, x
        if self._opcode[y] == CONSTANT:
            if self._number(y) == 1.0:
                return x
            if self._number(y) == -1.0:
                return self._emit(NEG, x, 0, 0)
        if self._opcode[x] == NEG:
            return self._emit(NEG, self._emit(MUL, self._x[x], y, 0), 0, 0)
        if self._opcode[y] == NEG:
            return self._emit(NEG, self._emit(MUL, x, self._x[y], 0), 0, 0)
        return NONE

    @cython.cfunc
    @cython.exceptval(-1)
    def _simpler_quotient(self, x: cython.int, y: cython.int) -> cython.int:
        if self._opcode[y] == CONSTANT:
            if self._number(y) == 1.0:
                return x
            if self._number(y) == -1.0:
                return self._emit(NEG, x, 0, 0)
        if self._opcode[x] == NEG:
            return self._emit(NEG, self._emit(DIV, self._x[x], y, 0), 0, 0)
        return NONE

    @cython.cfunc
    @cython.exceptval(-1)
    def _simpler_power(self, x: cython.int, exponent: cython.double) -> cython.int:
        if exponent == 1.0:
            return x
        if exponent == 2.0:  # ieee.pow squares by multiplying
            return self._emit(MUL, x, x, 0)
        return self._constant(1.0) if exponent == 0.0 else NONE

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _number(self, place: cython.int) -> cython.double:
        """The number of a constant."""
        return c_compat.from_bits(self._x[place], self._y[place])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_minus_zero(self, place: cython.int) -> cython.bint:
        return self._opcode[place] == CONSTANT and self._x[place] == 0 and self._y[place] == -0x80000000

    @cython.cfunc
    @cython.exceptval(-1)
    def _shared(self, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        """The place of an instruction, appended if it does not stand there yet."""
        if 2 * self.length > self._mask and self._mask < _LARGEST_TABLE - 1:
            self._rehash(2 * (self._mask + 1))
        mixed: cython.int = self._mixed(opcode, x, y, z)
        probe: cython.int
        cell: cython.int
        for probe in range(_PROBES):
            cell = 2 * ((mixed + probe) & self._mask)
            if self._table[cell + 1] == NONE:
                break
            if self._table[cell] == mixed and self._is(self._table[cell + 1], opcode, x, y, z):
                return self._table[cell + 1]
        else:
            cell = 2 * ((mixed + (self.length & 3)) & self._mask)  # one of the earlier ones gives way
        self._table[cell] = mixed
        self._table[cell + 1] = self._appended(opcode, x, y, z)
        return self._table[cell + 1]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is(self, place: cython.int, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.bint:
        if self._opcode[place] != opcode or self._z[place] != z:
            return False
        if self._x[place] == x and self._y[place] == y:
            return True
        return opcode in (ADD, MUL) and self._x[place] == y and self._y[place] == x

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _mixed(self, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        """The hash of an instruction: its last bits say where in the table it is to be looked for."""
        if opcode in (ADD, MUL) and x > y:  # a + b is b + a
            x, y = y, x
        mixed: cython.ulonglong = x
        mixed = (mixed * 1000003 + y) * 1000003 + z
        mixed = (mixed * 1000003 + opcode) * 0x5BD1E995
        return (mixed >> 32) & 0x7FFFFFFF  # the same bits whether `mixed` has 64 of them or, uncompiled, any number

    @cython.cfunc
    @cython.exceptval(-1)
    def _appended(self, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        place: cython.int = self.length
        if place == self._capacity:
            self._reserve(2 * self._capacity)
        self._opcode[place] = opcode
        self._x[place] = x
        self._y[place] = y
        self._z[place] = z
        self.length = place + 1
        return place

    @cython.cfunc
    def _reserve(self, capacity: cython.int) -> object:
        """Make room for so many instructions."""
        rows = [numpy.empty(capacity, numpy.int32) for _ in range(4)]
        for row, earlier in zip(rows, self._rows, strict=False):
            row[: self.length] = earlier[: self.length]
        self._rows = rows
        self._opcode, self._x = c_compat.integers(rows[0]), c_compat.integers(rows[1])
        self._y, self._z = c_compat.integers(rows[2]), c_compat.integers(rows[3])
        if self._capacity == 0:
            self._capacity = capacity
            self._rehash(2 * capacity)
        self._capacity = capacity
        return None

    @cython.cfunc
    def _rehash(self, size: cython.int) -> object:
        """A larger table, or the first one: the smallest power of 2 from `size` on."""
        cells: cython.int = 1024
        while cells < size and cells < _LARGEST_TABLE:
            cells *= 2
        self._cells = numpy.full(2 * cells, NONE, numpy.int32)
        self._table = c_compat.integers(self._cells)
        self._mask = cells - 1
        place: cython.int
        mixed: cython.int
        probe: cython.int
        cell: cython.int
        for place in range(self.length):
            if self._opcode[place] == INPUT or self._opcode[place] == CALL:
                continue
            mixed = self._mixed(self._opcode[place], self._x[place], self._y[place], self._z[place])
            for probe in range(_PROBES):
                cell = 2 * ((mixed + probe) & self._mask)
                if self._table[cell + 1] == NONE:
                    self._table[cell] = mixed
                    self._table[cell + 1] = place
                    break
        return None

    # Whole graphs

    def load(self, opcodes: Any, offsets: Any, operands: Any, constants: Any, places: Any, functions: dict) -> None:
        """Append a graph, recorded as arrays by place. The places of its leaves on the tape stand in `places`.

        That is an array of int32, `NO_PLACE` at all other nodes, where their places are written. `functions`: the
        rules of nodes that are results of calls.
        """
        opcode: cython.p_int = c_compat.integers(opcodes)
        offset: cython.p_int = c_compat.integers(offsets)
        operand: cython.p_int = c_compat.integers(operands)
        constant: cython.p_double = c_compat.doubles(constants)
        place: cython.p_int = c_compat.integers(places)
        x: cython.int
        y: cython.int
        z: cython.int
        i: cython.int
        k: cython.int
        bases: dict = {}
        if self._capacity < self.length + 4 * len(opcodes):  # a gradient will follow
            self._reserve(self.length + 4 * len(opcodes))
        for i in range(len(opcodes)):
            if place[i] != NONE:
                continue
            k = offset[i]
            if opcode[i] == 0:
                result = functions[i]
                if id(result.operands) not in bases:
                    called = [self._operand(operand, constant, place, x) for x in range(k, offset[i + 1])]
                    bases[id(result.operands)] = self.call(result.call, called)
                place[i] = bases[id(result.operands)] + result.position
                continue
            if opcode[i] == _SUMPROD:
                place[i] = self._sum_of_products(operand, constant, place, k, offset[i + 1])
                continue
            x = self._operand(operand, constant, place, k)
            y = self._operand(operand, constant, place, k + 1) if offset[i + 1] > k + 1 else 0
            z = self._operand(operand, constant, place, k + 2) if offset[i + 1] > k + 2 else 0
            place[i] = self._emit(opcode[i], x, y, z)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _operand(
        self, operand: cython.p_int, constant: cython.p_double, place: cython.p_int, k: cython.int
    ) -> cython.int:
        return place[operand[k]] if operand[k] >= 0 else self._constant(constant[k])

    @cython.cfunc
    @cython.exceptval(-1)
    def _sum_of_products(
        self, operand: cython.p_int, constant: cython.p_double, place: cython.p_int, k: cython.int, end: cython.int
    ) -> cython.int:
        """start + p[0]*q[0] + p[1]*q[1] + ..., as the operations that it stands for."""
        n: cython.int = (end - k) // 2
        i: cython.int
        product: cython.int
        total: cython.int = self._operand(operand, constant, place, k)
        for i in range(k + 1, k + 1 + n):
            product = self._emit(
                MUL,
                self._operand(operand, constant, place, i),
                self._operand(operand, constant, place, i + n),
                0,
            )
            total = self._emit(ADD, total, product, 0)
        return total

    def reverse(self, seeds: list[tuple[int, int]], wrt: list[int]) -> list[int]:
        """The places of the adjoints of some instructions. `seeds`: places of results, and those of their adjoints."""
        n: cython.int = self.length
        actives = numpy.zeros(n, numpy.int32)
        adjoints = numpy.full(n, NONE, numpy.int32)
        active: cython.p_int = c_compat.integers(actives)
        adjoint: cython.p_int = c_compat.integers(adjoints)
        i: cython.int
        for i in wrt:
            active[i] = True
        self._spread(active)
        for i, seed in seeds:
            self._accumulate(adjoint, i, seed)
        for i in range(n - 1, -1, -1):
            if active[i] == 0 or self._opcode[i] <= 0:
                continue
            if self._opcode[i] == CALL:
                self._pull(actives, adjoints, i)
            elif adjoint[i] != NONE:
                self._pass_back(active, adjoint, i)
        return [self._or_zero(adjoint[i]) for i in wrt]

    @cython.cfunc
    def _spread(self, active: cython.p_int) -> object:
        """Make active what depends on something active, operands that nothing is passed to apart."""
        i: cython.int
        inert: cython.int
        for i in range(self.length):
            if self._opcode[i] == CALL:
                for operand in self.calls[self._x[i]][1]:
                    active[i] |= active[operand]
            elif self._opcode[i] > 0 and active[i] == 0:
                inert = evaluate.non_differentiable(self._opcode[i])
                if (
                    (not inert & 1 and active[self._x[i]])
                    or (not inert & 2 and evaluate.arity(self._opcode[i]) > 1 and active[self._y[i]])
                    or (not inert & 4 and evaluate.arity(self._opcode[i]) > 2 and active[self._z[i]])
                ):
                    active[i] = True
        return None

    @cython.cfunc
    @cython.inline
    def _pass_back(self, active: cython.p_int, adjoint: cython.p_int, i: cython.int) -> object:
        """What an instruction adds to the adjoints of its operands."""
        arity: cython.int = evaluate.arity(self._opcode[i])
        if active[self._x[i]]:
            self._accumulate(adjoint, self._x[i], self._stamped(i, 0, adjoint[i]))
        if arity > 1 and active[self._y[i]]:
            self._accumulate(adjoint, self._y[i], self._stamped(i, 1, adjoint[i]))
        if arity > 2 and active[self._z[i]]:
            self._accumulate(adjoint, self._z[i], self._stamped(i, 2, adjoint[i]))
        return None

    @cython.cfunc
    @cython.inline
    def _accumulate(self, adjoint: cython.p_int, place: cython.int, contribution: cython.int) -> object:
        if contribution != NONE:
            adjoint[place] = (
                contribution if adjoint[place] == NONE else self._emit(ADD, adjoint[place], contribution, 0)
            )
        return None

    def _pull(self, actives: Any, adjoints: Any, i: int) -> None:
        """The same for a call, when all of its results have their adjoints: at the first of them."""
        function, operands, base = self.calls[self._x[i]]
        seeds = adjoints[base : base + function.outputs].tolist()
        if i == base and any(seed != NONE for seed in seeds):
            for operand, passed in zip(operands, function.pull(self, operands, base, seeds), strict=True):
                if actives[operand]:
                    self._accumulate(c_compat.integers(adjoints), operand, passed)

    def forward(self, seeds: list[tuple[int, int]], outputs: list[int]) -> list[int]:
        """The places of the tangents of some results. `seeds`: places, and those of their tangents."""
        last: cython.int = max(outputs, default=-1)  # later ones, such as tangents made before, are not needed
        tangents = numpy.full(self.length, NONE, numpy.int32)
        tangent: cython.p_int = c_compat.integers(tangents)
        i: cython.int
        for i, seed in seeds:
            tangent[i] = seed
        for i in range(last + 1):
            if self._opcode[i] > 0 and tangent[i] == NONE:
                if self._opcode[i] == CALL:
                    self._push_call(tangents, i)
                else:
                    self._push(tangent, i)
        return [self._or_zero(tangent[i]) for i in outputs]

    @cython.cfunc
    @cython.inline
    def _push(self, tangent: cython.p_int, i: cython.int) -> object:
        """The tangent of an instruction from those of its operands."""
        arity: cython.int = evaluate.arity(self._opcode[i])
        if tangent[self._x[i]] != NONE:
            self._accumulate(tangent, i, self._stamped(i, 0, tangent[self._x[i]]))
        if arity > 1 and tangent[self._y[i]] != NONE:
            self._accumulate(tangent, i, self._stamped(i, 1, tangent[self._y[i]]))
        if arity > 2 and tangent[self._z[i]] != NONE:
            self._accumulate(tangent, i, self._stamped(i, 2, tangent[self._z[i]]))
        return None

    def _push_call(self, tangents: Any, i: int) -> None:
        function, operands, base = self.calls[self._x[i]]
        seeds = [int(tangents[operand]) for operand in operands]
        if i == base and any(seed != NONE for seed in seeds):
            tangents[base : base + function.outputs] = function.push(self, operands, base, seeds)

    @cython.cfunc
    @cython.exceptval(-1)
    def _or_zero(self, place: cython.int) -> cython.int:
        return place if place != NONE else self._constant(0.0)

    @cython.cfunc
    @cython.exceptval(-1)
    def _stamped(self, i: cython.int, position: cython.int, adjoint: cython.int) -> cython.int:
        """What an instruction passes to the operand at a position, for this adjoint; NONE for nothing."""
        stamp: Stamp = self._stamp
        which: cython.int = 3 * self._opcode[i] + position
        k: cython.int
        first: cython.int = stamp.first[which]
        last: cython.int = stamp.first[which + 1]
        for k in range(first, last):
            if stamp.opcode[k] == 0:
                stamp.places[k - first] = self._shared(CONSTANT, stamp.x[k], stamp.y[k], 0)
            else:
                stamp.places[k - first] = self._emit(
                    stamp.opcode[k],
                    self._referred(stamp.x[k], i, adjoint),
                    self._referred(stamp.y[k], i, adjoint),
                    self._referred(stamp.z[k], i, adjoint),
                )
        return NONE if stamp.result[which] == NOTHING else self._referred(stamp.result[which], i, adjoint)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _referred(self, reference: cython.int, i: cython.int, adjoint: cython.int) -> cython.int:
        """The place that a template's reference stands for, at an instruction."""
        if reference >= 0:
            return self._stamp.places[reference]
        if reference == _ADJOINT:
            return adjoint
        if reference == _OUT:
            return i
        return self._x[i] if reference == -1 else self._y[i] if reference == -2 else self._z[i]

    def inline(self, program: Program, operands: list) -> list:
        """Append a program, with operands at these places for its inputs; the places of its outputs."""
        code: cython.p_int = c_compat.integers(program.instructions)
        places = numpy.zeros(len(operands) + len(program.constants) + len(program), numpy.int32)
        place: cython.p_int = c_compat.integers(places)
        bases: dict = {}
        i: cython.int = 0
        k: cython.int
        for x in operands:
            place[i] = x
            i += 1
        for number in program.constants:
            place[i] = self._constant(number)
            i += 1
        for k in range(0, len(program.instructions), 4):
            if code[k] == CALL:
                function, given = program.calls[code[k + 1]]
                if code[k + 1] not in bases:
                    bases[code[k + 1]] = self.call(function, [place[x] for x in given])
                place[i] = bases[code[k + 1]] + code[k + 2]
            else:
                place[i] = self._unfused(code[k], place[code[k + 1]], place[code[k + 2]], place[code[k + 3]])
            i += 1
        return [place[x] for x in program.outputs]

    @cython.cfunc
    def _unfused(self, opcode: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        """The place of a program's instruction, products that were fused with sums being both."""
        if opcode < CALL:
            return self._emit(opcode, x, y, z)
        product: cython.int = self._emit(MUL, x, y, 0)
        if opcode == MULADD:
            return self._emit(ADD, product, z, 0)
        return self._emit(SUB, product, z, 0) if opcode == MULSUB else self._emit(SUB, z, product, 0)

    def program(self, outputs: list[int]) -> Program:
        """What the outputs need, and no more, ready to be run.

        A product that only one sum or difference needs is computed with it, by one instruction. Both round, as apart.
        """
        uses = numpy.zeros(self.length, numpy.int32)
        places = numpy.empty(self.length, numpy.int32)
        use: cython.p_int = c_compat.integers(uses)
        place: cython.p_int = c_compat.integers(places)
        constants: list = []
        calls: list = []
        i: cython.int
        for i in outputs:
            use[i] += 2  # an output is needed by itself, whatever else needs it
        steps: cython.int = self._count_uses(use)
        for i in range(self.length):
            if self._opcode[i] == INPUT:
                place[i] = self._x[i]
            elif self._opcode[i] == CONSTANT and use[i] > 0:
                place[i] = self.inputs + len(constants)
                constants.append(self._number(i))
        instructions = numpy.zeros(4 * steps, numpy.int32)
        self._write(c_compat.integers(instructions), place, use, self.inputs + len(constants), calls)
        return Program(self.inputs, constants, instructions, calls, [place[i] for i in outputs])

    @cython.cfunc
    def _count_uses(self, use: cython.p_int) -> cython.int:
        """Write how often each instruction is needed, FUSED where it is run with the one that needs it.

        Returns how many are run.
        """
        i: cython.int
        arity: cython.int
        steps: cython.int = 0
        for i in range(self.length - 1, -1, -1):
            if use[i] == 0 or self._opcode[i] <= 0:
                continue
            steps += 1
            if self._opcode[i] == CALL:
                for operand in self.calls[self._x[i]][1]:
                    use[operand] += 2
                continue
            arity = evaluate.arity(self._opcode[i])
            use[self._x[i]] += 1
            if arity > 1:
                use[self._y[i]] += 1
            if arity > 2:
                use[self._z[i]] += 1
        return steps - self._fuse(use)

    @cython.cfunc
    def _fuse(self, use: cython.p_int) -> cython.int:
        """Mark the products that only one sum or difference needs; how many there are."""
        i: cython.int
        product: cython.int
        fused: cython.int = 0
        for i in range(self.length):
            if use[i] > 0 and self._opcode[i] in (ADD, SUB):
                product = self._x[i] if use[self._x[i]] == 1 and self._opcode[self._x[i]] == MUL else self._y[i]
                if use[product] == 1 and self._opcode[product] == MUL:
                    use[product] = FUSED
                    fused += 1
        return fused

    @cython.cfunc
    def _write(
        self, instruction: cython.p_int, place: cython.p_int, use: cython.p_int, first: cython.int, calls: list
    ) -> object:
        """The instructions that are run, with new places, which are written too: `first` for the first of them."""
        i: cython.int
        k: cython.int = 0
        opcode: cython.int
        x: cython.int
        y: cython.int
        called: dict = {}  # where in `calls` those of the tape stand
        for i in range(self.length):
            opcode = self._opcode[i]
            if use[i] <= 0 or opcode <= 0:
                continue
            x, y = self._x[i], self._y[i]
            if opcode == CALL:
                if x not in called:
                    called[x] = len(calls)
                    calls.append((self.calls[x][0], [place[operand] for operand in self.calls[x][1]]))
                instruction[k] = CALL
                instruction[k + 1] = called[x]
                instruction[k + 2] = y
            elif use[x] == FUSED and opcode in (ADD, SUB):
                self._write_one(instruction, k, MULADD if opcode == ADD else MULSUB, place, self._x[x], self._y[x], y)
            elif opcode in (ADD, SUB) and use[y] == FUSED:
                self._write_one(instruction, k, MULADD if opcode == ADD else SUBMUL, place, self._x[y], self._y[y], x)
            else:
                self._write_one(instruction, k, opcode, place, x, y, self._z[i])
            place[i] = first
            first += 1
            k += 4
        return None

    @cython.cfunc
    @cython.inline
    def _write_one(
        self,
        instruction: cython.p_int,
        k: cython.int,
        opcode: cython.int,
        place: cython.p_int,
        x: cython.int,
        y: cython.int,
        z: cython.int,
    ) -> object:
        arity: cython.int = evaluate.arity(opcode) if opcode < CALL else 3
        instruction[k] = opcode
        instruction[k + 1] = place[x]
        instruction[k + 2] = place[y] if arity > 1 else 0
        instruction[k + 3] = place[z] if arity > 2 else 0
        return None


NOTHING = cython.declare(cython.int, -9)  # the result of a template that passes on nothing


@cython.final
@cython.cclass
class Stamp:
    """The templates of all rows as arrays; that of row `opcode` for the operand at `position` is 3 opcode + position.

    Those arrays are made once, and shared by all tapes.
    """

    first: cython.p_int  # of its instructions
    result: cython.p_int
    opcode: cython.p_int
    x: cython.p_int
    y: cython.p_int
    z: cython.p_int
    places: cython.p_int  # of the instructions being stamped out
    _rows: Any

    def __init__(self) -> None:
        if not _templates:
            _templates.extend(_flattened_templates())
        rows = [*_templates, numpy.zeros(64, numpy.int32)]
        self._rows = rows
        self.first, self.result = c_compat.integers(rows[0]), c_compat.integers(rows[1])
        self.opcode, self.x = c_compat.integers(rows[2]), c_compat.integers(rows[3])
        self.y, self.z = c_compat.integers(rows[4]), c_compat.integers(rows[5])
        self.places = c_compat.integers(rows[6])


_templates: list[Any] = []


def _flattened_templates() -> list[Any]:
    first, result = [0, 0, 0], [-9, -9, -9]
    instructions: list[tuple[int, ...]] = []
    for opcode in range(1, SUMPROD):
        for position in range(3):
            first.append(len(instructions))
            found = template(opcode, position) if position < ARITIES[opcode] else None
            result.append(-9 if found is None else found.result)
            for code, operands, number in found.instructions if found is not None else ():
                if code == 0:
                    instructions.append((0, c_compat.low_bits(number), c_compat.high_bits(number), 0))
                else:
                    instructions.append((code, *(*operands, 0, 0, 0)[:3]))
    first.append(len(instructions))
    columns = zip(*instructions, strict=True)
    return [numpy.array(row, numpy.int32) for row in (first, result, *columns)]
