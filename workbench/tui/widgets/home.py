"""The list of the home screen: sessions in sections."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from workbench.library import EXAMPLES, LIVE, Section, SessionItem
from workbench.safetext import cells, visible
from workbench.tui import keys
from workbench.tui.keymap import keymap_of
from workbench.tui.models import home
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, line

if TYPE_CHECKING:
    from workbench.library import SessionSummary
    from workbench.tui.models.pauses import PausedSide


class HomePane(LineView):
    """Sessions, each with its summary as soon as it is known. The cursor skips everything else."""

    is_accordion = fills = hangs = True

    class Scroll(Message):
        """Other sessions became visible."""

    def __init__(self, sections: Iterable[Section], clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.rows: Sequence[home.HomeRow] = ()
        self.stories: dict[Path, SessionSummary] = {}
        self.listening: dict[Path, str] = {}
        self.held: Mapping[Path, Sequence[PausedSide]] = {}
        self.expected: Path | None = None
        self._dates: dict[Path, float | None] = {}
        self._has_ages, self._longest = True, 0
        self._clock = clock
        self._home = str(Path.home())
        self._sections = sections

    def on_mount(self) -> None:
        self.show(self._sections)

    def show(self, sections: Iterable[Section]) -> None:
        """Show other sections; summaries of files that have changed are dropped.

        The cursor stays on its session, but goes to an ``expected`` one as soon as that is listed.
        """
        here = self.item()
        self.rows = home.rows(sections, self._switch())
        self._has_ages = any(item.modified is not None for item in self.items())
        self.title(line(" Sessions "))
        self._longest = max((cells(visible(item.name)) for item in self.items()), default=0)
        self.opened_items = {n for n, row in enumerate(self.rows) if row.note}
        for item in self.items():
            if self._dates.get(item.path) not in (None, item.modified):
                self.stories.pop(item.path, None)
            self._dates[item.path] = item.modified
        new = next((n for n, row in enumerate(self.rows) if row.item and row.item.path == self.expected), None)
        if new is not None:
            self.expected = None
        same = (n for n, row in enumerate(self.rows) if row.item and here and _place(row.item) == _place(here))
        self.cursor = new or next(same, None) or self._landing(min(self.cursor, len(self.rows) - 1), 1)
        self.reload()
        self.show_item(self.cursor)

    def _switch(self) -> str:
        return keymap_of(self.app).row(keys.table()["home.clients"]).show

    def add_summary(self, path: Path, story: SessionSummary) -> None:
        """Add the summary of a session."""
        self.stories[path] = story
        self.reload()

    def set_paused(self, paused_sides: Mapping[Path, Sequence[PausedSide]]) -> None:
        """Set the paused exchanges of each session."""
        self.held = paused_sides
        self.reload()

    def items(self) -> list[SessionItem]:
        """Every session."""
        return [row.item for row in self.rows if row.item]

    def item(self) -> SessionItem | None:
        """The session under the cursor."""
        return self.rows[self.cursor].item if self.cursor < len(self.rows) else None

    def pending_summaries(self) -> list[Path]:
        """Visible sessions whose summary is unknown or may be outdated, from the top."""
        top = self.scroll_offset.y
        last = min(top + self.size.height, self.virtual_size.height) - 1
        if not self.rows or last < top:
            return []
        seen = self.rows[self.lines_of.at(top)[0] : self.lines_of.at(last)[0] + 1]
        return [r.item.path for r in seen if r.item and (r.item.path not in self.stories or r.item.section == LIVE)]

    # What is painted.

    def count(self) -> int:
        return len(self.rows)

    def head(self, item: int, width: int) -> Line:
        row = self.rows[item]
        if row.item:
            pause_count = len(self._held_in(row.item))
            story = self.stories.get(row.item.path)
            return home.item_line(
                row.item, story, width, self._clock(), pause_count, has_ages=self._has_ages, longest=self._longest
            )
        return home.note_lines(row.note, width)[0] if row.note else home.heading_line(row)

    def further(self, item: int, width: int) -> list[Line]:
        row = self.rows[item]
        if row.item:
            is_short = self.screen.has_class("-short")
            where = "" if row.item.section == EXAMPLES or is_short else self._where(row.item.path)
            if row.item.path in self.listening:
                where = f"listening on {self.listening[row.item.path]} · {where}"
            lines = home.held_lines(self._held_in(row.item), width, self._clock())
            story, is_here = self.stories.get(row.item.path), item == self.cursor
            return lines + home.item_body(row.item, story, width, where, is_here=is_here, is_short=is_short)
        return home.note_lines(row.note, width)[1:]

    def _held_in(self, item: SessionItem) -> Sequence[PausedSide]:
        return self.held.get(item.path, ()) if item.section == LIVE else ()

    def _where(self, path: Path) -> str:
        place = str(path)
        return "~" + place[len(self._home) :] if place.startswith(self._home + os.sep) else place

    # Where the cursor may stand.

    def move_to(self, item: int, *, center: bool = False) -> None:
        """Put the cursor on a row; headings and notes are skipped."""
        super().move_to(self._landing(item, -1 if item < self.cursor else 1), center=center)

    def _landing(self, item: int, step: int) -> int:
        """Row of the session at a row, else of the next one in a direction, else in the other one."""
        item = max(0, min(item, len(self.rows) - 1))
        order = (*range(item, len(self.rows)), *range(item, -1, -1))
        if step < 0:
            order = (*range(item, -1, -1), *range(item, len(self.rows)))
        return next((n for n in order if self.rows[n].item), 0)

    def show_item(self, item: int, *, center: bool = False) -> None:
        """Scroll to an item; for the first session of a section, show its heading too."""
        super().show_item(item, center=center)
        if item and not center and self.rows[item - 1].heading:
            self.show_lines(self.lines_of.first(item - 1), self.lines_of.first(item))

    def find(self, wanted: str, start: int, step: int) -> int | None:
        """Search sessions only: by name, client, origin, verdict, story or path."""
        total, wanted = self.count(), wanted.casefold()
        for item in ((start + n * step) % total for n in range(total)):
            found = self.rows[item].item
            if found and wanted in self._words(found).casefold():
                return item
        return None

    def _words(self, item: SessionItem) -> str:
        story = self.stories.get(item.path)
        words = (story.verdict, story.text, story.origin, story.client, story.about) if story else ()
        return "\n".join((item.name, item.client, self._where(item.path), *words))

    # What is in sight.

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Scroll())


def _place(item: SessionItem) -> tuple[str, Path]:
    return item.section, item.path
