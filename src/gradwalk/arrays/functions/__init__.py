"""Functions of NumPy and of gradwalk.math on whole arrays. The modules add them to `traced_array.FUNCTIONS`."""

from gradwalk.arrays.functions import elementwise, products, reductions, shapes, subscripts, ufuncs

__all__ = ["elementwise", "products", "reductions", "shapes", "subscripts", "ufuncs"]
