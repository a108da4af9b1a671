"""Reasoning: what becomes of a request that sends reasoning back as it came, without it, empty, altered, or stale."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace

from workbench.ir import JsonValue
from workbench.loop import Limits
from workbench.probes._drive import Change, Driven, Played, drive
from workbench.probes._script import Ask, Probe, Sample, Script, failed, partly, passed, unclear
from workbench.probes._subject import Subject
from workbench.probes._tools import ADD, Toolbox
from workbench.probes._variants import VARIANTS, changed
from workbench.wire.exchange import Exchange, HttpRequest

VERBATIM = "verbatim"


def script(subject: Subject) -> Script:
    """A call made while thinking; its result is sent with the reasoning as it came, and in every other way."""
    subject, first = yield from _thinking(subject)
    if not first.calls:
        return failed(f"refused: {first.ended.text}") if first.is_refused else unclear("the model made no call")
    came = [part.carrier.value for part in first.reasoning(0)]
    if not came:
        return unclear("no reasoning came with a call", reasoning_carrier="none", requires_reasoning_replay=False)
    fates = {VERBATIM: fate(first)}
    for name in VARIANTS:
        played = yield from _asked(subject, name)
        fates[name] = fate(played) if len(played.answers) > 1 else "not tried"
    return judged(came[0], fates)


def _thinking(subject: Subject) -> Generator[Ask, Exchange, tuple[Subject, Played]]:
    """The first answer that brings reasoning: unasked, or asked for as the protocol can; else the first of all."""
    able = subject.adapter.capabilities.thinking
    ways = dict.fromkeys((subject.thinking, *(how for how in ("adaptive", "on") if how in able)))
    tried: list[tuple[Subject, Played]] = []
    for how in ways:
        asking = replace(subject, thinking=how)
        tried.append((asking, (yield from _asked(asking, None))))
        if tried[-1][1].reasoning(0):
            return tried[-1]
    return next((one for one in tried if one[1].calls), tried[0])


def _asked(subject: Subject, variant: str | None) -> Driven:
    words = f"Think first. Then add 21 and {20 + len(subject.nonce)} with probe_add, and tell me sum and receipt."
    request = subject.request(words, (ADD,))
    title = f"reasoning is sent back {variant or VERBATIM}"
    change = _change(subject, variant) if variant else None
    return (yield from drive(subject, request, title, Toolbox(subject.nonce).run, change=change, limits=Limits(2)))


def _change(subject: Subject, variant: str) -> Change:
    def change(number: int, request: HttpRequest) -> HttpRequest:
        return changed(request, subject.protocol, variant) if number else request

    return change


def fate(played: Played) -> str:
    """``refused`` or ``taken``: of the request that sent the results."""
    return "refused" if played.is_refused else "taken"


def judged(carrier: str, fates: Mapping[str, str]) -> Sample:
    """What the endpoint demands, and whether what it demands is possible."""
    facts: dict[str, JsonValue] = {
        "reasoning_carrier": carrier,
        "requires_reasoning_replay": fates.get("missing") == "refused",
        "reasoning_replay": dict(fates),
    }
    refused = [name for name, what in fates.items() if what == "refused"]
    if fates[VERBATIM] == "refused":
        return failed("reasoning is refused as it came", **facts)
    if not refused:
        return passed(f"{carrier} may come back as it came, and in no other way is it refused", **facts)
    untried = [name for name, what in fates.items() if what == "not tried"]
    words = f"{carrier} goes through as it came; refused when {', '.join(refused)}"
    return (partly if untried else passed)(words + (f"; not tried: {', '.join(untried)}" if untried else ""), **facts)


probe = Probe("reasoning", "how reasoning has to be sent back", 12, script, is_core=True, tokens=9000)
