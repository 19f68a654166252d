"""What a backend promises: `Backend` makes a `Kernel` of a program, and a kernel runs that program on batches.

`LaneKernel` in executor.py is the reference: it runs every program that a kernel is possible for, without a compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from gradwalk.program.program import Program


class PythonCallError(ValueError):
    """A program calls a function of Python for each sample, so that there is no kernel for it."""


class Kernel(Protocol):
    """A program that is ready to run on batches.

    **Bits.** The result of a sample depends on that sample and on what all samples share, and on nothing else: not on
    the other samples, its position among them, how many there are, how arrays lie in memory, or how many threads run.
    Operations that IEEE 754 defines exactly (+ - * /, sqrt, comparisons, and what selects among numbers) have the bits
    that `Program.run` gives in float64 and NumPy in float32: each rounds once, and a fused product and sum rounds
    twice. Others may differ by 4 units of the last place. Sums over a batch are of float64 in both types, and depend on
    the program and the batch, its order and size, but not on the threads; those of the same terms have the same bits on
    every backend.

    **Threads.** Any number of threads may call `run` of one kernel at once, with the interpreter's lock and without. A
    kernel has nothing that a run leaves half-done: after an exception in a run, such as a `KeyboardInterrupt`, the
    next one is as good as the first.

    **Floating-point exceptions.** Overflow, division by zero and invalid operations are answers, inf and nan, and
    neither raise nor warn.

    `str` shows what is run. A kernel can be pickled, and is made anew from its program where it is read.
    """

    @property
    def fixed(self) -> Sequence[int]:
        """The positions of the outputs that are the same for all samples."""
        ...

    @property
    def backends(self) -> dict[str, str]:
        """What runs it, by "", or by the names of parts and types of numbers: "llvm", or "lanes" and why."""
        ...

    @property
    def uniform_inputs(self) -> int:
        """How many inputs are the same for all samples."""
        ...

    @property
    def memory(self) -> int:
        """Bytes of scratch that each thread works in. Inputs and outputs come on top."""
        ...

    def run(
        self,
        uniform: NDArray[Any],
        columns: Sequence[NDArray[Any]],
        outputs: Sequence[NDArray[Any]],
        count: int,
        *,
        single: bool,
    ) -> NDArray[Any]:
        """Run the program on a batch.

        Columns and outputs are arrays with the samples along their first axis. An array stands for all that it holds
        along that axis: one of shape (count, 3, 2) is six columns, in the order of its other axes. They may lie in
        memory in any way.

        Args:
            uniform: The inputs that are the same for all samples; float64.
            columns: The other inputs, one column for each, float32 where `single`, else float64. They are only read.
            outputs: Where to write the outputs that vary: one column for each output of the program, the fixed ones
                included, of the same type. Nothing where the kernel reduces.
            count: How many samples there are. It may be 0.
            single: Whether to compute in float32.

        Returns:
            float64: the fixed outputs, in order of their positions; where the kernel reduces, the sums over the batch
            of all outputs.
        """
        ...


class Backend(Protocol):
    """A factory of kernels: a function, or a class of kernels."""

    def __call__(self, program: Program, varies: Sequence[bool], *, reduced: bool) -> Kernel:
        """Make a kernel.

        A backend may refuse a program, but only here: what it has made a kernel of, the kernel runs.

        Args:
            program: The program of one sample.
            varies: For each of its inputs, whether it has a number for each sample.
            reduced: Whether the outputs are wanted as sums over the batch.

        Returns:
            The kernel.

        Raises:
            ValueError: Where the backend cannot run the program, saying why. No backend can where a call of a Python
                function depends on the batch: that is a `PythonCallError`.
        """
        ...
