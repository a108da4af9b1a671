"""What every conversion has to satisfy, whatever the two protocols are."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from workbench import protocols
from workbench.convert import Conversion, convert, restore_ids, roundtrip_differences
from workbench.convert.convert import read_body
from workbench.convert.normal import normal_request, normal_response
from workbench.ir import ModelRequest, ModelResponse
from workbench.protocols import Adapter
from workbench.provenance import scalars
from workbench.wire.jsontext import loads

_SWITCHES = (
    "/think",
    "parallel_tool_calls",
    "parallel_tool_use",
    "/stream",
    "/is_error",
    "Thoughts",
    "_thoughts",
    "/thought",
)
"""Ends of pointers to switches that some protocols say by a word, by another key, or by leaving them out."""

_NAMING = ("type", "role", "object", "mode")
_VOCABULARY = frozenset(
    [
        "auto",
        "any",
        "required",
        "none",
        "tool",
        "function",
        "validated",
        "default",
        "ephemeral",
        "enabled",
        "disabled",
        "adaptive",
        "user",
        "assistant",
        "model",
        "system",
        "developer",
        "application/json",
        "json_schema",
        "json_object",
        "text",
        "json",
        "required",
    ]
)
"""Words that a protocol has for what is a field of the IR."""


def writers() -> list[Adapter]:
    """Every protocol that can be written."""
    return [adapter for adapter in protocols.every() if hasattr(adapter, "write_request")]


def names() -> list[str]:
    return [adapter.name for adapter in writers()]


def check(body: bytes, source: str, target: str, side: str) -> Conversion:
    """Convert, and hold all laws against it."""
    made = convert(body, target, side=side, protocol=source)
    assert made == convert(body, target, side=side, protocol=source), "the same twice"
    missing = roundtrip_differences(made)
    assert not missing, f"{source} -> {target}: {missing} in {made.body[:2000]!r}"
    assert len(set(made.ids)) == len(made.ids)
    if side == "request":
        lost = [*unaccounted(body, made)]
        assert not lost, f"{source} -> {target}: {lost} of {body[:2000]!r} became {made.body[:2000]!r}: {made.losses}"
    return made


def check_ids_return(body: bytes, source: str, target: str) -> None:
    """There and back, with the map undone, every id is what it was."""
    there = convert(body, target, protocol=source)
    if not protocols.get(target).capabilities.tools.call_ids:
        return
    adapter = protocols.get(target)
    read = normal_request(read_body(adapter, there.body, "request"), adapter).request  # type: ignore[arg-type]
    before = protocols.get(source)
    original = normal_request(before.decode_request(body), before).request
    returned = restore_ids(read, there.ids)
    assert isinstance(returned, ModelRequest)
    assert [*_ids(returned)] == [*_ids(original)], f"{source} -> {target}: {there.ids}"


def _ids(node: ModelRequest | ModelResponse) -> Iterator[str | None]:
    for message in node.messages:
        yield from (call.id for _, call in message.tool_calls())
        yield from (result.tool_call_id for _, result in message.tool_results())


def normal_answer(body: bytes, protocol: str) -> ModelResponse:
    read = read_body(protocols.get(protocol), body, "response")
    assert isinstance(read, ModelResponse)
    return normal_response(read).response


def unaccounted(body: bytes, made: Conversion) -> Iterator[tuple[str, Any]]:
    """Leaves of the old body that the new one does not say, and no loss names."""
    lost = [loss.pointer for loss in made.losses if loss.pointer]
    said = {*_said(loads(made.body)), *_hashable(made.path.split("/"))}
    whole = "\n".join(value for value in said if isinstance(value, str)) + made.path + made.body.decode()
    old = {*(value for value in made.ids.values() if value)}
    for pointer, value in scalars(loads(body)):
        if any(pointer == place or pointer.startswith(f"{place}/") for place in lost):
            continue
        if value in (None, False, "", [], {}) or value in old or _is_said(pointer, value, said, whole):
            continue
        yield pointer, value


def _is_said(pointer: str, value: Any, said: set[Any], whole: str) -> bool:
    if not isinstance(value, str):
        return value in said or pointer.endswith(_SWITCHES)
    key = next((step for step in reversed(pointer.split("/")) if not step.isdigit()), "")
    if (
        value in said
        or key in _NAMING
        or value.lower() in _VOCABULARY
        or value in whole
        or value.partition("base64,")[2] in said
    ):
        return True
    if b64encode(value.encode()).decode() in whole or value.rpartition("/")[2] in said:
        return True
    with suppress(ValueError):
        if value.startswith("data:") and b64decode(value.partition("base64,")[2]).decode() in whole:
            return True  # a document of bare text
    inside = _parsed(value)
    return isinstance(inside, dict | list) and all(
        _is_said("", scalar, said, whole) or scalar in (None, False, "", [], {}) for _, scalar in scalars(inside)
    )


def _said(value: Any) -> Iterator[Any]:
    """Every scalar of a body, those inside strings of JSON too."""
    for _, scalar in scalars(value):
        if isinstance(scalar, str):
            yield scalar
            inside = _parsed(scalar)
            if isinstance(inside, dict | list) and inside:
                yield from _said(inside)
            elif inside is not None:
                yield from _hashable([inside])
        elif not isinstance(scalar, dict | list):
            yield scalar


def _hashable(values: list[Any]) -> Iterator[Any]:
    return (value for value in values if not isinstance(value, dict | list))


def _parsed(text: str) -> Any:
    try:
        return loads(text)
    except Exception:
        return None
