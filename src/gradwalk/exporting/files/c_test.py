"""Print the test of an exported library: results for random inputs, compared with the results of this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.exporting.files.wrappers import filled
from gradwalk.exporting.interface import Interface
from gradwalk.program.code import call_registry
from gradwalk.program.program import Program
from gradwalk.program.run.loop_runner import TooManyStepsError
from gradwalk.trees.tree import flatten

SAMPLES = 1000
_SIZES = (1, 17, SAMPLES)  # numbers of samples of the tested batches
_MOST_VALUES = 2000  # maximum number of results that are stored as numbers; further results are hashed

_TEST = """\
/* Compare @NAME@ with the results that gradwalk had when it exported the library, for random inputs. Results are
   equal bit for bit if the same functions are used: see README.md. With the argument "exact", any other result is an
   error. Otherwise, a difference of at most 1e-9 of a result is accepted. */
#include "@NAME@.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { @NAME@_SAMPLES = @SAMPLES@, @NAME@_KNOWN = @VALUES@ };
static const double @NAME@_low[] = {@LOW@}, @NAME@_width[] = {@WIDTH@};
/* 0 for samples for which a loop takes too many steps: gradwalk raises an error, and the library returns nan. */
static const uint64_t @NAME@_hashes[] = {
@HASHES@
};
static const double @NAME@_expected[] = {
@EXPECTED@
};

/* The function, which is called where a variable may have its name. */
static void (*const @NAME@_function)(const double *inputs, double *outputs) = @NAME@;

