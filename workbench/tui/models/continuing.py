"""Lines of the screen that continues a conversation: completed steps, the pending step, and the details of a step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench import regex
from workbench.lazy_dataclass import dataclass, field
from workbench.tui.models.rows import layout_rows
from workbench.tui.models.send import corrected_words
from workbench.views import REQUEST_SIGNS, Line, Span, count, line, size, wrap

if TYPE_CHECKING:
    from workbench.contracts import Judgement
    from workbench.edits.branches import BranchNode
    from workbench.ir import JsonValue
    from workbench.probes.profiles import Correction
    from workbench.send import Outgoing
    from workbench.send.loop import AnswerCall, CallResult, ConversationLoop, Limits, LoopEnd, Send, Step

_MEMBER = regex.compile(r'("(?:[^"\\]|\\.)*")(?=: )')
MOST = 400
"""Lines of a value that are shown."""


class Offer(NamedTuple):
    """A possible tool result for a call, and its source in words."""

    result: CallResult
    origin: str


@dataclass(frozen=True, slots=True)
class Pending:
    """The pending step.

    Attributes:
        step: the step.
        offers: available results of a tool call, the likeliest first.
        leaving: the request as it would be sent; None if it cannot be sent, for the reason in ``why``.
        is_changed: True if the request was edited by hand.
    """

    step: Step
    offers: tuple[Offer, ...] = ()
    leaving: Outgoing | None = None
    why: str = ""
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A completed step.

    Attributes:
        loop: the loop before the step.
        node: the branch node before the step.
        pending: the step.
        offer: source of a tool result.
        status: HTTP status; None without a response.
        calls: names of the tool calls in the response.
        judgement: verdict of the contract on the exchange.
        said: text of a user message, if the step was one.
    """

    loop: ConversationLoop
    node: BranchNode
    pending: Pending
    offer: Offer | None = None
    status: int | None = None
    calls: tuple[str, ...] = ()
    judgement: Judgement | None = None
    note: str = ""
    said: str = field(default="")


def facts(
    loop: ConversationLoop, records: Sequence[StepRecord], running: str, corrections: Sequence[Correction] = ()
) -> Line:
    """Corrections, progress and limits of the conversation."""
    limits = loop.limits
    turns = f"{loop.turns} of {limits.turns} requests" if limits.turns else count(loop.turns, "request")
    about = "about " if loop.is_estimated else ""
    tokens = (
        f"{about}{loop.tokens:,} of {limits.tokens:,} tokens" if limits.tokens else f"{about}{loop.tokens:,} tokens"
    )
    repeats = f"at most {limits.repeats} repeats of a call" if limits.repeats else "no limit on repeated calls"
    text = f"{turns} · {tokens} · {count(len(records), 'step')} done · {repeats}"
    by = course_words(loop, corrections)
    return line(
        Span(f"{running} · " if running else "", "accent"), Span(f"{by} · " if by else "", "info"), Span(text, "muted")
    )


def course_words(loop: ConversationLoop, corrections: Sequence[Correction]) -> str:
    """Number and effects of the corrections; empty if there are none."""
    policy, errors = loop.policy, loop.limits.errors
    phrases = (
        "one call at a time" if policy.is_serial else "",
        f"calls are read from text as {loop.parser}" if loop.parser else "",
        f"pause after {count(errors, 'error')}" if errors else "",
        f"{count(len(policy.closed), 'tool')} not offered" if policy.closed else "",
    )
    text = ", ".join(filter(None, phrases))
    return ": ".join(filter(None, (corrected_words(corrections), text))) if corrections else ""


def done_line(record: StepRecord) -> Line:
    """Line of a completed step."""
    from workbench.send.loop import AnswerCall, Send

    step = record.pending.step
    if isinstance(step, AnswerCall):
        failed = bool(record.offer and record.offer.result.is_error)
        return line(
            Span("= ", "warning" if failed else "ok"),
            Span(f"{step.call.name or '(no name)'}  ", "strong"),
            Span(f"{'error' if failed else 'result'}, {record.offer.origin if record.offer else ''}", "muted"),
        )
    if isinstance(step, Send):
        return _sent_line(step, record)
    return line(Span("> ", "ok"), Span("user  ", "strong"), Span(record.said, "muted"))


def _sent_line(step: Send, record: StepRecord) -> Line:
    judgement = record.judgement
    sign, style = REQUEST_SIGNS[judgement.verdict.value] if judgement else ("?", "muted")
    verdict = f"  {judgement.verdict.value}" if judgement else ""
    called = f" · calls {', '.join(record.calls)}" if record.calls else ""
    return line(
        Span(f"{sign} ", style),
        Span(f"sent  {record.status or record.note or 'no response'}", "strong"),
        Span(verdict, style),
        Span(f" · {_new(step)}{called}", "muted"),
    )


def _new(step: Send) -> str:
    return f"{count(len(step.added), 'new element')}" if step.added else "unchanged"


def pending_line(pending: Pending | None, offer: Offer | None) -> Line:
    """The step that is next."""
    from workbench.send.loop import AnswerCall, Send

    if pending is None:
        return line(Span("… preparing the next step", "muted"))
    step = pending.step
    if isinstance(step, AnswerCall):
        bad = step.refusal is not None
        origin = step.call.id or "" if offer else "no result yet · e: write one"
        return line(
            Span("next  ", "accent strong"),
            Span(f"answer {step.call.name or '(no name)'}  ", "strong"),
            Span("invalid arguments  " if bad else "", "error"),
            Span(origin, "muted" if offer else "warning"),
        )
    if isinstance(step, Send):
        changed = ", edited" if pending.is_changed else ""
        lead = line(Span("next  ", "accent strong"), Span("send  ", "strong"), Span(_new(step) + changed, "muted"))
        return (*lead, Span(f"  {pending.why}", "error")) if pending.why else lead
    style = "ok" if step.reason == "done" else "warning" if step.reason.is_limit else "error"
    return line(Span("end   ", f"{style} strong"), Span(step.text, style))


