"""One selection, whatever it was made from."""

from __future__ import annotations

import pytest

from tests.tui import samples
from workbench.rules.inspection import Inspector
from workbench.tui.exchange_view import ExchangeView
from workbench.tui.selection import ExchangeSelection
from workbench.views.lines import plain


@pytest.fixture(scope="module")
def lost() -> ExchangeView:
    return samples.opened(samples.LOST_RESULT, 2)


@pytest.fixture(scope="module")
def streamed() -> ExchangeView:
    return samples.opened(samples.TOOL_LOOP, 0)


def texts(opened: ExchangeView, selection: ExchangeSelection) -> list[bytes]:
    body = opened.decoded.request_text if selection.side == "request" else opened.decoded.response_text
    return [body[a:b] for a, b in selection.spans]


def node(opened: ExchangeView, kind: str, word: str) -> int:
    view = opened.contents["ir"]
    return next(
        n
        for n, x in enumerate(opened.outline.nodes)
        if x.kind == kind and word in "".join(s.text for s in view.head(n))
    )


def test_a_call_leads_to_its_bytes_its_result_and_its_line(lost: ExchangeView) -> None:
    selection = lost.at_node(node(lost, "part", "read_file"))
    (text,) = texts(lost, selection)
    assert text.startswith(b"{") and b"toolu_01Parser" in text and b"tool_result" not in text
    lights = lost.lights(selection)
    assert [lost.outline.nodes[n].pointer for n in lights.nodes] == ["/messages/2/content/0"]
    assert lights.calls == {0}
    (related,) = lights.spans["request"]
    assert b"tool_result" in lost.decoded.request_text[slice(*related)]


def test_a_byte_leads_to_the_deepest_value_and_its_node(lost: ExchangeView) -> None:
    offset = lost.decoded.request_text.index(b"src/parser.py")
    selection = lost.at_byte("request", offset)
    assert selection.pointer == "/messages/1/content/1/input/path"
    assert texts(lost, selection) == [b'"src/parser.py"']
    number = lost.lights(selection).node
    assert number == node(lost, "part", "read_file")


def test_a_closure_line_leads_to_its_call(lost: ExchangeView) -> None:
    missing = lost.detail.closure.lines[1]
    selection = lost.at_call(missing)
    assert selection.pointer == "/messages/1/content/2"
    assert lost.lights(selection).calls == {1}


def test_a_finding_leads_to_its_node(lost: ExchangeView) -> None:
    (finding,) = (f for f in lost.row.findings if f.rule == "closure.missing-result")
    selection = lost.at_finding(finding)
    assert selection.spans == (finding.span,)
    assert lost.lights(selection).node == node(lost, "part", "run_tests")


def test_a_ledger_entry_without_reasoning_leads_to_its_turn() -> None:
    opened = samples.opened(samples.LOST_REASONING, 1)
    selection = opened.at_entry(opened.detail.ledger.entries[0])
    assert selection.pointer == "/messages/1"
    lights = opened.lights(selection)
    assert lights.entries == {0}
    call = opened.at_node(node(opened, "part", "list_dir"))
    assert opened.lights(call).turn == {0}


def test_a_streamed_part_leads_to_its_events_and_back(streamed: ExchangeView) -> None:
    number = node(streamed, "part", "read_file")
    selection = streamed.at_node(number)
    assert selection.side == "response"
    pieces = texts(streamed, selection)
    assert b'"read_file"' in pieces
    assert all(text.startswith(b'"') for text in pieces)
    for event in selection.events:
        block = streamed.decoded.events[event]
        assert streamed.lights(streamed.at_byte("response", block.start + 5)).node == number


def test_an_event_that_went_into_nothing_is_selected_alone(streamed: ExchangeView) -> None:
    last = streamed.decoded.events[-1]
    selection = streamed.at_byte("response", last.start)
    assert selection.events == (last.number,)
    assert selection.spans == ((last.start, last.end),)


def test_every_node_and_every_byte_can_be_selected(lost: ExchangeView, streamed: ExchangeView) -> None:
    for opened in (lost, streamed):
        for number in range(len(opened.outline)):
            opened.lights(opened.at_node(number))
        for side, body in (("request", opened.decoded.request_text), ("response", opened.decoded.response_text)):
            for offset in range(0, len(body) + 20, 7):
                selection = opened.at_byte(side, offset)
                assert selection.side == side
                opened.lights(selection)


def test_nothing_is_claimed_of_what_was_not_read() -> None:
    url = "https://h/v1/completions"
    other = ExchangeView(Inspector(samples.session(samples.exchange({"prompt": "hi"}, {}, url=url))).detail(0))
    for name in ("reasoning", "closure"):
        assert said(other, name) == "not decoded: openai-completions is recognised but not decoded by this version"
    assert "✗ not decoded" in plain(other.contents["ir"].head(0))
    half = ExchangeView(Inspector(samples.session(samples.exchange({"messages": []}, b"{torn"))).detail(0))
    assert said(half, "closure").startswith("only partly decoded: response: ")
    page = ExchangeView(Inspector(samples.session(samples.exchange(b"", b"<html>", url="https://h/x"))).detail(0))
    assert said(page, "ir").startswith("nothing to decode: not a model exchange: ")


def said(opened: ExchangeView, name: str) -> str:
    return " ".join(plain(x) for x in opened.contents[name].nothing(400))


def test_where_to_look_first(lost: ExchangeView, streamed: ExchangeView) -> None:
    assert streamed.at_start().side == "response"
    assert lost.outline.nodes[lost.lights(lost.at_start()).node or 0].kind == "error"


def test_breaks_are_marked_and_what_only_explains_is_not() -> None:
    opened = samples.opened("openai-call-never-runs", 0)
    assert {f.severity.value for f in opened.row.findings} == {"error", "info"}
    (span,) = opened.found["response"]["error"]
    assert b'"stop"' in opened.decoded.response_text[slice(*span)]
    assert opened.found["response"]["info"], "the call that is pending"
    assert not any(opened.found["request"].values())
    assert not any("· call" in plain(opened.contents["ir"].head(n)) for n in range(len(opened.outline)))
