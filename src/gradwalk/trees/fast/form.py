"""`Form`: a compiled treedef. It flattens a tree into a buffer of doubles and builds a tree from such a buffer.

A form accepts a tree only if it is certain that the tree has this treedef and holds plain numbers. It may therefore
reject an unusual tree that has the treedef; the caller then uses `flatten`.
"""

from __future__ import annotations

import enum
import math
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.trees.fast import array_cells
from gradwalk.value import convert

if not TYPE_CHECKING and cython.compiled:
    import cython

# Immutable types: the same object has the same meaning in every call. For the types in _COMPARED, two equal objects
# also have the same meaning.
_SETTLED = frozenset([type(None), bool, int, float, str, bytes, type, type(len), type(str.upper), type(lambda: None)])
_COMPARED = frozenset([int, str, bytes])
_FLOAT64 = numpy.dtype(numpy.float64)
_missing = object()
_LARGEST_INT = cython.declare(cython.double, 2.0**53)


@cython.cfunc
def is_settled(found: object, known: object) -> cython.bint:
    """Return True if a cheap test shows that two constants have the same meaning, in this call and in later calls."""
    if found is known:
        return type(found) in _SETTLED
    return type(found) in _COMPARED and type(found) is type(known) and found == known


@cython.cclass
class Form:
    """The base class of forms. The types of the fields are declared in form.pxd."""

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """Write the numbers of a tree to a buffer, at the positions that this form assigns to them.

        Args:
            tree: Any object.
            row: The buffer. A part of it may be overwritten even if the result is False.
            columns: In a batch, the `Columns` that collect batched arrays. In a call of a function of whole arrays, the
                list that collects these. Otherwise None.

        Returns:
            True if the tree has this treedef and holds plain numbers, otherwise False. For unusual trees, the result
            may be False in any case.
        """
        raise NotImplementedError

    def build(self, row: cython.p_double) -> object:
        """Build a tree from the numbers in a buffer."""
        raise NotImplementedError

    def numbers(self, tree: Any, count: int, columns: Any = None) -> Any:
        """Return the `count` numbers of a tree as a float64 array, or None if `read` rejects the tree."""
        row = numpy.empty(count)
        return row if self.read(tree, c_compat.doubles(row), columns) else None

    def tree(self, numbers: Any) -> object:
        """Build a tree from the numbers in a float64 array."""
        return self.build(c_compat.doubles(numbers))


@cython.final
@cython.cclass
class NumberForm(Form):
    """The form of a number.

    Attributes:
        position: The position of the number in the buffer.
        refuses_bools: Whether a bool is not a number here, as in a field of a dataclass.
    """

    def __init__(self, position: int) -> None:
        self.position = position
        self.refuses_bools = False

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is float:
            row[self.position] = cython.cast(cython.double, tree)
            return True
        if type(tree) is not int and (
            not convert.is_real(tree) or isinstance(tree, enum.Enum) or (self.refuses_bools and type(tree) is bool)
        ):
            return False
        row[self.position] = convert.to_double(tree)
        return True

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        return row[self.position]


@cython.final
@cython.cclass
class TypedForm(Form):
    """The form of a result that is a bool or an int. `number_type` is its type."""

    def __init__(self, position: int, number_type: type) -> None:
        self._position = position
        self._is_bool = number_type is bool

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`. A number that is nan or too large for an exact int stays a float."""
        number: cython.double = row[self._position]
        if not -_LARGEST_INT <= number <= _LARGEST_INT:
            return number
        if self._is_bool:
            return number != 0.0
        return int(number)


@cython.final
@cython.cclass
class ComplexForm(Form):
    """The form of a complex number. `real` and `imag` are the positions of its parts in the buffer."""

    def __init__(self, real: int, imag: int) -> None:
        self._real, self._imag = real, imag

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if not isinstance(tree, complex):
            return False
        row[self._real], row[self._imag] = tree.real, tree.imag
        return True

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        return complex(row[self._real], row[self._imag])


@cython.final
@cython.cclass
class ArrayForm(Form):
    """The form of a float64 array, whose first number is at `position` in the buffer."""

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
class WholeArrayForm(Form):
    """The form of a float64 array that is collected as it is, with two axes, instead of written to the buffer.

    Args:
        shape: The shape of the array.
        rows: The shape that it has in the list.
    """

    def __init__(self, shape: tuple[int, ...], rows: tuple[int, ...]) -> None:
        self._shape = shape
        self._rows = rows

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is not numpy.ndarray or tree.dtype is not _FLOAT64 or tree.shape != self._shape:
            return False
        flags = tree.flags
        if not (flags.c_contiguous and flags.aligned):
            return False
        columns.append(tree.reshape(self._rows))
        return True


@cython.final
@cython.cclass
class ComplexArrayForm(Form):
    """The form of a complex array. `real` and `imag` are the forms of its parts, which are read as views."""

    def __init__(self, real: Form, imag: Form) -> None:
        self._real, self._imag = real, imag

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is not numpy.ndarray or tree.dtype.kind != "c":
            return False
        return self._real.read(tree.real, row, columns) and self._imag.read(tree.imag, row, columns)

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        real: Any = self._real.build(row)
        imag: Any = self._imag.build(row)
        array = numpy.empty(real.shape, numpy.complex128)
        array.real, array.imag = real, imag
        return array


@cython.final
@cython.cclass
class ConstantForm(Form):
    """The form of an object without numbers in the buffer, such as None, a static argument or static data."""

    def __init__(self, constant: object, is_immutable: bool = False) -> None:
        self._constant = constant
        self._is_immutable = is_immutable

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if self._is_immutable and tree is self._constant:
            return True
        return is_settled(tree, self._constant)

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        return self._constant


@cython.final
@cython.cclass
class SequenceForm(Form):
    """The form of a list, tuple or namedtuple of class `cls`; `parts` are the forms of the items."""

    def __init__(self, cls: Any, parts: list[Any]) -> None:
        self._cls = cls
        self._parts = parts

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if type(tree) is not self._cls:
            return False
        items: tuple = tuple(tree)  # a copy, because a list may change while its items are read
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
        """Return a tuple or namedtuple of these items."""
        return tuple(parts) if self._cls is tuple else self._cls._make(parts)


@cython.final
@cython.cclass
class DictForm(Form):
    """The form of a dict.

    `keys` lists the keys, and `parts` lists the forms of the values. Both are in the order of the leaves. `order`
    lists the keys in the order that they have in new dicts.
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
    """The form of a dataclass `cls`; `parts` are the forms of the fields in `names`."""

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
        # Do not call __init__, which may compute fields or reject the numbers of a gradient.
        made: object = object.__new__(self._cls)
        i: cython.Py_ssize_t
        for i in range(len(self._names)):
            part: Form = self._parts[i]
            object.__setattr__(made, self._names[i], part.build(row))
        return made
