"""Exchanges that lie in JSON, JSON Lines or YAML of any build."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input, records
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Exchange, Origin

QUESTION = {"role": "user", "content": "where is it?"}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":"here"}'}}
ASKED = {"model": "gpt-4o", "messages": [QUESTION]}
SAID = {"role": "assistant", "content": None, "tool_calls": [CALL]}
CHOICE = {"index": 0, "message": SAID, "finish_reason": "tool_calls"}
ANSWERED = {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o", "choices": [CHOICE]}
URL = "https://api.openai.com/v1/chat/completions"
CHUNKS = [
    {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    for delta, reason in (
        ({"role": "assistant", "tool_calls": [{"index": 0, **CALL}]}, None),
        ({}, "tool_calls"),
    )
]
SSE = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS) + "data: [DONE]\n\n"


def text(value: Any) -> str:
    return json.dumps(value)


def encoded(value: Any) -> str:
    return base64.b64encode(text(value).encode()).decode()


def httpmock(asked: str, answered: str) -> str:
    return f"""when:
  path: /v1/chat/completions
  method: POST
  query_param: []
  header:
  - name: content-type
    value: application/json
  body: '{asked}'
then:
  status: 200
  header:
  - name: content-type
    value: application/json
  body: '{answered}'
"""


PAIRS: dict[str, Any] = {
    "one pair": {
        "request": {"method": "POST", "url": URL, "headers": {}, "body": ASKED},
        "response": {"body": ANSWERED},
    },
    "payload": {
        "request": {"method": "POST", "url": URL, "payload": text(ASKED)},
        "response": {"status": 200, "headers": {}, "body": text(ANSWERED)},
    },
    "names of its own": {"outgoing": ASKED, "incoming": ANSWERED},
    "bodies under the usual names": {"input": ASKED, "output": ANSWERED},
    "bodies as text": {"request": text(ASKED), "response": text(ANSWERED)},
    "a list": [{"req": {"url": URL, "headers": [], "json": ASKED}, "res": {"statusCode": 200, "data": ANSWERED}}],
    "deep inside": {"run": {"steps": [{"kind": "model", "call": {"request": ASKED, "response": ANSWERED}}]}},
    "stream of chunk objects": {
        "request": {"method": "POST", "url": URL, "body": {**ASKED, "stream": True}},
        "response": {
            "body": [{"__type__": "a.b.Chunk", "__data__": chunk} for chunk in CHUNKS],
            "is_streaming": True,
        },
    },
    "stream of chunk texts": {
        "request": ASKED | {"stream": True},
        "response": {"chunks": [{"at": 0.1, "data": text(chunk)} for chunk in CHUNKS]},
    },
    "list of chunks beside": {"prompt_sent": ASKED | {"stream": True}, "what_came": CHUNKS},
    "events as text": {"request": ASKED | {"stream": True}, "response": SSE},
    "sides in the names": {
        "Entries": [
            {
                "RequestUri": URL,
                "RequestMethod": "POST",
                "RequestHeaders": {"Accept": "application/json"},
                "RequestBody": ASKED,
                "StatusCode": 200,
                "ResponseHeaders": {"Content-Type": "application/json"},
                "ResponseBody": ANSWERED,
            }
        ],
        "Variables": {},
    },
    "snake case": {"request_path": "/v1/chat/completions", "request_body": ASKED, "response_body": ANSWERED},
    "WireMock": {
        "mappings": [
            {
                "request": {
                    "url": "/v1/chat/completions",
                    "method": "POST",
                    "headers": {"Content-Type": {"equalTo": "application/json"}},
                    "bodyPatterns": [{"equalToJson": text(ASKED), "ignoreArrayOrder": True}],
                },
                "response": {"status": 200, "jsonBody": ANSWERED},
            }
        ]
    },
    "WireMock base64": {
        "request": {"urlPath": "/v1/chat/completions", "method": "POST", "bodyPatterns": [{"equalToJson": ASKED}]},
        "response": {"status": 200, "base64Body": encoded(ANSWERED)},
    },
    "Hoverfly": {
        "data": {
            "pairs": [
                {
                    "request": {
                        "path": [{"matcher": "exact", "value": "/v1/chat/completions"}],
                        "method": [{"matcher": "exact", "value": "POST"}],
                        "destination": [{"matcher": "exact", "value": "api.openai.com"}],
                        "scheme": [{"matcher": "exact", "value": "https"}],
                        "body": [{"matcher": "json", "value": text(ASKED)}],
                    },
                    "response": {"status": 200, "body": encoded(ANSWERED), "encodedBody": True, "headers": {}},
                }
            ]
        },
        "meta": {"schemaVersion": "v5"},
    },
    "MockServer": [
        {
            "httpRequest": {
                "method": "POST",
                "path": "/v1/chat/completions",
                "headers": [{"name": "Host", "values": ["api.openai.com"]}],
                "body": {"type": "JSON", "json": ASKED},
            },
            "httpResponse": {"statusCode": 200, "body": {"type": "STRING", "string": text(ANSWERED)}},
        }
    ],
    "nock": [
        {
            "scope": "https://api.openai.com:443",
            "method": "POST",
            "path": "/v1/chat/completions",
            "body": ASKED,
            "status": 200,
            "response": ANSWERED,
            "rawHeaders": ["Content-Type", "application/json"],
        }
    ],
    "Postman": {
        "item": [
            {
                "name": "chat",
                "request": {
                    "method": "POST",
                    "header": [{"key": "Content-Type", "value": "application/json"}],
                    "body": {"mode": "raw", "raw": text(ASKED)},
                    "url": {"raw": URL},
                },
                "response": [{"name": "ok", "status": "OK", "code": 200, "header": [], "body": text(ANSWERED)}],
            }
        ]
    },
    "Node's bytes": {
        "request": {"method": "POST", "url": URL, "body": {"type": "Buffer", "data": list(text(ASKED).encode())}},
        "response": {"statusCode": 200, "body": list(text(ANSWERED).encode())},
    },
    "gateway": {
        "request": {"url": URL, "headers": {}, "body": encoded(ASKED), "isBase64Encoded": True, "method": "POST"},
        "response": {"statusCode": 200, "body": encoded(ANSWERED), "encoding": "base64"},
    },
    "batch, both in one": {"recordId": "1", "modelInput": ASKED, "modelOutput": ANSWERED},
    "LiteLLM, standard payload": {
        "id": "1",
        "call_type": "completion",
        "status": "success",
        "model": "gpt-4o",
        "messages": [QUESTION],
        "model_parameters": {"temperature": 0.5},
        "response": ANSWERED,
        "startTime": 1700000000.5,
    },
    "LiteLLM, callback": {
        "model": "gpt-4o",
        "messages": [QUESTION],
        "additional_args": {
            "complete_input_dict": ASKED,
            "api_base": "https://api.openai.com/v1/",
            "headers": {"Content-Type": "application/json"},
        },
        "original_response": text(ANSWERED),
    },
    "LiteLLM, spend log": {
        "request_id": "1",
        "spend": 0.1,
        "messages": "{}",
        "proxy_server_request": text(ASKED),
        "response": text(ANSWERED),
    },
    "LangSmith, wrapped client": {
        "run_type": "chain",
        "inputs": {"question": "q"},
        "outputs": {"answer": "a"},
        "child_runs": [{"id": "1", "run_type": "llm", "inputs": ASKED, "outputs": ANSWERED}],
    },
    "LangSmith, LangChain": {
        "id": "1",
        "run_type": "llm",
        "inputs": {
            "messages": [
                [
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "HumanMessage"],
                        "kwargs": {"content": "where is it?", "type": "human"},
                    }
                ]
            ]
        },
        "outputs": {
            "generations": [
                [
                    {
                        "text": "",
                        "generation_info": {"finish_reason": "tool_calls"},
                        "message": {
                            "lc": 1,
                            "type": "constructor",
                            "id": ["langchain", "schema", "messages", "AIMessage"],
                            "kwargs": {
                                "content": "",
                                "tool_calls": [{"name": "look", "args": {"at": "here"}, "id": "call_1"}],
                            },
                        },
                    }
                ]
            ],
            "llm_output": {"model_name": "gpt-4o"},
        },
    },
    "observation": {"type": "GENERATION", "model": "gpt-4o", "input": [QUESTION], "output": SAID},
    "span": {
        "span_attributes": {"type": "llm"},
        "metadata": {"model": "gpt-4o"},
        "input": [QUESTION],
        "output": [CHOICE],
    },
}


def is_whole(exchange: Exchange) -> bool:
    """The call was understood on its way in, and so was the question."""
    read = DecodedExchange(0, exchange)
    assert read.request, read.problems
    assert read.response, read.problems
    assert not read.problems
    calls = [part for message in read.response.messages for _, part in message.tool_calls()]
    assert [(call.name, call.input) for call in calls] == [("look", {"at": "here"})]
    return "where is it?" in str(read.request.messages)


@pytest.mark.parametrize("value", PAIRS.values(), ids=PAIRS)
def test_a_pair_is_found_whatever_it_is_called(value: Any, tmp_path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text(value))
    session = open_input(str(path))
    assert (len(session), session.damage) == (1, ())
    assert is_whole(session.exchange(0))


@pytest.mark.parametrize("value", PAIRS.values(), ids=PAIRS)
def test_a_pair_is_found_in_lines(value: Any, tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    lines = value if isinstance(value, list) else [value]
    path.write_text("".join(text(line) + "\n" for line in lines * 2))
    session = open_input(str(path))
    assert session.damage == ()
    assert is_whole(session.exchange(0))


@pytest.mark.parametrize(
    "name", ["one pair", "payload", "WireMock", "Hoverfly", "MockServer", "stream of chunk objects"]
)
def test_a_pair_is_found_in_yaml(name: str, tmp_path) -> None:
    import yaml

    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump(PAIRS[name]))
    session = open_input(str(path))
    assert (len(session), session.damage) == (1, ())
    assert is_whole(session.exchange(0))


def test_documents_of_one_file_are_exchanges_in_order(tmp_path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("---\n".join(httpmock(text(ASKED), text(ANSWERED)) for _ in range(3)))
    session = open_input(str(path))
    assert (len(session), session.damage) == (3, ())
    exchange = session.exchange(2)
    assert is_whole(exchange)
    assert exchange.request
    assert exchange.request.body.raw == text(ASKED).encode()
    assert exchange.request.body.is_raw
    assert exchange.request.headers.get("content-type") == "application/json"


def test_where_it_was_sent_is_kept() -> None:
    [hoverfly, nock, callback] = (
        records.read(text(PAIRS[name]).encode(), name).exchange(0).request
        for name in ("Hoverfly", "nock", "LiteLLM, callback")
    )
    assert hoverfly and hoverfly.url == URL
    assert nock and nock.url == "https://api.openai.com:443/v1/chat/completions"
    assert callback and callback.url.startswith("https://api.openai.com/v1")


REFUSED = {
    "message": "Error code: 400 - {'error': {'message': 'no such field'}}",
    "status_code": 400,
    "body": {"message": "no such field", "type": "invalid_request_error"},
}


@pytest.mark.parametrize(
    ("response", "status"),
    [
        ({"body": None, "is_exception": True, "exception_data": REFUSED}, 400),
        ({"body": None, "is_exception": True, "exception_message": REFUSED["message"]}, 400),
        ({"body": None, "is_exception": True, "exception_data": {"message": "no such field"}}, None),
    ],
)
def test_what_the_client_raised_is_the_answer(response: dict[str, Any], status: int | None) -> None:
    value = {"request": {"method": "POST", "url": URL, "body": ASKED}, "response": response}
    exchange = records.read(text(value).encode(), "x").exchange(0)
    read = DecodedExchange(0, exchange)
    assert read.response and read.response.error
    assert "no such field" in read.response.error.message
    assert exchange.response and (exchange.response.status or None) == status


BATCHES = {
    "OpenAI": (
        {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": ASKED},
        {
            "id": "b",
            "custom_id": "1",
            "response": {"status_code": 200, "request_id": "r", "body": ANSWERED},
            "error": None,
        },
    ),
    "key": (
        {"key": "1", "request": {"contents": [{"role": "user", "parts": [{"text": "where is it?"}]}]}},
        {
            "key": "1",
            "response": {
                "candidates": [
                    {
                        "content": {
                            "role": "model",
                            "parts": [{"functionCall": {"name": "look", "args": {"at": "here"}}}],
                        }
                    }
                ]
            },
        },
    ),
    "params": (
        {"custom_id": "1", "params": {"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [QUESTION]}},
        {
            "custom_id": "1",
            "result": {
                "type": "succeeded",
                "message": {
                    "type": "message",
                    "role": "assistant",
                    "model": "claude-haiku-4-5",
                    "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "here"}}],
                    "stop_reason": "tool_use",
                    "usage": {"input_tokens": 1, "output_tokens": 1},
                },
            },
        },
    ),
}


@pytest.mark.parametrize(("asked", "answered"), BATCHES.values(), ids=BATCHES)
@pytest.mark.parametrize("order", [1, -1])
def test_lines_of_a_batch_are_paired_by_their_id(asked: Any, answered: Any, order: int, tmp_path) -> None:
    path = tmp_path / "batch.jsonl"
    path.write_text("".join(text(line) + "\n" for line in (asked, answered)[::order]))
    session = open_input(str(path))
    assert (len(session), session.damage) == (1, ())
    assert is_whole(session.exchange(0))


@pytest.mark.parametrize(("asked", "answered"), BATCHES.values(), ids=BATCHES)
def test_lines_of_a_batch_are_read_by_themselves(asked: Any, answered: Any, tmp_path) -> None:
    path = tmp_path / "batch.jsonl"
    for line, side in ((asked, "request"), (answered, "response")):
        path.write_text(
            "".join(
                text({**line, key: n}) + "\n"
                for n in (1, 2)
                for key in line
                if key.endswith(("d", "y")) and key != "body"
            )
        )
        session = open_input(str(path))
        assert session.damage == ()
        assert len(session) >= 2
        assert getattr(DecodedExchange(0, session.exchange(0)), side)


MESSAGES = {
    "openai-chat": [QUESTION, SAID, {"role": "tool", "tool_call_id": "call_1", "content": "there"}],
    "anthropic-messages": [
        QUESTION,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "there"}]},
    ],
    "gemini": [{"role": "user", "parts": [{"text": "where is it?"}]}],
    "openai-responses": [
        {"type": "message", "role": "user", "content": "where is it?"},
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "there"},
    ],
    "bedrock-converse": [
        {"role": "user", "content": [{"text": "where is it?"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "look", "input": {}}}]},
    ],
}


@pytest.mark.parametrize(("protocol", "messages"), MESSAGES.items(), ids=MESSAGES)
def test_a_list_of_messages_is_the_request_of_its_protocol(protocol: str, messages: list[Any]) -> None:
    exchange = records.read(text(messages).encode(), "x").exchange(0)
    assert (exchange.origin, exchange.response) == (Origin.RECONSTRUCTED, None)
    read = DecodedExchange(0, exchange)
    assert (read.protocol, bool(read.request), read.problems) == (protocol, True, [])


@pytest.mark.parametrize(
    "value",
    [CHUNKS, [{"chunk": chunk} for chunk in CHUNKS], SSE.split("\n\n")[:-2], SSE.splitlines(), SSE.splitlines(True)],
)
def test_a_list_of_chunks_is_the_stream_they_came_in(value: list[Any]) -> None:
    exchange = records.read(text(value).encode(), "x").exchange(0)
    read = DecodedExchange(0, exchange)
    assert read.response and [call.name for m in read.response.messages for _, call in m.tool_calls()] == ["look"]
    assert exchange.request is None


@pytest.mark.parametrize(
    "value",
    [
        {"object": "interaction", "id": "i", "status": "completed", "outputs": [{"type": "text", "text": "x"}]},
        {"model": "gemini-2.5-flash", "input": "where is it?"},
        {"model": "models/gemini-2.5-flash", "input": [{"type": "text", "text": "where is it?"}]},
    ],
)
def test_a_body_of_the_interactions_api_is_known_by_itself(value: dict[str, Any], tmp_path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text(value))
    assert DecodedExchange(0, open_input(str(path)).exchange(0)).protocol == "gemini-interactions"


@pytest.mark.parametrize(
    "value",
    [
        {"code": 0, "data": ANSWERED, "msg": "ok"},
        {"success": True, "result": ANSWERED},
    ],
)
def test_an_answer_in_an_envelope_keeps_it(value: dict[str, Any], tmp_path) -> None:
    path = tmp_path / "a.json"
    path.write_text(text(value))
    read = DecodedExchange(0, open_input(str(path)).exchange(0))
    assert read.response
    assert [anomaly.slug for anomaly in read.response.anomalies] == ["answer.reshaped"]


def test_what_a_logger_calls_an_error_is_the_answer() -> None:
    told = {"error_code": "400", "error_class": "BadRequestError", "error_message": "no such parameter"}
    value = {"status": "failure", "model": "gpt-4o", "messages": [QUESTION], "response": {}, "error_information": told}
    exchange = records.read(text(value).encode(), "x").exchange(0)
    read = DecodedExchange(0, exchange)
    assert exchange.response and exchange.response.status == 400
    assert read.response and read.response.error and read.response.error.message == "no such parameter"


TALKS = {
    "Vercel AI SDK": [
        {"role": "user", "content": [{"type": "text", "text": "where is it?"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "reasoning", "text": "hm"},
                {"type": "tool-call", "toolCallId": "call_1", "toolName": "look", "input": {"at": "here"}},
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "call_1",
                    "toolName": "look",
                    "output": {"type": "text", "value": "there"},
                }
            ],
        },
    ],
    "LangChain": [
        {"type": "human", "content": "where is it?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "look", "args": {"at": "here"}, "id": "call_1"}]},
        {"type": "tool", "content": "there", "tool_call_id": "call_1"},
    ],
}


@pytest.mark.parametrize("messages", TALKS.values(), ids=TALKS)
def test_messages_of_libraries_are_said_as_chat_completions(messages: list[Any]) -> None:
    read = DecodedExchange(0, records.read(text(messages).encode(), "x").exchange(0))
    assert read.request
    calls = [(c.id, c.name, c.input) for m in read.request.messages for _, c in m.tool_calls()]
    results = [r.tool_call_id for m in read.request.messages for _, r in m.tool_results()]
    assert (calls, results) == ([("call_1", "look", {"at": "here"})], ["call_1"])


@pytest.mark.parametrize(
    "value", [{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}, {"form": {}, "url": {}}]
)
def test_what_uses_the_same_words_is_no_exchange(value: dict[str, Any]) -> None:
    with pytest.raises(UnreadableInput):
        records.read(text({"log": [{"at": 1, "entry": value}]}).encode(), "x")


LEFT_OUT = [
    ([PAIRS["one pair"], {"note": "nothing"}], "/1: neither a request nor a response"),
    ([PAIRS["one pair"], "nothing"], "/1: neither a request nor a response"),
    ([PAIRS["one pair"], {"request": ASKED, "response": {"unknown": "thing"}}], "/1: the response cannot be read"),
    ([PAIRS["one pair"], {"request": 5, "response": ANSWERED}], "/1: the request cannot be read"),
    (
        {
            "request": {"method": "POST", "url": URL, "body": ASKED},
            "response": {"status": 200, "bodyFileName": "a.json"},
        },
        "/: the response body is in another file, 'a.json': open that file",
    ),
]


@pytest.mark.parametrize(("value", "line"), LEFT_OUT)
def test_what_is_left_out_is_said(value: Any, line: str) -> None:
    damage = records.read(text(value).encode(), "x").damage
    assert len(damage) == 1
    assert damage[0].startswith(line)


@pytest.mark.parametrize("value", [{}, [], {"name": "x"}, [[[]]], {"a": {"b": [1, "x", None]}}, [{"role": 5}]])
def test_what_holds_no_exchange_is_refused(value: Any) -> None:
    with pytest.raises(UnreadableInput, match="no request or response"):
        records.read(text(value).encode(), "x")


@pytest.mark.parametrize("count", [1, 2])
def test_pieces_of_a_stream_are_a_stream_also_where_it_is_one(count: int) -> None:
    parts = [{"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}]
    answer = {"statusCode": 200, "headers": {"content-type": "text/event-stream"}}
    pair = {
        "request": {"method": "POST", "url": "/v1beta/models/m:streamGenerateContent", "bodySegments": [{}]},
        "response": {**answer, "bodySegments": [{"candidates": parts}] * count},
    }
    read = DecodedExchange(0, records.read(text(pair).encode(), "x").exchange(0))
    assert read.response and read.response.is_stream
    assert len(read.events) == count
