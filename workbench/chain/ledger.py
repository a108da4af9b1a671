"""The reasoning ledger: what was received, in which carrier, which requests have to send it back, and what was sent."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice

from workbench.chain._growing_turns import GrowingTurns
from workbench.chain._reasoning_replay import Replay, ReplayOutcome, compare
from workbench.chain._replay_duties import LedgerTurn, ReplayDuty, Turns, replay_duty, turns
from workbench.chain.received_answers import ReceivedAnswers
from workbench.ir import Message, ModelRequest, ModelResponse, NodeRef, Reasoning
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.protocols import HistoryPrefix, asked_of, last_where
from workbench.terms import ReasoningTerms

__all__ = ["Entry", "Ledger", "ReceivedAnswers", "ReplayOutcome", "derive"]

_SENT, _NOT_OWED = ReplayOutcome.SENT, ReplayOutcome.NOT_OWED

_MAX_LOST = 50
"""Maximum number of listed turns that are no longer in the history."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One assistant turn's reasoning as seen by one request.

    Attributes:
        turn: number of the assistant turn in the history, from zero; neighbouring assistant messages are one turn. -1
            if the request does not contain the turn.
        message: index of its message in the request, of several the one with the calls; None if there is none.
        received_in: exchange (from zero) whose response contained it; None if only a history contains it.
        received_events: events of that response's stream that contained it.
        carrier: how it was received, or else is sent; None if no reasoning of this turn is known.
        text, signature: as received, if known.
        sent_part: where it is in this request.
        owed: this request has to send it.
        sent: what happened.
        why: why it is required, or what ended the duty ("ended by the user message 5"), in words.
        sent_text: readable reasoning as this request sends it; None if it sends none.
        call_ids: ids of the turn's calls.
        differs: of an altered or empty entry, what differs at ``sent_part``: IR field ``"text"``, ``"signature"`` or
            ``"data"``; ``"order"`` (same blocks in a different order); ``"count"`` (a block is lost or added).
        is_bare: the response of the turn was recorded, and has no reasoning.
        first: index of the first message of the turn; -1 if the request does not hold it.
    """

    turn: int
    message: int | None
    received_in: int | None
    received_events: tuple[int, ...]
    carrier: str | None
    text: str | None
    signature: str | None
    sent_part: NodeRef | None
    owed: bool
    sent: ReplayOutcome
    why: str = ""
    sent_text: str | None = None
    call_ids: tuple[str, ...] = ()
    differs: str = ""
    is_bare: bool = False
    first: int = field(default=-1, repr=False, compare=False)

    @property
    def deviates(self) -> bool:
        """Its reasoning is missing, empty or altered."""
        return self.sent is not _SENT and self.sent is not _NOT_OWED

    @property
    def is_genuine(self) -> bool:
        """Its reasoning is sent as it was received."""
        return self.sent is _SENT and self.received_in is not None and self.sent_part is not None


class _TellingEntries(NamedTuple):
    """Entries that rules ask for, in order."""

    deviations: Sequence[Entry]
    genuine: Sequence[Entry]


@dataclass(frozen=True, eq=False)
class Ledger:
    """The ledger of one request, with one entry for each turn, and the reasoning of its response.

    Attributes:
        came_in: parts of the response.
        changes: of a request that continues another, the first message of each turn from which entries were derived
            again, oldest first; later requests append to it. None if entries are not kept.
    """

    _make_entries: Callable[[], tuple[Entry, ...]] = tuple
    came_in: tuple[NodeRef, ...] = ()
    _telling: _TellingEntries | None = field(default=None, repr=False)
    changes: list[int] | None = field(default=None, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and (self.entries, self.came_in) == (other.entries, other.came_in)

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """An entry for each turn, in order."""
        return self._make_entries()

    @cached_property
    def deviations(self) -> Sequence[Entry]:
        """The entries of reasoning that is missing, empty or altered."""
        return [e for e in self.entries if e.deviates] if self._telling is None else self._telling.deviations

    @cached_property
    def genuine(self) -> Mapping[NodeRef, Entry]:
        """The entries of reasoning that is sent as it was received, by its first part."""
        return self.genuine_from(0)

    def genuine_from(self, message: int) -> Mapping[NodeRef, Entry]:
        """The same, only for turns from a message on."""
        found = [e for e in self.entries if e.is_genuine] if self._telling is None else self._telling.genuine
        return {entry.sent_part: entry for entry in _from(found, message) if entry.sent_part}

    def deviations_from(self, message: int) -> Sequence[Entry]:
        """The entries of reasoning that is missing, empty or altered, of turns from a message on."""
        return _from(self.deviations, message)


def _from(entries: Sequence[Entry], message: int) -> Sequence[Entry]:
    return entries[bisect_left(entries, message, key=lambda entry: entry.first) :] if message else entries


def derive(
    request: ModelRequest | None,
    response: ModelResponse | None,
    answers: ReceivedAnswers | Iterable[tuple[int, ModelResponse]],
    terms: ReasoningTerms,
) -> Ledger:
    """Account for the reasoning of every turn in one request.

    Args:
        request: None if it was not recorded.
        response: None if there is none.
        answers: responses that the client had received in this conversation before it sent this request.
        terms: the contract's terms on which turns have to send their reasoning.
    """
    came_in = tuple(
        NodeRef("response", m, p)
        for m, message in enumerate(response.messages if response else ())
        for p, _ in message.reasoning()
    )
    if request is None:
        return Ledger(came_in=came_in)
    received = answers if isinstance(answers, ReceivedAnswers) else ReceivedAnswers.of(answers)
    is_growing = isinstance(request.messages, HistoryPrefix)
    if not terms.is_asked(request.thinking) and not received.thoughts() and last_where(request.messages, _thinks) < 0:
        make = partial(_every_entry, request, received, terms)  # which nobody but a screen asks for
        return Ledger(make, came_in, _TellingEntries((), ()), _UNCHANGED if is_growing else None)
    history, entries = _entries(request, received, terms)
    every = (*_lost_turns(received, history.message_by_answer, request), *entries.all)
    telling = _TellingEntries(tuple(entries.deviations), tuple(entries.genuine))
    return Ledger(lambda: every, came_in, telling, entries.changes if is_growing else None)


_UNCHANGED: list[int] = []
"""Changes of ledgers without any reasoning: none of their entries says more than another."""


@asked_of(Reasoning)
def _thinks(message: Message) -> bool:
    return Reasoning in map(type, message.parts)


def _every_entry(request: ModelRequest, received: ReceivedAnswers, terms: ReasoningTerms) -> tuple[Entry, ...]:
    history, entries = _entries(request, received, terms)
    return (*_lost_turns(received, history.message_by_answer, request), *entries.all)


class _Entries:
    """Entries of turns, and those of them that rules ask for."""

    def __init__(self, thinking: str | None, terms: ReasoningTerms) -> None:
        self.thinking, self.terms = thinking, terms
        self.all: list[Entry] = []
        self.deviations: list[Entry] = []
        self.genuine: list[Entry] = []
        self.changes: list[int] = []

    def __len__(self) -> int:
        return len(self.all)

    def add(self, turns: Sequence[LedgerTurn]) -> None:
        for turn in turns:
            entry = _entry(turn, self.thinking, self.terms)
            self.all.append(entry)
            if entry.deviates:
                self.deviations.append(entry)
            if entry.is_genuine:
                self.genuine.append(entry)

    def cut(self, count: int) -> None:
        if count < len(self.all):
            self.changes.append(self.all[count].first)
        del self.all[count:]
        for entries in (self.deviations, self.genuine):
            while entries and entries[-1].turn >= count:
                entries.pop()


def _entries(request: ModelRequest, received: ReceivedAnswers, terms: ReasoningTerms) -> tuple[Turns, _Entries]:
    """The turns of a request and their entries; of a history that grew, those of turns that are the same are kept."""
    messages, make = request.messages, partial(_Entries, request.thinking, terms)
    if isinstance(messages, HistoryPrefix):
        growing = messages.fold(GrowingTurns, request.itemized)
        known = growing.turns(messages, received)
        if known is not None:
            return known, growing.values((terms, request.thinking), make)
    history, entries = turns(request, received), make()
    entries.add(history.all)
    return history, entries


def _entry(turn: LedgerTurn, thinking: str | None, terms: ReasoningTerms) -> Entry:
    duty = replay_duty(turn, thinking, terms)
    unread = _unread(turn, terms) if duty.is_owed else ""
    replay = Replay(ReplayOutcome.MISSING, note=unread) if unread else _replay(turn, duty)
    blocks = turn.came or ()
    first = next(iter((*blocks, *turn.sent)), None)
    return Entry(
        turn=turn.number,
        message=turn.message,
        received_in=turn.exchange,
        received_events=_events(blocks),
        carrier=first.carrier if first else None,
        text=_text(blocks),
        signature=_signature(blocks),
        sent_part=turn.refs[replay.block] if turn.sent else None,
        owed=duty.is_owed,
        sent=replay.sent,
        why="; ".join(filter(None, (duty.why, replay.note))),
        sent_text=_text(turn.sent),
        call_ids=tuple(turn.call_ids),
        differs=replay.differs,
        is_bare=turn.exchange is not None and not blocks,
        first=turn.first,
    )


def _replay(turn: LedgerTurn, duty: ReplayDuty) -> Replay:
    if turn.sent:
        return compare(turn.sent, turn.came)
    return Replay(ReplayOutcome.MISSING if duty.is_owed else ReplayOutcome.NOT_OWED)


def _unread(turn: LedgerTurn, terms: ReasoningTerms) -> str:
    """Reason why the provider does not read what is sent; empty if it does, or if it sent the same itself."""
    if not turn.sent or not terms.carriers:
        return ""
    own, came = set(terms.carriers), {block.carrier for block in turn.came or ()}
    carriers = dict.fromkeys(block.carrier for block in turn.sent)
    if set(carriers) & (own | came) or (turn.came is not None and not own & came):
        return ""
    return f"sent as {', '.join(carriers)}, which the provider does not read"


def _lost_turns(received: ReceivedAnswers, turn_numbers: Mapping[int, int], request: ModelRequest) -> Iterator[Entry]:
    """Reasoning that came in with turns that the history does not hold, the latest of them, in order of arrival."""
    thoughts = received.thoughts()
    if len(thoughts) == len(turn_numbers):
        return
    unsent = (n for n in reversed(thoughts) if n not in turn_numbers)
    why = "the server stores this turn" if request.previous_id else "the history does not contain this turn"
    for n in reversed(list(islice(unsent, _MAX_LOST))):
        answer = received.answers[n]
        yield Entry(
            turn=-1,
            message=None,
            received_in=answer.exchange,
            received_events=_events(answer.blocks),
            carrier=answer.blocks[0].carrier,
            text=_text(answer.blocks),
            signature=_signature(answer.blocks),
            sent_part=None,
            owed=False,
            sent=ReplayOutcome.NOT_OWED,
            why=why,
            call_ids=answer.ids,
        )


def _events(blocks: Sequence[Reasoning]) -> tuple[int, ...]:
    return tuple(sorted({e for b in blocks for e in b.source.events})) if blocks else ()


def _text(blocks: Iterable[Reasoning]) -> str | None:
    """Readable text of several blocks; None where none of them can be read."""
    texts = [b.text for b in blocks if b.text is not None]
    return "\n".join(texts) if texts else None


def _signature(blocks: Iterable[Reasoning]) -> str | None:
    return next((b.signature for b in blocks if b.signature is not None), None)
