"""`Vmap`: a function of batches, recorded for one sample and computed for all samples together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ParamSpec, overload

from gradwalk.backend.base import Kernel
from gradwalk.batching.axes import SUMS, Axes, Batch, Batching
from gradwalk.batching.batched_trace import BatchedTrace, record_sample
from gradwalk.batching.files.batch_program import BatchProgram
from gradwalk.batching.prepared_batch import BatchFunction
from gradwalk.batching.split_trace import SplitTrace, split
from gradwalk.program.native.policy import DEFAULT, Policy, compiling
from gradwalk.program.tracing.paths import Outcomes, Paths
from gradwalk.program.tracing.trace import display_name
from gradwalk.program.tracing.trace_cache import Statistics, TraceCache
from gradwalk.program.tracing.wrapper import WrappedFunction
from gradwalk.trees.tree import Parameters

P = ParamSpec("P")


class Vmap(WrappedFunction[P, Any], BatchFunction):
    """A function of batches, returned by `vmap`.

    Static type checkers see the parameters `P` of the function of one sample. `P` cannot express that batched arrays
    are accepted as well, so calls with any arguments pass the check.

    Args:
        f: The function of one sample.
        in_axes: See `vmap`.
        out_axes: See `vmap`.
        reduce: See `vmap`.
        keeps: Whether recordings are cached, as after `jit`.
        policy: The policy for compiling kernels.
        follows_branches: Whether the function may branch on its arguments.
        axis_size: See `vmap`.

    Attributes:
        batching: The axes and the reduction.
        keeps: Whether recordings are cached.
    """

    def __init__(
        self,
        f: Callable[P, Any],
        in_axes: Axes,
        out_axes: Axes,
        reduce: str | None,
        keeps: bool = False,
        policy: Policy = DEFAULT,
        follows_branches: bool = True,
        axis_size: int | None = None,
    ) -> None:
        WrappedFunction.__init__(self, f, "vmap")
        batching = Batching(display_name(f), Parameters(f), in_axes, out_axes, reduce, axis_size).checked()
        BatchFunction.__init__(self, batching, TraceCache[BatchedTrace](batching.name))
        self.keeps = keeps
        self._policy = policy
        self._follows_branches = follows_branches
        self._paths: Paths[BatchedTrace] = Paths(self._cache)

    if TYPE_CHECKING:
        _cache: TraceCache[BatchedTrace]

        @overload
        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
        @overload
        def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            """See `BatchFunction.__call__`."""

    def __repr__(self) -> str:
        return f"<jit of {super().__repr__()[1:-1]}>" if self.keeps else super().__repr__()

    @property
    def program(self) -> BatchProgram:
        """The batch program of the latest recording, with its batch axes and its reduction.

        `.program.sample` is the program of one sample. If the function branches, it computes one path.

        Raises:
            ValueError: The function has not been called yet.
        """
        trace = self._cache.last(self.batching.name)
        return BatchProgram(self.batching, trace)

    @property
    def kernel(self) -> Kernel:
        """The kernel that runs the program on batches. Its `str` describes how the kernel works.

        Raises:
            ValueError: The function has not been called yet, or it has no kernel because it calls Python functions.
        """
        kernel = self._cache.last(self.batching.name).kernel
        if kernel is None:
            raise ValueError(
                f"{self.batching.name} calls Python functions, so it runs sample by sample instead of in a kernel"
            )
        return kernel

    @property
    def statistics(self) -> Statistics:
        """The numbers of calls, recordings and instructions, and the backend of the latest recording."""
        return replace(self._cache.statistics, calls=self._calls)

    def kept(self, policy: Policy = DEFAULT, *, follows_branches: bool = True) -> Vmap[P]:
        """Return this function with cached recordings.

        `policy` says when and how kernels are compiled, and `follows_branches` whether the function may branch on its
        arguments.
        """
        if self.keeps and self._policy == policy and self._follows_branches == follows_branches:
            return self
        in_axes, out_axes, reduce, *_, axis_size = self._options
        return type(self)(self._f, in_axes, out_axes, reduce, True, policy, follows_branches, axis_size)

    def of_samples(self, transform: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Vmap[P]:
        """Apply a transform, such as `grad`, to the function of one sample; return a function of batches."""
        return type(self)(transform(self._f), *self._options)

    def sums_over_others(self, argnums: int | Sequence[int]) -> bool:
        """Return whether results are summed or averaged, and all samples share the arguments at `argnums`.

        The derivative of such a sum is the sum of the derivatives.
        """
        axes = self.batching.in_axes
        positions = [argnums] if isinstance(argnums, int) else argnums
        if self.batching.reduce is None or not isinstance(axes, (tuple, list)):
            return False
        return all(-len(axes) <= i < len(axes) and axes[i] is None for i in positions)

    def lower(self, *args: Any, **kwargs: Any) -> BatchProgram:
        """Return a function of batches that contains the program recorded for arguments like these, but no Python code.

        The returned function can be unpickled where the Python code cannot be imported, such as on the workers of a
        cluster.

        Args:
            *args: Positional arguments, batched as in a call.
            **kwargs: Keyword arguments, batched as in a call.

        Returns:
            The batch program, which takes arguments of the same structure.

        Raises:
            ValueError: The function uses Values that are not among its arguments, or calls Python functions.
        """
        batch = self.batching.batch(args, kwargs)
        trace = self.trace(batch)
        one = trace if isinstance(trace, BatchedTrace) else trace.parts[0].trace
        return BatchProgram(self.batching, one).checked()

    def trace(self, batch: Batch) -> BatchedTrace | SplitTrace:
        """Return the recording for the samples of a batch, or the recordings if the samples take different paths."""
        found = self._cache.find(batch.key) if self.keeps else None
        if found is not None:
            return found
        cache = self._cache if self.keeps else TraceCache[BatchedTrace](self.batching.name)
        with compiling(self._policy):
            trace = split(batch, self._paths if self.keeps else Paths(cache), self._recorded, self.batching)
        self._cache.latest = cache.latest
        return trace

    def _recorded(self, batch: Batch, imposed: Outcomes) -> BatchedTrace:
        """Record the function for the first sample of a batch: see `record_sample`."""
        return record_sample(
            self._f,
            batch,
            reduced=self.batching.reduce in SUMS,
            follows_branches=self._follows_branches,
            imposed=imposed,
        )

    def _call(self, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        """See `BatchFunction._call`."""
        batch = self.batching.batch(args, kwargs)
        if batch.whole is not None:
            found = batch.whole.vmapped(self._f, batch, self.batching) if out is None else None
            if found is not None:
                return found
            batch = batch.of_elements()
        with compiling(self._policy):
            return self._results(batch, args, kwargs, out)

    def _results(self, batch: Batch, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        del args, kwargs  # `batch` holds them
        trace = self.trace(batch)
        if self.keeps and isinstance(trace, BatchedTrace) and self.batching.axis_size is None:
            prepared = trace.prepared_for(batch, self.batching)
            if prepared is not None:
                self._cache.try_first(prepared)
        return trace.results(batch, self.batching, out)

    @property
    def _options(self) -> tuple[Any, ...]:
        batching = self.batching
        axes = batching.in_axes, batching.out_axes, batching.reduce
        return *axes, self.keeps, self._policy, self._follows_branches, batching.axis_size

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, *self._options
