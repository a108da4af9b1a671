"""WebSockets of simulators: the official SDKs and a plain client, what is refused, and in which words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Queue
from threading import Event
from typing import Any

import httpx
import openai
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.simulator.conftest import SCHEMA
from workbench import protocols
from workbench.protocols import DialogueContext
from workbench.rules.inspection import Inspector
from workbench.simulator import (
    Dials,
    HttpFault,
    Outlet,
    RequestMatch,
    ScriptedModel,
    ScriptTurn,
    ServedSocket,
    Server,
    Simulator,
    serve,
)
from workbench.wire.exchange import Exchange, Headers
from workbench.wire.session import MemorySession

Json = dict[str, Any]
TOOL = {"type": "function", "name": "list_dir", "description": "Lists a folder.", "parameters": SCHEMA}
USER: Json = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "what is in src?"}]}
SESSION: Json = {"type": "realtime", "tools": [TOOL], "output_modalities": ["text"]}
LIVE_PATH = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
SLOW = Dials(latency=0.3)
SDK = pytest.mark.filterwarnings("ignore:connect.. must be used:DeprecationWarning")


class Client:
    """A plain client: JSON out, JSON in."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def send(self, kind: str = "", **members: Any) -> None:
        self.connection.send(json.dumps({"type": kind, **members} if kind else members))

    def until(self, *kinds: str) -> Json:
        """The next message that has one of these types, or one of these keys."""
        while True:
            value: Json = json.loads(self.connection.recv(timeout=10))
            if value.get("type") in kinds or any(kind in value for kind in kinds):
                return value

    def ask(self, kind: str = "", *until: str, **members: Any) -> Json:
        self.send(kind, **members)
        return self.until(*until)


@contextmanager
def client(server: Server, path: str, **more: Any) -> Iterator[Client]:
    with connect(server.url.replace("http", "ws") + path, **more) as connection:
        yield Client(connection)


@pytest.fixture(scope="module")
def realtime(served: Callable[[Simulator], Server]) -> Server:
    return served(Simulator("openai-realtime"))


@pytest.fixture(scope="module")
def live(served: Callable[[Simulator], Server]) -> Server:
    return served(Simulator("gemini-live"))


@pytest.fixture(scope="module")
def responses(served: Callable[[Simulator], Server]) -> Server:
    return served(Simulator("openai"))


def sdk(server: Server) -> openai.OpenAI:
    address = f"{server.url}/v1"
    return openai.OpenAI(api_key="any", base_url=address, websocket_base_url=address.replace("http", "ws"))


def session(**members: Any) -> Json:
    return {"type": "session.update", "session": members}


def item(**members: Any) -> Json:
    return {"type": "conversation.item.create", "item": members}


OUTPUT = {"type": "function_call_output", "call_id": "call_9"}


# -- healthy


@SDK
@pytest.mark.parametrize("modality", ["text", "audio"])
def test_the_official_sdk_drives_a_tool_loop_over_realtime(realtime: Server, modality: str) -> None:
    with sdk(realtime) as made, made.realtime.connect(model="gpt-realtime") as connection:
        assert connection.recv().type == "session.created"
        connection.session.update(session={**SESSION, "output_modalities": [modality]})  # type: ignore[typeddict-item]
        connection.conversation.item.create(item=USER)  # type: ignore[arg-type]
        connection.response.create()
        done = next(event for event in connection if event.type == "response.done")
        (call,) = done.response.output or []
        assert (call.type, call.name, call.arguments) == ("function_call", "list_dir", '{"path":"."}')
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "a b"}
        connection.conversation.item.create(item=result)  # type: ignore[arg-type]
        connection.response.create()
        kinds = []
        for event in connection:
            kinds.append(event.type)
            if event.type == "response.done":
                break
        stem = "response.output_text" if modality == "text" else "response.output_audio_transcript"
        assert f"{stem}.delta" in kinds and f"{stem}.done" in kinds
        (said,) = event.response.output or []
        assert "a b" in (said.content[0].text or said.content[0].transcript)


