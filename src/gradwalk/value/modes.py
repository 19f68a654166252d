"""Modes that change how nodes are created: `no_grad`, `debug_nans`, `source_lines`, and the recording of functions.

The creation of a node checks only two integers of this module, `open_switches` and `staging`, so that modes cost almost
nothing while they are off.
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

_MOST_ASKED = 64  # numbers that are noted in a function that is being differentiated
_MOST_BRANCHES = 10_000  # branches in one recording

_GENERATORS = CO_GENERATOR | CO_ASYNC_GENERATOR

# Number of open no_grad(), debug_nans() and source_lines() contexts in all threads. A new node is inspected only if
# this number is not 0, or if a function is being staged at a higher level than the node's level. The context variables
# below decide which modes are in effect. If an interrupt in plain Python leaves the number too high, this only costs
# time.
open_switches = cython.declare(cython.int, 0)
_without_gradient: ContextVar[tuple[Any, ...]] = ContextVar("without_gradient", default=())
_refusing_nans: ContextVar[tuple[Any, ...]] = ContextVar("refusing_nans", default=())
_remembering_lines: ContextVar[tuple[Any, ...]] = ContextVar("remembering_lines", default=())
open_scopes: ContextVar[tuple[Any, ...]] = ContextVar("open_scopes", default=())

# A function is staged if its recording will be run with other numbers. A staged function must not read the numbers of
# Values.
_staging_level: ContextVar[int] = ContextVar("staging_level", default=0)  # level of the staged function, or 0
_refusals: ContextVar[Any] = ContextVar("refusals", default=None)  # errors to raise again at the end of the recording
_asked: ContextVar[Any] = ContextVar("asked", default=None)  # numbers that a function asked for: see `recorded`
_branches: ContextVar[Any] = ContextVar("branches", default=None)  # conditions of branches; None if branches are errors
_depth: ContextVar[int] = ContextVar("depth", default=0)  # level of the innermost recording, or 0


class _Recording(NamedTuple):
    """An open recording.

    Attributes:
        level: Level of the recording if the function is staged, else 0.
        refusals: Errors raised because the function read the number of a Value.
    """

    level: int
    refusals: list[Any]


# The open recordings of all threads. The key is the mark of the inputs of the recording.
_open: dict[float, _Recording] = {}
new_mark: Callable[[], int] = itertools.count(1).__next__
_changing = process_lock()  # held while `staging` changes

# Number of open recordings in all threads, and the highest level of a staged recording (0 if there is none). Like
# `open_switches`, these integers can be checked fast.
recordings = cython.declare(cython.int, 0)
staging = cython.declare(cython.int, 0)


@cython.cclass
class Setting:
    """A context manager that sets a value in the current thread or task.

    The same object can be entered again after it has been exited, but not while it is open. As a decorator, it opens a
    new setting for each call of the function. If a generator enters the setting, the setting is in effect only while
    the generator runs, not while it is suspended. Exception: if the generator implements a context manager, the setting
    stays in effect until the context manager exits.

    Args:
        variable: The context variable with the stack of open settings, outermost first.
        value: The value to set.
        is_switch: Whether new nodes are inspected while the setting is open.
    """

    _variable: Any
    _value: Any
    _is_switch: cython.bint
    _is_open: cython.bint
    _generator: Any  # the frame of the generator that entered the setting, or None

    def __init__(self, variable: Any, value: Any, is_switch: bool = False) -> None:
        self._variable = variable
        self._value = value
        self._is_switch = is_switch
        self._is_open = False
        self._generator = None

    # When compiled, __enter__ and __exit__ run no bytecode, so that no interrupt can occur between their statements.

    def __enter__(self) -> None:
        global open_switches
        if self._is_open:
            raise RuntimeError(
                "this context manager is already in use: call no_grad(), threads(n), ... again for each `with`"
            )
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
        self._is_open = False  # needed if a generator is closed in another context, whose _variable lacks this setting
        self._generator = None
        self._variable.set(tuple([setting for setting in self._variable.get() if setting is not self]))
        if self._is_switch:
            if cython.compiled:
                c_compat.count(cython.address(open_switches), -1)
            else:
                open_switches -= 1

    def __call__(self, function: Function) -> Function:
        """Decorate a function with this setting."""

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with Setting(self._variable, self._value, self._is_switch):
                return function(*args, **kwargs)

        return called  # type: ignore[return-value]  # functools.wraps keeps the type

    def holds(self) -> bool:
        """Return whether the setting is in effect here."""
        return self._is_open and (self._generator is None or _is_running(self._generator))

    @property
    def value(self) -> Any:
        """The value that is set."""
        return self._value


def value_of(variable: ContextVar[tuple[Any, ...]], otherwise: Any) -> Any:
    """Return the value of the innermost setting in effect, or `otherwise` if there is none."""
    for setting in reversed(variable.get()):
        if setting.holds():
            return setting.value
    return otherwise


def _frame_of_generator() -> Any:
    """Return the frame of the generator that enters a setting.

    Returns None outside of generators, and in generators that implement context managers or pytest fixtures.
    """
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
    """Do not record operations: their results are leaves, and `backward` on such a leaf raises an error.

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


