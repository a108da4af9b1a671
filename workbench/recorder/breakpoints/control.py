"""The socket over which other processes control the breakpoints of a recorder (protocol: ``breakpoints.remote``)."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from workbench.errors import UsageError, WireError, WorkbenchError
from workbench.ir import JsonValue
from workbench.limits import MAX_CONTROL_LINE
from workbench.recorder import runtime_files
from workbench.recorder.breakpoints.gate import ANSWER, CONTINUE, DROP, EDIT, BreakpointGate
from workbench.wire import dumps, loads

MAX_UNREAD = MAX_CONTROL_LINE
"""Bytes of events that a controller may leave unread before it is let go."""


_Tell = Callable[[Mapping[str, JsonValue]], None]


def preload() -> None:
    """Import what armed traffic needs and other traffic does not; in a thread, so that nothing waits."""
    from workbench import protocols
    from workbench.protocols.clients import every_client
    from workbench.recorder.breakpoints import (
        held_tunnel,  # noqa: F401
        intercepted_exchange,  # noqa: F401
        kinds,  # noqa: F401
    )

    protocols.every()
    every_client()


class ControlServer:
    """Listens for controllers of one gate. Only this user can reach it."""

    def __init__(self, gate: BreakpointGate, session: Path) -> None:
        self._gate, self._session = gate, session
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.path: Path | None = None

    async def start(self) -> None:
        """Listen. Raises UsageError, OSError."""
        runtime_files.remove_stale_sockets(self._session)
        path = runtime_files.socket_path(self._session, os.getpid())
        path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, str(path), limit=MAX_CONTROL_LINE)
        finally:
            os.umask(before)
        self.path = path

    async def close(self) -> None:
        """Disconnect every controller and remove the socket."""
        if self._server:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.path:
            self.path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)

        def tell(message: Mapping[str, JsonValue]) -> None:
            if writer.transport.get_write_buffer_size() > MAX_UNREAD:
                writer.transport.abort()
            else:
                writer.write(dumps(message) + b"\n")

        try:
            while line := await reader.readline():
                await self._answer(line, tell)
        except (OSError, ValueError, asyncio.CancelledError):  # gone, or a line without end
            pass
        finally:
            self._tasks.discard(task)
            self._gate.listeners.discard(tell)
            with suppress(OSError):
                writer.close()

    async def _answer(self, line: bytes, tell: _Tell) -> None:
        number: JsonValue = None
        try:
            command = loads(line)
            if not isinstance(command, dict):
                raise WireError("each line must be one JSON object")
            number = command.get("ask")
            answer = await self._execute(command, tell)
        except WorkbenchError as error:
            what = f"{error.where}: {error.what}" if error.where else error.what
            answer = {"error": what, "hint": error.hint or ""}
        tell({"ask": number, **answer})

    async def _execute(self, command: Mapping[str, JsonValue], tell: _Tell) -> Mapping[str, JsonValue]:
        gate, verb, pause = self._gate, command.get("do"), command.get("pause")
        match verb:
            case "list":
                pass
            case "watch":
                gate.listeners.add(tell)
            case "arm":
                await asyncio.to_thread(preload)
                gate.arm(str(command.get("kind")))
                await gate.hold_open_sockets()
            case "disarm":
                gate.disarm(str(command.get("kind")))
            case "body":
                body, sent = gate.find_pause(pause).exchange.held_body()
                return {"body": base64.b64encode(body).decode(), "sent": sent}
            case "answer":
                await gate.answer(pause, command.get("target"))
            case "continue" | "drop":
                gate.decide(pause, verb)
            case "edit":
                gate.decide(pause, EDIT, _body(command))
            case _:
                known = f"list, watch, arm, disarm, body, {CONTINUE}, {EDIT}, {ANSWER}, {DROP}"
                raise UsageError(f"unknown command {verb!a}", hint=f"available: {known}")
        if verb in (CONTINUE, EDIT, ANSWER, DROP):
            return {"pause": pause}
        return {"armed": gate.armed_names, "pauses": gate.pauses, "trouble": gate.trouble}


def _body(command: Mapping[str, JsonValue]) -> bytes:
    try:
        return base64.b64decode(command.get("body") or "", validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise UsageError("the body is not base64") from None
