"""The block of vector_functions.h that generate.py writes: what tools/coefficients.py has fitted, as C."""

from __future__ import annotations

from collections.abc import Iterator

from gradwalk.ops import fits

# Functions of vector_functions.h, for loops over lanes where the C library has none.
VECTOR_FUNCTIONS = ("exp", "expm1", "log", "log1p", "sin", "cos", "tanh")


def vector_constants() -> Iterator[str]:
    """The lines: polynomials, constants in several parts, and which functions there are."""
    for suffix, kind, end in (("", "double", ""), ("_SINGLE", "float", "f")):
        for function in ("exp", "log", "sin", "cos"):
            coefficients = getattr(fits, f"{function.upper()}_TAIL{suffix}")
            yield f"LANE_FUNCTION {kind} {function}_tail{suffix}({kind} t1) {{"
            yield from _estrin([f"{x!r}{end}" for x in reversed(coefficients)], kind)
            yield "}"
        high, low = getattr(fits, f"LOG_2{suffix}")
        yield from (f"#define LOG_2_HIGH{suffix} {high!r}{end}", f"#define LOG_2_LOW{suffix} {low!r}{end}")
    yield from (f"#define HALF_PI_{i} {part!r}" for i, part in enumerate(fits.HALF_PI, 1))
    yield f"#define HALF_PI_2_SINGLE {fits.HALF_PI_SINGLE[1]!r}"
    yield from (f"#define HALF_PI_{x} {part!r}" for x, part in zip(("WHOLE", "REST"), fits.HALF_PI_WHOLE, strict=True))
    words = [f"0x{word:08X}" for word in (0, 0, *fits.TWO_OVER_PI)]  # 64 digits before the point, too
    yield f"#define ROW_FUNCTIONS(each) {' '.join(f'each({function})' for function in VECTOR_FUNCTIONS)}"
    yield "static const uint32_t TWO_OVER_PI[] = {"
    yield from (f"    {', '.join(words[i : i + 8])}," for i in range(0, len(words), 8))
    yield "};"


def _estrin(terms: list[str], kind: str) -> Iterator[str]:
    """The body of a polynomial in t1 of these coefficients: by Estrin's scheme, in which little waits for the rest."""
    power = 1
    while len(terms) > 1:
        sums = [f"p{power}_{k}" for k in range(len(terms) // 2)]
        for total, low, high in zip(sums, terms[::2], terms[1::2], strict=False):
            yield f"    const {kind} {total} = {low} + {high} * t{power};".replace("+ -", "- ")
        terms = sums + terms[2 * len(sums) :]
        power *= 2
        if len(terms) > 1:
            yield f"    const {kind} t{power} = t{power // 2} * t{power // 2};"
    yield f"    return {terms[0]};"
