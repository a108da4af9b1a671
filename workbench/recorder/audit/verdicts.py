"""Judges what a gateway did to one case: damage between its two sightings, and faults only an audit sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import urlsplit

from workbench import regex
from workbench.contracts import Severity
from workbench.diff.damage import Damage, DamageKind, damages_between
from workbench.lazy_dataclass import dataclass, replace
from workbench.limits import SNIPPET
from workbench.protocols import REQUEST, RESPONSE, DecodedExchange
from workbench.recorder.audit.case import AuditCase, ResponseEnd, Theme
from workbench.recorder.audit.sighting import Sighting

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO


class GatewayFault(StrEnum):
    """Faults that only an audit can see, in addition to the kinds of damage."""

    NO_ANSWER = "no answer"
    ENDED_AS_WHOLE = "broken answer ended as whole"
    BROKEN_OFF = "whole answer broken off"
    HANG_UP_LOST = "hang-up not passed on"
    NO_JSON = "no JSON any more"
    OTHER_BYTES = "different bytes"
    OTHER_ANSWER = "answer of another request"


class AuditPlace(NamedTuple):
    """The place at which a plain request of a protocol arrives.

    Attributes:
        sent: path and query below the gateway's base URL.
        received: target at the audit's upstream.
        spoken: protocol there.
    """

    sent: str
    received: str
    spoken: str


@dataclass(frozen=True, slots=True)
class CaseSightings:
    """Both sightings of one case.

    Attributes:
        client: the client's sighting.
        upstream: those of the audit's upstream, in order; empty if nothing arrived.
        late_chunks: how many chunks of the response did not arrive in time.
    """

    client: Sighting
    upstream: tuple[Sighting, ...]
    late_chunks: int


@dataclass(frozen=True, slots=True)
class CaseDamage:
    """One kind of damage in one case.

    Attributes:
        kind: in words, of ``Kind`` or ``Fault``.
        side: "request" or "response".
        was, at: where it was, and where it is then, see ``Damage``.
        words: what happened there.
        theme: the row of the score card it counts in.
    """

    kind: str
    side: str
    was: str
    at: str
    words: str
    severity: Severity
    theme: Theme
    places: int = 1

    @property
    def shape(self) -> str:
        """The place without numbers, which is the same in many cases."""
        return re.sub(r"/\d+(?=/|$)", "/*", self.at or self.was)


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """Verdict on one case.

    Attributes:
        exchanges: positions of its sightings in the session: the client's, then the upstream's.
    """

    protocol: str
    case: AuditCase
    damages: tuple[CaseDamage, ...]
    exchanges: tuple[int, ...]


def judge_case(
    protocol: str,
    case: AuditCase,
    seen: CaseSightings,
    place: AuditPlace,
    decoded: Sequence[DecodedExchange],
    others: Mapping[bytes, str],
) -> CaseVerdict:
    """Judge one case by its sightings.

    Args:
        decoded: the same, in the order client, upstream.
        others: response body of the audit's upstream → the case that it was for.
    """
    found = list(_damages(case, seen, place, decoded, is_converted=place.spoken != protocol))
    text_received, *own = (d.response_text for d in decoded)
    if text_received in others and found and text_received not in own:
        words = f"the client received the response to {others[text_received]}"
        mixed = _fault(GatewayFault.OTHER_ANSWER, RESPONSE, words, ERROR, Theme.FIELDS_BACK)
        found = [*(f for f in found if f.side == REQUEST), mixed]
    return CaseVerdict(protocol, case, tuple(found), tuple(d.index for d in decoded))


def _damages(
    case: AuditCase, seen: CaseSightings, place: AuditPlace, decoded: Sequence[DecodedExchange], *, is_converted: bool
) -> Iterator[CaseDamage]:
    if not seen.upstream:
        yield _fault(
            DamageKind.ANSWERED,
            REQUEST,
            _answered_by(seen.client),
            ERROR,
            case.theme if case.theme.side == REQUEST else Theme.FIELDS,
        )
        return
    if len(seen.upstream) > 1:
        often = f"the request reached the upstream {len(seen.upstream)} times"
        is_asked_for = case.response.status in (408, 429, 500, 502, 503, 529)
        yield _fault(DamageKind.REPEATED, REQUEST, often, WARNING if is_asked_for else ERROR, case.theme)
    damages = list(_between(case, seen, decoded, is_converted=is_converted))
    yield from (_weigh(d, case) for d in damages)
    yield from _request_line(case, seen, place) if not is_converted else ()
    yield from _ends(case, seen)
    yield from _buffering(case, seen, damages)
    yield from _invalid_json(case, decoded)
    if not is_converted:
        yield from _other_bytes(case, seen, decoded, damages)


def _between(
    case: AuditCase, seen: CaseSightings, decoded: Sequence[DecodedExchange], *, is_converted: bool
) -> Iterator[Damage]:
    """Damage between the client and the last attempt upstream."""
    before, after = decoded[0], decoded[-1]
    is_other = seen.upstream[-1].method != case.request.method  # the answer to a GET has a body, that to a HEAD none
    if is_other or case.hangs_up or (case.response.end is ResponseEnd.CUT and _is_visibly_cut(seen.client)):
        before, after = _without_response(before), _without_response(after)  # it was not heard out, and that is known
    for damage in damages_between(before, after):
        if damage.kind in _JUDGED_HERE or damage.at.lower().removeprefix("/headers/") in _CREDENTIALS:
            continue
        if is_converted and (damage.kind in _OF_THE_SAME_PROTOCOL or damage.is_same_meaning):
            continue
        yield damage


def _without_response(decoded: DecodedExchange) -> DecodedExchange:
    return DecodedExchange(decoded.index, replace(decoded.exchange, response=None))


_JUDGED_HERE = frozenset(
    {
        DamageKind.METHOD_CHANGED,
        DamageKind.PATH_CHANGED,
        DamageKind.QUERY_CHANGED,
        DamageKind.ANSWERED,
        DamageKind.REPEATED,
    }
)
"""Checks that need to know where plain requests go, and how often."""

_CREDENTIALS = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"})
"""A gateway has keys of its own."""

_OF_THE_SAME_PROTOCOL = frozenset(
    {
        DamageKind.PROTOCOL_CHANGED,
        DamageKind.HEADER_DROPPED,
        DamageKind.HEADER_ADDED,
        DamageKind.HEADER_CHANGED,
        DamageKind.ERROR_REWRITTEN,
        DamageKind.FIELD_ADDED,
    }
)


def _fault(kind: str, side: str, words: str, severity: Severity, theme: Theme, at: str = "") -> CaseDamage:
    return CaseDamage(str(kind), side, at, at, words, severity, theme)


def _answered_by(here: Sighting) -> str:
    if here.response is None:
        return here.note or "there was no response, and nothing reached the upstream"
    body_text = " ".join(b"".join(here.response_body.pieces)[:SNIPPET].decode("utf-8", "replace").split())
    return f"nothing reached the upstream; the gateway responded {here.response.status} {body_text}".rstrip()


def _request_line(case: AuditCase, seen: CaseSightings, place: AuditPlace) -> Iterator[CaseDamage]:
    """Method, path and query, compared with where a plain request arrives."""
    there, theme = seen.upstream[-1], Theme.PATH
    if there.method != case.request.method:
        yield _fault(
            DamageKind.METHOD_CHANGED, REQUEST, f"{case.request.method} became {there.method}", ERROR, theme, "/method"
        )
    came, expected = urlsplit(there.url), urlsplit(_expected_path(case.request.path, place))
    target = came.path
    if target != expected.path:
        yield _fault(DamageKind.PATH_CHANGED, REQUEST, f"{expected.path} became {target}", ERROR, theme, "/path")
    if came.query != expected.query:
        words = f"{expected.query or 'no query'} became {came.query or 'none'}"
        yield _fault(DamageKind.QUERY_CHANGED, REQUEST, words, ERROR, theme, "/query")


def _expected_path(path: str, place: AuditPlace) -> str:
    """Expected path at the audit's upstream: the base of the gateway's upstream in place of the gateway's own."""
    sent, came = place.sent.partition("?")[0].split("/"), place.received.partition("?")[0].split("/")
    same = 0
    while same < min(len(sent), len(came)) - 1 and sent[-1 - same] == came[-1 - same]:
        same += 1
    old, new = "/".join(sent[: len(sent) - same]), "/".join(came[: len(came) - same])
    return new + path[len(old) :] if path.startswith(old) else path


