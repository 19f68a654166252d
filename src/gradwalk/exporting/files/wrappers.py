"""Print the wrappers of an exported library: C++, Python with ctypes, and JavaScript for WebAssembly."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from gradwalk.exporting.files.c_files import FLAGS, described
from gradwalk.exporting.interface import Interface, Leaf

_CPP = """\
// A wrapper of @NAME@.h for C++17: arguments are checked, and results are arrays.
#ifndef @NAME@_HPP
#define @NAME@_HPP

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
@ONE_BODY@    @NAME@(inputs.data(), outputs.data());
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
    @NAME@_batch(count, shared.data(), batched, outputs.data());
    return outputs;
}
"""

_CPP_STACKED = """
// Compute a batch. Batched arguments and results have one sample after the other; there is a vector for each result.
inline std::array<std::vector<double>, @RESULTS@> evaluate_batch(std::size_t count, @PARAMETERS@)
{
@BODY@    std::array<std::vector<double>, @RESULTS@> results;
    const std::size_t sizes[] = {@SIZES@};
    @NAME@_output outputs[@RESULTS@];
    for (std::size_t i = 0; i < @RESULTS@; ++i) {
        results[i].resize(product(count, sizes[i]));
        outputs[i] = @NAME@_output{results[i].data(), static_cast<std::ptrdiff_t>(sizes[i]), 1};
    }
    @NAME@_batch(count, shared.data(), batched, outputs);
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
        body += f"    const {name}_input batched[] = {{{inputs}}};\n"
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


_PYTHON = '''\
"""@NAME@: a function that gradwalk has exported, called with ctypes. It needs NumPy, and the compiled library.

    import @NAME@
    @NAME@.load("build/lib@NAME@.so")  # the path of the library; by default it is searched for beside this file
    @NAME@.@NAME@(@EXAMPLE@)
"""

import ctypes
import json
import os
import sys

import numpy

_ARGUMENTS = json.loads(r"""@ARGUMENTS@""")  # None: one array of all inputs
_RESULT = json.loads(r"""@RESULT@""")
_INPUTS, _OUTPUTS, _REDUCE, _IS_BATCH = @INPUTS@, @OUTPUTS@, @REDUCE@, @IS_BATCH@
_library = None


class _Place(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("sample", ctypes.c_ssize_t), ("number", ctypes.c_ssize_t)]


def load(path=None):
    """Load the compiled library. Without a path, it is searched for beside this file and in the folder build."""
    global _library
    name = {"win32": "@NAME@.dll", "darwin": "lib@NAME@.dylib"}.get(sys.platform, "lib@NAME@.so")
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, name), os.path.join(here, "build", name)] if path is None else [os.fspath(path)]
    found = next((place for place in places if os.path.exists(place)), None)
    if found is None:
        raise FileNotFoundError(f"the compiled library is not at {' or '.join(places)}: build it with CMake first")
    _library = ctypes.CDLL(os.path.abspath(found))
    return _library


def _leaves(tree, value, path, found):
    """Append (leaf, array or number, name) for each leaf of an argument."""
    if tree is None:
        if value is not None:
            raise TypeError(f"{path} must be None, got {value!r:.60}")
    elif "shape" in tree:
        found.append((tree, value, path))
    elif "dict" in tree:
        if not isinstance(value, dict) or value.keys() != tree["dict"].keys():
            raise TypeError(f"{path} must be a dict with the keys {sorted(tree['dict'])}, got {value!r:.60}")
        for key in sorted(tree["dict"]):
            _leaves(tree["dict"][key], value[key], f"{path}[{key!r}]", found)
    else:
        [(kind, parts)] = tree.items()
        if not isinstance(value, {"tuple": tuple, "list": list}[kind]) or len(value) != len(parts):
            raise TypeError(f"{path} must be a {kind} of {len(parts)} items, got {value!r:.60}")
        for i, part in enumerate(parts):
            _leaves(part, value[i], f"{path}[{i}]", found)


def _built(tree, leaves):
    """Return the tree of a result; `leaves` yields the leaves."""
    if tree is None:
        return None
    if "shape" in tree:
        return next(leaves)
    if "dict" in tree:
        found = {key: _built(tree["dict"][key], leaves) for key in sorted(tree["dict"])}
        return {key: found[key] for key in tree["dict"]}
    [(kind, parts)] = tree.items()
    return {"tuple": tuple, "list": list}[kind](_built(part, leaves) for part in parts)


def _given(args, kwargs):
    """Return (leaf, array, name) for each leaf of the arguments."""
    positional = [argument for argument in _ARGUMENTS if not argument["keyword"]]
    keywords = {argument["name"]: argument for argument in _ARGUMENTS if argument["keyword"]}
    if len(args) != len(positional) or kwargs.keys() != keywords.keys():
        names = [*(a["name"] for a in positional), *(f"{name}=" for name in keywords)]
        raise TypeError(f"@NAME@ takes the arguments ({', '.join(names)})")
    found = []
    for argument, value in [*zip(positional, args), *((keywords[name], kwargs[name]) for name in sorted(kwargs))]:
        _leaves(argument["tree"], value, argument["name"], found)
    return [(leaf, _array(leaf, value, path), path) for leaf, value, path in found]


def _array(leaf, value, path):
    """Return the numbers of a leaf as an array whose first axis is the batch axis, if it has one."""
    is_complex = leaf.get("type") == "complex"
    array = numpy.asarray(value, numpy.complex128 if is_complex else numpy.float64)
    shape = tuple(leaf["shape"] or ())
    if leaf["axis"] is not None:
        if array.ndim != len(shape) + 1:
            raise ValueError(f"{path} must have {len(shape) + 1} axes, got an array of shape {array.shape}")
        array = numpy.moveaxis(array, leaf["axis"], 0)
    if array.shape[leaf["axis"] is not None :] != shape:
        raise ValueError(f"{path} must have the shape {shape} for each sample, got an array of shape {array.shape}")
    return array


def _parts(leaf, array):
    """Return the real arrays of a leaf: two for a complex one."""
    return [array.real, array.imag] if leaf.get("type") == "complex" else [array]


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def @NAME@(*args, **kwargs):
    """Call the function@WHAT@."""
    library = _library or load()
    if _ARGUMENTS is None:
        inputs = numpy.ascontiguousarray(args[0], numpy.float64)
        if inputs.shape != (_INPUTS,):
            raise ValueError(f"the inputs must be an array of {_INPUTS} numbers, got the shape {inputs.shape}")
        return _one(library, inputs)
    given = _given(args, kwargs)
    if _IS_BATCH:
        return _batch(library, given)
    inputs = [numpy.ravel(part) for leaf, array, _ in given for part in _parts(leaf, array)]
    outputs = _one(library, numpy.concatenate([numpy.empty(0), *inputs]))
    return _built(_RESULT, _unflattened(outputs))


def _one(library, inputs):
    outputs = numpy.empty(_OUTPUTS)
    library.@NAME@(_pointer(inputs), _pointer(outputs))
    return outputs


def _result_leaves():
    found, waiting = [], [_RESULT]
    while waiting:
        tree = waiting.pop()
        if tree is None:
            continue
        if "shape" in tree:
            found.append(tree)
        elif "dict" in tree:
            waiting += [tree["dict"][key] for key in sorted(tree["dict"], reverse=True)]
        else:
            waiting += next(iter(tree.values()))[::-1]
    return found


def _unflattened(numbers):
    """Yield the leaves of the result, given all outputs."""
    start = 0
    for leaf in _result_leaves():
        shape = tuple(leaf["shape"] or ())
        size = int(numpy.prod(shape, dtype=int))
        parts = []
        for _ in range(2 if leaf.get("type") == "complex" else 1):
            parts.append(numbers[start : start + size].reshape(shape))
            start += size
        array = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
        yield _typed(leaf, array)


def _typed(leaf, array):
    kind = {"int": int, "bool": bool}.get(leaf.get("type")) if _REDUCE is None else None
    array = array if kind is None else array.astype(kind)
    return array.item() if leaf["shape"] is None else array


def _batch(library, given):
    shared, batched, counts = [numpy.empty(0)], [], {}
    for leaf, array, path in given:
        for part in _parts(leaf, array):
            if leaf["axis"] is None:
                shared.append(numpy.ravel(part))
            else:
                counts[path] = len(part)
                batched.append(_strided(part))
    if len({*counts.values()}) > 1:
        raise ValueError(f"batches have different sizes: {counts}")
    count = next(iter(counts.values()))
    inputs = (_Place * len(batched))(*[_Place(array.ctypes.data, *steps) for array, steps in batched])
    numbers = numpy.concatenate(shared)
    if _REDUCE is not None:
        outputs = numpy.empty(_OUTPUTS)
        library.@NAME@_batch(ctypes.c_size_t(count), _pointer(numbers), inputs, _pointer(outputs))
        return _built(_RESULT, _unflattened(outputs))
    leaves = _result_leaves()
    arrays = [
        [numpy.empty((count, *(leaf["shape"] or ()))) for _ in range(2 if leaf.get("type") == "complex" else 1)]
        for leaf in leaves
    ]
    flat = [array for parts in arrays for array in parts]
    places = [_Place(array.ctypes.data, array[:1].size, 1) for array in flat]
    library.@NAME@_batch(ctypes.c_size_t(count), _pointer(numbers), inputs, (_Place * len(flat))(*places))
    return _built(_RESULT, map(_stacked, leaves, arrays))


def _strided(array):
    """Return an array and its strides in numbers: from sample to sample, and from number to number of a sample."""
    size = array[:1].size
    strides = [stride // 8 for stride in array.strides]
    steps = [axis for axis, length in enumerate(array.shape) if axis and length > 1]
    is_even = all(strides[i] == strides[j] * array.shape[j] for i, j in zip(steps, steps[1:]))
    if array.size and is_even and array.flags.aligned and all(stride % 8 == 0 for stride in array.strides):
        return array, (strides[0], strides[steps[-1]] if steps else 1)
    array = numpy.ascontiguousarray(array)
    return array, (size, 1)


def _stacked(leaf, parts):
    array = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
    kind = {"int": int, "bool": bool}.get(leaf.get("type"))
    if leaf["axis"] is None:
        return _typed(leaf, array[0])
    return numpy.moveaxis(array if kind is None else array.astype(kind), 0, leaf["axis"])
'''


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
        _PYTHON,
        NAME=interface.name,
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
