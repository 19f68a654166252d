"""Vector versions of functions of the C library, such as `exp`, in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gradwalk.program.native.expressions import PREFIX, VARIABLES, Body, Type, declaration, signature, symbol
from gradwalk.program.routine.limits import MEMORY

# Functions with vector versions in libmvec: the same list as in lanes.h.
_TWO_OPERANDS = ("pow", "atan2", "hypot")
VECTOR_FUNCTIONS = frozenset(
    [
        *_TWO_OPERANDS,
        *("exp", "expm1", "exp2", "log", "log2", "log10", "log1p", "cbrt", "erf", "erfc"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    ]
)


class Registers(NamedTuple):
    """The vector registers of an instruction set.

    Attributes:
        doubles: Number of float64 elements of a vector.
        letter: Letter that denotes the instruction set in the vector ABI of x86-64.
        features: CPU features, in LLVM's notation.
    """

    doubles: int
    letter: str
    features: str


_AVX2 = "+avx2,+fma,+bmi2"
REGISTERS = {
    "baseline": Registers(2, "b", ""),
    "avx2": Registers(4, "d", _AVX2),
    "avx512": Registers(8, "e", f"{_AVX2},+avx512f,+avx512dq,+avx512bw,+avx512vl,+avx512cd"),
}


class Vectors(NamedTuple):
    """Vector versions of functions such as `exp`.

    Attributes:
        lanes: Number of lanes per call.
        letter: Letter that denotes the instruction set in the vector ABI of x86-64.
        functions: Functions with a vector version in the C library.
        of_rows: Functions that read and write lanes in memory: `void f(ptr from, ptr to, i64 lanes)`.
    """

    lanes: int
    letter: str
    functions: frozenset[str]
    of_rows: frozenset[str] = frozenset()

    @property
    def registers(self) -> int:
        """The number of vector registers of the instruction set."""
        return 32 if self.letter == "e" else 16


class Target(NamedTuple):
    """The target of the printed code.

    Attributes:
        type: Type of the values: a vector of all lanes that are computed side by side.
        vectors: Vector versions of functions.
        contract: Whether a product and a sum may be fused, so that they round only once.
        memory: The largest number of bytes that a loop stores for its reverse pass: see `Lowering`.
    """

    type: Type
    vectors: Vectors
    contract: bool
    memory: int = MEMORY


def attributes(target: Target) -> Iterable[str]:
    """Yield the attribute groups. They request registers as wide as the target's vectors, and an aligned stack."""
    bits = target.vectors.lanes * (64 if target.type.real == "double" else 32)
    width = f'"min-legal-vector-width"="{bits}" "prefer-vector-width"="{bits}"'
    yield f"attributes #0 = {{ nounwind alignstack=64 {width} }}"
    yield f"attributes #1 = {{ nounwind memory(none) {width} }}"


