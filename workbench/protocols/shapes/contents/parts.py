"""Contents made of parts (``{"role": "model", "parts": [{"text": …}, {"functionCall": {…}}]}``).

Facts: ``Content``, ``Part``, ``FunctionCall``, ``FunctionResponse`` and their neighbours in ``types.py`` of the
``google-genai`` SDK 3.4; recordings. A part holds exactly one kind of data, and beside it what is said of it: that it
is a thought, and an opaque ``thoughtSignature``, which may be on a part of any kind.

``{"output": …}`` and ``{"error": …}`` are the convention (docstring of ``FunctionResponse.response`` in the
``google-genai`` SDK 3.4); without them the whole object is what the function returned. The SDK's own automatic calling
writes ``result``; clients were recorded that write ``return_value`` and ``value``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

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
from workbench.lazy_dataclass import replace
from workbench.protocols.common.reading import ITSELF, STRUCTURED, VERBATIM, Notes, misshapen_message
from workbench.protocols.shapes.contents.nodes import ContentNode, as_list, key_of, snake
from workbench.wire import type_name, type_words

WRAPPERS = ("output", "error", "result", "return_value", "value")
"""Keys that mean nothing but "this is what came back"."""


def result_content(node: ContentNode) -> tuple[tuple[Part, ...], bool | None]:
    """Content of a result, and its error flag: by convention a result with only ``error`` is one.

    A string becomes a text, a list of strings one text for each; any other value is kept as it is.
    """
    value = node.value.get("response")
    if value is None:
        return (), None
    node.take("content", "response")
    at = f"{node.at}/response"
    if not isinstance(value, dict):
        node.notes.shape(f"the response of a function is {type_words(value)}, not an object", at)
        return (_structured_part(value, at),), None
    is_error = True if list(value) == ["error"] else None
    if not value or not all(key in WRAPPERS for key in value):
        return (_structured_part(value, at),) if value else (), is_error
    members = {key: inner for key, inner in value.items() if key != "error" or inner is not None}
    return tuple(part for key, inner in members.items() for part in _output(inner, f"{at}/{key}")), is_error


def _output(value: JsonValue, at: str) -> Iterator[Part]:
    if isinstance(value, str) or (isinstance(value, list) and value and all(isinstance(v, str) for v in value)):
        yield from (Text(item, source=Source(pointer, ITSELF)) for item, pointer in as_list(value, at))
    else:
        yield _structured_part(value, at)


def _structured_part(value: JsonValue, at: str) -> Opaque:
    return Opaque(STRUCTURED, value, Source(at, VERBATIM))


def response_of(texts: list[str], values: list[JsonValue], *, is_error: bool) -> Mapping[str, JsonValue]:
    """The object for a tool result: texts are wrapped, an object is unchanged. ``result_content`` undoes it."""
    entries = [*texts, *values]
    value: JsonValue = entries[0] if len(entries) == 1 else entries or None
    if is_error:
        return {"error": value}
    if not entries:
        return {}
    is_plain = isinstance(value, dict) and value and not all(key in WRAPPERS for key in value)
    return value if is_plain else {"output": value}


FORMAT = "gemini"
FAMILIES = ("image", "audio", "video")
"""Kinds of media that are the first half of their MIME types."""

ANY_TYPE = "/*"
_OK = "OUTCOME_OK"

Reader: TypeAlias = Callable[[ContentNode, str], Part | None]
"""Makes a part of a node and the key of its data; None where the shape of the data does not allow it."""


def read_content(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """One content of a request. Without a role it is the user's (docstring of ``Content.role``)."""
    message = _message(value, pointer, notes, "user")
    if not message.parts:
        is_there = isinstance(value, dict) and "parts" in value
        notes.add("content.empty", "a content without parts", "/parts" if is_there else "")
    return message


def read_answer(value: JsonValue, pointer: str, notes: Notes) -> Message:
    """The content of a candidate. It may lack its parts, or be missing: filters empty it."""
    return _message({} if value is None else value, pointer, notes, "model")


def _message(value: JsonValue, pointer: str, notes: Notes, default: str) -> Message:
    notes.base = pointer
    if isinstance(value, str):
        notes.shape("a content that is a string, not an object with parts", "")
        return Message(default, (Text(value, source=Source("", ITSELF)),), pointer=pointer)
    if not isinstance(value, dict):
        return misshapen_message(value, "a content", pointer, notes)
    role = value.get("role")
    own = {"role", "parts"} if role is None or isinstance(role, str) else {"parts"}
    if "role" not in own:
        notes.shape(f"the role is {type_words(role)}, not a string", "/role")
    extra = {k: v for k, v in value.items() if k not in own}
    parts = read_parts(value.get("parts"), "/parts", notes)
    return Message(role if isinstance(role, str) else default, parts, extra or NOTHING, pointer)


