"""The session over time: width is time, a lane for each conversation at each hop.

Long pauses in which nothing runs are shortened, so that what happens stays visible.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from workbench.lazy_dataclass import dataclass
from workbench.protocols.mcp import STDIO, server_of
from workbench.safetext import cells, clip
from workbench.views import Line, Span, line
from workbench.wire import ExchangeKind

if TYPE_CHECKING:
    from workbench.rules import InspectedExchange

MOST_LABEL = 14
"""Columns for the name of a lane, at most."""

HERE = "▌"
"""Sign of the selected exchange."""

LONG_PAUSE = 20.0
"""Seconds in which nothing runs, from which a pause may be shortened."""

SERVER = -2
"""Stands for the conversation in the lane of a tool server."""

PAUSE_SHARE = 0.15
"""Share of the running time that a pause may take; a longer one is shortened to ``SHORT_SHARE``."""

SHORT_SHARE = 0.03

SIGNS = {"": "█", "failed": "▒", "open": "░"}
"""Signs of an exchange, by how it ended."""

TOOLS, PAUSE = "─", "⋮"

_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400)
_TICK = 10
"""Columns between two ticks, at least."""


@dataclass(frozen=True, slots=True)
class TimeBar:
    """An exchange in its lane.

    Attributes:
        ended: how it ended: "" for an answer, ``"failed"`` or ``"open"``.
        severity: the worst finding that begins in it; empty without one.
        calls: number of calls in its answer, which the client runs until the next exchange.
    """

    exchange: int
    start: float
    end: float
    ended: str = ""
    severity: str = ""
    calls: int = 0


@dataclass(frozen=True, slots=True)
class TimeLane:
    """The exchanges of a conversation at a hop, in order."""

    name: str
    bars: tuple[TimeBar, ...]


class ShortPause(NamedTuple):
    """A shortened pause: when it begins and ends, and the length that it is shown with."""

    start: float
    end: float
    shown: float


@dataclass(frozen=True, slots=True)
class TimeMap:
    """All lanes. Positions are seconds since the beginning with pauses shortened; without times, exchanges.

    Attributes:
        has_times: the exchanges have times; else all are equally long.
    """

    lanes: tuple[TimeLane, ...] = ()
    has_times: bool = True
    length: float = 1.0
    pauses: tuple[ShortPause, ...] = ()

    @property
    def label(self) -> int:
        """Columns for the names of lanes."""
        return min(MOST_LABEL, max((cells(lane.name) for lane in self.lanes), default=0) + 2)

    def position(self, seconds: float) -> float:
        """Position of a time."""
        saved = 0.0
        for start, end, width in self.pauses:
            if seconds >= end:
                saved += end - start - width
            elif seconds > start:
                saved += (seconds - start) * (1 - width / (end - start))
        return seconds - saved

    def seconds(self, position: float) -> float:
        """Time at a position."""
        for start, end, width in self.pauses:
            if position > start + width:
                position += end - start - width
            elif position > start:
                return start + (position - start) * (end - start) / width
        return position

    def find(self, exchange: int) -> tuple[int, int] | None:
        """Lane and bar of an exchange; None if it is in no lane."""
        for n, lane in enumerate(self.lanes):
            for k, bar in enumerate(lane.bars):
                if bar.exchange == exchange:
                    return n, k
        return None


def time_map(rows: Sequence[InspectedExchange], severities: Mapping[int, str] | None = None) -> TimeMap:
    """Lanes of inspected exchanges.

    Args:
        severities: index of an exchange → the worst finding that begins in it.
    """
    times = [row.summary.started_at for row in rows]
    has_times = bool(rows) and all(time is not None for time in times)
    zero = min((time for time in times if time is not None), default=0.0)
    lanes: dict[tuple[int, str], list[TimeBar]] = {}
    for n, row in enumerate(rows):
        if row.summary.method == STDIO:
            continue  # it lasts as long as its requests together
        start = (row.summary.started_at or 0.0) - zero if has_times else float(n)
        end = start + (row.summary.duration or 0.0) if has_times else n + 0.8
        bar = TimeBar(row.index, start, end, _ending(row), (severities or {}).get(row.index, ""), len(row.calls))
        if row.summary.kind is ExchangeKind.MCP:
            key = (SERVER, server_of(row.summary.url))
        else:
            key = (-1 if row.conversation is None else row.conversation, row.summary.hop)
        lanes.setdefault(key, []).append(bar)
    bars = [bar for lane in lanes.values() for bar in lane]
    pauses = tuple(_pauses(bars)) if has_times else ()
    hops = {hop for lane, hop in lanes if lane != SERVER}
    named = tuple(TimeLane(_name(key, n, hops), tuple(lane)) for n, (key, lane) in enumerate(lanes.items(), 1))
    scale = TimeMap(named, has_times, 1.0, pauses)
    end = max((bar.end for bar in bars), default=1.0)
    return TimeMap(named, has_times, max(scale.position(end), 0.001), pauses)


def _name(key: tuple[int, str], number: int, hops: set[str]) -> str:
    conversation, hop = key
    if conversation == SERVER:
        return f"mcp {hop}"
    what = "other" if conversation < 0 else str(number)
    return f"{what} {hop}" if len(hops) > 1 and hop else what


def _ending(row: InspectedExchange) -> str:
    if row.summary.state == "open":
        return "open"
    status = row.summary.status
    if row.summary.kind is ExchangeKind.MCP:
        return "" if row.summary.state == "complete" else "failed"
    return "failed" if status is None or status >= 400 or row.summary.state != "complete" else ""


def _pauses(bars: Iterable[TimeBar]) -> Iterable[ShortPause]:
    """Long times in which nothing runs."""
    busy: list[list[float]] = []
    for bar in sorted(bars, key=lambda bar: bar.start):
        if busy and bar.start <= busy[-1][1]:
            busy[-1][1] = max(busy[-1][1], bar.end)
        else:
            busy.append([bar.start, bar.end])
    gaps = [(one[1], other[0]) for one, other in pairwise(busy)]
    running = sum(end - start for start, end in busy) + sum(b - a for a, b in gaps if b - a < LONG_PAUSE)
    for start, end in gaps:
        if end - start >= LONG_PAUSE and end - start > PAUSE_SHARE * running:
            yield ShortPause(start, end, max(SHORT_SHARE * running, 0.001))


class TimeWindow(NamedTuple):
    """The part of a time map that is shown, in positions, on a number of columns."""

    start: float
    end: float
    columns: int

    def column(self, position: float) -> int:
        """Column of a position; it may be outside."""
        return int((position - self.start) / max(self.end - self.start, 1e-9) * self.columns)


def window_of(times: TimeMap, columns: int, zoom: int, exchange: int | None) -> TimeWindow:
    """The window of a zoom (1: everything, 2: half of it, …) around an exchange."""
    span = times.length / zoom
    found = None if exchange is None else times.find(exchange)
    bar = times.lanes[found[0]].bars[found[1]] if found else None
    middle = times.position((bar.start + bar.end) / 2) if bar else 0.0
    start = min(max(0.0, middle - span / 2), times.length - span)
    return TimeWindow(start, start + span, max(1, columns))


def lane_line(times: TimeMap, number: int, window: TimeWindow, here: int | None = None) -> Line:
    """One lane: its name and its exchanges; ``here`` is the selected exchange."""
    lane = times.lanes[number]
    columns: list[tuple[str, str]] = [(" ", "")] * window.columns
    for one, other in pairwise(lane.bars):
        if one.calls and one.ended == "" and times.has_times:
            _fill(columns, window, times, (one.end, other.start), _tool_signs(one.calls))
    for pause in times.pauses:
        _fill(columns, window, times, (pause.start, pause.end), {"mid": (PAUSE, "muted")})
    for bar in lane.bars:
        _fill(columns, window, times, (bar.start, bar.end), _bar_signs(bar, is_here=bar.exchange == here))
    name = Span(clip(lane.name, times.label - 1), "role", times.label)
    return line(name, *_spans(columns))


_Signs = dict[str, tuple[str, str]]


def _tool_signs(calls: int) -> _Signs:
    middle = {"mid": (str(calls) if calls < 10 else "+", "call")} if calls > 1 else {}
    return {"all": (TOOLS, "call"), **middle}


def _bar_signs(bar: TimeBar, *, is_here: bool) -> _Signs:
    style = {"failed": "error", "open": "accent"}.get(bar.ended, "ok")
    signs = {"all": (HERE, "accent") if is_here else (SIGNS[bar.ended], style)}
    if bar.severity:
        signs["first"] = ("✗" if bar.severity == "error" else "!", f"{bar.severity} strong")
    return signs


def _fill(
    columns: list[tuple[str, str]], window: TimeWindow, times: TimeMap, span: tuple[float, float], signs: _Signs
) -> None:
    """Put signs into the columns of a time span: ``all`` of them, the ``first``, or the one in the ``mid``."""
    first, last = (window.column(times.position(seconds)) for seconds in span)
    visible = range(max(first, 0), min(max(first, last - 1), window.columns - 1) + 1)
    if "all" in signs:
        for column in visible:
            if not _is_mark(columns[column]):
                columns[column] = signs["all"]
    if visible and "first" in signs:
        columns[visible[0]] = signs["first"]
    if visible and "mid" in signs:
        columns[visible[len(visible) // 2]] = signs["mid"]


def _is_mark(cell: tuple[str, str]) -> bool:
    """A break stays visible where several exchanges share a column."""
    return cell[0] in "✗!"


def _spans(columns: Sequence[tuple[str, str]]) -> Iterable[Span]:
    """Neighbours of one style as one span."""
    text, style = "", ""
    for sign, look in columns:
        if look != style and text:
            yield Span(text, style)
            text = ""
        text, style = text + sign, look
    yield Span(text, style)


def ruler_line(times: TimeMap, window: TimeWindow) -> Line:
    """The times above the lanes."""
    if not times.has_times:
        return line(Span(" " * times.label), Span("in order: the exchanges have no timestamps", "muted"))
    step = next((s for s in _STEPS if s / (window.end - window.start) * window.columns >= _TICK), _STEPS[-1])
    text = [" "] * window.columns
    ticks = int(times.seconds(window.end) / step) + 1
    first, free = int(times.seconds(window.start) / step), 0
    for tick in range(first, min(ticks, first + 2000)):
        at, label = window.column(times.position(tick * step)), f"│{time_words(tick * step)}"
        if free <= at and at + len(label) <= window.columns:
            text[at : at + len(label)] = label
            free = at + len(label) + 2
    return line(Span(" " * times.label), Span("".join(text), "muted"))


def time_words(seconds: float) -> str:
    """``0.5 s``, ``40 s``, ``3:20``, ``1:02:00``."""
    if seconds < 60:
        return f"{seconds:g} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
