"""Protocols: one package each, with pure functions between wire bytes and the IR.

In: bodies and stream events of an exchange. Out: requests and responses as IR with the source of every leaf, and bytes
again, which are unchanged where nothing was edited. The package of a protocol has one object named ``adapter``. Code
that several protocols share is in ``shapes``, named after a shape and not after a company, and in ``common``.
It may import the core and the rooms up to ``toolcalls``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from workbench import plugins
from workbench.errors import UnknownName
from workbench.fronts import lazy
from workbench.ir import JsonValue, ModelRequest, ModelResponse, Part
from workbench.named_tuple import NamedTuple
from workbench.protocols._params import PARAMS, Param
from workbench.protocols.capabilities import (
    AnswerCapabilities,
    Capabilities,
    MediaCapabilities,
    ReasoningCapabilities,
    RequestCapabilities,
    ToolCapabilities,
)
from workbench.protocols.declaration import ImportHints, RawSdk, Serving, TokenCounts, Traits, TransportSdk
from workbench.protocols.known_messages import KnownMessages, KnownParts
from workbench.wire import SseEvent

if TYPE_CHECKING:
    from workbench.protocols import decode, grammar_places, grammars, history, refusals
    from workbench.protocols.common.socket_dialogue import (
        DialogueContext,
        Reaction,
        SocketDialogue,
        SocketOpening,
        SocketRefusal,
    )
    from workbench.protocols.common.socket_facts import SocketFact
    from workbench.protocols.common.socket_turns import (
        SocketTurn,
        SocketTurns,
        TurnSplitter,
        is_socket_url,
        with_turns,
    )
    from workbench.protocols.declaration import COUNT, STORED, Body, ErrorStyle, SmallEndpoint, endpoint
    from workbench.protocols.decode import REQUEST, RESPONSE, DecodedExchange
    from workbench.protocols.detection import ERROR_ALONE, TEXT
    from workbench.protocols.history import HistoryPrefix, asked_of, fact, last_where, text_of, where
    from workbench.protocols.likeness import Likeness, alike, ends_alike, likeness_of
    from workbench.protocols.message_shapes import (
        NAMED,
        MessageShape,
        asked_by_shape,
        of_kinds,
        shape_of,
        shape_of_value,
    )
    from workbench.protocols.places_of_ids import id_places
    from workbench.protocols.wire_place import WirePlace

    Envelope = tuple[Callable[[dict[str, JsonValue]], bool], Callable[[], TurnSplitter]]
    """An API that carries the requests of another one: whether a message is one of it, and its splitter."""
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "COUNT",
    "ERROR_ALONE",
    "MOST_COMMON",
    "NAMED",
    "PARAMS",
    "REQUEST",
    "RESPONSE",
    "STORED",
    "TEXT",
    "Adapter",
    "AdapterDefaults",
    "AnswerCapabilities",
    "Body",
    "Capabilities",
    "DecodedExchange",
    "DialogueContext",
    "ErrorStyle",
    "HistoryPrefix",
    "ImportHints",
    "KnownMessages",
    "KnownParts",
    "Likeness",
    "MediaCapabilities",
    "MessageShape",
    "Param",
    "RawSdk",
    "Reaction",
    "ReasoningCapabilities",
    "RequestCapabilities",
    "Serving",
    "SmallEndpoint",
    "SocketDialogue",
    "SocketFact",
    "SocketOpening",
    "SocketRefusal",
    "SocketTurn",
    "SocketTurns",
    "StreamDecoder",
    "StreamWriter",
    "StreamingPart",
    "TokenCounts",
    "ToolCapabilities",
    "Traits",
    "TransportSdk",
    "TurnSplitter",
    "UrlFacts",
    "WirePlace",
    "alike",
    "asked_by_shape",
    "asked_of",
    "by_rank",
    "decode",
    "elsewhere",
    "endpoint",
    "ends_alike",
    "every",
    "fact",
    "get",
    "grammar_places",
    "grammars",
    "history",
    "id_places",
    "is_socket_url",
    "last_where",
    "likeness_of",
    "of_kinds",
    "protocol_of_messages",
    "protocols",
    "refusals",
    "shape_of",
    "shape_of_value",
    "text_of",
    "traits",
    "where",
    "with_turns",
]


if TYPE_CHECKING:
    from workbench.protocols.clients.buffers import Policy


MOST_COMMON = "openai-chat"
"""Protocol that most servers use: assumed if nothing shows another one."""


class UrlFacts(NamedTuple):
    """Facts of a request that only its URL states: the model's name, and whether a stream is requested."""

    model: str | None = None
    stream: bool | None = None


