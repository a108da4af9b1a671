"""Reduces finish reason, token counts, ids and errors of a response to what the target accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from workbench.convert.losses import FieldPlaces, LossReport, keys
from workbench.ir import NOTHING, ApiError, JsonValue, Message, ModelResponse, Usage
from workbench.lazy_dataclass import replace
from workbench.protocols import Capabilities
from workbench.provenance import escape, scalars

_STRUCTURE = ("object", "type", "response")
"""Keys of a response that only state its type."""

_PLAIN_REASONS = frozenset(
    (
        *("stop", "end_turn", "STOP", "COMPLETE", "completed"),
        *("tool_calls", "tool_use", "TOOL_CALL"),
        *("length", "max_tokens", "MAX_TOKENS", "max_output_tokens"),
        *("content_filter", "content_filtered", "refusal", "SAFETY"),
        *("pause_turn", "CONTINUATION", "OTHER"),
    )
)
"""Finish reasons that ``ModelResponse.stop`` represents without loss."""

_COUNTS = frozenset(
    (
        *("/input_tokens", "/output_tokens", "/prompt_tokens", "/completion_tokens", "/total_tokens"),
        *("/cache_read_input_tokens", "/cache_creation_input_tokens", "/output_tokens_details/thinking_tokens"),
        *("/prompt_tokens_details/cached_tokens", "/prompt_token_details/cached_tokens"),
        *("/prompt_tokens_details/cache_write_tokens", "/completion_tokens_details/reasoning_tokens"),
        *("/prompt_cache_hit_tokens", "/cached_tokens", "/num_cached_tokens"),
        *("/input_tokens_details/cached_tokens", "/input_tokens_details/cache_write_tokens"),
        "/output_tokens_details/reasoning_tokens",
        *("/inputTokens", "/outputTokens", "/totalTokens", "/cacheReadInputTokens", "/cacheWriteInputTokens"),
        *("/promptTokenCount", "/candidatesTokenCount", "/totalTokenCount", "/thoughtsTokenCount"),
        *("/cachedContentTokenCount", "/toolUsePromptTokenCount"),
        *("/prompt_token_count", "/candidates_token_count", "/total_token_count", "/thoughts_token_count"),
        *("/cached_content_token_count", "/tool_use_prompt_token_count"),
        *("/prompt_eval_count", "/eval_count", "/tokens/input_tokens", "/tokens/output_tokens"),
    )
)
"""Pointers below the usage object that ``ir.Usage`` is read from, in all protocols, and sums of these counts."""

_CACHED = ("cache_read", "cache_write")


def fit_usage(
    response: ModelResponse, capabilities: Capabilities, report: LossReport, places: FieldPlaces
) -> Usage | None:
    """Token counts that the target has; cached tokens are added to the input if it has no count for them."""
    usage = response.usage
    if usage is None:
        if not capabilities.answer.usage_required or response.error:
            return None
        report.lose("", "a response without token counts, which the target requires", "written as 0")
        return replace(Usage(0, 0), **_zeros(capabilities.answer.usage_needed))
    at = places.of("usage")
    for pointer in _unread_counts(usage.raw):
        base = "" if places.holds(pointer) else at  # Ollama has its counts at the top level
        report.lose(base + pointer, f"{pointer[1:]!r:.80} in the token counts")
    fields: dict[str, Any] = {"raw": NOTHING}
    input_tokens = usage.input
    for name in (*_CACHED, "reasoning"):
        count = getattr(usage, name)
        if count is None or name in capabilities.answer.usage_fields:
            continue
        fields[name] = None
        is_input = name in _CACHED and count and input_tokens is not None
        if is_input:
            input_tokens += count
        report.lose(at, f"the token count {name!r} ({count})", "counted as input" if is_input else "left out")
    result = replace(usage, input=input_tokens, **fields)
    missing = [name for name in sorted(capabilities.answer.usage_needed) if getattr(result, name) is None]
    if missing:
        report.lose(at, f"token counts without {', '.join(missing)}, which the target requires", "written as 0")
    return replace(result, **_zeros(missing)) if missing else result


def _zeros(names: Iterable[str]) -> dict[str, Any]:
    return dict.fromkeys(names, 0)


def _unread_counts(raw: Mapping[str, JsonValue], base: str = "") -> Iterator[str]:
    """Yield pointers of token counts that ``ir.Usage`` does not hold; an object with none of its counts as a whole."""
    for key, value in raw.items():
        at = f"{base}/{escape(key)}"
        if at in _COUNTS or value is None or value == [] or value == {} or value == "":
            continue
        if isinstance(value, Mapping) and any(place.startswith(f"{at}/") for place in _COUNTS):
            yield from _unread_counts(value, at)
        else:
            yield at


def fit_stop(
    response: ModelResponse,
    messages: Sequence[Message],
    capabilities: Capabilities,
    report: LossReport,
    places: FieldPlaces,
) -> str | None:
    """The finish reason in the target's words."""
    stop, at = response.stop, places.of("finish_reason")
    for n in range(1, len(messages)):
        other = at.replace("/0/", f"/{n}/", 1)
        other_reason = places.at(other)
        if other_reason is not None and other_reason != response.finish_reason:
            report.lose(
                other,
                (f"the finish reason {other_reason!r:.60} of another choice"),
                "the finish reason of the first choice is used",
            )
    if stop is None and capabilities.answer.stop_required and response.is_complete and not response.error:
        ends = "tool_calls" if any(any(m.tool_calls()) for m in messages) else "stop"
        report.lose(at, "a response without a finish reason", f"{ends!r}, derived from the content")
        return ends
    reason = f"the finish reason {response.finish_reason!r:.60}"
    if stop is not None and stop not in capabilities.answer.stops:
        report.lose(at, reason, "written as 'stop'")
        return "stop"
    if stop == "tool_calls" and capabilities.answer.stop_by_calls and not any(any(m.tool_calls()) for m in messages):
        report.lose(at, f"{reason} without a tool call", "written as 'stop'")
        return "stop"
    if stop is not None and response.finish_reason is not None and response.finish_reason not in _PLAIN_REASONS:
        report.lose(at, reason, f"written as {stop!r}, the nearest")
    return stop


