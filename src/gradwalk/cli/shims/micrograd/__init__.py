"""The package `micrograd`, implemented by gradwalk; `gradwalk.cli.micrograd` makes it importable.

The package also exports the classes of its modules, because many forks of micrograd do so.
"""

from .engine import Value
from .nn import MLP, Layer, Module, Neuron

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value"]
