"""Optimizers and schedules against optax, eagerly, under jit and in a scan."""

from __future__ import annotations

import copy
import math
import pickle
import random

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import fewer
from references import jax, jnp, optax

from gradwalk import Value, grad, jit, loops, nn, optim, value_and_grad, vmap

STEPS = 12
NUMBERS = st.floats(-3.0, 3.0)


def schedule(library):
    return library.warmup_cosine_decay_schedule(0.01, 0.3, 3, 9, 0.05)


# Factories that take the library, optim or optax.
OPTIMIZERS = {
    "sgd": lambda o: o.sgd(0.1),
    "sgd, momentum": lambda o: o.sgd(0.1, momentum=0.8),
    "sgd, Nesterov": lambda o: o.sgd(0.1, momentum=0.8, nesterov=True),
    "sgd, schedule": lambda o: o.sgd(schedule(o), momentum=0.8),
    "adam": lambda o: o.adam(0.1, b1=0.8, b2=0.99),
    "adam, Nesterov": lambda o: o.adam(0.1, nesterov=True),
    "adam, eps_root, schedule": lambda o: o.adam(schedule(o), eps=1e-3, eps_root=1e-4),
    "adamw": lambda o: o.adamw(0.1, weight_decay=0.3),
    "adamw, mask, schedule": lambda o: o.adamw(schedule(o), weight_decay=0.3, mask={"b": False, "w": True}),
    "clip": lambda o: o.chain(o.clip(0.7), o.sgd(0.2)),
    "clip_by_global_norm": lambda o: o.chain(o.clip_by_global_norm(1.5), o.adam(0.2)),
    "trace, scale": lambda o: o.chain(o.identity(), o.trace(0.7), o.scale(-0.05)),
    "decay, schedule": lambda o: o.chain(
        o.add_decayed_weights(0.2, lambda params: {"b": True, "w": False}),
        o.scale_by_schedule(lambda n: -0.1 / (1 + n)),
    ),
}

SCHEDULES = {
    "constant": lambda o: o.constant_schedule(0.3),
    "linear": lambda o: o.linear_schedule(1.0, 0.2, 7, 2),
    "polynomial": lambda o: o.polynomial_schedule(init_value=1.0, end_value=0.2, power=2.5, transition_steps=6),
    "polynomial, none": lambda o: o.polynomial_schedule(1.0, 0.2, 2, 0),
    "exponential": lambda o: o.exponential_decay(1.0, 4, 0.7, transition_begin=2),
    "exponential, staircase": lambda o: o.exponential_decay(1.0, 4, 0.7, staircase=True, end_value=0.4),
    "exponential, growing": lambda o: o.exponential_decay(1.0, 4, 1.7, end_value=3.0),
    "exponential, still": lambda o: o.exponential_decay(1.0, 0, 0.7),
    "cosine": lambda o: o.cosine_decay_schedule(2.0, 9, alpha=0.1, exponent=1.5),
    "warmup": schedule,
    "piecewise": lambda o: o.piecewise_constant_schedule(1.0, {3: 0.5, 7: 0.1}),
    "joined": lambda o: o.join_schedules(
        [o.constant_schedule(0.5), o.linear_schedule(1.0, 0.0, 4), o.cosine_decay_schedule(1.0, 5)], [2, 8]
    ),
}


def loss(params):
    """Compute a nonlinear loss with parameters of different scales."""
    w, b = params["w"], params["b"]
    total = 0.1 * (b - 1.0) ** 4
    for i in range(3):
        total = total + 0.3 * (w[i] * (1.0 + 0.2 * b) - i) ** 2
    return total


def start():
    return {"w": numpy.array([0.3, -1.2, 2.0]), "b": 0.5}


def by_optax(optimizer, steps=STEPS):
    """Return the parameters after each step of optax."""
    params = jax.tree.map(jnp.asarray, start())
    state, path = optimizer.init(params), []
    for _ in range(steps):
        updates, state = optimizer.update(jax.grad(loss)(params), state, params)
        params = optax.apply_updates(params, updates)
        path.append([*numpy.asarray(params["w"]).tolist(), float(params["b"])])
    return numpy.array(path)


def precision(name):
    """Return the relative tolerance: optax computes schedules in float32 because its counts are int32."""
    return 1e-5 if "schedule" in name else 1e-11


def row(params):
    return [*(float(x) for x in params["w"]), float(params["b"])]


