"""Plants one contract violation in a correct request, for tests without a broken form."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from workbench.contracts import Verdict
from workbench.edits import with_body
from workbench.probes.selftest import FAULTS, MOST_WAYS, HealthyRequest
from workbench.rules import Inspector
from workbench.wire import HttpRequest, writer_like

_NEVER = "a text contains an API key"
"""Faults never planted: no export contains anything like a key."""

_CUT = "the body is truncated"


class PlantedFault(NamedTuple):
    """A request with a planted fault, and the fault's name."""

    fault: str
    request: HttpRequest


def plant(inspector: Inspector, index: int) -> PlantedFault | None:
    """Plant the first fault that the contract refuses, else the first that a rule warns of; None if there is none.

    Raises:
        IndexError: the session has no such exchange.
    """
    suspicious: PlantedFault | None = None
    for planted in _faults(inspector, index):
        verdict = inspector.trial(index, planted.request).judgement.verdict
        if verdict is Verdict.REFUSES:
            return planted
        if verdict is Verdict.SUSPICIOUS:
            suspicious = suspicious or planted
    return suspicious


def cut_body(inspector: Inspector, index: int) -> PlantedFault:
    """Keep half of the body, which no provider can read. Raises as ``plant``."""
    decoded = inspector.detail(index).decoded
    assert decoded.exchange.request is not None
    text = decoded.request_text
    return PlantedFault(_CUT, with_body(decoded.exchange.request, text[: len(text) // 2]))


def _faults(inspector: Inspector, index: int) -> Iterator[PlantedFault]:
    detail = inspector.detail(index)
    owed = frozenset(entry.message for entry in detail.ledger.entries if entry.owed and entry.message is not None)
    asked, request = HealthyRequest(detail.decoded, owed), detail.decoded.exchange.request
    assert request is not None
    written = writer_like(detail.decoded.request_text)
    for fault in FAULTS:
        if fault.name != _NEVER and fault.needs(detail.contract):
            for planted in islice(fault.plant(asked), MOST_WAYS):
                yield PlantedFault(fault.name, with_body(request, written(planted.body)))
