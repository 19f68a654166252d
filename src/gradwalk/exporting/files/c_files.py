"""Print the header and the source of an exported library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from gradwalk.exporting.files.c_batch import batch_text
from gradwalk.exporting.interface import Interface, Leaf
from gradwalk.exporting.lanes.batch_code import batch_code, by_samples, scheduled
from gradwalk.program.code import call_registry
from gradwalk.program.formats.c.c_program import c_functions, with_prefix
from gradwalk.program.program import ProgramError

MOST_STACK = 1 << 20  # bytes: threads may have little more
FLAGS = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")


def described(leaf: Leaf) -> str:
    """Return the name and shape of a leaf for comments, without characters that could end a comment."""
    shape = "" if leaf.shape is None else f", shape ({', '.join(map(str, leaf.shape))}{',' * (len(leaf.shape) == 1)})"
    return re.sub(r"[^ -~]|[/\\?*]", "_", f"{leaf.path}{shape}")


def header(interface: Interface, stack: int, *, allocates: bool) -> str:
    """Return the header of the library."""
    name, macro = interface.name, interface.name.upper()
    sizes = [f"{name}_INPUTS = {interface.program.inputs}", f"{name}_OUTPUTS = {len(interface.program.outputs)}"]
    lines = [
        f"/* {name}: a library that gradwalk has exported. Calls are thread-safe: no function changes global data.",
        f"   A call needs up to {stack:,} bytes of stack, and {'allocates' if allocates else 'no other'} memory. */",
        f"#ifndef {macro}_H",
        f"#define {macro}_H",
        "",
        *(["#include <stddef.h>", ""] if interface.batch else []),
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"enum {{ {', '.join(sizes)} }};",
        "",
        "/* Compute one sample. The arrays must not overlap.",
        "",
        *(f"   inputs[{_range(leaf, leaf.start)}]  {described(leaf)}" for leaf in interface.inputs),
        *(f"   outputs[{_range(leaf, leaf.start)}]  {described(leaf)}" for leaf in interface.outputs),
        "*/",
        f"void {name}(const double *inputs, double *outputs);",
        *(_batch_header(interface) if interface.batch else []),
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _range(leaf: Leaf, start: int) -> str:
    return str(start) if leaf.size == 1 else f"{start}..{start + leaf.size - 1}"


def _batch_header(interface: Interface) -> list[str]:
    name = interface.name
    shared: list[str] = []
    start = 0
    for leaf in interface.shared:
        shared.append(f"   shared[{_range(leaf, start)}]  {described(leaf)}")
        start += leaf.size
    batched = [f"   batched[{i}]  {described(leaf)}" for i, leaf in enumerate(interface.batched)]
    counts = {"SHARED": start, "BATCHED": len(batched), "RESULTS": len(interface.outputs)}
    sizes = f"enum {{ {', '.join(f'{name}_{what} = {count}' for what, count in counts.items())} }};"
    type_of = [
        "",
        "/* The numbers of an argument for all samples: number k of sample i is data[i * sample + k * number]. For an",
        "   array whose first axis is the batch axis, `sample` is the size of a sample, and `number` is 1. */",
        "typedef struct {",
        "    const double *data;",
        "    ptrdiff_t sample, number;",
        f"}} {name}_input;",
    ]
    if interface.is_reduced:
        what = f"Compute the {interface.reduce} of each output over a batch of `count` samples."
        results = [f"   outputs[{_range(leaf, leaf.start)}]  {described(leaf)}" for leaf in interface.outputs]
    else:
        what = "Compute a batch of `count` samples. Results must not overlap with arguments."
        results = [f"   outputs[{i}]  {described(leaf)}" for i, leaf in enumerate(interface.outputs)]
        type_of += ["", "/* The place of a result, likewise. */", "typedef struct {", "    double *data;"]
        type_of += ["    ptrdiff_t sample, number;", f"}} {name}_output;"]
    return [
        *type_of,
        "",
        sizes,
        "",
        f"/* {what}",
        "",
        *shared,
        *batched,
        *results,
        "*/",
        *interface.batch_declaration(),
    ]


class Sources(NamedTuple):
    """The header and the sources of a library.

    Attributes:
        texts: Maps the name of each file to its text.
        is_on_lanes: Whether several samples of a batch run side by side.
        allocates: Whether functions allocate memory.
    """

    texts: Mapping[str, str]
    is_on_lanes: bool
    allocates: bool


def c_files(interface: Interface) -> Sources:
    """Return the header and the sources of the library.

    Raises `ProgramError` if C cannot run the program, or if it needs too much memory on the stack.
    """
    name = interface.name
    program = call_registry.for_files(interface.program.code)
    programs, public, batch, is_on_lanes = {name: program}, [], None, True
    if interface.batch is not None:
        code = batch_code(interface.batch)
        if code.needs_samples:
            programs, public = {f"{name}_sample": program}, _public(name)
        programs[f"{name}_prologue"] = call_registry.for_files(code.prologue.code)
        batch = batch_text(interface, code, by_samples(interface.batch, scheduled(interface.batch)[0]))
        is_on_lanes = code.lanes is not None
    functions = c_functions(name, programs, "" if batch is None else "\n".join([batch.header, *batch.lines]))
    stack = 8 * functions.cells + (0 if batch is None else batch.stack)
    if stack > MOST_STACK:
        raise ProgramError(
            f"{name} would need {stack:,} bytes of stack, and libraries may use at most {MOST_STACK:,}: export a "
            "function with fewer inputs and outputs, or write its loops with gradwalk.loops"
        )
    allocates = "stdlib.h" in functions.headers
    includes = [f"<{name_of}>" for name_of in [*functions.headers, *(["stddef.h", "string.h"] if batch else [])]]
    source = [
        f"/* The functions of {name}.h. Compile with -O3 {' '.join(FLAGS)}. -ffast-math breaks nan and inf. */",
        f'#include "{name}.h"',
        "",
        *(f"#include {include}" for include in includes),
        "",
        *functions.lines,
        "",
        *public,
        *([] if batch is None else [with_prefix(line, name) for line in batch.lines]),
    ]
    files = {f"{name}.h": header(interface, stack, allocates=allocates), f"{name}.c": "\n".join(source)}
    if batch is not None and batch.header:
        files[f"{name}_lanes.h"] = with_prefix(batch.header, name)
    return Sources(files, is_on_lanes, allocates)


def _public(name: str) -> list[str]:
    """Return the public function of one sample, if other functions of the library run single samples.

    They call a static function, as the name of the public function may also be the name of a local variable, or of a
    function of the C library that dynamic linkers find first.
    """
    return [
        f"void {name}(const double *inputs, double *outputs)",
        "{",
        f"    {name}_sample(inputs, outputs);",
        "}",
        "",
    ]
