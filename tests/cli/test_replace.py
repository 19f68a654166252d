"""A script that defines its own class like micrograd's Value prints the same after `--replace` by gradwalk's Value."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from checkout import PACKAGE, ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}

# As in microgpt: a node stores its local gradients.
LOCAL = """\
import math

class Value:
    __slots__ = ("data", "grad", "_children", "_local_grads")

    def __init__(self, data, children=(), local_grads=()):
        self.data = data
        self.grad = 0
        self._children = children
        self._local_grads = local_grads

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, (self, other), (1, 1))

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data * other.data, (self, other), (other.data, self.data))

    def __pow__(self, power):
        return Value(self.data**power, (self,), (power * self.data ** (power - 1),))

    def exp(self):
        return Value(math.exp(self.data), (self,), (math.exp(self.data),))

    def relu(self):
        return Value(max(0, self.data), (self,), (float(self.data > 0),))

    def __neg__(self): return self * -1
    def __sub__(self, other): return self + (-other)
    def __rsub__(self, other): return other + (-self)
    def __radd__(self, other): return self + other
    def __rmul__(self, other): return self * other
    def __truediv__(self, other): return self * other**-1
    # METHODS

    def backward(self):
        topo, visited = [], set()
        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v._children:
                    build(child)
                topo.append(v)
        build(self)
        self.grad = 1
        for v in reversed(topo):
            for child, local in zip(v._children, v._local_grads):
                child.grad += local * v.grad
"""

# As in micrograd: a node stores a function. Operands are in a tuple here. micrograd uses a set, whose order depends on
# addresses, so that the last bits of sums change from run to run.
CLOSURES = """\
import math

class Value:
    def __init__(self, data, _children=(), _op=""):
        self.data = data
        self.grad = 0
        self._backward = lambda: None
        self._prev = tuple(_children)
        self._op = _op

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other), "+")
        def _backward():
            self.grad += out.grad
            other.grad += out.grad
        out._backward = _backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other), "*")
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def tanh(self):
        t = (math.exp(2 * self.data) - 1) / (math.exp(2 * self.data) + 1)
        out = Value(t, (self,), "tanh")
        def _backward():
            self.grad += (1 - t**2) * out.grad
        out._backward = _backward
        return out
    # METHODS

    def __neg__(self): return self * -1
    def __sub__(self, other): return self + (-other)
    def __radd__(self, other): return self + other
    def __rmul__(self, other): return self * other
    def __repr__(self): return f"Value(data={self.data}, grad={self.grad})"

    def backward(self):
        topo, visited = [], set()
        def build(v):
            if v not in visited:
                visited.add(v)
                for child in v._prev:
                    build(child)
                topo.append(v)
        build(self)
        self.grad = 1.0
        for v in reversed(topo):
            v._backward()
"""

# The program after either class.
TRAINING = """
def loss(x, w, b):
    return sum((((w * i - 0.3) * x + b).tanh() - 0.1 * i) * 2.5 for i in range(1, 6)) * (w + b)

x, w, b = Value(0.7), Value(-0.4), Value(0.25)
for step in range(20):
    total = loss(x, w, b)
    total.backward()
    for p in (x, w, b):
        p.data -= 0.01 * p.grad
    print(repr(total.data), [p.grad for p in (x, w, b)])
    for p in (x, w, b):
        p.grad = 0.0
