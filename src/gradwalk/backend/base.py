"""Protocols of backends: a `Backend` builds a `Kernel` from a program, and the kernel runs the program on batches.

`LaneKernel` in lane_kernel.py is the reference implementation. It runs programs without loops and switches, and needs
no compiler at run time. `LoopKernel` in loops/loop_kernel.py runs the other programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from gradwalk.program.program import Program


class PythonCallError(ValueError):
    """Raised for a program that would have to call a Python function for each sample. No kernel supports this."""


class MachineCodeError(RuntimeError):
    """Machine code ran out of memory, or a loop that is the same for all samples took too many steps."""


class Kernel(Protocol):
    """A program that is ready to run on batches.

    **Reproducibility.** The result of a sample depends only on that sample and on the uniform inputs. It does not
    depend on the other samples, the position of the sample in the batch, the batch size, the memory layout of the
    arrays or the number of threads. Operations that IEEE 754 defines exactly (+ - * /, sqrt, comparisons and
    selections) give the same bits as `Program.run` in float64, and the same bits as NumPy in float32. Each of them
    rounds once; a multiply-add is two operations and rounds twice. The results of other operations may differ from
    these references by up to 4 ulp. Sums over a batch are accumulated in float64 for both dtypes. These sums depend on
    the program, the order of the samples and the batch size, but not on the number of threads. Sums of the same terms
    have the same bits on every backend.

    **Threads.** Any number of threads may call `run` of one kernel at the same time, with or without the GIL. An
    exception during a run, such as `KeyboardInterrupt`, does not affect later runs.

    **Floating-point exceptions.** Overflow, division by zero and invalid operations give inf or nan, without an
    exception or a warning.

    `str` lists the instructions. A kernel can be pickled; unpickling builds it again from its program.
    """

    @property
    def fixed(self) -> Sequence[int]:
        """Positions of the outputs that are the same for all samples."""
        ...

    @property
    def backends(self) -> dict[str, str]:
        """A dict that tells how each part of the kernel is run: a key names a part and a dtype, a value an executor.

        A kernel with a single part may use the key "". The executor is "llvm" for machine code; otherwise it is
        "lanes: " followed by the reason why machine code is not used.
        """
        ...

    @property
    def uniform_inputs(self) -> int:
        """Number of inputs that are the same for all samples."""
        ...

    @property
    def memory(self) -> int:
        """Size of the scratch memory of each thread in bytes. The input and output arrays are not included."""
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

        Axis 0 of `columns` and `outputs` is the batch axis. Each position along the other axes is one column, in C
        order: an array of shape (count, 3, 2) has six columns. The arrays may have any strides.

        Args:
            uniform: The inputs that are the same for all samples; float64.
            columns: The other inputs, one column per input, float32 if `single`, else float64. They are only read.
            outputs: Arrays of the same dtype as `columns`, with one column per output of the program. The kernel writes
                the varying outputs to them and ignores the columns of fixed outputs. Empty if the kernel returns sums.
            count: Number of samples; may be 0.
            single: Whether to compute in float32.

        Returns:
            The sums of all outputs if the kernel was built with `reduced`, else the fixed outputs in order; float64.
        """
        ...


class Backend(Protocol):
    """A factory of kernels: a function, or a class of kernels."""

    def __call__(self, program: Program, varies: Sequence[bool], *, reduced: bool) -> Kernel:
        """Build a kernel. A backend must refuse unsupported programs here, not in `Kernel.run`.

        Args:
            program: The program to run for each sample.
            varies: Whether each input has one number per sample, instead of one number for the whole batch.
            reduced: Whether to return sums over the batch instead of the outputs.

        Raises:
            ValueError: If the backend cannot run the program; the message says why. Every backend raises the subclass
                `PythonCallError` if the program calls a Python function with an argument that depends on the batch.
        """
        ...
