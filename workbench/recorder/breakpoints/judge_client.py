"""The recorder's side of the judge, a separate process (``workbench.recorder.breakpoints.judge``)."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.ir import JsonValue
from workbench.limits import CONTROL_SECONDS, JUDGE_SECONDS
from workbench.recorder.child import ChildProcess
from workbench.wire import dumps, loads

MODULE = "workbench.recorder.breakpoints.judge"


class JudgeClient:
    """Starts a judge with the first question, or before it, and asks it.

    Args:
        out: the session file it follows.
        on_death: called with a sentence, once, when the judge has died.
    """

    def __init__(self, out: Path, on_death: Callable[[str], None], module: str = MODULE) -> None:
        self._out, self._on_death, self._module = out, on_death, module
        self._child: ChildProcess | None = None
        self._starting: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Mapping[str, JsonValue]]] = {}
        self._question_count = 0
        self._to_write: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    @property
    def pid(self) -> int | None:
        """Process id of the judge; None while there is none."""
        return self._child.process.pid if self._child else None

    def start(self) -> asyncio.Task[None]:
        """Begin to start the judge, unless that has begun."""
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._start())
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())  # told who asks
        return self._starting

    async def ask(self, verb: str, **words: JsonValue) -> Mapping[str, JsonValue]:
        """The judge's answer, or {"unjudged": WHY}; always within a bounded time."""
        within = CONTROL_SECONDS if verb == "answer" else JUDGE_SECONDS
        try:
            async with asyncio.timeout(within):
                await asyncio.shield(self.start())
                return await self._answer({"do": verb, "within": within / 2, **words})
        except TimeoutError:
            return {"unjudged": f"the check took more than {within:g} seconds"}
        except (OSError, WorkbenchError) as error:
            return {"unjudged": f"the checking process did not start ({error})"}

    async def _answer(self, question: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        self._question_count += 1
        number = self._question_count
        future: asyncio.Future[Mapping[str, JsonValue]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        self._to_write.put(dumps({"ask": number, **question}) + b"\n")
        try:
            return await future
        finally:
            self._waiting.pop(number, None)

    async def _start(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            child = self._child = await asyncio.to_thread(ChildProcess, self._module, {"out": str(self._out)})
        except BaseException:
            self._starting = None
            raise
        self._to_write = queue.SimpleQueue()
        threading.Thread(
            target=_write, args=(child, self._to_write), name="to the checking process", daemon=True
        ).start()
        threading.Thread(target=self._listen, args=(child, loop), name="from the judge", daemon=True).start()

    def _listen(self, child: ChildProcess, loop: asyncio.AbstractEventLoop) -> None:
        with child.output:
            for line in child.output:
                with suppress(WorkbenchError, RuntimeError):
                    loop.call_soon_threadsafe(self._on_answer, loads(line))
        child.process.wait()
        with suppress(RuntimeError):  # the loop is over
            loop.call_soon_threadsafe(self._on_end, child)

    def _on_answer(self, answer: Mapping[str, JsonValue]) -> None:
        future = self._waiting.get(answer.get("ask", 0))
        if future and not future.done():
            future.set_result(answer)

    def _on_end(self, child: ChildProcess) -> None:
        if child is not self._child:
            return
        self._child = self._starting = None
        self._to_write.put(None)
        for future in self._waiting.values():
            if not future.done():
                future.set_result({"unjudged": "the checking process has died"})
        self._on_death(
            "the process that checks breakpoints has died: all breakpoints are disarmed, and traffic continues"
        )

    def close(self) -> None:
        """End the judge at once: it writes nothing."""
        child, self._child = self._child, None
        if child:
            self._to_write.put(None)
            child.process.kill()
            child.process.wait()


def _write(child: ChildProcess, lines: queue.SimpleQueue[bytes | None]) -> None:
    """Write questions in a thread: a line may be longer than the pipe's buffer, and the loop must not wait."""
    with suppress(OSError, ValueError), child.input:
        while (line := lines.get()) is not None:
            child.input.write(line)
            child.input.flush()
