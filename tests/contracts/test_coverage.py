"""The table of what contracts say: every place of the grammars is in it, for every contract."""

from __future__ import annotations

import pytest

from workbench import contracts
from workbench.cli import main
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


def test_types_of_a_provider_say_what_no_fact_does():
    facts = {fact.place: fact for fact in coverage.place_facts("openai-chat", "perplexity")}
    assert {fact.contract for fact in facts.values()} == {"perplexity"}
    assert (facts["/search_mode"].outcome, facts["/search_mode"].expected) == ("typed", "one of academic, sec, web")
    assert "perplexityai" in facts["/search_mode"].source
    assert facts["/logit_bias"].outcome == "untyped"
    glm = {fact.place: fact.outcome for fact in coverage.place_facts("openai-chat", "glm", [coverage.UNKNOWN])}
    assert "/logit_bias" in glm and set(glm.values()) == {"unknown"}


def test_the_table_of_a_provider_is_markdown(capsys):
    assert main(["explain", "coverage", "--provider", "cohere", "--format", "markdown"]) == 0
    head, rule, *rows = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    assert head == "| place | protocol | refused | typed | unknown |"
    assert "| `/citation_options` | cohere-v2 |  | an object |  |" in rows
    assert {row.count("|") for row in (rule, *rows)} == {6}


@pytest.mark.parametrize("options", [["--unknown"], ["--format", "markdown"]])
def test_options_of_the_table_are_for_it_alone(capsys, options):
    assert main(["explain", "closure.missing-result", *options]) == 2
    assert "with coverage" in capsys.readouterr().err


def test_a_type_is_what_the_terms_and_relations_of_a_contract_make_of_it():
    facts = {(f.contract, f.place): f.outcome for f in coverage.place_facts("openai-responses")}
    assert facts["command-code", "/tools/*/type = web_search"] == "refused"
    assert facts["command-code", "/input/*/type = tool_search_call"] == "refused"
    assert facts["qwen", "/tools/*/type = shell"] == "unknown"


def test_most_refusals_are_in_the_words_of_the_provider():
    assert contracts.words_known() > 550


def test_a_server_with_a_list_of_its_fields_says_what_becomes_of_every_other_one():
    facts = {fact.place: fact for fact in coverage.place_facts("anthropic-messages", "ollama")}
    assert facts["/mcp_servers"].outcome == "ignored" and "anthropic.go" in facts["/mcp_servers"].source
    assert facts["/system"].outcome == "accepted"


def test_what_is_said_of_the_wire_that_requests_are_turned_into_counts_here():
    facts = {fact.place: fact for fact in coverage.place_facts("anthropic-messages", "llama.cpp")}
    assert facts["tool.parameters/**/oneOf"].outcome == "refused"
    assert facts["request.tool_choice"].outcome != "refused"  # its form is another one on each wire


def test_a_gateway_that_forwards_a_field_does_not_leave_it_unknown():
    facts = {fact.place: fact for fact in coverage.place_facts("openai-responses", "vercel")}
    assert (facts["/truncation"].outcome, facts["/tools/*/type = shell"].outcome) == ("passed-on", "passed-on")
    assert facts["/truncation"].source
    assert coverage.place_facts("", "litellm", [coverage.UNKNOWN]) == []
