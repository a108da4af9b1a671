"""Lines of the screen that steps through a probe: sent requests, the pending one, and reasons of the verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.ir import Text, ToolCallIR, ToolResultIR
from workbench.safetext import cells
from workbench.tui.models.ir import node_body, node_line
from workbench.views import (
    PROBE_SIGNS,
    REQUEST,
    RESPONSE,
    SEVERITY_GLYPH,
    Line,
    Span,
    count,
    fact_words,
    line,
    plain,
    size,
    wrap,
)
from workbench.wire import dumps

if TYPE_CHECKING:
    from workbench.ir import Message, Part
    from workbench.probes import Probe, Sample
    from workbench.tui.screens.lab.probe_sample import SampleState, SentRequest

SHORT = 60
"""Characters of the summary of a response, at most."""


def sent_line(sent_request: SentRequest) -> Line:
    """Line of a request that was sent."""
    status = sent_request.exchange.response.status if sent_request.exchange.response else 0
    sign, style = ("✓", "ok") if 200 <= status < 300 else ("✗", "error")
    changed = line(Span("~ edited ", "warning")) if sent_request.is_changed else ()
    return line(
        Span(f"{sign} {status or '---'}  ", style),
        *changed,
        Span(sent_request.ask.title),
        Span(f" · {response_words(sent_request)}", "muted"),
    )


def pending_line(state: SampleState | None, *, is_sending: bool) -> Line:
    """Line of the pending request, or of the verdict."""
    if state is None:
        return line(Span("… preparing the next request", "muted"))
    if state.sample:
        sign, style = PROBE_SIGNS[state.sample.outcome.value]
        words = Span(state.sample.words, "muted")
        return line(Span(f"end   {sign} {state.sample.outcome.value}  ", f"{style} strong"), words)
    assert state.ask
    word = "… sending  " if is_sending else "next  "
    edited = Span("~ edited ", "warning") if state.is_changed else Span("")
    return line(Span(word, "accent strong"), edited, Span(state.ask.title, "strong"))


def response_words(sent_request: SentRequest) -> str:
    """Content of a response in a few words."""
    answer = sent_request.opened.decoded.response
    if answer is None:
        return sent_request.exchange.note or "no readable response"
    if answer.error is not None:
        return answer.error.message[:SHORT]
    parts = [part for message in answer.messages for part in message.parts]
    calls = [part.name or "(no name)" for part in parts if isinstance(part, ToolCallIR)]
    if calls:
        return f"calls {', '.join(calls)}"
    text = " ".join(part.text for part in parts if isinstance(part, Text)).split()
    return f"text: {' '.join(text)[:SHORT]}" if text else "empty"


def sample_lines(probe: Probe, state: SampleState | None, width: int) -> list[Line]:
    """Requests, responses and findings so far, then the verdict."""
    lines = [*wrap(f"{probe.name}: {probe.title}", width, "strong")]
    if state is None:
        return lines
    for number, sent in enumerate(state.sent, 1):
        lines += _request_lines(number, sent, width)
    if state.ask:
        lines += _next(state, width)
    if state.sample:
        lines += _verdict(state.sample, width, is_changed=any(sent.is_changed for sent in state.sent))
    return lines


def _request_lines(number: int, sent_request: SentRequest, width: int) -> Iterator[Line]:
    yield ()
    yield line(Span(f"{number}  ", "accent strong"), Span(sent_request.ask.title, "strong"))
    if sent_request.is_changed:
        yield from wrap("~ edited before it was sent", width, "warning", indent=3)
    status = sent_request.exchange.response.status if sent_request.exchange.response else 0
    yield from wrap(f"status {status or 'none'}", width, "ok" if 200 <= status < 300 else "error", indent=3)
    answer = sent_request.opened.decoded.response
    if answer and answer.error:
        yield from wrap(answer.error.message, width, "error", indent=3, most=6)
    for message in answer.messages if answer else ():
        for part in message.parts:
            yield from wrap(_part(part), width, _style(part), indent=3, most=4)
    for found in sent_request.opened.row.findings:
        sign = SEVERITY_GLYPH[found.severity]
        yield from wrap(f"{sign} {found.rule}: {found.message}", width, found.severity.value, indent=3, most=3)


def _next(state: SampleState, width: int) -> Iterator[Line]:
    yield ()
    if state.is_changed:
        yield from wrap("~ edited by you · u: undo", width, "warning", indent=3)
    if state.why:
        yield from wrap(f"✗ {state.why}", width, "error", indent=3)
    for part in _new_parts(state):
        yield from wrap(_part(part), width, _style(part), indent=3, most=4)
    yield from wrap("no verdict yet", width, "muted", indent=3)


def _new_parts(state: SampleState) -> Iterator[Part]:
    """Parts of new messages, tool results first."""
    places = {pointer for pointer, _ in state.new}
    request = state.studied.decoded_request.request if state.studied and state.new else None
    messages: tuple[Message, ...] = request.messages if request else ()
    return (part for message in messages if message.pointer in places for part in message.parts)


def _verdict(sample: Sample, width: int, *, is_changed: bool) -> Iterator[Line]:
    sign, style = PROBE_SIGNS[sample.outcome.value]
    yield ()
    yield line(Span(f"{sign} {sample.outcome.value}", f"{style} strong"))
    yield from wrap(sample.words, width, style if style != "muted" else "", indent=3)
    for name, value in sample.facts.items():
        yield line(Span("   "), Span(f"{name}  ", "key"), Span(fact_words(value)))
    if is_changed:
        yield from wrap("~ some requests were edited by you", width, "warning", indent=3)
    yield from wrap("a sample that you ran step by step is not added to the profile", width, "muted", indent=3)


def _part(part: Part) -> str:
    match part:
        case ToolCallIR():
            raw = part.raw if part.raw is not None else dumps(part.input).decode("utf-8", "replace")
            return f"◆ call {part.name or '(no name)'} {raw}"
        case ToolResultIR():
            texts = " ".join(p.text for p in part.content if isinstance(p, Text))
            return f"◇ result{' (an error)' if part.is_error else ''} {texts}"
        case Text():
            return f"text {part.text}"
    text = getattr(part, "text", None)
    return f"∴ reasoning {text or '(not readable)'}" if type(part).__name__ == "Reasoning" else type(part).__name__


def _style(part: Part) -> str:
    if isinstance(part, ToolCallIR):
        return "call"
    return "result" if isinstance(part, ToolResultIR) else "" if isinstance(part, Text) else "reasoning"


def came(sent_request: SentRequest, side: str, width: int) -> list[Line]:
    """The IR of one side of a sent request."""
    lines: list[Line] = []
    for node in sent_request.opened.outline.nodes:
        if node.side == side:
            head = node_line(node)
            is_long = side == RESPONSE and node.kind == "part" and cells(plain(head)) > width
            lines += [head, *(node_body(node, width) if is_long else ())]
    return lines


def title_of(state: SampleState | None, sent_request: SentRequest | None, side: str) -> str:
    """Title of the pane of bytes."""
    if sent_request:
        decoded = sent_request.opened.decoded
        text = decoded.request_text if side == REQUEST else decoded.response_text
        return f" {'Request' if side == REQUEST else 'Response'} · {size(len(text))} "
    if state is None or state.ask is None:
        return " Bytes "
    new = f" · {count(len(state.new), 'new message')}" if state.new else ""
    return f" Bytes · {size(len(state.ask.request.body.raw))}{new} "


def facts(sample_state: SampleState | None, *, is_sending: bool, runs_on: bool) -> Line:
    """Progress of the sample."""
    if sample_state is None:
        return line(Span("preparing the first request …", "muted"))
    state = "sending … " if is_sending else "running · " if runs_on else ""
    told_of = count(len(sample_state.sent), "request") + " sent"
    end = ""
    if sample_state.sample:
        end = f" · {sample_state.sample.outcome.value}"
    return line(Span(state, "accent strong"), Span(told_of, "strong"), Span(end, "strong"))
