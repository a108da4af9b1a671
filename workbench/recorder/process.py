"""Starts a recorder, with or without a translation, in a process of its own, and stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from workbench.ir import JsonValue
from workbench.recorder.child import NESTED_END_SECONDS, ChildProcess
from workbench.wire import loads


class RecorderProcess:
    """A running recorder.

    Attributes:
        urls: name of the upstream → base URL for a client.
        out: the session file.
        port: where it listens.
        summary: counts of exchanges, see ``capture.keeper.RecordingTally``; empty until it has ended.
    """

    def __init__(
        self,
        child: ChildProcess,
        on_trouble: Callable[[str], None],
        on_event: Callable[[Mapping[str, JsonValue]], None] = lambda event: None,
    ) -> None:
        self.urls: Mapping[str, str] = child.first_line["urls"]
        self.out = Path(child.first_line["out"])
        self.port: int = child.first_line["port"]
        self.summary: Mapping[str, int] = {}
        self._child = child
        self._listener = threading.Thread(target=self._listen, args=(on_trouble, on_event), daemon=True)
        self._listener.start()

    @property
    def is_running(self) -> bool:
        """The recorder process has not ended."""
        return self._child.process.poll() is None

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.process.pid

    def _listen(self, on_trouble: Callable[[str], None], on_event: Callable[[Mapping[str, JsonValue]], None]) -> None:
        for line in self._child.output:
            message = loads(line)
            if "trouble" in message:
                on_trouble(message["trouble"])
            elif "event" in message:
                on_event(message)
            else:
                self.summary = message

    def wait(self) -> None:
        """Wait until it ends."""
        self._child.process.wait()

    def stop(self) -> None:
        """End it: what it holds is written, and the session is a single file. May be called again."""
        self._child.end()
        self._listener.join()
        self._child.output.close()


def start(
    upstreams: Mapping[str, str],
    out: Path,
    *,
    port: int = 0,
    hop: str = "",
    client: str = "",
    breaks: Sequence[str] = (),
    passes_websockets: bool = True,
    certificate: str = "",
    on_trouble: Callable[[str], None] = lambda line: None,
    on_event: Callable[[Mapping[str, JsonValue]], None] = lambda event: None,
) -> RecorderProcess:
    """Start a recorder and wait until it listens. It ends with this process, however that ends.

    Args:
        upstreams: name → base URL.
        out: the session file; an existing one is appended to, folders are made.
        port: to listen on, 0 for any.
        hop: name of the hop in a path with several recorders.
        client: name of the client that is started with it; empty if unknown.
        breaks: breakpoints that are armed from the beginning, see ``workbench.recorder.breakpoints.kinds``.
        passes_websockets: pass them on; else their handshakes are refused with 426, and clients use HTTP.
        certificate: file with certificate and key: the listener uses TLS; empty for none.
        on_trouble: called in a thread of its own if the file cannot be written, one line each.
        on_event: called in that thread with events of breakpoints, see ``workbench.recorder.breakpoints.remote``.

    Raises:
        UsageError: an upstream, port or file that cannot be.
        OSError: the file cannot be written.
        WorkbenchError: the recorder did not start.
    """
    task: Mapping[str, JsonValue] = {
        "upstreams": dict(upstreams),
        "port": port,
        "hop": hop,
        "client": client,
        "breaks": list(breaks),
        "passes_websockets": passes_websockets,
        "certificate": certificate,
    }
    return launch("workbench.recorder", task, out, on_trouble, on_event)


def launch(
    module: str,
    task: Mapping[str, JsonValue],
    out: Path,
    on_trouble: Callable[[str], None],
    on_event: Callable[[Mapping[str, JsonValue]], None],
) -> RecorderProcess:
    """Start a module that records, with its task but for the file ``out``. Raises as ``start``."""
    out = out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    child = ChildProcess(module, {**task, "out": str(out)}, patience=NESTED_END_SECONDS)
    return RecorderProcess(child, on_trouble, on_event)


def start_translation(
    upstreams: Mapping[str, str],
    out: Path,
    *,
    spoken: str,
    model: str = "",
    profile: str = "auto",
    on: Sequence[str] = (),
    off: Sequence[str] = (),
    port: int = 0,
    hop: str = "",
    client: str = "",
    breaks: Sequence[str] = (),
    passes_websockets: bool = True,
    on_trouble: Callable[[str], None] = lambda line: None,
    on_event: Callable[[Mapping[str, JsonValue]], None] = lambda event: None,
) -> RecorderProcess:
    """Start the process and wait until it listens, as ``workbench.recorder.process.start`` does.

    Its summary says under ``changes`` how many changes of which kind were made.

    Args:
        upstreams: name → target: a URL, a name or ``sim:CONTRACT``.
        spoken: their protocol; empty to pass everything unchanged, to URLs and simulators only.
        model: replaces the model that clients request; empty to keep that.
        profile: "auto", "none", or the name of one.
        on, off: corrections.
        breaks, passes_websockets, on_event: as there; breakpoints are those of the client's hop.

    Raises:
        UsageError: an upstream, protocol, correction, port or file that cannot be.
        OSError: the file cannot be written.
        WorkbenchError: it did not start.
    """
    rules = {"spoken": spoken, "model": model, "profile": profile, "on": list(on), "off": list(off)}
    task = {"upstreams": dict(upstreams), "port": port, "hop": hop, "client": client, "breaks": list(breaks)}
    more = {"rules": rules, "passes_websockets": passes_websockets}
    return launch("workbench.recorder.translation", {**task, **more}, out, on_trouble, on_event)
