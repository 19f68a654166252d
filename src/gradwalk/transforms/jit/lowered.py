"""`Lowered` and `Compiled`: a recording without the function, with the interface of `jax.stages`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL
from gradwalk.program.native.compiler_process import is_installed
from gradwalk.program.native.policy import Policy, checked_policy, compiling
from gradwalk.program.native.scalar_ir import ir_source
from gradwalk.program.program import Program, trusted
from gradwalk.program.tracing.trace import evaluate
from gradwalk.trees.structs import structs
from gradwalk.trees.tree import TreeDef, flatten, scalars

_ARITHMETIC = {"add", "sub", "mul", "div", "neg", "abs", "sqrt", "maximum", "minimum", "less", "less_equal", "equal"}
_ARITHMETIC |= {"floor", "ceil", "trunc", "rint", "where", "sign", "copysign"}


class Lowered:
    """The recording of a function for arguments of one structure, returned by `jit(f).lower(*args)`.

    Args:
        name: The name of the function.
        program: The program, with named inputs and outputs.
        arguments: The treedef of the arguments that are not static: a tuple of positional arguments and a dict.
        result: The treedef of the result.
        captured: The Values that the function captures.
    """

    def __init__(
        self, name: str, program: Program, arguments: TreeDef, result: TreeDef, captured: Sequence[Any]
    ) -> None:
        self._name, self._program, self._captured = name, program, captured
        self._arguments, self._result = arguments, result

    def __repr__(self) -> str:
        return f"<lowered {self._name}: {self._program!r}>"

    @property
    def program(self) -> Program:
        """The program."""
        return self._program

    @property
    def out_info(self) -> Any:
        """The result with a `ShapeDtypeStruct` for each leaf."""
        return structs(self._result)

    def as_text(self, dialect: str | None = None) -> str:
        """Return the program as text.

        Args:
            dialect: None for a listing, "llvm" for LLVM IR, "c" for C, or "json" for the format of `Program.save`. The
                LLVM IR has no vectors, but the machine code of this processor may run loops on vectors.

        Raises:
            ValueError: The dialect is unknown.
            ProgramError: The program calls a Python function, and the dialect is not None.

        Example:
            >>> from gradwalk import jit
            >>> print(jit(lambda x: 2.0 * x + 1.0).lower(3.0).as_text())
            program(x):
              v3 = 2.0 * x + 1.0
              out = v3
        """
        if dialect is None:
            return str(self._program)
        if dialect == "llvm":
            self._program.code.refuse_calls("which machine code cannot contain")
            return ir_source(self._program.code)
        if dialect not in ("c", "json"):
            raise ValueError(f'dialect must be None, "llvm", "c" or "json", got {dialect!r}')
        return self._program.to_c() if dialect == "c" else self._program.to_json()

    def cost_analysis(self) -> dict[str, float]:
        """Return the numbers of operations: "flops", and "transcendentals" such as `exp`.

        A loop counts the operations of all its steps, or of one step if the number of steps is not known. Both branches
        of a `cond` are counted.

        Example:
            >>> from gradwalk import jit, math
            >>> jit(lambda x: math.exp(x) * x + 1.0).lower(1.0).cost_analysis()
            {'flops': 2.0, 'transcendentals': 1.0}
        """
        flops, transcendentals = _cost(self._program.code)
        return {"flops": float(flops), "transcendentals": float(transcendentals)}

    def compile(self) -> Compiled:
        """Return a function that runs the program, and compiles it to machine code on the first call.

        Without llvmlite, the function runs the program in the interpreter. The results are the same.

        Example:
            >>> from gradwalk import jit
            >>> double = jit(lambda x: 2.0 * x).lower(1.0).compile()
            >>> double(4.0)
            8.0
        """
        return Compiled(self._name, self._program, self._arguments, self._result, self._captured)


class Compiled(Lowered):
    """A function without its Python code, returned by `Lowered.compile`."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._policy = checked_policy("llvm", False, None) if is_installed() else Policy()
        with compiling(self._policy):
            self._program = trusted(self._program.code)

    def __repr__(self) -> str:
        return f"<compiled {self._name}: {self._program!r}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the result for arguments of the structure that the function was lowered for, without static arguments.

        Raises:
            TypeError: The arguments have another structure.
        """
        leaves, treedef = flatten((args, dict(sorted(kwargs.items()))), f"the arguments of {self._name}")
        if treedef != self._arguments:
            raise TypeError(f"{self._name} was lowered for arguments like {self._arguments}, got {treedef}")
        with compiling(self._policy):
            numbers = evaluate(self._program, [*scalars(leaves), *self._captured])
        return self._result.filled(numbers if isinstance(numbers, (list, numpy.ndarray)) else list(numbers))


def _cost(code: Code) -> tuple[int, int]:
    """Return the numbers of arithmetic operations and of other operations in a program and in its calls."""
    flops = transcendentals = 0
    for opcode in code.instructions[::4].tolist():
        name = NAMES[opcode] if opcode < len(NAMES) else ""
        if opcode == CALL or name == "take":
            continue
        if not name:  # a fused product and sum
            flops += 2
        elif name in _ARITHMETIC:
            flops += 1
        else:
            transcendentals += 1
    for call, _ in code.calls:
        times = getattr(call, "steps", 1) or 1
        for part in call.parts:
            own, others = _cost(part.code)
            flops += times * own
            transcendentals += times * others
    return flops, transcendentals
