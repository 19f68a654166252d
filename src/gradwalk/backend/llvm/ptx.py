"""Kernels for NVIDIA's graphics processors, as PTX: of the same IR as for lanes, with a thread for each sample."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gradwalk.backend.base import Ptx
from gradwalk.backend.llvm.lane_machine import MOST_WRITTEN
from gradwalk.backend.llvm.lane_program import lane_program
from gradwalk.backend.llvm.vector_ir import Target, Vectors, printed
from gradwalk.backend.schedule.analysis import analyse
from gradwalk.backend.schedule.encoding import WIDTH
from gradwalk.backend.schedule.prologue import make_prologue
from gradwalk.program.code import Code
from gradwalk.program.compiler_process import is_installed
from gradwalk.program.fold import fold
from gradwalk.program.llvm_body import PREFIX, VARIABLES, Body, Type, declaration, printed_functions, signature, symbol
from gradwalk.program.machine_code import native
from gradwalk.program.program import Program
from gradwalk.program.repeats import written

_NAME = "gradwalk_kernel"
_TRIPLE = "nvptx64-nvidia-cuda"
_LIBDEVICE = "nvvm/libdevice/libdevice.10.bc"  # in the folder of CUDA
_OF_LIBDEVICE = "__nv_"  # what its functions begin with
_SPECIAL_REGISTERS = ("ctaid", "ntid", "tid", "nctaid")


def to_ptx(
    program: Program,
    varies: Sequence[bool],
    *,
    single: bool = False,
    target: str = "sm_70",
    libdevice: str | os.PathLike[str] | None = None,
    contract: bool = False,
) -> Ptx:
    """Write a program for batches as PTX.

    Args:
        program: The program of one sample.
        varies: For each of its inputs, whether it has a number for each sample.
        single: Whether to compute in float32.
        target: The architecture, as NVIDIA calls it.
        libdevice: The path of NVIDIA's libdevice.10.bc, which has `exp` and its kin; None to look for it in the folder
            of CUDA that the environment names.
        contract: Whether a product and a sum may be rounded once.

    Returns:
        The PTX, and what is needed to run it.

    Raises:
        ImportError: llvmlite is not installed.
        ValueError: The program is too large, a call of a Python function depends on the batch, or functions are needed
            and libdevice is not found.
    """
    if not is_installed():
        raise ImportError("to_ptx() needs llvmlite: pip install 'gradwalk[native]'")
    analysis = analyse(program, varies, reduced=False)
    prologue = make_prologue(analysis)
    found = lane_program(analysis, prologue)
    columns = found.code.inputs
    rows = found.schedule.reshape(-1, WIDTH).tolist()
    stored = [(out, x if x < columns else found.code.outputs[x - columns]) for _, out, x, *_ in rows[columns + 1 :]]
    code = _with_outputs(found.code, [index for _, index in stored])
    source, functions = _source(code, Type("float" if single else "double"), contract=contract)
    with native() as llvm:
        module = llvm.parse_assembly(source)
        if functions:
            _link(llvm, module, functions, libdevice)
        ptx = _compiled(llvm, module, target)
    of_scalars = len(prologue.program.outputs) - len(analysis.fixed)
    read = tuple([column for _, _, column, *_ in rows[:columns]])
    return Ptx(ptx, _NAME, prologue.program, of_scalars, read, tuple([out for out, _ in stored]))


def _with_outputs(code: Code, outputs: list[int]) -> Code:
    """Return a program with other outputs. Raises `ValueError` where it is too large."""
    size = written(len(code), fold(code))
    if size > MOST_WRITTEN:
        raise ValueError(
            f"{size:,} instructions, each loop written once, are too many for PTX: at most {MOST_WRITTEN:,}"
        )
    return Code(code.inputs, code.constants, code.instructions, [], outputs, tables=code.tables)


def _source(code: Code, kind: Type, *, contract: bool) -> tuple[str, list[str]]:
    """Return a module, and the functions of libdevice that it calls."""
    printer = printed(code, fold(code), Target(kind, Vectors(1, "", frozenset()), contract))
    called: list[str] = []

    def wrapped(function: str, arity: int) -> Iterable[str]:
        name = f"{_OF_LIBDEVICE}{function.removeprefix(PREFIX)}{'f' if kind.real == 'float' else ''}"
        called.append(name)
        body = Body(kind)
        given = ", ".join([f"{kind.numbers} %{x}" for x in VARIABLES[:arity]])
        result = body.new(f"call {kind.numbers} @{name}({given})")
        yield declaration(name, kind, arity)
        yield signature(symbol(function, kind), kind, arity)
        yield from ["begin:", *body.lines, f"  ret {kind.numbers} {result}", "}"]

    functions = printed_functions(printer.body.called, kind, wrapped, contract=contract)
    setup = [f"  %{name} = call i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in _SPECIAL_REGISTERS]
    setup += [
        f"  %memory = alloca [{max(1, printer.cells)} x {kind.numbers}], align 8",
        "  %before = mul i32 %ctaid, %ntid",
        "  %own = add i32 %before, %tid",
        "  %start = zext i32 %own to i64",
        "  %all = mul i32 %nctaid, %ntid",
        "  %step = zext i32 %all to i64",
    ]
    lines = [
        f'target triple = "{_TRIPLE}"',
        *functions,
        f"define ptx_kernel void @{_NAME}(ptr noalias %scalars, ptr noalias %rows, i64 %lanes) {{",
        *printer.function("%start", "%step", *setup),
        *[f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in _SPECIAL_REGISTERS],
        "!0 = !{}",
        "",
    ]
    return "\n".join(lines), called


def _link(llvm: Any, module: Any, functions: list[str], libdevice: str | os.PathLike[str] | None) -> None:
    """Add the functions of libdevice to a module."""
    path = _found(libdevice)
    if path is None:
        names = ", ".join(sorted(name.removeprefix(_OF_LIBDEVICE) for name in functions))
        raise ValueError(
            f"the program calls {names}: to_ptx(libdevice=...) takes the path of NVIDIA's libdevice.10.bc, which is "
            f"{_LIBDEVICE} in the folder of CUDA; or set CUDA_HOME to that folder"
        )
    library = llvm.parse_bitcode(path.read_bytes())
    missing = set(functions) - {function.name for function in library.functions}
    if missing:
        raise ValueError(
            f"{path.name} has no {', '.join(sorted(name.removeprefix(_OF_LIBDEVICE) for name in missing))}"
        )
    library.triple, library.data_layout = module.triple, module.data_layout
    module.link_in(library)
    for function in module.functions:
        if not function.is_declaration and function.name != _NAME:
            function.linkage = "internal"  # or all of the library would be written


def _found(libdevice: str | os.PathLike[str] | None) -> Path | None:
    """The path of libdevice, if there is any."""
    if libdevice is not None:
        return Path(libdevice)
    folders = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    return next((path for folder in folders if (path := Path(folder) / _LIBDEVICE).is_file()), None)


def _compiled(llvm: Any, module: Any, target: str) -> str:
    """Return a module as PTX."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(cpu=target, opt=2)
    module.verify()
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    passes.getModulePassManager().run(module, passes)
    module.verify()
    ptx: str = machine.emit_assembly(module)
    return ptx
