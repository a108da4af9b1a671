"""Faults to plant in healthy requests, each with the rules that describe it and its place.

A fault yields every way to plant it in a healthy request: the changed body, and a function that finds the place in the
decoded result. It knows no protocol: parts are found in the IR and changed at their pointers.

The same request written in another way: none of it may be taken for a fault.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from workbench.contracts import Contract
from workbench.edits.planted_faults.healthy_request import (
    HealthyRequest,
    PartNode,
    insert,
    put,
    remove,
    take_out,
    value_in,
)
from workbench.errors import WireError
from workbench.lazy_dataclass import replace
from workbench.terms import Placement
from workbench.wire import Body, HttpRequest, loads

Where = Callable[[HealthyRequest], list[str]]
"""Finds the right pointers in the request with the fault."""


class PlantedFault(NamedTuple):
    """A request with one fault."""

    body: Any
    where: Where


class FaultKind(NamedTuple):
    """A kind of fault.

    Attributes:
        name: in words.
        rules: slugs that describe it, the best first.
        plant: yields every way to plant it in a healthy request; nothing if it does not apply.
        needs: the contract requires what the fault breaks.
    """

    name: str
    rules: tuple[str, ...]
    plant: Callable[[HealthyRequest], Iterator[PlantedFault]]
    needs: Callable[[Contract], bool] = lambda contract: True


def _keeps_results_together(contract: Contract) -> bool:
    """If neighbours of one role are merged, only an order rule forbids text before results."""
    terms = contract.closure
    return terms.placement is Placement.CONTIGUOUS or (
        terms.placement is Placement.NEXT_MESSAGE and terms.results_first
    )


def _refuses_empty_texts(contract: Contract) -> bool:
    return any(check.when in ("", "empty-text") for check in contract.checks_of("content.empty"))


def _at_call(call_id: str | None) -> Where:
    return lambda request: [n.pointer for n in request.calls if n.part.id == call_id]


def _at_result(call_id: str | None) -> Where:
    return lambda request: [n.pointer for n in request.results if n.part.tool_call_id == call_id]


def _at(*pointers: str) -> Where:
    return lambda request: list(pointers)


def _at_tool(name: str | None) -> Where:
    return lambda request: [tool.pointer for tool in _tools(request) if tool.name == name]


def _at_turn(ids: list[str | None]) -> Where:
    """The message with these calls."""
    return lambda request: [m.pointer for m in request.messages if ids and ids == [c.id for _, c in m.tool_calls()]]


def _either(*places: Where) -> Where:
    return lambda request: [pointer for where in places for pointer in where(request)]


def _is_followed(request: HealthyRequest, node: PartNode) -> bool:
    """Something that does not wait for the result comes after it."""
    others = [n for n in request.results if n.number == node.number and n is not node]
    return bool(others) or any(message for message in request.messages[node.number + 1 :])


def _lose_result(request: HealthyRequest) -> Iterator[PlantedFault]:
    for call, result in request.pairs():
        if _is_followed(request, result):
            body = request.fresh()
            take_out(body, result)
            yield PlantedFault(body, _at_call(call.part.id))


def _lose_call(request: HealthyRequest) -> Iterator[PlantedFault]:
    for call, result in request.pairs():
        body = request.fresh()
        take_out(body, call)
        yield PlantedFault(body, _at_result(result.part.tool_call_id))


def _answer_twice(request: HealthyRequest) -> Iterator[PlantedFault]:
    for _, result in request.pairs():
        body = request.fresh()
        pointer = result.message.pointer if result.is_alone else result.pointer
        insert(body, pointer, value_in(request.fresh(), pointer))
        yield PlantedFault(body, _at_result(result.part.tool_call_id))


def _share_an_id(request: HealthyRequest) -> Iterator[PlantedFault]:
    for first, second in zip(request.calls, request.calls[1:], strict=False):
        if first.number == second.number and first.field("id") and second.field("id"):
            body = request.fresh()
            put(body, second.field("id"), first.part.id)
            for result in request.results:
                if result.part.tool_call_id == second.part.id:
                    put(body, result.field("tool_call_id"), first.part.id)
            yield PlantedFault(body, _at_call(first.part.id))


def _name_another_call(request: HealthyRequest) -> Iterator[PlantedFault]:
    for call, result in request.pairs():
        if result.field("tool_call_id"):
            body, other = request.fresh(), f"{call.part.id}x"
            put(body, result.field("tool_call_id"), other)
            yield PlantedFault(body, _either(_at_call(call.part.id), _at_result(other)))


def _put_message_between(request: HealthyRequest) -> Iterator[PlantedFault]:
    """A user message before the results, a copy of the first plain one."""
    words = next((m for m in request.messages if m.role == "user" and not any(m.tool_results())), None)
    for call, result in request.pairs() if words else ():
        assert words is not None
        if result.number == call.number + 1:
            body = request.fresh()
            insert(body, result.message.pointer, value_in(request.fresh(), words.pointer))
            yield PlantedFault(body, _either(_at(result.message.pointer), _at_call(call.part.id)))


def _break_ids(request: HealthyRequest) -> Iterator[PlantedFault]:
    for call, result in request.pairs():
        if call.field("id") and result.field("tool_call_id"):
            body, bad = (
                request.fresh(),
                "an id that no provider accepts: it has spaces and a colon, and is far too long",
            )
            put(body, call.field("id"), bad)
            put(body, result.field("tool_call_id"), bad)
            yield PlantedFault(body, _either(_at_call(bad), _at_result(bad)))


def _cut_arguments(request: HealthyRequest) -> Iterator[PlantedFault]:
    for call in request.calls:
        pointer = call.field("input")
        text = value_in(request.fresh(), pointer) if pointer else None
        if isinstance(text, str) and len(text) > 2 and call.part.raw is not None:
            body = request.fresh()
            put(body, pointer, text[:-1])
            yield PlantedFault(body, _at_call(call.part.id))


def _write_arguments_as_text(request: HealthyRequest) -> Iterator[PlantedFault]:
    for call in request.calls:
        pointer = call.field("input")
        if pointer and isinstance(value_in(request.fresh(), pointer), dict):
            body = request.fresh()
            put(body, pointer, '{"path": "a"}')
            yield PlantedFault(body, _at_call(call.part.id))


def _lose_reasoning(request: HealthyRequest) -> Iterator[PlantedFault]:
    """Remove all reasoning of one turn; the rest stays."""
    for number in dict.fromkeys(n.number for n in request.reasoning if n.number in request.required):
        body, turn = request.fresh(), request.messages[number]
        mine = [n for n in request.reasoning if n.number == number]
        for node in reversed(mine):
            signature = node.field("signature")
            if any(call.pointer == node.pointer for call in request.calls):  # it is a field of its call
                remove(body, signature)
            else:
                take_out(body, node)
        ids = [call.id for _, call in turn.tool_calls()]
        yield PlantedFault(body, _at_turn(ids))


def _change_reasoning(request: HealthyRequest) -> Iterator[PlantedFault]:
    for node in request.reasoning:
        yield from _with_text(request, node, f"{node.part.text or ''}"[:-1] + "?")


def _empty_reasoning(request: HealthyRequest) -> Iterator[PlantedFault]:
    for node in request.reasoning:
        if node.number in request.required:
            yield from _with_text(request, node, "")


def _with_text(request: HealthyRequest, node: PartNode, text: str) -> Iterator[PlantedFault]:
    """Replace the text of some reasoning; text around it in the same string (its tags) stays."""
    pointer, body = node.field("text"), request.fresh()
    whole = value_in(body, pointer) if pointer and node.part.text else None
    if isinstance(whole, str) and node.part.text in whole:
        put(body, pointer, whole.replace(node.part.text, text, 1))
        yield PlantedFault(body, _at(pointer))


def _declare_twice(request: HealthyRequest) -> Iterator[PlantedFault]:
    for tool in _tools(request)[:1]:
        body = request.fresh()
        insert(body, tool.pointer, value_in(request.fresh(), tool.pointer))
        yield PlantedFault(body, _at_tool(tool.name))


def _tools(healthy_request: HealthyRequest) -> list[Any]:
    request = healthy_request.decoded.request
    return [t for t in request.tools if t.kind == "client" and t.pointer] if request else []


def _misname_a_tool(request: HealthyRequest) -> Iterator[PlantedFault]:
    for tool in _tools(request)[-1:]:
        body, bad = request.fresh(), "read the file!"
        holder = _object_named(value_in(body, tool.pointer), tool.name)
        if holder is not None:
            holder["name"] = bad
            yield PlantedFault(body, _at_tool(bad))


def _object_named(value: Any, name: str | None) -> dict[str, Any] | None:
    """The object with this name: a declaration, or its wrapped part."""
    if not isinstance(value, dict):
        return None
    return (
        value
        if value.get("name") == name
        else next(filter(None, (_object_named(v, name) for v in value.values())), None)
    )


def _empty_a_text(request: HealthyRequest) -> Iterator[PlantedFault]:
    for node in request.texts:
        is_block = node.pointer.startswith(f"{node.message.pointer}/content/")
        if node.message.role == "assistant" and is_block and node.field("text"):
            body = request.fresh()
            put(body, node.field("text"), "")
            yield PlantedFault(body, _at(node.field("text")))


def _show_a_key(request: HealthyRequest) -> Iterator[PlantedFault]:
    for node in request.texts[:1]:
        if node.field("text"):
            body, key = request.fresh(), "sk-" + "proj-" + "Zq8" * 16
            put(body, node.field("text"), f"{node.part.text} use {key}")
            yield PlantedFault(body, _at(node.field("text")))


FAULTS: tuple[FaultKind, ...] = (
    FaultKind("a tool result is missing", ("closure.missing-result",), _lose_result),
    FaultKind("a tool call is missing", ("closure.orphan-result",), _lose_call),
    FaultKind("a tool call has two results", ("closure.duplicate-result",), _answer_twice),
    FaultKind(
        "two tool calls have the same id",
        ("closure.duplicate-id",),
        _share_an_id,
        lambda c: c.closure.unique_ids != "none",
    ),
    FaultKind(
        "a tool result has the id of another call",
        ("closure.id-mismatch", "closure.orphan-result", "closure.missing-result"),
        _name_another_call,
    ),
    FaultKind(
        "user text comes before the tool results",
        ("closure.not-adjacent", "closure.missing-result", "closure.result-not-first"),
        _put_message_between,
        _keeps_results_together,
    ),
    FaultKind(
        "an id in a different format",
        ("closure.id-format",),
        _break_ids,
        lambda contract: bool(contract.closure.id_pattern or contract.closure.id_max_length),
    ),
    FaultKind("argument text is truncated", ("args.invalid-json", "args.truncated"), _cut_arguments),
    FaultKind("arguments are a string, not an object", ("args.not-object",), _write_arguments_as_text),
    FaultKind("the reasoning of a turn is missing", ("reasoning.missing", "reasoning.unpaired"), _lose_reasoning),
    FaultKind("replayed reasoning is changed", ("reasoning.altered",), _change_reasoning),
    FaultKind("replayed reasoning is empty", ("reasoning.empty", "reasoning.altered"), _empty_reasoning),
    FaultKind(
        "a tool is declared twice",
        ("schema.duplicate-name",),
        _declare_twice,
        lambda contract: contract.term("schema.unique-names") is True,
    ),
    FaultKind(
        "a tool name in a different format",
        ("schema.name",),
        _misname_a_tool,
        lambda contract: bool(contract.term("schema.name-pattern")),
    ),
    FaultKind("a text part is empty", ("content.empty",), _empty_a_text, _refuses_empty_texts),
    FaultKind("text contains an API key", ("secret.in-body",), _show_a_key),
)
"""Every kind, in report order."""


def rewrite(request: HttpRequest) -> Iterator[HttpRequest]:
    """The request reformatted: indented, in ASCII only, and with its top-level keys reversed."""
    try:
        value = loads(request.body.raw)
    except WireError:
        return
    for text in (
        json.dumps(value, indent=2, ensure_ascii=False),
        json.dumps(value, ensure_ascii=True, separators=(",", ":")),
        json.dumps(_reverse_keys(value), ensure_ascii=False),
    ):
        yield replace(request, body=Body(text.encode("utf-8", "surrogatepass")))


def _reverse_keys(value: Any) -> Any:
    """The top-level keys of a body the other way round."""
    return dict(reversed(value.items())) if isinstance(value, dict) else value