def _ends(case: AuditCase, seen: CaseSightings) -> Iterator[CaseDamage]:
    """Damage to the end of a response: an end at one side only."""
    here, there = seen.client, seen.upstream[-1]
    theme = case.theme if case.theme.side == RESPONSE else Theme.BREAKS
    if case.hangs_up:
        if not there.is_left:
            yield _fault(
                GatewayFault.HANG_UP_LOST,
                RESPONSE,
                "the client disconnected, but the gateway kept the upstream request open",
                ERROR,
                theme,
            )
        return
    if case.response.end is ResponseEnd.WHOLE and here.response is None:
        yield _fault(GatewayFault.NO_ANSWER, RESPONSE, here.note or "the connection ended", ERROR, theme)
    elif case.response.end is ResponseEnd.CUT and not _is_visibly_cut(here):
        yield _fault(
            GatewayFault.ENDED_AS_WHOLE,
            RESPONSE,
            "the upstream ended its response early, but the client received a normal end",
            ERROR,
            theme,
        )
    elif case.response.end is ResponseEnd.WHOLE and here.is_cut:
        yield _fault(
            GatewayFault.BROKEN_OFF,
            RESPONSE,
            here.note or "the connection ended before the response was complete",
            ERROR,
            theme,
        )


def _is_visibly_cut(here: Sighting) -> bool:
    """The client can tell that the response is incomplete: it ended early, or contains an error."""
    if here.is_cut or here.response is None or here.response.status >= 400:
        return True
    return b'"error"' in b"".join(here.response_body.pieces)[-2000:]


