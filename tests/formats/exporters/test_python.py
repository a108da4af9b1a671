"""Python programs: their literals, and what they say; that they run is tested where the others are run."""

from __future__ import annotations

import ast
import json
from queue import Queue
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.sync.client import connect

from tests.formats.exporters.selecting import of
from workbench.errors import LocalProtocolError
from workbench.formats.exporters import python, python_sdk
from workbench.formats.exporters._request_to_send import Piece, SecretVariable
from workbench.formats.exporters.python import WIDTH, body, header, text
from workbench.simulator import Simulator, serve
from workbench.wire.exchange import Body, Exchange, ExchangeKind, Frame, Headers, HttpRequest, HttpResponse

CHAT = "https://api.openai.com/v1/chat/completions"
ASKED = b'{"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}'
KEY = ("authorization", "Bearer sk-0123456789abcdefghij")


def asked(url: str = CHAT, *headers: tuple[str, str], data: bytes = ASKED, status: int = 200) -> Exchange:
    return Exchange("1", HttpRequest("POST", url, Headers(headers), Body(data)), HttpResponse(status))


def value(expression: str) -> object:
    return eval(expression, {"os": type("os", (), {"environ": {"KEY": "k'\"\\"}})})


PIECES = st.lists(
    st.binary(max_size=200) | st.text(max_size=200).map(str.encode) | st.just(SecretVariable("KEY")), max_size=4
)


@given(PIECES)
def test_a_literal_is_the_bytes_whatever_they_are(pieces: list[Piece]) -> None:
    written = body("BODY", pieces)
    assert value(written.removeprefix("BODY = ")) == b"".join(
        b"k'\"\\" if isinstance(p, SecretVariable) else p for p in pieces
    )
    assert written.replace("\n", "").isprintable()


@given(st.text(st.characters(max_codepoint=255), max_size=40))
def test_a_header_is_the_bytes_it_was(held: str) -> None:
    name, sent = ast.literal_eval(header("x-a", (held.encode("latin-1"),)))
    assert (sent if isinstance(sent, bytes) else sent.encode()) == held.encode("latin-1") and name in ("x-a", b"x-a")
    assert value(text([b"a'", SecretVariable("KEY")])) == "a'k'\"\\"


def test_json_is_cut_where_people_would_cut_it() -> None:
    lines = body("BODY", [b'{"model": "m", "messages": [' + b'{"role": "user", "content": "hi"}, ' * 6 + b"{}]}"])
    assert all(line.strip().startswith(("b'", "BODY", ")")) and len(line) < WIDTH + 20 for line in lines.splitlines())
    assert 'b\'{"role": "user", "content": "hi"}, ' in lines
    assert body("BODY", [b'{\n "a": 1\n}']) == 'BODY = (\n    b"{\\n"\n    b\' "a": 1\\n\'\n    b"}"\n)'


def test_the_program() -> None:
    made = python.write(of(asked(CHAT, KEY, ("content-type", "application/json"))))
    assert made.data.decode() == (
        '"""Send the recorded requests again: the same bodies, byte for byte.\n\n'
        "Needs: pip install httpx\n"
        'Set in the environment: OPENAI_API_KEY\n"""\n\n'
        "import os\nimport sys\n\nimport httpx\n\n"
        'URL = "https://api.openai.com/v1/chat/completions"\n'
        "HEADERS = [\n"
        '    ("authorization", "Bearer " + os.environ["OPENAI_API_KEY"]),\n'
        '    ("content-type", "application/json"),\n'
        "]\n"
        'BODY = b\'{"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}\'\n\n'
        'response = httpx.request("POST", URL, headers=HEADERS, content=BODY, timeout=600)\n'
        "print(response.status_code, response.reason_phrase, file=sys.stderr)\n"
        "print(response.text)\n"
    )
    assert made.notes == ("exchange 1: httpx adds accept and user-agent",)


def test_several_requests_are_one_program() -> None:
    made = python.write(of(asked(), Exchange("2"), asked(data=b'{"stream": true}', status=400)))
    assert b"# Exchange 1\n" in made.data and b"# Exchange 3\n" in made.data and b"httpx.stream(" in made.data
    assert made.left_out == ("exchange 2: no request was recorded; only a request can be sent again",)
    with pytest.raises(LocalProtocolError, match="no request"):
        python.write(of(Exchange("1")))


