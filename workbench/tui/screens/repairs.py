"""Repairs screen: changes that each repair of a finding makes, by meaning and by bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.list_search import search_of
from workbench.tui.models import findings
from workbench.tui.models.diff import Places, RequestComparison
from workbench.tui.models.findings import LOOKING, RepairOffer
from workbench.tui.models.tabs import TALL, TOO_SMALL
from workbench.tui.screens.diff import ChangesPane, HunksPane
from workbench.tui.service import is_open
from workbench.tui.widgets.lineview import LineView
from workbench.views import count, line

if TYPE_CHECKING:
    from workbench.contracts import Finding


class RepairsScreen(Screen["RepairOffer | None"]):
    """Shows each repair of a finding, and the contract that verified it.

    Dismissed with the repair to apply, or None.

    Args:
        finding: finding to repair.
        repair_offers: its repairs, the best first; empty if they are still looked up, until ``arrive``.
    """

    CSS_PATH = "repairs.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.REPAIRS
    BINDINGS = keys.bindings(keys.REPAIRS)

    changes = getters.query_one("#mended", ChangesPane)
    hunks = getters.query_one("#mended-bytes", HunksPane)

    def __init__(self, finding: Finding, repair_offers: Sequence[RepairOffer]) -> None:
        super().__init__()
        self.search = search_of(self)
        self.finding = finding
        self.offered = repair_offers
        self.number = 0
        self.places: Places | None = None

    def compose(self) -> ComposeResult:
        yield Headline()
        yield Bar(id="offers")
        with Container(id="sides"):
            yield ChangesPane(id="mended")
            yield HunksPane(id="mended-bytes")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self._show()
        self.changes.focus()

    def arrive(self, repair_offers: Sequence[RepairOffer], why_none: str) -> None:
        """Show the repairs that were looked up; leave if there are none, with the reason."""
        if not is_open(self):
            return
        self.offered = repair_offers
        if repair_offers:
            self._show()
        else:
            self.notify(visible(why_none), markup=False)
            self.dismiss(None)

    def on_resize(self) -> None:
        self._entitle()

    def _entitle(self) -> None:
        """Name the repair, and above it in a tall window the finding that is repaired."""
        if not self.offered:
            self.query_one("#headline", Bar).show(findings.title_without(self.finding))
            return
        offer = self.offered[self.number]
        about = findings.finding_title(self.finding) if self.size.height >= TALL else []
        title = findings.title(offer, self.number, len(self.offered), "" if about else self.finding.rule)
        self.query_one("#headline", Bar).show([*about, *title])
        listed = findings.offer_lines(self.offered, self.number, self.size.width)
        offers = self.query_one("#offers", Bar)
        offers.styles.height = len(listed)
        offers.show(listed)

    def _show(self) -> None:
        if not self.offered:
            for pane, word in ((self.changes, " Meaning "), (self.hunks, " Bytes ")):
                pane.why = LOOKING
                pane.title(line(word))
            self._entitle()
            self._show_keys()
            return
        offer = self.offered[self.number]
        compared = RequestComparison(self.finding.exchange, self.finding.exchange, offer.difference)
        self.places = Places(offer.difference)
        self._entitle()
        self._show_keys()
        for pane in (self.changes, self.hunks):
            pane.show(compared, self.places)
            if offer.headers:
                pane.why = "; ".join(offer.headers)
        self.changes.title(line(f" Meaning · {count(len(self.changes.changes), 'change')} "))
        self.hunks.title(line(f" Bytes · {count(len(offer.difference.hunks), 'range')} "))

    def _show_keys(self) -> None:
        """Show the keys; those to other repairs only if there are others."""
        idle = ("repairs.apply", *(("repairs.next", "repairs.previous") if len(self.offered) < 2 else ()))
        rows = [key for key in keys.REPAIRS if key.id not in idle]
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_REPAIR, *rows])

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.changes and self.places:
            hunk = self.places.hunk_of(self.changes.changes[self.changes.cursor])
            if hunk is not None:
                self.hunks.move_to(hunk, center=True)

    def action_pane(self) -> None:
        (self.hunks if self.changes.has_focus else self.changes).focus()

    def action_repair(self, step: int) -> None:
        """Show the next or previous repair; the first one follows the last."""
        self.number = (self.number + step) % max(1, len(self.offered))
        self._show()

    def action_choose(self, number: int) -> None:
        """Show a repair by its number, counted from one."""
        if number <= len(self.offered):
            self.number = number - 1
            self._show()
        else:
            self.notify(f"there are only {count(len(self.offered), 'repair')}", markup=False)

    def action_apply(self) -> None:
        """Apply the shown repair."""
        if self.offered:
            self.dismiss(self.offered[self.number])
        else:
            self.notify(LOOKING, markup=False)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        self.action_apply()

    def action_write(self) -> None:
        """Write the body of the repaired request to a file."""
        from workbench.tui.screens.write import write_body

        if not self.offered:
            self.notify(LOOKING, markup=False)
            return
        name = f"repaired-{self.finding.exchange + 1}.json"
        write_body(self, self.offered[self.number].body, name)

    action_search = ActionOf("search", "ask")
    action_match = ActionOf("search")
    action_leave = ActionOf("search")

    def action_back(self) -> None:
        self.dismiss(None)