/* A random number from 0 to 1: splitmix64 of its position. */
static double @NAME@_uniform(uint64_t position)
{
    uint64_t z = (position + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static double @NAME@_random(int sample, int i)
{
    return @NAME@_low[i] + @NAME@_width[i] * @NAME@_uniform((uint64_t)sample * @INPUTS@ + (uint64_t)i);
}

static uint64_t @NAME@_hash(const double *numbers, size_t count)
{
    uint64_t hash = 0;
    size_t i;
    for (i = 0; i < count; ++i) {
        uint64_t bits;
        memcpy(&bits, numbers + i, sizeof bits);
        if (numbers[i] != numbers[i]) bits = UINT64_C(0x7FF8000000000000);
        bits = (bits ^ (i * UINT64_C(0x9E3779B97F4A7C15))) * UINT64_C(0xBF58476D1CE4E5B9);
        hash += bits ^ (bits >> 29);
    }
    return hash;
}

static double @NAME@_difference(const double *found, const double *expected, size_t count)
{
    double largest = 0.0;
    size_t i;
    for (i = 0; i < count; ++i) {
        const double scale = fabs(expected[i]) > 1.0 ? fabs(expected[i]) : 1.0;
        const int is_same = found[i] == expected[i] || (found[i] != found[i] && expected[i] != expected[i]);
        const double one = is_same ? 0.0 : fabs(found[i] - expected[i]) / scale;
        if (!(one <= largest)) largest = one == one ? one : INFINITY;
    }
    return largest;
}

static int @NAME@_report(const char *what, int equal, int count, double largest, int is_exact)
{
    const int is_good = is_exact ? equal == count : largest <= 1e-9;
    printf("%s: %d of %d bitwise equal, largest difference %.3g: ", what, equal, count, largest);
    puts(is_good ? "ok" : "FAILED");
    return !is_good;
}

static int @NAME@_test_samples(int is_exact)
{
    static double inputs[@INPUTS_1@], outputs[@OUTPUTS_1@];
    double largest = 0.0;
    int sample, i, compared = 0, equal = 0;
    for (sample = 0; sample < @NAME@_SAMPLES; ++sample) {
        if (!@NAME@_hashes[sample]) continue;
        ++compared;
        for (i = 0; i < @INPUTS@; ++i) inputs[i] = @NAME@_random(sample, i);
        @NAME@_function(inputs, outputs);
        equal += @NAME@_hash(outputs, @OUTPUTS@) == @NAME@_hashes[sample];
        if (sample < @NAME@_KNOWN) {
            const double one = @NAME@_difference(outputs, @NAME@_expected + (size_t)sample * @OUTPUTS@, @OUTPUTS@);
            if (one > largest) largest = one;
        }
    }
    return @NAME@_report("samples", equal, compared, largest, is_exact);
}
@BATCH@
int main(int count, char **arguments)
{
    const int is_exact = count > 1 && strcmp(arguments[1], "exact") == 0;
    return @NAME@_test_samples(is_exact)@AND_BATCH@;
}
"""

_BATCH = """
static const int @NAME@_batches[] = {@SIZES@};
static const uint64_t @NAME@_batch_hashes[] = {
@BATCH_HASHES@
};
static const double @NAME@_batch_expected[] = {
@BATCH_EXPECTED@
};

static int @NAME@_test_batches(int is_exact)
{
    static const int first[] = {@FIRST@}, sizes[] = {@LEAF_SIZES@}, result_sizes[] = {@RESULT_SIZES@};
    static double shared[@SHARED_1@], numbers[@NAME@_SAMPLES * @BATCHED_NUMBERS@], results[@RESULT_CELLS@];
    @NAME@_input batched[@BATCHED@];
@DECLARED@    double largest = 0.0;
    int equal = 0, which, leaf, i, k;
    const double *expected = @NAME@_batch_expected;
@SHARED_SET@    for (which = 0; which < @SIZE_COUNT@; ++which) {
        const int count = @NAME@_batches[which];
        double *at = numbers;
        size_t length = 0;
        for (leaf = 0; leaf < @BATCHED@; ++leaf) {
            batched[leaf].data = at;
            batched[leaf].sample = sizes[leaf];
            batched[leaf].number = 1;
            for (i = 0; i < count; ++i)
                for (k = 0; k < sizes[leaf]; ++k) *at++ = @NAME@_random(i, first[leaf] + k);
        }
@CALL@        equal += @NAME@_hash(results, length) == @NAME@_batch_hashes[which];
        {
            const size_t known = length < @MOST@ ? length : @MOST@;
            const double one = @NAME@_difference(results, expected, known);
            if (one > largest) largest = one;
            expected += known;
        }
    }
    return @NAME@_report("batches", equal, @SIZE_COUNT@, largest, is_exact);
}
"""


def uniform(positions: NDArray[numpy.uint64]) -> NDArray[numpy.float64]:
    """Return random numbers from 0 to 1, as the test in C: splitmix64 of the positions."""
    z = (positions + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return (z ^ (z >> numpy.uint64(31))).__rshift__(numpy.uint64(11)).astype(numpy.float64) / 2.0**53


def hash_of(numbers: NDArray[numpy.float64]) -> int:
    """Return the hash of some numbers, as the test in C."""
    bits = numpy.ascontiguousarray(numbers, numpy.float64).view(numpy.uint64).copy()
    bits[numpy.isnan(numbers)] = 0x7FF8000000000000
    positions = numpy.arange(len(bits), dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ positions) * numpy.uint64(0xBF58476D1CE4E5B9)
    return int((bits ^ (bits >> numpy.uint64(29))).sum(dtype=numpy.uint64))


def c_test(interface: Interface) -> str:
    """Return the test of the library as C source."""
    inputs, outputs = interface.program.inputs, len(interface.program.outputs)
    low, width = _ranges(interface)
    positions = numpy.arange(SAMPLES * inputs, dtype=numpy.uint64).reshape(SAMPLES, inputs)
    numbers = low + width * uniform(positions)
    rows = _rows(_portable(interface.program), numbers)
    nothing = [0.0] * outputs
    kept = max(1, min(SAMPLES, _MOST_VALUES // max(1, outputs)))
    batch = _batch(interface, numbers) if interface.batch is not None else ""
    return filled(
        _TEST,
        NAME=interface.name,
        SAMPLES=SAMPLES,
        VALUES=kept,
        LOW=", ".join(map(_exact, low)) or "0.0",
        WIDTH=", ".join(map(_exact, width)) or "0.0",
        HASHES=_lines([0 if row is None else hash_of(row) for row in rows], lambda x: f"UINT64_C(0x{x:016X})"),
        EXPECTED=_lines([x for row in rows[:kept] for x in (nothing if row is None else row)] or [0.0], _exact),
        INPUTS=inputs,
        OUTPUTS=outputs,
        INPUTS_1=max(1, inputs),
        OUTPUTS_1=max(1, outputs),
        BATCH=batch,
        AND_BATCH=f" | {interface.name}_test_batches(is_exact)" if batch else "",
    )


def _portable(program: Program) -> Program:
    """Return the program that C runs: a batch in the program is a loop, as in files."""
    is_portable = call_registry.for_files(program.code) is program.code
    return program if is_portable else Program.from_json(program.to_json())


def _rows(program: Program, numbers: NDArray[numpy.float64]) -> list[NDArray[numpy.float64] | None]:
    """Return the results of each sample, or None for a sample for which a loop takes too many steps."""
    rows: list[NDArray[numpy.float64] | None] = []
    for row in numbers:
        try:
            rows.append(program.run(row))
        except TooManyStepsError:
            rows.append(None)
    return rows


def _ranges(interface: Interface) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
    """Return the lower end and the width of each input's range: near its recorded number, or from 0.5 to 1.5."""
    if len(interface.numbers):
        numbers = numpy.array(interface.numbers, numpy.float64)
        return 0.95 * numbers, 0.1 * numbers
    count = interface.program.inputs
    return numpy.full(count, 0.5), numpy.ones(count)


def _batch(interface: Interface, numbers: NDArray[numpy.float64]) -> str:
    """Return the part of the test for batches."""
    batch = interface.batch
    assert batch is not None
    found = [_expected(interface, numbers[:count]) for count in _SIZES]
    batched = interface.batched
    shared = [i for leaf in interface.shared for i in range(leaf.start, leaf.start + leaf.size)]
    sets = "".join(f"    shared[{k}] = {interface.name}_random(0, {i});\n" for k, i in enumerate(shared))
    results = [leaf.size for leaf in interface.outputs]
    declared, call = _call(interface)
    return filled(
        _BATCH,
        NAME=interface.name,
        SIZES=", ".join(map(str, _SIZES)),
        SIZE_COUNT=len(_SIZES),
        BATCH_HASHES=_lines([hash_of(x) for x in found], lambda x: f"UINT64_C(0x{x:016X})"),
        BATCH_EXPECTED=_lines([x for row in found for x in row[:_MOST_VALUES].tolist()] or [0.0], _exact),
        FIRST=", ".join(str(leaf.start) for leaf in batched),
        LEAF_SIZES=", ".join(str(leaf.size) for leaf in batched),
        RESULT_SIZES=", ".join(map(str, results)) or "0",
        SHARED_1=max(1, len(shared)),
        BATCHED=len(batched),
        BATCHED_NUMBERS=max(1, sum(leaf.size for leaf in batched)),
        RESULT_CELLS=max(1, len(interface.program.outputs) * (1 if interface.is_reduced else SAMPLES)),
        DECLARED=declared,
        SHARED_SET=sets,
        CALL=call,
        MOST=_MOST_VALUES,
    )


def _call(interface: Interface) -> tuple[str, str]:
    """Return the declaration of the results' places in C, and the call of the function of the batch."""
    name, results = interface.name, len(interface.outputs)
    if interface.is_reduced:
        call = f"        {name}_batch((size_t)count, shared, batched, results);\n"
        return "", f"{call}        (void)result_sizes;\n        length = {len(interface.program.outputs)};\n"
    call = (
        f"        for (leaf = 0; leaf < {results}; ++leaf) {{\n"
        "            out[leaf].data = results + length;\n"
        "            out[leaf].sample = result_sizes[leaf];\n"
        "            out[leaf].number = 1;\n"
        "            length += (size_t)(count * result_sizes[leaf]);\n"
        "        }\n"
        f"        {name}_batch((size_t)count, shared, batched, out);\n"
    )
    return f"    {name}_output out[{results}];\n", call


def _expected(interface: Interface, numbers: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
    """Return the results of a batch with these inputs, one leaf after the other, the batch axis first."""
    batch = interface.batch
    assert batch is not None
    args: list[Any] = []
    leaves = iter(interface.inputs)
    for name, treedef in batch.arguments:
        arrays = []
        for axis in batch.axes_of(name):
            leaf = next(leaves)
            part = numbers[:, leaf.start : leaf.start + leaf.size].reshape(len(numbers), *(leaf.shape or ()))
            one = part[0] if leaf.shape is not None else float(part[0])
            arrays.append(one if axis is None else numpy.moveaxis(part, 0, axis))
        args.append(treedef.unflatten(arrays))
    keywords = [name for name, _ in batch.arguments[batch.positional :]]
    result = batch(*args[: batch.positional], **dict(zip(keywords, args[batch.positional :], strict=True)))
    found, _ = flatten(result, "the result")
    columns = []
    for leaf, array in zip(interface.outputs, found, strict=True):
        whole = numpy.asarray(array, numpy.float64)
        if not interface.is_reduced:
            if leaf.axis is None:
                whole = numpy.broadcast_to(whole, (len(numbers), *whole.shape))
            else:
                whole = numpy.moveaxis(whole, leaf.axis, 0)
        columns.append(numpy.ravel(whole))
    return numpy.concatenate([numpy.empty(0), *columns])


def _exact(number: float) -> str:
    number = float(number)
    if number != number:
        return "NAN"
    return number.hex() if abs(number) != numpy.inf else "INFINITY" if number > 0 else "-INFINITY"


def _lines(items: Any, text: Callable[[Any], str]) -> str:
    texts = [text(item) for item in items]
    return "\n".join(f"    {', '.join(texts[i : i + 4])}," for i in range(0, len(texts), 4))
