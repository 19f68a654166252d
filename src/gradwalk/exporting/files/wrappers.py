"""Print the wrappers of an exported library: C++, Python with ctypes, and JavaScript for WebAssembly."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from gradwalk.exporting.files.c_files import FLAGS, described
from gradwalk.exporting.interface import Interface, Leaf
from gradwalk.exporting.python_loader import LOADER

_CPP = """\
// A wrapper of @NAME@.h for C++17: arguments are checked, and results are arrays.
#ifndef @UPPER@_HPP
#define @UPPER@_HPP

#include "@NAME@.h"

#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace @NAME@_library {

// A view of numbers in a vector, an array, a span or another container with data() and size(), in an array of C or a
// list in braces, or of one number of any type. It must not outlive the numbers.
class view {
public:
    view(const double *data, std::size_t size) : data_(data), size_(size) {}
    view(std::initializer_list<double> numbers) : data_(nullptr), size_(numbers.size()) { data_ = numbers.begin(); }
    template <std::size_t Size>
    view(const double (&numbers)[Size]) : data_(numbers), size_(Size) {}
    template <class Number, std::enable_if_t<std::is_arithmetic<Number>::value, int> = 0>
    view(Number number) : number_(static_cast<double>(number)), data_(nullptr), size_(1) {}
    template <class Container, std::enable_if_t<!std::is_arithmetic<Container>::value, int> = 0>
    view(const Container &numbers) : data_(numbers.data()), size_(numbers.size()) {}

    const double *data() const { return data_ || size_ != 1 ? data_ : &number_; }
    std::size_t size() const { return size_; }

private:
    double number_ = 0.0;
    const double *data_;
    std::size_t size_;
};

inline void check(const char *name, std::size_t size, std::size_t expected)
{
    if (size != expected)
        throw std::invalid_argument(std::string(name) + " must have " + std::to_string(expected) + " numbers, got " +
                                    std::to_string(size));
}

inline std::size_t product(std::size_t count, std::size_t size)
{
    if (size != 0 && count > std::numeric_limits<std::size_t>::max() / sizeof(double) / size)
        throw std::length_error("a batch of " + std::to_string(count) + " samples does not fit into memory");
    return count * size;
}

// Compute one sample.
inline std::array<double, @OUTPUTS@> evaluate(@ONE_PARAMETERS@)
{
    std::vector<double> inputs;
    std::array<double, @OUTPUTS@> outputs{};
    inputs.reserve(@INPUTS@);
@ONE_BODY@    ::@NAME@(inputs.data(), outputs.data());
    return outputs;
}
@BATCH@
} // namespace @NAME@_library

