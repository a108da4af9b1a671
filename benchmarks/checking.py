"""``workbench check`` of recorded sessions: one that is compacted again and again, one conversation that only grows.

Peer: the floor. Each stored piece is decompressed, and parsed by ``json``, once.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

import zstandard

from benchmarks.goals import reach
from benchmarks.terminal import forget_verdicts
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.session import SessionWriter

URL = "https://api.anthropic.com/v1/messages"
JSON = Headers((("content-type", "application/json"),))
STREAM = Headers((("content-type", "text/event-stream"),))
CHARACTERS = 12
"""Characters of a delta."""


class Shape(NamedTuple):
    """A session.

    Attributes:
        name: of its row.
        exchanges: number of them.
        most: bytes of a request at which the agent starts over.
        words: of a tool result.
    """

    name: str
    exchanges: int
    most: float
    words: int
    is_streamed: bool


COMPACTED = Shape("5,000 exchanges compacted", 5000, 600_000, 430, is_streamed=True)
SHORT = Shape("1,000 growing", 1000, float("inf"), 40, is_streamed=False)
FAULTY = Shape("200 with one fault", 200, float("inf"), 40, is_streamed=False)
LONG = Shape("4,000 growing", 4000, float("inf"), 40, is_streamed=False)


class Cost(NamedTuple):
    """Processor seconds and megabytes at the peak."""

    seconds: float
    megabytes: float


def main() -> None:
    """Print CPU seconds and memory of each, and how they grow."""
    spent = dict[Shape, Cost]()
    with tempfile.TemporaryDirectory() as folder:
        for shape in (COMPACTED, SHORT, LONG):
            path = Path(folder) / "session.wb"
            path.unlink(missing_ok=True)
            with SessionWriter(path) as writer:
                for exchange in exchanges(shape):
                    writer.append(exchange)
            forget_verdicts()
            spent[shape], again, floor = check(path), check(path), parse_pieces(path)
            seconds, megabytes = spent[shape]
            ratio = f"{seconds / floor:5.1f} × the floor ({floor:.2f} s)"
            print(f"check, {shape.name:26} {seconds:6.2f} s of CPU, {megabytes:4.0f} MB, {ratio}")
            print(f"  … again, with the kept verdict  {again.seconds:6.2f} s of CPU, {again.megabytes:4.0f} MB")
    reach("check, 5,000 exchanges, compacted", spent[COMPACTED].seconds)
    reach("check, 5,000 exchanges, memory", spent[COMPACTED].megabytes)
    reach("check, 1,000 exchanges of one conversation", spent[SHORT].seconds)
    growth = spent[LONG].seconds / spent[SHORT].seconds
    print(f"check, 4,000 growing is {growth:.1f} × 1,000 growing (4 is linear)")
    reach("check, 4,000 exchanges ÷ 1,000", growth)
    reach("one fault that lasts 200 exchanges", count_findings())


def check(path: Path) -> Cost:
    """The cost of the command, start-up included."""
    command = [sys.executable, "-m", "workbench", "check", str(path), "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1), process.returncode
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def count_findings() -> int:
    """Errors and warnings of a session in which one call lost its result, and each later request repeats that."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.wb"
        with SessionWriter(path) as writer:
            for exchange in exchanges(FAULTY, lost=3):
                writer.append(exchange)
        command = [sys.executable, "-m", "workbench", "check", str(path), "--no-cache", "--format", "json"]
        told = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
    found = [finding for file in told["files"] for finding in file["findings"] if finding["severity"] != "info"]
    print(f"check, one lost result in {FAULTY.exchanges} exchanges: {len(found)} findings")
    return len(found)


def parse_pieces(path: Path) -> float:
    """Seconds of the floor."""
    begun, expand = time.process_time(), zstandard.ZstdDecompressor().decompress
    with closing(sqlite3.connect(path)) as db:
        for size, data in db.execute("SELECT size, data FROM piece"):
            with suppress(ValueError):  # what is between two elements
                json.loads(data if len(data) == size else expand(data))
    return time.process_time() - begun


def exchanges(shape: Shape, lost: int = -1) -> Iterator[Exchange]:
    """An agent: each answer calls a tool, and comes back in the next request with the result, but for the lost one."""
    rng = random.Random(1)
    words = [rng.randbytes(3).hex() for _ in range(4000)]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    about = " ".join(rng.choices(words, k=60))
    tools = [{"name": f"tool_{n}", "description": about, "input_schema": schema} for n in range(14)]
    head = {"model": "claude-sonnet-4-5", "max_tokens": 32000, "stream": shape.is_streamed, "tools": tools}
    history, size = [_message("user", "fix what is broken")], 0
    for n in range(shape.exchanges):
        if size > shape.most:
            history = [_message("user", f"continue from summary {n}")]
        raw = json.dumps(head)[:-1].encode() + b', "messages": [' + b", ".join(history) + b"]}"
        call = {"type": "tool_use", "id": f"toolu_{n:020d}", "name": "tool_3", "input": {"path": f"src/{n}.py"}}
        content = [{"type": "text", "text": " ".join(rng.choices(words, k=40))}, call]
        yield Exchange(f"e{n}", HttpRequest("POST", URL, JSON, Body(raw)), _answer(n, content, shape.is_streamed))
        result = {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": " ".join(rng.choices(words, k=shape.words)),
        }
        history += [_message("assistant", content), _message("user", "go on" if n == lost else [result])]
        size = len(raw)


def _message(role: str, content: object) -> bytes:
    return json.dumps({"role": role, "content": content}).encode()


def _answer(number: int, content: list[dict[str, object]], is_streamed: bool) -> HttpResponse:
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5"}
    usage = {"input_tokens": 10, "output_tokens": 5}
    if not is_streamed:
        whole = {**message, "stop_reason": "tool_use", "content": content, "usage": usage}
        return HttpResponse(200, JSON, Body(json.dumps(whole).encode()))
    events = [{"type": "message_start", "message": {**message, "content": [], "usage": usage}}]
    for index, block in enumerate(content):
        events += _block_events(index, block)
    events += [
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
        {"type": "message_stop"},
    ]
    lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return HttpResponse(200, STREAM, Body(lines.encode()))


def _block_events(index: int, block: dict[str, object]) -> Iterator[dict[str, object]]:
    is_text = block["type"] == "text"
    whole = str(block["text"]) if is_text else json.dumps(block["input"])
    kind, key = ("text_delta", "text") if is_text else ("input_json_delta", "partial_json")
    began = {"type": "text", "text": ""} if is_text else {**block, "input": {}}
    yield {"type": "content_block_start", "index": index, "content_block": began}
    for at in range(0, len(whole), CHARACTERS):
        delta = {"type": kind, key: whole[at : at + CHARACTERS]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
