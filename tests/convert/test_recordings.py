"""Real traffic says the same in every protocol, up to the losses: a sample; ``-m tests.convert`` takes all of it."""

from __future__ import annotations

from pathlib import Path

from tests.convert import laws, recorded

EVERY = 40
"""One file of so many."""


def test_a_sample_of_the_recordings(recordings: Path) -> None:
    writers = laws.writers()
    assert not [line for path in recorded.files(recordings)[::EVERY] for line in recorded.problems(path, writers)]