def _buffering(case: AuditCase, seen: CaseSightings, damages: Sequence[Damage]) -> Iterator[CaseDamage]:
    """Buffering: the first piece arrived after the last was sent, or pieces arrived only with later ones."""
    here, there = seen.client.response_body, seen.upstream[-1].response_body
    if not case.streams or case.hangs_up or not here.times or len(there.times) < _FEWEST:
        return
    if any(d.kind in (DamageKind.BUFFERED, DamageKind.STREAM_TO_BODY) for d in damages) or not case.response.in_events:
        return
    sent = sum(at < here.times[0] for at in there.times)
    words = ""
    if sent == len(there.times) and case.theme is Theme.BUFFERING:
        words = f"the upstream sent all {sent} chunks before the client received the first one"
    elif sent == len(there.times) or (sent >= _FEWEST and case.theme is Theme.BUFFERING):
        words = "the client received the first chunk only after later chunks were sent"
    elif seen.late_chunks and b"".join(here.pieces) == b"".join(there.pieces):
        words = f"{seen.late_chunks} of {len(there.times)} chunks were held back until later chunks were sent"
    if words:
        yield _fault(DamageKind.BUFFERED, RESPONSE, words, ERROR, Theme.BUFFERING)


_FEWEST = 3
"""Pieces of a stream that tell whether it is held back."""


