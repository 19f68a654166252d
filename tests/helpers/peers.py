"""Find tests that need packages which are not installed, so that they are not collected.

A test needs a package if it has the mark `needs`, or if its code, its fixtures, its parameters, or a helper that it
calls read a `Reference` or call `pytest.importorskip`. A file that cannot be imported without a package needs it, too.
A test that is skipped for a reason such as "needs node" needs a program.
"""

from __future__ import annotations

import dis
import functools
import itertools
import re
import types
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from references import Reference

TESTS = str(Path(__file__).parents[1])
MOST_NAMES = 6  # packages in the summary


def missing_for(item: pytest.Item) -> frozenset[str]:
    """Return the packages and programs that a test needs and that are not installed."""
    marked = {package for mark in item.iter_markers("needs") for package in mark.args}
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    fixtures = [made.func for made in item._fixtureinfo.name2fixturedefs.values() for made in made[-1:]]
    read = _reachable([_tested(item), *fixtures, *parameters], item.cls)
    packages = {package.partition(".")[0] for package in marked | read if not is_installed(package)}
    reasons = {mark.kwargs["reason"] for mark in item.iter_markers("skipif") if any(mark.args)}
    return frozenset(packages | {reason.removeprefix("needs ") for reason in reasons if reason.startswith("needs ")})


def _tested(item: pytest.Item) -> Any:
    """Return the function of a test, without Hypothesis's wrapper."""
    return item.obj.hypothesis.inner_test if hasattr(item.obj, "hypothesis") else item.obj


@functools.cache
def is_installed(package: str) -> bool:
    """Return whether a package or module can be imported."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package of a module is not installed
        return False


class Peers:
    """A plugin that collects tests only if the packages that they need are installed, and counts the other tests."""

    def __init__(self) -> None:
        self.tests = self.files = 0
        self.needed: Counter[str] = Counter()  # tests and files by the package that they need

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, pytest.CollectReport]:
        """Collect nothing from a module that cannot be imported without a package."""
        report = yield
        found = re.search(r"could not import '(\w+)", str(report.longrepr)) if report.skipped else None
        if found is None or is_installed(found[1]):
            return report
        self.files += 1
        self.needed[found[1]] += 1
        return pytest.CollectReport(report.nodeid, "passed", None, [])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the tests that need packages which are not installed."""
        missing = {item: found for item in items if (found := missing_for(item))}
        self.tests = len(missing)
        self.needed.update(itertools.chain.from_iterable(missing.values()))
        config.hook.pytest_deselected(items=list(missing))
        items[:] = [item for item in items if item not in missing]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the counts from a worker of pytest-xdist to the main process."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["peers"] = [self.tests, self.files, dict(self.needed)]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Keep the counts of a worker, all of which collect the same tests."""
        if "peers" in getattr(node, "workeroutput", ()):
            self.tests, self.files, needed = node.workeroutput["peers"]
            self.needed = Counter(needed)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print how many tests were not collected."""
        if self.needed:
            needed = [f"{name} ({count:,})" for name, count in self.needed.most_common(MOST_NAMES)]
            needed += [f"{len(self.needed) - MOST_NAMES} others"] * (len(self.needed) > MOST_NAMES)
            text = f"not collected: {self.tests:,} tests and {self.files} whole files, which need {', '.join(needed)}"
            terminalreporter.write_line(f'{text}; pip install ".[test,interop]" installs the packages')


def _reachable(roots: Iterable[Any], owner: type | None) -> set[str]:
    """Return the packages that objects read, with all helpers and methods of the class `owner` they read in turn."""
    packages: set[str] = set()
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        found = waiting.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, Reference):
            packages.add(found._name)
        elif isinstance(found, types.FunctionType) and found.__code__.co_filename.startswith(TESTS):
            waiting += _read_by(found)
            methods = [getattr(owner, name, None) for name in _names(found)]
            waiting += [method for method in methods if isinstance(method, types.FunctionType)]
            packages |= _imported_or_skipped(found.__code__)
        else:
            waiting += _parts(found)
    return packages


def _parts(found: Any) -> Iterator[Any]:
    """Yield the functions, classes and containers inside an object."""
    if isinstance(found, functools.partial):
        yield from (found.func, *found.args, *found.keywords.values())
    elif isinstance(found, types.MethodType):
        yield found.__func__
    elif isinstance(found, type) and _is_of_tests(found):
        yield from (part for base in found.__mro__[:-1] for part in vars(base).values())
    elif isinstance(found, dict):
        yield from found.values()
    elif isinstance(found, list | tuple | set | frozenset):
        yield from found
    elif hasattr(found, "__wrapped__"):
        yield found.__wrapped__
    elif _is_of_tests(type(found)):
        yield from (type(found), *getattr(found, "__dict__", {}).values())


def _is_of_tests(cls: type) -> bool:
    """Return whether a class is defined in tests/."""
    return any(_file(part).startswith(TESTS) for part in vars(cls).values())


def _file(found: Any) -> str:
    return getattr(getattr(found, "__code__", None), "co_filename", "")


def _read_by(function: types.FunctionType) -> Iterator[Any]:
    """Yield the globals and the variables of enclosing functions that a function reads."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    names = _names(function)
    found = [function.__globals__[name] for name in names if name in function.__globals__]
    yield from found
    modules = [each for each in found if isinstance(each, types.ModuleType) and _is_helper(each)]
    yield from (vars(module)[name] for module in modules for name in names if name in vars(module))


def _names(function: types.FunctionType) -> set[str]:
    """Return the names of the globals and attributes that a function and the functions inside it read."""
    return {name for code in _codes(function.__code__) for name in code.co_names}


def _is_helper(module: types.ModuleType) -> bool:
    return (getattr(module, "__file__", None) or "").startswith(TESTS)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of a function and of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _imported_or_skipped(code: types.CodeType) -> set[str]:
    """Return the names of the modules that a function passes to importorskip."""
    steps = [step for each in _codes(code) if "importorskip" in each.co_names for step in dis.get_instructions(each)]
    return {
        argument.argval
        for step, argument in itertools.pairwise(step for step in steps if step.opname not in ("PUSH_NULL", "CACHE"))
        if step.argval == "importorskip" and argument.opname == "LOAD_CONST"
    }
