"""``python -m tests.generated [--seed N] [--row BEGINNING] [--list]``: the share of drawn faults that is named.

``--list`` prints each fault that is not named, with what was found.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.generated import Dice, Fault, Scene, answers, histories, requests, settings, texts
from tests.generated.scoring import Scored, score
from tests.siblings.further_wires import ALL

MAKERS = (*requests.MAKERS, *settings.MAKERS, *histories.MAKERS, *answers.MAKERS, *texts.MAKERS)


def draw(seed: int) -> Iterator[Fault]:
    """All faults of a number."""
    for make in MAKERS:
        for wire in ALL:
            dice = Dice(f"{seed} {make.__name__} {wire.name}")
            for n, fault in enumerate(make(wire, dice)):
                if n % 2 and fault.answer is None:
                    scene = Scene.of(dice)
                    before = (scene.asked(wire, dice), wire.answer((scene.call,)))
                    fault = fault._replace(before=before)
                yield fault


def main() -> int:
    """Draw, judge, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.generated", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--row", default="", help="only rows that begin so")
    parser.add_argument("--list", action="store_true", help="print each fault that is not named")
    asked = parser.parse_args()
    scores = [score(fault) for fault in draw(asked.seed) if fault.row.startswith(asked.row)]
    if asked.list:
        for each in scores:
            if not each.is_named:
                print(each.line())
    _print(scores)
    return 0


def _print(scores: list[Scored]) -> None:
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in scores:
        for row in (each.fault.row, "all"):
            rows[row].update(["of", each.grade])
    for row in sorted(rows, key=lambda name: (name == "all", name)):
        counts = rows[row]
        share = f"{100 * counts['named'] / counts['of']:.0f} %"
        left = ", ".join(f"{grade} {counts[grade]}" for grade in ("elsewhere", "other", "silent"))
        print(f"{row:24} {counts['named']:4} of {counts['of']:4} {share:>6}   {left}")


if __name__ == "__main__":
    raise SystemExit(main())
