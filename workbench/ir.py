"""Intermediate representation of requests and responses, the same for every protocol.

Laws of this file:

* Values only: frozen, typed, no I/O, no provider names in types.
* Content, reasoning and calls are different parts and are never merged.
* Unknown data is kept verbatim (``Opaque``, ``extra``), never dropped.
* Every part remembers its source. A part does not know its place in the conversation: its pointers are relative to its
    message, so that a message in a thousand requests is decoded once. The absolute pointer is ``message.pointer +
    part.source.pointer``.
* The source is not part of a node's value: sources and pointers are left out of comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple

JsonValue: TypeAlias = Any
"""What ``json.loads`` returns."""


class _Nothing(dict[str, Any]):
    """A hashable empty dictionary that stays empty; Python 3.11 accepts no other kind as a dataclass default."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("nothing can be added to this empty mapping")

    __setitem__ = __ior__ = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]  # it never changes
        return 0


NOTHING: Mapping[str, Any] = _Nothing()

HISTORIES = ("messages", "contents", "input")
"""Members of a request that hold the conversation, one for each family of protocols."""


class Segment(NamedTuple):
    """A piece of a streamed value: the string at ``pointer`` in the JSON data of block ``event`` of the stream."""

    event: int
    pointer: str


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a part in the body.

    Attributes:
        pointer: JSON pointer of the node, relative to its message; empty for the message itself.
        fields: IR field name → pointer suffix below ``pointer``, such as ``{"id": "/id", "input":
            "/function/arguments"}``. A field that is missing here was not on the wire.
        segments: for streams, IR field name → the pieces the value was joined from, in order.
        events: for streams, every block that contributed to the node.
        slices: IR field name → (start, end) in characters of the string at the field's pointer (of its joined segments,
            in a stream), if a field is only a part of it (``<think>`` text inside content). Missing means the whole
            string.
    """

    pointer: str = ""
    fields: Mapping[str, str] = NOTHING
    segments: Mapping[str, tuple[Segment, ...]] = NOTHING
    events: tuple[int, ...] = ()
    slices: Mapping[str, tuple[int, int]] = NOTHING


class Carrier(StrEnum):
    """Field that reasoning travels in."""

    THINKING = "thinking"  # block with signature (Anthropic)
    REDACTED_THINKING = "redacted_thinking"  # block with encrypted data (Anthropic)
    REASONING_CONTENT = "reasoning_content"  # string beside content (DeepSeek, Kimi, GLM, Qwen)
    REASONING = "reasoning"  # string beside content (OpenRouter, Groq, vLLM)
    REASONING_DETAILS = "reasoning_details"  # array beside content (OpenRouter, MiniMax)
    THINK_TEXT = "think_text"  # <think>…</think> inside content
    ENCRYPTED_ITEM = "encrypted_item"  # item with encrypted content (OpenAI Responses)
    THOUGHT_SIGNATURE = "thought_signature"  # thought part, or a signature on another part (Gemini)
    MESSAGE_THINKING = "message_thinking"  # string "thinking" beside content (Ollama)
    THINKING_CHUNK = "thinking_chunk"  # unsigned chunk of type thinking inside content (Mistral, Cohere)
    TOOL_PLAN = "tool_plan"  # string beside the calls it explains (Cohere)
    REASONING_BLOCK = "reasoning_block"  # reasoningContent with signature or redacted bytes (Bedrock Converse)


@dataclass(frozen=True, slots=True)
class Text:
    """Visible text."""

    text: str
    extra: Mapping[str, JsonValue] = NOTHING
    source: Source = field(default=Source(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning state as carried.

    Attributes:
        carrier: the field it travels in.
        text: readable reasoning; None if the carrier has none (redacted, encrypted), empty if present but empty.
        signature: opaque proof bound to the text; None if absent.
        data: opaque state without readable text (redacted or encrypted block, one entry of reasoning_details).
        copies: further proofs (signature or data) that the stream sent for it. They differ, and the provider made each.
    """

    carrier: Carrier
    text: str | None
    signature: str | None = None
    data: JsonValue = None
    extra: Mapping[str, JsonValue] = NOTHING
    source: Source = field(default=Source(), compare=False, repr=False)
    copies: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolCallIR:
    """A tool call of the model.

    Attributes:
        id: as sent; None if absent, empty if empty: two different faults.
        name: as sent; None if absent.
        input: parsed arguments; None if ``raw`` does not parse to one JSON value.
        format: ``"anthropic"``, ``"openai"``, … : the shape of the call on the wire.
        raw: the argument text if the protocol carries text; None if it carries an object (``input`` is then exact) or
            nothing.
        is_server: run by the provider itself (server tools): never answered by the client.
        error: reason why ``raw`` did not parse; None if it did.
    """

    id: str | None
    name: str | None
    input: JsonValue
    format: str
    raw: str | None = None
    is_server: bool = False
    error: str | None = None
    extra: Mapping[str, JsonValue] = NOTHING
    source: Source = field(default=Source(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolResultIR:
    """A tool result, the client's answer to a tool call.

    Attributes:
        tool_call_id: id of its call, as sent; None if absent.
        content: what the tool returned, as parts (``Text``, ``Media``, ``Opaque``).
        is_error: the protocol's error flag; None if it was not sent.
        name: tool name, if the protocol repeats it.
        is_server: the result of a server tool (it is in the assistant message).
    """

    tool_call_id: str | None
    content: tuple[Part, ...]
    is_error: bool | None = None
    name: str | None = None
    is_server: bool = False
    extra: Mapping[str, JsonValue] = NOTHING
    source: Source = field(default=Source(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Media:
    """An image, document, audio or video.

    Attributes:
        kind: ``"image"``, ``"document"``, ``"audio"``, ``"video"`` or ``"file"``.
        media_type: MIME type; None if not given.
        data: base64 text as sent; None for references.
        url: URL or ``data:`` URL as sent.
        file_id: provider's file reference.
    """

    kind: str
    media_type: str | None = None
    data: str | None = None
    url: str | None = None
    file_id: str | None = None
    extra: Mapping[str, JsonValue] = NOTHING
    source: Source = field(default=Source(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part of a type this program does not interpret, verbatim."""

    type: str
    value: JsonValue
    source: Source = field(default=Source(), compare=False, repr=False)


Part: TypeAlias = Text | Reasoning | ToolCallIR | ToolResultIR | Media | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the wire (messages are never merged in the IR).

    Attributes:
        role: as sent (``user``, ``assistant``, ``system``, ``developer``, ``tool`` … or any other value).
        parts: in wire order.
        extra: unknown keys, verbatim.
        pointer: absolute pointer of the message in its body ("/messages/3", "/choices/0/message", empty for a body that
            is the message).
    """

    role: str
    parts: tuple[Part, ...]
    extra: Mapping[str, JsonValue] = NOTHING
    pointer: str = field(default="", compare=False)

    def tool_calls(self) -> Sequence[tuple[int, ToolCallIR]]:
        """(part index, call) of every call that a client has to answer."""
        if ToolCallIR not in map(type, self.parts):
            return ()
        return [(n, p) for n, p in enumerate(self.parts) if isinstance(p, ToolCallIR) and not p.is_server]

    def tool_results(self) -> Sequence[tuple[int, ToolResultIR]]:
        """(part index, result) of every result that answers a client's call."""
        if ToolResultIR not in map(type, self.parts):
            return ()
        return [(n, p) for n, p in enumerate(self.parts) if isinstance(p, ToolResultIR) and not p.is_server]

    def reasoning(self) -> Sequence[tuple[int, Reasoning]]:
        """(part index, reasoning) of every reasoning part."""
        if Reasoning not in map(type, self.parts):
            return ()
        return [(n, p) for n, p in enumerate(self.parts) if isinstance(p, Reasoning)]

    def absolute(self, part: Part, name: str | None = None) -> str:
        """Absolute pointer of a part of this message, or of one of its fields."""
        suffix = part.source.fields.get(name, "") if name else ""
        return self.pointer + part.source.pointer + suffix


class NodeRef(NamedTuple):
    """A part by its place: ``side`` is "request" or "response"."""

    side: str
    message: int
    part: int


@dataclass(frozen=True, slots=True)
class ToolDef:
    """A declared tool.

    Attributes:
        name: None if absent.
        schema: JSON Schema of the arguments; None if absent.
        kind: ``"client"``, ``"server"`` (run by the provider) or ``"custom"`` (free-text input).
        pointer: absolute pointer of the declaration.
    """

    name: str | None
    description: str | None
    schema: JsonValue
    kind: str = "client"
    strict: bool | None = None
    extra: Mapping[str, JsonValue] = NOTHING
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """``mode`` is ``"auto"``, ``"none"``, ``"any"`` (some tool), ``"tool"`` (this one) or ``"other"``."""

    mode: str
    name: str | None = None
    value: JsonValue = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A wire fault noticed by a decoder: data for the rules, never an exception.

    Attributes:
        slug: the rule it belongs to (``stream.block-order``, ``content.shape`` …), with ``UNUSUAL`` behind it if it is
            legal and does no harm to clients that join by index.
        message: the fault in one sentence, our words; untrusted text is quoted with ``repr``.
        pointer: absolute pointer into the body (for a stream: into the accumulated message).
        events: blocks of the stream concerned.
        lacks: the key that the object at ``pointer`` does not have, in a stream before its content; empty if the fault
            is another.
    """

    slug: str
    message: str
    pointer: str = ""
    events: tuple[int, ...] = ()
    lacks: str = ""


UNUSUAL = ".unusual"
"""End of the slug of an anomaly that is legal: what is told of it is for information."""
MILD = ".mild"
"""End of the slug of an anomaly that most clients get over: it is a warning."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model.

    Attributes:
        thinking: ``"on"``, ``"off"``, ``"adaptive"``, another value as sent, or None if the request has no switch (the
            contract's default then applies).
        previous_id: id of the response that the server is expected to remember (``previous_response_id``, thread).
        params: every other known or unknown top-level key, verbatim.
        itemized: messages are items: adjacent items of an answering role are one answer (Responses).
    """

    protocol: str
    model: str | None
    messages: tuple[Message, ...]
    system: tuple[Part, ...] = ()
    tools: tuple[ToolDef, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel: bool | None = None
    stream: bool = False
    thinking: str | None = None
    previous_id: str | None = None
    params: Mapping[str, JsonValue] = NOTHING
    anomalies: tuple[Anomaly, ...] = ()
    itemized: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts, made disjoint: ``input`` excludes tokens read from or written to a cache.

    ``output`` counts everything the model wrote, ``reasoning`` the reasoning in it.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    raw: Mapping[str, JsonValue] = NOTHING


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error body or error event: the innermost message, however often it was wrapped.

    Attributes:
        details: other texts next to the message ("failed_generation"), name → text.
        pointer: of the message text in ``raw``.
    """

    message: str
    type: str | None = None
    code: str | None = None
    param: str | None = None
    request_id: str | None = None
    raw: JsonValue = field(default=None, compare=False)
    details: Mapping[str, str] = field(default=NOTHING, compare=False)
    pointer: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ModelResponse:
    """A model's response, or an error instead.

    Attributes:
        messages: one per choice; of an itemized response one per item; empty for an error body.
        finish_reason: as sent; None if absent.
        stop: the finish reason in one vocabulary: ``"stop"``, ``"tool_calls"``, ``"length"``, ``"filter"``,
            ``"pause"``, ``"other"`` or None.
        is_stream: it was an event stream.
        is_complete: the terminal event (or the whole body) arrived.
        finish_events: for a stream, the block with the finish reason.
        itemized: the messages are the items of one answer, not alternatives (Responses).
    """

    protocol: str
    id: str | None = None
    model: str | None = None
    messages: tuple[Message, ...] = ()
    finish_reason: str | None = None
    stop: str | None = None
    usage: Usage | None = None
    error: ApiError | None = None
    is_stream: bool = field(default=False, compare=False)
    is_complete: bool = True
    params: Mapping[str, JsonValue] = NOTHING
    anomalies: tuple[Anomaly, ...] = ()
    finish_events: tuple[int, ...] = field(default=(), compare=False)
    itemized: bool = field(default=False, compare=False)

    @property
    def choices(self) -> tuple[tuple[Message, ...], ...]:
        """The choices, each as the messages that form one answer."""
        if self.itemized:
            return (self.messages,) if self.messages else ()
        return tuple((message,) for message in self.messages)

    @property
    def is_reasoning_only(self) -> bool:
        """True if the response has reasoning and neither text nor a tool call."""
        parts = [p for m in self.messages for p in m.parts]
        content = any(not isinstance(p, Reasoning) and not (isinstance(p, Text) and not p.text.strip()) for p in parts)
        return bool(parts) and not content and any(isinstance(p, Reasoning) for p in parts)