"""
TANH = "    def tanh(self): return ((self * 2).exp() - 1) / ((self * 2).exp() + 1)\n"


def with_methods(program: str, methods: str) -> str:
    return program.replace("    # METHODS\n", textwrap.indent(textwrap.dedent(methods), "    "))


def run(folder: Path, program: str, *arguments: str, command: str = "run") -> subprocess.CompletedProcess[str]:
    """Run a program under gradwalk; `arguments` has the options, script.py and the arguments of the script."""
    (folder / "script.py").write_text(program, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "gradwalk", command, *(arguments or ("--replace", "Value", "script.py"))],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def plain_output(folder: Path, program: str) -> str:
    """Return the output of a program in plain Python."""
    (folder / "script.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "script.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("program", [LOCAL.replace("    # METHODS\n", TANH), CLOSURES], ids=["local", "closures"])
def test_numbers_are_bitwise_equal(tmp_path, program):
    result = run(tmp_path, program + TRAINING + "print(Value.__module__)\n")
    assert result.returncode == 0, result.stderr
    assert result.stdout == plain_output(tmp_path, program + TRAINING) + "gradwalk.value.value\n"
    assert result.stderr.startswith(
        "gradwalk: Value of script.py was replaced by gradwalk's Value; kept from the script: "
    )


def test_gpt_trains_to_the_same_weights(tmp_path):
    arguments = [str(ROOT / "tests/helpers/tiny_gpt.py"), str(ROOT / "examples/names.txt"), "50"]
    plain = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    ours = [sys.executable, "-m", "gradwalk", "run", "--replace", "Scalar", *arguments]
    replaced = subprocess.run(ours, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert replaced.stdout == plain.stdout
    assert plain.stdout.count("\n") == 56
    assert replaced.stderr.endswith(
        "Scalar of "
        + arguments[0]
        + " was replaced by gradwalk's Value; kept from the script: __pow__, relu, __truediv__\n"
    )


if "MICROGPT" in os.environ:  # the path of a copy of microgpt.py

    def test_original_microgpt(tmp_path):
        original = Path(os.environ["MICROGPT"]).read_text(encoding="utf-8")
        program = re.sub(r"^num_steps = \d+", "num_steps = 10", original, flags=re.M)
        (tmp_path / "input.txt").write_bytes((ROOT / "examples/names.txt").read_bytes())
        result = run(tmp_path, program)
        assert result.stdout == plain_output(tmp_path, program)
        assert "was replaced by gradwalk's Value" in result.stderr


def test_arguments_after_the_script_belong_to_it(tmp_path):
    program = LOCAL + "import sys\nprint(sys.argv, __name__)\n"
    result = run(tmp_path, program, "--replace", "Value", "script.py", "--replace", "X", "-m")
    assert result.stdout == "['script.py', '--replace', 'X', '-m'] __main__\n", result.stderr


# Suggestions


@pytest.mark.parametrize("head", ["class Value:", "class Value(object):"])
def test_script_with_such_a_class_gets_a_hint(tmp_path, head):
    result = run(tmp_path, LOCAL.replace("class Value:", head) + "print(Value.__module__)\n", "script.py")
    assert result.stdout == "__main__\n"
    assert result.stderr == (
        "gradwalk: script.py defines its own Value, which runs unchanged. To replace it by gradwalk's Value: "
        "gradwalk run --replace Value script.py\n"
    )


@pytest.mark.parametrize(
    "program",
    [
        "class Value:\n    def backward(self): pass\n",
        "import numpy as np\nclass Tensor:\n"
        "    def __init__(self, data): self.data, self.grad, self.prev = np.array(data), 0, ()\n"
        "    def __add__(self, other): pass\n    def __mul__(self, other): pass\n    def backward(self): pass\n",
        "from micrograd.engine import Value\nprint('def backward', Value(1.0))\n",
    ],
    ids=["other", "arrays", "micrograd"],
)
def test_other_scripts_get_no_hint(tmp_path, program):
    assert run(tmp_path, program, "script.py").stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudoterminals")
@pytest.mark.parametrize(("answer", "module"), [("y", "gradwalk.value.value"), ("", "__main__")])
def test_terminal_users_are_asked(tmp_path, answer, module):
    import pty  # noqa: PLC0415  there is none on Windows

    (tmp_path / "script.py").write_text(LOCAL + "print(Value.__module__)\n", encoding="utf-8")
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "gradwalk", "run", "script.py"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, text=True
    ) as process:
        os.write(controller, f"{answer}\n".encode())
        output, _ = process.communicate(timeout=60)
    os.close(terminal)
    assert "script.py defines its own Value. Replace it by gradwalk's? [y/N]" in os.read(controller, 4096).decode()
    os.close(controller)
    assert output == f"{module}\n"


# Methods of the script that are kept


@pytest.mark.parametrize(
    ("method", "call"),
    [
        ("def log(self): return Value(math.log(self.data + 1e-3), (self,), (1 / (self.data + 1e-3),))", "log()"),
        ("def exp(self): e = math.exp(min(self.data, 700.0)); return Value(e, (self,), (e,))", "exp()"),
        ("def gelu(self): return self * ((self * -1.702).exp() + 1)**-1", "gelu()"),
        ("def sigmoid(self): return (1 + (-self).exp())**-1", "sigmoid()"),
        ("def sqrt(self): return self**0.5", "sqrt()"),
        ("def __rtruediv__(self, other): return other * self**-1", "__rtruediv__(3)"),
        ("def item(self): return f'<{self.data:.3f}>'", "item()"),
        ("def __repr__(self): return f'V({self.data:.2f}, {self.grad:.2f})'", "__repr__()"),
        ("def __float__(self): return self.data", "__float__()"),
        ("def __eq__(self, other): return self.data == other.data\n__hash__ = object.__hash__", "__eq__(Value(0.75))"),
        ("def clip(self, low=0.0, high=0.5): return Value(min(max(self.data, low), high))", "clip(high=0.25)"),
        ("@property\ndef T(self): return self", "T"),
        ("@staticmethod\ndef of(x): return Value(x)", "of(2.0)"),
        ("def leaky_relu(self, slope): return self if self.data > 0 else self * slope", "leaky_relu(0.1)"),
    ],
)
def test_methods_without_an_equivalent_are_kept(tmp_path, method, call):
    program = with_methods(LOCAL, method) + textwrap.dedent(
        f"""
        x = Value(0.75)
        out = (x * 1.0).{call}
        if isinstance(out, Value):
            out.backward()
            out = (out.data, x.grad + 0.0)
        print(out)
        """
    )
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program), result.stderr
    assert call.partition("(")[0] in result.stderr.partition("kept from the script: ")[2]


@pytest.mark.parametrize(
    ("methods", "expression"),
    [
        (
            "def __eq__(self, other): return self.data == other\n__hash__ = object.__hash__",
            "(x == 2.5, x != 2.5, [x].index(2.5), [x] != [2.5])",
        ),
        ("def __lt__(self, other): return self.data > other.data", "(x < y, x > y, [v.data for v in sorted((x, y))])"),
        ("def __str__(self): return f'<{self.data}>'", "(str(x), f'{x}', '%s' % x)"),
        ("def __repr__(self): return f'<{self.data}>'", "(str(x), f'{x}', [x])"),
        ("def __rpow__(self, base): return Value(base**self.data)", "((2**x).data, (x**2).data)"),
    ],
    ids=["==", "<", "str", "repr", "rpow"],
)
def test_special_methods_are_kept(tmp_path, methods, expression):
    program = with_methods(LOCAL, methods) + f"x, y = Value(2.5), Value(3.0)\nprint({expression})\n"
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program) != "", result.stderr


def test_repr_of_the_script_shows_no_label(tmp_path):
    assert "{self.data}, grad={self.grad}" in CLOSURES
    program = CLOSURES + "x = Value(2.5)\nx.grad, x.label = 0.5, 'x'\nprint(x, x.label)\n"
    assert run(tmp_path, program).stdout == plain_output(tmp_path, program) == "Value(data=2.5, grad=0.5) x\n"


def test_file_of_the_script_is_absolute(tmp_path):
    program = LOCAL + "import os\nos.chdir('/')\nprint(os.path.samefile(__file__, PATH), os.path.isabs(__file__))\n"
    result = run(tmp_path, program.replace("PATH", repr(str(tmp_path / "script.py"))))
    assert result.stdout == "True True\n", result.stderr


def test_operations_are_single_nodes(tmp_path):
    # Each operation is one node; the script's class makes two or three.
    program = LOCAL + "a, b = Value(2.0), Value(3.0)\nprint([out._op for out in (a - b, -a, 2 - a, a * b, a.exp())])\n"
    assert run(tmp_path, program).stdout == "['-', '-', '-', '*', 'exp']\n"


def test_renamed_attributes_and_keyword_arguments(tmp_path):
    power = "(self,), (power * self.data ** (power - 1),)"
    assert power in LOCAL
    program = LOCAL.replace(power, "parents=(self,), slopes=(power * self.data ** (power - 1),)")
    program = program.replace("children=(), local_grads=()", "parents=(), slopes=()")
    program = program.replace("= children", "= parents").replace("= local_grads", "= slopes")
    program = program.replace("_children", "parents").replace("_local_grads", "_slopes")
    program += textwrap.dedent(
        """
        a, b = Value(data=2.0), Value(3.0)
        c = Value(parents=(a, b), slopes=(0.5, 0.25), data=7.0)
        d = c * a ** 2
        d.backward()
        print(a.grad, b.grad, [v.data for v in c.parents], c._slopes)
        """
    )
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program) == "30.0 1.0 [2.0, 3.0] (0.5, 0.25)\n", result.stderr
    assert "reads .parents: gradwalk's graph has fewer nodes" in result.stderr


def test_operands_in_a_set(tmp_path):
    # A set iterates in the order of addresses, so the last digits of the script differ from run to run.
    program = CLOSURES.replace("tuple(_children)", "set(_children)") + TRAINING
    result = run(tmp_path, program)
    assert "; its backward() iterates over sets of nodes, whose order changes from run to run" in result.stderr
    printed = [re.findall(r"-?\d[\d.e-]*", text) for text in (result.stdout, plain_output(tmp_path, program))]
    ours, theirs = [list(map(float, numbers)) for numbers in printed]
    assert ours == pytest.approx(theirs, rel=1e-9)
    assert len(ours) == 80


def test_backward_closure_under_another_name(tmp_path):
    program = CLOSURES.replace("_backward", "_rule") + TRAINING
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program), result.stderr


def test_helpers_defined_after_the_class(tmp_path):
    program = LOCAL.replace("other if isinstance(other, Value) else Value(other)", "lifted(other)")
    program += "\nONE = 1\nimport os\ndef lifted(x): return x if isinstance(x, Value) else Value(x * ONE)\n"
    program += (
        "class Weight(Value):\n    __slots__ = ()\nprint((Weight(2.0) * 3 + 1).data, issubclass(Weight, Value))\n"
    )
    result = run(tmp_path, program)
    assert result.stdout == "7.0 True\n", result.stderr


def test_classes_in_functions_and_branches(tmp_path):
    function = "def main():\n" + textwrap.indent(LOCAL, "    ") + "    return Value(2.0) * 3\nprint(main(), main())\n"
    assert run(tmp_path, function).stdout == "Value(data=6.0, grad=0.0) Value(data=6.0, grad=0.0)\n"
    branch = "if True:\n" + textwrap.indent(LOCAL, "    ") + "else:\n    Value = None\nprint(Value(2.0) * 3)\n"
    assert run(tmp_path, branch).stdout == "Value(data=6.0, grad=0.0)\n"


def test_dataclass(tmp_path):
    head, _, methods = LOCAL.partition("    def __add__")
    del head
    program = (
        "from __future__ import annotations\nimport math\nfrom dataclasses import dataclass\n\n@dataclass(eq=False)\n"
        "class Value:\n    data: float\n    _children: tuple[Value, ...] = ()\n"
        "    _local_grads: tuple[float, ...] = ()\n"
        f"    grad: float = 0.0\n\n    def __add__{methods}"
        "\na = Value(2.0)\n(a * a).backward()\nprint(a.grad, a.data)\n"
    )
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program) == "4.0 2.0\n", result.stderr


def test_common_uses_of_values(tmp_path):
    program = LOCAL + textwrap.dedent(
        """
        import copy, json, pickle
        def norm(v: Value) -> "Value":
            return v * v
        w = Value(3)
        w.data -= 0.5
        copied = pickle.loads(pickle.dumps(copy.deepcopy(w)))
        Value.cube = lambda v: v * v * v
        print(json.dumps([w.data, norm(w).data, copied.data, (w * 2).cube().data]))
        print(w in {w}, max(Value(1.5), w, key=lambda v: v.data) is w)
        """
    )
    result = run(tmp_path, program.replace('__slots__ = ("data", "grad", "_children", "_local_grads")', "pass"))
    assert result.stdout == "[2.5, 6.25, 2.5, 125.0]\nTrue True\n", result.stderr


def test_methods_that_call_numpy(tmp_path):
    # NumPy's log differs from the C library's in the last bit for few numbers, which the samples may miss.
    method = "def log(self): return Value(float(np.log(self.data)), (self,), (1 / self.data,))"
    program = "import numpy as np\n" + with_methods(LOCAL, method)
    program += "print([Value(0.25 + i / 977).log().data for i in range(1000)])\n"
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program)
    assert "kept from the script: __pow__, relu, __truediv__, log" in result.stderr


def test_equality_that_accepts_only_values(tmp_path):
    methods = "def __eq__(self, other): return self.data == other.data\n__hash__ = object.__hash__"
    program = with_methods(LOCAL, methods).replace("_children", "parents").replace("_local_grads", "slopes")
    program += "print(Value(1.0) == Value(1.0), Value(1.0) != Value(1.0))\n"
    result = run(tmp_path, program)
    assert result.stdout == "True False\n", result.stderr


def test_deeply_nested_expressions(tmp_path):
    program = LOCAL + "x = Value(1.5)\nprint((" + " + ".join(["x"] * 400) + ").data)\n"
    result = run(tmp_path, program)
    assert result.stdout == "600.0\n", result.stderr


def test_line_numbers_are_kept(tmp_path):
    program = LOCAL + "\ndef f(v):\n    return v.data['x']\n\nf(Value(1.0))\n"
    result = run(tmp_path, program)
    lines = program.splitlines()
    assert result.returncode == 1
    assert f'  File "script.py", line {lines.index("f(Value(1.0))") + 1}, in <module>\n' in result.stderr
    assert f"  File \"script.py\", line {len(lines) - 2}, in f\n    return v.data['x']\n" in result.stderr
    assert "replacement" not in result.stderr
    broken = run(tmp_path, "x = (\n")
    assert broken.returncode == 1
    assert "SyntaxError" in broken.stderr
    assert "own_class" not in broken.stderr


def test_second_pass_over_the_same_results_is_reported(tmp_path):
    # gradwalk's gradient 18 is correct; the script's gradient 24 is not.
    program = LOCAL + "x = Value(3.0)\ny = x * x\nfor k in range(3):\n    (y * k).backward()\nprint(x.grad)\n"
    result = run(tmp_path, program)
    assert result.stdout == "18.0\n"
    assert plain_output(tmp_path, program) == "24.0\n"
    line = "script.py:53: (y * k).backward(): backward() visits results that have a gradient from an earlier pass"
    assert result.stderr.count("earlier pass") == 1
    assert line in result.stderr


# Order of contributions

BACKWARD = LOCAL[LOCAL.index("    def backward") :]
ORDERS = {
    "reversed": BACKWARD.replace(
        "in v._children:\n                    build", "in v._children[::-1]:\n                    build"
    ),
    "stack": """\
    def backward(self):
        topo, visited, stack = [], set(), [(self, False)]
        while stack:
            v, is_done = stack.pop()
            if is_done:
                topo.append(v)
            elif v not in visited:
                visited.add(v)
                stack.append((v, True))
                stack.extend((child, False) for child in v._children if child not in visited)
        self.grad = 1
        for v in reversed(topo):
            for child, local in zip(v._children, v._local_grads):
                child.grad += local * v.grad
