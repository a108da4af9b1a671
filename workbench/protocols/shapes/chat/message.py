"""Messages of Chat Completions, in requests and in answers, and what its dialects add to them.

Facts: ``types/chat/chat_completion_*_message_param.py`` of the official ``openai`` SDK 3.52. The dialects' reasoning:
``reasoning_content`` (DeepSeek, Kimi, GLM, Qwen), ``reasoning`` (OpenRouter, Groq, vLLM), ``reasoning_details``
(OpenRouter, MiniMax), blocks of type ``thinking`` in the content (Mistral, Cohere), ``tool_plan`` (Cohere),
``<think>`` in the text.

``Message.extra`` holds every key that became no part, also a known one whose value is null: null, absent and ``""``
stay three things.

Facts: ``types/chat/chat_completion_message_{function,custom}_tool_call.py`` and the deprecated ``function_call`` of the
official ``openai`` SDK 3.52. Arguments are a string of JSON; servers that send an object, null or nothing are known.

Facts: ``types/chat/chat_completion_content_part_*.py`` of the official ``openai`` SDK 3.52; ``video_url`` (Qwen, Kimi,
GLM, OpenRouter), ``audio_url`` (vLLM), ``document_url`` and ``thinking`` with a list of texts (Mistral), ``thinking``
with a string and ``document`` (``cohere`` SDK 7.3). Other types are kept verbatim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.errors import WireError
from workbench.ir import (
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
from workbench.protocols.common import think_tags
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, misshapen_message
from workbench.wire import loads, type_name, type_words

_URLS = {"image_url": "image", "video_url": "video", "audio_url": "audio", "document_url": "document"}


def read_blocks(content: list[JsonValue], at: str, notes: Notes) -> Iterator[Part]:
    """The parts of a content list."""
    for n, value in enumerate(content):
        yield from _block(value, f"{at}/{n}", notes)


def merge_nested(outer: BlockReader, key: str, inner: BlockReader, *, typed: bool = False) -> Mapping[str, JsonValue]:
    """Make what was taken from the object at ``key`` a part of the block around it; gives the ``extra`` of both."""
    outer.keys_read.add(key)
    outer.pairs += [(name, f"/{key}{suffix}") for name, suffix in inner.pairs]
    rest = inner.extra(typed="type" in inner.value)
    return outer.extra(typed=typed, **({key: rest} if rest else {}))


def media_type(url: JsonValue) -> str | None:
    """The MIME type that a ``data:`` URL names."""
    if not isinstance(url, str) or not url.startswith("data:"):
        return None
    return url[5:].partition(",")[0].partition(";")[0] or None


def _block(value: JsonValue, at: str, notes: Notes) -> Iterator[Part]:
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        notes.shape(
            "a content part without a type" if isinstance(value, dict) else f"{type_words(value)} as a content part", at
        )
        yield Opaque("" if isinstance(value, dict) else type_name(value), value, Source(at, VERBATIM))
        return
    read = _READERS.get(kind)
    parts = read(BlockReader(value, at, notes)) if read else ()
    if read and not parts:
        notes.shape(f"a content part of type {kind!r} without its {kind!r}", at)
    yield from parts or (Opaque(kind, value, Source(at, VERBATIM)),)


def _text(block: BlockReader) -> tuple[Part, ...]:
    if not isinstance(block.value.get("text"), str):
        return ()
    return (Text(block.take("text", "text"), extra=block.extra(), source=block.source()),)


def _url(block: BlockReader) -> tuple[Part, ...]:
    kind = block.value["type"]
    inside = block.value.get(kind)
    if isinstance(inside, str):
        url, extra = block.take("url", kind), None
    elif isinstance(inside, dict):
        inner = BlockReader(inside, block.at, block.notes)
        url, extra = inner.string("url", "url"), merge_nested(block, kind, inner)
    else:
        return ()
    return (Media(_URLS[kind], media_type(url), url=url, extra=extra or block.extra(), source=block.source()),)


def _audio(block: BlockReader) -> tuple[Part, ...]:
    inside = block.value.get("input_audio")
    if isinstance(inside, str):  # Mistral: base64 or a URL
        is_url = inside.startswith(("https:", "http:", "data:"))
        location = block.take("url" if is_url else "data", "input_audio")
        url, data = (location, None) if is_url else (None, location)
        return (Media("audio", media_type(inside), data, url, extra=block.extra(), source=block.source()),)
    if not isinstance(inside, dict):
        return ()
    inner = BlockReader(inside, block.at, block.notes)
    data, form = inner.string("data", "data"), inside.get("format")
    extra = merge_nested(block, "input_audio", inner)
    return (
        Media("audio", f"audio/{form}" if isinstance(form, str) else None, data, extra=extra, source=block.source()),
    )


def _file(block: BlockReader) -> tuple[Part, ...]:
    inside = block.value.get("file")
    if not isinstance(inside, dict):
        return ()
    inner = BlockReader(inside, block.at, block.notes)
    kind = media_type(inside.get("file_data"))
    content = inner.string("url" if kind else "data", "file_data")
    file_id = inner.string("file_id", "file_id")
    extra = merge_nested(block, "file", inner)
    url, data = (content, None) if kind else (None, content)
    return (Media("file", kind, data, url, file_id, extra, block.source()),)


def _document(block: BlockReader) -> tuple[Part, ...]:
    """A document in a tool result; its data is text, or an object that is kept as it is."""
    inside = block.value.get("document")
    if not isinstance(inside, dict) or not isinstance(inside.get("data"), str):
        return (Opaque("document", block.value, Source(block.at, VERBATIM)),)
    inner = BlockReader(inside, block.at, block.notes)
    text = inner.take("text", "data")
    return (Text(text, merge_nested(block, "document", inner, typed=True), block.source()),)


def _thinking(block: BlockReader) -> tuple[Part, ...]:
    """``{"type": "thinking", "thinking": [{"type": "text", "text": …}]}``, or the same with a string."""
    inside = block.value.get("thinking")
    carrier = Carrier.THINKING if "signature" in block.value else Carrier.THINKING_CHUNK
    signature = block.string("signature", "signature")
    if isinstance(inside, str):
        thinking = block.take("text", "thinking")
        return (Reasoning(carrier, thinking, signature, extra=block.extra(), source=block.source()),)
    if not isinstance(inside, list):
        return ()
    if not inside:
        return (Reasoning(carrier, "", signature, extra=block.extra(), source=block.source()),)
    if not all(isinstance(c, dict) and c.keys() <= {"type", "text"} and isinstance(c.get("text"), str) for c in inside):
        return (Opaque("thinking", block.value, Source(block.at, VERBATIM)),)
    block.keys_read.add("thinking")
    block.pairs.append(("text", "/thinking/0/text"))
    first = Reasoning(carrier, inside[0]["text"], signature, extra=block.extra(), source=block.source())
    return (first, *(_further(carrier, block.at, n, chunk["text"]) for n, chunk in enumerate(inside) if n))


def _further(carrier: Carrier, at: str, number: int, text: str) -> Part:
    return Reasoning(carrier, text, source=Source(at, {"text": f"/thinking/{number}/text"}))


_READERS = {
    "text": _text,
    **dict.fromkeys(_URLS, _url),
    "input_audio": _audio,
    "file": _file,
    "document": _document,
    "thinking": _thinking,
}


FUNCTION, CUSTOM, LEGACY = "openai", "openai-custom", "openai-function-call"
"""Values of ``ToolCallIR.format``: a function, a custom tool with free-text input, the deprecated single call."""


def parse_arguments(raw: str) -> tuple[JsonValue, str | None]:
    """(value, None), or (None, why it is not one JSON value)."""
    if not raw.strip():
        return None, "the argument text is empty"
    try:
        return loads(raw), None
    except WireError as error:
        return None, str(error)


def read_call(value: JsonValue, at: str, notes: Notes) -> Part:
    """One entry of ``tool_calls``."""
    if not isinstance(value, dict):
        notes.shape(f"a tool call is {type_words(value)}, not an object", at)
        return Opaque(type_name(value), value, Source(at, VERBATIM))
    call, kind = BlockReader(value, at, notes), value.get("type")
    inside = value.get("custom" if kind == "custom" else "function")
    if isinstance(inside, dict):
        inner = BlockReader(inside, f"{at}/{'custom' if kind == 'custom' else 'function'}", notes)
        return _custom(call, inner) if kind == "custom" else _function(call, inner)
    if isinstance(kind, str) and kind not in ("function", "custom"):
        return Opaque(kind, value, Source(at, VERBATIM))
    notes.shape("a tool call without a 'function' object", at)
    call_id, extra = call.string("id", "id"), call.extra(typed="type" in value)
    return ToolCallIR(call_id, None, None, FUNCTION, extra=extra, source=call.source())


def is_zero(value: JsonValue) -> bool:
    """An object without a value: servers that write whole structs have it in place of what is absent."""
    return isinstance(value, dict) and not any(value.values())


def read_function_call(call: BlockReader) -> Part:
    """The deprecated ``function_call`` of a message."""
    name = call.string("name", "name")
    value, raw, error = _arguments(call)
    return ToolCallIR(None, name, value, LEGACY, raw, error=error, extra=call.extra(), source=call.source())


def _function(call: BlockReader, function: BlockReader) -> Part:
    kind = call.value.get("type")
    call_id, name = call.string("id", "id"), function.string("name", "name")
    value, raw, error = _arguments(function)
    extra = merge_nested(call, "function", function, typed=kind not in ("function", None))
    return ToolCallIR(call_id, name, value, FUNCTION, raw, error=error, extra=extra, source=call.source())


def _custom(call: BlockReader, custom: BlockReader) -> Part:
    call_id, name, value = call.string("id", "id"), custom.string("name", "name"), custom.take("input", "input")
    extra = merge_nested(call, "custom", custom)
    return ToolCallIR(call_id, name, value, CUSTOM, extra=extra, source=call.source())


def _arguments(function: BlockReader) -> tuple[JsonValue, str | None, str | None]:
    """(parsed, text, why the text does not parse)."""
    value = function.take("input", "arguments")
    if isinstance(value, str):
        function.pairs.append(("raw", "/arguments"))
        parsed, error = parse_arguments(value)
        return parsed, value, error
    if value is None:
        what = "'arguments' is null" if "arguments" in function.value else "a call without arguments"
        function.notes.add(
            "args.empty",
            f"{what}: this protocol requires a string, even for an empty object",
            f"{function.at}/arguments",
        )
    else:
        message = f"'arguments' is {type_words(value)}, not a string of JSON"
        function.notes.add("args.not-object", message, f"{function.at}/arguments")
    return value, None, None


RESULT_ROLES = ("tool", "function")
_CALLER_ROLES = ("assistant", "model")
_REASONING = {
    "reasoning_content": Carrier.REASONING_CONTENT,
    "reasoning": Carrier.REASONING,
    "tool_plan": Carrier.TOOL_PLAN,
}
_THOUGHTS = frozenset((*_REASONING, "reasoning_details"))
_BESIDE = frozenset(("refusal", "audio"))
_CALLS = frozenset(("tool_calls", "function_call"))


def read_message(value: JsonValue, pointer: str, notes: Notes, *, is_answer: bool = False) -> Message:
    """One message; a wrong value is kept, and an anomaly is noted. The role of an answer goes without saying."""
    notes.base = pointer
    if not isinstance(value, dict):
        return misshapen_message(value, "a message", pointer, notes)
    block = BlockReader(value, "", notes)
    role = value.get("role")
    if isinstance(role, str):
        block.keys_read.add("role")
    elif not is_answer:
        notes.no_role(role)
    role = role if isinstance(role, str) else "assistant" if is_answer else ""
    is_result = role in RESULT_ROLES or (role not in _CALLER_ROLES and "tool_call_id" in value)
    parts = (_result(block),) if is_result else _model_parts(block, role)
    if not _CALLS.isdisjoint(value):
        parts = (*parts, *_calls(block))
    return Message(role, parts, block.extra(typed="type" in value), pointer)


def _model_parts(block: BlockReader, role: str) -> tuple[Part, ...]:
    """The parts of a message that is no result, without its calls."""
    reasoning = () if _THOUGHTS.isdisjoint(block.value) else _reasoning(block)
    beside = () if _BESIDE.isdisjoint(block.value) else _beside(block)
    return (*reasoning, *_content(block, role), *beside)


def _reasoning(block: BlockReader) -> Iterator[Part]:
    for key, carrier in _REASONING.items():
        value = block.value.get(key)
        if isinstance(value, str):
            block.keys_read.add(key)
            yield Reasoning(carrier, value, source=Source(f"/{key}", ITSELF))
        elif value is not None:
            block.notes.shape(f"{key!r} is {type_words(value)}, not a string", f"/{key}")
    details = block.elements("reasoning_details")
    yield from (_detail(d, f"/reasoning_details/{n}", block.notes) for n, d in enumerate(details))


def _detail(value: JsonValue, at: str, notes: Notes) -> Part:
    """One entry of ``reasoning_details``: ``reasoning.text``, ``reasoning.summary`` or ``reasoning.encrypted``."""
    if not isinstance(value, dict):
        notes.shape(f"an entry of 'reasoning_details' is {type_words(value)}, not an object", at)
        return Opaque(type_name(value), value, Source(at, VERBATIM))
    entry = BlockReader(value, at, notes)
    readable = "summary" if isinstance(value.get("summary"), str) and "text" not in value else "text"
    return Reasoning(
        Carrier.REASONING_DETAILS,
        text=entry.string("text", readable),
        signature=entry.string("signature", "signature"),
        data=entry.take("data", "data"),
        extra=entry.extra(typed="type" in value),
        source=entry.source(),
    )


def _content(block: BlockReader, role: str) -> Iterator[Part]:
    content = block.value.get("content")
    if isinstance(content, str):
        block.keys_read.add("content")
        text = Text(content, source=Source("/content", ITSELF))
        yield from think_tags.parts(text) if role in _CALLER_ROLES else (text,)
    elif isinstance(content, list):
        block.keys_read.add("content")
        for part in read_blocks(content, "/content", block.notes):
            yield from think_tags.parts(part) if role in _CALLER_ROLES and isinstance(part, Text) else (part,)
    elif content is not None:
        block.keys_read.add("content")
        block.notes.shape(f"content is {type_words(content)}, not a string or a list of parts", "/content")
        yield Opaque(type_name(content), content, Source("/content", VERBATIM))
    elif role not in _CALLER_ROLES:
        what = "null" if "content" in block.value else "absent"
        block.notes.shape(f"the content of a {role!r} message is {what}", "/content" if what == "null" else "")


def _beside(block: BlockReader) -> Iterator[Part]:
    """Members of a response other than its content."""
    refusal, audio = block.value.get("refusal"), block.value.get("audio")
    if isinstance(refusal, str) and refusal:
        block.keys_read.add("refusal")
        yield Opaque("refusal", refusal, Source("/refusal", VERBATIM))
    if isinstance(audio, dict) and not is_zero(audio):
        block.keys_read.add("audio")
        sound = BlockReader(audio, "/audio", block.notes)
        data, file_id = sound.string("data", "data"), sound.string("file_id", "id")
        yield Media("audio", None, data, file_id=file_id, extra=sound.extra(), source=sound.source())


def _result(block: BlockReader) -> Part:
    content = block.take("content", "content")
    if isinstance(content, str):
        parts: tuple[Part, ...] = (Text(content, source=Source("/content", ITSELF)),)
    elif isinstance(content, list):
        parts = tuple(read_blocks(content, "/content", block.notes))
    elif content is not None:
        block.notes.shape(
            f"the content of a result is {type_words(content)}, not a string or a list of parts", "/content"
        )
        parts = (Opaque(type_name(content), content, Source("/content", VERBATIM)),)
    else:
        what = "null" if "content" in block.value else "absent"
        block.notes.add("content.empty", f"the content of a result is {what}", "/content" if what == "null" else "")
        parts = ()
    return ToolResultIR(
        tool_call_id=block.string("tool_call_id", "tool_call_id"),
        content=parts,
        name=block.string("name", "name"),
        source=block.source(),
    )


def _calls(block: BlockReader) -> Iterator[Part]:
    for n, call in enumerate(block.elements("tool_calls")):
        yield read_call(call, f"/tool_calls/{n}", block.notes)
    legacy = block.value.get("function_call")
    if is_zero(legacy):
        return
    if isinstance(legacy, dict):
        block.keys_read.add("function_call")
        yield read_function_call(BlockReader(legacy, "/function_call", block.notes))
    elif legacy is not None:
        block.notes.shape(f"'function_call' is {type_words(legacy)}, not an object", "/function_call")
