"""The IR pane: what the bytes say."""

from __future__ import annotations

from workbench.rules import Severity
from workbench.tui.lines import Line, wrap
from workbench.tui.models.ir import node_body, node_line
from workbench.tui.panes.pane import Pane
from workbench.tui.selection import Lights, Opened, Selection, at_node


class IrPane(Pane):
    """The outline of both sides; enter opens a node in full."""

    DIGIT, NAME = "3", "IR"

    _severity: dict[int, Severity]

    def open(self, opened: Opened | None) -> None:
        self._severity = _severities(opened) if opened else {}
        super().open(opened)

    def count(self) -> int:
        return len(self.opened.outline) if self.opened else 0

    def head(self, item: int, width: int) -> Line:
        assert self.opened
        return node_line(self.opened.outline.nodes[item], self._severity.get(item))

    def further(self, item: int, width: int) -> list[Line]:
        assert self.opened
        return node_body(self.opened.outline.nodes[item], width)

    def nothing(self, width: int) -> list[Line]:
        if self.opened is None:
            return wrap("no exchange is open", width, "muted")
        return wrap(f"nothing to decode: {self.opened.decoded.protocol_from}", width, "muted")

    def selection(self) -> Selection | None:
        return at_node(self.opened, self.cursor) if self.opened and self.count() else None

    def light(self, selection: Selection, lights: Lights, *, is_source: bool) -> None:
        lit = frozenset() if lights.node is None else frozenset((lights.node,))
        self.light_items(lit, lights.nodes, is_source=is_source)

    def toggle(self) -> None:
        """Open the node under the cursor in full, or close it."""
        self.opened_items ^= {self.cursor}
        self.reload()
        self.show_item(self.cursor)


def _severities(opened: Opened) -> dict[int, Severity]:
    """The worst finding on each node."""
    worst: dict[int, Severity] = {}
    for finding in opened.detail.row.findings:
        number = opened.outline.by_pointer(finding.side, finding.pointer)
        if number is not None and (number not in worst or finding.severity.rank < worst[number].rank):
            worst[number] = finding.severity
    return worst