class StreamDecoder(Protocol):
    """Builds a response from stream events; the result does not depend on the chunks of the bytes.

    A ``copy.deepcopy`` of it continues from the same event and leaves the original unchanged.
    """

    def feed(self, event: SseEvent) -> None:
        """Read one event. Never raises on hostile input: it records anomalies."""
        ...

    def result(self) -> ModelResponse:
        """The response so far. May be called at any time."""
        ...

    @property
    def growing(self) -> Sequence[StreamingPart]:
        """Parts of the first choice, in the order in which they began, as far as they can be distinguished.

        New parts are only added at the end, unless the response starts again, which removes all of them. Everything
        else is in ``result``.
        """
        ...

    def about(self) -> ModelResponse:
        """The response without its content: id, model, token counts."""
        ...


class StreamingPart(Protocol):
    """A part while it arrives, and the pieces of its one growing string (a text, arguments)."""

    @property
    def is_tagged(self) -> bool:
        """True if the text may contain reasoning in tags."""
        ...

    @property
    def is_over(self) -> bool:
        """True if the part is complete."""
        ...

    def opening(self) -> Part | None:
        """The part with its names and without its string; None if it is not known yet, or arrives as a whole."""
        ...

    def since(self, count: int) -> Sequence[str]:
        """Pieces of the string after the first ``count``."""
        ...

    def parts(self) -> tuple[Part, ...]:
        """The parts so far."""
        ...


