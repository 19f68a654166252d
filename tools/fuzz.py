"""Run the fuzz targets of tests/fuzz with new random examples, for a minute or for hours.

usage: python tools/fuzz.py [--minutes 60] [TARGET ...]

Failing examples are stored in tests/fuzz/corpus, and later runs and the tests try them first: commit them together with
the fix. The exit code is 1 if a target failed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests/helpers"), str(ROOT / "tests/fuzz")]

TARGETS = importlib.import_module("targets").TARGETS  # needs the paths above

ROUND = 200  # examples


def is_right(target: Callable[[], None]) -> bool:
    """Try a round of examples of one target; return whether all of them passed."""
    try:
        target()
    except Exception:
        traceback.print_exc()
        return False
    return True


def main() -> int:
    """Run the campaign and print a line for each target."""
    parser = argparse.ArgumentParser(description="Fuzz gradwalk.")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="names of targets; by default all")
    parser.add_argument("--minutes", type=float, default=60.0)
    options = parser.parse_args()
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
