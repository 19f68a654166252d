"""Names of JAX beside gradwalk's: the data of docs/coming-from/jax-names.md, which tests/test_jax_names.py checks.

A sample is an expression of a number x. It is evaluated with the names `lib`, `lax`, `nn`, `tree`, `tree_util` and
`debug` of each library, `math` (`jax.numpy` or `gradwalk.math`), `np` (`jax.numpy` or NumPy), and `f`, a function of
a number. The test compares the value and two derivatives with respect to x.
"""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.base import jax_names


class Entry(NamedTuple):
    """A name that both libraries have.

    Attributes:
        sample: An expression of x.
        but: The difference, or "" if the meaning and the parameters are the same.
        derivatives: Whether to compare derivatives, too.
    """

    sample: str
    but: str = ""
    derivatives: bool = True


_SCALED = "no `allow_int`, `reduce_axes`"
_TREE = "{'a': x, 'b': [x * x, 2.0 * x]}"
_PATHS = "no `is_leaf_takes_path`; dataclasses and Modules are containers, too"
_TREES = "dataclasses and Modules are containers, too"
_KEYS = f"tree_util.keystr([key for path, _ in tree.leaves_with_path({_TREE}) for key in path])"

PACKAGE = {
    "ShapeDtypeStruct": Entry("lib.ShapeDtypeStruct((2, 3), float).size * x", "no sharding; the dtype is optional"),
    "checkpoint": Entry("lib.checkpoint(f)(x)", "no policies: only arguments and results are stored"),
    "clear_caches": Entry("lib.clear_caches() or x", "", derivatives=False),
    "custom_jvp": Entry(
        "ruled(lib.custom_jvp(f))(x)",
        "no `symbolic_zeros`; the rule must not branch; the result that it returns is not used",
    ),
    "custom_vjp": Entry(
        "ruled_in_reverse(lib.custom_vjp(f))(x)",
        "no `symbolic_zeros`; the rules must not branch; forward mode works if `bwd` is linear",
    ),
    "debug": Entry("debug.print('{}', x) or x"),
    "debug_nans": Entry("x", "`with gradwalk.debug_nans():`, without an argument; inf is refused, too"),
    "disable_jit": Entry("lib.disable_jit()(lib.jit(f))(x)", "`vmap` still records"),
    "export": Entry(
        "x", "a function that writes a library in C; `jit(f).program.save(path)` and `load(path)` write and read files"
    ),
    "eval_shape": Entry("lib.eval_shape(f, 1.0).ndim * x", "the dtype is always float64"),
    "grad": Entry("lib.grad(f)(x)", _SCALED),
    "hessian": Entry("lib.hessian(f)(x)", _SCALED),
    "jacfwd": Entry("lib.jacfwd(f)(x)", _SCALED),
    "jacobian": Entry("lib.jacobian(f)(x)", f"chooses the cheaper mode; {_SCALED}"),
    "jacrev": Entry("lib.jacrev(f)(x)", _SCALED),
    "jit": Entry(
        "lib.jit(f, donate_argnums=0)(x)",
        "Python's `if` and `while` are allowed; `donate_argnums` has no effect; no shardings and devices",
    ),
    "jvp": Entry("lib.jvp(f, (x,), (2.0,))[1]"),
    "lax": Entry("lax.square(x)", "see [below](#jaxlax)"),
    "linearize": Entry("lib.linearize(f, x)[1](2.0)"),
    "named_scope": Entry("with_scope(lib.named_scope('part'), f)(x)", "names the part of a graph"),
    "nn": Entry("nn.silu(x)", "see [below](#jaxnn); it has micrograd's networks, too"),
    "numpy": Entry("np.sum(np.stack([x, x]))", "see the guide [NumPy](../guides/numpy.md)", derivatives=False),
    "pure_callback": Entry(
        "lib.pure_callback(lambda y: 3.0 * y, lib.ShapeDtypeStruct((), float), 2.0) * x",
        "samples of a batch are computed one by one",
    ),
    "remat": Entry("lib.remat(f)(x)", "as `checkpoint`"),
    "scipy": Entry(
        "lib.scipy.special.expit(x)", "`linalg`, `special` and `stats`: see [the reference](../reference/scipy.md)"
    ),
    "tree": Entry(f"tree.reduce(lambda x, y: x + y, {_TREE})", "see [below](#jaxtree)"),
    "tree_util": Entry(f"tree_util.tree_leaves({_TREE})[1]", "see [below](#jaxtree_util)"),
    "value_and_grad": Entry("sum(lib.value_and_grad(f)(x))", _SCALED),
    "vjp": Entry("lib.vjp(f, x)[1](2.0)[0]", "no `reduce_axes`"),
    "vmap": Entry(
        "lib.vmap(lambda i, x: f(x) * i, (0, None))(NUMBERS, x)[1]",
        'no `axis_name`; `reduce="sum"` and other reductions are computed without storing all results',
    ),
}

