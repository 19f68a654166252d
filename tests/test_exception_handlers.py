"""Every handler in src/ that catches any exception is listed here with a reason."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from checkout import ROOT

SOURCES = ROOT / "src/gradwalk"
BROAD = {"Exception", "BaseException"}

# Reasons by file and function.
REASONS = {
    ("backend/thread_pool.py", "do"): "the thread that waits for the work raises the exception",
    ("backend/thread_pool.py", "run_tasks"): "raised again, unless an error of another thread is raised instead",
    ("backend/thread_pool.py", "work_here"): "raised again after the other threads have stopped",
    ("cli/cell.py", "answer"): "the traceback is shown to the user",
    ("cli/micrograd.py", "_ending"): "printed as Python prints it; sets the exit code",
    ("cli/replace/replacement.py", "_is_composed"): "unsupported operations may raise anything",
    (
        "cli/replace/replacement.py",
        "_is_same_argument",
    ): "refused arguments may raise anything",
    ("cli/replace/replacement.py", "_refuse_other_values"): "the error message includes it",
    (
        "cli/replace/probe_points.py",
        "_gradients_of_one",
    ): "unsupported operations may raise anything",
    ("cli/replace/probe_points.py", "_outcome"): "unsupported operations may raise anything",
    ("cli/replace/probe_points.py", "overwrites"): "unsupported operations may raise anything",
    ("program/run/c_abi.py", "_outputs_of"): "a C callback cannot raise: the outputs are nan",
    (
        "program/run/interpreter.py",
        "_compute_with_calls",
    ): "a C callback cannot raise: the outputs are nan",
    ("program/formats/program_json.py", "replace_file"): "raised again after the temporary file is removed",
    ("value/sweep/backward.py", "_sweep_with_rules"): "raised again after all gradients are restored",
    ("value/sweep/backward.py", "_swept_natively"): "raised again after all gradients are restored",
    ("value/sweep/order.py", "visit"): "raised again after all marks are cleared",
}


def is_broad(caught: ast.expr | None) -> bool:
    """Return whether an `except` clause or an argument of `suppress` catches any exception."""
    if caught is None:
        return True
    if isinstance(caught, ast.Tuple):
        return any(map(is_broad, caught.elts))
    name = caught.attr if isinstance(caught, ast.Attribute) else getattr(caught, "id", "")
    return name in BROAD


def broad_handlers(tree: ast.AST, function: str = "") -> Iterator[str]:
    """Yield the innermost function around each handler that catches any exception."""
    for node in ast.iter_child_nodes(tree):
        inner = node.name if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
        if isinstance(node, ast.ExceptHandler) and is_broad(node.type):
            yield function
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "suppress" and any(map(is_broad, node.args)):
                yield function
        yield from broad_handlers(node, inner)


def test_every_broad_handler_has_a_reason():
    found = Counter(
        (path.relative_to(SOURCES).as_posix(), function)
        for path in sorted(SOURCES.rglob("*.py"))
        for function in broad_handlers(ast.parse(path.read_text(encoding="utf-8")))
    )
    assert sorted(found) == sorted(REASONS)
    assert set(found.values()) == {1}


def test_broad_handlers_are_found():
    text = (
        "def f():\n"
        "    try:\n        pass\n    except ValueError:\n        pass\n"
        "    try:\n        pass\n    except (KeyError, Exception):\n        pass\n"
        "def g():\n"
        "    try:\n        pass\n    except:\n        pass\n"
        "    with contextlib.suppress(KeyError), suppress(builtins.BaseException):\n        pass\n"
        "with suppress(OSError):\n    pass\n"
    )
    assert list(broad_handlers(ast.parse(text))) == ["f", "g", "g"]
