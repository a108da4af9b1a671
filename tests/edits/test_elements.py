"""What can be edited in a request, in body order, whatever protocol it is written in."""

from __future__ import annotations

import json

import pytest

from tests.edits.bodies import conversation, decoded
from workbench import protocols
from workbench.edits.elements import LABEL, Element, ElementAction, ElementKind, elements_of, walk


def listed(body: bytes, protocol: str) -> list[str]:
    """One line an element: depth, kind, pointer, label."""

    def lines(found: tuple[Element, ...], depth: int) -> list[str]:
        made = []
        for one in found:
            made.append(f"{'  ' * depth}{one.kind} {one.pointer} {one.label}")
            made += lines(one.parts, depth + 1)
        return made

    return lines(elements_of(decoded(body, protocol)), 0)


def of(body: bytes, protocol: str) -> dict[str, Element]:
    return {one.pointer: one for one in walk(elements_of(decoded(body, protocol)))}


def test_a_chat_in_order() -> None:
    assert listed(conversation("openai-chat"), "openai-chat") == [
        "parameter /model model",
        "message /messages/0 system",
        "  text /messages/0/content be terse",
        "message /messages/1 user",
        "  text /messages/1/content look MARK at it",
        "message /messages/2 assistant",
        "  text /messages/2/content I will",
        "  call /messages/2/tool_calls/0 read",
        '    arguments /messages/2/tool_calls/0/function/arguments {"path":"1/é"}',
        "  call /messages/2/tool_calls/1 read",
        '    arguments /messages/2/tool_calls/1/function/arguments {"path":"2/é"}',
        "result /messages/3 call_1",
        "result /messages/4 call_2",
        "message /messages/5 user",
        "  text /messages/5/content go on",
        "tool /tools/0 read",
        "parameter /max_completion_tokens max_completion_tokens",
        "parameter /temperature temperature",
    ]


@pytest.mark.parametrize("protocol", protocols.protocols())
def test_every_protocol_has_all_of_it_and_every_pointer_is_there(protocol: str) -> None:
    asked = decoded(conversation(protocol), protocol)
    found = list(walk(elements_of(asked)))
    kinds = [one.kind for one in found]
    assert [
        kinds.count(k) for k in (ElementKind.CALL, ElementKind.ARGUMENTS, ElementKind.RESULT, ElementKind.TOOL)
    ] == [2, 2, 2, 1]
    assert kinds.count(ElementKind.TEXT) >= 3
    assert all(asked.request_index.span(one.pointer) for one in found)
    assert all(one.text_at is None or asked.request_index.span(one.text_at) for one in found)
    tops = [asked.request_index.span(one.pointer) for one in elements_of(asked)]
    assert tops == sorted(tops, key=lambda span: span or (0, 0))
    assert all(len(one.label) <= LABEL and "\n" not in one.label for one in found)


def test_nested_places_are_found_and_the_rest_of_them_stays_a_parameter() -> None:
    body = conversation("bedrock-converse").replace(b'"toolConfig":{', b'"toolConfig":{"toolChoice":{"auto":{}},')
    kinds = {pointer: one.kind for pointer, one in of(body, "bedrock-converse").items()}
    assert kinds["/toolConfig/tools/0"] is ElementKind.TOOL
    assert kinds["/toolConfig/toolChoice"] is ElementKind.PARAMETER
    assert kinds["/inferenceConfig/maxTokens"] is ElementKind.PARAMETER
    assert "/toolConfig" not in kinds


def test_a_wrapped_request_is_found_in_its_wrapper() -> None:
    inner = json.loads(conversation("gemini"))
    body = json.dumps({"model": "g", "project": "p", "request": inner}).encode()
    kinds = {pointer: one.kind for pointer, one in of(body, "gemini").items()}
    assert kinds["/request/systemInstruction"] is ElementKind.SYSTEM
    assert kinds["/request/contents/0"] is ElementKind.MESSAGE
    assert kinds["/request/generationConfig/temperature"] is ElementKind.PARAMETER
    assert kinds["/project"] is ElementKind.PARAMETER


def test_a_signature_on_a_call_is_an_element_of_its_own() -> None:
    part = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}
    found = of(json.dumps({"contents": [{"role": "model", "parts": [part]}]}).encode(), "gemini")
    assert found["/contents/0/parts/0"].kind is ElementKind.CALL
    assert found["/contents/0/parts/0/thoughtSignature"].kind is ElementKind.REASONING


def test_a_result_of_blocks_has_parts_and_a_text() -> None:
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "source": {"type": "url", "url": "u"}}]
    content = [{"type": "tool_result", "tool_use_id": "c", "content": blocks}]
    found = of(json.dumps({"messages": [{"role": "user", "content": content}]}).encode(), "anthropic-messages")
    result = found["/messages/0/content/0"]
    assert [part.kind for part in result.parts] == [ElementKind.TEXT, ElementKind.MEDIA]
    assert result.text_at == "/messages/0/content/0/content"


def test_what_can_be_done_depends_on_the_place() -> None:
    found = of(conversation("anthropic-messages"), "anthropic-messages")
    first, last = found["/messages/0"], found["/messages/2"]
    assert ElementAction.DOWN in first.actions and ElementAction.UP not in first.actions
    assert ElementAction.UP in last.actions and ElementAction.DOWN not in last.actions
    assert found["/model"].actions == {
        ElementAction.REMOVE,
        ElementAction.VALUE,
        ElementAction.TEXT,
        ElementAction.RENAME,
    }
    assert found["/system"].text_at == "/system"
    assert ElementAction.TEXT not in found["/messages/1/content/1/input"].actions


@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b"{}"])
def test_what_is_no_request_has_nothing_to_edit_by_structure(body: bytes) -> None:
    assert elements_of(decoded(body, "openai-chat")) == ()


def test_a_deep_parameter_is_no_trouble() -> None:
    deep = b'{"a":' * 400 + b"1" + b"}" * 400
    found = of(b'{"messages": [], "deep": %s}' % deep, "openai-chat")
    assert list(found) == ["/messages", "/deep", "/deep/a", "/deep/a/a"]
