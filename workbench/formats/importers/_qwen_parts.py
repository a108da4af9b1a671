"""Reads Gemini parts of a Qwen Code chat into the IR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.formats.importers._lines import ImportDamage
from workbench.formats.importers._values import count, mapping, mappings, text
from workbench.ir import (
    Carrier,
    JsonValue,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCallIR,
    ToolResultIR,
    Usage,
)
from workbench.wire import dumps


def message_of(
    value: dict[str, JsonValue], number: int, calls: Sequence[ToolCallIR], damage: ImportDamage
) -> tuple[str, Message]:
    """(role, message) of an entry; the message is None without parts.

    Args:
        number: line number, for ids of calls without one.
        calls: calls of the previous response, for ids of results without one.
    """
    kind = value.get("type")
    parts = list(damage.objects(mapping(value.get("message")).get("parts"), "a part"))
    if kind == "assistant":
        return "assistant", Message("assistant", tuple(_model_parts(parts, number)))
    if kind == "user" or kind == "tool_result":
        results = [p for p in parts if isinstance(p.get("functionResponse"), dict)]
        if results:
            if len(results) < len(parts):
                damage.leave_out("a part next to tool results, which is not supported")
            return "tool", Message("tool", tuple(_results(results, calls)))
        return "user", Message("user", tuple(_part(p) for p in parts))
    if parts or kind != "system":
        damage.unknown("an entry", kind)
    return "", Message("system", ())


def _model_parts(parts: Sequence[dict[str, JsonValue]], number: int) -> Iterator[Part]:
    for n, part in enumerate(parts):
        if part.get("thought") is True:
            yield Reasoning(Carrier.REASONING_CONTENT, text(part.get("text")))
        elif isinstance(part.get("functionCall"), dict):
            call = part["functionCall"]
            args = call.get("args")
            id = text(call.get("id")) or f"call_{number}_{n}"
            yield ToolCallIR(id, text(call.get("name")) or None, {} if args is None else args, "function")
        else:
            yield _part(part)


def _part(part: dict[str, JsonValue]) -> Part:
    if isinstance(part.get("text"), str):
        return Text(part["text"])
    inline = mapping(part.get("inlineData"))
    if text(inline.get("data")):
        kind = text(inline.get("mimeType"))
        family = kind.partition("/")[0]
        name = family if family in ("image", "audio", "video") else "document"
        return Media(name, kind or None, data=text(inline["data"]))
    return Opaque(next(iter(part), "empty"), part)


def _results(parts: Sequence[dict[str, JsonValue]], calls: Sequence[ToolCallIR]) -> Iterator[Part]:
    """Tool results; one without id answers the first unanswered call of its name."""
    open_calls = [(c.id, c.name) for c in calls]
    for part in parts:
        held = part["functionResponse"]
        id, name = text(held.get("id")) or None, text(held.get("name")) or None
        found = next((c for c in open_calls[:1000] if (c[0] == id if id else c[1] == name)), None)
        if found:
            open_calls.remove(found)
        inner = tuple(_part(p) for p in mappings(held.get("parts")))
        said = _result_text(held.get("response"))
        yield ToolResultIR(id or (found[0] if found else None), (*said, *inner), name=name)


def _result_text(response: JsonValue) -> tuple[Part, ...]:
    """Text that the client sends: the value under ``output`` or ``error``, else JSON of the whole."""
    held = mapping(response)
    for key in ("output", "error"):
        if isinstance(held.get(key), str):
            return (Text(held[key]),) if held[key] else ()
    if isinstance(response, str):
        return (Text(response),) if response else ()
    return () if response is None else (Text(dumps(response).decode("utf-8", "replace")),)


def usage_of(held: dict[str, JsonValue]) -> Usage | None:
    """Token counts, made disjoint."""
    if not held:
        return None
    names = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount")
    asked, said, cached, thought = (count(held.get(n)) for n in names)
    fresh = None if asked is None else max(asked - (cached or 0), 0)
    return Usage(fresh, said, cached, None, thought, raw=held)
