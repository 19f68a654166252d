"""micrograd.nn, by gradwalk."""

import random

from gradwalk.engine import Value
from gradwalk.nn import MLP, Layer, Module, Neuron

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value", "random"]
