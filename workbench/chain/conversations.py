"""Conversations: which exchanges continue one another, found by shared history, call ids and response ids.

An exchange belongs to the conversation that the strongest of these names:

1. the response that it continues by id (the server has the history);
2. a response that its history contains, with everything before it unchanged;
3. a response with a call whose id is unique, or a response that follows the same history except for the last item, or
   that follows the same last item;
4. a request whose messages it repeats or extends, with the same instructions, model and tools (retries), or with others
   if that request failed (series of changed retries);
5. a response with a call whose id is a counter, if something before it is shared too;
6. a request whose messages it extends, with its response repeated to another provider: the texts and the calls with
   their arguments are the same, reasoning and ids are not.

Nothing is decided by position. A request that is sent while another one with the same question is still waiting for its
response begins a separate conversation. Only fingerprints of requests are kept.

The shared part has to be equal: every call with its arguments, and all of the text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial
from itertools import takewhile

from workbench.chain._found_keys import OF_ANSWERS, KeyKind, KeyTable, KeyTables, Lookup
from workbench.chain._history_keys import HistoryKeys, HistoryState, beginning
from workbench.chain._said_items import SaidItems
from workbench.chain.received_answers import ReceivedAnswers, without_segments
from workbench.fingerprint import ANSWERING, call_digest, visible_text, without_reminders
from workbench.ir import Message, ModelRequest, ModelResponse, Text
from workbench.lazy_dataclass import dataclass, field
from workbench.named_tuple import NamedTuple
from workbench.protocols import DecodedExchange, fact, history, last_where
from workbench.undo_log import Journal
from workbench.wire import Exchange

_ENOUGH = 20
"""Length in characters of an equal end of two texts that is no coincidence."""


def is_retold(answer: ModelResponse, following: Sequence[Message]) -> bool:
    """True if the messages begin with this response, its reasoning as text or left out, and then continue."""
    run = list(takewhile(lambda message: message.role in ANSWERING, following))
    if not run or len(run) == len(following) or not answer.messages:
        return False
    calls = [call_digest(call) for message in answer.messages for _, call in message.tool_calls() if not call.is_server]
    calls_in_run = [call_digest(call) for message in run for _, call in message.tool_calls() if not call.is_server]
    answer_text, run_text = _text(answer.messages), _text(run)
    if calls != calls_in_run or not run_text.endswith(answer_text):
        return False
    return bool(calls) or len(answer_text) >= _ENOUGH or (bool(answer_text) and _first_thought(answer) in run_text)


def _text(messages: Sequence[Message]) -> str:
    return "".join(filter(None, map(visible_text, messages)))


def _first_thought(answer: ModelResponse) -> str:
    """The first of its reasoning that people can read; what no text holds where there is none."""
    found = (r.text.strip() for m in answer.messages for _, r in m.reasoning() if r.text and r.text.strip())
    return next(found, "\0")


LABEL_LENGTH = 60
"""Characters of the user's words in a label."""

_MAX_TWINS = 8
"""Maximum number of conversations with the same beginning that are told apart when one of them retries."""


@dataclass(slots=True)
class Conversation:
    """Exchanges of a session that continue one another.

    Attributes:
        id: from zero, in order of first appearance.
        exchanges: indexes in the session, in order.
        answers: (exchange index, response) of every exchange so far that got one: what the client has received.
        label: its name in lists: model and first words of the user (untrusted text).
        broken: positions in ``answers`` of responses that are incomplete or are errors.
        received: the same responses, indexed by call id and text, for the ledger of a long conversation.
    """

    id: int
    exchanges: list[int] = field(default_factory=list)
    answers: list[tuple[int, ModelResponse]] = field(default_factory=list)
    label: str = ""
    broken: list[int] = field(default_factory=list, repr=False)
    received: ReceivedAnswers = field(default_factory=ReceivedAnswers, repr=False, compare=False)

    def before(self, exchange: int) -> Conversation:
        """The conversation as it was when an exchange of it was sent."""
        requests = self.exchanges[: bisect_left(self.exchanges, exchange)]
        answers = self.answers[: bisect_left(self.answers, (exchange,))]
        broken = self.broken[: bisect_left(self.broken, len(answers))]
        return Conversation(self.id, requests, answers, self.label, broken, self.received.before(exchange))

    def answer(self, response_id: str | None) -> tuple[Message, ...]:
        """Messages of the latest response with this id: what the server is expected to remember under it."""
        if not response_id:
            return ()
        return next((a.messages for _, a in reversed(self.answers) if a.id == response_id), ())


