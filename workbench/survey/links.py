"""Index pass: keys by which the exchanges of different objects are found to be of one conversation.

An exchange **offers** keys: its history together with its answer, the id of its response, the ids of its calls. It
**seeks** keys: its history up to each earlier answer together with that answer, the id of the response that it
continues, the ids of the results it sends. An exchange continues another one if it seeks what that one offers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from typing import NamedTuple

from workbench.formats.importers import open_found
from workbench.ir import Message, Text, ToolCallIR, ToolResultIR
from workbench.protocols import DecodedExchange
from workbench.survey.judging import JudgeOptions
from workbench.survey.object_listing import StoredObject, on_disk
from workbench.survey.rows import Row
from workbench.wire import Exchange, dumps
from workbench.wire.session import exchanges_of

LINKS = "links"
"""Name of the rows of the index pass. They are no table: a plan is made of them."""

_LEAST_ID = 16
"""Letters of a call id from which on it is one of a kind: ``call_1`` is in every conversation."""

_ANSWERS_BACK = 8
"""Earlier answers of a history that are sought: the exchange of the last one may not have been stored."""

_ANSWERING = ("assistant", "model")
_INSTRUCTIONS = ("system", "developer")


class Links(NamedTuple):
    """Keys of one exchange. ``has_history``: it continues something, found or not."""

    offers: tuple[int, ...]
    seeks: tuple[int, ...]
    has_history: bool


def link_rows(objects: Sequence[StoredObject], options: JudgeOptions) -> Iterator[Row]:
    """A row for each object: its keys, and whether it could be read."""
    for found in objects:
        read = _links_of(found, options)
        links = read or []
        offers = sorted({key for link in links for key in link.offers})
        seeks = [list(link.seeks) for link in links if link.has_history]
        keys = sorted({key for link in links for key in link.offers if key < 0})
        row: Row = {"t": LINKS, "uri": found.uri, "is_read": read is not None, "seeks": seeks, "named": keys}
        yield {**row, "offers": [key for key in offers if key >= 0]}


def _links_of(found: StoredObject, options: JudgeOptions) -> list[Links] | None:
    """The keys of the exchanges of an object; None if it cannot be read."""
    with ExitStack() as stack:
        try:
            session = open_found(str(stack.enter_context(on_disk(found, options.most_bytes))), only=options.store)
            if session is None:
                return []
            stack.callback(session.close)
            return [_links(number, exchange, options.key) for number, exchange in enumerate(exchanges_of(session))]
        except MemoryError:
            raise
        except Exception:  # whatever it is: judging it will say it
            return None


def _links(number: int, exchange: Exchange, key: bytes) -> Links:
    decoded = DecodedExchange(number, exchange)
    request, response = decoded.request, decoded.response
    offers: list[int] = []
    seeks: list[int] = []
    history, answers = _history(request.messages if request else (), key)
    if response is not None and response.messages and request is not None:
        offers.append(_hash(key, history, _answer(response.messages[0])))
    seeks += answers[-_ANSWERS_BACK:]
    if response is not None and response.id:
        offers.append(_hash(key, "response", response.id))
    if request is not None and request.previous_id:
        seeks.append(_hash(key, "response", request.previous_id))
    offers += _call_keys(key, [call.id for m in (response.messages if response else ()) for _, call in m.tool_calls()])
    seeks += _call_keys(key, [id for m in (request.messages if request else ()) for id in _results(m)])
    conversation = exchange.meta.get("conversation")
    if isinstance(conversation, str) and conversation:
        offers.append(-1 - _hash(key, "conversation", conversation))
    has_history = bool(answers) or bool(request and request.previous_id)
    return Links(tuple(offers), tuple(dict.fromkeys(seeks)), has_history)


def _history(messages: Sequence[Message], key: bytes) -> tuple[str, list[int]]:
    """(the whole history, the keys of its prefixes that end with an answer)."""
    digest = blake2b(key=key, digest_size=16)
    answers: list[int] = []
    for message in messages:
        if message.role in _INSTRUCTIONS:
            continue
        if message.role in _ANSWERING:
            answers.append(_hash(key, digest.hexdigest(), _answer(message)))
        digest.update(_canonical(message))
    return digest.hexdigest(), answers


def _answer(message: Message) -> str:
    """What an answer says, as its own exchange and a later history both have it."""
    texts = "".join(part.text for part in message.parts if isinstance(part, Text)).strip()
    calls = sorted(f"{call.id}" for _, call in message.tool_calls())
    return dumps([texts, calls]).decode("utf-8", "replace")


def _canonical(message: Message) -> bytes:
    parts: list[str] = []
    for part in message.parts:
        if isinstance(part, Text):
            parts.append(part.text.strip())
        elif isinstance(part, ToolCallIR):
            parts.append(f"call {part.id} {part.name}")
        elif isinstance(part, ToolResultIR):
            inner = "".join(one.text for one in part.content if isinstance(one, Text))
            parts.append(f"result {part.tool_call_id} {inner}")
    return dumps(["answer" if message.role in _ANSWERING else "other", *parts])


def _results(message: Message) -> Iterator[str | None]:
    return (part.tool_call_id for part in message.parts if isinstance(part, ToolResultIR))


def _call_keys(key: bytes, ids: Sequence[str | None]) -> list[int]:
    return [_hash(key, "call", id) for id in ids if id and len(id) >= _LEAST_ID]


def _hash(key: bytes, *parts: str) -> int:
    """A number of 62 bits: so that it is a small integer everywhere, and never negative."""
    digest = blake2b(key=key, digest_size=8)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return int.from_bytes(digest.digest(), "little") >> 2
