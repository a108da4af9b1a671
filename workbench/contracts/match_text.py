"""The rules behind an error text as lines of text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.contracts import pages
from workbench.protocols import refusals

if TYPE_CHECKING:
    from workbench.contracts.error_texts import Match


def lines(matches: Sequence[Match], width: int = 80) -> Iterator[str]:
    """The most likely rule: who says the text, what to look for, how to record it; then what it may also be."""
    best, *others = matches
    yield from match_lines(best, width)
    if others:
        yield "It may also be"
        for match in others:
            yield from _wrap(f"- {match.rule or match.when} ({match.provider})", width, "  ", "    ")
    slugs = [rule for rule in (best.rule, *best.rules) if rule in pages.slugs()]
    if slugs:
        yield ""
        yield from _wrap(f"More: workbench explain {' '.join(slugs)}", width, "")


def match_lines(match: Match, width: int = 80) -> Iterator[str]:
    """One of them."""
    where = f", {match.where}" if match.where else ""
    what = match.rule or f"no rule: {match.when}"
    status = f" with status {match.status}" if match.status else ""
    yield from _wrap(f"{what}: from {match.provider}{where}{status}", width, "")
    yield from _wrap(match.message, width, "  ")
    yield from _kind_lines(match, width)
    yield ""
    for name, value in match.captured.items():
        yield from _wrap(f"{name}: {value}", width, "  ")
    for line in (match.index, *({match.note} - set(match.look_for))):
        yield from _wrap(line, width, "  ")
    if match.look_for:
        yield "Look for"
        for cause in match.look_for:
            yield from _wrap(f"- {cause}", width, "  ", "    ")
    yield "Record it"
    yield from _wrap(match.record, width, "  ")
    yield "Source"
    yield from _wrap(f"{match.source} ({match.date})" if match.date else match.source, width, "  ")


def _kind_lines(match: Match, width: int) -> Iterator[str]:
    """Lines on the kind of failure, and on the rules that may be behind it."""
    kind = refusals.kind(match.kind)
    if kind is not None:
        yield from _wrap(f"kind: {kind.name}: {match.when if match.rule else kind.says}", width, "  ")
        if not kind.is_verdict:
            yield from _wrap("nothing in the request causes this" if kind.at != "model" else
                             "no request shows this: only the provider knows its models", width, "  ")  # fmt: skip
    if match.rules:
        yield from _wrap(f"one of: {', '.join(match.rules)}", width, "  ")


def _wrap(text: str, width: int, first: str, rest: str | None = None) -> list[str]:
    indent = first if rest is None else rest
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