_NEGATIVE = "no `allow_negative_indices`: negative indices count from the end"
_ELEMENTWISE = (
    "abs acos add asin asinh atan atan2 atanh cbrt ceil clamp cos cosh digamma div eq erf erfc exp exp2 expm1"
)
_ELEMENTWISE += " floor ge gt integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg pow reciprocal"
_ELEMENTWISE += " rem rsqrt select sign sin sinh sqrt square sub tan tanh acosh"
_SAMPLES = {
    "acosh": "lax.acosh(x + 1.5)",
    "clamp": "lax.clamp(0.0, x, 1.0)",
    "integer_pow": "lax.integer_pow(x, 3)",
    "is_finite": "lax.is_finite(x) * x",
    "select": "lax.select(lax.gt(x, 0.1), x * x, x)",
}
_BINARY = {"add", "atan2", "div", "max", "min", "mul", "pow", "rem", "sub"}
_COMPARISONS = {"eq", "ge", "gt", "le", "lt", "ne"}


def _elementwise(name: str) -> Entry:
    if name in _COMPARISONS:
        return Entry(f"lax.{name}(x, 0.3) * x", "returns 1.0 or 0.0")
    sample = f"lax.{name}(x, 0.3)" if name in _BINARY else f"lax.{name}(x)"
    return Entry(_SAMPLES.get(name, sample))


LAX = {name: _elementwise(name) for name in _ELEMENTWISE.split()} | {
    "associative_scan": Entry("lax.associative_scan(lambda a, b: a * b, np.stack([x, x, 2.0 * x]))[2]"),
    "cond": Entry("lax.cond(lax.gt(x, 0.1), f, lambda x: x, x)", "no `operand`"),
    "dynamic_index_in_dim": Entry("lax.dynamic_index_in_dim(np.stack([x, 2.0 * x]), 1)[0]", _NEGATIVE),
    "dynamic_slice": Entry("lax.dynamic_slice(np.stack([x, 2.0 * x]), (1,), (1,))[0]", _NEGATIVE),
    "dynamic_slice_in_dim": Entry("lax.dynamic_slice_in_dim(np.stack([x, 2.0 * x]), 1, 1)[0]", _NEGATIVE),
    "fori_loop": Entry("lax.fori_loop(0, 3, lambda i, c: f(c) + i, x)", "reverse mode works with traced bounds"),
    "map": Entry("lax.map(f, np.stack([x, 2.0 * x]))[1]", "`batch_size` has no effect"),
    "scan": Entry(
        "lax.scan(lambda c, y: (f(c) * y, c), x, NUMBERS)[0]",
        "`unroll` has an effect only if all steps are unrolled; `checkpoint` sets how many carries are stored",
    ),
    "stop_gradient": Entry("lax.stop_gradient(x) * x"),
    "switch": Entry("lax.switch(1, [f, lambda x: x * x], x)", "no `operand`"),
    "while_loop": Entry(
        "lax.while_loop(lambda c: c < 3.0, lambda c: 2.0 * c, x)", "reverse mode works", derivatives=False
    ),
}

_PLAIN = "celu elu hard_sigmoid hard_silu hard_swish hard_tanh leaky_relu log_sigmoid mish relu relu6 selu sigmoid silu"
_PLAIN += " soft_sign softplus sparse_plus sparse_sigmoid squareplus swish tanh"
_ROW = "np.stack([x, 2.0 * x, x * x, 1.0])"
NN = {name: Entry(f"nn.{name}(x)") for name in _PLAIN.split()} | {
    "gelu": Entry("nn.gelu(x)", "`gradwalk.math.gelu` is the exact function"),
    "glu": Entry(f"nn.glu({_ROW})[1]"),
    "log1mexp": Entry(
        "nn.log1mexp(SIGN * x)", "JAX's function is log(1 - exp(-x)), and gradwalk's is log(1 - exp(x)) for x < 0"
    ),
    "log_softmax": Entry(f"nn.log_softmax({_ROW})[1]", "no `where`"),
    "logmeanexp": Entry(f"nn.logmeanexp({_ROW})", "no `where`"),
    "logsumexp": Entry(f"nn.logsumexp({_ROW})", "no `b`, `return_sign` and `where`"),
    "one_hot": Entry("nn.one_hot(1, 3)[1] * x", "no `dtype`"),
    "softmax": Entry(f"nn.softmax({_ROW})[1]", "no `where`"),
    "standardize": Entry(f"nn.standardize({_ROW})[1]", "no `mean`, `variance`, `where` and `algorithm`"),
}

