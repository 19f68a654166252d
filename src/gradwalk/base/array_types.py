"""Types of arrays."""

import numpy
from numpy.typing import NDArray

Floats = NDArray[numpy.float64]