def with_gradient() -> Setting:
    """Suspend `no_grad()` while Values are made that stand for other Values, which were computed before."""
    return Setting(_without_gradient, False)


def debug_nans() -> Setting:
    """Raise `FloatingPointError` at the first operation whose value or gradient is nan or inf.

    The message names the operation, its operands and the source line. The gradients of operands that `where` or `take`
    did not select are not checked. In recorded functions, unselected branches are not checked either. Costs nothing
    when off.

    Returns:
        A context manager, which can also decorate a function. It does not affect threads that are already running.

    Raises:
        RecordingError: If called inside a function that is being recorded.

    Example:
        >>> from gradwalk import Value
        >>> with debug_nans():
        ...     Value(0.0).log()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        FloatingPointError: log(0) gave -inf, at ...
    """
    if _staging_level.get():
        raise refused(f"{users_line()}: enter debug_nans() around the call of a recorded function, not inside it")
    return Setting(_refusing_nans, True, is_switch=True)


def without_numbers() -> Setting:
    """Suspend `debug_nans()` while a function is traced with placeholder numbers."""
    return Setting(_refusing_nans, False)


def source_lines() -> Setting:
    """Store the user's source line in the `source` attribute of each new node.

    Walks, checks and drawings then show these lines. In a graph, a node without a label is labeled with the variable
    that its line assigns it to. Nodes take longer to create and use more memory. Costs nothing when off.

    Returns:
        A context manager, which can also decorate a function. It does not affect threads that are already running.

    Example:
        >>> from gradwalk import Value
        >>> with source_lines():
        ...     a = Value(2.0)
        >>> a.source.number
        2
    """
    return Setting(_remembering_lines, True, is_switch=True)


def is_without_gradient() -> bool:
    """Return whether `no_grad()` is in effect in this context."""
    return open_switches != 0 and value_of(_without_gradient, False) is True


def refuses_nans() -> bool:
    """Return whether `debug_nans()` is in effect in this context."""
    return open_switches != 0 and value_of(_refusing_nans, False) is True


def remembers_lines() -> bool:
    """Return whether `source_lines()` is in effect in this context."""
    return open_switches != 0 and value_of(_remembering_lines, False) is True


def scope_path() -> str:
    """Return the names of the open named scopes in this context, outermost first, joined by dots."""
    return ".".join([scope.value for scope in open_scopes.get() if scope.holds()])


# Recordings


class RecordingError(TypeError):
    """The error raised if a function reads the number of a Value while the function is recorded or differentiated.

    A recording would use the same number for all other arguments. A derivative would treat the number as a constant.
    """

    _is_refusal = False  # True if gradwalk raised the error, False if the user's code did


def recorded(
    f: Callable[[], Any], level: int, mark: int, *, staged: bool, branches: Any = None, asked: Any = None
) -> Any:
    """Record a function: run it in a new context, in which new leaves have the given level.

    Args:
        f: The function.
        level: The number of nested recordings, including this one.
        mark: The mark of the inputs of this recording, from `new_mark`.
        staged: Whether the function is staged: every new node gets the level, comparisons return Values, and reading
            the number of a Value is an error.
        branches: A list, to which each condition that the function branches on is appended, and an `AskedNumber` for
            each number that it uses; None if the function must not branch. If the enclosing recording has a list, a
            recording that is not staged must have one, too.
        asked: A list, to which the first numbers that the function asks for are appended: an `AskedNumber`, or, if the
            function is not staged, a Value that it compares.

    Returns:
        The result of the function.

    Raises:
        RecordingError: The function read the numeric value of a Value, possibly catching the error that this raised.
    """
    return copy_context().run(_recorded_here, f, level, mark, staged, branches, asked)


def _recorded_here(f: Callable[[], Any], level: int, mark: int, staged: bool, branches: Any, asked: Any) -> Any:
    # A recording that is not staged shares the list of errors of the enclosing recording, so that both raise the
    # errors.
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
    _asked.set(asked)
    recording = _Recording(level if staged else 0, refusals)
    _begin(mark, recording)  # an interrupt may leave the counts too high, which only costs time
    try:
        result = f()
    finally:
        _end(mark, recording)
    if len(refusals) > earlier:  # the function caught the error and continued without the number
        raise refusals[earlier]
    return result


