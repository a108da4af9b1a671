"""Repairs of the finding under the cursor, looked up in the inspector's thread and cached."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.tui.models.findings import LOOKING, RepairOffer
from workbench.tui.service import JobAnswer, guard
from workbench.views import REQUEST

if TYPE_CHECKING:
    from workbench.contracts import Finding, Repair
    from workbench.rules import Inspector
    from workbench.tui.screens.repairs import RepairsScreen
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.service import Job

WAITING = "provisional finding: repairs are looked up after all earlier exchanges are inspected"
"""Why a provisional finding has no repairs: they are checked in its conversation."""

MOST_KEPT = 64
"""Findings with cached repairs at most."""


class RepairLookup:
    """Cache of the repairs of a session's findings."""

    def __init__(self, screen: SessionScreen) -> None:
        self.screen = screen
        self._known: dict[Finding, tuple[RepairOffer, ...]] = {}
        self._failed: dict[Finding, str] = {}
        self._wanted: Finding | None = None
        self._waiting_screen: tuple[Finding, RepairsScreen] | None = None

    def forget(self) -> None:
        """Clear the cache: another request is shown, and an equal finding of it needs other repairs."""
        self._known, self._failed, self._wanted = {}, {}, None
        if self._waiting_screen:
            self._waiting_screen[1].arrive((), "the request has changed")
            self._waiting_screen = None

    def tell(self, finding: Finding, screen: RepairsScreen) -> None:
        """Look up the repairs of a finding for a screen that waits for them."""
        self._waiting_screen = finding, screen
        self.want(finding)

    @property
    def is_looking(self) -> bool:
        """Repairs are being looked up."""
        return self._wanted is not None

    def repairs_of(self, finding: Finding) -> tuple[Repair, ...] | str:
        """Repairs of a finding; a text if they are not known yet or could not be looked up."""
        from workbench.edits.repairs import is_repairable

        if not is_repairable(finding):
            return ()
        if self.screen.state.is_provisional(finding.exchange):
            return WAITING
        found = self._known.get(finding)
        if found is None:
            return self._failed.get(finding, LOOKING)
        return tuple(offered.repair for offered in found)

    @property
    def may_repair(self) -> bool:
        """The finding under the cursor has repairs, or may have some that are still looked up."""
        finding = self.screen.findings.current
        return finding is not None and self.repairs_of(finding) != ()

    def why_none(self, finding: Finding | None) -> str:
        """Reason that no repair of a finding can be shown."""
        from workbench.edits.repairs import is_repairable

        if finding is None and not self.screen.state.is_done:
            return f"still inspecting, no finding so far ({self.screen.state.progress()})"
        if finding is None:
            return "nothing to repair: no finding"
        if not is_repairable(finding):
            why = "the finding is advice" if finding.side == REQUEST else "the finding is in the response"
            return f"nothing to repair: {why}, not a fault of the request"
        found = self.repairs_of(finding)
        if isinstance(found, str):
            return "looking for repairs …" if found == LOOKING else found
        return "no repair is known that the contract accepts"

    def offers(self, finding: Finding) -> tuple[RepairOffer, ...]:
        """Repairs of a finding with the changes that they make; empty if not known."""
        return self._known.get(finding, ())

    def want(self, finding: Finding) -> None:
        """Look up the repairs of a finding, and show them; dropped if another finding is wanted before its turn."""
        pane = self.screen.findings
        if pane.repairs_of != self.repairs_of:
            pane.repairs_of = self.repairs_of
            pane.reload()
        if self.repairs_of(finding) == LOOKING and finding != self._wanted:
            self._wanted = finding
            known = self._known
            self.screen.inspecting.do_shown(guard(self._job(finding), partial(self._take_failure, finding, known)))

    def _job(self, finding: Finding) -> Job:
        known = self._known

        def job(inspector: Inspector) -> JobAnswer:
            if self._wanted != finding:
                return JobAnswer(lambda: None)
            from workbench.tui.repair_offers import offered_repairs

            found = offered_repairs(inspector, finding)
            return JobAnswer(lambda: self._take_repairs(finding, found, known))

        return job

    def _take_repairs(
        self, finding: Finding, repair_offers: tuple[RepairOffer, ...], known: dict[Finding, tuple[RepairOffer, ...]]
    ) -> None:
        if known is not self._known:  # looked up for another request
            return
        self._known[finding] = repair_offers
        while len(self._known) > MOST_KEPT:
            self._known.pop(next(iter(self._known)))
        self._finish(finding)

    def _take_failure(self, finding: Finding, known: dict[Finding, tuple[RepairOffer, ...]], why: str) -> None:
        if known is not self._known:
            return
        self._failed[finding] = f"lookup failed: {why}"
        self._finish(finding)

    def _finish(self, finding: Finding) -> None:
        if self._wanted == finding:
            self._wanted = None
        if self._waiting_screen and self._waiting_screen[0] == finding:
            self._waiting_screen[1].arrive(self.offers(finding), self.why_none(finding))
            self._waiting_screen = None
        if self.screen.is_attached:
            findings = self.screen.findings
            findings.reload()
            self.screen.header.follow_cursor()
            if findings.current == finding:
                findings.show_item(findings.cursor)  # it has more lines now
