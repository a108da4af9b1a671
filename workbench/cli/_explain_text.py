"""A pasted error text: the rule behind it, what to look for, and how to record it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.cli import _output

if TYPE_CHECKING:
    from workbench.rules._errortext import Match

WIDTH = 80


def run(text: str, how: str) -> int:
    """Print what the text belongs to; 3 when nobody is known to say such a thing."""
    from workbench.rules import errortext

    matches = errortext.explain(text)
    if how == "json":
        _output.emit_json({"text": text, "matches": [_row(m) for m in matches]})
    elif matches:
        for line in _lines(matches):
            _output.emit(line)
    if not matches:
        return _output.complain("no contract or page knows this text; check the request it came with", 3)
    return 0


def _row(match: Match) -> dict[str, object]:
    return {
        "rule": match.rule,
        "provider": match.provider,
        "also": list(match.also),
        "where": match.where,
        "status": match.status,
        "template": match.template,
        "message": match.message,
        "captured": dict(match.captured),
        "index": match.index,
        "look_for": list(match.look_for),
        "record": match.record,
        "source": match.source,
        "date": match.date,
        "note": match.note,
    }


def _lines(matches: list[Match]) -> Iterator[str]:
    from workbench.rules import pages

    best, *others = matches
    where = f", {best.where}" if best.where else ""
    yield from _wrap(f"{best.rule}: said by {best.provider}{where} with status {best.status}", "")
    yield from _wrap(best.message, "  ")
    yield ""
    for name, value in best.captured.items():
        yield from _wrap(f"{name}: {value}", "  ")
    for line in (best.index, *({best.note} - set(best.look_for))):
        yield from _wrap(line, "  ")
    if best.look_for:
        yield "Look for"
        for cause in best.look_for:
            yield from _wrap(f"- {cause}", "  ", "    ")
    yield "Record it"
    yield from _wrap(best.record, "  ")
    yield "Source"
    yield from _wrap(f"{best.source} ({best.date})" if best.date else best.source, "  ")
    if others:
        yield "It may also be"
        for match in others:
            yield from _wrap(f"- {match.rule} ({match.provider})", "  ", "    ")
    if best.rule in pages.slugs():
        yield ""
        yield f"More: workbench explain {best.rule}"


def _wrap(text: str, first: str, rest: str | None = None) -> list[str]:
    indent = first if rest is None else rest
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
