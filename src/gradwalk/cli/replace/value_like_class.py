"""Finds classes in a script's source that reimplement micrograd's `Value`.

The analysis uses the script's syntax tree alone and runs no code of the script.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

_NEEDED = {"backward": "backward()", "__add__": "+", "__mul__": "*"}
_ARRAYS = {"np", "numpy", "cp", "cupy", "torch", "jnp", "mx"}  # names of array libraries
_OURS = ("data", "_children", "_op", "label")  # constructor arguments of gradwalk's Value


class ReplacementError(ValueError):
    """Raised for a class that gradwalk's Value cannot replace; the message has the reason and a remedy."""


class Script:
    """The syntax tree of a script, and an analysis of its classes; raises `SyntaxError` if `source` is not Python."""

    def __init__(self, source: bytes, path: str) -> None:
        self.source = source
        self.path = path
        self.tree = ast.parse(source, path)
        self._classes = [node for node in ast.walk(self.tree) if isinstance(node, ast.ClassDef)]

    def like_micrograds(self) -> list[str]:
        """Return the distinct names of classes like micrograd's Value that have no base class and do not use arrays."""
        found = [
            node.name
            for node in self._classes
            if not self._missing(node) and {*map(ast.unparse, node.bases)} <= {"object"} and not _names(node) & _ARRAYS
        ]
        return list(dict.fromkeys(found))

    def named(self, name: str) -> list[ast.ClassDef]:
        """Return all classes with a given name, in the order of the script."""
        return [node for node in self._classes if node.name == name]

    def own_classes(self, name: str) -> list[OwnClass]:
        """Return the classes called `name` that are like micrograd's Value; raise `ReplacementError` if none is."""
        nodes = self.named(name)
        if not nodes:
            raise ReplacementError(
                f"{self.path} defines no class {name}{self._where_from(name) or f'; {self._choice()}'}"
            )
        found = [node for node in nodes if not self._missing(node)]
        if not found:
            lines = "" if len(nodes) == 1 else f", line {nodes[-1].lineno},"
            raise ReplacementError(
                f"{name} of {self.path}{lines} is not a class like micrograd's Value: it has no "
                f"{' and no '.join(self._missing(nodes[-1]))}; {self._choice()}"
            )
        return [OwnClass(self, node, is_only=len(nodes) == 1) for node in found]

    def replaced(self, classes: Sequence[OwnClass], call: str) -> ast.Module:
        """Return a new tree of the script, with two calls after each of the given classes and its helpers.

        For the first of the classes, `Value`, the calls are `Value = CALL.placed(Value, 0)` and `CALL.check()`, where
        CALL is the global name `call`. The calls have the line number of the class, so the line numbers of the script
        do not change.
        """
        tree = ast.parse(self.source, self.path)  # deepcopy of a deep tree would exceed the recursion limit
        indices = {one.line: index for index, one in enumerate(classes)}
        name = classes[0].name
        for body in _bodies(tree):
            for place, node in reversed(list(enumerate(body))):
                if isinstance(node, ast.ClassDef) and node.name == name and node.lineno in indices:
                    index = indices[node.lineno]
                    calls = ast.parse(f"{name} = {call}.placed({name}, {index})\n{call}.check()").body
                    end = place + _length_with_helpers(body[place:], name)
                    body[end:end] = [_on_the_line_of(node, statement) for statement in calls]
        _Positions(name, {one.line: one.arguments for one in classes}).visit(tree)
        return ast.fix_missing_locations(tree)

    def family(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """Return a list of a class and all its base classes that the script defines."""
        family = [node]
        for member in family:  # the list grows during the loop
            bases = {base.id for base in member.bases if isinstance(base, ast.Name)}
            family.extend(other for other in self._classes if other.name in bases and other not in family)
        return family

    def heirs(self, node: ast.ClassDef) -> list[ast.ClassDef]:
        """Return the classes of the script that derive from a class, in the order of the script."""
        return [other for other in self._classes if other is not node and node in self.family(other)]

    def _missing(self, node: ast.ClassDef) -> list[str]:
        """Describe the members of micrograd's Value that a class lacks."""
        family = self.family(node)
        methods = {method.name for member in family for method in _methods(member)}
        attributes = {name for member in family for name in _attributes(member)}
        missing = [word for method, word in _NEEDED.items() if method not in methods]
        missing += [f".{name}" for name in ("data", "grad") if name not in attributes]
        if not missing and len(attributes) < 3:
            missing.append("attribute for its operands")
        return missing

    def _choice(self) -> str:
        """Describe the classes that --replace accepts for this script."""
        names = " or ".join(self.like_micrograds())
        if names:
            return f"--replace needs a class like micrograd's Value: {names}"
        return (
            "--replace needs a class with .data, .grad, an attribute for its operands, +, * and backward(), and the "
            "script has none"
        )

    def _where_from(self, name: str) -> str:
        """Describe the module that a name is imported from; return "" if the name is not imported."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and name in [alias.asname or alias.name for alias in node.names]:
                module = node.module or "another file"
                return f", but imports it from {module}: write `from gradwalk import Value` there instead of the class"
        return ""


class OwnClass:
    """A class of a script that reimplements micrograd's Value.

    Attributes:
        name: The class name.
        line: The line of the class definition.
        title: The class name and the script's path, with the line if the script has several classes of this name.
        arguments: A pair (name, default) for each constructor argument after self. The default is None if the argument
            has none.
        of_powers: The names of the methods that compute powers or call NumPy. For these methods, samples cannot prove
            that gradwalk's methods give the same bits.
        effects: A dict from the names of methods with side effects to the line of such an effect.
        used: The names of all attributes that the script reads.
        used_outside: A dict from attribute names to lines: the attributes that the script reads outside classes of this
            name, and the first line that reads each attribute there.
    """

    def __init__(self, script: Script, node: ast.ClassDef, *, is_only: bool) -> None:
        self._script = script
        self._node = node
        self._family = script.family(node)
        self._methods = [method for part in self._family for method in _methods(part)]
        self.name = node.name
        self.line = node.lineno
        self.title = f"{node.name} of {script.path}" + ("" if is_only else f", line {node.lineno},")
        self.arguments = _arguments(self._methods)
        self.of_powers = {method.name for method in self._methods if _takes_powers(method)}
        self.effects = {method.name: line for method in self._methods if (line := _line_of_effect(method))}
        loads = _loads(script.tree)
        inside = {id(load) for one in script.named(node.name) for load in _loads(one)}
        self.used = {load.attr for load in loads}
        self.used_outside = {load.attr: load.lineno for load in reversed(loads) if id(load) not in inside}

    def refuse_what_would_be_lost(self) -> None:
        """Raise `ReplacementError` for a class with behavior that gradwalk's Value would not reproduce."""
        if "__init__" in self.effects:
            raise self.refusal(f"its __init__ does more than store its arguments, in line {self.effects['__init__']}")
        for line in self._lines_that_set_the_class():
            raise self.refusal(f"line {line} changes an attribute of the class itself")
        names = {method.name for method in self._methods} - {"__init__", "__repr__", "__str__"}
        for heir in self._script.heirs(self._node):
            if heir.name == self.name:
                raise self.refusal(f"line {heir.lineno} defines another {heir.name}, which derives from it")
            for method in _methods(heir):
                if method.name in names:
                    raise self.refusal(f"line {method.lineno} overrides its {method.name} in {heir.name}")
        for node in ast.walk(self._script.tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr == "backward" and (node.args or node.keywords):
                raise self.refusal(
                    f"line {node.lineno} passes arguments to backward(), but gradwalk's backward() takes none"
                )

    def refusal(self, why: str) -> ReplacementError:
        """Create the error for a class that gradwalk's Value cannot replace."""
        return ReplacementError(
            f"{self.title} cannot be replaced faithfully: {why}. Without --replace {self.name}, it runs unchanged"
        )

    def lines_that_give(self) -> dict[int, int]:
        """Return a dict from the index of each argument that is passed by position to the first line that passes it.

        The arguments are constructor arguments, and indices do not count self. Keyword arguments that gradwalk's Value
        does not have are included, because `replaced` turns them into positional arguments.
        """
        heirs = [heir for heir in self._script.heirs(self._node) if not _has_constructor(heir)]
        classes = {self.name, *(heir.name for heir in heirs)}
        names = [name for name, _ in self.arguments]
        lines: dict[int, int] = {}
        for node in ast.walk(self._script.tree):
            if not isinstance(node, ast.Call):
                continue
            if (isinstance(node.func, ast.Name) and node.func.id in classes) or _is_super_constructor(node.func):
                is_starred = any(isinstance(argument, ast.Starred) for argument in node.args)
                given = {*range(len(names) if is_starred else len(node.args))}
                given |= {names.index(k.arg) for k in node.keywords if k.arg in names and k.arg not in _OURS}
                for index in given:
                    lines[index] = min(node.lineno, lines.get(index, node.lineno))
        return lines

    def _lines_that_set_the_class(self) -> Iterator[int]:
        """Yield the numbers of lines such as `Value.count += 1`, `cls.count = 0`, and `global tape` in a method."""
        declared = _class_variables(self._node)
        inside = {id(part) for method in self._methods for part in ast.walk(method)}
        for node in ast.walk(self._script.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
                is_of_class = node.value.id == self.name or (node.value.id == "cls" and id(node) in inside)
                if is_of_class and (id(node) in inside or node.attr in declared):
                    yield node.lineno
        for method in self._methods:
            for node in ast.walk(method):
                if isinstance(node, ast.Global):
                    yield node.lineno


class _Positions(ast.NodeTransformer):
    """Turns keyword arguments that gradwalk's Value does not have into positional ones: `Value(y, children=(a, b))`.

    Args:
        name: The name of the class.
        arguments: A dict from the lines of the classes of this name to their constructor arguments.
    """

    def __init__(self, name: str, arguments: dict[int, list[tuple[str, ast.expr | None]]]) -> None:
        self._name = name
        self._arguments = arguments

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        arguments = self._arguments[
            max([line for line in self._arguments if line <= node.lineno], default=min(self._arguments))
        ]
        names = [name for name, _ in arguments]
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        foreign = [names.index(name) for name in given if name in names and name not in _OURS]
        if not (isinstance(node.func, ast.Name) and node.func.id == self._name and foreign):
            return node
        for name, default in arguments[len(node.args) : max(foreign) + 1]:
            value = given.pop(name, default)
            if value is None:
                return node
            node.args.append(copy.deepcopy(value))
        node.keywords = [keyword for keyword in node.keywords if keyword.arg in given]
        return node


def _arguments(methods: list[ast.FunctionDef]) -> list[tuple[str, ast.expr | None]]:
    """Return a pair (name, default or None) for each constructor argument after self; [] without a constructor."""
    for method in methods:
        if method.name == "__init__":
            names = [argument.arg for argument in (*method.args.posonlyargs, *method.args.args)]
            defaults = [None] * (len(names) - len(method.args.defaults)) + list(method.args.defaults)
            return list(zip(names, defaults, strict=True))[1:]
    return []


def _has_constructor(node: ast.ClassDef) -> bool:
    return any(method.name == "__init__" for method in _methods(node))


def _is_super_constructor(function: ast.expr) -> bool:
    """Return whether a called function is `super().__init__`."""
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "__init__"
        and isinstance(function.value, ast.Call)
        and isinstance(function.value.func, ast.Name)
        and function.value.func.id == "super"
    )


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    return [statement for statement in node.body if isinstance(statement, ast.FunctionDef)]


def _attributes(node: ast.ClassDef) -> set[str]:
    """Return the names of instance attributes that methods set or a dataclass declares."""
    found = {s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)}
    for method in _methods(node):
        for part in ast.walk(method):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store) and isinstance(part.value, ast.Name):
                found.add(part.attr)
    return found


