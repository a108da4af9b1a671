"""Lines of the home screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.library import FOUND, LIVE, SWITCHED_OFF, Section, SessionItem
from workbench.safetext import cells, clip, clip_start, visible
from workbench.tui.models import pauses
from workbench.views import SEVERITY_GLYPH, Line, Span, count, line, wrap

if TYPE_CHECKING:
    from workbench.library import SessionSummary
    from workbench.tui.models.pauses import PausedSide

ROOMY, WIDE, HUGE = 92, 144, 200
"""Least columns for a row with its provider, for one with its break in a line below, and for one with it behind."""

LEAST = 56
"""Columns below which a session has one line for its name, and only the sign of its verdict."""
_VERDICT = 27
_AGE = 8
_NUMBER, _FEW_NUMBER = 9, 6
_LEAST_ORIGIN = 8
_CLIENT, _ORIGIN = 24, 33
_MOST_LINES, _MOST_SHORT = 6, 3


def welcome(recordings: int) -> tuple[Line, ...]:
    """Name and purpose of the program. ``recordings``: number of recordings started from this window."""
    mode = (
        "replay · offline"
        if not recordings
        else f"● {count(recordings, 'recording')} · API keys are forwarded, never stored"
    )
    return (
        line(Span(" Workbench", "accent strong"), Span("   find where tool calling breaks")),
        line(Span(f" {mode} · tools are never run", "warning" if recordings else "ok")),
    )


class HomeRow(NamedTuple):
    """A line of the list: a session; if ``item`` is None, the heading or a note of a section."""

    item: SessionItem | None = None
    heading: str = ""
    note: str = ""


def rows(sections: Iterable[Section], switch: str) -> list[HomeRow]:
    """Sections as rows. ``switch`` is the key that hides or shows the sessions of clients."""
    home_rows: list[HomeRow] = []
    for section in sections:
        about = f" · {switch}: {'show' if is_off(section) else 'hide'}"
        home_rows.append(HomeRow(heading=section.title + (about if section.title == FOUND else "")))
        home_rows += [HomeRow(item) for item in section.items]
        home_rows += [HomeRow(note=note) for note in section.notes]
    return home_rows


def is_off(section: Section) -> bool:
    """True if the sessions of clients are hidden."""
    return section.notes == (SWITCHED_OFF,)


def hints(keys: Iterable[tuple[str, str]]) -> tuple[Line, ...]:
    """Ways to record and check own traffic, as (key, sentence)."""
    return (
        line(Span(" Your own traffic", "strong")),
        *(line(Span(f"  {key}", "accent strong", 24), text) for key, text in keys),
        line(Span("  workbench record …", "accent", 24), "the same from the shell; also starts the client"),
        line(Span("  workbench check FILE", "accent", 24), "findings as text or JSON, for scripts and CI"),
    )


def heading_line(row: HomeRow) -> Line:
    """The heading of a section."""
    title, dot, about = row.heading.partition(" · ")
    return line(Span(title, "role"), Span(dot + about, "muted"))


def item_line(
    item: SessionItem,
    story: SessionSummary | None,
    width: int,
    now: float,
    pause_count: int = 0,
    *,
    has_ages: bool = True,
    longest: int = 1000,
) -> Line:
    """A session in one line; ``item_body`` has the rest, shown below it while the cursor is on it.

    Args:
        now: seconds since the epoch.
        held: number of paused exchanges; shown in place of the verdict if not zero.
        has_ages: a session of the list has an age; else its column is left out.
        longest: columns of the longest name of the list.
    """
    ages = _AGE if has_ages else 0
    room = width - ages - _VERDICT
    when = Span(f"{age(now - item.modified)} " if item.modified is not None else "", "muted", -ages)
    sign = (
        Span(f" {pauses.SIGN} {pause_count} paused", "warning strong", _VERDICT) if pause_count else _sign(item, story)
    )
    if width < LEAST:
        return line(Span(f"{sign.text[1:2]} ", sign.style), _name(item, width - 2))
    exchanges = f"{story.exchanges:,} ex" if story and story.exchanges is not None else ""
    if width < ROOMY:
        rest = room - longest - 2 - _FEW_NUMBER
        if rest < 0:
            return line(_name(item, room), when, sign)
        number = Span(exchanges if len(exchanges) < _FEW_NUMBER else exchanges.removesuffix(" ex"), "", -_FEW_NUMBER)
        who = Span(f" {_origin(story, rest - 1)}", "muted", rest) if rest else Span("")
        return line(_name(item, longest + 2), who, when, number, sign)
    client = () if width < HUGE else (Span(_client(item, story), "", _CLIENT), Span(" "))
    rest = room - _NUMBER
    name = min(longest + 2, rest * 55 // 100 if width < WIDE else width // 4)
    columns = _ORIGIN if width >= WIDE else rest - name - 1
    origin = _origin(story, columns)
    who = Span(origin if client else " · ".join(words for words in (item.client, origin) if words), "muted", columns)
    sentence = (Span(" "), Span(story.text, "muted")) if story and width >= HUGE else ()
    return line(_name(item, name), when, " ", *client, who, Span(exchanges, "", -_NUMBER), sign, *sentence)


def _origin(story: SessionSummary | None, width: int) -> str:
    """Provider and model of a session, without the model if both do not fit."""
    origin = (story and story.origin) or ""
    if cells(visible(origin)) > width:
        origin = origin.partition(" · ")[0]
    return origin if cells(visible(origin)) <= max(width, _LEAST_ORIGIN) and width >= _LEAST_ORIGIN else ""


def item_body(
    item: SessionItem,
    story: SessionSummary | None,
    width: int,
    where: str,
    *,
    is_here: bool = True,
    is_short: bool = False,
) -> list[Line]:
    """Further lines of a session: its first break, its story, its facts, and its path, without what its row shows.

    Args:
        is_here: the cursor is on the session; if not, its first break is enough, or its story if its row has that.
        is_short: there are few rows: the break alone, or of a session without one the first line of its story.
    """
    if not is_here and width < WIDE:
        return []
    if story is None:
        return wrap(where, width, "muted", indent=2, most=1)
    about = story.about
    if not is_here and width < HUGE:
        return [line("  ", Span(story.text if story.severity or not about else about.partition("\n")[0], "muted"))]
    if is_short:
        words = story.text if story.severity or not about else about.partition("\n")[0]
        return [
            *wrap(words, width, story.severity, indent=2, most=_MOST_SHORT),
            *wrap(where, width, "muted", indent=2, most=1),
        ]
    if width < LEAST:
        about = about.partition("\n")[0]
    elif width >= HUGE:
        about = about.replace("\n", " · ")
    lines = wrap(story.text, width, story.severity, indent=2, most=_MOST_LINES) if is_here and width < HUGE else []
    facts = _facts(item, story, width) if is_here and width < HUGE else ""
    is_one = about and facts and width >= ROOMY
    for text in (f"{about} · {facts}" if is_one else about, "" if is_one else facts, where):
        lines += wrap(text, width, "muted", indent=2, most=_MOST_LINES) if text else []
    return lines


def _facts(item: SessionItem, story: SessionSummary, width: int) -> str:
    """What the row of a session has no room for."""
    number = count(story.exchanges, "exchange") if story.exchanges is not None and width < LEAST else ""
    origin = story.origin if width < ROOMY else ""
    return " · ".join(f for f in (_client(item, story) if not item.client else "", origin, number) if f)


def held_lines(paused_sides: Sequence[PausedSide], width: int, now: float) -> list[Line]:
    """Paused exchanges: the most urgent one, and how to decide it. No lines if nothing is paused."""
    if not paused_sides:
        return []
    first = pauses.first_to_decide(paused_sides)
    many = f"{len(paused_sides)} paused, first: " if len(paused_sides) > 1 else ""
    text = f"{pauses.SIGN} {many}{first.side} paused for {pauses.clock(now - first.since)}: {first.why}"
    way = "enter: open the session, then P: decide"
    return wrap(f"{text} · {pauses.patience(first, now).text} · {way}", width, "warning", indent=2, most=_MOST_LINES)


def note_lines(note: str, width: int) -> list[Line]:
    """Note of a section: sessions that are not listed, and why."""
    return wrap(note, width, "muted", most=_MOST_LINES)


def age(seconds: float) -> str:
    """``now``, ``3 min``, ``5 h``, ``12 d``, ``2 y``."""
    for size, unit in ((365 * 86400, "y"), (86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def _name(item: SessionItem, width: int) -> Span:
    """Name of a session, shortened in the middle: names often begin alike, so the end is kept."""
    name = visible(item.name)
    if cells(name) < width:
        return Span(f"{name} ", "strong", width)
    start = max(4, width // 3)
    end = max(1, width - start - 2)
    return Span(f"{clip(name, start).removesuffix('…')}{clip_start(name, end + 1)} ", "strong", width)


def _client(item: SessionItem, story: SessionSummary | None) -> str:
    return item.client or (story.client if story else "")


def _sign(item: SessionItem, story: SessionSummary | None) -> Span:
    """The verdict: a sign and its words."""
    if story is None:
        return Span(" … ", "muted", _VERDICT)
    if story.severity:
        return Span(f" {SEVERITY_GLYPH[story.severity]} {story.verdict}", story.severity, _VERDICT)
    if story.is_clean:
        return Span(f" ✓ {story.verdict}", "ok", _VERDICT)
    is_early = item.section == LIVE and not story.exchanges
    return Span(f" {'○' if is_early else '?'} {story.verdict}", "muted" if is_early else "warning", _VERDICT)
