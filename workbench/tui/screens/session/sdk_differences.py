"""Hint in the title of the IR pane that known clients build different text or calls from a stream.

Clients that drop the reasoning of every stream do not count; the stream screen shows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.tui.service import JobAnswer
from workbench.tui.widgets.exchange import ExchangePane

if TYPE_CHECKING:
    from workbench.protocols.clients import ClientGroup
    from workbench.rules import Inspector
    from workbench.tui.exchange_view import ExchangeView
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.tui.service import Job

DIFFER = "SDKs differ: t"


def comparing(screen: SessionScreen, exchange_view: ExchangeView) -> Job:
    """Question that compares the clients on the open exchange.

    It asks about one client at a time, until one differs or another exchange is wanted: all of them take a second on a
    long stream, and nothing else could be opened meanwhile.
    """
    clients = _clients(exchange_view)

    def job(inspector: Inspector) -> JobAnswer:
        is_open = screen.navigation.here is exchange_view
        group = next(clients, None) if is_open else None
        if group is None:
            return JobAnswer(lambda: None)
        return JobAnswer(lambda: say(screen, exchange_view) if group.is_seen else screen.inspecting.do(job))

    return job


def _clients(exchange_view: ExchangeView) -> Iterator[ClientGroup]:
    from workbench.protocols.clients import one_by_one

    yield from one_by_one(exchange_view.decoded)


def say(screen: SessionScreen, exchange_view: ExchangeView) -> None:
    """Put the hint on the border of the IR pane, unless another exchange is open by now."""
    view = exchange_view.contents["ir"]
    if DIFFER not in view.facts:
        view.facts = (*view.facts, DIFFER)
    if screen.opened is exchange_view:
        screen.query_one("#ir", ExchangePane).entitle(*view.facts)
