"""The HTTP pane: everything about the exchange except its bodies, as rows.

``wire.headers`` gives the meaning of a header; headers that it does not know are at the end, as sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from workbench.safetext import cells
from workbench.tui.models import change_notes
from workbench.tui.models.pane_content import Items, PaneContent
from workbench.tui.selection import ExchangeSelection, Lights
from workbench.views import REQUEST, RESPONSE, Line, Span, count, duration, line, wrap
from workbench.wire import digests, headers, loads
from workbench.wire import headers as known

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView
    from workbench.wire import Body, Exchange, HttpRequest, HttpResponse

LABEL: Final = 29
"""Columns of a row's name, if there is room."""

WIDE: Final = 80

SESSION: Final = "session"
"""Title of the group of facts about the session."""

HUNG_ROWS: Final = 4
"""Rows beside its name that a value may take; a longer one is below it."""

ARROW: Final = {REQUEST: "> ", RESPONSE: "< ", "": "  "}
"""Side of a row → its sign, as curl marks sent and received lines."""

CHANGE_STYLES: Final = {"loss": "warning", "correction": "info", "reasoning": "reasoning"}
"""Kind of a change on the way → its style."""

TIGHT, FULL = 0.8, 0.95
"""Fractions of a rate limit from which on it is a warning, and an error."""


class HttpRow(NamedTuple):
    """One row, or with an empty label the title of a group.

    Attributes:
        label: the header's name as sent, or ours.
        value: the full value.
        side: side of the exchange; "" for the exchange as a whole.
        about: explanation with its source, shown while the cursor is on the row.
        pointer: into the body of that side; "" if the value is not in the body.
        header: True if the row shows one header as sent.
    """

    label: str
    value: str
    style: str = ""
    side: str = ""
    about: str = ""
    pointer: str = ""
    header: bool = False


