"""MLPClassifier and MLPRegressor: scikit-learn's estimator checks, and training on small data sets."""

from __future__ import annotations

import pickle
import random

import numpy
import pytest

from gradwalk import grad
from gradwalk.nn import MLP

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gradwalk.interop import MLPClassifier, MLPRegressor

LINE = numpy.linspace(-1.0, 1.0, 60).reshape(-1, 1)


@parametrize_with_checks([MLPRegressor(max_iter=100), MLPClassifier(max_iter=100)])
def test_scikit_learn_estimator_checks(estimator, check):
    if check.func.__name__ == "check_array_api_input":
        return  # only for estimators that support the array API
    check(estimator)


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic"])
def test_regression(activation):
    estimator = MLPRegressor(activation=activation, max_iter=400, random_state=0).fit(LINE, LINE[:, 0] ** 2)
    assert estimator.score(LINE, LINE[:, 0] ** 2) > 0.95
    assert estimator.loss_curve_[-1] < estimator.loss_curve_[0] / 10


def test_regression_with_several_outputs():
    rows = numpy.hstack([LINE**2, -LINE])
    estimator = MLPRegressor([8, 8], max_iter=400, random_state=0).fit(LINE, rows)
    assert estimator.predict(LINE).shape == (60, 2)
    assert estimator.score(LINE, rows) > 0.95
    assert MLPRegressor(max_iter=1).fit(LINE, LINE**2).predict(LINE).shape == (60, 1)


def test_classification():
    samples, y = load_iris(return_X_y=True)
    names = numpy.array(["setosa", "versicolor", "virginica"])[y]
    model = make_pipeline(StandardScaler(), MLPClassifier(random_state=0))
    assert cross_val_score(model, samples, names, cv=3).mean() > 0.93
    probabilities = model.fit(samples, names).predict_proba(samples)
    numpy.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(samples)).all()


def test_grid_search():
    samples, y = make_moons(100, noise=0.1, random_state=0)
    search = GridSearchCV(MLPClassifier(max_iter=50, random_state=0), {"hidden_layer_sizes": [(2,), (16,)]}, cv=2)
    assert search.fit(samples, y).best_params_ == {"hidden_layer_sizes": (16,)}


def test_model_is_a_gradwalk_network():
    estimator = MLPRegressor([4], activation="tanh", random_state=0).fit(LINE, LINE[:, 0])
    assert isinstance(estimator.model_, MLP)
    assert repr(estimator.model_).startswith("MLP of [Layer of [TanhNeuron(1)")
    assert estimator.model_([0.5]).data == pytest.approx(estimator.predict([[0.5]])[0], rel=1e-12)
    slope = grad(lambda x: estimator.model_([x]))(0.0)
    assert slope.data == pytest.approx(1.0, abs=0.2)


def test_random_state_is_reproducible_and_isolated():
    before = numpy.random.get_state()[1].copy()
    found = [MLPRegressor(max_iter=5, random_state=3).fit(LINE, LINE[:, 0]).predict(LINE) for _ in range(2)]
    numpy.testing.assert_array_equal(*found)
    numpy.testing.assert_array_equal(before, numpy.random.get_state()[1])
    random.seed(0)
    expected = random.random()
    random.seed(0)
    MLPRegressor(max_iter=1).fit(LINE, LINE[:, 0])
    assert random.random() == expected


def test_estimators_can_be_pickled_and_cloned():
    estimator = MLPRegressor([3], activation="tanh", max_iter=20, random_state=0).fit(LINE, LINE[:, 0])
    copy = pickle.loads(pickle.dumps(estimator))
    numpy.testing.assert_array_equal(copy.predict(LINE), estimator.predict(LINE))
    assert clone(estimator).get_params() == estimator.get_params()


def test_unknown_activation_raises():
    with pytest.raises(ValueError, match="activation must be one of 'relu', 'tanh', 'logistic', got 'cube'"):
        MLPRegressor(activation="cube").fit(LINE, LINE[:, 0])


@pytest.mark.parametrize("estimator", [MLPRegressor, MLPClassifier])
@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("hidden_layer_sizes", [0, -2, [0], (4, 2.5), 2.0, "16", None, True], "must be a positive int, or a sequence"),
        ("alpha", [-1, "x", None, float("nan"), float("inf")], "must be a nonnegative number"),
        ("batch_size", [0, -3, 2.5, "all", None, [2]], 'must be a positive int, or "auto"'),
        ("learning_rate_init", [0, -1.0, "x", float("nan")], "must be a positive number"),
        ("max_iter", [0, -1, 2.0, None], "must be a positive int"),
        ("activation", ["cube", None, ["relu"]], "must be one of 'relu', 'tanh', 'logistic'"),
    ],
)
def test_fit_validates_parameters(estimator, name, values, expected):
    for value in values:
        with pytest.raises(ValueError, match=f"{name} {expected}"):
            estimator(**{name: value}).fit(LINE, LINE[:, 0] > 0)


def test_equivalent_parameters_as_in_scikit_learn():
    settings = {"max_iter": 3, "random_state": 0}
    expected = MLPRegressor((8,), batch_size=min(200, len(LINE)), **settings).fit(LINE, LINE[:, 0]).predict(LINE)
    for sizes in (8, numpy.int64(8), [8], numpy.array([8])):
        found = MLPRegressor(sizes, **settings).fit(LINE, LINE[:, 0]).predict(LINE)
        numpy.testing.assert_array_equal(found, expected)
