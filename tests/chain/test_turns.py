"""Turns of two places find one another, however a gateway altered them."""

from __future__ import annotations

import json

import pytest

from workbench.diff.pairing import HopExchange, encloses, is_outside, likeness_of, paired_turns, places
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, HttpRequest, summarize

MESSAGES, CHAT = "https://api.anthropic.com/v1/messages", "https://b.example/v1/chat/completions"
TITLE = [{"role": "user", "content": "Write a title for all of this"}]


def history(turn, alter=str):
    """The ``turn``-th request of a conversation."""
    return [
        {"role": ("user", "assistant")[n % 2], "content": alter(f" words {n} of the conversation number {n * n} ")}
        for n in range(2 * turn - 1)
    ]


def at(hop, messages, started=None, duration=None, *, url=MESSAGES, id="", parent=None, **more):
    body = {"model": "m", "max_tokens": 9, **more, "messages": messages}
    request = HttpRequest(url=url, body=Body(json.dumps(body).encode()))
    return Exchange(id, request, started_at=started, duration=duration, hop=hop, parent=parent)


def paired(outer, inner):
    """(position in the first list, positions in the second) of each turn."""
    sights = (
        [HopExchange(summarize(n, e), likeness_of(DecodedExchange(n, e))) for n, e in enumerate(exchanges)]
        for exchanges in (outer, inner)
    )
    return [(turn.outer, turn.inner) for turn in paired_turns(*sights)]


def talk(hop, alter=str, start=None, **more):
    return [
        at(hop, history(n, alter), start and start + 10 * n, start and (2.0 if hop == "client" else 1.5), **more)
        for n in (1, 2, 3)
    ]


def shout(text):
    return text.strip().upper() + "!"


def garbled(text):
    return text.replace("words", "wörds").replace("the ", "")


ALL = [(0, (0,)), (1, (1,)), (2, (2,))]
QUICK = [[at(hop, history(1), 100.0 + n * 0.02 + late, span) for n in (0, 1)]
         for hop, late, span in (("client", 0.0, 0.019), ("gateway", 0.003, 0.01))]  # fmt: skip
CASES = {
    "the same twice, one right behind the other": (QUICK[0], QUICK[1][::-1], [(0, (1,)), (1, (0,))]),
    "every text trimmed": (talk("client"), talk("gateway", str.strip), ALL),
    "every text altered, with times": (talk("client", start=100.0), talk("gateway", shout, 100.1), ALL),
    "every text altered, without": (talk("client"), talk("gateway", garbled), ALL),
    "another protocol": (talk("client"), talk("gateway", url=CHAT), ALL),
    "instructions added": (talk("client"), talk("gateway", system="Be very kind to everybody."), ALL),
    "a title that the gateway asked for": (
        talk("client"), [at("gateway", TITLE), *talk("gateway", str.strip)],
        [(None, (0,)), (0, (1,)), (1, (2,)), (2, (3,))],
    ),
    "one that was not passed on": (
        talk("client"), talk("gateway", str.strip)[::2], [(0, (0,)), (1, ()), (2, (1,))],
    ),
    "a turn that was tried again": (
        talk("client", start=100.0),
        [at("gateway", history(1), 110.1, 0.2), *talk("gateway", start=100.3)],
        [(0, (0, 1)), (1, (2,)), (2, (3,))],
    ),
    "tries next to one another, without times": (
        [at("client", history(1)), at("client", history(2))],
        [at("gateway", history(1)), at("gateway", history(1)), at("gateway", history(2))],
        [(0, (0, 1)), (1, (2,))],
    ),
    "a question asked twice is no try": (
        [at("client", TITLE), at("client", history(1)), at("client", history(1))],
        [at("gateway", history(1)), at("gateway", history(1))],
        [(0, ()), (1, (0,)), (2, (1,))],
    ),
    "agents side by side": (
        [at("client", history(1), 10.0, 5.0), at("client", TITLE, 10.1, 5.0)],
        [at("gateway", TITLE, 10.2, 4.0), at("gateway", history(1), 10.3, 4.0)],
        [(0, (1,)), (1, (0,))],
    ),
    "what was made of what, by record": (
        [at("client", history(1), id="a"), at("client", history(2), id="b")],
        [at("gateway", TITLE, parent="b"), at("gateway", history(2), parent="a")],
        [(0, (1,)), (1, (0,))],
    ),
    "clocks of two machines": (talk("client", start=100.0), talk("gateway", str.strip, 5_000.0), ALL),
    "another conversation": ([at("client", history(2))], [at("gateway", TITLE)], [(0, ()), (None, (0,))]),
    "nothing": ([], [at("gateway", TITLE)], [(None, (0,))]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_which_exchange_was_made_of_which(name):
    outer, inner, expected = CASES[name]
    assert paired(outer, inner) == expected


def rows(exchanges):
    return [summarize(n, e) for n, e in enumerate(exchanges)]


def test_what_is_no_model_exchange_is_known_by_its_path():
    def get(path):
        return Exchange("", HttpRequest("GET", f"https://a.example{path}"))

    assert paired([get("/v1/models"), get("/health")], [get("/health"), get("/models")]) == [(0, (1,)), (1, (0,))]


def test_times_tell_who_is_outside():
    outer, inner = rows(talk("client", start=100.0)), rows(talk("x", start=100.1))
    assert is_outside(outer, inner) is True
    assert is_outside(inner, outer) is False
    assert is_outside(rows(talk("")), rows(talk("x"))) is None
    assert encloses(inner, outer) and not encloses(outer, outer)
    assert not encloses(outer, rows(talk("x", start=900.0)))


def test_the_places_of_a_recording_begin_at_the_client():
    three = [at("b", history(1), 10.1, 1.0), at("c", history(1), 10.2, 0.8), at("a", history(1), 10.0, 2.0)]
    assert places(rows(three)) == ["a", "b", "c"]
    assert places(rows([at("x", TITLE), at("y", TITLE)])) == ["x", "y"]
    assert places(rows([at("x", TITLE, id="2", parent="1"), at("y", TITLE, id="1")])) == ["y", "x"]


def test_long_recordings_take_time_in_proportion():
    outer = [at("client", [{"role": "user", "content": f"question {n} {n * 7}"}], n, 0.5) for n in range(200)]
    inner = [at("g", [{"role": "user", "content": f"Question {n}, {n * 7}"}], n + 0.1, 0.2) for n in range(200)]
    assert paired(outer, inner) == [(n, (n,)) for n in range(200)]


def test_turns_that_drift_apart_are_followed():
    outer = [at("client", [{"role": "user", "content": f"a question, {n}, and {n * 7} more"}]) for n in range(250)]
    inner = [at("g", [{"role": "user", "content": f"A question, {n}, and {n * 7} more"}]) for n in range(250) if n % 5]
    assert all(len(found) == bool(n % 5) for n, found in paired(outer, inner))