def _begin(mark: int, recording: _Recording) -> None:
    """Register a recording."""
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
    """Unregister a recording."""
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
    """Return the number of nested recordings that are open in this context."""
    return _depth.get()


def is_staging() -> bool:
    """Return whether a function is being staged in this context."""
    return staging != 0 and _staging_level.get() != 0


def staging_level() -> int:
    """Return the level of the function that is being staged in this context, or 0."""
    return _staging_level.get() if staging != 0 else 0


def is_abstract() -> bool:
    """Return whether a function is being staged and must not branch, so that no number of a Value can be read."""
    return staging != 0 and _staging_level.get() != 0 and _branches.get() is None


def refusals_here() -> list[RecordingError]:
    """Return the errors that the current recording has raised so far, including errors that the function caught."""
    return list(_refusals.get() or ())


def is_being_recorded(node: ValueNode) -> bool:
    """Return True if a node belongs to an open recording of this context, or if this context is staging a function."""
    return recordings != 0 and (_staging_level.get() != 0 or 0 < node._level <= _depth.get())


@cython.cfunc
def is_recorded_elsewhere(node: ValueNode) -> cython.bint:
    """Return whether a node belongs to a function that another thread is staging now."""
    if staging == 0 or _staging_level.get():
        return False
    recording = _recording_elsewhere(node)
    return recording is not None and recording.level != 0


def _recording_elsewhere(node: ValueNode) -> _Recording | None:
    """Find the open recording of another thread that a node belongs to, by the marks of inputs among its ancestors.

    A recorded function may pass nodes to other threads, whose context does not contain the recording.
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
    """Return True if one of two operands depends on inputs of a recording, or if this context is staging a function."""
    if node._level > 0 or (isinstance(other, ValueNode) and cython.cast(ValueNode, other)._level > 0):
        return True
    return _staging_level.get() != 0


def refuse_if_staging(node: ValueNode, what: str) -> None:
    """Raise `RecordingError` if a staged function reads the number of a node.

    `what` describes the use of the node, such as "branches on". If branches are allowed, a branch is not an error: its
    condition is appended to the list of branches. The message has the user's line, the node's expression and a remedy.
    """
    if _staging_level.get():
        followed = _branches.get()
        if followed is not None and what == "branches on" and node._level >= _staging_level.get():
            if len(followed) >= _MOST_BRANCHES:
                raise refused(
                    f"{users_line()}\n  branches more than {_MOST_BRANCHES:,} times, and one recording may contain at "
                    f"most {_MOST_BRANCHES:,} branches: use gradwalk.loops, or where() for elements of an array.\n"
                    f"  {_branch_again(what)}"
                )
            followed.append(node)
            known_number(node)
            followed.impose(node)
            return
        raise refused(
            f"{users_line()}\n  {what} `{spelled(node)}` while the function is being recorded: the recording would use "
            f"the same result for all other arguments.\n  {_branch_again(what)}{_cure(what)}"
        )
    if is_recorded_elsewhere(node):
        raise refused(
            f"{users_line()}\n  {what} `{spelled(node)}` in another thread while the function is being recorded: the "
            f"recording would use the same result for all other arguments.\n  {_cure(what)}",
            node,
        )


class AskedNumber:
    """An entry of the list of branches: a Value whose number a function has used. The path is valid for this number."""

    def __init__(self, node: ValueNode) -> None:
        self.node = node


def note_comparison(node: ValueNode) -> object:
    """Note that a function that is being differentiated compares this Value."""
    asked = _asked.get()
    if asked is not None and len(asked) < _MOST_ASKED:
        asked.append(node)
    return None


def note_number(node: ValueNode) -> object:
    """Note that a function that is being differentiated asks for the number of this Value, as in `int`."""
    asked = _asked.get()
    if asked is not None and len(asked) < _MOST_ASKED:
        asked.append(AskedNumber(node))
    return None


def follow_number(node: ValueNode) -> float:
    """Make the number of a node a condition of the path that is being recorded; return the number."""
    refuse_if_staging(node, "branches on")  # appends the node
    followed = _branches.get()
    followed[-1] = AskedNumber(node)
    return node._primal


def follows_branches() -> bool:
    """Return whether a function is being staged in this context and its branches are recorded."""
    return staging != 0 and _staging_level.get() != 0 and _branches.get() is not None


def followed_branches() -> Any:
    """Return the list of branches of the current recording, or None if branches are not recorded."""
    return _branches.get()


def ask_for_number(node: ValueNode, what: str) -> float:
    """Return the number of a node and make it a condition of the path, or raise an error: see `refuse_if_staging`."""
    if follows_branches() and node._level >= _staging_level.get():
        return follow_number(node)
    refuse_if_staging(node, what)
    return node._primal


def known_number(node: ValueNode) -> float:
    """Return the number of a node. If it depends on a call that was not run during the recording, the call is run now.

    The number is a placeholder if the recording refuses branches.
    """
    followed = _branches.get()
    if followed is not None:
        followed.resolve(node)
    return node._primal


def leaves_numbers_unknown() -> bool:
    """Return whether a call with operands that are being recorded is not run, so that its results are placeholders.

    It might never end: the operands may be placeholders, too, and branches that are not taken are traced as well. If
    branches are recorded, `known_number` runs the call when its result is needed.
    """
    if not is_staging() or refuses_nans():
        return False
    followed = _branches.get()
    if followed is not None:
        followed.has_unknown = True
    return True


def refuse_if_recorded(node: ValueNode, what: str) -> None:
    """Raise `RecordingError` if a Value belongs to a recording or is inside `grad`, `jvp` or another transform.

    `what` describes the use of the Value, as in `refuse_if_staging`.
    """
    refuse_if_staging(node, what)
    if is_being_recorded(node) or _recording_elsewhere(node) is not None:
        raise refused(
            f"{users_line()}\n  {what} `{spelled(node)}` inside a function that is being differentiated: the result "
            f"would be a constant, and its derivative would be lost.\n  {_cure(what)}",
            node,
        )


def refused(message: str, node: ValueNode | None = None) -> TypeError:
    """Return the error for reading the number of a Value: `RecordingError` in a recording, else `TypeError`.

    The current recording raises the error again at its end, and so does a recording of another thread if `node` belongs
    to it.
    """
    error = RecordingError(message)
    return error if remember(error, node) else TypeError(message)


def remember(error: RecordingError, node: ValueNode | None = None) -> bool:
    """Make the current recording raise an error at its end, even if the recorded function catches the error.

    If another thread is recording `node`, its recording raises the error, too. Returns whether there is any such
    recording.
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
    """Suppress a `RecordingError` that gradwalk raised for reading a number, but not one raised by user code."""
    try:
        yield
    except RecordingError as error:
        if not error._is_refusal:
            raise


