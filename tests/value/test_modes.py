"""Settings that hold within a block, and recordings: they end however they are left."""

from __future__ import annotations

import contextlib
import threading

import pytest

from gradwalk import RecordingError, Value, debug_nans, jit, math, no_grad, source_lines, threads
from gradwalk.backend.thread_pool import available
from gradwalk.value import modes


def is_remembered() -> bool:
    return bool((Value(1.0) + 1.0).operands)


class TestGenerators:
    def test_a_suspended_generator_keeps_its_settings_to_itself(self):
        def numbers():
            with no_grad(), threads(77):
                yield is_remembered(), available()
                yield is_remembered(), available()

        suspended = numbers()
        assert next(suspended) == (False, 77)
        assert is_remembered()
        assert available() != 77
        assert next(suspended) == (False, 77)
        suspended.close()
        assert is_remembered()

    def test_generators_that_end_in_another_order_than_they_began(self):
        def recording(end):
            with no_grad():
                yield is_remembered()
                yield is_remembered()
            yield end

        first, second = recording(1), recording(2)
        assert [next(first), next(second)] == [False, False]
        assert [next(first), next(first)] == [False, 1]
        assert next(second) is False
        assert is_remembered()
        assert next(second) == 2
        assert is_remembered()

    def test_that_of_a_context_manager_holds_for_its_block(self):
        @contextlib.contextmanager
        def quiet():
            with no_grad():
                yield

        with quiet():
            assert not is_remembered()
            with contextlib.ExitStack() as stack:
                stack.enter_context(threads(5))
                assert available() == 5
        assert is_remembered()

    @pytest.fixture
    def unremembered(self):
        with no_grad():
            yield

    @pytest.mark.usefixtures("unremembered")
    def test_that_of_a_fixture_holds_for_the_test(self):
        assert not is_remembered()

    def test_one_that_is_closed_in_another_thread(self):
        def numbers():
            with no_grad():
                yield

        suspended = numbers()
        next(suspended)
        closer = threading.Thread(target=suspended.close)
        closer.start()
        closer.join()
        assert is_remembered()
        with no_grad():
            assert not is_remembered()
        assert is_remembered()


def test_a_setting_decorates_functions():
    @no_grad()
    def quiet(depth):
        """Whether results are remembered."""
        return is_remembered() or (depth > 0 and quiet(depth - 1))

    assert quiet(3) is False
    assert quiet.__doc__ == "Whether results are remembered."
    assert is_remembered()


def test_a_setting_is_entered_once():
    setting = no_grad()
    with setting, pytest.raises(RuntimeError, match="entered once: call no_grad"), setting:
        pass
    assert is_remembered()
    with setting:  # again, after it has ended
        assert not is_remembered()
    assert is_remembered()


def test_settings_nest():
    with threads(2):
        with threads(3):
            assert available() == 3
        assert available() == 2
    with source_lines(), debug_nans(), pytest.raises(FloatingPointError, match="log"):
        math.log(Value(-1.0))


class TestKeptArguments:
    """An argument that a function keeps cannot be used later, however its recording ended."""

    @pytest.mark.parametrize("outcome", [ZeroDivisionError, KeyboardInterrupt, None])
    def test_are_refused(self, outcome):
        kept = []

        @jit
        def f(x):
            kept.append(x)
            if outcome is not None:
                raise outcome
            return x

        with contextlib.suppress(ZeroDivisionError, KeyboardInterrupt):
            f(1.0)
        g = jit(lambda y: y * kept[0])
        with pytest.raises(RecordingError, match="used after the recording"):
            g(2.0)


def test_a_recording_keeps_context_variables_to_itself():
    """They end with the call of the function, so that nothing of a recording is left where it is interrupted."""
    depths = []

    @jit
    def f(x):
        depths.append(modes.depth())
        return x * 2.0

    f(1.0)
    assert depths == [1]
    assert modes.depth() == 0
