"""Reads recordings inside other text: a command, a log, Markdown, another encoding. See ``unwrapping``.

The extracted content goes to the ordinary importers; the result becomes one session. A request followed by its response
is one exchange. Every exchange notes its source; the session notes what was left out.

Joins adjacent sides in a text into exchanges: a request, and the next response.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench import regex
from workbench.errors import WireError, WorkbenchError
from workbench.formats import unwrapping
from workbench.formats.importers._files import HEAD
from workbench.formats.importers._side_of_value import EVENT, is_error, side_of
from workbench.formats.unwrapping import PASTED, UnreadableValue, ValueReader
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.limits import MAX_UNWRAPPED, MAX_UNWRAPPED_EXCHANGES, MAX_UNWRAPPING
from workbench.protocols import TEXT, DecodedExchange
from workbench.toolcalls import formats
from workbench.wire import Body, Exchange, HttpRequest, HttpResponse, Origin, loads, urls
from workbench.wire.session import MemorySession, Session, exchanges_of

TITLE = "pasted text"
MOST_SAID = 3
REBUILT = "rewritten as JSON: the source text is not valid JSON"

Inside = Callable[[bytes, str], Session]
"""Reads bytes with one of the ordinary importers. Raises WorkbenchError."""


class _Extract(NamedTuple):
    """An exchange extracted from a text, with its line and form."""

    what: str
    line: int
    exchange: Exchange


@dataclass(slots=True)
class Unwrapper:
    """Searches text that no importer reads for recordings.

    Attributes:
        unreadable: (line, what looks like an exchange there and why it cannot be read).
    """

    name: str
    inside: Inside
    unreadable: list[tuple[int, str]] = field(default_factory=list)

    def read(self, data: bytes, depth: int = 0) -> Session | None:
        """The session in some bytes; None if they contain nothing of a model API."""
        found = unwrapping.decode(data) if len(data) <= MAX_UNWRAPPED and depth < MAX_UNWRAPPING else None
        if found is None:
            return None
        text, encoding = found
        if encoding:
            return self._within(unwrapping.Layer(encoding, text.encode("utf-8", "surrogateescape")), depth)
        if b"\0" in data[:HEAD] and not re.match(r"\s*(?:HTTP/|POST |GET )", text):
            return None
        for layer in unwrapping.around(text):
            session = self._within(layer, depth)
            if session:
                return session
        reason = _truncation(text)
        if reason and depth:  # for a whole file an importer has reported it
            self.unreadable.append((1, f"a truncated body: {reason}"))
        return None if reason else self._scan_text(text, depth)

    def _within(self, layer: unwrapping.Layer, depth: int) -> Session | None:
        session = self._read_inside(layer.content, depth + 1)
        if session is None:
            return None
        note = f"unwrapped: {layer.what}"
        exchanges = [_mark_pasted(e, layer.what, is_rebuilt=layer.is_rebuilt) for e in _some(session)]
        return self._session(exchanges, [*session.damage, *_too_many(session)], _join_notes(note, session))

    def _read_inside(self, content: bytes, depth: int) -> Session | None:
        """The session of a part, by an importer or a nested unwrapping; None if it is nothing of a model API."""
        try:
            session = self.inside(content, self.name)
        except WorkbenchError:
            return self.read(content, depth)
        return session if any(map(_is_of_a_model, _some(session))) else None

    def _scan_text(self, text: str, depth: int) -> Session | None:
        parts = unwrapping.pieces(text)
        extracts: list[_Extract] = []
        unreadable: list[tuple[int, str]] = []
        covered: list[tuple[int, int]] = []
        is_command, seen = False, 0
        line_of = _line_counter(text)
        for part in parts:
            first_line = line_of(part.start)
            if part.info is not None:
                extracts += self._read_fence(part, first_line, depth)
                covered += [(part.start, part.end)] if extracts and extracts[-1].line >= first_line else []
                continue
            scan = unwrapping.scan(part.content)
            for start, find in _joined_events(scan.found):
                line = line_of(part.start + start)
                is_command |= not seen and find.is_whole and not text[: part.start + start].strip(" \t\r\n$%>#")
                seen += 1
                exchanges = list(self._exchanges(find, depth))
                extracts += (_Extract(find.what, line, e) for e in exchanges)
                covered += [(part.start + start, part.start + find.end)] if exchanges else []
            unreadable += (
                (line_of(part.start + at), f"{t.what}, and {_from_line(t.why, first_line)}")
                for at, t in scan.unreadable
            )
        extracts = list(_outside_calls(text, extracts))
        self.unreadable += unreadable
        if not extracts or not (is_command or any(_is_of_a_model(t.exchange) for t in extracts)):
            return None
        exchanges = list(pair_sides([t.exchange for t in extracts]))
        kinds = Counter(t.what for t in extracts)
        note = f"unwrapped: from {_list_kinds(kinds)}{_left_out(text, covered)}"
        damage = [f"line {line}: this looks like {why}" for line, why in dict.fromkeys(self.unreadable)]
        self.unreadable = []
        return self._session(exchanges, damage, note)

    def _read_fence(self, part: unwrapping.MarkdownPiece, line: int, depth: int) -> Iterator[_Extract]:
        within = Unwrapper(self.name, self.inside)
        session = within._read_inside(part.content.encode("utf-8", "surrogateescape"), depth + 1)
        self.unreadable += ((line + at, _from_line(why, line + 1)) for at, why in within.unreadable)
        if session:
            what = "a Markdown code fence"
            for exchange in _some(session):
                yield _Extract(what, line, _mark_pasted(exchange, f"{what}, line {line}"))

    def _exchanges(self, find: unwrapping.Find, depth: int) -> Iterator[Exchange]:
        if isinstance(find.content, Exchange):
            yield find.content
        elif find.content:
            try:
                session = self.inside(find.content, self.name)
            except WorkbenchError:
                return
            yield from (_mark_pasted(e, find.what, is_rebuilt=find.is_rebuilt) for e in _some(session))

    def _session(self, exchanges: Sequence[Exchange], damage: Iterable[str], note: str) -> MemorySession:
        numbered = tuple(replace(e, id=str(n)) for n, e in enumerate(exchanges, 1))
        return MemorySession(self.name, numbered, tuple(damage), format=TITLE, about={"made": note})


def _truncation(text: str) -> str:
    """Reason why the value at the start of a text is incomplete: no parts are extracted from a truncated body."""
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] not in ("{", "["):
        return ""
    try:
        ValueReader(text).value(start)
    except UnreadableValue as error:
        is_log = text[start] == "[" and not error.is_end
        return "" if is_log else f"line {text.count(chr(10), 0, error.at) + 1}: {error.what}"
    return ""


def _line_counter(text: str) -> Callable[[int], int]:
    """Return a function: offset → line, counted from one."""
    ends = [found.start() for found in re.finditer("\n", text)]
    return lambda at: bisect_left(ends, at) + 1


_LINE = regex.compile(r"\bline (\d+): ")


def _from_line(why: str, first: int) -> str:
    """A reason with its line number made relative to the whole text."""
    return _LINE.sub(lambda found: f"line {int(found[1]) + first - 1}: ", why, count=1)


def _some(session: Session) -> Iterator[Exchange]:
    for n, exchange in enumerate(exchanges_of(session)):
        if n >= MAX_UNWRAPPED_EXCHANGES:
            return
        yield exchange


def _too_many(session: Session) -> list[str]:
    more = len(session) - MAX_UNWRAPPED_EXCHANGES
    return [f"{more:,} more exchanges are left out; extract the file by hand"] if more > 0 else []


def _mark_pasted(exchange: Exchange, what: str, *, is_rebuilt: bool = False) -> Exchange:
    """Mark an exchange as pasted: no recorder vouches for it."""
    origin = Origin.PASTED if exchange.origin is Origin.IMPORTED else exchange.origin
    note = exchange.note if PASTED in exchange.note else f"{exchange.note or 'an exchange'}, from {what}; {PASTED}"
    exchange = replace(exchange, origin=origin, note=note)
    if not is_rebuilt:
        return exchange
    request, response = exchange.request, exchange.response
    return replace(
        exchange,
        request=replace(request, body=_mark_rewritten(request.body)) if request else None,
        response=replace(response, body=_mark_rewritten(response.body)) if response else None,
    )


def _mark_rewritten(body: Body) -> Body:
    return replace(body, is_raw=False, note=REBUILT) if body.raw else body


def _is_of_a_model(exchange: Exchange) -> bool:
    """True if a protocol claims it, and it is more than an error message."""
    decoded = DecodedExchange(0, exchange)
    if decoded.protocol in (None, TEXT):
        return exchange.kind.value != "http" or exchange.origin is Origin.RECONSTRUCTED
    return not (exchange.request is None and decoded.response is not None and decoded.response.error is not None)


def _joined_events(found: Sequence[tuple[int, unwrapping.Find]]) -> Iterator[tuple[int, unwrapping.Find]]:
    """Join consecutive events of one stream into JSON Lines, which an importer reads as the stream."""
    run: list[tuple[int, unwrapping.Find]] = []
    for start, find in found:
        if isinstance(find.content, bytes) and find.content and _is_event(find.content):
            run.append((start, find))
            continue
        if isinstance(find.content, bytes) and not find.content:
            continue
        yield from _as_lines(run)
        run = []
        yield start, find
    yield from _as_lines(run)


def _as_lines(run: Sequence[tuple[int, unwrapping.Find]]) -> Iterator[tuple[int, unwrapping.Find]]:
    if not run:
        return
    lines = []
    for _, find in run:
        content = find.content if isinstance(find.content, bytes) else b""
        lines.append(content.replace(b"\r", b"").replace(b"\n", b" "))
    yield run[0][0], replace_found(run[-1][1], b"\n".join(lines))


def replace_found(find: unwrapping.Find, content: bytes) -> unwrapping.Find:
    """The same find with other bytes."""
    return find._replace(content=content)


def _is_event(content: bytes) -> bool:
    try:
        value = loads(content)
    except WireError:
        return False
    return side_of(value) == EVENT and not is_error(value)


def _outside_calls(text: str, extracts: Sequence[_Extract]) -> Iterator[_Extract]:
    """Drop finds inside a tool call that a model wrote: those are arguments, not traffic."""
    if not extracts:
        return
    calls = formats.find_calls(text)
    lines = [(text.count("\n", 0, c.start) + 1, text.count("\n", 0, c.end) + 1) for c in calls[:50]]
    yield from (t for t in extracts if not any(first <= t.line <= last for first, last in lines))


def _list_kinds(kinds: Counter[str]) -> str:
    words = [what if count == 1 else f"{what} ({count} times)" for what, count in kinds.most_common()]
    return ", ".join(words[:MOST_SAID]) + (" and more" if len(words) > MOST_SAID else "")


def _left_out(text: str, covered: Sequence[tuple[int, int]]) -> str:
    at, pieces = 0, list[str]()
    for start, end in sorted(covered):
        pieces.append(text[at : max(start, at)])
        at = max(at, end)
    line_count = sum(bool(line.strip(" \t\r`~;'\",)")) for line in "".join((*pieces, text[at:])).split("\n"))
    if not line_count:
        return ""
    return "; one line around it is left out" if line_count == 1 else f"; {line_count:,} lines around it are left out"


def _join_notes(note: str, session: Session) -> str:
    inner = session.about.get("made", "")
    return f"{note}; {inner.removeprefix('unwrapped: ')}" if inner else note


def pair_sides(sides: Sequence[Exchange]) -> Iterator[Exchange]:
    """Exchanges of single sides, in order; an exchange with both sides is kept as it is.

    A log may contain a request twice: the same body in another form, or a line with the URL and no body. Both are one.
    """
    open_one: Exchange | None = None
    for side in sides:
        if side.request and side.response:
            yield from _finish(open_one)
            open_one = None
            yield side
        elif side.request:
            same = open_one and open_one.request and not open_one.response
            if open_one and same and _is_same(open_one, side):
                open_one = _merged_request(open_one, side)
                continue
            yield from _finish(open_one)
            open_one = side
        elif side.response and open_one and (answer := _answer(open_one, side.response)):
            open_one = replace(open_one, response=answer)
        else:
            yield from _finish(open_one)
            open_one = side
    yield from _finish(open_one)


def _finish(exchange: Exchange | None) -> Iterator[Exchange]:
    """Drop exchanges without any body: log lines with only a URL or status cannot be judged."""
    if exchange is None:
        return
    has_body = any(side and side.body.raw for side in (exchange.request, exchange.response))
    if has_body:
        yield _without_named_answer(exchange)


def _without_named_answer(exchange: Exchange) -> Exchange:
    """Drop a response of which the log has the status and no body: it was not an empty response."""
    answer = exchange.response
    if answer is None or answer.body.raw or answer.status >= 400 or answer.headers.get("content-length") == "0":
        return exchange
    return replace(exchange, response=None, note=f"{exchange.note}; status {answer.status}, response body not logged")


def _answer(before: Exchange, response: HttpResponse) -> HttpResponse | None:
    """The response extended by one more piece; None if the piece belongs to another response."""
    earlier = before.response
    if earlier is None:
        return response
    if not response.body.raw and not earlier.headers and response.status == earlier.status:
        return replace(earlier, headers=response.headers)
    if not earlier.body.raw and response.body.raw:
        return replace(earlier, body=response.body, headers=earlier.headers if earlier.headers else response.headers)
    return None


def _is_same(one: Exchange, other: Exchange) -> bool:
    first, second = one.request, other.request
    assert first and second
    if not first.body.raw or not second.body.raw:
        return _may_be_one(first.url, second.url)
    return one.note != other.note and _value(first) is not None and _value(first) == _value(second)


def _may_be_one(one: str, other: str) -> bool:
    if not one or not other:
        return True
    first, second = urls.split_url(one).path.rstrip("/"), urls.split_url(other).path.rstrip("/")
    return first.endswith(second) or second.endswith(first)


def _value(request: HttpRequest) -> object:
    try:
        return loads(request.body.raw)
    except WireError:
        return None


def _merged_request(one: Exchange, other: Exchange) -> Exchange:
    first, second = one.request, other.request
    assert first and second
    url = max(first.url, second.url, key=lambda u: ("://" in u, len(u)))
    exact = [r.body for r in (first, second) if r.body.raw]
    body = next((b for b in exact if b.is_raw), exact[0] if exact else first.body)
    headers = max(first.headers, second.headers, key=len)
    return replace(one, request=replace(first, url=url, body=body, headers=headers))