def detail(pending: Pending | None, offer: Offer | None, target_words: str, width: int, target: str = "") -> list[Line]:
    """Everything about a step; ``target``: name of the target that the step after a result goes to."""
    from workbench.send.loop import AnswerCall, Send

    if pending is None:
        return wrap("preparing the next step …", width, "muted")
    step = pending.step
    if isinstance(step, AnswerCall):
        return [*_call(step, width), *_result(offer, width), *_plan(step, target, width)]
    if isinstance(step, Send):
        return list(_request(step, pending, width))
    return list(_end(step, target_words, width))


def _call(step: AnswerCall, width: int) -> Iterator[Line]:
    of = f"call {step.number + 1} of {step.of}" if step.of > 1 else "only call in the response"
    text = f"  {step.call.id or 'no id'} · {of}"
    yield line(Span(step.call.name or "(no name)", "call strong"), Span(text, "muted"))
    if step.refusal:
        yield from wrap(f"✗ {step.refusal.code.value}: {step.refusal.message}", width, "error", indent=2)
        raw = step.call.raw if step.call.raw is not None else _json(step.call.input)
        yield from wrap(raw, width, "string", indent=2, most=MOST)
    else:
        yield from _value(step.arguments, width)


def _plan(step: AnswerCall, target: str, width: int) -> Iterator[Line]:
    """What follows the result of a call; nothing for a step that is done."""
    if target:
        yield ()
        yield line(Span("then  ", "accent strong"), Span(_after(step.of - step.number - 1, target), "muted"))


def _after(calls: int, target: str) -> str:
    if calls:
        return f"{count(calls, 'more call')} to answer, then a request to {target}"
    return f"a request to {target} with the tool results; it is shown before it is sent"


def _result(offer: Offer | None, width: int) -> Iterator[Line]:
    yield ()
    if offer is None:
        yield line(Span("no result  ", "warning strong"), Span("no recorded result · e: write one", "muted"))
        return
    failed = offer.result.is_error
    yield line(
        Span("the tool failed  " if failed else "result  ", f"{'error' if failed else 'result'} strong"),
        Span(offer.origin, "muted"),
    )
    yield from wrap(
        result_text(offer.result) or "(empty)", width, "" if result_text(offer.result) else "muted", indent=2, most=MOST
    )


def result_text(result: CallResult) -> str:
    """Text of a tool result; other parts by the name of their type."""
    from workbench.ir import Text

    texts = (p.text if isinstance(p, Text) else f"({type(p).__name__.lower()})" for p in result.content)
    return "\n".join(texts)


def _request(step: Send, pending: Pending, width: int) -> Iterator[Line]:
    going = pending.leaving.request if pending.leaving else step.request
    is_same = going.body.raw == step.request.body.raw
    words = "everything before this place is unchanged" if is_same else "as sent"
    what = f"new in {step.pointer}" if step.added else "the request unchanged"
    yield line(Span(what, "strong"), Span(f"  {size(len(going.body.raw))} in total,  {words}", "muted"))
    notes = (*step.notes, *(pending.leaving.notes if pending.leaving else ()))
    losses = pending.leaving.losses if pending.leaving else ()
    yield from (each for note in notes for each in wrap(f"· {note}", width, "info", indent=2))
    yield from (each for loss in losses for each in wrap(f"! lost: {loss.what}", width, "warning", indent=2))
    if pending.why:
        yield from wrap(f"✗ {pending.why}", width, "error", indent=2)
    for value in step.added:
        yield ()
        yield from _value(value, width)
    yield ()
    yield line(Span("the whole request", "strong"))
    yield from ((Span("  "), *row) for row in layout_rows(going.body.raw, width - 2, MOST))


def _end(step: LoopEnd, words: str, width: int) -> Iterator[Line]:
    yield line(Span(step.text, "strong"))
    if words:
        yield ()
        yield from wrap(words, width, indent=2, most=MOST)
    yield ()
    if step.reason.is_limit:
        yield from wrap("L: set other limits and continue", width, "muted")
    elif step.reason == "done":
        yield from wrap("e: write the next user message and continue · u: step back", width, "muted")
    else:
        yield from wrap("u: step back", width, "muted")


def _value(value: JsonValue, width: int) -> Iterator[Line]:
    for text in json.dumps(value, ensure_ascii=False, indent=2).split("\n")[:MOST]:
        depth = len(text) - len(text.lstrip())
        first, *rest = wrap(text.lstrip(), width, "string", indent=2 + depth)
        yield _with_key(first)
        yield from rest


def _with_key(of: Line) -> Line:
    """A line of JSON whose member name has a style of its own."""
    *margin, last = of
    found = _MEMBER.match(last.text)
    return line(*margin, Span(found[1], "key"), Span(last.text[found.end(1) :], "string")) if found else of


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def limits_text(limits: Limits) -> str:
    """Limits as people type them."""
    return f"{limits.turns} {limits.tokens} {limits.repeats} {limits.errors}"


def limits_of(text: str) -> Limits | None:
    """Parse typed limits: requests, tokens, repeats of one call, errors in a row; None if they are invalid."""
    from workbench.send.loop import Limits

    words = text.split()
    if not 1 <= len(words) <= 4 or not all(word.isascii() and word.isdecimal() for word in words):
        return None
    return Limits(*(int(word) for word in words))