@pytest.mark.parametrize("name", OPTIMIZERS)
class TestAgainstOptax:
    def test_eager_steps(self, name):
        optimizer = OPTIMIZERS[name](optim)
        params, path = start(), []
        state = optimizer.init(params)
        for _ in range(STEPS):
            updates, state = optimizer.update(grad(loss)(params), state, params)
            params = optim.apply_updates(params, updates)
            path.append(row(params))
        numpy.testing.assert_allclose(path, by_optax(OPTIMIZERS[name](optax)), rtol=precision(name))

    def test_jitted_step(self, name):
        optimizer = OPTIMIZERS[name](optim)

        @jit
        def step(params, state):
            updates, state = optimizer.update(grad(loss)(params), state, params)
            return optim.apply_updates(params, updates), state

        params, path = start(), []
        state = optimizer.init(params)
        for _ in range(STEPS):
            params, state = step(params, state)
            path.append(row(params))
        assert step.statistics.recordings == 1
        numpy.testing.assert_allclose(path, by_optax(OPTIMIZERS[name](optax)), rtol=precision(name))

    def test_whole_training_as_a_scan(self, name):
        optimizer = OPTIMIZERS[name](optim)

        def step(carry, _):
            params, state = carry
            updates, state = optimizer.update(grad(loss)(params), state, params)
            params = optim.apply_updates(params, updates)
            return (params, state), params

        @jit
        def trained(params):
            return loops.scan(step, (params, optimizer.init(params)), None, length=STEPS)[1]

        path = trained(start())
        found = numpy.column_stack([path["w"], path["b"]])
        numpy.testing.assert_allclose(found, by_optax(OPTIMIZERS[name](optax)), rtol=precision(name))


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_against_optax(name):
    ours, theirs = SCHEDULES[name](optim), SCHEDULES[name](optax)
    recorded = jit(lambda count: 1.0 * ours(count))
    for count in range(15):
        expected = pytest.approx(float(theirs(jnp.float64(count))), rel=1e-12)
        assert ours(count) == expected
        assert recorded(count) == expected
        assert (ours(Value(float(count))) * Value(1.0)).data == expected


def steps_of(optimizer):
    params = start()
    state = optimizer.init(params)
    for _ in range(3):
        updates, state = optimizer.update(grad(loss)(params), state, params)
        params = optim.apply_updates(params, updates)
    return row(params)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("name", sorted(OPTIMIZERS.keys() - {"decay, schedule"}))  # lambdas cannot be pickled
def test_optimizers_can_be_pickled(name, copied):
    optimizer = OPTIMIZERS[name](optim)
    assert steps_of(copied(optimizer)) == steps_of(optimizer)
    assert steps_of(copied(optim.chain(optimizer, optim.identity()))) == steps_of(optimizer)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_can_be_pickled(name):
    ours = SCHEDULES[name](optim)
    copied = pickle.loads(pickle.dumps(ours))
    assert [copied(count) for count in range(15)] == [ours(count) for count in range(15)]


def test_user_functions_are_pickled_by_name():
    decayed = optim.chain(
        optim.add_decayed_weights(0.2, start_mask), optim.scale_by_schedule(falling), optim.scale(-1.0)
    )
    assert steps_of(pickle.loads(pickle.dumps(decayed))) == steps_of(decayed)
    learned = optim.adam(Value(0.1))
    assert pickle.loads(pickle.dumps(learned)).update(1.0, learned.init(1.0))[0].data == pytest.approx(-0.1)


def start_mask(params):
    return {"b": True, "w": False}


def falling(count):
    return 0.1 / (1 + count)


@fewer(2)
@given(st.lists(NUMBERS, min_size=1, max_size=5), st.floats(0.1, 5.0))
def test_clipping(gradients, most):
    params = [0.0] * len(gradients)
    clipped, state = optim.clip(most).update(gradients, optim.clip(most).init(params), params)
    assert state == ()
    assert clipped == [min(max(g, -most), most) for g in gradients]
    short, _ = optim.clip_by_global_norm(most).update(gradients, (), params)
    length = math.hypot(*gradients)
    assert optim.global_norm(gradients) == pytest.approx(length)
    expected = gradients if length < most else [g * most / length for g in gradients]
    assert short == pytest.approx(expected, rel=1e-12)