def _class_variables(node: ast.ClassDef) -> set[str]:
    """Return the names of the variables that a class body assigns."""
    assigned = [target for statement in node.body if isinstance(statement, ast.Assign) for target in statement.targets]
    return {target.id for target in assigned if isinstance(target, ast.Name)}


def _loads(node: ast.AST) -> list[ast.Attribute]:
    """Return the nodes that read an attribute, sorted by line."""
    loads = [part for part in ast.walk(node) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load)]
    return sorted(loads, key=lambda load: load.lineno)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _takes_powers(method: ast.FunctionDef) -> bool:
    """Return whether a method computes powers or uses an array library.

    Python computes x**2 with the C library and gradwalk computes x * x; about one result in a thousand differs in the
    last bit. That is too rare for the samples to show, but enough to change the output of a long training. The same
    holds for np.log.
    """
    operators = [part.op for part in ast.walk(method) if isinstance(part, (ast.BinOp, ast.AugAssign))]
    calls = [part.func for part in ast.walk(method) if isinstance(part, ast.Call)]
    called = {getattr(call, "attr", getattr(call, "id", "")) for call in calls}
    has_powers = method.name == "__pow__" or any(isinstance(op, ast.Pow) for op in operators) or "pow" in called
    return has_powers or bool(_names(method) & _ARRAYS)


