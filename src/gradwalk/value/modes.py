"""What changes how nodes are made: `no_grad`, `debug_nans`, `source_lines`, and functions that are being recorded.

Every node that is made looks at two numbers of this module, `open_switches` and `staging`, and at nothing else while
both allow it: observation costs nothing when it is off.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar, copy_context
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.base.locks import process_lock
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.value import node as nodes
from gradwalk.value.node import ValueNode
from gradwalk.value.source.expr_repr import spelled
from gradwalk.value.source.source_line import named_line, users_branch, users_line

if not TYPE_CHECKING and cython.compiled:
    import cython

Function = TypeVar("Function", bound=Callable[..., Any])

_MOST_BRANCHES = 10_000  # of one recording

_GENERATORS = CO_GENERATOR | CO_ASYNC_GENERATOR

# How many no_grad(), debug_nans() and source_lines() contexts are open in all threads. While it is 0, a new node is not
# looked at, unless a function is being staged at a higher level than the node's. That is all that it is for: what holds
# is known by the context variables, so that a count too high, after an interrupt in plain Python, costs time alone.
open_switches = cython.declare(cython.int, 0)
_without_gradient: ContextVar[tuple[Any, ...]] = ContextVar("without_gradient", default=())
_refusing_nans: ContextVar[tuple[Any, ...]] = ContextVar("refusing_nans", default=())
_remembering_lines: ContextVar[tuple[Any, ...]] = ContextVar("remembering_lines", default=())
open_scopes: ContextVar[tuple[Any, ...]] = ContextVar("open_scopes", default=())

# A function is staged when its recording will serve other numbers too, so that it may not ask for any.
_staging_level: ContextVar[int] = ContextVar("staging_level", default=0)  # of the staging that goes on here, or 0
_refusals: ContextVar[Any] = ContextVar("refusals", default=None)  # the errors that it has to raise, caught or not
_branches: ContextVar[Any] = ContextVar("branches", default=None)  # what the staged function branched on, if it may
_depth: ContextVar[int] = ContextVar("depth", default=0)  # the level of the innermost recording here, or 0


class _Recording(NamedTuple):
    """A recording that goes on: its level if the function is staged, or else 0, and the refusals of the function."""

    level: int
    refusals: list[Any]


# The recordings that go on in all threads, by the marks that their inputs carry.
_open: dict[float, _Recording] = {}
new_mark: Callable[[], int] = itertools.count(1).__next__
_changing = process_lock()  # held while a level comes or goes

# How many recordings go on in all threads, and the highest level, for speed alone, as `open_switches` is.
recordings = cython.declare(cython.int, 0)
staging = cython.declare(cython.int, 0)


@cython.cclass
class Setting:
    """A context manager under which something holds, in this thread or task.

    It can be entered again after it has ended, or be the decorator of a function, every call of which enters one of its
    own. In a generator it holds while the generator runs, not while it is suspended, unless that is the generator of a
    context manager.

    Args:
        variable: The settings that are open in a context, the outermost first.
        value: What holds.
        is_switch: Whether new nodes are looked at while it is open.
    """

    _variable: Any
    _value: Any
    _is_switch: cython.bint
    _is_open: cython.bint
    _generator: Any  # the frame of the generator that it was entered in, or None

    def __init__(self, variable: Any, value: Any, is_switch: bool = False) -> None:
        self._variable = variable
        self._value = value
        self._is_switch = is_switch
        self._is_open = False
        self._generator = None

    # Compiled, both methods run without any of Python's bytecode, so that no interrupt can come in between.

    def __enter__(self) -> None:
        global open_switches
        if self._is_open:
            raise RuntimeError("a setting is entered once: call no_grad(), threads(n) or its kin for every `with`")
        self._generator = _frame_of_generator()
        self._is_open = True
        self._variable.set((*self._variable.get(), self))
        if self._is_switch:
            if cython.compiled:
                c_compat.count(cython.address(open_switches), 1)
            else:
                open_switches += 1

    def __exit__(self, *error: object) -> None:
        global open_switches
        self._is_open = False  # which is what counts, if a generator is closed in another context
        self._generator = None
        self._variable.set(tuple([setting for setting in self._variable.get() if setting is not self]))
        if self._is_switch:
            if cython.compiled:
                c_compat.count(cython.address(open_switches), -1)
            else:
                open_switches -= 1

    def __call__(self, function: Function) -> Function:
        """Return the function under this setting."""

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with Setting(self._variable, self._value, self._is_switch):
                return function(*args, **kwargs)

        return called  # type: ignore[return-value]  # what it wraps says its type

    def holds(self) -> bool:
        """Return whether it is open here."""
        return self._is_open and (self._generator is None or _is_running(self._generator))

    @property
    def value(self) -> Any:
        """What holds."""
        return self._value


def value_of(variable: ContextVar[tuple[Any, ...]], otherwise: Any) -> Any:
    """Return what the innermost setting says that holds here.

    Args:
        variable: The settings that are open in a context.
        otherwise: What to return where none holds.

    Returns:
        The value.
    """
    for setting in reversed(variable.get()):
        if setting.holds():
            return setting.value
    return otherwise


def _frame_of_generator() -> Any:
    """Return the frame that enters a setting, if it is that of a generator that its callers do not enter."""
    frame: Any = sys._getframe()
    while frame.f_code.co_filename in (__file__, contextlib.__file__):
        frame = frame.f_back
    if not frame.f_code.co_flags & _GENERATORS or frame.f_back is None:
        return None
    caller = frame.f_back
    is_entered = caller.f_code.co_name in ("__enter__", "__aenter__")
    is_fixture = caller.f_globals.get("__name__", "").startswith("_pytest.")
    return None if is_entered or is_fixture else frame


def _is_running(generator: Any) -> bool:
    frame: Any = sys._getframe()
    while frame is not None and frame is not generator:
        frame = frame.f_back
    return frame is generator


def no_grad() -> Setting:
    """Make results of operations remember nothing: they are leaves, and `backward` on them is refused.

    Returns:
        A context manager, which can also decorate a function.

    Example:
        >>> from gradwalk import Value
        >>> a = Value(2.0)
        >>> with no_grad():
        ...     b = a * a
        >>> b.operands
        ()
    """
    return Setting(_without_gradient, True, is_switch=True)


def debug_nans() -> Setting:
    """Make the first operation whose value or gradient is nan or inf raise `FloatingPointError`.

    The message names the operation, its operands and the line of the program that made it. What `where` or `take`
    leaves out of a gradient, or of a recorded function of numbers, does not count. Costs nothing when off.

    Returns:
        A context manager, which can also decorate a function. Threads that run already are not affected.

    Raises:
        RecordingError: Inside a function that is being recorded.

    Example:
        >>> from gradwalk import Value
        >>> with debug_nans():
        ...     Value(0.0).log()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        FloatingPointError: log(0) gave -inf, at ...
    """
    if _staging_level.get():
        raise refused(
            f"{users_line()}: debug_nans() must be entered around the call of a recorded function, not inside it"
        )
    return Setting(_refusing_nans, True, is_switch=True)


def without_numbers() -> Setting:
    """Suspend `debug_nans()` where numbers only stand for others, and what is computed from them says nothing.

    Returns:
        A context manager.
    """
    return Setting(_refusing_nans, False)


def source_lines() -> Setting:
    """Make every new node remember the line of the program that made it, as its `source`.

    Walks, checks and drawings of such nodes name the line. Graphs call nodes without a label by the variable that the
    line assigns them to. Nodes are slower and larger; it costs nothing when off.

    Returns:
        A context manager, which can also decorate a function. Threads that run already are not affected.

    Example:
        >>> from gradwalk import Value
        >>> with source_lines():
        ...     a = Value(2.0)
        >>> a.source.number
        2
    """
    return Setting(_remembering_lines, True, is_switch=True)


def is_without_gradient() -> bool:
    """Return whether `no_grad()` is on here."""
    return open_switches != 0 and value_of(_without_gradient, False) is True


def refuses_nans() -> bool:
    """Return whether `debug_nans()` is on here."""
    return open_switches != 0 and value_of(_refusing_nans, False) is True


def remembers_lines() -> bool:
    """Return whether `source_lines()` is on here."""
    return open_switches != 0 and value_of(_remembering_lines, False) is True


def scope_path() -> str:
    """Return the names of the named scopes that hold here, the outermost first, with dots between them."""
    return ".".join([scope.value for scope in open_scopes.get() if scope.holds()])


# Recordings


class RecordingError(TypeError):
    """A function that is being recorded or differentiated asks a Value for a number.

    The recording would keep the number for other arguments, too, or its derivative would be lost.
    """

    _is_refusal = False  # whether gradwalk has raised it, and not the user


def recorded(f: Callable[[], Any], level: int, mark: int, *, staged: bool, branches: list[Any] | None = None) -> Any:
    """Call a function with leaves of this level, as what is made from the inputs of a recording has.

    It is called in a context of its own, which ends with the call however that ends.

    Args:
        f: The function.
        level: How many recordings go on here, this one included.
        mark: The mark of the inputs of this recording, which `new_mark` has given.
        staged: Whether every node gets the level, comparisons are Values, and asking for a number raises.
        branches: A list to which the function's conditions are appended, or None if it may not branch. One that is not
            staged needs a list of its own where the function around it has one.

    Returns:
        What the function returns.

    Raises:
        RecordingError: The function asked for a number, even if it caught the error and went on.
    """
    return copy_context().run(_recorded_here, f, level, mark, staged, branches)


def _recorded_here(f: Callable[[], Any], level: int, mark: int, staged: bool, branches: list[Any] | None) -> Any:
    # A recording that is not staged shares the list of the one around it, whose result depends on the same refusals.
    refusals: list[RecordingError] | None = None if staged else _refusals.get()
    if refusals is None:
        refusals = []
        _refusals.set(refusals)
    earlier = len(refusals)
    _depth.set(level)
    if open_switches != 0:
        _without_gradient.set(())
    if staged:
        _staging_level.set(level)
    if staged or branches is not None:
        _branches.set(branches)
    recording = _Recording(level if staged else 0, refusals)
    _begin(mark, recording)  # an interrupt may leave the counts too high, which costs time alone
    try:
        result = f()
    finally:
        _end(mark, recording)
    if len(refusals) > earlier:  # the function caught the error, and continued without the number
        raise refusals[earlier]
    return result


def _begin(mark: int, recording: _Recording) -> None:
    """Count a recording that begins."""
    global recordings, staging
    if cython.compiled:
        c_compat.count(cython.address(recordings), 1)
    else:
        recordings += 1
    if not recording.level:
        _open[mark] = recording
        return
    with _changing:
        _open[mark] = recording
        staging = _highest_level()


def _end(mark: int, recording: _Recording) -> None:
    """Count a recording as ended."""
    global recordings, staging
    if not recording.level:
        _open.pop(mark, None)
    else:
        with _changing:
            _open.pop(mark, None)
            staging = _highest_level()
    if cython.compiled:
        c_compat.count(cython.address(recordings), -1)
    else:
        recordings -= 1


def _highest_level() -> int:
    return max((recording.level for recording in list(_open.values())), default=0)


def depth() -> int:
    """Return how many recordings go on here, each of a function that the one before calls."""
    return _depth.get()


def is_staging() -> bool:
    """Return whether a function is being staged here."""
    return staging != 0 and _staging_level.get() != 0


def is_abstract() -> bool:
    """Return whether nobody may ask for numbers here: a function is being staged that may not branch on them."""
    return staging != 0 and _staging_level.get() != 0 and _branches.get() is None


def refusals_here() -> list[RecordingError]:
    """Return the errors that the innermost staging here has raised so far, caught ones included."""
    return list(_refusals.get() or ())


def is_being_recorded(node: ValueNode) -> bool:
    """Return whether a node belongs to a recording that goes on here, or any node would be frozen in one.

    Args:
        node: The node.

    Returns:
        True or False.
    """
    return recordings != 0 and (_staging_level.get() != 0 or 0 < node._level <= _depth.get())


@cython.cfunc
def is_recorded_elsewhere(node: ValueNode) -> cython.bint:
    """Return whether a node belongs to a function that another thread is staging now."""
    if staging == 0 or _staging_level.get():
        return False
    recording = _recording_elsewhere(node)
    return recording is not None and recording.level != 0


def _recording_elsewhere(node: ValueNode) -> _Recording | None:
    """Find the open recording that a node belongs to in another thread.

    A recording is known in its own thread alone. In another thread that the function uses, the inputs show it.
    """
    if recordings == 0 or node._level == 0 or node._level == nodes.ENDED or node._level <= _depth.get():
        return None
    waiting = [node]
    known = {id(node)}
    while waiting:
        found = waiting.pop()
        recording = _open.get(nodes.mark_of(found))
        if recording is not None:
            return recording
        for operand in found.operands:
            if id(operand) not in known:
                known.add(id(operand))
                waiting.append(operand)
    return None


@cython.cfunc
def is_tracer(node: ValueNode, other: object) -> cython.bint:
    """Whether one of two is computed from the arguments of a function that is being recorded, or all is staged."""
    if node._level > 0 or (isinstance(other, ValueNode) and cython.cast(ValueNode, other)._level > 0):
        return True
    return _staging_level.get() != 0


def refuse_if_staging(node: ValueNode, what: str) -> None:
    """Raise `RecordingError` where this happens in a function that `jit` records, unless it may branch and does.

    Args:
        node: What the function asks about.
        what: What it does with the node, such as "branches on".

    Raises:
        RecordingError: With the user's line, the expression that the node stands for, and the cure.
    """
    if _staging_level.get():
        followed = _branches.get()
        if followed is not None and what == "branches on" and node._level >= _staging_level.get():
            if len(followed) >= _MOST_BRANCHES:
                raise refused(
                    f"{users_line()}\n  branches after {_MOST_BRANCHES:,} other branches of one recording: write them "
                    "with gradwalk.loops"
                )
            followed.append(node)
            return
        raise refused(
            f"{users_line()}\n  {what} `{spelled(node)}` while the function is being recorded: the answer would be "
            f"that for these arguments, frozen for all others.\n  {_branch_again(what)}{_cure(what)}"
        )
    if is_recorded_elsewhere(node):
        raise refused(
            f"{users_line()}\n  {what} `{spelled(node)}` in another thread than the one that records the function: the "
            f"answer would be that for these arguments, frozen for all others.\n  {_cure(what)}",
            node,
        )


def refuse_if_recorded(node: ValueNode, what: str) -> None:
    """Raise `RecordingError` if a Value belongs to a recording or is inside `grad`, `jvp` or another transform.

    Args:
        node: The Value.
        what: What the function does with it: see `refuse_if_staging`.

    Raises:
        RecordingError: With the user's line, the expression that the node stands for, and the cure.
    """
    refuse_if_staging(node, what)
    if is_being_recorded(node) or _recording_elsewhere(node) is not None:
        raise refused(
            f"{users_line()}\n  {what} `{spelled(node)}` inside a function that is being differentiated: the answer "
            f"would be a constant, without its own derivative.\n  {_cure(what)}",
            node,
        )


def refused(message: str, node: ValueNode | None = None) -> TypeError:
    """Return the error for a number that a Value does not give. A recording that is open raises it at its end, too.

    Args:
        message: The message.
        node: The Value, which may belong to a recording of another thread.

    Returns:
        `RecordingError` inside a function that is being recorded or differentiated, else `TypeError`.
    """
    error = RecordingError(message)
    return error if remember(error, node) else TypeError(message)


def remember(error: RecordingError, node: ValueNode | None = None) -> bool:
    """Have the recordings that a refusal concerns raise it at their end, even if the function catches it.

    Args:
        error: The refusal.
        node: The Value that is refused, which may belong to a recording of another thread.

    Returns:
        Whether there is such a recording.
    """
    error._is_refusal = True
    elsewhere = None if node is None else _recording_elsewhere(node)
    lists = [_refusals.get(), None if elsewhere is None else elsewhere.refusals]
    concerned = [refusals for refusals in lists if refusals is not None]
    for refusals in concerned:
        refusals.append(error)
    return bool(concerned)


@contextlib.contextmanager
def refusals_ignored() -> Iterator[None]:
    """Ignore that a function asks for a number, where it is run without recording it next. The user's errors pass."""
    try:
        yield
    except RecordingError as error:
        if not error._is_refusal:
            raise


