"""Lines of the send screen: destination, protocol, API key, losses, and the contract's verdict on a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from workbench.safetext import cells, clip
from workbench.send import NoteKind
from workbench.tui.models.headline import TOOLS, title_with_promise
from workbench.tui.models.matrix import SEVERITIES
from workbench.tui.models.tabs import TALL
from workbench.tui.models.tools import open_head
from workbench.views import REQUEST, REQUEST_SIGNS, Line, Span, byte_range, count, hang, line, plain, size, wrap

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.convert import Loss
    from workbench.edits.branches import BranchNode
    from workbench.probes.profiles import Correction
    from workbench.send import Outgoing, Target, UnboundReasoning
    from workbench.tui.models.rowtable import Range
    from workbench.tui.preflight import PreparedRequest

LABEL = 12
"""Columns of the word in front of a fact."""

MOST_NAME = 80
"""Columns of a branch's name, at most."""


class PreflightNote(NamedTuple):
    """A note on a request before it is sent.

    Attributes:
        head: its line.
        text: further texts, each with a style.
        spans: byte ranges it is about.
        is_own: True if the ranges are in the original request, not in the outgoing one.
        correction: name of the correction it describes; "" if none.
    """

    head: Line
    text: tuple[tuple[str, str], ...] = ()
    spans: tuple[Range, ...] = ()
    is_own: bool = False
    correction: str = ""


def where(target: Target) -> str:
    """``simulated``, or the host that a request goes to."""
    return "simulated" if target.is_simulator else f"LIVE {urlsplit(target.url).netloc}"


def key_words(target: Target, *, is_set: bool) -> str:
    """Name of the API key variable sent with a request, never its value."""
    if not target.key_variable:
        return "no API key"
    return f"key ${target.key_variable}{'' if is_set else ' (not set)'}"


def promises(target: Target, *, is_set: bool) -> tuple[str, ...]:
    """Destination, API key variable, and that no tool is run, from the longest form to the shortest.

    The shortest one of a real endpoint still names the variable: a key goes there.
    """
    words = (where(target), key_words(target, is_set=is_set), TOOLS)
    if target.is_simulator:
        return (" · ".join(words), f"{words[0]} · {TOOLS}", words[0])
    return (" · ".join(words), " · ".join(words[:2]))


def request_name(node: BranchNode) -> str:
    """Name of the node whose request is sent; empty for the recorded one."""
    if node.parent is None:
        return ""
    return f" · {clip(node.name or ('as sent' if node.is_sent else node.title), MOST_NAME)}"


def headline(title: str, facts: Line, target: Target, window: tuple[int, int], *, is_set: bool) -> list[Line]:
    """Title with destination and promise, then facts.

    In a low window the title takes one row unless requests leave this machine; a title that names a simulator by its
    ``sim:`` may do without a promise there.

    Args:
        window: columns and rows of the window.
    """
    width, height = window
    forms, style = promises(target, is_set=is_set), "ok" if target.is_simulator else "warning strong"
    is_low = target.is_simulator and height < TALL
    if is_low and target.name in title:
        forms = (*forms, "")
    return [title_with_promise(title, forms, style, width, 1 if is_low else 2), (Span(" "), *facts)]


def summary(prepared: PreparedRequest) -> Line:
    """Verdict, losses, protocol, model and size of the request as sent."""
    going = prepared.outgoing
    judgement = prepared.trial.judgement
    sign, style = REQUEST_SIGNS[judgement.verdict.value]
    span = Span(f" · {count(len(going.losses), 'loss')}", "warning") if going.losses else Span("")
    loose = Span(" · signed blocks unbound", "warning") if prepared.unbound else Span("")
    corrected = corrected_words(prepared.choice.decided)
    response = "streamed" if going.is_stream else "not streamed"
    edits = f"{count(len(prepared.edits), 'byte range')} changed" if prepared.edits else ""
    text = " · ".join(f for f in (edits, corrected, going.protocol, going.model, response) if f)
    return line(
        Span(f"{sign} {prepared.trial.contract.label} {judgement.verdict.value}", style),
        loose,
        span,
        Span(f" · {text} · {size(len(going.request.body.raw))}", "muted"),
    )


