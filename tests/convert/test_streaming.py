"""Streams as those of another protocol while they come."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.convert import laws
from tests.record_anthropic import Upstream
from workbench import protocols, testing
from workbench.convert import restore_ids
from workbench.convert.compare import response_differences
from workbench.convert.convert import convert_response, read_body
from workbench.convert.fit import fit_response
from workbench.convert.normal import NormalResponse, normal_response
from workbench.convert.streaming import RESTARTED, StreamConversion
from workbench.ir import ApiError, Carrier, Message, ModelResponse, Part, Reasoning, Text, ToolCallIR, Usage
from workbench.protocols import Adapter
from workbench.protocols.common.codec import write_stream
from workbench.wire.sse import read_events
from workbench.wire.stream import read_stream

CHAT, BLOCKS, ITEMS, GEMINI = "openai-chat", "anthropic-messages", "openai-responses", "gemini"
SIGNED = [c for c in Carrier if c.value in ("thinking", "reasoning_block")]
PAIRS = [(a, b) for a in laws.names() for b in laws.names() if a != b]


def answer(*parts: Part, **more: Any) -> ModelResponse:
    called = any(isinstance(part, ToolCallIR) for part in parts)
    own: dict[str, Any] = {"id": "a1", "model": "m", "stop": "tool_calls" if called else "stop", "usage": Usage(7, 9)}
    return ModelResponse("", messages=(Message("assistant", parts),), is_stream=True, **own | more)


def call(n: int, arguments: str, name: str = "f") -> ToolCallIR:
    return ToolCallIR(f"call_{n}", name, json.loads(arguments), "function", arguments)


RICH = answer(
    Reasoning(Carrier.REASONING_CONTENT, "Two calls,\n\nI think. é😀"),
    Text("I look — both."),
    call(1, '{"path": "é/\\u00e9", "n": [1, 2.5]}'),
    call(2, "{}", "g"),
)


def cutter(rng: random.Random) -> Callable[[str], Iterable[str]]:
    def cut(text: str) -> Iterator[str]:
        while text:
            size = rng.choice((1, 2, 3, 9, 30))
            yield text[:size]
            text = text[size:]

    return cut


def stream(response: ModelResponse, protocol: str, seed: int = 1) -> bytes:
    """The stream of an answer, its strings in small pieces, its reasoning in the protocol's carrier."""
    adapter = protocols.get(protocol)
    own = {Carrier(c) for c in adapter.capabilities.reasoning.carriers}
    carrier = next((c for c in (*SIGNED, Carrier.ENCRYPTED_ITEM) if c in own), None)
    carrier = carrier or Carrier(adapter.capabilities.reasoning.plain or Carrier.REASONING_CONTENT)
    proof = {"signature": "c2ln"} if carrier in SIGNED else {}
    messages = tuple(
        replace(m, parts=tuple(replace(p, carrier=carrier, **proof) if _is_thought(p) else p for p in m.parts))  # type: ignore[arg-type]
        for m in response.messages
    )
    fitted = fit_response(NormalResponse(replace(response, messages=messages)), adapter.capabilities).normal
    return write_stream(adapter.stream_writer(), replace(fitted, protocol=protocol), cutter(random.Random(seed)))


def _is_thought(part: Part) -> bool:
    return isinstance(part, Reasoning) and part.carrier is Carrier.REASONING_CONTENT


def passed(body: bytes, source: str, target: str, sizes: Sequence[int] = (1 << 30,), **hooks: Any) -> tuple[bytes, Any]:
    """What comes out of a stream that goes in by pieces of these sizes, over and over."""
    made, written, at, n = StreamConversion(source, target, **hooks), b"", 0, 0
    while at < len(body):
        size = sizes[n % len(sizes)]
        written += made.feed(body[at : at + size])
        at, n = at + size, n + 1
    return written + made.end(), made


def read(body: bytes, protocol: str) -> ModelResponse:
    said = read_body(protocols.get(protocol), body, "response")
    assert isinstance(said, ModelResponse)
    return normal_response(said).response


def agree(body: bytes, source: str, target: str, sizes: Sequence[int]) -> None:
    """The law: in whatever pieces it comes, the stream says what the conversion of the whole answer says."""
    adapter = protocols.get(target)
    decoded = read_body(protocols.get(source), body, "response")
    assert isinstance(decoded, ModelResponse)
    whole = convert_response(decoded, adapter)
    written, made = passed(body, source, target, sizes)
    assert written == passed(body, source, target)[0], "the same for any pieces"
    assert made.response == decoded
    wanted, said = read(whole.body, target), read(written, target) if written else None
    if said is None or not wanted.is_complete:
        assert not (said and said.is_complete)
        return
    if {loss.instead for loss in made.losses} & {"that in which they came", "passed on as they came"}:
        return
    assert set(whole.losses) == set(made.losses)
    wanted, said = _ranked(restore_ids(wanted, whole.ids), adapter), _ranked(restore_ids(said, made.ids), adapter)
    assert not response_differences(wanted, said), f"{source} -> {target}"


