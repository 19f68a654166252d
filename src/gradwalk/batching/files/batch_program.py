"""`BatchProgram`: a recorded function of batches without its Python code, which can be saved to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from reprlib import repr as shown
from typing import TYPE_CHECKING, Any

from gradwalk.base.cached import cached_property
from gradwalk.batching.axes import REDUCTIONS, SUMS, Batch, Batching, spread
from gradwalk.batching.axes import shown as shown_key
from gradwalk.batching.files.loaded_trace import LoadedTrace
from gradwalk.batching.files.tree_json import Tree, read_tree, written_tree
from gradwalk.program.formats import program_json
from gradwalk.program.program import Program, ProgramError, read_document
from gradwalk.trees.tree import Parameters, TreeDef

if TYPE_CHECKING:
    from gradwalk.backend.base import Kernel
    from gradwalk.batching.batched_trace import BatchedTrace

VERSION = 1
_KEYS = {"gradwalk", "version", "name", "reduce", "arguments", "result", "program"}
_ARGUMENT_KEYS = {"name", "keyword", "tree"}


class BatchProgram:
    """The recording of a function of batches: the program of one sample, the batch axes and the reduction.

    `jit(vmap(f, ...)).program` and `jit(vmap(f, ...)).lower(*args)` return a `BatchProgram`. It is called like the
    function, with arguments of the structure that was recorded and with batches of any size. It needs no Python code of
    the function, so it can be saved, loaded in another process, and pickled. `str` lists its instructions.

    Attributes:
        batching: The axes and the reduction.

    Example:
        >>> import numpy
        >>> from gradwalk import jit, vmap
        >>> total = jit(vmap(lambda rate, x: rate * x, in_axes=(None, 0), reduce="sum"))
        >>> total(2.0, numpy.array([1.0, 2.0]))
        6.0
        >>> print(total.program)
        the sum over the batch axes of x:
          program(rate, x):
            v2 = rate * x
            out = v2
        >>> again = BatchProgram.from_json(total.program.to_json())
        >>> again(2.0, numpy.array([1.0, 2.0, 3.0]))
        12.0
    """

    def __init__(self, batching: Batching, trace: BatchedTrace | LoadedTrace) -> None:
        self.batching = batching
        self._trace = trace

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results for a batch, written to `out` if it is given: see `vmap`.

        Raises:
            TypeError: The arguments do not have the structure that was recorded.
            ValueError: The function branches, or calls Python functions: see `checked`.
        """
        out = self.batching.take_out(kwargs)
        batch = self.batching.batch(args, kwargs)
        return self.trace(batch).reduced(batch, self.batching, out)

    def checked(self) -> BatchProgram:
        """Return self if the program computes the function for all batches and needs no Python code.

        Raises:
            ProgramError: The function branches on its arguments, uses Values that are not among them, or calls Python
                functions.
        """
        name, trace = self.batching.name, self._trace
        if isinstance(trace, LoadedTrace):
            return self
        if trace.outcomes:
            raise ProgramError(
                f"{name} branches on its arguments, but a program contains only one path through the branches: "
                "branch with gradwalk.loops.cond, or select with gradwalk.math.where"
            )
        if trace.captured:
            raise ProgramError(
                f"{name} uses Values that are not among its arguments: a batch program can depend only on its arguments"
            )
        calls = [call for call, _ in trace.program.calls if not call.has_rules]
        if trace.kernel is None or not all(call.kind for call in calls):
            why = next((call.refusal for call in calls if call.refusal), "a function with derivative rules calls them")
            raise ProgramError(f"{name} calls Python functions, which a batch program cannot call: {why}")
        return self

    @cached_property
    def _portable(self) -> BatchedTrace:
        """The recording without derivative rules, which are Python code."""
        trace = self.checked()._trace
        if isinstance(trace, LoadedTrace):
            return trace.with_kernel(reduced=self.reduce in SUMS)
        return trace.portable

    def trace(self, batch: Batch) -> BatchedTrace:
        """Return the recording for a batch. Raises `TypeError` if the batch has a different structure."""
        key = self._trace.key
        if batch.key != key:
            raise TypeError(
                f"{self!r} was lowered for samples like {shown_key(key)}, got samples like {shown_key(batch.key)}"
            )
        return self._portable

    def __reduce__(self) -> Any:
        return BatchProgram, (self.batching, self._portable)

    def __repr__(self) -> str:
        return f"<lowered vmap of {self.batching.name}>"

    def __str__(self) -> str:
        names = [name for name, *_ in self.arguments if any(axis is not None for axis in self._axes[name])]
        over = f"over the batch axes of {', '.join(names)}"
        reduce = self.batching.reduce
        lines = [f"the {reduce} {over}:" if reduce else f"{over}:", *str(self.sample).splitlines()]
        return "\n  ".join(lines)

    def __len__(self) -> int:
        """Return the number of instructions for one sample."""
        return len(self._trace.program)

    def __bool__(self) -> bool:
        """Return True, also for a program without instructions."""
        return True

    @property
    def sample(self) -> Program:
        """The program of one sample, without the batch axes and the reduction."""
        trace = self._trace
        return trace.program.named(trace.program.input_names, trace.treedef.names("out"))

    @property
    def reduce(self) -> str | None:
        """The reduction over the batch, or None."""
        return self.batching.reduce

    @property
    def kernel(self) -> Kernel:
        """The kernel that runs the program on batches. Its `str` describes how the kernel works.

        Raises:
            ValueError: The function calls Python functions, so it has no kernel.
        """
        kernel = self._portable.kernel
        assert kernel is not None
        return kernel

    @property
    def positional(self) -> int:
        """The number of positional arguments; the rest are keyword arguments."""
        count: int = self._trace.key[0]
        return count

    @property
    def arguments(self) -> list[tuple[str, TreeDef]]:
        """The name of each argument, and its treedef for one sample."""
        return [part for part in self._trace.key if isinstance(part, tuple)]

    @property
    def result(self) -> TreeDef:
        """The treedef of the result for one sample."""
        return self._trace.treedef

    @cached_property
    def _axes(self) -> dict[str, list[int | None]]:
        """Maps the name of each argument to the batch axes of its leaves."""
        given = [*self.batching.axes(self.positional), *[0] * (len(self.arguments) - self.positional)]
        return {
            name: spread(axes, treedef, f"in_axes of {name}")
            for axes, (name, treedef) in zip(given, self.arguments, strict=True)
        }

    def axes_of(self, name: str) -> list[int | None]:
        """Return the batch axis of each leaf of an argument, or None for a leaf that all samples share."""
        return self._axes[name]

    @property
    def out_axes(self) -> list[int | None]:
        """The batch axis of each leaf of the result. All are None if the results are reduced."""
        if self.reduce is not None:
            return [None] * len(self.result.shapes)
        return spread(self.batching.out_axes, self.result, "out_axes")

    # Files

    def trees(self) -> tuple[list[dict[str, Any]], Any]:
        """Return the arguments and the result as JSON values: see docs/program.schema.json."""
        arguments = [
            {"name": name, "keyword": i >= self.positional, "tree": written_tree(treedef, self._axes[name], name)}
            for i, (name, treedef) in enumerate(self.arguments)
        ]
        return arguments, written_tree(self.result, self.out_axes, "the result")

    def to_json(self) -> str:
        """Return the batch program as JSON text that follows the schema docs/program.schema.json.

        Returns:
            The JSON text, which `from_json` and `gradwalk.load` read.

        Raises:
            ProgramError: The function branches, calls Python functions, or has classes in its arguments or results.
        """
        trace = self._portable
        if all(axis is None for axes in self._axes.values() for axis in axes):
            raise ProgramError(f"no argument of {self.batching.name} has a batch axis, so it cannot be saved")
        arguments, result = self.trees()
        head = {
            "gradwalk": "batch",
            "version": VERSION,
            "name": self.batching.name,
            "reduce": self.reduce,
            "arguments": arguments,
            "result": result,
        }
        named = trace.program.named(trace.program.input_names, trace.treedef.names("out"))
        return f'{json.dumps(head)[:-1]},\n"program": {named.to_json()}}}'

    @classmethod
    def from_json(cls, text: str) -> BatchProgram:
        """Read a batch program from the JSON text that `to_json` wrote. No part of the text is executed as Python.

        Args:
            text: The JSON text.

        Returns:
            The validated batch program.

        Raises:
            ProgramError: The text is not a valid batch program; the message says where.
        """
        return read_batch(program_json.parse(text))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the batch program to a file as JSON.

        Args:
            path: Path of the file. An existing file is replaced atomically.

        Raises:
            ProgramError: See `to_json`.
            OSError: The file cannot be written. An existing file is left unchanged.
        """
        program_json.replace_file(os.fspath(path), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BatchProgram:
        """Read a batch program from a file that `save` wrote.

        Args:
            path: Path of the file.

        Returns:
            The validated batch program.

        Raises:
            ProgramError: The file does not hold a valid batch program.
        """
        return cls.from_json(program_json.read_file(path))


def read_batch(document: Any) -> BatchProgram:
    """Build a batch program from parsed JSON: see `BatchProgram.from_json`."""
    if not isinstance(document, dict) or document.get("gradwalk") != "batch":
        raise ProgramError('this is not a batch program: the entry "gradwalk": "batch" is missing')
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise ProgramError(f"this batch program has version {shown(document.get('version'))}; version 1 can be read")
    if document.keys() != _KEYS:
        raise ProgramError(f"a batch program has the keys {', '.join(sorted(_KEYS))}, got {shown(sorted(document))}")
    name, reduce = document["name"], document["reduce"]
    if not isinstance(name, str):
        raise ProgramError(f"the name of a batch program must be a string, got {shown(name)}")
    if reduce is not None and not (isinstance(reduce, str) and reduce in REDUCTIONS):
        raise ProgramError(f"reduce must be null or one of {', '.join(REDUCTIONS)}, got {shown(reduce)}")
    program = read_document(document["program"])
    arguments = _read_arguments(document["arguments"], program)
    result = read_tree(document["result"], "the result", len(program.outputs))
    if result.size != len(program.outputs):
        raise ProgramError(f"the result has {result.size} numbers, but the program has {len(program.outputs)} outputs")
    return _assemble(name, reduce, program, arguments, result)


def _read_arguments(given: Any, program: Program) -> list[tuple[str, bool, Tree]]:
    """Return the name of each argument, whether it is a keyword argument, and its tree."""
    if not isinstance(given, list) or not all(isinstance(x, dict) and x.keys() == _ARGUMENT_KEYS for x in given):
        raise ProgramError("the arguments of a batch program must be a list of objects with name, keyword and tree")
    arguments = []
    left = program.inputs
    for i, argument in enumerate(given):
        name, keyword = argument["name"], argument["keyword"]
        if not isinstance(name, str) or not isinstance(keyword, bool):
            raise ProgramError(f"argument {i} must have a name and true or false as keyword, got {shown(argument)}")
        arguments.append((name, keyword, read_tree(argument["tree"], f"argument {i}", left)))
        left -= arguments[-1][2].size
    names, keywords = [name for name, *_ in arguments], [keyword for _, keyword, _ in arguments]
    if len({*names}) < len(names) or sorted(keywords) != keywords:
        raise ProgramError(f"arguments must have different names, and keyword arguments come last, got {shown(names)}")
    if left:
        raise ProgramError(f"the arguments have {program.inputs - left} numbers, but the program has {program.inputs}")
    return arguments


def _assemble(
    name: str, reduce: str | None, program: Program, arguments: Sequence[tuple[str, bool, Tree]], result: Tree
) -> BatchProgram:
    """Return the batch program of parts that fit together. Raises `ProgramError` if the axes do not fit."""
    names = [argument for argument, *_ in arguments]
    positional = sum(not keyword for _, keyword, _ in arguments)
    in_axes = tuple([tree.axes for *_, tree in arguments[:positional]])
    if all(leaf.axis is None for *_, tree in arguments for leaf in tree.leaves):
        raise ProgramError("no argument of the batch program has a batch axis")
    if any(leaf.axis != 0 for *_, tree in arguments[positional:] for leaf in tree.leaves):
        raise ProgramError("keyword arguments must have the batch axis 0")
    trace = LoadedTrace(program, [(argument, tree) for argument, _, tree in arguments], positional, result)
    if reduce is None:
        depends = program.code.depending(trace.varies)
        _check_result(result, [depends[index] for index in program.outputs])
    out_axes: Any = 0 if reduce is not None else result.axes
    batching = Batching(name, Parameters.of_names(names[:positional], names), in_axes, out_axes, reduce)
    return BatchProgram(batching, trace)


def _check_result(result: Tree, varies: Sequence[bool]) -> None:
    """Raise `ProgramError` if a result without a batch axis varies. `varies` has a flag for each output."""
    start = 0
    for i, leaf in enumerate(result.leaves):
        end = start + leaf.size
        if leaf.axis is None and any(varies[start:end]):
            path = result.treedef.paths("the result")[i]
            raise ProgramError(f"{path} must have a batch axis, because it differs between samples")
        start = end