def _branch_again(what: str) -> str:
    """Return a suggestion: the user's branch, rewritten with `gradwalk.loops`. Return "" if it cannot be rewritten."""
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
        return "Return the Value and inspect its graph outside; a jitted function has .graph and .walk(...)."
    if "no_grad" in what:
        return "Use gradwalk.stop_gradient(x), which can be recorded."
    if "index" in what or "int()" in what or "looks up" in what:
        return (
            "Use gradwalk.take(values, index), which can be recorded, if the index is data. A count, as in range(n), "
            "can be int(n), or a static argument: jit(f, static_argnums=...). In both cases, the function is recorded "
            "again for each count."
        )
    if "formats" in what:
        return (
            "Return the number and format it outside. To round, use round(x), gradwalk.math.floor or rint. "
            "str(x) shows the expression."
        )
    if "float" in what:
        return (
            "Use the functions of gradwalk.math instead of math (gradwalk.math.sin, ...), and arrays of dtype=object "
            "to hold Values. Numbers that must stay floats can be static arguments: jit(f, static_argnums=...)."
        )
    if "sets" in what:
        return "Return the new number instead, and set it outside of the function."
    if ".data" in what:
        return (
            "gradwalk.stop_gradient(x) is x without its gradient and can be recorded, for example the maximum that a "
            "softmax subtracts. To choose, use gradwalk.math.where(condition, a, b), maximum or minimum."
        )
    return (
        "Choose with gradwalk.math.where(condition, a, b), maximum or minimum, or branch and repeat with "
        "gradwalk.loops.cond and while_loop, which can be recorded. For arrays, use gradwalk.numpy (where, less, max, "
        "sort, ...), because NumPy's own functions branch on their elements. Or pass the deciding number as a static "
        "argument: jit(f, static_argnums=...)."
    )


# Inspection of new nodes


@cython.cfunc
def inspect(out: ValueNode) -> object:
    """Apply the modes that are in effect to a new node.

    Called only if `open_switches` is not 0, or if a function is staged at a higher level than the node's level.
    """
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
    """Raise `FloatingPointError` if a node has passed nan or inf to the gradient of an operand."""
    for operand in node.operands:
        if not math.isfinite(operand.grad):
            raise FloatingPointError(
                f"the gradient of {operand!r} became {operand.grad} when {_made(node)} passed back its gradient"
                f" {node.grad} times {node.partials}, {_where(node)}"
            )


def _made(node: ValueNode) -> str:
    """Format the operation of a node and its operands, for a message."""
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
