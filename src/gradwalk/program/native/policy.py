"""`Policy`: when and how programs are compiled to machine code. Importing this module does not import the compiler."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from numbers import Real
from typing import NamedTuple

from gradwalk.program.code.code import Code
from gradwalk.program.native import compiler_process
from gradwalk.program.routine.limits import MEMORY, why_not_lowerable


class Policy(NamedTuple):
    """When and how to compile programs.

    Attributes:
        backend: "llvm" compiles a program before its first run. "lanes" never compiles. None compiles hot programs,
            unless the environment variable GRADWALK_BACKEND is "lanes".
        contract: Whether machine code may fuse a product and a sum into one operation that is rounded once.
        memory: The largest number of bytes that a loop stores for its reverse pass: see `Lowering`.
    """

    backend: str | None = None
    contract: bool = False
    memory: int = MEMORY

    @property
    def refusal(self) -> str:
        """The reason why no program is compiled under this policy, or "" if programs are compiled."""
        if self.backend == "lanes":
            return 'the backend is "lanes"'
        if self.backend is None and os.environ.get("GRADWALK_BACKEND") == "lanes":
            return 'GRADWALK_BACKEND is "lanes"'
        return compiler_process.why_not()


DEFAULT = Policy()
_policy: ContextVar[Policy] = ContextVar("policy", default=DEFAULT)
current_policy = _policy.get  # returns the policy for new programs and kernels


def checked_policy(backend: str | None, contract: bool, memory: float | None) -> Policy:
    """Return the `Policy` with these fields; `memory` is None for the default.

    Raises ValueError if the backend is unknown or `memory` is negative, TypeError if `memory` is not a number, and
    ImportError if the backend is "llvm" and llvmlite is not installed.
    """
    if memory is not None and (isinstance(memory, bool) or not isinstance(memory, Real)):
        raise TypeError(f"memory must be a number of bytes or None, got {memory!r:.60}")
    if memory is not None and not 0 <= memory <= sys.maxsize:
        raise ValueError(f"memory must be a number of bytes from 0 to {sys.maxsize}, got {memory!r:.60}")
    if backend not in (None, "lanes", "llvm"):
        raise ValueError(f'backend must be "lanes", "llvm", or None to compile hot programs, got {backend!r}')
    policy = Policy(backend, bool(contract), MEMORY if memory is None else int(memory))
    policy = DEFAULT if policy == DEFAULT else policy
    if backend == "llvm" and not compiler_process.is_installed():
        raise ImportError(compiler_process.NOT_INSTALLED)
    return policy


def prefix_keys(name: str, backends: Mapping[str, str]) -> dict[str, str]:
    """Return a dict of backends whose keys are prefixed with a name.

    Example:
        >>> prefix_keys("loop", {"": "llvm", "step": "lanes"})
        {'loop': 'llvm', 'loop, step': 'lanes'}
    """
    return {f"{name}, {part}" if part else name: backend for part, backend in backends.items()}


@contextlib.contextmanager
def compiling(policy: Policy) -> Iterator[None]:
    """Use a policy for the programs and kernels that are created in the `with` block."""
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


def why_not_compilable(code: Code, policy: Policy) -> str:
    """Return the reason why a program is not compiled under a policy, or "" if it is compiled."""
    return policy.refusal or why_not_lowerable(code, contract=policy.contract)
