"""Official SDKs that read a stream from bytes, each as its users do: a mock transport hands the bytes on in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

PIECE = 64 * 1024


def pieces_of(body: bytes) -> Iterator[bytes]:
    """The body as a network hands it on."""
    return (body[at : at + PIECE] for at in range(0, len(body), PIECE))


def _mock(httpx: Any, body: bytes, kind: str = "text/event-stream") -> Any:
    def answer(_: object) -> Any:
        return httpx.Response(200, headers={"content-type": kind}, content=pieces_of(body))

    return httpx.MockTransport(answer)


def anthropic(body: bytes) -> None:
    """What ``messages.stream(…).get_final_message()`` builds."""
    import anthropic
    import httpx2

    client = anthropic.Anthropic(api_key="sk-test", http_client=httpx2.Client(transport=_mock(httpx2, body)))
    with client.messages.stream(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}]) as stream:
        assert len(stream.get_final_message().content) == 2


def openai_chat(body: bytes) -> None:
    """What ``chat.completions.stream(…).get_final_completion()`` builds."""
    import httpx2
    import openai

    client = openai.OpenAI(api_key="sk-test", http_client=httpx2.Client(transport=_mock(httpx2, body)))
    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "x"}]) as stream:
        assert stream.get_final_completion().choices[0].message.tool_calls


def openai_responses(body: bytes) -> None:
    """What ``responses.stream(…).get_final_response()`` builds."""
    import httpx2
    import openai

    client = openai.OpenAI(api_key="sk-test", http_client=httpx2.Client(transport=_mock(httpx2, body)))
    with client.responses.stream(model="m", input="x") as stream:
        assert len(stream.get_final_response().output) == 2


def genai(body: bytes) -> None:
    """What a chat holds after ``send_message_stream``."""
    import httpx
    from google import genai

    options = genai.types.HttpOptions(httpx_client=httpx.Client(transport=_mock(httpx, body)))
    chat = genai.Client(api_key="test", http_options=options).chats.create(model="gemini-3")
    text = "".join(chunk.text or "" for chunk in chat.send_message_stream("x") if not chunk.function_calls)
    assert text and len(chat.get_history()) > 1


def ollama(body: bytes) -> None:
    """The parts of ``chat(…, stream=True)`` joined."""
    import httpx
    import ollama

    client = ollama.Client(host="http://localhost:11434", transport=_mock(httpx, body, "application/x-ndjson"))
    text, calls = "", list[Any]()
    for part in client.chat(model="m", messages=[{"role": "user", "content": "x"}], stream=True):
        text += part.message.content or ""
        calls += part.message.tool_calls or ()
    assert text and len(calls) == 1


class _Raw:
    """What botocore asks of a connection."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, *_: object, **__: object) -> Iterator[bytes]:
        return pieces_of(self._body)


def _bedrock(body: bytes) -> Any:
    from botocore.awsrequest import AWSResponse
    from botocore.config import Config
    from botocore.session import Session

    client = Session().create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"max_attempts": 0}),
    )
    headers = {"content-type": "application/vnd.amazon.eventstream"}
    client.meta.events.register(
        "before-send.bedrock-runtime", lambda request, **_: AWSResponse(request.url, 200, headers, _Raw(body))
    )
    return client


def converse(body: bytes) -> None:
    """The events of ``converse_stream`` joined."""
    found: dict[int, list[str]] = {}
    client = _bedrock(body)
    for event in client.converse_stream(modelId="m", messages=[{"role": "user", "content": [{"text": "x"}]}])["stream"]:
        delta = event.get("contentBlockDelta")
        if delta:
            said = delta["delta"]
            piece = said["text"] if "text" in said else said["toolUse"]["input"]
            found.setdefault(delta["contentBlockIndex"], []).append(piece)
    assert json.loads("".join(found[1]))


def invoke(body: bytes) -> None:
    """The chunks of ``invoke_model_with_response_stream`` parsed and joined."""
    found: dict[int, list[str]] = {}
    for event in _bedrock(body).invoke_model_with_response_stream(modelId="m", body=b"{}")["body"]:
        value = json.loads(event["chunk"]["bytes"])
        if value["type"] == "content_block_delta":
            delta = value["delta"]
            found.setdefault(value["index"], []).append(delta.get("text") or delta.get("partial_json") or "")
    assert json.loads("".join(found[1]))
