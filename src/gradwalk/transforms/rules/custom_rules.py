"""`custom_jvp` and `custom_vjp`: functions with user-defined derivatives, with JAX's protocol."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from gradwalk.program.calls.call import Call
from gradwalk.program.calls.linearity import nonlinear_operation
from gradwalk.program.calls.program_derivatives import replacing, without_effects
from gradwalk.program.calls.ruled_call import RuledCall, Rules, transposed
from gradwalk.program.program import Program
from gradwalk.program.tracing.trace import Recording, display_name, evaluate, has_outcome
from gradwalk.program.tracing.wrapper import WrappedFunction
from gradwalk.transforms.rules.arguments import Arguments, Signature
from gradwalk.trees.tree import TreeDef, flatten, scalars
from gradwalk.value.modes import RecordingError, without_numbers

P = ParamSpec("P")
R = TypeVar("R")
Rule = TypeVar("Rule", bound=Callable[..., Any])


class _Ruled(WrappedFunction[P, R]):
    """A function with user-defined derivatives. Subclasses create the rules of a call."""

    _name: str

    def __init__(
        self, f: Callable[P, R], nondiff_argnums: int | Iterable[int], nondiff_argnames: str | Iterable[str]
    ) -> None:
        super().__init__(f, self._name)
        self._signature = Signature(f, nondiff_argnums, nondiff_argnames)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result of the function. If an argument is a Value, the call becomes one operation."""
        self._check_rules()
        arguments = self._signature.arguments(args, kwargs)
        if not arguments.values:
            return self._f(*args, **kwargs)  # type: ignore[no-any-return]
        recording = Recording()
        opened = recording.add_inputs(list(arguments.values), "an argument")

        @functools.wraps(self._f)
        def of_values(numbers: Any) -> Any:
            return self._f(*arguments.with_static(arguments.filled(numbers)))

        outputs, treedef = recording.run(of_values, [opened], {})
        _follow_branches(recording)
        rules = self._rules(arguments.without_values(), treedef)
        call = RuledCall(recording.program(outputs), self.__name__, len(arguments.values), rules)
        return treedef.results(call.values(recording.operands))  # type: ignore[no-any-return]

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, *self._signature.options

    def _check_rules(self) -> None:
        """Raise `TypeError` if the derivative is not defined yet."""
        raise NotImplementedError

    def _rules(self, arguments: Arguments, treedef: TreeDef) -> Rules:
        """Return the rules of a call, given its arguments and the treedef of its result."""
        raise NotImplementedError


class CustomJvp(_Ruled[P, R]):
    """A function whose derivative is given by a rule for forward mode, returned by `custom_jvp`."""

    _name = "custom_jvp"
    _jvp: Callable[..., Any] | None = None

    def defjvp(self, jvp: Rule) -> Rule:
        """Set the derivative. Use this method as a decorator.

        Args:
            jvp: A function `jvp(primals, tangents)` of two tuples with the structure of the arguments. It returns the
                pair (result, tangent of the result). If some arguments are in `nondiff_argnums`, they come first, and
                the tuples do not contain them.

        Returns:
            `jvp` itself.
        """
        self._jvp = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set the derivative with one function for each argument.

        Args:
            *jvps: For each argument, a function `jvp(tangent, result, *primals)` that returns the contribution of this
                argument to the tangent of the result, or None if the contribution is 0.

        Raises:
            TypeError: The function has `nondiff_argnums`.
        """
        if any(self._signature.options):
            raise TypeError(f"defjvps() of {self.__name__} cannot be combined with nondiff_argnums: use defjvp()")

        def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
            if len(primals) != len(jvps):
                raise TypeError(
                    f"defjvps() of {self.__name__} was given {len(jvps)} functions, and {self.__name__} was called "
                    f"with {len(primals)} arguments: give one function or None for each argument"
                )
            result: Any = self(*primals)  # type: ignore[call-arg]
            leaves, treedef = flatten(result, f"the result of {self.__name__}")
            totals: list[Any] = [0.0] * len(scalars(leaves))
            for rule, tangent in zip(jvps, tangents, strict=True):
                if rule is not None:
                    what = f"the tangent from a function of defjvps() of {self.__name__}"
                    totals = list(map(operator.add, totals, _numbers(rule(tangent, result, *primals), treedef, what)))
            return result, treedef.filled(totals)

        self._jvp = jvp

    def _check_rules(self) -> None:
        if self._jvp is None:
            raise TypeError(
                f"{display_name(self._f)} is a custom_jvp function without a rule: define one with "
                f"@{self.__name__}.defjvp"
            )

    def _rules(self, arguments: Arguments, treedef: TreeDef) -> Rules:
        assert self._jvp is not None
        return _JvpRule(self._f, self._jvp, arguments, treedef)


class CustomVjp(_Ruled[P, R]):
    """A function whose derivative is given by rules for reverse mode, returned by `custom_vjp`."""

    _name = "custom_vjp"
    _fwd: Callable[..., Any] | None = None
    _bwd: Callable[..., Any] | None = None

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Set the derivative.

        Args:
            fwd: A function of the same arguments that returns the pair (result, residuals). The residuals may be any
                object.
            bwd: A function `bwd(residuals, cotangent)`, where the cotangent has the structure of the result. It returns
                a tuple with the cotangent of each argument; None means zeros. If some arguments are in
                `nondiff_argnums`, they come first, and the tuple does not contain cotangents of them.
        """
        self._fwd, self._bwd = fwd, bwd

    def _check_rules(self) -> None:
        if self._fwd is None:
            raise TypeError(
                f"{display_name(self._f)} is a custom_vjp function without rules: define them with "
                f"{self.__name__}.defvjp(fwd, bwd)"
            )

    def _rules(self, arguments: Arguments, treedef: TreeDef) -> Rules:
        assert self._fwd is not None
        assert self._bwd is not None
        return _VjpRule(self._f, self._fwd, self._bwd, arguments, treedef)


