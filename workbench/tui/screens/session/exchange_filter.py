"""Filter of a session screen.

Conditions on the rows of the list are decided at once. For the others exchanges are read in the inspector's thread, a
slice at a time, so that opening an exchange never waits long. An undecided exchange is not shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from workbench.errors import FilterError, SessionFormatError
from workbench.safetext import visible
from workbench.tui.service import JobAnswer

if TYPE_CHECKING:
    from workbench.filters import Facts, Filter
    from workbench.rules import InspectedExchange, Inspector
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.widgets.filterbar import FilterBar
    from workbench.wire import Exchange

Decisions = Mapping[int, tuple["InspectedExchange", bool]]

SLICE_SECONDS = 0.1
"""Seconds of reading exchanges before other questions are answered."""


class SessionFilter:
    """Decides which exchanges a session screen shows.

    Attributes:
        text: active filter, empty for none.
        history: filters used before, the last one last.
    """

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self.text = ""
        self.history: list[str] = []
        self._filter: Filter | None = None
        self._decided: dict[int, tuple[InspectedExchange, bool]] = {}
        self._generation = 0
        self._is_reading = False
        self._bar: FilterBar | None = None

    # The input line.

    def ask(self) -> None:
        """Open the input line of the filter."""
        from workbench.filters import values_of_keys
        from workbench.tui.widgets.filterbar import FilterBar

        if self._bar:
            if self._bar.is_mounted:
                self._bar.input.focus()
            return
        known = values_of_keys(self.screen.state.rows)
        before = self.text
        self._bar = FilterBar(
            before, self.history, known, self._preview, lambda: self.text, partial(self._close, before)
        )
        self.screen.mount(self._bar, before="#keys")

    def _preview(self, text: str) -> FilterError | str:
        """Apply a typed filter if the list decides it. Returns an error, or a hint for the input line."""
        from workbench.filters import Filter, parse

        try:
            found = Filter(parse(text))
        except FilterError as error:
            return error
        if text.strip() == self.text:
            return self.screen.state.shown_words() or "all exchanges are shown"
        if found.is_deep:
            return "enter: load every exchange and apply this filter"
        self._apply(text.strip(), found)
        return self.screen.state.shown_words() or "all exchanges are shown"

    def _close(self, before: str, text: str | None) -> None:
        self._bar = None
        if not self.apply(before if text is None else text):
            self.apply(before)
        if text is not None and self.text and [self.text] != self.history[-1:]:
            self.history.append(self.text)

    def apply(self, text: str) -> bool:
        """Apply a filter. Returns False, with a notice, if it is invalid."""
        from workbench.filters import Filter, parse

        try:
            found = Filter(parse(text))
        except FilterError as error:
            self.screen.notify(visible(str(error)), severity="error", markup=False)
            return False
        if text.strip() != self.text:
            self._apply(text.strip(), found)
        return True

    def _apply(self, text: str, found: Filter) -> None:
        self.text = text
        self._filter = found if text else None
        self._start()

    def _start(self) -> None:
        self._generation += 1
        self._is_reading = False
        self._decided = {}
        self.add_rows()
        self.screen.refresh_lists()

    # Deciding.

    @property
    def is_reading(self) -> bool:
        """Exchanges are still being read for the filter."""
        return self._is_reading

    def stop(self) -> None:
        """Stop reading, and remove the filter."""
        if self._filter:
            self._apply("", self._filter)

    def add_rows(self) -> None:
        """Decide on new and changed rows, and pass the result to the state."""
        state = self.screen.state
        if self._filter is None:
            state.restrict(None)
            return
        facts = self._facts_to_decide(state.rows)
        if self._filter.is_deep:
            self._read(facts)
        else:
            self._decided |= {f.row.index: (f.row, self._filter.passes(f)) for f in facts}
        self._report()

    def note_changed(self, index: int) -> None:
        """Decide again on an exchange whose marks or notes have changed."""
        if self._filter and self._decided.pop(index, None):
            self.add_rows()
            self.screen.refresh_lists()

    def _facts_to_decide(self, rows: Sequence[InspectedExchange]) -> list[Facts]:
        from workbench.filters import Facts, turn_numbers

        self._decided = {n: decision for n, decision in self._decided.items() if n < len(rows)}
        notebook = self.screen.notes
        facts = []
        for row, turn in zip(rows, turn_numbers(rows), strict=True):
            known = self._decided.get(row.index)
            if known is None or known[0] is not row:
                notes = notebook.of(row.summary.id)
                texts = [note.text for note in notes if note.text]
                facts.append(Facts(row, turn, _cannot_read, any(n.is_marked for n in notes), texts))
        return facts

    def _read(self, facts: Sequence[Facts]) -> None:
        """Read exchanges for one slice of time, unless that is in progress."""
        if facts and not self._is_reading:
            self._is_reading = True
            assert self._filter
            self.screen.inspecting.do(
                partial(_decide, self._filter, facts, partial(self._take_decisions, self._generation))
            )

    def _take_decisions(self, generation: int, decisions: Decisions) -> None:
        if generation != self._generation:
            return
        self._is_reading = False
        self._decided |= decisions
        self.add_rows()
        self.screen.refresh_lists()
        if self._bar:
            self._bar.again()

    def _report(self) -> None:
        state = self.screen.state
        passing = [n for n, (_, passes) in sorted(self._decided.items()) if passes]
        progress = f"filter: {len(self._decided):,} of {len(state.rows):,} read · esc: stop"
        state.restrict(passing, progress if self._is_reading else "")


def _cannot_read() -> Exchange:
    raise AssertionError("this filter only needs the list; no exchange has to be read")


def _decide(
    filter: Filter, facts: Sequence[Facts], deliver: Callable[[Decisions], None], inspector: Inspector
) -> JobAnswer:
    """Decide on exchanges for one slice of time, at least on one. An unreadable one does not pass."""
    until = time.monotonic() + SLICE_SECONDS
    decisions: dict[int, tuple[InspectedExchange, bool]] = {}
    for fact in facts:
        fact.read = partial(inspector.session.exchange, fact.row.index)
        try:
            decisions[fact.row.index] = (fact.row, filter.passes(fact))
        except (SessionFormatError, IndexError):
            decisions[fact.row.index] = (fact.row, False)
        if time.monotonic() > until:
            break
    return JobAnswer(partial(deliver, decisions))
