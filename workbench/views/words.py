"""Words for numbers, sizes, times, ranges, verdicts, findings, facts of profiles, rates and prices.

Signs and styles of verdicts; the word of the verdict is shown next to its sign.

Findings in words, for every list of them.

Facts of a capability profile in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from workbench.named_tuple import NamedTuple

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.ir import JsonValue
    from workbench.rules import Counts, Saving


REQUEST, RESPONSE = "request", "response"

SEVERITY_GLYPH = {"error": "✗", "warning": "!", "info": "·"}
"""A glyph for each severity; its word is shown next to it if there is room."""


def count(number: int, noun: str) -> str:
    """``1 call``, ``2 calls``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def size(octets: int) -> str:
    """``812 B``, ``3.1 kB``, ``5.0 MB``."""
    if octets < 1000:
        return f"{octets} B"
    return f"{octets / 1000:.1f} kB" if octets < 1_000_000 else f"{octets / 1_000_000:.1f} MB"


def duration(seconds: float | None) -> str:
    """``0.1 s``, ``82 s``; empty where unknown."""
    if seconds is None:
        return ""
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:.0f} s"


def byte_range(spans: tuple[tuple[int, int], ...]) -> str:
    """``bytes 187–301``; several ranges are named by their number."""
    if not spans:
        return ""
    if len(spans) > 1:
        return f"{len(spans)} pieces in bytes {min(s for s, _ in spans):,}–{max(e for _, e in spans):,}"
    return f"bytes {spans[0][0]:,}–{spans[0][1]:,}"


def event_range(events: tuple[int, ...]) -> str:
    """``event 3``, ``events 3–41``: numbers as in findings, from zero."""
    if not events:
        return ""
    return f"event {events[0]}" if len(set(events)) == 1 else f"events {min(events)}–{max(events)}"


Signs: TypeAlias = Mapping[str, tuple[str, str]]

REQUEST_SIGNS: Signs = MappingProxyType(
    {
        "accepts": ("✓", "ok"),
        "refuses": ("✗", "error"),
        "suspicious": ("!", "warning"),
        "unknown": ("?", "muted"),
    }
)
"""Verdict of a contract on a request → sign and style."""

SCHEMA_SIGNS: Signs = MappingProxyType(
    {"accepted": ("✓", "ok"), "changed": ("~", "warning"), "refused": ("✗", "error")}
)
"""Verdict on the schema of a tool → sign and style."""

PROBE_SIGNS: Signs = MappingProxyType(
    {
        "pass": ("✓", "ok"),
        "partial": ("!", "warning"),
        "fail": ("✗", "error"),
        "inconclusive": ("?", "muted"),
    }
)
"""Outcome of a probe → sign and style."""


def origin_words(finding: Finding, *, in_full: bool = False) -> str:
    """``in exchange 3 · hop gateway · request · /messages/1: …``, ``here: …``; empty if no origin is known.

    Args:
        in_full: name side and pointer even if they are those of the finding.
    """
    origin = finding.origin
    if origin is None:
        return ""
    place = "here" if origin.exchange == finding.exchange else f"in exchange {origin.exchange + 1}"
    hop = f"hop {origin.hop}" if origin.hop else ""
    is_same = not in_full and (origin.exchange, origin.side, origin.pointer) == (
        finding.exchange,
        finding.side,
        finding.pointer,
    )
    there = () if is_same else (origin.side, origin.pointer)
    return " · ".join(s for s in (place, hop, *there) if s) + f": {origin.words}"


MOST_FACT = 200
"""Characters of a fact."""


FACT_WORDS: Mapping[str, str] = {
    "taken": "accepted",
    "unsayable": "not expressible in the protocol",
    "unseen": "not observed",
}
"""Value of a fact, as profiles store it → words for people, where the stored value is not plain."""


def fact_words(value: JsonValue) -> str:
    """A fact of a capability profile in a few words."""
    if value is None:
        return "not measured"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {fact_words(inner)}" for name, inner in value.items())[:MOST_FACT] or "nothing"
    if isinstance(value, list):
        return ", ".join(map(fact_words, value))[:MOST_FACT] or "none"
    if isinstance(value, str):
        return FACT_WORDS.get(value, value[:MOST_FACT]) or "none"
    from workbench.wire import dumps  # the first screen needs the other words, and no JSON

    return dumps(value).decode("utf-8", "replace")


class Rate(NamedTuple):
    """A share of counts.

    Attributes:
        part: name of the count.
        whole: names of the counts whose sum it is a share of.
        style: of its bar.
        text: one-line explanation.
    """

    name: str
    part: str
    whole: tuple[str, ...]
    style: str
    text: str


RATES = (
    Rate("parsed", "parsed", ("calls",), "ok", "tool calls with arguments that are valid JSON"),
    Rate("fitting", "fitting", ("calls",), "ok", "tool calls that also match the schema of a declared tool"),
    Rate("closure errors", "unclosed", ("histories",), "error", "requests with a tool call without its result"),
    Rate("reasoning errors", "reasoning_errors", ("replays",), "error", "requests with missing or altered reasoning"),
    Rate("calls as text", "text_calls", ("exchanges",), "error", "responses with a tool call written as text"),
    Rate("serial", "serial", ("with_tools",), "info", "requests that disable parallel tool calls"),
    Rate("corrected", "repaired", ("broken",), "ok", "faulty tool calls that the model later corrected"),
    Rate("blocked", "blocked", ("blocked", "executed"), "ok", "unusable tool calls that got an error result"),
    Rate("refused", "refused", ("exchanges",), "error", "requests refused with a status of 400 to 499"),
)


def share_of(rate: Rate, counts: Counts) -> tuple[int, int]:
    """Part and whole of a rate."""
    return getattr(counts, rate.part), sum(getattr(counts, name) for name in rate.whole)


def money(dollars: float) -> str:
    """``$0.0123``."""
    if 0 < dollars < 0.00005:
        return "<$0.0001"
    return f"${dollars:,.4f}" if dollars < 100 else f"${dollars:,.2f}"


def saving_words(saving: Saving) -> str:
    """Tokens and money that a cache breakpoint would have saved, or why it would not."""
    place = f"a cache breakpoint at the end of {saving.place}"
    if saving.why_not:
        return f"{place}: {saving.why_not}"
    dollars = f", {money(saving.dollars)}" if saving.dollars is not None else ""
    return f"{place} would have saved {saving.tokens:,} uncached tokens{dollars}"
