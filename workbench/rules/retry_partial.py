"""Remains of a failed attempt: half a call or half a text in the answer of the next attempt."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.ir import Message, ModelResponse, NodeRef, Text, ToolCallIR
from workbench.named_tuple import NamedTuple
from workbench.protocols import REQUEST, RESPONSE, asked_of
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.wording import quote, weaker

STALE = Rule(
    "retry.stale-partial",
    Severity.ERROR,
    "Output of a failed attempt is mixed into the next attempt.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)

RULES = (STALE,)

SHORTEST = 24
"""Characters of a beginning that comes twice: shorter ones are how people and models talk."""


MOST_ATTEMPTS = 3
"""Further attempts that a text may hold: one that comes over and over is a model that repeats itself."""


class _IncompleteAnswer(NamedTuple):
    """An answer that was cut off, and the one that came next."""

    exchange: int
    answer: ModelResponse
    after: ModelResponse


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on what the history holds of answers that were never whole."""
    for n, message in case.suspects(_has_left_call):
        yield from _left_calls(case, n, message)
    for n, message in case.suspects(_begins_anew):
        yield from _anew(case, n, message)
    yield from _doubled_answer(case)
    incomplete = list(_incomplete_answers(case))
    for n, message in enumerate(case.messages) if incomplete else ():
        if message.role == case.contract.closure.call_role:
            yield from _check_mixed(case, n, message, incomplete)


@asked_of(ToolCallIR)
def _has_left_call(message: Message) -> bool:
    broken = [call for _, call in message.tool_calls() if call.error is not None]
    return bool(broken) and any(map(_Whole(message).of, broken))


def _left_calls(case: RuleContext, number: int, message: Message) -> Iterator[Finding]:
    """A call of a failed attempt beside the one that was made in its place."""
    found = _Whole(message)
    for k, call in message.tool_calls():
        whole = found.of(call)
        if whole is not None:
            text = (
                f"the arguments of this call are a truncated copy of those of {quote(whole.id, 60)}: the copy is "
                "left over from a failed attempt"
            )
            yield case.at(STALE, NodeRef(REQUEST, number, k), text, evidence=quote(call.raw))


class _Whole:
    """The whole calls of a message, found by how the text of their arguments begins."""

    def __init__(self, message: Message) -> None:
        self._texts = defaultdict[str | None, list[tuple[str, int]]](list)  # by name: (text, number), sorted
        self._calls = [call for _, call in message.tool_calls()]
        self._known: dict[tuple[str | None, str], ToolCallIR | None] = {}
        for number, call in enumerate(self._calls):
            if call.error is None:
                self._texts[call.name].append(((call.raw or "").strip(), number))
        for texts in self._texts.values():
            texts.sort()

    def of(self, call: ToolCallIR) -> ToolCallIR | None:
        """The first one whose text continues where that of an incomplete call ends."""
        began = (call.raw or "").strip() if call.error is not None else ""
        if not began:
            return None
        if (call.name, began) not in self._known:
            self._known[call.name, began] = self._find(self._texts.get(call.name, []), began)
        return self._known[call.name, began]

    def _find(self, texts: list[tuple[str, int]], began: str) -> ToolCallIR | None:
        first = None
        for text, number in islice(texts, bisect_left(texts, (began, 0)), None):
            if not text.startswith(began):
                break
            if text != began and (first is None or number < first):
                first = number
        return None if first is None else self._calls[first]


@asked_of(Text)
def _begins_anew(message: Message) -> bool:
    texts = [p.text for p in message.parts if isinstance(p, Text)] if message.role in ("assistant", "model") else ()
    least = 1 if texts and _has_left_call(message) else SHORTEST
    return any(_restart(text, least) for text in texts)


