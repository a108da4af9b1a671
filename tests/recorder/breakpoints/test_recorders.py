"""Several recorders that write one session, each with breakpoints of its own."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.recorder.breakpoints.test_intercepted_exchange import OK, OTHER
from tests.recorder.holding import ASKED, Held, held, pausing
from workbench.errors import UsageError, WorkbenchError
from workbench.recorder.breakpoints import control
from workbench.recorder.breakpoints.remote import Recorders, pause_names


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A runtime folder of the test's own, with a short path."""
    with tempfile.TemporaryDirectory(prefix="wb") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield


@asynccontextmanager
async def recorder(run: str, pid: Callable[[], int], monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Held]:
    """One in this process, under the id of another."""
    async with held("closure", verdict=pausing("request"), run=run) as stage:
        controlled = control.ControlServer(stage.gate, Path("shared.wb"))
        with monkeypatch.context() as patched:
            patched.setattr("os.getpid", pid)
            await controlled.start()
        try:
            yield stage
        finally:
            await controlled.close()


async def test_all_of_them_are_seen_and_each_pause_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.getpid()
    async with (
        recorder("one", lambda: here, monkeypatch) as first,
        recorder("two", os.getppid, monkeypatch) as second,
    ):
        clients = [await stage.asks() for stage in (first, second, second)]
        await first.paused()
        for _ in range(2):
            await second.paused()
        second.gate.arm("id")

        def work() -> None:
            with Recorders(Path("shared.wb")) as every:
                told = every.state()
                assert told["armed"] == ["closure", "id"] and told["trouble"] == ""
                assert sorted(pause_names(told["pauses"])) == ["2", "one-1", "two-1"]
                with pytest.raises(UsageError, match="2 recorders write to this session, and each has a pause 1"):
                    every.find_pause("1")
                with pytest.raises(UsageError, match="no pause with number '7'"):
                    every.find_pause("7")
                remote, number = every.find_pause("one-1")
                remote.edit(number, OTHER)
                remote, number = every.find_pause("1")
                assert number == 1 and remote.body(1) == ASKED, "the only one that is left"
                every.disarm("id")
                with pytest.raises(UsageError, match="'id' is not armed"):
                    every.disarm("id")
                every.arm("repeat")
                paused = every.wait()
                assert paused and paused["exchange"].startswith("two-")

        await asyncio.to_thread(work)
        (await first.forwarded(OTHER)).send(OK)
        await clients[0].expects(OK)
        assert first.gate.armed_names == second.gate.armed_names == ["closure", "repeat"]


async def test_it_waits_as_long_as_one_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.getpid()
    async with recorder("one", lambda: here, monkeypatch) as first:
        async with recorder("two", os.getppid, monkeypatch):
            every = await asyncio.to_thread(Recorders, Path("shared.wb"))
            assert await asyncio.to_thread(every.wait, 0.01) is None
        async with asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(asyncio.to_thread(every.wait), name="wait")
            await first.asks()
        paused = waiting.result()
        assert paused and paused["exchange"] == "one-1"
        assert len((await asyncio.to_thread(every.state))["pauses"]) == 1, "the other is gone, and not missed"
    for gone in (every.wait, every.state):
        with pytest.raises(WorkbenchError, match="the recorder has ended"):
            await asyncio.to_thread(gone)
    with every, pytest.raises(UsageError, match="no recorder is writing"):
        Recorders(Path("shared.wb"))
