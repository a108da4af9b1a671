"""Answers that every protocol can give: streams as they may legally be written, refusals, and what breaks off."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from workbench.recorder.audit.case import AuditCase, CaseResponse, Pairs, ResponseEnd, ResponseFraming, Theme
from workbench.recorder.audit.cases._speech import Speech

_GIVES_UP = "a client that waits for signs of life gives up"
_READS = "clients read the stream by its events"
_RETRY = "clients wait and retry as it says"


def cases(speech: Speech) -> Iterator[AuditCase]:
    """Cases about responses, for one protocol."""
    yield from _bodies(speech)
    yield from _streams(speech)
    yield from _writing(speech)
    yield from _buffering(speech)
    yield from _errors(speech)
    yield from _breaks(speech)
    yield from _codings(speech)


def _case(
    speech: Speech,
    name: str,
    theme: Theme,
    shows: str,
    answer: CaseResponse,
    why: str = "",
    rule: str = "",
    *,
    means: bool = False,
) -> AuditCase:
    """A case of an answer; the request asks for a stream where one comes."""
    asked = speech.request(name, streams=answer.framing is ResponseFraming.CHUNKED)
    return AuditCase(name, theme, shows, asked, answer, why, rule, is_convertible=means)


def _stream(
    speech: Speech, name: str, shows: str, pieces: Sequence[str | bytes], why: str = "", rule: str = "", *,
    theme: Theme = Theme.EVENTS, means: bool = False,
) -> AuditCase:  # fmt: skip
    return _case(speech, name, theme, shows, speech.stream_response(tuple(pieces)), why, rule, means=means)


def _bodies(speech: Speech) -> Iterator[AuditCase]:
    theme, rule = Theme.FIELDS_BACK, "gateway.dropped-field"
    more = ',"x_audit":{"deep":[1,null]},"audit_empty":""'
    yield _case(
        speech, "answer-members", theme, "members that a gateway does not know come through", speech.answer(MORE=more),
        "a client that knows more than the gateway gets less", rule,
    )  # fmt: skip
    text = r'" \n Caf\u00e9 \/ 日本 \ud83d\ude00 1.0\n"'
    yield _case(
        speech, "answer-spelling", theme, "texts and numbers are written as the provider wrote them",
        speech.answer(TEXT=text, MORE=',"cost":1.50,"n":1e2,"id2":9007199254740993'),
        "signatures and stored answers do not fit any more", "gateway.altered-bytes",
    )  # fmt: skip
    head: Pairs = (
        ("X-Audit-Answer", "aZ"),
        ("openai-version", "2020-10-01"),
        ("Link", '<https://example.com/a>; rel="x"'),
        ("Cache-Control", "private, max-age=0"),
    )
    yield _case(
        speech, "answer-headers", Theme.HEADERS_BACK, "request ids, limits and headers of its own come through",
        speech.answer(headers=head), "without the id of the request nobody at the provider can look it up",
    )  # fmt: skip
    stream = speech.stream_response(speech.events(), headers=head)
    yield _case(
        speech, "stream-headers", Theme.HEADERS_BACK, "the same of a stream", stream,
        "without the id of the request nobody at the provider can look it up",
    )  # fmt: skip


def _streams(speech: Speech) -> Iterator[AuditCase]:
    yield _stream(speech, "stream", "a plain stream comes through, event by event", speech.events(), _READS, means=True)
    yield _stream(
        speech, "comments", "comments between events come through",
        speech.events(between=(": keep-alive\n\n", ":\n\n")), _GIVES_UP,
    )  # fmt: skip
    yield _stream(
        speech, "unknown-event", "an event that a gateway does not know comes through",
        speech.events(between=(speech.unknown,)), "a client that knows more than the gateway gets less",
        "gateway.dropped-field",
    )  # fmt: skip
    yield _stream(
        speech, "empty-deltas", "empty and blank pieces of a text come through",
        speech.events('"Fi"', '""', '" "', r'"\n\n"', '"ne."'), "the text is another one", means=True,
    )  # fmt: skip
    texts = (r'" caf\u00e9"', '" 日本語 "', r'" \ud83d\ude00"', '" 😀 \u2028 "', r'" \/ \u003c "')
    yield _stream(
        speech, "stream-spelling", "texts are written as the provider wrote them", speech.events(*texts),
        "the text is another one, or its bytes are", "gateway.altered-bytes",
    )  # fmt: skip
    arguments = (*speech.opening[:1], *speech.arguments, *speech.closing)
    yield _stream(
        speech, "streamed-call", "a call comes through, its arguments as they are written", arguments,
        "a client that sends them back sends others", "args.encoding", means=True,
    )  # fmt: skip
    yield _stream(
        speech, "small-events", "many small events stay as many",
        speech.events(*(json.dumps(f"w{n} ") for n in range(12))), "what was a stream comes in lumps",
    )  # fmt: skip


def _writing(speech: Speech) -> Iterator[AuditCase]:
    """The same stream, written in other legal ways."""
    why, rule = "clients read every legal form, and a gateway that does not loses events", "stream.framing"
    events = speech.events('"Fi"', '"né"', '"😀."')
    yield _stream(
        speech, "crlf", "lines that end with CR LF come through", [e.replace("\n", "\r\n") for e in events], why, rule
    )
    bare = [re.sub(r"(?m)^(event|data): ", r"\1:", e) for e in events]
    yield _stream(speech, "no-space", "fields without a space behind the colon come through", bare, why, rule)
    ids = [f"id: {n}\nretry: 1500\n{e}" for n, e in enumerate(events)]
    yield _stream(speech, "event-ids", "ids and retry times of events come through", ids, why, rule)
    split = [re.sub(r"(?m)^data: (\{.+?[,:])", r"data: \1\ndata: ", e, count=1) for e in events]
    yield _stream(speech, "two-data-lines", "an event of two data lines stays one event", split, why, rule)
    raw = "".join(events).encode()
    at = [0, *(n + 1 for n, byte in enumerate(raw) if byte >= 0xC0), len(raw)]
    cut = [raw[a:b] for a, b in pairwise(at)]
    yield _case(
        speech, "cut-characters", Theme.EVENTS, "characters that two chunks share come through", _cut(speech, cut),
        "the characters at the cut are damaged", "stream.encoding",
    )  # fmt: skip
    lumps = ["".join(events[:3]), "".join(events[3:])]
    yield _stream(speech, "events-in-one-chunk", "several events in one chunk come through", lumps, why, rule)
    halves = [half for e in events for half in (e[: len(e) // 2], e[len(e) // 2 :])]
    two = _cut(speech, halves)
    yield _case(speech, "events-in-two-chunks", Theme.EVENTS, "events in two chunks come through", two, why, rule)


def _cut(speech: Speech, pieces: Sequence[str | bytes]) -> CaseResponse:
    """A stream in chunks that are no whole events."""
    return replace(speech.stream_response(tuple(pieces)), in_events=False)


def _buffering(speech: Speech) -> Iterator[AuditCase]:
    theme, rule = Theme.BUFFERING, "gateway.buffered"
    why = "words are shown late, or only at the end, and a client that waits for the first ones gives up"
    yield _stream(
        speech,
        "first-event",
        "the first event comes before the last one is sent",
        speech.events(*(json.dumps(f"word {n} ") for n in range(5))),
        why,
        rule,
        theme=theme,
        means=True,
    )
    sparse = (*speech.events(ending=False), ": keep-alive\n\n", *speech.closing)
    yield _stream(speech, "sign-of-life", "a comment in a pause comes at once", sparse, _GIVES_UP, rule, theme=theme)
    call = (*speech.opening[:1], *speech.arguments, *speech.closing)
    yield _stream(
        speech,
        "call-by-pieces",
        "a call comes piece by piece",
        call,
        "a long file is written in silence",
        rule,
        theme=theme,
    )


def _errors(speech: Speech) -> Iterator[AuditCase]:
    def case(
        name: str, shows: str, status: int, type: str, text: str, headers: Pairs = (), rule: str = ""
    ) -> AuditCase:
        answer = speech.answer(speech.error, status=status, headers=headers, TYPE=type, TEXT=text)
        return _case(speech, name, Theme.ERRORS, shows, answer, why if status == 400 else _RETRY, rule, means=True)

    why = "the words say what is wrong, and clients find it by them"
    words = r'"messages.1.content.0: Invalid `signature` in `thinking` block \u2026 \"x\""'
    yield case("refusal", "a refusal comes with its status and words", 400, "invalid_request_error", words)
    waits: Pairs = (
        ("Retry-After", "1"),
        ("retry-after-ms", "700"),
        ("x-should-retry", "false"),
        ("x-ratelimit-reset-requests", "1s"),
    )
    yield case(
        "rate-limit", "a limit comes with the time to wait", 429, "rate_limit_error", '"Too many requests"', waits
    )
    yield case(
        "overloaded",
        "an overload comes as such",
        529,
        "overloaded_error",
        '"Overloaded"',
        (("x-should-retry", "true"),),
    )
    yield case(
        "too-large", "what is too large is said to be", 413, "request_too_large", '"Request exceeds the maximum size"'
    )
    html = b"<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n</html>\r\n"
    page = CaseResponse((html,), 503, (("Content-Type", "text/html"), ("Retry-After", "1")))
    yield _case(speech, "error-page", Theme.ERRORS, "an error that is no JSON comes as it is", page, _RETRY)
    refused = speech.answer(speech.error, status=400, TYPE="invalid_request_error", TEXT='"stream: no"')
    asked = speech.request("refused-stream", streams=True)
    yield AuditCase("refused-stream", Theme.ERRORS, "a refusal of a stream is no stream", asked, refused, why)
    yield _stream(
        speech, "error-in-stream", "an error in a stream comes through", (*speech.events(ending=False), speech.broken),
        "the client takes half an answer for all of it", "stream.error-event", theme=Theme.ERRORS,
    )  # fmt: skip


def _breaks(speech: Speech) -> Iterator[AuditCase]:
    why, rule = "the client takes half an answer for all of it", "stream.truncated"
    half = speech.stream_response(speech.events(ending=False), end=ResponseEnd.CUT)
    yield _case(
        speech,
        "broken-stream",
        Theme.BREAKS,
        "a stream that breaks off breaks off for the client",
        half,
        why,
        rule,
        means=True,
    )
    text = speech.stream_response((*speech.opening[:1], *speech.arguments[:2]), end=ResponseEnd.CUT)
    yield _case(speech, "broken-call", Theme.BREAKS, "so does one inside a call", text, why, "args.truncated")
    whole = speech.answer(TEXT='"Half of it."')
    broken = replace(whole, end=ResponseEnd.CUT)
    yield _case(
        speech, "broken-body", Theme.BREAKS, "an answer that is not whole is not passed on as whole", broken, why, rule
    )
    no_end = speech.stream_response(speech.events(ending=False))
    yield _case(
        speech,
        "no-terminator",
        Theme.BREAKS,
        "a stream that ends without its last event gets none",
        no_end,
        why,
        "stream.no-terminator",
    )
    left = speech.stream_response((*speech.events(ending=False)[:1], ": keep-alive\n\n"), end=ResponseEnd.LEFT)
    asked = speech.request("hang-up", streams=True)
    yield AuditCase(
        "hang-up", Theme.BREAKS, "when the client disconnects, the provider notices", asked, left,
        "the model continues, and every token is billed", is_convertible=True, hangs_up=True,
    )  # fmt: skip


def _codings(speech: Speech) -> Iterator[AuditCase]:
    theme, why = Theme.CODING, "what is compressed is decoded in vain, or not at all"
    accepts: Pairs = (("Accept-Encoding", "gzip, deflate"),)
    packed: Pairs = (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))

    def case(name: str, shows: str, answer: CaseResponse, *, streams: bool = False) -> AuditCase:
        return AuditCase(name, theme, shows, speech.request(name, headers=accepts, streams=streams), answer, why)

    plain = speech.answer(headers=packed)
    yield case(
        "gzip-body",
        "a compressed answer comes as it is",
        replace(plain, pieces=(gzip.compress(plain.pieces[0], mtime=0),)),
    )
    squeeze = zlib.compressobj(wbits=31)
    chunks = [squeeze.compress(e.encode()) + squeeze.flush(zlib.Z_SYNC_FLUSH) for e in speech.events()]
    stream = speech.stream_response((*chunks, squeeze.flush()), headers=packed)
    yield case("gzip-stream", "a compressed stream comes as it is, piece by piece", stream, streams=True)
    text = json.dumps("".join(f"{n:06x} " for n in range(60_000)))
    yield case("large-answer", "an answer of 400 kB comes whole", speech.answer(TEXT=text))
    unsized = replace(speech.answer(), framing=ResponseFraming.CLOSE)
    yield case("unsized-answer", "an answer that the end of the connection ends comes whole", unsized)
