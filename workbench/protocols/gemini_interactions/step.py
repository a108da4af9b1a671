"""Steps: what ``input`` and ``steps`` are lists of. Each is one message of the IR.

Facts: ``types/interactions/step.py`` and the types it names, of the ``google-genai`` SDK 3.4; recorded streams. What
the model said has the role ``assistant``, whatever the step; what answers a client's call has the role ``tool``. Types
that end in ``_call`` and ``_result`` are those of tools; all but functions are run by the provider, and their type
names the tool. Clients from before May 2026 send turns (``{"role", "content"}``) and bare content in their place.

A thought is its summaries, one part each, and then its signature: that is what the next step was made from, and what
has to come back before it.

Facts: ``types/interactions/content.py`` and the types it names, of the ``google-genai`` SDK 3.4. Other types are kept
verbatim. What a tool returned is a text, a list of content, or any JSON value (``functionresultstep.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.ir import (
    NOTHING,
    Carrier,
    JsonValue,
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Source,
    Text,
    ToolCallIR,
    ToolResultIR,
)
from workbench.protocols.common.reading import ITSELF, STRUCTURED, VERBATIM, BlockReader, Notes, misshapen_message
from workbench.wire import type_name, type_words

MEDIA = ("image", "audio", "document", "video")
"""Types of content that are kinds of media, too."""

CONTENT = ("text", *MEDIA)


def is_content(value: JsonValue) -> bool:
    """An object of a type that content has, and no step."""
    return isinstance(value, dict) and value.get("type") in CONTENT


def read_content(content: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    """The parts of a ``content``: a list of typed objects; a string, or one object, in older clients.

    Args:
        content: anything else becomes one opaque part and an anomaly.
        at: pointer of the value, relative to its message.
        notes: takes the anomalies.
    """
    if isinstance(content, str):
        return (Text(content, source=Source(at, ITSELF)),)
    if isinstance(content, list):
        return tuple(read_block(value, f"{at}/{n}", notes) for n, value in enumerate(content))
    if isinstance(content, dict) and isinstance(content.get("type"), str):
        return (read_block(content, at, notes),)
    notes.shape(f"content is {type_words(content)}, not a list of parts", at)
    return (Opaque(type_name(content), content, Source(at, VERBATIM)),)


def read_block(value: JsonValue, at: str, notes: Notes) -> Part:
    """One typed object."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        notes.shape(
            "a content part without a type" if isinstance(value, dict) else f"{type_words(value)} as a content part", at
        )
        return Opaque("" if isinstance(value, dict) else type_name(value), value, Source(at, VERBATIM))
    block = BlockReader(value, at, notes)
    if kind == "text" and isinstance(value.get("text"), str):
        return Text(block.take("text", "text"), extra=block.extra(), source=block.source())
    if kind in MEDIA and _is_medium(value):
        media_type, data, url = (
            block.string(name, key) for name, key in (("media_type", "mime_type"), ("data", "data"), ("url", "uri"))
        )
        return Media(kind, media_type, data, url, extra=block.extra(), source=block.source())
    if kind in CONTENT:
        notes.shape(f"a content part of type {kind!r} without its {'text' if kind == 'text' else 'data or uri'}", at)
    return Opaque(kind, value, Source(at, VERBATIM))


def _is_medium(value: Mapping[str, JsonValue]) -> bool:
    return any(isinstance(value.get(key), str) for key in ("data", "uri"))


