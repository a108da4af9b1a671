"""Dials: how a scripted model answers, and its faults.

Faults and features of simulators, by the names that people type.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from workbench.errors import UsageError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.toolcalls import formats

ARGUMENT_FAULTS: Mapping[str, str] = {
    "invalid-json": "text that is not JSON",
    "double-encoded": "the JSON text of the arguments as a JSON string",
    "empty": "empty argument text",
    "truncated": "arguments end early",
    "wrong-type": "a value of a different type than in the schema",
    "missing-required": "a required argument is missing",
    "unknown-tool": "an undeclared tool",
}

STREAM_FAULTS: Mapping[str, str] = {
    "split-utf8": "non-ASCII characters split into chunks of one byte",
    "reused-index": "at least two calls, all with the same index",
    "missing-index": "calls and blocks without their index",
    "cut": "the connection breaks in the middle of the stream",
    "no-terminator": "the terminal event is missing",
    "error": "an error event instead of the terminal event",
    "empty-choices": "a chunk with an empty list of choices at the start of the stream",
    "comments": "comment lines between the events (server-sent events only)",
    "json-body": "a single JSON body although a stream was requested",
}

PLACES = ("content", "reasoning")

FEATURES: Mapping[str, str] = {
    "tools": "declared tools",
    "stream": "streamed responses",
    "strict": "tools with strict: true",
    "choice-auto": "tool_choice auto",
    "choice-none": "tool_choice none",
    "choice-any": "tool_choice any (required)",
    "choice-tool": "tool_choice that names a tool",
    "system": "a system prompt",
    "mid-system": "a system message between other messages",
    "developer": "a message with role developer",
    "media": "media in a tool result",
    "errors": "a tool result that is an error",
    "reasoning": "replayed reasoning",
    "reasoning-missing": "a replayed tool call without its reasoning",
    "reasoning-empty": "empty replayed reasoning",
    "reasoning-altered": "replayed reasoning with a different text",
    "reasoning-stale": "reasoning from before the last user message",
    "reasoning-forgotten": "calls from before the last user message without their reasoning",
    "results": (
        "a tool result longer than result-limit; if such results are not refused, the model does not read their end"
    ),
    "context": (
        "a request longer than context; if such requests are not refused, the model does not read their oldest messages"
    ),
    "odd-names": "tool names with characters other than letters, digits, _ and -",
    "odd-ids": "tool call ids with characters other than letters, digits, _ and -",
}
"""Features of a request that a simulator can refuse, or (some of them) accept without reading."""

UNREAD = (
    *("choice-auto", "choice-none", "choice-any", "choice-tool", "system", "mid-system", "developer", "media"),
    "reasoning",
)
"""Features that can be ignored."""

KEYWORD = "schema:"
"""Prefix of a JSON Schema keyword to refuse or ignore in any tool: ``schema:pattern``."""


NATIVE = "native"


@dataclass(frozen=True, slots=True)
class HttpFault:
    """A refusal that is independent of the request.

    Attributes:
        status: 400 to 599.
        times: number of refusals before requests succeed; 0 for always.
        retry_after: seconds in the header Retry-After; None to omit it.
    """

    status: int
    times: int = 0
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Dials:
    """Settings of a scripted model.

    Attributes:
        calls: ``"native"``, or the text format of calls (``workbench.toolcalls.formats``).
        calls_in: where such text is written: ``"content"`` or ``"reasoning"``.
        parallel: calls in one answer, if the request allows more than one.
        mends: error results after which a call is made correctly; until then it is repeated unchanged. 0: it is not
            repeated.
        reads: the final text repeats the results; else it ignores them.
        arguments: key of ``ARGUMENT_FAULTS``; empty for none.
        stream: key of ``STREAM_FAULTS``; empty for none.
        http: a refusal instead of answers.
        latency: seconds before each chunk.
        chunk: bytes of a chunk; 0 for one chunk per event.
        thinks: answers contain reasoning; None as request and contract define it.
        stops: a call whose result says that it was cancelled is not repeated.
        needs_reasoning: results are ignored unless their reasoning is sent back unchanged.
        enforces: refuse what the contract refuses.
        refuses: keys of ``FEATURES``, and ``schema:KEYWORD``: requests with one of them are refused.
        ignores: keys of ``UNREAD``, and ``schema:KEYWORD``: accepted, but not read.
        context: tokens of a request that are read; 0 for all.
        result_limit: bytes of a result that are read; 0 for all.
        name_limit: longest accepted tool name; 0 for any.
        id_limit: longest accepted call id; 0 for any.
    """

    calls: str = NATIVE
    calls_in: str = "content"
    parallel: int = 1
    mends: int = 0
    reads: bool = True
    arguments: str = ""
    stream: str = ""
    http: HttpFault | None = None
    latency: float = 0.0
    chunk: int = 0
    thinks: bool | None = None
    stops: bool = True
    needs_reasoning: bool = False
    enforces: bool = True
    refuses: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    context: int = 0
    result_limit: int = 0
    name_limit: int = 0
    id_limit: int = 0

    def __post_init__(self) -> None:
        if self.calls != NATIVE:
            _one_of("calls", self.calls, (NATIVE, *formats.formats()))
        _one_of("calls-in", self.calls_in, PLACES)
        _one_of("arguments", self.arguments, ("", *ARGUMENT_FAULTS))
        _one_of("stream", self.stream, ("", *STREAM_FAULTS))
        _within("parallel", self.parallel, 1, 128)
        _within("mends", self.mends, 0, 128)
        _within("latency", self.latency, 0, 3600)
        _within("chunk", self.chunk, 0, 2**20)
        for what, value in (("context", self.context), ("result-limit", self.result_limit)):
            _within(what, value, 0, 10**9)
        for what, value in (("name-limit", self.name_limit), ("id-limit", self.id_limit)):
            _within(what, value, 0, 10**6)
        for what, named, known in (("refuses", self.refuses, FEATURES), ("ignores", self.ignores, UNREAD)):
            for feature in named:
                _one_of(what, f"{KEYWORD}…" if feature.startswith(KEYWORD) else feature, (*known, f"{KEYWORD}…"))
        if self.http:
            _within("http status", self.http.status, 400, 599)
            _within("http times", self.http.times, 0, 10**6)
            _within("retry-after", self.http.retry_after or 0, 0, 10**6)


KEYS = (
    *("calls", "calls-in", "parallel", "mends", "reads", "arguments", "stream", "http", "retry-after", "latency"),
    *("chunk", "thinks", "stops", "needs-reasoning", "enforces", "refuses", "ignores", "context", "result-limit"),
    *("name-limit", "id-limit"),
)
"""Names of the dials in scripts and on the command line; ``http`` is ``STATUS``, ``STATUS:once`` or ``STATUS:N``."""


def dials_of(settings: Mapping[str, JsonValue], base: Dials | None = None) -> Dials:
    """Dials by the names of ``KEYS``; the others are as in ``base``. Raises UsageError."""
    values: dict[str, Any] = {}
    for key, value in settings.items():
        _one_of("dial", key, KEYS)
        name = key.replace("-", "_")
        if key in ("calls", "calls-in", "arguments", "stream"):
            values[name] = _check_type(key, value, str)
        elif key in ("parallel", "mends", "chunk", "context", "result-limit", "name-limit", "id-limit"):
            values[name] = _check_type(key, value, int)
        elif key in ("reads", "thinks", "stops", "needs-reasoning", "enforces"):
            values[name] = _switch(key, value)
        elif key in ("refuses", "ignores"):
            values[name] = _features(key, value)
        elif key == "latency":
            values[key] = float(_check_type(key, value, (int, float)))
    if "http" in settings:
        values["http"] = http_fault(str(settings["http"]), settings.get("retry-after"))
    elif "retry-after" in settings:
        raise UsageError("retry-after can only be used together with http", hint="http: 429")
    defaults = {name: getattr(base, name) for name in Dials.__slots__} if base else {}
    return Dials(**{**defaults, **values})


def http_fault(text: str, retry_after: JsonValue = None) -> HttpFault:
    """Parse ``"429"`` (always), ``"429:once"``, ``"429:3"``. Raises UsageError."""
    status, _, times = text.partition(":")
    count = {"": "0", "always": "0", "once": "1"}.get(times, times)
    if not (status.isascii() and status.isdecimal() and count.isascii() and count.isdecimal()):
        raise UsageError(f"not an HTTP fault: {text!r}", hint="STATUS, STATUS:once or STATUS:N")
    wait = None if retry_after is None else float(_check_type("retry-after", retry_after, (int, float)))
    return HttpFault(int(status), int(count), wait)


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{what}: {value!r:.80} is not known", hint=f"known: {', '.join(filter(None, known))}")


def _within(what: str, value: float, low: float, high: float) -> None:
    if not math.isfinite(value) or not low <= value <= high:
        raise UsageError(f"{what}: {value} is not between {low:,} and {high:,}")


def _switch(what: str, value: JsonValue) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{what}: {value!r:.80} is neither true nor false")
    return value


def _features(what: str, value: JsonValue) -> tuple[str, ...]:
    """Names in a list, or in a comma-separated text."""
    named = value if isinstance(value, list) else str(_check_type(what, value, str)).split(",")
    return tuple(dict.fromkeys(_check_type(what, name, str).strip() for name in named))


def _check_type(what: str, value: JsonValue, kind: type | tuple[type, ...]) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UsageError(f"{what}: {value!r:.80} is not {'text' if kind is str else 'a number'}")
    return value


HEALTHY = Dials()
"""Dials without a fault."""
