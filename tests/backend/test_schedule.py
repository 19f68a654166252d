"""Schedules compute what their programs say, and overwrite no slot that is still needed."""

from __future__ import annotations

import dataclasses
from collections import Counter
from functools import partial, reduce

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import ALL, Case, arity, cases, opcode
from programs import fewer

from gradwalk.backend.schedule.encoding import FORMS, WIDTH
from gradwalk.backend.schedule.schedule import make_schedule
from gradwalk.program.calls.call import Call
from gradwalk.program.code.opcodes import DOT, LOAD, STORE, SUM
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape

ADD, MUL, SIN = opcode("add"), opcode("mul"), opcode("sin")
MULADD = opcode("muladd")


class Expressions:
    """Hash-consed expressions: equal expressions have equal ids, and operands have smaller ids than results."""

    def __init__(self):
        self.numbers = {}
        self.known = []

    def of(self, *key):
        if key not in self.numbers:
            self.numbers[key] = len(self.known)
            self.known.append(key)
        return self.numbers[key]

    def of_program(self, program, inputs):
        """Return the expression of every index of a program, given the expressions of its inputs."""
        expressions = [*inputs, *(self.of("constant", constant.hex()) for constant in program.constants)]
        for code, *used in program.instructions.reshape(-1, 4).tolist():
            expressions.append(self.of(code, *[expressions[index] for index in used[: arity(code)]]))
        return expressions

    def terms(self, sums):
        """Split sums into terms as far as possible, and count each product and each other term."""
        count = Counter(sums)
        found = Counter()
        for number in range(len(self.known) - 1, -1, -1):
            times = count[number]
            if times == 0:
                continue
            kind, *operands = self.known[number]
            if kind == ADD:
                count.update(dict.fromkeys(operands, 0))
                for operand in operands:
                    count[operand] += times
            elif kind in (MUL, MULADD):
                found[tuple(sorted(operands[:2]))] += times
                for operand in operands[2:]:
                    count[operand] += times
            else:
                found[number,] += times
        return found


class Run:
    """A schedule executed on expressions instead of numbers."""

    def __init__(self, case, reduced):
        self.schedule = make_schedule(case.program, case.varies, reduced=reduced)
        self.expressions = Expressions()
        inputs = [self.expressions.of("input", i) for i in range(case.program.inputs)]
        self.expression_of = self.expressions.of_program(case.program, inputs)
        self.varying = [x for x, varies in zip(inputs, case.varies, strict=True) if varies]
        fixed = [x for x, varies in zip(inputs, case.varies, strict=True) if not varies]
        prologue = self.expressions.of_program(self.schedule.prologue, fixed)
        self.computed_once = [prologue[index] for index in self.schedule.prologue.outputs]
        self.stored = {}
        self.sums = {}
        self.slots = set()
        self.read = []  # (instruction that wrote it, expression)
        self.done = Counter()
        self._written = {}  # by slot: (instruction that wrote it, expression)
        self._borrowed = set()  # slots that may alias the caller's memory
        for k, (operation, *fields) in enumerate(self.schedule.code.reshape(-1, WIDTH).tolist()):
            self._step(k, *divmod(operation, FORMS), *fields)

    def _step(self, k, code, form, out, *indices):
        count = {LOAD: 0, STORE: 1, SUM: 1, DOT: 2}.get(code) if code >= LOAD else arity(code)
        assert form < 2**count, "form bit set for a missing operand"
        assert not any(indices[max(count, 1) :]), "unused operand fields must be 0"
        operands = [self._operand(form >> i & 1, index) for i, index in enumerate(indices[:count])]
        if code == LOAD:
            self._write(k, out, self.varying[indices[0]])
            self._borrowed.add(out)
        elif code == STORE:
            assert form == 0
            assert out not in self.stored
            [self.stored[out]] = operands
        elif code == SUM:
            self.sums.setdefault(out, []).extend(operands)
        elif code == DOT:
            assert form in (0, 2)
            self.sums.setdefault(out, []).append(self.expressions.of(MUL, *operands))
        else:
            assert form < 2**count - 1, "at least one operand must vary over the batch"
            assert out not in self._borrowed, "result written to a slot that held an input"
            self._write(k, out, self.expressions.of(code, *operands))

    def _operand(self, is_scalar, index):
        if is_scalar:
            assert 0 <= index < self.schedule.scalars
            return self.computed_once[index]
        assert index in self._written, "slot is read before it is written"
        self.read.append(self._written[index])
        return self._written[index][1]

    def _write(self, k, slot, expression):
        self.done[expression] += 1
        self.slots.add(slot)
        self._written[slot] = k, expression


