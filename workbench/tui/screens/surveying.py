"""Survey screen: failures over many sessions in groups; enter opens the one object at the failure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, work
from textual.app import ComposeResult
from textual.screen import Screen

from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import replace
from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.dispatch import is_open
from workbench.tui.host import host_of
from workbench.tui.models import surveys
from workbench.tui.models.tabs import ROOMY, TOO_SMALL
from workbench.tui.screens.worklist import ListPane
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.text import TextPane
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from workbench.survey import FailureGroup, FailurePlace, Overview
    from workbench.wire.session import Session

CHANGED = "this object has changed since the survey: run the survey again"


class SurveyScreen(Screen[None]):
    """Groups of failures, and the places of one group. Tables are read in a thread.

    Args:
        folder: of the survey.
    """

    CSS_PATH = "surveying.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.SURVEY
    BINDINGS = keys.bindings(keys.SURVEY)

    listing = getters.query_one("#listing", ListPane)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.by = "provider"
        self.where: dict[str, str] = {}
        self.found: Overview | None = None
        self.group: FailureGroup | None = None
        self.places: list[FailurePlace] = []
        self.columns = surveys.columns((), (), 80)
        self.name_room, self._about = 0, ""

    def compose(self) -> ComposeResult:
        yield Headline()
        yield Bar(id="columns")
        yield ListPane(id="listing")
        yield TextPane(id="about")
        yield Bar(id="below")
        yield Bar(id="status")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_FAILURE, *keys.SURVEY])
        self._say("")
        self.listing.focus()
        self.listing.show_none("reading the tables …")
        self._read()

    def on_resize(self) -> None:
        self.listing.flows = self.size.width < ROOMY  # a narrow row has the group behind the rule
        self.show_survey()

    @work(thread=True, group="survey", exclusive=True, exit_on_error=False)
    def _read(self) -> None:
        from workbench.survey import Catalog, overview

        try:
            found, why = overview(Catalog(self.folder), self.by, self.where), "no run of this survey has finished yet"
        except (WorkbenchError, OSError) as error:
            found, why = None, str(error)
        self.app.call_from_thread(self._show_found, found, why)

    def _show_found(self, overview: Overview | None, why: str) -> None:
        self.found = overview and replace(overview, groups=surveys.by_urgency(overview.groups))
        if is_open(self):
            self.listing.cursor = 0
            self.show_survey()
            if overview is None:
                self.listing.show_none(visible(why))

    # What is shown.

    def show_survey(self) -> None:
        """Show the groups, or the places of the chosen one."""
        if self.found is None or not is_open(self):
            return
        where = " ".join(f"{name}={value}" for name, value in self.where.items())
        width = self.size.width
        self.query_one("#headline", Bar).show(surveys.headline(self.found, self.by, where, width))
        self.columns = surveys.columns(self.found.groups, self.found.weeks, self.listing.text_width)
        if self.group is None:
            self.query_one("#columns", Bar).show([surveys.head(self.by, self.columns, self.listing.text_width)])
            self.listing.title(line(f" Failures by {self.by} "))
            self.listing.show(len(self.found.groups), self._group_line, "no failures were found")
        else:
            title = f" {self.group.rule} · {visible(self.group.name or '–')}"
            self.query_one("#columns", Bar).show([line(Span(title, "strong"))])
            root = str(self.found.commit.about["root"])
            self.name_room = surveys.name_room(self.places, root, self.listing.text_width)
            self.listing.title(line(" Places "))
            self.listing.show(len(self.places), self._place_line, "reading where the failures are …")
        self._show_below()

    def _group_line(self, item: int) -> Line:
        assert self.found is not None
        return surveys.group_line(self.found.groups[item], self.found.weeks, self.columns, self.listing.text_width)

    def _place_line(self, item: int) -> Line:
        assert self.found is not None
        root = str(self.found.commit.about["root"])
        return surveys.place_line(self.places[item], root, self.name_room, self.listing.text_width)

    def _show_below(self) -> None:
        found = self.found
        group = self.group or (found.groups[self.listing.cursor] if found and found.groups else None)
        has_room, weeks = self.has_class("-tall"), found.weeks if found else ()
        has_meaning = not has_room and self.group is None  # the rule's text below says it
        self.query_one("#below", Bar).show(surveys.details(group, weeks, self.size.width, has_meaning=has_meaning))
        if group and group.rule != self._about:
            self._about = group.rule
            about = self.query_one("#about", TextPane)
            about.title(line(f" About {group.rule} "))
            about.show(surveys.about(group.rule))

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if self.group is None and self.found and self.listing.cursor < len(self.found.groups):
            self._show_below()

    # Keys.

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        """Show the places of a group, or open the object of a place."""
        if self.group is not None:
            if self.places:
                self._open(self.places[self.listing.cursor])
        elif self.found and self.found.groups:
            self.group, self.places, self.listing.cursor = self.found.groups[self.listing.cursor], [], 0
            self.show_survey()
            self._read_places(self.group)

    @work(thread=True, group="survey", exclusive=True, exit_on_error=False)
    def _read_places(self, group: FailureGroup) -> None:
        from workbench.survey import Catalog, places_of

        try:
            places = places_of(Catalog(self.folder), group, self.by, self.where)
        except (WorkbenchError, OSError) as error:
            self.app.call_from_thread(self._say, visible(str(error)))
            return
        self.app.call_from_thread(self._show_places, group, places)

    def _show_places(self, group: FailureGroup, places: list[FailurePlace]) -> None:
        if self.group is group:
            self.places = places
            self.show_survey()

    def _open(self, place: FailurePlace) -> None:
        def opener() -> Session:
            return open_place(place)

        self._say("")
        self.app.push_screen(host_of(self.app).session_screen(opener, place.exchange), self._report)

    def _report(self, error: object) -> None:
        self._say(f"✗ {error}" if error else "")

    def _say(self, words: str) -> None:
        if is_open(self):
            status = self.query_one("#status", Bar)
            status.display = bool(words)
            status.show([line(Span(f" {words}", "error"))])

    def action_group(self) -> None:
        """Group by the next column."""
        from workbench.survey import GROUPS

        if self.group is None:
            self.by = GROUPS[(GROUPS.index(self.by) + 1) % len(GROUPS)]
            self._read()

    def action_filter(self) -> None:
        from workbench.survey import FILTERS
        from workbench.tui.screens.questions import AskScreen

        hint = f"COLUMN=VALUE, with * for any value; columns: {', '.join(FILTERS)}"
        text = " ".join(f"{name}={value}" for name, value in self.where.items())
        self.app.push_screen(AskScreen("Filter", hint, text), self._set_filter)

    def _set_filter(self, text: str | None) -> None:
        from workbench.survey import FILTERS

        if text is None:
            return
        pairs = dict(word.partition("=")[::2] for word in text.split())
        unknown = [name for name in pairs if name not in FILTERS]
        if unknown:
            self._say(f"unknown column {visible(unknown[0])}")
            return
        self._say("")
        self.where, self.group = pairs, None
        self._read()

    def action_back(self) -> None:
        """Go from places to groups; else leave."""
        if self.group is None:
            self.dismiss(None)
            return
        found = self.found
        groups = list(found.groups) if found else []
        self.listing.cursor = groups.index(self.group) if self.group in groups else 0
        self.group = None
        self.show_survey()


def open_place(place: FailurePlace) -> Session:
    """Fetch the object of a failure and open it. Raises WorkbenchError, OSError."""
    from workbench.formats.importers import open_input
    from workbench.survey import ObjectChanged, on_disk

    try:
        with on_disk(place.object, place.object.size) as path:
            return open_input(str(path))
    except ObjectChanged as error:
        raise WorkbenchError(CHANGED, where=place.object.uri.rpartition("/")[2]) from error