def _invalid_json(case: AuditCase, decoded: Sequence[DecodedExchange]) -> Iterator[CaseDamage]:
    """Bodies that were valid and that strict readers now refuse, such as NaN, which many JSON libraries write."""
    before, after = decoded[0], decoded[-1]
    for side, was, now in (
        (REQUEST, before.request_text, after.request_text),
        (RESPONSE, after.response_text, before.response_text),
    ):
        words = _why_illegal(now) if was != now else ""
        if words and not _why_illegal(was):
            theme = case.theme if case.theme.side == side else Theme.SPELLING if side == REQUEST else Theme.FIELDS_BACK
            yield _fault(GatewayFault.NO_JSON, side, words, ERROR, theme)


def _why_illegal(text: bytes) -> str:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"byte {error.start:,} is not UTF-8"
    found = _NO_NUMBER.search(_STRING.sub(b'""', text)) if b"Infinity" in text or b"NaN" in text else None
    return f"{found[0].decode()} is not valid JSON" if found else ""


_STRING = regex.compile(rb'"(?:[^"\\]|\\.)*"')
_NO_NUMBER = regex.compile(rb"-?\b(?:Infinity|NaN)\b")


def _other_bytes(
    case: AuditCase, seen: CaseSightings, decoded: Sequence[DecodedExchange], damages: Sequence[Damage]
) -> Iterator[CaseDamage]:
    """Bodies that differ although no damage was found in them."""
    sides = {damage.side for damage in damages}
    there = seen.upstream[-1]
    if REQUEST not in sides and decoded[0].request_text != decoded[-1].request_text:
        yield _fault(GatewayFault.OTHER_BYTES, REQUEST, "the body differs", WARNING, Theme.SPELLING)
    is_whole = not (seen.client.is_cut or there.is_cut or case.hangs_up) and there.method == case.request.method
    if RESPONSE not in sides and is_whole and decoded[0].response_text != decoded[-1].response_text:
        yield _fault(GatewayFault.OTHER_BYTES, RESPONSE, "the body differs", WARNING, Theme.FIELDS_BACK)


def _weigh(damage: Damage, case: AuditCase) -> CaseDamage:
    theme = _theme(damage, case)
    severity = _SEVERITIES.get(damage.kind, WARNING)
    if damage.is_same_meaning and severity is ERROR and damage.kind is not DamageKind.BUFFERED:
        severity = WARNING
    if damage.kind is DamageKind.VALUE_CHANGED and damage.at.rpartition("/")[2] in _STAMPS:
        severity = WARNING
    if damage.kind is DamageKind.HEADER_ADDED and damage.is_same_meaning:
        severity = INFO
    if damage.kind is DamageKind.HEADER_DROPPED and damage.was.lower() in _VITAL:
        severity = ERROR
    return CaseDamage(damage.kind, damage.side, damage.was, damage.at, damage.words, severity, theme, damage.places)


_STAMPS = frozenset({"created", "created_at", "createTime"})
"""Members with a time, on which no client acts."""

_VITAL = frozenset({"/headers/anthropic-beta", "/headers/anthropic-version", "/headers/retry-after"})

_SPELLING = (
    *(
        DamageKind.KEY_ORDER,
        DamageKind.NUMBER_SPELLING,
        DamageKind.ESCAPES,
        DamageKind.WHITESPACE,
        DamageKind.RESPELLED,
        DamageKind.DUPLICATES_LOST,
    ),
    DamageKind.ARGUMENTS_RESPELLED,
)
_TEXTS = (
    *(
        DamageKind.TEXT_TRIMMED,
        DamageKind.TEXT_CUT,
        DamageKind.TEXTS_MERGED,
        DamageKind.TEXTS_SPLIT,
        DamageKind.UNICODE_NORMALISED,
    ),
    DamageKind.UNICODE_DAMAGED,
)
_EVENTS = (
    *(
        DamageKind.EVENTS_RECUT,
        DamageKind.EVENTS_DROPPED,
        DamageKind.EVENTS_ADDED,
        DamageKind.EVENTS_REORDERED,
        DamageKind.EVENT_NAMES_LOST,
    ),
    *(
        DamageKind.EVENT_IDS_LOST,
        DamageKind.DELTAS_LOST,
        DamageKind.DELTAS_REPEATED,
        DamageKind.FRAMING_CHANGED,
        DamageKind.STREAM_TO_BODY,
    ),
    DamageKind.BODY_TO_STREAM,
)
_HEADERS = (DamageKind.HEADER_DROPPED, DamageKind.HEADER_ADDED, DamageKind.HEADER_CHANGED)

