from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tui import samples
from workbench.ir import NodeRef
from workbench.rules.inspection import Inspector
from workbench.tui.exchange_view import ExchangeView
from workbench.tui.models.outline import WHOLE, Outline
from workbench.views.lines import plain
from workbench.wire.exchange import Body, State
from workbench.wire.jsontext import loads


def outline(name: str, index: int) -> Outline:
    return samples.opened(name, index).outline


def test_nodes_stand_in_wire_order() -> None:
    kinds = [(n.side, n.kind) for n in outline(samples.LOST_RESULT, 2).nodes]
    assert kinds[:2] == [("request", "side"), ("request", "tools")]
    assert kinds[-2:] == [("response", "side"), ("response", "error")]
    assert kinds.count(("request", "message")) == 3


def test_reasoning_that_ought_to_be_there_has_a_line() -> None:
    nodes = outline(samples.LOST_REASONING, 1).nodes
    missing = next(n for n, node in enumerate(nodes) if node.kind == "missing")
    assert nodes[missing - 1].kind == "message"
    assert nodes[missing].pointer == nodes[missing - 1].pointer == "/messages/1"


def test_a_node_is_found_by_its_place() -> None:
    found = outline(samples.LOST_RESULT, 2)
    call = found.by_ref(NodeRef("request", 1, 2))
    assert call is not None
    assert found.nodes[call].pointer == "/messages/1/content/2"
    whole = found.by_ref(NodeRef("request", 1, WHOLE))
    assert whole is not None
    assert found.nodes[whole].kind == "message"
    assert found.by_ref(NodeRef("request", 9, 0)) is None


def test_a_pointer_finds_the_deepest_node_that_holds_it() -> None:
    found = outline(samples.LOST_RESULT, 2)
    for pointer, expected in (
        ("/messages/1/content/2/input/target", "/messages/1/content/2"),
        ("/messages/1/content", "/messages/1"),
        ("/tools/1/name", "/tools"),
        ("/max_tokens", ""),
    ):
        number = found.by_pointer("request", pointer)
        assert number is not None
        assert found.nodes[number].pointer == expected
    assert found.by_pointer("elsewhere", "/x") is None


def test_a_stream_event_finds_what_it_went_into() -> None:
    opened = samples.opened(samples.TOOL_LOOP, 0)
    kinds = {}
    for event in opened.decoded.events:
        number = opened.outline.by_event(event.number)
        value = loads(event.data or b"null")
        if number is not None and value["type"] == "content_block_delta":
            part = opened.outline.nodes[number].part
            kinds.setdefault(value["delta"]["type"], set()).add(type(part).__name__)
    assert kinds == {
        "thinking_delta": {"Reasoning"},
        "signature_delta": {"Reasoning"},
        "input_json_delta": {"ToolCallIR"},
    }


@pytest.mark.parametrize(
    ("state", "end", "arguments"),
    [
        (State.OPEN, "still arriving", "arguments do not parse yet:"),
        (State.ABORTED, "truncated", "arguments do not parse:"),
    ],
)
def test_a_stream_that_still_arrives_is_not_cut_off(state: State, end: str, arguments: str) -> None:
    whole = samples.example(samples.TOOL_LOOP).exchange(0)
    assert whole.response
    body = whole.response.body.raw
    cut = body[: body.rindex(b"input_json_delta")].rpartition(b"event:")[0]
    response = replace(whole.response, body=Body(cut))
    opened = ExchangeView(Inspector(samples.session(replace(whole, response=response, state=state))).detail(0))
    nodes = opened.outline.nodes
    side, call = next(n for n in nodes if (n.side, n.kind) == ("response", "side")), len(nodes) - 1
    assert side.text.endswith(end)
    text = "\n".join(plain(made) for made in opened.contents["ir"].body(call, 80))
    assert arguments in text
