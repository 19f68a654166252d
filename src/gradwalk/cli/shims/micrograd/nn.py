"""micrograd.nn, by gradwalk. Neurons are made of `*` and `+`, so that drawings of them are micrograd's."""

import random
from functools import partialmethod

from gradwalk import nn
from gradwalk.nn import Module
from gradwalk.value.value import Value

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value", "random"]


class Neuron(nn.Neuron):
    """A neuron of plain operations."""

    __init__ = partialmethod(nn.Neuron.__init__, fused=False)


class Layer(nn.Layer):
    """A layer of such neurons."""

    neuron = Neuron
    __init__ = partialmethod(nn.Layer.__init__, fused=False)


class MLP(nn.MLP):
    """A multi-layer perceptron of such layers."""

    layer = Layer
    __init__ = partialmethod(nn.MLP.__init__, fused=False)
