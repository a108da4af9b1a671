"""The provider's words, with the indices it would count and the ids it would name."""

from __future__ import annotations

import pytest

from workbench.contracts import Contract, Fact, Finding, Severity, refusal_words, split_evidence
from workbench.contracts.verdict import fill, known_values
from workbench.ir import Message, ModelRequest, Text, ToolCallIR
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Exchange

CALL = ToolCallIR("toolu_1", "f", {}, "anthropic")
REQUEST = ModelRequest(
    "p",
    "m-1",
    (
        Message("user", (Text("a"),)),
        Message("user", (Text("b"), Text("c"))),
        Message("assistant", (Text("d"), CALL)),
        Message("assistant", (CALL,)),
    ),
)


@pytest.mark.parametrize(
    ("template", "pointer", "merges", "expected"),
    [
        ("plain", "/messages/3", False, "plain"),
        ("messages.{message}: {ids}", "/messages/3/content/0", False, "messages.3: toolu_1"),
        ("messages.{message}.content.{part}", "/messages/3/content/0", True, "messages.1.content.2"),
        ("messages.{message}.content.{part}", "/messages/1/content/1", True, "messages.0.content.2"),
        ("calls[{call}] of {model}", "/messages/1/tool_calls/4/id", False, "calls[4] of m-1"),
        ("tools[{tool}]: {limit}", "/tools/7/name", False, "tools[7]: …"),
        ("contents[{message}].parts[{part}]", "/contents/2/parts/1/functionCall", False, "contents[2].parts[1]"),
        ("input[{message}]", "/input/12/call_id", False, "input[12]"),
        ("tools[{tool}].{function}", "/tools/0/functionDeclarations/6/parameters", False, "tools[0].6"),
    ],
)
def test_variables_are_filled(template: str, pointer: str, merges: bool, expected: str) -> None:
    contract = Contract("c", "C", terms={"content.merges-same-role": Fact(merges, "a test", "2026-01")})
    decoded = DecodedExchange(0, Exchange("e"))
    decoded.request = REQUEST
    assert fill(template, known_values(pointer, decoded, contract, CALL)) == expected


@pytest.mark.parametrize(
    ("evidence", "expected", "seen", "words"),
    [
        ("'x'; provider error: 'as recorded'", "as expected", "'x'", "as recorded"),
        ("provider error: 'as recorded'", "", "", "as recorded"),
        ("provider error: 'it' (provider's 'a' = /a)", "", "", "it"),
        (
            "provider error: 'it' (provider's 'a' = /a, the fault is at /b)",
            "",
            "",
            "it (provider's 'a' = /a, the fault is at /b)",
        ),
        ("'x'", "as expected", "'x'", "as expected"),
    ],
)
def test_recorded_words_come_before_those_that_a_contract_expects(
    evidence: str, expected: str, seen: str, words: str
) -> None:
    finding = Finding("a.b", Severity.ERROR, 0, "request", "", "m", evidence=evidence, refusal=expected)
    assert (split_evidence(finding)[0], refusal_words(finding)) == (seen, words)
