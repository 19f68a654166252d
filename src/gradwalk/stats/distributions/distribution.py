"""`Continuous`, `WithQuantiles` and `Discrete`: distributions, composed of functions of their standard forms."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from gradwalk import math
from gradwalk.batching.vectorize import Vectorized, vectorize
from gradwalk.functions.rows import divide
from gradwalk.functions.special.composition import choose
from gradwalk.value import arrays
from gradwalk.value.value import Value

Function = Callable[..., Any]
_NUMBERS = frozenset([float, int, Value])  # types of operands that need no test for arrays


def is_fractional(x: Any) -> Any:
    """Return whether x is not an integer: a bool, or 1 or 0. nan counts as an integer."""
    return math.floor(x) < x


def never(*_: Any) -> float:
    """Return 0: no number is outside of the support, or no parameter is invalid."""
    return 0.0


class Standard(NamedTuple):
    """The distribution function of the standard form, and related functions: of z or k and the shape parameters."""

    cdf: Function
    sf: Function
    logcdf: Function
    logsf: Function


def elementwise(method: Function) -> Function:
    """Decorate a method of numbers and Values, with all parameters: it then has defaults, and accepts arrays."""

    @functools.wraps(method)
    def of_arrays(self: Distribution, x: Any, *args: Any, **kwargs: Any) -> Any:
        defaults = self._defaults
        parameters = args if len(args) == len(defaults) else args + defaults[len(args) :]
        if not kwargs and len(parameters) == len(defaults) and type(x) in _NUMBERS:
            for parameter in parameters:
                if type(parameter) not in _NUMBERS:
                    break
            else:
                return method(self, x, *parameters)
        return self._broadcast(method, (x, *args), kwargs)

    return of_arrays


class Distribution:
    """A family of distributions, with the names and parameters of `scipy.stats`.

    Args:
        name: Its name.
        shapes: The names of its shape parameters.
        standard: The distribution function and related functions of the standard form.
        defaults: The names of the further parameters, with their defaults.
    """

    def __init__(self, name: str, shapes: Sequence[str], standard: Standard, **defaults: float) -> None:
        self.name = name
        self._standard = standard
        self.__module__ = "gradwalk.stats"  # where pickle finds the distribution
        self._defaults = (None,) * len(shapes) + tuple(defaults.values())
        of_kind = partial(inspect.Parameter, kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        optional = [of_kind(parameter, default=default) for parameter, default in defaults.items()]
        self._signature = inspect.Signature([*map(of_kind, ["x", *shapes]), *optional])
        self._vectorized: dict[Function, Vectorized[...]] = {}

    def __repr__(self) -> str:
        parameters = list(self._signature.parameters.values())[1:]
        return f"<distribution {self.name}({', '.join(map(str, parameters))})>"

    def __reduce__(self) -> str:
        return self.name

    def _broadcast(self, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Call a function of numbers and Values with all parameters, for each element of arrays."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        operands = bound.args
        if not arrays.are_there(operands):
            return function(self, *map(arrays.without_dimensions, operands))
        found = tuple([arrays.as_array(operand) for operand in operands])
        if any(array.dtype == object for array in found):
            return arrays.elementwise(partial(function, self), found)
        if function not in self._vectorized:
            named: Any = partial(function, self)
            named.__name__, named.__signature__ = self.name, self._signature
            self._vectorized[function] = vectorize(named)
        return self._vectorized[function](*found)

    @elementwise
    def cdf(self, x: Any, *parameters: Any) -> Any:
        """Return the probability of numbers up to x.

        Args:
            x: A number, a `Value`, or an array or list of these.
            *parameters: The shape parameters, the location and, for continuous distributions, the scale. They are
                broadcast against x.

        Returns:
            A float, a `Value`, or an array.
        """
        return self._of_standard("cdf", x, *parameters)

    @elementwise
    def sf(self, x: Any, *parameters: Any) -> Any:
        """Return the survival function, the probability of numbers above x; it is accurate where it is tiny.

        Args:
            x: A number, a `Value`, or an array or list of these.
            *parameters: See `cdf`.

        Returns:
            A float, a `Value`, or an array.
        """
        return self._of_standard("sf", x, *parameters)

    @elementwise
    def logcdf(self, x: Any, *parameters: Any) -> Any:
        """Return the logarithm of the distribution function, which is finite where `cdf` underflows.

        Args:
            x: A number, a `Value`, or an array or list of these.
            *parameters: See `cdf`.

        Returns:
            A float, a `Value`, or an array.
        """
        return self._of_standard("logcdf", x, *parameters)

    @elementwise
    def logsf(self, x: Any, *parameters: Any) -> Any:
        """Return the logarithm of the survival function, such as the log-likelihood of an observation censored at x.

        Args:
            x: A number, a `Value`, or an array or list of these.
            *parameters: See `cdf`.

        Returns:
            A float, a `Value`, or an array.
        """
        return self._of_standard("logsf", x, *parameters)

    def _of_standard(self, name: str, x: Any, *parameters: Any) -> Any:
        """Call a function of the standard form, and check the parameters."""
        raise NotImplementedError


class Continuous(Distribution):
    """A family of continuous distributions. Its standard form has location 0 and scale 1.

    Args:
        name: Its name.
        shapes: The names of its shape parameters.
        logpdf: The logarithm of the standard density, as a function of z and the shape parameters.
        standard: The distribution function and related functions of the standard form.
        is_outside: Whether z is outside of the support of the standard form.
        is_invalid: Whether the shape parameters are outside of their domain.
    """

    def __init__(
        self,
        name: str,
        shapes: Sequence[str],
        logpdf: Function,
        standard: Standard,
        *,
        is_outside: Function = never,
        is_invalid: Function = never,
    ) -> None:
        super().__init__(name, shapes, standard, loc=0.0, scale=1.0)
        self._standard_logpdf = logpdf
        self._is_outside = is_outside
        self._is_invalid = is_invalid

    @elementwise
    def logpdf(self, x: Any, *parameters: Any) -> Any:
        """Return the logarithm of the density at x.

        Outside of the support it is -inf with derivatives 0. It is nan if a parameter is outside of its domain.

        Args:
            x: A number, a `Value`, or an array or list of these.
            *parameters: The shape parameters, the location and the scale, which are broadcast against x.

        Returns:
            A float, a `Value`, or an array.
        """
        *shapes, loc, scale = parameters
        z = _standardize(x, loc, scale)
        density = self._standard_logpdf(z, *shapes)
        if not (type(scale) is float and scale == 1.0):
            density = density - math.log(scale)
        if self._is_outside is not never:
            density = choose(self._is_outside(z, *shapes), -math.inf, density)
        elif self._is_invalid is never:
            return density  # nan if the scale is invalid, because its logarithm is nan
        return self._check(density, shapes, scale)

    @elementwise
    def pdf(self, x: Any, *parameters: Any) -> Any:
        """Return the density at x: see `logpdf`.

        Args:
            x: A number, a `Value`, or an array or list of these.
            *parameters: The shape parameters, the location and the scale.

        Returns:
            A float, a `Value`, or an array.
        """
        return math.exp(self.logpdf(x, *parameters))

    def _of_standard(self, name: str, x: Any, *parameters: Any) -> Any:
        *shapes, loc, scale = parameters
        function: Function = getattr(self._standard, name)
        return self._check(function(_standardize(x, loc, scale), *shapes), shapes, scale)

    def _check(self, result: Any, shapes: Sequence[Any], scale: Any) -> Any:
        """Return the result, or nan if a parameter is outside of its domain."""
        return choose(self._is_invalid(*shapes) + (scale <= 0.0), math.nan, result)


class WithQuantiles(Continuous):
    """A family of continuous distributions whose quantiles have a closed form.

    Args:
        name: Its name.
        shapes: The names of its shape parameters.
        logpdf: The logarithm of the standard density.
        standard: The distribution function and related functions of the standard form.
        ppf: The quantile of the standard form, as a function of q and the shape parameters.
        **domain: See `Continuous`.
    """

    def __init__(
        self,
        name: str,
        shapes: Sequence[str],
        logpdf: Function,
        standard: Standard,
        ppf: Function,
        **domain: Function,
    ) -> None:
        super().__init__(name, shapes, logpdf, standard, **domain)
        self._standard_ppf = ppf

    @elementwise
    def ppf(self, q: Any, *parameters: Any) -> Any:
        """Return the quantile of a probability: the inverse of `cdf`.

        Args:
            q: A probability, a `Value`, or an array or list of these. The quantile is nan if it is not in [0, 1].
            *parameters: The shape parameters, the location and the scale, which are broadcast against q.

        Returns:
            A float, a `Value`, or an array.
        """
        *shapes, loc, scale = parameters
        quantile = loc + scale * self._standard_ppf(q, *shapes)
        quantile = choose((q < 0.0) + (q > 1.0), math.nan, quantile)
        return self._check(quantile, shapes, scale)


# The results of functions of discrete distributions below the support, and from its largest integer on.
_ENDS = {"cdf": (0.0, 1.0), "sf": (1.0, 0.0), "logcdf": (-math.inf, 0.0), "logsf": (0.0, -math.inf)}


class Discrete(Distribution):
    """A family of distributions of integers. Its standard form has location 0.

    Args:
        name: Its name.
        shapes: The names of its shape parameters.
        logpmf: The logarithm of the probability, as a function of an integer k and the shape parameters.
        standard: The distribution function and related functions of an integer in the support.
        is_outside: Whether an integer k is outside of the support.
        is_invalid: Whether the shape parameters are outside of their domain.
        last: The largest integer of the support, as a function of the shape parameters.
    """

    def __init__(
        self,
        name: str,
        shapes: Sequence[str],
        logpmf: Function,
        standard: Standard,
        *,
        is_outside: Function,
        is_invalid: Function,
        last: Function = lambda *_: math.inf,
    ) -> None:
        super().__init__(name, shapes, standard, loc=0.0)
        self._standard_logpmf = logpmf
        self._is_outside = is_outside
        self._is_invalid = is_invalid
        self._last = last

    @elementwise
    def logpmf(self, k: Any, *parameters: Any) -> Any:
        """Return the logarithm of the probability of k.

        Outside of the support, and if k is not an integer, it is -inf with derivatives 0. It is nan if a parameter is
        outside of its domain.

        Args:
            k: A number, a `Value`, or an array or list of these.
            *parameters: The shape parameters and the location, which are broadcast against k.

        Returns:
            A float, a `Value`, or an array.
        """
        *shapes, loc = parameters
        k = _standardize(k, loc, 1.0)
        is_outside = is_fractional(k) + self._is_outside(k, *shapes)
        result = choose(is_outside, -math.inf, self._standard_logpmf(k, *shapes))
        return choose(self._is_invalid(*shapes), math.nan, result)

    @elementwise
    def pmf(self, k: Any, *parameters: Any) -> Any:
        """Return the probability of k: see `logpmf`.

        Args:
            k: A number, a `Value`, or an array or list of these.
            *parameters: The shape parameters and the location.

        Returns:
            A float, a `Value`, or an array.
        """
        return math.exp(self.logpmf(k, *parameters))

    def _of_standard(self, name: str, x: Any, *parameters: Any) -> Any:
        *shapes, loc = parameters
        k = math.floor(_standardize(x, loc, 1.0))
        below, above = _ENDS[name]
        is_below, is_above = k < 0.0, k >= self._last(*shapes)
        result = getattr(self._standard, name)(choose(is_below + is_above, 0.0, k), *shapes)
        result = choose(is_below, below, choose(is_above, above, result))
        is_nan = 1.0 - (k == k)
        return choose(self._is_invalid(*shapes) + is_nan, math.nan, result)


def _standardize(x: Any, loc: Any, scale: Any) -> Any:
    """Return (x - loc) / scale, without operations for a location of 0.0 and a scale of 1.0."""
    if not (type(loc) is float and loc == 0.0):
        x = x - loc
    if isinstance(scale, Value):
        return x / scale
    return x if scale == 1.0 else divide(x, scale)  # Python's own division raises an error for 0.0
