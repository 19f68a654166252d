"""`MLPRegressor` and `MLPClassifier`: networks of `gradwalk.nn` as scikit-learn estimators.

Only this module imports scikit-learn. Parameters have the same names as in scikit-learn's own networks.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from gradwalk import math, optim
from gradwalk.batching.vmap import vmap
from gradwalk.nn import MLP
from gradwalk.transforms.grad import value_and_grad
from gradwalk.transforms.jit.jit import jit
from gradwalk.trees.tree import flatten
from gradwalk.value.value import Value

Array = NDArray[Any]

_ACTIVATIONS = {"relu": Value.relu, "tanh": Value.tanh, "logistic": Value.sigmoid}


def _is_count(given: Any) -> bool:
    """Return whether an object is a positive integer, which may be a NumPy integer."""
    return isinstance(given, Integral) and not isinstance(given, bool) and int(given) > 0


def _is_finite(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool) and bool(numpy.isfinite(float(given)))


def _layers(sizes: Any) -> Any:
    """Return the sizes of the hidden layers as a sequence; an int is the size of a single layer."""
    return (sizes,) if isinstance(sizes, Integral) else sizes


# Maps each parameter to a function that validates it and a description of the valid values.
_PARAMETERS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "hidden_layer_sizes": (
        lambda x: isinstance(_layers(x), (Sequence, numpy.ndarray)) and all(map(_is_count, _layers(x))),
        "a positive int, or a sequence of positive ints, such as (16, 16)",
    ),
    "activation": (
        lambda x: isinstance(x, str) and x in _ACTIVATIONS,
        f"one of {', '.join(map(repr, _ACTIVATIONS))}",
    ),
    "alpha": (lambda x: _is_finite(x) and x >= 0, "a nonnegative number"),
    "batch_size": (lambda x: _is_count(x) or (isinstance(x, str) and x == "auto"), 'a positive int, or "auto"'),
    "learning_rate_init": (lambda x: _is_finite(x) and x > 0, "a positive number"),
    "max_iter": (_is_count, "a positive int"),
}


class _Network(BaseEstimator):  # type: ignore[misc]  # scikit-learn is Any
    """A multilayer perceptron that is trained by Adam with weight decay."""

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (16,),
        *,
        activation: str = "relu",
        alpha: float = 1e-4,
        batch_size: int | str = "auto",
        learning_rate_init: float = 0.01,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _train(self, X: Array, targets: Array, outputs: int, loss: Callable[[Any, Any], Any]) -> None:  # noqa: N803  scikit-learn's name
        """Train a network on samples.

        Args:
            X: The samples, one per row.
            targets: The target of each sample.
            outputs: Number of outputs of the network.
            loss: A function that takes the network's output for a sample and the sample's target, and returns the loss.
        """
        self._check_parameters()
        generator = check_random_state(self.random_state)
        sizes = [X.shape[1], *_layers(self.hidden_layer_sizes), outputs]
        self.model_ = _network(sizes, _ACTIVATIONS[self.activation])
        answers = _answers(self.model_)
        error = value_and_grad(lambda weights, x, target: loss(answers(weights, x), target))
        step = jit(vmap(error, in_axes=(None, 0, 0), reduce="mean"))
        optimizer = optim.adamw(self.learning_rate_init, weight_decay=self.alpha)
        weights = _drawn(sizes, generator)
        state = optimizer.init(weights)
        batch_size: Any = min(200, len(X)) if self.batch_size == "auto" else self.batch_size
        self.loss_curve_ = []
        for _ in range(self.max_iter):
            order = generator.permutation(len(X))
            total = 0.0
            for start in range(0, len(X), batch_size):
                batch = order[start : start + batch_size]
                value, gradient = step(weights, X[batch], targets[batch])
                updates, state = optimizer.update(gradient, state, weights)
                weights = optim.apply_updates(weights, updates)
                total += value * len(batch)
            self.loss_curve_.append(total / len(X))
        for parameter, weight in zip(self.model_.parameters(), weights.tolist(), strict=True):
            parameter.data = weight
        self.n_iter_ = self.max_iter

    def _check_parameters(self) -> None:
        """Raise `ValueError` if a parameter is invalid; as in scikit-learn, `fit` calls this method."""
        for name, (is_right, expected) in _PARAMETERS.items():
            given = getattr(self, name)
            if not is_right(given):
                raise ValueError(f"{name} must be {expected}, got {given!r}")

    def _outputs(self, X: ArrayLike) -> Array:  # noqa: N803  scikit-learn's name
        """Return the outputs of the network, one row per sample."""
        check_is_fitted(self)
        samples = validate_data(self, X, reset=False, dtype=numpy.float64)
        weights = numpy.array([parameter.data for parameter in self.model_.parameters()])
        return vmap(_answers(self.model_), in_axes=(None, 0))(weights, samples)  # type: ignore[no-any-return]


class MLPRegressor(RegressorMixin, _Network):  # type: ignore[misc]  # scikit-learn is Any
    """A network of `gradwalk.nn` for regression, as a scikit-learn estimator.

    Training minimizes half the squared error, averaged over the samples, by Adam with weight decay. The samples of a
    minibatch are computed together, on SIMD lanes. As for scikit-learn's networks, samples and targets should be scaled
    before training, for example with a `StandardScaler`.

    Args:
        hidden_layer_sizes: Number of neurons in each hidden layer: a sequence of ints, or an int for a single hidden
            layer.
        activation: Activation of the hidden layers: "relu", "tanh" or "logistic".
        alpha: Weight decay coefficient.
        batch_size: Number of samples in a minibatch. "auto" is 200, or the number of all samples if there are fewer.
        learning_rate_init: Learning rate of Adam.
        max_iter: Number of passes over all samples.
        random_state: Seed, or a `numpy.random.RandomState`, for the initial weights and the order of the samples.

    Attributes:
        model_: The trained network, an `nn.MLP` that can be drawn, walked through and differentiated.
        loss_curve_: A list with the mean loss of each pass over the samples.

    Example:
        >>> X = numpy.linspace(-1.0, 1.0, 100).reshape(-1, 1)
        >>> estimator = MLPRegressor([2], activation="tanh", max_iter=1000, random_state=0).fit(X, X[:, 0] ** 2)
        >>> estimator.score(X, X[:, 0] ** 2) > 0.9, estimator.model_
        (True, MLP of [Layer of [TanhNeuron(1), TanhNeuron(1)], Layer of [LinearNeuron(2)]])
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803  scikit-learn's name
        """Train the network.

        Args:
            X: The samples, one per row.
            y: The targets: a number or a row of numbers per sample.

        Raises:
            ValueError: A parameter, the samples or the targets are invalid.
        """
        samples, targets = validate_data(self, X, y, multi_output=True, y_numeric=True, dtype=numpy.float64)
        self._is_flat = targets.ndim == 1
        rows = numpy.asarray(targets, numpy.float64).reshape(len(samples), -1)
        self._train(samples, rows, rows.shape[1], lambda answers, target: ((answers - target) ** 2).sum() / 2)
        return self

    def predict(self, X: ArrayLike) -> Array:  # noqa: N803  scikit-learn's name
        """Return a prediction for each sample: a number, or a row of numbers if the targets were rows.

        Args:
            X: The samples, one per row.
        """
        outputs = self._outputs(X)
        return outputs[:, 0] if self._is_flat else outputs