class _UserRules(Rules):
    """The rules of one call of a function: they are recorded for arguments with the structure of the call's."""

    def __init__(self, f: Callable[..., Any], arguments: Arguments, treedef: TreeDef) -> None:
        self.function = f
        self._name = display_name(f)
        self._arguments = arguments
        self._treedef = treedef

    def refuse_captured(self) -> None:
        """Raise `TypeError`: see `Rules.refuse_captured`."""
        raise TypeError(
            f"{self._name} has derivative rules and uses a Value that is not one of its arguments, so the derivative "
            "with respect to this Value is unknown: make it an argument"
        )

    def _recorded(self, f: Callable[[Any], Any], count: int, more: int) -> Program:
        """Record a function of the operands and `more` further numbers; it returns a list of numbers."""
        recording = Recording(staged=True)
        given = recording.add_inputs([math.nan] * (count + more), "an operand")  # nan, as no number is known
        try:
            with without_numbers():
                outputs, _ = recording.run(f, [given], {})
        except RecordingError as error:
            error.add_note(
                f"The derivative rule of {self._name} is recorded, so that it can be differentiated again: "
                "choose with gradwalk.math.where or gradwalk.loops.cond instead of branching"
            )
            raise
        if len(recording.operands) > count + more:
            raise ValueError(
                f"the derivative rule of {self._name} uses a Value that is not one of its arguments: make that Value "
                f"an argument of {self._name}"
            )
        return replacing(recording.program(outputs), self._quiet)

    def _quiet(self, call: Call, operands: int) -> Program | None:
        """Return what replaces a call in a rule: the side effects of the function are not repeated by its rules."""
        return call.effectless(operands) if isinstance(call, RuledCall) and call.is_of(self.function) else None

    def _refuse_nonlinear(self, program: Program, operands: int, what: str, advice: str) -> None:
        """Raise `TypeError` if a program is not linear in the inputs that follow the operands."""
        name = nonlinear_operation(without_effects(program).code, [i >= operands for i in range(program.inputs)])
        if name:
            raise TypeError(f"{what} must be linear, but it computes {name} of them{advice}")


