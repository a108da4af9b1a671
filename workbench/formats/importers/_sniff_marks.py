"""Bytes that are at the start of the files of an importer: without them it need not be imported to ask it.

An importer without an entry is always asked. That no importer claims a file without its bytes is tested.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from workbench import regex
from workbench.named_tuple import NamedTuple

_MARKS: Mapping[str, tuple[bytes, ...]] = {
    "atif": (b'"ATIF-',),
    "log_carrier": (
        *(b'essage":"{', b'essage": "{', b'"log":"{', b'"log": "{', b'Z {"', b'0 {"'),
        *(b"Received request", b"Generated response"),
    ),
    "azure_apim": (b"GatewayLlmLog", b"RequestMessages", b"requestMessages"),
    "batch_file": (b'"custom_id"', b'"modelInput"', b'"processed_time"'),
    "bedrock_log": (b'"schemaType"',),
    "claude_agent": (b"session_id", b"parent_tool_use_id", b"control_", b"keep_alive"),
    "claude_code": (b'"loglines"', b'"parentUuid"', b'"leafUuid"', b'"messageId"', b'"sessionId"'),
    "claude_trace": (b'"timestamp"',),
    "cloudflare_gateway": (b'"Provider"', b'"tokens_in"'),
    "codex": (b'"payload"', b'"instructions"'),
    "event_stream": (b"data:", b"event:", b"\0"),
    "gemini_cli": (b'"sessionId"',),
    "gemini_script": (b'"generateContent', b'"countTokens"', b'"embedContent"'),
    "har": (b'"log"', b"log:"),
    "helicone": (b'"request_model"', b'"response_id"'),
    "httprr": (b"httprr trace",),
    "inspect_log": (b"PK\x03\x04", b'"eval"'),
    "langfuse": (b'"trace_id"', b'"traceId"'),
    "langsmith": (b'"run_type"',),
    "litellm_log": (b'"call_type"',),
    "litellm_spend": (b'"spend"',),
    "mitmproxy": (
        *(b":7:version", b":4:type", b":2:id", b":7:request", b":8:response"),
        *(b":11:client_conn", b":11:server_conn", b":9:websocket", b":8:metadata"),
    ),
    "opencode": (b'"ses_',),
    "otel": (b'"resourceSpans"', b'"resourceLogs"', b'"resource_spans"', b'"resource_logs"', b'"batches"'),
    "phoenix": (b'"span_kind"', b'"start_time_unix_nano"'),
    "otel_table": (b'"SpanAttributes"',),
    "otlp_protobuf": (b"gen_ai.", b"llm.", b"service.name", b"telemetry.sdk", b"openinference."),
    "parquet": (b"PAR1",),
    "pi": (b'"session"',),
    "qwen_code": (b'"parentUuid"',),
    "store_csv": (
        *(b"CorrelationId", b"Provider", b"TraceId", b"custom_id", b"proxy_server_request", b"request_id"),
        *(b"response_id", b"run_type", b"schemaType", b"span_kind", b"traceId", b"trace_id", b"call_type"),
        b"correlationId",
    ),
    "vcr": (b"interactions", b"requests:"),
    "vllm_log": (b"Received request", b"Generated response"),
    "workbench_session": (b"SQLite format 3\0", b'"workbench'),
}
_NOT_JSON = frozenset(("event_stream", "httprr", "mitmproxy", "otlp_protobuf", "parquet"))
"""Importers of formats that begin with no bracket."""
_BEGINNING = regex.compile(rb"\s*[\[{]")
_KEY = regex.compile(rb'"([A-Za-z_]\w*)(?=")')
_WHOLE_KEY = regex.compile(rb'"[A-Za-z_]\w*"')
_ESCAPE = regex.compile(rb"\\u00([2-7][0-9a-fA-F])")
"""A letter that JSON need not escape: a key may be written so."""


def that_may_claim(names: Iterable[str], head: bytes) -> list[str]:
    """The names of those importers that may claim a file with this head; the others do not."""
    head = _without_escapes(head)
    skipped = _NOT_JSON if _BEGINNING.match(head) else frozenset[str]()
    keys = frozenset[bytes](_KEY.findall(head))
    candidates = tuple(name for name in names if name not in skipped)
    texts = head if _texts_of(candidates).is_in(head) else b""  # one look for all, as none is there in most files
    return [name for name in candidates if _has_mark(name, texts, keys)]


def may_claim(name: str, head: bytes) -> bool:
    """One importer may claim a file with this head."""
    head, marks = _without_escapes(head), _marks_of(name)
    return marks is None or any(map(head.__contains__, (*marks.texts, *(b'"%s"' % key for key in marks.keys))))


def _without_escapes(head: bytes) -> bytes:
    return _ESCAPE.sub(_letter, head) if b"\\u00" in head else head


@cache
def _texts_of(names: tuple[str, ...]) -> regex.AnyOf:
    """The marks of these importers that are not between quotes."""
    return regex.AnyOf(text for name in names if (marks := _marks_of(name)) for text in marks.texts)


def _letter(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode())


def _has_mark(name: str, head: bytes, keys: frozenset[bytes]) -> bool:
    """True if one of the marks of an importer is there.

    Args:
        keys: texts between quotes.
    """
    marks = _marks_of(name)
    return marks is None or not marks.keys.isdisjoint(keys) or any(map(head.__contains__, marks.texts))


class _Marks(NamedTuple):
    """``keys`` are the marks between quotes, without these."""

    keys: frozenset[bytes]
    texts: tuple[bytes, ...]


@cache
def _marks_of(name: str) -> _Marks | None:
    marks = _MARKS.get(name)
    if marks is None:
        return None
    keys = [mark for mark in marks if _WHOLE_KEY.fullmatch(mark)]
    return _Marks(frozenset(key[1:-1] for key in keys), tuple(mark for mark in marks if mark not in keys))
