"""WebSockets on one side of a translation, HTTP on the other."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.recorder.translation.bridging import CHAT_TOOL, SCHEMA, Bridged, Heard, bridged, simulated
from workbench.recorder.translation.path import over_http
from workbench.recorder.translation.requests import TranslationRules, TranslationUpstream
from workbench.send.target_names import resolve
from workbench.simulator import Dials, HttpFault, ScriptedModel, Simulator, serve

Json = dict[str, Any]
TOOL = {"type": "function", "name": "list_dir", "parameters": SCHEMA, "strict": False}
LIVE = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"


class Talk:
    """A client that speaks a WebSocket."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def ask(self, *until: str, **message: Any) -> Json:
        self.connection.send(json.dumps(message))
        return self.until(*until)

    def until(self, *until: str) -> Json:
        while True:
            value: Json = json.loads(self.connection.recv(timeout=30))
            if value.get("type") in until or any(key in value for key in until):
                return value


@contextmanager
def talk(made: Bridged, path: str) -> Iterator[Talk]:
    with connect(made.url.replace("http", "ws") + path, additional_headers={"Authorization": "Bearer x"}) as socket:
        yield Talk(socket)


ENDS = ("response.completed", "error")


def create(said: Talk, *items: Json, **more: Any) -> Json:
    return said.ask(*ENDS, type="response.create", model="gpt-5.4", tools=[TOOL], store=False, input=[*items], **more)


USER = {"role": "user", "content": "list src"}


@pytest.mark.parametrize("spoken", ["openai-chat", "openai-responses"])
def test_a_client_of_a_responses_websocket_is_served_over_http(spoken: str) -> None:
    with simulated("openai", spoken) as made:
        with talk(made, "/v1/responses") as said:
            warm = create(said, {"role": "developer", "content": "be brief"}, generate=False)["response"]
            assert warm["output"] == []
            first = create(said, USER, previous_response_id=warm["id"])["response"]
            (call,) = first["output"]
            assert (call["type"], call["name"]) == ("function_call", "list_dir")
            result = {"type": "function_call_output", "call_id": call["call_id"], "output": "a b"}
            second = create(said, result, previous_response_id=first["id"])["response"]
            assert "a b" in second["output"][0]["content"][0]["text"]
            lost = create(said, USER, previous_response_id="resp_9")
            assert lost["error"]["code"] == "previous_response_not_found"
        made.heard.all_ended(3)
        (connection,), turns = made.heard.at("client"), made.heard.at("upstream")
        assert [made.heard.heads[key].parent for key in turns] == [connection] * 2
        sent = json.loads(made.heard.asked[turns[1]])
        assert "previous_response_id" not in sent and "generate" not in sent
        assert "be brief" in str(sent) and "list src" in str(sent) and "a b" in str(sent)
        assert made.heard.heads[turns[1]].headers.get("authorization") == "Bearer x"


def test_a_refusal_of_the_upstream_is_an_error_event() -> None:
    simulator = Simulator("openai", model=ScriptedModel(Dials(http=HttpFault(429, 1))))
    with simulated("openai", "openai-chat", simulator=simulator) as made, talk(made, "/v1/responses") as said:
        error = create(said, USER)
        assert (error["type"], error["status"]) == ("error", 429) and "Rate limit" in error["error"]["message"]