class _JvpRule(_UserRules):
    def __init__(self, f: Callable[..., Any], rule: Callable[..., Any], arguments: Arguments, treedef: TreeDef) -> None:
        super().__init__(f, arguments, treedef)
        self._rule = rule
        self._what = f"the rule {display_name(rule)} of the custom_jvp function {display_name(f)}"

    def jvp_program(self, operands: int, results: int) -> Program:
        """Record the rule: see `Rules.jvp_program`."""
        return self._recorded(functools.partial(self._tangents, operands), operands, operands)

    def vjp_program(self, operands: int, results: int) -> Program:
        """Transpose the rule: see `Rules.vjp_program`."""
        forward = self.jvp_program(operands, results)
        what = f"the tangent that {self._what} returns, as a function of the tangents,"
        self._refuse_nonlinear(forward, operands, what, "")
        return transposed(forward, operands, results)

    def _tangents(self, operands: int, numbers: Sequence[Any]) -> list[Any]:
        """Call the rule; return the numbers in the tangent of the result."""
        arguments = self._arguments
        primals, tangents = arguments.filled(numbers[:operands]), arguments.tangents(numbers[operands:])
        found = _pair(self._rule(*arguments.static, primals, tangents), self._what, "result and tangent of the result")
        _numbers(found[0], self._treedef, f"the result that {self._what} returned")
        return _numbers(found[1], self._treedef, f"the tangent that {self._what} returned")


class _VjpRule(_UserRules):
    may_be_nonlinear = True

    def __init__(
        self,
        f: Callable[..., Any],
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        arguments: Arguments,
        treedef: TreeDef,
    ) -> None:
        super().__init__(f, arguments, treedef)
        self._fwd, self._bwd = fwd, bwd

    def vjp_program(self, operands: int, results: int) -> Program:
        """Record both rules: see `Rules.vjp_program`."""
        return self._recorded(functools.partial(self._cotangents, operands), operands, results)

    def jvp_program(self, operands: int, results: int) -> Program:
        """Transpose the rules: see `Rules.jvp_program`."""
        backward = self.vjp_program(operands, results)
        what = (
            f"{self._name} is a custom_vjp function, which forward mode can differentiate only by "
            f"transposing the rule {display_name(self._bwd)}: the rule, as a function of the cotangents,"
        )
        advice = ". Use reverse mode (grad, vjp, jacrev), or define the function with custom_jvp"
        self._refuse_nonlinear(backward, operands, what, advice)
        return transposed(backward, operands, operands)

    def _cotangents(self, operands: int, numbers: Sequence[Any]) -> list[Any]:
        """Call both rules; return the cotangents of the operands."""
        arguments = self._arguments
        fwd = f"the rule {display_name(self._fwd)} of the custom_vjp function {self._name}"
        args = arguments.with_static(arguments.filled(numbers[:operands]))
        result, residuals = _pair(self._fwd(*args), fwd, "result and residuals")
        _numbers(result, self._treedef, f"the result that {fwd} returned")
        found = self._bwd(*arguments.static, residuals, self._treedef.as_floats().filled(list(numbers[operands:])))
        bwd = f"the rule {display_name(self._bwd)} of the custom_vjp function {self._name}"
        return arguments.cotangents(found, bwd)


def _follow_branches(recording: Recording) -> None:
    """Make the branches of a recording conditions of the enclosing recording."""
    conditions, outcomes = recording.branches
    if conditions:
        numbers = evaluate(recording.tape.program(conditions), recording.operands)
        for condition, outcome in zip(numbers, outcomes, strict=True):
            has_outcome(condition, outcome)


def _pair(found: Any, what: str, parts: str) -> Sequence[Any]:
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise TypeError(f"{what} must return a pair: {parts}, got {found!r:.80}")
    return found


def _numbers(tree: Any, treedef: TreeDef, what: str) -> list[Any]:
    """Return the numbers of a tree, which must have the structure of the result."""
    leaves, found = flatten(tree, what)
    if found.with_numbers() != treedef.with_numbers():
        raise TypeError(f"{what} must have the structure of the function's result, {treedef}, got {found}")
    return scalars(leaves)


