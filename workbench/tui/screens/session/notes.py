"""Marks and notes of a session screen: editing, display and navigation."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from workbench.lazy_dataclass import replace
from workbench.safetext import cells, clip_start, visible
from workbench.tui.screens.session.navigation import Goal
from workbench.tui.service import JobAnswer
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.edits import Notebook, NotePlace, UserNote
    from workbench.rules import Inspector
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.widgets.prompt import Prompt

MARK, NOTE = "⚑", "✎"
WAYS = (("enter", "save"), ("esc", "cancel"))
"""Signs of a mark and of a note."""


class SessionNotes:
    """Notebook of a session, and the actions on it."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self.book: Notebook | None = None
        self._last: tuple[int, NotePlace] | None = None
        self._prompt: Prompt | None = None

    def load(self) -> None:
        """Load the notes of the session."""
        self.screen.inspecting.do(partial(_open, self._take_book))

    def _take_book(self, book: Notebook) -> None:
        self.book = book
        if book.trouble:
            self.screen.notify(visible(book.trouble), severity="warning", markup=False)
        if book.notes:
            self._update(None)

    def of(self, exchange: str) -> list[UserNote]:
        """Notes on an exchange and on places in it."""
        return self.book.of(exchange) if self.book else []

    def line_of(self, exchange: str) -> Line:
        """Signs of marks and notes of an exchange, for its row."""
        return signs(self.of(exchange), is_brief=True)

    def items_of(self, item_of: Callable[[str, str], int | None]) -> dict[int, Line]:
        """Signs of marks and notes by item of a view of the open exchange.

        Args:
            item_of: (side, pointer) → item; None if the view does not show it.
        """
        opened = self.screen.opened
        found: dict[int, list[UserNote]] = {}
        for note in self.of(opened.row.summary.id) if opened else ():
            number = item_of(note.place.side, note.place.pointer) if note.place.side else None
            if number is not None:
                found.setdefault(number, []).append(note)
        return {number: signs(notes) for number, notes in found.items()}

    def show(self) -> None:
        """Show marks and notes in their panes."""
        from workbench.tui.widgets.exchange import ExchangePane

        self.screen.exchanges.refresh()
        ir = self.screen.query_one("#ir", ExchangePane)
        opened = self.screen.opened
        ir.noted = self.items_of(opened.outline.by_pointer) if opened else {}
        ir.refresh()

    # Keys.

    def place(self) -> NotePlace | None:
        """Place of a new mark: the exchange if the timeline has the focus, else the selection."""
        from workbench.edits import NotePlace

        opened, selection = self.screen.opened, self.screen.pointer.selection
        if opened is None:
            return None
        if self.screen.focused is self.screen.exchanges or selection is None or not selection.pointer:
            return NotePlace(opened.row.summary.id)
        return NotePlace(opened.row.summary.id, selection.side, selection.pointer)

    def mark(self) -> None:
        """Mark or unmark the place."""
        place = self.place()
        if self.book and place:
            note = self.book.at(place)
            self._put(replace(note, is_marked=not note.is_marked))

    def ask(self) -> None:
        """Open the note of the place for editing."""
        from workbench.edits import MAX_NOTE
        from workbench.tui.widgets.prompt import Prompt

        place = self.place()
        if self._prompt or self.book is None or place is None:
            return
        note = self.book.at(place)
        what = f"{place.side} {place.pointer}".strip() or "the exchange"
        self._prompt = Prompt(NOTE, note.text, lambda _: None, partial(self._finish, note), ways=WAYS, most=MAX_NOTE)
        self.screen.mount(self._prompt, before="#keys")
        hint = "an empty note is removed"
        room = max(12, self.screen.size.width - cells(hint) - len("note on   "))
        end = clip_start(visible(what), room)
        words = line(Span(f"note on {end}", "strong"), Span(f"  {hint}", "muted"))
        self.screen.call_after_refresh(self._prompt.say, [words])

    def _finish(self, note: UserNote, text: str | None) -> None:
        self._prompt = None
        if text is not None and text.strip() != visible(note.text):
            self._put(replace(note, text=text.strip()))

    def _put(self, note: UserNote) -> None:
        assert self.book
        try:
            self.book.put(replace(note, changed=time.time()))
        except OSError as error:
            self.screen.notify(visible(not_kept(self.book.path, error)), severity="error", markup=False)
        self._update(note.place.exchange)

    def _update(self, exchange: str | None) -> None:
        """Show changed notes, and filter again: a filter may ask for notes."""
        screen = self.screen
        for summary in screen.state.summaries:
            if exchange in (None, summary.id):
                screen.exchange_filter.note_changed(summary.index)
        self.show()

    def next(self) -> None:
        """Go to the next mark or note in the order of the session; the first one follows the last."""
        from workbench.edits import NotePlace

        indices = {self.screen.state.summaries[n].id: n for n in self.screen.state.visible}
        notes = self.book.notes.values() if self.book else ()
        places = sorted(
            (indices[n.place.exchange], n.place) for n in notes if n.has_content and n.place.exchange in indices
        )
        if not places:
            where = " in the filtered exchanges" if self.screen.state.is_filtered else ""
            self.screen.notify(f"no marks or notes{where} · space: mark · a: write a note", markup=False)
            return
        at = self.screen.navigation.goal.exchange or 0
        here = self._last if self._last and self._last[0] == at else (at, self.place() or NotePlace(""))
        index, place = next((p for p in places if p > here), places[0])
        if (index, place) <= here:
            self.screen.notify("no more marks: continued at the first one", markup=False)
        self.screen.navigation.go(Goal(index, note=(place.side, place.pointer)))
        self._last = (index, place)
        if place.side:
            self.screen.panes.focus("ir")


def not_kept(path: Path, error: OSError) -> str:
    """Message that a note could not be saved, and what to do."""
    why = str(error)
    if error.strerror:
        why = f"{path.parent} cannot be written ({error.strerror}); set XDG_STATE_HOME to a writable folder"
    return f"not saved, lost when this session is closed: {why}"


def signs(notes: list[UserNote], *, is_brief: bool = False) -> Line:
    """Signs of the notes of one place with the first text; signs only if ``is_brief``."""
    texts = [n.text for n in notes if n.text]
    spans = [Span(MARK, "accent strong")] if any(n.is_marked for n in notes) else []
    if texts:
        more = f" +{len(texts) - 1}" if len(texts) > 1 else ""
        words = "" if is_brief else f" {texts[0][:60]}{more}"
        spans.append(Span(f"{' ' if spans else ''}{NOTE}{words}", "accent"))
    return tuple(spans)


def _open(deliver: Callable[[Notebook], None], inspector: Inspector) -> JobAnswer:
    """Open the notebook of the session, in the inspector's thread."""
    from workbench.edits import open_notebook

    return JobAnswer(partial(deliver, open_notebook(inspector.session)))
