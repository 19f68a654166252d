"""Machine code sums results over the lanes in the order of the C kernel, and runs chains on several vectors at once."""

from __future__ import annotations

import numpy
import pytest
from checkout import IS_COMPILED
from kernels import on_lanes, same

from gradwalk import grad, jit, loops, vmap
from gradwalk import math as gm
from gradwalk.backend import lane_kernel
from gradwalk.backend.cpu import lanes
from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.backend.llvm import vector_ir
from gradwalk.backend.llvm.lane_program import lane_program
from gradwalk.backend.llvm.side_by_side import FEWEST_VECTORS, vectors_side_by_side
from gradwalk.backend.loops.loop_kernel import LoopKernel
from gradwalk.backend.schedule.analysis import analyse
from gradwalk.backend.schedule.prologue import make_prologue
from gradwalk.program.code.opcodes import SUM
from gradwalk.program.routine.lower_calls import routine_on_lanes

pytest.importorskip("llvmlite")


def polynomial(c, t):
    total = c[-1]
    for each in c[-2::-1]:
        total = total * t + each
    return 0.5 * (gm.sin(t) - total) ** 2


def terms(c, t):
    """Return sums of a column, of products with one and two varying factors, of equal terms, and of a fixed number."""
    product = t[0] * t[1]
    return [t[0], t[0], product, product + c[0], c[0] * t[1], 2.0 * t[0] + t[1], c[0] * c[1], gm.exp(t[0]) * product]


def numbers(count, width=0):
    return numpy.random.default_rng(count).uniform(-1.0, 1.0, (count, width) if width else count)


def routine_of(step, *args):
    kernel = step.lower(*args).kernel
    if isinstance(kernel, LoopKernel):
        _, program = kernel.scheduled()
    else:
        schedule = kernel.schedule
        analysis = analyse(schedule.program, schedule.varies, schedule.reduced, schedule.apart)
        program = lane_program(analysis, make_prologue(analysis), has_sums=schedule.reduced)
    return routine_on_lanes(program.code, program.scalars, 16)


def assert_same_bits(step, kind, count, *args):
    """Check that machine code gives the bits of the C kernel."""
    kernel = step.lower(*args).kernel
    shared, columns = numpy.ravel(args[0]), [column.astype(kind) for column in numpy.atleast_2d(args[1].T)]
    other = LaneKernel(kernel.schedule.program, kernel.schedule.varies, reduced=kernel.reduced)
    other._compile(kind is numpy.float32)
    expected, found = [on_lanes(each, shared, columns, count, kind) for each in (kernel, other)]
    assert same(found, expected).all()


if IS_COMPILED:  # uncompiled kernels cannot run machine code

    @pytest.mark.parametrize("instruction_set", lane_kernel.INSTRUCTION_SETS)
    @pytest.mark.parametrize("kind", [numpy.float64, numpy.float32])
    @pytest.mark.parametrize("reduce", ["sum", None])
    @pytest.mark.parametrize("f", [grad(polynomial), terms], ids=["chain", "terms"])
    def test_bits_are_those_of_the_c_kernel(monkeypatch, instruction_set, kind, reduce, f):
        monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", instruction_set)
        step = jit(vmap(f, in_axes=(None, 0), reduce=reduce), backend="lanes")
        for count in (1, 15, 16, 63, 64, 65, 130, 300):
            t = numbers(count, 2) if f is terms else numbers(count)
            assert_same_bits(step, kind, count, numpy.linspace(0.1, 1.0, 300), t)


def test_terms_are_summed_where_they_are_computed():
    step = jit(vmap(terms, in_axes=(None, 0), reduce="sum"), backend="lanes")
    schedule = step.lower(numpy.ones(2), numpy.ones((40, 2))).kernel.schedule
    analysis = analyse(schedule.program, schedule.varies, reduced=True)
    program = lane_program(analysis, make_prologue(analysis), has_sums=True)
    assert not program.code.outputs
    assert program.sums == (program.code.instructions[::4] == SUM).sum() == 7
    assert not lane_program(analysis, make_prologue(analysis)).sums
    assert vector_ir.PARTIAL_SUMS == lanes.PARTIAL_SUMS


@pytest.mark.parametrize(("registers", "vectors"), [(32, 8), (16, 4), (8, 2)])
def test_chains_run_on_as_many_vectors_as_fit(registers, vectors):
    step = jit(vmap(grad(polynomial), in_axes=(None, 0), reduce="sum"), backend="lanes")
    assert vectors_side_by_side(routine_of(step, numpy.ones(300), numpy.ones(40)), registers) == vectors


def calling(c, t):
    for each in c:
        t = gm.sin(t * each)
    return t


def large(c, t):
    found = [t]
    for each in c:
        found.append(found[-1] * each + t)
    return [x * y for x, y in zip(found, reversed(found), strict=True)]


def searching(c, t):
    return loops.while_loop(lambda x: x * x > 0.5, lambda x: 0.5 * x, t) + polynomial(c, t)


def short(c, t):
    return polynomial(c[:3], t)


@pytest.mark.parametrize("f", [calling, large, searching, short])
def test_other_programs_run_on_two_vectors(f):
    step = jit(vmap(f, in_axes=(None, 0)), backend="lanes")
    assert vectors_side_by_side(routine_of(step, numpy.linspace(0.1, 1.0, 600), numpy.ones(40)), 32) == FEWEST_VECTORS
