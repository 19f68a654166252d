"""PTX: its form, what is needed to run it, and the numbers of the same IR where this machine runs it."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import ALL, EXACT, cases, on_lanes
from programs import fewer

from gradwalk import grad, jit, loops, value_and_grad, vmap
from gradwalk import math as gm
from gradwalk.backend.executor import LaneKernel
from gradwalk.backend.llvm import ptx
from gradwalk.backend.llvm.lane_machine import _addresses
from gradwalk.backend.llvm.lane_program import lane_program
from gradwalk.backend.llvm.vector_ir import Target, Vectors, lane_ir
from gradwalk.backend.schedule.analysis import analyse
from gradwalk.backend.schedule.prologue import make_prologue
from gradwalk.program import machine_code
from gradwalk.program.fold import fold
from gradwalk.program.llvm_body import Type
from gradwalk.program.machine_code import assembled

pytest.importorskip("llvmlite")

# What stands for NVIDIA's library where that is not: the same names, with other functions.
STAND_IN = "\n".join(
    f"define {kind} @__nv_{name}{suffix}({kind} %x) {{\n  %y = fmul {kind} %x, %x\n  ret {kind} %y\n}}"
    for name in ("exp", "sin", "cos", "unused")
    for kind, suffix in (("double", ""), ("float", "f"))
)


@pytest.fixture(scope="module")
def libdevice(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("cuda") / "libdevice.10.bc"
    with machine_code.native() as llvm:
        path.write_bytes(llvm.parse_assembly(STAND_IN).as_bitcode())
    return path


def damped(scale, x):
    """A loop that is recorded flat, and its way back."""
    for _ in range(30):
        x = x * 0.9 + scale * gm.sin(x)
    return x


def kernel(f=damped):
    return jit(vmap(value_and_grad(f, argnums=(0, 1)), in_axes=(None, 0))).lower(0.1, numpy.ones(4)).kernel


@pytest.mark.parametrize("single", [False, True])
def test_the_form(libdevice, single):
    found = kernel().to_ptx(single=single, target="sm_80", libdevice=libdevice)
    assert ".target sm_80" in found.source
    assert re.findall(r"\.visible \.entry (\w+)\(", found.source) == [found.name]
    assert ".func" not in found.source  # what is called is part of the kernel, and the rest of the library is left out
    assert "unused" not in found.source
    assert found.columns == (0,)
    assert found.outputs == (0, 1, 2)
    assert found.scalars == len(found.prologue.run(numpy.array([0.1])))
    assert (".f32" in found.source) == single
    assert len(found.source.splitlines()) < 250  # a loop is one: written out, there would be thousands


def test_arithmetic_needs_no_library():
    found = kernel(lambda scale, x: scale * x * x / (1.0 + x)).to_ptx()
    assert "div.rn.f64" in found.source
    assert "fma" not in found.source  # products and sums round apart


def test_products_and_sums_are_contracted_on_request():
    f = jit(vmap(lambda x, y, z: x * y + z), contract=True)
    f(*numpy.ones((3, 5)))
    assert "fma.rn.f64" in f.kernel.to_ptx().source


def test_outputs_that_are_inputs_or_the_same_for_all():
    f = vmap(lambda a, x, y: (y, a * 2.0, x + a, y), in_axes=(None, 0, 0))
    found = jit(f).lower(1.0, numpy.ones(3), numpy.ones(3)).kernel.to_ptx()
    assert found.outputs == (0, 2, 3)
    assert found.prologue.run(numpy.array([3.0])).tolist()[found.scalars :] == [6.0]


def library(stand_in: Path) -> Path:
    """NVIDIA's library where CUDA is installed with its assembler, else what stands for it."""
    folders = [] if shutil.which("ptxas") is None else Path("/usr/local").glob("cuda*")
    return next((path for folder in folders if (path := folder / ptx._LIBDEVICE).is_file()), stand_in)


