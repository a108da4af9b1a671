"""While a request is edited: what differs, what a contract says, and no verdict on what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.chain.closure import CallState
from workbench.contracts import Verdict
from workbench.diff.meaning import ItemChangeKind
from workbench.edits import apply_changes, with_body
from workbench.edits.assessment import EditAssessment, assess
from workbench.edits.elements import ElementKind as Of
from workbench.edits.elements import elements_of, walk
from workbench.edits.operations import remove
from workbench.protocols.decode import DecodedExchange
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import HttpRequest
from workbench.wire.session.store import open_session

SESSIONS = Path(__file__).resolve().parents[2] / "sessions"


@pytest.fixture(scope="module")
def inspector() -> Inspector:
    return Inspector(open_session(SESSIONS / "anthropic-tool-loop.jsonl"))


def recorded(inspector: Inspector) -> tuple[HttpRequest, DecodedExchange]:
    decoded = inspector.detail(1).decoded
    assert decoded.exchange.request
    return decoded.exchange.request, decoded


def told(inspector: Inspector, kind: Of) -> EditAssessment:
    """What it means that the first element of a kind goes."""
    request, decoded = recorded(inspector)
    one = next(one for one in walk(elements_of(decoded)) if one.kind is kind)
    return assess(inspector, 1, apply_changes(request, decoded.request_text, remove(decoded, one.pointer)))


def test_nothing_edited_means_nothing(inspector: Inspector) -> None:
    request, _ = recorded(inspector)
    found = assess(inspector, 1, request)
    assert found.difference.first is None
    assert found.judgement and found.judgement.verdict is Verdict.ACCEPTS
    assert (found.problem, found.unbound) == ("", ())


def test_a_result_that_went_is_told_in_bytes_meaning_closure_and_verdict(inspector: Inspector) -> None:
    found = told(inspector, Of.RESULT)
    assert [change.kind for change in found.difference.changes] == [ItemChangeKind.CHANGED]
    assert len(found.difference.hunks) == 1
    assert found.closure and CallState.MISSING in [line.state for line in found.closure.lines]
    assert found.ledger is not None
    assert found.judgement and found.judgement.verdict is Verdict.REFUSES


def test_another_contract_may_be_asked(inspector: Inspector) -> None:
    request, _ = recorded(inspector)
    found = assess(inspector, 1, request, provider="generic")
    assert found.trial and found.trial.contract.name == "generic"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"model": }', "line 1, column 11, byte 10: not JSON"),
        (b"[1]", "not a request of this protocol"),
        (b"", "the text is empty"),
    ],
)
def test_no_verdict_is_claimed_of_what_cannot_be_read(inspector: Inspector, body: bytes, why: str) -> None:
    request, _ = recorded(inspector)
    found = assess(inspector, 1, with_body(request, body))
    assert why in found.problem
    assert (found.trial, found.judgement, found.closure, found.ledger) == (None, None, None, None)
    assert found.difference.hunks


def test_it_may_be_compared_with_an_earlier_edit(inspector: Inspector) -> None:
    request, decoded = recorded(inspector)
    earlier = with_body(request, decoded.request_text + b" ")
    assert assess(inspector, 1, request, since=earlier).difference.first is not None
    assert assess(inspector, 1, earlier, since=earlier).difference.first is None
