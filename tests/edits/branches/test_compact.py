"""Large requests are kept as what was changed in them, and come back byte for byte."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.edits.branches.branch_session import DEEPEST, SMALL, CompactExchange, ExchangeCache
from workbench.wire.exchange import Body, Exchange, HttpRequest

LARGE = b"abcdefgh" * (SMALL // 4)


def exchange(body: bytes, id: str = "e") -> Exchange:
    return Exchange(id, HttpRequest("POST", "/v1", body=Body(body)), note="kept")


@pytest.mark.parametrize(
    ("body", "is_bare"),
    [
        (LARGE, True),
        (LARGE[:500] + b"edited" + LARGE[900:], True),
        (b"before" + LARGE + b"behind", False),
        (LARGE[: SMALL // 2], False),
        (b"", False),
    ],
)
def test_what_comes_back_is_what_was_held(body: bytes, is_bare: bool) -> None:
    recent = ExchangeCache()
    held = CompactExchange(exchange(body), CompactExchange(exchange(LARGE), None, recent), recent)
    assert held.exchange == held.restore() == exchange(body)
    assert held.body == body
    assert held.bare.note == "kept"
    assert held.bare.request
    assert (held.bare.request.body.raw == b"") == (is_bare or not body)


def test_a_long_chain_of_edits_comes_back_and_takes_little_room() -> None:
    recent, chain, wanted = ExchangeCache(), list[CompactExchange](), list[bytes]()
    for n in range(2 * DEEPEST):
        wanted.append(LARGE[:n] + b"x" * n + LARGE[n:])
        chain.append(CompactExchange(exchange(wanted[-1], "same id"), chain[-1] if chain else None, recent))
    assert [held.body for held in chain] == wanted
    assert [held.exchange for held in chain] == [exchange(body, "same id") for body in wanted]
    whole = [held for held in chain if held.bare.request and held.bare.request.body.raw]
    assert len(whole) == 2
    assert chain[-1].exchange is chain[-1].exchange


def test_what_holds_no_request_is_held_as_it_is() -> None:
    recent, answered = ExchangeCache(), replace(exchange(b""), request=None)
    assert CompactExchange(answered, CompactExchange(exchange(LARGE), None, recent), recent).exchange is answered
