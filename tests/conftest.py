"""Pytest hooks and Hypothesis settings shared by all tests."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from checkout import IS_COMPILED, PACKAGE, ROOT
from hypothesis import settings
from peers import Peers
from stale import cure, outdated
from wasm import LEFT_OUT, refusal

collect_ignore = [*LEFT_OUT, *([] if IS_COMPILED else ["program/run/rows"])]  # only compiled modules run rows

# Every run draws the same examples, so that failures are reproducible. GRADWALK_EXAMPLES sets the number of examples.
settings.register_profile(
    "gradwalk",
    max_examples=int(os.environ.get("GRADWALK_EXAMPLES", "50")),
    deadline=None,
    derandomize=True,
    print_blob=True,
)
settings.load_profile("gradwalk")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --passed, which skips tests that passed in an earlier run."""
    parser.addoption("--passed", type=Path, help="output of an earlier run with -rp; skip tests that passed there")


def pytest_configure(config: pytest.Config) -> None:
    """Stop unless the tests import an up-to-date build of this checkout; register marks and plugins."""
    if "PYTHONPATH" in os.environ:  # absolute, so that tests may start processes in other folders
        folders = os.environ["PYTHONPATH"].split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, folders))
    config.addinivalue_line("markers", "needs(*packages): packages that a test needs")
    if "GRADWALK_NO_SKIPS" not in os.environ:
        config.pluginmanager.register(Peers())
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs; some tests send SIGINT
        signal.signal(signal.SIGINT, signal.default_int_handler)
    problem = outdated(PACKAGE, ROOT)
    if problem:
        raise pytest.UsageError(f"{problem}: {cure(PACKAGE, ROOT)}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that --passed lists, and put slow tests first so that all workers finish together."""
    passed = _passed_before(config.getoption("--passed"))
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
    items[:] = [item for item in items if item.nodeid not in passed]
    items.sort(key=lambda item: "slow" not in item.path.parts)


def _passed_before(output: Path | None) -> set[str]:
    if output is None:
        return set()
    lines = output.read_text(encoding="utf-8").splitlines()
    return {line.removeprefix("PASSED ") for line in lines if line.startswith("PASSED ")}


def pytest_collection_finish() -> None:
    """Remove test folders with subfolders from sys.path: `import sparse` would find `transforms/sparse`."""
    sys.path[:] = [path for path in sys.path if not _holds_folders_of_tests(Path(path))]


def _holds_folders_of_tests(folder: Path) -> bool:
    """Return whether a folder is in tests/ and has subfolders."""
    is_of_tests = Path(__file__).parent in (folder, *folder.parents)
    return is_of_tests and any(path.is_dir() and path.name != "__pycache__" for path in folder.iterdir())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    """Skip tests that cannot run in WebAssembly."""
    try:
        return (yield)
    except Exception as error:
        why = refusal(error, PACKAGE)
        if why is None:
            raise
        pytest.skip(why)


def pytest_report_header() -> str:
    """Report which build of gradwalk is tested."""
    return f"gradwalk: {'compiled' if IS_COMPILED else 'uncompiled'}, {PACKAGE}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if GRADWALK_NO_SKIPS is set and tests were skipped, or if the build differs from GRADWALK_EXPECTED."""
    expected = os.environ.get("GRADWALK_EXPECTED", "")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if ("GRADWALK_NO_SKIPS" in os.environ and skipped) or (expected and (expected == "compiled") != IS_COMPILED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