class _Owner(NamedTuple):
    """The conversation of a response, and the key of its request."""

    conversation: int
    request_key: int


class _Thread(NamedTuple):
    """State that the server should remember under a response id."""

    owner: _Owner
    state: HistoryState


class _Kind(NamedTuple):
    """Properties that tell a retry from another request: protocol and model, names of the tools."""

    protocol_and_model: tuple[str, str | None]
    tools: frozenset[str]


@dataclass(slots=True)
class _LatestRequest:
    """The last request with certain messages.

    Attributes:
        protocol_and_model: of the request.
        tools: names of its tools.
        answer: what it got, None for an error, an incomplete answer or nothing.
        ended: when that was all there (seconds since the epoch), None where the recording has no times.
        is_continued: a later request holds an answer to it.
    """

    conversation: int
    protocol_and_model: tuple[str, str | None]
    tools: frozenset[str]
    answer: ModelResponse | None
    ended: float | None = None
    is_continued: bool = False


class Conversations:
    """Groups the exchanges of a session, one after another.

    Attributes:
        all: every conversation so far, in order of first appearance.
        journal: undo log; removes everything that was added since an exchange.
    """

    def __init__(self) -> None:
        self.journal = Journal()
        self.all: list[Conversation] = []
        self._owners = KeyTable[_Owner](is_any=False)
        self._threads: dict[tuple[str, str], _Thread] = {}
        self._attempts = KeyTable[list[_LatestRequest]](is_any=True)
        self._item_sets: list[SaidItems] = []
        self._rewound = 0

    def add(self, decoded: DecodedExchange, *, is_last: bool = False) -> Conversation | None:
        """Add the next exchange, in order; its conversation, or None if it is not an exchange with a model.

        Args:
            is_last: no other exchange will be added.
        """
        request, response = decoded.request, without_segments(decoded.answer) if decoded.answer else None
        if decoded.protocol is None or (request is None and response is None):
            return None
        if is_last and not self.all:  # nothing before it, and nothing behind: no keys are needed to find it
            return self._add_alone(decoded.index, request, response)
        hop = decoded.exchange.hop
        thread = self._threads.get((hop, request.previous_id)) if request and request.previous_id else None
        start = thread.state if thread else beginning(request, hop)
        keys = HistoryKeys(start, request.model if request else None, request.messages if request else ())
        found = self._find(request, keys, thread, decoded.exchange.started_at)
        self.journal.append(found.exchanges, decoded.index)
        self._note_items(found.id, keys)
        owner = _Owner(found.id, keys.request_key(keys.count))
        if request is not None:
            self._try(owner, keys.retelling_key(keys.count), request, response, _end(decoded.exchange))
            if request.previous_id:
                known = self._threads.get((hop, request.previous_id), _Thread(owner, start))
                self.journal.put(self._threads, (hop, request.previous_id), known)
        if response is not None and response.messages:
            if not response.is_complete or response.error:
                self.journal.append(found.broken, len(found.answers))
            self.journal.append(found.answers, (decoded.index, response))
            found.received.add(decoded.index, response)
            self.journal.note(partial(found.received.drop, decoded.index))
            self._remember(owner, response, keys)
        return found

    def _add_alone(self, index: int, request: ModelRequest | None, response: ModelResponse | None) -> Conversation:
        """Add the only exchange of a session."""
        found = self._begin(_label(request) if request else "")
        found.exchanges.append(index)
        if response is not None and response.messages:
            found.broken += [0] * bool(not response.is_complete or response.error)
            found.answers.append((index, response))
        return found

    def _find(
        self, request: ModelRequest | None, history: HistoryKeys, thread: _Thread | None, started: float | None
    ) -> Conversation:
        if request is None or not self.all:
            return self._begin(_label(request) if request else "")
        kind = _Kind(_protocol_and_model(request), _tool_names(request))
        lookup = Lookup(
            history, (history.model, history.hop, history.base, kind), KeyTables(self._owners, self._attempts)
        )
        owner = thread.owner if thread else self._by_answer(lookup)
        if owner is not None:
            for attempt in self._attempts.get(owner.request_key, ()):
                if attempt.conversation == owner.conversation and not attempt.is_continued:
                    attempt.is_continued = True
                    self.journal.note(partial(setattr, attempt, "is_continued", False))
            return self.all[owner.conversation]
        number = self._by_request(request, history, lookup, kind, started)
        if number is None:
            number = self._by_counter(history, lookup)
        if number is None:
            number = self._by_retelling(request, history, lookup, started)
        return self._begin(_label(request)) if number is None else self.all[number]

    def _begin(self, label: str) -> Conversation:
        self.journal.append(self.all, Conversation(len(self.all), label=label))
        self.journal.append(self._item_sets, SaidItems())
        return self.all[-1]

    def _note_items(self, number: int, history: HistoryKeys) -> None:
        """Note the items of a conversation; of a history that grew, the new ones."""
        place = number, self._rewound
        start = history.chain.fingerprint_ends.get(place, 0)
        if start < history.count:
            items = self._item_sets[number]
            items.add(history.chain.items, start, history.count)
            self.journal.note(items.take_back)
            self.journal.note(self._rewind)
            history.chain.fingerprint_ends[place] = history.count

    def _rewind(self) -> None:
        """Take nothing for noted that was noted in a history."""
        self._rewound += 1

    def _by_answer(self, lookup: Lookup) -> _Owner | None:
        """The owner of the latest answer that a history holds, by the strongest kind of key."""
        return next((self._owners[key] for kind in OF_ANSWERS for _, key in lookup.found(kind)), None)

    def _by_request(
        self, request: ModelRequest, history: HistoryKeys, lookup: Lookup, kind: _Kind, started: float | None
    ) -> int | None:
        """The conversation of the longest earlier request that this one repeats or extends."""
        refused = list[tuple[int, int]]()
        for n, key in lookup.found(KeyKind.ASKED):
            apart = [attempt for attempt in reversed(self._attempts[key]) if not _is_beside(attempt, started)]
            number = next((a.conversation for a in apart if _goes_on(a, request, kind, history, n)), None)
            if number is not None:
                return number
            if len(apart) == len(self._attempts[key]):
                refused.append((n, key))
        lookup.refuse(KeyKind.ASKED, refused)
        return None

    def _by_counter(self, history: HistoryKeys, lookup: Lookup) -> int | None:
        shared: dict[int, int] = {}  # conversation → first item that it has said too
        for count, key in lookup.found(KeyKind.COUNTER):
            n, number = count - 1, self._owners[key].conversation
            if number not in shared:
                fingerprints = self._item_sets[number].fingerprints
                shared[number] = next((k for k, i in enumerate(history.items) if i.plain in fingerprints), n)
            if shared[number] < n:
                return number
        return None

    def _by_retelling(
        self, request: ModelRequest, history: HistoryKeys, lookup: Lookup, started: float | None
    ) -> int | None:
        """The conversation that continues here at another provider, which gets its answers in other words."""
        refused, protocol_and_model = list[tuple[int, int]](), _protocol_and_model(request)
        for n, key in (*lookup.found(KeyKind.RETOLD), (0, history.retelling_key(0))):
            attempts = self._attempts.get(key, ())
            others = [
                a
                for a in reversed(attempts)
                if a.answer and a.protocol_and_model != protocol_and_model and not _is_beside(a, started)
            ]
            for at in history.messages_at(n) if others else ():
                for attempt in others:
                    if attempt.answer and is_retold(attempt.answer, request.messages[at:]):
                        return attempt.conversation
            if not any(_is_beside(attempt, started) for attempt in attempts):
                refused.append((n, key))
        lookup.refuse(KeyKind.RETOLD, refused)
        return None

    def _try(
        self,
        owner: _Owner,
        retold: int,
        request: ModelRequest,
        response: ModelResponse | None,
        ended: float | None,
    ) -> None:
        """Keep a request for its retries."""
        attempt = _LatestRequest(
            owner.conversation, _protocol_and_model(request), _tool_names(request), _good(response), ended
        )
        for key in (owner.request_key, retold):
            others = [a for a in self._attempts.get(key, ()) if a.conversation != owner.conversation]
            self.journal.put(self._attempts, key, [*others, attempt][-_MAX_TWINS:])

    def _remember(self, owner: _Owner, response: ModelResponse, history: HistoryKeys) -> None:
        """Make an answer findable."""
        start = history.count
        for messages in response.choices:
            answer = history.with_answer(messages)
            if answer.items:
                run = tuple([item.plain for item in answer.items])
                keys = (
                    *history.whole(answer.plain[-1], answer.exact[-1]),
                    history.near(start, run),
                    history.pair(start, run),
                )
                shorter = history.near(start - 1, run) if start else None
                calls = [history.call(item) for item in answer.items if item.call_id]
                all_keys = (key for key in (*keys, shorter, *calls) if key is not None)
                self.journal.put_each(self._owners, all_keys, owner)
                self._item_sets[owner.conversation].add(answer.items, 0, len(answer.items))
                self.journal.note(self._item_sets[owner.conversation].take_back)
            if response.id:
                self.journal.put(self._threads, (history.hop, response.id), _Thread(owner, history.state(answer)))