def test_training_turns_values_into_numbers():
    random.seed(1337)  # with other seeds all ReLUs can be inactive
    model = nn.MLP(2, [4, 1])
    data = [([0.5, -1.0], 1.0), ([-0.3, 0.8], -1.0)]

    def total(model):
        return sum((model(x) - y) ** 2 for x, y in data)

    optimizer = optim.adam(0.05)
    state = optimizer.init(model)
    first = float(total(model).data)
    for _ in range(60):
        gradients = grad(total)(model)
        updates, state = optimizer.update(gradients, state, model)
        model = optim.apply_updates(model, updates)
    assert isinstance(model, nn.MLP)
    assert all(isinstance(p, nn.Number) for p in model.parameters())
    assert total(model) < 0.05 * first


def test_jitted_training_step_of_a_network():
    optimizer = optim.adamw(optim.linear_schedule(0.1, 0.01, 50), weight_decay=1e-3)

    @jit
    def step(model, state, x, y):
        value, gradients = value_and_grad(lambda model: (model(x) - y) ** 2)(model)
        updates, state = optimizer.update(gradients, state, model)
        return value, optim.apply_updates(model, updates), state

    random.seed(1)
    model = nn.MLP(2, [4, 1])
    state = optimizer.init(model)
    losses = []
    for _ in range(100):
        value, model, state = step(model, state, [0.5, -1.0], 0.7)
        losses.append(value)
    assert losses[-1] < 1e-4 * losses[0]
    assert step.statistics.recordings <= 2  # the first call has Values, later calls have numbers


def test_zero_gradients_give_no_warnings_under_jit():
    # Their root mean square is sqrt(0), whose derivative is infinite.
    optimizer = optim.adam(0.1)

    def step(params, state):
        updates, state = optimizer.update(grad(lambda params: params[0] ** 2)(params), state, params)
        return optim.apply_updates(params, updates), state

    params = numpy.array([1.0, 2.0])
    (found, _), (expected, _) = jit(step)(params, optimizer.init(params)), step(params, optimizer.init(params))
    assert found.tolist() == expected.tolist()
    assert found[1] == 2.0


def test_derivatives_through_training():
    def after(rate):
        def step(carry, _):
            x, state = carry
            optimizer = optim.sgd(rate, momentum=0.5)
            updates, state = optimizer.update(grad(lambda x: (x - 2.0) ** 2 + 0.1 * x**4)(x), state)
            return (optim.apply_updates(x, updates), state), None

        (x, _), _ = loops.scan(step, (1.0, optim.sgd(0.1, momentum=0.5).init(1.0)), None, length=8)
        return (x - 2.0) ** 2

    h = 1e-6
    expected = (after(0.05 + h) - after(0.05 - h)) / (2 * h)
    assert grad(after)(0.05) == pytest.approx(expected, rel=1e-6)
    assert jit(grad(after))(0.05) == pytest.approx(expected, rel=1e-6)
    assert vmap(grad(after))(numpy.array([0.05, 0.02]))[0] == pytest.approx(expected, rel=1e-6)


def test_momentum_is_sgd_with_momentum():
    for name in ("init", "update"):
        assert callable(getattr(optim.momentum(0.1), name))
    a, b = optim.momentum(0.1, 0.8), optim.sgd(0.1, momentum=0.8)
    assert a.update(2.0, a.init(1.0)) == b.update(2.0, b.init(1.0))


class TestErrors:
    def test_trees_of_different_structure(self):
        with pytest.raises(ValueError, match="trees must have the same structure, got"):
            optim.apply_updates([1.0, 2.0], [1.0])
        optimizer = optim.adam(0.1)
        with pytest.raises(ValueError, match="must have the same structure"):
            optimizer.update([1.0, 2.0], optimizer.init([1.0]))

    def test_weight_decay_without_parameters(self):
        optimizer = optim.adamw(0.1)
        with pytest.raises(ValueError, match=r"call update\(gradients, state, params\)"):
            optimizer.update(1.0, optimizer.init(1.0))

    def test_state_of_another_optimizer(self):
        with pytest.raises(ValueError, match="optimizer state must have 2 entries, got 1"):
            optim.sgd(0.1).update(1.0, (optim.identity().init(1.0),))

    def test_schedules(self):
        with pytest.raises(ValueError, match="decay_steps must be positive, got 0"):
            optim.cosine_decay_schedule(1.0, 0)
        with pytest.raises(ValueError, match="2 schedules need 1 boundaries, got 0"):
            optim.join_schedules([optim.constant_schedule(1.0)] * 2, [])
        with pytest.raises(ValueError, match=r"got -0.5 at step 3"):
            optim.piecewise_constant_schedule(1.0, {3: -0.5})
