"""``workbench explain``: rules and pasted errors."""

from __future__ import annotations

import json
import re as regex

import pytest

from tests.cli.conftest import Run
from workbench import contracts
from workbench.protocols import traits


def test_a_rule(run: Run) -> None:
    done = run("explain", "closure.missing-result")
    assert done.status == 0
    assert "A tool call has no result" in done.out
    assert "tool_use" in done.out


def test_a_rule_as_json(run: Run) -> None:
    page = json.loads(run("explain", "closure.missing-result", "--format", "json").out)["rule"]
    assert {"slug", "summary", "failing", "passing"} <= set(page)


@pytest.mark.parametrize(
    ("text", "rule", "provider"),
    [
        ("The reasoning_content in the thinking mode must be passed back to the API.", "reasoning.missing", "deepseek"),
        (
            "messages.22: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01Hq. Each "
            "`tool_use` block must have a corresponding `tool_result` block in the next message.",
            "closure.missing-result",
            "anthropic",
        ),
        (
            "Error code: 400 - {'error': {'message': \"Invalid parameter: messages with role 'tool' must be a response "
            "to a preceeding message with 'tool_calls'.\", 'type': 'invalid_request_error'}}",
            "closure.orphan-result",
            "openai",
        ),
    ],
)
def test_an_error_text(run: Run, text: str, rule: str, provider: str) -> None:
    done = run("explain", text)
    assert done.status == 0
    assert rule in done.out
    assert provider in done.out
    (first, *_) = json.loads(run("explain", "--format", "json", text).out)["matches"]
    assert first["rule"] == rule


def test_an_error_that_nobody_knows(run: Run) -> None:
    done = run("explain", "segmentation fault (core dumped)")
    assert done.status == 3
    assert "Traceback" not in done.err


def test_nothing_to_explain(run: Run) -> None:
    assert run("explain", "-", stdin=b"  \n").status == 2


def test_without_a_subject_the_rules_are_listed(run: Run) -> None:
    done = run("explain")
    assert done.status == 0
    assert "closure.missing-result  " in done.out
    assert "reasoning.missing" in json.loads(run("explain", "--format", "json").out)["rules"]


def test_several_rules(run: Run) -> None:
    done = run("explain", "closure.orphan-result", "args.empty")
    assert done.status == 0
    assert "closure.orphan-result: " in done.out
    assert "args.empty: " in done.out


def test_a_rule_that_does_not_exist_names_the_nearest(run: Run) -> None:
    done = run("explain", "closure.mising-result")
    assert done.status == 2
    assert "did you mean closure.missing-result" in done.err


def test_a_contract_is_explained_with_sources_and_order(run: Run) -> None:
    done = run("explain", "deepseek:v4", "--protocol", "openai-chat")
    assert done.status == 0
    assert done.out.startswith("deepseek:v4: DeepSeek\n")
    assert "Refuses, in the order of its checks" in done.out
    assert "reasoning.missing: 400 (openai-chat; v4)" in done.out
    assert "The `reasoning_content` in the thinking mode must be passed back to the" in done.out
    assert "content[].thinking" not in done.out
    assert "Missing `reasoning_content` field" not in done.out
    assert max(map(len, (line for line in done.out.splitlines() if "https://" not in line))) <= 80


def test_a_contract_is_one_json_object(run: Run) -> None:
    answer = json.loads(run("explain", "deepseek", "--format", "json").out)["contract"]
    assert answer["name"] == "deepseek"
    assert {v["name"] for v in answer["variants"]} >= {"v4", "v3.2"}
    assert all(f["source"] and f["date"] and f["term"] for f in answer["facts"])
    assert all(c["source"] and c["date"] and 400 <= c["status"] < 600 for c in answer["enforces"])


@pytest.mark.parametrize("name", contracts.names())
def test_every_contract_is_explained(run: Run, name: str) -> None:
    done = run("explain", name)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("deepseek:v9",), "has no variant 'v9'"),
        (("deepseek", "--protocol", "gemini"), "deepseek does not cover gemini; known: openai-chat"),
    ],
)
def test_what_a_contract_does_not_have_is_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("explain", *words)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_contracts_are_listed_with_the_rules(run: Run) -> None:
    done = run("explain")
    assert "deepseek:v3.2                DeepSeek, V3.2" in done.out
    assert json.loads(run("explain", "--format", "json").out)["contracts"]["generic"] == "Any provider"


def test_a_family_lists_its_rules(run: Run) -> None:
    done = run("explain", "closure")
    assert (done.status, done.err) == (0, "")
    assert "closure.missing-result       A tool call has no result" in done.out
    answer = json.loads(run("explain", "closure", "--format", "json").out)
    assert (answer["family"], {slug.partition(".")[0] for slug in answer["rules"]}) == ("closure", {"closure"})


@pytest.mark.parametrize(
    ("word", "meant"),
    [("deepsek", "deepseek"), ("deepsek:v4", "deepseek:v4"), ("opneai", "openai"), ("clousre", "closure")],
)
def test_a_word_that_is_nearly_a_contract_or_a_family(run: Run, word: str, meant: str) -> None:
    done = run("explain", word)
    assert (done.status, done.err) == (2, f"workbench: no rule or contract named {word}; did you mean {meant}?\n")


def test_kinds_of_failures_are_listed_and_shown(run: Run) -> None:
    listed = run("explain", "kinds")
    assert listed.status == 0 and "rate-limit" in listed.out and "model-unknown" in listed.out
    one = run("explain", "rate-limit")
    assert (
        "nothing" not in one.out
        and "a rate limit is reached" in one.out
        and "the same request can succeed later" in one.out
    )
    (kind,) = json.loads(run("explain", "parameter-range", "--format", "json").out)["kinds"]
    assert (kind["kind"], kind["cause"], kind["at"]) == ("parameter-range", "request", "parameter")


def test_a_text_that_no_contract_knows_is_of_a_kind(run: Run) -> None:
    done = run("explain", "--format", "json", "Error: too many requests, please retry after 26 seconds")
    (match,) = json.loads(done.out)["matches"]
    assert (done.status, match["rule"], match["kind"]) == (0, None, "rate-limit")
    assert match["captured"] == {"reset": "in 26 s"}


def test_coverage_says_what_is_known_of_each_place_and_of_which_nothing_is(run: Run) -> None:
    done = run("explain", "coverage", "--protocol", "openai-chat")
    assert done.status == 0
    paragraphs = {block.splitlines()[0]: " ".join(block.split()) for block in regex.split(r"\n(?=\S)", done.out)}
    assert regex.search(r"refused .*openai \(.*o3-mini\*", paragraphs["sampling.temperature"])
    assert regex.search(r"unknown .*fireworks", paragraphs["sampling.temperature"])
    assert regex.search(r"ignored .*kimi", paragraphs["/enable_thinking"])


def test_coverage_as_json_has_every_named_place_of_every_contract(run: Run) -> None:
    told = json.loads(run("explain", "coverage", "--protocol", "gemini", "--format", "json").out)
    assert told["words"] >= 250
    found = {(each["place"], each["outcome"]) for each in told["coverage"] if each["contract"] == "gemini"}
    assert ("reasoning.effort", "refused") in found and ("call.id", "unknown") in found
    assert set(traits("gemini").places) <= {place.partition("/")[0] for place, _ in found if place[0] != "/"}
