"""Advice for names of `jax.numpy` that `gradwalk.numpy` does not have, used in error messages and the documentation."""

from __future__ import annotations

_PLAIN = "numpy.{name}, which accepts arrays of numbers only"
_BITS = "numpy.{name} for ints, or logical_and, logical_or, logical_xor and logical_not for conditions"
_DTYPE = "float64: Values have no other precision"
_UPDATE = "at(a)[index].set(v), which returns a new array"

_GROUPS = {
    "argsort, whose first indices are those of the smallest elements": "argpartition",
    _BITS: "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
    "bitwise_xor invert left_shift right_shift packbits unpackbits",
    _DTYPE: "bfloat16 float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz "
    "float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu",
    "numpy.int8 or numpy.uint8": "int1 int2 int4 uint1 uint2 uint4",
    _PLAIN: "ComplexWarning from_dlpack frombuffer fromfile fromiter fromstring isdtype load save savez sort_complex",
    _UPDATE: "fill_diagonal place put put_along_axis",
    "unique, or numpy.unique with return_index, return_inverse and return_counts for arrays of numbers": "unique_all "
    "unique_counts unique_inverse unique_values",
}

ADVICE = {name: advice.format(name=name) for advice, names in _GROUPS.items() for name in names.split()}

_INTEGERS = "v.data is the number of a Value v, without derivatives"

NUMBERS_ONLY = {  # functions that accept arrays of numbers, and advice for arrays of Values
    "eig": "use eigh for symmetric matrices",
    "eigvals": "use eigvalsh for symmetric matrices",
    "frexp": "use floor(log2(abs(x))) + 1 for the exponent",
    "gcd": _INTEGERS,
    "histogram2d": "use histogram for each row",
    "histogram_bin_edges": "use linspace(min(x), max(x), n + 1)",
    "histogramdd": "use histogram for each row",
    "lcm": _INTEGERS,
    "lexsort": "use argsort, which is stable, for each key, from the first key to the last",
    "nextafter": _INTEGERS,
    "roots": "use gradwalk.solvers, whose roots have derivatives",
    "spacing": _INTEGERS,
}


def explain(name: str) -> str:
    """Return the message of the `AttributeError` for a name that `gradwalk.numpy` does not have."""
    if name in ADVICE:
        return f"gradwalk.numpy does not have {name}: use {ADVICE[name]}"
    return f"module 'gradwalk.numpy' has no attribute {name!r}"
