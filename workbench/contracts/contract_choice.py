"""The contract of an exchange: the one asked for, that of its translation, else as host and model choose it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.contracts import loading as contracts
from workbench.contracts.choosing import choose, clues_of
from workbench.contracts.contract import Contract
from workbench.protocols import DecodedExchange
from workbench.wire import Summary, translation_of

WITHIN = 64
"""Exchanges behind one among which the one is that it was translated to."""


class Choice(NamedTuple):
    """The contract of an exchange.

    Attributes:
        how: it was chosen, in words.
        is_own: host and model chose it: what this session shows its provider accepting counts.
        is_translated: an adapter of ours answered the exchange, or made its request.
    """

    contract: Contract
    how: str
    is_own: bool = False
    is_translated: bool = False


def choose_contract(
    decoded: DecodedExchange, provider: str, expected: Callable[[], str], summaries: Sequence[Summary]
) -> Choice:
    """The contract of an exchange.

    Args:
        provider: that is asked for; "" to choose one.
        expected: what the answers of its server told so far.
        summaries: of every exchange of the session.
    """
    clues = clues_of(decoded)
    if not provider:
        label, how = _choose_translated(decoded, summaries)
        if label:
            return Choice(contracts.get(label, protocol=decoded.protocol, clues=clues), how, is_translated=True)
        return Choice(*choose(clues, decoded.protocol, expected()), is_own=True)
    contract = contracts.get(provider, protocol=decoded.protocol, clues=clues)
    if contract.note and contract.name != provider.partition(":")[0]:
        return Choice(contract, f"as requested; {contract.note}")
    how = "as requested" if contract.covers else f"as requested, although it does not cover {decoded.protocol}"
    return Choice(contract, how)


def _choose_translated(decoded: DecodedExchange, summaries: Sequence[Summary]) -> tuple[str, str]:
    """(label, how it was chosen) where a recorder translated: no provider gets what it was made from."""
    made = translation_of(decoded.exchange.branch)
    if made:
        known = made.contract.partition(":")[0] in contracts.names()
        return (made.contract, "from the upstream it was translated for") if known else ("", "")
    if not decoded.exchange.hop:
        return "", ""
    near = summaries[decoded.index + 1 : decoded.index + WITHIN]
    if any(row.parent == decoded.exchange.id and translation_of(row.branch) for row in near):
        return contracts.GENERIC, "translated by the recorder: no provider received it in this form"
    return "", ""