_THEMES: dict[DamageKind, tuple[Theme, Theme]] = {
    **dict.fromkeys(_SPELLING, (Theme.SPELLING, Theme.FIELDS_BACK)),
    **dict.fromkeys(_TEXTS, (Theme.TEXTS, Theme.FIELDS_BACK)),
    **dict.fromkeys(_EVENTS, (Theme.FIELDS, Theme.EVENTS)),
    **dict.fromkeys(_HEADERS, (Theme.HEADERS, Theme.HEADERS_BACK)),
    DamageKind.IDS_MAPPED: (Theme.IDS, Theme.FIELDS_BACK),
    DamageKind.CODING_CHANGED: (Theme.SIZE, Theme.CODING),
    DamageKind.BUFFERED: (Theme.BUFFERING, Theme.BUFFERING),
    DamageKind.STATUS_CHANGED: (Theme.ERRORS, Theme.ERRORS),
    DamageKind.ERROR_REWRITTEN: (Theme.ERRORS, Theme.ERRORS),
}
"""Kind → the rows it counts in, of a request and of an answer; others count in that of their case."""


def _theme(damage: Damage, case: AuditCase) -> Theme:
    if damage.kind in _THEMES:
        return _THEMES[damage.kind][damage.side == RESPONSE]
    is_beside = damage.kind in _BESIDE or (damage.kind in _MEMBERS and case.theme not in _OF_BODIES)
    if case.theme.side == damage.side and not is_beside:
        return case.theme
    if damage.side == REQUEST:
        return Theme.FIELDS
    return Theme.EVENTS if case.streams else Theme.FIELDS_BACK


_BESIDE = frozenset({DamageKind.FIELD_ADDED, DamageKind.EMPTY_DROPPED})
_MEMBERS = frozenset(
    {
        *(
            DamageKind.FIELD_DROPPED,
            DamageKind.FIELD_RENAMED,
            DamageKind.FIELD_MOVED,
            DamageKind.VALUE_CHANGED,
            DamageKind.ORDER_CHANGED,
        ),
        *(DamageKind.CONTENT_SHAPE, DamageKind.RESHAPED),
    }
)
_OF_BODIES = frozenset(
    {Theme.FIELDS, Theme.SPELLING, Theme.TEXTS, Theme.IDS, Theme.FIELDS_BACK, Theme.EVENTS, Theme.ERRORS}
)
"""Themes in which damage to members counts, for cases of that theme; what happens to every body counts in none."""


_SEVERITIES: dict[DamageKind, Severity] = {
    **dict.fromkeys((*_TEXTS, *_EVENTS), ERROR),
    **dict.fromkeys(
        (
            DamageKind.EVENTS_RECUT,
            DamageKind.EVENT_IDS_LOST,
            DamageKind.EVENTS_ADDED,
            DamageKind.FRAMING_CHANGED,
            DamageKind.HEADER_ADDED,
        ),
        WARNING,
    ),
    **dict.fromkeys(
        (DamageKind.FIELD_DROPPED, DamageKind.FIELD_RENAMED, DamageKind.VALUE_CHANGED, DamageKind.ORDER_CHANGED), ERROR
    ),
    **dict.fromkeys((DamageKind.RESHAPED, DamageKind.PROTOCOL_CHANGED), ERROR),
    **dict.fromkeys(
        (DamageKind.BUFFERED, DamageKind.TRUNCATED, DamageKind.STATUS_CHANGED, DamageKind.ERROR_REWRITTEN), ERROR
    ),
}
"""Damage that breaks a chain, a stream or a client; other damage only costs something, and is a warning."""
