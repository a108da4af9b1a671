"""Lines of the timeline: exchanges with a lane for each conversation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbench.protocols.mcp import STDIO, server_of
from workbench.safetext import cells, clip, visible
from workbench.tui.models import change_notes, pauses
from workbench.tui.models.signs import PROVISIONAL
from workbench.views import Line, Span, count, duration, join_lines, line, line_columns, size
from workbench.wire import ExchangeKind

if TYPE_CHECKING:
    from workbench.rules import InspectedExchange
    from workbench.wire import Summary

MAX_LANES = 6
"""Columns of lanes; further conversations share the last one."""

MAX_HOP = 10
"""Columns for the name of a place."""

_ROOMY = 56
"""Columns from which a row names calls and model."""


def lanes(conversations: Sequence[int | None], hops: Sequence[str] = ()) -> list[str]:
    """The lane column of each row: a dot in its own conversation, a line where another one passes.

    Args:
        conversations: conversation of each exchange; None if it belongs to none.
        hops: hop of each exchange; empty for a single hop. A column is used for one hop only: a turn before and behind
            a gateway is two conversations, which must not look like one.
    """
    ends = {last: c for c, last in {c: n for n, c in enumerate(conversations) if c is not None}.items()}
    column: dict[int, int] = {}
    running = [0] * MAX_LANES
    places: list[str | None] = [None] * MAX_LANES
    rows: list[str] = []
    for n, own in enumerate(conversations):
        if own is not None and own not in column:
            place = hops[n] if n < len(hops) else ""
            free = (k for k in range(MAX_LANES - 1) if not running[k] and places[k] in (None, place))
            column[own] = next(free, MAX_LANES - 1)
            running[column[own]] += 1
            places[column[own]] = place
        signs = ["│" if conversation else " " for conversation in running]
        if own is not None:
            signs[column[own]] = "●"
        rows.append("".join(signs))
        if n in ends:
            running[column[ends[n]]] -= 1
    used = max((len(row.rstrip()) for row in rows), default=1)
    return [row[: max(1, used)] for row in rows]


def hop_columns(hops: Iterable[str]) -> int:
    """Columns for the names of hops; 0 if there is only one."""
    names = set(hops)
    return min(MAX_HOP, max(cells(visible(name)) for name in names)) if len(names) > 1 else 0


def row_line(
    summary: Summary,
    row: InspectedExchange | None,
    lane: str,
    width: int,
    digits: int,
    noted: Line = (),
    hop: int = 0,
    carried: int = 0,
    *,
    is_provisional: bool = False,
) -> Line:
    """One exchange.

    Args:
        noted: signs for marks, notes and branches, after the verdict, which they never hide.
        hop: columns for the name of its hop.
        carried: number of its breaks that began in an earlier exchange.
        is_provisional: it was inspected by itself.
    """
    status = "" if summary.status is None else str(summary.status)
    is_bad = summary.status is not None and summary.status >= 400
    head = line(
        Span(str(summary.index + 1), "muted", -digits),
        Span(f" {lane} ", "accent"),
        Span(status or "–", "error" if is_bad else "", 4),
        Span(duration(summary.duration), "muted", -6),
        "  ",
        *((Span(clip(summary.hop, hop) or "–", "role", hop), " ") if hop else ()),
    )
    is_roomy = width >= _ROOMY
    provisional = line(Span(PROVISIONAL, "warning")) if is_provisional else ()

    def form(*, has_names: bool) -> Line:
        verdict, *facts = _marks(summary, row, is_roomy, has_names, carried=carried, is_paused=pauses.PAUSED in noted)
        return (*head, *join_lines((verdict, provisional, noted, *facts), Span("  " if is_roomy else " ")))

    with_names = form(has_names=True)
    return with_names if is_roomy or line_columns(with_names) <= width else form(has_names=False)


def _no_model(summary: Summary) -> str:
    return "connection" if summary.kind is ExchangeKind.WEBSOCKET else "no model exchange"


def tool_words(summary: Summary) -> str:
    """A request to a tool server by its server and tool; empty for other exchanges."""
    if summary.kind is not ExchangeKind.MCP:
        return ""
    tool = unquote(summary.url.rpartition("/")[2])
    server = server_of(summary.url)
    if summary.method == STDIO:
        return f"MCP server {server}"
    return f"{server} · {tool}" if summary.method == "tools/call" else f"{server} · {summary.method} {tool}".rstrip()


def _marks(
    summary: Summary, row: InspectedExchange | None, is_roomy: bool, has_names: bool, *, carried: int, is_paused: bool
) -> list[Line]:
    """What is known of an exchange; ``has_names``: its calls by their tools."""
    if row is None:
        return [line(Span("…", "muted"))]
    marks = [_verdict(row, carried)]
    is_damaged = summary.state == "incomplete" and bool(row.problems)
    if summary.state == "open" and not is_paused:
        marks.append(line(Span("⇣ arriving", "accent")))
    elif summary.state not in ("complete", "open"):
        marks.append(line(Span(f"⊘ {'damaged, not checked' if is_damaged else summary.state}", "warning")))
    if row.protocol and row.conversation is None:
        return [*marks, line(Span(f"· {row.protocol}, not decoded", "muted"))]
    if row.problems and not is_damaged:
        marks.append(line(Span("? unreadable", "warning")))
    if row.protocol is None:
        what = tool_words(summary) or f"{summary.method} {_path(summary.url)}".strip() or _no_model(summary)
        marks.append(line(Span(what, "muted")))
    if summary.branch:
        marks.append(line(Span(f"└ {summary.branch}" if is_roomy else "└", "accent")))
    if changes := change_notes.count(summary.note):
        marks.append(line(Span(f"~ {count(changes, 'change')}" if is_roomy else f"~{changes}", "info")))
    if row.calls:
        named = ", ".join(row.calls[:3]) + (" …" if len(row.calls) > 3 else "")
        marks.append(line(Span(f"◆ {named if has_names else count(len(row.calls), 'call')}", "call")))
    if row.has_reasoning:
        marks.append(line(Span("∴ reasoning", "reasoning")))
    if row.protocol and is_roomy:
        facts = (row.finish_reason or "", row.model or "", size(summary.request_bytes + summary.response_bytes))
        marks.append(line(Span("  ".join(f for f in facts if f), "muted")))
    if not any(marks) and row.finish_reason:
        marks.append(line(Span(row.finish_reason, "muted")))
    return marks


def _verdict(row: InspectedExchange, carried: int) -> Line:
    """The breaks that begin in an exchange; if it has none of its own, the carried ones."""
    errors = sum(f.severity == "error" for f in row.findings)
    warnings = sum(f.severity == "warning" for f in row.findings)
    if carried and carried == errors + warnings:
        return line(Span("↑ carried", "error" if errors else "warning"))
    if not (errors or warnings) and (row.summary.status or 0) >= 400:
        return line(Span("✗ refused" if row.is_refused else "✗ failed", "error"))
    if errors:
        return line(Span("✗ break" if errors == 1 else f"✗ {errors} breaks", "error"))
    return line(Span(f"! {count(warnings, 'warning')}", "warning")) if warnings else ()


def _path(url: str) -> str:
    rest = url.partition("://")[2] or url
    return rest[rest.find("/") :].partition("?")[0] if "/" in rest else rest
