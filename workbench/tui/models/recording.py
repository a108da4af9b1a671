"""Instructions to connect clients while a recording runs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.protocols.clients import CLIENTS, SDKS
from workbench.recorder import settings_for

if TYPE_CHECKING:
    from workbench.tui.running import Plan


def settings(upstreams: Mapping[str, str], urls: Mapping[str, str]) -> list[str]:
    """Shell lines that set the variables of SDKs.

    Args:
        upstreams: name → URL that the recorder forwards to.
        urls: name → URL that it listens at.
    """
    variables = settings_for(SDKS, upstreams, urls, os.environ).variables
    return [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def recording_lines(plan: Plan, urls: Mapping[str, str], keyed: Sequence[str]) -> Iterator[str]:
    """Addresses, output file, breakpoints, and the settings of each client. ``keyed``: lines about API keys."""
    yield "Listening"
    for name, url in urls.items():
        speaks = f" (protocol {plan.spoken}; other protocols are translated)" if plan.spoken else ""
        yield f"  {url} → {plan.upstreams.get(name, name)}{speaks}"
    yield f"  output file: {plan.out}{f', hop {plan.hop}' if plan.hop else ''}"
    if plan.breaks:
        yield f"  breakpoints: {', '.join(plan.breaks)} · P in the session: decide, arm others"
    yield "  recording stops when Workbench exits, or with S on Home"
    yield ""
    if plan.clients:
        yield "Start it in another terminal"
        yield from _clients(plan.bases, urls, only=plan.clients)
        yield ""
    yield "API keys"
    yield from (f"  {words}" for words in keyed)
    yield ""
    yield "In the shell that starts your program"
    yield from (f"  {setting}" for setting in settings(plan.bases, urls))
    yield ""
    yield "Known clients"
    yield from _clients(plan.bases, urls)


def keys_used(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    """Lines on the API key that each upstream gets."""
    from workbench.send import is_set, resolve

    found = [resolve(text, plan.spoken) for text in plan.upstreams.values()] if plan.spoken else []
    own = [t for t in found if t.key_variable and is_set(t.key_variable, environ)]
    sentences = [f"{target.name} gets the API key in ${target.key_variable} instead of the client's" for target in own]
    return [
        *sentences,
        "the client's API key is forwarded" if not own else "otherwise the client's API key is forwarded",
        "API keys are never stored",
    ]


def _clients(upstreams: Mapping[str, str], urls: Mapping[str, str], only: Sequence[str] = ()) -> Iterator[str]:
    for client in CLIENTS:
        if only and not set(only) & set(client.commands):
            continue
        pointed = settings_for(client, upstreams, urls, {})
        if pointed.file:
            yield f"  {client.name}: from the shell, workbench record … -- {client.commands[0]} configures the client"
        elif pointed.variables or pointed.arguments:
            words = (f"{name}={shlex.quote(value)}" for name, value in pointed.variables.items())
            yield f"  {client.name}: {' '.join((*words, client.commands[0], *map(shlex.quote, pointed.arguments)))}"
        if client.advice and (pointed.variables or pointed.arguments):
            yield f"    ({client.advice})"
