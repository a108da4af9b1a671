"""The intermediate representation: what a request or an answer says, whatever protocol it was said in.

Laws of this file:

* Values only: frozen, typed, no I/O, no provider names in types.
* Content, reasoning and calls are different parts and are never merged.
* What is not understood is kept verbatim (``Opaque``, ``extra``), never dropped.
* Every part remembers where it came from. A part does not know its place in the conversation: its pointers are
  relative to its message, so that a message that occurs in a thousand requests is decoded once. The absolute
  pointer is ``message.pointer + part.source.pointer``.
* Where a node came from is not part of what it says: sources and pointers are left out of comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

JsonValue: TypeAlias = Any
"""What ``json.loads`` returns."""


class _Nothing(Mapping[str, Any]):
    """An empty mapping that can be hashed: Python 3.11 takes no other kind as a dataclass default."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "{}"


NOTHING: Mapping[str, Any] = _Nothing()


class Segment(NamedTuple):
    """A piece of a streamed value: the string at ``pointer`` in the JSON data of block ``event`` of the stream."""

    event: int
    pointer: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where a part came from.

    Attributes:
        pointer: JSON pointer of the node, relative to its message ("" is the message itself).
        fields: IR field name → pointer suffix below ``pointer``. ``{"id": "/id", "input": "/function/arguments"}``.
            A field that is missing here was not on the wire.
        segments: for streams, IR field name → the pieces the value was joined from, in order.
        events: for streams, every block that took part in the node.
        slices: IR field name → (start, end) in characters of the string at the field's pointer (of its joined segments,
            in a stream), where a field is only a part of it (``<think>`` text inside content). Missing means the whole.
    """

    pointer: str = ""
    fields: Mapping[str, str] = NOTHING
    segments: Mapping[str, tuple[Segment, ...]] = NOTHING
    events: tuple[int, ...] = ()
    slices: Mapping[str, tuple[int, int]] = NOTHING


class Carrier(StrEnum):
    """The place reasoning travels in."""

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
    """Reasoning state, as it was carried.

    Attributes:
        carrier: the field it travels in.
        text: readable reasoning; None where the carrier has none (redacted, encrypted), "" where it is there but empty.
        signature: opaque proof bound to the text; None where absent.
        data: opaque state without readable text (redacted or encrypted block, one entry of reasoning_details).
        copies: proofs (signature or data) that the stream brought for it beside the one that stands here. They differ,
            and the provider made each of them.
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
    """A model's wish to have a tool run.

    Attributes:
        id: as sent; None where absent, "" where empty: two different faults.
        name: as sent; None where absent.
        input: parsed arguments; None when ``raw`` does not parse to one JSON value.
        format: ``"anthropic"``, ``"openai"``, … : the shape the call had on the wire.
        raw: the argument text where the protocol carries text; None where it carries an object (``input`` is exact
            then) or nothing at all.
        is_server: run by the provider itself (server tools): never answered by the client.
        error: why ``raw`` did not parse, in words; None when it did.
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
    """The answer to a call.

    Attributes:
        tool_call_id: id of the call it answers, as sent; None where absent.
        content: what the tool returned, as parts (``Text``, ``Media``, ``Opaque``).
        is_error: the protocol's error flag; None where it was not sent.
        name: tool name, where the protocol repeats it.
        is_server: the result of a server tool (stands in the assistant message).
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
    """An image, document, sound or film.

    Attributes:
        kind: ``"image"``, ``"document"``, ``"audio"``, ``"video"`` or ``"file"``.
        media_type: MIME type, None where not said.
        data: base64 text as sent, None for references.
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
        role: as sent (``user``, ``assistant``, ``system``, ``developer``, ``tool`` … or whatever stood there).
        parts: in wire order.
        extra: unknown keys, verbatim.
        pointer: absolute pointer of the message in its body ("/messages/3", "/choices/0/message", "" for a body that is
            the message).
        facts: what was found out about it already, of a message that is known to come again (``known.py``).
    """

    role: str
    parts: tuple[Part, ...]
    extra: Mapping[str, JsonValue] = NOTHING
    pointer: str = field(default="", compare=False)
    facts: dict[Any, Any] | None = field(default=None, init=False, compare=False, repr=False)

    def tool_calls(self) -> Iterator[tuple[int, ToolCallIR]]:
        """(part index, call) of every call that a client has to answer."""
        return ((n, p) for n, p in enumerate(self.parts) if isinstance(p, ToolCallIR) and not p.is_server)

    def tool_results(self) -> Iterator[tuple[int, ToolResultIR]]:
        """(part index, result) of every result that answers a client's call."""
        return ((n, p) for n, p in enumerate(self.parts) if isinstance(p, ToolResultIR) and not p.is_server)

    def reasoning(self) -> Iterator[tuple[int, Reasoning]]:
        """(part index, reasoning) of every reasoning part."""
        return ((n, p) for n, p in enumerate(self.parts) if isinstance(p, Reasoning))

    def absolute(self, part: Part, name: str | None = None) -> str:
        """Absolute pointer of a part of this message, or of one of its fields."""
        suffix = part.source.fields.get(name, "") if name else ""
        return self.pointer + part.source.pointer + suffix


@dataclass(frozen=True, slots=True)
class ToolDef:
    """A declared tool.

    Attributes:
        name: None where absent.
        schema: JSON Schema of the arguments; None where absent.
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
    """Something a decoder noticed that the wire should not have: data for the rules, never an exception.

    Attributes:
        slug: the rule it belongs to (``stream.block-order``, ``content.shape`` …).
        message: what is wrong, one sentence, our words; untrusted text is quoted with ``repr``.
        pointer: absolute pointer into the body (for a stream: into the accumulated message).
        events: blocks of the stream concerned.
    """

    slug: str
    message: str
    pointer: str = ""
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model.

    Attributes:
        thinking: ``"on"``, ``"off"``, ``"adaptive"``, another value as sent, or None where the request does not say
            (the contract's default then counts).
        previous_id: id of the answer that the server is trusted to remember (``previous_response_id``, thread).
        params: every other known or unknown top-level key, verbatim.
        itemized: messages are items: neighbours of an answering role are one answer together (Responses).
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
    """Token counts, made disjoint: input is what was neither read from nor written to a cache.

    ``output`` is everything the model wrote, ``reasoning`` how much of it was reasoning.
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
        details: other texts beside the message ("failed_generation"), name → text.
        pointer: of the text that holds the message, in ``raw``.
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
    """An answer of a model, or an error in its place.

    Attributes:
        messages: one per choice; of an itemized answer one per item; empty for an error body.
        finish_reason: as sent; None where absent.
        stop: the same in one vocabulary: ``"stop"``, ``"tool_calls"``, ``"length"``, ``"filter"``, ``"pause"``,
            ``"other"`` or None.
        is_stream: it was an event stream.
        is_complete: the terminal event (or the whole body) arrived.
        finish_events: for a stream, the block that gave the finish reason.
        itemized: the messages are the items of one answer, and no alternatives (Responses).
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
        """The alternatives: each the messages that are one answer together."""
        if self.itemized:
            return (self.messages,) if self.messages else ()
        return tuple((message,) for message in self.messages)

    @property
    def is_reasoning_only(self) -> bool:
        """The answer holds reasoning and neither text nor a call."""
        parts = [p for m in self.messages for p in m.parts]
        said = any(not isinstance(p, Reasoning) and not (isinstance(p, Text) and not p.text.strip()) for p in parts)
        return bool(parts) and not said and any(isinstance(p, Reasoning) for p in parts)
