"""Reconstructs exchanges of any protocol from a client's transcript; each body is built on demand.

A history is a linked list that turns share. The adapter of the turn's protocol writes each message once, after
``convert`` has reduced it to what the protocol supports; losses are listed in the exchange's ``meta``.

Protocol of a provider's models, as far as the names in a transcript tell, and its place for reasoning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from workbench import protocols
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._messages_transcript import NOT_WIRE, RECONSTRUCTED
from workbench.ir import (
    HISTORIES,
    NOTHING,
    ApiError,
    Carrier,
    JsonValue,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Part,
    Reasoning,
    ToolCallIR,
    ToolDef,
    ToolResultIR,
)
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import Adapter, Capabilities
from workbench.wire import Body, Exchange, HttpRequest, HttpResponse, Origin, State, Summary, dumps, summarize

if TYPE_CHECKING:
    from workbench.convert import Loss


NOTE = "reconstructed from a transcript without"
MAX_LOSSES = 20
"""Limit of kinds of loss listed in one exchange."""

NO_FLAG = "the error flag of a tool result is left out"


@dataclass(frozen=True, slots=True, eq=False)
class SharedHistory:
    """All messages up to and including ``message``: tool results one by one; ``bytes`` are JSON sent unchanged."""

    message: Message | bytes
    before: SharedHistory | None = None

    @property
    def is_result(self) -> bool:
        return isinstance(self.message, Message) and self.message.role == "tool"


def extend_history(before: SharedHistory | None, message: Message | bytes | None) -> SharedHistory | None:
    """A history with one more message; an empty message adds nothing."""
    is_said = message.parts if isinstance(message, Message) else message
    return SharedHistory(message, before) if message is not None and is_said else before


LazyBody: TypeAlias = bytes | Callable[[], bytes]
"""A body, or a function that builds it on demand and does not raise."""


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """An exchange to be built.

    Attributes:
        like: the exchange without its two sides.
        members: additional keys of the request.
        request, response: complete bodies from the file, instead of written ones.
        url: replaces the protocol's path.
        answer: the model's response; None if there is none.
    """

    like: Exchange
    protocol: str
    history: SharedHistory | None = None
    model: str | None = None
    system: tuple[Part, ...] = ()
    tools: tuple[ToolDef, ...] = ()
    members: Mapping[str, JsonValue] = NOTHING
    answer: ModelResponse | None = None
    status: int = 200
    url: str = ""
    request: LazyBody | None = None
    response: LazyBody | None = None


class WrittenMessages(NamedTuple):
    """Written messages, as a linked list.

    Attributes:
        size: bytes of this and all previous pieces, including commas.
        losses: of this and all previous pieces.
    """

    raw: bytes
    before: WrittenMessages | None
    size: int
    losses: frozenset[str]


@dataclass(slots=True)
class ProtocolWriter:
    """Histories written in one protocol."""

    adapter: Adapter
    _pieces: dict[int, WrittenMessages | None] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)

    def piece(self, history: SharedHistory | None) -> WrittenMessages | None:
        """The messages up to and including one; consecutive tool results are written together."""
        todo: list[tuple[SharedHistory, list[SharedHistory]]] = []
        while history and id(history) not in self._pieces:
            group, last = [history], history
            while history.is_result and history.before and history.before.is_result:
                history = history.before
                group.append(history)
            todo.append((last, group[::-1]))
            history = history.before
        piece = self._pieces[id(history)] if history else None
        for last, group in reversed(todo):
            raw, losses = self._write([node.message for node in group])
            if raw:
                size = len(raw) + (piece.size + 1 if piece else 0)
                piece = WrittenMessages(raw, piece, size, (piece.losses if piece else frozenset()) | losses)
            self._pieces[id(last)] = piece
        return piece

    def _write(self, messages: Sequence[Message | bytes]) -> tuple[bytes, frozenset[str]]:
        from workbench.convert import NormalRequest, fit_request

        first = messages[0]
        if isinstance(first, bytes):
            return first, frozenset()
        parts = [p for message in messages if isinstance(message, Message) for p in message.parts]
        self._names |= {p.id: p.name for p in parts if isinstance(p, ToolCallIR) and p.id and p.name}
        target_parts = tuple(self._part(p) for p in parts)
        is_flagged = any(isinstance(p, ToolResultIR) and p.is_error for p in parts)
        unsaid = {NO_FLAG} if is_flagged and not self.adapter.capabilities.tools.error_flag else set[str]()
        request = ModelRequest(self.adapter.name, None, (Message(first.role, target_parts),))
        fitted = fit_request(NormalRequest(request), relax_requirements(self.adapter))
        result: ModelRequest = fitted.normal
        body = self.adapter.write_request(result)
        values = body[container(body)]
        if result.system and not values:  # the only system text is in a field of its own
            body = self.adapter.write_request(replace(result, system=(), messages=(Message("user", result.system),)))
            values = body[container(body)]
        return b",".join(dumps(value) for value in values), loss_texts(fitted.losses) | unsaid

    def _part(self, part: Part) -> Part:
        """Set names of results only in protocols that send them; elsewhere dropping them is no loss.

        An error flag that cannot be sent is not written as text: the client did not write one.
        """
        if not isinstance(part, ToolResultIR):
            return part
        can = self.adapter.capabilities
        known = part.name or self._names.get(part.tool_call_id or "")
        name = known if can.tools.result_names or not can.tools.call_ids else None
        return replace(part, name=name, is_error=part.is_error if can.tools.error_flag else None)


def relax_requirements(adapter: Adapter) -> Capabilities:
    """The protocol's capabilities without required fields, which a transcript lacks: nothing is invented."""
    capabilities = adapter.capabilities
    return replace(
        capabilities,
        request=replace(capabilities.request, required=NOTHING),
        answer=replace(capabilities.answer, usage_required=False, needs=NOTHING),
    )