def target_protocols(target: Target) -> tuple[str, ...]:
    """The protocols that the target accepts."""
    from workbench import protocols

    return target.protocols or protocols.protocols()


def open_rows(preflight_note: PreflightNote, width: int) -> list[Line]:
    """All lines of a fact that is open: its own, wrapped below its columns, then its texts that are not in it."""
    head, head_text = preflight_note.head, plain(preflight_note.head)
    first = hang(head, width) if any(span.width for span in head) else [open_head(head, preflight_note.text, width)]
    first_text = head_text if cells(head_text) <= width or len(first) > 1 else plain(first[0])
    rest = [(text, style) for text, style in preflight_note.text if text not in first_text]
    return [*first, *(each for text, style in rest for each in wrap(text, width, style, indent=4, most=40))]


def facts(prepared: PreparedRequest, *, is_set: bool) -> tuple[PreflightNote, ...]:
    """All notes on a request before it is sent, problems first."""
    going = prepared.outgoing
    return (
        _verdict(prepared),
        *(_unbound(prepared.unbound, prepared) if prepared.unbound else ()),
        *(_loss(loss, prepared) for loss in going.losses),
        *_corrections(prepared),
        *_address(going, prepared, is_set=is_set),
        *(_fact("note", note) for note in going.notes if note.kind is not NoteKind.CORRECTION),
        *(_fact("id", f"{new} · was {old}") for old, new in going.ids),
        *_findings(prepared),
    )


def _corrections(prepared: PreparedRequest) -> Iterator[PreflightNote]:
    """Measured profile, and each correction with its effect here and its reason."""
    choice = prepared.choice
    if choice.profile:
        yield _fact("measured", choice.title, more=f"stale: {choice.stale}" if choice.due else "")
    for each in choice.decided:
        changed = [note.partition(": ")[2] for note in prepared.outgoing.notes if each.name in note.subject]
        on = f"here: {'; '.join(changed)}" if changed else "has no effect here: the request is unchanged"
        here = on if each.is_on else "switched off"
        yield correction(each, here)


def correction(each: Correction, here: str = "") -> PreflightNote:
    """Note on a correction: its state, its action, its effect on this request, and its reason."""
    mark, style = ("[x] ", "ok") if each.is_on else ("[ ] ", "warning")
    head = line(Span(mark, f"{style} strong"), Span(f"{each.name}  ", "strong"), Span(each.does, "muted"))
    changed = ((here, "info" if each.is_on else "warning"),) if here else ()
    return PreflightNote(head, ((each.does, ""), *changed, (f"reason: {each.why}", "muted")), correction=each.name)


def corrected_words(corrections: Iterable[Correction]) -> str:
    """Number of corrections, and of those switched off; empty if there are none."""
    every = tuple(corrections)
    off = sum(not each.is_on for each in every)
    words = f"{count(len(every) - off, 'correction')}" if every else ""
    return f"{words}, {off} switched off" if off else words


def _fact(label: str, text: str, style: str = "", more: str = "") -> PreflightNote:
    return PreflightNote(
        line(Span(f"  {label} ", "muted", LABEL), Span(text, style)),
        ((text, style), *(((more, "muted"),) if more else ())),
    )


def _address(going: Outgoing, prepared: PreparedRequest, *, is_set: bool) -> Iterator[PreflightNote]:
    target = going.target
    yield _fact("to", f"{going.request.method} {going.request.url}", "strong")
    if not target.is_simulator:
        yield _fact("target", "a real endpoint; you are asked once per session", "warning")
    yield _fact("key", *_key(target, is_set=is_set))
    own = prepared.own.protocol or "unknown protocol"
    if going.is_converted:
        yield _fact("protocol", f"{own} → {going.protocol}")
    if prepared.trial.decoded.request is None:
        yield _fact("body", "unreadable, sent unchanged", "warning", _problems(prepared))
    if prepared.trial.decoded.request_text != prepared.own.request_text:
        yield _fact("bytes", "changed for this target")


def _problems(prepared: PreparedRequest) -> str:
    return "; ".join(problem.message for problem in prepared.trial.decoded.problems)


