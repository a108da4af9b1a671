"""The same turn at two places finds itself again."""

from __future__ import annotations

import json

import pytest

from workbench.chain.hops import Hops
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, HttpRequest, summarize

URL = "https://api.anthropic.com/v1/messages"


def history(turns):
    """``turns`` questions with the answers between them."""
    return [{"role": ("user", "assistant")[n % 2], "content": f"turn {n}"} for n in range(2 * turns - 1)]


def seen(hop, turns, started=None, duration=None, words=None):
    body = {"model": "m", "max_tokens": 9, "messages": words or history(turns)}
    request = HttpRequest(url=URL, body=Body(json.dumps(body).encode()))
    return Exchange("", request, started_at=started, duration=duration, hop=hop)


def pairs(*exchanges):
    """(outer, inner) of each exchange, as indices."""
    decoded = [DecodedExchange(n, e) for n, e in enumerate(exchanges)]
    rows = [summarize(n, e) for n, e in enumerate(exchanges)]
    found = [Hops(d, rows, lambda n: decoded[n]) for d in decoded]
    return [(h.outer and h.outer.index, h.inner and h.inner.index) for h in found]


OTHER = [{"role": "user", "content": "something else"}]
TIMED = [
    ("one turn", [seen("client", 1), seen("gateway", 1)], [(None, 1), (0, None)]),
    (
        "each turn for itself",
        [seen("client", 1), seen("gateway", 1), seen("client", 2), seen("gateway", 2)],
        [(None, 1), (0, None), (None, 3), (2, None)],
    ),
    ("no names, no hops", [seen("", 1), seen("", 1)], [(None, None), (None, None)]),
    ("another conversation", [seen("client", 1), seen("gateway", 1, words=OTHER)], [(None, None), (None, None)]),
    (
        "times tell who is outside",
        [seen("gateway", 1, 10.2, 1.0), seen("client", 1, 10.0, 1.5)],
        [(1, None), (None, 0)],
    ),
    (
        "the last attempt of the gateway was passed on",
        [seen("client", 1, 10.0, 5.0), seen("gateway", 1, 10.1, 1.0), seen("gateway", 1, 12.0, 1.0)],
        [(None, 2), (0, None), (0, None)],
    ),
    (
        "agents side by side",
        [
            seen("client", 1, 10.0, 5.0),
            seen("client", 1, 10.1, 5.0, OTHER),
            seen("gateway", 1, 10.2, 4.0, OTHER),
            seen("gateway", 1, 10.3, 4.0),
        ],
        [(None, 3), (None, 2), (1, None), (0, None)],
    ),
    (
        "a repeated question goes to the sighting beside it",
        [seen("client", 1), seen("gateway", 1), seen("client", 1), seen("gateway", 1)],
        [(None, 1), (0, None), (None, 3), (2, None)],
    ),
    (
        "one that began at the same time is not over",
        [seen("client", 1, 10.0), seen("gateway", 1, 10.0, 1.0)],
        [(None, 1), (0, None)],
    ),
    ("one unnamed place", [seen("", 1), seen("gateway", 1)], [(None, 1), (0, None)]),
]


@pytest.mark.parametrize(("exchanges", "expected"), [t[1:] for t in TIMED], ids=[t[0] for t in TIMED])
def test_who_saw_the_same_turn(exchanges, expected):
    assert pairs(*exchanges) == expected


def test_what_is_no_model_request_has_no_twin():
    get = Exchange("", HttpRequest("GET", "https://api.anthropic.com/v1/models"), hop="client")
    assert pairs(get, seen("gateway", 1)) == [(None, None), (None, None)]
