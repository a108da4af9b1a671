"""The table of what contracts say: every place of the grammars is in it, for every contract."""

from __future__ import annotations

import pytest

from workbench import contracts
from workbench.contracts import coverage
from workbench.protocols import grammars, traits


@pytest.mark.parametrize("protocol", ["openai-chat", "openai-responses", "anthropic-messages", "gemini"])
def test_every_place_of_a_grammar_has_a_fact_or_is_unknown(protocol):
    facts = coverage.place_facts(protocol)
    names = {pointer: name for name, pointer in traits(protocol).places.items()}
    wanted = {names.get(place, place) for place in grammars.request_places(protocol)}
    assert len(wanted) > 15
    for contract in {fact.contract for fact in facts}:
        assert wanted <= {fact.place for fact in facts if fact.contract == contract}, contract
    assert {fact.outcome for fact in facts} <= set(coverage.OUTCOMES)


def test_a_type_is_what_the_terms_and_relations_of_a_contract_make_of_it():
    facts = {(f.contract, f.place): f.outcome for f in coverage.place_facts("openai-responses")}
    assert facts["command-code", "/tools/*/type = web_search"] == "refused"
    assert facts["command-code", "/input/*/type = tool_search_call"] == "refused"
    assert facts["qwen", "/tools/*/type = shell"] == "unknown"


def test_most_refusals_are_in_the_words_of_the_provider():
    assert contracts.words_known() > 550
