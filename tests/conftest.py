"""What all tests share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from checkout import IS_COMPILED, PACKAGE, ROOT
from hypothesis import settings
from stale import cure, outdated
from wasm import LEFT_OUT, refusal

collect_ignore = [*LEFT_OUT, *([] if IS_COMPILED else ["program/run/rows"])]  # compiled modules alone run rows

# The same examples in every run, so that a failure can be looked at again; GRADWALK_EXAMPLES asks for more or fewer.
settings.register_profile(
    "gradwalk",
    max_examples=int(os.environ.get("GRADWALK_EXAMPLES", "50")),
    deadline=None,
    derandomize=True,
    print_blob=True,
)
settings.load_profile("gradwalk")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for tests that need not be run again."""
    parser.addoption("--passed", type=Path, help="the output of an earlier run with -rp, which lists what has passed")


def pytest_configure() -> None:
    """Refuse to test anything but this checkout, before a module of it is imported."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in background jobs of shells: some tests interrupt
        signal.signal(signal.SIGINT, signal.default_int_handler)
    problem = outdated(PACKAGE, ROOT)
    if problem:
        raise pytest.UsageError(f"{problem}: {cure(PACKAGE, ROOT)}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has passed before. What takes longest comes first: no worker is left alone with it at the end."""
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
    """Take folders that hold other folders of tests from the path: `import sparse` would find `transforms/sparse`."""
    sys.path[:] = [path for path in sys.path if not _holds_folders_of_tests(Path(path))]


def _holds_folders_of_tests(folder: Path) -> bool:
    """Return whether a folder is one of tests, with others inside it."""
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
    """Which gradwalk is being tested."""
    return f"gradwalk: {'compiled' if IS_COMPILED else 'uncompiled'}, {PACKAGE}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where something was skipped that may not be, or where something else was tested than was asked for."""
    expected = os.environ.get("GRADWALK_EXPECTED", "")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if ("GRADWALK_NO_SKIPS" in os.environ and skipped) or (expected and (expected == "compiled") != IS_COMPILED):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
