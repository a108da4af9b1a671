"""Two exchanges side by side: requests in bytes and in meaning, answers item by item, and what happened between.

Made for an answer beside the one that was recorded, for the same turn in two sessions, and for the same turn at two
places: before and behind a gateway.

For a screen: ``hops_of(session)`` names the places of a recording, the client's first. ``compare_hops(session, outer,
inner)`` or ``compare_sessions(before, after)`` yield one ``Comparison`` for each turn, in its order: ``before`` and
``after`` (indexes, None where a side has none), ``damages`` (``damage.Damage``: kind, side, pointers, words, places,
first bytes; the first divergence first), ``tries`` (of one turn that a gateway asked several times, all indexes
behind it), and ``request``, ``answers``, ``headers`` and ``line`` for what stands side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import NamedTuple

from workbench.diff import Difference, compare
from workbench.diff.damage import Damage, across, between
from workbench.diff.meaning import canonical
from workbench.diff.turns import Sight, Turn, encloses, is_outside, likeness_of, places, turns
from workbench.diff.versions import versions
from workbench.diff.wire import align, first_difference
from workbench.ir import JsonValue, Media, Message, ModelResponse, Opaque, Part, Reasoning, Text, ToolCallIR
from workbench.protocols import DecodedExchange
from workbench.wire import Exchange, HttpRequest, HttpResponse, Summary, encode
from workbench.wire.session import Session, exchanges_of

Ask = Callable[[int, Exchange], DecodedExchange]

OF_A_CONNECTION = frozenset(
    ("connection", "content-length", "date", "host", "keep-alive", "transfer-encoding", "content-encoding")
)
"""Headers that belong to one connection, or follow from the body: they are never compared."""


class Item(NamedTuple):
    """One thing that an answer says.

    Attributes:
        kind: ``"status"``, ``"error"``, ``"reasoning"``, ``"text"``, ``"call"``, ``"media"``, ``"finish reason"``,
            ``"model"`` or ``"usage"``.
        label: what it is called: the name of a tool, a carrier; "" for nothing.
        value: what it says, whatever its spelling and its ids.
        pointer: into the (accumulated) body, "" for none.
    """

    kind: str
    label: str
    value: JsonValue
    pointer: str = ""


class Pair(NamedTuple):
    """What stands side by side; None where one side has nothing."""

    before: Item | None
    after: Item | None

    @property
    def is_same(self) -> bool:
        """Both say the same."""
        return (
            self.before is not None
            and self.after is not None
            and self.before.label == self.after.label
            and canonical(self.before.value) == canonical(self.after.value)
        )


@dataclass(frozen=True, slots=True)
class Answers:
    """Two answers.

    Attributes:
        pairs: their items, those that belong together side by side.
        first: offset of the first byte in which the bodies differ, None where they are equal.
        texts: both bodies, content-decoded.
    """

    pairs: tuple[Pair, ...]
    first: int | None
    texts: tuple[bytes, bytes] = field(default=(b"", b""), repr=False)

    @property
    def is_same(self) -> bool:
        """They say the same."""
        return all(pair.is_same for pair in self.pairs)


class Header(NamedTuple):
    """A header that differs; None where one side has none."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two exchanges, or what is there of them.

    Attributes:
        before, after: indexes in their sessions; None where the other one has no partner.
        request: of the bodies, None where no side has a request.
        headers: of the requests.
        answers: None where no side has one.
        line: method and URL of either request where they differ, () where not.
        damages: what happened between the two, the first divergence first.
        tries: where a gateway asked several times for one turn, the indexes of all of them; ``after`` is the last.
        outer: of two places, the one nearer to the client: "before" or "after"; "" for two versions of one exchange.
    """

    before: int | None
    after: int | None
    request: Difference | None = None
    headers: tuple[Header, ...] = ()
    answers: Answers | None = None
    line: tuple[str, ...] = ()
    damages: tuple[Damage, ...] = ()
    tries: tuple[int, ...] = ()
    outer: str = ""

    @property
    def is_same_bytes(self) -> bool:
        """Both bodies are the same, byte for byte, and what stands around the request is; of two places: unharmed."""
        both = self.before is not None and self.after is not None
        if self.outer:
            return both and not self.damages
        request = self.request is None or self.request.first is None
        answers = self.answers is None or self.answers.first is None
        return both and request and answers and not self.headers and not self.line

    @property
    def is_same(self) -> bool:
        """They mean the same, however they are spelled."""
        both = self.before is not None and self.after is not None
        if self.outer:
            return both and all(damage.is_same_meaning for damage in self.damages)
        said = self.request is None or self.request.first is None or (self.request.is_read and not self._changed)
        return both and said and (self.answers is None or self.answers.is_same)

    @property
    def _changed(self) -> bool:
        return any(not change.spelling for change in self.request.changes) if self.request else False


def compare_sessions(
    before: Session,
    after: Session,
    ask: Ask = DecodedExchange,
    ask_after: Ask | None = None,
    hops: tuple[str, str] | None = None,
) -> Iterator[Comparison]:
    """Every exchange of two sessions.

    Two places of one traffic, told by their names or by times that enclose one another, stand side by side turn by
    turn, however their requests were altered. Of other sessions it goes by hop and conversation (``chain.versions``):
    within a conversation requests of the same bytes stand side by side, between them those that say the same last.

    Args:
        ask: decodes an exchange, given its index in its session.
        ask_after: the same for the second session.
        hops: places to compare, of the first and of the second session.

    Raises SessionFormatError where an exchange cannot be read.
    """
    ask_after = ask_after or ask
    one, other = _Place.of(before, ask, hops and hops[0]), _Place.of(after, ask_after, hops and hops[1])
    if one and other and (hops or _are_places(one, other)):
        yield from _turns(one, other)
        return
    for turn in _versions(before, after, ask, ask_after):
        old, new = turn.outer, turn.inner[0] if turn.inner else None
        if old is None or new is None:
            yield Comparison(old, new)
        else:
            yield compare_exchanges(ask(old, before.exchange(old)), ask_after(new, after.exchange(new)))


def _versions(before: Session, after: Session, ask: Ask, ask_after: Ask) -> Sequence[Turn]:
    """Which exchanges of two sessions belong together; nothing is decoded where all requests are the same."""
    olds, news = ([_digest(exchange) for exchange in exchanges_of(session)] for session in (before, after))
    if olds == news:
        return [Turn(n, (n,)) for n in range(len(olds))]
    one = (ask(n, exchange) for n, exchange in enumerate(exchanges_of(before)))
    other = (ask_after(n, exchange) for n, exchange in enumerate(exchanges_of(after)))
    return versions(one, other, list(before.summaries()), list(after.summaries()))


def hops_of(session: Session) -> list[str]:
    """Names of the places where a session was recorded, the client's first; "" is the one without a name."""
    return places(session.summaries())


