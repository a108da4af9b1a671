"""The rules of the family ``mcp``, and how its findings are made."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.protocols.mcp import place_in_response
from workbench.rules._shared.context import Rule

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


def _rule(name: str, severity: Severity, summary: str) -> Rule:
    return Rule(f"mcp.{name}", severity, summary, breaks=Breaks.CONVERSATION, basis=Basis.RECORDING)


# On the connection.

FRAMING = _rule("framing", ERROR, "A line on the connection to a tool server is not a JSON-RPC message.")
RESPONSE_ID = _rule("response-id", WARNING, "A response on the connection to a tool server matches no open request.")
LIST_CHANGED = _rule("list-changed", WARNING, "The tool list changed, but the client did not fetch it again.")
CANCELLED_END = _rule("cancelled", WARNING, "Client, server and model disagree on whether a call was cancelled.")
LIFECYCLE = _rule("lifecycle", WARNING, "A message is sent at a time when the protocol does not allow it.")
PROGRESS = _rule("progress", WARNING, "Progress is reported for a request that is not open, or does not increase.")

# On one request.

MESSAGE = _rule("message", WARNING, "A message has a form that its revision of the protocol does not have.")
MEDIA_TYPE = _rule("media-type", WARNING, "An image or a file is not what its type says, or is not base64.")
HTTP = _rule("http", WARNING, "A header, a status or a content type is not what the transport requires.")
AUTH = _rule("auth", WARNING, "A tool server does not tell clients correctly how to sign in.")

PROTOCOL_ERROR = _rule("protocol-error", WARNING, "A tool server answered with a JSON-RPC error instead of a result.")
OUTPUT_SCHEMA = _rule("output-schema", ERROR, "A tool's result does not match its outputSchema.")
CAPABILITY = _rule("capability", WARNING, "A request needs a capability that the other side did not declare.")
NO_ANSWER = _rule("no-answer", ERROR, "A request to a tool server got no response.")
VERSION = _rule("version", WARNING, "Client and tool server did not agree on a version of the protocol.")
TIMEOUT = _rule("timeout", WARNING, "The client gave up on a call before the tool server had answered.")
ARGUMENTS_REFUSED = _rule("arguments-refused", WARNING, "A tool refused arguments that its own inputSchema accepts.")
SESSION_LOST = _rule("session-lost", WARNING, "A tool server no longer knows the session of a request.")
ARGUMENTS = _rule("arguments", WARNING, "A call has arguments that the inputSchema of its tool does not accept.")
PAGINATION = _rule("pagination", WARNING, "A page of the tool list was not fetched.")
SCHEMA_REJECTED = _rule(
    "schema-rejected", WARNING, "An entry of the tool list has a schema that clients do not accept."
)
DESCRIPTION_CHANGED = _rule("description-changed", WARNING, "A tool's description changed after it was listed.")
HIDDEN_TEXT = _rule("hidden-text", WARNING, "A tool server sent invisible characters.")
INJECTED_TEXT = _rule("injected-text", WARNING, "Text from a tool server gives instructions to the model.")

# On the way to the model and from it.

STRUCTURED_DROPPED = _rule("structured-dropped", WARNING, "The structured content of a tool's result is lost.")
RESULT_DROPPED = _rule("result-dropped", WARNING, "Part of a tool result did not reach the model.")
RESULT_TRUNCATED = _rule("result-truncated", WARNING, "The model got only part of the text of a tool result.")
CONTENT_SHADOWED = _rule("content-shadowed", INFO, "The model got the structured content, but not the text next to it.")
RESULT_ALTERED = _rule("result-altered", WARNING, "A tool result reached the model in a different form.")
RESULT_DUPLICATED = _rule("result-duplicated", WARNING, "The same data of a tool result reached the model twice.")
ERROR_FLAG = _rule("error-flag", WARNING, "A failed tool is not marked as an error, or a successful one is.")
WRONG_CALL = _rule("wrong-call", ERROR, "The model got the result of a different tool call.")
ARGS_CHANGED = _rule(
    "args-changed", WARNING, "A tool server got arguments that differ from those that the model wrote."
)
CALLED_TWICE = _rule("called-twice", WARNING, "One call of the model was carried out more than once.")
NOT_CALLED = _rule("not-called", WARNING, "The model got a result for a call that never reached the tool server.")
NAME = _rule("name", WARNING, "The name of a declared tool is too long or not unique.")
SCHEMA_CHANGED = _rule("schema-changed", WARNING, "A tool is declared with a different schema than its server listed.")
INSTRUCTIONS = _rule("instructions", INFO, "The instructions of a tool server did not reach the model.")
TOOL_MISSING = _rule("tool-missing", INFO, "A tool that a server listed is not declared to the model.")

RULES = (
    *(FRAMING, RESPONSE_ID, LIST_CHANGED, CANCELLED_END, LIFECYCLE, PROGRESS, MESSAGE, MEDIA_TYPE, HTTP, AUTH),
    *(PROTOCOL_ERROR, OUTPUT_SCHEMA, CAPABILITY, NO_ANSWER, VERSION, TIMEOUT, ARGUMENTS_REFUSED, PAGINATION),
    *(SESSION_LOST, ARGUMENTS, INSTRUCTIONS),
    *(SCHEMA_REJECTED, DESCRIPTION_CHANGED, HIDDEN_TEXT, INJECTED_TEXT),
    *(STRUCTURED_DROPPED, RESULT_DROPPED, RESULT_TRUNCATED, CONTENT_SHADOWED, RESULT_ALTERED, RESULT_DUPLICATED),
    *(ERROR_FLAG, WRONG_CALL, ARGS_CHANGED, CALLED_TWICE, NOT_CALLED, NAME, SCHEMA_CHANGED, TOOL_MISSING),
)


def make(
    decoded: DecodedExchange,
    rule: Rule,
    side: str,
    pointer: str,
    message: str,
    evidence: str = "",
    severity: Severity | None = None,
) -> Finding:
    """A finding of this family."""
    found = Finding(rule.slug, severity or rule.severity, decoded.index, side, pointer, message, evidence=evidence)
    place = place_in_response(decoded, pointer) if side == RESPONSE else decoded.place(side, pointer)
    span = place.span if pointer else None
    return replace(found, span=span, basis=rule.basis, breaks=rule.breaks)


def member(value: JsonValue, *path: str) -> JsonValue:
    """A value inside objects; None if it is not there."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def texts_of(result: JsonValue) -> Sequence[str]:
    """Texts of the content of a result."""
    content = member(result, "content")
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
