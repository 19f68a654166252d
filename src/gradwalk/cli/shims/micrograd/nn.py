"""micrograd.nn, implemented by gradwalk. Neurons use plain `*` and `+`, so drawings of them look like micrograd's."""

import random
from functools import partialmethod

from gradwalk import nn
from gradwalk.nn import Module
from gradwalk.value.value import Value

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value", "random"]


class Neuron(nn.Neuron):
    """A neuron that uses plain operations."""

    __init__ = partialmethod(nn.Neuron.__init__, fused=False)


class Layer(nn.Layer):
    """A layer of these neurons."""

    neuron = Neuron
    __init__ = partialmethod(nn.Layer.__init__, fused=False)


class MLP(nn.MLP):
    """A multi-layer perceptron of these layers."""

    layer = Layer
    __init__ = partialmethod(nn.MLP.__init__, fused=False)
