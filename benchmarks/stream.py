"""Stream decoding: bytes of an event stream to the IR with sources, against the official SDKs' accumulators.

The SDKs read the same bytes from a mock transport in pieces of 64 kB. All figures are CPU time.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

from workbench import adapters
from workbench.wire.sse import SseReader

DELTAS = 10_000
PIECE = 64 * 1024


def anthropic_stream(deltas: int) -> bytes:
    """Text in small deltas, then one tool call in small deltas."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []}
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": message | {"stop_reason": None, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    for n in range(deltas // 2):
        delta = {"type": "text_delta", "text": f"word{n} and "}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events.append({"type": "content_block_stop", "index": 0})
    call = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}
    events.append({"type": "content_block_start", "index": 1, "content_block": call})
    for part in arguments(deltas // 2):
        delta = {"type": "input_json_delta", "partial_json": part}
        events.append({"type": "content_block_delta", "index": 1, "delta": delta})
    end = {"stop_reason": "tool_use", "stop_sequence": None}
    events += [
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": deltas}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def arguments(count: int) -> Iterator[str]:
    """An argument text in this many pieces."""
    yield '{"text": "'
    yield from (f"line {n} " for n in range(count - 2))
    yield '"}'


def chat_stream(deltas: int) -> bytes:
    """The same as chat completion chunks."""
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}

    def chunk(delta: dict[str, object], reason: str | None = None) -> dict[str, object]:
        return head | {"choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}]}

    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": f"word{n} and "}) for n in range(deltas // 2)]
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "write", "arguments": ""}}
    chunks.append(chunk({"tool_calls": [call]}))
    for part in arguments(deltas // 2):
        chunks.append(chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}))
    chunks.append(chunk({}, "tool_calls"))
    return b"".join(f"data: {json.dumps(c)}\n\n".encode() for c in chunks) + b"data: [DONE]\n\n"


def ours(protocol: str, body: bytes) -> None:
    """Bytes in pieces → events → IR."""
    reader, decoder = SseReader(), adapters.get(protocol).stream_decoder()
    for at in range(0, len(body), PIECE):
        for event in reader.feed(body[at : at + PIECE]):
            decoder.feed(event)
    for event in reader.close():
        decoder.feed(event)
    assert len(decoder.result().messages) == 1


def anthropic_sdk(body: bytes) -> None:
    """What ``messages.stream(…).get_final_message()`` builds."""
    import anthropic
    import httpx2

    client = anthropic.Anthropic(api_key="sk-test", http_client=httpx2.Client(transport=_mock(body)))
    with client.messages.stream(model="m", max_tokens=1, messages=[{"role": "user", "content": "x"}]) as stream:
        assert stream.get_final_message().content


def openai_sdk(body: bytes) -> None:
    """What ``chat.completions.stream(…).get_final_completion()`` builds."""
    import httpx2
    import openai

    client = openai.OpenAI(api_key="sk-test", http_client=httpx2.Client(transport=_mock(body)))
    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "x"}]) as stream:
        assert stream.get_final_completion().choices


def _mock(body: bytes) -> object:
    import httpx2

    def pieces() -> Iterator[bytes]:
        return (body[at : at + PIECE] for at in range(0, len(body), PIECE))

    def answer(_: object) -> object:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=pieces())

    return httpx2.MockTransport(answer)


def floor(body: bytes) -> None:
    """``json.loads`` of every data line and nothing else."""
    for line in body.split(b"\n"):
        if line.startswith(b"data: {"):
            json.loads(line[6:])


def measure(run: Callable[[], None], rounds: int) -> float:
    """Best CPU seconds of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Both protocols against their SDK and a bare loop; then four times the length, which shows linearity."""
    for protocol, make, sdk, name in (
        ("anthropic-messages", anthropic_stream, anthropic_sdk, "anthropic"),
        ("openai-chat", chat_stream, openai_sdk, "openai"),
    ):
        body, long = make(DELTAS), make(4 * DELTAS)
        mine = measure(lambda: ours(protocol, body), 7)  # noqa: B023 (called at once)
        theirs = measure(lambda: sdk(body), 2)  # noqa: B023
        bare = measure(lambda: floor(body), 5)  # noqa: B023
        longer = measure(lambda: ours(protocol, long), 3)  # noqa: B023
        size = len(body) / 1e6
        print(f"stream: {protocol}, {DELTAS:,} deltas, {size:.1f} MB")
        print(f"  workbench        {size / mine:8.1f} MB/s   {theirs / mine:5.1f} × the {name} SDK")
        print(f"  {name:<9} SDK    {size / theirs:8.1f} MB/s")
        print(f"  json.loads loop  {size / bare:8.1f} MB/s   {bare / mine:5.2f} × as fast as this loop")
        print(f"  four times the length takes {longer / mine:.1f} × the time")