def compare_hops(session: Session, outer: str, inner: str, ask: Ask = DecodedExchange) -> Iterator[Comparison]:
    """Every turn of two places of one session, ``outer`` nearer to the client. Raises SessionFormatError."""
    one, other = (_Place(session, ask, _rows(session, name)) for name in (outer, inner))
    yield from _turns(one, other, is_ordered=True)


class _Place(NamedTuple):
    """What was recorded at one place."""

    session: Session
    ask: Ask
    rows: Sequence[Summary]

    @classmethod
    def of(cls, session: Session, ask: Ask, name: str | None) -> _Place | None:
        """The only place of a session, or the one of that name."""
        names = hops_of(session)
        if name is None and len(names) != 1:
            return None
        return cls(session, ask, _rows(session, names[0] if name is None else name))

    def decoded(self, position: int) -> DecodedExchange:
        """One of its exchanges."""
        index = self.rows[position].index
        return self.ask(index, self.session.exchange(index))


def _rows(session: Session, name: str) -> Sequence[Summary]:
    return [row for row in session.summaries() if row.hop == name]


def _are_places(one: _Place, other: _Place) -> bool:
    """Two places of one traffic, and not two recordings, or two versions of one recording."""
    names = {place.rows[0].hop for place in (one, other) if place.rows}
    if len(names) > 1:
        return True
    seen = [{(row.id, row.started_at) for row in place.rows} for place in (one, other)]
    return not seen[0] & seen[1] and encloses(one.rows, other.rows)


def _turns(one: _Place, other: _Place, *, is_ordered: bool = False) -> Iterator[Comparison]:
    """Turn by turn, in the order of the place nearer to the client."""
    is_swapped = not is_ordered and is_outside(one.rows, other.rows) is False
    outer, inner = (other, one) if is_swapped else (one, other)
    sights = (
        [Sight(row, likeness_of(place.decoded(n))) for n, row in enumerate(place.rows)] for place in (outer, inner)
    )
    for turn in turns(*sights):
        yield _compared(outer, inner, turn, is_swapped=is_swapped)


def _compared(outer: _Place, inner: _Place, turn: Turn, *, is_swapped: bool) -> Comparison:
    came = None if turn.outer is None else outer.decoded(turn.outer)
    went = [inner.decoded(n) for n in turn.inner]
    sides = (went[-1] if went else None, came) if is_swapped else (came, went[-1] if went else None)
    tries = tuple(decoded.index for decoded in went) if len(went) > 1 else ()
    if sides[0] and sides[1]:
        made = _side_by_side(sides[0], sides[1])
    else:
        before, after = (decoded.index if decoded else None for decoded in sides)
        made = Comparison(before, after)
    return replace(made, damages=across(came, went), tries=tries, outer="after" if is_swapped else "before")


