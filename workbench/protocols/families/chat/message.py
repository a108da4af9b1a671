"""Messages of Chat Completions, in requests and in answers, and what its dialects add to them.

Facts: ``types/chat/chat_completion_*_message_param.py`` of the official ``openai`` SDK 3.52. The dialects' reasoning:
``reasoning_content`` (DeepSeek, Kimi, GLM, Qwen), ``reasoning`` (OpenRouter, Groq, vLLM), ``reasoning_details``
(OpenRouter, MiniMax), blocks of type ``thinking`` in the content (Mistral, Cohere), ``tool_plan`` (Cohere),
``<think>`` in the text.

``Message.extra`` holds every key that became no part, also a known one whose value is null: null, absent and ``""``
stay three things.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.ir import Carrier, JsonValue, Media, Message, Opaque, Part, Reasoning, Source, Text, ToolResultIR
from workbench.protocols.common import think_tags
from workbench.protocols.common.reading import ITSELF, VERBATIM, BlockReader, Notes, kind_of
from workbench.protocols.families.chat.blocks import read_blocks
from workbench.protocols.families.chat.calls import is_zero, read_call, read_function_call

RESULT_ROLES = ("tool", "function")
_CALLER_ROLES = ("assistant", "model")
_REASONING = {
    "reasoning_content": Carrier.REASONING_CONTENT,
    "reasoning": Carrier.REASONING,
    "tool_plan": Carrier.TOOL_PLAN,
}


def read_message(value: JsonValue, pointer: str, notes: Notes, *, is_answer: bool = False) -> Message:
    """One message; what it should not be is kept and noted. The role of an answer goes without saying."""
    notes.base = pointer
    if not isinstance(value, dict):
        notes.shape(f"a message is {kind_of(value)}, not an object", "")
        return Message("", (Opaque(kind_of(value), value, Source("", VERBATIM)),), pointer=pointer)
    block = BlockReader(value, "", notes)
    role = value.get("role")
    if isinstance(role, str):
        block.taken.add("role")
    elif not is_answer:
        notes.shape("a message without a role" if role is None else f"the role is {kind_of(role)}, not a string", "")
    role = role if isinstance(role, str) else "assistant" if is_answer else ""
    is_result = role in RESULT_ROLES or (role not in _CALLER_ROLES and "tool_call_id" in value)
    parts = (_result(block),) if is_result else (*_reasoning(block), *_content(block, role), *_beside(block))
    parts = (*parts, *_calls(block))
    return Message(role, parts, block.extra(typed="type" in value), pointer)


def _reasoning(block: BlockReader) -> Iterator[Part]:
    for key, carrier in _REASONING.items():
        value = block.value.get(key)
        if isinstance(value, str):
            block.taken.add(key)
            yield Reasoning(carrier, value, source=Source(f"/{key}", ITSELF))
        elif value is not None:
            block.notes.shape(f"{key!r} is {kind_of(value)}, not a string", f"/{key}")
    details = block.elements("reasoning_details")
    yield from (_detail(d, f"/reasoning_details/{n}", block.notes) for n, d in enumerate(details))


def _detail(value: JsonValue, at: str, notes: Notes) -> Part:
    """One entry of ``reasoning_details``: ``reasoning.text``, ``reasoning.summary`` or ``reasoning.encrypted``."""
    if not isinstance(value, dict):
        notes.shape(f"an entry of 'reasoning_details' is {kind_of(value)}, not an object", at)
        return Opaque(kind_of(value), value, Source(at, VERBATIM))
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
        block.taken.add("content")
        text = Text(content, source=Source("/content", ITSELF))
        yield from think_tags.parts(text) if role in _CALLER_ROLES else (text,)
    elif isinstance(content, list):
        block.taken.add("content")
        for part in read_blocks(content, "/content", block.notes):
            yield from think_tags.parts(part) if role in _CALLER_ROLES and isinstance(part, Text) else (part,)
    elif content is not None:
        block.taken.add("content")
        block.notes.shape(f"content is {kind_of(content)}, not a string or a list of parts", "/content")
        yield Opaque(kind_of(content), content, Source("/content", VERBATIM))
    elif role not in _CALLER_ROLES:
        what = "null" if "content" in block.value else "absent"
        block.notes.shape(f"the content of a {role!r} message is {what}", "/content" if what == "null" else "")


def _beside(block: BlockReader) -> Iterator[Part]:
    """Members beside the content of a response."""
    refusal, audio = block.value.get("refusal"), block.value.get("audio")
    if isinstance(refusal, str) and refusal:
        block.taken.add("refusal")
        yield Opaque("refusal", refusal, Source("/refusal", VERBATIM))
    if isinstance(audio, dict) and not is_zero(audio):
        block.taken.add("audio")
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
        block.notes.shape(f"the content of a result is {kind_of(content)}, not a string or a list of parts", "/content")
        parts = (Opaque(kind_of(content), content, Source("/content", VERBATIM)),)
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
        block.taken.add("function_call")
        yield read_function_call(BlockReader(legacy, "/function_call", block.notes))
    elif legacy is not None:
        block.notes.shape(f"'function_call' is {kind_of(legacy)}, not an object", "/function_call")
