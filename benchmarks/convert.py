"""Converting requests: 200 messages of tool use, bytes to bytes, both ways between the two most spoken protocols.

And streams while they come, an event at a time, beside the conversion of the whole answer; half of the deltas are text
and half are arguments. Four times the deltas show that it is linear.

Peer: LiteLLM's transformations of the same bodies, between ``json.loads`` and ``json.dumps``, in a process
of its own: name a Python that has litellm in ``LITELLM_PYTHON``. Beside them one JSON round trip of the same bytes.
All figures are CPU time.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from benchmarks import _stream_bodies as bodies
from benchmarks.goals import reach
from workbench.convert import convert
from workbench.convert.streaming import StreamConversion
from workbench.wire.stream import read_stream

TURNS = 100
ROUNDS = 12
SHORT, LONG = 10_000, 40_000
STREAMS = (
    ("openai-chat", "anthropic-messages", bodies.chat),
    ("anthropic-messages", "openai-chat", bodies.messages),
    ("anthropic-messages", "openai-responses", bodies.messages),
    ("openai-responses", "gemini", bodies.responses),
    ("bedrock-converse", "anthropic-messages", bodies.converse),
)
"""Source, target, and what makes a stream of the source."""
TO_CHAT, TO_MESSAGES = ("anthropic-messages", "openai-chat"), ("openai-chat", "anthropic-messages")

PEER = """
import json, sys, time
from litellm.llms.anthropic.chat.transformation import AnthropicConfig
try:
    from litellm.llms.anthropic.pass_through.adapters.transformation import LiteLLMAnthropicMessagesAdapter
except ImportError:
    from litellm.llms.anthropic.experimental_pass_through.adapters.transformation import LiteLLMAnthropicMessagesAdapter
def to_messages(body):
    value = json.loads(body)
    params = AnthropicConfig().map_openai_params(
        {"tools": value["tools"], "max_tokens": value["max_completion_tokens"]}, {}, value["model"], False)
    made = AnthropicConfig().transform_request(value["model"], value["messages"], params, {}, {})
    return json.dumps(made).encode()
def to_chat(body):
    made = LiteLLMAnthropicMessagesAdapter().translate_anthropic_to_openai(json.loads(body))
    made = made[0] if isinstance(made, tuple) else made
    return json.dumps(made, default=lambda v: v.model_dump()).encode()
for path, run in ((sys.argv[1], to_chat), (sys.argv[2], to_messages)):
    body = open(path, "rb").read()
    run(body)
    best = min(timed for _ in range(ROUNDS) for start in [time.process_time()] for _ in [run(body)]
               for timed in [time.process_time() - start])
    print(best)
""".replace("ROUNDS", str(ROUNDS))


def request() -> bytes:
    """A coding agent's request: 200 messages, 100 calls, 300 kB."""
    rng = random.Random(4)
    words = [rng.randbytes(3).hex() for _ in range(2000)]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [{"name": f"tool_{n}", "description": " ".join(words[:60]), "input_schema": schema} for n in range(14)]
    messages: list[object] = [{"role": "user", "content": "mend what is broken"}]
    for n in range(TURNS):
        call = {"type": "tool_use", "id": f"toolu_{n:020d}", "name": f"tool_{n % 14}", "input": {"path": f"src/{n}.py"}}
        said = {"type": "text", "text": " ".join(rng.choices(words, k=40))}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": " ".join(rng.choices(words, k=340))}
        messages += [{"role": "assistant", "content": [said, call]}, {"role": "user", "content": [result]}]
    body = {"model": "claude-sonnet-4-5", "max_tokens": 32000, "tools": tools, "messages": messages}
    return json.dumps(body).encode()


def seconds(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Best CPU seconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def peer(messages: bytes, chat: bytes) -> list[float] | str:
    """Seconds of LiteLLM, both ways; or why there are none."""
    import tempfile

    python = os.environ.get("LITELLM_PYTHON")
    if not python:
        return "LITELLM_PYTHON names no Python that has it"
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("messages", "chat")]
        for path, body in zip(paths, (messages, chat), strict=True):
            with open(path, "wb") as file:
                file.write(body)
        done = subprocess.run([python, "-c", PEER, *paths], capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["it failed"])[-1]
    return [float(line) for line in done.stdout.split()[-2:]]


def pieces(body: bytes) -> list[bytes]:
    """A stream, event by event."""
    ends = [event.start for event in read_stream(body).events[1:]]
    return [body[start:end] for start, end in zip([0, *ends], [*ends, len(body)], strict=True)]


def passed_on(came: Sequence[bytes], source: str, target: str) -> None:
    """Convert a stream while it comes."""
    conversion = StreamConversion(source, target)
    for piece in came:
        conversion.feed(piece)
    conversion.end()
    assert conversion.response.is_complete


def streams() -> None:
    """Every pair of ``STREAMS``: MB/s, the whole answer's way beside it, and how the time grows."""
    for source, target, make in STREAMS:
        short, long = (make(bodies.words(n // 2), bodies.arguments(n // 2)) for n in (SHORT, LONG))
        whole = seconds(lambda: convert(short, target, side="response", protocol=source), 3)  # noqa: B023
        taken = [seconds(lambda: passed_on(came, source, target), 3) for came in map(pieces, (short, long))]  # noqa: B023
        size = len(short) / 1e6
        print(f"convert: a stream of {SHORT:,} deltas while it comes, {source} -> {target}")
        print(f"  workbench        {size / taken[0]:7.1f} MB/s   {taken[0] / SHORT * 1e6:.0f} µs for each delta")
        print(f"  the whole answer {size / whole:7.1f} MB/s   {taken[0] / whole:.1f} x its time")
        print(f"  {LONG // SHORT} times the length takes {taken[1] / taken[0]:.1f} x the time")


def main() -> None:
    """Requests in both directions, then streams."""
    messages = request()
    chat = convert(messages, TO_CHAT[1], protocol=TO_CHAT[0]).body
    theirs = peer(messages, chat)
    print(f"convert: a request of {2 * TURNS + 1} messages, {len(messages) / 1e3:.0f} kB, bytes to bytes")
    if isinstance(theirs, str):
        print(f"  litellm is absent: {theirs}", file=sys.stderr)
    for n, (body, (source, target)) in enumerate(((messages, TO_CHAT), (chat, TO_MESSAGES))):
        ours = seconds(lambda: convert(body, target, protocol=source))  # noqa: B023 (called at once)
        trip = seconds(lambda: json.dumps(json.loads(body)).encode())  # noqa: B023
        print(f"  {source} -> {target}")
        print(f"    workbench        {ours * 1e3:7.2f} ms   {ours / trip:5.2f} x one JSON round trip")
        if not isinstance(theirs, str):
            more = (ours - theirs[n]) / trip
            reach(f"conversion, {source} → {target}", more)
            print(
                f"    litellm          {theirs[n] * 1e3:7.2f} ms   {ours / theirs[n]:5.2f} x; ours is {more:+.2f} trips"
            )
        print(f"    json, there and back {trip * 1e3:3.2f} ms")
    streams()


if __name__ == "__main__":
    main()
