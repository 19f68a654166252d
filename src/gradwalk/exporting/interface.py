"""`Interface`: the arguments and results of an exported function, as leaves and as trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gradwalk.batching.axes import SUMS
from gradwalk.batching.files.batch_program import BatchProgram
from gradwalk.batching.files.tree_json import written_tree
from gradwalk.batching.vmapped import Vmap
from gradwalk.exporting.names import checked_name
from gradwalk.program.program import Program, ProgramError
from gradwalk.transforms.jit.jit_class import Jit
from gradwalk.transforms.jit.lowered import Lowered
from gradwalk.trees.tree import TreeDef, size


class Leaf(NamedTuple):
    """A number or an array in an argument or a result.

    Attributes:
        path: Its name, such as `p['rate']`.
        shape: The shape for one sample; None for a number.
        axis: The batch axis, or None.
        start: The position of its first number among all inputs or outputs.
        size: The number of its numbers.
    """

    path: str
    shape: tuple[int, ...] | None
    axis: int | None
    start: int
    size: int


class Interface(NamedTuple):
    """The arguments and results of an exported function.

    Attributes:
        name: The name of the C function.
        program: The program of one sample.
        inputs: The leaves of the arguments.
        outputs: The leaves of the result.
        arguments: The arguments as JSON values, for the loaders; None if all inputs are passed as one array.
        result: The result as a JSON value; None if all outputs are returned as one array.
        batch: The batch program, or None for a function of one sample.
        numbers: The numbers that the inputs had when the function was recorded, or () if they are unknown.
    """

    name: str
    program: Program
    inputs: list[Leaf]
    outputs: list[Leaf]
    arguments: list[dict[str, Any]] | None
    result: Any
    batch: BatchProgram | None
    numbers: Sequence[float] = ()

    @property
    def reduce(self) -> str | None:
        """The reduction over the batch, or None."""
        return None if self.batch is None else self.batch.reduce

    @property
    def is_reduced(self) -> bool:
        """Whether results are summed or averaged over the batch."""
        return self.reduce is not None

    @property
    def shared(self) -> list[Leaf]:
        """The leaves that all samples of a batch share."""
        return [leaf for leaf in self.inputs if leaf.axis is None]

    @property
    def batched(self) -> list[Leaf]:
        """The leaves with a batch axis."""
        return [leaf for leaf in self.inputs if leaf.axis is not None]

    def batch_declaration(self, end: str = ";") -> list[str]:
        """Return the lines that declare the function of the batch in C, with `end` after them."""
        name = self.name
        out = "double *outputs" if self.is_reduced else f"const {name}_output *outputs"
        return [
            f"void {name}_batch(size_t count, const double *shared, const {name}_input *batched,",
            f"    {out}){end}".rstrip(),
        ]


def interface_of(f: Any, name: str | None) -> Interface:
    """Return the interface of a function that has been recorded.

    Raises:
        TypeError: `f` is neither a recorded function nor a program.
        ValueError: `f` has not been called yet, or `name` is not a valid name for a C function.
        ProgramError: The function cannot be exported.
    """
    if isinstance(f, Vmap):
        f = f.program
    if isinstance(f, BatchProgram):
        return _of_batch(f, checked_name(name, f.batching.name))
    if isinstance(f, Jit):
        return _of_jit(f, name)
    if isinstance(f, Lowered):
        f = f.program
    if isinstance(f, Program):
        inputs = _numbers(f.input_names or [f"inputs[{i}]" for i in range(f.inputs)])
        outputs = _numbers(f.output_names or [f"outputs[{i}]" for i in range(len(f.outputs))])
        return Interface(checked_name(name, "program"), f, inputs, outputs, None, None, None)
    raise TypeError(
        "export() takes a function that was recorded by jit(f) or jit(vmap(f)), a Program or a BatchProgram, got "
        f"{f!r:.60}"
    )


def _of_batch(batch: BatchProgram, name: str) -> Interface:
    batch.checked()
    if batch.reduce is not None and batch.reduce not in SUMS:
        raise ProgramError(
            f"export() takes batches with reduce=None, 'sum' or 'mean', not {batch.reduce!r}: export the function with "
            "reduce=None, and reduce its results"
        )
    inputs: list[Leaf] = []
    for argument, treedef in batch.arguments:
        inputs += _leaves(argument, treedef, batch.axes_of(argument), inputs)
    if not any(leaf.axis is not None for leaf in inputs):
        raise ProgramError(f"no argument of {batch.batching.name} has a batch axis: export the function of one sample")
    outputs = _leaves("out", batch.result, batch.out_axes, [])
    arguments, result = batch.trees()
    return Interface(name, batch.sample, inputs, outputs, arguments, result, batch)


def _of_jit(f: Jit[..., Any], name: str | None) -> Interface:
    program, trace = f.program, f.latest
    own = checked_name(name, f.name)
    if trace.outcomes:
        raise ProgramError(
            f"{f.name} branches on its arguments, but a library contains only one path through the branches: branch "
            "with gradwalk.loops.cond, or select with gradwalk.math.where"
        )
    if trace.captured:
        raise ProgramError(
            f"{f.name} uses Values that are not among its arguments: pass them as arguments, or use their numbers"
        )
    count, *parts = trace.key
    given = [(i, *part) for i, part in enumerate(parts) if len(part) == 2]  # static arguments have three parts
    inputs: list[Leaf] = []
    for _, argument, treedef in given:
        inputs += _leaves(argument, treedef, [None] * len(treedef.shapes), inputs)
    outputs = _leaves("out", trace.treedef, [None] * len(trace.treedef.shapes), [])
    try:
        arguments = [
            {"name": x, "keyword": i >= count, "tree": written_tree(t, [None] * len(t.shapes), x)} for i, x, t in given
        ]
        result = written_tree(trace.treedef, [None] * len(trace.treedef.shapes), "the result")
    except ProgramError:  # classes: the loaders take and return arrays of all numbers
        return Interface(own, program, inputs, outputs, None, None, None, trace.numbers)
    return Interface(own, program, inputs, outputs, arguments, result, None, trace.numbers)


def _leaves(root: str, treedef: TreeDef, axes: Sequence[int | None], before: Sequence[Leaf]) -> list[Leaf]:
    leaves: list[Leaf] = []
    start = sum(leaf.size for leaf in before)
    for path, shape, axis in zip(treedef.paths(root), treedef.shapes, axes, strict=True):
        leaves.append(Leaf(path, None if isinstance(shape, str) else shape, axis, start, size(shape)))
        start += size(shape)
    return leaves


def _numbers(names: Sequence[str]) -> list[Leaf]:
    """Return a leaf for each number of a program without a known structure."""
    return [Leaf(name, None, None, i, 1) for i, name in enumerate(names)]
