"""`checked_name`: a name for an exported function that C, C++, Python, CMake and file systems accept.

Libraries define no other name that could be the same: in C and C++, their names begin with the name of the function, or
are local where the function is not used. So the only names that are refused belong to languages and systems.
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys

from gradwalk.exporting.python_loader import LOADER
from gradwalk.program.formats.c.reserved import is_taken

DEFAULT = "program"  # the name if the Python function has no name in ASCII
_LONGEST = 200  # files are named after the function, and file systems accept 255 characters

# The loader for Python defines the function at module level, where it hides the built-in function of the same name.
_BUILTINS = {name for name in re.findall(r"\w+", LOADER) if hasattr(builtins, name)}
# Other headers include these headers, and would find the header of the library if the compiler searches its folder.
_HEADERS = frozenset(
    re.findall(
        r"\w+",
        """
    alloca assert complex ctype endian errno features fenv float inttypes iso646 limits locale malloc math memory
    pthread sched setjmp signal stdalign stdarg stdatomic stdbit stdbool stddef stdint stdio stdlib stdnoreturn string
    strings tgmath threads time uchar unistd wchar wctype
        """,
    )
)
# Compilers link these libraries, and would find the library of the function first: `-lm` is libm.so.
_LIBRARIES = frozenset(("c", "dl", "gcc", "gcc_s", "gomp", "m", "omp", "pthread", "rt", "util"))
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
    """Return a valid name: `name`, or the name of the Python function.

    If the name of the Python function is refused, "_function" is appended. A function without a name in ASCII, such as
    a lambda, has the name "program".

    Raises `ValueError` if `name` is not valid.
    """
    if name is None:
        own = function.removesuffix("()").lstrip("_")
        return next((x for x in (own, f"{own}_function") if own.isidentifier() and not reason(x)), DEFAULT)
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
    if name in _HEADERS:
        return f"would hide the header <{name}.h>"
    if name in _LIBRARIES:
        return f"would hide the library lib{name}"
    if keyword.iskeyword(name) or name in _BUILTINS:
        return "is a name of Python"
    if name in sys.stdlib_module_names or name in ("gradwalk", "numpy"):
        return "is a Python module, which the loader for Python would hide"
    if name.lower() in _TARGETS:
        return "is a target of CMake"
    if _DEVICES.fullmatch(name):
        return "is a device of Windows"
    return None