def _line_of_effect(method: ast.FunctionDef) -> int:
    """Return the line of a call whose result is not used, such as `tape.append(out)`; 0 if there is none."""
    if method.name == "backward":
        return 0
    for part in ast.walk(method):
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and "super" not in _names(part):
            return part.lineno
    return 0


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    """Return all lists of statements in a tree."""
    fields = [value for node in ast.walk(tree) for _, value in ast.iter_fields(node)]
    return [field for field in fields if isinstance(field, list) and field and isinstance(field[0], ast.stmt)]


def _length_with_helpers(body: list[ast.stmt], name: str) -> int:
    """Count the statements from a class definition to the last helper that the class uses.

    `body` begins with the definition of the class `name`. Helpers are functions, classes and constants that are defined
    after the class. The counted statements themselves do not use the class when they are executed.
    """
    used = _names(body[0])
    length = 1
    for place, statement in enumerate(body[1:], start=2):
        if not _only_defines(statement, name) or (isinstance(statement, ast.ClassDef) and statement.name == name):
            break
        if used & _defined(statement):
            length = place
            used |= _names(statement)
    return length


def _only_defines(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement only imports or defines names.

    Executing such a statement calls nothing and does not use the class `name`.
    """
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, ast.FunctionDef):
        at_once: list[ast.AST] = [*statement.decorator_list, *statement.args.defaults]
    elif isinstance(statement, ast.ClassDef):
        at_once = [*statement.decorator_list, *statement.bases]
        at_once += [part for part in statement.body if not isinstance(part, ast.FunctionDef)]
    else:
        at_once = [statement]
    is_definition = isinstance(statement, (ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign))
    runs = any(isinstance(part, ast.Call) for node in at_once for part in ast.walk(node))
    return is_definition and not runs and not any(name in _names(node) for node in at_once)


def _defined(statement: ast.stmt) -> set[str]:
    """Return the names that a definition binds."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    return {part.id for part in ast.walk(statement) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _on_the_line_of(node: ast.ClassDef, statement: ast.stmt) -> ast.stmt:
    for part in ast.walk(statement):
        if hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return statement
