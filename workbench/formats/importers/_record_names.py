"""Names under which recorders and loggers keep the sides of an exchange, and what is stored next to them."""

from __future__ import annotations

from workbench.formats.importers._values import FAILURE, fields, first, mapping, normalize_name
from workbench.ir import JsonValue

REQUESTS = (
    *("request", "req", "when", "httprequest", "originalrequest", "additionalargs", "proxyserverrequest"),
    *("requestbody", "rawrequest", "requestdata", "params", "modelinput", "messages", "inputs", "input", "prompt"),
    *("body", "kwargs", "mlflowspaninputs", "fullrequest", "endpointinput", "promptmessages", "aiinput"),
)
RESPONSES = (
    *("originalresponse", "response", "resp", "res", "then", "httpresponse", "responsebody", "rawresponse", "reply"),
    *("result", "modeloutput", "outputs", "output", "completion", "answer", "generation", "responses"),
    *("mlflowspanoutputs", "fullresponse", "endpointoutput", "completionmessage", "outputmessage"),
    "aioutputchoices",
)
KEYS = ("customid", "dottedorder", "recordid", "key", "id", "requestid", "runid", "uuid")
OTHER_STEPS = frozenset({"chain", "tool", "retriever", "prompt", "parser", "embedding", "span", "event", "agent"})
EVENTS = ("create", "update")
STEP_KINDS = ("run_type", "observationType", "span_type", "type")
TIMES = ("recordedat", "startedat", "starttime", "timestamp", "startdatetime", "createdat")
FAILURES = ("errorinformation", "errorstr", *FAILURE)
STATUSES = ("statuscode", "responsestatuscode", "httpstatuscode")
SELECTION = frozenset({"messages", "tools", "tool_choice", "functions", "function_call"})
"""Members of a request that loggers store whole; its model and parameters they store next to it."""

CODINGS = ("encoding", "bodyencoding")
TEXTS = frozenset({"properties", "propertiess", "payload", "data", "record", "trace", "spans"})
"""Members whose text may be a record as JSON."""

EVENT_TEXTS = frozenset({"message", "event", "log"})
"""Columns of a table whose text may be one, too."""


def is_other_step(value: dict[str, JsonValue]) -> bool:
    """True for a trace step that calls no model, or the event of one (``trace-create``)."""
    attributes = mapping(value.get("span_attributes"))
    kind = next((mark for mark in (*(value.get(k) for k in STEP_KINDS), attributes.get("type")) if mark), None)
    if not isinstance(kind, str):
        return False
    step, _, event = kind.lower().partition("-")
    if event in EVENTS:
        return step in (*OTHER_STEPS, "trace") and _has_sides(mapping(value.get("body")))
    return kind.lower() in OTHER_STEPS and _has_sides(value)


def _has_sides(value: dict[str, JsonValue]) -> bool:
    return any(normalize_name(name) in ("input", "inputs", "output", "outputs") for name in value)


def is_coded(value: dict[str, JsonValue]) -> bool:
    """True for an object that states how the body in it is encoded."""
    return isinstance(first(fields(value), CODINGS), str)
