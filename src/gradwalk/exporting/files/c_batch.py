"""Print the function of a batch in C: blocks, sums and shards, in the order of the kernel of this process.

The names at file scope begin with the name of the library and an underscore. So they differ from the public function,
and two libraries can be compiled in one file. The only other names are macros without an underscore, such as EACH:
they are undefined at the end of the file, and the name of the public function is not used after their definition.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradwalk.backend.lane_count import FEWEST_BLOCKS, FEWEST_LANES, LARGEST_BLOCK, MOST_LANES
from gradwalk.backend.lane_kernel import FEWEST_SHARDS, LARGEST_TOTALS, SHARDS
from gradwalk.exporting.interface import Interface
from gradwalk.exporting.lanes.batch_code import BatchCode, Term
from gradwalk.exporting.lanes.lane_writer import LANES

_AVX2 = "avx2,fma,bmi2"
_AVX512 = f"{_AVX2},avx512f,avx512dq,avx512bw,avx512vl,avx512cd"

_LANES = """\
/* Clang reports loops that it cannot vectorize, GCC arrays that loops fill which may have no iterations. */
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define LANES 16
/* A loop over the samples that run side by side. They are independent of each other.{unrolling} */
#if defined(__clang__)
#define EACH _Pragma("clang loop vectorize(assume_safety)") for (l = 0; l < LANES; ++l)
#elif defined(__GNUC__)
#define EACH _Pragma("GCC ivdep") {unroll}for (l = 0; l < LANES; ++l)
#else
#define EACH for (l = 0; l < LANES; ++l)
#endif
/* Samples are far apart in memory if each number has its own array: hardware does not foresee such accesses. */
#if defined(__GNUC__)
#define PREFETCH(address, is_written) __builtin_prefetch(address, is_written)
#else
#define PREFETCH(address, is_written)
#endif
/* SET(run) is {name}_run_avx2 while SUFFIX is avx2. */
#define SET(function) JOIN({name}_##function, SUFFIX)
#define JOIN(a, b) PASTE(a, b)
#define PASTE(a, b) a##_##b
"""
# If GCC unrolls short loops between branches, it finds few vector instructions. Elsewhere unrolling saves some time.
_UNROLLING = " GCC does not unroll it:\n   between branches, it would then use few vector instructions."
_END = """\
#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
"""
_MACROS = ("LANES", "EACH", "PREFETCH", "SET", "JOIN", "PASTE")

_ADD = """\
/* Add to a total and accumulate the rounding error (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B). */
static void {name}_add(double *total, double x)
{
    const double sum = total[0] + x;
    const double part = sum - total[0];
    total[1] += (total[0] - (sum - part)) + (x - part);
    total[0] = sum;
}
"""

_SUM = """\
static double {name}_sum(const double *x)
{
    double sums[8];
    int j;
    for (j = 0; j < 8; ++j) sums[j] = x[j] + x[j + 8];
    for (j = 0; j < 4; ++j) sums[j] += sums[j + 4];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}
"""

_STORE = """\
static void {name}_store(double *to, ptrdiff_t stride, const double *row, int count)
{
    int l;
    if (stride == 1) {
        PREFETCH(to + 4 * LANES, 1);
        PREFETCH(to + 4 * LANES + LANES / 2, 1);
        memcpy(to, row, (size_t)count * sizeof *row);
    } else for (l = 0; l < count; ++l) to[l * stride] = row[l];
}
"""

_TAKE_IN_ROWS = """\
/* The number of lane `l` in row `index` of `count` rows, `stride` apart; a negative index counts from the end. */
static inline double SET(take_in_rows)(const double *const *rows, long stride, long count, double index, int l)
{
    const double k = index < 0.0 ? index + (double)count : index;
    return k >= 0.0 && k < (double)count && k == floor(k) ? rows[stride * (long)k][l] : NAN;
}
"""

_ANY_CALL = "SET(any)("
_ANY = """\
/* Whether a mask has a lane: a number other than 0. */
static inline int SET(any)(const double *mask)
{
    int l, found = 0;
    for (l = 0; l < LANES; ++l) found |= mask[l] != 0.0;
    return found;
}
"""

_SETS = """\
/* The code for lanes is compiled for several instruction sets. The processor's largest set is chosen at run time. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined({NAME}_BASELINE)
#define {NAME}_HAS_SETS 1
#else
#define {NAME}_HAS_SETS 0
#endif
/* Vector functions of glibc, such as exp. Their results differ from those of <math.h> by at most 4 units in the last
   place. Other systems call the functions of <math.h>. */
