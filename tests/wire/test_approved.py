"""What is read of bytes with every small edit, what is written of them, and what is said of those that are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

from tests.planted import BARE, KINDS, PLACES, STREAMS
from workbench import characters
from workbench.errors import WorkbenchError
from workbench.limits import MAX_JSON_DEPTH
from workbench.recorder.capture.redaction_guard import TextGuard
from workbench.wire import digests, encoding, frames, headers, jsontext, patch, urls, value_at
from workbench.wire.aws_texts import AwsTexts, is_messages
from workbench.wire.exchange import (
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    Redaction,
    State,
    summarize,
)
from workbench.wire.patch import Insert, Move, Remove, Replace
from workbench.wire.redaction import Redactor, header_kind, in_url
from workbench.wire.secrets import find
from workbench.wire.secrets.names import (
    Family,
    Style,
    family,
    is_made_up,
    is_placeholder,
    is_random,
    is_secret,
    of_header,
    of_query,
)
from workbench.wire.secrets.stream_texts import open_from
from workbench.wire.session import text as lines_of_text
from workbench.wire.stream import Framing, aws_message, framing_of, read_stream, read_untyped, rewrite, sealed_payload
from workbench.wire.translation import translation_of

Hold = Callable[[str, Iterable[str]], None]


LEVELS = range(MAX_JSON_DEPTH - 8, MAX_JSON_DEPTH + 4)
_TRAILING = re.compile(rb",\s*[]}]")
"""What releases of the standard library refuse at different places."""


def refused(error: WorkbenchError) -> str:
    """All that an error says; what the standard library calls it is left out, which is not ours to word."""
    what = re.sub(r"not JSON: .*", "not JSON", error.what)
    return f"{type(error).__name__}: {what} | {error.where} | {error.hint}"


def tried(call: Callable[..., Any], *given: Any, **named: Any) -> str:
    try:
        return repr(call(*given, **named))
    except WorkbenchError as error:
        return refused(error)


# -- JSON: values, and where they stand

DOCUMENTS = (
    b'{"a": {"b~/c": [1, -2.5e3, "\\u00e9\\ud83d\\ude00\\n"]}, "t": "{\\"x\\": [true, \\"\\\\u0041\\"]}", "a": null}',
    b'\xef\xbb\xbf [ {"k":"v"} , [[]], "\xff\xed\xa0\x80", NaN ] ',
)


def edits(text: bytes) -> Iterator[bytes]:
    yield text
    yield from (text[:n] + text[n + 1 :] for n in range(len(text)))
    yield from (text[:n] for n in range(len(text)))
    yield from (text[:n] + sign + text[n:] for sign in (b"[", b'"', b",", b"0") for n in range(0, len(text), 3))


def small_edits(text: bytes) -> Iterator[bytes]:
    return (edited for edited in dict.fromkeys(edits(text)) if not _TRAILING.search(edited))


def places(index: jsontext.JsonIndex, pointer: str = "", depth: int = 0) -> Iterator[str]:
    yield f"{pointer} {index.span(pointer)} {index.key_span(pointer)}"
    for step, _ in index.elements(pointer) if depth < 5 else ():
        yield from places(index, f"{pointer}/{step}", depth + 1)


def seen(text: bytes) -> str:
    index = jsontext.JsonIndex(text)
    at = [index.pointer_at(n) for n in range(0, len(text), 2)]
    below = [index.span(p) for p in ("/t/x/1", "/t/x", "/t/y", "x", "/a/b~0~1c/0", "/3", "/03", "/-", "/1/0/0")]
    whole = (list(places(index)), at, below, index.duplicates(), tried(jsontext.loads, text), jsontext.runs(text))
    return f"{crc32(repr(whole).encode('utf-8', 'surrogatepass')):08x} {tried(jsontext.loads, text)}"


def test_json_with_every_small_edit(approved: Hold) -> None:
    rows = [f"{text!r}: {seen(text)}" for document in DOCUMENTS for text in small_edits(document)]
    odd = (b"", b" ", b"<html>", b"data: {}", b": x", b'{"a": "\n"}', b"1 2", b"[" * 70, b"1" * 5000, b'"\xff')
    rows += [f"{text[:80]!r}: {tried(jsontext.loads, text)}" for text in odd]
    rows += [f"{text[:80]!r} as text: {tried(jsontext.loads, text.decode('latin-1'))}" for text in odd]
    middle = LEVELS.stop
    deep = b"[" * middle + b"]" * middle
    rows += [f"{n} levels: {tried(jsontext.loads, deep[middle - n : middle + n], levels=n % 7)[-90:]}" for n in LEVELS]
    escaping = jsontext.writer_like(b'"\\u00e9"')
    writes = ("é", "\ud800", {"a": [1, 1.5, None, "\x7f"]}, {1}, object, float("nan"))
    rows += [f"{value!r}: {tried(jsontext.dumps, value)} {tried(escaping, value)}" for value in writes]
    approved("json", rows)


LAYOUTS = (
    b'{"a":1,"l":[1,{"x":2},3],"o":{},"t":"{\\"y\\": [1]}"}',
    b'{"a": 1, "l": [1, {"x": 2}, 3], "o": {}, "t": "{\\"y\\": [1]}"}',
    b'{\n  "a": 1,\n  "l": [\n    1,\n    {"x": 2},\n    3\n  ],\n  "o": {},\n  "t": "{\\"y\\": [1]}"\n}\n',
    b'{\r\n\t"a" : 1 ,\r\n\t"l" : [ 1 , {"x" : 2} , 3 ] ,\r\n\t"o" : { } , "t": "\\u00e9"\r\n}',
    b"[]",
    b'{"a": 1, "a": 2}',
    b'{"a": ',
)
CHANGES: tuple[tuple[patch.Change, ...], ...] = (
    *(
        (Insert(p, v),)
        for p in ("/l/0", "/l/2", "/l/3", "/l/-", "/l/4", "/l/x", "/n", "/a", "/o/n", "/-", "/a/x", "")
        for v in ("é", {"k": [1, {"z": []}]})
    ),
    *((Remove(p),) for p in ("/a", "/l", "/l/0", "/l/1", "/l/2", "/o", "/l/9", "", "/t/y", "/l/1/x")),
    *((Replace(p, v),) for p in ("/a", "/l", "/l/1/x", "/t/y/0", "/t", "", "/none") for v in (5, "é", {"k": [1]})),
    *(
        (Move(a, b),)
        for a, b in (
            ("/l/0", "/l/-"),
            ("/l/1", "/o/n"),
            ("/l", "/m"),
            ("/a", "/l/1"),
            ("/l", "/l/0"),
            ("/none", "/x"),
            ("/o", "/none/x"),
            ("", "/x"),
            ("/t/y", "/y"),
        )
    ),
    (Insert("/l/1", 8), Insert("/l/1", 9)),
    (Remove("/l/0"), Remove("/l/1"), Remove("/l/2")),
    (Remove("/a"), Insert("/a", 5)),
    (Remove("/l"), Insert("/l/0", 5)),
    (Remove("/l"), Replace("/l/0", 5)),
    (Remove("/l/0"), Remove("/l/0")),
    (Replace("/l", 5), Insert("/l/0", 5)),
    (Replace("/t/y/0", 7), Replace("/a", 2), Remove("/o")),
    (Replace("/t/y/0", 7), Remove("/t")),
    (Replace("/l/1", 1), Replace("/l/1/x", 2)),
    (Move("/l/0", "/n"), Remove("/l/0")),
    (Insert("/o/x~1y~0z", 1), Insert("/o/w", 2)),
)


def test_edits_of_json(approved: Hold) -> None:
    rows = [f"{changes} of {text!r}: {tried(patch.apply, text, changes)}" for text in LAYOUTS for changes in CHANGES]
    wanted = ({"/a": 1, "/l/1": "é"}, {"/l": 1, "/l/0": 2}, {"/none": 1}, {"/t/y/0": '"'}, {"": [1]}, {"/a": {1}})
    rows += [f"{edits} in {text!r}: {tried(jsontext.replace, text, edits)}" for text in LAYOUTS for edits in wanted]
    text = b'"a\\n\xc3\xa9\\ud83d\\ude00z"'
    spans = [jsontext.string_slice_span(text, (0, len(text)), a, b) for a in range(7) for b in range(a, 8)]
    rows.append(f"{text!r}: {spans}")
    rows += [f"{p}: {tried(patch.parent_of, p)}" for p in ("", "x", "/a", "/a/b~1c")]
    pointers = ("abc", "/1", "/01", "/" + "1" * 5000, "/\u0663", "")
    rows += [f"{p[:4]!r}: {tried(value_at, [1, 2, 3, 4], p)}" for p in pointers]
    approved("patches", rows)


# -- streams

EVENTS = {
    "sse": b'\xef\xbb\xbf: hi\r\nevent: a\r\nid: 7\r\ndata: {"x": 1}\r\n\r\n'
    b"data:y\ndata\nretry: 5\rfoo: z\n\n\ndata: end",
    "lines": b'{"a": 1}\n\n {"b": [2]}\r\n{"c": ',
    "array": b' [ {"a": 1},\n{"b": "]"} , {"c": [{}]}\n]',
    "aws": aws_message("chunk", sealed_payload(b'{"a": 1}'))
    + aws_message("contentBlockDelta", b'{"bytes" : "e30=", "p": "x"}')
    + aws_message("throttlingException", b'{"message": "no"}', kind="exception"),
}


def events(body: bytes, kind: str = "") -> str:
    stream = read_stream(body, kind)
    plain = [(*event, getattr(event, "is_sealed", None), event.span("/a"), event.span("")) for event in stream.events]
    return f"{stream.framing} {plain} {stream.faults}"


def test_streams_with_every_small_edit(approved: Hold) -> None:
    rows = []
    for name, body in EVENTS.items():
        rows.append(f"{name}: {events(body)}")
        for n in range(len(body)):
            texts = (body[:n], body[:n] + body[n + 1 :], body[:n] + bytes([body[n] ^ 1]) + body[n + 1 :])
            said = [events(text) + str(read_untyped(text[1:]).framing) for text in texts]
            faults = [[fault.text for fault in read_stream(text).faults] for text in texts]
            rows.append(f"{name} at {n}: {crc32(repr(said).encode()):08x} {faults}")
    kinds = (
        "",
        "application/json",
        "text/event-stream; x",
        "application/x-ndjson",
        "application/vnd.amazon.eventstream",
    )
    heads = (
        b"",
        b"{}",
        b"{}\n{}",
        b'[{"a": 1}]',
        b'[{"error": 1}]',
        b"data: x",
        b"id: 1\ndata:",
        b"\n\nevent: a",
        b": hi",
        b"x",
        b" {",
        b"\0\0",
        b"data:{",
        b"\xef\xbb\xbf{}\n{}",
        b"\xef\xbb\xbfdata: x",
        *EVENTS.values(),
    )
    rows += [f"{head[:20]!r} as {kind}: {framing_of(head, kind)}" for head in heads for kind in kinds]
    rows += [
        f"{head[:20]!r}: {read_untyped(head).framing} {events(head, kind)[:60]}" for head in heads for kind in kinds
    ]
    rows += [
        f"{name} rewritten: {tried(rewrite, body, read_stream(body).events, {0: b'[]', 1: b'xyz'})}"
        for name, body in EVENTS.items()
    ]
    for framing in Framing:
        rows.append(f"read as {framing}: {read_stream(b'[1] ', framing=framing)}")
    texts = AwsTexts(EVENTS["aws"])
    rows.append(f"{is_messages(EVENTS['aws'])} {is_messages(b'{}')} {texts.text!r} {texts.rewrite(texts.text)!r}")
    rows.append(repr([texts.end(n) for n in range(len(texts.text) + 1)]))
    rows.append(repr(texts.marks([Redaction("body", n, n + 3, "x") for n in range(0, len(texts.text), 5)])))
    approved("streams", rows)


# -- secrets

NAMES = [
    "apiKey",
    "API_KEY",
    "x-api-key",
    "key_id",
    "keyboard",
    "cacheKey",
    "primary_key",
    "my_secret",
    "secretary",
    "password",
    "pass_",
    "pass",
    "bypass",
    "db_pw",
    "pwd",
    "token",
    "page_token",
    "access-token",
    "tokens",
    "nextPageToken",
    "auth",
    "oauth",
    "author",
    "authorization",
    "cookie",
    "Set-Cookie",
    "cookie2",
    "cookies",
    "credential",
    "credentials",
    "allow_credentials",
    "jwt",
    "assertion",
    "session_id",
    "mcp-session-id",
    "x-key",
    "x-signature",
    "signature",
    "sig",
    "code",
    "X-Amz-Signature",
    "X-Amz-Date",
    "X-Goog-Credential",
    "awsaccesskeyid",
    "subscription-key",
    "API_KEY_PROD",
    "apiKey2",
    "key-pair-id",
    "hmac",
    "SERVICEKEY",
    "usertoken",
    "user.token",
    "private-key",
    "public-key",
    "ssh_key",
    "psk",
    "wifi-psk",
    "passphrase",
    "passcode",
    "PASSWD",
    "a",
    "9",
    "_",
    "-",
    "sort_key",
]
VALUES = [
    "hunter2",
    "hunter2hunter2",
    "correct-horse-battery-staple",
    "correct;horse",
    "aB3dE6gH9jK2mN5p",
    "a1b2c3d4",
    "abcdefgh",
    "12345678",
    "123456789012",
    "${API_KEY}",
    "$KEY",
    "<key>",
    "{key}",
    "%KEY%",
    "xxx",
    "xxxxxxxxxx",
    "...",
    "***",
    "your-api-key",
    "my_key_here",
    "none",
    "null",
    "true",
    "changeme",
    "example1234",
    "test-token-12345",
    "/etc/passwd",
    "./key.pem",
    "C:\\\\keys\\\\a.pem",
    "a@b.example",
    "2026-01-02T03:04",
    "10:30",
    "v1.2.3",
    "foo.bar",
    "foo(bar)",
    "f[0]",
    "3f2b8c1e-9d4a-4e6b-8f7a-1c2d3e4f5a6b",
    "0123456789abcdef0123456789abcdef",
    "ssh-rsa",
    "sha256-abc",
    "a=>b",
    "&ref",
    "Tr0ub4dor&3",
    "P@ssw0rd!",
    "MyVariableName",
    "some_function_name",
    "qwertyuiop",
    "zxcvbnm1",
    "AAAAAAAAAAAAAAAAAAAA",
    "aaaaaaaaaaaa1",
    "Zm9vYmFyYmF6cXV4cXV1eA==",
    "https://x.example/a",
    "env:KEY",
    "arn:aws:iam",
    "op://vault/item",
    "Q7w9Zt4LmW2pXv9R/b1TzK0abcd+E=",
    "user:pass",
    "00000000",
    "0.5",
    "abc12345",
]
SIGNS = (
    '{"NAME": "VALUE"}',
    '{\\"NAME\\": \\"VALUE\\"}',
    "NAME=VALUE\n",
    "NAME: VALUE\n",
    "NAME = 'VALUE'",
    'NAME := "VALUE"',
    "'NAME' => 'VALUE'",
    "--NAME VALUE",
    "--NAME=VALUE",
    "export NAME=VALUE;",
    "<NAME>VALUE</NAME>",
    "?NAME=VALUE&a=1",
    '["NAME", "VALUE"]',
    "NAME, VALUE",
    "the NAME is VALUE",
    "**NAME:** VALUE",
    "| NAME | VALUE |",
    'setNAME("VALUE")',
    'NAME("VALUE")',
    "NAME::VALUE",
    "const NAME: string = 'VALUE'",
    "NAME:\n  VALUE",
    "NAME:\n- VALUE",
    "NAME: |\n  VALUE\n",
    'NAME: ["VALUE"]',
    '{"name": "NAME", "value": "VALUE"}',
    "set NAME VALUE",
    "NAME VALUE",
    "ENV NAME VALUE",
    "Authorization: Bearer VALUE",
    "Authorization: Basic VALUE",
    "bearer VALUE",
    "https://me:VALUE@x.example/",
    "-u me:VALUE x",
    "login me NAME VALUE",
    "Cookie: NAME=VALUE; b=1",
    '{"token": "VALUE", "logprob": 1}',
    "NAME=b'VALUE'",
    "a.NAME = VALUE;",
)


def test_names_and_values(approved: Hold) -> None:
    rows = [
        f"{name}: {family(name.encode())} {family(name.encode(), is_line=True)} {of_header(name)}"
        f" {of_query(name.encode())}"
        for name in NAMES
    ]
    for value in VALUES:
        raw = value.encode()
        kinds = "".join("#" if is_secret(raw, kind, style) else "." for kind in Family for style in Style)
        plain = [is_made_up(raw), is_placeholder(raw), is_random(raw)]
        rows.append(
            f"{value}: {kinds} {plain} {[header_kind(n, value) for n in ('x-api-key', 'x-token', 'cookie', 'sid')]}"
        )
    rows += [
        f"{form}: {in_url(form.replace('VALUE', v))}"
        for form in ("https://me:VALUE@x/?key=1", "/a?token=VALUE#sig=VALUE")
        for v in ("hunter2hunter2", "${X}", "aB3dE6gH9jK2mN5p")
    ]
    approved("names", rows)


def test_secrets_in_every_form(approved: Hold) -> None:
    """A row for each form and value: ``#`` for each name that makes the value a secret there."""
    names = ("apiKey", "SERVICE_TOKEN", "password", "token", "x-key", "cookie", "credentials", "cache_key", "title")
    rows = []
    for form in SIGNS:
        for value in ("aB3dE6gH9jK2mN5p", "hunter2hunter2", "${API_KEY}", "sk-proj-aB3dE6gH9jK2mN5pQ8rS", "north star"):
            texts = [form.replace("NAME", name).replace("VALUE", value).encode() for name in names]
            marks = "".join("#" if find(text) else "." for text in texts)
            rows.append(f"{marks} {form!r} {value} {[tuple(s) for s in find(texts[0])]} {find(texts[2])[:1]}")
    approved("secrets", rows)


