"""Inspect a session: decode, group, derive the chain, run the rules. The one entry the app and the commands use.

``Inspector`` goes through a session in order and keeps only what later exchanges need, so that a session of thousands
of exchanges can be inspected step by step; ``detail`` decodes one exchange again for whoever shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.chain.closure import Closure
from workbench.chain.conversations import Conversation
from workbench.chain.ledger import Ledger
from workbench.decode import Decoded
from workbench.rules import Contract, Finding
from workbench.wire.exchange import Summary
from workbench.wire.session import Session


@dataclass(frozen=True, slots=True)
class Inspected:
    """A row of the timeline.

    Attributes:
        protocol: None for what is no model exchange; ``protocol_from`` says how it was found.
        provider: label of the contract ("deepseek:v4"), None with protocol None.
        provider_from: how the contract was chosen, in words.
        conversation: id, None for what is no model exchange.
        calls: names of the calls in the answer.
        has_reasoning: the answer brought reasoning.
        problems: what could not be decoded, one line each.
    """

    index: int
    summary: Summary
    protocol: str | None
    protocol_from: str
    provider: str | None
    provider_from: str
    model: str | None
    conversation: int | None
    calls: tuple[str, ...] = ()
    has_reasoning: bool = False
    finish_reason: str | None = None
    findings: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything about one exchange."""

    row: Inspected
    decoded: Decoded
    contract: Contract
    closure: Closure
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Inspection:
    """The result for a session. ``findings`` are in order of exchange, then severity, then place."""

    name: str
    rows: tuple[Inspected, ...] = ()
    conversations: tuple[Conversation, ...] = ()
    findings: tuple[Finding, ...] = ()
    damage: tuple[str, ...] = ()


@dataclass(slots=True)
class Inspector:
    """Goes through a session in order.

    Args:
        session: what to inspect.
        provider: contract name, with ``:variant`` or without; None to choose one for each exchange.
        protocol: protocol name; None to find it for each exchange.
    """

    session: Session
    provider: str | None = None
    protocol: str | None = None
    rows: list[Inspected] = field(default_factory=list)

    def steps(self) -> Iterator[Inspected]:
        """Inspect what is not inspected yet, one exchange at a time; call again when the session has grown."""
        raise NotImplementedError

    def run(self) -> Inspection:
        """Inspect everything."""
        raise NotImplementedError

    def detail(self, index: int) -> Detail:
        """One exchange in full. Exchanges up to ``index`` are inspected first."""
        raise NotImplementedError