def loss_texts(losses: Iterable[Loss]) -> frozenset[str]:
    """Losses as texts."""
    return frozenset(f"{loss.what}: {loss.instead}" for loss in losses)


def container(body: Mapping[str, JsonValue]) -> str:
    """Key of the request that holds its messages."""
    return next(key for key in HISTORIES if key in body)


class TranscriptSession:
    """A session of turns."""

    def __init__(self, name: str, turns: Iterable[TranscriptTurn], *, damage: tuple[str, ...], title: str) -> None:
        self.name = name
        self.id = ""
        self.about = RECONSTRUCTED
        self.is_live = False
        self.format = title
        self._turns = with_unique_ids(turns)
        self.damage = (*damage, *_unknown_parts(self._turns))
        self._scripts: dict[str, ProtocolWriter] = {}
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
            piece = self._script(turn).piece(turn.history) if turn.request is None else None
            size = len(before) + len(after) + (piece.size if piece else 0)
            exchange = self._exchange(turn, b"", frozenset())
            yield replace(summarize(index, exchange, turn.model), request_bytes=size)

    def exchange(self, index: int) -> Exchange:
        turn = self._turns[index]
        before, after, unsaid = self._frame(turn)
        piece = self._script(turn).piece(turn.history) if turn.request is None else None
        losses = unsaid | (piece.losses if piece else frozenset())
        raws: list[bytes] = []
        while piece:
            raws.append(piece.raw)
            piece = piece.before
        return self._exchange(turn, b"".join((before, b",".join(reversed(raws)), after)), losses)

    def _script(self, turn: TranscriptTurn) -> ProtocolWriter:
        if turn.protocol not in self._scripts:
            self._scripts[turn.protocol] = ProtocolWriter(protocols.get(turn.protocol))
        return self._scripts[turn.protocol]

    def _frame(self, turn: TranscriptTurn) -> tuple[bytes, bytes, frozenset[str]]:
        """Bytes before and after the messages of a request, and losses in them."""
        from workbench.convert import NormalRequest, fit_request

        if turn.request is not None:
            return _now(turn.request), b"", frozenset()
        adapter = self._script(turn).adapter
        request = ModelRequest(turn.protocol, turn.model, (), system=turn.system, tools=turn.tools)
        fitted = fit_request(NormalRequest(request), relax_requirements(adapter))
        body = adapter.write_request(fitted.normal)
        key = container(body)
        first = b"".join(dumps(value) + b"," for value in body[key])
        if not turn.history:
            first = first.removesuffix(b",")
        others = {k: v for k, v in body.items() if k != key} | dict(turn.members)
        own = b"".join(dumps(k) + b":" + dumps(v) + b"," for k, v in others.items())
        return b"{" + own + dumps(key) + b":[" + first, b"]}", loss_texts(fitted.losses)

    def _exchange(self, turn: TranscriptTurn, request: bytes, losses: frozenset[str]) -> Exchange:
        adapter = self._script(turn).adapter
        url = turn.url or adapter.path(ModelRequest(turn.protocol, turn.model, ()))
        response, more = None if turn.response is None else _now(turn.response), frozenset[str]()
        if response is None and turn.answer:
            response, more = written_answer(turn.answer, adapter)
        like = turn.like
        if losses or more:
            like = replace(like, meta={**like.meta, "left_out": sorted(losses | more)[:MAX_LOSSES]})
        answered = None if response is None else HttpResponse(status=turn.status, body=_rebuilt_body(response))
        return replace(like, request=HttpRequest(url=url, body=_rebuilt_body(request)), response=answered)

    def refresh(self) -> frozenset[int]:
        """Return an empty set: a transcript is read once."""
        return frozenset()

    def close(self) -> None:
        """Nothing to close."""


