"""Protocols: one package each, with pure functions between wire bytes and the IR.

In: bodies and stream events of an exchange. Out: requests and responses as IR with the source of every leaf, and bytes
again: those that were read where nothing was edited. The package of a protocol holds one object named ``adapter``. What
several protocols share is in ``families``, named for a shape and not for a company, and in ``common``.
It may import the core and the rooms up to ``toolcalls``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from workbench import plugins
from workbench.errors import UsageError
from workbench.ir import NOTHING, JsonValue, ModelRequest, ModelResponse, Part
from workbench.protocols._params import PARAMS, Param
from workbench.protocols.declaration import ImportHints, RawSdk, Serving, Traits, TransportSdk
from workbench.protocols.known import KnownMessages
from workbench.wire.sse import SseEvent

if TYPE_CHECKING:
    from workbench.protocols.clients.policy import Policy

__all__ = [
    "MOST_COMMON",
    "PARAMS",
    "Adapter",
    "AdapterDefaults",
    "Capabilities",
    "Growing",
    "ImportHints",
    "Param",
    "RawSdk",
    "Serving",
    "StreamDecoder",
    "StreamWriter",
    "Traits",
    "TransportSdk",
    "UrlFacts",
    "by_rank",
    "elsewhere",
    "every",
    "get",
    "protocols",
    "traits",
]


MOST_COMMON = "openai-chat"
"""Protocol that most servers speak: assumed where nothing names another one."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a protocol can carry. Callers ask this, never ``isinstance``; ``conversion`` fits requests to it.

    Attributes:
        reasoning: values of ``ir.Carrier`` that it has a place for.
        plain_reasoning: the carrier for readable reasoning without proof, "" where it has none.
        error_flag: a result can say that the tool failed.
        media: kinds of ``ir.Media`` in a user's message.
        media_in_results: the same in a tool result.
        media_sources: fields of ``ir.Media`` it can hold: ``"data"``, ``"url"``, ``"file_id"``.
        sources_of: kind of media → the same, for kinds that can hold less.
        mid_system: a system message may stand between other messages.
        interleaved: text, reasoning and calls of an answer keep their order; else reasoning, text, calls.
        parallel_switch: parallel calls can be switched off.
        choices: modes of ``ir.ToolChoice`` that can be said.
        strict: a tool can ask for strict decoding of its arguments.
        custom_tools: tools whose input is free text.
        cache_markers: parts, tools and system may hold ``cache_control`` in ``extra``.
        cache_blocks: these are blocks behind what they mark, with no more than a ``ttl``, and none inside a result.
        arguments: ``"string"`` or ``"object"``: the container of arguments on this wire.
        call_ids: calls and results are paired by ids; else by name and order.
        ids_optional: where they have no ids they are paired by name and order too.
        id_pattern: what an id has to match in full, "" for anything.
        id_max_length: characters, None for any.
        params: names of ``PARAMS`` that it has a place for.
        thinking: values of ``ModelRequest.thinking`` that can be said.
        required: names of ``PARAMS`` without which a request is refused → what is written when nothing is known.
        proved_reasoning: carriers that are refused without their proof (``signature`` or ``data``).
        empty_text: a text may be empty.
        one_text: what holds a single string, so that its texts are joined: roles of messages in a request,
            ``"answer"`` for the messages of a response.
        tool_name_pattern: what the name of a tool has to match in full, "" for anything.
        result_names: a result repeats the name of its tool.
        stops: values of ``ModelResponse.stop`` that can be said.
        effort_is_thinking: the parameter ``effort`` is the switch of thinking, too: with it thinking is "on".
        least_budget: the smallest ``thinking_budget`` that is taken; it has to be below ``max_tokens``, too. 0 for any.
        budget_required: thinking "on" is refused without the parameter ``thinking_budget``.
        parallel_in_choice: the switch of parallel calls is a key of the tool choice.
        schema_keys: keys of the parameter ``response_schema``, beside "schema", that can be said.
        schema_required: the same, without which it is refused → what is written when nothing is known.
        usage_required: an answer is refused without token counts.
        stop_required: an answer that is complete always says why it ended.
        stop_is_end: the event that says the finish reason of a stream is the one that ends it.
        stop_by_calls: the finish reason is "stop" whether the answer calls tools or not: its calls tell.
        answer_fields: of ``"id"`` and ``"model"``, what an answer says of itself.
        usage_fields: counts of ``ir.Usage`` that can be said beside input and output.
        usage_needed: counts of ``ir.Usage`` that are never absent: 0 is written where nothing is known.
        answer_needs: what an answer is never without, as far as nothing is known of it → what is written then.
        error_fields: fields of ``ir.ApiError`` that can be said beside its message.
        stream_errors: types that an error inside a stream can have; the first one stands for every other.
        media_types: kind of media → its MIME types, for kinds of which it takes no other.
        untyped_media: kind of media → the MIME type that is written where none is known, since the target needs one;
            it says the type of references, too.
        document_key: keys of ``extra`` at which a document or file has its name; none where it cannot have one.
        document_odd: what matches a piece of a name that is refused.
        document_length: the most characters of a name, None for any.
        document_name: what a document is called that cannot be without a name; "" where it can.
        json_results: a result can hold a JSON value as it is, where that is all it holds beside media.
        results_text_first: the texts of a result come before its media.
        budget_switches: the parameter ``thinking_budget`` is said with the switch, and needs it to be on.
        effort_or_budget: the parameters ``effort`` and ``thinking_budget`` exclude each other, and thinking "off".
        key_header: the request header that carries a key, in ``authorization`` as ``Bearer KEY``.
        headers: further ones without which a request is refused → what is written where they are not there.
    """

    reasoning: frozenset[str] = frozenset()
    plain_reasoning: str = ""
    error_flag: bool = False
    media: frozenset[str] = frozenset()
    media_in_results: frozenset[str] = frozenset()
    media_sources: frozenset[str] = frozenset()
    sources_of: Mapping[str, frozenset[str]] = NOTHING
    mid_system: bool = False
    interleaved: bool = False
    parallel_switch: bool = False
    choices: frozenset[str] = frozenset(("auto", "none", "any", "tool"))
    strict: bool = False
    custom_tools: bool = False
    cache_markers: bool = False
    cache_blocks: bool = False
    arguments: str = "string"
    call_ids: bool = True
    ids_optional: bool = False
    id_pattern: str = ""
    id_max_length: int | None = None
    params: frozenset[str] = frozenset()
    thinking: frozenset[str] = frozenset()
    required: Mapping[str, JsonValue] = NOTHING
    proved_reasoning: frozenset[str] = frozenset()
    empty_text: bool = False
    one_text: frozenset[str] = frozenset()
    tool_name_pattern: str = ""
    result_names: bool = False
    stops: frozenset[str] = frozenset(("stop", "tool_calls", "length", "filter"))
    effort_is_thinking: bool = False
    least_budget: int = 0
    budget_required: bool = False
    parallel_in_choice: bool = False
    schema_keys: frozenset[str] = frozenset(("name", "strict", "description"))
    schema_required: Mapping[str, JsonValue] = NOTHING
    usage_required: bool = False
    stop_required: bool = False
    stop_is_end: bool = False
    stop_by_calls: bool = False
    answer_fields: frozenset[str] = frozenset(("id", "model"))
    usage_fields: frozenset[str] = frozenset(("cache_read", "cache_write", "reasoning"))
    usage_needed: frozenset[str] = frozenset()
    answer_needs: Mapping[str, JsonValue] = NOTHING
    error_fields: frozenset[str] = frozenset(("type",))
    stream_errors: tuple[str, ...] = ()
    media_types: Mapping[str, frozenset[str]] = NOTHING
    untyped_media: Mapping[str, str] = NOTHING
    document_key: tuple[str, ...] = ()
    document_odd: str = ""
    document_length: int | None = None
    document_name: str = ""
    json_results: bool = False
    results_text_first: bool = False
    budget_switches: bool = False
    effort_or_budget: bool = False
    key_header: str = "authorization"
    headers: Mapping[str, str] = NOTHING


class UrlFacts(NamedTuple):
    """What the URL of a request says beside its body: the model's name and whether a stream is asked for."""

    model: str | None = None
    stream: bool | None = None