def test_clients_of_realtime_and_live_are_served_over_http() -> None:
    with simulated("openai", "openai-chat") as made:
        with talk(made, "/v1/realtime?model=gpt-realtime") as said:
            said.ask("session.updated", type="session.update", session={"type": "realtime", "tools": [_bare(TOOL)]})
            content = [{"type": "input_text", "text": "list src"}]
            item = {"type": "message", "role": "user", "content": content}
            said.ask("conversation.item.done", type="conversation.item.create", item=item)
            (call,) = said.ask("response.done", type="response.create")["response"]["output"]
            result = {"type": "function_call_output", "call_id": call["call_id"], "output": "a b"}
            said.ask("conversation.item.done", type="conversation.item.create", item=result)
            assert "a b" in str(said.ask("response.done", type="response.create")["response"]["output"])
        with talk(made, LIVE) as said:
            declared = {"name": "list_dir", "parameters": {**SCHEMA, "type": "OBJECT"}}
            setup = {"model": "models/gemini-live", "tools": [{"functionDeclarations": [declared]}]}
            said.ask("setupComplete", setup=setup)
            turns = [{"role": "user", "parts": [{"text": "list src"}]}]
            found = said.ask("toolCall", clientContent={"turns": turns, "turnComplete": True})
            (call,) = found["toolCall"]["functionCalls"]
            result = {"id": call["id"], "name": "list_dir", "response": {"output": "a b"}}
            assert "a b" in str(said.ask("serverContent", toolResponse={"functionResponses": [result]}))


def _bare(tool: Json) -> Json:
    return {key: value for key, value in tool.items() if key != "strict"}


@contextmanager
def to_socket(label: str, spoken: str) -> Iterator[Bridged]:
    """A path to a simulator that is reached over WebSockets."""
    with serve(Simulator(label)) as server, bridged(f"sim:{label}", server.url, TranslationRules(spoken)) as made:
        made.path._server._upstreams = {"default": TranslationUpstream(resolve(f"sim:{label}"), server.url, True)}
        yield made


def post(made: Bridged, path: str, body: Json) -> bytes:
    request = urllib.request.Request(made.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return bytes(answer.read())


def chat(*said: Json, **more: Any) -> Json:
    return {"model": "m", "tools": [CHAT_TOOL], "messages": [USER, *said], **more}


@pytest.mark.parametrize(
    ("label", "spoken"),
    [("openai", "openai-responses"), ("openai-realtime", "openai-realtime"), ("gemini-live", "gemini-live")],
)
def test_a_client_over_http_is_served_over_a_websocket(label: str, spoken: str) -> None:
    with to_socket(label, spoken) as made:
        said = json.loads(post(made, "/v1/chat/completions", chat()))["choices"][0]["message"]
        (call,) = said["tool_calls"]
        result = {"role": "tool", "tool_call_id": call["id"], "content": "a b"}
        streamed = post(made, "/v1/chat/completions", chat(said, result, stream=True))
        assert b"a b" in streamed and streamed.endswith(b"data: [DONE]\n\n")
        made.heard.all_ended(4)
        (first, second), (one, other) = made.heard.at("client"), made.heard.at("upstream")
        assert [made.heard.heads[key].parent for key in (one, other)] == [first, second]
        assert made.heard.answers[one].status == 101
        assert "x-workbench-turn" not in dict(made.heard.heads[one].headers)


def test_what_passes_unchanged_is_whole_or_a_stream_as_it_was_asked() -> None:
    with to_socket("openai", "openai-responses") as made:
        body = {"model": "gpt-5.4", "input": "hello"}
        whole = json.loads(post(made, "/v1/responses", body))
        assert (whole["object"], whole["status"]) == ("response", "completed")
        assert b"event: response.completed\n" in post(made, "/v1/responses", {**body, "stream": True})
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(made, "/v1/responses", {**body, "previous_response_id": "resp_9"})
        with refused.value as answer:
            assert answer.code == 400 and b"previous_response_not_found" in answer.read()
        with talk(made, "/v1/responses") as said:  # the same on both sides: joined
            assert create(said, {"role": "user", "content": "hello"})["type"] == "response.completed"


def test_the_scheme_says_how_an_upstream_is_reached() -> None:
    assert over_http("wss://api.openai.com") == ("https://api.openai.com", True)
    assert over_http("ws://127.0.0.1:1") == ("http://127.0.0.1:1", True)
    assert over_http("sim:openai") == ("sim:openai", False)
    assert Heard().at("client") == []
