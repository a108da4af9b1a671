"""Endpoints that pass requests on to a maker's own API: its contract holds there, where theirs says nothing else."""

from __future__ import annotations

import pytest

from workbench import contracts

MESSAGES, INVOKE = "anthropic-messages", "bedrock-invoke"


def served(name, protocol, model="claude-opus-4-8"):
    return contracts.get(name, protocol=protocol, clues=contracts.Clues(model=model))


@pytest.mark.parametrize(
    ("name", "protocol"),
    [("bedrock", INVOKE), ("bedrock", MESSAGES), ("copilot", MESSAGES), ("databricks", MESSAGES), ("vercel", MESSAGES)],
)
def test_what_the_maker_refuses_is_refused_where_it_is_served(name, protocol):
    own, here = served("anthropic", MESSAGES), served(name, protocol)
    assert here.term("schema.root-refused") == own.term("schema.root-refused")
    assert here.check_for("content.trailing-whitespace")
    refused = {str(each.place) for each in here.relations}
    assert {str(each.place) for each in own.relations if str(each.place) == "/top_k"} <= refused
    assert (here.name, here.closure.placement) == (name, own.closure.placement)


def test_what_depends_on_the_address_is_not_the_makers():
    here = served("bedrock", INVOKE)
    assert "/model" not in here.term("params.fields") and not here.term("params.required")
    assert here.term("errors.body") != served("anthropic", MESSAGES).term("errors.body")


def test_an_endpoint_counts_before_the_maker():
    terms = served("bedrock", INVOKE).terms
    assert terms["closure.id-pattern"].source != served("anthropic", MESSAGES).terms["closure.id-pattern"].source


@pytest.mark.parametrize(("name", "protocol"), [("copilot", "openai-chat"), ("bedrock", "bedrock-converse")])
def test_on_another_wire_only_what_is_said_of_tools_holds(name, protocol):
    own, here = served("anthropic", MESSAGES), served(name, protocol)
    assert here.term("schema.root-refused") == own.term("schema.root-refused")
    assert [str(e.place) for e in here.relations if str(e.place).endswith("/properties")]
    assert not here.check_for("content.trailing-whitespace")


def test_models_of_others_are_not_served():
    for protocol in (MESSAGES, "openai-chat"):
        assert served("copilot", protocol, "grok-code-fast-1").term("schema.root-refused") is None
