"""Writes the rules behind an error text as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.contracts import pages
from workbench.contracts.error_texts import Match
from workbench.protocols import refusals

__all__ = ["lines", "match_lines"]


def lines(matches: Sequence[Match], width: int = 80) -> Iterator[str]:
    """The most likely rule as lines: author of the text, what to look for, how to record it; then other candidates."""
    best, *others = matches
    yield from match_lines(best, width)
    if others:
        yield "Other rules that this error text may belong to:"
        for match in others:
            yield from _wrap(f"- {match.rule or match.when} ({match.provider})", width, "  ", "    ")
    slugs = [rule for rule in (best.rule, *best.rules) if rule in pages.slugs()]
    if slugs:
        yield ""
        yield from _wrap(f"More: workbench explain {' '.join(slugs)}", width, "")


def match_lines(match: Match, width: int = 80) -> Iterator[str]:
    """One match as lines."""
    where = f", {match.where}" if match.where else ""
    what = match.rule or f"no rule: {match.when}"
    what = f"{what} ({_how_guessed(match)})" if match.is_guess else what
    status = f" with status {match.status}" if match.status else ""
    yield from _wrap(f"{what}: from {match.provider}{where}{status}", width, "")
    yield from _wrap(match.message, width, "  ")
    if match.speaker:
        form = f", in the form of {match.validator}" if match.validator else ""
        at = f", at {match.place}" if match.place else ""
        yield from _wrap(f"error text written by: {match.speaker}{form}{at}", width, "  ")
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


def _how_guessed(match: Match) -> str:
    known = refusals.kind(match.kind)
    is_of_kind = known is not None and known.name != refusals.REFUSED
    known_part = "only the kind of failure is known" if is_of_kind else "the error text itself is not known"
    return f"guessed from the words of the error text; {known_part}"


def _kind_lines(match: Match, width: int) -> Iterator[str]:
    """Lines on the kind of failure, and on the rules that may be behind it."""
    kind = refusals.kind(match.kind)
    if kind is not None:
        yield from _wrap(f"kind: {kind.name}: {match.when if match.rule else kind.says}", width, "  ")
        if not kind.is_verdict:
            is_unknown_model = kind.at == "model"
            why = "the request cannot show this: only the provider knows its models"
            yield from _wrap(why if is_unknown_model else "nothing in the request causes this", width, "  ")
    if match.rules:
        yield from _wrap(f"one of: {', '.join(match.rules)}", width, "  ")


def _wrap(text: str, width: int, first: str, rest: str | None = None) -> list[str]:
    indent = first if rest is None else rest
    import textwrap

    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
