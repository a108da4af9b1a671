"""``--as`` of ``workbench record``: a translation in the path, and a summary of its changes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import regex
from workbench.cli import _output
from workbench.cli._send import corrections
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.protocols.clients import Client
    from workbench.recorder import RecorderProcess

_NAMED = regex.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)", re.DOTALL)


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--as",
        dest="spoken",
        metavar="PROTOCOL",
        default="",
        help="protocol of the upstream: clients of other protocols are translated",
    )
    parser.add_argument(
        "--model", default="", help="with --as: model to request from the upstream instead of the client's"
    )
    corrections.add(parser)


def check(args: argparse.Namespace) -> None:
    """Raises UsageError for words that cannot be, or that need ``--as``."""
    if not args.spoken:
        for name in ("model", "correct", "no_correct"):
            if getattr(args, name):
                raise UsageError(f"--{name.replace('_', '-')} needs --as", hint="nothing is translated without --as")
        if args.profile != corrections.AUTO:
            raise UsageError("--profile needs --as", hint="nothing is translated without --as")
        return
    from workbench import protocols as adapters

    adapters.get(args.spoken)
    corrections.check(args)
    if not args.upstream:
        raise UsageError(
            "--as needs an upstream", hint="give one that uses the protocol: --upstream URL, NAME or sim:CONTRACT"
        )


def choose(args: argparse.Namespace, client: Client) -> str:
    """Default of ``--as``: empty, which passes everything unchanged.

    If all upstreams are simulators and none uses a protocol of the client, the first protocol that all of them use.
    """
    from workbench import contracts
    from workbench.send import resolve

    words = [text.rpartition("=")[2] for text in args.upstream]
    if not (client.commands and words and all(map(is_simulated, words))):
        return ""
    mine = {protocol for provider in client.reaches() for protocol in contracts.protocols(provider)}
    choices = [resolve(word).protocols for word in words]
    if any(mine.intersection(protocols) for protocols in choices):
        return ""
    return next((one for one in choices[0] if all(one in protocols for protocols in choices)), "")


def is_simulated(upstream: str) -> bool:
    """The upstream is a simulator."""
    return upstream.startswith("sim:")


def check_urls(upstreams: Iterable[str]) -> None:
    """Refuse upstreams that need ``--as`` (names of targets) and unknown simulators. Raises UsageError."""
    from workbench.send import resolve

    for text in upstreams:
        if is_simulated(text):
            resolve(text)
        elif "://" not in text:
            hint = "give https://HOST[/PATH], or set the protocol with --as PROTOCOL"
            raise UsageError(f"--upstream {text!a} is not a URL", hint=hint)


def upstreams(args: argparse.Namespace) -> dict[str, str]:
    """Name → target, as people typed it. Raises UsageError."""
    from workbench.recorder import UNNAMED_UPSTREAM
    from workbench.send import resolve

    found = dict[str, str]()
    for text in args.upstream:
        named = _NAMED.fullmatch(text)
        name, target = (named[1], named[2]) if named else (UNNAMED_UPSTREAM, text)
        if name in found:
            raise UsageError(f"two upstreams are named {name!r}" if named else "two upstreams without a name")
        is_socket = target.startswith(("ws://", "wss://"))
        resolve(f"http{target[2:]}" if is_socket else target, args.spoken)
        found[name] = target
    return found


def bases(args: argparse.Namespace, upstreams: Mapping[str, str]) -> Mapping[str, str]:
    """Name → URL whose path the client's base URL must have; "" for the path of the client's own provider."""
    return {name: "" if args.spoken or is_simulated(to) else to for name, to in upstreams.items()}


def start(
    args: argparse.Namespace,
    targets: Mapping[str, str],
    out: Path,
    client: str,
    on_trouble: Callable[[str], None],
    on_event: Callable[[Mapping[str, JsonValue]], None],
) -> RecorderProcess:
    """Start the recording. Raises as ``translation.process.start``."""
    from workbench.recorder import process

    return process.start_translation(
        targets,
        out,
        spoken=args.spoken,
        model=args.model,
        profile=args.profile,
        on=args.correct,
        off=args.no_correct,
        port=args.port,
        hop=args.hop,
        client=client,
        breaks=args.breaks,
        passes_websockets=not args.no_websocket,
        on_trouble=on_trouble,
        on_event=on_event,
    )


def change_lines(summary: Mapping[str, object], client_protocol: str) -> Iterator[str]:
    """Lines on what was changed, and what passed unchanged."""
    changes = summary.get("changes")
    counts = dict(changes) if isinstance(changes, Mapping) else {}
    passed = counts.pop("passed", 0)
    if counts:
        counted = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counts.items()))
        yield f"changed in translation: {counted}; the note of each exchange has the details (workbench show)"
    if passed:
        yield f"{_output.number(passed, 'request')} forwarded unchanged: already in {client_protocol} (--as)"