def read_result(value: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    """Content of a tool result."""
    if isinstance(value, str) or (isinstance(value, list) and value and all(map(is_content, value))):
        return read_content(value, at, notes)
    return (Opaque(STRUCTURED, value, Source(at, VERBATIM)),)


FORMAT = "gemini-step"
"""Value of ``ToolCallIR.format``."""

CALL, RESULT = "_call", "_result"
FUNCTION_CALL, FUNCTION_RESULT = "function_call", "function_result"
_CONTENTS = {"user_input": "user", "model_output": "assistant"}
"""Type of a step that holds content → whose it is."""

KINDS = frozenset({"thought", *_CONTENTS})


def is_step(value: JsonValue) -> bool:
    """An object of a type that steps have."""
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and (kind in KINDS or kind.endswith((CALL, RESULT)))


def read_step(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One step of a request; a wrong value is kept, and an anomaly is noted."""
    return _read(value, pointer, notes, is_answer=False)


def read_output(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One step of an answer."""
    return _read(value, pointer, notes, is_answer=True)


def _read(value: JsonValue, pointer: str, notes: Notes, *, is_answer: bool) -> Message:
    notes.base = pointer
    default = "assistant" if is_answer else "user"
    if not isinstance(value, dict):
        return misshapen_message(value, "a step", pointer, notes)
    kind, block = value.get("type"), BlockReader(value, "", notes)
    if is_content(value):
        return Message(default, (read_block(value, "", notes),), pointer=pointer)
    owner = _CONTENTS.get(kind) if isinstance(kind, str) else None
    if owner is not None:
        return _contents(block, owner, pointer)
    if kind is None and isinstance(value.get("role"), str) and "content" in value:
        block.keys_read.add("role")
        return _contents(block, str(value["role"]), pointer)
    if kind == "thought":
        return Message("assistant", tuple(_read_thought(block)), pointer=pointer)
    if isinstance(kind, str) and kind.endswith(CALL):
        return Message("assistant", (*_proof(block), _call(block, kind)), pointer=pointer)
    if isinstance(kind, str) and kind.endswith(RESULT):
        owner = "tool" if kind == FUNCTION_RESULT else "assistant"
        return Message(owner, (*_proof(block), _result(block, kind)), pointer=pointer)
    if not isinstance(kind, str):
        notes.shape("a step without a type", "")
    role = value.get("role")
    part = Opaque(kind if isinstance(kind, str) else "", value, Source("", VERBATIM))
    return Message(role if isinstance(role, str) else default, (part,), pointer=pointer)


def _contents(block: BlockReader, role: str, pointer: str) -> Message:
    """A step that holds content; none at all is that of a step which has just begun."""
    block.keys_read.add("content")
    content = block.value.get("content")
    parts = () if content is None else read_content(content, "/content", block.notes)
    return Message(role, parts, block.extra(), pointer)


def _proof(block: BlockReader) -> Iterator[Part]:
    """A signature that is on a step itself."""
    signature = block.value.get("signature")
    if isinstance(signature, str) and signature:
        block.keys_read.add("signature")
        yield _signature(signature)


def _signature(value: str) -> Reasoning:
    return Reasoning(Carrier.THOUGHT_SIGNATURE, None, value, source=Source("", {"signature": "/signature"}))


def _read_thought(block: BlockReader) -> Iterator[Reasoning]:
    """The summaries of a thought, one part each, then its signature; the first has the other members.

    Its ``extra`` has the list of summaries too, without their texts: pictures may be among them.
    """
    found = block.value.get("summary")
    entries = found if isinstance(found, list) and all(isinstance(entry, dict) for entry in found) else []
    if found and not entries:
        block.notes.shape("the summary of a thought is not a list of objects", "/summary")
    texts = [(f"/summary/{n}/text", e["text"]) for n, e in enumerate(entries) if isinstance(e.get("text"), str)]
    parts = [Reasoning(Carrier.THOUGHT_SIGNATURE, text, source=Source("", {"text": at})) for at, text in texts]
    parts += _proof(block)  # type: ignore[arg-type]
    more: dict[str, Any] = {}
    if texts:
        block.keys_read.add("summary")
        others = [{k: v for k, v in e.items() if not (k == "text" and isinstance(v, str))} for e in entries]
        if any(entry != {"type": "text"} for entry in others):
            more = {"summary": others}
    extra = block.extra(**more)
    first = parts[0] if parts else Reasoning(Carrier.THOUGHT_SIGNATURE, None)
    fields = {**first.source.fields, "extra": ""} if extra else first.source.fields
    yield Reasoning(first.carrier, first.text, first.signature, extra=extra or NOTHING, source=Source("", fields))
    yield from parts[1:]


def _call(block: BlockReader, kind: str) -> Part:
    is_function = kind == FUNCTION_CALL
    call_id, name = block.string("id", "id"), block.string("name", "name")
    if name is None and not is_function and "name" not in block.value:
        name = kind.removesuffix(CALL)
    value = block.take("input", "arguments")
    if is_function and value is None:
        what = "'arguments' is null" if "arguments" in block.value else "a call without arguments"
        block.notes.add(
            "args.empty", f"{what}: this protocol requires an object, even for empty arguments", "/arguments"
        )
    extra = block.extra(typed=not is_function)
    return ToolCallIR(call_id, name, value, FORMAT, None, not is_function, None, extra, block.source())


def _result(block: BlockReader, kind: str) -> Part:
    call_id, name = block.string("tool_call_id", "call_id"), block.string("name", "name")
    is_error = block.flag("is_error", "is_error")
    content: tuple[Part, ...] = ()
    if block.value.get("result") is not None:
        content = read_result(block.take("content", "result"), "/result", block.notes)
    elif kind == FUNCTION_RESULT:
        what = "null" if "result" in block.value else "absent"
        block.notes.add("content.empty", f"the result of a call is {what}", "/result" if what == "null" else "")
        block.take("content", "result")
    is_server = kind != FUNCTION_RESULT
    extra = block.extra(typed=is_server)
    return ToolResultIR(call_id, content, is_error, name, is_server, extra, block.source())
