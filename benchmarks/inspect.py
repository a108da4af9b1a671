"""Inspecting: agents that repeat their history in each request, one that compacts it and one that never does.

Peer: ``json.loads`` of the request bodies and nothing else. Beside it the same inspection with nothing kept.
All figures are CPU time.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping

from workbench.ir import NOTHING, JsonValue
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse, Summary, summarize

URL = "https://api.anthropic.com/v1/messages"
JSON = Headers((("content-type", "application/json"),))
MESSAGES = (("compacts at 120 messages", 1000, 120), ("never compacts", 300, 10**6))


class Held:
    """A session in memory: what a file costs to read is measured elsewhere."""

    name, format, is_live = "held", "held", False
    about: Mapping[str, JsonValue] = NOTHING
    damage: tuple[str, ...] = ()

    def __init__(self, exchanges: list[Exchange]) -> None:
        self._exchanges = exchanges
        self._summaries = tuple(summarize(n, e, None) for n, e in enumerate(exchanges))

    def __len__(self) -> int:
        return len(self._exchanges)

    def summaries(self) -> tuple[Summary, ...]:
        return self._summaries

    def exchange(self, index: int) -> Exchange:
        return self._exchanges[index]

    def refresh(self) -> frozenset[int]:
        return frozenset()

    def close(self) -> None:
        pass


def agent(count: int, most: int) -> Iterator[Exchange]:
    """A coding agent: each answer calls a tool and comes back in the next request, with 5 kB of result."""
    rng = random.Random(1)
    words = [rng.randbytes(3).hex() for _ in range(4000)]
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    about = " ".join(rng.choices(words, k=60))
    tools = [{"name": f"tool_{n}", "description": about, "input_schema": schema} for n in range(14)]
    asked = {"role": "user", "content": "mend what is broken"}
    history: list[object] = [asked]
    for n in range(count):
        if len(history) > most:
            history = [asked | {"content": f"go on from summary {n}"}]
        body = {"model": "claude-sonnet-4-5", "max_tokens": 32000, "tools": tools, "messages": history}
        call = {"type": "tool_use", "id": f"toolu_{n:020d}", "name": "tool_3", "input": {"path": f"src/{n}.py"}}
        said = {"role": "assistant", "content": [{"type": "text", "text": words[n % 4000]}, call]}
        answer = {"id": f"msg_{n}", "type": "message", "model": "claude-sonnet-4-5", "stop_reason": "tool_use", **said}
        request = HttpRequest("POST", URL, Headers(), Body(json.dumps(body).encode()))
        yield Exchange(f"e{n}", request, HttpResponse(200, JSON, Body(json.dumps(answer).encode())))
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": " ".join(rng.choices(words, k=720))}
        history = [*history, said, {"role": "user", "content": [result]}]


def inspect(session: Held, *, knows: bool) -> None:
    """Everything; a healthy session has no findings but calls that are still open."""
    inspector = Inspector(session) if knows else Inspector(session, known=None)
    for _ in inspector.steps():
        pass
    assert {f.rule for row in inspector.rows for f in row.findings} <= {"closure.pending"}


def parse(session: Held) -> None:
    """The peer."""
    for index in range(len(session)):
        request = session.exchange(index).request
        assert request and json.loads(request.body.raw)


def seconds(run: Callable[[], None], rounds: int = 2) -> float:
    """Best CPU seconds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Both agents."""
    for name, count, most in MESSAGES:
        session = Held([*agent(count, most)])
        size = sum(summary.request_bytes for summary in session.summaries()) / 1e6
        whole = seconds(lambda: inspect(session, knows=True))  # noqa: B023 (called at once)
        apart = seconds(lambda: inspect(session, knows=False), 1)  # noqa: B023
        bare = seconds(lambda: parse(session))  # noqa: B023
        print(f"inspect: {count:,} exchanges, {size:.0f} MB of requests, the agent {name}")
        print(f"  workbench         {count / whole:8.0f} exchanges/s   {whole / bare:5.1f} × the time of json.loads")
        print(f"  without memory    {count / apart:8.0f} exchanges/s   {apart / whole:5.1f} × the time")
        print(f"  json.loads alone  {count / bare:8.0f} exchanges/s")


if __name__ == "__main__":
    main()
