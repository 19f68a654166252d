"""The fuzz campaign: run the targets of tests/fuzz with ever new examples, for a minute or for hours.

usage: python tools/fuzz.py [--minutes 60] [--seed N] [TARGET ...]

Examples that fail are kept in tests/fuzz/corpus, from where later runs and the tests try them first: commit them with
what mends them. The exit code is 1 where a target failed.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests/helpers"), str(ROOT / "tests/fuzz")]

from hypothesis import HealthCheck, seed, settings  # noqa: E402  after the paths
from hypothesis.database import DirectoryBasedExampleDatabase  # noqa: E402

TARGETS: list[Callable[[], None]] = importlib.import_module("targets").TARGETS
CORPUS = ROOT / "tests/fuzz/corpus"
ROUND = 200  # examples


def run(target: Callable[[], None], number: int) -> bool:
    """Try a round of examples of one target; whether all are right."""
    campaign = settings(
        max_examples=ROUND,
        deadline=None,
        derandomize=False,
        database=DirectoryBasedExampleDatabase(CORPUS),
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    try:
        campaign(seed(number)(target))()
    except Exception:
        traceback.print_exc()
        return False
    return True


def main() -> int:
    """Run the campaign, and print a line for each target."""
    parser = argparse.ArgumentParser(description="Fuzz gradwalk.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="which; by default all")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="for the same examples as in another run")
    options = parser.parse_args()
    chosen = [target for target in TARGETS if not options.targets or target.__name__ in options.targets]
    if not chosen:
        parser.error(f"there are the targets {', '.join(target.__name__ for target in TARGETS)}")
    first = random.randrange(2**32) if options.seed is None else options.seed
    print(f"seed {first}")
    end = time.monotonic() + 60.0 * options.minutes
    rounds = dict.fromkeys([target.__name__ for target in chosen], 0)
    failed: set[str] = set()
    number = first
    while time.monotonic() < end or not all(rounds.values()):
        for target in chosen:
            if target.__name__ not in failed and not run(target, number):
                failed.add(target.__name__)
            rounds[target.__name__] += 1
            if time.monotonic() > end and all(rounds.values()):
                break
        number += 1
        if len(failed) == len(chosen):
            break
    for name, count in rounds.items():
        print(f"{name}: {count * ROUND:,} examples{', FAILED' if name in failed else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
