"""A keeper in a process of its own writes what one here would, and its end ends nothing else."""

from __future__ import annotations

import io
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.recorder.capture.test_keeper import heard, look
from tests.recorder.hearing import answered, asked
from workbench.errors import UsageError
from workbench.recorder import child
from workbench.recorder.capture.keeper_process import SLICE, KeeperProcess, _batches
from workbench.wire.exchange import State

EVENTS = heard([b'{"model":', b' "m"}'], [b"data: %d\n\n" % n for n in range(2 * SLICE)], asked(), answered())


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_of_any_size_are_written(size: int, tmp_path: Path) -> None:
    keeper = KeeperProcess(tmp_path / "x.wb", hop="here")
    for at in range(0, len(EVENTS), size):
        keeper.take(EVENTS[at : at + size])
    tally = keeper.close()
    assert (tally.exchanges, tally.is_cut) == (1, False)
    (exchange,) = look(tmp_path / "x.wb")
    assert exchange.response and exchange.response.body.raw == b"".join(b"data: %d\n\n" % n for n in range(2 * SLICE))
    assert (exchange.hop, exchange.state) == ("here", State.COMPLETE)
    assert keeper.released_bytes > 0


def test_what_is_no_session_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.wb").write_text("precious", encoding="utf-8")
    with pytest.raises(UsageError, match="not a recorded session"):
        KeeperProcess(tmp_path / "x.wb")


def test_where_nothing_can_be_written_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"x\.wb"):
        KeeperProcess(tmp_path / "missing" / "x.wb")


def test_its_death_is_told_once_and_harms_nobody(tmp_path: Path) -> None:
    troubles: list[str] = []
    keeper = KeeperProcess(tmp_path / "x.wb", trouble=troubles.append)
    os.kill(keeper._child.process.pid, signal.SIGKILL)
    keeper._child.process.wait()
    for _ in range(3):
        keeper.take(EVENTS)
    assert keeper.close().is_cut
    assert len(troubles) == 1 and "traffic continues" in troubles[0]


def test_a_writer_that_hangs_is_ended_before_whoever_waits_for_it(tmp_path: Path) -> None:
    assert child.END_SECONDS < child.NESTED_END_SECONDS
    keeper = KeeperProcess(tmp_path / "x.wb", patience=0.2)
    os.kill(keeper._child.process.pid, signal.SIGSTOP)
    assert keeper.close().is_cut
    assert keeper._child.process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("parts", "batches"),
    [
        ([[1, 2], [3], None, [4], None], [[1, 2, 3], [4], []]),
        ([None, None], [[], [], []]),
        ([[1], None, [2]], [[1], [2]]),
        ([], [[]]),
    ],
)
def test_batches_end_where_they_were_ended(
    parts: Sequence[object], batches: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a last one that was cut off is taken as far as it came."""
    packed = b"".join(map(pickle.dumps, parts))
    for torn in (b"", pickle.dumps([5] * 99)[:-3]):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(packed + torn)))
        assert list(_batches()) == batches