def test_what_redaction_writes(approved: Hold) -> None:
    """Every place that a secret is planted at, with the marks that stay and a digest of what is written."""
    rows = []
    for name, place in {**PLACES, **STREAMS, **BARE}.items():
        if "zip" in name:  # such bytes hold the time
            continue
        for kind in ("anthropic", "some key", "password", "json web token", "private key"):
            safe = Redactor(salt=b"t").exchange(place(KINDS[kind]))
            sides = [side for side in (safe.request, safe.response) if side]
            marks = [tuple(mark) for side in sides for mark in side.redactions]
            rows.append(f"{name}, {kind}: {marks} {crc32(repr(safe).encode('utf-8', 'surrogatepass')):08x}")
    redactor = Redactor(salt=b"t")
    for text in (b'a\n"api_key":\n', b"a\nb", b"-----BEGIN RSA PRIVATE KEY-----\nabc\n", b"key: \nx\n", b""):
        rows.append(f"{text!r}: {redactor.settled_length(text)}")
    for kind, secret in KINDS.items():
        rows.append(f"{kind}: {redactor.stand_in(secret)!r}")
    approved("redactions", rows)


def test_secrets_that_come_in_pieces(approved: Hold) -> None:
    """How much of a body leaves with each piece of it, and a digest of what is written."""
    rows = []
    for name, place in {**STREAMS, **PLACES, **BARE}.items():
        if "zip" in name:
            continue
        for kind in ("anthropic", "password", "private key") if name in STREAMS else ("some key",):
            made = place(KINDS[kind])
            body = made.response.body.raw if name in STREAMS and made.response else made.request.body.raw  # type: ignore[union-attr]
            body = body.replace(b"\\n", b"\n") + b'\n{"text": "tail"}\n'
            guard = TextGuard(Redactor(salt=b"t", seen={b"theme=dark-7"}))
            left = [guard.feed(body[at : at + 37]) for at in range(0, len(body), 37)]
            sizes = " ".join(str(len(piece)) for piece in left if piece)
            rows.append(f"{name}, {kind}: {sizes} of {len(body)} {guard.has_found} {crc32(b'|'.join(left)):08x}")
    for text in (
        b'x "key": "',
        b"sk-ant-api03-",
        b"token = abcdefghijklmn",
        b"plain words",
        b"AKIA",
        b"end theme=da",
        b"",
    ):
        rows.append(f"{text!r}: {open_from(text, {b'theme=dark-7'})}")
    approved("pieces", rows)


