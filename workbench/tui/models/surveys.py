"""Lines of the survey screen: groups of failures with the weeks as a sparkline, places, and what was not judged.

The surveys that Home lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.safetext import cells, clip, clip_start, visible
from workbench.tui.models.tabs import ROOMY
from workbench.views import SEVERITY_GLYPH, Line, Span, count, line

if TYPE_CHECKING:
    from workbench.library import Section, SessionSummary
    from workbench.survey import FailureGroup, FailurePlace, Overview

SURVEYS = "Surveys"
BARS = "▁▂▃▄▅▆▇█"
_WIDE = 100
"""Columns from which on a row has room for all weeks of a season."""

MANIFEST = "_survey.json"


def is_survey(path: Path) -> bool:
    """True for the folder of a survey."""
    return (path / MANIFEST).is_file()


def survey_sections() -> list[Section]:
    """The surveys that were run on this machine; no section if there are none."""
    from workbench.library import Section, SessionItem
    from workbench.survey import known_surveys

    items = tuple(SessionItem(folder, SURVEYS, folder.name, modified=_time(folder)) for folder in known_surveys())
    return [Section(SURVEYS, items)] if items else []


def _time(folder: Path) -> float | None:
    try:
        return (folder / "_commits").stat().st_mtime
    except OSError:
        return None


def describe_survey(path: Path) -> SessionSummary:
    """The summary of a survey, from its newest commit. Never raises."""
    from workbench.errors import WorkbenchError
    from workbench.library import SessionSummary
    from workbench.survey import Catalog

    try:
        commit = Catalog(path).last()
    except (OSError, WorkbenchError, KeyError, TypeError) as error:
        return SessionSummary("warning", "not read", visible(str(error)))
    if commit is None:
        return SessionSummary("warning", "not finished", "the run is not finished: run the same command again")
    counts = commit.about["counts"]
    judged = f"{counts['judged']:,} of {counts['listed']:,} objects checked"
    words = judged if commit.is_complete else f"{judged}; {counts['lost']:,} without a result"
    return SessionSummary("" if commit.is_complete else "warning", f"run {commit.number}", words)


def headline(overview: Overview, by: str, where: str, width: int) -> list[Line]:
    """What the survey is of, and what was not judged."""
    from workbench.survey import status_words

    about = overview.commit.about
    first = line(
        Span(" Survey ", "strong"),
        Span(clip_start(visible(str(about["root"])), max(width - 40, 10)), "strong"),
        Span(f" · run {overview.commit.number} · by {by}", "muted"),
        Span(f" · {visible(where)}" if where else "", "accent"),
    )
    kind = "objects" if "://" in str(about["root"]) else "files"
    undecided = overview.exchanges.get("undecided", 0)
    words = f"{overview.judged_exchanges:,} exchanges checked · {kind}: {status_words(overview.objects)}"
    words += f" · {undecided:,} without a clear verdict" if undecided else ""
    is_whole = overview.commit.is_complete and not overview.unjudged_objects
    words += "" if overview.commit.is_complete else " · incomplete"
    return [first, line(Span(f" {words}", "muted" if is_whole else "warning"))]


class GroupColumns(NamedTuple):
    """Columns of the parts of a row, as wide as their longest text; ``meaning`` gets the rest."""

    rule: int
    group: int
    number: int
    weeks: int
    meaning: int


_FEWEST = 60
"""Columns from which on the meaning of a rule is shown in its row."""


def columns(groups: Sequence[FailureGroup], weeks: Sequence[str], width: int) -> GroupColumns:
    """Columns for the rows of groups in a list of this width."""
    longest = max((len(group.rule) for group in groups), default=0) + 2
    name = max((cells(visible(group.name)) for group in groups), default=0) + 2
    number, most = (10, 20) if width >= _WIDE else (9, 10)
    group = max(10, min(name, 24 if width >= _WIDE else 14))
    bars = max(len(_WEEKS) + 4, min(most, len(weeks) + 2)) if width >= _WIDE else most
    rest = width - 3 - group - 2 * number - bars
    rule = max(12, min(longest, rest))
    return GroupColumns(rule, group, number, bars, rest - rule if rest - rule >= _FEWEST else 0)


def by_urgency(groups: Iterable[FailureGroup]) -> list[FailureGroup]:
    """Groups with errors first, otherwise in their order."""
    return sorted(groups, key=lambda group: list(SEVERITY_GLYPH).index(group.severity))


_WEEKS = "findings per week"


def head(by: str, room: GroupColumns, width: int) -> Line:
    """Heads of the columns of groups."""
    if width < ROOMY:
        return line(Span("     seen ", "muted"), Span(f"rule · {by}", "muted"))
    return line(
        Span("     rule", "muted", room.rule + 5),
        Span(by, "muted", room.group),
        Span("sessions", "muted", -room.number),
        Span("findings", "muted", -room.number),
        Span(f"  {_WEEKS if room.weeks > len(_WEEKS) + 2 else 'weeks'}", "muted", room.weeks),
        Span("meaning" if room.meaning else "", "muted"),
    )


def group_line(group: FailureGroup, weeks: Sequence[str], room: GroupColumns, width: int) -> Line:
    """A group in one line; longer than a narrow screen."""
    sign, name = Span(f" {SEVERITY_GLYPH.get(group.severity, ' ')} ", group.severity), visible(group.name or "–")
    if width < ROOMY:
        return line(sign, Span(f"{group.sessions:,} ", "", -5), Span(group.rule), Span(f" {name}", "muted"))
    return line(
        sign,
        Span(clip(group.rule, room.rule - 1), "", room.rule),
        Span(clip(name, room.group - 1), "", room.group),
        Span(f"{group.sessions:,}", "", -room.number),
        Span(f"{group.findings:,}", "muted", -room.number),
        Span("  " + sparkline([group.weeks.get(week, 0) for week in weeks], room.weeks - 2), "accent", room.weeks),
        Span(_meaning(group.rule) if room.meaning else "", "muted"),
    )


def sparkline(numbers: Sequence[int], width: int) -> str:
    """Numbers as bars of eight heights; the last ones if there are too many."""
    latest = list(numbers)[-width:]
    most = max(latest, default=0)
    if not most:
        return ""
    return "".join(" " if not n else BARS[min(len(BARS) - 1, n * len(BARS) // (most + 1))] for n in latest)


def _name(place: FailurePlace, root: str) -> str:
    """The name of an object below the root."""
    return visible(place.object.uri.removeprefix(root.rstrip("/") + "/"))


def name_room(places: Sequence[FailurePlace], root: str, width: int) -> int:
    """Columns for the names of objects in a list of this width."""
    return min(max(width // 2, 12), max((cells(_name(place, root)) for place in places), default=0))


_FINDINGS = 15
"""Columns for the number of findings at a place."""


def place_line(place: FailurePlace, root: str, room: int, width: int) -> Line:
    """An object in one line, which may be longer than the screen: its name below the root, and where it fails."""
    name = _name(place, root)
    return line(
        Span(f" exchange {place.exchange + 1:,}", "muted", 14),
        Span(clip_start(name, room).ljust(room) if width >= ROOMY else name),
        Span(f"  {count(place.findings, 'finding')}".ljust(_FINDINGS)),
        Span(visible(place.path), "muted"),
    )


def _meaning(rule: str) -> str:
    """What a rule is about, in a sentence; empty for one of another version."""
    from workbench.contracts import pages

    return pages.page(rule).summary if rule in pages.slugs() else ""


def about(rule: str) -> list[str]:
    """Text about a rule: what it is, why it matters, usual causes, what to do; empty for one of another version."""
    from workbench.contracts import pages

    if rule not in pages.slugs():
        return []
    page = pages.page(rule)
    causes = ("", "Usual causes", *(f"  {cause}" for cause in page.look_for)) if page.look_for else ()
    finds = (f"  {fault}" for fault in page.finds)
    return [page.what, *finds, "", "Why it matters", f"  {page.why}", *causes, "", "What to do", f"  {page.fix}"]


def details(group: FailureGroup | None, weeks: Sequence[str], width: int, *, has_meaning: bool) -> list[Line]:
    """The meaning of a group's rule, where nothing else says it, and its weeks as numbers."""
    if group is None:
        return []
    counts = [f"{week}: {group.weeks[week]:,}" for week in weeks if week in group.weeks]
    words = f"findings per week: {'; '.join(counts)}" if counts else "the exchanges have no timestamps"
    meaning = [line(Span(f" {_meaning(group.rule)}"))] if has_meaning else []
    return [*meaning, line(Span(clip(f" {words}", width), "muted"))]