@fewer(3)
@given(cases(ALL, longest=16))
def test_outputs_match_the_program(case):
    run = Run(case, reduced=False)
    wanted = [run.expression_of[index] for index in case.program.outputs]
    fixed = dict(zip(run.schedule.fixed, run.computed_once[run.schedule.scalars :], strict=True))
    assert {**run.stored, **fixed} == dict(enumerate(wanted))
    assert not run.stored.keys() & fixed.keys()


@fewer(3)
@given(cases(["add", "add", "mul", "muladd", "muladd", "sub", "sin"], longest=16))
def test_sums_match_the_program(case):
    run = Run(case, reduced=True)
    fixed = dict(zip(run.schedule.fixed, run.computed_once[run.schedule.scalars :], strict=True))
    for position, index in enumerate(case.program.outputs):
        if position in fixed:
            assert fixed[position] == run.expression_of[index]
            assert position not in run.sums
        else:
            wanted = run.expressions.terms([run.expression_of[index]])
            assert run.expressions.terms(run.sums[position]) == wanted


@fewer(3)
@given(cases(ALL, longest=16), st.booleans())
def test_no_instruction_is_repeated_or_unused(case, reduced):
    run = Run(case, reduced)
    by_expression = Counter(run.expression_of)
    assert all(times <= by_expression[expression] for expression, times in run.done.items())
    written = [(k, x) for k, x in enumerate(run.schedule.code.reshape(-1, WIDTH)[:, 0] // FORMS) if x < STORE]
    assert {k for k, _ in written} == {k for k, _ in run.read}
    assert len(run.schedule) == len(run.schedule.code) // WIDTH


@fewer(3)
@given(cases(ALL, longest=16), st.booleans())
def test_every_slot_is_used(case, reduced):
    run = Run(case, reduced)
    assert run.slots == set(range(run.schedule.slots))


@fewer(3)
@given(cases(ALL, longest=16), st.booleans())
def test_unbatched_values_are_computed_in_the_prologue(case, reduced):
    run = Run(case, reduced)
    varies = [*case.varies, *[False] * len(case.program.constants)]
    for code, *indices in case.program.instructions.reshape(-1, 4).tolist():
        varies.append(any(varies[index] for index in indices[: arity(code)]))
    assert list(run.schedule.fixed) == [i for i, index in enumerate(case.program.outputs) if not varies[index]]
    assert run.schedule.prologue.inputs == case.varies.count(False)
    fixed = {run.expression_of[index] for index, varying in enumerate(varies) if not varying}
    assert fixed >= set(run.computed_once)
    assert not fixed & run.done.keys()


@fewer(10)
@given(cases(ALL, longest=16), st.booleans())
def test_the_text_has_a_line_per_instruction(case, reduced):
    schedule = make_schedule(case.program, case.varies, reduced=reduced)
    lines = str(schedule).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("for each block of lanes, in "))
    assert lines[0] == "uniform prologue:"
    assert len(lines) == start + 1 + len(schedule) + len(schedule.fixed)


def test_the_text_of_a_schedule():
    tape = Tape()
    rate, x, y = tape.input(), tape.input(), tape.input()
    scaled = tape.append("mul", tape.append("exp", rate), x)
    out = tape.append("where", tape.append("less", x, y), tape.append("sub", scaled, y), tape.constant(2.0))
    program = tape.program([out, tape.append("neg", rate)])
    assert str(make_schedule(program, [False, True, True], reduced=False)).splitlines() == [
        "uniform prologue:",
        "  v2 = exp(v0)",
        "  v3 = -v0",
        "for each block of lanes, in 4 slots:",
        "  r0 = column 0",
        "  r1 = column 1",
        "  r2 = less(r0, r1)",
        "  r3 = v2 * r0 - r1",
        "  r3 = where(r2, r3, 2.0)",
        "  output 0 = r3",
        "output 1 = v3",
    ]
    named = make_schedule(program.named(["rate", "x", "y"], []), [False, True, True], reduced=True)
    assert {"  v2 = exp(rate)", "  r0 = x", "  r1 = y", "  output 0 += the sum of r3"} <= set(str(named).splitlines())


def chain(count, name="mul"):
    """Build a program of `count` instructions, each on the previous result and the input."""
    code = [[opcode(name), 0, 0, 0], *([opcode(name), index, 0, 0] for index in range(1, count))]
    return Case(Program(1, [], numpy.array(code, numpy.int32).ravel(), [], [count]), (True,))


def test_a_chain_takes_two_slots():
    assert Run(chain(500), reduced=False).schedule.slots == 2


def test_inputs_are_summed_within_each_sample_first():
    code = [[ADD, 0, 1, 0], *([ADD, 98 + index, index, 0] for index in range(2, 100))]
    case = Case(Program(100, [], numpy.array(code, numpy.int32).ravel(), [], [198]), (True,) * 100)
    assert Run(case, reduced=False).schedule.slots == 3
    reduced = Run(case, reduced=True).schedule
    assert reduced.slots == 3  # sums of single terms could overflow although the sums of samples do not
    assert len(reduced) == 200


def test_stored_results_free_their_slots():
    count = 200
    code = [[SIN, 0, 0, 0]] * count
    case = Case(Program(1, [], numpy.array(code, numpy.int32).ravel(), [], list(range(1, count + 1))), (True,))
    assert Run(case, reduced=False).schedule.slots == 2


def test_gradients_of_many_parameters_take_few_slots():
    # In a linear model with squared loss, each gradient is a product that is accumulated immediately.
    tape = Tape()
    weights = [tape.input() for _ in range(50)]
    features = [tape.input() for _ in range(50)]
    total = tape.constant(0.0)
    for weight, feature in zip(weights, features, strict=True):
        total = tape.append("add", total, tape.append("mul", weight, feature))
    loss = tape.append("mul", total, total)
    program = tape.program([loss, *tape.reverse([(loss, tape.constant(1.0))], weights)])
    schedule = Run(Case(program, (False,) * 50 + (True,) * 50), reduced=True).schedule
    assert schedule.slots <= 53
    assert str(schedule).count("+= the sum of r") == 51


@pytest.mark.parametrize("products", [1, 2, 3, 7])
def test_a_sum_of_few_products_is_split(products):
    # A sum of three or more products is first computed for each sample.
    tape = Tape()
    numbers = [tape.input() for _ in range(2 * products)]
    terms = [tape.append("mul", x, y) for x, y in zip(numbers[:products], numbers[products:], strict=True)]
    program = tape.program([reduce(partial(tape.append, "add"), terms)])
    schedule = Run(Case(program, (True,) * len(numbers)), reduced=True).schedule
    assert str(schedule).count("+= the sum of r") == (products if products <= 2 else 1)
    assert schedule.apart == (products == 2)


def test_empty_programs_and_programs_without_outputs():
    for reduced in (False, True):
        for case in (
            Case(Program(1, [], numpy.array([SIN, 0, 0, 0], numpy.int32), [], []), (True,)),
            Case(Program(0, [], numpy.array([], numpy.int32), [], []), ()),
        ):
            schedule = Run(case, reduced).schedule
            assert (len(schedule), schedule.slots, schedule.fixed) == (0, 0, ())


class Square(Call):
    """A call of a Python function."""

    name = "square"

    def numbers(self, operands):
        return operands**2


def test_python_functions_run_once_or_are_refused():
    tape = Tape()
    x, y = tape.input(), tape.input()
    program = tape.program([tape.append("mul", tape.call(Square(), [x]), y)])
    schedule = make_schedule(program, [False, True], reduced=False)
    assert schedule.prologue.run(numpy.array([3.0])).tolist() == [9.0]
    with pytest.raises(ValueError, match="cannot run square on a batch: it is a Python function"):
        make_schedule(program, [True, True], reduced=False)


def test_schedules_are_immutable():
    schedule = make_schedule(chain(3).program, (True,), reduced=False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        schedule.slots = 1
    with pytest.raises(ValueError, match="read-only"):
        schedule.code[0] = 1