def read_parts(value: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    """The parts of a content; none for null."""
    if value is None:
        return ()
    return tuple(part for item, pointer in as_list(value, at) for part in read_part(item, pointer, notes))


def read_part(value: JsonValue, at: str, notes: Notes) -> tuple[Part, ...]:
    """Read a part: a signature on anything but reasoning becomes a separate reasoning part right before it.

    Both have the pointer of the part then. Never raises.
    """
    if not isinstance(value, dict):
        notes.shape(f"a part is {type_words(value)}, not an object", at)
        return (Opaque(type_name(value), value, Source(at, VERBATIM)),)
    node = ContentNode(value, at, notes)
    kinds = [key for key in value if key in _READERS and value[key] is not None]
    if len(kinds) > 1:
        notes.shape(f"a part with more than one kind of data: {', '.join(kinds)}", at)
        kinds.sort(key=lambda key: key == "text")
    signature = value.get(key_of(value, "thoughtSignature"))
    if _is_reasoning(value, kinds, signature):
        return (_reasoning(node),)
    if not isinstance(signature, str):
        return (_read(node, kinds[0] if kinds else ""),)
    spelled = key_of(value, "thoughtSignature")
    proof = Reasoning(Carrier.THOUGHT_SIGNATURE, None, signature, source=Source(at, {"signature": f"/{spelled}"}))
    node.skip(spelled)
    return (proof, _read(node, kinds[0] if kinds else ""))


def _is_reasoning(value: Mapping[str, JsonValue], kinds: list[str], signature: JsonValue) -> bool:
    """A thought, or a signature that has a part to itself: streams end with one on an empty text."""
    if kinds and (kinds[0] != "text" or not isinstance(value["text"], str)):
        return False
    if value.get("thought") is True:
        return True
    if not isinstance(signature, str):
        return False
    return not value["text"] if kinds else len(value) == 1


def _reasoning(node: ContentNode) -> Reasoning:
    text, signature = node.string("text", "text"), node.string("signature", "thoughtSignature")
    if node.value.get("thought") is True:
        node.skip("thought")
    return Reasoning(Carrier.THOUGHT_SIGNATURE, text, signature, extra=node.rest(), source=node.source())


def _read(node: ContentNode, key: str) -> Part:
    part = _READERS[key](node, key) if key else None
    if part is not None:
        return part
    unsigned = _without_signature(node)
    if key or not unsigned:
        what = f"a part whose {key!r} is {type_words(node.value[key])}" if key else "a part without data"
        node.notes.shape(what, f"{node.at}/{key}" if key else node.at)
    return Opaque(key or next(iter(unsigned), ""), unsigned, Source(node.at, VERBATIM))


def _without_signature(node: ContentNode) -> Mapping[str, JsonValue]:
    """The whole part but for a signature that is told apart."""
    spelled = key_of(node.value, "thoughtSignature")
    is_apart = spelled in node.keys_read
    return {k: v for k, v in node.value.items() if not (is_apart and k == spelled)}


def _text(node: ContentNode, key: str) -> Part | None:
    if not isinstance(node.value[key], str):
        return None
    return Text(node.take("text", key), extra=node.rest(), source=node.source())


def _function_call(node: ContentNode, key: str) -> Part | None:
    return _call(node, key, "name", is_server=False)


def _tool_call(node: ContentNode, key: str) -> Part | None:
    return _call(node, key, "toolType", is_server=True)


def _call(node: ContentNode, key: str, name: str, *, is_server: bool) -> Part | None:
    inner = node.inside(key)
    if inner is None:
        return None
    args = inner.value.get("args")
    if args is not None and not isinstance(args, dict):
        node.notes.add(
            "args.not-object", f"the args of a call are {type_words(args)}, not an object", f"{inner.at}/args"
        )
    id, named = inner.string("id", "id"), inner.string("name", name)
    value = {} if args is None else inner.take("input", "args")
    node.absorb(inner)
    return ToolCallIR(id, named, value, FORMAT, is_server=is_server, extra=node.rest(), source=node.source())


def _function_response(node: ContentNode, key: str) -> Part | None:
    return _result(node, key, "name", is_server=False)


def _tool_response(node: ContentNode, key: str) -> Part | None:
    return _result(node, key, "toolType", is_server=True)


def _result(node: ContentNode, key: str, name: str, *, is_server: bool) -> Part | None:
    inner = node.inside(key)
    if inner is None:
        return None
    id, named = inner.string("tool_call_id", "id"), inner.string("name", name)
    content, is_error = result_content(inner)
    if "parts" in inner.value and not is_server:
        inner.keys_read.add("parts")
        content += tuple(_inner(v, at, node.notes) for v, at in as_list(inner.value["parts"], f"{inner.at}/parts"))
    node.absorb(inner)
    return ToolResultIR(id, content, is_error, named, is_server, extra=node.rest(), source=node.source())


def _inner(value: JsonValue, at: str, notes: Notes) -> Part:
    """A part of a function response: media, and nothing else is known."""
    key = next((k for k in value if k in _MEDIA and value[k] is not None), "") if isinstance(value, dict) else ""
    part = _MEDIA[key](ContentNode(value, at, notes), key) if key else None
    if part is None:
        notes.shape("a part of a function response that is not media", at)
    return part or Opaque(key or type_name(value), value, Source(at, VERBATIM))


def _inline(node: ContentNode, key: str) -> Part | None:
    return _media(node, key, "data", "data")


def _file(node: ContentNode, key: str) -> Part | None:
    return _media(node, key, "url", "fileUri")


def _media(node: ContentNode, key: str, name: str, holds: str) -> Part | None:
    inner = node.inside(key)
    if inner is None:
        return None
    raw_type = inner.value.get(key_of(inner.value, "mimeType"))
    family = raw_type[: -len(ANY_TYPE)] if isinstance(raw_type, str) and raw_type.endswith(ANY_TYPE) else ""
    is_kind = family in FAMILIES
    media_type = inner.string("kind" if is_kind else "media_type", "mimeType")
    content = {name: inner.string(name, holds)}
    node.absorb(inner)
    extra, source = node.rest(), node.source()
    if is_kind:  # the kind alone: it is the first half of the string
        source = replace(source, slices={"kind": (0, len(family))})
        return Media(family, None, extra=extra, source=source, **content)
    return Media(media_kind(media_type), media_type, extra=extra, source=source, **content)


def media_kind(media_type: str | None) -> str:
    """The kind of ``ir.Media`` that a MIME type belongs to; a document is what is nothing else."""
    family = (media_type or "").partition("/")[0].lower()
    return family if family in FAMILIES else "document"


def _code(node: ContentNode, key: str) -> Part | None:
    """Code that the provider runs. Its call has no name on the wire: the key stands for it."""
    inner = node.inside(key)
    if inner is None:
        return None
    id = inner.string("id", "id")
    code = {k: v for k, v in inner.value.items() if k not in inner.keys_read}
    inner.keys_read.update(code)
    if code or not inner.value:
        inner.pairs.append(("input", ""))
    node.absorb(inner)
    return ToolCallIR(id, key, code, FORMAT, is_server=True, extra=node.rest(), source=node.source())


def _code_result(node: ContentNode, key: str) -> Part | None:
    inner = node.inside(key)
    if inner is None:
        return None
    id, outcome = inner.string("tool_call_id", "id"), inner.value.get("outcome")
    content: tuple[Part, ...] = ()
    if isinstance(inner.value.get("output"), str):
        inner.keys_read.add("output")
        content = (Text(inner.value["output"], source=Source(f"{inner.at}/output", ITSELF)),)
    node.absorb(inner)
    is_error = outcome != _OK if isinstance(outcome, str) else None
    return ToolResultIR(id, content, is_error, is_server=True, extra=node.rest(), source=node.source())


def _spelling(readers: Mapping[str, Reader]) -> Mapping[str, Reader]:
    return {spelling: reader for key, reader in readers.items() for spelling in (key, snake(key))}


_MEDIA: Mapping[str, Reader] = _spelling({"inlineData": _inline, "fileData": _file})
_READERS: Mapping[str, Reader] = _spelling(
    {
        "inlineData": _inline,
        "fileData": _file,
        "text": _text,
        "functionCall": _function_call,
        "functionResponse": _function_response,
        "executableCode": _code,
        "codeExecutionResult": _code_result,
        "toolCall": _tool_call,
        "toolResponse": _tool_response,
    }
)
