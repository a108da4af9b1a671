"""Starting a recording with a bridge in it, a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from workbench.recorder.child import Child
from workbench.recorder.process import Recording


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
    trouble: Callable[[str], None] = lambda line: None,
) -> Recording:
    """Start it and wait until it listens, as ``workbench.recorder.process.start`` does.

    Its summary says under ``changes`` how many changes of which kind were made.

    Args:
        upstreams: name → target: a URL, a name or ``sim:CONTRACT``.
        spoken: the protocol that they speak.
        model: asked for in place of what clients ask for, "" for that.
        profile: "auto", "none", or the name of one.
        on, off: corrections.

    Raises:
        UsageError: an upstream, protocol, correction, port or file that cannot be.
        OSError: the file cannot be written.
        WorkbenchError: it did not start.
    """
    out = out.absolute()
    out.parent.mkdir(parents=True, exist_ok=True)
    rules = {"spoken": spoken, "model": model, "profile": profile, "on": list(on), "off": list(off)}
    task = {"upstreams": dict(upstreams), "out": str(out), "port": port, "hop": hop, "client": client, "rules": rules}
    return Recording(Child("workbench.bridge", task), trouble)