def _branch_again(what: str) -> str:
    """The user's branch, as it can be recorded; nothing where that is not known."""
    lines = users_branch().splitlines() if "branches" in what else []
    return (
        "".join(["Write, after `from gradwalk import loops`:\n", *(f"    {line}\n" for line in lines), "  "])
        if lines
        else ""
    )


def _cure(what: str) -> str:
    if "backward" in what or ".grad" in what or "partials" in what:
        return "Inside a recorded or differentiated function, compute derivatives with gradwalk.grad or value_and_grad."
    if "graph" in what:
        return "Return what is to be looked at, and look at it outside; a jitted function has .graph and .walk(...)."
    if "no_grad" in what:
        return "Use gradwalk.stop_gradient(x), which can be recorded."
    if "index" in what or "int()" in what or "looks up" in what:
        return (
            "Use gradwalk.take(values, index), which is recorded: an index that is data. A count, as in range(n), is a "
            "static argument: jit(f, static_argnums=...), for each of which the function is recorded anew."
        )
    if "formats" in what:
        return (
            "Return the number and format it outside. To round, use round(x), gradwalk.math.floor or rint. "
            "str(x) shows the expression."
        )
    if "float" in what:
        return (
            "Use gradwalk.math.sin and its kin in place of math.sin, and arrays of dtype=object to hold Values. For a "
            "number that is to stay as it is, give a static argument: jit(f, static_argnums=...)."
        )
    if "sets" in what:
        return "Return the new number instead, and set it outside."
    if ".data" in what:
        return (
            "gradwalk.stop_gradient(x) is x without its gradient, and is recorded: what softmax subtracts is "
            "stop_gradient of the maximum. To choose, use gradwalk.math.where(condition, a, b), maximum or minimum."
        )
    return (
        "Choose with gradwalk.math.where(condition, a, b), maximum or minimum, or repeat and branch with "
        "gradwalk.loops.while_loop and cond, which are recorded. For arrays, on which NumPy's own branch, "
        "gradwalk.numpy has them, and less, max, sort and others. Or give what decides as a static argument: "
        'jit(f, static_argnums=...), or record every way that is met: jit(f, branches="record").'
    )


