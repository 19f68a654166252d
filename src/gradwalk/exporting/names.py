"""`checked_name`: a name for an exported function that C, C++, Python, CMake and file systems accept."""

from __future__ import annotations

import builtins
import keyword
import re
import sys

from gradwalk.program.formats.c.reserved import is_taken

DEFAULT = "program"  # the name if the name of the Python function cannot be used
_LONGEST = 200  # files are named after the function, and file systems accept 255 characters

# Names in the files of libraries, for all functions. Variables of a letter and a number are in _PATTERNS.
_INTERNAL = frozenset(
    re.findall(
        r"\w+",
        """
    Container Number Size EACH GCC HAS_LIBMVEC HAS_SETS JOIN LANES PASTE PREFETCH SAMPLES SET SUFFIX UINT64_C VALUES
        VECTOR add_to_total address all apply_to arguments array at attribute avx2 avx512 back baseline
        batch_hashes batch_values batched batches begin below bits block blocks carry check chosen clang
        column_of columns constants copies count data data_ define defined difference distance elif end
        enable_if_t endif equal evaluate evaluate_batch expected first fixed floor_divide found from full
        function given hash hash_of hashes holds ifdef ifndef in initializer_list input inputs invalid_argument
        is_arithmetic is_exact is_finite is_good is_same kept kind known lanes largest last leaf length
        length_error limit limits load lost low max mod most name next number number_ numbers numeric_limits omp
        one operands ordered out outputs own parallel part plan pop pop_options position power pragma product
        push push_options reached report result result_sizes results room row rows run run_all runner runs
        sample samples scalars scale schedule seeds shard shards shared sign size size_ sizes slot slots state
        states std step steps store stride string sum sums table tables take take_in_rows target test_batches
        test_samples to to_string total totals undef uniform used value values vector view vv vx vy what which
        width
        """,
    )
)
_PATTERNS = re.compile(
    r"[a-eh-z]\d*|(v|t|in|given|found|table|sum_of_|arg)\d+\w*|(gradwalk|row|vector|constants|plan|PLAN|checkpoint)_\w*"
    r"|\w+_(avx2|avx512|baseline|samples)"
)
_TARGETS = frozenset(  # targets that CMake and CTest define, in lower case
    re.findall(
        r"\w+",
        """
    all all_build check_always clean continuous depend edit_cache experimental help install list_install_components
    nightly nightlymemorycheck package package_source preinstall rebuild_cache run_tests test zero_check
    """,
    )
)
_DEVICES = re.compile(r"aux|con|nul|prn|(com|lpt)\d", re.IGNORECASE)  # files of Windows


def checked_name(name: str | None, function: str) -> str:
    """Return a valid name: `name`, or the name of the Python function, or "program".

    Raises `ValueError` if `name` is not valid.
    """
    if name is None:
        name = re.sub(r"\W", "", function.removesuffix("()"), flags=re.ASCII)
        return DEFAULT if reason(name) else name
    found = reason(name)
    if found:
        raise ValueError(
            f"name must be a name for a C function and its files, but {name!r:.60} {found}: choose another"
        )
    return name


def reason(name: str) -> str | None:
    """Return why a name cannot be used, or None."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        return "is not a letter followed by letters, digits and _"
    if len(name) > _LONGEST:
        return f"has more than {_LONGEST} characters"
    if is_taken(name):
        return "is a name of C or C++"
    if keyword.iskeyword(name) or hasattr(builtins, name):
        return "is a name of Python"
    if name in sys.stdlib_module_names or name == "numpy":
        return "is a Python module, which the loader for Python would hide"
    if name.lower() in _TARGETS:
        return "is a target of CMake"
    if _DEVICES.fullmatch(name):
        return "is a device of Windows"
    if name in _INTERNAL or _PATTERNS.fullmatch(name):
        return "is used in the code of libraries"
    return None
