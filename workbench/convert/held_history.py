"""The whole request of a turn that continues a response: with the items that the server held, from the recording.

Over a WebSocket, and with stored responses, a client sends only what is new and the id of the response before it.
Another provider does not know that id: it gets the items of the turns before, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from workbench import protocols
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import DecodedExchange
from workbench.wire import Body, Exchange, dumps, loads

_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.done")


class WholeRequest(NamedTuple):
    """A request with the turns before it.

    Attributes:
        exchange: what was recorded, with the whole request in the place of its own.
        earlier: indices of the exchanges whose turns are in it, the first one first.
    """

    exchange: Exchange
    earlier: tuple[int, ...]


def with_held_history(decoded: DecodedExchange, exchange_at: Callable[[int], Exchange]) -> WholeRequest | None:
    """The request with what the server held; None if it continues nothing, or the recording lacks a turn before it."""
    key = protocols.traits(decoded.protocol).previous_pointer[1:]
    request, body = decoded.exchange.request, _object(decoded.request_text)
    if request is None or "/" in key or not key or "input" not in body:
        return None
    items, earlier, parent_id = _items(body["input"]), [], body.get(key)
    for index in range(decoded.index - 1, -1, -1):
        if not isinstance(parent_id, str):
            break
        parent = DecodedExchange(index, exchange_at(index))
        if parent.protocol != decoded.protocol or not parent.response or parent.response.id != parent_id:
            continue
        parent_body = _object(parent.request_text)
        items = [*_items(parent_body.get("input")), *_output(parent), *items]
        earlier.append(index)
        parent_id = parent_body.get(key)
    if not earlier or isinstance(parent_id, str):
        return None
    whole = {name: items if name == "input" else value for name, value in body.items() if name != key}
    return WholeRequest(
        replace(decoded.exchange, request=replace(request, body=Body(dumps(whole)))), tuple(earlier[::-1])
    )


def _items(value: JsonValue) -> list[JsonValue]:
    """The items of an input; a text is the message of a user."""
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": value}]
    return value if isinstance(value, list) else []


def _output(decoded: DecodedExchange) -> list[JsonValue]:
    """The items of a response: those of its end, else (Codex's server repeats none there) each as its event has it."""
    if not decoded.events:
        return _items(_object(decoded.response_text).get("output"))
    outputs: dict[int, JsonValue] = {}
    for event in _values(decoded):
        response, index = event.get("response"), event.get("output_index")
        if event.get("type") in _ENDS and isinstance(response, dict) and response.get("output"):
            return _items(response["output"])
        if event.get("type") == "response.output_item.done":
            outputs[index if isinstance(index, int) else len(outputs)] = event.get("item")
    return [outputs[index] for index in sorted(outputs)]


def _values(decoded: DecodedExchange) -> Iterator[dict[str, JsonValue]]:
    return (_object(event.data) for event in decoded.events if event.data is not None)


def _object(text: bytes) -> dict[str, JsonValue]:
    try:
        value = loads(text) if text.strip() else None
    except WireError:
        return {}
    return value if isinstance(value, dict) else {}
