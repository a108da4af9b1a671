"""Rules on the result of a call: whether it is a failure and says so, and its structured content against the schema."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench import regex
from workbench.chain import value_in
from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import RESPONSE, DecodedExchange
from workbench.protocols.mcp import ServerFacts
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.lone_results import of_lone_result
from workbench.rules.tool_hop.results import of_text_forms
from workbench.rules.tool_hop.rules import (
    ARGUMENTS_REFUSED,
    ERROR_FLAG,
    INFO,
    OUTPUT_SCHEMA,
    PROTOCOL_ERROR,
    WARNING,
    make,
    member,
    texts_of,
)
from workbench.toolcalls.arguments import climb

UNKNOWN_TOOL = regex.compile(
    r"\b(?:unknown tool|tool not found|tool \S+ (?:was )?not found|no such tool)\b", re.IGNORECASE
)
_NO_OUTPUT = regex.compile(r"output ?schema.{0,80}(?:no|not|without|missing) .{0,20}structured", re.IGNORECASE)
_BAD_OUTPUT = regex.compile(
    r"output validation|invalid structured (?:content|output)|structured (?:content|output) does not match"
    r"|validation errors? for \w+Output\b",
    re.IGNORECASE,
)
"""Words of a server that refuses what its own tool returned."""

INVALID_INPUT = regex.compile(
    r"validation errors?\b|input validation|invalid (?:input|arguments?|params?|type)|input should be"
    r"|expected \w+, (?:received|got) \w+"
    r"|must be (?:of type )?(?:a )?(?:valid )?(?:string|number|object|array|boolean)"
    r"|(?:unknown|unexpected|unrecogni[sz]ed|extra) (?:keyword )?(?:argument|parameter|propert|field|key)",
    re.IGNORECASE,
)
"""Words of common validators (pydantic, zod, Ajv, Go) for arguments that they refuse."""

_DEMANDED = regex.compile(
    r"\b(?:is|are) (?:required|missing)\b|\bmust (?:provide|specify|be (?:provided|specified|set|given))\b"
    r"|\b(?:provide|specify|supply|pass|set) (?:an? |the )?`?(?-i:[a-z]+(?:_[a-z]|[A-Z])\w*)"
    r"|\bcannot (?:use|combine|specify|set) both\b|\bmutually exclusive\b|\b(?:at least|exactly|only) one of\b",
    re.IGNORECASE,
)
_PARAMETER = regex.compile(
    r"\b(?:required|missing) (?:required )?(?:param(?:eter)?|arg(?:ument)?)s?:? ['\"`]?(?-i:[a-zA-Z_]\w*)['\"`]?",
    re.IGNORECASE,
)
_WORD = regex.compile(r"\w+")

_FAILED = regex.compile(
    r"\s*(?:(?:missing|invalid|unknown|unsupported) (?:required )?(?:params?|parameters?|arguments?|fields?)\b"
    r"|(?:there was )?an? (?:\w+ )?error (?:has )?occurred\b"
    r"|\[?error\]?\b|(?:\w+)?(?:error|exception):|traceback \(most recent call last\)|failed(?: to \w+|:)|panic:)"
    r'|\s*\{\s*"(?:error|errors)":\s*(?!null|false|""|\[\]|\{\})',
    re.IGNORECASE,
)
"""Beginnings of a text that reports a failure."""

_REFUSES = regex.compile(
    r"[^\n.:]{0,60}\b(?:exceeds (?:the )?(?:max|limit|allowed)|must (?:not )?be\b|cannot be (?:empty|null|blank)"
    r"|is (?:required|invalid|not allowed|not valid|too (?:long|large|short|big))\b)[^\n]{0,80}",
    re.IGNORECASE,
)
"""A text of one short line that refuses an argument."""

_ERROR_CODE = regex.compile(r"(?i)\berr|_err|error|^E_|fail|exception")
"""Names of errors, where an object has a code and a message."""

_SUCCEEDED = regex.compile(r"\bHTTP 20\d\b|\bstatus(?: code)?:? 20\d\b|\b20[1-6] \w+|\bno content\b", re.IGNORECASE)
"""Words that report a success."""

LONG_TEXT = 600
"""Limit of characters of a text in which words of failure or success are looked for."""


def of_call_result(
    decoded: DecodedExchange, params: JsonValue, response: dict[str, JsonValue], facts: ServerFacts
) -> Iterator[Finding]:
    """Findings on the response to a call."""
    result = response.get("result")
    entry = facts.tools.get(str(member(params, "name")), {})
    result_text = " ".join(map(_inner_text, texts_of(result)))[:LONG_TEXT]
    result_text = without_name(result_text, str(member(params, "name") or ""))
    if isinstance(result, dict):
        yield from of_text_forms(decoded, result)
        yield from of_lone_result(decoded, result, facts.agent)
        yield from _flag(decoded, result, result_text)
        yield from _of_output(decoded, params, result, entry)
    if not is_failure(result):
        result_text = str(member(response, "error", "message") or "")
    if _NO_OUTPUT.search(result_text):
        text = (
            "the result is an error because structured content is missing, although the tool declares an outputSchema"
        )
        place = "/result" if is_failure(result) else "/error"
        yield make(decoded, OUTPUT_SCHEMA, RESPONSE, place, text, quote(result_text))
        return
    if is_failure(result) and _BAD_OUTPUT.search(result_text):
        text = "the server refuses its tool's result: the result does not match the tool's outputSchema"
        yield make(decoded, OUTPUT_SCHEMA, RESPONSE, "/result", text, quote(result_text))
        return
    if is_failure(result) and UNKNOWN_TOOL.search(result_text):
        text = "the tool is unknown; the protocol expects a JSON-RPC error for an unknown tool (-32602)"
        yield make(decoded, PROTOCOL_ERROR, RESPONSE, "/result/isError", text, quote(result_text), INFO)
    if INVALID_INPUT.search(result_text) or _demands(result_text, entry):
        yield from _of_refusal(
            decoded, params, entry, "/result/content/0/text" if is_failure(result) else "/error", result_text
        )


def _demands(text: str, entry: JsonValue) -> bool:
    """A text that asks for a property: one of the schema ("ID is required"), or one that it says is a parameter."""
    if isinstance(member(entry, "inputSchema"), dict) and _PARAMETER.search(text):
        return True
    known = member(entry, "inputSchema", "properties")
    words = frozenset(_WORD.findall(text)) if isinstance(known, dict) and _DEMANDED.search(text) else frozenset()
    return isinstance(known, dict) and not words.isdisjoint(known)


def _of_refusal(
    decoded: DecodedExchange, params: JsonValue, entry: JsonValue, pointer: str, words: str
) -> Iterator[Finding]:
    schema = member(entry, "inputSchema")
    if isinstance(schema, dict) and not climb(None, member(params, "arguments") or {}, schema).faults:
        text = "the tool refuses arguments that match its own inputSchema"
        yield make(decoded, ARGUMENTS_REFUSED, RESPONSE, pointer, text, quote(words))


def _flag(decoded: DecodedExchange, result: JsonValue, words: str) -> Iterator[Finding]:
    """A text that tells of a failure in a success, or of a success in a failure: words, and so a guess."""
    if is_failure(result):
        if _SUCCEEDED.search(words) and not _FAILED.match(words):
            text = "the result is marked as an error, but its text reports a success"
            yield make(decoded, ERROR_FLAG, RESPONSE, "/result/isError", text, quote(words), INFO)
    elif (
        (_FAILED.match(words) or _REFUSES.fullmatch(words) or _denies_success(value_in(words)))
        and len(texts_of(result)) == 1
        and member(result, "structuredContent") is None
    ) or _denies_success(member(result, "structuredContent")):
        text = "the text reports a failure, but the result is not marked as an error (isError)"
        pointer = "/result/isError" if member(result, "isError") is not None else "/result"
        yield make(decoded, ERROR_FLAG, RESPONSE, pointer, text, quote(words), INFO)


def without_name(text: str, tool: str) -> str:
    """A text without the name of its tool, which some servers put before what failed: "list_files error: …"."""
    head, rest = text[: len(tool)], text[len(tool) :]
    return rest if tool and head.lower() == tool.lower() and rest[:1] in (" ", ":") else text


def _inner_text(text: str) -> str:
    """A text; the one inside, where it is a list of content that was encoded as text."""
    inner = value_in(text) if text[:1] == "[" else None
    only = inner[0] if isinstance(inner, list) and len(inner) == 1 else None
    found = only.get("text") if isinstance(only, dict) else None
    return found if isinstance(found, str) else text


def _denies_success(value: JsonValue) -> bool:
    """An object that says of itself that it is a failure."""
    if not isinstance(value, dict):
        return False
    if value.get("isError") is True:  # a result that its server wrapped in another as text
        return True
    is_coded = isinstance(value.get("message"), str) and bool(_ERROR_CODE.search(str(value.get("code") or "")))
    is_denied = any(value.get(name) is False for name in ("success", "ok", "succeeded"))
    return is_denied or value.get("status") == "error" or is_coded


def is_failure(result: JsonValue) -> bool:
    """A result that its server marks as an error."""
    return member(result, "isError") is True


def _of_output(decoded: DecodedExchange, params: JsonValue, result: JsonValue, entry: JsonValue) -> Iterator[Finding]:
    """Findings on the structured content of a result against the ``outputSchema`` of its tool."""
    name, schema = member(params, "name"), member(entry, "outputSchema")
    if not isinstance(schema, dict) or not isinstance(result, dict) or "task" in result:
        return
    if member(result, "isError") is True:
        yield from _of_structured_failure(decoded, name, result, schema)
        return
    if result.get("resultType", "complete") != "complete":
        return
    if "structuredContent" not in result:
        text = f"{quote(name)} declares an outputSchema, but its result has no structuredContent"
        yield make(decoded, OUTPUT_SCHEMA, RESPONSE, "/result", text)
        return
    for fault in climb(None, result["structuredContent"], schema).faults:
        text = f"the structuredContent of {quote(name)} violates its outputSchema: {fault.message}"
        yield make(decoded, OUTPUT_SCHEMA, RESPONSE, f"/result/structuredContent{fault.pointer}", text)


def _of_structured_failure(
    decoded: DecodedExchange, name: JsonValue, result: JsonValue, schema: JsonValue
) -> Iterator[Finding]:
    """Structured content of a failure: some clients hold it to the schema of a success, and the text is lost."""
    structured = member(result, "structuredContent")
    fault = next(iter(climb(None, structured, schema).faults), None) if structured is not None else None
    if fault:
        what = f"the structuredContent of this failed result of {quote(name)}"
        text = f"{what} violates its outputSchema: {fault.message}"
        how = "clients that also check failed results show this instead of the error"
        yield make(decoded, OUTPUT_SCHEMA, RESPONSE, "/result/structuredContent", text, how, WARNING)
    elif structured is not None and member(schema, "required"):
        text = "the result is marked as an error, but its structuredContent matches the outputSchema"
        yield make(decoded, ERROR_FLAG, RESPONSE, "/result/isError", text, severity=INFO)
