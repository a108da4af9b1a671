"""Any protocol's messages in normal form, with the places they came from."""

from __future__ import annotations

from typing import Any

from workbench import protocols
from workbench.convert.normal import normal_request, normal_response
from workbench.ir import Media, Message, ModelRequest, ModelResponse, Source, Text, ToolCallIR, ToolResultIR
from workbench.wire.jsontext import dumps

CHAT, BLOCKS = protocols.get("openai-chat"), protocols.get("anthropic-messages")


def normal(*messages: dict[str, Any], adapter: Any = CHAT, **body: Any) -> ModelRequest:
    request = adapter.decode_request(dumps({"model": "m", "messages": [*messages], **body}))
    return normal_request(request, adapter).request


def call(n: int) -> dict[str, Any]:
    return {"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def test_neighbours_of_an_answering_role_are_one_message_and_keep_their_places() -> None:
    request = normal(
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "tool_calls": [call(1)]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
        {"role": "tool", "tool_call_id": "c2", "content": "s"},
    )
    assert [message.role for message in request.messages] == ["user", "assistant", "tool"]
    answer, results = request.messages[1:]
    assert [answer.absolute(part) for part in answer.parts] == ["/messages/1/content", "/messages/2/tool_calls/0"]
    assert [results.absolute(part, "tool_call_id") for part in results.parts] == [
        "/messages/3/tool_call_id",
        "/messages/4/tool_call_id",
    ]
    inner = results.parts[1].content[0]  # type: ignore[union-attr]
    assert results.absolute(inner) == "/messages/4/content"


def test_leading_instructions_are_the_system_text() -> None:
    request = normal(
        {"role": "system", "content": "a"},
        {"role": "developer", "content": "b"},
        {"role": "user", "content": "q"},
        {"role": "system", "content": "c"},
    )
    assert request.system == (Text("a"), Text("b"))
    assert [part.source.pointer for part in request.system] == ["/messages/0/content", "/messages/1/content"]
    assert [message.role for message in request.messages] == ["user", "system"]


def test_what_a_user_says_beside_results_stands_behind_them() -> None:
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    back = {"type": "tool_result", "tool_use_id": "t", "content": "r"}
    request = normal(
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [back, {"type": "text", "text": "now"}]},
        adapter=BLOCKS,
    )
    assert [message.role for message in request.messages] == ["assistant", "tool", "user"]
    assert request.messages[2].absolute(request.messages[2].parts[0]) == "/messages/1/content/1"


def test_data_urls_are_data() -> None:
    request = normal(
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}
    )
    assert request.messages[0].parts == (Media("image", "image/png", "AAAA"),)


def test_a_document_of_text_is_data_too() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "words"}
    request = normal({"role": "user", "content": [{"type": "document", "source": source}]}, adapter=BLOCKS)
    assert request.messages[0].parts == (Media("document", "text/plain", "d29yZHM="),)


def test_parameters_go_by_their_common_names() -> None:
    params = normal({"role": "user", "content": "q"}, max_tokens=5, stop="x", reasoning={"effort": "low"}).params
    assert dict(params) == {"max_tokens": 5, "stop": ["x"], "effort": "low"}


def test_items_of_one_answer_are_one_message() -> None:
    def item(part: Any, n: int) -> Message:
        return Message("assistant", (part,), pointer=f"/output/{n}")

    parts = (Text("a", source=Source("/content/0")), ToolCallIR("c", "f", {}, "openai-custom", source=Source("")))
    response = ModelResponse("", messages=tuple(item(p, n) for n, p in enumerate(parts)), itemized=True)
    answer = normal_response(response).response
    assert len(answer.messages) == 1
    assert [answer.messages[0].absolute(p) for p in answer.messages[0].parts] == ["/output/0/content/0", "/output/1"]
    assert [p.format for p in answer.messages[0].parts if isinstance(p, ToolCallIR)] == ["custom"]


def test_empty_texts_are_gone() -> None:
    request = normal(
        {"role": "assistant", "content": "", "tool_calls": [call(1)]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    )
    assert len(request.messages[0].parts) == 1
    assert [part.content for part in request.messages[1].parts if isinstance(part, ToolResultIR)] == [()]