def fit_end(
    response: ModelResponse,
    stop: str | None,
    usage: Usage | None,
    capabilities: Capabilities,
    report: LossReport,
    places: FieldPlaces,
) -> tuple[str | None, Usage | None]:
    """Finish reason and token counts of a stream that failed or broke off; None if the target has no place for them."""
    if not (stop or usage) or not response.is_stream:
        return stop, usage
    if response.error:
        report.lose(places.of("usage"), "the finish reason and token counts of a stream that ended with an error")
        return None, None
    if capabilities.answer.stop_is_end and not response.is_complete:
        what = "the finish reason and token counts of a stream that ended early after sending them"
        report.lose(places.of("finish_reason"), what)
        return None, None
    return stop, usage


def fit_names(
    response: ModelResponse, capabilities: Capabilities, report: LossReport, places: FieldPlaces
) -> dict[str, str | None]:
    """Id and model of a response; reports other fields that the target always has and that must be supplied."""
    own: dict[str, str | None] = {}
    for name in ("id", "model"):
        value = getattr(response, name)
        own[name] = value if name in capabilities.answer.fields else None
        if value is not None and own[name] is None:
            report.lose(places.of(name), f"the {name} of the response ({value!r:.80})")
    supplied = {
        name: value
        for name, value in capabilities.answer.needs.items()
        if own.get(name) is None and not (response.error and not response.messages)
    }
    if supplied:
        fields = ", ".join(f"{name}: {value!r}" for name, value in supplied.items())
        report.lose("", "a response without fields that the target requires", f"written: {fields}")
    return own


def lose_params(response: ModelResponse, report: LossReport) -> None:
    """Report fields next to the content as losses; those of each choice under its own pointer."""
    for key, value in response.params.items():
        if key in _STRUCTURE:
            continue
        if key in ("choices", "candidates") and isinstance(value, list):
            for n, beside in enumerate(value):
                report.lose_keys(f"/{key}/{n}", beside if isinstance(beside, dict) else {})
        else:
            for at, _ in keys({key: value}, ""):
                report.lose(at, f"{at[1:]!r:.80} of the response")


def fit_error(response: ModelResponse, capabilities: Capabilities, report: LossReport, places: FieldPlaces) -> ApiError:
    """The error in the target's fields; everything else in its body is lost by pointer."""
    error = response.error
    assert error is not None
    fields: dict[str, Any] = {"details": NOTHING}
    for name in ("type", "code", "param", "request_id"):
        if getattr(error, name) is not None and name not in capabilities.answer.error_fields:
            fields[name] = None
            if error.raw is None:
                report.lose(places.below("error", name), f"the {name} of an error")
    result = replace(error, **fields)
    kinds = capabilities.answer.stream_errors
    if kinds and response.is_stream:
        kind = error.type if error.type in kinds else kinds[0]
        if kind != error.type:
            what = "an error without a type" if error.type is None else f"an error of type {error.type!r:.80}"
            report.lose("", f"{what}, in a stream", f"written as {kind!r}")
        result = replace(result, type=kind)
    values = {str(value) for value in (result.type, result.code, result.param, result.request_id) if value is not None}
    for at, value in scalars(error.raw) if isinstance(error.raw, Mapping | list) else ():
        is_said = at == error.pointer or str(value) in values or (at.endswith("/type") and value == "error")
        if not is_said and value is not None and value != "" and value != {} and value != []:
            report.lose(at, f"{at[1:]!r:.80} of an error")
    for name in error.details if error.raw is None else ():
        report.lose(places.below("error", name), f"{name!r:.80} of an error")
    return result
