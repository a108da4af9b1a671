"""Which profile holds for a request and a target, and what is corrected because of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.probes.profiles.motions import measured, server
from workbench.errors import UsageError
from workbench.probes.profiles.choosing import ProfileChoice, choose, earlier, profile_of_request
from workbench.protocols.decode import DecodedExchange
from workbench.rules.inspection import Inspector
from workbench.send.target_names import resolve
from workbench.simulator import Dials, ScriptedModel, Simulator
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.jsontext import dumps
from workbench.wire.session import MemorySession

MODEL = Simulator("openai").names()[0]
CHAT = {"model": MODEL, "messages": [{"role": "user", "content": "hello"}]}
PROFILE = measured(server("openai", ScriptedModel(Dials(stream="cut"))), "openai", "openai-chat", ("streaming",))


def asked(number: int = 1, **changes: object) -> Exchange:
    return Exchange(f"e{number}", HttpRequest("POST", "/v1/chat/completions", body=Body(dumps({**CHAT, **changes}))))


@pytest.mark.parametrize(
    ("target", "model", "protocol", "holds"),
    [
        ("sim:openai", "", "", True),
        ("sim:openai", MODEL, "openai-chat", True),
        ("sim:openai", "another", "", False),
        ("sim:openai", "", "openai-responses", False),
        ("sim:kimi", "", "", False),
    ],
)
def test_it_is_the_one_of_exactly_this_target_model_and_protocol(
    target: str, model: str, protocol: str, holds: bool
) -> None:
    decoded = DecodedExchange(0, asked(), "openai-chat")
    assert (profile_of_request([PROFILE], resolve(target), decoded, model, protocol) is PROFILE) is holds


def test_what_it_asks_for_is_done_unless_it_is_switched_off() -> None:
    now = PROFILE.verified_at
    assert [(each.name, each.is_on) for each in choose(PROFILE, now).decided] == [("streaming-off", True)]
    assert [(each.name, each.is_on) for each in choose(PROFILE, now, off=["streaming-off"]).decided] == [
        ("streaming-off", False)
    ]
    assert choose(None, now) == ProfileChoice() and not ProfileChoice().title and not ProfileChoice().stale
    assert [each.value for each in choose(None, now, on=["serial-calls"]).decided] == [True]
    with pytest.raises(UsageError, match="no correction named"):
        choose(PROFILE, now, off=["weather"])


def test_what_is_stale_is_said() -> None:
    told = choose(PROFILE, PROFILE.verified_at + 10 * 365 * 86_400)
    assert "streaming" in told.stale and told.title == f"sim:openai · openai-chat · {MODEL}"
    shown = told.as_json()["profile"]
    assert isinstance(shown, dict) and shown["model"] == MODEL and "streaming" in shown["stale"]
    assert replace(told, profile=None).as_json()["profile"] is None


def test_what_came_before_is_read_only_where_reasoning_is_put_back() -> None:
    said = [*CHAT["messages"], {"role": "assistant", "content": "hi"}, {"role": "user", "content": "go on"}]
    inspector = Inspector(MemorySession("t", (asked(1), asked(2, messages=said))))
    inspector.run()
    decided = choose(None, 0.0, on=["reasoning-replay"]).decided
    assert [each.id for each in earlier(inspector, 1, decided)] == ["e1"]
    assert earlier(inspector, 1, ()) == []
