"""Breakpoints of ``record``: options, and the lines on stderr while a client is recorded."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from workbench.cli._breaks_text import reasons_line
from workbench.ir import JsonValue


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    text = "pause on one of: closure, reasoning, id, arguments, repeat, filter:EXPR, or all; may be given several times"
    parser.add_argument("--break", dest="breaks", action="append", default=[], metavar="KIND", help=text)


def check(args: argparse.Namespace) -> None:
    """Raise UsageError for an unknown breakpoint."""
    if not args.breaks:
        return
    from workbench.recorder.breakpoints import parse

    for kind in args.breaks:
        parse(kind)


def announcer(out: Path, say: Callable[[str], None]) -> Callable[[Mapping[str, JsonValue]], None]:
    """A function that reports what happens at breakpoints, one line each."""
    file = shlex.quote(str(out))

    def report(event: Mapping[str, JsonValue]) -> None:
        match event:
            case {"event": "paused", "pause": {"id": number, "side": side, "reasons": reasons, "deeds": deeds}}:
                what = f"pause {number}: {side}, {reasons_line(reasons)}"
                first, *others = (f"--{deed}" for deed in deeds)
                say(f"{what} — workbench breakpoints {file} {first} {number}, or {', '.join(others)}")
            case {"event": "ended", "pause": number, "how": how}:
                say(f"pause {number}: {how}")
            case {"event": "unjudged", "exchange": exchange, "why": why}:
                say(f"exchange {exchange} continued without a check: {why}")
            case {"event": "trouble", "text": text}:
                say(str(text))

    return report
