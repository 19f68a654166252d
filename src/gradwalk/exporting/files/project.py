"""Print the build file and the README of an exported library."""

from __future__ import annotations

from gradwalk.exporting.files.c_files import FLAGS, described
from gradwalk.exporting.files.wrappers import filled
from gradwalk.exporting.interface import Interface, Leaf
from gradwalk.exporting.lanes.batch_code import MOST_LINES

_CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(@NAME@ C)

option(@UPPER@_OPENMP "Run the samples of a batch on several threads" OFF)
option(@UPPER@_EXACT "The test accepts only results that are equal bit for bit" OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release)
endif()
if(NOT MSVC)
    set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
endif()
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
include(GNUInstallDirs)
include(CTest)

# Without these options, products and sums may be fused, and loops over samples are not vectorized.
if(MSVC)
    set(exact /fp:precise)
else()
    set(exact @FLAGS@@BUILTINS@)
endif()

add_library(@NAME@ SHARED @NAME@.c)
add_library(@NAME@_static STATIC @NAME@.c)
set_target_properties(@NAME@ PROPERTIES WINDOWS_EXPORT_ALL_SYMBOLS ON)
foreach(library @NAME@ @NAME@_static)
    target_compile_options(${library} PRIVATE ${exact})
    target_include_directories(${library} PUBLIC
        $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    if(UNIX)
        target_link_libraries(${library} PUBLIC m)
    endif()
    if(@UPPER@_OPENMP)
        find_package(OpenMP REQUIRED COMPONENTS C)
        target_link_libraries(${library} PUBLIC OpenMP::OpenMP_C)
    endif()
endforeach()

if(BUILD_TESTING)
    add_executable(test_@NAME@ test_@NAME@.c)
    target_compile_options(test_@NAME@ PRIVATE ${exact})
    target_link_libraries(test_@NAME@ PRIVATE @NAME@_static)
    add_test(NAME @NAME@ COMMAND test_@NAME@ $<$<BOOL:${@UPPER@_EXACT}>:exact>)
endif()

install(TARGETS @NAME@ @NAME@_static EXPORT @NAME@ LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES @NAME@.h @NAME@.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT @NAME@ FILE @NAME@-config.cmake NAMESPACE @NAME@:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/@NAME@)
"""

_README = """\
# @NAME@

@WHAT@ gradwalk @VERSION@ exported it. The library needs neither gradwalk nor Python.

| argument | shape | |
|---|---|---|
@ARGUMENTS@

| result | shape |
|---|---|
@RESULTS@

## Build

    cmake -S . -B build && cmake --build build && ctest --test-dir build

This builds a shared and a static library and runs the test. `-D@UPPER@_OPENMP=ON` runs the samples of a batch on
several threads, which does not change results. Without CMake, compile with
`cc -std=c99 -O3 @FLAGS@ -c @NAME@.c`, and link with `-lm`.

## Use

- C and C++: `@NAME@.h` documents the functions. `@NAME@.hpp` checks the arguments, for C++17.
- Python: `@NAME@.py` calls the compiled library with ctypes. It needs NumPy.
- WebAssembly: `sh build_wasm.sh` builds `@NAME@.wasm` with Emscripten, Zig or Clang, and `@NAME@.mjs` loads it.

Functions may be called by several threads at once. @ALLOCATES@

## Results

`test_@NAME@` compares the library with the results that gradwalk had for 1,000 random samples. `test_@NAME@ exact`
requires bitwise identical results.

- The function of one sample gives the same results as `Program.run`, bit for bit, if it is linked with the same C
  library. If the program contains `vmap`, its results are those of a program that has been saved with `Program.save`
  and read with `gradwalk.load`: both run `vmap` as a loop and add up its sums in the order of the samples, which can
  change the last bits.
- @BATCH@
- Other C libraries compute `exp`, `sin` and similar functions with other rounding errors, mostly in the last bit.
- `-ffast-math` breaks nan and inf, and products and sums must not be fused (`-ffp-contract=off`).
"""


_ON_LANES = """\
The batch function adds up samples in the order of gradwalk's kernels, and calls the vector functions of glibc where
  gradwalk does (glibc 2.35 or later on x86-64, with AVX2). There its results are bitwise identical to those of
  `jit(vmap(f))`."""
_BY_SAMPLES = """\
The batch function calls the function of one sample for each sample: the code for 16 samples at a time would have
  too many lines (more than @MOST_LINES@) for a compiler, or need too much memory, or samples add numbers to different
  places. Functions such as `exp` and sums may differ from those of `jit(vmap(f))` by 4 units in the last
  place."""


def cmake(interface: Interface) -> str:
    """Return the build file for CMake."""
    names = ("pow", "sin", "cos", "exp", "log", "exp2", "log2", "log10", "cbrt", "sqrt", "hypot")
    builtins = "".join(f" -fno-builtin-{name}" for name in names if name != "sqrt")
    return filled(_CMAKE, NAME=interface.name, UPPER=interface.name.upper(), FLAGS=" ".join(FLAGS), BUILTINS=builtins)


def _shape(leaf: Leaf) -> str:
    return "number" if leaf.shape is None else f"({', '.join(map(str, leaf.shape))})"


def readme(interface: Interface, version: str, *, is_on_lanes: bool, allocates: bool) -> str:
    """Return the README."""
    of_batch = {
        None: "the results of all samples",
        "sum": "the sums over all samples",
        "mean": "the means over all samples",
    }
    what = "A library that computes a function of one sample"
    if interface.batch is not None:
        what += f", and {of_batch[interface.reduce]} of a batch."
    else:
        what += "."
    batch = "There is no batch function: to get one, export `jit(vmap(f))`."
    if interface.batch is not None:
        batch = _ON_LANES if is_on_lanes else _BY_SAMPLES
    rows = []
    batch = filled(batch, MOST_LINES=f"{MOST_LINES:,}")
    for leaf in interface.inputs:
        kind = "" if interface.batch is None else "shared by all samples" if leaf.axis is None else "batched"
        rows.append(f"| `{described(leaf).split(', shape')[0]}` | {_shape(leaf)} | {kind} |")
    return filled(
        _README,
        NAME=interface.name,
        UPPER=interface.name.upper(),
        VERSION=version,
        WHAT=what,
        FLAGS=" ".join(FLAGS),
        ARGUMENTS="\n".join(rows),
        RESULTS="\n".join(
            f"| `{described(leaf).split(', shape')[0]}` | {_shape(leaf)} |" for leaf in interface.outputs
        ),
        ALLOCATES="They allocate memory for the reverse passes of loops." if allocates else "They allocate no memory.",
        BATCH=batch,
    )
