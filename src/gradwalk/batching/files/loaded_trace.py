"""`LoadedTrace`: the recording of a function of batches that was read from a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwalk.base.cached import cached_property
from gradwalk.batching.files.tree_json import Tree
from gradwalk.program.native.policy import compiling, current_policy
from gradwalk.program.program import Program
from gradwalk.trees.tree import TreeDef

if TYPE_CHECKING:
    from gradwalk.batching.batched_trace import BatchedTrace


class LoadedTrace:
    """The recording in a file. Treedefs and the kernel are made at first use, so that files load without their modules.

    Args:
        program: The program of one sample.
        arguments: The name and the structure of each argument.
        positional: Number of positional arguments; the rest are keyword arguments.
        result: The structure of the result.
    """

    def __init__(self, program: Program, arguments: Sequence[tuple[str, Tree]], positional: int, result: Tree) -> None:
        self.program = program
        self._arguments = arguments
        self._positional = positional
        self._result = result
        self._policy = current_policy()

    @cached_property
    def key(self) -> Any:
        """The key of the batches that the recording is for: see `Batch.key`."""
        elements = [(name, tree.treedef) for name, tree in self._arguments]
        return (
            self._positional,
            *elements,
            *[leaf.axis is not None for _, tree in self._arguments for leaf in tree.leaves],
        )

    @property
    def treedef(self) -> TreeDef:
        """The treedef of the result for one sample."""
        return self._result.treedef

    @property
    def varies(self) -> list[bool]:
        """Whether each input of the program is batched."""
        leaves = [leaf for _, tree in self._arguments for leaf in tree.leaves]
        return [leaf.axis is not None for leaf in leaves for _ in range(leaf.size)]

    def with_kernel(self, *, reduced: bool) -> BatchedTrace:
        """Return the recording with its kernel. `reduced` says whether results are summed over the batch."""
        from gradwalk.batching.batched_trace import make_trace  # loaded on demand: loading a file needs less

        others: dict[str, Any] = {"captured": [], "outcomes": (), "treedef": self.treedef, "key": self.key}
        with compiling(self._policy):
            return make_trace(self.program, self.varies, reduced=reduced, **others).portable
