"""A pasted error text: the rule behind it, what to look for, and how to record it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.cli import _output

if TYPE_CHECKING:
    from workbench.contracts.error_texts import Match


def run(text: str, how: str) -> int:
    """Print what the text belongs to; 3 when nobody is known to say such a thing."""
    from workbench.contracts import error_texts

    matches = error_texts.explain(text)
    if how == "json":
        _output.emit_json({"text": text, "matches": [_row(m) for m in matches]})
    elif matches:
        for line in error_texts.lines(matches):
            _output.emit(line)
    if not matches:
        return _output.complain("no contract or page knows this text; check the request it came with", 3)
    return 0


def _row(match: Match) -> dict[str, object]:
    return {
        "rule": match.rule or None,
        "rules": list(match.rules),
        "kind": match.kind or None,
        "when": match.when,
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
