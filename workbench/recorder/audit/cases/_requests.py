"""Requests that every protocol can send: legal JSON and HTTP as clients write them, which gateways often rewrite."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator

from workbench.recorder.audit.case import AuditCase, CaseRequest, Pairs, Theme
from workbench.recorder.audit.cases._speech import Speech
from workbench.wire import loads

BIG = 1_500_000
"""Bytes of the large body: more than usual limits of 1 MB, less than what providers take."""

_PREFIX = "the bytes of the prompt change: the provider's cache misses, and signatures may become invalid"
_OWN = "a gateway cannot know which unknown fields the provider needs"


def cases(speech: Speech) -> Iterator[AuditCase]:
    """Cases about requests, for one protocol."""
    yield from _fields(speech)
    yield from _spelling(speech)
    yield from _numbers(speech)
    yield from _texts(speech)
    yield from _long_or_empty(speech)
    yield from _ids(speech)
    yield from _headers(speech)
    yield from _paths(speech)
    yield from _sizes(speech)


def _schema(speech: Speech, name: str, theme: Theme, shows: str, schema: str, why: str, rule: str = "") -> AuditCase:
    """A case about the schema of a tool."""
    request = speech.request(name, MORE=speech.tools, SCHEMA=schema)
    return AuditCase(name, theme, shows, request, speech.answer(), why, rule)


def _text(speech: Speech, name: str, theme: Theme, shows: str, text: str, why: str, rule: str = "") -> AuditCase:
    """A case about a user's text; ``text`` is written as it is between the quotes."""
    request = speech.request(name, TEXT=f'"{text}"')
    return AuditCase(name, theme, shows, request, speech.answer(), why, rule, is_convertible=theme is Theme.TEXTS)


