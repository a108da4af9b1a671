"""Random frames on many connections at once pass unchanged, and are all in the file (at scale: ``tests.real``)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.real.websocket import LATE, judge, run_cases


@pytest.mark.parametrize("held", ["", "frame:none", LATE])
def test_random_frames_pass_unchanged_and_are_in_the_file(tmp_path: Path, held: str) -> None:
    ends = asyncio.run(run_cases(60, tmp_path / "cases.wb", held=held))
    passed, changed, frames, problems = judge(ends, tmp_path / "cases.wb")
    assert (changed, problems) == (0, [])
    assert passed > 100_000 and frames > 300
    assert any(case.breaks >= 0 for case in ends.cases.values())
