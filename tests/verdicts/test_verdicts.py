"""Inspection finds what it found before: on examples, catalogues, recordings and sessions drawn by a number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from tests import breakages, verdicts
from tests.breakages.artefacts import artefact, corrected
from tests.test_recordings import FILES
from tests.verdicts import random_sessions
from workbench.formats.importers import open_input
from workbench.wire.session.store import open_session

ROOT = Path(__file__).resolve().parents[2]
DRAWN = 500
PARTS = 10

Hold = Callable[[str, Iterable[str]], None]


def test_examples(approved: Hold) -> None:
    found = []
    for path in sorted((ROOT / "sessions").glob("*.jsonl")):
        with closing(open_session(path)) as session:
            found += verdicts.lines(path.stem, session)
    approved("examples", found)


@pytest.mark.sampled(12)  # the scores of all of them are held by tests/test_catalogue.py
@pytest.mark.parametrize("name", breakages.CATALOGUES)
def test_catalogues(name: str, tmp_path: Path, approved: Hold) -> None:
    found = []
    for entry in breakages.entries(name):
        for suffix, made in (("", artefact(entry)), (" corrected", corrected(entry))):
            if made is not None:
                path = tmp_path / f"{entry['id']}{suffix}{made.suffix}"
                path.write_bytes(made.raw)
                with closing(open_input(str(path))) as session:
                    found += verdicts.lines(entry["id"] + suffix, session, entry["contract"])
    approved(name, found)


def test_recordings(recordings: Path, approved: Hold) -> None:
    found = []
    for name in FILES:
        with closing(open_input(str(recordings / name))) as session:
            found += verdicts.lines(name, session)
    approved("recordings", found)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("part", range(PARTS))
def test_random_sessions(part: int, approved: Hold) -> None:
    found = []
    for seed in range(part * DRAWN // PARTS, (part + 1) * DRAWN // PARTS):
        found += verdicts.lines(str(seed), random_sessions.session(seed))
    approved(f"random-{part}", found)


def test_numbers_are_written_as_ranges() -> None:
    assert verdicts.ranges([5, 1, 2, 2, 3, 7, 7]) == "1,2(×2),3,5,7(×2)"
    assert verdicts.ranges([0, 1, 2, 9]) == "0-2,9"
