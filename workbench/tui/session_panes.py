"""The panes of the session screen in one table: tabs, digit keys, layout, views and help are made from it.

Importing it costs nothing: views and widgets are named, and imported when an exchange is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.key import Key

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.models.view import View
    from workbench.tui.panes.pane import Pane

SLOTS = ("exchanges", "wire", "main", "upper", "lower", "findings")
"""Places in the widest layout, in their order; of the panes of one slot, the one that had the focus last is seen."""

SIDE_SLOTS = ("main", "upper", "lower")
"""Slots whose panes share one place while there is no room for all."""

HALVES = ("upper", "lower")
"""Slots that share the height of a column."""

AT_ONCE = ("exchanges", "findings")
"""Panes of the whole session, which are there from the first paint on."""


class PaneRow(NamedTuple):
    """One pane.

    Attributes:
        id: also of its widget, and of its key, as ``session.ID``.
        title: on its tab and its border.
        slot: one of ``SLOTS``.
        word: what its key shows, in a word or two.
        help: the same in a sentence.
        about: the help on the pane, in a few sentences.
        signs: ids of the signs in it that the help explains (``models.guide``).
        view: the view that it shows, by module and name in ``tui.models``; empty if the widget makes its own lines.
        widget: by module and name in ``tui.panes``.
        is_accordion: what the cursor is on is open; else enter opens it.
    """

    id: str
    title: str
    slot: str
    word: str
    help: str
    about: str
    signs: tuple[str, ...]
    view: str = ""
    widget: str = "exchange:ExchangePane"
    is_accordion: bool = True

    def make(self) -> Pane:
        """The widget of a pane of one exchange."""
        widget: type[Pane] = resolve_name(f"workbench.tui.panes.{self.widget}")
        pane = widget(id=self.id)
        pane.is_accordion = bool(self.view) and self.is_accordion
        return pane


_SELECTION = ("selected", "related", "cursor")

PANES = (
    PaneRow(
        "exchanges",
        "Exchanges",
        "exchanges",
        "exchanges",
        "the exchanges of the session",
        "Every request with its answer, in the order of the session: number, conversation, status, time, what was "
        "found; with several places in one session the name of its place, o goes to the same turn at another. The "
        "cursor opens an exchange in all the other panes. F follows the newest of a live session, P stops at meaning.",
        (
            "error",
            "warning",
            "lane",
            "carried",
            "arriving",
            "held",
            "made",
            "passing",
            "cut",
            "unread",
            "call",
            "reasoning",
            "mark",
        ),
        widget="timeline:TimelinePane",
    ),
    PaneRow(
        "wire",
        "Wire",
        "wire",
        "wire",
        "the bytes",
        "The bytes of one side of the exchange. A byte belongs to the value it stands in; moving here selects that "
        "value everywhere. Lines are laid out for reading, no byte added or left out: v shows them as they were sent.",
        (*_SELECTION, "error", "warning", "form"),
        widget="wire:WirePane",
    ),
    PaneRow(
        "ir",
        "IR",
        "main",
        "IR",
        "what the bytes say",
        "What the bytes say, in words that are the same for every provider: messages, and in them texts, reasoning, "
        "calls and results. Moving here lights up the bytes.",
        (*_SELECTION, "error", "call", "reasoning", "media", "unread", "line-end"),
        view="ir:IrView",
        is_accordion=False,
    ),
    PaneRow(
        "reasoning",
        "Reasoning",
        "upper",
        "reasoning",
        "the reasoning ledger",
        "The ledger of reasoning: for each turn whether the model thought, whether the provider wants it back, and "
        "whether the client sent it.",
        (*_SELECTION, "sent"),
        view="reasoning:ReasoningView",
    ),
    PaneRow(
        "closure",
        "Closure",
        "lower",
        "closure",
        "calls and their results",
        "Every call with its result. A call is closed when its result stands where the provider expects it.",
        (*_SELECTION, "closed", "error", "info"),
        view="closure:ClosureView",
    ),
    PaneRow(
        "findings",
        "Findings",
        "findings",
        "findings",
        "what is wrong",
        "What is wrong in the whole session, worst first to look at: rule, place, what was seen, what the provider "
        "answered, and where the rule comes from. The cursor goes to the bytes.",
        ("error", "warning", "info", "selected", "cursor"),
        widget="findings:FindingsPane",
    ),
    PaneRow(
        "http",
        "HTTP",
        "main",
        "HTTP",
        "headers, ids, betas, rate limits, times",
        "Everything beside the bodies: headers, request ids, beta flags, rate limits, times, what was redacted, and "
        "whether the bytes that left the recorder are those that came.",
        ("cursor", "warning", "form"),
        view="http:HttpView",
    ),
)
"""All of them, in the order of their digits and of the tab key."""


def row(id: str) -> PaneRow:
    """The row of a pane."""
    return next(row for row in PANES if row.id == id)


def digit(id: str) -> int:
    """The number of a pane, on its tab and as its key."""
    return 1 + next(n for n, row in enumerate(PANES) if row.id == id)


def keys() -> tuple[Key, ...]:
    """The keys that go to the panes."""
    return tuple(
        Key(f"session.{row.id}", str(n), f"show('{row.id}')", row.word, row.help) for n, row in enumerate(PANES, 1)
    )


def later() -> list[PaneRow]:
    """Panes of one exchange, in the order of their slots, which the grid of the widest layout needs."""
    return sorted((row for row in PANES if row.id not in AT_ONCE), key=lambda row: SLOTS.index(row.slot))


def views(opened: ExchangeView) -> Mapping[str, View]:
    """The view of each pane that shows one, by the pane's id."""
    return {row.id: resolve_name(f"workbench.tui.models.{row.view}")(opened) for row in PANES if row.view}