class HttpContent(PaneContent):
    """Rows in groups. The URL and what is known of the session are whole from the beginning: they are read first."""

    needs_selection = False
    hangs = True

    def __init__(self, exchange_view: ExchangeView) -> None:
        self.opened = exchange_view
        exchange = exchange_view.decoded.exchange
        self.rows = tuple(_rows(exchange_view))
        about = len(exchange_view.detail.about)
        first = next((n for n, row in enumerate(self.rows, 1) if row == HttpRow("", SESSION)), 0)
        self.open_at_first = frozenset({1, *range(first, first + about)} if first else {1})
        self._longest = max((cells(row.label) + 1 for row in self.rows), default=0)
        status = exchange.response.status if exchange.response else 0
        self.facts = (str(status or ""), duration(exchange.duration))

    def count(self) -> int:
        return len(self.rows)

    def head(self, item: int, width: int = WIDE) -> Line:
        row = self.rows[item]
        if not row.label:
            return line(Span(row.value, "role"))
        name = Span(row.label, "key", self._columns(width))
        return line(Span(ARROW[row.side], "muted"), name, " ", Span(row.value, row.style))

    def line(self, item: int, width: int) -> Line:
        return self.head(item, width)

    def row(self, item: int) -> HttpRow | None:
        return self.rows[item] if self.rows else None

    def body(self, item: int, width: int) -> list[Line]:
        row = self.rows[item]
        if not row.label:
            return []
        columns = self._columns(width)
        name = wrap(row.label, width, "key", indent=4) if cells(row.label) > columns else []
        is_hung = cells(row.value) <= HUNG_ROWS * (width - columns - 3)
        value = [] if is_hung else wrap(row.value, width, row.style, indent=4)
        return [*name, *value, *wrap(row.about, width, "muted", indent=4)]

    def _columns(self, width: int) -> int:
        """Columns of the names: as many as the longest needs, up to two fifths."""
        return min(self._longest, LABEL, max(12, width * 2 // 5))

    def nothing(self, width: int) -> list[Line]:
        exchange = self.opened.decoded.exchange
        return wrap(f"nothing recorded: the exchange is {exchange.state}", width, "muted")

    def selection(self, item: int) -> ExchangeSelection | None:
        row = self.rows[item]
        if not row.pointer:
            return None
        place = self.opened.decoded.place(row.side, row.pointer)
        return ExchangeSelection(self.opened.index, row.side, row.pointer, place.events, place.spans)

    def highlights(self, lights: Lights) -> tuple[Items, Items]:
        return frozenset(), frozenset()


def _rows(exchange_view: ExchangeView) -> Iterator[HttpRow]:
    exchange = exchange_view.decoded.exchange
    for title, rows in (
        ("exchange", _exchange(exchange)),
        (SESSION, _session(exchange_view)),
        ("changed by a translation or a correction", _changes(exchange)),
        ("rate limits", _limits(exchange)),
        ("retries", _of(exchange, known.Topic.RETRY)),
        ("ids", _ids(exchange_view)),
        ("version and betas", _version(exchange_view)),
        ("client", _of(exchange, known.Topic.CLIENT)),
        ("account", _of(exchange, known.Topic.ACCOUNT)),
        ("time", _time(exchange)),
        (_other_title(exchange.request, REQUEST), _other(exchange.request, REQUEST)),
        (_other_title(exchange.response, RESPONSE), _other(exchange.response, RESPONSE)),
        ("bodies", _bodies(exchange_view)),
        ("redacted before storage", _redactions(exchange)),
    ):
        body = list(rows)
        if body:
            yield HttpRow("", title)
            yield from body


def _sides(exchange: Exchange) -> Iterator[tuple[str, HttpRequest | HttpResponse]]:
    if exchange.request:
        yield REQUEST, exchange.request
    if exchange.response:
        yield RESPONSE, exchange.response


def _session(exchange_view: ExchangeView) -> Iterator[HttpRow]:
    """Facts about the session, as its maker recorded them."""
    for name, value in exchange_view.detail.about.items():
        yield HttpRow(name or "(no name)", value)


def _exchange(exchange: Exchange) -> Iterator[HttpRow]:
    request, response = exchange.request, exchange.response
    if request:
        version = "" if response and response.http_version == request.http_version else request.http_version
        yield HttpRow(request.method or "(no method)", request.url, "strong", REQUEST, version)
    if response:
        style = "error" if response.status >= 400 else "ok"
        status = f"{response.status or 'no status'} {response.reason}".rstrip()
        yield HttpRow(response.http_version or "status", status, style, RESPONSE)
    if (request or response) and exchange.state != "complete":
        yield HttpRow("state", str(exchange.state), "warning")
    if exchange.frames:
        yield HttpRow("WebSocket", count(len(exchange.frames), "frame"))
    noted = change_notes.read(exchange.note)
    note = "; ".join(each.text for each in noted if not each.kind)
    for label, value in (
        ("hop", exchange.hop),
        ("client", exchange.client),
        ("branch", exchange.branch),
        ("made of", exchange.parent or ""),
        ("note", note),
    ):
        if value:
            yield HttpRow(label, value)


def _changes(exchange: Exchange) -> Iterator[HttpRow]:
    """Changes by a translation or correction."""
    for kind, text in change_notes.read(exchange.note):
        if kind:
            yield HttpRow(kind, text, CHANGE_STYLES.get(kind, ""))


def _header(side: str, name: str, value: str) -> HttpRow:
    meaning = known.meaning(name)
    about = f"{meaning.words} · {meaning.source}" if meaning else ""
    return HttpRow(name or "(no name)", value or '""', "" if value else "muted", side, about, header=True)


def _of(exchange: Exchange, topic: known.Topic) -> Iterator[HttpRow]:
    """Headers of one topic, in order."""
    for side, http in _sides(exchange):
        for name, value in http.headers:
            meaning = known.meaning(name)
            if meaning and meaning.topic is topic:
                yield _header(side, name, value)


def _other_title(http: HttpRequest | HttpResponse | None, side: str) -> str:
    """The headers are "other" ones if some of this side are in the groups above."""
    is_some_known = any(known.meaning(name) for name, _ in http.headers) if http else False
    return f"{'other ' if is_some_known else ''}headers of the {side}, as sent"


def _other(http: HttpRequest | HttpResponse | None, side: str) -> Iterator[HttpRow]:
    for name, value in http.headers if http else ():
        if known.meaning(name) is None:
            yield _header(side, name, value)


def _limits(exchange: Exchange) -> Iterator[HttpRow]:
    """A row for each rate limit; a rate-limit header that cannot be read is a row of its own."""
    now = _clock(exchange)
    for side, http in _sides(exchange):
        read = set[str]()
        for limit in headers.read(http.headers):
            read.update(limit.names)
            used = limit.used
            style = "" if used is None or used < TIGHT else "warning" if used < FULL else "error"
            yield HttpRow(limit.kind, limit_words(limit, now), style, side, _as_sent(http, limit))
        yield from (r for r in _of(exchange, known.Topic.LIMIT) if r.side == side and r.label not in read)


def _as_sent(http: HttpRequest | HttpResponse, limit: headers.Limit) -> str:
    return "\n".join(f"{name}: {http.headers.get(name)}" for name in limit.names)


def limit_words(limit: headers.Limit, now: float | None) -> str:
    """``3,999 of 4,000 left · [==        ] 20 % used · resets in 5 s``."""
    used = limit.used
    remaining = f"{_with_separators(limit.remaining or '?')} of {_with_separators(limit.limit or '?')} left"
    wait = headers.wait(limit.reset, now)
    facts = (
        remaining if limit.remaining or limit.limit else "",
        "" if used is None else f"[{'=' * round(used * 10):<10}] {used * 100:.0f} % used",
        limit.status,
        f"resets {limit.reset if wait is None else 'in ' + duration(wait)}" if limit.reset else "",
    )
    return " · ".join(fact for fact in facts if fact)


def _with_separators(text: str) -> str:
    value = headers.number(text)
    return text if value is None or value != int(value) else f"{int(value):,}"


def _clock(exchange: Exchange) -> float | None:
    """Time of the response by the server's own clock, else by the recording."""
    date = exchange.response.headers.get("date") if exchange.response else None
    return (headers.moment(date) if date else None) or exchange.started_at


def _ids(exchange_view: ExchangeView) -> Iterator[HttpRow]:
    yield from _of(exchange_view.decoded.exchange, known.Topic.ID)
    answer = exchange_view.decoded.response
    if answer and answer.id:
        yield HttpRow("response id", answer.id, "", RESPONSE, "in the body", "/id")
    if answer and answer.error and answer.error.request_id:
        yield HttpRow("request id", answer.error.request_id, "", RESPONSE, "in the error body", "/request_id")


def _version(exchange_view: ExchangeView) -> Iterator[HttpRow]:
    exchange = exchange_view.decoded.exchange
    lists = known.BETA_HEADERS
    yield from (r for r in _of(exchange, known.Topic.VERSION) if r.label.lower() not in lists)
    for side, http in _sides(exchange):
        for name, flag in known.betas(http.headers):
            yield _header(side, name, flag)._replace(header=False)
    for pointer in known.BETA_MEMBERS if exchange_view.decoded.request_text else ():
        for step, (start, end) in exchange_view.decoded.request_index.elements(pointer):
            flag = loads(exchange_view.decoded.request_text[start:end])
            about = "beta feature requested in the body"
            yield HttpRow(pointer[1:], str(flag), "", REQUEST, about, f"{pointer}/{step}")


def _time(exchange: Exchange) -> Iterator[HttpRow]:
    """Times measured by the recording, then those of the server."""
    if exchange.started_at is not None and 0 <= exchange.started_at < 1e11:
        started = datetime.fromtimestamp(exchange.started_at, UTC).isoformat(" ", "milliseconds")
        yield HttpRow("started", started.replace("+00:00", " UTC"))
    chunks = exchange.response.body.chunks if exchange.response else ()
    if chunks:
        yield HttpRow("first byte", f"after {duration(chunks[0].at)}", side=RESPONSE)
    if exchange.duration is not None:
        yield HttpRow("last byte", f"after {duration(exchange.duration)}", side=RESPONSE)
    if len(chunks) > 1:
        gap, before = max((b.at - a.at, a) for a, b in pairwise(chunks))
        words = f"{count(len(chunks), 'chunk')}, longest gap {duration(max(0.0, gap))} after byte {before.end:,}"
        yield HttpRow("arrived in", words, side=RESPONSE)
    yield from _of(exchange, known.Topic.TIME)


def _bodies(exchange_view: ExchangeView) -> Iterator[HttpRow]:
    texts = {REQUEST: exchange_view.decoded.request_text, RESPONSE: exchange_view.decoded.response_text}
    passed = digests.read_digests(exchange_view.decoded.exchange)
    for side, http in _sides(exchange_view.decoded.exchange):
        yield HttpRow("length", _length(http.body, texts[side]), side=side)
        if side in passed:
            yield _forwarding_row(side, passed[side])
        if http.body.note:
            yield HttpRow("kept", http.body.note, "warning", side)
        if http.body.raw:
            yield HttpRow(
                "sha256", hashlib.sha256(http.body.raw).hexdigest(), side=side, about="of the bytes as stored"
            )
        if http.body.original_digest:
            yield HttpRow("sha256 as sent", http.body.original_digest, side=side, about="of the bytes on the wire")


def _forwarding_row(side: str, each: digests.BodyDigest) -> HttpRow:
    """Row that compares the bytes received and sent by the recorder."""
    about = f"sha256 in  {each.digest_in}\nsha256 out {each.digest_out}\nas received and as forwarded by the recorder"
    if each.is_equal:
        return HttpRow("through the recorder", "✓ received and sent bytes are equal", "ok", side, about)
    return HttpRow("through the recorder", f"✗ received and sent bytes {each.words}", "error", side, about)


def _length(body: Body, text: bytes) -> str:
    sent = len(body.raw) if body.original_length is None else body.original_length
    facts = [f"{count(sent, 'byte')}{f' of {body.encoding}' if body.encoding else ''}"]
    facts += [f"{len(text):,} decoded"] if body.encoding or sent != len(body.raw) else []
    facts += [] if body.is_raw else ["the original form was not recorded"]
    return ", ".join(facts)


def _redactions(exchange: Exchange) -> Iterable[HttpRow]:
    for side, http in _sides(exchange):
        for mark in http.redactions:
            where = (
                f"characters {mark.start:,}–{mark.end:,}"
                if mark.where != "body"
                else f"bytes {mark.start:,}–{mark.end:,}"
            )
            yield HttpRow(mark.where, f"{mark.kind}, {where}", "warning", side, "a stand-in is shown instead")