def _goes_on(attempt: _LatestRequest, request: ModelRequest, kind: _Kind, history: HistoryKeys, n: int) -> bool:
    """A request whose first n items are those of an earlier one belongs to it."""
    if attempt.answer and not _is_alike(attempt, kind):
        return False
    if n == history.count:
        # once an answer was taken up, the same first words begin a conversation anew
        return not (attempt.is_continued and attempt.answer) or any(i.is_answer for i in history.items)
    at = history.message_after(n)
    if at is None:
        return False
    following = request.messages[at]
    return following.role not in ANSWERING or attempt.answer is None or _is_of(attempt.answer, following)


def _is_beside(attempt: _LatestRequest, started: float | None) -> bool:
    """The same was asked before the answer was there, and the answer is good: two agents at work, and no retry."""
    return bool(attempt.answer) and attempt.ended is not None and started is not None and started < attempt.ended


def _end(exchange: Exchange) -> float | None:
    known = exchange.started_at is not None and exchange.duration is not None
    return (exchange.started_at or 0.0) + (exchange.duration or 0.0) if known else None


def _is_alike(attempt: _LatestRequest, kind: _Kind) -> bool:
    """A request on the side or a comparison asks another model, or offers other tools or none."""
    return attempt.protocol_and_model == kind.protocol_and_model and (
        attempt.tools == kind.tools or bool(attempt.tools & kind.tools)
    )