@SDK
def test_the_official_sdk_drives_a_tool_loop_over_responses(responses: Server) -> None:
    with sdk(responses) as made, made.responses.connect() as connection:

        def answer(**members: Any) -> Any:
            connection.response.create(model="gpt-5.4", tools=[TOOL], store=False, **members)  # type: ignore[list-item]
            return next(event for event in connection if event.type in ("response.completed", "error"))

        warm = answer(input=[{"role": "developer", "content": "Be brief."}], generate=False)
        assert warm.response.output == []
        first = answer(input=[{"role": "user", "content": "list src"}], previous_response_id=warm.response.id)
        (call,) = first.response.output
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "a b"}
        second = answer(input=[result], previous_response_id=first.response.id)
        assert "a b" in second.response.output[0].content[0].text
        lost = answer(input=[{**result, "call_id": "call_9"}], previous_response_id=first.response.id)
        assert (lost.status, lost.error.message) == (
            400,
            "No tool call found for function call output with call_id call_9.",
        )
        again = answer(input=[result], previous_response_id=first.response.id)
        assert again.error.code == "previous_response_not_found"  # the failed request removed it from the memory


def live_setup(**more: Any) -> Json:
    declared = {"name": "list_dir", "description": "Lists.", "parameters": {**SCHEMA, "type": "OBJECT"}}
    own = {"model": "models/gemini-3.1-flash-live-preview", "tools": [{"functionDeclarations": [declared]}]}
    return {**own, **more}


def test_live_speaks_setup_calls_and_results(live: Server) -> None:
    asked = {"turns": [{"role": "user", "parts": [{"text": "list src"}]}], "turnComplete": True}
    with client(live, LIVE_PATH) as spoken:
        spoken.ask("", "setupComplete", setup=live_setup())
        (call,) = spoken.ask("", "toolCall", client_content=asked)["toolCall"]["functionCalls"]
        assert (call["name"], call["args"]) == ("list_dir", {"path": "."})
        result = {"id": call["id"], "name": "list_dir", "response": {"output": "a b"}}
        spoken.send(toolResponse={"functionResponses": [{**result, "id": "other"}]})  # ignored: the model still waits
        said = spoken.ask("", "serverContent", tool_response={"functionResponses": [result]})
        assert "a b" in said["serverContent"]["modelTurn"]["parts"][0]["text"]
        assert spoken.until("usageMetadata")["serverContent"] == {"turnComplete": True}
        (call,) = spoken.ask("", "toolCall", client_content=asked)["toolCall"]["functionCalls"]
        assert spoken.ask("", "toolCallCancellation", realtimeInput={"text": "stop"}) == {
            "toolCallCancellation": {"ids": [call["id"]]}
        }


def test_a_live_session_is_resumable_only_where_no_call_is_open(live: Server) -> None:
    asked = {"turns": [{"role": "user", "parts": [{"text": "list src"}]}], "turnComplete": True}
    with client(live, LIVE_PATH) as spoken:
        told = spoken.ask("", "sessionResumptionUpdate", setup=live_setup(sessionResumption={}))
        handles = [told["sessionResumptionUpdate"]["newHandle"]]
        (call,) = spoken.ask("", "toolCall", clientContent=asked)["toolCall"]["functionCalls"]
        assert spoken.until("sessionResumptionUpdate")["sessionResumptionUpdate"] == {"resumable": False}
        result = {"id": call["id"], "name": "list_dir", "response": {"output": "a b"}}
        told = spoken.ask("", "sessionResumptionUpdate", toolResponse={"functionResponses": [result]})
        handles.append(told["sessionResumptionUpdate"]["newHandle"])
        assert len(set(handles)) == 2


@pytest.mark.parametrize("contract", ["openai", "xai"])
def test_a_turn_has_the_contract_that_the_server_names_as_over_http(contract: str) -> None:
    ended: Queue[Exchange] = Queue()
    asked = {"model": "gpt-5.4", "input": [USER], "store": False}
    with serve(Simulator(contract, ended=ended.put)) as server:
        httpx.post(f"{server.url}/v1/responses", json=asked)
        with client(server, "/v1/responses") as spoken:
            assert spoken.connection.response and spoken.connection.response.headers["server"].endswith(contract)
            spoken.ask("response.create", "response.completed", **asked)
    kept = [ended.get(timeout=10) for _ in range(3)]
    plain, _, turn = Inspector(MemorySession("kept", tuple(kept))).run().rows
    assert plain.provider == turn.provider and str(turn.provider).startswith(contract)
    assert plain.provider_from == turn.provider_from


