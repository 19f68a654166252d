"""micrograd.nn, by gradwalk."""

import random

from gradwalk.nn import MLP, Layer, Module, Neuron
from gradwalk.value.value import Value

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value", "random"]
