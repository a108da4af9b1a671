"""Controlling breakpoints from another process: the socket, the protocol, and the client for it."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from tests.recorder.breakpoints.test_intercepted_exchange import OK, OTHER
from tests.recorder.holding import ASKED, Held, held, pausing
from workbench.errors import UsageError, WorkbenchError
from workbench.recorder import runtime_files
from workbench.recorder.breakpoints.control import ControlServer
from workbench.recorder.breakpoints.remote import Remote

T = TypeVar("T")


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of the test's own, with a short path."""
    with tempfile.TemporaryDirectory(prefix="wb") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


@asynccontextmanager
async def controlled(session: Path) -> AsyncIterator[tuple[Held, ControlServer]]:
    async with held("closure", verdict=pausing("request")) as stage:
        control = ControlServer(stage.gate, session)
        await control.start()
        try:
            yield stage, control
        finally:
            await control.close()


async def remotely(session: Path, work: Callable[[Remote], T]) -> T:
    """What a client does, in a thread, as in a process of its own."""

    def run() -> T:
        with Remote.of(session) as remote:
            return work(remote)

    return await asyncio.to_thread(run)


async def test_every_deed_from_afar(tmp_path: Path) -> None:
    async with controlled(tmp_path / "a.wb") as (stage, _):
        client = await stage.asks()
        await stage.paused()

        def work(remote: Remote) -> None:
            assert remote.state()["armed"] == ["closure"]
            (pause,) = remote.pauses()
            assert pause["side"] == "request" and remote.body(pause["id"]) == ASKED
            with pytest.raises(UsageError, match="no pause with number 7"):
                remote.drop(7)
            with pytest.raises(UsageError, match="not a simulator"):
                remote.answer(pause["id"], "nobody")
            assert remote.arm("repeat") == ("closure", "repeat")
            with pytest.raises(UsageError, match="no breakpoint"):
                remote.arm("nonsense")
            assert remote.disarm("all") == ()
            remote.edit(pause["id"], OTHER)

        await remotely(tmp_path / "a.wb", work)
        (await stage.forwarded(OTHER)).send(OK)
        await client.expects(OK)


async def test_pauses_are_pushed_and_awaited(tmp_path: Path) -> None:
    async with controlled(tmp_path / "a.wb") as (stage, _):
        seen: list[str] = []
        is_watching = threading.Event()

        def watch(remote: Remote) -> None:
            assert remote.wait(0.01) is None
            is_watching.set()
            for event in remote.watch():
                seen.append(event["event"])
                if event["event"] == "paused":
                    remote.resume(event["pause"]["id"])
                if event["event"] == "ended":
                    assert event["how"] == "continued"
                    return

        async with asyncio.TaskGroup() as group:
            group.create_task(remotely(tmp_path / "a.wb", watch))
            await asyncio.to_thread(is_watching.wait)
            client = await stage.asks()
            (await stage.forwarded()).send(OK)
            await client.expects(OK)
        assert seen[0] == "paused" and seen[-1] == "ended"


async def test_the_end_of_the_recorder_ends_every_watch(tmp_path: Path) -> None:
    async with controlled(tmp_path / "a.wb") as (_, control):
        is_watching = threading.Event()

        def watch(remote: Remote) -> None:
            remote.ask("watch")
            is_watching.set()
            with pytest.raises(WorkbenchError, match="has ended"):
                remote.wait()
            with pytest.raises(WorkbenchError, match="has ended"):
                remote.state()

        async with asyncio.TaskGroup() as group:
            group.create_task(remotely(tmp_path / "a.wb", watch))
            await asyncio.to_thread(is_watching.wait)
            await control.close()
        assert not runtime_files.sockets_of(tmp_path / "a.wb")
        with pytest.raises(UsageError, match="no recorder is writing"):
            Remote.of(tmp_path / "a.wb")


@pytest.mark.parametrize("line", [b"nonsense\n", b"[]\n", b'{"ask": 1}\n', b'{"ask": 1, "do": "edit", "pause": 1}\n'])
async def test_what_makes_no_sense_is_answered(line: bytes, tmp_path: Path) -> None:
    async with controlled(tmp_path / "a.wb") as (_, control):
        reader, writer = await asyncio.open_unix_connection(str(control.path))
        writer.write(line)
        assert b'"error"' in await reader.readline()
        writer.close()


async def test_only_its_user_can_reach_it(tmp_path: Path, runtime: Path) -> None:
    async with controlled(tmp_path / "a.wb") as (_, control):
        assert control.path and stat.S_IMODE(control.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(control.path.parent.stat().st_mode) == 0o700
        assert len(os.fsencode(control.path)) <= runtime_files.LONGEST


def test_a_folder_that_others_may_write_in_is_not_used(tmp_path: Path, runtime: Path) -> None:
    (runtime / "workbench").mkdir(mode=0o777)
    (runtime / "workbench").chmod(0o777)
    assert runtime_files.socket_path(tmp_path / "a.wb", 1).parent != runtime / "workbench"


def test_what_the_dead_left_is_cleaned_away(tmp_path: Path) -> None:
    session = tmp_path / "a.wb"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    path = runtime_files.socket_path(session, gone.pid)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with pytest.raises(UsageError, match="no recorder is writing"):
        Remote.of(session)
    runtime_files.remove_stale_sockets(session)
    assert not path.exists()


def test_a_path_that_is_too_long_is_looked_for_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 90)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    assert len(os.fsencode(runtime_files.socket_path(tmp_path / "a.wb", 1))) <= runtime_files.LONGEST
