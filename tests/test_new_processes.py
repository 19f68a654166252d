"""Files that are loaded in a new process give the same results there."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy
import pytest
import their_models

from gradwalk import Graph, Program, Value, checkpoint, grad, jit, loops, math, primitive, vmap, walk
from gradwalk.program.calls.call import Call
from gradwalk.program.code.call_registry import KINDS, maker
from gradwalk.program.program import ProgramError
from gradwalk.solvers import fixed_point, odeint, root, root_scalar

X = 1.3  # the argument of all functions
MODELS = Path(their_models.__file__).parent

# Runs each program in a forked process that has imported NumPy but not gradwalk.
RUNNER = """
import json, os, sys, traceback
import numpy

def run(program):
    try:
        exec(program, {})
    except BaseException:
        traceback.print_exc(file=sys.stdout)

for program in json.load(sys.stdin):
    read, write = os.pipe()
    if os.fork() == 0:
        sys.stdout = os.fdopen(write, "w")
        run(program)
        sys.stdout.flush()
        os._exit(0)
    os.close(write)
    print(json.dumps(os.fdopen(read).read().strip()))
    os.wait()
"""


def printed(programs: Iterable[str]) -> list[str]:
    """Return what each program prints in a new process that can import `their_models`."""
    if not hasattr(os, "fork"):
        pytest.skip("starts processes by fork")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(MODELS), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", RUNNER]
    given = json.dumps(list(programs))
    result = subprocess.run(command, input=given, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


# Programs as JSON


def counted(x: Any) -> Any:
    return loops.fori_loop(0, 4, lambda i, y: math.sin(y) * x + i, x)


def repeated(x: Any) -> Any:
    return loops.while_loop(lambda y: y < 20.0, lambda y: y * x, x)


def scanned(x: Any) -> Any:
    last, out = loops.scan(lambda c, row: (c * row, c + row), x, numpy.array([0.5, 1.5, 2.5]))
    return last + out.sum()


def branched(x: Any) -> Any:
    return loops.cond(x > 1.0, lambda: x * x, lambda: -x)


def switched(x: Any) -> Any:
    return loops.switch(math.floor(x), [lambda: x, lambda: x * x, lambda: math.exp(x)])


def looked_up(x: Any) -> Any:
    return math.take([x, 2.0 * x, 3.0 * x], math.floor(x))


def summed(x: Any) -> Any:
    return vmap(lambda a, y: math.exp(a * y), in_axes=(0, None), reduce="sum")(numpy.array([0.1, 0.2, 0.3]), x)


def largest(x: Any) -> Any:
    return vmap(lambda a, y: math.sin(a * y), in_axes=(0, None), reduce="max")(numpy.array([1.0, 2.0, 3.0]), x)


def stacked(x: Any) -> Any:
    return vmap(lambda a, y: a * y * y, in_axes=(0, None))(numpy.array([0.1, 0.2, 0.3]), x).sum()


def searched(x: Any) -> Any:
    return root_scalar(lambda y: y * y * y - x, bracket=[0.0, 4.0])


def nested(x: Any) -> Any:
    def step(i: Any, y: Any) -> Any:
        chosen = loops.cond(y > x, lambda: loops.while_loop(lambda z: z > 0.3, lambda z: z * 0.5, y), lambda: y + x)
        return chosen + looked_up(x) * summed(y)

    return loops.fori_loop(0, 3, step, x)


FUNCTIONS = [
    counted,
    repeated,
    scanned,
    branched,
    switched,
    looked_up,
    summed,
    largest,
    stacked,
    searched,
    nested,
]


def saved(f: Any, folder: Path, name: str) -> tuple[Path, list[float]]:
    """Save the program of a function; return the file and the program's result at X."""
    function = jit(f)
    function(X)
    path = folder / f"{name}.json"
    function.program.save(path)
    return path, function.program.run([X]).tolist()


def test_programs_load_in_a_new_process(tmp_path):
    files = [
        saved(transform(f), tmp_path, f"{f.__name__}{order}")
        for f in FUNCTIONS
        for order, transform in enumerate((lambda f: f, lambda f: grad(grad(f))))
    ]
    load = "from gradwalk import Program; print(Program.load({!r}).run([{}]).tolist())"
    found = printed(load.format(str(path), X) for path, _ in files)
    assert found == [str(expected) for _, expected in files]


