"""Bytes that are at the start of the files of an importer: without them it need not be imported to ask it.

An importer without an entry is always asked. That no importer claims a file without its bytes is tested.
"""

from __future__ import annotations

import re
from collections import defaultdict
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
    "azure_openai": (b'"RequestResponse"',),
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
    "phoenix": (b'"span_kind"', b'"start_time_unix_nano"', b'"context.span_id"'),
    "otel_table": (b'"SpanAttributes"',),
    "otlp_protobuf": (b"gen_ai.", b"llm.", b"service.name", b"telemetry.sdk", b"openinference."),
    "parquet": (b"PAR1",),
    "pi": (b'"session"',),
    "qwen_code": (b'"parentUuid"',),
    "span_records": (b"gen_ai.", b"llm.", b'\\"llm\\"'),
    "store_csv": (
        *(b"CorrelationId", b"Provider", b"TraceId", b"custom_id", b"proxy_server_request", b"request_id"),
        *(b"response_id", b"run_type", b"schemaType", b"span_kind", b"traceId", b"trace_id", b"call_type"),
        *(b"correlationId", b",response", b",full_response", b",output"),
        *(
            b",ResponseBody",
            b'"ResponseBody"',
            b'"response"',
            b'"full_response"',
            b'"response_body"',
            b'"output"',
            b'"outputs"',
        ),
        *(
            b"properties_s",
            b"context.span_id",
            b'"{""',
            b'"[{""',
            b"\"[{'",
            b"\"{'",
            b'"columns"',
            b'"meta"',
            b'"tables"',
        ),
    ),
    "vcr": (b"interactions", b"requests:"),
    "vllm_log": (b"Received request", b"Generated response", b"GenerateReqInput"),
    "workbench_session": (b"SQLite format 3\0", b'"workbench'),
}
_MARKS_OF_JSON: Mapping[str, tuple[bytes, ...]] = {
    "har": (b'"log"',),
    "inspect_log": (b'"eval"',),
    "store_csv": (b'"columns"', b'"meta"', b'"tables"'),
    "workbench_session": (b'"workbench',),
}
"""The same of files that begin with a bracket, for importers of several formats."""
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
    importers = _importers_of(tuple(names), bool(_BEGINNING.match(head)))
    keys = importers.by_key.keys() & _KEY.findall(head)
    candidates = importers.always.union(*[importers.by_key[key] for key in keys])
    if importers.any_text.is_in(head):  # one look for all, as none is there in most files
        candidates |= {name for name, texts in importers.texts.items() if any(map(head.__contains__, texts))}
    return [name for name in importers.names if name in candidates]


def may_claim(name: str, head: bytes) -> bool:
    """One importer may claim a file with this head."""
    head = _without_escapes(head)
    marks = _marks_of(name, bool(_BEGINNING.match(head)))
    return marks is None or any(map(head.__contains__, (*marks.texts, *(b'"%s"' % key for key in marks.keys))))


def _without_escapes(head: bytes) -> bytes:
    return _ESCAPE.sub(_letter, head) if b"\\u00" in head else head


class _Importers(NamedTuple):
    """Importers that are asked about a file.

    Attributes:
        always: those without an entry.
        by_key: mark between quotes, without these → importers that have it.
        texts: importer → its other marks.
        any_text: all of these.
    """

    names: tuple[str, ...]
    always: frozenset[str]
    by_key: Mapping[bytes, set[str]]
    texts: Mapping[str, tuple[bytes, ...]]
    any_text: regex.AnyOf


@cache
def _importers_of(names: tuple[str, ...], is_json: bool) -> _Importers:
    """Those of the importers that are asked about a file; fewer if it begins with a bracket."""
    asked = tuple(name for name in names if not (is_json and name in _NOT_JSON))
    known = {name: marks for name in asked if (marks := _marks_of(name, is_json)) is not None}
    by_key: defaultdict[bytes, set[str]] = defaultdict(set)
    for name, marks in known.items():
        for key in marks.keys:
            by_key[key].add(name)
    texts = {name: marks.texts for name, marks in known.items() if marks.texts}
    any_text = regex.AnyOf(text for some in texts.values() for text in some)
    return _Importers(asked, frozenset(asked) - known.keys(), by_key, texts, any_text)


def _letter(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode())


class _Marks(NamedTuple):
    """``keys`` are the marks between quotes, without these."""

    keys: frozenset[bytes]
    texts: tuple[bytes, ...]


@cache
def _marks_of(name: str, is_json: bool) -> _Marks | None:
    marks = _MARKS_OF_JSON.get(name) if is_json else None
    marks = marks or _MARKS.get(name)
    if marks is None:
        return None
    keys = [mark for mark in marks if _WHOLE_KEY.fullmatch(mark)]
    return _Marks(frozenset(key[1:-1] for key in keys), tuple(mark for mark in marks if mark not in keys))
