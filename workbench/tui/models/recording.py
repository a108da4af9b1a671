"""What to point clients at while a recording runs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from workbench.recorder.clients import CLIENTS, SDKS
from workbench.recorder.pointing import point


def settings(upstreams: Mapping[str, str], urls: Mapping[str, str]) -> list[str]:
    """Lines for a shell: what the SDKs read.

    Args:
        upstreams: name → where the recorder forwards to.
        urls: name → where it listens for that.
    """
    variables = point(SDKS, upstreams, urls, os.environ).variables
    return [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def told(upstreams: Mapping[str, str], urls: Mapping[str, str], out: Path) -> Iterator[str]:
    """What runs, where it writes, and how each client is pointed at it."""
    yield "It listens"
    for name, url in urls.items():
        yield f"  {url} stands for {upstreams.get(name, name)}"
    yield f"  and writes {out}; it ends with the workbench, or with S on Home"
    yield ""
    yield "In the shell that starts your program"
    yield from (f"  {setting}" for setting in settings(upstreams, urls))
    yield ""
    yield "Known clients"
    yield from _clients(upstreams, urls)


def _clients(upstreams: Mapping[str, str], urls: Mapping[str, str]) -> Iterator[str]:
    for client in CLIENTS:
        pointed = point(client, upstreams, urls, {})
        if pointed.file:
            yield f"  {client.name}: from the shell, workbench record … -- {client.commands[0]} sets it up"
        elif pointed.variables or pointed.arguments:
            words = (f"{name}={shlex.quote(value)}" for name, value in pointed.variables.items())
            yield f"  {client.name}: {' '.join((*words, client.commands[0], *map(shlex.quote, pointed.arguments)))}"
        if client.advice and (pointed.variables or pointed.arguments):
            yield f"    ({client.advice})"
