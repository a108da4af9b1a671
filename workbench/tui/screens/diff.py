"""Diff screen: a request compared with the previous one of its conversation, by meaning and by bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.list_search import search_of
from workbench.tui.models import diff
from workbench.tui.models.branches import title_with_branch
from workbench.tui.models.diff import Places, RequestComparison
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.service import JobAnswer, guard, is_open
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line, wrap

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.service import Job


ELSEWHERE = "J: compare the next request · or q: back, choose another request, D: compare it"
"""Where a person goes from a request that has none before it."""


class DifferencesPane(LineView):
    """List of changes or byte ranges; the one under the cursor is shown in full."""

    is_accordion = fills = hangs = True
    compared: RequestComparison | None = None
    why = "comparing …"

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.why, width, "muted")


class ChangesPane(DifferencesPane):
    """Changes in meaning."""

    def show(self, compared: RequestComparison, places: Places) -> None:
        self.compared, self.places, self._closed_lines = compared, places, dict[tuple[int, int], Line]()
        self.changes = diff.sorted_changes(compared.difference)
        is_read = compared.difference.is_read
        self.why = "no change in meaning" if is_read else "a body is not JSON; see the bytes"
        self.cursor = 0
        self.reload()

    def count(self) -> int:
        return len(self.changes) if self.compared else 0

    def head(self, item: int, width: int) -> Line:
        if item in self.lines_of.further:
            return diff.change_line(self.changes[item])
        if (item, width) not in self._closed_lines:
            self._closed_lines[item, width] = diff.closed_line(self.changes[item], self.places, width)
        return self._closed_lines[item, width]

    def further(self, item: int, width: int) -> list[Line]:
        return diff.change_body(self.changes[item], self.places, width)


class HunksPane(DifferencesPane):
    """Changes in bytes."""

    _sides: diff.Sides | None = None

    def show(self, compared: RequestComparison, places: Places) -> None:
        self.compared, self.places = compared, places
        self.why = "no change in bytes"
        self.cursor = 0
        self.reload()

    def count(self) -> int:
        return len(self.compared.difference.hunks) if self.compared else 0

    def head(self, item: int, width: int) -> Line:
        assert self.compared
        hunk = self.compared.difference.hunks[item]
        return diff.hunk_line(hunk, self.places.pointer_of(hunk))

    def further(self, item: int, width: int) -> list[Line]:
        assert self.compared
        found = self.compared.difference
        if self._sides is None or self._sides.found is not found or self._sides.width != width:
            self._sides = diff.Sides(found, width)
        return self._sides.lines(found.hunks[item], self._around(width))

    def _around(self, width: int) -> int:
        """Rows shown above and below a range: a single range is shown in the middle of its surroundings."""
        if self.count() > 1 or not self._sides or not self.compared:
            return 1
        hunk, room = self.compared.difference.hunks[0], self.content_region.height - 1
        around = max(1, (room - len(self._sides.lines(hunk, 0))) // 2)
        return around + max(0, room - len(self._sides.lines(hunk, around)))  # what one side lacks the other may have


def comparing(screen: DiffScreen, index: int) -> Job:
    """Question that compares a request with the previous one of its conversation, else of its model."""

    def job(inspector: Inspector) -> JobAnswer:
        from workbench.diff import compare

        rows = inspector.rows
        earlier = [row.index for row in rows[:index] if row.conversation == rows[index].conversation is not None]
        alike = [row.index for row in rows[:index] if row.model == rows[index].model is not None]
        if not earlier and not alike:
            why = f"request {index + 1} has no earlier request to compare with\n\n{ELSEWHERE}"
            return JobAnswer(lambda: screen.show_comparison(None, why))
        before = (earlier or alike)[-1]
        texts = [inspector.detail(n).decoded.request_text for n in (before, index)]
        compared = RequestComparison(before, index, compare(*texts), is_same_conversation=bool(earlier))
        return JobAnswer(lambda: screen.show_comparison(compared))

    return job


class DiffScreen(Screen["tuple[int, int] | None"]):
    """Compares requests. Dismissed with (exchange, byte of its request) to show, or None.

    Args:
        ask: puts a question to the inspector's thread.
        index: index of the compared exchange.
        last: index of the last inspected exchange.
        branch_of: names the shown branch of an exchange; empty for the recorded request.
    """

    CSS_PATH = "diff.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.DIFF
    BINDINGS = keys.bindings(keys.DIFF)

    changes = getters.query_one("#changes", ChangesPane)
    hunks = getters.query_one("#hunks", HunksPane)

    def __init__(self, ask: Callable[[Job], None], index: int, last: int, branch_of: Callable[[int], str]) -> None:
        super().__init__()
        self.search = search_of(self)
        self.ask = ask
        self.index = index
        self.last = last
        self.branch_of = branch_of
        self.places: Places | None = None

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="sides"):
            yield ChangesPane(id="changes")
            yield HunksPane(id="hunks")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#headline", Bar).show([line(Span(" Comparing …", "muted")), ()])
        self.changes.title(line(" Meaning "))
        self.hunks.title(line(" Bytes "))
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_CHANGE, *keys.DIFF])
        self.changes.focus()
        self._ask()

    def _ask(self) -> None:
        self.ask(guard(comparing(self, self.index), partial(self.show_comparison, None)))

    def show_comparison(self, compared: RequestComparison | None, why: str = "") -> None:
        """Show the differences, or the reason that there is nothing to compare with."""
        if not is_open(self):
            return
        if compared is None:
            self.query_one("#headline", Bar).show([line(Span(" Nothing to compare", "strong")), ()])
            for pane in self.query(DifferencesPane):
                pane.why = why if pane is self.changes else ""
                pane.compared = None
                pane.reload()
            return
        self.places = Places(compared.difference)
        self.query_one("#headline", Bar).show(self._title(compared))
        self.changes.show(compared, self.places)
        self.hunks.show(compared, self.places)
        self.changes.title(line(f" Meaning · {len(self.changes.changes):,} "))
        self.hunks.title(line(f" Bytes · {len(compared.difference.hunks):,} "))

    def _title(self, compared: RequestComparison) -> list[Line]:
        first, *others = diff.title(compared)
        return [title_with_branch(first, self.branch_of(compared.after)), *others]

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.changes and self.places:
            hunk = self.places.hunk_of(self.changes.changes[self.changes.cursor])
            if hunk is not None:
                self.hunks.move_to(hunk, center=True)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        compared = self.changes.compared
        if compared is None or self.places is None:
            return
        if message.view is self.hunks:
            offset: int | None = compared.difference.hunks[self.hunks.cursor].after[0]
        else:
            offset = self.places.offset_of(self.changes.changes[self.changes.cursor])
        if offset is None:
            self.notify("removed: not part of the newer request", markup=False)
        else:
            self.dismiss((self.index, offset))

    action_search = ActionOf("search", "ask")
    action_match = ActionOf("search")
    action_leave = ActionOf("search")

    def action_pane(self) -> None:
        (self.hunks if self.changes.has_focus else self.changes).focus()

    def action_exchange(self, step: int) -> None:
        """Compare another request of the session."""
        self.index = max(0, min(self.index + step, self.last))
        self._ask()

    def action_back(self) -> None:
        self.dismiss(None)