@overload
def custom_jvp(
    f: Callable[P, R], nondiff_argnums: int | Iterable[int] = (), nondiff_argnames: str | Iterable[str] = ()
) -> CustomJvp[P, R]: ...
@overload
def custom_jvp(
    f: None = None, nondiff_argnums: int | Iterable[int] = (), nondiff_argnames: str | Iterable[str] = ()
) -> Callable[[Callable[P, R]], CustomJvp[P, R]]: ...
def custom_jvp(
    f: Callable[..., Any] | None = None,
    nondiff_argnums: int | Iterable[int] = (),
    nondiff_argnames: str | Iterable[str] = (),
) -> Any:
    """Define the derivative of a function by a rule for forward mode, with the protocol of `jax.custom_jvp`.

    Set the rule with the decorator `@f.defjvp`, or set one rule for each argument with `f.defjvps`. Reverse mode
    transposes the rule, so the tangent that the rule returns must be linear in the tangents that it is given. The rule
    is recorded when a derivative is needed, and is differentiated for higher derivatives. It must not branch on its
    arguments: use `gradwalk.math.where` or `gradwalk.loops.cond`.

    Args:
        f: A function of positional arguments that takes and returns numbers or trees of numbers. Omit it to use
            `custom_jvp` as a decorator with arguments.
        nondiff_argnums: Positions of arguments that are passed to the rule unchanged, before the primals. They may be
            any objects, such as functions, but must not hold Values.
        nondiff_argnames: Names of such arguments.

    Returns:
        A function with the arguments of `f`.

    Raises:
        TypeError: `f` is not callable. When the function is called: it has no rule, or an argument in `nondiff_argnums`
            holds Values. When a derivative is computed: the rule returns trees of another structure, or is not linear
            in the tangents, or `f` uses a Value that is not one of its arguments.
        RecordingError: When a derivative is computed: the rule branches on a number.

    Example:
        >>> from gradwalk import grad, math
        >>> @custom_jvp
        ... def log1pexp(x):
        ...     return math.log(1.0 + math.exp(x))
        >>> @log1pexp.defjvp
        ... def _(primals, tangents):
        ...     (x,), (tangent,) = primals, tangents
        ...     return log1pexp(x), (1.0 - 1.0 / (1.0 + math.exp(x))) * tangent
        >>> grad(log1pexp)(1000.0)  # the derivative of the formula would be nan
        1.0
    """
    if f is None:
        return functools.partial(custom_jvp, nondiff_argnums=nondiff_argnums, nondiff_argnames=nondiff_argnames)
    return CustomJvp(f, nondiff_argnums, nondiff_argnames)


@overload
def custom_vjp(
    f: Callable[P, R], nondiff_argnums: int | Iterable[int] = (), nondiff_argnames: str | Iterable[str] = ()
) -> CustomVjp[P, R]: ...
@overload
def custom_vjp(
    f: None = None, nondiff_argnums: int | Iterable[int] = (), nondiff_argnames: str | Iterable[str] = ()
) -> Callable[[Callable[P, R]], CustomVjp[P, R]]: ...
def custom_vjp(
    f: Callable[..., Any] | None = None,
    nondiff_argnums: int | Iterable[int] = (),
    nondiff_argnames: str | Iterable[str] = (),
) -> Any:
    """Define the derivative of a function by rules for reverse mode, with the protocol of `jax.custom_vjp`.

    Set the rules with `f.defvjp(fwd, bwd)`. They are recorded when a derivative is needed, and are differentiated for
    higher derivatives. They must not branch on their arguments: use `gradwalk.math.where` or `gradwalk.loops.cond`.

    `bwd` may be any function of the cotangent, for example a function that clips it. Forward mode (`jvp`, `jacfwd`, and
    `hessian` if `fwd` calls the function) transposes `bwd` if it is linear in the cotangent, and raises `TypeError`
    otherwise. In JAX, forward mode always raises an error.

    Args:
        f: A function of positional arguments that takes and returns numbers or trees of numbers. Omit it to use
            `custom_vjp` as a decorator with arguments.
        nondiff_argnums: Positions of arguments that are not differentiated. `fwd` gets them at their positions, and
            `bwd` as its first arguments. They may be any objects, such as functions, but must not hold Values.
        nondiff_argnames: Names of such arguments.

    Returns:
        A function with the arguments of `f`.

    Raises:
        TypeError: `f` is not callable. When the function is called: it has no rules, or an argument in
            `nondiff_argnums` holds Values. When a derivative is computed: a rule returns trees of another structure, or
            `f` uses a Value that is not one of its arguments.
        RecordingError: When a derivative is computed: a rule branches on a number.

    Example:
        >>> from gradwalk import grad, math
        >>> @custom_vjp
        ... def clipped(x):
        ...     return x
        >>> clipped.defvjp(lambda x: (x, None), lambda residuals, cotangent: (math.clip(cotangent, -1.0, 1.0),))
        >>> grad(lambda x: 5.0 * clipped(x))(2.0)
        1.0
    """
    if f is None:
        return functools.partial(custom_vjp, nondiff_argnums=nondiff_argnums, nondiff_argnames=nondiff_argnames)
    return CustomVjp(f, nondiff_argnums, nondiff_argnames)
