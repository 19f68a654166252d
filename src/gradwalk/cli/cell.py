"""Runs a Python program that a visitor wrote in the page, and returns the walk that the page should show.

The page's worker (web/src/cell/worker.js) calls `answer` in Pyodide. `script.py` does the same for script files.
"""

from __future__ import annotations

import ast
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from gradwalk.cli.micrograd import as_micrograd
from gradwalk.cli.replace import probe_points
from gradwalk.explain.page.page import document
from gradwalk.explain.timeline import Recorder
from gradwalk.explain.walk import walk
from gradwalk.graph.json.plain_json import as_json
from gradwalk.value.modes import source_lines
from gradwalk.value.sweep.backward import observed
from gradwalk.value.value import Value

PROGRAM = "program.py"  # the file name in tracebacks and in the page


def answer(program: str) -> str:
    """Run a program, and return a JSON object with the walk that the page shows.

    If the program calls `backward()`, the page shows all calls on a timeline. Otherwise the page shows one Value: the
    result of the program's last line if that is a Value, else the Value that was assigned last.

    After a successful run, the object has the key `document`: a walk in the format of docs/walk.schema.json, or null if
    the program created no Value. After an exception, the object has two keys. `error` is a traceback that begins in the
    program. `line` is the last line number of the program in this traceback, or null if it has none.
    """
    recorder = Recorder()
    Path(PROGRAM).write_text(program, encoding="utf-8")  # source_lines and tracebacks read this file
    try:
        with observed(probe_points.observer(recorder)), source_lines():
            last = _last_value(program)
    except SystemExit as stop:
        if isinstance(stop.code, str):
            sys.stderr.write(f"{stop.code}\n")
        last = None
    except BaseException as error:  # report every exception to the visitor
        return as_json(_told(error))
    finally:
        sys.stdout.flush()  # including an unfinished line
    timeline = recorder.timeline()
    if timeline is not None:
        shown = walk(timeline.graph).essence() | timeline.to_dict()
    elif last is not None:
        shown = walk(last).essence()
    else:
        return as_json({"document": None})
    return f'{{"document": {document(shown, PROGRAM)}}}'


def _last_value(program: str) -> Value | None:
    """Run a program as `__main__`, and return its last Value, if any."""
    main = ModuleType("__main__")
    main.__file__ = PROGRAM
    sys.modules["__main__"] = main
    vars(main)["input"] = _no_input
    as_micrograd()
    tree = ast.parse(program, PROGRAM)
    ending = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, PROGRAM, "exec"), vars(main))
    if isinstance(ending, ast.Expr):
        ended = eval(compile(ast.Expression(ending.value), PROGRAM, "eval"), vars(main))
        if isinstance(ended, Value):
            return ended
    return next((value for value in reversed(vars(main).values()) if isinstance(value, Value)), None)


def _no_input(prompt: object = "", /) -> str:
    """Raise `EOFError`; programs get this function as `input`."""
    raise EOFError(f"input() does not work in the page: write the answer in place of input({prompt!r})")


def _told(error: BaseException) -> dict[str, Any]:
    """Return a traceback that begins in the program, and the last line number of the program in this traceback."""
    begin = error.__traceback__
    while begin is not None and begin.tb_frame.f_code.co_filename != PROGRAM:
        begin = begin.tb_next
    lines = [line for line, name in _lines(begin) if name == PROGRAM]
    if isinstance(error, SyntaxError) and error.filename == PROGRAM and error.lineno:
        lines.append(error.lineno)
    text = "".join(traceback.format_exception(type(error), error, begin))
    return {"error": text, "line": lines[-1] if lines else None}


def _lines(begin: TracebackType | None) -> list[tuple[int, str]]:
    return [(line, frame.f_code.co_filename) for frame, line in traceback.walk_tb(begin)]
