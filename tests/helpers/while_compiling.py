"""Programs that fork or exit at random moments while functions are being compiled."""

from __future__ import annotations

from checkout import IS_COMPILED

_FORKING = """
import multiprocessing, os, random, signal, sys, tempfile, threading, time, warnings
import numpy
from gradwalk import jit, math, vmap
from gradwalk.program.native import machine_code
from gradwalk.program.run.interpreter import Interpreter

os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()  # an empty cache, so that code is compiled
warnings.simplefilter("ignore", DeprecationWarning)
chance = random.Random(0)
numbers = numpy.linspace(0.0, 1.0, 300)


def function(factor, length):
    def f(x):
        for i in range(length):
            x = math.sin(x * (1 + i % 7)) + x * factor
        return x

    return f


def child():
    signal.alarm(120)  # ends a child that hangs
    f = function(1.0 / os.getpid(), 20)
    on_lanes, at_once = jit(vmap(f), backend="lanes"), jit(vmap(f), backend="llvm")
    scalar = jit(f, backend="llvm")
    right = scalar(0.3) == jit(f, backend="lanes")(0.3) and (at_once(numbers) == on_lanes(numbers)).all()
    used = {*scalar.statistics.backends.values(), *at_once.statistics.backends.values()}
    same = all(f(0.3) == expected for f, expected in compiling)
    sys.exit(0 if right and same and (used == {"llvm"} or not IS_COMPILED) else 1)


def compile_beside(number):
    f = jit(function(0.5 + 1e-3 * number, chance.choice([5, 50, 300])), backend=chance.choice([None, "llvm"]))
    expected = jit(f, backend="lanes")(0.3)
    if f._policy.backend == "llvm":
        threading.Thread(target=f, args=(0.3,), daemon=True).start()
    else:
        f(0.3)
        machine_code.compile_for(Interpreter(f.program.code))
    compiling[:] = [*compiling[-2:], (f, expected)]
    time.sleep(chance.random() * chance.choice([0.001, 0.02, 0.3]))


def exit_code(number):
    if number % 2:
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
        return process.exitcode
    child_id = os.fork()
    if child_id == 0:
        try:
            child()
        except SystemExit as end:
            os._exit(end.code)
    return os.waitstatus_to_exitcode(os.waitpid(child_id, 0)[1])


compiling = []
for number in range(FORKS):
    compile_beside(number)
    code = exit_code(number)
    assert code == 0, (number, code)
"""


def forking(count: int) -> str:
    """Return a program that forks `count` times; the children call and compile functions, then exit."""
    return f"IS_COMPILED, FORKS = {IS_COMPILED}, {count}\n{_FORKING}"


_EXITING = """
import os, random, sys, tempfile, threading, time
import numpy
from gradwalk import jit, math, vmap
from gradwalk.program.native import machine_code
from gradwalk.program.run.interpreter import Interpreter

os.environ["XDG_CACHE_HOME"] = FOLDER
chance = random.Random(SEED)


def function(factor, length):
    def f(x):
        for i in range(length):
            x = math.sin(x * (1 + i % 7)) + x * factor
        return x

    return f


kept = []
for i in range(5):
    f = jit(function(0.5 + 1e-3 * i, chance.choice([5, 50, 300])))
    f(0.3)
    kept.append(Interpreter(f.program.code))
    machine_code.compile_for(kept[-1])
batch = jit(vmap(function(0.4, 40)))
for _ in range(chance.choice([0, 1, 30])):
    batch(numpy.linspace(0.0, 1.0, 3000))
if chance.random() < 0.3:
    threading.Thread(target=jit(function(0.3, 100), backend="llvm"), args=(0.3,), daemon=True).start()
time.sleep(chance.random() * chance.choice([0.01, 0.1, 0.5]))
if chance.random() < 0.2:
    sys.exit(0)
"""


def exiting(seed: int, folder: str) -> str:
    """Return a program that exits at a random moment and compiles into `folder`."""
    return f"SEED, FOLDER = {seed}, {folder!r}\n{_EXITING}"