def _ranked(response: Any, adapter: Adapter) -> ModelResponse:
    """Where a target tells kinds of parts apart by their keys alone, they stand in the order in which they came."""
    assert isinstance(response, ModelResponse)
    if adapter.capabilities.answer.interleaved:
        return response
    kinds: list[type] = [Reasoning, Text, ToolCallIR]
    messages = [replace(m, parts=tuple(sorted(m.parts, key=lambda p: kinds.index(type(p))))) for m in response.messages]
    return replace(response, messages=tuple(messages))


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_stream_says_what_the_whole_answer_says(source: str, target: str) -> None:
    agree(stream(RICH, source), source, target, (1, 40, 7, 300))


@pytest.mark.parametrize("source", laws.names())
def test_generated_streams_say_what_their_answers_say(source: str) -> None:
    others = [name for name in laws.names() if name != source]
    adapter = protocols.get(source)

    @settings(max_examples=3, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(testing.answers(stream=True), st.sampled_from(others), st.integers(0, 99), st.floats(0.2, 2))
    def holds(made: ModelResponse, target: str, seed: int, end: float) -> None:
        meant = replace(fit_response(NormalResponse(made), adapter.capabilities).normal, protocol=source)
        body = write_stream(adapter.stream_writer(), meant, cutter(random.Random(seed)))
        body = body[: int(len(body) * end)]
        if read_stream(body).framing:
            agree(body, source, target, (seed % 7 + 1, 90))

    holds()


AT_ONCE = [CHAT, BLOCKS, ITEMS, "cohere-v2", "bedrock-converse"]


@pytest.mark.parametrize(("source", "target"), [(a, b) for a in AT_ONCE for b in AT_ONCE if a != b])
def test_every_piece_leaves_at_once(source: str, target: str) -> None:
    """No delta of the source waits for the next one, and a call has its name before its arguments."""
    body = stream(answer(Text("x" * 200), call(1, json.dumps({"text": "y" * 200}))), source, 4)
    ends = [event.start for event in read_stream(body).events[1:]]
    pieces = [body[a:b] for a, b in zip([0, *ends], [*ends, len(body)], strict=True)]
    made = StreamConversion(source, target)
    written = [made.feed(piece) for piece in pieces]
    grown = [n for n, piece in enumerate(pieces) if b"elta" in piece and (b"xx" in piece or b"yy" in piece)]
    assert len(grown) > 20 and all(written[n] for n in grown)
    named = next(n for n, out in enumerate(written) if b'"f"' in out)
    assert named <= next(n for n, piece in enumerate(pieces) if b"yy" in piece)
    assert sum(map(len, written)) > 5 * len(made.end()) or target == ITEMS


@pytest.mark.parametrize("target", laws.names())
def test_a_stream_that_breaks_off_is_given_no_end(target: str) -> None:
    body = stream(RICH, CHAT if target != CHAT else BLOCKS)
    source = CHAT if target != CHAT else BLOCKS
    cut = body[: body.index(b"\n\n", body.index(b"path")) + 2]
    written, made = passed(cut, source, target)
    said = read(written, target)
    assert not said.is_complete and said.stop is None and not made.response.is_complete
    if target in (GEMINI, "gemini-live", "ollama"):  # whose calls come whole: half of one is none that could be run
        assert not any(isinstance(part, ToolCallIR) for part in said.messages[0].parts)
        assert any("the stream ends" in loss.what for loss in made.losses)
    else:
        assert [(n, c.id, c.name) for n, c in said.messages[0].tool_calls()] == [
            (len(said.messages[0].parts) - 1, "call_1", "f")
        ]


@pytest.mark.parametrize("target", laws.names())
def test_an_error_in_a_stream_is_the_targets_error(target: str) -> None:
    source = CHAT if target != CHAT else BLOCKS
    body = stream(answer(Text("so far"), error=ApiError("Overloaded", "overloaded_error"), is_complete=False), source)
    said = read(passed(body, source, target, (11,))[0], target)
    assert said.error and said.error.message == "Overloaded"
    assert [part.text for m in said.messages for part in m.parts] == ["so far"]  # type: ignore[union-attr]


def test_an_answer_that_begins_again_is_an_error() -> None:
    """What has left cannot be taken back: the client has to throw it away."""
    body = stream(RICH, BLOCKS)
    written, _ = passed(body[: body.index(b"message_delta")] + body, BLOCKS, CHAT)
    assert read(written, CHAT).error == ApiError(RESTARTED)


def test_the_same_protocol_stays_what_it_is() -> None:
    body = stream(RICH, CHAT)
    written, made = passed(body, CHAT, CHAT, (5,))
    assert written == body and made.losses == () and made.ids == {} and made.response.is_complete


def test_reasoning_is_proved_by_whoever_keeps_it() -> None:
    asked: list[Reasoning] = []

    def prove(part: Reasoning) -> str:
        asked.append(part)
        return f"workbench:{len(asked)}"

    body = stream(RICH, CHAT)
    made, kinds, _at = StreamConversion(CHAT, BLOCKS, prove=prove), [], body.index(b'{"content":"')
    first = made.feed(body[: body.index(b'{"content":"')])
    assert b"thinking_delta" in first and not asked  # it leaves before its proof is known
    for event in read_events(first + made.feed(body[body.index(b'{"content":"') :]) + made.end()):
        kinds.append(json.loads(event.data or b"")["type"])
    thought = RICH.messages[0].parts[0]
    assert asked == [thought] and kinds[-1] == "message_stop"
    said = read(passed(body, CHAT, BLOCKS, prove=lambda part: "workbench:x")[0], BLOCKS)
    assert said.messages[0].parts[0] == replace(thought, carrier=Carrier.THINKING, signature="workbench:x")  # type: ignore[arg-type]
    sealed = read(passed(body, CHAT, ITEMS, prove=lambda part: "workbench:x")[0], ITEMS)
    assert [p.data for _, p in sealed.messages[0].reasoning()] == ["workbench:x"]


def test_a_call_is_signed_where_calls_have_signatures() -> None:
    written, _ = passed(stream(RICH, CHAT), CHAT, GEMINI, sign_call=lambda made: f"for {made.name}")
    parts = [p for e in read_events(written) for p in json.loads(e.data or b"")["candidates"][0]["content"]["parts"]]
    assert [p["thoughtSignature"] for p in parts if "functionCall" in p] == ["for f", "for g"]


@pytest.mark.parametrize(
    ("choose", "ids"), [(None, ["call_1", "call_2"]), (lambda old: f"own_{old}", ["own_None", "own_None"])]
)
def test_calls_without_ids_are_given_some(choose: Any, ids: list[str]) -> None:
    written, made = passed(stream(RICH, "ollama"), "ollama", BLOCKS, choose_id=choose)
    assert [made.id for _, made in read(written, BLOCKS).messages[0].tool_calls()] == ids
    assert made.ids == dict.fromkeys(ids)


def test_an_id_that_does_not_fit_is_rewritten_and_told() -> None:
    body = stream(answer(ToolCallIR("functions.f:0", "f", {}, "function", "{}")), CHAT)
    written, made = passed(body, CHAT, BLOCKS, (3,))
    (_, said), *_ = read(written, BLOCKS).messages[0].tool_calls()
    assert made.ids == {said.id: "functions.f:0"} and said.id == "functions_f_0"


def chunks(*deltas: dict[str, Any], done: bool = True) -> bytes:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    made = [head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = head | {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    return b"".join(b"data: %s\n\n" % json.dumps(c).encode() for c in (*made, end)) + b"data: [DONE]\n\n" * done


def test_calls_that_come_at_the_same_time_follow_one_another() -> None:
    def piece(index: int, text: str, name: str = "", **more: Any) -> dict[str, Any]:
        function = {"arguments": text} | ({"name": name} if name else {})
        return {"tool_calls": [{"index": index, **more, "function": function}]}

    begun = [piece(n, "", f"f{n}", id=f"c{n}", type="function") for n in range(2)]
    grown = [piece(0, '{"a"'), piece(1, '{"b": '), piece(0, ": 1}"), piece(1, "2}")]
    body = chunks(*begun, *grown)
    agree(body, CHAT, BLOCKS, (1 << 20,))
    events = [json.loads(event.data or b"") for event in read_events(passed(body, CHAT, BLOCKS)[0])]
    places = [event["index"] for event in events if "index" in event]
    assert places == sorted(places) and set(places) == {0, 1}
    said = read(passed(body, CHAT, BLOCKS)[0], BLOCKS)
    assert [(c.name, c.input) for _, c in said.messages[0].tool_calls()] == [("f0", {"a": 1}), ("f1", {"b": 2})]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<think>a\nb</think>\n\nc <d", [(Reasoning, "a\nb"), (Text, "\n\nc <d")]),
        ("c\n<thin", [(Text, "c\n<thin")]),
        ("a</think>", [(Text, "a</think>")]),
    ],
    ids=["thought", "no-tag", "end-alone"],
)
def test_thinking_in_a_text_is_told_apart_while_it_comes(text: str, parts: list[tuple[type, str]]) -> None:
    body = chunks(*({"content": letter} for letter in text))
    said = read(passed(body, CHAT, GEMINI)[0], GEMINI)
    assert [(type(part), part.text) for part in said.messages[0].parts] == parts  # type: ignore[union-attr]


def test_texts_of_a_target_with_one_string_are_one() -> None:
    body = stream(answer(Text("a"), call(1, "{}"), Text("b"), Text("c")), BLOCKS)
    agree(body, BLOCKS, CHAT, (9,))
    assert read(passed(body, BLOCKS, CHAT)[0], CHAT).messages[0].parts[0] == Text("a\n\nbc")


def test_a_stream_that_is_an_array() -> None:
    body = stream(RICH, GEMINI)
    events = [event.data or b"" for event in read_events(body)]
    array = b"[" + b"\n,\r\n".join(events).replace(b'"parts"', b'\n "parts"') + b"\n]\n"
    for sizes in ((1,), (17, 3)):
        assert passed(array, GEMINI, BLOCKS, sizes)[0] == passed(body, GEMINI, BLOCKS)[0]


@pytest.fixture
def served() -> Iterator[Callable[[str, str], str]]:
    """A function that has a server send what becomes of the rich answer in a protocol, and gives its URL."""
    upstreams: list[Upstream] = []

    def serve(target: str, source: str) -> str:
        written, _ = passed(stream(RICH, source), source, target, (23,), prove=lambda part: "workbench:1")
        upstreams.append(Upstream([written]))
        return upstreams[-1].url

    yield serve
    for upstream in upstreams:
        upstream.server.shutdown()
        upstream.server.server_close()


ARGUMENTS = {"path": "é/é", "n": [1, 2.5]}


def test_the_sdk_of_messages_takes_what_comes(served: Any) -> None:
    import anthropic

    asked: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
    client = anthropic.Anthropic(base_url=served(BLOCKS, CHAT), api_key="any", max_retries=0)
    with client, client.messages.stream(**asked) as events:
        message: Any = events.get_final_message()
    thought, text, first, second = message.content
    assert (thought.signature, text.text, first.input, second.input) == (
        *("workbench:1", "I look — both."),
        *(ARGUMENTS, {}),
    )
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 7, 9)


