"""A chain of 40,000 operations: forward, backward and freeing take at most 130 ns per operation.

This is at least 50 times as fast as PyTorch's 0-d float64 tensors and 5 times as fast as xad. The forward pass alone
takes at most 2.5 times as long as plain floats, whether the time to free the graph is included or not. micrograd is not
a peer because its recursive `backward` fails after about 1,000 operations.
"""

from __future__ import annotations

from typing import Any

from timing import Row, and_freed, at_most, best_of, faster, main, peer, within

from gradwalk import Value

X, Y = 0.5, 1.0


def chain(x: Any, y: Any, length: int) -> Any:
    """Apply two operations per iteration to any kind of number; y stays near 1."""
    for _ in range(length):
        y = y * x + x
    return y


def on_gradwalk(length: int) -> float:
    """Return d chain / d x, computed by gradwalk."""
    x = Value(X)
    chain(x, Value(Y), length).backward()
    return float(x.grad)


def on_torch(torch: Any, length: int) -> float:
    """Return d chain / d x, computed by PyTorch."""
    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    chain(x, torch.tensor(Y, dtype=torch.float64, requires_grad=True), length).backward()
    return float(x.grad)


def on_xad(xad: Any, length: int) -> float:
    """Return d chain / d x, computed by xad."""
    with xad.Tape() as tape:
        x, y = xad.Real(X), xad.Real(Y)
        tape.registerInputs([x, y])
        tape.newRecording()
        out = chain(x, y, length)
        tape.registerOutput(out)
        out.derivative = 1.0
        tape.computeAdjoints()
        return float(x.derivative)


def measure(quick: bool) -> list[Row]:
    """Return the five rows."""
    length, turns = (1000, 1) if quick else (20_000, 6)
    torch, xad = peer("torch", "torch"), peer("xad.adj_1st", "xad")
    derivatives = [on_gradwalk(length), on_torch(torch, length), on_xad(xad, length)]
    if max(derivatives) - min(derivatives) > 1e-12:
        raise AssertionError(f"the derivatives differ: {derivatives}")

    def forward() -> Value:
        result: Value = chain(Value(X), Value(Y), length)
        return result

    runs = {
        "gradwalk": lambda: on_gradwalk(length),
        "PyTorch": lambda: on_torch(torch, length),
        "xad": lambda: on_xad(xad, length),
        "forward": forward,
        "freed": and_freed(forward),
        "floats": lambda: chain(X, Y, length),
    }
    ns = {name: 1e9 * time / (2 * length) for name, time in best_of(turns, runs).items()}
    return [
        at_most("chain, an operation forward + backward", "ns", ns["gradwalk"], 130),
        faster("chain, an operation forward + backward", "ns", ns["gradwalk"], ("PyTorch", ns["PyTorch"]), 50),
        faster("chain, an operation forward + backward", "ns", ns["gradwalk"], ("xad", ns["xad"]), 5),
        within("chain, an operation forward", "ns", ns["forward"], ("floats", ns["floats"]), 2.5),
        within("chain, an operation forward and freed", "ns", ns["freed"], ("floats", ns["floats"]), 2.5),
    ]


if __name__ == "__main__":
    main(measure)
