"""Compares two exchanges: requests in bytes and in meaning, responses item by item, and damage between the two.

For a new response and the recorded one, for the same turn in two sessions, and for the same turn at two hops (before
and after a gateway).

``hops_of(session)`` names the hops of a recording, the client's first. ``compare_hops(session, outer, inner)`` and
``compare_sessions(before, after)`` yield one ``Comparison`` per turn, in order: ``before`` and ``after`` (indexes, None
if a side lacks the turn), ``damages`` (``damage.Damage``, the first divergence first), ``tries`` (indexes of all
requests that a gateway sent for one turn), and ``request``, ``answers``, ``headers`` and ``line`` for a view side by
side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from workbench.diff import Difference, compare
from workbench.diff.damage import Damage, damages_between, damages_of_tries
from workbench.diff.meaning import canonical
from workbench.diff.pairing import (
    ConversationFinder,
    HopExchange,
    TurnMatch,
    encloses,
    is_outside,
    likeness_of,
    paired_turns,
    places,
    versions,
)
from workbench.diff.wire import align, first_difference
from workbench.ir import JsonValue, Media, Message, ModelResponse, Opaque, Part, Reasoning, Text, ToolCallIR
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import DecodedExchange
from workbench.wire import Exchange, HttpRequest, HttpResponse, Summary, encode
from workbench.wire.session import Session, exchanges_of

Ask = Callable[[int, Exchange], DecodedExchange]

OF_A_CONNECTION = frozenset(
    ("connection", "content-length", "date", "host", "keep-alive", "transfer-encoding", "content-encoding")
)
"""Headers that belong to one connection, or follow from the body: never compared."""


class AnswerItem(NamedTuple):
    """One item of a response.

    Attributes:
        kind: ``"status"``, ``"error"``, ``"reasoning"``, ``"text"``, ``"call"``, ``"media"``, ``"finish reason"``,
            ``"model"`` or ``"usage"``.
        label: name of a tool, or a carrier; empty for others.
        value: its content, without spelling and ids.
        pointer: into the (accumulated) body; empty if it has none.
    """

    kind: str
    label: str
    value: JsonValue
    pointer: str = ""


class ItemPair(NamedTuple):
    """Two items that belong together; None if one side has none."""

    before: AnswerItem | None
    after: AnswerItem | None

    @property
    def is_same(self) -> bool:
        """True if both have the same label and value."""
        return (
            self.before is not None
            and self.after is not None
            and self.before.label == self.after.label
            and canonical(self.before.value) == canonical(self.after.value)
        )


@dataclass(frozen=True, slots=True)
class Answers:
    """Two responses.

    Attributes:
        pairs: their items, paired.
        first: offset of the first byte in which the bodies differ; None if they are equal.
        texts: both bodies, content-decoded.
    """

    pairs: tuple[ItemPair, ...]
    first: int | None
    texts: tuple[bytes, bytes] = field(default=(b"", b""), repr=False)

    @property
    def is_same(self) -> bool:
        """True if all items are equal."""
        return all(pair.is_same for pair in self.pairs)


class HeaderDifference(NamedTuple):
    """A header that differs; None if one side lacks it."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two exchanges compared, or one without a partner.

    Attributes:
        before, after: indexes in their sessions; None for a missing partner.
        request: difference of the bodies; None if no side has a request.
        headers: differing headers of the requests.
        answers: None if no side has a response.
        line: method and URL of both requests if they differ, else ().
        damages: changes between the two, the first divergence first.
        tries: indexes of all requests that a gateway sent for one turn, if several; ``after`` is the last.
        outer: for two hops, the side nearer to the client: "before" or "after"; empty for two versions of one exchange.
    """

    before: int | None
    after: int | None
    request: Difference | None = None
    headers: tuple[HeaderDifference, ...] = ()
    answers: Answers | None = None
    line: tuple[str, ...] = ()
    damages: tuple[Damage, ...] = ()
    tries: tuple[int, ...] = ()
    outer: str = ""

    @property
    def is_same_bytes(self) -> bool:
        """True if both bodies are equal byte for byte, with the same headers and URL; between two hops: no damage."""
        both = self.before is not None and self.after is not None
        if self.outer:
            return both and not self.damages
        request = self.request is None or self.request.first is None
        answers = self.answers is None or self.answers.first is None
        return both and request and answers and not self.headers and not self.line

    @property
    def is_same(self) -> bool:
        """True if both mean the same, in any spelling."""
        both = self.before is not None and self.after is not None
        if self.outer:
            return both and all(damage.is_same_meaning for damage in self.damages)
        is_same_request = (
            self.request is None or self.request.first is None or (self.request.is_read and not self._has_changes)
        )
        return both and is_same_request and (self.answers is None or self.answers.is_same)

    @property
    def _has_changes(self) -> bool:
        return any(not change.spelling for change in self.request.changes) if self.request else False


def compare_sessions(
    before: Session,
    after: Session,
    conversations: Callable[[], ConversationFinder],
    ask: Ask = DecodedExchange,
    ask_after: Ask | None = None,
    hops: tuple[str, str] | None = None,
) -> Iterator[Comparison]:
    """Compare every exchange of two sessions.

    Two hops of one traffic, known by their names or by times that enclose one another, are compared turn by turn,
    however their requests were altered. Other sessions are compared hop by hop and conversation by conversation
    (``pairing``): equal requests are paired, between them those with the same last message.

    Args:
        conversations: finds those of one session, from none (``chain.Conversations``).
        ask: decodes an exchange, given its index in its session.
        ask_after: the same for the second session.
        hops: hops to compare, of the first and of the second session.

    Raises SessionFormatError if an exchange cannot be read.
    """
    ask_after = ask_after or ask
    one, other = _HopRecording.of(before, ask, hops and hops[0]), _HopRecording.of(after, ask_after, hops and hops[1])
    if one and other and (hops or _are_hops(one, other)):
        yield from _turns(one, other)
        return
    for turn in _versions(before, after, conversations, ask, ask_after):
        old, new = turn.outer, turn.inner[0] if turn.inner else None
        if old is None or new is None:
            yield Comparison(old, new)
        else:
            yield compare_exchanges(ask(old, before.exchange(old)), ask_after(new, after.exchange(new)))


def _versions(
    before: Session, after: Session, conversations: Callable[[], ConversationFinder], ask: Ask, ask_after: Ask
) -> Sequence[TurnMatch]:
    """Pairs of the exchanges of two sessions; nothing is decoded if all requests are equal."""
    olds, news = ([_digest(exchange) for exchange in exchanges_of(session)] for session in (before, after))
    if olds == news:
        return [TurnMatch(n, (n,)) for n in range(len(olds))]
    one = (ask(n, exchange) for n, exchange in enumerate(exchanges_of(before)))
    other = (ask_after(n, exchange) for n, exchange in enumerate(exchanges_of(after)))
    return versions(one, other, list(before.summaries()), list(after.summaries()), conversations)


def hops_of(session: Session) -> list[str]:
    """Names of the hops of a session, the client's first; empty for the hop without a name."""
    return places(session.summaries())


