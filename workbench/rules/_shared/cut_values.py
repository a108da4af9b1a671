"""Leaves out findings about values that the store of an exchange has cut: nobody knows what was there.

A store that cuts names the places in ``Exchange.meta``. A finding at such a place, or inside it, is about the cut. A
finding about the part around it is left out if its family reads the text of parts; others (closure, shapes) read ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.contracts import Finding
from workbench.wire import Exchange

_TEXT_READERS = ("args", "call", "cost", "reasoning", "retry", "secret", "state", "stream", "text", "usage")
"""First words of the rules that read the text of a part, or the size of a body."""

_PART_STEPS = 3
"""Steps from a part to the text in it: ``/tool_calls/0`` and ``function/arguments``, ``/content/0`` and ``text``."""


def without_cut_values(exchange: Exchange, findings: Iterable[Finding]) -> Iterable[Finding]:
    """The findings that do not rest on a cut value."""
    cuts = exchange.meta.get("cut")
    return findings if not isinstance(cuts, dict) else _filter(cuts, findings)


def _filter(cuts: dict[str, list[str]], findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        if not any(_rests_on(finding, place) for place in cuts.get(finding.side, ())):
            yield finding


def _rests_on(finding: Finding, place: str) -> bool:
    at = finding.pointer
    if at == place or at.startswith(f"{place}/"):
        return True
    is_around = not at or place.startswith(f"{at}/")
    reads_text = finding.rule.partition(".")[0] in _TEXT_READERS
    return is_around and reads_text and place[len(at) :].count("/") <= _PART_STEPS