class StreamDecoder(Protocol):
    """Builds an answer from stream events; the same for every chunking of the bytes.

    ``copy.deepcopy`` of it goes on from where it stands without touching the original.
    """

    def feed(self, event: SseEvent) -> None:
        """Take one block. Never raises on hostile input: it records anomalies."""
        ...

    def result(self) -> ModelResponse:
        """What has arrived so far. May be called at any time."""
        ...

    @property
    def growing(self) -> Sequence[Growing]:
        """Parts of the first choice in the order in which they began, as far as they can be told apart by then.

        More are only added at its end, unless the answer begins again: then all are gone. What is in none of them is
        in ``result``.
        """
        ...

    def about(self) -> ModelResponse:
        """What is known of the answer beside its content: its id, its model, token counts."""
        ...


class Growing(Protocol):
    """A part while it arrives: what it is, and the pieces of its one string that grows (a text, arguments)."""

    @property
    def is_tagged(self) -> bool:
        """The text may hold reasoning in tags."""
        ...

    @property
    def is_over(self) -> bool:
        """Nothing of it is still to come."""
        ...

    def begun(self) -> Part | None:
        """The part with its names and without its string; None while it cannot be told, or where it comes whole."""
        ...

    def since(self, count: int) -> Sequence[str]:
        """Pieces of the string behind the first ``count``."""
        ...

    def parts(self) -> tuple[Part, ...]:
        """What it adds up to so far."""
        ...


