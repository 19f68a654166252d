"""Reference libraries, and the operations of the table in mpmath, PyTorch and JAX.

The fast suite does not need these libraries: each one is imported when a test first uses it, and tests that use one
that is not installed are not collected (tests/helpers/peers.py).
"""

from __future__ import annotations

import functools
import importlib
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from gradwalk.base import ieee
from gradwalk.ops.compiled.evaluate import ARITIES
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.code.opcodes import CALL, OPCODES
from gradwalk.program.program import Program

# Rows whose derivatives contain irrational or repeating constants such as log(2), 2/√π and 1/3.
ROUNDED = {"log2", "log10", "exp2", "cbrt", "sinc", "erf", "erfc", "erfcx", "norm_pdf", "norm_cdf", "norm_ppf"}
ROUNDED |= {"gelu", "log1mexp", "gamma", "lgamma", "digamma", "trigamma"}
# Rows with jumps.
JUMPS = {"floor", "ceil", "trunc", "rint", "floor_divide", "mod", "fmod", "remainder", "copysign", "fmax", "fmin"}


def needs(*packages: str) -> pytest.MarkDecorator:
    """Make a mark for tests that need packages (see tests/helpers/peers.py)."""
    return pytest.mark.needs(*packages)


class Reference:
    """A module that is imported and configured when one of its attributes is first read."""

    def __init__(self, name: str, prepare: Callable[[], None] = lambda: None) -> None:
        self._name, self._prepare, self._module = name, prepare, None

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # pytest reads every name of a module when it collects tests
            raise AttributeError(attribute)
        if self._module is None:
            self._module = pytest.importorskip(self._name)
            self._prepare()
        return getattr(self._module, attribute)


class Functions(Mapping[str, Callable[..., Any]]):
    """A lazily created mapping from each row of the table to a function."""

    def __init__(self, make: Callable[[], dict[str, Callable[..., Any]]]) -> None:
        self._made = functools.cache(make)

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


def _with_50_digits() -> None:
    mpmath.mp.dps = 50


def _in_double_precision() -> None:
    jax.config.update("jax_enable_x64", True)


def _with_its_modules() -> None:
    for name in ("engine", "nn"):
        importlib.import_module(f"micrograd.{name}")


Image = Reference("PIL.Image")
graphviz = Reference("graphviz")
jax = Reference("jax", _in_double_precision)
jnp = Reference("jax.numpy", _in_double_precision)
jsonschema = Reference("jsonschema")
micrograd = Reference("micrograd", _with_its_modules)
mpmath = Reference("mpmath", _with_50_digits)
numba = Reference("numba")
referencing = Reference("referencing")
optax = Reference("optax", _in_double_precision)
scipy_special = Reference("scipy.special")
torch = Reference("torch")


# The three mappings are written from the definitions, not from the table.
def _in_mpmath() -> dict[str, Callable[..., Any]]:
    return {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "pow": mpmath.power,
        "neg": lambda x: -x,
        "abs": abs,
        "exp": mpmath.exp,
        "expm1": mpmath.expm1,
        "exp2": lambda x: mpmath.power(2, x),
        "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
        "log1mexp": lambda x: mpmath.log(-mpmath.expm1(x)) if x > -1 else mpmath.log1p(-mpmath.exp(x)),
        "asinh": mpmath.asinh,
        "acosh": mpmath.acosh,
        "atanh": mpmath.atanh,
        "sinc": mpmath.sincpi,
        "silu": lambda x: x / (1 + mpmath.exp(-x)),
        "gelu": lambda x: x * _norm_cdf(x),
        "erfc": mpmath.erfc,
        "erfcx": _erfcx,
        "norm_pdf": mpmath.npdf,
        "norm_cdf": _norm_cdf,
        "norm_ppf": _norm_ppf,
        "gamma": mpmath.gamma,
        "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))) if x < 0 else mpmath.loggamma(x),
        "digamma": lambda x: psi(0, x),
        "trigamma": lambda x: psi(1, x),
        "floor": mpmath.floor,
        "ceil": mpmath.ceil,
        "trunc": lambda x: mpmath.sign(x) * mpmath.floor(abs(x)),
        "rint": mpmath.nint,
        "log": mpmath.log,
        "log2": lambda x: mpmath.log(x, 2),
        "log10": mpmath.log10,
        "log1p": mpmath.log1p,
        "sqrt": mpmath.sqrt,
        "sin": mpmath.sin,
        "cos": mpmath.cos,
        "tan": mpmath.tan,
        "asin": mpmath.asin,
        "acos": mpmath.acos,
        "atan": mpmath.atan,
        "sinh": mpmath.sinh,
        "cosh": mpmath.cosh,
        "tanh": mpmath.tanh,
        "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
        "relu": lambda x: max(x, mpmath.mpf(0)),
        "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
        "erf": mpmath.erf,
        "atan2": mpmath.atan2,
        "hypot": mpmath.hypot,
        "maximum": max,
        "minimum": min,
        "where": lambda x, y, z: y if x else z,
        "sign": mpmath.sign,
        "less": lambda x, y: mpmath.mpf(x < y),
        "less_equal": lambda x, y: mpmath.mpf(x <= y),
        "equal": lambda x, y: mpmath.mpf(x == y),
        "floor_divide": _rounded_down,
        "mod": _exactly(mpmath.floor),
        "fmod": _exactly(_towards_zero),
        "remainder": _exactly(mpmath.nint),
        "fmax": max,
        "fmin": min,
        "copysign": lambda x, y: abs(x) if y >= 0 else -abs(x),  # mpmath's zeros are unsigned
        "logaddexp": lambda x, y: max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y))),
        "stop_gradient": lambda x: x,
    }