TREE = {
    "all": Entry(f"tree.all({_TREE}) * x", _TREES, derivatives=False),
    "broadcast": Entry(f"tree.leaves(tree.broadcast(x, {_TREE}))[2]", _TREES),
    "flatten": Entry(f"tree.flatten({_TREE})[0][1]", _TREES),
    "flatten_with_path": Entry(f"tree.flatten_with_path({_TREE})[0][1][1]", _PATHS),
    "leaves": Entry(f"tree.leaves({_TREE})[1]", _TREES),
    "leaves_with_path": Entry(f"tree.leaves_with_path({_TREE})[1][1]", _PATHS),
    "map": Entry(f"tree.map(f, {_TREE})['b'][0]", _TREES),
    "map_with_path": Entry(f"tree.map_with_path(lambda path, x: len(path) * x, {_TREE})['b'][0]", _PATHS),
    "reduce": Entry(f"tree.reduce(lambda x, y: x * y, {_TREE})", _TREES),
    "structure": Entry(f"tree.structure({_TREE}).num_leaves * x", "an optree `PyTreeSpec`"),
    "transpose": Entry(f"tree.transpose(tree.structure([0, 0]), None, [{_TREE}, {_TREE}])['b'][0][1]", _TREES),
    "unflatten": Entry(f"tree.unflatten(tree.structure({_TREE}), [x, f(x), x])['b'][0]", _TREES),
}

TREE_UTIL = {
    f"tree_{name}": entry._replace(sample=f"tree_util.tree_{entry.sample[5:]}") for name, entry in TREE.items()
} | {
    "DictKey": Entry("len(str(tree_util.DictKey('a'))) * x"),
    "FlattenedIndexKey": Entry("len(str(tree_util.FlattenedIndexKey(1))) * x"),
    "GetAttrKey": Entry("len(str(tree_util.GetAttrKey('a'))) * x"),
    "KeyEntry": Entry("x", "a union of the four classes", derivatives=False),
    "KeyPath": Entry("x", "", derivatives=False),
    "Partial": Entry("tree_util.tree_leaves(tree_util.Partial(f, x))[0]"),
    "PyTreeDef": Entry("isinstance(tree.structure([0]), tree_util.PyTreeDef) * x", "optree's `PyTreeSpec`"),
    "SequenceKey": Entry("len(str(tree_util.SequenceKey(1))) * x"),
    "all_leaves": Entry("tree_util.all_leaves([1.0, 2.0]) * x"),
    "keystr": Entry(f"len({_KEYS}) * x"),
    "register_dataclass": Entry("tree.leaves(registered(tree_util.register_dataclass)(x))[0]"),
    "register_pytree_node": Entry("tree.leaves(registered_by_functions(tree_util)(x))[0]"),
    "register_pytree_node_class": Entry("tree.leaves(registered(tree_util.register_pytree_node_class)(x))[0]"),
    "register_pytree_with_keys": Entry("tree.leaves(registered_with_keys(tree_util)(x))[0]"),
    "register_pytree_with_keys_class": Entry(
        "tree.leaves(registered(tree_util.register_pytree_with_keys_class)(x))[0]"
    ),
    "register_static": Entry("(1 + len(tree.leaves(registered(tree_util.register_static)(1.0)))) * x"),
    "treedef_children": Entry("len(tree_util.treedef_children(tree.structure([1.0, 2.0]))) * x"),
    "treedef_is_leaf": Entry("tree_util.treedef_is_leaf(tree.structure(1.0)) * x"),
    "treedef_tuple": Entry("tree_util.treedef_tuple([tree.structure(1.0)]).num_leaves * x"),
}

_ORDERED = "`ordered` has no effect; no `partitioned`"
DEBUG = {
    "callback": Entry("debug.callback(lambda y: None, x) or x", _ORDERED),
    "print": Entry("debug.print('{}', x) or x", f"{_ORDERED} and `skip_format_check`"),
}

_DEVICES = "gradwalk runs on the cores of the CPU; `gradwalk.threads` sets how many"
_INSIDE = "a part of the machinery of JAX"
_SETTINGS = "a setting of JAX"
_ARRAYS = "use NumPy, or the functions of [gradwalk.numpy](../guides/numpy.md)"

