"""Tests of the plain-Python substitute for `cython`, compared with Cython's own module."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from checkout import ROOT

from gradwalk.base import _cython

USED = sorted(
    {
        name
        for path in (ROOT / "src/gradwalk").rglob("*.py")
        for name in re.findall(r"\bcython\.(\w+)", path.read_text(encoding="utf-8"))
    }
)


@pytest.mark.parametrize("name", USED)
def test_names_used_in_sources_exist_in_cython(name):
    cython = pytest.importorskip("cython")
    assert hasattr(_cython, name)
    assert hasattr(cython, name)


@pytest.mark.parametrize("kind", ["double", "int", "Py_ssize_t", "ulonglong"])
@pytest.mark.parametrize("number", [0, 3, -7, 2.75, -2.75])
def test_numbers_are_cast_as_in_cython(kind, number):
    cython = pytest.importorskip("cython")
    ours, theirs = _cython.cast(getattr(_cython, kind), number), cython.cast(getattr(cython, kind), number)
    assert (type(ours), ours) == (type(theirs), theirs)


def test_objects_are_cast_to_themselves():
    item = [1.0]
    assert _cython.cast(list, item) is item
    assert _cython.cast(_cython.p_double, item) is item


def test_declare_returns_the_value():
    cython = pytest.importorskip("cython")
    assert _cython.declare(_cython.double, 2.5) == cython.declare(cython.double, 2.5)
    assert _cython.declare(object) is cython.declare(object) is None
    assert _cython.declare(object, visibility="readonly") is None


def test_decorators_and_contexts_change_nothing():
    class Thing:
        pass

    for decorator in (_cython.cclass, _cython.final, _cython.no_gc, _cython.freelist(8)):
        assert decorator(Thing) is Thing
    for decorator in (
        _cython.cfunc,
        _cython.inline,
        _cython.nogil,
        _cython.exceptval(-1),
        _cython.exceptval(check=False),
        _cython.annotation_typing(False),
    ):
        assert decorator(len) is len
    with _cython.nogil, _cython.gil, _cython.critical_section(Thing):
        pass
    with pytest.raises(KeyError), _cython.nogil, _cython.critical_section(Thing):
        raise KeyError
    assert _cython.address(2.5)[0] == 2.5


def test_plain_python_needs_no_cython():
    program = (
        "import sys; sys.modules['cython'] = sys.modules['Cython'] = None; from gradwalk import *; import gradwalk.nn"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