def test_what_is_kept_of_a_connection_is_healthy() -> None:
    ended: Queue[Exchange] = Queue()
    simulator = Simulator("openai-realtime", ended=ended.put)
    with serve(simulator) as server, client(server, "/v1/realtime?model=gpt-realtime") as spoken:
        spoken.ask("", "session.updated", **session(**SESSION))
        spoken.ask("", "conversation.item.done", **item(**USER))
        (call,) = spoken.ask("response.create", "response.done")["response"]["output"]
        spoken.ask("", "conversation.item.done", **item(**{**OUTPUT, "call_id": call["call_id"]}, output="a"))
        spoken.ask("response.create", "response.done")
    kept = [ended.get(timeout=10) for _ in range(3)]
    assert [len(exchange.frames) > 20 for exchange in kept] == [True, False, False]
    inspector = Inspector(MemorySession("kept", tuple(kept)), provider="openai-realtime").run()
    assert [finding.rule for finding in inspector.findings] == []


# -- strict


@pytest.mark.parametrize(
    ("event", "code", "param"),
    [
        (session(tools=[TOOL]), "missing_required_parameter", "session.type"),
        (session(**SESSION, modalities=["text"]), "unknown_parameter", "session.modalities"),
        (
            session(type="realtime", tools=[{"type": "function", "function": TOOL}]),
            "missing_required_parameter",
            "session.tools[0].name",
        ),
        ({"type": "response.creat"}, "invalid_value", "type"),
        ({"type": "response.cancel"}, "response_cancel_not_active", None),
        ({"type": "response.create", "response": {"modalities": ["text"]}}, "unknown_parameter", "response.modalities"),
        ({"type": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty", None),
        ({"type": "conversation.item.delete", "item_id": "item_9"}, "item_delete_invalid_item_id", "item_id"),
        ({**item(**USER), "previous_item_id": "x"}, "invalid_previous_item_id", "previous_item_id"),
        (item(**OUTPUT, output="a"), "invalid_tool_call_id", None),
        (item(**OUTPUT, output={}), "invalid_type", "item.output"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_realtime_refuses_with_an_error_event(realtime: Server, event: Json, code: str, param: str | None) -> None:
    with client(realtime, "/v1/realtime?model=gpt-realtime") as spoken:
        error = spoken.ask("", "error", event_id="mine", **event)["error"]
        assert (error["code"], error["param"], error["event_id"]) == (code, param, "mine")
        spoken.connection.send("{nothing")
        assert spoken.until("error")["error"]["code"] == "invalid_json"
        assert spoken.ask("session.update", "session.updated", session=SESSION)  # the session goes on


def test_one_response_at_a_time_that_can_be_cancelled(served: Callable[[Simulator], Server]) -> None:
    with client(
        served(Simulator("openai-realtime", model=ScriptedModel(SLOW))), "/v1/realtime?model=gpt-realtime"
    ) as spoken:
        begun = spoken.ask("response.create", "response.created")["response"]["id"]
        error = spoken.ask("response.create", "error")["error"]
        assert error["code"] == "conversation_already_has_active_response" and begun in error["message"]
        ended = spoken.ask("response.cancel", "response.done")["response"]
        assert (ended["id"], ended["status"], ended["status_details"]["reason"]) == (
            begun,
            "cancelled",
            "client_cancelled",
        )
        assert spoken.ask("response.create", "response.created")["response"]["id"] != begun


def test_lanes_answer_side_by_side_and_each_in_order(served: Callable[[Simulator], Server]) -> None:
    slow = ScriptTurn(RequestMatch(text="slow"), Dials(latency=0.1))
    with client(served(Simulator("openai", model=ScriptedModel(turns=[slow]))), "/v1/responses") as spoken:
        for lane, text in (("a", "slow"), ("a", "hi"), ("b", "hi")):
            spoken.send("response.create", stream_id=lane, model="gpt-5.4", input=text)
        seen = [spoken.until("response.created", "response.completed") for _ in range(6)]
    order = [(event["stream_id"], event["type"].rpartition(".")[2]) for event in seen]
    assert [kind for lane, kind in order if lane == "a"] == ["created", "completed"] * 2
    assert order.index(("b", "created")) < order.index(("a", "completed"))


def test_xai_refuses_without_the_type_of_an_event(served: Callable[[Simulator], Server]) -> None:
    """The captured refusal of opencode issue 48227, and an id that is not known."""
    with client(served(Simulator("xai")), "/v1/responses") as spoken:
        first = spoken.ask("response.create", "response.completed", model="grok-4", input="hi")["response"]["id"]
        spoken.send("response.create", model="grok-4", input="hi", instructions="Be brief.", previous_response_id=first)
        text = "Argument not supported: instructions and previous_response_id together"
        assert spoken.until("error") == {"error": {"message": text, "type": "api_error"}}
        spoken.send("response.create", model="grok-4", input="hi", previous_response_id="resp_9")
        assert spoken.until("error")["error"]["message"] == "Previous response with id 'resp_9' not found."


@pytest.mark.parametrize(
    ("first", "code"),
    [
        ({"stream_id": "no spaces"}, "invalid_stream_id"),
        ({"previous_response_id": "resp_9"}, "previous_response_not_found"),
        ({"type": "response.stop"}, "invalid_value"),
    ],
)
def test_responses_refuses_with_an_error_event(responses: Server, first: Json, code: str) -> None:
    with client(responses, "/v1/responses") as spoken:
        error = spoken.ask("", "error", **{"type": "response.create", "model": "gpt-5.4", "input": "hi", **first})
        assert (error["status"], error["error"]["code"]) == (400, code)


@pytest.mark.parametrize(
    ("messages", "code", "reason"),
    [
        ([{"clientContent": {"turns": []}}], 1007, "setup must be the first message and only the first"),
        ([{"setup": live_setup()}] * 2, 1007, "setup must be the first message and only the first"),
        ([{"setup": live_setup(), "x": 1}], 1007, 'Unknown name "x"'),
        (
            [{"setup": live_setup(tools=[{"functionDeclarations": [{"name": "1 a"}]}])}],
            1007,
            "BidiGenerateContentRequest.setup.tools[0].function_declarations[0].name: Invalid function name",
        ),
        (
            [{"setup": live_setup()}, {"toolResponse": {"functionResponses": [{"id": "1", "response": "a"}]}}],
            1007,
            "Invalid value at 'tool_response.function_responses[0].response'",
        ),
    ],
)
def test_live_refuses_by_closing(live: Server, messages: list[Json], code: int, reason: str) -> None:
    with client(live, LIVE_PATH) as spoken, pytest.raises(ConnectionClosed) as closed:
        for message in messages:
            spoken.send(**message)
        while True:
            spoken.until("nothing")
    assert closed.value.rcvd and closed.value.rcvd.code == code and reason in closed.value.rcvd.reason


def test_the_beta_is_refused_and_other_paths_are_not_spoken(realtime: Server) -> None:
    beta = {"OpenAI-Beta": "realtime=v1"}
    path = "/v1/realtime?model=gpt-realtime"
    with client(realtime, path, additional_headers=beta) as spoken, pytest.raises(ConnectionClosed) as closed:
        assert spoken.until("error")["error"]["code"] == "beta_api_shape_disabled"
        spoken.until("nothing")
    assert closed.value.rcvd and closed.value.rcvd.code == 4000
    with pytest.raises(InvalidStatus) as refused, client(realtime, "/v1/chat/completions"):
        pass
    assert refused.value.response.status_code == 426


def test_a_fault_of_the_script_is_an_event(served: Callable[[Simulator], Server]) -> None:
    server = served(Simulator("openai-realtime", model=ScriptedModel(Dials(http=HttpFault(429, 1)))))
    with client(server, "/v1/realtime?model=gpt-realtime") as spoken:
        assert "Rate limit" in spoken.ask("response.create", "error")["error"]["message"]
        assert spoken.ask("response.create", "response.done")["response"]["status"] == "completed"


class Held:
    """A simulator whose first response waits after its first event until it is let go."""

    def __init__(self) -> None:
        self.kept: list[Exchange] = []
        self.simulator = Simulator("openai", ended=self.kept.append)
        self.may_go_on, self.asked = Event(), list[Json]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.simulator, name)

    def respond(self, way: Any, headers: Any, body: bytes, connection: str, **more: Any) -> Any:
        self.asked.append(json.loads(body))
        reply = self.simulator.respond(way, headers, body, connection, **more)
        return reply if len(self.asked) > 1 else HeldReply(reply, self.may_go_on)


class HeldReply:
    """A response that waits after its first event."""

    def __init__(self, reply: Any, may_go_on: Event) -> None:
        self.reply, self.may_go_on = reply, may_go_on

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reply, name)

    @property
    def pieces(self) -> Iterator[tuple[float, bytes]]:
        for number, piece in enumerate(self.reply.pieces):
            if number:
                self.may_go_on.wait(10)
            yield piece


def test_a_running_response_is_steered_and_a_finished_one_is_not() -> None:
    held, said = Held(), Queue[Json]()
    outlet = Outlet(lambda _, data: said.put(json.loads(data)), lambda *_: None, lambda: None, lambda _: True)
    way = held.simulator.socket_route("/v1/responses")
    assert way
    connection = ServedSocket(held, way, "/v1/responses", Headers(()), outlet)

    def send(kind: str, **members: Any) -> None:
        connection.receive("text", json.dumps({"type": kind, **members}).encode())

    def until(kind: str) -> Json:
        while True:
            value = said.get(timeout=10)
            if value["type"] == kind:
                return value

    more = {**USER, "content": [{"type": "input_text", "text": "be brief"}]}
    send("response.create", model="gpt-5.4", input=[USER])
    first = until("response.created")["response"]["id"]
    send("response.steer", previous_response_id=first, input=[more])
    assert until("response.steer.accepted")["previous_response_id"] == first
    over = until("response.incomplete")["response"]
    assert (over["id"], over["incomplete_details"]) == (first, {"reason": "steered"})
    second = until("response.created")["response"]["id"]
    assert until("response.completed")["response"]["id"] == second != first
    held.may_go_on.set()
    assert held.asked[1]["input"] == [USER, more]
    send("response.steer", previous_response_id=second, input=[more])
    assert until("response.steer.failed")["error"]["code"] == "response_not_in_progress"
    connection.end(b"", is_clean=False)
    assert [x.response.status for x in held.kept if x.response] == [101, 200, 200]


def test_steering_waits_for_the_results_of_a_call() -> None:
    make = protocols.get("openai-responses").dialogue
    assert make
    dialogue = make(DialogueContext("", lambda _: "", lambda shape: shape, lambda _: False, lambda: 0.0))
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "list_dir", "arguments": "{}"}
    more = {**USER, "content": [{"type": "input_text", "text": "be brief"}]}
    dialogue.take({"type": "response.create", "model": "gpt-5.4", "input": [USER]})
    dialogue.say({"type": "response.created", "response": {"id": "resp_1"}}, "")
    dialogue.say({"type": "response.output_item.done", "item": call}, "")
    taken = dialogue.take({"type": "response.steer", "previous_response_id": "resp_1", "input": [more]})
    assert [m["type"] for m in taken.messages] == ["response.steer.accepted"] and not taken.stops
    _, pending = dialogue.say({"type": "response.completed", "response": {"id": "resp_1", "output": [call]}}, "")
    assert pending["required_input"] == [{"type": "function_call_output", "call_id": "call_1"}]
    result = {"type": "function_call_output", "call_id": "call_1", "output": "a"}
    asked = dialogue.take({"type": "response.create", "previous_response_id": "resp_1", "input": [result]})
    assert asked.request and asked.request["input"] == [more, result]
