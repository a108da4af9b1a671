"""Rules on the form of one message to or from a tool server, held to the revision that both sides agreed on."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Mapping

from workbench import regex
from workbench.contracts import Finding
from workbench.ir import JsonValue
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange, grammars
from workbench.protocols.mcp import (
    ASKED_BY,
    OF_CLIENTS,
    OF_SERVERS,
    Declarations,
    MessageFaults,
    MessageRelation,
    ServerFacts,
    broken_relations,
    message_faults,
    request_object,
    response_object,
)
from workbench.provenance import escape
from workbench.rules._shared.wording import quote
from workbench.rules.tool_hop.rules import INFO, MEDIA_TYPE, MESSAGE, RULES, WARNING, make, member
from workbench.toolcalls.arguments import climb

_BY_SLUG = {rule.slug: rule for rule in RULES}
_CLIENT_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_OF_SCHEMAS = regex.compile(r"/result/tools/\d+/(?:input|output)Schema\b")
"""Places that the rules on schemas judge."""

_OF_RESULTS = ("/result/content", "/result/tools")
"""Places that the rule on the shape of a result judges; that on the id of a response has its own."""

_UNJUDGED = ("tasks/result",)
"""Methods whose results no other rule judges."""

_NAMED = ("tools", "prompts", "resources", "resourceTemplates")
"""Members of results that list what has a name."""

_MAGIC = (
    (regex.compile(rb"\x89PNG\r\n"), "image/png"),
    (regex.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (regex.compile(rb"GIF8"), "image/gif"),
    (regex.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp"),
    (regex.compile(rb"RIFF.{4}WAVE", re.DOTALL), "audio/wav"),
    (regex.compile(rb"%PDF-"), "application/pdf"),
)
"""First bytes of a file → its media type."""

_SAME_TYPE = {"image/jpg": "image/jpeg", "audio/wave": "audio/wav", "audio/x-wav": "audio/wav"}
_DATA_URL = regex.compile(r"(?i)\s*data:[\w/+.-]*[;,]")
_OF_URLS = regex.compile(r"\A(?=[^-_]*[-_])[\w+/=-]+\Z", re.ASCII)
_HEAD = 64
"""Characters of encoded data that tell what it is."""


def of_messages(decoded: DecodedExchange, facts: ServerFacts) -> Iterator[Finding]:
    """Findings on a request and its response.

    Args:
        facts: what both sides declared before it.
    """
    http = decoded.exchange.request
    method = http.method if http else ""
    request, response = request_object(decoded), response_object(decoded)
    version = facts.version_of(method, request, response)
    if "method" in request and "id" in request:
        yield from _of_form(decoded, method, REQUEST, message_faults(method, request, version))
    if not response.keys().isdisjoint(("result", "error")) and "id" in request:
        yield from _of_form(decoded, method, RESPONSE, message_faults(method, response, version))
    if method == "initialize":
        yield from _of_capabilities(decoded, request, response)
    declared = _declarations(request, facts, version, str(decoded.exchange.meta.get(ASKED_BY) or ""))
    yield from _of_relations(decoded, method, "request", request, declared)
    yield from _of_relations(decoded, method, "response", response, declared)
    yield from _of_names(decoded, response.get("result"))
    yield from _of_elicitation(decoded, method, request, response)
    yield from of_media(decoded, response.get("result"))


def _declarations(request: Mapping[str, JsonValue], facts: ServerFacts, version: str, asked_by: str) -> Declarations:
    """What both sides declared; a client of the stateless revision does so in each request."""
    stated = member(request, "params", "_meta", _CLIENT_CAPABILITIES)
    client = stated if isinstance(stated, dict) else facts.client
    return Declarations(version, client, facts.server, asked_by)


def _of_relations(
    decoded: DecodedExchange, method: str, kind: str, message: Mapping[str, JsonValue], declared: Declarations
) -> Iterator[Finding]:
    """The first place at which a message breaks each relation."""
    found: dict[str, tuple[MessageRelation, list[str]]] = {}
    for relation, pointer in broken_relations(method, kind, message, declared) if message else ():
        found.setdefault(relation.text, (relation, []))[1].append(pointer)
    for relation, places in found.values():
        more = f" ({len(places):,} such places)" if len(places) > 1 else ""
        severity = INFO if relation.is_note else WARNING
        text, side = f"{relation.text}{more}", REQUEST if kind == "request" else RESPONSE
        yield make(decoded, _BY_SLUG[f"mcp.{relation.rule}"], side, places[0], text, relation.source, severity)


def _of_form(decoded: DecodedExchange, method: str, side: str, found: MessageFaults | None) -> Iterator[Finding]:
    """The first fault that no other rule judges."""
    faults = [fault for fault in (found.faults if found else ()) if method in _UNJUDGED or not _is_elsewhere(fault)]
    if found is None or not faults:
        return
    found = found._replace(faults=faults)
    text, severity = f"{found.words()}: programs that validate messages refuse this message", None
    if found.accepted_by:
        text, severity = f"{found.words()}; this form belongs to revision {found.accepted_by}", INFO
    yield make(decoded, MESSAGE, side, faults[0].pointer, text, severity=severity)


def _is_elsewhere(fault: grammars.ShapeFault) -> bool:
    is_result = fault.pointer in ("/id", *_OF_RESULTS) or (
        fault.code == grammars.MISSING and f"{fault.pointer}/{escape(fault.name)}" in _OF_RESULTS
    )
    return is_result or bool(_OF_SCHEMAS.match(fault.pointer))


def _of_capabilities(
    decoded: DecodedExchange, request: Mapping[str, JsonValue], response: Mapping[str, JsonValue]
) -> Iterator[Finding]:
    """Capabilities that only the other side can have."""
    for side, at, message, others in (
        (REQUEST, "/params", request, OF_SERVERS),
        (RESPONSE, "/result", response, OF_CLIENTS),
    ):
        declared = member(message, at[1:], "capabilities")
        for name in (name for name in others if isinstance(declared, dict) and name in declared):
            who = ("client", "server") if side == REQUEST else ("server", "client")
            text = f"the {who[0]} declares {name!r}, which only a {who[1]} can have: strict programs refuse the message"
            yield make(decoded, MESSAGE, side, f"{at}/capabilities/{name}", text)


def _of_names(decoded: DecodedExchange, result: JsonValue) -> Iterator[Finding]:
    """Entries of a list without a name."""
    for kind in _NAMED:
        entries = member(result, kind)
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if member(entry, "name") == "":
                text = "the name is empty: a client cannot ask for this entry, and some clients end the connection"
                yield make(decoded, MESSAGE, RESPONSE, f"/result/{kind}/{number}/name", text)


def _of_elicitation(
    decoded: DecodedExchange, method: str, request: Mapping[str, JsonValue], response: Mapping[str, JsonValue]
) -> Iterator[Finding]:
    """Answers to a form: content comes with the action accept, and with no other."""
    responses = member(request, "params", "inputResponses")
    answers: list[tuple[str, str, JsonValue, JsonValue]] = [
        (REQUEST, f"/params/inputResponses/{escape(name)}", each, {})
        for name, each in (responses.items() if isinstance(responses, dict) else ())
    ]
    if method == "elicitation/create":
        answers.append((RESPONSE, "/result", response.get("result"), member(request, "params") or {}))
    for side, at, each, params in answers:
        action, content = member(each, "action"), member(each, "content")
        if action in ("decline", "cancel") and content is not None:
            text = f"the response has the action {quote(action)} and content: only accept may have content"
            yield make(decoded, MESSAGE, side, f"{at}/content", text)
        elif action == "accept" and content is None and member(params, "requestedSchema"):
            yield make(decoded, MESSAGE, side, at, "the form is accepted, but the response has no content")
        elif action == "accept" and isinstance(schema := member(params, "requestedSchema"), dict):
            for fault in climb(None, content, schema).faults[:1]:
                text = f"the answer does not match the requestedSchema of the form: {fault.message}"
                yield make(decoded, MESSAGE, side, f"{at}/content{fault.pointer}", text)


def of_media(decoded: DecodedExchange, result: JsonValue) -> Iterator[Finding]:
    """Findings on images and other files of a result: another type than is said, or no base64."""
    files = member(result, "contents")
    for number, file in enumerate(files if isinstance(files, list) else ()):
        if isinstance(blob := member(file, "blob"), str) and blob:
            yield from _of_data(decoded, f"/result/contents/{number}", "blob", blob, member(file, "mimeType"))
    content = member(result, "content")
    for number, part in enumerate(content if isinstance(content, list) else ()):
        inside = "/resource" if isinstance(member(part, "resource"), dict) else ""
        holder = member(part, "resource") if inside else part
        data, mime_type = member(holder, "blob" if inside else "data"), member(holder, "mimeType")
        if isinstance(data, str) and data:
            at = f"/result/content/{number}{inside}"
            yield from _of_data(decoded, at, "blob" if inside else "data", data, mime_type)


def _of_data(decoded: DecodedExchange, at: str, name: str, data: str, mime_type: JsonValue) -> Iterator[Finding]:
    head = _first_bytes(data[:_HEAD])
    if _DATA_URL.match(data):
        text = f"{name} is a data URL: this field must contain only base64, without 'data:…;base64,' in front"
        yield make(decoded, MEDIA_TYPE, RESPONSE, f"{at}/{name}", text, quote(data[:_HEAD]))
    elif _OF_URLS.search(data):
        text = f"{name} is base64 in the alphabet of URLs ('-' and '_'): clients refuse the data, or decode wrong bytes"
        yield make(decoded, MEDIA_TYPE, RESPONSE, f"{at}/{name}", text, quote(data[:_HEAD]))
    elif head is None:
        yield make(decoded, MEDIA_TYPE, RESPONSE, f"{at}/{name}", f"{name} is not base64", quote(data[:_HEAD]))
    elif isinstance(mime_type, str):
        found = next((kind for magic, kind in _MAGIC if magic.match(head)), "")
        declared = _SAME_TYPE.get(mime_type.lower(), mime_type.lower())
        if found and declared != found and any(declared == kind for _, kind in _MAGIC):
            text = f"mimeType is {quote(mime_type)}, but the data begins like {found}: providers refuse the request"
            yield make(decoded, MEDIA_TYPE, RESPONSE, f"{at}/mimeType", text)


def _first_bytes(text: str) -> bytes | None:
    """First bytes of base64; None for other text. Line breaks are allowed."""
    plain = "".join(text.split())
    try:
        return b64decode(plain[: len(plain) // 4 * 4], validate=True)
    except Error:
        return None
