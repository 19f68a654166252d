"""gradwalk under the name of micrograd; `gradwalk.cli.micrograd` makes it importable.

The package also exports the names of its modules, because many forks of micrograd do.
"""

from .engine import Value
from .nn import MLP, Layer, Module, Neuron

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value"]