@pytest.mark.parametrize("f", [damped, lambda a, x: gm.exp(gm.take([x, a, x * a], a) / x), gm.maximum])
def test_nvidias_assembler_takes_it_where_it_is_installed(f, tmp_path, libdevice):
    path = tmp_path / "kernel.ptx"
    path.write_text(kernel(f).to_ptx(target="sm_80", libdevice=library(libdevice)).source)
    if shutil.which("ptxas") is not None:
        subprocess.run(["ptxas", "-arch=sm_80", path.name, "-o", "cubin"], cwd=tmp_path, check=True, timeout=120)
    assert ".entry" in path.read_text()


# The C library's functions of one number and of vectors differ by some ulp, which differences of their results magnify.
ALIKE = st.one_of(cases(list(EXACT)), cases(ALL, longest=1))


@fewer(4)
@given(case=ALIKE, count=st.sampled_from([1, 5, 40]), seed=st.integers(0, 2**32 - 1))
def test_the_same_ir_for_one_sample_at_a_time_gives_the_numbers_of_lanes(case, count, seed):
    shared, columns = case.batch(seed, count)
    analysis = analyse(case.program, case.varies, reduced=False)
    prologue = make_prologue(analysis)
    found = lane_program(analysis, prologue)
    target = Target(Type("double", 1), Vectors(1, "", frozenset()), contract=False)
    source, cells = lane_ir(found.code, fold(found.code), target)
    code = assembled(source, _addresses(source, {}))
    scalars = prologue.program.run(shared)
    given_rows = [numpy.ascontiguousarray(column, float) for column in columns]
    read = found.schedule.reshape(-1, 5)[: found.code.inputs, 2]
    rows = [given_rows[column] for column in read] + [numpy.zeros(count) for _ in found.code.outputs]
    addresses = numpy.array([row.ctypes.data for row in rows] or [0])
    memory = numpy.zeros(cells + 1)
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_long)
    signature(code.address)(scalars.ctypes.data, addresses.ctypes.data, memory.ctypes.data, count)
    expected = on_lanes(LaneKernel(case.program, case.varies), shared, columns, count)
    for out, x in [(row[1], row[2]) for row in found.schedule.reshape(-1, 5)[found.code.inputs + 1 :].tolist()]:
        numpy.testing.assert_allclose(rows[x], expected[:, out], rtol=1e-13)


class TestErrors:
    def test_without_the_library(self, monkeypatch):
        for name in ("CUDA_HOME", "CUDA_PATH"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(ValueError, match=r"calls cos, sin: to_ptx\(libdevice=...\) takes the path of NVIDIA's"):
            kernel().to_ptx()

    def test_a_library_that_lacks_functions(self, libdevice):
        with pytest.raises(ValueError, match=r"libdevice\.10\.bc has no erf, tanh"):
            kernel(lambda a, x: gm.erf(a) * gm.tanh(x) + gm.erf(x)).to_ptx(libdevice=libdevice)

    def test_the_folder_of_cuda_is_looked_in(self, monkeypatch, tmp_path, libdevice):
        (tmp_path / ptx._LIBDEVICE).parent.mkdir(parents=True)
        shutil.copy(libdevice, tmp_path / ptx._LIBDEVICE)
        monkeypatch.setenv("CUDA_HOME", str(tmp_path))
        assert ".entry" in kernel(lambda a, x: a * gm.exp(x)).to_ptx().source

    def test_loops_that_are_too_long_to_be_written_out(self):
        def f(x):
            return loops.while_loop(lambda y: y < 100.0, lambda y: y * 1.01, x)

        g = jit(vmap(f))
        g(numpy.ones(3))
        with pytest.raises(ValueError, match="without long loops and choices, and not for: as long as a condition"):
            g.kernel.to_ptx()

    def test_programs_that_are_too_large(self, monkeypatch):
        monkeypatch.setattr(ptx, "MOST_WRITTEN", 3)
        with pytest.raises(ValueError, match="are too many for PTX: at most 3"):
            kernel(lambda a, x: grad(gm.tanh)(a * x)).to_ptx()

    def test_without_llvmlite(self, monkeypatch):
        monkeypatch.setattr(ptx, "is_installed", lambda: False)
        with pytest.raises(ImportError, match=r"to_ptx\(\) needs llvmlite: pip install 'gradwalk\[native\]'"):
            kernel().to_ptx()
