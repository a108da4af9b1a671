"""Completion of JSON in the editor: keys and values that the grammar has at the place."""

from __future__ import annotations

import pytest

from tests.rules.test_grammar import CHAT, MESSAGES, RESPONSES
from workbench.edits import complete, complete_text, say_place
from workbench.protocols import DecodedExchange
from workbench.wire import Body, Exchange, HttpRequest, dumps

BODIES = {"openai-chat": CHAT, "anthropic-messages": MESSAGES, "openai-responses": RESPONSES}


def decoded(protocol: str) -> DecodedExchange:
    return DecodedExchange(0, Exchange(0, HttpRequest(body=Body(dumps(BODIES[protocol])))), protocol)


@pytest.mark.parametrize(
    ("protocol", "pointer", "text", "first"),
    [
        ("openai-chat", "", '{"model": "m", |}', '{"model": "m", "messages": }'),
        ("openai-chat", "", '{"reasoning_effort": "me|"}', '{"reasoning_effort": "medium"}'),
        ("openai-chat", "", '{"mod|": 1}', '{"model": 1}'),
        ("openai-chat", "/messages/2", '{"role": "tool", "|', '{"role": "tool", "content": '),
        ("openai-chat", "/messages", '[{"role": "user"}, {"role": "assistant", "too|', None),
        ("openai-chat", "/stream", "t|", "true"),
        ("anthropic-messages", "/messages/2/content/0", '{"type": "tool_result", "is|', None),
        ("openai-responses", "", '{"include": ["reas|', '{"include": ["reasoning.encrypted_content"'),
        ("openai-chat", "", '{"logit_bias": {"5|', ""),
        ("openai-chat", "", '"}]|', ""),
    ],
)
def test_what_the_grammar_has_is_offered_at_the_place(protocol, pointer, text, first):
    whole, offset = text.replace("|", ""), text.index("|")
    found = complete(decoded(protocol), "", pointer, whole, offset)
    written = [whole[: found.start] + offer.insertion + whole[found.end :] for offer in found.offers]
    if first is None:
        assert len(written) == 1
    else:
        assert written[0] == first if first else not written


def test_a_key_is_offered_once_and_those_that_are_required_first():
    found = complete(decoded("openai-chat"), "openai", "/tools/0", '{"type": "function", ', 21)
    assert [(offer.name, offer.expected) for offer in found.offers] == [("function", "an object, required")]


def test_values_of_a_provider_are_those_of_its_own_types():
    chat = decoded("openai-chat")
    assert "xhigh" in [offer.name for offer in complete_text(chat, "openai", "/reasoning_effort", "").offers]
    assert [o.name for o in complete_text(chat, "together", "/reasoning_effort", "").offers] == [
        "high",
        "low",
        "medium",
    ]


def test_a_place_is_said_in_words():
    assert say_place(decoded("openai-chat"), "openai", "/temperature") == "a number, at least 0, at most 2"
    assert say_place(decoded("anthropic-messages"), "anthropic", "/messages/2/content/0/tool_use_id") == (
        "a string, required"
    )
    assert say_place(decoded("openai-chat"), "openai", "/nothing") == ""
