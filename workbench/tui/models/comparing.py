"""Lines of the Compare screen: paired turns, the damage of each, and both sides of it.

On the left is the hop nearer to the client, or the exchange or session that is open; on the right is what it is
compared with. Of a turn at two hops the request travels from left to right, the response from right to left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from workbench.diff import align, common, compare
from workbench.diff.damage import DamageKind, damage_words
from workbench.safetext import cells, clip, from_bytes
from workbench.tui.models import send_answer
from workbench.tui.models.diff import RangeRows, one_below_the_other, range_rows
from workbench.tui.models.rows import LaidOut
from workbench.tui.models.rowtable import is_json
from workbench.tui.models.send_answer import AnswerRow, ContentText
from workbench.views import Line, Span, count, line, size, wrap
from workbench.wire import JsonIndex

if TYPE_CHECKING:
    from workbench.diff.damage import Damage
    from workbench.protocols import DecodedExchange
    from workbench.wire import Headers, SseEvent

REQUEST, RESPONSE = "request", "response"
SIDES = {REQUEST: "request", RESPONSE: "response"}
"""A side → its word."""

MOST_BYTES = 1200
"""Bytes shown of an event that differs, at most."""

LEAST_COLUMN = 40
"""Least columns of a side, for both sides to be shown next to each other."""

MOST_ROWS = 2000
"""Ranges or events shown of one side, at most."""

STATUS = "/status"
"""Pseudo-pointer of the status of a response."""

LINE = "/line"
"""Pseudo-pointer of the request line: method, path and query."""


class Pairing(NamedTuple):
    """Names of the two sides of a comparison.

    Attributes:
        left, right: their names.
        are_places: True if both are hops of the same traffic.
    """

    left: str
    right: str
    are_places: bool = False


class ComparedTurn(NamedTuple):
    """One turn that was seen on both sides, or on one.

    Attributes:
        before, after: index of the exchange on each side; None if the side has none.
        damages: the damage between them, the first divergence first.
        tries: all requests that the gateway made from it, if there are several.
        outer: hop nearer to the client, "before" or "after"; "" for two versions.
    """

    before: int | None
    after: int | None
    damages: tuple[Damage, ...] = ()
    tries: tuple[int, ...] = ()
    outer: str = ""

    def goes_right(self, damage: Damage) -> bool:
        """True if the damage happened from left to right; between two hops a response travels against its request."""
        return self.outer != ("after" if damage.side == REQUEST else "before")

    @property
    def is_same_meaning(self) -> bool:
        """True if both sides have the turn and no damage changes the meaning."""
        return self.before is not None and self.after is not None and all(d.is_same_meaning for d in self.damages)

    @property
    def is_same(self) -> bool:
        """True if both sides have the turn and there is no damage."""
        return self.is_same_meaning and not self.damages


class ComparedRow(NamedTuple):
    """An item that is on both sides, or on one.

    Attributes:
        side: side of the exchange.
        row: the item as shown.
        before, after: its byte range in the two bodies; None outside of a body.
        at: place of an item outside of a body, as damage names it: "/headers/NAME", "/status" …
        bodies: both bodies, of a row that shows a range of each.
    """

    side: str
    row: AnswerRow
    before: tuple[int, int] | None = None
    after: tuple[int, int] | None = None
    at: str = ""
    bodies: tuple[bytes, bytes] | None = None


# Turns.


def headline(pairing: Pairing, turns: Sequence[ComparedTurn], *, is_over: bool) -> list[Line]:
    """Names of both sides, the first difference, and the first difference in meaning if that is a later one."""
    between = "→" if pairing.are_places else "against"
    title = line(Span(f" {pairing.left}", "strong"), Span(f" {between} ", "muted"), Span(pairing.right, "strong"))
    more = "" if is_over else " · comparing …"
    if not turns:
        return [title, line(Span(" nothing to compare" if is_over else f"{more[2:]}", "muted"))]
    parts = [count(len(turns), "turn")] if len(turns) > 1 else []
    same, alike = sum(t.is_same for t in turns), sum(t.is_same_meaning and not t.is_same for t in turns)
    alone = sum(t.before is None or t.after is None for t in turns)
    parts += [f"{same:,} identical"] if same and len(turns) > 1 else []
    parts += [f"{alike:,} with the same meaning"] if alike and len(turns) > 1 else []
    parts += [f"{alone:,} on one side only"] if alone else []
    facts = Span(f"   {' · '.join(parts)}{more}", "muted")
    parted = next((n for n, turn in enumerate(turns) if not turn.is_same), None)
    if parted is None:
        return [(*title, facts), line(Span(" = identical, byte for byte", "ok"))]
    is_alone = len(turns) == 1
    return [
        (*title, facts),
        line(Span(" "), *_first(turns[parted], pairing, alone=is_alone)),
        *_first_in_meaning(turns, turns[parted], alone=is_alone),
    ]


def _first_in_meaning(turns: Sequence[ComparedTurn], parted: ComparedTurn, *, alone: bool) -> list[Line]:
    """Line of the first change of meaning, bodies before headers; none if it is the first divergence itself."""
    if not parted.damages or not parted.damages[0].is_same_meaning:
        return []
    noticed = [(turn, damage) for turn in turns for damage in turn.damages if not damage.is_same_meaning]
    found = min(noticed, key=lambda each: (each[1].at or each[1].was).startswith("/headers/"), default=None)
    if found is None:
        return []
    span = Span(f" ≠ first change of meaning: {damage_words(found[1].kind)}", "warning")
    return [line(span, Span(_where(*found, alone=alone), "muted"))]


def _where(turn: ComparedTurn, damage: Damage, *, alone: bool) -> str:
    at = f", byte {damage.first:,}" if damage.first is not None else ""
    numbers = "" if alone else f"exchanges {_numbers(turn)}, "
    return f"{f' · {numbers}{SIDES[damage.side]} {damage.at or damage.was}'.rstrip()}{at}"


def _first(turn: ComparedTurn, pairing: Pairing, *, alone: bool) -> Line:
    if turn.before is None or turn.after is None:
        return line(Span(f"≠ first divergence: {_only(turn, pairing)}", "warning"))
    first = turn.damages[0]
    style = "info" if turn.is_same_meaning else "warning"
    sign = "=" if turn.is_same_meaning else "≠"
    note = " · same meaning" if turn.is_same_meaning else ""
    span = Span(f"first divergence: {damage_words(first.kind)}{note}", style)
    return line(Span(f"{sign} ", style), *_status(turn), span, Span(_where(turn, first, alone=alone), "muted"))


def _status(turn: ComparedTurn) -> Iterator[Span]:
    """How the status differs: what a person looks for first."""
    for damage in turn.damages:
        if STATUS in (damage.at, damage.was):
            yield Span(f"status {damage.words} · ", "error strong")


def turn_line(turn: ComparedTurn, pairing: Pairing) -> Line:
    """A turn in one line: its exchanges, and its damage."""
    if turn.before is None or turn.after is None:
        return line(Span("! ", "warning"), Span(_only(turn, pairing), "warning"))
    tries = Span(f" · {len(turn.tries)} attempts", "warning") if len(turn.tries) > 1 else Span("")
    numbers = Span(f"{_numbers(turn)}  ", "strong")
    if turn.is_same:
        return line(Span("= ", "muted"), numbers, Span("identical", "muted"), tries)
    kinds = ", ".join(dict.fromkeys(damage_words(d.kind) for d in turn.damages))
    if turn.is_same_meaning:
        return line(Span("= ", "info"), numbers, Span(f"same meaning: {kinds}", "info"), tries)
    return line(Span("≠ ", "warning"), numbers, Span(kinds, "warning"), tries)


def _numbers(turn: ComparedTurn) -> str:
    return f"{(turn.before or 0) + 1} – {(turn.after or 0) + 1}"


def _only(turn: ComparedTurn, pairing: Pairing) -> str:
    if turn.after is None:
        return f"exchange {(turn.before or 0) + 1} is only in {pairing.left}"
    return f"exchange {turn.after + 1} is only in {pairing.right}"


# What happened to one.


def damage_line(damage: Damage) -> Line:
    """One kind of change in one line."""
    sign, style = ("=", "info") if damage.is_same_meaning else ("≠", "warning")
    is_whole = damage.kind is DamageKind.ERROR_REWRITTEN  # nothing of one body corresponds to the other's
    many = f", {damage.places:,} places" if damage.places > 1 and not is_whole else ""
    where = "" if is_whole else damage.at or damage.was
    return line(
        Span(f"{sign} ", style),
        Span(f"{SIDES[damage.side]} ", "role", 9),
        Span(f"{damage_words(damage.kind)}{many}", style),
        Span(f"  {where or 'the whole body'}", "muted"),
    )


def damage_body(damage: Damage, turn: ComparedTurn, pairing: Pairing, width: int) -> list[Line]:
    """Explanation of a damage, its effect on the meaning, and its places."""
    lines = wrap(damage.words, width, indent=4, most=6) if damage.words else []
    if damage.is_same_meaning:
        lines += wrap("same meaning: only the bytes differ", width, "info", indent=4)
    left, right = (damage.first_was, damage.first) if turn.goes_right(damage) else (damage.first, damage.first_was)
    if left is not None or right is not None:
        lines += wrap(f"first at byte {_first_bytes(left, right, pairing)}", width, "muted", indent=4)
    if damage.was and damage.at and damage.was != damage.at:
        moved = f"was {damage.was}" if f"{damage.was}/".startswith(f"{damage.at}/") else f"{damage.was} → {damage.at}"
        lines += wrap(moved, width, "muted", indent=4)
    if damage.further:
        more = damage.places - 1 - len(damage.further)
        others = [where for where in dict.fromkeys(damage.further) if where != (damage.at or damage.was)]
        words = ", ".join(others) + (f" and {more:,} more" if more > 0 else "")
        lines += wrap(f"also at {words}", width, "muted", indent=4, most=4) if others else []
    return lines


def _first_bytes(left: int | None, right: int | None, pairing: Pairing) -> str:
    """The first byte that differs on each side; once if both are the same."""
    if left == right:
        return f"{left:,}"
    sides = ((left, pairing.left), (right, pairing.right))
    return ", ".join(f"{at:,} in {name}" for at, name in sides if at is not None)


def damages_title(turn: ComparedTurn | None) -> Line:
    """Number of differences, and how many of them change the meaning."""
    damages = turn.damages if turn else ()
    meaningful = sum(not damage.is_same_meaning for damage in damages)
    number = f" · {len(damages):,}" if meaningful < len(damages) else ""
    return line(
        " Differences",
        number,
        f" · {meaningful:,} in meaning" if meaningful else "",
    )


# Both sides.


def places(before: DecodedExchange, after: DecodedExchange, damages: Sequence[Damage]) -> tuple[ComparedRow, ...]:
    """Everything in which two exchanges differ, the requests first; streams are compared event by event.

    Args:
        damages: the damage between them; of request line, status and headers only the damaged ones are shown.
    """
    named = {where for damage in damages for where in (damage.at, damage.was)}
    return (*_requests(before, after, named), *_answers(before, after, named))


def _requests(before: DecodedExchange, after: DecodedExchange, named: Set[str]) -> Iterator[ComparedRow]:
    request, asks = before.exchange.request, after.exchange.request
    if request is None or asks is None:
        return
    if any(map(_is_of_line, named)):
        yield ComparedRow(
            REQUEST, _differing("line", *(f"{http.method} {http.url}" for http in (request, asks))), at=LINE
        )
    yield from _headers(REQUEST, request.headers, asks.headers, named)
    yield from _ranges(REQUEST, before.request_text, after.request_text)


def _is_of_line(where: str) -> bool:
    return where.startswith(("/method", "/path", "/query"))


def _answers(before: DecodedExchange, after: DecodedExchange, named: Set[str]) -> Iterator[ComparedRow]:
    old, new = before.exchange.response, after.exchange.response
    if old is None or new is None:
        if old or new:
            left, right = (ContentText(f"status {http.status}" if http else "not recorded") for http in (old, new))
            yield ComparedRow(RESPONSE, AnswerRow("response", left, right))
        return
    yield from _headers(RESPONSE, old.headers, new.headers, named)
    for row in send_answer.compare_responses(before, after).rows:
        if not row.is_same and row.kind != "bytes":
            yield ComparedRow(RESPONSE, row, at="/status" if row.kind == "status" else "")
    if before.events and after.events:
        yield from _events(before, after)
    elif (old.status >= 400) != (new.status >= 400):
        yield _whole(RESPONSE, before.response_text, after.response_text)
    else:
        yield from _ranges(RESPONSE, before.response_text, after.response_text)


def _headers(side: str, before: Headers, after: Headers, named: Set[str]) -> Iterator[ComparedRow]:
    olds, news = ({name.lower(): value for name, value in headers} for headers in (before, after))
    for name in dict.fromkeys((*olds, *news)):
        if f"/headers/{name}" in named and olds.get(name) != news.get(name):
            yield ComparedRow(side, _differing(f"header {name}", olds.get(name), news.get(name)), at=f"/headers/{name}")


def _ranges(side: str, before: bytes, after: bytes) -> Iterator[ComparedRow]:
    """Differing byte ranges, each with its context."""
    index = JsonIndex(after)
    for hunk in compare(before, after).hunks[:MOST_ROWS]:
        where = index.pointer_at(hunk.after[0])
        old, new = hunk.before[1] - hunk.before[0], hunk.after[1] - hunk.after[0]
        note = f"{where or 'the whole'} · {old:,} → {new:,} bytes"
        row = AnswerRow("bytes", ContentText(""), ContentText(""), note)
        yield ComparedRow(side, row, hunk.before, hunk.after, bodies=(before, after))


def _whole(side: str, before: bytes, after: bytes) -> ComparedRow:
    """Two bodies that have nothing in common, such as a message and an error."""
    note = f"the whole body · {len(before):,} → {len(after):,} bytes"
    row = AnswerRow("bytes", ContentText(""), ContentText(""), note)
    return ComparedRow(side, row, (0, len(before)), (0, len(after)), bodies=(before, after))


def _events(before: DecodedExchange, after: DecodedExchange) -> Iterator[ComparedRow]:
    """Events side by side; runs of identical events in one row."""
    olds, news = before.events, after.events
    keys = [[(event.name, event.data, event.id) for event in events] for events in (olds, news)]
    number = 0
    for tag, i, j, k, m in align(*keys):
        if tag == "equal":
            yield ComparedRow(RESPONSE, _same_events(i, j, k, m), (olds[i].start, olds[j - 1].end), None)
            continue
        for old, new in zip_longest(olds[i:j], news[k:m]):
            number += 1
            if number > MOST_ROWS:
                return
            numbers = dict.fromkeys(str(event.number) for event in (old, new) if event)
            row = _differing(f"event {' – '.join(numbers)}", _event_text(old), _event_text(new))
            yield ComparedRow(RESPONSE, row, old and (old.start, old.end), new and (new.start, new.end))


def _event_text(event: SseEvent | None) -> str | None:
    if event is None:
        return None
    data = from_bytes((event.data or b"")[:MOST_BYTES])
    return f"{event.name}  {data}" if event.name else data


def _same_events(i: int, j: int, k: int, m: int) -> AnswerRow:
    old, new = (ContentText(f"events {a} to {b - 1}" if b - a > 1 else f"event {a}") for a, b in ((i, j), (k, m)))
    return AnswerRow("events", old, new, "same data", is_same=True)


def _differing(kind: str, before: str | None, after: str | None) -> AnswerRow:
    """Two texts with the range marked in which they differ."""
    if before is None or after is None:
        old, new = (None if text is None else ContentText(text, (0, len(text))) for text in (before, after))
        return AnswerRow(kind, old, new)
    start = common(before, after)
    rest = min(len(before), len(after)) - start
    end = common(before[len(before) - rest :][::-1], after[len(after) - rest :][::-1])
    return AnswerRow(
        kind, ContentText(before, (start, len(before) - end)), ContentText(after, (start, len(after) - end))
    )


def place_of(damage: Damage, compared_rows: Sequence[ComparedRow], turn: ComparedTurn) -> int | None:
    """Index of the row that shows a damage: by name, else the nearest range of bytes; None if no row does."""
    mine = [(n, place) for n, place in enumerate(compared_rows) if place.side == damage.side]
    wanted = {LINE if _is_of_line(where) else where for where in (damage.at, damage.was)}
    named = next((n for n, place in mine if place.at in wanted - {""}), None)
    if named is not None:
        return named
    goes_right = turn.goes_right(damage)
    for offset, is_after in ((damage.first, goes_right), (damage.first_was, not goes_right)):
        spans = ((n, place.after if is_after else place.before) for n, place in mine if not place.row.is_same)
        away = [(max(span[0] - offset, offset - span[1], 0), n) for n, span in spans if span and offset is not None]
        if away:
            return min(away)[1]
    return next((n for n, place in mine if not place.row.is_same), None)


def place_line(place: ComparedRow) -> Line:
    """One row of the comparison."""
    sign, style = ("=", "muted") if place.row.is_same else ("≠", "warning")
    if place.row.before is None:
        sign, style = "+", "ok"
    elif place.row.after is None:
        sign, style = "-", "error"
    return line(
        Span(f"{sign} ", style),
        Span(f"{SIDES[place.side]} ", "role"),
        Span(place.row.kind, style),
        Span(f"  {place.row.note}", "muted"),
    )


def sides_title(pairing: Pairing, turn: ComparedTurn, decoded: Sequence[DecodedExchange | None], width: int) -> Line:
    """Heads of the two columns; the signs with their sides if these are shown one below the other."""
    indexes = (turn.before, turn.after)
    left, right = (_head(name, index) for name, index in zip((pairing.left, pairing.right), indexes, strict=True))
    if width < 2 * LEAST_COLUMN:
        return line(" ", Span(f"- {left}", "error"), Span(f"   + {right}", "ok"))
    room = _column_width(width)
    titles = [_with_sizes(name, one, room) for name, one in zip((left, right), decoded, strict=True)]
    return line(Span(titles[0], "", room + MARGIN), Span(" │ ", "muted"), Span(titles[1]))


def _head(name: str, index: int | None) -> str:
    if index is None:
        return f"{name}: missing"
    number = f"exchange {index + 1}"
    return name if number in name else f"{name}, {number}"


def _with_sizes(name: str, decoded: DecodedExchange | None, room: int) -> str:
    """A name with the sizes of both bodies, or of the request, if they fit; a name that is too long is cut."""
    if decoded is None:
        return clip(name, room)
    request, response = size(len(decoded.request_text)), size(len(decoded.response_text))
    forms = (f"{name} · request {request}, response {response}", f"{name} · request {request}")
    return next((form for form in forms if cells(form) <= room), clip(name, room))


MARGIN = 2
"""Columns by which the content of an item is set in."""


def _column_width(width: int) -> int:
    return (width - MARGIN - len(" │ ")) // 2


class BodyRows:
    """The bodies of the compared rows, laid out for the widths in which they are shown."""

    def __init__(self) -> None:
        self._tables: dict[tuple[int, int], LaidOut] = {}

    def lines(
        self, body: bytes, span: tuple[int, int], width: int, sign: str, style: str, *, is_alone: bool
    ) -> RangeRows:
        """The rows of a range of a body; ``is_alone``: the other body has nothing there."""
        key = (id(body), width)
        if key not in self._tables:
            self._tables[key] = LaidOut(body, width, is_json=is_json(body))
        return range_rows(self._tables[key], span, sign, style, is_alone=is_alone)


def place_body(place: ComparedRow, width: int, rows: BodyRows) -> list[Line]:
    """Both sides, next to each other if there is room."""
    if place.bodies and place.before and place.after:
        return _both_bodies(place.bodies, place.before, place.after, width, rows)
    row = place.row
    if width >= 2 * LEAST_COLUMN:
        return send_answer.body(row, width, send_answer.BOTH)
    body: list[Line] = []
    for sign, style, side, text in (("- ", "error", "before", row.before), ("+ ", "ok", "after", row.after)):
        if text is not None:
            lines = send_answer.body(row, width - 2, side)
            body += [line(Span(f"  {sign}" if not n else "    ", style), *each[1:]) for n, each in enumerate(lines)]
    return body


def _both_bodies(
    bodies: tuple[bytes, bytes], before: tuple[int, int], after: tuple[int, int], width: int, rows: BodyRows
) -> list[Line]:
    is_wide = width >= 2 * LEAST_COLUMN
    room = _column_width(width) if is_wide else width
    olds = rows.lines(bodies[0], before, room - 4, "- ", "error", is_alone=after[0] == after[1])
    news = rows.lines(bodies[1], after, room - 4, "+ ", "ok", is_alone=before[0] == before[1])
    if not is_wide:
        return one_below_the_other(olds, news)
    return send_answer.side_by_side([*chain(*olds)], [*chain(*news)], room + MARGIN, margin="")
