"""The panes of the session screen in one table, the source of tabs, digit keys, layout, views and help.

It is cheap to import: contents and widgets are given by name, and imported when an exchange is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.key import Key

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.models.pane_content import PaneContent
    from workbench.tui.widgets.pane import Pane

SLOTS = ("exchanges", "wire", "main", "upper", "lower", "findings")
"""Slots of the widest layout, in order; a slot shows the pane that had the focus last."""

SIDE_SLOTS = ("main", "upper", "lower")
"""Slots that are merged into one if there is little room."""

HALVES = ("upper", "lower")
"""Slots that share the height of a column."""

AT_ONCE = ("exchanges", "findings")
"""Panes of the whole session, which are there from the first paint on."""


class PaneRow(NamedTuple):
    """One pane.

    Attributes:
        id: id of the pane and of its widget; its key is ``session.ID``.
        title: title on its tab and its border.
        slot: one of ``SLOTS``.
        word: its content in a word or two, for its key.
        help: effect of its key, in a sentence.
        about: help on the pane, in a few sentences.
        signs: ids of the signs in it that the help explains (``models.signs``).
        content: what it shows, by module and name in ``tui.models``; empty if the widget makes its own lines.
        widget: by module and name in ``tui.widgets``.
        is_accordion: what the cursor is on is open; else enter opens it.
    """

    id: str
    title: str
    slot: str
    word: str
    help: str
    about: str
    signs: tuple[str, ...]
    content: str = ""
    widget: str = "exchange:ExchangePane"
    is_accordion: bool = True

    def make(self) -> Pane:
        """The widget of a pane of one exchange."""
        widget: type[Pane] = resolve_name(f"workbench.tui.widgets.{self.widget}")
        pane = widget(id=self.id)
        pane.is_accordion = bool(self.content) and self.is_accordion
        return pane


_SELECTION = ("selected", "related", "cursor")

PANES = (
    PaneRow(
        "exchanges",
        "Exchanges",
        "exchanges",
        "exchanges",
        "show the exchanges of the session",
        "All exchanges of the session in order: number, conversation, status, duration, findings; with several "
        "hops, also the name of the hop (o goes to the same turn at another hop). The cursor opens the exchange in "
        "the other panes. F follows the newest exchange of a live session; P shows breakpoints. In a long session, "
        "consecutive exchanges without findings are folded into one line; enter unfolds or folds them.",
        (
            "error",
            "warning",
            "lane",
            "carried",
            "group",
            "provisional",
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
        "show the bytes",
        "The bytes of one side of the exchange. Each byte belongs to a value; moving the cursor selects that "
        "value in every pane. Lines are wrapped for reading, but no byte is added or removed; v switches to the "
        "lines as sent or to hex.",
        (*_SELECTION, "error", "warning", "form"),
        widget="wire:WirePane",
    ),
    PaneRow(
        "ir",
        "IR",
        "main",
        "IR",
        "show the decoded messages and parts (IR)",
        "The decoded exchange, in the same form for every protocol: messages with their parts (text, reasoning, "
        "tool calls, tool results). Moving the cursor highlights the bytes.",
        (*_SELECTION, "error", "call", "reasoning", "media", "unread", "line-end"),
        content="ir:IrContent",
        is_accordion=False,
    ),
    PaneRow(
        "reasoning",
        "Reasoning",
        "upper",
        "reasoning",
        "show the reasoning ledger",
        "The reasoning ledger: for each turn of the model, whether it returned reasoning, whether the provider "
        "requires it back, and whether the client sent it back.",
        (*_SELECTION, "sent"),
        content="reasoning:ReasoningContent",
    ),
    PaneRow(
        "closure",
        "Closure",
        "lower",
        "closure",
        "show the tool calls and their results",
        "Every tool call with its result. A call is closed when its result is where the provider requires it.",
        (*_SELECTION, "closed", "error", "info"),
        content="closure:ClosureContent",
    ),
    PaneRow(
        "findings",
        "Findings",
        "findings",
        "findings",
        "show the findings of the session",
        "All findings of the session, most important first: rule, pointer, repairs, evidence, the provider's "
        "response, and the source of the rule. The cursor selects the bytes.",
        ("error", "warning", "info", "selected", "cursor"),
        widget="findings:FindingsPane",
    ),
    PaneRow(
        "http",
        "HTTP",
        "main",
        "HTTP",
        "show headers, ids, betas, rate limits and times",
        "Everything except the bodies: headers, request ids, beta flags, rate limits, times, redactions, and "
        "whether the recorder forwarded the bytes unchanged.",
        ("cursor", "warning", "form"),
        content="http:HttpContent",
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


def contents(exchange_view: ExchangeView) -> Mapping[str, PaneContent]:
    """The content of each pane of an exchange, by the pane's id."""
    return {row.id: resolve_name(f"workbench.tui.models.{row.content}")(exchange_view) for row in PANES if row.content}