def _fields(speech: Speech) -> Iterator[AuditCase]:
    fields, rule = Theme.FIELDS, "gateway.dropped-field"
    name = "unknown-members"
    more = ',"x_audit":{"deep":[1,null,{"a":""}]},"audit_list":[]'
    request = speech.request(name, MORE=more)
    yield AuditCase(name, fields, "unknown fields of a request are kept", request, speech.answer(), _OWN, rule)
    name = "unknown-in-tools"
    request = speech.request(name, MORE=speech.tools, IN=',"x_audit":{"deep":null}')
    yield AuditCase(name, fields, "unknown fields of tools are kept", request, speech.answer(), _OWN, rule)
    name = "unknown-in-turns"
    turn = speech.text(speech.called, name, {}).replace('"name":"look"', '"x_audit":{"deep":[]},"name":"look"', 1)
    request = CaseRequest(speech.request(name).path, turn.encode(), speech.headers)
    yield AuditCase(name, fields, "unknown fields of tool calls are kept", request, speech.answer(), _OWN, rule)
    yield _schema(
        speech, "schema-keywords", fields, "rare keywords of tool schemas are kept",
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"a":{'
        '"type":["string","null"],'
        '"enum":["a",null,""],"default":null},"b":{"$ref":"#/$defs/b"},"c":{"anyOf":[{"const":1},{"pattern":"^'
        '\\\\d+$"}]},'
        '"d":{"prefixItems":[{"type":"integer"}],"items":false},"e":{}},"$defs":{"b":{"type":"object",'
        '"patternProperties":'
        '{"^x-":{"type":"string","format":"date-time"}},"additionalProperties":false,"not":{"required":["z"]}}},'
        '"required":[],'
        '"examples":[{}],"x-order":["b","a"],"$comment":"","title":""}',
        "the model gets a different definition of the arguments", "schema.unsupported-keyword",
    )  # fmt: skip


def _spelling(speech: Speech) -> Iterator[AuditCase]:
    theme = Theme.SPELLING
    schema = '{"type":"object","properties":{"zeta":{"type":"string"},"alpha":{"type":"string"},"10":{},"9":{}}}'
    yield _schema(speech, "key-order", theme, "object keys keep their order", schema, _PREFIX, "cost.cache-break")
    name = "white-space"
    spaced = json.dumps(loads(speech.text(speech.called, name, {}).encode()), indent=2).replace('": ', '" :\t')
    request = CaseRequest(speech.request(name).path, f" {spaced}\r\n".encode(), speech.headers)
    yield AuditCase(
        name, theme, "whitespace between values is kept", request, speech.answer(), _PREFIX, "cost.cache-break"
    )
    yield _text(
        speech, "escapes", theme, "escapes are not changed",
        r"@MARK@ caf\u00e9 \u0041 \/ \u003cb\u003e \u0026 \ud83d\ude00 \u2028 \u007f", _PREFIX, "gateway.altered-bytes",
    )  # fmt: skip
    yield _text(
        speech, "plain-unicode", theme, "characters outside ASCII are not escaped",
        "@MARK@ café 日本語 😀 <b> & ' \u2028 \u007f", _PREFIX, "gateway.altered-bytes",
    )  # fmt: skip
    name = "argument-spelling"
    request = speech.request(
        name, speech.called, ARGS=r'{ "q" :"caf\u00e9 \/ ü", "n":1.0,"m": 1e2, "z":1,"a":[ ], "big":9007199254740993 }'
    )
    why = "the model reads arguments that differ from what it wrote"
    yield AuditCase(
        name, theme, "arguments of tool calls keep their exact form", request, speech.answer(), why, "args.encoding"
    )  # fmt: skip
    name = "repeated-keys"
    request = speech.request(name, MORE=',"metadata":{"a":"1","a":"2"}')
    yield AuditCase(
        name,
        theme,
        "both values of a duplicate key are kept",
        request,
        speech.answer(),
        "parsers differ in which value they use",
    )


def _numbers(speech: Speech) -> Iterator[AuditCase]:
    theme, rule = Theme.SPELLING, "gateway.altered-bytes"
    floats = (
        '{"type":"object","properties":{"n":{"type":"number","minimum":1.0,"maximum":1e2,"multipleOf":1E-2,'
        '"exclusiveMaximum":1.50,"default":-0.0,"examples":[0.1,1.0e+1,100000000000000000000.0,5e-324]}}}'
    )
    yield _schema(speech, "number-spelling", theme, "numbers keep their exact form", floats, _PREFIX, rule)
    large = (
        '{"type":"object","properties":{"id":{"type":"integer","minimum":9007199254740993,"maximum":'
        '12345678901234567890,"default":-9223372036854775808,"examples":[123456789012345678901234567890,0.123456'
        "78901234567890]}}}"
    )
    yield _schema(
        speech,
        "large-numbers",
        theme,
        "integers beyond 2^53 keep all digits",
        large,
        "ids and limits would become different numbers",
        rule,
    )
    yield _schema(
        speech, "huge-number", theme, "a number too large for a 64-bit float (double) is kept",
        '{"type":"object","properties":{"n":{"type":"number","maximum":1E400}}}',
        "the number becomes Infinity, which is not JSON, or the request fails", rule,
    )  # fmt: skip


def _texts(speech: Speech) -> Iterator[AuditCase]:
    texts, rule = Theme.TEXTS, "gateway.altered-bytes"
    why = "the model reads different text, and its edits do not match the file"

    def case(name: str, shows: str, text: str, why: str = why, rule: str = rule) -> AuditCase:
        return _text(speech, name, texts, shows, text, why, rule)

    yield case("text-edges", "leading and trailing whitespace is kept", r" \n\t@MARK@  two  spaces \t \r\n\n  ")
    yield case("line-ends", "line endings are kept", r"@MARK@\r\nb\rc\nd \n\n\n\n e\u2028f\u0085g\u000bh")
    yield case(
        "unicode-forms", "composed and decomposed characters are not normalised",
        "@MARK@ e\u0301 é ﬁ Å \u212b ｆｕｌｌ ① 가 \u1100\u1161", "file names no longer match",
    )  # fmt: skip
    yield case(
        "invisible",
        "invisible characters are kept",
        "@MARK@ a\u200bb\u200d\u2060\ufeff \u00a0 \u202e\u00ad 👩\u200d💻 🏴\u200d☠\ufe0f",
    )
    yield case(
        "control-characters", "escaped control characters are kept", r"@MARK@ a\u0000b \u0007 \u001b[31m red \b\f",
        "program output contains many control characters",
    )  # fmt: skip
    yield case(
        "lone-surrogate", "a lone surrogate, as in text truncated by JavaScript, is kept",
        r"@MARK@ cut \ud83d here",
        "clients that truncate text send lone surrogates", "stream.encoding",
    )  # fmt: skip
    yield case(
        "markup",
        "text that looks like markup is not changed",
        r"@MARK@ <tool_call>{\"name\": \"x\"}</tool_call> &amp; &lt; <|im_end|> {{x}} ${x} %s <script>1</script>"
        r" \\n \\u0041",
    )
    yield case(
        "private-looking",
        "text that looks like private data is not masked",
        "@MARK@ ann@example.com 4111 1111 1111 1111 +44 20 7946 0958 192.0.2.7 2026-01-02",
    )
    long = " ".join(f"line {n:04d}: the quick brown fox" for n in range(1200))
    yield case(
        "long-text",
        "a text of 40 kB is not truncated",
        f"@MARK@ {long} end",
        "the model does not see the end of the text",
        "args.truncated",
    )


def _long_or_empty(speech: Speech) -> Iterator[AuditCase]:
    name = "empty-values"
    request = speech.request(name, speech.called, RESULT='""', ARGS="{}", MORE=',"metadata":{},"audit_null":null')
    yield AuditCase(
        name, Theme.FIELDS, "empty strings, empty objects and null are kept", request, speech.answer(),
        "an empty value differs from a missing one", "gateway.dropped-field",
    )  # fmt: skip
    name = "long-result"
    result = json.dumps("".join(f"{n:06x} \t{'x' * (n % 17)}\n" for n in range(2000)))
    request = speech.request(name, speech.called, RESULT=result)
    yield AuditCase(
        name, Theme.TEXTS, "a long result is not truncated", request, speech.answer(),
        "the model does not see the end of the text",
        "args.truncated", is_convertible=True,
    )  # fmt: skip
    name = "many-turns"
    yield AuditCase(
        name, Theme.TEXTS, "a tool call and its result keep their positions", speech.request(name, speech.called),
        speech.answer(), "the provider refuses a tool call without its result", "closure.missing-result",
        is_convertible=True,
    )  # fmt: skip


def _ids(speech: Speech) -> Iterator[AuditCase]:
    why, rule = "the provider refuses a tool result with the id of another call", "closure.id-mismatch"
    for name, id in zip(("odd-id", "long-id"), speech.odd_ids, strict=True):
        request = speech.request(name, speech.called, ID=id)
        shows = f"an id such as {id[:14]} is kept" if name == "odd-id" else f"an id of {len(id)} characters is kept"
        yield AuditCase(name, Theme.IDS, shows, request, speech.answer(), why, rule)
    name = "parallel-calls"
    request = speech.request(name, speech.parallel)
    yield AuditCase(
        name, Theme.IDS, "two parallel tool calls are not merged, and each keeps its result", request, speech.answer(),
        "the provider refuses a tool call without its result", "closure.missing-result", is_convertible=True,
    )  # fmt: skip

    name, tool = "tool-name", "mcp__Git-Hub__look_at_a_thing-v2__whose_name_has_64_characters_0"
    turn = speech.text(speech.called, name, {}).replace('"name":"look"', f'"name":"{tool}"')
    request = CaseRequest(speech.request(name).path, turn.encode(), speech.headers)
    yield AuditCase(
        name, Theme.IDS, "a tool name of 64 characters is kept", request, speech.answer(),
        "the model calls a tool by a name that the client did not declare", "call.unknown-tool", is_convertible=True,
    )  # fmt: skip


def _headers(speech: Speech) -> Iterator[AuditCase]:
    def case(name: str, shows: str, headers: Pairs, why: str) -> AuditCase:
        return AuditCase(name, Theme.HEADERS, shows, speech.request(name, headers=headers), speech.answer(), why)

    own: Pairs = (
        ("X-Audit-Session", "3f-audit"),
        ("x-stainless-retry-count", "0"),
        ("User-Agent", "audit-cli/1.0 (x; y)"),
    )
    yield case(
        "own-headers",
        "client and SDK headers are kept",
        own,
        "the provider does not see which client sent the request, or how often it was sent",
    )
    traced: Pairs = (
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("tracestate", "audit=1"),
        ("Idempotency-Key", "audit-4f1c"),
    )
    yield case(
        "trace-headers",
        "trace headers and idempotency keys are kept",
        traced,
        "without the idempotency key a retried request is executed twice",
    )
    odd: Pairs = (
        ("X-Audit-Empty", ""),
        ("X-Audit-List", "a"),
        ("X-Audit-List", "b, c"),
        ("X-Audit-Case", 'MiXeD="q"; v'),
    )
    yield case(
        "odd-headers",
        "empty and repeated headers are kept",
        odd,
        "betas and features are sent in repeated headers",
    )
    yield case(
        "long-header",
        "a header of 6 kB is kept",
        (("X-Audit-Long", "0123456789abcdef" * 384),),
        "access tokens can have this length",
    )


def _paths(speech: Speech) -> Iterator[AuditCase]:
    answer = speech.answer('{"object":"list","data":[],"has_more":false}')
    path, why = Theme.PATH, "a different resource is requested"
    name = "query"
    body = speech.request(name).body
    request = CaseRequest(speech.query.replace("@MODEL@", speech.model), body, speech.headers)
    why_query = "the query selects the API version"
    yield AuditCase(name, path, "the query of a request is kept", request, speech.answer(), why_query)
    name = "listing"
    request = CaseRequest(speech.listing, None, speech.headers, "GET")
    yield AuditCase(name, path, "a GET is forwarded, including the escapes in its path and query", request, answer, why)
    name = "head"
    request = CaseRequest(speech.listing.split("?")[0], None, speech.headers, "HEAD")
    yield AuditCase(
        name,
        path,
        "a HEAD is forwarded without a body",
        request,
        answer,
        "clients use HEAD requests to check that the server is reachable",
    )


def _sizes(speech: Speech) -> Iterator[AuditCase]:
    name = "large-body"
    line = "0123456789 abcdefghij "
    text = f'"@MARK@ {line * (BIG // len(line))}"'
    why = "a long conversation is not forwarded completely"
    large = speech.request(name, TEXT=text)
    yield AuditCase(
        name, Theme.SIZE, "a body of 1.5 MB is forwarded completely", large, speech.answer(), why, "args.truncated"
    )
    name = "compressed-body"
    request = speech.request(name, TEXT=f'"@MARK@ {"compressed " * 40}"')
    packed = gzip.compress(request.body or b"", mtime=0)
    headers = (*request.headers, ("Content-Encoding", "gzip"))
    yield AuditCase(
        name, Theme.SIZE, "a compressed request is forwarded unchanged", CaseRequest(request.path, packed, headers),
        speech.answer(), "Codex compresses its requests",
    )  # fmt: skip