class MLPClassifier(ClassifierMixin, _Network):  # type: ignore[misc]  # scikit-learn is Any
    """A network of `gradwalk.nn` for classification, as a scikit-learn estimator.

    Training minimizes the mean cross-entropy. The training, the parameters and the other attributes are described at
    `MLPRegressor`.

    Attributes:
        classes_: The classes, in the order of the network's outputs.

    Example:
        >>> X = numpy.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> MLPClassifier(activation="tanh", random_state=0).fit(X, ["same", "not", "not", "same"]).predict(X).tolist()
        ['same', 'not', 'not', 'same']
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803  scikit-learn's name
        """Train the network.

        Args:
            X: The samples, one per row.
            y: The class of each sample.

        Raises:
            ValueError: A parameter, the samples or the classes are invalid.
        """
        samples, labels = validate_data(self, X, y, dtype=numpy.float64)
        check_classification_targets(labels)
        self.classes_, indices = numpy.unique(labels, return_inverse=True)
        is_class = numpy.eye(len(self.classes_))[indices]
        self._train(
            samples, is_class, len(self.classes_), lambda answers, target: math.logsumexp(answers) - answers @ target
        )
        return self

    def predict_proba(self, X: ArrayLike) -> Array:  # noqa: N803  scikit-learn's name
        """Return the probabilities of the classes, one row per sample.

        Args:
            X: The samples, one per row.
        """
        probabilities: Array = math.softmax(self._outputs(X), axis=1)
        return probabilities

    def predict(self, X: ArrayLike) -> Array:  # noqa: N803  scikit-learn's name
        """Return the most likely class of each sample.

        Args:
            X: The samples, one per row.
        """
        outputs = self._outputs(X)
        return self.classes_[outputs.argmax(axis=1)]  # type: ignore[no-any-return]


def _network(sizes: Sequence[int], activation: Callable[[Value], Value]) -> MLP:
    """Create a network with arbitrary weights; restore the state of Python's random number generator afterwards."""
    state = random.getstate()
    network = MLP(sizes[0], sizes[1:], activation)
    random.setstate(state)
    return network


def _answers(network: MLP) -> Callable[[Any, Any], Any]:
    """Return a function that takes all weights and a sample, and returns the network's outputs as an array."""
    treedef = flatten(network, "the network")[1]

    def answers(weights: Any, x: Any) -> Any:
        found = treedef.filled(list(weights))(x)
        return numpy.array(found if isinstance(found, list) else [found])

    return answers


def _drawn(sizes: Sequence[int], generator: Any) -> Array:
    """Draw initial weights as in Glorot and Bengio (2010); each neuron's weights are followed by its bias, 0."""
    layers = []
    for count, outputs in itertools.pairwise(sizes):
        bound = numpy.sqrt(6 / (count + outputs))
        weights = generator.uniform(-bound, bound, (outputs, count))
        layers.append(numpy.hstack([weights, numpy.zeros((outputs, 1))]).ravel())
    return numpy.concatenate(layers)
