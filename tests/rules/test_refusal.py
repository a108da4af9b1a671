"""The provider's words, with the indices it would count and the ids it would name."""

from __future__ import annotations

import pytest

from workbench.chain.terms import ClosureTerms, Placement
from workbench.decode import Decoded
from workbench.ir import Message, ModelRequest, Text, ToolCallIR
from workbench.rules import Contract
from workbench.rules._refusal import filled
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
    ("template", "pointer", "placement", "expected"),
    [
        ("plain", "/messages/3", Placement.CONTIGUOUS, "plain"),
        ("messages.{message}: {ids}", "/messages/3/content/0", Placement.CONTIGUOUS, "messages.3: toolu_1"),
        ("messages.{message}.content.{part}", "/messages/3/content/0", Placement.NEXT_MESSAGE, "messages.1.content.2"),
        ("messages.{message}.content.{part}", "/messages/1/content/1", Placement.NEXT_MESSAGE, "messages.0.content.2"),
        ("calls[{call}] of {model}", "/messages/1/tool_calls/4/id", Placement.CONTIGUOUS, "calls[4] of m-1"),
        ("tools[{tool}]: {limit}", "/tools/7/name", Placement.CONTIGUOUS, "tools[7]: …"),
    ],
)
def test_variables_are_filled(template: str, pointer: str, placement: Placement, expected: str) -> None:
    contract = Contract("c", "C", closure=ClosureTerms(placement=placement))
    decoded = Decoded(0, Exchange("e"))
    decoded.request = REQUEST
    assert filled(template, pointer, decoded, contract, CALL) == expected
