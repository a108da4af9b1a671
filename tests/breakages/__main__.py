"""``python -m tests.breakages [-v]``: every score, beside the one from before anything was taught for it.

``-v`` adds a line for each entry that is no clean hit, and for each error text that is not right.
``--without-own-facts`` adds to each catalogue how it scores with the relations switched off that cite an entry's own
source. ``--unseen-texts`` grades only the error texts, each without the patterns that no text of another source bears
out (half a minute). Exit status 0 when every entry is a hit without noise or false alarm, else 1.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from tests import breakages
from tests.breakages import leave_out, scoring, tool_hops, unseen_texts


def main() -> int:
    """Print the scores."""
    parser = argparse.ArgumentParser(prog="python -m tests.breakages", description=__doc__)
    parser.add_argument("-v", "--verbose", action="store_true", help="what is not a clean hit")
    parser.add_argument("--without-own-facts", action="store_true", help="scores without what each entry has taught")
    parser.add_argument("--unseen-texts", action="store_true", help="error texts without what their source has taught")
    given = parser.parse_args()
    if given.unseen_texts:
        return _unseen_texts(verbose=given.verbose)
    verbose, is_left_out = given.verbose, given.without_own_facts
    are_clean = [_catalogue(name, verbose=verbose, is_left_out=is_left_out) for name in breakages.CATALOGUES]
    are_clean += [_hops(name, verbose=verbose) for name in tool_hops.CATALOGUES]
    _texts(verbose=verbose)
    return 0 if all(are_clean) else 1


def _catalogue(name: str, *, verbose: bool, is_left_out: bool) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        result = scoring.score(breakages.entries(name), Path(folder))
    print(f"{name}.yaml")
    for line in (one.line() for one in result.scored if verbose and not one.is_clean):
        print(f"  {line}")
    for line in result.families():
        print(f"  {line}")
    if result.skipped:
        print(f"  not scored (needs arrival times or two hops): {' '.join(result.skipped)}")
    print(f"  first: {result.first()}")
    if is_left_out:
        print(f"  {leave_out.line(leave_out.grades(breakages.entries(name)))}")
    print(f"{result.line()}\n", flush=True)
    return result.is_clean


def _hops(name: str, *, verbose: bool) -> bool:
    """A catalogue of failures between agents and tool servers."""
    path = Path(tool_hops.__file__).parent / name
    scored = tool_hops.score(path)
    print(name)
    for one in scored:
        if verbose and one.grade != "hit":
            print(f"  {one.line()}")
    hits, of = tool_hops.first_hits(path)
    print(f"  first: {hits} of {of} hits ({100 * hits // of} %)")
    now = sum(one.grade == "hit" for one in scored)
    print(f"tool hops: {now} of {len(scored)} hits, the rule at its side and place\n", flush=True)
    return now == len(scored)


def _unseen_texts(*, verbose: bool) -> int:
    rows = breakages.error_texts()
    grades = unseen_texts.grades(rows)
    for grade, row in zip(grades, rows, strict=True):
        if verbose and grade != "right":
            print(f"  {grade:8} expected {row['right_rule']}: {row['text'][:100]!r}")
    print(unseen_texts.line(grades))
    return 0


def _texts(*, verbose: bool) -> None:
    rows = breakages.error_texts()
    graded = [(scoring.grade_text(row), row) for row in rows]
    print(f"{breakages.ERROR_TEXTS}.tsv")
    for grade, row in graded:
        if verbose and grade != "right":
            print(f"  {grade:8} expected {row['right_rule']}: {row['text'][:100]!r}")
    for name, grades in (("first", [row["first"] for row in rows]), ("now", [grade for grade, _ in graded])):
        counts = Counter(grades)
        print(f"  {name}: {', '.join(f'{counts[g]} {g}' for g in scoring.TEXT_GRADES if counts[g])}")
    right = sum(grade == "right" for grade, _ in graded)
    print(f"error texts: {right} of {len(rows)} right")


if __name__ == "__main__":
    raise SystemExit(main())