def compare_hops(session: Session, outer: str, inner: str, ask: Ask = DecodedExchange) -> Iterator[Comparison]:
    """Every turn of two hops of one session, ``outer`` nearer to the client. Raises SessionFormatError."""
    one, other = (_HopRecording(session, ask, _rows(session, name)) for name in (outer, inner))
    yield from _turns(one, other, is_ordered=True)


class _HopRecording(NamedTuple):
    """Exchanges recorded at one hop."""

    session: Session
    ask: Ask
    rows: Sequence[Summary]

    @classmethod
    def of(cls, session: Session, ask: Ask, name: str | None) -> _HopRecording | None:
        """The hop of that name, or the only one; None if there are several."""
        names = hops_of(session)
        if name is None and len(names) != 1:
            return None
        return cls(session, ask, _rows(session, names[0] if name is None else name))

    def decode(self, position: int) -> DecodedExchange:
        """Decode the exchange at a position of this hop."""
        index = self.rows[position].index
        return self.ask(index, self.session.exchange(index))


def _rows(session: Session, name: str) -> Sequence[Summary]:
    return [row for row in session.summaries() if row.hop == name]


def _are_hops(one: _HopRecording, other: _HopRecording) -> bool:
    """True for two hops of one traffic; False for two recordings, or two versions of one recording."""
    names = {place.rows[0].hop for place in (one, other) if place.rows}
    if len(names) > 1:
        return True
    seen = [{(row.id, row.started_at) for row in place.rows} for place in (one, other)]
    return not seen[0] & seen[1] and encloses(one.rows, other.rows)


def _turns(one: _HopRecording, other: _HopRecording, *, is_ordered: bool = False) -> Iterator[Comparison]:
    """Turn by turn, in the order of the hop nearer to the client."""
    is_swapped = not is_ordered and is_outside(one.rows, other.rows) is False
    outer, inner = (other, one) if is_swapped else (one, other)
    sights = (
        [HopExchange(row, likeness_of(place.decode(n))) for n, row in enumerate(place.rows)] for place in (outer, inner)
    )
    for turn in paired_turns(*sights):
        yield _compare_turn(outer, inner, turn, is_swapped=is_swapped)


def _compare_turn(outer: _HopRecording, inner: _HopRecording, turn: TurnMatch, *, is_swapped: bool) -> Comparison:
    outer_exchange = None if turn.outer is None else outer.decode(turn.outer)
    inner_exchanges = [inner.decode(n) for n in turn.inner]
    sides = (
        (inner_exchanges[-1] if inner_exchanges else None, outer_exchange)
        if is_swapped
        else (outer_exchange, inner_exchanges[-1] if inner_exchanges else None)
    )
    tries = tuple(decoded.index for decoded in inner_exchanges) if len(inner_exchanges) > 1 else ()
    if sides[0] and sides[1]:
        comparison = _side_by_side(sides[0], sides[1])
    else:
        before, after = (decoded.index if decoded else None for decoded in sides)
        comparison = Comparison(before, after)
    return replace(
        comparison,
        damages=damages_of_tries(outer_exchange, inner_exchanges),
        tries=tries,
        outer="after" if is_swapped else "before",
    )