def _anew(case: RuleContext, number: int, message: Message) -> Iterator[Finding]:
    """A text that begins again in its middle, and did not come in like that."""
    least = 1 if _has_left_call(message) else SHORTEST
    for k, part in enumerate(message.parts):
        at = _restart(part.text, least) if isinstance(part, Text) else 0
        if isinstance(part, Text) and at and not _came_in(case, part.text):
            text = "the text starts again in the middle: the text of a failed attempt precedes it"
            ref = NodeRef(REQUEST, number, k)
            rule = STALE if least == 1 else weaker(STALE)
            yield case.within(rule, ref, "text", (0, at), text, evidence=quote(part.text[at:]))


LEAST_ANSWER = 32
"""Characters of an answer that come twice: lists and tables repeat what is shorter."""


def _doubled_answer(case: RuleContext) -> Iterator[Finding]:
    """A text of an answer that begins again: a server or relay tried again, and the client was sent both attempts."""
    for n, message in enumerate(case.response.messages if case.response else ()):
        before: Text | None = None
        for k, part in enumerate(message.parts):
            if not isinstance(part, Text):
                continue
            at = _restart(part.text, LEAST_ANSWER)
            ref, sentence = NodeRef(RESPONSE, n, k), "the text starts again in the middle: a failed attempt precedes it"
            if at and "\n" not in part.text[at - 1 : at + 1]:
                yield case.within(weaker(STALE), ref, "text", (0, at), sentence, evidence=quote(part.text[at:]))
            elif before and len(before.text) >= LEAST_ANSWER and part.text.startswith(before.text):
                sentence = "the text starts like the one before it: a failed attempt precedes it"
                yield case.at(weaker(STALE), ref, sentence, name="text", evidence=quote(part.text))
            before = part


def _is_refrain(text: str) -> bool:
    """A shorter text over and over: a model that repeats itself, not a beginning that comes twice."""
    return (text + text).find(text, 1) < len(text)


def _restart(text: str, least: int) -> int:
    """The character at which a text of two beginnings begins again, 0 where it does not."""
    at = text.find(text[:least], least) if len(text) >= 2 * least else -1
    while at > 0:
        if text.startswith(text[:at], at):
            return 0 if _is_refrain(text[:at]) or text.startswith(text[:at] * MOST_ATTEMPTS, at) else at
        at = text.find(text[:least], at + 1) if at * 2 < len(text) else -1
    return 0


def _came_in(case: RuleContext, text: str) -> bool:
    parts = (p for _, a in case.earlier.answers for m in a.messages for p in m.parts)
    return any(isinstance(p, Text) and text.strip() in p.text for p in parts)


def _incomplete_answers(case: RuleContext) -> Iterator[_IncompleteAnswer]:
    answers = case.earlier.answers
    for n in case.earlier.broken:
        if n + 1 < len(answers):
            yield _IncompleteAnswer(*answers[n], answers[n + 1][1])


def _check_mixed(
    case: RuleContext, number: int, message: Message, incomplete: Sequence[_IncompleteAnswer]
) -> Iterator[Finding]:
    """Calls or text of an incomplete answer beside those of the next."""
    ids = {call.id for _, call in message.tool_calls() if call.id}
    for exchange, answer, after in incomplete:
        where = f"the response of exchange {exchange + 1}, which is incomplete"
        foreign_ids = ids & _ids(answer) - _ids(after)
        for k, call in message.tool_calls() if foreign_ids and ids & _ids(after) else ():
            if call.id in foreign_ids:
                text = f"this call belongs to {where}; other calls next to it belong to the next attempt"
                yield case.at(STALE, NodeRef(REQUEST, number, k), text)
        began, whole = _answer_text(answer), _answer_text(after)
        for k, part in enumerate(message.parts):
            if (
                began.strip()
                and whole.strip()
                and isinstance(part, Text)
                and part.text.strip() == (began + whole).strip()
            ):
                text = f"the text begins with the received part of {where}"
                yield case.within(STALE, NodeRef(REQUEST, number, k), "text", (0, len(began)), text)


def _ids(answer: ModelResponse) -> set[str]:
    return {call.id for message in answer.messages for _, call in message.tool_calls() if call.id}


def _answer_text(answer: ModelResponse) -> str:
    return "".join(p.text for m in answer.messages for p in m.parts if isinstance(p, Text))