#endif
"""

_CPP_REDUCED = """
// Compute the @REDUCE@ of each output over a batch. Batched arguments have one sample after the other.
inline std::array<double, @OUTPUTS@> evaluate_batch(std::size_t count, @PARAMETERS@)
{
@BODY@    std::array<double, @OUTPUTS@> outputs{};
    ::@NAME@_batch(count, shared.data(), batched, outputs.data());
    return outputs;
}
"""

_CPP_STACKED = """
// Compute a batch. Batched arguments and results have one sample after the other; there is a vector for each result.
inline std::array<std::vector<double>, @RESULTS@> evaluate_batch(std::size_t count, @PARAMETERS@)
{
@BODY@    std::array<std::vector<double>, @RESULTS@> results;
    const std::size_t sizes[] = {@SIZES@};
    ::@NAME@_output outputs[@RESULTS@];
    for (std::size_t i = 0; i < @RESULTS@; ++i) {
        results[i].resize(product(count, sizes[i]));
        outputs[i] = ::@NAME@_output{results[i].data(), static_cast<std::ptrdiff_t>(sizes[i]), 1};
    }
    ::@NAME@_batch(count, shared.data(), batched, outputs);
    return results;
}
"""


def filled(template: str, **parts: object) -> str:
    """Return a template with its places @NAME@ filled."""
    return re.sub(r"@([A-Z_0-9]+)@", lambda match: str(parts[match.group(1)]), template)


def cpp(interface: Interface) -> str:
    """Return the header for C++."""
    name, outputs = interface.name, len(interface.program.outputs)
    names = _parameters(interface.inputs)
    one = [_appended("inputs", x, leaf) for x, leaf in zip(names, interface.inputs, strict=True)]
    parameters = ", ".join([f"view {x}" for x in names])
    batch = ""
    if interface.batch is not None:
        batched = [(x, leaf) for x, leaf in zip(names, interface.inputs, strict=True) if leaf.axis is not None]
        shared = [(x, leaf) for x, leaf in zip(names, interface.inputs, strict=True) if leaf.axis is None]
        body = "".join([f'    check("{x}", {x}.size(), product(count, {leaf.size}));\n' for x, leaf in batched])
        body += "    std::vector<double> shared;\n"
        body += "".join([_appended("shared", x, leaf) for x, leaf in shared])
        inputs = ", ".join([f"{{{x}.data(), {leaf.size}, 1}}" for x, leaf in batched])
        body += f"    const ::{name}_input batched[] = {{{inputs}}};\n"
        batch = filled(
            _CPP_REDUCED if interface.is_reduced else _CPP_STACKED,
            NAME=name,
            OUTPUTS=outputs,
            PARAMETERS=parameters,
            BODY=body,
            REDUCE=interface.reduce,
            RESULTS=len(interface.outputs),
            SIZES=", ".join(str(leaf.size) for leaf in interface.outputs),
        )
    return filled(
        _CPP,
        NAME=name,
        UPPER=name.upper(),
        INPUTS=interface.program.inputs,
        OUTPUTS=outputs,
        ONE_PARAMETERS=parameters,
        ONE_BODY="".join(one),
        BATCH=batch,
    )


def _appended(target: str, name: str, leaf: Leaf) -> str:
    """Return lines of C++ that append the numbers of a leaf to a vector."""
    check = f'    check("{name}", {name}.size(), {leaf.size});\n'
    return f"{check}    {target}.insert({target}.end(), {name}.data(), {name}.data() + {leaf.size});\n"


def _parameters(leaves: Sequence[Leaf]) -> list[str]:
    """Return a name in C++ for each leaf."""
    names: list[str] = []
    for i, leaf in enumerate(leaves):
        name = re.sub(r"\W+", "_", leaf.path, flags=re.ASCII).strip("_")
        names.append(f"arg{i}_{name}" if name else f"arg{i}")
    return names


def python(interface: Interface) -> str:
    """Return the module for Python."""
    arguments = interface.arguments
    example = (
        "inputs"
        if arguments is None
        else ", ".join(a["name"] if not a["keyword"] else f"{a['name']}=…" for a in arguments)
    )
    what = " with an array of all inputs; return an array of all outputs" if arguments is None else ""
    what = " with the arguments of a batch, as NumPy arrays" if interface.batch else what
    text = filled(
        LOADER,
        NAME=interface.name,
        LOAD="load" if interface.name != "load" else "load_library",
        EXAMPLE=re.sub(r"[^ -~…]|[\\\"]", "_", example).replace("…", "..."),
        ARGUMENTS="@ARGUMENTS@",
        RESULT="@RESULT@",
        INPUTS=interface.program.inputs,
        OUTPUTS=len(interface.program.outputs),
        REDUCE=repr(interface.reduce),
        IS_BATCH=interface.batch is not None,
        WHAT=what,
    )
    return text.replace("@ARGUMENTS@", json.dumps(arguments)).replace("@RESULT@", json.dumps(interface.result))


_JAVASCRIPT = """\
// @NAME@ in WebAssembly, for web pages and Node.
//
//     import { load } from "./@NAME@.mjs";
//     const { evaluate@AND_BATCH@ } = await load(await (await fetch("@NAME@.wasm")).arrayBuffer());
//
// `evaluate(inputs)` takes and returns Float64Arrays: @INPUTS@ inputs, @OUTPUTS@ outputs.
@BATCH_COMMENT@
const INPUTS = @INPUTS@, OUTPUTS = @OUTPUTS@;
@BATCH_SIZES@
/** Compile and start the module, from bytes or a WebAssembly.Module. */
export async function load(source) {
    const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0;
    const { exports } = await WebAssembly.instantiate(module, imports);
    exports._initialize?.();

    function withMemory(sizes, run) {
        const places = sizes.map((size) => exports.malloc(Math.max(8, size)));
        try {
            if (places.includes(0)) throw new RangeError("WebAssembly has not enough memory");
            return run(...places);
        } finally {
            places.forEach((place) => exports.free(place));
        }
    }
    const numbers = (place, length) => new Float64Array(exports.memory.buffer, place, length);
    const check = (what, array, length) => {
        if (array.length !== length) throw new RangeError(`${what} must have ${length} numbers, got ${array.length}`);
    };

    function evaluate(inputs) {
        check("inputs", inputs, INPUTS);
        return withMemory([8 * INPUTS, 8 * OUTPUTS], (from, to) => {
            numbers(from, INPUTS).set(inputs);
            exports.@NAME@(from, to);
            return numbers(to, OUTPUTS).slice();
        });
    }
@BATCH@
    return { evaluate@AND_BATCH@ };
}
"""

_JAVASCRIPT_BATCH = """
    function evaluateBatch(count, shared, batched) {
        check("shared", shared, SHARED);
        if (batched.length !== SIZES.length) throw new RangeError(`give ${SIZES.length} batched arrays`);
        batched.forEach((array, i) => check(`batched[${i}]`, array, count * SIZES[i]));
        const results = @RESULT_SIZES@;
        const sizes = [SHARED, ...batched.map((array) => array.length), ...results].map((size) => 8 * size);
        return withMemory([...sizes, 12 * SIZES.length, 12 * results.length], (...places) => {
            const [of_inputs, of_outputs] = places.splice(-2);
            const from = places.slice(1, 1 + SIZES.length), to = places.slice(1 + SIZES.length);
            numbers(places[0], SHARED).set(shared);
            batched.forEach((array, i) => numbers(from[i], array.length).set(array));
            new Int32Array(exports.memory.buffer, of_inputs, 3 * SIZES.length)
                .set(from.flatMap((place, i) => [place, SIZES[i], 1]));
            new Int32Array(exports.memory.buffer, of_outputs, 3 * results.length)
                .set(to.flatMap((place, i) => [place, RESULTS[i] ?? 0, 1]));
            exports.@NAME@_batch(count, places[0], of_inputs, @OUT@);
            const found = results.map((size, i) => numbers(to[i], size).slice());
            return @FOUND@;
        });
    }
