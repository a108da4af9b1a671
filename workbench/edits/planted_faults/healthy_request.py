"""A request body as values that can be changed at pointers, with its calls and results."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

from workbench.ir import JsonValue, Message, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange
from workbench.wire import Body, Exchange, HttpRequest, dumps, loads, split_pointer


class PartNode(NamedTuple):
    """A part with its message."""

    message: Message
    part: Any
    number: int

    @property
    def pointer(self) -> str:
        return self.message.absolute(self.part)

    def field(self, name: str) -> str:
        """Pointer of one of its fields; empty if the protocol has none."""
        found = self.part.source.fields.get(name)
        return "" if found is None else self.pointer + found

    @property
    def is_alone(self) -> bool:
        """The message contains nothing else."""
        return len(self.message.parts) == 1


@dataclass(frozen=True)
class HealthyRequest:
    """A healthy request, decoded, with values that a fault may change.

    ``required`` are the messages whose reasoning has to be sent back.
    """

    decoded: DecodedExchange
    required: frozenset[int] = frozenset()

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        return self.decoded.messages(REQUEST)

    def fresh(self) -> dict[str, Any]:
        """A copy of the body to change."""
        value = loads(self.decoded.request_text)
        assert isinstance(value, dict)
        return copy.deepcopy(value)

    def nodes(self, kind: type[Part]) -> list[PartNode]:
        """Every part of a kind, in order, without those of server tools."""
        found = ((n, m, p) for n, m in enumerate(self.messages) for p in m.parts if isinstance(p, kind))
        return [PartNode(m, p, n) for n, m, p in found if not getattr(p, "is_server", False)]

    @cached_property
    def calls(self) -> list[PartNode]:
        return self.nodes(ToolCallIR)

    @cached_property
    def results(self) -> list[PartNode]:
        return self.nodes(ToolResultIR)

    @cached_property
    def reasoning(self) -> list[PartNode]:
        return self.nodes(Reasoning)

    @cached_property
    def texts(self) -> list[PartNode]:
        return self.nodes(Text)

    def pairs(self) -> Iterator[tuple[PartNode, PartNode]]:
        """(call, result) of every call that is answered by id."""
        by_id = {result.part.tool_call_id: result for result in self.results if result.part.tool_call_id}
        return ((call, by_id[call.part.id]) for call in self.calls if call.part.id in by_id)

    def read(self, body: JsonValue) -> HealthyRequest:
        """The same request with another body, decoded."""
        exchange = self.decoded.exchange
        request = exchange.request
        assert request is not None
        changed = HttpRequest(request.method, request.url, request.headers, Body(dumps(body)), request.http_version)
        return HealthyRequest(
            DecodedExchange(self.decoded.index, Exchange(exchange.id, changed), self.decoded.protocol)
        )


def value_in(body: Any, pointer: str) -> Any:
    """Value at a pointer. Raises LookupError."""
    for step in split_pointer(pointer) or ():
        body = body[int(step)] if isinstance(body, list) else body[step]
    return body


def put(body: Any, pointer: str, value: Any) -> None:
    """Set the value at a pointer."""
    holder, step = _holder(body, pointer)
    holder[step] = value


def remove(body: Any, pointer: str) -> None:
    """Remove the value at a pointer."""
    holder, step = _holder(body, pointer)
    del holder[step]


def insert(body: Any, pointer: str, value: Any) -> None:
    """Insert an element before the one at a pointer."""
    holder, step = _holder(body, pointer)
    holder.insert(step, value)


def _holder(body: Any, pointer: str) -> tuple[Any, Any]:
    *above, last = split_pointer(pointer) or [""]
    for step in above:
        body = body[int(step)] if isinstance(body, list) else body[step]
    return body, int(last) if isinstance(body, list) else last


def take_out(body: Any, node: PartNode) -> None:
    """Remove a part, and its message if it contains nothing else."""
    remove(body, node.message.pointer if node.is_alone else node.pointer)