# -- heads, times, codings, characters

LIMITS = (
    ("anthropic-ratelimit-tokens-remaining", "5"),
    ("Anthropic-RateLimit-Tokens-Limit", " 10 "),
    ("anthropic-ratelimit-unified-5h-utilization", "0.25"),
    ("anthropic-ratelimit-unified-status", "allowed"),
    ("anthropic-priority-input-tokens-limit", "7"),
    ("anthropic-ratelimit-limit", "3"),
    ("x-ratelimit-remaining", "0"),
    ("x-ratelimit-limit-tokens", "0"),
    ("x-ratelimit-remaining-tokens", "5"),
    ("ratelimit-limit", "x"),
    ("x-ratelimitbysize-limit", "9"),
    ("x-ratelimitbysize-remaining-day", "12"),
    ("x-ratelimit-reset", "6m0s"),
    ("x-ratelimit-limit", "5"),
    ("x-ratelimit-remaining", "9"),
    ("x-ratelimit", "1"),
)
WAITS = (
    "5",
    "5.5",
    " 7 ",
    "-5",
    "",
    "x",
    "6m0s",
    "12ms",
    "1h2m3.5s",
    "1d",
    "5 s",
    "999999999",
    "1000000000",
    "1700000005",
    "999999999999",
    "1000000000000",
    "1700000005000",
    "2023-11-14T22:13:25Z",
    "2023-11-14T22:13:25+01:00",
    "2023-11-14T22:13:25",
    "Tue, 14 Nov 2023 22:13:25 GMT",
    "Tue, 14 Nov 2023",
    "9" * 65,
    "0001-01-01T00:00:00+23:00",
)


