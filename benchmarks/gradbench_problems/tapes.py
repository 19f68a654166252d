"""CppAD and ADOL-C, if they are installed: C++ libraries whose numbers record operations on a tape.

Both run the functions of `cpp/gradbench_functions.h`. A tape is recorded once and replayed for other numbers. With many
samples, the tape contains one sample, because then it stays in the caches.
"""

from __future__ import annotations

import subprocess
import sysconfig
import weakref
from collections.abc import Callable, Sequence
from ctypes import c_long, c_void_p
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy
from peers import cpp, pointers

from gradbench_problems.base import Maker, Run

INCLUDED = f"-I{Path(sysconfig.get_path('purelib'), 'cmeel.prefix', 'include')}"  # from the package cmeel-cppad
HEADERS = {"CppAD": "cppad/cppad.hpp", "ADOL-C": "adolc/adolc.h"}
INSTALLED_BY = {"CppAD": "pip install cmeel-cppad", "ADOL-C": "apt install libadolc-dev"}
OPTIONS = ("-O3", "-DNDEBUG", INCLUDED)


@cache
def is_installed(name: str) -> bool:
    """Return whether the compiler finds the header of a library."""
    question = f"#if !__has_include(<{HEADERS[name]}>)\n#error missing\n#endif\n"
    command = ["g++", INCLUDED, "-E", "-x", "c++", "-"]
    return subprocess.run(command, input=question, text=True, capture_output=True, check=False).returncode == 0


@cache
def library(name: str) -> Any:
    """Compile the functions that record and replay tapes."""
    found = cpp("gradbench_cppad", OPTIONS) if name == "CppAD" else cpp("gradbench_adolc", OPTIONS, ["-ladolc"])
    found.record.restype = c_void_p
    return found


def makers(make: Callable[..., Run], *given: Any) -> dict[str, Maker]:
    """Return makers of the function of a problem, one per installed library."""

    def made(name: str) -> Run:
        return make(Tapes(library(name), one_by_one=name == "CppAD"), *given)

    return {name: partial(made, name) for name in HEADERS if is_installed(name)}


class Tapes:
    """The functions of one library.

    Attributes:
        one_by_one: Whether replaying a short tape for each sample is fast.
    """

    def __init__(self, library: Any, one_by_one: bool) -> None:
        self._library = library
        self.one_by_one = one_by_one

    def _recorded(self, name: str, sizes: Sequence[int], arrays: Sequence[Any], results: int) -> Any:
        """Record a tape of the named function for numbers, parameters and constants."""
        x, p, constants = (numpy.ascontiguousarray(array, float) for array in arrays)
        size = (c_long * 3)(*sizes)
        lengths = [c_long(n) for n in (len(x), len(p), results)]
        given = pointers([x, p, constants])
        arguments = [item for pair in zip(lengths[:2], given[:2], strict=True) for item in pair]
        return c_void_p(self._library.record(name.encode(), size, *arguments, lengths[2], given[2]))

    def _replayed(self, function: str, tape: Any) -> Callable[..., None]:
        """Return a function that replays a tape, given counts and arrays. The tape is freed with it."""
        replay = getattr(self._library, function)

        def run(*given: Any) -> None:
            replay(tape, *(c_long(x) if isinstance(x, int) else c_void_p(x.ctypes.data) for x in given))

        weakref.finalize(run, self._library.release, tape)
        return run

    def gradient(self, name: str, sizes: Sequence[int], x: Any, constants: Any = ()) -> Run:
        """Return the gradient of one function."""
        replay = self._replayed("gradients", self._recorded(name, sizes, (x, (), constants), 1))
        nothing = numpy.empty(0)

        def run() -> Any:
            found = numpy.zeros(len(x))
            replay(1, x, nothing, found)
            return found

        return run

    def sums(self, name: str, sizes: Sequence[int], x: Any, samples: Any) -> Run:
        """Return the gradient of a function summed over samples, plus the gradient of its prior."""
        each = self._replayed("gradients", self._recorded(name, sizes, (x, samples[0], ()), 1))
        prior = self._replayed("gradients", self._recorded(f"{name}_prior", sizes, (x, (), ()), 1))

        def run() -> Any:
            found = numpy.zeros(len(x))
            each(len(samples), x, samples, found)
            prior(1, x, samples, found)
            return found

        return run

    def jacobians(self, name: str, numbers: int, results: int, samples: Any) -> Callable[[Any], Any]:
        """Return the Jacobian of each sample; samples have separate numbers and parameters."""
        recorded = self._recorded(name, (), (numpy.ones(numbers), samples[0], ()), results)
        replay = self._replayed("jacobians", recorded)

        def run(x: Any) -> Any:
            found = numpy.empty((len(samples), results, numbers))
            replay(len(samples), x, samples, found)
            return found

        return run

    def directions(self, name: str, sizes: Sequence[int], x: Any, constants: Any, seeds: Any, results: int) -> Run:
        """Return the derivatives of all results along directions, the columns of `seeds`."""
        replay = self._replayed("directions", self._recorded(name, sizes, (x, (), constants), results))

        def run() -> Any:
            found = numpy.empty((results, seeds.shape[1]))
            replay(seeds.shape[1], x, seeds, found)
            return found

        return run

    def seconds(self, name: str, constants: Any) -> Callable[[Any], Any]:
        """Return the gradient and the Hessian times a vector of ones."""
        tape = self._recorded(name, (), (constants, (), constants), 1)
        replay = self._replayed("seconds", tape)

        def run(x: Any) -> Any:
            found = numpy.empty((2, *x.shape))
            replay(x, found)
            return found

        return run
