"""Lines of the conversion screen: what became of a request or an answer in another protocol, and what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.lines import Line, Span, line, wrap
from workbench.tui.models.rowtable import Range
from workbench.tui.models.words import count, size

if TYPE_CHECKING:
    from workbench.conversion import Converted, Loss


class Shown(NamedTuple):
    """One side of an exchange, and what it is in another protocol.

    Attributes:
        exchange: index in the session, from zero.
        side: "request" or "response".
        source: its protocol.
        body: its content-decoded bytes.
        converted: the other protocol's body.
        places: of each loss, where it stands in ``body``.
    """

    exchange: int
    side: str
    source: str
    body: bytes
    converted: Converted
    places: tuple[tuple[Range, ...], ...]


def headline(shown: Shown) -> Line:
    """What is converted into what, and how much is lost."""
    made = shown.converted
    losses = Span(count(len(made.losses), "loss"), "warning") if made.losses else Span("nothing lost", "ok")
    return line(
        Span(f" {shown.side.capitalize()} {shown.exchange + 1}", "strong"),
        Span(f"   {shown.source} → {made.protocol}   ", "muted"),
        losses,
        Span(f" · {count(len(made.ids), 'id')} renamed" if made.ids else "", "info"),
        Span(f" · {size(len(shown.body))} → {size(len(made.body))}", "muted"),
        Span("   the same bytes" if made.body == shown.body else "", "ok"),
    )


def choices(targets: tuple[str, ...], chosen: str, width: int) -> Line:
    """The protocols, the chosen one marked and in sight."""
    at = targets.index(chosen)
    first = 0
    while first < at and sum(len(name) + 2 for name in targets[first : at + 1]) > width - 4:
        first += 1
    spans = [Span(" …" if first else " ", "muted")]
    for name in targets[first:]:
        is_chosen = name == chosen
        spans += [Span(f"▸{name}" if is_chosen else f" {name}", "tab strong" if is_chosen else "muted"), Span(" ")]
    return tuple(spans)


def loss_line(loss: Loss) -> Line:
    """A loss in one line."""
    return line(Span("! ", "warning"), Span(loss.what, "strong"), Span(f"  {loss.pointer}", "muted"))


def loss_body(loss: Loss, width: int) -> list[Line]:
    """What was done instead."""
    return wrap(loss.instead, width, "info", indent=2, most=8)


def id_line(new: str, old: str | None) -> Line:
    """An id of the new body and what it was."""
    was = line(Span("had none: named by its place", "muted")) if old is None else line(Span(f"was {old}", "muted"))
    return (Span("= ", "info"), Span(new, "strong"), Span("  "), *was)
