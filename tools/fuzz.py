"""Run the fuzz targets of tests/fuzz with new random examples, for a minute or for hours.

usage: python tools/fuzz.py [--minutes 60] [TARGET ...]
       python tools/fuzz.py --programs 10000 [--seed 0] [--every-c 50]

Failing examples are stored in tests/fuzz/corpus, and later runs and the tests try them first: commit them together with
the fix. The exit code is 1 if a target failed.

The second form checks a number of random programs with nested loops, branches and look-ups, one per seed, to second
derivatives, and prints the seed and a reduced program for each failure. See tests/fuzz/same_bits.py.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests/helpers"), str(ROOT / "tests/fuzz")]

TARGETS = importlib.import_module("targets").TARGETS  # needs the paths above
failure_of = importlib.import_module("same_bits").failure_of

ROUND = 50  # examples


def is_right(target: Callable[[], None]) -> bool:
    """Try a round of examples of one target; return whether all of them passed."""
    try:
        target()
    except Exception:
        traceback.print_exc()
        return False
    return True


def check_programs(count: int, first: int, every_c: int) -> int:
    """Check the structured programs of `count` seeds; print those that fail, and return the exit code.

    The C source of one program in `every_c` programs is compiled.
    """
    failures = 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for done, seed in enumerate(range(first, first + count)):
            report = failure_of(seed, Path(folder) if every_c and done % every_c == every_c // 2 else None)
            if report:
                failures += 1
                print(report, flush=True)
            if (done + 1) % 100 == 0 or done + 1 == count:
                seconds = time.monotonic() - start
                print(f"{done + 1:,} programs, {failures} failures, {seconds:,.0f} s", flush=True)
    return 1 if failures else 0


def main() -> int:
    """Run the campaign and print a line for each target."""
    parser = argparse.ArgumentParser(description="Fuzz gradwalk.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="names of targets; by default all")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--programs", type=int, help="check so many structured programs instead of the targets")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first structured program")
    parser.add_argument(
        "--every-c", type=int, default=50, help="compile the C source of one program in so many; 0: none"
    )
    options = parser.parse_args()
    if options.programs is not None:
        return check_programs(options.programs, options.seed, options.every_c)
    names = [target.name for target in TARGETS]
    if not set(options.targets) <= set(names):
        parser.error(f"targets must be among {', '.join(names)}")
    campaigns = {target.name: target.campaign(ROUND) for target in TARGETS if target.name in (options.targets or names)}
    end = time.monotonic() + 60.0 * options.minutes
    rounds = dict.fromkeys(campaigns, 0)
    failed: set[str] = set()
    while len(failed) < len(campaigns) and (time.monotonic() < end or not all(rounds.values())):
        for name, campaign in campaigns.items():
            if name in failed or (time.monotonic() > end and rounds[name]):
                continue
            rounds[name] += 1
            if not is_right(campaign):
                failed.add(name)
    for name, count in rounds.items():
        print(f"{name}: {count * ROUND:,} examples{', FAILED' if name in failed else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
