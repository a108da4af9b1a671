"""Sessions drawn by a number: agents at work, and what happens to real sessions.

An agent talks with the simulator of a contract for several turns. Then things happen to the session: requests are tried
again, a message of the history is changed for good, the history is compacted, the person goes back and asks something
else, a sub-agent works in between, an exchange is still open, a byte is wrong.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from tests.hostile.mutating import mutated, mutated_exchange, written
from workbench import protocols
from workbench.probes.selftest.healthy import first_request
from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, EndReason, Limits, Say, Send
from workbench.simulator import Dials, ScriptedModel, Simulator
from workbench.wire.exchange import Body, Exchange, Headers, HttpResponse, State
from workbench.wire.session import MemorySession

TALKS = (
    ("anthropic", "anthropic-messages"),
    ("deepseek", "openai-chat"),
    ("openai", "openai-chat"),
    ("openai", "openai-responses"),
    ("kimi", "openai-chat"),
    ("qwen", "openai-chat"),
    ("gemini", "gemini"),
    ("gemini-openai", "openai-chat"),
    ("mistral", "openai-chat"),
    ("ollama", "ollama"),
    ("bedrock", "bedrock-converse"),
    ("openrouter", "openai-chat"),
    ("generic", "cohere-v2"),
)
"""(contract, protocol) of the agents."""

QUESTIONS = (
    "Please read_file the notes in docs/notizen.md.",
    "And now list_dir the folder, then sum it up.",
    "Use read_file on größe.py as well.",
    "Thanks. What did we learn?",
    "Once more: list_dir src, please.",
)
RESULTS = ("the first line — naïve\nthe second line", "größe.py\nb.py\nREADME.md", "", '{"a": [1, 2]}')
LISTS = ("messages", "contents", "input")
"""Members of a body that hold a history."""
THINKING = frozenset(
    {"reasoning_content", "reasoning", "thinking", "signature", "thoughtSignature", "encrypted_content"}
)
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})
"""Members of a message, and types of content blocks and items, that hold reasoning."""

Change = Callable[[list[Exchange], random.Random], list[Exchange]]


def session(seed: int) -> MemorySession:
    """The session of a number."""
    chance = random.Random(seed)
    exchanges = _talk(chance)
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3))):
        exchanges = chance.choice(CHANGES)(exchanges, chance)
    return MemorySession(f"random {seed}", tuple(replace(e, id=f"{n}:{e.id}") for n, e in enumerate(exchanges)))


def _talk(chance: random.Random) -> list[Exchange]:
    contract, protocol = chance.choice(TALKS)
    whole = talk(contract, protocol, parallel=chance.choice((1, 2, 3)), stream=chance.random() < 0.4)
    return list(whole[: chance.randint(2, len(whole))])


@cache
def talk(contract: str, protocol: str, *, parallel: int, stream: bool) -> Sequence[Exchange]:
    """A healthy session of several questions, each with its calls."""
    simulator = Simulator(contract, model=ScriptedModel(Dials(parallel=parallel)))
    return tuple(_exchanges(simulator, protocol, stream=stream))


def _exchanges(simulator: Simulator, protocol: str, *, stream: bool) -> Iterator[Exchange]:
    waiting = list(QUESTIONS)
    adapter = protocols.get(protocol)
    first = Exchange("0", first_request(simulator, adapter, waiting.pop(0), stream=stream))
    loop = ConversationLoop(first, protocol, simulator.label, limits=Limits(30, repeats=0))
    while True:
        step = loop.step
        if isinstance(step, AnswerCall):
            loop = loop.after(CallResult(RESULTS[step.number % len(RESULTS)]))
        elif isinstance(step, Send):
            path = step.request.url.removeprefix(simulator.url(""))
            reply = simulator.send("POST", path, step.request.headers, step.request.body.raw)
            answer = HttpResponse(reply.status, Headers(reply.headers), Body(reply.body()))
            exchange = Exchange(str(loop.turns + 1), step.request, answer)
            yield exchange
            loop = loop.after(exchange)
        elif step.reason is EndReason.DONE and waiting:
            loop = loop.after(Say(waiting.pop(0)))
        else:
            return


def _tried_again(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    """A request that failed before it went through."""
    at = chance.randrange(len(exchanges))
    status = chance.choice((429, 500, 529, 400, 0))
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded", "code": status}}
    answer = HttpResponse(status, Headers((("content-type", "application/json"),)), Body(json.dumps(error).encode()))
    failed = replace(exchanges[at], response=answer if status else None)
    return [*exchanges[:at], *[failed] * chance.choice((1, 1, 3)), *exchanges[at:]]


def _changed_for_good(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    """A message of the history that is another from one exchange on, as a client that damages it sends it."""
    at = chance.randrange(len(exchanges))
    _, history = _history(exchanges[at])
    if not history:
        return exchanges
    number = chance.randrange(len(history))
    was, new = history[number], mutated(history[number], chance)

    def damage(items: list[Any]) -> list[Any]:
        return [new if item == was else item for item in items]

    return [*exchanges[:at], *(_with_history(e, damage) for e in exchanges[at:])]


def _lost(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    """A message, or a member of it, that is not sent any more from one exchange on."""
    at = chance.randrange(len(exchanges))
    _, history = _history(exchanges[at])
    if not history:
        return exchanges
    was = chance.choice(history)
    key = chance.choice(list(was)) if isinstance(was, dict) and was and chance.random() < 0.5 else None

    def lose(items: list[Any]) -> list[Any]:
        if key is None:
            return [item for item in items if item != was]
        return [{k: v for k, v in item.items() if k != key} if item == was else item for item in items]

    return [*exchanges[:at], *(_with_history(e, lose) for e in exchanges[at:])]


def _without_reasoning(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    """Reasoning that is dropped, emptied or altered in the whole history, or in its first messages."""
    at, most = chance.randrange(len(exchanges)), chance.choice((4, 10, 1000))
    new = chance.choice((None, "", "altered"))

    def is_dropped(key: str, value: Any) -> bool:
        is_block = isinstance(value, dict) and value.get("type") in THOUGHTS
        return new is None and (key in THINKING or is_block)

    def drop(value: Any) -> Any:
        if isinstance(value, list):
            return [drop(item) for item in value if not is_dropped("", item)]
        if isinstance(value, dict):
            kept = {key: item for key, item in value.items() if not is_dropped(key, item)}
            return {key: new if key in THINKING else drop(item) for key, item in kept.items()}
        return value

    def spoil(items: list[Any]) -> list[Any]:
        return [*drop(items[:most]), *items[most:]]

    return [*exchanges[:at], *(_with_history(e, spoil) for e in exchanges[at:])]


def _compacted(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    """The beginning of the history is left out from one exchange on."""
    at = chance.randrange(len(exchanges))
    _, history = _history(exchanges[at])
    size = chance.randrange(len(history) + 1)
    kept = 1 if chance.random() < 0.5 else 0

    def compact(items: list[Any]) -> list[Any]:
        return items[:kept] + items[max(kept, size) :]

    return [*exchanges[:at], *(_with_history(e, compact) for e in exchanges[at:])]


def _branched(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    """The person goes back to an earlier point, and things happen otherwise from there."""
    at = chance.randrange(len(exchanges))
    other = chance.choice([_changed_for_good, _lost, _tried_again])(exchanges[at:], chance)
    return [*exchanges, *other]


def _beside(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    """Another agent works at the same time."""
    mine, other, found = list(exchanges), _talk(chance), list[Exchange]()
    while mine or other:
        found.append((mine if mine and (not other or chance.random() < 0.5) else other).pop(0))
    return found


def _still_open(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    at = chance.randrange(len(exchanges))
    changed = replace(exchanges[at], response=None, state=chance.choice((State.OPEN, State.ABORTED, State.INCOMPLETE)))
    return [*exchanges[:at], changed, *exchanges[at + 1 :]]


def _damaged(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    at = chance.randrange(len(exchanges))
    return [*exchanges[:at], mutated_exchange(exchanges[at], chance), *exchanges[at + 1 :]]


def _shuffled(exchanges: list[Exchange], chance: random.Random) -> list[Exchange]:
    """Two exchanges that the recording holds in the other order."""
    at = chance.randrange(len(exchanges))
    return [*exchanges[:at], *exchanges[at : at + 2][::-1], *exchanges[at + 2 :]]


CHANGES: Sequence[Change] = (
    *(_changed_for_good, _lost, _without_reasoning) * 2,
    *(_tried_again, _compacted, _branched, _beside, _still_open, _damaged, _shuffled),
)


def _history(exchange: Exchange) -> tuple[str, list[Any]]:
    """The member of the body that holds the history, and its items; ("", []) if there is none."""
    try:
        body = json.loads(exchange.request.body.raw) if exchange.request else None
    except ValueError:
        body = None
    for key in LISTS if isinstance(body, dict) else ():
        if isinstance(body.get(key), list):
            return key, body[key]
    return "", []


def _with_history(exchange: Exchange, change: Callable[[list[Any]], list[Any]]) -> Exchange:
    key, history = _history(exchange)
    if not key or exchange.request is None:
        return exchange
    body = json.loads(exchange.request.body.raw) | {key: change(history)}
    return replace(exchange, request=replace(exchange.request, body=Body(written(body).encode())))
