"""`Program`: instructions in the order in which they are run, for numbers or for Values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk import ieee, native, rules
from gradwalk.engine import apply, refuses_nans
from gradwalk.rules import ARITIES, NAMES, SUMPROD

if TYPE_CHECKING:
    from gradwalk import _cython as cython
else:
    import cython

# Instructions that are no rows of the table.
CALL = SUMPROD + 1  # a result of a call in `calls`
MULADD = SUMPROD + 2  # x * y + z. Both round, as they do apart
MULSUB = SUMPROD + 3  # x * y - z
SUBMUL = SUMPROD + 4  # z - x * y
_muladd = cython.declare(cython.int, MULADD)
_mulsub = cython.declare(cython.int, MULSUB)
_submul = cython.declare(cython.int, SUBMUL)
_TEXTS = {MULADD: "{} * {} + {}", MULSUB: "{} * {} - {}", SUBMUL: "{2} - {0} * {1}"}


@cython.cclass
class Program:
    """What computes some outputs from some inputs. It is printed an instruction a line.

    `inputs`: how many there are. `constants`: numbers. `instructions`: int32, four numbers each, an opcode and the
    places of up to three operands. Places count the inputs first, then the constants, then the instructions.
    `calls`: (function, places of its operands) for the calls among the instructions, whose operands are a place in this
    list and the number of a result. `outputs`: places.
    """

    inputs = cython.declare(cython.int, visibility="readonly")
    outputs = cython.declare(list, visibility="readonly")
    calls = cython.declare(list, visibility="readonly")
    constants = cython.declare(object, visibility="readonly")
    instructions = cython.declare(object, visibility="readonly")
    _code: cython.p_int  # the instructions
    _length: cython.int  # four times how many there are
    _first: cython.int  # the place of the first one
    _values: cython.p_double  # the numbers by place
    _result: cython.p_int  # the places of all outputs
    _arrays: Any  # the numbers by place, and other arrays that the pointers point to
    _results: Any

    def __init__(self, inputs: cython.int, constants: list, instructions: Any, calls: list, outputs: list) -> None:
        self.inputs = inputs
        self.constants = constants
        self.instructions = instructions
        self.calls = calls
        self.outputs = outputs
        self._code = native.integers(instructions)
        self._length = len(instructions)
        self._first = inputs + len(constants)
        values = numpy.empty(self._first + self._length // 4)
        values[inputs : self._first] = constants
        self._arrays = values
        self._results = numpy.array(outputs, numpy.int32)
        self._result = native.integers(self._results)
        self._values = native.doubles(values)

    def __len__(self) -> int:
        """How many instructions there are."""
        return self._length // 4

    def __str__(self) -> str:
        lines = [f"v{i} = input {i}" for i in range(self.inputs)]
        lines += [f"v{i} = {number:g}" for i, number in enumerate(self.constants, start=len(lines))]
        for opcode, *places in self.instructions.reshape(-1, 4).tolist():
            if opcode == CALL:
                function, operands = self.calls[places[0]]
                text = f"{function.name}({', '.join(f'v{place}' for place in operands)})[{places[1]}]"
            elif opcode in _TEXTS:
                text = _TEXTS[opcode].format(*[f"v{place}" for place in places])
            else:
                text = f"{NAMES[opcode]}({', '.join(f'v{place}' for place in places[: ARITIES[opcode]])})"
            lines.append(f"v{len(lines)} = {text}")
        return "\n".join([*lines, f"return {', '.join(f'v{place}' for place in self.outputs)}"])

    def run(self, numbers: Any) -> Any:
        """The outputs for numbers, one an input: float64, contiguous, both of them."""
        outputs = numpy.empty(len(self.outputs))
        given: cython.p_double = native.doubles(numbers)
        output: cython.p_double = native.doubles(outputs)
        i: cython.int
        if len(numbers) != self.inputs:
            raise ValueError(f"a program with {self.inputs} inputs takes as many numbers, not {len(numbers)}")
        # a call may come back here, and uncompiled, another thread
        own = self._arrays.copy() if self.calls or not cython.compiled else self._arrays
        value: cython.p_double = native.doubles(own)
        for i in range(self.inputs):
            value[i] = given[i]
        _run(self, value)
        for i in range(len(self.outputs)):
            output[i] = value[self._result[i]]
        if refuses_nans():
            self._refuse_nans(own)
        return outputs

    def on_floats(self, numbers: tuple) -> Any:
        """The outputs, as a list, for a tuple of floats, one an input, by the shortest way.

        None where they are something else or another number of them, and where the program calls functions.
        """
        i: cython.int
        if len(numbers) != self.inputs or self.calls or refuses_nans():
            return None
        for i in range(self.inputs):
            if type(numbers[i]) is not float:
                return None
        if not cython.compiled:  # another thread may come in between
            return self.run(numpy.array(numbers)).tolist()
        for i in range(self.inputs):
            self._values[i] = numbers[i]
        _run(self, self._values)
        return [self._values[self._result[i]] for i in range(len(self.outputs))]

    def _refuse_nans(self, values: Any) -> None:
        """Raise `FloatingPointError` where some instruction has given nan or inf."""
        wrong = numpy.flatnonzero(~numpy.isfinite(values[self._first :]))
        if len(wrong):
            line = str(self).splitlines()[self._first + int(wrong[0])]
            raise FloatingPointError(
                f"a recorded function computed {line}, which gave {values[self._first + wrong[0]]}"
            )

    def __call__(self, operands: list[Any]) -> list[Any]:
        """The outputs for Values and floats, one an input: what depends on a Value is one."""
        results = _apply_all(self, [*operands, *self.constants])
        return [results[place] for place in self.outputs]


@cython.cfunc
def _apply_all(program: Program, results: list) -> list:
    """Run all instructions on the Values and floats in `results`, where each appends its own."""
    code: cython.p_int = program._code
    opcode: cython.int
    k: cython.int
    called: dict = {}
    for k in range(0, program._length, 4):
        opcode = code[k]
        if opcode >= CALL:
            results.append(_applied_specially(program, k, results, called))
            continue
        x = results[code[k + 1]]
        if rules.arity(opcode) == 1:
            results.append(apply(opcode, x))
        elif rules.arity(opcode) == 2:
            results.append(apply(opcode, x, results[code[k + 2]]))
        else:
            results.append(apply(opcode, x, results[code[k + 2]], results[code[k + 3]]))
    return results


def _applied_specially(program: Program, k: int, results: list[Any], called: dict[int, Any]) -> Any:
    """A result of a call, or of a product fused with a sum. `called`: the results of calls so far."""
    opcode, *places = program.instructions[k : k + 4].tolist()
    if opcode == CALL:
        which, position, _ = places
        if which not in called:
            function, operands = program.calls[which]
            called[which] = function.values([results[place] for place in operands])
        return called[which][position]
    x, y, z = [results[place] for place in places]
    return x * y + z if opcode == MULADD else x * y - z if opcode == MULSUB else z - x * y


@cython.cfunc
def _run(program: Program, value: cython.p_double) -> object:
    """Run all instructions on the numbers that stand in the places of the inputs and constants."""
    code: cython.p_int = program._code
    place: cython.int = program._first
    called: dict = {}
    opcode: cython.int
    k: cython.int
    x: cython.double
    y: cython.double
    z: cython.double
    out: cython.double
    for k in range(0, program._length, 4):
        opcode = code[k]
        x = value[code[k + 1]]
        y = value[code[k + 2]]
        z = value[code[k + 3]]
        # --- generated by tools/generate.py from ops.py: run ---
        if opcode == 1:  # add
            out = x + y
        elif opcode == 2:  # sub
            out = x - y
        elif opcode == 3:  # mul
            out = x * y
        elif opcode == 4:  # div
            out = ieee.div(x, y)
        elif opcode == 5:  # pow
            out = ieee.pow(x, y)
        elif opcode == 6:  # neg
            out = -x
        elif opcode == 7:  # abs
            out = ieee.fabs(x)
        elif opcode == 8:  # exp
            out = ieee.exp(x)
        elif opcode == 9:  # expm1
            out = ieee.expm1(x)
        elif opcode == 10:  # log
            out = ieee.log(x)
        elif opcode == 11:  # log2
            out = ieee.log2(x)
        elif opcode == 12:  # log10
            out = ieee.log10(x)
        elif opcode == 13:  # log1p
            out = ieee.log1p(x)
        elif opcode == 14:  # sqrt
            out = ieee.sqrt(x)
        elif opcode == 15:  # sin
            out = ieee.sin(x)
        elif opcode == 16:  # cos
            out = ieee.cos(x)
        elif opcode == 17:  # tan
            out = ieee.tan(x)
        elif opcode == 18:  # asin
            out = ieee.asin(x)
        elif opcode == 19:  # acos
            out = ieee.acos(x)
        elif opcode == 20:  # atan
            out = ieee.atan(x)
        elif opcode == 21:  # sinh
            out = ieee.sinh(x)
        elif opcode == 22:  # cosh
            out = ieee.cosh(x)
        elif opcode == 23:  # tanh
            out = ieee.tanh(x)
        elif opcode == 24:  # sigmoid
            out = ieee.div(ieee.exp(-ieee.fabs(x)) if x < 0.0 else 1.0, 1.0 + ieee.exp(-ieee.fabs(x)))
        elif opcode == 25:  # relu
            out = 0.0 if x < 0.0 else x
        elif opcode == 26:  # softplus
            out = (x if x > 0.0 else 0.0) + ieee.log1p(ieee.exp(-ieee.fabs(x)))
        elif opcode == 27:  # erf
            out = ieee.erf(x)
        elif opcode == 28:  # atan2
            out = ieee.atan2(x, y)
        elif opcode == 29:  # hypot
            out = ieee.hypot(x, y)
        elif opcode == 30:  # maximum
            out = y if x < y else (x if y == y else y)
        elif opcode == 31:  # minimum
            out = y if y < x else (x if y == y else y)
        elif opcode == 32:  # where
            out = y if x != 0.0 else z
        elif opcode == 33:  # sign
            out = ieee.sign(x)
        elif opcode == 34:  # less
            out = 1.0 if x < y else 0.0
        elif opcode == 35:  # less_equal
            out = 1.0 if x <= y else 0.0
        elif opcode == 36:  # equal
            out = 1.0 if x == y else 0.0
        elif opcode == 37:  # stop_gradient
            out = x
        # --- end of generated code ---
        elif opcode == _muladd:
            out = x * y + z
        elif opcode == _mulsub:
            out = x * y - z
        elif opcode == _submul:
            out = z - x * y
        else:
            out = _called(program, code[k + 1], code[k + 2], value, called)
        value[place] = out
        place += 1
    return None


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def _called(program: Program, which: int, position: int, value: cython.p_double, called: dict) -> cython.double:
    """A result of a call. `called`: the results of calls so far."""
    if which not in called:
        function, places = program.calls[which]
        called[which] = function.numbers([value[place] for place in places])
    return called[which][position]
