"""Scalar reverse-mode automatic differentiation with micrograd's interface, at machine speed.

>>> from gradwalk import Value
>>> a, b = Value(2.0), Value(-3.0)
>>> loss = (a * b + 10.0).tanh()
>>> loss.backward()
>>> round(a.grad, 6)  # d loss / d a
-0.004023
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.2.0"

# Maps each module to its public names. A name is imported at its first use, as in Scientific Python's SPEC 1, because
# most programs need only a few names.
_NAMES = {
    "gradwalk": (
        "cmath",
        "debug",
        "interop",
        "lax",
        "loops",
        "math",
        "nn",
        "numpy",
        "optim",
        "scipy",
        "solvers",
        "stats",
        "tree",
        "tree_util",
    ),
    "gradwalk.adopting.adopt": ("adopt",),
    "gradwalk.backend.about": ("about",),
    "gradwalk.backend.scipy_callable": ("low_level_callable", "low_level_filter"),
    "gradwalk.backend.thread_pool": ("threads",),
    "gradwalk.batching.files.batch_program": ("BatchProgram",),
    "gradwalk.batching.files.load": ("load",),
    "gradwalk.batching.stream": ("stream",),
    "gradwalk.batching.vectorize": ("vectorize",),
    "gradwalk.batching.vmap": ("vmap",),
    "gradwalk.cli.micrograd": ("as_micrograd",),
    "gradwalk.complex_numbers.complex_class": ("Complex",),
    "gradwalk.explain.check.check": ("check", "gradcheck"),
    "gradwalk.explain.draw.draw": ("draw", "draw_dot", "trace"),
    "gradwalk.explain.walk": ("Walk", "walk"),
    "gradwalk.exporting.export": ("export",),
    "gradwalk.functions.indexing": ("interp", "one_hot", "pchip", "searchsorted", "take"),
    "gradwalk.graph.graph": ("Graph",),
    "gradwalk.graph.opening": ("opened",),
    "gradwalk.program.program": ("Program", "ProgramError"),
    "gradwalk.program.tracing.trace_cache": ("RecordingWarning",),
    "gradwalk.transforms.caches": ("clear_caches",),
    "gradwalk.transforms.checkpoint": ("checkpoint", "remat"),
    "gradwalk.transforms.custom_derivatives": ("primitive", "stop_gradient"),
    "gradwalk.transforms.eval_shape": ("eval_shape", "pure_callback"),
    "gradwalk.transforms.grad": ("grad", "value_and_grad"),
    "gradwalk.transforms.jacobian": ("hessian", "jacfwd", "jacobian", "jacrev"),
    "gradwalk.transforms.jit.jit": ("jit",),
    "gradwalk.transforms.jvp": ("hvp", "jvp", "linearize", "vjp"),
    "gradwalk.transforms.rules.custom_rules": ("custom_jvp", "custom_vjp"),
    "gradwalk.transforms.sparse.sparse": ("sparse_hessian", "sparse_jacobian"),
    "gradwalk.transforms.zero_derivatives": ("ZeroDerivativeWarning",),
    "gradwalk.trees.numbers": ("grads", "values"),
    "gradwalk.trees.structs": ("ShapeDtypeStruct",),
    "gradwalk.value.modes": ("RecordingError", "debug_nans", "no_grad", "source_lines"),
    "gradwalk.value.scopes": ("label", "named_scope"),
    "gradwalk.value.sweep.backward": ("zero_grad",),
    "gradwalk.value.sweep.order": ("topological_order",),
    "gradwalk.value.sweep.refresh": ("refresh",),
    "gradwalk.value.value": ("Value",),
    "gradwalk.value.without_jit": ("disable_jit",),
}

_HOMES = {name: module for module, names in _NAMES.items() for name in names}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Import a public name at its first use, and store it in the package."""
    if name not in _HOMES:
        jax_names = import_module("gradwalk.base.jax_names")
        raise jax_names.missing(__name__, name, jax_names.PACKAGE)
    home = _HOMES[name]
    found = import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return all names of the package, including public names that have not been imported yet."""
    return sorted({*globals(), *__all__})


def _operate_on_complex(name: str, *operands: object) -> object:
    """Apply an operation to operands with a complex number. The module is imported when it is needed first."""
    return import_module("gradwalk.complex_numbers.complex_class").operate(name, *operands)


def _draw_in_notebook(value: object) -> object:
    """Return the HTML of a Value for notebooks. The module is imported when it is needed first."""
    return import_module("gradwalk.explain.page.value_html").value_html(value)


__getattr__("Value")  # imported at once, because every program needs it
import_module("gradwalk.value.apply").register_complex(_operate_on_complex)
import_module("gradwalk.value.value").register_picture(_draw_in_notebook)