"""


def javascript(interface: Interface) -> str:
    """Return the module for JavaScript."""
    name, outputs = interface.name, len(interface.program.outputs)
    parts = {"BATCH": "", "AND_BATCH": "", "BATCH_COMMENT": "", "BATCH_SIZES": ""}
    if interface.batch is not None:
        shared = sum(leaf.size for leaf in interface.shared)
        sizes = [leaf.size for leaf in interface.batched]
        results = [leaf.size for leaf in interface.outputs]
        reduced = interface.is_reduced
        parts["AND_BATCH"] = ", evaluateBatch"
        returned = f"the {interface.reduce} of each output" if reduced else "an array for each result"
        lines = [
            "// `evaluateBatch(count, shared, batched)` takes the numbers that all samples share, and an array for",
            f"// each batched argument, one sample after the other. It returns {returned}.",
            *(f"//   batched[{i}]: {described(leaf)}" for i, leaf in enumerate(interface.batched)),
        ]
        parts["BATCH_COMMENT"] = "\n".join(lines)
        parts["BATCH_SIZES"] = f"const SHARED = {shared}, SIZES = {sizes}, RESULTS = {[] if reduced else results};\n"
        parts["BATCH"] = filled(
            _JAVASCRIPT_BATCH,
            NAME=name,
            RESULT_SIZES="[OUTPUTS]" if reduced else "RESULTS.map((size) => count * size)",
            OUT="to[0]" if reduced else "of_outputs",
            FOUND="found[0]" if reduced else "found",
        )
    return filled(_JAVASCRIPT, NAME=name, INPUTS=interface.program.inputs, OUTPUTS=outputs, **parts)


_WASM = """\
#!/bin/sh
# Build @NAME@.wasm with Emscripten, or with Zig's or another Clang that has the WASI library:
#     sh build_wasm.sh [COMPILER]
# COMPILER is "emcc", "zig cc" or "clang --sysroot=...". Without it, the first of them that is installed is used.
set -e
cd "$(dirname "$0")"
compiler=$1
[ -n "$compiler" ] || for one in emcc zig clang; do
    command -v $one >/dev/null && { compiler=$one; break; }
done
[ "$compiler" != zig ] || compiler="zig cc"
flags="-std=c99 -O3 @FLAGS@"
case "$compiler" in
    *emcc*) $compiler $flags @NAME@.c -o @NAME@.wasm -sSTANDALONE_WASM --no-entry \\
        -sALLOW_MEMORY_GROWTH -sSTACK_SIZE=2MB -sEXPORTED_FUNCTIONS=@EMCC_EXPORTS@ ;;
    *) $compiler $flags -target wasm32-wasi -mexec-model=reactor @NAME@.c -o @NAME@.wasm -Wl,-z,stack-size=2097152 \\
        @CLANG_EXPORTS@ ;;
esac
"""


def build_wasm(interface: Interface) -> str:
    """Return the script that builds WebAssembly."""
    names = [interface.name, *([f"{interface.name}_batch"] if interface.batch else []), "malloc", "free"]
    return filled(
        _WASM,
        NAME=interface.name,
        FLAGS=" ".join(FLAGS),
        EMCC_EXPORTS=",".join(f"_{name}" for name in names),
        CLANG_EXPORTS=" ".join(f"-Wl,--export={name}" for name in names),
    )