# What becomes of a new node


@cython.cfunc
def inspect(out: ValueNode) -> object:
    """Look at a new node, while some switch is on in some thread, or a function is being staged at a higher level."""
    refusing: cython.bint = refuses_nans()
    if remembers_lines():
        nodes.details_of(out).source = named_line(scope_path())
    elif refusing:
        nodes.details_of(out).source = users_line()
    if refusing and not math.isfinite(out._primal) and out._opcode != nodes.UNCONNECTED:
        raise FloatingPointError(f"{_made(out)} gave {out._primal}, {_where(out)}")
    if _staging_level.get() > out._level:
        out._level = _staging_level.get()
    if is_without_gradient():
        if _staging_level.get():
            refuse_if_staging(out, "computes under no_grad()")
        out._a = out._b = out._details = None
        out._opcode = nodes.UNCONNECTED
        out._special = False
    return None


def refuse_nans_from(node: Any) -> None:
    """Raise `FloatingPointError` where a node has passed nan or inf to the gradient of an operand.

    Args:
        node: The node.
    """
    for operand in node.operands:
        if not math.isfinite(operand.grad):
            raise FloatingPointError(
                f"the gradient of {operand!r} became {operand.grad} when {_made(node)} passed back its gradient"
                f" {node.grad} times {node.partials}, {_where(node)}"
            )


def _made(node: ValueNode) -> str:
    """The operation of a node and its operands, for a message."""
    operands = ", ".join([_with_label(x) for x in node.arguments])
    return f"{NAMES[node._opcode] if node._opcode > 0 else node.op}({operands})"


def _with_label(operand: Any) -> str:
    """Format an operand, which is a Value or a float, as `label=number`."""
    if not isinstance(operand, ValueNode):
        return f"{operand:g}"
    number = f"{nodes.primal_of(operand):g}"
    return f"{operand.label}={number}" if operand.label else number


def _where(node: ValueNode) -> str:
    return f"at {node.source}" if node.source is not None else "made outside of debug_nans(), so its line is not known"
