"""gradwalk under the name of micrograd. `gradwalk.cli.micrograd` puts the folder above this one onto Python's path.

The names are here, too, and not in the modules alone: many forks of micrograd have them in both places.
"""

from .engine import Value
from .nn import MLP, Layer, Module, Neuron

__all__ = ["MLP", "Layer", "Module", "Neuron", "Value"]
