"""What stands in the URL alone, the model and that a stream is asked for, is no edit of the body."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from workbench import protocols
from workbench.ir import Text
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, HttpRequest

VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic/models"
AZURE = "https://r.openai.azure.com/openai/deployments"
SAID = {"messages": [{"role": "user", "content": "Hello"}]}
CLAUDE = {"anthropic_version": "vertex-2023-10-16", "max_tokens": 9, **SAID}
URLS: dict[str, tuple[str, dict[str, object], str, str, bool]] = {
    "rawPredict": (f"{VERTEX}/claude-x@1:rawPredict", CLAUDE, "anthropic-messages", "claude-x@1", False),
    "streamRawPredict": (f"{VERTEX}/claude-x@1:streamRawPredict", CLAUDE, "anthropic-messages", "claude-x@1", True),
    "rawPredict that says its stream": (
        f"{VERTEX}/claude-x:rawPredict",
        CLAUDE | {"stream": True},
        "anthropic-messages",
        "claude-x",
        True,
    ),
    "an Azure deployment": (f"{AZURE}/d%201/chat/completions?api-version=1", SAID, "openai-chat", "d 1", False),
    "an Azure deployment and a model in the body": (
        f"{AZURE}/d/chat/completions?api-version=1",
        SAID | {"model": "m"},
        "openai-chat",
        "m",
        False,
    ),
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(("url", "said", "protocol", "model", "is_stream"), URLS.values(), ids=URLS)
def test_the_body_is_written_as_it_was(
    url: str, said: dict[str, object], protocol: str, model: str, is_stream: bool, indent: int | None
) -> None:
    body = json.dumps(said, indent=indent).encode()
    decoded = DecodedExchange(0, Exchange("1", HttpRequest("POST", url, body=Body(body))))
    asked = decoded.request
    assert asked is not None, decoded.problems
    assert (decoded.protocol, asked.model, asked.stream) == (protocol, model, is_stream)
    adapter = protocols.get(protocol)
    assert adapter.encode_request(asked, body) == body
    (message,) = asked.messages
    (part,) = message.parts
    assert isinstance(part, Text)
    edited = replace(asked, messages=(replace(message, parts=(replace(part, text="Jello"),)),))
    assert adapter.encode_request(edited, body) == body.replace(b"Hello", b"Jello")


def test_a_model_that_the_body_names_is_edited_there() -> None:
    url, said, protocol, _, _ = URLS["an Azure deployment and a model in the body"]
    body = json.dumps(said).encode()
    asked = DecodedExchange(0, Exchange("1", HttpRequest("POST", url, body=Body(body)))).request
    assert asked is not None
    written = protocols.get(protocol).encode_request(replace(asked, model="n"), body)
    assert json.loads(written) == said | {"model": "n"}
