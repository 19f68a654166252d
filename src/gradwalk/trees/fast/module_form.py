"""`ModuleForm`: the form of a Module, which reads all parameters in one pass."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.nn import PENDING, Module, Number, materialize, slots_of
from gradwalk.trees import attributes
from gradwalk.trees.fast import form, object_codes
from gradwalk.trees.module_treedef import ModuleTreeDef, static_code, static_part
from gradwalk.value import convert
from gradwalk.value.modes import depth
from gradwalk.value.node import ValueNode
from gradwalk.value.value import Value

if not TYPE_CHECKING and cython.compiled:
    import cython

_DEEPEST = 50  # maximum nesting depth of nodes


@cython.final
@cython.cclass
class _Part:
    """A child of a node. The types of all fields are declared in module_form.pxd.

    Attributes:
        code: The integer code of the child in `ModuleTreeDef.nodes`, or 0 for a static child.
        is_new: Whether this is the first occurrence of the child in the Module.
        static: The code of a static child, which is a tuple; None for other children.
        constant: The static child; None for other children.
        is_copied: Whether new Modules get a copy of the static child.
        node: The child as a `_Node`, or None if it is not a node.
    """

    def __init__(self, code: Any, node: Any, is_new: bool) -> None:
        self.constant = static_part(code) if isinstance(code, tuple) else None
        self.is_copied = isinstance(self.constant, numpy.ndarray)
        self.is_new = is_new
        self.node = node
        self.static = code if isinstance(code, tuple) else None
        self.code = 0 if isinstance(code, tuple) else code


@cython.final
@cython.cclass
class _Node:
    """A node in the structure of a Module: a Module or a container. See `ModuleTreeDef.nodes`.

    Attributes:
        first: The code of the first child if all children are new parameters, else -1. The codes of such children are
            consecutive.
    """

    def __init__(self, cls: Any, keys: Any) -> None:
        self.cls = cls
        self.is_module = issubclass(cls, Module)
        self.is_tuple = issubclass(cls, tuple)
        self.keys = keys
        self.parts: list[Any] = []
        self.first = -1

    def add(self, part: _Part) -> None:
        """Append a child."""
        is_parameter: cython.bint = part.static is None and part.node is None and part.is_new
        if not is_parameter:
            self.first = -1
        elif not self.parts:
            self.first = part.code
        self.parts.append(part)

    def made_of(self, items: list) -> object:
        """Return the tuple or namedtuple of these items."""
        return self.cls._make(items) if hasattr(self.cls, "_make") else self.cls(items)


@cython.final
@cython.cclass
class ModuleForm(form.Form):
    """The form of a Module whose parameters are numbers. The first parameter is at `position` in the buffer."""

    def __init__(self, nodes: list[Any], treedef: ModuleTreeDef, position: int) -> None:
        self._nodes = nodes
        self._treedef = self._likewise = treedef
        self._size = treedef.size
        self._position = position
        root: _Node = nodes[0]
        self._root = _Part(-1, root, True)
        self._waits = _may_wait(root.cls, root.keys)

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        if depth() > 0:  # while a function is recorded, computed Values are parameters too
            return False
        if isinstance(tree, Module):
            pending = attributes.get_attributes(tree).get(PENDING)
            if pending is not None:
                return self._reads_pending(pending, row)
        codes = cython.declare(object_codes.codes_by_object)
        if not cython.compiled:
            codes = object_codes.codes_by_object()
        object_codes.codes_begin(codes, self._size + len(self._nodes))
        try:
            return self._reads_part(self._root, tree, row, codes)
        finally:
            object_codes.codes_end(codes)

    def _reads_pending(self, pending: Pending, row: cython.p_double) -> cython.bint:
        """Read a Module that has not been materialized."""
        with cython.critical_section(self):
            if pending.treedef is not self._likewise:
                if pending.treedef != self._treedef:
                    return False
                self._likewise = pending.treedef  # the next Module probably has the same treedef object
        number: cython.p_double = c_compat.doubles(pending.numbers)
        i: cython.int
        for i in range(self._size):
            row[self._position + i] = number[i]
        return True

    def _reads_part(self, part: _Part, item: Any, row: cython.p_double, codes: Any) -> cython.bint:
        """Read a child."""
        if part.static is not None:
            return form.is_settled(item, part.constant) or static_code(item) == part.static
        node: _Node = part.node
        if node is not None and node.is_tuple:  # a tuple that occurs twice counts as two nodes
            return self._reads_node(node, item, row, codes)
        if not object_codes.codes_agree(codes, item, part.code, part.is_new):
            return False
        if node is None:
            return not part.is_new or self._reads_parameter(part.code, item, row)
        return not part.is_new or self._reads_node(node, item, row, codes)

    def _reads_parameter(self, code: cython.int, item: Any, row: cython.p_double) -> cython.bint:
        """Read a parameter."""
        if c_compat.is_kind(item, ValueNode):
            leaf: ValueNode = item
            if leaf._level > 0 or leaf._opcode > 0 or (leaf._special and leaf.operands):
                return False
            row[self._position + code] = leaf._primal
            return True
        if type(item) is not Number:  # reading an instance of a subclass of Number may run code
            return False
        row[self._position + code] = convert.to_double(item)
        return True

    def _reads_node(self, node: _Node, item: Any, row: cython.p_double, codes: Any) -> cython.bint:
        """Read the children of a node."""
        if type(item) is not node.cls:
            return False
        if node.keys is not None:
            return self._reads_items(node, attributes.get_attributes(item) if node.is_module else item, row, codes)
        if node.first >= 0 and not node.is_tuple:
            return self._reads_parameters(node, item, row, codes)
        items: tuple = tuple(item)  # a copy, because a list may change while its items are read
        if len(items) != len(node.parts):
            return False
        i: cython.Py_ssize_t
        for i in range(len(items)):
            if not self._reads_part(node.parts[i], items[i], row, codes):
                return False
        return True

    def _reads_parameters(self, node: _Node, items: list, row: cython.p_double, codes: Any) -> cython.bint:
        """Read a list of new parameters. No copy is needed: no other code runs that could change the list."""
        if len(items) != len(node.parts):
            return False
        i: cython.Py_ssize_t
        for i in range(len(node.parts)):
            item = items[i]
            if not object_codes.codes_agree(codes, item, node.first + i, True):
                return False
            if not self._reads_parameter(node.first + i, item, row):
                return False
        return True

    def _reads_items(self, node: _Node, items: dict, row: cython.p_double, codes: Any) -> cython.bint:
        """Read the attributes of a Module or the items of a dict."""
        if len(items) != len(node.parts):
            return False
        i: cython.Py_ssize_t = 0
        for key, item in items.items():
            if key is not node.keys[i] and key != node.keys[i]:
                return False
            if not self._reads_part(node.parts[i], item, row, codes):
                return False
            i += 1
        return True

    def build(self, row: cython.p_double) -> object:
        """See `Form.build`."""
        numbers = numpy.empty(self._size)
        number: cython.p_double = c_compat.doubles(numbers)
        i: cython.int
        for i in range(self._size):
            number[i] = row[self._position + i]
        root: _Node = self._nodes[0]
        module = object.__new__(root.cls)
        pending = Pending(self, numbers)
        attributes.get_attributes(module)[PENDING] = pending
        if not (self._waits and attributes.supports_lazy(root.cls, materialize)):  # the class may have changed since
            materialize(module)
        return module

    def fill(self, module: Any, numbers: list) -> dict:
        """Return the attributes of a new Module with these parameters. A Module may contain itself."""
        built: list = [module, *[node_shell(node) for node in self._nodes[1:]]]
        i: cython.Py_ssize_t
        for i in range(len(built) - 1, 0, -1):  # backwards, because the items of a tuple must be built before the tuple
            built[i] = self._filled(self._nodes[i], built[i], numbers, built)
        found: dict = {}
        self._add_named(self._nodes[0], found, numbers, built)
        return found

    def _filled(self, node: _Node, shell: Any, numbers: list, built: list) -> object:
        """Add the children to a new node and return the node."""
        if node.keys is None:
            items: list = [self._item(node.parts[i], numbers, built) for i in range(len(node.parts))]
            if node.is_tuple:
                return node.made_of(items)
            shell.extend(items)
            return shell
        self._add_named(node, attributes.get_attributes(shell) if node.is_module else shell, numbers, built)
        return shell

    def _add_named(self, node: _Node, named: dict, numbers: list, built: list) -> object:
        """Add the children of a Module or dict to a dict."""
        i: cython.Py_ssize_t
        for i in range(len(node.parts)):
            named[node.keys[i]] = self._item(node.parts[i], numbers, built)
        return None

    def _item(self, part: _Part, numbers: list, built: list) -> object:
        """Return a child for a new Module."""
        if part.static is None:
            return numbers[part.code] if part.node is None else built[-1 - part.code]
        return static_part(part.static) if part.is_copied else part.constant


@cython.final
@cython.cclass
class Pending:
    """The contents of a Module that has not been materialized yet: a form and the numbers of the parameters.

    Attributes:
        treedef: The treedef of the Module.
        numbers: Float64 array of the parameters.
    """

    def __init__(self, form: ModuleForm, numbers: Any) -> None:
        self._form = form
        self.treedef = form._treedef
        self.numbers = numbers

    def parameters(self) -> list:
        """Return a new Number for each parameter."""
        number: cython.p_double = c_compat.doubles(self.numbers)
        return [object_codes.float_of_class(Number, number[i]) for i in range(len(self.numbers))]

    def attributes(self, module: Any) -> dict:
        """Return the attributes of the Module."""
        return self._form.fill(module, self.parameters())


@cython.cfunc
def node_shell(node: _Node) -> object:
    """Return a new node without its children; None for a tuple."""
    if node.is_module:
        return object.__new__(node.cls)
    return None if node.is_tuple else {} if node.cls is dict else []


def module_form(treedef: ModuleTreeDef, position: int) -> ModuleForm | None:
    """Return the form of a Module whose parameters are numbers in the buffer, starting at `position`.

    Returns None if the Module holds unusual or deeply nested containers.
    """
    if not all(_is_usual(cls) for cls, _, _ in treedef.nodes):
        return None
    nodes: list[Any] = [_Node(cls, keys) for cls, keys, _ in treedef.nodes]
    known: set[int] = {-1}
    pending = [(nodes[0], iter(treedef.nodes[0][2]))]
    while pending:  # depth-first, in the order of `parted`
        node, codes = pending[-1]
        code = next(codes, None)
        if code is None:
            pending.pop()
            continue
        if isinstance(code, tuple):
            if isinstance(code[-1], Value):  # the result of an operation
                return None
            node.add(_Part(code, None, False))
            continue
        inner = nodes[-1 - code] if code < 0 else None
        node.add(_Part(code, inner, code not in known))
        if inner is not None and code not in known:
            pending.append((inner, iter(treedef.nodes[-1 - code][2])))
            if len(pending) > _DEEPEST:
                return None
        known.add(code)
    return ModuleForm(nodes, treedef, position)


def _may_wait(cls: Any, names: Any) -> bool:
    """Return whether Modules of a class may be materialized lazily. The class must not customize attribute access."""
    ours = ("__delattr__", "__getstate__", "__setattr__")
    if any(inspect.getattr_static(cls, name) is not inspect.getattr_static(Module, name) for name in ours):
        return False
    # A class attribute would hide an attribute of the same name that is not materialized yet.
    return not any(hasattr(cls, name) for name in names)


def _is_usual(cls: Any) -> bool:
    """Return whether nodes of a class can be read directly.

    This is not possible for subclasses of dict and list, because they may override item access.
    """
    return issubclass(cls, tuple) or cls in (dict, list) or (issubclass(cls, Module) and not slots_of(cls))