# Names that gradwalk does not have and that no error of gradwalk mentions: a reason and the names.
NOT_IN_PACKAGE = {
    _DEVICES: "NamedSharding P Shard copy_to_host_async host_count host_id host_ids make_array_from_callback "
    "make_array_from_process_local_data make_array_from_single_device_arrays memory process_count process_index "
    "process_indices reshard set_mesh smap auto_pcast dlpack transfer_guard transfer_guard_device_to_device "
    "transfer_guard_device_to_host transfer_guard_host_to_device remove_size_one_mesh_axis_from_type",
    _INSIDE: "ad api_util core dtypes errors extend effects_barrier experimental float0 interpreters lib monitoring "
    "print_environment_info softmax_custom_jvp stages typing version make_user_context",
    _SETTINGS: "allow_f16_reductions array_garbage_collection_guard check_tracer_leaks config debug_key_reuse "
    "default_matmul_precision default_prng_impl enable_checks enable_custom_prng explain_cache_misses "
    "legacy_prng_key no_execution no_tracing numpy_dtype_promotion numpy_rank_promotion thread_guard "
    "threefry_partitionable",
    "use `numpy.add.at`, or `gradwalk.vmap` with `reduce`": "ops",
    "Python objects can be changed outside of recorded functions only": "Ref ds empty_ref free_ref freeze new_ref ref",
}
NOT_IN_LAX = {
    _ARRAYS: "approx_max_k approx_min_k batch_matmul broadcast broadcast_in_dim broadcast_like broadcast_shapes "
    "broadcast_to_rank broadcasted_iota collapse "
    "dynamic_update_index_in_dim dynamic_update_slice_in_dim empty expand_dims fft full_like gather index_in_dim "
    "index_take linalg pad reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_window "
    "reduce_window_shape_tuple reduce_xor rev scatter scatter_add scatter_apply scatter_max scatter_min scatter_mul "
    "scatter_sub shape_as_value slice slice_in_dim sort_key_val split squeeze stack tile unstack ragged_dot "
    "ragged_dot_general scaled_dot conv_dimension_numbers conv_general_dilated conv_general_dilated_local "
    "conv_general_dilated_patches conv_general_permutations conv_general_shape_tuple conv_shape_tuple "
    "conv_transpose conv_transpose_shape_tuple conv_with_general_padding padtype_to_pads",
    "a sample cannot use other samples: use a reduction of `gradwalk.vmap`": "all_to_all axis_size pbroadcast precv "
    "psend pshuffle psum_scatter pswapaxes ragged_all_to_all pcast",
    "all numbers are float64": "bitcast_convert_type bitwise_and bitwise_not bitwise_or bitwise_xor clz dtype mulhi "
    "population_count reduce_precision shift_left shift_right_arithmetic shift_right_logical",
    "use `gradwalk.Complex`, and `conj`, `imag` and `real` of `gradwalk.numpy`": "complex conj imag real",
    "use `gradwalk.scipy.special`, where `igamma` is `gammainc` and `bessel_i0e` is `i0e`": "bessel_i0e bessel_i1e "
    "betainc igamma igammac polygamma zeta",
    "without a replacement": "igamma_grad_a random_gamma_grad nextafter",
    "draw random numbers with NumPy": "rng_bit_generator rng_uniform RandomAlgorithm",
    _INSIDE: "AccuracyMode ConvDimensionNumbers ConvGeneralDilatedDimensionNumbers DotAlgorithm DotAlgorithmPreset "
    "DotDimensionNumbers FftType GatherDimensionNumbers GatherScatterMode Precision PrecisionLike "
    "RaggedDotDimensionNumbers RoundingMethod ScatterDimensionNumbers Tolerance after_all composite create_token "
    "dce_sink optimization_barrier platform_dependent stage with_sharding_constraint",
}
NOT_IN_NN = {_INSIDE: "get_scaled_dot_general_config scaled_dot_general scaled_matmul"}
NOT_IN_TREE = {"use `tree.reduce`": "reduce_associative", "use `tree_util.register_static`": "static"}
NOT_IN_TREE_UTIL = {
    _INSIDE: "default_registry flatten_one_level flatten_one_level_with_keys is_tree_node",
    "use `tree_util.tree_reduce`": "tree_reduce_associative",
}
NOT_IN_DEBUG = {_INSIDE: "DebugEffect OrderedDebugEffect"}


class Module(NamedTuple):
    """A module of JAX, and gradwalk's module with the same name.

    Attributes:
        entries: The names that both libraries have.
        advice: For each name that gradwalk lacks, the replacement that its errors mention.
        missing: Maps a reason to the names that gradwalk lacks for this reason.
    """

    entries: dict[str, Entry]
    advice: dict[str, str]
    missing: dict[str, str]


MODULES = {
    "jax": Module(PACKAGE, jax_names.PACKAGE, NOT_IN_PACKAGE),
    "jax.lax": Module(LAX, jax_names.LAX, NOT_IN_LAX),
    "jax.nn": Module(NN, jax_names.NN, NOT_IN_NN),
    "jax.tree": Module(TREE, {}, NOT_IN_TREE),
    "jax.tree_util": Module(TREE_UTIL, {}, NOT_IN_TREE_UTIL),
    "jax.debug": Module(DEBUG, jax_names.DEBUG, NOT_IN_DEBUG),
}