def _key(target: Target, *, is_set: bool) -> tuple[str, str]:
    if not target.key_variable:
        return "no API key is sent", ""
    if not is_set:
        return f"${target.key_variable} is not set: export it and restart Workbench", "error"
    return f"${target.key_variable} is set; its value is sent to {urlsplit(target.url).netloc} only", ""


def _verdict(prepared: PreparedRequest) -> PreflightNote:
    """Verdict of the target's contract on the request before it is sent."""
    from workbench.contracts import refusal_of

    trial = prepared.trial
    judgement = trial.judgement
    sign, style = REQUEST_SIGNS[judgement.verdict.value]
    label = trial.contract.label
    head = line(Span(f"{sign} ", style), Span(f"{label} {judgement.verdict.value}", f"{style} strong"))
    if judgement.finding is None:
        words = "passes all checks of this contract" if judgement.verdict.value == "accepts" else trial.contract.note
        is_passed = judgement.verdict.value == "accepts"
        lead = line(Span(f"{sign} {words}", style)) if is_passed else (*head, Span(f"  {words}", "muted"))
        return PreflightNote(lead, ((words, "muted"),))
    found = judgement.finding
    answer = refusal_of(found, trial.contract)
    text = [(found.message, "")]
    if answer:
        text.append((f"expected response: {answer.status} {found.refusal or '(error text not known)'}", "error"))
    more = Span(f"  {found.rule}  {found.pointer or 'the whole request'}", "muted")
    return PreflightNote((*head, more), tuple(text), _spans(prepared, found))


def _findings(prepared: PreparedRequest) -> Iterator[PreflightNote]:
    """Other findings of the request as sent."""
    first = prepared.trial.judgement.finding
    for found in prepared.trial.findings:
        if found.side == REQUEST and found is not first and found.severity != "info":
            sign, style = SEVERITIES[found.severity.value]
            head = line(
                Span(sign, style), Span(f"{found.rule}  ", "strong"), Span(found.pointer or "whole body", "muted")
            )
            yield PreflightNote(head, ((found.message, ""),), _spans(prepared, found))


def _spans(prepared: PreparedRequest, finding: Finding) -> tuple[Range, ...]:
    return prepared.trial.decoded.place(REQUEST, finding.pointer).spans or ((finding.span,) if finding.span else ())


def _unbound(unbound: UnboundReasoning, prepared: PreparedRequest) -> Iterator[PreflightNote]:
    head = line(
        Span("! ", "warning"),
        Span(f"{count(len(unbound.pointers), 'signed block')} unbound", "warning strong"),
        Span(f"  {unbound.pointers[0]}", "muted"),
    )
    how = (
        "u: drop these blocks"
        if unbound.without
        else "the request is invalid without these blocks: undo the edit before the blocks"
    )
    spans = tuple(span for at in unbound.pointers for span in prepared.own.place(REQUEST, at).spans)
    yield PreflightNote(
        head, ((unbound.message, ""), (", ".join(unbound.pointers), "muted"), (how, "info")), spans, is_own=True
    )


def _loss(loss: Loss, prepared: PreparedRequest) -> PreflightNote:
    spans = prepared.own.place(REQUEST, loss.pointer).spans if loss.pointer else ()
    head = line(
        Span("- ", "warning"), Span("lost  ", "warning"), Span(loss.what, "strong"), Span(f"  {loss.pointer}", "muted")
    )
    place = " · ".join(p for p in (loss.pointer or "whole body", byte_range(spans)) if p)
    return PreflightNote(head, ((loss.what, ""), (loss.instead, "info"), (place, "muted")), spans, is_own=True)


def question(going: Outgoing, *, is_set: bool) -> str:
    """Question asked once per session and host, before a request leaves this machine."""
    target = going.target
    host = urlsplit(target.url).netloc
    what = (
        f"{going.request.method} {going.request.url}: {size(len(going.request.body.raw))} of this session go to {host}"
    )
    key = f" with the key in ${target.key_variable}" if target.key_variable else " without a key"
    key += ", which is not set" if target.key_variable and not is_set else ""
    once = f"Workbench does not ask again for {host} in this session."
    return f"{what}{key}. The request may cost money. Tools are never run. {once}"
