"""micrograd.nn, implemented by gradwalk. Neurons use `*` and `+` nodes, so their drawings look like micrograd's."""

import random
from functools import partialmethod

from gradwalk import nn
from gradwalk.nn import Module
from gradwalk.value.value import Value

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value", "random"]


class Neuron(nn.Neuron):
    """A neuron that consists of `*` and `+` nodes."""

    __init__ = partialmethod(nn.Neuron.__init__, fused=False)


class Layer(nn.Layer):
    """A layer of neurons of this module."""

    neuron = Neuron
    __init__ = partialmethod(nn.Layer.__init__, fused=False)


class MLP(nn.MLP):
    """A multi-layer perceptron with layers of this module."""

    layer = Layer
    __init__ = partialmethod(nn.MLP.__init__, fused=False)
