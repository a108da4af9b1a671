"""Panes that only the edit screen has: the outline of a request, and the state of its chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.edits import ElementKind
from workbench.tui.models import edit
from workbench.tui.models.edit import EditRow
from workbench.tui.widgets.lineview import LineView
from workbench.views import (
    Line,
    Span,
    call_body,
    call_line,
    closure_summary,
    entry_body,
    entry_line,
    reasoning_summary,
    wrap,
)

if TYPE_CHECKING:
    from workbench.chain import CallLine, Entry
    from workbench.tui.models.edit_study import EditStudy


class OutlinePane(LineView):
    """Editable elements, one row each; a long one takes more if there is room."""

    rows: list[EditRow]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.rows = []
        self._studied: EditStudy | None = None
        self._toggled: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._worst: dict[int, str] = {}
        self._changed: set[int] = set()
        self._digits = 1

    @property
    def here(self) -> EditRow | None:
        """The row under the cursor."""
        return self.rows[self.cursor] if self.rows else None

    def show(self, study: EditStudy, pointer: str | None = None) -> None:
        """Show another request.

        Args:
            pointer: new pointer of the cursor; None to leave it.
        """
        self._studied = study
        self._lay_out()
        if pointer is None:
            self.reload()
        else:
            self.go_to_pointer(pointer)
        self.show_item(self.cursor)

    def go_to_pointer(self, pointer: str) -> None:
        """Put the cursor on the innermost row that contains a pointer."""
        self._unfold(pointer)
        self.reload()
        self.move_to(edit.deepest(self._numbers, pointer), center=True)

    def fold(self) -> None:
        """Expand or collapse the row."""
        if self.here and self.here.element.parts:
            self._toggled ^= {self.here.pointer}
            self._lay_out()
            self.reload()

    def _unfold(self, pointer: str) -> None:
        """Show the row of a pointer; expand the rows around it."""
        while (row := self.rows[edit.deepest(self._numbers, pointer)]).is_folded and row.pointer != pointer:
            self._toggled ^= {row.pointer}
            self._lay_out()

    def _lay_out(self) -> None:
        assert self._studied
        self.rows = edit.outline(self._studied.elements, self._toggled)
        self._numbers = {row.pointer: n for n, row in reversed(list(enumerate(self.rows)))}
        self._digits = len(str(max(row.number for row in self.rows)))
        self._worst = {}
        for finding in reversed(sorted(self._studied.told.findings, key=lambda f: f.severity.rank)):
            self._worst[edit.deepest(self._numbers, finding.pointer)] = finding.severity.value
        self._changed = {edit.deepest(self._numbers, pointer) for pointer in self._studied.changed_pointers}

    def count(self) -> int:
        return len(self.rows)

    def head(self, item: int, width: int) -> Line:
        assert self._studied
        row = self.rows[item]
        kind = row.element.kind
        value = self._studied.value(row.pointer) if kind is ElementKind.PARAMETER or not row.pointer else b""
        if kind in (ElementKind.RESULT, ElementKind.SYSTEM):
            text = self._studied.text_of(row.element) or ""
            value = " ".join(text[: edit.MOST_SHOWN].split()).encode("utf-8", "replace")
        mark = edit.mark_of(self._worst.get(item, ""), is_changed=item in self._changed and item > 0)
        return edit.entry_line(row, value, mark, self._digits)

    def nothing(self, width: int) -> list[Line]:
        return wrap("opening …", width, "muted")


class ChainPane(LineView):
    """Calls with their results, then the reasoning of each turn; the item under the cursor is shown in full.

    Attributes:
        facts: summaries of closure and reasoning.
    """

    is_accordion = True

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._calls: tuple[CallLine, ...] = ()
        self._entries: tuple[Entry, ...] = ()
        self._why = ""
        self.facts: tuple[str, ...] = ()

    def show(self, study: EditStudy) -> None:
        """Show the chain of another request."""
        closure, ledger = study.meant.closure, study.meant.ledger
        self._calls = tuple(closure.lines) if closure else ()
        self._entries = tuple(ledger.entries) if ledger else ()
        self._why = "no calls, and no reasoning is required" if closure else "the request cannot be read"
        self.facts = (closure_summary(closure), reasoning_summary(ledger)) if closure and ledger else ()
        self.reload()

    def count(self) -> int:
        return len(self._calls) + len(self._entries)

    def head(self, item: int, width: int) -> Line:
        if item < len(self._calls):
            return call_line(self._calls[item])
        return (Span("∴ ", "reasoning"), *entry_line(self._entries[item - len(self._calls)]))

    def further(self, item: int, width: int) -> list[Line]:
        if item < len(self._calls):
            return call_body(self._calls[item], width)
        return entry_body(self._entries[item - len(self._calls)], width)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self._why, width, "muted")
