"""Replaces the private text of a session, and proves that its findings stay the same.

Every text is replaced word by word with stand-ins of the same length (``_private_json``), in bodies, streams, URLs and
headers. A word has the same stand-in in the whole session, so that repetitions, matches and cuts are kept. Not replaced
are: structure, roles, models, ids, request parameters, names of tools and their parameters, values that a schema
allows, tags and phrases that findings are read from, and the words of a provider's error that are in no other text.
Secrets are replaced as in every export.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from workbench import regex
from workbench.contracts import Finding
from workbench.errors import LocalProtocolError, WireError
from workbench.formats.exporters._kept_words import FIXED, TEXT, ContractWords, distinct_words, provider_words
from workbench.formats.exporters._private_json import PrivateJson, StandIns
from workbench.formats.exporters._value_cache import CachingRedactor
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import RESPONSE, DecodedExchange, KnownMessages
from workbench.rules import PENDING_RULE, Inspector
from workbench.wire import (
    DIGESTS,
    Body,
    Exchange,
    Frame,
    Framing,
    Headers,
    HttpRequest,
    HttpResponse,
    JsonIndex,
    ObjectList,
    SseEvent,
    Summary,
    decode,
    decode_partial,
    dumps,
    encode,
    loads,
    rewrite,
    summarize,
)
from workbench.wire.session import MemorySession, Session, exchanges_of

_PLAIN_HEADERS: Final = regex.compile(
    r"(?i)accept.*|access-control-.*|alt-svc|anthropic-(?:beta|version|ratelimit-.*)|cache-control|connection"
    r"|content-(?:encoding|length|type)|date|host|openai-(?:beta|processing-ms|version)|retry-after.*|server|user-agent"
    r"|transfer-encoding|vary|via|x-amzn-(?:errortype|requestid)|x-(?:request-id|ratelimit-.*|stainless-.*)|request-id"
)
_ERROR: Final = regex.compile(rb'\s*(?:\[\s*)?\{\s*"(?:error|type"\s*:\s*"error)"')
_HEAD: Final = regex.compile(r"(?i)(https?://)?([^/?#]*)([^?#]*)(.*)", re.DOTALL)
MOST_DIFFERENCES: Final = 20
SECRETS: Final = "secret."
"""Rules not compared in a proof: a replaced secret may no longer be found."""
_FIELDS_SEALED: Final = {"signature": "signature", "data": "signature", "encrypted": "signature"}


@dataclass(slots=True)
class RedactedSession:
    """A session with stand-ins for private text; each exchange is built on demand, always with the same result.

    The first pass is in order, because the text before an error decides which of its words are kept.
    """

    name: str
    _source: Session = field(repr=False)
    _redactor: CachingRedactor = field(repr=False)
    _maker: _Replacer = field(repr=False)
    _known: KnownMessages = field(default_factory=KnownMessages, repr=False)
    _cached_summaries: list[Summary] = field(default_factory=list, repr=False)
    _size: int = field(init=False)
    damage: tuple[str, ...] = field(init=False)
    about: Mapping[str, str] = NOTHING
    is_live: bool = False

    @property
    def id(self) -> str:
        return self._source.id

    def __post_init__(self) -> None:
        self._size = len(self._source)
        self.damage = tuple(map(self._maker.words.text, self._source.damage))

    def __len__(self) -> int:
        return self._size

    def summaries(self) -> Sequence[Summary]:
        return _Summaries(self)

    def summary(self, index: int) -> Summary | None:
        """Summary of one exchange; None before the first."""
        for n in range(len(self._cached_summaries), index + 1):
            self._make(n)
        return self._cached_summaries[index] if self._cached_summaries else None

    def exchange(self, index: int) -> Exchange:
        at = range(len(self))[index]
        if at:
            self.summary(at - 1)
        return self._make(at)

    def _make(self, index: int) -> Exchange:
        exchange = self._redactor.exchange(self._source.exchange(index))
        result = self._maker.exchange(DecodedExchange(index, exchange, known=self._known))
        if index == len(self._cached_summaries):
            self._cached_summaries.append(summarize(index, result))
        return result

    def refresh(self) -> frozenset[int]:
        """Return an empty set: this session does not grow."""
        return frozenset()

    def close(self) -> None:
        """Do nothing: the opener of the source closes it."""


@dataclass(frozen=True, slots=True)
class _Summaries(Sequence[Summary]):
    """Lazy list of summaries of a redacted session."""

    session: RedactedSession

    def __len__(self) -> int:
        return len(self.session)

    def __getitem__(self, index: Any) -> Any:
        places = range(len(self))[index]
        return self.session.summary(places) if isinstance(places, int) else tuple(map(self.session.summary, places))


def redact_session(session: Session, salt: bytes | None = None, *, keeps_numbers: bool = False) -> RedactedSession:
    """Replace the private text of a session with stand-ins.

    Args:
        session: the source; it must stay open while the result is used.
        salt: makes stand-ins of different exports unlinkable; random by default.
        keeps_numbers: keep numbers in texts.

    Raises:
        SessionFormatError: an exchange cannot be read.
    """
    redactor = CachingRedactor(salt) if salt is not None else CachingRedactor()
    names, known = ContractWords(), KnownMessages()
    for index, exchange in enumerate(exchanges_of(session)):
        names.add(DecodedExchange(index, redactor.exchange(exchange), known=known))
    maker = _Replacer(StandIns(FIXED | names.found, TEXT, redactor.salt, keeps_numbers), redactor.runs)
    for exchange in exchanges_of(session):  # what is private is known when the errors are read, which quote it
        request = redactor.exchange(exchange).request
        if request:
            maker.request_body(decode_partial(request.body)[0])
    return RedactedSession("redacted", session, redactor, maker, known)


def prove_findings(
    before: Session, after: Session, *, provider: str | None = None, protocol: str | None = None
) -> Inspector:
    """Check that two sessions have the same findings; return the inspector of the second.

    Compared are rule, severity, exchange, side, pointer, stream events and byte range of each finding; findings of
    secrets are not, because secrets are replaced.

    Raises:
        LocalProtocolError: the findings differ; the first difference is named.
    """
    return _same(_findings(Inspector(before, provider, protocol)), Inspector(after, provider, protocol))


class ProvenSessions(NamedTuple):
    """Redacted sessions and the proof of their findings.

    Attributes:
        inspectors: one for each session, with its findings.
        notes: findings that change because secrets are replaced, one line each.
        differences: findings that change because private text is replaced, one line each.
    """

    inspectors: tuple[Inspector, ...]
    notes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


def redact_and_prove(
    sessions: Sequence[Session], *, provider: str | None = None, protocol: str | None = None
) -> ProvenSessions:
    """Redact sessions with common stand-ins, and check that their findings stay the same.

    Numbers are kept if a finding depends on them. Findings that still change are named, without private text.

    Raises:
        SessionFormatError: an exchange cannot be read.
    """
    was = [_findings(Inspector(session, provider, protocol)) for session in sessions]
    for keeps_numbers in (False, True):
        inspectors = [Inspector(one, provider, protocol) for one in _redact_all(sessions, keeps_numbers=keeps_numbers)]
        with suppress(LocalProtocolError):
            return ProvenSessions(
                tuple(_same(w, i, is_last=keeps_numbers) for w, i in zip(was, inspectors, strict=True))
            )
    notes, differences = list[str](), list[str]()
    for found, inspector, session in zip(was, inspectors, sessions, strict=True):
        safe = _findings(Inspector(_without_secrets(session), provider, protocol))
        by_secrets = set(found) ^ set(safe)
        for one in sorted(set(found) ^ set(_findings(inspector)), key=str)[:MOST_DIFFERENCES]:
            what = "is no longer found" if one in found else "is found only after redaction"
            line = f"exchange {one[2] + 1}, {one[3]} {one[4] or '/'}: {one[0]} {what}"
            (notes if one in by_secrets else differences).append(line)
    return ProvenSessions(
        tuple(inspectors),
        tuple(f"{line} after its secret is replaced" for line in notes),
        tuple(f"{line} after private text is replaced" for line in differences),
    )


def _redact_all(sessions: Sequence[Session], *, keeps_numbers: bool) -> Sequence[Session]:
    if len(sessions) == 1:
        return [redact_session(sessions[0], keeps_numbers=keeps_numbers)]
    memory_session = MemorySession("", tuple(exchange for session in sessions for exchange in exchanges_of(session)))
    rest = exchanges_of(redact_session(memory_session, keeps_numbers=keeps_numbers))
    return [MemorySession("redacted", tuple(islice(rest, len(session)))) for session in sessions]


def _without_secrets(session: Session) -> Session:
    redactor = CachingRedactor()
    return MemorySession("without secrets", tuple(map(redactor.exchange, exchanges_of(session))))


def _same(was: list[_FindingKey], after: Inspector, *, is_last: bool = True) -> Inspector:
    """Implementation of ``proof``. Unless ``is_last``, stop at the first exchange that differs: inspecting is slow."""
    counts = Counter(found[2] for found in was if found[0] != PENDING_RULE)
    for row in after.steps():
        if not is_last and sum(_counts(f) for f in row.findings) != counts[row.index]:
            raise LocalProtocolError("after redaction the findings differ", where=f"exchange {row.index + 1}")
    now = _findings(after)
    if was == now:
        return after
    lost, gained = ([f for f in one if f not in other] for one, other in ((was, set(now)), (now, set(was))))
    if not lost and not gained and len(was) == len(now):
        return after
    what = f"{lost[0][0]} is no longer found" if lost else f"{gained[0][0]} is new" if gained else ""
    place = (lost or gained or [was[0] if was else now[0]])[0]
    raise LocalProtocolError(
        f"after redaction the findings differ: {what or 'a different number of findings'}",
        where=f"exchange {place[2] + 1}, {place[3]} {place[4] or '/'}".rstrip(),
    )


def _findings(inspector: Inspector) -> list[_FindingKey]:
    return [_finding_key(finding) for finding in inspector.run().findings if not finding.rule.startswith(SECRETS)]


def _counts(finding: Finding) -> bool:
    """True for a finding that is compared, even before the whole session is read."""
    return finding.rule != PENDING_RULE and not finding.rule.startswith(SECRETS)


_FindingKey = tuple[str, str, int, str, str, tuple[int, ...], tuple[int, int] | None]


def _finding_key(finding: Finding) -> _FindingKey:
    return (
        finding.rule,
        str(finding.severity),
        finding.exchange,
        finding.side,
        finding.pointer,
        finding.events,
        finding.span,
    )


@dataclass(slots=True)
class _Replacer:
    """Replaces private text, one exchange at a time."""

    words: StandIns
    runs: Callable[[bytes], Sequence[ObjectList]]
    _json: PrivateJson = field(init=False)
    _errors: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._json = PrivateJson(self.words)

    def request_body(self, text: bytes) -> bytes:
        object_lists = self.runs(text)
        return self._json.request(text, object_lists) if object_lists else self._text(text)

    def exchange(self, decoded: DecodedExchange) -> Exchange:
        exchange = decoded.exchange
        return replace(
            exchange,
            request=exchange.request and self._request(decoded, exchange.request),
            response=exchange.response and self._response(decoded, exchange.response),
            client=exchange.client,
            note=self.words.text(exchange.note),
            branch=self.words.text(exchange.branch),
            frames=tuple(map(self._frame, exchange.frames)),
            meta=self._meta(exchange.meta) if exchange.meta else exchange.meta,
        )

    def _request(self, decoded: DecodedExchange, request: HttpRequest) -> HttpRequest:
        return replace(
            request,
            url=self._url(request.url),
            headers=self._headers(request.headers),
            body=_with(request.body, self.request_body(decoded.request_text), decoded.request_text),
        )

    def _response(self, decoded: DecodedExchange, response: HttpResponse) -> HttpResponse:
        text = decoded.response_text
        is_error = response.status >= 400 or (not decoded.events and bool(_ERROR.match(text)))
        if decoded.events:
            new_text = self._stream(decoded)
        else:
            new_text = self._error((decoded.index, -1), text) if is_error else self._text(text)
        return replace(response, headers=self._headers(response.headers), body=_with(response.body, new_text, text))

    def _text(self, data: bytes, maker: PrivateJson | None = None) -> bytes:
        """A body that is not a stream."""
        text, maker = decode(data), maker or self._json
        is_json = text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")
        return encode(maker.body(text) if is_json else maker.words.text(text))

    def _error(self, place: tuple[int, int], data: bytes, fixed: dict[int, str] | None = None) -> bytes:
        """An error body: its words are kept, except for words of other texts that no provider uses.

        Words known at its first reading count, so that the result is stable. ``place``: exchange and event.
        """
        body = self._errors.get(place)
        if body is None:
            words = distinct_words(decode(data))
            private = set(filter(self.words.replaces, words)) - provider_words()
            maker = PrivateJson(replace(self.words, kept_words=self.words.kept_words | (words - private)))
            body = self._errors[place] = encode(maker.body(decode(data), fixed)) if fixed else self._text(data, maker)
        return body

    def _stream(self, decoded: DecodedExchange) -> bytes:
        body, events = decoded.response_text, decoded.events
        fixed = self._split_texts(decoded)
        new_data = {e.number: self._event(decoded.index, e, fixed.get(e.number, {})) for e in events if e.data}
        if decoded.framing is Framing.AWS:
            return rewrite(body, events, {n: new for n, new in new_data.items() if new != events[n].data})
        pieces, at = list[bytes](), 0
        for event in events:
            offset = 0
            for start, end in event.data_spans if event.number in new_data else ():
                pieces += (body[at:start], new_data[event.number][offset : offset + end - start])
                offset += end - start + 1  # a line end stands between two lines of data
                at = end
        return b"".join((*pieces, body[at:]))

    def _event(self, exchange: int, event: SseEvent, fixed: dict[str, str]) -> bytes:
        assert event.data is not None
        text = decode(event.data)
        if text.strip() == "[DONE]":
            return event.data
        index = JsonIndex(event.data) if fixed else None
        starts = dict[int, str]()
        for pointer, new in fixed.items():
            span = index.span(pointer) if index else None
            if span:
                starts[len(decode(event.data[: span[0]]))] = new
        if _ERROR.match(event.data):
            return self._error((exchange, event.number), event.data, starts)
        return encode(self._json.body(text, starts))

    def _split_texts(self, decoded: DecodedExchange) -> dict[int, dict[str, str]]:
        """Event → pointer → new text, for text that a stream sends in pieces: a word may be split between two."""
        found: dict[int, dict[str, str]] = {}
        for message in decoded.messages(RESPONSE):
            for part in message.parts:
                for name, segments in part.source.segments.items():
                    olds = [_string_at(decoded.events[s.event], s.pointer) for s in segments]
                    new, at = self._json.value("".join(olds), _FIELDS_SEALED.get(name, name)), 0
                    for segment, old in zip(segments, olds, strict=True):
                        if old and name not in ("id", "name"):
                            found.setdefault(segment.event, {})[segment.pointer] = new[at : at + len(old)]
                        at += len(old)
        return found

    # Heads, and what is no HTTP.

    def _url(self, url: str) -> str:
        scheme, host, path, rest = _HEAD.fullmatch(url).groups()  # type: ignore[union-attr]
        return (scheme or "") + self._host(host) + path + self.words.text(rest)

    def _host(self, host: str) -> str:
        known = provider_words() | {"localhost", "com", "net", "org", "dev"}
        return replace(self.words, kept_words=self.words.kept_words | known, keeps_numbers=True).text(host)

    def _headers(self, headers: Headers) -> Headers:
        return Headers(tuple((name, self._header(name, value)) for name, value in headers))

    def _header(self, name: str, value: str) -> str:
        if name.lower() == "host":
            return self._host(value)
        return value if _PLAIN_HEADERS.fullmatch(name) or not value.isascii() else self.words.text(value)

    def _frame(self, frame: Frame) -> Frame:
        return replace(frame, data=self._text(frame.data))

    def _meta(self, meta: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        rest = {word: value for word, value in meta.items() if word != DIGESTS}  # of bodies that are not these
        new_meta: dict[str, JsonValue] = loads(self._json.body(decode(dumps(rest))))
        return new_meta


def _with(body: Body, new: bytes, decoded: bytes) -> Body:
    """The body with new text of the same length, without its content coding if it had one."""
    if not body.encoding:
        return replace(body, raw=new)
    note = f"the {body.encoding} export contained private text and was not kept"
    return replace(body, raw=new, encoding="", is_raw=False, note=note, chunks=()) if decoded else body


def _string_at(event: SseEvent, pointer: str) -> str:
    try:
        value = loads(event.data[slice(*(JsonIndex(event.data).span(pointer) or (0, 0)))]) if event.data else ""
    except WireError:
        return ""
    return value if isinstance(value, str) else ""