def test_heads_times_and_codings(approved: Hold) -> None:
    rows = [f"{limit} {limit.used}" for limit in headers.read(Headers(LIMITS))]
    rows += [f"{text!r}: {[headers.wait(text, now) for now in (1_700_000_000.0, None)]}" for text in WAITS]
    known = (
        "Request-Id",
        "retry-after",
        "X-Stainless-New",
        "x-ratelimit-x",
        "anthropic-priority-x",
        "x-odd",
        "Ratelimit",
    )
    rows += [f"{name}: {headers.meaning(name)}" for name in known]
    sent = Headers((("Anthropic-Beta", "a, b,,c"), ("openai-beta", "d"), ("x", "e"), ("anthropic-beta", "f")))
    rows.append(f"{headers.betas(sent)} {sent.get('X')} {sent.get('y', 'z')} {sent.all('ANTHROPIC-beta')} {len(sent)}")
    rows += [f"{url}: {urls.split_url(url)}" for url in ("https://a:1/b?c=d#e", "/b?c", "http://[", "")]
    rows += [f"{branch!r}: {translation_of(branch)}" for branch in ("", "x", "a → b", "a→b", "translated", "as gemini")]
    bodies = (
        b"",
        b"{}",
        b"\x1f\x8b",
        b"\x1f\x8b\x08\0",
        b"\x28\xb5\x2f\xfd",
        b"data: x",
        b"\x0b\x02\x80{}\x03",
        b"\xff\0",
        b'{"\x01"',
    )
    labels = (
        "",
        "gzip",
        "br",
        "zstd",
        "deflate",
        "x-gzip, br",
        "identity",
        "utf-8",
        "odd",
        "gzip,gzip",
        ",".join(["gzip"] * 9),
    )
    for raw in bodies:
        for label in labels:
            body = Body(raw, label)
            rows.append(
                f"{raw!r} as {label}: {encoding.detect_encoding(raw, label)!r} {encoding.decode_partial(body)} "
                f"{encoding.decode_partial(body, 1)} {tried(encoding.decode_body, body)}"
            )
    odd = "a\u200b\u202e\u00a0\ue000\x07\u0430\ufeff\U000e0041z".encode() + b'\\u200b\\u0041\\ud83d\\ude00"'
    rows += [f"{one}" for one in characters.odd_ones(odd)]
    rows += [f"{n}: {characters.odd_at(odd, n)} {characters.bounds(odd, n)}" for n in range(len(odd))]
    rows.append(f"{characters.unusual(odd.decode())} {[characters.name_of_character(c) for c in odd.decode()]}")
    approved("heads", rows)


