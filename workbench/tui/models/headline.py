"""The header of the session screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.safetext import cells, clip, clip_middle
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.rules import InspectedExchange
    from workbench.tui.state import SessionState
    from workbench.wire import Summary

_UPSTREAM = 32
LEAST = 60
"""Columns below which the header leaves out that tools are never run."""

TOOLS = "tools are never run"
PROMISE = f"offline · {TOOLS}"
"""Text for a replay, which only reads."""
CLIENTS_KEY = "client's API key not stored"
"""Text for a live session: the client's API key is forwarded to its provider, and not written to a file."""

_LEAST_TITLE = 12
"""Columns that a title keeps beside a promise of any length."""
_APART = 2
"""Columns between a title and the promise beside it."""

_WRAPPED = 10
"""Columns that a line in two rows leaves empty at the end of the first, at most."""

RECENT = 64
"""Number of newest exchanges whose notes are searched for the key of a recorder."""


def headline(
    name: str,
    row: InspectedExchange | None,
    width: int,
    progress: str = "",
    mode: str = "replay",
    upstream: str = "",
    key: str = "offline",
) -> list[Line]:
    """Header in one line if there is room, else in two.

    Args:
        upstream: upstream of the recording; untrusted text.
        key: API key in use.
    """
    promises = (f"{mode} · {key} · {TOOLS}", f"{mode} · {key}", mode)
    room = width - cells(name) - _APART
    promise = fitting(promises[:2] if width >= LEAST else promises[1:], room)
    goes_to = f"→ {clip(upstream, _UPSTREAM)}" if upstream else ""
    forms = _facts(row) if row else [""]
    variants = [" · ".join(f for f in (goes_to, progress, form) if f) for form in forms]
    word = next((words for words in variants if cells(words) + 2 <= width), variants[-1])
    facts = line(Span(f" {word or 'no exchange open'}  ", "muted"))
    title = line(Span(" Workbench  ", "accent strong"), Span(f"{name}  ", "strong"))
    used = _cells(title)
    both = used + _cells(facts)
    if both + len(promise) + 2 <= width:
        return [(*title, *facts, Span(f"{promise} ", "ok", both - width))]
    if used + len(promise) + 1 > width:
        room = max(1, width - len(promise) - 2)
        title = line(Span(f" {clip_middle(name, room - 2)} ", "strong", room))
        used = _cells(title)
    return [(*title, Span(f"{promise} ", "ok", used - width)), facts]


def fitting(promises: Sequence[str], room: int) -> str:
    """Longest form of a promise that fits into ``room`` columns with a space behind it, else the shortest.

    Args:
        promises: forms from the longest to the shortest.
    """
    return next((words for words in promises if cells(words) + 1 <= room), promises[-1])


def title_with_promise(title: str, promises: Sequence[str], style: str, width: int, rows: int = 2) -> Line:
    """Title with a promise at the right edge, in the longest form that fits beside it.

    Where none fits, one follows the title, within ``rows`` rows.
    """
    named = Span(f" {title}", "strong")
    promise = fitting(promises, width - cells(named.text) - _APART)
    if cells(named.text) + (_APART + cells(promise) + 1 if promise else 0) <= width:
        return line(named, Span(f"{promise} ", style, cells(named.text) - width))
    room = rows * width - (_WRAPPED if rows > 1 else 1) - _APART
    promise = clip(fitting(promises, room - cells(title)), room - _LEAST_TITLE)
    return line(Span(f" {clip(title, room - cells(promise))}", "strong"), Span(f"  {promise}", style))


def _cells(of: Line) -> int:
    return sum(abs(span.width) or cells(span.text) for span in of)


def _facts(row: InspectedExchange) -> list[str]:
    """What is known of an exchange, in forms from the longest to the shortest: the source of the contract is cut."""
    if row.protocol is None:
        return [f"exchange {row.index + 1}: {row.protocol_from}"]
    if row.conversation is None:
        return [f"{row.protocol}, not decoded"]
    contracts = ["no contract"]
    if row.provider:
        named, first = f"contract {row.provider}", row.provider_from.partition("; ")[0]
        contracts = [f"{named} ({row.provider_from})", f"{named} ({first})", named]
    return [" · ".join(f for f in (row.protocol, row.model or "", contract) if f) for contract in contracts]


def origin_word(state: SessionState) -> str:
    """Origin of the session in one word; "" if the file does not record it."""
    return state.about.get("made", "").partition(":")[0]


def mode_words(state: SessionState, *, is_following: bool = False) -> str:
    """Mode of the session: a replay, or live."""
    if not state.is_live:
        return "recording ended" if state.was_live else "replay"
    return "live · following" if is_following else "live"


def upstream_of(state: SessionState, summary: Summary | None = None) -> str:
    """The host that a live recording forwards to: that of an exchange, else of the newest; "" for a replay."""
    newest = summary or (state.summaries[-1] if state.summaries else None)
    return newest.url.partition("://")[2].partition("/")[0] if state.is_live and newest else ""


def key_words(state: SessionState) -> str:
    """API key in use: none for a replay; else the client's, or that of a recorder that converts."""
    if not state.is_live:
        return "offline"
    from workbench.recorder.translation import own_key  # a live session has loaded what it needs

    names = dict.fromkeys(filter(None, (own_key(summary.note) for summary in state.summaries[-RECENT:])))
    return f"key from ${', $'.join(names)}" if names else CLIENTS_KEY
