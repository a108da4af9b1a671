"""Faults to plant in healthy responses, whole ones and streams."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from workbench.edits.planted_faults import put, remove, value_in
from workbench.ir import ToolCallIR
from workbench.lazy_dataclass import dataclass, replace
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.wire import Body, Exchange, Framing, dumps, loads


class SpoiledAnswer(NamedTuple):
    """A response with one fault.

    Attributes:
        body: its bytes.
        pointers: the right places, any of them; empty for any place.
    """

    body: bytes
    pointers: tuple[str, ...] = ()


class AnswerFault(NamedTuple):
    """A kind of fault. ``rules``: slugs that describe it. ``spoil``: all ways to plant it in a healthy response."""

    name: str
    rules: tuple[str, ...]
    spoil: Callable[[HealthyAnswer], Iterator[SpoiledAnswer]]


@dataclass(frozen=True)
class HealthyAnswer:
    """A healthy response, decoded."""

    decoded: DecodedExchange

    def fresh(self) -> Any:
        """A copy of the body to change; None for a stream."""
        return None if self.decoded.events else copy.deepcopy(loads(self.decoded.response_text))

    @cached_property
    def calls(self) -> list[tuple[str, ToolCallIR, str]]:
        """(pointer, call, pointer of its arguments); empty for a stream."""
        if self.decoded.events:
            return []
        found = [(m, c) for m in self.decoded.messages(RESPONSE) for _, c in m.tool_calls()]
        return [(m.absolute(c), c, m.absolute(c, "input")) for m, c in found if c.source.fields.get("input")]

    @property
    def blocks(self) -> list[bytes]:
        """Blocks of a stream of server-sent events; empty for anything else."""
        is_sse = bool(self.decoded.events) and self.decoded.framing is Framing.SSE
        return re.split(rb"(?<=\n\n)", self.decoded.response_text.replace(b"\r\n", b"\n"))[:-1] if is_sse else []

    def with_body(self, body: bytes) -> Exchange:
        """The exchange with another response body."""
        exchange = self.decoded.exchange
        assert exchange.response is not None
        return replace(exchange, response=replace(exchange.response, body=Body(body)))


def _cut_arguments(healthy_answer: HealthyAnswer) -> Iterator[SpoiledAnswer]:
    for pointer, call, place in healthy_answer.calls:
        if isinstance(call.raw, str) and len(call.raw) > 2:
            yield _with_value(healthy_answer, place, call.raw[:-1], pointer)


def _encode_twice(healthy_answer: HealthyAnswer) -> Iterator[SpoiledAnswer]:
    for pointer, call, place in healthy_answer.calls:
        if isinstance(call.input, dict) and call.input:
            once = json.dumps(call.input)
            yield _with_value(healthy_answer, place, json.dumps(once) if isinstance(call.raw, str) else once, pointer)


def _forget_an_argument(healthy_answer: HealthyAnswer) -> Iterator[SpoiledAnswer]:
    for pointer, call, place in healthy_answer.calls:
        name = (
            next(iter(_required_names(healthy_answer, call) & set(call.input)), None)
            if isinstance(call.input, dict)
            else None
        )
        if name is not None and isinstance(call.input, dict):
            rest = {key: value for key, value in call.input.items() if key != name}
            yield _with_value(healthy_answer, place, json.dumps(rest) if isinstance(call.raw, str) else rest, pointer)


def _required_names(healthy_answer: HealthyAnswer, call: ToolCallIR) -> set[str]:
    request = healthy_answer.decoded.request
    for tool in request.tools if request else ():
        if tool.name == call.name and isinstance(tool.schema, dict):
            required = tool.schema.get("required")
            return {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    return set()


def _call_a_stranger(healthy_answer: HealthyAnswer) -> Iterator[SpoiledAnswer]:
    for message in healthy_answer.decoded.messages(RESPONSE) if not healthy_answer.decoded.events else ():
        for _, call in message.tool_calls():
            if call.name and call.source.fields.get("name"):
                place = message.absolute(call, "name")
                yield _with_value(healthy_answer, place, f"{call.name}_of_nobody", message.absolute(call))


def _write_the_call_as_text(healthy_answer: HealthyAnswer) -> Iterator[SpoiledAnswer]:
    """Only if calls are in a list next to the text: the list is removed, and the text contains the call."""
    for pointer, call, _ in healthy_answer.calls:
        holder, _, number = pointer.rpartition("/")
        if holder.endswith("/tool_calls") and number == "0":
            body, text = healthy_answer.fresh(), json.dumps({"name": call.name, "arguments": call.input})
            message = holder.removesuffix("/tool_calls")
            remove(body, holder)
            put(body, f"{message}/content", f"<tool_call>\n{text}\n</tool_call>")
            yield SpoiledAnswer(dumps(body), (f"{message}/content",))


def _with_value(healthy_answer: HealthyAnswer, place: str, value: Any, pointer: str) -> SpoiledAnswer:
    body = healthy_answer.fresh()
    assert value_in(body, place) is not None
    put(body, place, value)
    return SpoiledAnswer(dumps(body), (pointer,))


def _break_off(healthy_answer: HealthyAnswer) -> Iterator[SpoiledAnswer]:
    if len(blocks := healthy_answer.blocks) > 3:
        yield SpoiledAnswer(b"".join(blocks[: len(blocks) // 2]))


def _lose_the_end(healthy_answer: HealthyAnswer) -> Iterator[SpoiledAnswer]:
    """Remove every block after the last one that adds to a part."""
    ends = [n for m in healthy_answer.decoded.messages(RESPONSE) for p in m.parts for n in p.source.events]
    if ends and 0 < max(ends) + 1 < len(blocks := healthy_answer.blocks):
        yield SpoiledAnswer(b"".join(blocks[: max(ends) + 1]))


def _damage_a_character(healthy_answer: HealthyAnswer) -> Iterator[SpoiledAnswer]:
    body = healthy_answer.decoded.response_text
    found = re.search(rb"[\xc3-\xf4][\x80-\xbf]+", body)
    if healthy_answer.decoded.events and found and healthy_answer.decoded.framing is not Framing.AWS:
        bad = "\N{REPLACEMENT CHARACTER}".encode() * len(found[0])
        yield SpoiledAnswer(body[: found.start()] + bad + body[found.end() :])


ANSWER_FAULTS: Sequence[AnswerFault] = (
    AnswerFault("argument text in a response is truncated", ("args.invalid-json", "args.truncated"), _cut_arguments),
    AnswerFault("arguments are double-encoded", ("args.double-encoded", "args.not-object"), _encode_twice),
    AnswerFault("a required argument is missing", ("args.schema", "args.empty"), _forget_an_argument),
    AnswerFault("an undeclared tool is called", ("call.unknown-tool",), _call_a_stranger),
    AnswerFault("a tool call is written as text", ("text.unparsed-call",), _write_the_call_as_text),
    AnswerFault("a stream ends early", ("stream.truncated", "stream.no-terminator"), _break_off),
    AnswerFault("a stream has no terminal event", ("stream.no-terminator", "stream.truncated"), _lose_the_end),
    AnswerFault("a character is damaged", ("stream.encoding",), _damage_a_character),
)
"""Every kind, in report order."""
