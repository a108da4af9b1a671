"""What versions of a model's family refuse, and what the provider of a model refuses of it elsewhere."""

from __future__ import annotations

import pytest

from workbench.contracts import loading
from workbench.contracts.model_families import ModelFamily, family_of

FAMILIES = [
    ("gpt-5-2-codex", ("gpt-5", "codex", (2,))),
    ("gpt-5", ("gpt-5", "", ())),
    ("claude-opus-4-7*", ("claude-opus-4", "", (7,))),
    ("claude-opus-4-8-20260601", ("claude-opus-4", "", (8,))),
    ("grok-4-20-0309-non-reasoning", ("grok-4", "non", (20,))),
    ("kimi-k2-6", ("kimi-k2", "", (6,))),
    ("gpt-4o-mini", ("gpt-4o", "mini", ())),
    ("command", None),
]


@pytest.mark.parametrize(("name", "expected"), FAMILIES, ids=[row[0] for row in FAMILIES])
def test_a_name_tells_family_kind_and_version(name, expected):
    assert family_of(name) == (ModelFamily(*expected) if expected else None)


def suspected(name, protocol, model):
    contract = loading.resolve(name, protocol, "", model)
    return {str(each.place) for each in contract.relations if each.evidence == "family"}


def test_what_two_versions_refuse_is_expected_of_a_later_one_of_their_kind():
    assert "/temperature" in suspected("openai", "openai-responses", "gpt-5.9-codex")
    assert "/temperature" not in suspected("openai", "openai-responses", "gpt-5.9-nano")
    assert "/presence_penalty" in suspected("xai", "openai-chat", "grok-4.9")
    assert not suspected("xai", "openai-chat", "grok-4.5")  # it has a fact of its own
    assert not suspected("openai", "openai-chat", None)


def test_what_the_provider_of_a_model_refuses_is_expected_at_a_host_that_passes_requests_on():
    unknown = loading.of_model("kimi", "openai-chat", "", "kimi-k3")
    assert {"/temperature"} <= {str(each.place) for each in unknown.relations if each.evidence == "model"}
    gateway = loading.resolve("copilot", "openai-responses", "", "gpt-5.1-codex")
    assert {"/temperature"} <= {str(each.place) for each in gateway.relations if each.evidence == "model"}
    assert not [each for each in gateway.relations if each.evidence == "model" and each.is_enforced]