class StreamWriter(Protocol):
    """Writes the stream of one answer as it comes: every method gives the bytes to be sent next.

    Parts fit ``capabilities``, and follow one another: each is opened, grows and is closed before the next one.
    """

    content_type: str

    def start(self, response: ModelResponse) -> bytes:
        """The answer begins; what is known of it beside its content."""
        ...

    def choice(self, number: int) -> bytes:
        """Parts of this choice follow."""
        ...

    def open(self, part: Part) -> bytes:
        """A part begins. Its names count; where ``signature`` or ``data`` is not None, one follows in ``close``."""
        ...

    def grow(self, text: str) -> bytes:
        """The next piece of its text, or of the text of its arguments."""
        ...

    def close(self, part: Part) -> bytes:
        """The part is over, and this is all of it."""
        ...

    def end(self, response: ModelResponse) -> bytes:
        """The answer is over: why, its token counts, its error; no end for one that is not complete."""
        ...


class Adapter(Protocol):
    """One protocol. ``AdapterDefaults`` has a default for each member that it may leave out."""

    name: str
    """``"openai-chat"``: the name people type."""

    capabilities: Capabilities

    serving: Serving
    import_hints: ImportHints
    traits: Traits

    @property
    def sdk(self) -> RawSdk | TransportSdk | None:
        """SDK for the export as a Python program; None if none is known."""
        ...

    def client_policies(self) -> tuple[type[Policy], ...]:
        """Imitations of SDKs that assemble its streams; empty if none is known."""
        ...

    shares_urls: bool
    """Bodies of other protocols come at its URLs too."""

    def protocol_of(self, request: JsonValue, answer: JsonValue) -> str:
        """Name of the protocol of a body at a URL that several protocols share.

        Args:
            request: parsed request body; None if absent.
            answer: parsed response, or the first event of its stream.
        """
        ...

    def claims_url(self, url: str) -> bool:
        """The path is this protocol's."""
        ...

    def read_url(self, url: str) -> UrlFacts:
        """What only the URL says; nothing for protocols that say it in the body."""
        ...

    def claims_request(self, value: JsonValue) -> float:
        """0 … 1: how much a parsed request body looks like this protocol."""
        ...

    def claims_response(self, value: JsonValue) -> float:
        """0 … 1: the same for a parsed response body (not an error)."""
        ...

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        """0 … 1: the same for the name and parsed data of one stream event."""
        ...

    def decode_request(self, body: bytes, known: KnownMessages | None = None) -> ModelRequest:
        """Decode a content-decoded request body.

        Args:
            body: what was sent.
            known: messages that were decoded before, and takes those that were not; the result is the same without.

        Raises:
            WireError: not JSON.
            ProtocolMismatch: JSON, but no request of this protocol at all.
        """
        ...

    def decode_response(self, body: bytes, *, status: int = 200) -> ModelResponse:
        """Decode a whole response body, error bodies included. Raises as ``decode_request``."""
        ...

    def stream_decoder(self) -> StreamDecoder:
        """A fresh decoder for one stream."""
        ...

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with the leaves that differ replaced, and not a byte more.

        Raises:
            LocalProtocolError: the request differs in structure from the original.
        """
        ...

    def encode_response(self, response: ModelResponse, original: bytes) -> bytes:
        """The same for a response body or a stream."""
        ...

    def params(self, request: ModelRequest) -> tuple[Param, ...]:
        """Every parameter that has no field of ``ModelRequest``, by its common name where it has one."""
        ...

    def path(self, request: ModelRequest) -> str:
        """Path of the request below a provider's base URL ("/v1/messages"), the model's name in it where it belongs."""
        ...

    def write_request(self, request: ModelRequest) -> JsonValue:
        """A new body for a request in *normal form* that fits ``capabilities``: all of it is said, nothing is added.

        Normal form, as ``conversion`` makes it of any protocol's request:

        * roles are "system", "user", "assistant" and "tool"; a message of role "tool" holds the results of one answer
          and nothing else, one of role "assistant" one whole answer; neither stands next to another of its role;
        * parts are ``Text``, ``Reasoning``, ``ToolCallIR``, ``ToolResultIR``, ``Media``; their ``extra`` is empty but
          for what ``capabilities`` allows; without ``interleaved`` reasoning comes first, then text, then calls;
        * ``ToolCallIR.format`` is "function", or "custom" for a call whose input is free text; ``raw`` is the argument
          text where ``capabilities.arguments`` is "string", else None; data of ``Media`` is never a ``data:`` URL;
        * ``params`` has the names and values of ``PARAMS``; ``tools`` are client tools (and custom ones).
        """
        ...

    def write_response(self, response: ModelResponse) -> JsonValue:
        """A new body for an answer in normal form: one message of role "assistant" for each choice.

        ``stop`` becomes this protocol's finish reason, ``usage`` its own counts; ``error`` its error body.
        """
        ...

    def write_stream(self, response: ModelResponse) -> bytes:
        """The same as this protocol's stream, terminal event included; an error after what came before it."""
        ...

    def stream_writer(self) -> StreamWriter:
        """A fresh writer for one stream."""
        ...


