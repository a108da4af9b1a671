"""Capabilities of a protocol: everything that its bodies have a place for, in five small records.

Callers read these values and never use ``isinstance``; ``convert`` fits requests and responses to them.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ReasoningCapabilities:
    """Reasoning, and the switches for it.

    Attributes:
        carriers: values of ``ir.Carrier`` that it has a place for.
        plain: the carrier for readable reasoning without proof; empty if there is none.
        proved: carriers that are refused without their proof (``signature`` or ``data``).
        switches: values of ``ModelRequest.thinking`` that can be expressed.
        effort_is_switch: the parameter ``effort`` is the switch too: with it thinking is "on".
        effort_or_budget: only one of ``effort``, ``thinking_budget`` and thinking "off" can be given.
        budget_required: thinking "on" is refused without the parameter ``thinking_budget``.
        budget_switches: the parameter ``thinking_budget`` is part of the switch, and needs it to be on.
        least_budget: the smallest ``thinking_budget`` that is accepted; it has to be below ``max_tokens`` too; 0 for
            any.
    """

    carriers: frozenset[str] = frozenset()
    plain: str = ""
    proved: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    effort_is_switch: bool = False
    effort_or_budget: bool = False
    budget_required: bool = False
    budget_switches: bool = False
    least_budget: int = 0


@dataclass(frozen=True, slots=True)
class MediaCapabilities:
    """Images, audio, video, documents and files.

    Attributes:
        kinds: kinds of ``ir.Media`` in a user's message.
        in_results: the same in a tool result.
        sources: fields of ``ir.Media`` that have a place: ``"data"``, ``"url"``, ``"file_id"``.
        sources_of: kind → the same, for kinds with fewer of them.
        types: kind → its MIME types, for kinds of which no others are accepted.
        untyped: kind → the MIME type that is written if none is known, because the target needs one; references have a
            type too.
        document_key: keys of ``extra`` at which a document or file has its name; empty if it cannot have one.
        document_odd: matches a piece of a name that is refused.
        document_length: maximum length of a name in characters; None for no limit.
        document_name: name of a document that has none, if names are required; empty if they are not.
    """

    kinds: frozenset[str] = frozenset()
    in_results: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    sources_of: Mapping[str, frozenset[str]] = NOTHING
    types: Mapping[str, frozenset[str]] = NOTHING
    untyped: Mapping[str, str] = NOTHING
    document_key: tuple[str, ...] = ()
    document_odd: str = ""
    document_length: int | None = None
    document_name: str = ""


@dataclass(frozen=True, slots=True)
class ToolCapabilities:
    """Tools, tool calls and tool results.

    Attributes:
        custom: tools whose input is free text.
        strict: a tool can ask for strict decoding of its arguments.
        name_pattern: has to match the whole name of a tool; empty for any name.
        choices: modes of ``ir.ToolChoice`` that can be expressed.
        parallel_switch: parallel calls can be switched off.
        parallel_in_choice: that switch is a key of the tool choice.
        arguments: ``"string"`` or ``"object"``: the container of arguments on the wire.
        call_ids: calls and results are paired by ids; otherwise by name and order.
        ids_optional: without ids they are paired by name and order too.
        id_pattern: has to match the whole id; empty for any id.
        id_max_length: maximum length of an id in characters; None for no limit.
        error_flag: a result can state that the tool failed.
        result_names: a result repeats the name of its tool.
        json_results: a result can hold a JSON value, if that is all it holds beside media.
        results_text_first: the texts of a result precede its media.
    """

    custom: bool = False
    strict: bool = False
    name_pattern: str = ""
    choices: frozenset[str] = frozenset(("auto", "none", "any", "tool"))
    parallel_switch: bool = False
    parallel_in_choice: bool = False
    arguments: str = "string"
    call_ids: bool = True
    ids_optional: bool = False
    id_pattern: str = ""
    id_max_length: int | None = None
    error_flag: bool = False
    result_names: bool = False
    json_results: bool = False
    results_text_first: bool = False


@dataclass(frozen=True, slots=True)
class RequestCapabilities:
    """Messages, parameters and headers of a request.

    Attributes:
        mid_system: a system message may be between other messages.
        empty_text: a text may be empty.
        one_text: roles of messages that hold a single string, so that their texts are joined; ``"answer"`` for the
            messages of a response.
        cache_markers: parts, tools and system may have a cache breakpoint, as ``cache_control`` in ``extra``.
        cache_blocks: cache breakpoints are blocks after what they mark, with at most a ``ttl``, and never inside a
            result.
        params: names of ``PARAMS`` that it has a place for.
        required: names of ``PARAMS`` without which a request is refused → the value that is written by default.
        schema_keys: keys of the parameter ``response_schema``, other than "schema", that can be expressed.
        schema_required: keys of it without which it is refused → the value that is written by default.
        key_header: the request header for an API key; in ``authorization`` it is ``Bearer KEY``.
        headers: further headers without which a request is refused → the value that is written by default.
    """

    mid_system: bool = False
    empty_text: bool = False
    one_text: frozenset[str] = frozenset()
    cache_markers: bool = False
    cache_blocks: bool = False
    params: frozenset[str] = frozenset()
    required: Mapping[str, JsonValue] = NOTHING
    schema_keys: frozenset[str] = frozenset(("name", "strict", "description"))
    schema_required: Mapping[str, JsonValue] = NOTHING
    key_header: str = "authorization"
    headers: Mapping[str, str] = NOTHING


@dataclass(frozen=True, slots=True)
class AnswerCapabilities:
    """Responses and streams.

    Attributes:
        interleaved: text, reasoning and calls keep their order; otherwise reasoning, text, calls.
        stops: values of ``ModelResponse.stop`` that can be expressed.
        stop_required: a complete response always has a finish reason.
        stop_is_end: the event with the finish reason of a stream is the one that ends it.
        stop_by_calls: the finish reason is "stop" with and without tool calls; only the calls show the difference.
        fields: of ``"id"`` and ``"model"``, those that a response has.
        needs: members that a response always has → the value that is written by default.
        usage_required: a response is refused without token counts.
        usage_fields: counts of ``ir.Usage`` that can be expressed in addition to input and output.
        usage_needed: counts of ``ir.Usage`` that are always present: 0 is written if nothing is known.
        error_fields: fields of ``ir.ApiError`` that can be expressed in addition to its message.
        stream_errors: types that an error inside a stream can have; the first one replaces every other.
    """

    interleaved: bool = False
    stops: frozenset[str] = frozenset(("stop", "tool_calls", "length", "filter"))
    stop_required: bool = False
    stop_is_end: bool = False
    stop_by_calls: bool = False
    fields: frozenset[str] = frozenset(("id", "model"))
    needs: Mapping[str, JsonValue] = NOTHING
    usage_required: bool = False
    usage_fields: frozenset[str] = frozenset(("cache_read", "cache_write", "reasoning"))
    usage_needed: frozenset[str] = frozenset()
    error_fields: frozenset[str] = frozenset(("type",))
    stream_errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Everything that a protocol can express."""

    reasoning: ReasoningCapabilities = ReasoningCapabilities()
    media: MediaCapabilities = MediaCapabilities()
    tools: ToolCapabilities = ToolCapabilities()
    request: RequestCapabilities = RequestCapabilities()
    answer: AnswerCapabilities = AnswerCapabilities()