def _erfcx(x: Any) -> Any:
    """Compute erfcx, by DLMF 7.11.5 if exp(x²) would overflow; that form requires x > 0."""
    if x < 20:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    return mpmath.hyperu(0.5, 0.5, x * x) / mpmath.sqrt(mpmath.pi)


def _norm_cdf(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def psi(order: int, x: Any) -> Any:
    """Compute a polygamma function, by reflection if x < 0, where mpmath takes -x steps."""
    if x > 0:
        return mpmath.psi(order, x)
    sine, cosine, pi = mpmath.sinpi(x), mpmath.cospi(x), mpmath.pi
    slopes = (
        lambda: -pi * cosine / sine,
        lambda: pi**2 / sine**2,
        lambda: -2 * pi**3 * cosine / sine**3,
        lambda: 2 * pi**4 * (1 + 2 * cosine**2) / sine**4,
    )
    return slopes[order]() + (-1) ** order * mpmath.psi(order, 1 - x)


def _norm_ppf(p: Any) -> Any:
    """Compute the quantile by Newton's method on the logarithm of the smaller tail."""
    if not 0 < p < 1:
        raise ValueError(p)
    tail = min(p, 1 - p)
    x = mpmath.mpf(-statistics.NormalDist().inv_cdf(max(float(tail), 5e-324)))
    for _ in range(4):
        x += (mpmath.log(_norm_cdf(-x)) - mpmath.log(tail)) * _norm_cdf(-x) / mpmath.npdf(x)
    return x if p > 0.5 else -x


def _exactly(quotient: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a function x - y · quotient(x / y) with enough digits for any two float64."""

    def remaining(x: Any, y: Any) -> Any:
        with mpmath.workdps(1000):
            return x - y * quotient(x / y)

    return remaining


def _rounded_down(x: Any, y: Any) -> Any:
    with mpmath.workdps(1000):
        return mpmath.floor(x / y)


def _towards_zero(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.floor(abs(x))


def _sign_of_gamma(x: Any) -> Any:
    """Return the sign of gamma: nan at negative integers, the sign of x if ceil(x) is even, otherwise 1."""
    sign = torch.where(torch.ceil(x) % 2 == 0, torch.copysign(torch.ones_like(x), x), 1.0)
    return torch.where((x < 0.0) & (x == torch.floor(x)), math.nan, sign)


def _in_torch() -> dict[str, Callable[..., Any]]:
    return {
        "add": torch.add,
        "sub": torch.sub,
        "mul": torch.mul,
        "div": torch.div,
        "pow": torch.pow,
        "neg": torch.neg,
        "abs": torch.abs,
        "exp": torch.exp,
        "expm1": torch.expm1,
        "exp2": torch.exp2,
        "cbrt": lambda x: torch.copysign(torch.abs(x) ** (1 / 3), x),  # not in torch
        "log1mexp": lambda x: torch.where(
            x > -math.log(2), torch.log(-torch.expm1(x)), torch.log1p(-torch.exp(torch.clamp(x, max=-math.log(2))))
        ),
        "asinh": torch.asinh,
        "acosh": torch.acosh,
        "atanh": torch.atanh,
        "sinc": torch.sinc,
        "silu": torch.nn.functional.silu,
        "gelu": torch.nn.functional.gelu,
        "erfc": torch.erfc,
        "erfcx": torch.special.erfcx,
        "norm_pdf": lambda x: torch.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        "norm_cdf": torch.special.ndtr,
        "norm_ppf": torch.special.ndtri,
        "gamma": lambda x: _sign_of_gamma(x) * torch.exp(torch.lgamma(x)),  # not in torch
        "lgamma": torch.lgamma,
        "digamma": torch.digamma,
        "trigamma": lambda x: torch.polygamma(1, x),
        "floor": torch.floor,
        "ceil": torch.ceil,
        "trunc": torch.trunc,
        "rint": torch.round,
        "log": torch.log,
        "log2": torch.log2,
        "log10": torch.log10,
        "log1p": torch.log1p,
        "sqrt": torch.sqrt,
        "sin": torch.sin,
        "cos": torch.cos,
        "tan": torch.tan,
        "asin": torch.asin,
        "acos": torch.acos,
        "atan": torch.atan,
        "sinh": torch.sinh,
        "cosh": torch.cosh,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "relu": torch.relu,
        # torch's softplus returns x itself above 20
        "softplus": lambda x: torch.logaddexp(x, torch.zeros((), dtype=torch.float64)),
        "erf": torch.erf,
        "atan2": torch.atan2,
        "hypot": torch.hypot,
        "maximum": torch.maximum,
        "minimum": torch.minimum,
        "where": lambda x, y, z: torch.where(x != 0, y, z),
        "sign": lambda x: torch.where(x.isnan(), x.detach(), torch.sign(x)),  # torch.sign gives 0 for nan
        "less": lambda x, y: (x < y).double(),
        "less_equal": lambda x, y: (x <= y).double(),
        "equal": lambda x, y: (x == y).double(),
        "floor_divide": lambda x, y: torch.div(x, y, rounding_mode="floor"),
        "mod": torch.remainder,
        "fmod": torch.fmod,
        "remainder": _remainder_for_torch(),
        "fmax": torch.fmax,
        "fmin": torch.fmin,
        "copysign": torch.copysign,
        "logaddexp": torch.logaddexp,
        "stop_gradient": lambda x: x.detach(),
    }


def _remainder_for_torch() -> Callable[..., torch.Tensor]:
    """Make the IEEE remainder, which PyTorch lacks, from math.remainder, with the quotient as its derivative."""

    class Remainder(torch.autograd.Function):
        @staticmethod
        def forward(context: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            is_defined = math.isfinite(x) and y != 0.0 and not math.isnan(y)
            number = math.remainder(x.item(), y.item()) if is_defined else math.nan
            quotient = ieee.div(x.item(), y.item()) - ieee.div(number, y.item())
            context.quotient = torch.round(torch.tensor(quotient, dtype=torch.float64))
            return torch.tensor(number, dtype=torch.float64)

        @staticmethod
        def backward(context: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return upstream, -upstream * context.quotient

    return Remainder.apply


def _in_jax() -> dict[str, Callable[..., Any]]:
    return {
        "add": jnp.add,
        "sub": jnp.subtract,
        "mul": jnp.multiply,
        "div": jnp.divide,
        "pow": jnp.power,
        "neg": jnp.negative,
        "abs": lambda x: x * jnp.sign(x),  # jnp.abs has the derivative 1 at 0
        "exp": jnp.exp,
        "expm1": jnp.expm1,
        "exp2": jnp.exp2,
        "cbrt": jnp.cbrt,
        "log1mexp": lambda x: jnp.log(-jnp.expm1(x)),
        "asinh": jnp.arcsinh,
        "acosh": jnp.arccosh,
        "atanh": jnp.arctanh,
        "sinc": jnp.sinc,
        "silu": jax.nn.silu,
        "gelu": lambda x: jax.nn.gelu(x, approximate=False),
        "erfc": jax.scipy.special.erfc,
        "erfcx": lambda x: jnp.exp(x * x) * jax.scipy.special.erfc(x),
        "norm_pdf": jax.scipy.stats.norm.pdf,
        "norm_cdf": jax.scipy.special.ndtr,
        "norm_ppf": jax.scipy.special.ndtri,
        "gamma": jax.scipy.special.gamma,
        "lgamma": jax.scipy.special.gammaln,
        "digamma": jax.scipy.special.digamma,
        "trigamma": lambda x: jax.scipy.special.polygamma(1, x),
        "floor": jnp.floor,
        "ceil": jnp.ceil,
        "trunc": jnp.trunc,
        "rint": jnp.rint,
        "log": jnp.log,
        "log2": jnp.log2,
        "log10": jnp.log10,
        "log1p": jnp.log1p,
        "sqrt": jnp.sqrt,
        "sin": jnp.sin,
        "cos": jnp.cos,
        "tan": jnp.tan,
        "asin": jnp.arcsin,
        "acos": jnp.arccos,
        "atan": jnp.arctan,
        "sinh": jnp.sinh,
        "cosh": jnp.cosh,
        "tanh": jnp.tanh,
        "sigmoid": jax.nn.sigmoid,
        "relu": jax.nn.relu,
        "softplus": jax.nn.softplus,
        "erf": jax.scipy.special.erf,
        "atan2": jnp.arctan2,
        "hypot": jnp.hypot,
        "maximum": jnp.maximum,
        "minimum": jnp.minimum,
        "where": lambda x, y, z: jnp.where(x != 0, y, z),
        "sign": jnp.sign,
        "less": lambda x, y: (x < y).astype(float),
        "less_equal": lambda x, y: (x <= y).astype(float),
        "equal": lambda x, y: (x == y).astype(float),
        "floor_divide": jnp.floor_divide,
        "mod": jnp.mod,
        "fmod": jnp.fmod,
        "remainder": lambda x, y: x - y * jnp.round(x / y),
        "fmax": jnp.fmax,
        "fmin": jnp.fmin,
        "copysign": jnp.copysign,
        "logaddexp": jnp.logaddexp,
        "stop_gradient": jax.lax.stop_gradient,
    }


MPMATH, TORCH, JAX = Functions(_in_mpmath), Functions(_in_torch), Functions(_in_jax)

# Reductions by name, as functions of sequences and, if there is one, the start.
MPMATH_REDUCTIONS = {"sumprod": lambda p, q, start: start + mpmath.fdot(p, q)}
TORCH_REDUCTIONS = {"sumprod": lambda p, q, start: start + torch.stack(p).dot(torch.stack(q))}


def torch_leaf(number: float) -> torch.Tensor:
    """Make a scalar tensor that requires a gradient."""
    return torch.tensor(number, dtype=torch.float64, requires_grad=True)


def ulps_apart(a: float, b: float) -> float:
    """Return the distance of two numbers in ulp of the larger one; 0 for two nans."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / math.ulp(max(abs(a), abs(b)))


# Instructions of programs that are not rows of the table.
_FUSED = {
    OPCODES["muladd"]: lambda x, y, z: x * y + z,
    OPCODES["mulsub"]: lambda x, y, z: x * y - z,
    OPCODES["submul"]: lambda x, y, z: z - x * y,
}


def at_50_digits(program: Program, numbers: Sequence[float]) -> list[mpmath.mpf]:
    """Compute the outputs of a program with mpmath's functions, without rounding.

    Raises mpmath's errors at poles, and `ValueError` if a result is not real.
    """
    results = [mpmath.mpf(x) for x in [*numbers, *program.constants]]
    for opcode, *places in program.instructions.reshape(-1, 4).tolist():
        assert opcode != CALL, "calls of user functions cannot run in mpmath"
        function, arity = (_FUSED[opcode], 3) if opcode in _FUSED else (MPMATH[NAMES[opcode]], ARITIES[opcode])
        results.append(function(*[results[place] for place in places[:arity]]))
        if not isinstance(results[-1], mpmath.mpf) or not mpmath.isfinite(results[-1]):
            raise ValueError(f"{NAMES[opcode] if opcode < CALL else 'a fused product'} gave {results[-1]}")
    return [results[place] for place in program.outputs]


def not_real() -> tuple[type[Exception], ...]:
    """Return the exceptions that mpmath raises if a result is not real or does not converge to 50 digits."""
    return (ValueError, ZeroDivisionError, OverflowError, TypeError, AttributeError, mpmath.libmp.NoConvergence)
