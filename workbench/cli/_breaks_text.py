"""Breakpoints and pauses as text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

from workbench.cli import _output
from workbench.ir import JsonValue

KINDS_TEXT = """\
  closure      a call without its result, a result without its call, or either in the wrong place
  reasoning    reasoning that is owed and missing, or altered on its way back
  id           an id that breaks the contract: its form, its match, or used twice
  arguments    a call whose arguments need repair or break the schema of their tool
  repeat       the same call with the same arguments again, and nothing new since; or a step that goes round in circles
  filter:EXPR  what the filter language of the app can say: 'filter:tool:Bash', 'filter:rule:schema model:gpt'
  all          every kind but filters"""


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
    left = f", {pause['sent']:,} of them have left" if pause["sent"] else ""
    held = f"{pause['bytes']:,} bytes{left}"
    yield f"   paused for {max(0.0, now - pause['since']):.0f} s · {held} · {timeout_words(pause, now)}"
    yield f"   {' · '.join(f'--{deed} {name}' for deed in pause['deeds'])}"


def timeout_words(pause: Mapping[str, JsonValue], now: float) -> str:
    """How long the client still waits, in words."""
    if pause["timeout"] is None:
        return "nobody knows how long the client waits"
    left = pause["times_out_at"] - now
    waits = f"the client waits {pause['timeout']:g} s, {pause['timeout_from']}"
    return f"{waits}: {left:.0f} s left" if left > 0 else f"{waits}: that is over"
