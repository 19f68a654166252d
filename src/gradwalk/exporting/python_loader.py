"""The module for Python that calls an exported library with ctypes, as a template."""

from __future__ import annotations

LOADER = '''\
"""@NAME@: a function that gradwalk has exported, called with ctypes. It needs NumPy, and the compiled library.

    import @NAME@
    @NAME@.@LOAD@("build/lib@NAME@.so")  # the path of the library; by default it is searched for beside this file
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


def @LOAD@(path=None):
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
    library = _library or @LOAD@()
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
    if count == 0 and any(leaf["axis"] is None for leaf in leaves):
        raise ValueError("results without a batch axis need at least one sample, got a batch of 0 samples")
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
