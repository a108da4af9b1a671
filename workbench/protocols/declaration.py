"""Facts about a protocol that general code reads from its adapter: plain values and pure functions, no I/O.

Each record has defaults, so that an adapter states only what differs. ``Serving`` is for the simulator, ``RawSdk`` and
``TransportSdk`` are for the export as a Python program, ``ImportHints`` is for importers of transcripts, and ``Traits``
for all other code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from workbench import regex
from workbench.ir import NOTHING, Carrier, JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple

SSE_TYPE = "text/event-stream; charset=utf-8"

COUNT, STORED = "count", "stored"
"""Values of ``SmallEndpoint.answer``: the simulator counts tokens, or returns a stored response by its id."""

Body: TypeAlias = Callable[[Sequence[str], str], JsonValue]
"""Body of a small endpoint, from the names of the listed models and the name in the path."""


@dataclass(frozen=True, slots=True)
class SmallEndpoint:
    """A path that clients call in addition to the conversation, such as the list of models.

    Attributes:
        methods: HTTP methods that it accepts.
        path: pattern that has to match the end of the path; its first group is a name.
        answer: ``COUNT``, ``STORED``, or the function that returns the body.
    """

    methods: tuple[str, ...]
    path: re.Pattern[str]
    answer: str | Body


def endpoint(methods: str, path: str, answer: str | Body) -> SmallEndpoint:
    """An endpoint from words: ``endpoint("GET", r"/models", models)``."""
    return SmallEndpoint(tuple(methods.split()), regex.compile(path + r"/?\Z"), answer)


@dataclass(frozen=True, slots=True)
class ErrorStyle:
    """Refusals of a simulator, for contracts that do not state the body themselves (term ``errors.body``).

    Attributes:
        body: the error body, with ``{message}``, ``{type}``, ``{param}``, ``{code}``, ``{status}`` and
            ``{request_id}`` as variables; None for the body that most providers send.
        types: HTTP status → type of the error (documentation of the providers' errors, October 2026).
        are_words: the types are words of the API's error model, which a contract's own body holds as literals too: the
            word for a refused request is replaced by the one of the status.
        headers: headers of every response; names as recordings have them.
        not_found: message for an unknown path, with ``{method}`` and ``{path}``.
        without_model: message for a request that names no model.
        not_json: message for a body that is not JSON, with ``{why}``.
        missing: message for a body without its list of messages, with ``{name}`` for the key.
    """

    body: JsonValue = None
    types: Mapping[int, str] = field(default_factory=dict)
    are_words: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    not_found: str = "Invalid URL ({method} {path})"
    without_model: str = "model is required"
    not_json: str = "We could not parse the JSON body of your request. ({why})"
    missing: str = "Missing required parameter: '{name}'."


@dataclass(frozen=True, slots=True)
class RequestClues:
    """Marks by which a request to a path that several protocols have shows its protocol.

    Attributes:
        headers: request headers, in lower case, that only clients of this protocol send.
        base: part of the path before the API's own path; empty if none.
        paths: matches paths that no other protocol has; empty if none.
    """

    headers: tuple[str, ...] = ()
    base: str = ""
    paths: str = ""


class BaseVariable(NamedTuple):
    """Environment variable that points clients at another server, with ``{url}`` in its value.

    Attributes:
        prefix: appended to the URL if the server prefers other protocols.
    """

    name: str
    value: str = "{url}"
    prefix: str = ""

    def assignment(self, url: str, *, is_first: bool) -> str:
        """``NAME=VALUE`` for a server at this URL."""
        return f"{self.name}={self.value.replace('{url}', url if is_first else url + self.prefix)}"


@dataclass(frozen=True, slots=True)
class Serving:
    """Facts that a simulator, or a gateway that responds itself, needs to serve the protocol.

    Attributes:
        call_id: shape of the id of a tool call: ``{22}`` is that many letters and digits, ``{name}`` the tool,
            ``{n}`` the number of the call; empty if calls have no ids.
        answer_id: shape of the id of a response; empty if it has none.
        answer_prefix: prefix of the id that a gateway gives a response it converts; empty if any id will do.
        item_ids: "text", "call", "custom" and "reasoning" → shapes of the ids of items, if these are separate items.
        signature_beside_call: members of a signed tool call that hold the signature, from the signature.
        stream_type: content type of a stream.
        array_unless: a stream is one JSON array unless the query has this; empty if it never is.
        errors: error bodies and messages.
        endpoints: paths other than that of the conversation; the first match answers.
        counted: body of the endpoint that counts tokens, from the number.
        count_defaults: members that a request to count tokens lacks and a request to a model needs.
        count_envelope: key at which a request to count tokens may hold the request to a model; empty if none.
        model_in_url: the URL always names the model.
        list_key: key of the list of messages in the request body.
        status_key: key of the error object that repeats the HTTP status; empty if none.
        rank: protocols with a lower rank are asked first for a path that several have.
        spellings: (pattern, replacement): base URLs that leave out the version.
        clues: marks of a request to a path that several protocols have.
        api: name of the API whose small endpoints are shared by several protocols; empty if they are its own.
        variable: environment variable for clients.
    """

    call_id: str = "call_{24}"
    answer_id: str = ""
    answer_prefix: str = ""
    item_ids: Mapping[str, str] = field(default_factory=dict)
    signature_beside_call: Callable[[str], Mapping[str, JsonValue]] | None = None
    stream_type: str = SSE_TYPE
    array_unless: str = ""
    errors: ErrorStyle = ErrorStyle()
    endpoints: tuple[SmallEndpoint, ...] = ()
    counted: Callable[[int], JsonValue] | None = None
    count_defaults: Mapping[str, JsonValue] = NOTHING
    count_envelope: str = ""
    model_in_url: bool = False
    list_key: str = "messages"
    status_key: str = ""
    rank: int = 100
    spellings: tuple[tuple[str, str], ...] = ()
    clues: RequestClues = RequestClues()
    api: str = ""
    variable: BaseVariable | None = None

    def is_array(self, target: str) -> bool:
        """Check if a stream at this path and query is one JSON array."""
        return bool(self.array_unless) and self.array_unless not in target


class RawSdk(NamedTuple):
    """An SDK that accepts raw content.

    Attributes:
        paths: ends of the path that belong to the call; what is before them is the base URL.
        answer, stream: types of the response, whole and streamed.
        ambient: environment variables that it reads and sends by itself.
        token_argument: argument of the client for a bearer token.
    """

    package: str
    client: str
    paths: tuple[str, ...]
    answer: str
    stream: str
    ambient: tuple[str, ...]
    token_argument: str = "api_key"


class TransportSdk(NamedTuple):
    """An SDK that writes every body itself: the program replaces the request at the transport.

    Attributes:
        imports: lines of the program.
        client: expression that makes the client.
        answer, stream: expressions that call it, whole and streamed.
    """

    package: str
    imports: tuple[str, ...]
    client: str
    answer: str
    stream: str


@dataclass(frozen=True, slots=True)
class ImportHints:
    """Facts for importers of transcripts that do not keep the wire.

    Attributes:
        providers: words in the name of a provider whose models use this protocol.
        models: words in the name of a model, for transcripts that name no provider.
        apis: names of this protocol in transcripts of clients ("openai-completions").
        carrier: place of reasoning in a rebuilt message.
        has_plain_params: parameters such as ``temperature`` are members of the request body itself.
        error_prefix: put before the text of a failed tool result by clients, since results have no error flag.
        list_key: key of the list of messages, if no other protocol has it: it identifies a request whose messages a log
            keeps elsewhere.
    """

    providers: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    apis: tuple[str, ...] = ()
    carrier: Carrier = Carrier.REASONING_CONTENT
    has_plain_params: bool = False
    error_prefix: str = ""
    list_key: str = ""


class TokenCounts(NamedTuple):
    """Pointers of the token counts in ``ir.Usage.raw``; empty for a count that the protocol lacks.

    Attributes:
        at: pointer of the counts in a response.
        prompt, output, total: of the whole prompt, of what the model wrote, of both.
        cached: tokens read from a cache, in every spelling; only where ``prompt`` contains them.
        reasoning: tokens of the reasoning; only where ``output`` contains them.
        beside: counts that ``total`` may contain in addition to prompt and output.
        limits: pointers, in a request, of the maximum number of tokens that the model may write.
    """

    at: str = "/usage"
    prompt: str = ""
    output: str = ""
    total: str = ""
    cached: tuple[str, ...] = ()
    reasoning: str = ""
    beside: tuple[str, ...] = ()
    limits: tuple[str, ...] = ("/max_tokens",)


class PartInEvent(NamedTuple):
    """Beginning of a block or item of the response, in an event of a stream.

    Attributes:
        marker: bytes of the type of the event.
        member: key of the event that has the block or item.
        key: key of a whole response that lists them.
        place: key of the event that has the number in this list.
    """

    marker: bytes
    member: str
    key: str
    place: str


@dataclass(frozen=True, slots=True)
class Traits:
    """Facts that rules, repairs, conversion and probes need.

    Attributes:
        may_be_silent: (parameter, value) of a request that a model may leave without output, such as one that only
            fills the server's memory; None if there is none.
        previous_pointer: JSON pointer of the id of the response that a request continues; empty if none.
        thread_keeps_tools: a continued request has the instructions and tools of the one before.
        ends_with_calls: a turn is blocks in the order in which the model wrote them, and calls are the last of them.
        caches_marked_only: providers cache what the request marks, and nothing else.
        may_be_empty: a request without messages is legal (it loads the model).
        schema_key: key of the JSON schema in a tool declaration.
        output_schemas: pointers of the JSON schemas that responses have to fit.
        has_one_switch: every provider of the protocol switches thinking in the same way.
        common_carriers: carriers of reasoning that any server of the protocol may use.
        usage_request: members of a request that ask for the token counts of a stream, which come only then.
        reasoning_request: members of a request that ask for reasoning that can be sent back.
        thinking_request: value of ``ModelRequest.thinking`` that makes a model show its reasoning; None if it shows it
            by default.
        call_format: name of native tool calls in a capability profile; empty for the name of the protocol.
        custom_tools_are_rare: most providers accept only function tools: a contract has to state others.
        empty_is_message: JSON is made of protobuf messages: empty members are left out, and ``{}`` is a message.
        partial_markers: pieces of bytes that show tool calls in pieces, which the SDK passes on unjoined.
        clients_build_all: known SDKs are compared in everything that they build; otherwise only in the calls.
        clients_read_lines: SDKs read an event stream line by line.
        places: name of a place in a request ("tool.description") → a pointer with wildcards, as in the relations of
            contracts (``profiles/README.md`` lists the names); a place without an entry does not exist in the protocol.
        carriers: name of a field that holds reasoning, or its proof → the places where it may be, with wildcards; in
            any other object it is misplaced, as are the fields of other protocols.
        token_counts: where the token counts of a response are.
        whole_in_event: place in an event of a stream of an object with the keys of a whole response, of which some are
            complete; None if there is none.
        part_in_event: how an event begins a block or item of a response; None if no event does.
        end_pointer: place in a whole response of the reason why it ended; empty if whole responses may lack it.
        answer_form_differs: a request has a different form for messages of the model than a response.
        sdk_fields: members that a recorder of an SDK's call keeps, and that the SDK does not send under these names.
        end_repeats_calls: the event that ends a stream contains the whole response, and SDKs read the calls from it.
    """

    may_be_silent: tuple[str, JsonValue] | None = None
    previous_pointer: str = ""
    thread_keeps_tools: bool = False
    ends_with_calls: bool = False
    caches_marked_only: bool = False
    may_be_empty: bool = False
    schema_key: str = "parameters"
    output_schemas: tuple[str, ...] = ()
    has_one_switch: bool = True
    common_carriers: tuple[Carrier, ...] = ()
    usage_request: Mapping[str, JsonValue] = NOTHING
    token_counts: TokenCounts = TokenCounts()
    end_pointer: str = ""
    sdk_fields: frozenset[str] = frozenset()
    whole_in_event: str | None = None
    part_in_event: PartInEvent | None = None
    reasoning_request: Mapping[str, JsonValue] = NOTHING
    thinking_request: str | None = None
    call_format: str = ""
    custom_tools_are_rare: bool = False
    empty_is_message: bool = False
    partial_markers: tuple[bytes, ...] = ()
    clients_build_all: bool = False
    clients_read_lines: bool = False
    places: Mapping[str, str] = NOTHING
    carriers: Mapping[str, tuple[str, ...]] = NOTHING
    end_repeats_calls: bool = False
    answer_form_differs: bool = False

    def counts_stream(self, params: Mapping[str, JsonValue]) -> bool:
        """Check if a streamed response to a request with these parameters ends with token counts."""
        for name, wanted in self.usage_request.items():
            value = params.get(name)
            if not isinstance(value, dict) or any(value.get(key) is not inner for key, inner in wanted.items()):
                return False
        return True
