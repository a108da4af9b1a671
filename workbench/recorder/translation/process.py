"""Starts a recording with a translation, in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from workbench.ir import JsonValue
from workbench.recorder.process import RecorderProcess, launch


def start(
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
        breaks, on_event: as there; breakpoints are those of the client's hop.

    Raises:
        UsageError: an upstream, protocol, correction, port or file that cannot be.
        OSError: the file cannot be written.
        WorkbenchError: it did not start.
    """
    rules = {"spoken": spoken, "model": model, "profile": profile, "on": list(on), "off": list(off)}
    task = {"upstreams": dict(upstreams), "port": port, "hop": hop, "client": client, "breaks": list(breaks)}
    return launch("workbench.recorder.translation", {**task, "rules": rules}, out, on_trouble, on_event)
