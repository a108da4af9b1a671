"""Responses that every protocol can give: streams in every legal form, refusals, and incomplete responses."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench.lazy_dataclass import replace
from workbench.recorder.audit.case import AuditCase, CaseResponse, Pairs, ResponseEnd, ResponseFraming, Theme
from workbench.recorder.audit.cases._speech import Speech

_GIVES_UP = "a client that waits for data times out"
_READS = "clients show and process a stream event by event"
_RETRY = "clients use this header to decide whether and when to retry"


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
    """A case of a response; the request asks for a stream if the response is one."""
    request = speech.request(name, streams=answer.framing is ResponseFraming.CHUNKED)
    return AuditCase(name, theme, shows, request, answer, why, rule, is_convertible=means)


def _stream(
    speech: Speech, name: str, shows: str, pieces: Sequence[str | bytes], why: str = "", rule: str = "", *,
    theme: Theme = Theme.EVENTS, means: bool = False,
) -> AuditCase:  # fmt: skip
    return _case(speech, name, theme, shows, speech.stream_response(tuple(pieces)), why, rule, means=means)


def _bodies(speech: Speech) -> Iterator[AuditCase]:
    theme, rule = Theme.FIELDS_BACK, "gateway.dropped-field"
    more = ',"x_audit":{"deep":[1,null]},"audit_empty":""'
    yield _case(
        speech, "answer-members", theme, "unknown response fields are kept", speech.answer(MORE=more),
        "a client that uses these fields does not get them", rule,
    )  # fmt: skip
    text = r'" \n Caf\u00e9 \/ 日本 \ud83d\ude00 1.0\n"'
    yield _case(
        speech, "answer-spelling", theme, "strings and numbers keep their exact form",
        speech.answer(TEXT=text, MORE=',"cost":1.50,"n":1e2,"id2":9007199254740993'),
        "signatures and stored responses no longer match", "gateway.altered-bytes",
    )  # fmt: skip
    head: Pairs = (
        ("X-Audit-Answer", "aZ"),
        ("openai-version", "2020-10-01"),
        ("Link", '<https://example.com/a>; rel="x"'),
        ("Cache-Control", "private, max-age=0"),
    )
    yield _case(
        speech, "answer-headers", Theme.HEADERS_BACK,
        "request ids, rate limits and the provider's own headers are kept",
        speech.answer(headers=head), "without the request id, the provider's support cannot find the request",
    )  # fmt: skip
    stream = speech.stream_response(speech.events(), headers=head)
    yield _case(
        speech, "stream-headers", Theme.HEADERS_BACK, "headers of a streamed response are kept", stream,
        "without the request id, the provider's support cannot find the request",
    )  # fmt: skip


def _streams(speech: Speech) -> Iterator[AuditCase]:
    yield _stream(speech, "stream", "a plain stream is forwarded event by event", speech.events(), _READS, means=True)
    yield _stream(
        speech, "comments", "comments between events are kept",
        speech.events(between=(": keep-alive\n\n", ":\n\n")), _GIVES_UP,
    )  # fmt: skip
    yield _stream(
        speech, "unknown-event", "an unknown event is kept",
        speech.events(between=(speech.unknown,)), "a client that uses these fields does not get them",
        "gateway.dropped-field",
    )  # fmt: skip
    yield _stream(
        speech, "empty-deltas", "empty and blank deltas are kept",
        speech.events('"Fi"', '""', '" "', r'"\n\n"', '"ne."'), "the client reads different text", means=True,
    )  # fmt: skip
    texts = (r'" caf\u00e9"', '" 日本語 "', r'" \ud83d\ude00"', '" 😀 \u2028 "', r'" \/ \u003c "')
    yield _stream(
        speech, "stream-spelling", "text in a stream keeps its exact form", speech.events(*texts),
        "the text, or its bytes, differ from what the provider sent", "gateway.altered-bytes",
    )  # fmt: skip
    arguments = (*speech.opening[:1], *speech.arguments, *speech.closing)
    yield _stream(
        speech, "streamed-call", "a tool call and the exact text of its arguments are kept", arguments,
        "a client that sends the arguments back sends different bytes", "args.encoding", means=True,
    )  # fmt: skip
    yield _stream(
        speech, "small-events", "many small events are not merged",
        speech.events(*(json.dumps(f"w{n} ") for n in range(12))),
        "the client gets a few large chunks instead of a stream",
    )  # fmt: skip


def _writing(speech: Speech) -> Iterator[AuditCase]:
    """The same stream, written in other legal ways."""
    why, rule = "all forms are legal; a gateway that does not parse all of them loses events", "stream.framing"
    events = speech.events('"Fi"', '"né"', '"😀."')
    yield _stream(
        speech,
        "crlf",
        "a stream with CR LF line endings is forwarded",
        [e.replace("\n", "\r\n") for e in events],
        why,
        rule,
    )
    bare = [re.sub(r"(?m)^(event|data): ", r"\1:", e) for e in events]
    yield _stream(speech, "no-space", "fields without a space after the colon are forwarded", bare, why, rule)
    ids = [f"id: {n}\nretry: 1500\n{e}" for n, e in enumerate(events)]
    yield _stream(speech, "event-ids", "event ids and retry times are kept", ids, why, rule)
    split = [re.sub(r"(?m)^data: (\{.+?[,:])", r"data: \1\ndata: ", e, count=1) for e in events]
    yield _stream(speech, "two-data-lines", "an event with two data lines remains one event", split, why, rule)
    raw = "".join(events).encode()
    at = [0, *(n + 1 for n, byte in enumerate(raw) if byte >= 0xC0), len(raw)]
    cut = [raw[a:b] for a, b in pairwise(at)]
    yield _case(
        speech, "cut-characters", Theme.EVENTS, "a character split over two chunks is kept", _cut(speech, cut),
        "the character at the chunk boundary is damaged", "stream.encoding",
    )  # fmt: skip
    lumps = ["".join(events[:3]), "".join(events[3:])]
    yield _stream(speech, "events-in-one-chunk", "several events in one chunk are forwarded", lumps, why, rule)
    halves = [half for e in events for half in (e[: len(e) // 2], e[len(e) // 2 :])]
    two = _cut(speech, halves)
    yield _case(
        speech, "events-in-two-chunks", Theme.EVENTS, "an event split over two chunks is forwarded", two, why, rule
    )


def _cut(speech: Speech, pieces: Sequence[str | bytes]) -> CaseResponse:
    """A stream in chunks that are not whole events."""
    return replace(speech.stream_response(tuple(pieces)), in_events=False)


def _buffering(speech: Speech) -> Iterator[AuditCase]:
    theme, rule = Theme.BUFFERING, "gateway.buffered"
    why = "text is shown late, or only at the end, and a client that waits for the first event times out"
    yield _stream(
        speech,
        "first-event",
        "the first event arrives before the last one is sent",
        speech.events(*(json.dumps(f"word {n} ") for n in range(5))),
        why,
        rule,
        theme=theme,
        means=True,
    )
    sparse = (*speech.events(ending=False), ": keep-alive\n\n", *speech.closing)
    yield _stream(
        speech,
        "sign-of-life",
        "a comment during a pause is forwarded immediately",
        sparse,
        _GIVES_UP,
        rule,
        theme=theme,
    )
    call = (*speech.opening[:1], *speech.arguments, *speech.closing)
    yield _stream(
        speech,
        "call-by-pieces",
        "a tool call is streamed delta by delta",
        call,
        "while the model writes a long file, the client sees nothing",
        rule,
        theme=theme,
    )


def _errors(speech: Speech) -> Iterator[AuditCase]:
    def case(
        name: str, shows: str, status: int, type: str, text: str, headers: Pairs = (), rule: str = ""
    ) -> AuditCase:
        answer = speech.answer(speech.error, status=status, headers=headers, TYPE=type, TEXT=text)
        return _case(speech, name, Theme.ERRORS, shows, answer, why if status == 400 else _RETRY, rule, means=True)

    why = "the message explains the error, and clients use it to recognise errors"
    words = r'"messages.1.content.0: Invalid `signature` in `thinking` block \u2026 \"x\""'
    yield case("refusal", "a refusal keeps its status and message", 400, "invalid_request_error", words)
    waits: Pairs = (
        ("Retry-After", "1"),
        ("retry-after-ms", "700"),
        ("x-should-retry", "false"),
        ("x-ratelimit-reset-requests", "1s"),
    )
    yield case("rate-limit", "a rate limit keeps its retry time", 429, "rate_limit_error", '"Too many requests"', waits)
    yield case(
        "overloaded",
        "an overload error keeps its status",
        529,
        "overloaded_error",
        '"Overloaded"',
        (("x-should-retry", "true"),),
    )
    yield case(
        "too-large",
        "a 'request too large' error keeps its status",
        413,
        "request_too_large",
        '"Request exceeds the maximum size"',
    )
    html = b"<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n</html>\r\n"
    page = CaseResponse((html,), 503, (("Content-Type", "text/html"), ("Retry-After", "1")))
    yield _case(speech, "error-page", Theme.ERRORS, "an error that is not JSON is forwarded unchanged", page, _RETRY)
    refused = speech.answer(speech.error, status=400, TYPE="invalid_request_error", TEXT='"stream: no"')
    request = speech.request("refused-stream", streams=True)
    yield AuditCase(
        "refused-stream", Theme.ERRORS, "the refusal of a streaming request is not a stream", request, refused, why
    )
    yield _stream(
        speech, "error-in-stream", "an error event in a stream is forwarded",
        (*speech.events(ending=False), speech.broken),
        "the client mistakes an incomplete response for a complete one", "stream.error-event", theme=Theme.ERRORS,
    )  # fmt: skip


def _breaks(speech: Speech) -> Iterator[AuditCase]:
    why, rule = "the client mistakes an incomplete response for a complete one", "stream.truncated"
    half = speech.stream_response(speech.events(ending=False), end=ResponseEnd.CUT)
    yield _case(
        speech,
        "broken-stream",
        Theme.BREAKS,
        "a stream that ends early also ends early for the client",
        half,
        why,
        rule,
        means=True,
    )
    text = speech.stream_response((*speech.opening[:1], *speech.arguments[:2]), end=ResponseEnd.CUT)
    yield _case(
        speech,
        "broken-call",
        Theme.BREAKS,
        "a stream that ends inside a tool call also ends inside the tool call for the client",
        text,
        why,
        "args.truncated",
    )
    whole = speech.answer(TEXT='"Half of it."')
    broken = replace(whole, end=ResponseEnd.CUT)
    yield _case(
        speech, "broken-body", Theme.BREAKS, "an incomplete response is not forwarded as complete", broken, why, rule
    )
    no_end = speech.stream_response(speech.events(ending=False))
    yield _case(
        speech,
        "no-terminator",
        Theme.BREAKS,
        "no final event is added to a stream that ends without one",
        no_end,
        why,
        "stream.no-terminator",
    )
    open_response = speech.stream_response((*speech.events(ending=False)[:1], ": keep-alive\n\n"), end=ResponseEnd.LEFT)
    request = speech.request("hang-up", streams=True)
    yield AuditCase(
        "hang-up", Theme.BREAKS, "the provider notices when the client disconnects", request, open_response,
        "the model continues, and every token is billed", is_convertible=True, hangs_up=True,
    )  # fmt: skip


def _codings(speech: Speech) -> Iterator[AuditCase]:
    theme, why = Theme.CODING, "the client cannot decode the response, or decodes it twice"
    accepts: Pairs = (("Accept-Encoding", "gzip, deflate"),)
    packed: Pairs = (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))

    def case(name: str, shows: str, answer: CaseResponse, *, streams: bool = False) -> AuditCase:
        return AuditCase(name, theme, shows, speech.request(name, headers=accepts, streams=streams), answer, why)

    plain = speech.answer(headers=packed)
    yield case(
        "gzip-body",
        "a compressed response is forwarded unchanged",
        replace(plain, pieces=(gzip.compress(plain.pieces[0], mtime=0),)),
    )
    squeeze = zlib.compressobj(wbits=31)
    chunks = [squeeze.compress(e.encode()) + squeeze.flush(zlib.Z_SYNC_FLUSH) for e in speech.events()]
    stream = speech.stream_response((*chunks, squeeze.flush()), headers=packed)
    yield case("gzip-stream", "a compressed stream is forwarded unchanged, chunk by chunk", stream, streams=True)
    text = json.dumps("".join(f"{n:06x} " for n in range(60_000)))
    yield case("large-answer", "a response of 400 kB is complete", speech.answer(TEXT=text))
    unsized = replace(speech.answer(), framing=ResponseFraming.CLOSE)
    yield case("unsized-answer", "a response that ends by closing the connection is complete", unsized)