class Library:
    """Printer of functions that apply a C library function to all lanes."""

    def __init__(self, target: Target) -> None:
        self._type, self._vectors = target.type, target.vectors

    def printed(self, function: str, arity: int) -> list[str]:
        """Print a function that applies a C function to all lanes, one vector or one lane at a time.

        `function` is the name of the C function for double.
        """
        in_c = function.removeprefix(PREFIX)
        if in_c in self._vectors.of_rows:
            return self._of_row(function, row_name(in_c, self._type, self._vectors))
        lanes = self._vectors.lanes if in_c in self._vectors.functions else 1
        called = Type(self._type.real, lanes)
        name = vector_name(in_c, called, arity, self._vectors) if lanes > 1 else f"{PREFIX}{in_c}"
        name += "f" if self._type.real == "float" else ""
        body = Body(self._type)
        results = []
        for first in range(0, self._type.lanes, lanes):
            given = [f"{called.numbers} {self._part(body, f'%{x}', first, called)}" for x in VARIABLES[:arity]]
            results.append(body.new(f"call {called.numbers} @{name}({', '.join(given)})"))
        lines = [signature(symbol(function, self._type), self._type, arity).replace("{", "#0 {"), "begin:"]
        end = self._joined(body, results, called)
        return [
            f"{declaration(name, called, arity)} #1",
            *lines,
            *body.lines,
            f"  ret {self._type.numbers} {end}",
            "}",
        ]

    def _of_row(self, function: str, name: str) -> list[str]:
        """Print a function that copies all lanes to the stack and calls the function for rows."""
        numbers = self._type.numbers
        return [
            f"declare void @{name}(ptr, ptr, i64)",
            signature(symbol(function, self._type), self._type, 1).replace("{", "#0 {"),
            "begin:",
            f"  %row = alloca {numbers}, align 64",
            f"  store {numbers} %{VARIABLES[0]}, ptr %row, align 64",
            f"  call void @{name}(ptr %row, ptr %row, i64 {self._type.lanes})",
            f"  %result = load {numbers}, ptr %row, align 64",
            f"  ret {numbers} %result",
            "}",
        ]

    def _part(self, body: Body, operand: str, first: int, kind: Type) -> str:
        """Append code that extracts the lanes from `first` on; return the name of the result, which has type `kind`."""
        numbers = self._type.numbers
        if kind.lanes == 1:
            return body.new(f"extractelement {numbers} {operand}, i64 {first}")
        return self._shuffled(body, numbers, operand, "poison", range(first, first + kind.lanes))

    def _joined(self, body: Body, parts: list[str], kind: Type) -> str:
        """Append code that concatenates the parts pairwise; return the name of the result."""
        if kind.lanes == 1:
            joined = "poison"
            for lane, part in enumerate(parts):
                joined = body.new(f"insertelement {self._type.numbers} {joined}, {kind.real} {part}, i64 {lane}")
            return joined
        lanes = kind.lanes
        while len(parts) > 1:
            numbers = Type(kind.real, lanes).numbers
            lanes *= 2
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self._shuffled(body, numbers, *pair, range(lanes)) for pair in pairs]
        return parts[0]

    def _shuffled(self, body: Body, numbers: str, x: str, y: str, lanes: range) -> str:
        mask = ", ".join([f"i32 {lane}" for lane in lanes])
        return body.new(f"shufflevector {numbers} {x}, {numbers} {y}, <{len(lanes)} x i32> <{mask}>")


def vectors_of(features: Mapping[str, bool], has: Callable[[str], bool]) -> Vectors:
    """Return the vector functions of float64 for a processor: the widest that it has, or two lanes without functions.

    Args:
        features: Tells which features the processor has, by LLVM's name.
        has: Function that tells whether libmvec has a function.
    """
    for registers in (REGISTERS["avx512"], REGISTERS["avx2"]):
        if all(features.get(name.removeprefix("+")) for name in registers.features.split(",")):
            kind = Type("double", registers.doubles)
            vectors = Vectors(kind.lanes, registers.letter, frozenset())
            arities = [(name, 2 if name in _TWO_OPERANDS else 1) for name in VECTOR_FUNCTIONS]
            found = [name for name, arity in arities if has(vector_name(name, kind, arity, vectors))]
            return vectors._replace(functions=frozenset(found))
    return Vectors(REGISTERS["baseline"].doubles, REGISTERS["baseline"].letter, frozenset())


def vector_name(function: str, kind: Type, arity: int, vectors: Vectors) -> str:
    """Return the name of a vector function in the vector ABI of x86-64."""
    return f"_ZGV{vectors.letter}N{kind.lanes}{'v' * arity}_{function}"


def row_name(function: str, kind: Type, vectors: Vectors) -> str:
    """Return the symbol of a function that reads and writes lanes in memory. It names the instruction set and type."""
    return f"gradwalk_{vectors.letter}_{function}{'f' if kind.real == 'float' else ''}"
