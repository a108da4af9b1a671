"""One recording from start to end, inside the recorder process."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.limits import MAX_OPEN_FILES
from workbench.recorder.breakpoints.control import ControlServer
from workbench.recorder.breakpoints.gate import BreakpointGate
from workbench.recorder.capture.keeper_process import KeeperProcess, collect_rarely
from workbench.recorder.capture.queue import Capture
from workbench.recorder.child import send_line
from workbench.recorder.relay.loop_guard import write_note
from workbench.recorder.relay.routes import parse_upstream
from workbench.wire import TOOL_HOP
from workbench.wire.session import is_written

SWITCH = 0.001
"""Seconds after which a thread lets the relay continue; Python's 5 ms would show in every chunk."""


class RecordedServer(Protocol):
    """The server that is recorded: a relay, or a translation between two relays."""

    @property
    def port(self) -> int:
        """Port for clients, after ``start``."""
        ...

    @property
    def listener_failure(self) -> Exception | None:
        """The exception that disabled the recording; None if there was none."""
        ...

    def url(self, name: str) -> str:
        """Base URL that a client uses for that upstream, after ``start``."""
        ...

    async def start(self) -> None:
        """Listen. Raises UsageError if the port is in use."""
        ...

    async def close(self) -> None:
        """Stop listening."""
        ...


_L = TypeVar("_L", bound=RecordedServer)


def record(
    task: Mapping[str, JsonValue],
    upstreams: Mapping[str, str],
    make_server: Callable[[Capture, BreakpointGate], _L],
    extra_summary: Callable[[_L], Mapping[str, JsonValue]] = lambda listener: {},
) -> int:
    """Record until the input ends or a signal arrives.

    Args:
        task: as ``python -m workbench.recorder`` takes it.
        upstreams: name → base URL.
        make_server: makes the server that is recorded.
        extra_summary: further members of its summary.

    Raises:
        UsageError: an upstream, port or file that cannot be.
        OSError: the file cannot be written.
    """
    sys.setswitchinterval(SWITCH)
    collect_rarely()
    _allow_connections()
    for name, url in upstreams.items():
        parse_upstream(name, url)
    out = Path(task["out"])
    is_new = not out.exists()
    keeper = KeeperProcess(out, hop=task["hop"], client=task["client"], trouble=report_trouble)
    capture = Capture(keeper)
    gate = BreakpointGate(keeper.run, out, client=task["client"], is_tool_hop=task["hop"] == TOOL_HOP)
    gate.before_judging, gate.read_socket = capture.write_now, capture.read_socket
    gate.declines_compression, gate.hop = bool(task["breaks"]), task["hop"]
    capture.on_end = gate.note_end
    try:
        listener = make_server(capture, gate)
        asyncio.run(_record(listener, capture, upstreams, out, ArmedBreakpoints(gate, task["breaks"])))
    except UsageError:  # it cannot listen: nothing was recorded
        capture.close()
        if is_new and not is_written(out):  # another recorder may have come meanwhile
            out.unlink(missing_ok=True)
        raise
    send_line({**asdict(capture.close()), **extra_summary(listener)})
    return 0


def report_trouble(line: str) -> None:
    """Say a line to whoever started the recording, for people."""
    send_line({"trouble": line})


def _allow_connections() -> None:
    """Raise the limit of open files: each exchange takes two, and shells allow few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MAX_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(ValueError, OSError):  # macOS says "infinity" and means less
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class ArmedBreakpoints(NamedTuple):
    """The gate, and the breakpoints that are armed from the beginning."""

    gate: BreakpointGate
    armed: Sequence[str]


async def _record(
    relay: RecordedServer, capture: Capture, upstreams: Mapping[str, str], out: Path, breaks: ArmedBreakpoints
) -> None:
    control = ControlServer(breaks.gate, out)
    for kind in breaks.armed:
        breaks.gate.arm(kind)
    await relay.start()
    taken_back = ExitStack()
    try:
        await _start_control(control)
        _refuse_loops(upstreams, relay.port)
        taken_back.callback(write_note(relay.port, upstreams))
        urls = {name: relay.url(name) for name in upstreams}
        capture.record_urls(_urls_text(urls))
        send_line({"port": relay.port, "urls": urls, "out": str(out)})
        breaks.gate.listeners.add(send_line)
        await _wait_for_end()
    finally:
        taken_back.close()
        await relay.close()
        await control.close()
        breaks.gate.close()
    if relay.listener_failure:
        send_line({"trouble": f"the recording stopped early ({relay.listener_failure!r})"})


async def _start_control(control: ControlServer) -> None:
    """Listen for controllers of breakpoints; a failure is reported and does not stop the recording."""
    try:
        await control.start()
    except (OSError, UsageError) as error:
        send_line({"trouble": f"breakpoints cannot be controlled from other processes ({error})"})


def _urls_text(urls: Mapping[str, str]) -> str:
    """URLs for people; with names if there are several."""
    return " · ".join(url if len(urls) == 1 else f"{url} ({name})" for name, url in urls.items())


def _refuse_loops(upstreams: Mapping[str, str], port: int) -> None:
    for name, url in upstreams.items():
        upstream = parse_upstream(name, url)
        if upstream.port == port and upstream.host in ("localhost", "127.0.0.1", "::1"):
            raise UsageError(f"{url} is this recorder itself", hint="give the provider's URL")


async def _wait_for_end() -> None:
    """Wait for the end of standard input, or a signal."""
    loop, end = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end.set)

    def read() -> None:
        while os.read(0, 4096):
            pass
        with suppress(RuntimeError):  # the loop is closed: a signal came first
            loop.call_soon_threadsafe(end.set)

    threading.Thread(target=read, daemon=True).start()
    await end.wait()
