"""Programs written for micrograd run unchanged."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from checkout import PACKAGE


def run(tmp_path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(program), encoding="utf-8")
    command = [sys.executable, "-m", "gradwalk", "run", str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_imports_resolve_to_gradwalk(tmp_path):
    result = run(
        tmp_path,
        """
        import random
        import micrograd
        from micrograd.engine import Value
        from micrograd.nn import MLP, Layer, Module, Neuron
        import micrograd.nn as nn
        assert nn.Value is Value and micrograd.engine.Value is Value
        model = MLP(2, [2, 1])
        assert isinstance(model.layers[0], Layer) and isinstance(model.layers[0].neurons[0], Neuron)
        assert {x._op for x in model([1.0, 2.0])._prev} == {"+", "*"}
        print(Value.__module__, MLP.__module__, MLP(2, [1]))
        """,
    )
    assert result.stdout == "gradwalk.value.value micrograd.nn MLP of [Layer of [LinearNeuron(2)]]\n", result.stderr


def test_imports_from_the_package(tmp_path):
    # Programs written for many forks of micrograd import from the package, not from its modules.
    result = run(
        tmp_path,
        """
        from micrograd import MLP, Layer, Module, Neuron, Value
        import micrograd.engine, micrograd.nn
        print(Value is micrograd.engine.Value, MLP is micrograd.nn.MLP, isinstance(MLP(2, [1]).layers[0], Layer))
        print(isinstance(Neuron(2), Module))
        """,
    )
    assert result.stdout == "True True True\nTrue\n", result.stderr


def test_script_has_its_own_main_module_and_path(tmp_path):
    (tmp_path / "neighbor.py").write_text("name = 'neighbor'\n")
    result = run(
        tmp_path,
        """
        import pickle, sys
        import neighbor
        class Mine: pass
        pickle.dumps(Mine())
        print(sys.argv[1:], __name__, __file__ == sys.argv[0], neighbor.name, sys.modules["__main__"].Mine is Mine)
        """,
        "--steps",
        "3",
    )
    assert result.stdout == "['--steps', '3'] __main__ True neighbor True\n", result.stderr
    assert result.returncode == 0


def test_failure_shows_only_the_traceback_of_the_script(tmp_path):
    result = run(tmp_path, "def f():\n    raise KeyError('mine')\n\nf()\n")
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert "script.py" in lines[1]
    assert lines[-1] == "KeyError: 'mine'"
    assert "gradwalk" not in result.stderr.replace(str(tmp_path), "")


def test_syntax_error(tmp_path):
    result = run(tmp_path, "x = (\n")
    assert result.returncode == 1
    assert "SyntaxError" in result.stderr
    assert "gradwalk" not in result.stderr.replace(str(tmp_path), "")


@pytest.mark.parametrize(("ending", "code"), [("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('no')", 1)])
def test_exit_codes(tmp_path, ending, code):
    assert run(tmp_path, f"import sys\n{ending}\n").returncode == code


def test_missing_script(tmp_path):
    command = [sys.executable, "-m", "gradwalk", "run", str(tmp_path / "missing.py")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "missing.py" in result.stderr
    assert "Traceback" not in result.stderr


def test_idioms_of_micrograd_users(tmp_path):
    # As in micrograd's notebooks: methods added to the class, custom nodes, and traversal by _prev and _op.
    result = run(
        tmp_path,
        """
        import math
        from micrograd.engine import Value

        def tanh(self):
            t = math.tanh(self.data)
            out = Value(t, (self,), "tanh")
            def _backward():
                self.grad += (1 - t**2) * out.grad
            out._backward = _backward
            return out
        Value.tanh = tanh

        def trace(root):
            nodes, edges = set(), set()
            def build(v):
                if v not in nodes:
                    nodes.add(v)
                    for child in v._prev:
                        edges.add((child, v))
                        build(child)
            build(root)
            return nodes, edges

        x, w = Value(0.5), Value(-3.0)
        o = (x * w + 1).tanh()
        o.backward()
        nodes, edges = trace(o)
        print(len(nodes), len(edges), round(x.grad, 6), sorted(n._op for n in nodes))
        """,
    )
    assert result.stdout == "6 5 -2.359343 ['', '', '', '*', '+', 'tanh']\n", result.stderr  # as micrograd


def test_annotations_are_not_postponed(tmp_path):
    result = run(tmp_path, "def f(x: int): ...\nprint(f.__annotations__)\n")
    assert result.stdout == "{'x': <class 'int'>}\n", result.stderr


def test_spawned_processes(tmp_path):
    result = run(
        tmp_path,
        """
        import multiprocessing
        from micrograd.engine import Value

        def where(_):
            return Value.__module__

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(where, [1]))
        """,
    )
    assert result.stdout == "['gradwalk.value.value']\n", result.stderr


def test_interrupt_shows_only_the_traceback_of_the_script(tmp_path):
    result = run(tmp_path, "raise KeyboardInterrupt\n")
    assert result.returncode == 130
    assert "gradwalk" not in result.stderr.replace(str(tmp_path), "")


def test_user_defined_attributes(tmp_path):
    # Adam with its state in attributes of the parameters, and a hook around _backward.
    result = run(
        tmp_path,
        """
        import copy, pickle
        from micrograd.engine import Value
        from micrograd.nn import MLP
        model = MLP(2, [2, 1])
        for p in model.parameters():
            p.m, p.v = 0.5, []
        p.m += 1
        print(p.m, p.v, copy.deepcopy(p).m, pickle.loads(pickle.dumps(p)).m, hasattr(p, "missing"))
        a = Value(3.0)
        c = a * a
        rule = c._backward
        def hook():
            print("hook", c.grad)
            rule()
        c._backward = hook
        c.backward()
        print(a.grad)
        """,
    )
    assert result.stdout == "1.5 [] 1.5 1.5 False\nhook 1.0\n6.0\n", result.stderr


def test_as_micrograd_in_a_notebook():
    program = (
        "import gradwalk; gradwalk.as_micrograd();"
        "from micrograd.engine import Value; import micrograd.nn; print(Value is gradwalk.Value)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "True\n"


def run_module(tmp_path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradwalk", "run", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)


def test_pytest_of_a_project(tmp_path):
    (tmp_path / "engine.py").write_text("from micrograd.engine import Value\n")
    test = "import engine\ndef test_it():\n    x = engine.Value(3.0)\n    (x * x).backward()\n    assert x.grad == {}\n"
    for expected, code in ((6.0, 0), (7.0, 1)):
        (tmp_path / "test_engine.py").write_text(test.format(expected))
        result = run_module(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_engine.py")
        assert result.returncode == code, result.stdout
    assert "1 failed" in result.stdout


def test_module_has_its_own_main_module_and_arguments(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text(
        "import sys\nfrom micrograd.engine import Value\nfrom . import name\n"
        "print(sys.argv[1:], __name__, __package__, name, Value.__module__)\nsys.exit(len(sys.argv))\n"
    )
    (package / "__init__.py").write_text("name = 'package'\n")
    result = run_module(tmp_path, "-m", "package", "--steps", "-m", "3")
    assert result.stdout == "['--steps', '-m', '3'] __main__ package package gradwalk.value.value\n", result.stderr
    assert result.returncode == 4
    (package / "__main__.py").write_text("def f():\n    raise KeyError('mine')\n\nf()\n")
    result = run_module(tmp_path, "-m", "package")
    assert result.returncode == 1
    assert result.stderr.startswith("Traceback (most recent call last):")
    assert "KeyError: 'mine'" in result.stderr
    assert "micrograd.py" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "no_such_module"), "gradwalk: there is no module 'no_such_module' to run"),
        (("-m",), "run needs the path of a script, or -m and the name of a module"),
        ((), "run needs the path of a script, or -m and the name of a module"),
    ],
)
def test_nothing_to_run(tmp_path, arguments, message):
    result = run_module(tmp_path, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("as_module", [False, True])
def test_run_adopts_packages(tmp_path, as_module):
    (tmp_path / "curves.py").write_text("import math\n\n\ndef f(x):\n    return math.sin(float(x))\n")
    (tmp_path / "script.py").write_text("from curves import f\nfrom gradwalk import grad\n\nprint(grad(f)(0.0))\n")
    program = ["-m", "script"] if as_module else ["script.py"]
    command = [sys.executable, "-m", "gradwalk", "run", "--adopt", "curves", "--adopt", "colorsys", *program]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (result.stdout, result.stderr) == ("1.0\n", "")


def test_run_refuses_unknown_packages(tmp_path):
    (tmp_path / "script.py").write_text("print(1)\n")
    command = [sys.executable, "-m", "gradwalk", "run", "--adopt", "no_such_package", "script.py"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode != 0
    assert "--adopt: there is no package 'no_such_package'" in result.stderr
    assert "Traceback" not in result.stderr