def test_the_sdk_of_chat_completions_takes_what_comes(served: Any) -> None:
    import openai

    client = openai.OpenAI(base_url=f"{served(CHAT, BLOCKS)}/v1", api_key="any", max_retries=0)
    with client, client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "?"}]) as events:
        (choice,) = events.get_final_completion().choices
    calls: Any = choice.message.tool_calls
    assert [json.loads(made.function.arguments) for made in calls] == [ARGUMENTS, {}]
    assert (choice.message.content, choice.finish_reason) == ("I look — both.", "tool_calls")


def test_the_sdk_of_responses_takes_what_comes(served: Any) -> None:
    import openai

    client = openai.OpenAI(base_url=f"{served(ITEMS, CHAT)}/v1", api_key="any", max_retries=0)
    with client, client.responses.stream(model="m", input="?") as events:
        kinds = [event.type for event in events]
        final: Any = events.get_final_response()
    assert [item.type for item in final.output] == ["reasoning", "message", "function_call", "function_call"]
    assert final.output[0].encrypted_content == "workbench:1" and final.output_text == "I look — both."
    assert [json.loads(item.arguments) for item in final.output[2:]] == [ARGUMENTS, {}]
    assert kinds.count("response.function_call_arguments.delta") > 2


def test_the_sdk_of_gemini_takes_what_comes(served: Any) -> None:
    from google import genai
    from google.genai import types

    with genai.Client(api_key="any", http_options=types.HttpOptions(base_url=served(GEMINI, CHAT))) as client:
        events: list[Any] = [*client.models.generate_content_stream(model="m", contents="?")]
    parts = [part for event in events for part in event.candidates[0].content.parts]
    assert "".join(part.text for part in parts if part.text and not part.thought) == "I look — both."
    assert [p.function_call.args for p in parts if p.function_call] == [ARGUMENTS, {}]
    assert events[-1].candidates[0].finish_reason.value == "STOP"
