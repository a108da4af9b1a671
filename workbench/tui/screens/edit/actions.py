"""Edit-screen actions that change the structure of the request, or open another screen on it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.edits import ElementAction, operations, parent_pointer
from workbench.safetext import visible
from workbench.tui.models import additions
from workbench.tui.models.edit import EditRow
from workbench.tui.models.edit_study import EditStudy
from workbench.tui.service import JobAnswer, guard

if TYPE_CHECKING:
    from workbench.rules import Inspector
    from workbench.tui.models.additions import Addition
    from workbench.tui.models.findings import RepairOffer
    from workbench.tui.screens.edit.flow import Edit
    from workbench.tui.screens.edit.screen import EditScreen


class EditActions:
    """Changes the element under the cursor, repairs the request, and opens other screens."""

    def __init__(self, screen: EditScreen) -> None:
        self.screen = screen

    def fold(self) -> None:
        """Expand or collapse the row."""
        self.screen.outline.fold()

    def remove(self) -> None:
        """Remove the element."""

        def make(study: EditStudy, row: EditRow) -> Edit:
            return operations.remove(study.decoded_request, row.pointer), f"{row.name} removed", None

        self.screen.flow.change(make, ElementAction.REMOVE)

    def duplicate(self) -> None:
        """Put a copy of the element after it."""

        def make(study: EditStudy, row: EditRow) -> Edit:
            changes = operations.duplicate(study.decoded_request, row.pointer)
            return changes, f"{row.name} duplicated", beside(row.pointer, 1)

        self.screen.flow.change(make, ElementAction.DUPLICATE)

    def shift(self, by: int) -> None:
        """Move the element within its list."""

        def make(study: EditStudy, row: EditRow) -> Edit:
            changes = operations.move(study.decoded_request, row.pointer, by)
            return changes, f"{row.name} moved {'down' if by > 0 else 'up'}", beside(row.pointer, by)

        self.screen.flow.change(make, ElementAction.DOWN if by > 0 else ElementAction.UP)

    def rename(self) -> None:
        """Give a parameter another name."""
        from workbench.tui.screens.questions import AskScreen

        row = self.screen.outline.here
        if row is None or ElementAction.RENAME not in row.element.actions:
            self.screen.flow.refuse("only parameters can be renamed")
            return

        def make(name: str, study: EditStudy, row: EditRow) -> Edit:
            changes = operations.rename(study.decoded_request, row.pointer, name)
            return changes, f"{row.name} renamed", f"{parent_pointer(row.pointer)}/{name}"

        def apply(name: str | None) -> None:
            if name:
                self.screen.flow.change(partial(make, name))

        ask = AskScreen("Name of the parameter", "empty: keep the name", visible(row.element.label))
        self.screen.app.push_screen(ask, apply)

    def add(self) -> None:
        """Add a message, a part, a tool or a parameter."""
        from workbench.tui.screens.edit.forms import AddScreen

        screen = self.screen

        def make(wanted: Addition, study: EditStudy) -> Edit:
            addition = additions.add(study.decoded_request, screen.outline.rows, screen.outline.cursor, wanted)
            return addition.splices, f"{wanted.choice} added", addition.pointer

        def add(addition: Addition | None) -> None:
            if addition:
                screen.study.when_settled(lambda studied: screen.flow.put(studied, lambda: make(addition, studied)))

        def ask(study: EditStudy) -> None:
            screen.app.push_screen(AddScreen(additions.choices(screen.outline.rows, screen.outline.cursor)), add)

        screen.study.when_settled(ask)

    def contract(self) -> None:
        """Choose the contract that judges the request."""
        from workbench.tui.screens.edit.forms import ContractChoiceScreen

        def apply(label: str | None) -> None:
            if label is not None:
                self.screen.study.contract = label
                self.screen.flow.show_node(None)

        own = self.screen.session.state.rows[self.screen.index].provider or "generic"
        self.screen.app.push_screen(ContractChoiceScreen(own), apply)

    def repairs(self) -> None:
        """Look for repairs of all findings of the request."""
        screen = self.screen

        def do(study: EditStudy) -> None:
            def job(inspector: Inspector) -> JobAnswer:
                from workbench.tui.repair_offers import offered_repairs

                found = study.told.findings
                offered = [o for f in found for o in offered_repairs(inspector, f, study.request, study.told.contract)]
                return JobAnswer(partial(self._show_repairs, study, offered))

            if not study.told.findings:
                screen.flow.refuse(f"nothing to repair: no findings under {study.told.contract}")
                return
            screen.say("looking for repairs …")
            screen.session.inspecting.do(guard(job, screen.flow.refuse))

        screen.study.when_settled(do)

    def _show_repairs(self, study: EditStudy, repair_offers: list[RepairOffer]) -> None:
        from workbench.tui.screens.repairs import RepairsScreen

        screen = self.screen

        def apply(choice: RepairOffer | None) -> None:
            if choice:
                screen.study.when_settled(lambda studied: screen.flow.commit(choice.request, choice.repair.title))

        if not screen.is_current or study is not screen.judged_request:
            return
        screen.say("" if repair_offers else "no repair is known that the contract accepts")
        if repair_offers:
            screen.app.push_screen(RepairsScreen(study.told.findings[0], repair_offers), apply)

    def export(self) -> None:
        """Export the request."""
        from workbench.tui.screens import exporting

        exporting.begin(self.screen.session, self.screen.node)

    def branches(self) -> None:
        """Open the tree of edits and sends."""
        self.screen.session.request_screens.branches(self.screen.index)


def beside(pointer: str, by: int) -> str:
    """Pointer of the element ``by`` places behind another one in its list."""
    return f"{parent_pointer(pointer)}/{int(pointer.rpartition('/')[2]) + by}"