#if {NAME}_HAS_SETS && defined(__GLIBC__) && defined(__GLIBC_PREREQ) && !defined({NAME}_NO_LIBMVEC)
#if __GLIBC_PREREQ(2, 35)
#define {NAME}_HAS_LIBMVEC 1
#endif
#endif
#ifndef {NAME}_HAS_LIBMVEC
#define {NAME}_HAS_LIBMVEC 0
#endif

#define SUFFIX baseline
#include "{name}_lanes.h"
#undef SUFFIX
#if {NAME}_HAS_SETS
{sets}#endif
"""

_SET = """\
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("{features}"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("{features}{gcc}")
#endif
#if {NAME}_HAS_LIBMVEC
typedef double {name}_vector_{set} __attribute__((vector_size({bytes})));
#define vector {name}_vector_{set}
#define VECTOR(arguments, function) _ZGV{letter}N{lanes}##arguments##_##function
#ifdef __cplusplus
extern "C" {
#endif
{declared}#ifdef __cplusplus
}
#endif
#endif
#define SUFFIX {set}
#include "{name}_lanes.h"
#undef SUFFIX
#undef vector
#undef VECTOR
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
"""


class BatchText(NamedTuple):
    """The C code of a batch.

    Attributes:
        header: The text of `NAME_lanes.h`, or "" if the batch runs sample by sample.
        lines: The lines of `NAME.c` after the functions of programs.
        stack: The size of the arrays on the stack, in bytes.
    """

    header: str
    lines: list[str]
    stack: int


def batch_text(interface: Interface, code: BatchCode, samples: BatchCode) -> BatchText:
    """Print a batch. `samples` runs it sample by sample, if a sum that is split into terms is not finite."""
    columns = sum(leaf.size for leaf in interface.inputs if leaf.axis is not None)
    name = interface.name
    has_masks = code.lanes is not None and any(_ANY_CALL in line for line in code.lanes.lines)
    lanes = _LANES.replace("{unroll}", '_Pragma("GCC unroll 1") ' if has_masks else "")
    lanes = lanes.replace("{unrolling}", _UNROLLING if has_masks else "")
    lines = [*_load(interface, columns), *_job(interface)]
    if code.needs_samples:
        lines += ["#define SUFFIX samples", *_by_samples(interface)]
        lines += [*_driver(interface, samples, columns), "#undef SUFFIX", ""]
    header = ""
    if code.lanes is not None:
        header = _header(interface, code, columns)
        lines.append(_sets(name, code.lanes.functions))
    lines += [*_entry(interface, code), "", *(f"#undef {macro}" for macro in _MACROS), _END]
    rest = "\n".join([header, *lines])
    helpers = [
        text for text, call in ((_ADD, "_add("), (_SUM, "_sum("), (_STORE, "_store(")) if f"{name}{call}" in rest
    ]
    lines = [*(text.replace("{name}", name) for text in (lanes, *helpers)), *lines]
    rows = columns * LANES + columns + len(code.columns)
    totals = 4 * len(interface.program.outputs) + code.scalars + len(code.fixed)
    one = len(interface.program.outputs) + interface.program.inputs if code.needs_samples else 0
    cells = rows + LANES * (code.results + len(code.terms)) + totals + one
    return BatchText(header, lines, 8 * cells + (code.lanes.bytes if code.lanes else 0))


def _header(interface: Interface, code: BatchCode, columns: int) -> str:
    assert code.lanes is not None
    text = "\n".join(code.lanes.lines)
    lines = [
        f"/* The code of {interface.name}_batch for lanes, which is included once per instruction set. */",
        *([_TAKE_IN_ROWS] if "SET(take_in_rows)(" in text else []),
        *([_ANY] if _ANY_CALL in text else []),
        *code.lanes.lines,
        "",
        *_driver(interface, code, columns),
        "",
    ]
    return "\n".join(lines)


def _load(interface: Interface, columns: int) -> list[str]:
    """Return the function that finds the rows of some samples: one row for each batched number."""
    sizes = [leaf.size for leaf in interface.inputs if leaf.axis is not None]
    return [
        "/* Find the numbers of `count` samples from sample `first` on: one row per number of a sample. Rows are",
        "   read in place or copied. They are padded with the numbers of the last sample. */",
        f"static void {interface.name}_load(const {interface.name}_input *batched, size_t first, int count,",
        "    double *copies, const double **columns)",
        "{",
        f"    static const int sizes[] = {{{', '.join(map(str, sizes))}}};",
        "    int leaf, j, l;",
        f"    for (leaf = 0; leaf < {len(sizes)}; ++leaf) {{",
        "        const ptrdiff_t sample = batched[leaf].sample, number = batched[leaf].number;",
        "        const double *data = batched[leaf].data + (ptrdiff_t)first * sample;",
        "        if (sample == 1 && count == LANES) {",
        "            for (j = 0; j < sizes[leaf]; ++j) {",
        "                columns[j] = data + j * number;",
        "                PREFETCH(columns[j] + 2 * LANES, 0);",
        "                PREFETCH(columns[j] + 2 * LANES + LANES / 2, 0);",
        "            }",
        "        } else {",
        "            for (l = 0; l < LANES; ++l) {",
        "                const double *from = data + (l < count ? l : count - 1) * sample;",
        "                for (j = 0; j < sizes[leaf]; ++j) copies[LANES * j + l] = from[j * number];",
        "            }",
        "            for (j = 0; j < sizes[leaf]; ++j) columns[j] = copies + LANES * j;",
        "        }",
        "        columns += sizes[leaf];",
        "        copies += LANES * sizes[leaf];",
        "    }",
        "}",
        "",
    ]


def _job(interface: Interface) -> list[str]:
    """Return the type that describes the samples of a shard."""
    out = "double *totals;" if interface.is_reduced else f"const {interface.name}_output *outputs;"
    return [
        "typedef struct {",
        "    const double *shared, *scalars;",
        f"    const {interface.name}_input *batched;",
        "    size_t first, last, width; /* samples `first` to `last - 1`, in blocks of `width` samples */",
        f"    {out}",
        f"}} {interface.name}_shard;",
        "",
    ]


def _by_samples(interface: Interface) -> list[str]:
    """Return the function that runs the program of one sample for each lane."""
    lines = [
        "static void SET(lanes)(const double *shared, const double *const *rows, double *results)",
        "{",
        f"    double inputs[{max(1, interface.program.inputs)}], outputs[{max(1, len(interface.program.outputs))}];",
        "    int i, l;",
        "    for (l = 0; l < LANES; ++l) {",
    ]
    shared = column = 0
    for leaf in interface.inputs:
        if leaf.axis is None:
            lines.append(f"        for (i = 0; i < {leaf.size}; ++i) inputs[{leaf.start} + i] = shared[{shared} + i];")
            shared += leaf.size
        else:
            lines.append(f"        for (i = 0; i < {leaf.size}; ++i) inputs[{leaf.start} + i] = rows[{column} + i][l];")
            column += leaf.size
    if not shared:
        lines.insert(4, "    (void)shared;")
    return [
        *lines,
        f"        {interface.name}_sample(inputs, outputs);",
        f"        for (i = 0; i < {len(interface.program.outputs)}; ++i) results[LANES * i + l] = outputs[i];",
        "    }",
        "}",
        "",
    ]


def _driver(interface: Interface, code: BatchCode, columns: int) -> list[str]:
    """Return the function that runs the samples of a shard."""
    is_mapped = code.columns != list(range(columns))
    uniform = "scalars" if code.lanes is not None else "shared"
    varying = [term for term in code.terms if not term.is_same]
    arrays = [f"double copies[{max(1, LANES * columns)}], results[{max(1, LANES * code.results)}];"]
    arrays.append(f"const double *columns[{max(1, columns)}];")
    name = interface.name
    lines = [f"static void SET(run)(const {name}_shard *given)", "{"]
    if is_mapped:
        table = ", ".join(map(str, code.columns)) or "0"
        arrays.append(f"static const int column_of[] = {{{table}}};")
        arrays.append(f"const double *rows[{max(1, len(code.columns))}];")
    if interface.is_reduced:
        arrays.append(f"double sums[{max(1, LANES * len(varying))}];")
    if any("scalars[" in term.text for term in code.terms):
        arrays.append("const double *scalars = given->scalars;")
    arrays += ["size_t block, first;", "int l;" if not is_mapped else "int i, l;"]
    rows = "rows" if is_mapped else "columns"
    lines += [f"    {line}" for line in arrays]
    lines += ["    for (block = given->first; block < given->last; block += given->width) {"]
    lines += ["        const size_t end = given->last - block < given->width ? given->last : block + given->width;"]
    lines += ["        memset(sums, 0, sizeof sums);"] if interface.is_reduced else []
    lines += [
        "        for (first = block; first < end; first += LANES) {",
        "            const int count = end - first < LANES ? (int)(end - first) : LANES;",
        f"            {name}_load(given->batched, first, count, copies, columns);",
    ]
    if is_mapped:
        lines.append(f"            for (i = 0; i < {len(code.columns)}; ++i) rows[i] = columns[column_of[i]];")
    lines.append(f"            SET(lanes)(given->{uniform}, {rows}, results);")
    own = [term._replace(text=term.text.replace("rows[", f"{rows}[")) for term in varying]
    lines += _added(own) if interface.is_reduced else _stored(interface, own)
    lines += ["        }", *(_totals(name, code.terms) if interface.is_reduced else []), "    }"]
    uses_lanes = re.search(r"\bl <|\bEACH\b", "\n".join(lines))
    return [*lines, *([] if uses_lanes else ["    (void)l;"]), "}"]


def _added(terms: Sequence[Term]) -> list[str]:
    """Return statements that add the terms of all lanes to their sums: a loop for all terms of the same form."""
    groups: dict[str, list[tuple[int, list[str]]]] = {}
    for k, term in enumerate(terms):
        form, numbers = _form(term.text)
        groups.setdefault(form, []).append((k, numbers))
    lines = []
    for form, members in groups.items():
        tables = {"to": [k for k, _ in members]}
        tables |= {f"in{i}": [int(numbers[i]) for _, numbers in members] for i in range(form.count("#"))}
        one = f"sum[l] += {_numbered(form, [f'in{i}[k]' for i in range(len(tables) - 1)])};"
        lines += [
            "            {",
            *_tables(tables, " " * 16),
            "                int k;",
            f"                for (k = 0; k < {len(members)}; ++k) {{",
            "                    double *sum = sums + LANES * to[k];",
            "                    if (count == LANES) EACH",
            f"                        {one}",
            f"                    else for (l = 0; l < count; ++l) {one}",
            "                }",
            "            }",
        ]
    return lines


def _form(text: str) -> tuple[str, list[str]]:
    """Replace the subscripts of a text by #; return the text and the subscripts."""
    return re.sub(r"(?<=\[)\d+", "#", text), re.findall(r"(?<=\[)\d+", text)


def _numbered(form: str, subscripts: Sequence[str]) -> str:
    """Return a form with these subscripts."""
    left = iter(subscripts)
    return re.sub("#", lambda _: next(left), form)


def _tables(tables: Mapping[str, Sequence[int]], indent: str) -> list[str]:
    """Return the definitions of tables of whole numbers."""
    return [f"{indent}static const int {name}[] = {{{', '.join(map(str, x))}}};" for name, x in tables.items()]


def _totals(name: str, terms: Sequence[Term]) -> list[str]:
    """Return statements that add the sums of a block to the totals, in the order of the terms."""
    lines, k = [], 0
    for is_same, run in itertools.groupby(terms, lambda term: term.is_same):
        members = [*run]
        if is_same:
            number = [f"{term.text} * (double)(end - block)" for term in members]
            pairs = zip(members, number, strict=True)
            lines += [f"        {name}_add(given->totals + {2 * term.output}, {x});" for term, x in pairs]
            continue
        lines += [
            "        {",
            *_tables({"to": [2 * term.output for term in members]}, " " * 12),
            "            int k;",
            f"            for (k = 0; k < {len(members)}; ++k)",
            f"                {name}_add(given->totals + to[k], {name}_sum(sums + LANES * ({k} + k)));",
            "        }",
        ]
        k += len(members)
    return lines


def _stored(interface: Interface, terms: Sequence[Term]) -> list[str]:
    """Return statements that write the results of all lanes: a loop for all results of the same form."""
    groups: dict[str, list[tuple[int, int, int]]] = {}
    for term in terms:
        form, [subscript] = _form(term.text)
        groups.setdefault(form, []).append((*_place(interface, term.output), int(subscript)))
    lines = []
    for form, members in groups.items():
        leaves, numbers, subscripts = zip(*members, strict=True)
        row = "results + in[k]" if form.startswith("results") else form.removesuffix("[l]").replace("#", "in[k]")
        lines += [
            "            {",
            *_tables({"leaf": leaves, "number": numbers, "in": subscripts}, " " * 16),
            "                int k;",
            f"                for (k = 0; k < {len(members)}; ++k) {{",
            f"                    const {interface.name}_output *out = given->outputs + leaf[k];",
            "                    double *to = out->data + (ptrdiff_t)first * out->sample + number[k] * out->number;",
            f"                    {interface.name}_store(to, out->sample, {row}, count);",
            "                }",
            "            }",
        ]
    return lines


def _place(interface: Interface, output: int) -> tuple[int, int]:
    """Return the leaf of an output, and the position in the leaf."""
    return next(
        (i, output - leaf.start)
        for i, leaf in enumerate(interface.outputs)
        if leaf.start <= output < leaf.start + leaf.size
    )


def _sets(name: str, functions: dict[str, int]) -> str:
    def one(set_name: str, features: str, gcc: str, size: int, letter: str) -> str:
        lanes = size // 8
        declared = "".join(
            f"vector _ZGV{letter}N{lanes}{'v' * arity}_{function}({', '.join(['vector'] * arity)});\n"
            for function, arity in functions.items()
        )
        return (
            _SET.replace("{features}", features)
            .replace("{gcc}", gcc)
            .replace("{set}", set_name)
            .replace("{bytes}", str(size))
            .replace("{letter}", letter)
            .replace("{lanes}", str(lanes))
            .replace("{declared}", declared)
            .replace("{NAME}", name.upper())
            .replace("{name}", name)
        )

    sets = one("avx2", _AVX2, "", 32, "d") + one("avx512", _AVX512, ",prefer-vector-width=512", 64, "e")
    return _SETS.replace("{sets}", sets).replace("{NAME}", name.upper()).replace("{name}", name)


def _entry(interface: Interface, code: BatchCode) -> list[str]:
    """Return the public function of the batch."""
    name = interface.name
    return [
        f"typedef void (*{name}_runner)(const {name}_shard *given);",
        "",
        f"static {name}_runner {name}_chosen(void)",
        "{",
        *_choice(name, code),
        "}",
        "",
        *_run_all(interface, code),
        *interface.batch_declaration(" "),
        "{",
        f"    double numbers[{max(1, code.scalars + len(code.fixed))}];",
        f"    {name}_prologue(shared, numbers);",
        f"    {name}_run_all({name}_chosen(), count, shared, numbers, batched, outputs);",
        *_end(interface, code),
        "}",
    ]


def _run_all(interface: Interface, code: BatchCode) -> list[str]:
    """Return the function that divides the samples into shards, and adds up the totals of the shards in order."""
    name, outputs = interface.name, len(interface.program.outputs)
    run = f"        {name}_run(&part);"
    most = max(FEWEST_SHARDS, LARGEST_TOTALS // max(1, outputs)) if interface.is_reduced else SHARDS
    out = "double *outputs" if interface.is_reduced else f"const {name}_output *outputs"
    return [
        "/* Run all samples with one of the functions above. */",
        f"static void {name}_run_all({name}_runner {name}_run, size_t count, const double *shared,",
        f"    const double *numbers, const {name}_input *batched, {out})",
        "{",
        f"    size_t width = {FEWEST_LANES}, blocks;",
        "    long shards, k;",
        *([f"    double totals[{max(1, 2 * outputs)}];"] if interface.is_reduced else []),
        f"    while (width < {MOST_LANES} && 2 * width * {8 * code.slots} <= {LARGEST_BLOCK}",
        f"           && 2 * width * {FEWEST_BLOCKS} <= count) width *= 2;",
        "    blocks = (count + width - 1) / width;",
        f"    shards = blocks < {min(SHARDS, most)} ? (long)blocks : {min(SHARDS, most)};",
        "    if (shards < 1) shards = 1;",
        *(["    memset(totals, 0, sizeof totals);"] if interface.is_reduced else []),
        "#ifdef _OPENMP",
        f"#pragma omp parallel for schedule(static, 1){' ordered' if interface.is_reduced else ''} if (blocks > 4)",
        "#endif",
        "    for (k = 0; k < shards; ++k) {",
        "        const size_t end = blocks * (size_t)(k + 1) / (size_t)shards * width;",
        f"        {name}_shard part;",
        *([f"        double own[{max(1, 2 * outputs)}];"] if interface.is_reduced else []),
        "        part.shared = shared;",
        "        part.scalars = numbers;",
        "        part.batched = batched;",
        "        part.first = blocks * (size_t)k / (size_t)shards * width;",
        "        part.last = end < count ? end : count;",
        "        part.width = width;",
        *(_shard_sums(name, outputs, run) if interface.is_reduced else ["        part.outputs = outputs;", run]),
        "    }",
        *(_finished(interface, code) if interface.is_reduced else []),
        "}",
        "",
    ]


def _choice(name: str, code: BatchCode) -> list[str]:
    if code.lanes is None:
        return [f"    return {name}_run_samples;"]
    avx2, avx512 = (
        f" &&\n{indent * ' '}".join(f'__builtin_cpu_supports("{feature}")' for feature in features.split(","))
        for indent, features in ((8, _AVX2), (12, _AVX512.removeprefix(f"{_AVX2},")))
    )
    return [
        f"#if {name.upper()}_HAS_SETS",
        "    __builtin_cpu_init();",
        f"    if ({avx2}) {{",
        f"        if ({avx512})",
        f"            return {name}_run_avx512;",
        f"        return {name}_run_avx2;",
        "    }",
        "#endif",
        f"    return {name}_run_baseline;",
    ]


def _shard_sums(name: str, outputs: int, run: str) -> list[str]:
    return [
        "        part.totals = own;",
        "        memset(own, 0, sizeof own);",
        run,
        "#ifdef _OPENMP",
        "#pragma omp ordered",
        "#endif",
        "        {",
        "            int i;",
        "            if (k == 0) memcpy(totals, own, sizeof own);",
        f"            else for (i = 0; i < {outputs}; ++i) {{",
        f"                {name}_add(totals + 2 * i, own[2 * i]);",
        "                totals[2 * i + 1] += own[2 * i + 1];",
        "            }",
        "        }",
    ]


def _finished(interface: Interface, code: BatchCode) -> list[str]:
    """Return statements that write the sums or means to the outputs."""
    mean = interface.reduce == "mean"
    number = f"numbers[{code.scalars} + k]"
    text = f"count ? {number} : NAN" if mean else f"count ? {number} * (double)count : 0.0"
    fixed = [
        "    {",
        *_tables({"fixed": code.fixed}, " " * 8),
        f"        for (k = 0; k < {len(code.fixed)}; ++k) outputs[fixed[k]] = {text};",
        "    }",
    ]
    return [
        f"    for (k = 0; k < {len(interface.program.outputs)}; ++k) {{",
        "        const double lost = totals[2 * k + 1]; /* not finite if the total is not */",
        "        outputs[k] = lost - lost == 0.0 ? totals[2 * k] + lost : totals[2 * k];",
        *(["        outputs[k] /= (double)count;"] if mean else []),
        "    }",
        *(fixed if code.fixed else []),
    ]


def _end(interface: Interface, code: BatchCode) -> list[str]:
    name = interface.name
    if interface.is_reduced:
        if not code.is_split or code.lanes is None:
            return []
        return [
            "    {",
            "        /* A sum that was split into terms may have overflowed. */",
            "        int i, is_finite = 1;",
            f"        for (i = 0; i < {len(interface.program.outputs)}; ++i)",
            "            is_finite &= outputs[i] - outputs[i] == 0.0;",
            "        if (!is_finite)",
            f"            {name}_run_all({name}_run_samples, count, shared, numbers, batched, outputs);",
            "    }",
        ]
    if not code.fixed:
        return []
    leaves, numbers = zip(*[_place(interface, output) for output in code.fixed], strict=True)
    return [
        "    {",
        *_tables({"leaf": leaves, "number": numbers}, " " * 8),
        "        size_t i;",
        "        int k;",
        f"        for (k = 0; k < {len(code.fixed)}; ++k) {{",
        f"            const {name}_output *out = outputs + leaf[k];",
        "            double *to = out->data + number[k] * out->number;",
        f"            for (i = 0; i < count; ++i) to[(ptrdiff_t)i * out->sample] = numbers[{code.scalars} + k];",
        "        }",
        "    }",
    ]