# -- exchanges and their lines

REQUEST = HttpRequest(
    "PUT",
    "https://x.example/v1?a=1",
    Headers((("A", "é"),)),
    Body(b'{"model": "m"}'),
    "HTTP/2",
    (Redaction("url", 1, 2, "x"),),
)
RESPONSE = HttpResponse(
    201,
    Headers((("Content-Type", "text/plain"),)),
    Body(b"\xff", "gzip", (Chunk(1, 0.5),), False, "why", 9, "d"),
    "Made",
    "HTTP/1.1",
    (Redaction("body", 0, 1, "y"),),
)
WHOLE = Exchange(
    "e1",
    REQUEST,
    RESPONSE,
    State.ABORTED,
    ExchangeKind.WEBSOCKET,
    Origin.RECORDED,
    1.5,
    2.5,
    "hop",
    "p",
    "b",
    "c",
    "the client hung up",
    (Frame("sent", "text", b"hi", 0.25), Frame("received", "binary", b"\xff" * 40)),
    {"m": [1]},
)
FRAMES = (
    b"{}",
    b'{"type": "a"}',
    b'{"type": 1, "b": 2, "c": 3}',
    b"[1]",
    b"{",
    b"text \xff",
    b"\x01" * 32,
    b"\x01" * 33,
    b"",
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from leaves(inner, (*path, key))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with another one at a path; without it for ``...``."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1 and new is ...:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


def test_lines_of_a_session(approved: Hold) -> None:
    """Each member of a line left out, and with a value of each other type."""
    line = json.loads(lines_of_text.dump(WHOLE))
    rows = [lines_of_text.dump(WHOLE), repr(lines_of_text.load(line)), lines_of_text.dump(Exchange("\ud800"))]
    for path in leaves(line):
        for new in (..., None, True, -1, 1.5, 1e300, "x", "", [], {}, [[1, 2]], [["a", "b"]]):
            if path or new is not ...:
                made = tried(lines_of_text.load, changed(line, path, new))
                rows.append(f"{path} {new}: {made if 'Error' in made else crc32(made.encode())}")
    heads = [
        {"workbench": "session", "version": version, **more}
        for version in (0, 1, 2, 3, "2", True, None)
        for more in ({}, {"id": "a" * 200}, {"id": "a" * 201}, {"id": "é"}, {"about": {"story": "s", "n": 1}})
    ]
    for head in (*heads, {}, [], {"workbench": "x", "version": 1}):
        data = b"\xef\xbb\xbf" + json.dumps(head).encode() + b'\n{"id": "1"}\n\n{\n{"id": 1}\n'
        rows.append(f"{json.dumps(head)[:80]}: {tried(lines_of_text.read, data, 'f.jsonl')}")
    starts = (
        b'{"workbench": "session"',
        b'\xef\xbb\xbf\n {"workbench": "session", "x',
        b'{"workbench":"session"',
        b"{",
    )
    rows += [f"{head!r}: {lines_of_text.is_text_session(head)}" for head in starts]
    approved("lines", rows)


def test_what_is_seen_of_exchanges(approved: Hold, tmp_path: Path) -> None:
    rows = [
        repr(summarize(7, one, "m"))
        for one in (WHOLE, Exchange("e"), Exchange("e", REQUEST), replace(WHOLE, request=None))
    ]
    rows += [repr(summarize(0, replace(WHOLE, response=HttpResponse(0))))]
    notes = (
        "the client hung up",
        "Client disconnected",
        "net::ERR_ABORTED",
        "NS_BINDING_ABORTED",
        "the server hung up",
        "",
    )
    rows += [f"{note} {state}: {replace(WHOLE, note=note, state=state).is_left}" for note in notes for state in State]
    for data in FRAMES:
        for opcode in ("text", "binary"):
            rows.append(repr(list(frames.seen_frames(replace(WHOLE, frames=(Frame("sent", opcode, data),))))))
    trees = replace(WHOLE, frames=(), meta={frames.GRPC: {"request": {"a": "é"}, "response": [1]}})
    rows += [repr(list(frames.seen_frames(one))) for one in (trees, replace(trees, request=None, response=None))]
    told = {"in": "a" * 64, "out": "b" * 64, "bytes_in": 14, "bytes_out": 1500}
    equal = {**told, "out": "a" * 64, "bytes_out": 14}
    for request in (
        told,
        equal,
        {**equal, "in": "c" * 64},
        {**told, "bytes_out": 14},
        {**told, "in": "x"},
        {},
        None,
        5,
    ):
        for one in (replace(WHOLE, meta={digests.DIGESTS: {"request": request, "response": equal}}),):
            passed = digests.read_digests(one)
            words = {side: (each.words, each.is_equal, each.as_meta) for side, each in passed.items()}
            rows.append(f"{request}: {words} {list(digests.problems(one))} {digests.to_meta(passed)}")
    approved("exchanges", rows)