_NO_TRAITS = Traits()


class AdapterDefaults:
    """Members that an adapter may leave out. ``get`` completes an adapter that does not inherit them."""

    name = ""
    serving = Serving()
    sdk: RawSdk | TransportSdk | None = None
    import_hints = ImportHints()
    traits = Traits()
    shares_urls = False

    def protocol_of(self, request: JsonValue, answer: JsonValue) -> str:
        """The adapter's own protocol."""
        return self.name

    def client_policies(self) -> tuple[type[Policy], ...]:
        """No SDKs."""
        return ()


class _Completed:
    """An adapter with defaults for the members that it leaves out."""

    def __init__(self, adapter: object) -> None:
        self._adapter = adapter
        self._defaults = AdapterDefaults()
        self._defaults.name = getattr(adapter, "name", "")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return getattr(self._adapter, name)
        except AttributeError:
            return getattr(self._defaults, name)


@cache
def get(name: str) -> Adapter:
    """The adapter of a protocol ("openai-chat"). Raises UsageError."""
    module = name.replace("-", "_")
    if module not in plugins.names(__name__):
        raise UsageError(f"no protocol named {name!r}", hint=f"known: {', '.join(protocols())}")
    adapter: Adapter = plugins.load(__name__, module).adapter
    is_complete = all(hasattr(adapter, member) for member in vars(AdapterDefaults) if not member.startswith("_"))
    return adapter if is_complete else cast("Adapter", _Completed(adapter))


def protocols() -> tuple[str, ...]:
    """Names of every protocol, without importing an adapter."""
    return tuple(n.replace("_", "-") for n in plugins.names(__name__))


def every() -> Iterator[Adapter]:
    """Every adapter."""
    return (get(n) for n in protocols())


def traits(name: str | None) -> Traits:
    """The traits of a protocol; the defaults if it has no adapter, or no name."""
    return get(name).traits if name and name in protocols() else _NO_TRAITS


def by_rank() -> tuple[str, ...]:
    """Names of every protocol, those of most clients first."""
    return tuple(a.name for a in sorted(every(), key=lambda a: a.serving.rank))


def elsewhere() -> tuple[str, ...]:
    """Names of the protocols that are recognised, although no adapter decodes them."""
    from workbench.protocols.common import undecoded

    return tuple(sorted(set(undecoded.NAMES) - set(protocols())))
