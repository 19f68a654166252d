"""`Form`: a treedef prepared for calls: it reads the numbers of a tree into a row in C, and builds a tree from a row.

A form reads a tree only if it is certain that the tree has this treedef, and plain numbers. It may refuse others that
have it too: what is rare is left to `flattened`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.trees.fast import array_cells
from gradwalk.value import convert

if not TYPE_CHECKING and cython.compiled:
    import cython

# Types whose instances do not change, so that one and the same has the same meaning at every call; and those of them
# that compare equal only where they mean the same.
_SETTLED = frozenset([type(None), bool, int, float, str, bytes, type, type(len), type(str.upper), type(lambda: None)])
_COMPARED = frozenset([int, str, bytes])
_FLOAT64 = numpy.dtype(numpy.float64)
_missing = object()


@cython.cfunc
def is_settled(found: object, known: object) -> cython.bint:
    """Whether two objects mean the same, now and later, as far as that can be told at a glance."""
    if found is known:
        return type(found) in _SETTLED
    return type(found) in _COMPARED and type(found) is type(known) and found == known


@cython.cclass
class Form:
    """What all forms promise. The types of the fields of forms stand in form.pxd."""

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """Write the numbers of a tree to a row, each at the position that the form has for it.

        Args:
            tree: Any object.
            row: The row, of which a part may be written even where the tree does not fit.
            columns: Where arrays of samples are noted, of the trees of a batch; else None.

        Returns:
            Whether the tree has this treedef and plain numbers; False also for some that have it.
        """
        raise NotImplementedError

    def build(self, row: cython.p_double) -> object:
        """Make a tree of the numbers of a row.

        Args:
            row: The row.

        Returns:
            The tree.
        """
        raise NotImplementedError

    def numbers(self, tree: Any, count: int) -> Any:
        """Return the numbers of a tree.

        Args:
            tree: Any object.
            count: How many numbers the row has.

        Returns:
            An array of float64; None where the tree does not fit: see `read`.
        """
        row = numpy.empty(count)
        return row if self.read(tree, c_compat.doubles(row), None) else None

    def tree(self, numbers: Any) -> object:
        """Return the tree of these numbers.

        Args:
            numbers: An array of float64.
        """
        return self.build(c_compat.doubles(numbers))


@cython.final
@cython.cclass
class NumberForm(Form):
    """A number.

    Args:
        position: Where it is in the row.

    Attributes:
        position: Likewise.
    """

    def __init__(self, position: int) -> None:
        self.position = position

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is float:
            row[self.position] = cython.cast(cython.double, tree)
            return True
        if not convert.is_real(tree):
            return False
        row[self.position] = convert.to_double(tree)
        return True

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        return row[self.position]


@cython.final
@cython.cclass
class ArrayForm(Form):
    """An array of float64.

    Args:
        position: Where its first number is in the row.
        shape: Its shape.
    """

    def __init__(self, position: int, shape: tuple[int, ...]) -> None:
        self._position = position
        self._shape = shape
        self._count = math.prod(shape)

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is not numpy.ndarray:
            return False
        if array_cells.read_array(tree, self._shape, row, self._position):
            return True
        if tree.dtype is _FLOAT64 or tree.dtype.kind not in "fiub":
            return False
        numbers = numpy.asarray(tree, numpy.float64)
        return array_cells.read_array(numbers, self._shape, row, self._position)

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        array = numpy.empty(self._shape)
        array_cells.write_array(array, row, self._position, self._count)
        return array


@cython.final
@cython.cclass
class ConstantForm(Form):
    """An object that holds no numbers of the row, such as None or a static argument.

    Args:
        constant: The object.
    """

    def __init__(self, constant: object) -> None:
        self._constant = constant

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        return is_settled(tree, self._constant)

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        return self._constant


@cython.final
@cython.cclass
class SequenceForm(Form):
    """A list, a tuple or a namedtuple.

    Args:
        cls: The class.
        parts: The forms of the items.
    """

    def __init__(self, cls: Any, parts: list[Any]) -> None:
        self._cls = cls
        self._parts = parts

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is not self._cls:
            return False
        items: tuple = tuple(tree)  # a list may change while its items are read
        if len(items) != len(self._parts):
            return False
        i: cython.Py_ssize_t
        for i in range(len(items)):
            part: Form = self._parts[i]
            if not part.read(items[i], row, columns):
                return False
        return True

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        parts: list = []
        for part in self._parts:
            form: Form = part
            parts.append(form.build(row))
        return parts if self._cls is list else self._made(parts)

    def _made(self, parts: list) -> object:
        """The tuple or namedtuple of these items."""
        return tuple(parts) if self._cls is tuple else self._cls._make(parts)


@cython.final
@cython.cclass
class DictForm(Form):
    """A dict.

    Args:
        keys: Its keys, in the order of the leaves.
        parts: The form of the item of each key.
        order: The keys in the order that a new dict is to have.
    """

    def __init__(self, keys: list[Any], parts: list[Any], order: list[Any]) -> None:
        self._keys = keys
        self._parts = parts
        self._shell = dict.fromkeys(order)

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is not dict:
            return False
        items: dict = tree
        if len(items) != len(self._keys):
            return False
        i: cython.Py_ssize_t
        for i in range(len(self._keys)):
            part: Form = self._parts[i]
            if not part.read(items.get(self._keys[i], _missing), row, columns):
                return False
        return True

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        made: dict = self._shell.copy()
        i: cython.Py_ssize_t
        for i in range(len(self._keys)):
            part: Form = self._parts[i]
            made[self._keys[i]] = part.build(row)
        return made


@cython.final
@cython.cclass
class FieldsForm(Form):
    """A dataclass.

    Args:
        cls: The class.
        names: The names of its fields.
        parts: The form of each.
    """

    def __init__(self, cls: Any, names: list[str], parts: list[Any]) -> None:
        self._cls = cls
        self._names = names
        self._parts = parts

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is not self._cls:
            return False
        i: cython.Py_ssize_t
        for i in range(len(self._names)):
            part: Form = self._parts[i]
            if not part.read(getattr(tree, self._names[i]), row, columns):
                return False
        return True

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        # Not by its __init__, which may compute fields, or refuse the numbers of a gradient.
        made: object = object.__new__(self._cls)
        i: cython.Py_ssize_t
        for i in range(len(self._names)):
            part: Form = self._parts[i]
            object.__setattr__(made, self._names[i], part.build(row))
        return made
