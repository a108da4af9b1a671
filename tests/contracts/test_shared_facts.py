"""Facts that pass from one protocol of a provider to the others."""

from __future__ import annotations

import pytest

from tests.contracts.test_named_places import written
from workbench import contracts
from workbench.contracts import loading
from workbench.contracts.facts import load
from workbench.contracts.shared_facts import passed_relations, with_siblings

WIRES = ("openai-chat", "anthropic-messages", "openai-responses")
OTHERS = WIRES[1:]

CONTRACT = """
version: 1
name: mine
title: Mine
surveyed: 2026-11-20
protocols: [openai-chat, anthropic-messages, openai-responses]
sources: {{seen: {{title: what it answered}}}}
facts:
- for: {{protocols: [{turned}]}}
  terms:
    gateway.turned-into: {{value: openai-chat, source: seen}}
- for: {{protocols: [openai-chat]}}
  terms:
    schema.max-properties: {{value: 3, source: seen}}
    schema.tool-types: {{value: [function], source: seen}}
relations:
- {{at: {at}, for: {{protocols: [openai-chat]{models}}}, {more} name: said, says: "no: {{path}}", source: seen}}
"""


def passed(at, more="present: true,", models="", turned="ollama", protocol="openai-responses"):
    """Pointers of the places on a wire that a line about Chat holds for, and the contract of that wire."""
    text = CONTRACT.format(at=at, more=more, models=f", models: [{models}]" if models else "", turned=turned)
    file = load(text, "mine.yaml")
    contract = with_siblings(file, file.resolve(protocol, "", models or None), "", models or None)
    assert not any(each.is_enforced for each in contract.relations)
    return [str(each.place) for each in contract.relations], contract


PLACES = {
    "a schema": ("/tools/*/function/parameters/**/format", ["/tools/*/input_schema/**/format"],
                 ["/tools/*/parameters/**/format"]),
    "a description": ("/tools/*/function/description", ["/tools/*/description"], ["/tools/*/description"]),
}  # fmt: skip


@pytest.mark.parametrize("case", PLACES)
def test_a_refusal_of_tools_passes_to_the_place_of_each_wire(case):
    at, messages, responses = PLACES[case]
    assert passed(at, protocol="anthropic-messages")[0] == messages
    assert passed(at)[0] == responses


@pytest.mark.parametrize("protocol", OTHERS)
def test_a_parameter_passes_if_a_model_refuses_it_or_the_server_has_one_path(protocol):
    assert passed("/temperature", protocol=protocol)[0] == []
    assert passed("/temperature", models="m-1", protocol=protocol)[0] == ["/temperature"]
    assert passed("/temperature", turned=protocol, protocol=protocol)[0] == ["/temperature"]


def test_a_type_of_a_part_passes_as_the_part():
    types = ("/messages/*/content/*/type", "is: image_url,")
    assert passed(*types, models="m-1")[0] == ["/input/*/content/*[type=input_image]"]
    assert passed(*types, models="m-1", protocol="anthropic-messages")[0] == ["/messages/*/content/*[type=image]"]


NEVER = {
    "a fact about its own wire alone": ("/tools/*/function/description", "passes: false,"),
    "a fact of documents": ("/tools/*/function/description", "rests-on: documents,"),
    "a fact at one address": ("/tools/*/function/description", 'when: {url: "https://a.example/*"},'),
    "a value in a form of one wire": ("/tool_choice", "is: required,"),
    "a key that other wires have elsewhere": ("/tools/*/cache_control", "present: true,"),
    "a condition on a place of one wire": ("/tools/*/function/description", "when: {/n: present},"),
    "a comparison with a place of one wire": ("/tools/*/function/name", "same-as: /user,"),
}


@pytest.mark.parametrize("case", NEVER)
@pytest.mark.parametrize("protocol", OTHERS)
def test_it_does_not_pass(case, protocol):
    assert passed(*NEVER[case], protocol=protocol)[0] == []


def test_what_is_said_of_a_wire_counts_before_what_passes_to_it():
    file = load(
        CONTRACT.format(at="/tools/*/function/description", more="", models="", turned="ollama")
        + "- {at: /tools/*/description, for: {protocols: [openai-responses]}, then: accepted, name: own, "
        "source: seen}\n",
        "mine.yaml",
    )
    contract = with_siblings(file, file.resolve("openai-responses", "", None), "", None)
    assert [each.name for each in contract.relations] == ["own"]


def test_terms_of_schemas_pass_where_requests_are_turned_and_types_of_tools_do_not():
    assert "schema.max-properties" not in passed("/n")[1].terms
    terms = passed("/n", turned="openai-responses")[1].terms
    assert terms["schema.max-properties"].value == 3 and "schema.tool-types" not in terms


def test_each_passed_fact_of_the_shipped_contracts_is_at_a_place_that_its_wire_has_and_a_warning():
    count = 0
    for file in contracts.loading.files():
        for protocol in file.protocols:
            contract = file.resolve(protocol, file.default.name if file.default else "", None)
            for _, relation in passed_relations(file, contract):
                count += 1
                on_wire = relation.resolved_for(protocol, loading.traits(protocol).places)
                assert on_wire is None or not on_wire.is_enforced, (file.name, protocol, relation.name)
    assert count > 200


def test_a_fact_that_passes_is_reported_as_one_of_another_protocol():
    (relation,) = passed("/tools/*/function/description")[1].relations
    assert [each.value for each in relation.place.find(written("openai-responses"))] == ["Find a word"]
    assert relation.seen_on == ("openai-chat",)
