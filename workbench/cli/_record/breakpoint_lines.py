"""Breakpoints and pauses as text; the options of ``record`` for them, and its lines on stderr."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from workbench.cli import _output
from workbench.ir import JsonValue

KINDS_TEXT = """\
  closure      a tool call without its result, a result without its call, or one of them in the wrong place
  reasoning    required reasoning that is missing or was changed
  id           a tool call id with an invalid format, without a matching call or result, or used twice
  arguments    a tool call with arguments that need repair or violate the tool's schema
  repeat       the same call with the same arguments again, with nothing new in between, or a loop of steps
  mcp-damage   a tools/call, its result, or the request that passes it to the model, with a finding of the mcp family
  mcp:NAME     each tools/call to a tool server and each of its results; mcp:NAME/TOOL: only those of one tool
  filter:EXPR  exchanges that match a filter, as in the app: 'filter:tool:Bash', 'filter:rule:schema model:gpt'
  frame:TYPE   WebSocket messages by type or by a key they contain, with * for any characters:
               frame:response.create, frame:toolCall; in one direction: frame:sent/TYPE, frame:received/TYPE
  all          every kind except mcp:NAME, frame:TYPE and filters"""


def reasons_line(reasons: Sequence[Mapping[str, JsonValue]]) -> str:
    """Reasons for a pause in one line: the first, and how many more there are."""
    first, more = reasons[0], len(reasons) - 1
    named = f"{first['kind']} ({first['rule']})" if first["rule"] else str(first["kind"])
    return f"{named}: {_output.cut(str(first['words']))}" + (f" (+{more} more)" if more else "")


def pause_lines(pause: Mapping[str, JsonValue], name: str, now: float | None = None) -> Iterator[str]:
    """A pause as lines of text: its name, reasons, start and timeout."""
    now = time.time() if now is None else now
    who = f" · {pause['client']}" if pause["client"] else ""
    yield f"{name}  {pause['side']} of {pause['exchange']}{who} · {pause['method']} {pause['url']}"
    for reason in pause["reasons"]:
        rule = f" {reason['rule']}" if reason["rule"] else ""
        yield f"   {reason['kind']}{rule} {reason['pointer'] or '/'}: {reason['words']}"
    progress = f", {pause['sent']:,} already sent" if pause["sent"] else ""
    amount = f"{pause['bytes']:,} bytes{progress}"
    yield f"   paused for {max(0.0, now - pause['since']):.0f} s · {amount} · {timeout_words(pause, now)}"
    yield from (f"   {pause[key]}" for key in ("note", "limit") if pause.get(key))
    yield f"   {' · '.join(f'--{deed} {name}' for deed in pause['deeds'])}"


def timeout_words(pause: Mapping[str, JsonValue], now: float) -> str:
    """Time that the client still waits, in words."""
    if pause["timeout"] is None:
        return "the client's timeout is unknown"
    seconds = pause["times_out_at"] - now
    waits = f"the client waits {pause['timeout']:g} s, {pause['timeout_from']}"
    return f"{waits}: {seconds:.0f} s left" if seconds > 0 else f"{waits}: timed out"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    text = (
        "pause on one of: closure, reasoning, id, arguments, repeat, mcp-damage, mcp:NAME, frame:TYPE, filter:EXPR, "
        "or all; may be given several times"
    )
    parser.add_argument("--break", dest="breaks", action="append", default=[], metavar="KIND", help=text)


def check(args: argparse.Namespace) -> None:
    """Raise UsageError for an unknown breakpoint."""
    if not args.breaks:
        return
    from workbench.recorder.breakpoints import parse

    for kind in args.breaks:
        parse(kind)


def of_tools(breaks: Sequence[str]) -> list[str]:
    """Those of the breakpoints that apply to tool servers."""
    from workbench.recorder.breakpoints import parse

    return [kind for kind in breaks if any(each.tool_sides for each in parse(kind))]


def of_models(breaks: Sequence[str]) -> list[str]:
    """Those of the breakpoints that apply to models."""
    from workbench.recorder.breakpoints import parse

    return [kind for kind in breaks if any(each.sides or each.frame_sides for each in parse(kind))]


def announcer(out: Path, say: Callable[[str], None]) -> Callable[[Mapping[str, JsonValue]], None]:
    """A function that reports what happens at breakpoints, one line each."""
    file = shlex.quote(str(out))

    def report(event: Mapping[str, JsonValue]) -> None:
        match event:
            case {"event": "paused", "pause": {"id": number, "side": side, "reasons": reasons, "deeds": deeds}}:
                what = f"pause {number}: {side}, {reasons_line(reasons)}"
                first, *others = (f"--{deed}" for deed in deeds)
                more = f", or {', '.join(others)}" if others else ""
                say(f"{what} — workbench breakpoints {file} {first} {number}{more}")
            case {"event": "ended", "pause": number, "how": how}:
                say(f"pause {number}: {how}")
            case {"event": "unjudged", "exchange": exchange, "why": why}:
                say(f"exchange {exchange} was forwarded without a check: {why}")
            case {"event": "trouble", "text": text}:
                say(str(text))

    return report