def _protocol_and_model(request: ModelRequest) -> tuple[str, str | None]:
    return request.protocol, request.model


def _is_of(answer: ModelResponse, message: Message) -> bool:
    """A message of a history is an answer that the client changed: it shares a call id or the text."""
    ids, text = {c.id for _, c in message.tool_calls() if c.id}, visible_text(message)
    for received in answer.messages:
        visible = visible_text(received)
        if (text and visible and (text in visible or visible in text)) or any(
            c.id in ids for _, c in received.tool_calls()
        ):
            return True
    return False


def _good(response: ModelResponse | None) -> ModelResponse | None:
    return response if response and response.messages and response.is_complete and not response.error else None


def _tool_names(request: ModelRequest) -> frozenset[str]:
    return frozenset([t.name for t in request.tools if t.name])


def _label(request: ModelRequest) -> str:
    """Model and the last words of the user, as far as they fit on one line."""
    at = last_where(request.messages, _words_of_user)
    words = fact(request.messages[at], _words_of_user) if at >= 0 else ""
    return f"{request.model or 'no model'}: {' '.join(words[:1000].split())[:LABEL_LENGTH]}".rstrip(": ")


def _is_of_user(kind: history.MessageKind) -> bool:
    return kind.role == "user"


@history.asked_of_kind(_is_of_user)
def _words_of_user(message: Message) -> str:
    """Text of a message of the user; an empty string if it has none, or is of another role."""
    if message.role != "user":
        return ""
    return " ".join([without_reminders(p.text) for p in message.parts if isinstance(p, Text)])
