"""Findings about values that are not what was sent: the store of an exchange has cut them, or a recorder replaced them.

A store that cuts names the places in ``Exchange.meta``. A finding at such a place, or inside it, is about the cut, and
is left out. A finding about the part around it is left out if its family reads the text of parts; others (closure,
shapes) read ids. A recorder that replaces ids and signatures (``call_REDACTED_1``) says so in the value alone, and
clients send such values, too: what is said of the form of one is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from workbench import regex
from workbench.contracts import Finding, Severity
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, DecodedExchange
from workbench.wire import Exchange

_TEXT_READERS = ("args", "call", "cost", "reasoning", "retry", "secret", "state", "stream", "text", "usage")
"""First words of the rules that read the text of a part, or the size of a body."""

_PART_STEPS = 3
"""Steps from a part to the text in it: ``/tool_calls/0`` and ``function/arguments``, ``/content/0`` and ``text``."""

_FORM_READERS = ("closure.id-format", "reasoning.foreign")
"""Rules that read the form of an id or a proof."""

_REPLACED = regex.compile(rb"redacted|scrubbed|anonymi[sz]ed|\*{6,}", re.IGNORECASE)
"""Part of a value that a recorder wrote in place of the one that was sent."""


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


def with_replaced_values(decoded: DecodedExchange, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings; a warning in place of an error about the form of a value that a recorder has replaced."""
    for finding in findings:
        if finding.rule in _FORM_READERS and finding.severity is Severity.ERROR and _is_replaced(decoded, finding):
            message = f"{finding.message}; it looks like a stand-in that a recorder wrote"
            yield replace(finding, message=message, severity=Severity.WARNING, check=None)
        else:
            yield finding


def _is_replaced(decoded: DecodedExchange, finding: Finding) -> bool:
    text = decoded.request_text if finding.side == REQUEST else decoded.response_text
    return finding.span is not None and _REPLACED.search(text, *finding.span) is not None