@pytest.mark.parametrize(
    ("exchange", "expected"),
    [
        (asked(CHAT, KEY), 'client = openai.OpenAI(base_url="https://api.openai.com/v1", api_key=KEY'),
        (asked("https://host.example/v1/chat/completions", KEY), 'KEY = os.environ["API_KEY"]'),
        (asked("https://host.example/v1/chat/completions", KEY), 'in ["OPENAI_API_KEY", "OPENAI_ADMIN_KEY"'),
        (asked(CHAT), 'KEY = os.environ["OPENAI_API_KEY"]'),
        (asked(data=ASKED[:-1] + b', "stream": true}', status=400), "stream_cls=openai.Stream["),
        (asked(CHAT, ("x-a", "1"), ("user-agent", "it")), '        "headers": {\n            "x-a": "1",\n        }'),
    ],
)
def test_an_sdk_that_takes_raw_content(exchange: Exchange, expected: str) -> None:
    made = python_sdk.write(of(exchange)).data.decode()
    ast.parse(made)
    assert expected in made and "content=BODY" in made


@pytest.mark.parametrize(
    ("url", "data", "expected"),
    [
        ("https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse", b'{"contents": []}',
         "client.models.generate_content_stream("),
        ("http://127.0.0.1:11434/api/chat", b'{"model": "m", "messages": []}', "ollama.Client(transport=Recorded())"),
        ("https://api.cohere.com/v2/chat", b'{"model": "command-a-03-2025", "messages": []}', "cohere.ClientV2("),
    ],
)  # fmt: skip
def test_an_sdk_that_writes_every_body_itself(url: str, data: bytes, expected: str) -> None:
    made = python_sdk.write(of(asked(url, data=data, status=500))).data.decode()
    ast.parse(made)
    assert expected in made and "the recorded body replaces the body that the SDK writes" in made


@pytest.mark.parametrize(
    ("exchanges", "why"),
    [
        ([asked(), asked()], "one request"),
        ([asked(CHAT + "?api_key=0123456789abcdefghij")], "the URL contains a secret"),
        ([asked("https://host/x", data=b"no model")], "no SDK is known"),
        ([Exchange("1")], "no request"),
    ],
)
def test_what_no_sdk_sends_is_refused(exchanges: list[Exchange], why: str) -> None:
    with pytest.raises(LocalProtocolError, match=why):
        python_sdk.write(of(*exchanges))


USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "what is in src?"}]}
TOOL = {"type": "function", "name": "ls", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}


def _tool_loop(url: str) -> None:
    """Two turns of the Responses API over one WebSocket."""
    with connect(url) as socket:

        def answer(**members: Any) -> Any:
            asked = {"type": "response.create", "model": "gpt-5.4", "tools": [TOOL], "store": False, **members}
            socket.send(json.dumps(asked))
            while (event := json.loads(socket.recv(timeout=10)))["type"] != "response.completed":
                pass
            return event["response"]

        first = answer(input=[USER])
        result = {"type": "function_call_output", "call_id": first["output"][0]["call_id"], "output": "a b"}
        answer(input=[result], previous_response_id=first["id"])


def test_a_websocket_is_replayed_with_the_ids_of_the_new_run(capsys: pytest.CaptureFixture[str]) -> None:
    ended: Queue[Exchange] = Queue()
    with serve(Simulator("openai", ended=ended.put)) as server:
        _tool_loop(server.url.replace("http", "ws") + "/v1/responses")
        recorded = [ended.get(timeout=10) for _ in range(3)]
    written = python.write(of(*recorded))
    made = written.data.decode()
    assert "pip install websockets" in made and "httpx" not in made and written.left_out == ()
    assert made.count("MESSAGES.append") == 4
    with serve(Simulator("openai", ended=ended.put)) as server:
        _tool_loop(server.url.replace("http", "ws") + "/v1/responses")  # the next ids are others
        exec(
            made.replace(f'URL = "{_url(recorded[0])}"', f'URL = "{server.url.replace("http", "ws")}/v1/responses"'), {}
        )
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    done = [event for event in said if event["type"] == "response.completed"]
    assert [event["response"]["output"][0]["type"] for event in done] == ["function_call", "message"]


def _url(exchange: Exchange) -> str:
    assert exchange.request
    return exchange.request.url


def test_a_key_in_a_subprotocol_is_a_variable() -> None:
    offered = Headers((("Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key.sk-0123456789abcdefghij"),))
    frames = (Frame("sent", "text", b'{"type": "response.create"}'), Frame("received", "text", b'{"type": "error"}'))
    socket = Exchange(
        "1", HttpRequest("GET", "wss://api.openai.com/v1/realtime", offered), HttpResponse(101),
        kind=ExchangeKind.WEBSOCKET, frames=frames,
    )  # fmt: skip
    made = python.write(of(socket)).data.decode()
    assert 'PROTOCOLS = ["realtime", "openai-insecure-api-key." + os.environ["OPENAI_API_KEY"]]' in made
    assert 'URL = "wss://api.openai.com/v1/realtime"' in made and "sk-0" not in made
