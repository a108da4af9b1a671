"""Exchanges rebuilt from a transcript whose client speaks any protocol, each body made when it is asked for.

A history is a linked list that turns share. Its messages are written by the adapter of the turn's protocol, once each,
after ``conversion`` has cut them to what the protocol can say; what that leaves out is told in the exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from workbench import protocols
from workbench.formats.importers._lines import Damage
from workbench.formats.importers._rebuilt import MADE, NOT_WIRE
from workbench.ir import (
    NOTHING,
    ApiError,
    JsonValue,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    ToolCallIR,
    ToolDef,
    ToolResultIR,
)
from workbench.protocols import Adapter, Capabilities
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse, Origin, State, Summary, summarize
from workbench.wire.jsontext import dumps

if TYPE_CHECKING:  # conversion is imported by who writes a body: every file asks every importer whether it is theirs
    from workbench.convert import Loss

NOTE = "rebuilt from a transcript, which has no"
MAX_LOSSES = 20
"""Kinds of loss that one exchange names."""

NO_FLAG = "the error flag of a result: left out"
_CONTAINERS = ("messages", "input", "contents")


@dataclass(frozen=True, slots=True, eq=False)
class Heard:
    """Everything said up to and including ``message``: results one by one, ``bytes`` are JSON that is sent as it is."""

    message: Message | bytes
    before: Heard | None = None

    @property
    def is_result(self) -> bool:
        return isinstance(self.message, Message) and self.message.role == "tool"


def hear(before: Heard | None, message: Message | bytes | None) -> Heard | None:
    """A history with one more message; one that says nothing adds nothing."""
    is_said = message.parts if isinstance(message, Message) else message
    return Heard(message, before) if message is not None and is_said else before


Held: TypeAlias = bytes | Callable[[], bytes]
"""A body, or what makes it when it is asked for. It does not raise."""


@dataclass(frozen=True, slots=True)
class Turn:
    """An exchange to be made.

    Attributes:
        like: the exchange without its two sides.
        members: further keys of the request, as they are sent.
        request, response: bodies that the file holds whole, in place of what is written.
        url: in place of the protocol's path.
        answer: what the model said; None where there is none.
    """

    like: Exchange
    protocol: str
    heard: Heard | None = None
    model: str | None = None
    system: tuple[Part, ...] = ()
    tools: tuple[ToolDef, ...] = ()
    members: Mapping[str, JsonValue] = NOTHING
    answer: ModelResponse | None = None
    status: int = 200
    url: str = ""
    request: Held | None = None
    response: Held | None = None


class Piece(NamedTuple):
    """Messages as they are written.

    Attributes:
        size: bytes of this and everything before, commas included.
        losses: of this and everything before.
    """

    raw: bytes
    before: Piece | None
    size: int
    losses: frozenset[str]


@dataclass(slots=True)
class Script:
    """Histories as one protocol writes them."""

    adapter: Adapter
    _pieces: dict[int, Piece | None] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def piece(self, heard: Heard | None) -> Piece | None:
        """The messages up to and including one; results that follow each other are written together."""
        todo: list[tuple[Heard, list[Heard]]] = []
        while heard and id(heard) not in self._pieces:
            group, last = [heard], heard
            while heard.is_result and heard.before and heard.before.is_result:
                heard = heard.before
                group.append(heard)
            todo.append((last, group[::-1]))
            heard = heard.before
        piece = self._pieces[id(heard)] if heard else None
        for last, group in reversed(todo):
            raw, losses = self._written([node.message for node in group])
            if raw:
                size = len(raw) + (piece.size + 1 if piece else 0)
                piece = Piece(raw, piece, size, (piece.losses if piece else frozenset()) | losses)
            self._pieces[id(last)] = piece
        return piece

    def _written(self, said: Sequence[Message | bytes]) -> tuple[bytes, frozenset[str]]:
        from workbench.convert.fit import fit_request
        from workbench.convert.normal import NormalRequest

        first = said[0]
        if isinstance(first, bytes):
            return first, frozenset()
        held = [p for message in said if isinstance(message, Message) for p in message.parts]
        self._names |= {p.id: p.name for p in held if isinstance(p, ToolCallIR) and p.id and p.name}
        parts = tuple(self._part(p) for p in held)
        is_flagged = any(isinstance(p, ToolResultIR) and p.is_error for p in held)
        unsaid = {NO_FLAG} if is_flagged and not self.adapter.capabilities.error_flag else set[str]()
        asked = ModelRequest(self.adapter.name, None, (Message(first.role, parts),))
        fitted = fit_request(NormalRequest(asked), relaxed(self.adapter))
        meant: ModelRequest = fitted.normal
        body = self.adapter.write_request(meant)
        values = body[container(body)]
        if meant.system and not values:  # there is only one system text, and it stands elsewhere
            body = self.adapter.write_request(replace(meant, system=(), messages=(Message("user", meant.system),)))
            values = body[container(body)]
        return b",".join(dumps(value) for value in values), told(fitted.losses) | unsaid

    def _part(self, part: Part) -> Part:
        """Names of results only where they are sent: elsewhere they are looked up, and nothing is lost.

        A flag that cannot be sent is no text either: the client did not write one.
        """
        if not isinstance(part, ToolResultIR):
            return part
        can = self.adapter.capabilities
        known = part.name or self._names.get(part.tool_call_id or "")
        name = known if can.result_names or not can.call_ids else None
        return replace(part, name=name, is_error=part.is_error if can.error_flag else None)


def relaxed(adapter: Adapter, **more: Any) -> Capabilities:
    """What a protocol can say, without asking for what a transcript does not hold: nothing is made up."""
    return replace(adapter.capabilities, required=NOTHING, usage_required=False, answer_needs=NOTHING, **more)


def told(losses: Iterable[Loss]) -> frozenset[str]:
    """Losses in words."""
    return frozenset(f"{loss.what}: {loss.instead}" for loss in losses)


def container(body: Mapping[str, JsonValue]) -> str:
    """The key of a request that holds its messages."""
    return next(key for key in _CONTAINERS if key in body)


class TranscriptSession:
    """A session of turns."""

    def __init__(self, name: str, turns: Iterable[Turn], *, damage: tuple[str, ...], title: str) -> None:
        self.name = name
        self.id = ""
        self.about = MADE
        self.is_live = False
        self.format = title
        self._turns = with_unique_ids(turns)
        self.damage = (*damage, *_unknown_parts(self._turns))
        self._scripts: dict[str, Script] = {}
        self._summaries: tuple[Summary, ...] = ()

    def __len__(self) -> int:
        return len(self._turns)

    def summaries(self) -> Sequence[Summary]:
        if not self._summaries:
            self._summaries = tuple(self._rows())
        return self._summaries

    def _rows(self) -> Iterator[Summary]:
        for index, turn in enumerate(self._turns):
            before, after, _ = self._frame(turn)
            piece = self._script(turn).piece(turn.heard) if turn.request is None else None
            size = len(before) + len(after) + (piece.size if piece else 0)
            made = self._exchange(turn, b"", frozenset())
            yield replace(summarize(index, made, turn.model), request_bytes=size)

    def exchange(self, index: int) -> Exchange:
        turn = self._turns[index]
        before, after, unsaid = self._frame(turn)
        piece = self._script(turn).piece(turn.heard) if turn.request is None else None
        losses = unsaid | (piece.losses if piece else frozenset())
        raws: list[bytes] = []
        while piece:
            raws.append(piece.raw)
            piece = piece.before
        return self._exchange(turn, b"".join((before, b",".join(reversed(raws)), after)), losses)

    def _script(self, turn: Turn) -> Script:
        if turn.protocol not in self._scripts:
            self._scripts[turn.protocol] = Script(protocols.get(turn.protocol))
        return self._scripts[turn.protocol]

    def _frame(self, turn: Turn) -> tuple[bytes, bytes, frozenset[str]]:
        """What stands before and behind the messages of a request, and what of it cannot be said."""
        from workbench.convert.fit import fit_request
        from workbench.convert.normal import NormalRequest

        if turn.request is not None:
            return _now(turn.request), b"", frozenset()
        adapter = self._script(turn).adapter
        asked = ModelRequest(turn.protocol, turn.model, (), system=turn.system, tools=turn.tools)
        fitted = fit_request(NormalRequest(asked), relaxed(adapter))
        body = adapter.write_request(fitted.normal)
        key = container(body)
        first = b"".join(dumps(value) + b"," for value in body[key])
        if not turn.heard:
            first = first.removesuffix(b",")
        others = {k: v for k, v in body.items() if k != key} | dict(turn.members)
        own = b"".join(dumps(k) + b":" + dumps(v) + b"," for k, v in others.items())
        return b"{" + own + dumps(key) + b":[" + first, b"]}", told(fitted.losses)

    def _exchange(self, turn: Turn, request: bytes, losses: frozenset[str]) -> Exchange:
        adapter = self._script(turn).adapter
        url = turn.url or adapter.path(ModelRequest(turn.protocol, turn.model, ()))
        response, more = None if turn.response is None else _now(turn.response), frozenset[str]()
        if response is None and turn.answer:
            response, more = written_answer(turn.answer, adapter)
        like = turn.like
        if losses or more:
            like = replace(like, meta={**like.meta, "left_out": sorted(losses | more)[:MAX_LOSSES]})
        answered = None if response is None else HttpResponse(status=turn.status, body=_not_wire(response))
        return replace(like, request=HttpRequest(url=url, body=_not_wire(request)), response=answered)

    def refresh(self) -> frozenset[int]:
        """A transcript is read once."""
        return frozenset()

    def close(self) -> None:
        """Nothing to close."""


def _unknown_parts(turns: Iterable[Turn]) -> tuple[str, ...]:
    """What of the messages no request and no answer has, since nobody here knows what it is."""
    damage = Damage()
    seen: set[int] = set()
    for turn in turns:
        node = turn.heard
        while node and id(node) not in seen:
            seen.add(id(node))
            _note_unknown(node.message.parts if isinstance(node.message, Message) else (), damage)
            node = node.before
        for message in turn.answer.messages if turn.answer else ():
            if id(message.parts) not in seen:
                _note_unknown(message.parts, damage)
    return damage.told()


def _note_unknown(parts: Sequence[Part], damage: Damage) -> None:
    for part in parts:
        if isinstance(part, ToolResultIR):
            _note_unknown(part.content, damage)
        elif isinstance(part, Opaque) and part.type not in ("refusal", "json"):
            damage.unknown("a part", part.type)


def written_answer(answer: ModelResponse, adapter: Adapter) -> tuple[bytes, frozenset[str]]:
    """The body of an answer, and what of it the protocol cannot say."""
    from workbench.convert.fit import fit_response
    from workbench.convert.normal import NormalResponse

    if not answer.error:
        fitted = fit_response(NormalResponse(answer), relaxed(adapter, proved_reasoning=frozenset()))
        return dumps(adapter.write_response(fitted.normal)), told(fitted.losses)
    fitted = fit_response(NormalResponse(replace(answer, messages=())), relaxed(adapter))
    return dumps(adapter.write_response(fitted.normal)), told(fitted.losses)


def answer_of(
    protocol: str, parts: Iterable[Part], *, model: str | None = None, error: str = "", **fields: JsonValue
) -> ModelResponse:
    """An answer of one choice, or the error in its place."""
    said = (Message("assistant", tuple(parts)),)
    return ModelResponse(
        protocol,
        model=model,
        messages=() if error else said,
        error=ApiError(error) if error else None,
        **fields,
    )


def rebuilt(
    id: str,
    *,
    lacks: Sequence[str],
    note: str = "",
    started_at: float | None = None,
    client: str = "",
    branch: str = "",
    state: State = State.COMPLETE,
    meta: Mapping[str, JsonValue] = NOTHING,
) -> Exchange:
    """An exchange without its sides, labelled as what it is. ``lacks``: what the transcript does not hold."""
    words = f"{', '.join(lacks[:-1])} or {lacks[-1]}" if len(lacks) > 1 else lacks[0]
    return Exchange(
        id,
        state=state,
        origin=Origin.RECONSTRUCTED,
        started_at=started_at,
        client=client,
        branch=branch,
        note=f"{NOTE} {words}; {note}" if note else f"{NOTE} {words}",
        meta={"lacks": list(lacks), **meta},
    )


def with_unique_ids(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """Turns whose ids differ: what a file repeats is numbered."""
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    made: list[Turn] = []
    for turn in turns:
        id = turn.like.id or "?"
        while id in seen:
            numbers[turn.like.id] = numbers.get(turn.like.id, 1) + 1
            id = f"{turn.like.id or '?'} ({numbers[turn.like.id]})"
        seen.add(id)
        made.append(turn if id == turn.like.id else replace(turn, like=replace(turn.like, id=id)))
    return tuple(made)


def _now(held: Held) -> bytes:
    return held if isinstance(held, bytes) else held()


def _not_wire(raw: bytes) -> Body:
    return Body(raw, is_raw=False, note=NOT_WIRE)
