"""Names of JAX that gradwalk does not have, with a replacement or a reason, for the texts of errors."""

from __future__ import annotations

_NUMPY = "use NumPy, or the functions of `gradwalk.numpy`"
_ONE_DEVICE = "gradwalk runs on the CPU only; `gradwalk.threads(n)` sets the number of threads"
_AT_ONCE = "results are NumPy arrays and floats, which are ready when a function returns"
_COLLECTIVE = 'a sample cannot use other samples: use `vmap(f, reduce="sum")` or another reduction of `gradwalk.vmap`'

# Names of `jax`.
PACKAGE = {
    "Array": "arrays are `numpy.ndarray`, and traced numbers are `gradwalk.Value`",
    "Device": _ONE_DEVICE,
    "block_until_ready": _AT_ONCE,
    "checkpoint_policies": "`gradwalk.checkpoint` stores only the arguments and the results",
    "checking_leaks": "a Value that is used after its recording has ended always raises RecordingError",
    "closure_convert": "pass the captured Values as arguments of the function",
    "custom_batching": "`gradwalk.vmap` runs any recorded function; a `gradwalk.primitive` is called for each sample",
    "custom_derivatives": "use `gradwalk.custom_jvp` or `gradwalk.custom_vjp`",
    "custom_gradient": "use `gradwalk.custom_vjp`",
    "debug_infs": "use `gradwalk.debug_nans`, which also raises an error for inf",
    "default_backend": _ONE_DEVICE,
    "default_device": _ONE_DEVICE,
    "device_count": _ONE_DEVICE,
    "device_get": _AT_ONCE,
    "device_put": "arguments are NumPy arrays and floats in the memory of the CPU; there are no other devices",
    "devices": _ONE_DEVICE,
    "distributed": "send `vmap(f).lower(*args)` to the workers of a cluster: see the guide 'Batches'",
    "enable_x64": "computations are in float64, or in float32 for batches of float32 arrays",
    "ensure_compile_time_eval": "numbers that do not depend on the arguments are always computed while recording",
    "ffi": "use `gradwalk.primitive` or `gradwalk.pure_callback`",
    "fwd_and_bwd": "use `gradwalk.vjp`",
    "image": _NUMPY,
    "jax2tf_associative_scan_reductions": "there is no conversion to TensorFlow",
    "linear_transpose": "use `gradwalk.vjp(f, *zeros)[1]`",
    "live_arrays": _AT_ONCE,
    "local_device_count": _ONE_DEVICE,
    "local_devices": _ONE_DEVICE,
    "log_compiles": "`jit(f).statistics` counts the recordings",
    "make_jaxpr": "use `print(jit(f).lower(*args).as_text())`",
    "make_mesh": _ONE_DEVICE,
    "named_call": "use `gradwalk.named_scope`",
    "pmap": f"use `gradwalk.vmap`: {_ONE_DEVICE}",
    "profiler": "use cProfile; `jit(f).statistics` and `vmap(f).kernel` describe what runs",
    "random": "draw random numbers with `numpy.random.default_rng(seed)` and pass them as arguments: see the guide "
    "'Random numbers'",
    "shard_map": f"use `gradwalk.vmap`: {_ONE_DEVICE}",
    "sharding": _ONE_DEVICE,
    "typeof": "use `gradwalk.eval_shape`",
}

# Names of `jax.lax`.
LAX = {
    "all_gather": _COLLECTIVE,
    "argmax": "use `numpy.argmax`, or `vmap(f, reduce='argmax')`",
    "argmin": "use `numpy.argmin`, or `vmap(f, reduce='argmin')`",
    "axis_index": "pass `numpy.arange(n)` as another batched argument",
    "concatenate": "use `numpy.concatenate`",
    "conv": _NUMPY,
    "convert_element_type": "all numbers are float64",
    "cumlogsumexp": "use `loops.associative_scan` with `gradwalk.math.logaddexp`",
    "cummax": "use `loops.associative_scan` with `gradwalk.math.maximum`",
    "cummin": "use `loops.associative_scan` with `gradwalk.math.minimum`",
    "cumprod": "use `numpy.cumprod`",
    "cumsum": "use `numpy.cumsum`",
    "custom_linear_solve": "use `gradwalk.numpy.linalg.solve`",
    "custom_root": "use `gradwalk.solvers.custom_root`",
    "dot": "use the operator `@`",
    "dot_general": "use the operator `@`, or `numpy.einsum`",
    "dynamic_update_slice": "assign to a slice of a copy: `y = x.copy(); y[i:j] = ...`",
    "erf_inv": "use `gradwalk.math.erfinv`",
    "full": "use `numpy.full`",
    "iota": "use `numpy.arange`",
    "pmax": _COLLECTIVE,
    "pmean": _COLLECTIVE,
    "pmin": _COLLECTIVE,
    "ppermute": _COLLECTIVE,
    "psum": _COLLECTIVE,
    "reduce": "use `loops.scan`, `numpy.sum` or another reduction of NumPy",
    "reshape": "use `numpy.reshape`",
    "round": "use `gradwalk.math.rint`, which rounds half to even",
    "select_n": "use `gradwalk.lax.select`, or `loops.switch`",
    "sort": "use `gradwalk.numpy.sort`",
    "top_k": "use `gradwalk.numpy.sort` and a slice",
    "transpose": "use `numpy.transpose`",
}

# Names of `jax.debug`.
DEBUG = {
    "breakpoint": "call f under `gradwalk.disable_jit()` and use Python's `breakpoint()`",
    "inspect_array_sharding": _ONE_DEVICE,
    "log": "use `gradwalk.debug.callback(logging.info, ...)`",
    "visualize_array_sharding": _ONE_DEVICE,
    "visualize_sharding": _ONE_DEVICE,
}

# Names of `jax.nn`.
NN = {
    "dot_product_attention": "write it with @ and `gradwalk.nn.softmax`: see the guide 'microgpt'",
    "initializers": "draw weights with `numpy.random.default_rng(seed)`",
    "identity": "use `lambda x: x`",
}


def missing(module: str, name: str, advice: dict[str, str]) -> AttributeError:
    """Return the error for an attribute that a module lacks, with advice for a name of JAX."""
    known = advice.get(name, "").replace("`", "")
    return AttributeError(f"module {module!r} has no attribute {name!r}{f': {known}' if known else ''}")