""",
    "queue": """\
    def backward(self):
        counts, seen, stack = {}, {self}, [self]
        while stack:
            for child in stack.pop()._children:
                counts[child] = counts.get(child, 0) + 1
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        self.grad, queue = 1, [self]
        while queue:
            v = queue.pop(0)
            for child, local in zip(v._children, v._local_grads):
                child.grad += local * v.grad
                counts[child] -= 1
                if counts[child] == 0:
                    queue.append(child)
""",
    "paths": """\
    def backward(self):
        def push(v, grad):
            v.grad += grad
            for child, local in zip(v._children, v._local_grads):
                push(child, local * grad)
        push(self, 1.0)
""",
    "helper": """\
    def order(self):
        order = []
        def build(v):
            if v not in order:
                for child in reversed(v._children):
                    build(child)
                order.append(v)
        build(self)
        return order[::-1]

    def backward(self):
        self.grad = 1
        for v in self.order():
            for child, local in zip(v._children, v._local_grads):
                child.grad += local * v.grad
""",
}
assert ORDERS["reversed"] != BACKWARD
CLOSURES_REVERSED = CLOSURES.replace("for child in v._prev", "for child in reversed(v._prev)")
assert CLOSURES_REVERSED != CLOSURES


@pytest.mark.parametrize("order", ORDERS)
def test_backward_in_another_order_is_kept(tmp_path, order):
    program = LOCAL.replace(BACKWARD, ORDERS[order]).replace("    # METHODS\n", TANH) + TRAINING
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program), result.stderr
    assert "kept from the script: backward, " in result.stderr
    gradients = re.findall(r"-?\d[\d.e-]*", plain_output(tmp_path, LOCAL.replace("    # METHODS\n", TANH) + TRAINING))
    is_the_same = re.findall(r"-?\d[\d.e-]*", result.stdout) == gradients
    assert is_the_same == (order == "queue")  # only some graphs show a different order: see probe_points.py


def test_backward_in_another_order_over_closures_is_kept(tmp_path):
    # The operands are in a tuple `_prev`, which is a set in gradwalk.
    program = CLOSURES_REVERSED + TRAINING + "print([v.data for v in (x * w)._prev], (x * w)._prev[0] is x)\n"
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program), result.stderr
    assert "kept from the script: backward, " in result.stderr


def test_backward_in_another_order_can_be_walked(tmp_path):
    program = (
        LOCAL.replace(BACKWARD, ORDERS["stack"])
        + "x = Value(2.0)\nfor k in range(2):\n    loss = x * 3\n    loss.backward()\n"
    )
    result = run(tmp_path, program, "--replace", "Value", "script.py", command="walk")
    assert result.returncode == 0, result.stderr
    assert "loss = x * 3 = 6" in result.stdout
    assert "Pass 2 of 2" in result.stdout
    assert "earlier pass" not in result.stderr


def test_order_that_cannot_be_kept_is_reported(tmp_path):
    # The script's backward() needs an attribute that gradwalk's Value does not have.
    backward = ORDERS["reversed"].replace("topo, visited", "getattr(self, 'hidden'); topo, visited")
    program = LOCAL.replace(BACKWARD, backward).replace(
        '    __slots__ = ("data", "grad", "_children", "_local_grads")\n', ""
    )
    program = program.replace("        self.data = data\n", "        self.data, self.hidden = data, 1\n")
    result = run(tmp_path, program.replace("    # METHODS\n", TANH) + TRAINING)
    assert (
        "its backward() adds contributions in a different order, so the last digits of gradients may differ"
        in result.stderr
    )
    assert "backward," not in result.stderr
    theirs = plain_output(tmp_path, program.replace("    # METHODS\n", TANH) + TRAINING)
    printed = [[*map(float, re.findall(r"-?\d[\d.e-]*", text))] for text in (result.stdout, theirs)]
    assert printed[0] == pytest.approx(printed[1], rel=1e-9)


# Methods that differ only at special numbers


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("relu", "def relu(self): return Value(max(0, self.data), (self,), (float(self.data > 0),))"),
        ("relu", "def relu(self): return Value(self.data if self.data > 0 else 0.0, (self,), (float(self.data > 0),))"),
        ("relu", "def relu(self): return Value(0 if self.data < 0 else self.data, (self,), (float(self.data > 0),))"),
        ("relu", "def relu(self): return Value(self.data * (self.data > 0), (self,), (float(self.data > 0),))"),
        ("__neg__", "def __neg__(self): return Value(0 - self.data, (self,), (-1.0,))"),
        ("__abs__", "def __abs__(self): return self if self.data >= 0 else -self"),
        ("log", "def log(self): return Value(math.log(self.data + 1e-300), (self,), (1 / (self.data + 1e-300),))"),
        ("exp", "def exp(self): e = math.exp(min(self.data, 709.0)); return Value(e, (self,), (e,))"),
    ],
)
def test_methods_that_differ_at_special_numbers_are_kept(tmp_path, name, method):
    program = re.sub(rf"    def {name}\(.*?(?=\n    def|\n    #)", "", LOCAL, count=1, flags=re.S)
    program = with_methods(program, method) + textwrap.dedent(
        f"""
        for number in (1.5, -1.5, 0.0, -0.0, 5e-324, math.inf, -math.inf, math.nan):
            x = Value(number)
            try:
                out = x.{name}()
                out.backward()
                print(number, float(out.data), float(x.grad))
            except ValueError:
                print(number, "raises")
        """
    )
    result = run(tmp_path, program)
    kept = result.stderr.partition("kept from the script: ")[2].strip().split(", ")
    assert name in kept
    assert "raises" in plain_output(tmp_path, program) or result.stdout == plain_output(tmp_path, program)


@pytest.mark.parametrize(
    ("method", "slope"),
    [
        ("self.grad += 1 / x * out.grad", True),
        ("self.grad += 1 / x", False),
        ("self.grad = 1 / x * out.grad", False),
    ],
    ids=["right", "forgets the chain rule", "overwrites"],
)
def test_wrong_derivatives_are_kept(tmp_path, method, slope):
    rule = f"""
    def log(self):
        x = self.data
        out = Value(math.log(x), (self,), "log")
        def _backward():
            {method}
        out._backward = _backward
        return out
    """
    program = (
        with_methods(CLOSURES, rule) + "x = Value(0.7)\ny = x.log() * 3.0 + x * 2.0\ny.backward()\nprint(x.grad)\n"
    )
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program), result.stderr
    assert (", log" not in result.stderr) == slope


def test_comparison_shows_no_warnings(tmp_path):
    method = "def log(self): return Value(np.log(np.float64(self.data)), (self,), (np.float64(1.0) / self.data,))"
    program = "import numpy as np, warnings\nwarnings.simplefilter('always')\n" + with_methods(LOCAL, method)
    program += "print(Value(0.0).log().data)\n"
    result = run(tmp_path, program)
    assert result.stdout == "-inf\n"
    assert result.stderr.count("RuntimeWarning") == 2  # from the script's log(0) and its derivative


# Classes of the same name, and constructors


def test_only_the_class_like_micrograd_is_replaced(tmp_path):
    first = (
        "class Value:\n    def __init__(self, data): self.data = data\n    def __add__(self, other): return 'first'\n"
    )
    program = first + "print(Value(1) + Value(2))\n" + LOCAL + "print(Value.__module__)\n"
    result = run(tmp_path, program)
    assert result.stdout == "first\ngradwalk.value.value\n", result.stderr
    assert result.stderr.startswith(
        f"gradwalk: Value of script.py, line {first.count(chr(10)) + 4}, was replaced by gradwalk's Value"
    )


def test_two_classes_of_the_same_name(tmp_path):
    # As in an exported notebook. Methods kept in the first class are not in the second.
    second = with_methods(LOCAL, "def cube(self): return self * self * self").replace(
        "self.data + other.data, (", "other.data + self.data, ("
    )
    program = with_methods(LOCAL, "def double(self): return self * 2") + "print(Value(2.0).double().data)\n"
    program += (
        second + "print(Value(2.0).cube().data, hasattr(Value, 'double'))\n" + TRAINING.replace(".tanh()", ".exp()")
    )
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program), result.stderr
    lines = [line for line in result.stderr.splitlines() if "was replaced by gradwalk's Value" in line]
    numbers = [i + 1 for i, line in enumerate(program.splitlines()) if line == "class Value:"]
    assert [line.split(", ")[1] for line in lines] == [f"line {number}" for number in numbers]
    assert ("double" in lines[0], "double" in lines[1]) == (True, False)


def test_messages_give_the_line_of_the_class(tmp_path):
    second = LOCAL.replace("    def exp(self):\n", "    def exp(self):\n        print('exp')\n")
    line = (LOCAL + second).splitlines().index("        print('exp')") + 1
    replaced, said = failure(tmp_path, LOCAL + second + "\n").split("\n")
    assert (
        replaced
        == "Value of script.py, line 3, was replaced by gradwalk's Value; kept from the script: __pow__, relu, "
        "__truediv__"
    )
    assert said.startswith(
        f"gradwalk: Value of script.py, line {LOCAL.count(chr(10)) + 3}, cannot be replaced faithfully: its exp"
    )
    assert f"in line {line}." in said
    neither = "class Value:\n    def backward(self): pass\n" * 2
    said = failure(tmp_path, neither)
    assert said.startswith("Value of script.py, line 3, is not a class like micrograd's Value: it has no + and no *")
    assert said.endswith("and the script has none")


def test_class_derived_from_its_namesake(tmp_path):
    program = LOCAL + "class Value(Value):\n    def cube(self): return self * self * self\n"
    assert f"line {LOCAL.count(chr(10)) + 1} defines another Value, which derives from it" in failure(tmp_path, program)


@pytest.mark.parametrize(
    ("constructor", "call", "said"),
    [
        ("data, label='', children=(), local_grads=()", "Value(2.0, 'x')", "a label as argument 2"),
        ("data, name='', children=(), local_grads=()", "Value(2.0, name='x')", "a name as argument 2"),
        ("data, children=(), label='', local_grads=()", "Value(2.0, (), 'x')", "a label as argument 3"),
        ("data, children=(), local_grads=(), name=''", "Value(2.0, (), (), 'x')", "a name as argument 4"),
        (
            "data, children=(), local_grads=(), label='', fixed=False",
            "Value(2.0, (), (), '', True)",
            "a fixed as argument 5",
        ),
        ("data, children=(), local_grads=(), fixed=False", "Value(2.0, fixed=True)", "a fixed as argument 4"),
        ("data, label='', children=(), local_grads=()", "Value(*[2.0, 'x'])", "a label as argument 2"),
    ],
)
def test_unsupported_constructor_arguments(tmp_path, constructor, call, said):
    # Such calls are rejected before the script runs. A label, which gradwalk's Value has too, works as a keyword.
    program = LOCAL.replace('    __slots__ = ("data", "grad", "_children", "_local_grads")\n', "")
    program = program.replace("data, children=(), local_grads=()", constructor)
    program = re.sub(
        r"return Value\((.*), (\(self.*?\)), (\(.*\))\)\n", r"return Value(\1, children=\2, local_grads=\3)\n", program
    )
    kept = "        self.label = label\n" if "label=" in constructor else ""
    program = program.replace("        self.data = data\n", "        self.data = data\n" + kept)
    said = f"line {program.count(chr(10)) + 2} passes {said} of its constructor, but gradwalk's Value takes data, child"
    error = failure(tmp_path, f"{program}print('has run')\nv = {call}\n")
    assert said in error or "passes a local_grads as argument 4 of its constructor" in error
    if "label=''" in constructor and constructor.index("label") > constructor.index("local_grads"):
        result = run(tmp_path, f"{program}v = Value(2.0, label='x')\nprint(v.label, (v * 3).data)\n")
        assert result.stdout == "x 6.0\n", result.stderr


# Errors


def failure(folder: Path, program: str, *arguments: str) -> str:
    result = run(folder, program, *arguments)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("gradwalk: ")
    return result.stderr.removeprefix("gradwalk: ").strip()


@pytest.mark.parametrize(
    ("name", "program", "said"),
    [
        (
            "Valu",
            LOCAL,
            "script.py defines no class Valu; --replace needs a class like micrograd's Value: Value",
        ),
        ("Value", "x = 1", "script.py defines no class Value; --replace needs a class with .data, .grad,"),
        (
            "Value",
            "from engine import Value",
            "script.py defines no class Value, but imports it from engine: write `from gradwalk import Value` there",
        ),
        (
            "Node",
            "class Node:\n    def __add__(self, other): pass\n",
            "Node of script.py is not a class like micrograd's Value: it has no backward() and no * and no .data",
        ),
    ],
)
def test_missing_or_unsuitable_class(tmp_path, name, program, said):
    program = "print('has run')\n" + program
    result = run(tmp_path, program, "--replace", name, "script.py")
    assert result.stdout == ""
    assert failure(tmp_path, program, "--replace", name, "script.py").startswith(said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("child.grad += local * v.grad", "child.grad = local * v.grad", "its backward() gives the gradients"),
        (
            "child.grad += local * v.grad",
            "child.grad += min(local * v.grad, 1.0)",
            "its backward() gives the gradients",
        ),
        ("self.grad = 1\n", "for v in topo: v.grad = 0\n        self.grad = 1\n", "its backward() gives the gradients"),
        ("self.data + other.data", "round(self.data + other.data, 2) + 5", "its backward() gives the gradients"),
        ("self.data = data", "self.data = [data]", "raise TypeError"),
        ("self.data = data", "self.data = data + 1", "has .data 2.5 and .grad 0, not 1.5 and 0.0"),
        (
            "self.data = data",
            "print(data); self.data = data",
            "its __init__ does more than store its arguments, in line",
        ),
        (
            "    def exp(self):\n",
            "    def exp(self):\n        print('exp')\n",
            "its exp has a side effect in line",
        ),
        (
            "def backward(self):",
            "def backward(self, keep=False):",
            "passes arguments to backward(), but gradwalk's backward() takes",
        ),
        ("self.data = data", "self.data = data\n        Value.count += 1", "changes an attribute of the class itself"),
        ("    # METHODS", "    op = property(lambda self: 'mul')", "its .op is not a function"),
        (
            "    # METHODS",
            "    def __setattr__(self, name, x): object.__setattr__(self, name, x)",
            "defines __setattr__",
        ),
        ("    # METHODS", "    def exp(self): return super().exp()", "its exp uses super()"),
        ("    # METHODS", "    def __len__(self): return 1", "it defines __len__"),
        (
            "return Value(max(0, self.data), (self,), (float(self.data > 0),))",
            "return self * (random.random() < 0.9)",
            "its relu gives different numbers when it is called again",
        ),
        (
            "self.data = data",
            "self.data = data; self.key = random.random()",
            "it draws random numbers while it computes",
        ),
        (
            "    def exp(self):\n",
            "    draw = random.Random(1).random\n    def exp(self):\n        if Value.draw() < 0.1: return self\n",
            "its exp gives different numbers when it is called again",
        ),
    ],
)
def test_classes_that_behave_differently(tmp_path, old, new, said):
    program = LOCAL.replace('    __slots__ = ("data", "grad", "_children", "_local_grads")\n', "")
    assert old in program
    program = "import random\n" + program.replace(old, new) + "\nprint('has run')\n"
    if "keep" in new:
        program += "Value(2.0).backward(keep=True)\n"
    error = failure(tmp_path, program)
    assert said in error
    assert error.endswith("Without --replace Value, it runs unchanged")


def test_random_numbers_are_unchanged(tmp_path):
    # Methods that draw random numbers and do not exist in gradwalk are kept.
    methods = """
        def dropout(self, p): return self * (random.random() >= p)
        def noisy(self): return self + random.gauss(0.0, 1.0) + float(numpy.random.normal())
        def __matmul__(self, other): return self * other * random.random()
    """
    program = "import random\nimport numpy\nrandom.seed(3)\nnumpy.random.seed(4)\n" + with_methods(LOCAL, methods)
    program += textwrap.dedent(
        """
        x = Value(0.75)
        out = x.dropout(0.5) + x.noisy() @ x.noisy()
        out.backward()
        print(out.data, x.grad, random.random(), numpy.random.normal())
        """
    )
    result = run(tmp_path, program)
    assert result.stdout == plain_output(tmp_path, program), result.stderr


def test_unknown_attributes(tmp_path):
    program = CLOSURES.replace("        self._op = _op\n", "        self._op = _op\n        self.shape = 0\n")
    assert run(tmp_path, program + "Value(1.0).shape = 1\n").returncode == 0
    said = "the script uses its .shape, which gradwalk's Value does not have"
    assert said in failure(tmp_path, program + "Value(1.0).shape\n")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('(self, other), "*")', '(self, other), "mul")', "the script uses ._op, which must be '*' for a product, got"),
        ('_op=""', '_op="leaf"', "the script uses ._op, which must be '' for a leaf, got 'leaf'"),
        ("._op", ".kind", "the script uses its .kind, which gradwalk's Value does not have"),
    ],
)
def test_other_operation_names(tmp_path, old, new, said):
    program = CLOSURES.replace(old, new) + "print((Value(1.0) * 2)._op)\n"
    if new == ".kind":
        program = program.replace("= _op", "= _op + '!'").replace(")._op", ").kind")
    assert said in failure(tmp_path, program)


def test_constructor_with_reordered_arguments(tmp_path):
    program = LOCAL.replace("data, children=()", "data, name='', children=()").replace(", (self,", ", '', (self,")
    said = "line 14 passes a name as argument 2 of its constructor, but gradwalk's Value takes data, children, op or"
    assert said in failure(tmp_path, program)


def test_subclass_that_overrides_an_operation(tmp_path):
    program = LOCAL.replace('    __slots__ = ("data", "grad", "_children", "_local_grads")\n', "")
    program += (
        "class Weight(Value):\n    def __init__(self, x): super().__init__(x)\n    def item(self): return self.data\n"
    )
    assert run(tmp_path, program + "print((2 + Weight(1.0)).data, Weight(3.0).item())\n").stdout == "3.0 3.0\n"
    program += "    def __add__(self, other): return Value.__add__(self, other) * 2\n"
    line = program.count("\n")
    assert f"line {line} overrides its __add__ in Weight" in failure(tmp_path, program)


def test_incompatible_options(tmp_path):
    result = run(tmp_path, LOCAL, "--replace", "Value", "-m", "script")
    assert result.returncode == 2
    assert "--replace does not work with -m: give the path of the script that defines the class" in result.stderr
    result = run(tmp_path, LOCAL, "--replace", "script.py")
    assert result.returncode == 2
    assert "--replace needs the name of a class, followed by the path of the script" in result.stderr
    result = run(tmp_path, LOCAL, "--replace", "Value", "a*b", "a=1", "b=2", command="walk")
    assert "--replace does not work with an expression: give the path of a script" in result.stderr


# gradwalk walk


def test_walk_of_such_a_script(tmp_path):
    program = LOCAL + "x = Value(2.0)\nloss = (x * 3).exp()\nloss.backward()\n"
    result = run(tmp_path, program, "--replace", "Value", "script.py", command="walk")
    assert result.returncode == 0, result.stderr
    assert "loss = exp(x * 3) = 403.429\n  └─ x * 3 = 6" in result.stdout
    result = run(tmp_path, program, "script.py", command="walk")
    assert result.returncode == 2
    assert "gradwalk walk --replace Value script.py" in result.stderr