def test_loaded_programs_can_be_saved_again(tmp_path):
    paths = [saved(grad(f), tmp_path, f.__name__)[0] for f in FUNCTIONS]
    load = (
        "from gradwalk import Program; import json; p = Program.load({!r}); print(json.dumps([p.to_json(), p.to_c()]))"
    )
    for path, texts in zip(paths, printed(load.format(str(path)) for path in paths), strict=True):
        assert json.loads(texts) == [path.read_text(encoding="utf-8"), Program.load(path).to_c()]


def test_call_types_are_found_by_name():
    find = "from gradwalk.program.code.call_registry import maker; print(maker({!r}).__name__)"
    found = printed(find.format(kind) for kind in ("loop", "loop_back", "switch"))
    assert found == ["loop_from_file", "loop_vjp_from_file", "switch_from_file"]


def test_all_call_types_are_registered():
    # A call with a kind can be saved. The imports above define all of them.
    waiting: list[type[Call]] = [Call]
    kinds = set()
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            kinds.add(kind.kind)
    assert kinds - {""} == set(KINDS)
    assert all(map(callable, map(maker, KINDS)))


# Calls that cannot be saved


@primitive
def doubled(x: float) -> float:
    return 2.0 * x


def sin_of(x: Any) -> Any:
    return math.sin(x)


REFUSED = {
    "odeint": (lambda x: odeint(lambda y, t: -x * y, 1.0, [0.0, 1.0])[-1], "odeint runs outside"),
    "root": (lambda x: root(lambda y: [y[0] ** 3 - x], [1.0])[0], "The equation is solved outside"),
    "fixed_point": (lambda x: fixed_point(lambda y: math.cos(y) * x, 1.0), "The equation is solved outside"),
    "root_scalar": (
        lambda x: root_scalar(lambda y: y * y - x, x0=1.0, x1=2.0, method="secant"),
        "The equation is solved outside",
    ),
    "doubled": (doubled, "Write it with gradwalk.math"),
    "sin_of": (checkpoint(sin_of), "Write it with gradwalk.math"),
}


@pytest.mark.parametrize(("f", "remedy"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("place", ["itself", "in a loop", "in a branch"])
def test_calls_that_cannot_be_saved_raise(f, remedy, place, request):
    name = request.node.callspec.id.split("-")[-1]
    around = {
        "itself": f,
        "in a loop": lambda x: loops.fori_loop(0, 2, lambda i, y: f(y), x),
        "in a branch": lambda x: loops.cond(x > 0.0, lambda: f(x), lambda: x),
    }
    function = jit(around[place])
    program = function.recorded(X).program
    for write in (program.to_json, program.to_c):
        with pytest.raises(ProgramError, match=f"calls {name}, a Python function, .*{remedy}"):
            write()


# Pickles


def test_pickles_load_in_a_new_process(tmp_path):
    # Unpickling imports `their_models`, which defines the functions.
    programs, expected = [], {}
    for i, (name, (make, result)) in enumerate(their_models.OBJECTS.items()):
        path = tmp_path / f"{i}.pickle"
        original = make()
        path.write_bytes(pickle.dumps(original))
        programs.append(f"import pickle, numpy; found = pickle.load(open({str(path)!r}, 'rb')); print({result})")
        expected[name] = str(eval(result, {"found": original, "numpy": numpy}))
    assert dict(zip(expected, printed(programs), strict=True)) == expected


# Graphs and walks


def test_graphs_and_walks_in_a_new_process(tmp_path):
    a, b = Value(2.0, label="a"), Value(3.0, label="b")
    graph = Graph.record(math.sin(a * b) + a)
    path = tmp_path / "graph.json"
    path.write_text(graph.to_json(), encoding="utf-8")
    load = f"from gradwalk import Graph; print(Graph.from_json(open({str(path)!r}).read()).to_json())"
    write = "from gradwalk import Value, walk; v = Value(2.0, label='a') * 3.0; v.backward(); print(walk(v).to_json())"
    v = Value(2.0, label="a") * 3.0
    v.backward()
    found, walked = printed([load, write])
    assert found == graph.to_json().strip()
    assert json.loads(walked) == json.loads(walk(v).to_json())