def _unknown_parts(turns: Iterable[TranscriptTurn]) -> tuple[str, ...]:
    """Damage lines for unknown parts, which no request or response contains."""
    damage = ImportDamage()
    seen: set[int] = set()
    for turn in turns:
        node = turn.history
        while node and id(node) not in seen:
            seen.add(id(node))
            _note_unknown(node.message.parts if isinstance(node.message, Message) else (), damage)
            node = node.before
        for message in turn.answer.messages if turn.answer else ():
            if id(message.parts) not in seen:
                _note_unknown(message.parts, damage)
    return damage.as_lines()


def _note_unknown(parts: Sequence[Part], damage: ImportDamage) -> None:
    for part in parts:
        if isinstance(part, ToolResultIR):
            _note_unknown(part.content, damage)
        elif isinstance(part, Opaque) and part.type not in ("refusal", "json"):
            damage.unknown("a part", part.type)


def written_answer(answer: ModelResponse, adapter: Adapter) -> tuple[bytes, frozenset[str]]:
    """Body of a response, and losses in it."""
    from workbench.convert import NormalResponse, fit_response

    if not answer.error:
        lenient = relax_requirements(adapter)
        unproved = replace(lenient, reasoning=replace(lenient.reasoning, proved=frozenset()))
        fitted = fit_response(NormalResponse(answer), unproved)
        return dumps(adapter.write_response(fitted.normal)), loss_texts(fitted.losses)
    fitted = fit_response(NormalResponse(replace(answer, messages=())), relax_requirements(adapter))
    return dumps(adapter.write_response(fitted.normal)), loss_texts(fitted.losses)


def answer_of(
    protocol: str, parts: Iterable[Part], *, model: str | None = None, error: str = "", **fields: JsonValue
) -> ModelResponse:
    """A response with one choice, or with an error instead."""
    messages = (Message("assistant", tuple(parts)),)
    return ModelResponse(
        protocol,
        model=model,
        messages=() if error else messages,
        error=ApiError(error) if error else None,
        **fields,
    )


def reconstructed_exchange(
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
    """An exchange without its sides, labelled as reconstructed. ``lacks``: data that the transcript does not have."""
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


def with_unique_ids(turns: Iterable[TranscriptTurn]) -> tuple[TranscriptTurn, ...]:
    """Turns with distinct ids: repeated ids are numbered."""
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    result: list[TranscriptTurn] = []
    for turn in turns:
        id = turn.like.id or "?"
        while id in seen:
            numbers[turn.like.id] = numbers.get(turn.like.id, 1) + 1
            id = f"{turn.like.id or '?'} ({numbers[turn.like.id]})"
        seen.add(id)
        result.append(turn if id == turn.like.id else replace(turn, like=replace(turn.like, id=id)))
    return tuple(result)


def _now(lazy_body: LazyBody) -> bytes:
    return lazy_body if isinstance(lazy_body, bytes) else lazy_body()


def _rebuilt_body(raw: bytes) -> Body:
    return Body(raw, is_raw=False, note=NOT_WIRE)


def protocol_of(provider: str, model: str = "") -> str:
    """The protocol of a provider's name ("anthropic", "aws.bedrock", …); Chat Completions for any other.

    Args:
        model: read if no provider is named.
    """
    found = next((a.name for a in protocols.every() if _names(a.import_hints.providers, provider)), None)
    if found is None and not provider:
        found = next((a.name for a in protocols.every() if _names(a.import_hints.models, model)), None)
    return found or protocols.MOST_COMMON


def protocol_of_api(api: str) -> str:
    """The protocol that clients call by this name in their transcripts; Chat Completions for any other."""
    return next((a.name for a in protocols.every() if api in a.import_hints.apis), protocols.MOST_COMMON)


def _names(words: Iterable[str], name: str) -> bool:
    return any(word in name.lower() for word in words)


def reasoning(protocol: str, content: str, signature: str = "", *, is_redacted: bool = False) -> Reasoning:
    """Reasoning in the place that the protocol has for it."""
    carrier = protocols.get(protocol).import_hints.carrier
    if is_redacted and carrier is Carrier.THINKING:
        return Reasoning(Carrier.REDACTED_THINKING, None, data=content)
    if carrier is Carrier.ENCRYPTED_ITEM:
        return Reasoning(
            carrier, None if is_redacted else content, data=(content if is_redacted else signature) or None
        )
    return Reasoning(carrier, content, signature or None)
