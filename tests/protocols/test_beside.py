from __future__ import annotations

import json

import pytest

from workbench import protocols
from workbench.ir import ModelRequest
from workbench.protocols.common.undecoded_protocols import is_beside
from workbench.protocols.decode import DecodedExchange
from workbench.protocols.detection import BESIDE
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse

HELLO = {"messages": [{"role": "user", "content": "hello"}]}
CONTENTS = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}
TITAN = {"embedding": [0.1], "inputTextTokenCount": 3}

ASKED = [
    ("https://api.anthropic.com/v1/messages/count_tokens?beta=true", HELLO, {"input_tokens": 8}),
    ("https://api.openai.com/v1/responses/input_tokens", {"model": "m", "input": "hello"}, {"input_tokens": 8}),
    ("https://h/v1beta/models/gemini-2.5-flash:countTokens?key=k", CONTENTS, {"totalTokens": 8}),
    ("https://h/v1beta1/projects/p/publishers/google/models/m:computeTokens", CONTENTS, {"tokensInfo": []}),
    ("https://h/v1beta/models/gemini-embedding-2:batchEmbedContents", {"requests": []}, {"usageMetadata": {}}),
    ("https://h/v1beta/cachedContents", {**CONTENTS, "model": "models/m"}, {"name": "c", "usageMetadata": {}}),
    ("https://h/v1beta/cachedContents/c1?updateMask=ttl", {"ttl": "60s"}, {"name": "c", "usageMetadata": {}}),
    ("https://api.replicate.com/v1/predictions/p", {"input": {}}, {"id": "p", "status": "succeeded", "output": ["u"]}),
    ("https://api.openai.com/v1/assistants", {"model": "m"}, {"id": "asst_1", "object": "assistant"}),
    ("https://api.openai.com/v1/threads/t/messages", {"role": "user"}, {"id": "msg_1", "object": "thread.message"}),
    ("https://api.openai.com/v1/conversations/c/items", {"items": [HELLO["messages"][0]]}, {"object": "list"}),
    ("http://h:11434/api/embeddings", {"model": "m", "prompt": "hello", "options": {}}, {"embedding": [0.1]}),
    ("https://h/model/amazon.titan-embed-text-v2%3A0/invoke", {"inputText": "hello"}, TITAN),
    ("https://h/guardrail/1/version/1/apply", {"source": "OUTPUT"}, {"usage": {}, "outputs": [], "output": []}),
]


@pytest.mark.parametrize(("url", "request_body", "response_body"), ASKED)
def test_what_asks_no_model_is_no_model_exchange(url: str, request_body: object, response_body: object) -> None:
    decoded = DecodedExchange(0, exchange(url, request_body, response_body))
    assert (decoded.protocol, decoded.problems) == (None, [])
    assert decoded.protocol_from == BESIDE


@pytest.mark.parametrize("adapter", protocols.every(), ids=lambda adapter: adapter.name)
def test_no_question_to_a_model_lies_beside(adapter: protocols.Adapter) -> None:
    for stream in (False, True):
        request = ModelRequest(adapter.name, "embed-rerank", (), stream=stream)
        assert not is_beside("https://host" + adapter.path(request)) or adapter.name == "bedrock-invoke"


def exchange(url: str, request: object, response: object) -> Exchange:
    kind = Headers((("content-type", "application/json"),))
    asked = HttpRequest("POST", url, kind, Body(json.dumps(request).encode()))
    return Exchange("1", request=asked, response=HttpResponse(200, kind, Body(json.dumps(response).encode())))