class StreamWriter(Protocol):
    """Writes the stream of one response as it arrives: every method returns the bytes to send next.

    Parts fit ``capabilities``, and follow one another: each is opened, grows and is closed before the next one.
    """

    content_type: str

    def start(self, response: ModelResponse) -> bytes:
        """Begin the response, with what is known in addition to its content."""
        ...

    def choice(self, number: int) -> bytes:
        """Begin the parts of a choice."""
        ...

    def open(self, part: Part) -> bytes:
        """Begin a part. Only its names are used; if ``signature`` or ``data`` is not None, ``close`` gets the value."""
        ...

    def grow(self, text: str) -> bytes:
        """Write the next piece of the part's text, or of its argument text."""
        ...

    def close(self, part: Part) -> bytes:
        """End the part, which is now complete."""
        ...

    def end(self, response: ModelResponse) -> bytes:
        """End the response: finish reason, token counts, error; an incomplete response gets no end."""
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

    @property
    def splitter(self) -> Callable[[], TurnSplitter] | None:
        """Finds the turns of a WebSocket; None for a protocol that has none."""
        ...

    @property
    def envelopes(self) -> tuple[Envelope, ...]:
        """Other APIs over WebSockets that carry its requests and events; empty for most protocols."""
        ...

    @property
    def dialogue(self) -> Callable[[DialogueContext], SocketDialogue] | None:
        """The server's side of its WebSockets, for simulators; None for a protocol that has none."""
        ...

    @property
    def opening(self) -> Callable[[bytes], SocketOpening] | None:
        """The messages that send a request over a WebSocket; None for a protocol that has none."""
        ...

    is_socket_only: bool
    """True if the protocol has no requests over HTTP."""

    def claims_message(self, value: dict[str, JsonValue]) -> bool:
        """True if only this protocol has this (parsed) message of a WebSocket."""
        ...

    shares_urls: bool
    """True if other protocols use its URLs, too."""

    def protocol_of(self, request: JsonValue, answer: JsonValue) -> str:
        """Name of the protocol of a body at a URL that several protocols share.

        Args:
            request: parsed request body; None if absent.
            answer: parsed response, or the first event of its stream.
        """
        ...

    def claims_url(self, url: str) -> bool:
        """True if the path of the URL is this protocol's."""
        ...

    def read_url(self, url: str) -> UrlFacts:
        """Facts that only the URL states; empty for protocols that state them in the body."""
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
            body: the content-decoded bytes.
            known: messages that were decoded before; new ones are added to it. It does not change the result.

        Raises:
            WireError: not JSON.
            ProtocolMismatch: JSON, but not a request of this protocol.
        """
        ...

    def decode_response(self, body: bytes, *, status: int = 200) -> ModelResponse:
        """Decode a whole response body, error bodies included. Raises as ``decode_request``."""
        ...

    def stream_decoder(self) -> StreamDecoder:
        """A fresh decoder for one stream."""
        ...

    def encode_request(self, request: ModelRequest, original: bytes) -> bytes:
        """The original body with only the differing leaves replaced; all other bytes are unchanged.

        Raises:
            LocalProtocolError: the request differs in structure from the original.
        """
        ...

    def encode_response(self, response: ModelResponse, original: bytes) -> bytes:
        """The same as ``encode_request`` for a response body or a stream."""
        ...

    def params(self, request: ModelRequest) -> tuple[Param, ...]:
        """Every parameter that has no field of ``ModelRequest``, by its common name if it has one."""
        ...

    def path(self, request: ModelRequest) -> str:
        """Path of the request below a provider's base URL ("/v1/messages"), the model's name in it where it belongs."""
        ...

    def write_request(self, request: ModelRequest) -> JsonValue:
        """A new body for a request in *normal form* that fits ``capabilities``: complete, and nothing added.

        Normal form, as ``convert`` makes it of any protocol's request:

        * roles are "system", "user", "assistant" and "tool"; a message of role "tool" has the results for one response
          and nothing else, one of role "assistant" has one whole response; neither is next to another of its role;
        * parts are ``Text``, ``Reasoning``, ``ToolCallIR``, ``ToolResultIR``, ``Media``; their ``extra`` is empty
          except for what ``capabilities`` allows; without ``interleaved`` reasoning comes first, then text, then calls;
        * ``ToolCallIR.format`` is "function", or "custom" for a call whose input is free text; ``raw`` is the argument
          text if ``capabilities.tools.arguments`` is "string", else None; ``Media`` never has a ``data:`` URL;
        * ``params`` has the names and values of ``PARAMS``; ``tools`` are client tools (and custom ones).
        """
        ...

    def write_response(self, response: ModelResponse) -> JsonValue:
        """A new body for a response in normal form: one message of role "assistant" for each choice.

        ``stop`` becomes this protocol's finish reason, ``usage`` its own counts; ``error`` its error body.
        """
        ...

    def write_stream(self, response: ModelResponse) -> bytes:
        """The same response as a stream of this protocol, with its terminal event; an error comes after the content."""
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
    splitter: Callable[[], TurnSplitter] | None = None
    envelopes: tuple[Envelope, ...] = ()
    dialogue: Callable[[DialogueContext], SocketDialogue] | None = None
    opening: Callable[[bytes], SocketOpening] | None = None
    is_socket_only = False
    shares_urls = False

    def claims_message(self, value: dict[str, JsonValue]) -> bool:
        """The default: no messages."""
        return False

    def protocol_of(self, request: JsonValue, answer: JsonValue) -> str:
        """The adapter's own protocol."""
        return self.name

    def client_policies(self) -> tuple[type[Policy], ...]:
        """The default: no SDKs."""
        return ()


class _AdapterWithDefaults:
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
        raise UnknownName("protocol", name, protocols())
    adapter: Adapter = plugins.load(__name__, module).adapter
    is_complete = all(hasattr(adapter, member) for member in vars(AdapterDefaults) if not member.startswith("_"))
    return adapter if is_complete else cast("Adapter", _AdapterWithDefaults(adapter))


@cache
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
    """Names of every protocol, by ``Serving.rank``: those with most clients first."""
    return tuple(a.name for a in sorted(every(), key=lambda a: a.serving.rank))


def protocol_of_messages(values: Iterable[JsonValue]) -> str | None:
    """The protocol of a WebSocket, from the JSON of its first messages; None if they show none."""
    adapters = [adapter for adapter in every() if adapter.splitter]
    messages = (value for value in values if isinstance(value, dict))
    return next((each.name for value in messages for each in adapters if each.claims_message(value)), None)


def elsewhere() -> tuple[str, ...]:
    """Names of the protocols that are recognised, but not decoded by any adapter."""
    from workbench.protocols.common import undecoded_protocols

    return tuple(sorted(set(undecoded_protocols.NAMES) - set(protocols())))
