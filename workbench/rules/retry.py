"""Effects that are carried out again, and steps of a history that repeat without end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from workbench import regex
from workbench.contracts import Basis, Breaks, Finding, Severity
from workbench.ir import Message, ToolCallIR, ToolResultIR
from workbench.lazy_dataclass import replace
from workbench.protocols import REQUEST, asked_of
from workbench.rules._shared.context import Rule, RuleContext
from workbench.rules._shared.outcomes import BARE_STATUS, ResultOutcome, has_failed, without_places
from workbench.rules._shared.repeats import (
    PastCall,
    failures,
    first_new,
    has_broken_off,
    has_effect,
    has_repeated_call,
    is_read,
    is_told,
    steps,
)
from workbench.rules._shared.server_held_repeats import held_steps
from workbench.rules._shared.wording import quote, with_related

WARNING = Severity.WARNING

DUPLICATE = Rule(
    "retry.duplicate-side-effect",
    WARNING,
    "A tool call with side effects runs again.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)
LOOP = Rule(
    "retry.loop",
    WARNING,
    "The same failing or useless step repeats.",
    breaks=Breaks.CONVERSATION,
    basis=Basis.RECORDING,
)

RULES = (DUPLICATE, LOOP)

FAILING, USELESS, FLAILING, SEARCHING = 3, 4, 5, 8
"""Repetitions that are a loop: of a call that fails or finds nothing, of one call with one result, of one error
whatever is called, of one tool that finds nothing whatever it is asked."""

FORCED = 2
"""Repetitions that are a loop of the tool that tool_choice names, where each fails, finds nothing or reads the same: no
response can be without it. What it does may be meant for something else each time."""

WAITING = 20
"""Repetitions that are a loop of one call that waits: its name or its result says so."""

_WAITS = regex.compile(
    r"(?:^|_|-|\b)(?:poll|wait|watch|status|progress|sleep|check|health|inbox|receive|next|tail|monitor|job|task)s?"
    r"(?:$|_|-|\b)|BashOutput|read_?output",
    re.IGNORECASE,
)
"""Names of tools that are called until something comes."""

_SLEEP = regex.compile(r"\b(?:sleep|wait|timeout)\b")

UNSURE = regex.compile(
    r"timed?[ -]?out|deadline exceeded|connection (?:reset|closed|lost|aborted)|\b50[24]\b|interrupted", re.IGNORECASE
)
"""A failure after which nobody knows whether the effect was reached."""

LONGEST_PERIOD = 3
"""Calls that take turns in a loop."""

LOOKED_BACK = 8
"""Exchanges that are searched for a run which broke off."""


def check(case: RuleContext) -> Iterator[Finding]:
    """Findings on the history of a request."""
    if case.request is None:
        return
    yield from _loops(case, held_steps(case))
    if not _may_repeat(case):
        return
    history = steps(case)
    yield from _effects(case, history)
    yield from _loops(case, history)


def _may_repeat(case: RuleContext) -> bool:
    """The quick question before the history is read: a call twice, failures, or an effect that has just come in."""
    if has_repeated_call(case) or _has_enough_failures(case):
        return True
    answers = case.earlier.answers[-1:]
    return any(has_effect(call, case.tools) for _, answer in answers for call in _calls(answer.messages))


def _has_enough_failures(case: RuleContext) -> bool:
    """Enough calls failed, the last of them just now."""
    if len(case.numbers(_has_results)) < FAILING:
        return False  # and the results need not be read
    failed = case.numbers(failures)
    return len(failed) >= FAILING and failed[-1] >= first_new(case)


@asked_of(ToolResultIR)
def _has_results(message: Message) -> bool:
    return bool(message.tool_results())


def _effects(case: RuleContext, history: Sequence[PastCall]) -> Iterator[Finding]:
    """The same call with the same arguments, carried out once more while one question is answered.

    A failure that does not tell whether the effect was reached (a timeout) counts as carried out.
    """
    first_calls: dict[tuple[int, int], PastCall] = {}
    names = {step.call.name: step.call for step in history}
    effects = {name for name, call in names.items() if has_effect(call, case.tools)}
    for step in history:
        if (
            not step.is_answered
            or step.call.name not in effects
            or (step.is_failed and not UNSURE.search(step.outcome))
        ):
            continue
        first = first_calls.setdefault((step.digest, step.question), step)
        if first is step:
            yield from _effect_before(case, step)
        elif not is_told(case, step):
            where = f"message {first.ref.message + 1} ({case.pointer(first.ref)}): {quote(first.outcome)}"
            how = "may have run" if first.is_failed else "already ran"
            finding = _effect(case, step, f"{how} in {where} · now: {quote(step.outcome)}", is_sure=not first.is_failed)
            if first.ref.message == step.ref.message:
                finding = replace(finding, severity=Severity.INFO)  # one turn asked for both: it may be meant
            yield with_related(finding, [case.pointer(first.ref)])


def _effect(case: RuleContext, step: PastCall, evidence: str, *, is_sure: bool = True) -> Finding:
    name = quote(step.call.name, 60)
    message = f"{name} already ran with these arguments, and now runs again"
    if not is_sure:
        message = f"{name} timed out with these arguments; the call may have taken effect anyway, and is now repeated"
    return case.at(DUPLICATE, step.ref, message, evidence=evidence)


def _effect_before(case: RuleContext, step: PastCall) -> Iterator[Finding]:
    """Find a call that was already run in an earlier, aborted run that this history does not contain."""
    last = case.earlier.answers[-1:]
    if not last or not any(_is_same(c, step.call) and c.id == step.call.id for c in _calls(last[0][1].messages)):
        return  # only what has just come in: of the rest earlier requests told
    here = {call.id for call in _calls(case.messages)}
    for exchange in range(case.decoded.index - 1, max(case.decoded.index - LOOKED_BACK, 0) - 1, -1):
        seen = case.peek(exchange)
        if seen is None or not has_broken_off(seen) or seen.messages(REQUEST)[:1] != case.messages[:1]:
            continue
        results = {r.tool_call_id for m in seen.messages(REQUEST) for _, r in m.tool_results() if not has_failed(r)}
        for call in _calls(seen.messages(REQUEST)):
            if _is_same(call, step.call) and call.id in results - here:
                candidates = (
                    f"exchange {exchange + 1} contains the same call ({quote(call.id)}) and its result, but got no "
                    "response"
                )
                yield _effect(case, step, f"{candidates}; this request repeats the conversation without that call")
                return


def _calls(messages: Iterable[Message]) -> Iterator[ToolCallIR]:
    return (call for message in messages for _, call in message.tool_calls())


def _is_same(call: ToolCallIR, other: ToolCallIR) -> bool:
    return (call.name, call.input, call.error) == (other.name, other.input, other.error)


def _loops(case: RuleContext, history: Sequence[PastCall]) -> Iterator[Finding]:
    """Steps that come again with the same outcome; the last of them tells."""
    reported: set[int] = set()
    for period in range(1, LONGEST_PERIOD + 1):
        for start, stop in _runs([(s.digest, _same_outcome(s), s.question) for s in history], period):
            times, last = (stop - start) // period, history[stop - 1]
            if times < _least(case, last) or not last.is_answered or reported & set(range(start, stop)):
                continue
            reported |= set(range(start, stop))
            if not is_told(case, last):
                yield _loop(case, history[start:stop], period, times)
    for is_varied in (False, True):
        for start, stop in _runs([_shared_failure(s, is_varied=is_varied) for s in history], 1):
            run = history[start:stop]
            turns = len({step.turn for step in run})
            if reported & set(range(start, stop)) or turns < _least_varied(run[-1], is_varied=is_varied):
                continue
            reported |= set(range(start, stop))
            if not is_told(case, run[-1]):
                yield _repetition_finding(case, run, is_varied=is_varied)


def _same_outcome(step: PastCall) -> str:
    """The outcome of a call, to compare with other outcomes of the same call."""
    is_fruitless = step.is_failed or step.kind is ResultOutcome.EMPTY
    return without_places(step.mark) if is_fruitless else step.mark


def _least(case: RuleContext, last: PastCall) -> int:
    """Repetitions of one call that are a loop."""
    if _is_forced(case, last):
        is_useless = last.is_failed or last.kind is ResultOutcome.EMPTY or is_read(last.call)
        return FORCED if is_useless else FAILING
    if last.kind is ResultOutcome.PENDING:
        return WAITING
    if last.kind in (ResultOutcome.EMPTY, ResultOutcome.SILENT) and _is_wait(last.call):
        return WAITING
    is_fruitless = (
        last.is_failed or last.kind is ResultOutcome.EMPTY or (last.kind is ResultOutcome.SILENT and is_read(last.call))
    )
    return FAILING if is_fruitless else USELESS


def _is_forced(case: RuleContext, last: PastCall) -> bool:
    choice = case.request.tool_choice if case.request else None
    return choice is not None and choice.mode == "tool" and choice.name == last.call.name


def _is_wait(call: ToolCallIR) -> bool:
    arguments = call.input.values() if isinstance(call.input, Mapping) else ()
    return bool(_WAITS.search(call.name or "")) or any(isinstance(v, str) and _SLEEP.search(v[:200]) for v in arguments)


def _shared_failure(step: PastCall, *, is_varied: bool) -> object:
    """Common outcome of calls with other arguments or of other tools that all return nothing."""
    is_alike = step.is_failed or (step.kind is ResultOutcome.EMPTY and not is_varied and not _is_wait(step.call))
    return (None if is_varied else step.call.name, step.mark, step.question) if is_alike else step.ref


def _least_varied(last: PastCall, *, is_varied: bool) -> int:
    """Turns that end in one outcome, whatever the arguments, and are a loop."""
    if last.kind is ResultOutcome.EMPTY:
        return SEARCHING
    is_explained = last.kind is ResultOutcome.FAILED and not BARE_STATUS.fullmatch(last.outcome)
    return FAILING if is_explained and not is_varied else FLAILING


def _repetition_finding(case: RuleContext, run: Sequence[PastCall], *, is_varied: bool) -> Finding:
    last = run[-1]
    calls = f"{len(run)} calls" if is_varied else f"{len(run)} calls to {quote(last.call.name, 60)}"
    message = (
        f"{calls} in a row ended in the same error; repeating them does not help"
        if last.is_failed
        else f"{calls} in a row returned nothing, with any arguments"
    )
    finding = case.at(LOOP, last.ref, message, evidence=quote(last.outcome))
    return with_related(finding, [case.pointer(step.ref) for step in run])


def _repetition_words(tool: str, period: int, times: int, *, is_failed: bool) -> str:
    if period == 1 and is_failed:
        return f"the call to {tool} was made {times} times with the same arguments and failed in the same way each time"
    if period == 1:
        return (
            f"the call to {tool} was made {times} times with the same arguments and returned the same result each time"
        )
    if is_failed:
        return f"the same {period} calls were made {times} times and failed in the same way each time"
    return f"the same {period} calls were made {times} times and returned the same results each time"


def _loop(case: RuleContext, run: Sequence[PastCall], period: int, times: int) -> Finding:
    last = run[-1]
    message = _repetition_words(quote(last.call.name, 60), period, times, is_failed=last.is_failed)
    if _is_forced(case, last):
        message += "; tool_choice forces this call in every response"
    finding = case.at(LOOP, last.ref, message, evidence=quote(last.outcome))
    return with_related(finding, [case.pointer(step.ref) for step in run])


def _runs(marks: Sequence[object], period: int) -> Iterator[tuple[int, int]]:
    """(start, stop) of the longest stretches in which each mark is that of ``period`` places before."""
    start = 0
    for n in range(period, len(marks) + 1):
        if n == len(marks) or marks[n] != marks[n - period]:
            if n - start >= 2 * period:
                yield start, n
            start = n - period + 1
