"""Selections for tests of forms."""

from __future__ import annotations

from workbench.contracts import Finding
from workbench.formats.exporters import ExportSelection
from workbench.rules.inspection import Inspector
from workbench.wire.encoding import decode_partial
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession, Session


def every(session: Session) -> ExportSelection:
    """All of a session."""
    return ExportSelection(Inspector(session), tuple(range(len(session))))


def of(*exchanges: Exchange) -> ExportSelection:
    return every(MemorySession("it", exchanges))


def findings(session: Session) -> list[tuple[object, ...]]:
    """What tells findings apart."""
    return [_told(finding) for finding in Inspector(session).run().findings]


def _told(found: Finding) -> tuple[object, ...]:
    return (found.rule, found.severity, found.exchange, found.side, found.pointer, found.events, found.span)


def bodies(exchange: Exchange) -> list[bytes]:
    """The bodies of both sides, content codings undone."""
    return [decode_partial(side.body)[0] if side else b"" for side in (exchange.request, exchange.response)]
