"""Session-screen actions that move in the session: next break, next exchange, origin of a fault, back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.safetext import visible
from workbench.tui.host import host_of
from workbench.tui.keymap import keymap_of
from workbench.tui.models import findings as walk
from workbench.tui.service import JobAnswer, guard
from workbench.views import REQUEST, RESPONSE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.contracts import Finding
    from workbench.errors import WorkbenchError
    from workbench.rules import Inspector
    from workbench.tui.screens.session.navigation import Navigation
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire import Summary


class SessionMoves:
    """Finds the target place of a key; ``navigation`` goes there."""

    def __init__(self, screen: SessionScreen, navigation: Navigation) -> None:
        self.screen, self.navigation = screen, navigation

    def next(self, step: int) -> None:
        """Go to the next break; to the next match of a search, if the user's keys have none for that."""
        if self.screen.pane_search.wanted and keymap_of(self.screen.app).is_off("session.next-match"):
            self.screen.pane_search.match(step)
            return
        self._walk(step, walk.worst(self.screen.state.findings), "break")

    def warning(self, step: int) -> None:
        """Go to the next warning."""
        self._walk(step, "warning", "warning")

    def _walk(self, step: int, severity: str, noun: str) -> None:
        """Go to the next finding of a severity, or show that there is no other."""
        state = self.screen.state
        cursor, here = self.screen.findings.cursor, self.navigation.goal.exchange or 0
        current = cursor if cursor in state.found.numbers_of(here) else None
        number = walk.next_of(severity, state.findings, current, here, step)
        if number is not None:
            self.navigation.go_to_finding(number)
        elif state.is_done:
            self.screen.notify(f"no {'further' if step > 0 else 'earlier'} {noun}", markup=False)
        else:
            self.screen.notify(f"no {noun} up to exchange {len(state.rows):,}; still inspecting", markup=False)

    def exchange(self, step: int) -> None:
        """Go to the next exchange, or the one before."""
        target = self.screen.exchanges.folds.neighbour(self.navigation.goal.exchange or 0, step)
        if target is not None:
            self.navigation.open(target)
        elif self.screen.state.is_filtered:
            words = f"no {'further' if step > 0 else 'earlier'} exchange matches the filter"
            self.screen.notify(words, markup=False)

    def side(self) -> None:
        """Show the other side on the wire."""
        if self.screen.opened:
            wire = self.screen.wire
            wire.show_side(RESPONSE if wire.side == REQUEST else REQUEST)
            self.screen.pane_search.again()

    def origin(self) -> None:
        """Go to where the fault of the finding began; else to the same turn at the other hop."""
        finding, state = self.screen.findings.current, self.screen.state
        number = walk.origin_of(finding, state.findings) if finding else None
        is_of_here = self.screen.findings.cursor in state.found.numbers_of(self.navigation.goal.exchange or 0)
        if finding and not self._is_about(finding) and is_of_here:
            self.navigation.go_to_finding(self.screen.findings.cursor)
        elif finding is None or finding.origin is None or (state.hop_columns and not self._is_about(finding)):
            self.go_to_other_hop("the origin of this fault is not in the recording" if finding else "")
        elif finding.origin.exchange == finding.exchange:
            self.go_to_other_hop("the fault began in this exchange")
        elif number is not None:
            self.navigation.go_to_finding(number)
        else:
            self.navigation.open(finding.origin.exchange)

    def _is_about(self, finding: Finding) -> bool:
        return finding.exchange == self.navigation.goal.exchange

    def go_to_other_hop(self, why_not: str = "") -> None:
        """Show the same turn as recorded at another hop.

        Args:
            why_not: notice for a session of one hop.
        """
        screen, opened = self.screen, self.screen.opened
        if opened is None or not screen.state.hop_columns:
            screen.notify(why_not or "no finding here, and no other hop in this session", markup=False)
            return

        def job(inspector: Inspector) -> JobAnswer:
            found = find_at_other_hop(inspector, opened.index)
            return JobAnswer(lambda: show(found))

        def show(found: int | None) -> None:
            if found is None:
                screen.notify("this turn was not recorded at another hop", markup=False)
            else:
                self.navigation.open(found)

        screen.inspecting.do(guard(job, lambda why: screen.notify(visible(why), severity="warning", markup=False)))

    def leave(self) -> None:
        """End the first of: a search, reading for a filter, zoom, inspection; else go back."""
        screen = self.screen
        if screen.pane_search.wanted:
            screen.pane_search.end()
            screen.header.show_keys()
        elif screen.exchange_filter.is_reading:
            screen.exchange_filter.stop()
        elif screen.has_class("-zoom"):
            screen.panes.zoom()
        elif not screen.state.is_done and not screen.state.is_paused:
            screen.follower.pause(True)
        elif screen.panes.focused != "findings":
            screen.panes.focus("findings")
        else:
            self.back()

    def back(self, error: WorkbenchError | OSError | None = None) -> None:
        """Go back to the screen below, else to Home; quit with the error if the session could not be opened."""
        host = host_of(self.screen.app)
        if len(self.screen.app.screen_stack) > 1:
            self.screen.dismiss(error)
        elif error:
            host.leave(error)
        else:
            host.go_home()


def find_at_other_hop(inspector: Inspector, index: int) -> int | None:
    """Index of the same turn one hop nearer to the model; from the innermost hop, of the outermost one.

    Exchanges that a recorder derived from another name their parent; else the turn is found by its content
    (``chain.hops``). None if it was not recorded at another hop.
    """
    summaries = inspector.session.summaries()
    linked = _linked_exchange(summaries, index)
    if linked is not None:
        return linked
    mine = summaries[index].hop
    if all(summary.hop == mine for summary in summaries):
        return None
    found = _inner(inspector, index)
    return _outermost(inspector, index) if found is None else found


def _linked_exchange(summaries: Sequence[Summary], index: int) -> int | None:
    """Exchange at another hop linked by the recorder: one derived from this one, else its parent."""
    mine = summaries[index]
    derived = (s.index for s in summaries[index + 1 :] if s.parent == mine.id and s.hop != mine.hop)
    parents = (s.index for s in summaries[:index] if mine.parent == s.id and s.hop != mine.hop)
    return next(derived, next(parents, None))


def _inner(inspector: Inspector, index: int) -> int | None:
    inner = inspector.judge(inspector.detail(index).decoded).case.hops.inner
    return inner.index if inner else None


def _outermost(inspector: Inspector, index: int) -> int | None:
    seen = [index]
    while outer := inspector.judge(inspector.detail(seen[-1]).decoded).case.hops.outer:
        if outer.index in seen:
            break
        seen.append(outer.index)
    return seen[-1] if len(seen) > 1 else None