def compare_exchanges(before: DecodedExchange, after: DecodedExchange) -> Comparison:
    """Compare two exchanges: one turn if they were recorded at two hops, else two versions of one exchange."""
    is_passed_on = before.exchange.hop != after.exchange.hop
    damages = damages_between(before, after, is_passed_on=is_passed_on)
    return replace(_side_by_side(before, after), damages=damages, outer="before" if is_passed_on else "")


def _side_by_side(before: DecodedExchange, after: DecodedExchange) -> Comparison:
    old_request, new_request = before.exchange.request, after.exchange.request
    request = compare(before.request_text, after.request_text) if old_request or new_request else None
    is_answered = before.exchange.response or after.exchange.response
    answers = compare_answers(before, after) if is_answered else None
    headers = tuple(_headers(old_request, new_request)) if old_request and new_request else ()
    lines = tuple(f"{http.method} {http.url}" for http in (old_request, new_request) if http)
    return Comparison(before.index, after.index, request, headers, answers, lines if len(set(lines)) > 1 else ())


def compare_answers(before: DecodedExchange, after: DecodedExchange) -> Answers:
    """Compare the responses of two exchanges; of a stream its accumulated body."""
    olds, news = tuple(items(before)), tuple(items(after))
    texts = before.response_text, after.response_text
    return Answers(tuple(_pairs(olds, news)), first_difference(*texts), texts)


def items(decoded: DecodedExchange) -> Iterator[AnswerItem]:
    """Items of a response, in order; none without a response."""
    http, answer = decoded.exchange.response, decoded.response
    if http is None:
        return
    yield AnswerItem("status", "", http.status)
    if answer is None:
        yield AnswerItem("text", "", decoded.response_text.decode("utf-8", "replace"))
        return
    if answer.error:
        label = answer.error.type or answer.error.code or ""
        yield AnswerItem("error", label, answer.error.message, answer.error.pointer)
    for message in answer.messages:
        yield from (_item(message, part) for part in message.parts)
    yield from _rest(answer)


def _rest(answer: ModelResponse) -> Iterator[AnswerItem]:
    if answer.finish_reason is not None:
        yield AnswerItem("finish reason", "", answer.finish_reason)
    if answer.model is not None:
        yield AnswerItem("model", "", answer.model)
    if answer.usage:
        counts = ("input", "output", "cache_read", "cache_write", "reasoning")
        known = {name: getattr(answer.usage, name) for name in counts}
        yield AnswerItem("usage", "", {name: value for name, value in known.items() if value is not None})


def _item(message: Message, part: Part) -> AnswerItem:
    at = message.absolute(part)
    match part:
        case Text():
            return AnswerItem("text", "", part.text, at)
        case Reasoning():
            content = part.text if part.text is not None else part.data
            return AnswerItem("reasoning", part.carrier.value, content, at)
        case ToolCallIR():
            return AnswerItem("call", part.name or "", part.raw if part.error else part.input, at)
        case Media():
            return AnswerItem("media", part.kind, part.url or part.file_id or part.data, at)
        case Opaque():
            return AnswerItem("other", part.type, part.value, at)
        case _:
            return AnswerItem("result", "", None, at)


def _pairs(answer_items: Sequence[AnswerItem], news: Sequence[AnswerItem]) -> Iterator[ItemPair]:
    """Pairs of equal items, and between them of items of one kind."""
    for tag, i, j, k, m in align([_key(item) for item in answer_items], [_key(item) for item in news]):
        if tag == "equal":
            yield from map(ItemPair, answer_items[i:j], news[k:m])
        else:
            yield from _unequal(list(answer_items[i:j]), list(news[k:m]))


def _unequal(answer_items: list[AnswerItem], news: list[AnswerItem]) -> Iterator[ItemPair]:
    for new in news:
        at = next((n for n, old in enumerate(answer_items) if old.kind == new.kind), None)
        if at is None:
            yield ItemPair(None, new)
            continue
        yield from (ItemPair(old, None) for old in answer_items[:at])
        yield ItemPair(answer_items[at], new)
        answer_items = answer_items[at + 1 :]
    yield from (ItemPair(old, None) for old in answer_items)


def _key(item: AnswerItem) -> tuple[str, str, str]:
    return item.kind, item.label, canonical(item.value)


def _headers(before: HttpRequest | HttpResponse, after: HttpRequest | HttpResponse) -> Iterator[HeaderDifference]:
    olds, news = ({name.lower(): value for name, value in http.headers} for http in (before, after))
    for name in dict.fromkeys((*olds, *news)):
        if name not in OF_A_CONNECTION and olds.get(name) != news.get(name):
            yield HeaderDifference(name, olds.get(name), news.get(name))


def _digest(exchange: Exchange) -> bytes:
    """Identity of a request for comparison: hop, method, URL and body."""
    http = exchange.request
    return sha256(encode(f"{exchange.hop}\n{http.method} {http.url}\n") + http.body.raw).digest() if http else b""
