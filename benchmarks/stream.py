"""Stream decoding: bytes of a stream to the IR with sources, against the official SDKs that read the same bytes.

The SDKs read them from a mock transport in pieces of 64 kB, as their users do. All figures are CPU time.
"""

from __future__ import annotations

import gc
import json
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks import _stream_bodies as bodies
from benchmarks import _stream_sdks as sdks
from workbench import protocols
from workbench.wire.stream import read_stream

DELTAS = 10_000
FOURS = (25_000, 100_000)
"""Deltas of four characters of one argument text: 100 kB, and four times as much."""


class Case(NamedTuple):
    """One protocol: its stream, the SDK that reads it ("" where none is measured), whether arguments are streamed."""

    protocol: str
    make: Callable[[Iterator[str], list[str]], bytes]
    name: str
    sdk: Callable[[bytes], None] | None
    has_deltas: bool = True


CASES = (
    Case("anthropic-messages", bodies.messages, "anthropic", sdks.anthropic),
    Case("openai-chat", bodies.chat, "openai (chat)", sdks.openai_chat),
    Case("openai-responses", bodies.responses, "openai (responses)", sdks.openai_responses),
    Case("gemini", bodies.gemini, "google-genai (chat)", sdks.genai, has_deltas=False),
    Case("ollama", bodies.ollama, "ollama", sdks.ollama, has_deltas=False),
    Case("cohere-v2", bodies.cohere, "", None),
    Case("bedrock-converse", bodies.converse, "botocore", sdks.converse),
    Case("bedrock-invoke", bodies.invoke, "botocore", sdks.invoke),
)


def ours(protocol: str, body: bytes) -> None:
    """Bytes → events → IR."""
    decoder = protocols.get(protocol).stream_decoder()
    for event in read_stream(body).events:
        decoder.feed(event)
    answer = decoder.result()
    assert answer.is_complete and answer.messages


def floor(body: bytes) -> None:
    """``json.loads`` of every event and nothing else."""
    if body.startswith(b"\0"):
        _floor_of_frames(body)
        return
    for line in body.split(b"\n"):
        data = line.removeprefix(b"data: ")
        if data.startswith(b"{"):
            json.loads(data)


def _floor_of_frames(body: bytes) -> None:
    at = 0
    while at < len(body):
        total, headers = (int.from_bytes(body[at + n : at + n + 4], "big") for n in (0, 4))
        value = json.loads(body[at + 12 + headers : at + total - 4])
        if "bytes" in value:
            json.loads(b64decode(value["bytes"]))
        at += total


def measure(run: Callable[[], None], rounds: int) -> float:
    """Best CPU seconds of several rounds."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Every protocol against its SDK and a bare loop; then one long argument text, which shows linearity."""
    for case in CASES:
        half = DELTAS // 2 if case.has_deltas else DELTAS
        body = case.make(bodies.words(half), bodies.arguments(DELTAS // 2))
        mine = measure(lambda: ours(case.protocol, body), 7)  # noqa: B023 (called at once)
        bare = measure(lambda: floor(body), 5)  # noqa: B023
        size = len(body) / 1e6
        print(f"stream: {case.protocol}, {DELTAS:,} deltas, {size:.1f} MB")
        print(f"  workbench        {size / mine:8.1f} MB/s   {bare / mine:5.2f} × as fast as a json.loads loop")
        sdk = case.sdk
        if sdk:
            theirs = measure(lambda: sdk(body), 2)  # noqa: B023
            print(f"  {case.name:<16} {size / theirs:8.1f} MB/s   workbench is {theirs / mine:.1f} × as fast")
        if case.has_deltas:
            gc.disable()  # its rounds over all that is held are no part of the decoder's work
            short, long = (measure(lambda: ours(case.protocol, b), 5) for b in map(_fours(case), FOURS))  # noqa: B023
            gc.enable()
            ratio = FOURS[1] // FOURS[0]
            print(f"  arguments in pieces of 4: {ratio} times the length takes {long / short:.1f} × the time")


def _fours(case: Case) -> Callable[[int], bytes]:
    return lambda count: case.make(iter(()), bodies.four(count))
