"""Repeated calls in a history: steps, their outcomes, and side effects of tools."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache

from workbench import regex
from workbench.chain import CallLine
from workbench.fingerprint import call_digest
from workbench.ir import Message, NodeRef, Text, ToolCallIR, ToolDef, ToolResultIR
from workbench.lazy_dataclass import dataclass
from workbench.protocols import REQUEST, DecodedExchange, HistoryPrefix, asked_of, fact
from workbench.rules._shared.context import RuleContext
from workbench.rules._shared.outcomes import (
    FAILURES,
    ResultOutcome,
    ResultReading,
    classify,
    outcome_of,
    without_echoes,
)

_MOST_OPEN = 16
"""Calls, the newest ones, of which one may have been open when the user last spoke."""

_WORD = regex.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_EFFECT = regex.compile(
    r"(?:send|charge|pay|buy|order|book|purchase|transfer|refund|withdraw|deposit|invoice|bill|post|publish|tweet|reply"
    r"|submit|deploy|create|add|append|insert|invite|e?mail|sms|notify|message|schedule|reserve|commit|push|merge"
    r"|increment|place|trigger|approve|cancel|delete|remove|launch|dispatch|ship)(?:s|es)?"
)
_READ = regex.compile(
    r"(?:calculator|math|numbers?|get|list|read|search|find|fetch|query|queries|lookup|look|show|view|check|describe|count|status|ls|cat|grep"
    r"|glob|browse|load|calculate|compute|convert|parse|validate|preview|estimate|quote|verify|is|has|select|peek"
    r"|inspect|analy[sz]e|summari[sz]e|translate|think|plan|wait|sleep|poll|retrieve|scan|head|tail|watch|ask|echo)"
    r"(?:s|es)?"
)


@dataclass(frozen=True, slots=True)
class PastCall:
    """One call of a history with its outcome.

    Attributes:
        digest: of name and arguments, without the id.
        outcome: what its result says, "" where it has none.
        mark: the same without times and numbers that count nothing.
        kind: the class of the outcome; None without a result.
        question: how often the user has spoken before it.
        turn: ordinal of the turn that made it; calls are of one turn until a result of theirs comes.
    """

    ref: NodeRef
    call: ToolCallIR
    digest: int
    outcome: str
    mark: str
    kind: ResultOutcome | None
    question: int
    turn: int

    @property
    def is_answered(self) -> bool:
        """It has a result."""
        return self.kind is not None

    @property
    def is_failed(self) -> bool:
        """The result says so."""
        return self.kind is not None and self.kind.is_failed


def steps(case: RuleContext) -> list[PastCall]:
    """The calls of the request's history that a client answers, in order.

    Of a conversation that continues, those since the user last spoke while no call was open: earlier requests told of
    the others. What is said while a call is open asks nothing new: callers ask again during a long silence.
    """
    messages, start = case.messages, _start(case)
    lines = (line for line in case.closure.lines if line.call and line.results and line.call.message >= start)
    results = {line.call: line.results[0] for line in lines}
    found: list[PastCall] = []
    question, turn, answered, last_result = 0, 0, len(messages), -1
    for n, message in enumerate(messages[start:], start):
        question += n >= last_result and fact(message, is_question)
        for (k, call), digest in zip(message.tool_calls(), fact(message, _digests), strict=True):
            ref = NodeRef(REQUEST, n, k)
            result = results.get(ref)
            last_result = max(last_result, result.message) if result else last_result
            if n > answered:
                turn, answered = turn + 1, len(messages)
            answered = min(answered, result.message) if result else answered
            outcome = fact(case.message(result), _outcomes).get(result.part) if result else None
            text, kind, mark = outcome or ("", None, "")
            mark = without_echoes(mark, kind, call.input) if kind else mark
            found.append(PastCall(ref, call, digest, text, mark, kind, question, turn))
    return found


def has_repeated_call(case: RuleContext) -> bool:
    """Two calls of ``steps`` are the same: what takes no more than a look."""
    messages = case.messages
    if isinstance(messages, HistoryPrefix):
        calls = messages.fold(_RepeatedCalls)
    else:
        calls = _RepeatedCalls()
        calls.read(messages)
    return bool(messages) and calls.latest[len(messages) - 1] >= _start(case)


class _RepeatedCalls:
    """A fold over a history: which calls were made before.

    Attributes:
        latest: for each message, the latest one with a call that it or a message before it repeats; -1 if none does.
    """

    def __init__(self) -> None:
        self.latest: list[int] = []
        self._before: list[list[tuple[int, int]]] = []  # of each message, its calls, and where each was made before
        self._last: dict[int, int] = {}

    def read(self, messages: Sequence[Message]) -> None:
        for n in range(len(self.latest), len(messages)):
            latest, before = self.latest[-1] if n else -1, list[tuple[int, int]]()
            for digest in fact(messages[n], _digests):
                before.append((digest, self._last.get(digest, -1)))
                latest = max(latest, before[-1][1])
                self._last[digest] = n
            self.latest.append(latest)
            self._before.append(before)

    def fork(self, length: int) -> _RepeatedCalls:
        other = _RepeatedCalls()
        other.latest, other._before, other._last = self.latest[:length], self._before[:length], dict(self._last)
        for before in reversed(self._before[length:]):
            for digest, place in reversed(before):
                other._last[digest] = place
        return other


def _start(case: RuleContext) -> int:
    """The first message that ``steps`` reads."""
    questions = case.numbers(is_question) if case.earlier.exchanges else ()
    if not questions:
        return 0
    start = questions[-1]
    recent = case.closure.lines[-_MOST_OPEN:]
    open_then = [line.call.message for line in recent if line.call and _is_open_at(line, start)]
    return questions[max(bisect_right(questions, min(open_then)) - 1, 0)] if open_then else start


def _is_open_at(line: CallLine, number: int) -> bool:
    """A call of the request that was made before a message, and answered after it."""
    is_before = line.call is not None and line.call.side == REQUEST and line.call.message < number
    return is_before and bool(line.results) and line.results[0].message > number


def _digests(message: Message) -> tuple[int, ...]:
    return tuple([call_digest(call, is_loose=True) for _, call in message.tool_calls()])


def _outcomes(message: Message) -> Mapping[int, ResultReading]:
    """Part of a message → outcome of the call whose result it is."""
    return {k: classify(result) for k, result in message.tool_results()}


@asked_of(ToolResultIR)
def failures(message: Message) -> int:
    """Number of its results that report a failure, or nothing."""
    kinds = [outcome_of(result) for _, result in message.tool_results()]
    return sum([kind in FAILURES or kind is ResultOutcome.EMPTY for kind in kinds])


@asked_of(Text)
def is_question(message: Message) -> bool:
    """The user speaks in it."""
    return message.role == "user" and any(isinstance(p, Text) and p.text.strip() for p in message.parts)


def has_effect(call: ToolCallIR, tools: Mapping[str, ToolDef]) -> bool:
    """True if two calls have two effects, by annotations, name and description; no hint counts as read-only."""
    tool = tools.get(call.name or "")
    hints = _hints(tool)
    if hints.get("readOnlyHint") is True or hints.get("idempotentHint") is True:
        return False
    words = _words(call.name or "")
    if words == ("add",):
        return False  # numbers, more often than not
    verdict = _verb(words)
    if verdict is None and tool and tool.description:
        verdict = _verb(_words(tool.description)[:1])
    return verdict is True


def is_read(call: ToolCallIR) -> bool:
    """Its name says that it looks something up."""
    return _verb(_words(call.name or "")) is False


def _hints(tool: ToolDef | None) -> Mapping[str, object]:
    annotations = tool.extra.get("annotations") if tool else None
    return annotations if isinstance(annotations, Mapping) else {}


def _words(text: str) -> tuple[str, ...]:
    return _words_of(text[:200])


@lru_cache(maxsize=1024)
def _words_of(text: str) -> tuple[str, ...]:
    """Words of a name or a description; the same few are asked for in each exchange."""
    return tuple(word.lower() for word in _WORD.findall(text))


@lru_cache(maxsize=1024)
def _verb(words: tuple[str, ...]) -> bool | None:
    """True if they name an action; False for what may be a read, None if it is not known."""
    if any(map(_READ.fullmatch, words)):
        return False
    return True if any(map(_EFFECT.fullmatch, words)) else None


def is_told(case: RuleContext, step: PastCall) -> bool:
    """The request before held this call already: what is to be said of it was said there."""
    return step.ref.message < first_new(case)


def first_new(case: RuleContext) -> int:
    """The first message that the request before did not hold; 0 if the server holds the history."""
    if case.request and case.request.previous_id:
        return 0
    before = case.peek(case.earlier.exchanges[-1]) if case.earlier.exchanges else None
    return len(before.messages(REQUEST)) if before else 0


def has_broken_off(attempt: DecodedExchange) -> bool:
    """The request got no answer that anybody could use."""
    answer, http = attempt.response, attempt.exchange.response
    if answer is None or answer.error or (http and http.status >= 300):
        return True
    return not answer.is_complete or not any(message.parts for message in answer.messages)
