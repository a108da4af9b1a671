"""The process that judges: asked, killed, and started anew."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from workbench.recorder.breakpoints.judge_client import JudgeClient


async def test_it_is_started_anew_for_whoever_asks_after_its_end() -> None:
    gone: asyncio.Queue[str] = asyncio.Queue()
    judging = JudgeClient(Path("a.wb"), gone.put_nowait, module="tests.recorder.small_judge")
    try:
        assert (await judging.ask("request"))["out"] == "a.wb"
        first = judging.pid
        assert first
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            waiting = tasks.create_task(judging.ask("wait"), name="ask")
            await judging.ask("request")  # it has read what came before
            os.kill(first, signal.SIGKILL)
            assert "has died" in await gone.get()
        assert waiting.result() == {"unjudged": "the checking process has died"}
        assert (await judging.ask("request"))["reasons"] == []
        assert judging.pid not in (None, first) and gone.empty()
    finally:
        judging.close()