def compare_exchanges(before: DecodedExchange, after: DecodedExchange) -> Comparison:
    """Two exchanges against one another: recorded at two places one turn, else two versions of one."""
    is_passed_on = before.exchange.hop != after.exchange.hop
    damages = between(before, after, is_passed_on=is_passed_on)
    return replace(_side_by_side(before, after), damages=damages, outer="before" if is_passed_on else "")


def _side_by_side(before: DecodedExchange, after: DecodedExchange) -> Comparison:
    asked, asks = before.exchange.request, after.exchange.request
    request = compare(before.request_text, after.request_text) if asked or asks else None
    is_answered = before.exchange.response or after.exchange.response
    answers = compare_answers(before, after) if is_answered else None
    headers = tuple(_headers(asked, asks)) if asked and asks else ()
    lines = tuple(f"{http.method} {http.url}" for http in (asked, asks) if http)
    return Comparison(before.index, after.index, request, headers, answers, lines if len(set(lines)) > 1 else ())


def compare_answers(before: DecodedExchange, after: DecodedExchange) -> Answers:
    """The answers of two exchanges; of a stream what it adds up to."""
    olds, news = tuple(items(before)), tuple(items(after))
    texts = before.response_text, after.response_text
    return Answers(tuple(_pairs(olds, news)), first_difference(*texts), texts)


def items(decoded: DecodedExchange) -> Iterator[Item]:
    """What an answer says, in its order; nothing where there is none."""
    http, answer = decoded.exchange.response, decoded.response
    if http is None:
        return
    yield Item("status", "", http.status)
    if answer is None:
        yield Item("text", "", decoded.response_text.decode("utf-8", "replace"))
        return
    if answer.error:
        label = answer.error.type or answer.error.code or ""
        yield Item("error", label, answer.error.message, answer.error.pointer)
    for message in answer.messages:
        yield from (_item(message, part) for part in message.parts)
    yield from _rest(answer)


def _rest(answer: ModelResponse) -> Iterator[Item]:
    if answer.finish_reason is not None:
        yield Item("finish reason", "", answer.finish_reason)
    if answer.model is not None:
        yield Item("model", "", answer.model)
    if answer.usage:
        counts = ("input", "output", "cache_read", "cache_write", "reasoning")
        said = {name: getattr(answer.usage, name) for name in counts}
        yield Item("usage", "", {name: value for name, value in said.items() if value is not None})


def _item(message: Message, part: Part) -> Item:
    at = message.absolute(part)
    match part:
        case Text():
            return Item("text", "", part.text, at)
        case Reasoning():
            said = part.text if part.text is not None else part.data
            return Item("reasoning", part.carrier.value, said, at)
        case ToolCallIR():
            return Item("call", part.name or "", part.raw if part.error else part.input, at)
        case Media():
            return Item("media", part.kind, part.url or part.file_id or part.data, at)
        case Opaque():
            return Item("other", part.type, part.value, at)
        case _:
            return Item("result", "", None, at)


def _pairs(olds: Sequence[Item], news: Sequence[Item]) -> Iterator[Pair]:
    """Equal items side by side, and between them those of one kind."""
    for tag, i, j, k, m in align([_key(item) for item in olds], [_key(item) for item in news]):
        if tag == "equal":
            yield from map(Pair, olds[i:j], news[k:m])
        else:
            yield from _unequal(list(olds[i:j]), list(news[k:m]))


def _unequal(olds: list[Item], news: list[Item]) -> Iterator[Pair]:
    for new in news:
        at = next((n for n, old in enumerate(olds) if old.kind == new.kind), None)
        if at is None:
            yield Pair(None, new)
            continue
        yield from (Pair(old, None) for old in olds[:at])
        yield Pair(olds[at], new)
        olds = olds[at + 1 :]
    yield from (Pair(old, None) for old in olds)


def _key(item: Item) -> tuple[str, str, str]:
    return item.kind, item.label, canonical(item.value)


def _headers(before: HttpRequest | HttpResponse, after: HttpRequest | HttpResponse) -> Iterator[Header]:
    olds, news = ({name.lower(): value for name, value in http.headers} for http in (before, after))
    for name in dict.fromkeys((*olds, *news)):
        if name not in OF_A_CONNECTION and olds.get(name) != news.get(name):
            yield Header(name, olds.get(name), news.get(name))


def _digest(exchange: Exchange) -> bytes:
    """What tells requests apart: where they were recorded, where they go, and what they say."""
    http = exchange.request
    return sha256(encode(f"{exchange.hop}\n{http.method} {http.url}\n") + http.body.raw).digest() if http else b""
