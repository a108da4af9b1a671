"""Lines of the probe lab: matrix of probes and targets, reasons of a verdict, a profile compared with the last one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbench.tui.models.findings import labelled_lines
from workbench.tui.models.tabs import ROOMY
from workbench.views import (
    PROBE_SIGNS,
    Line,
    Span,
    count,
    duration,
    fact_words,
    join_lines,
    line,
    line_columns,
    progress_bar,
    wrap,
)

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.probes import Probe, ProbeResult
    from workbench.probes.profiles import CapabilityProfile
    from workbench.send import Target
    from workbench.tui.probing import ColumnRun, LabColumn
    from workbench.wire import Exchange

NAME, NARROW_NAME = 19, 18
"""Columns of a probe's mark and name, and in a narrow list."""

CELL = 22
"""Columns of a verdict."""

FACT = 28
"""Columns of a fact's name."""

LEAST_TITLE = 24
"""Columns of a probe's title that still say something."""

PRECISE = 10_000
"""Tokens from which on an estimate is rounded to thousands."""


def name_width(width: int) -> int:
    """Columns of a probe's mark and name; fewer in a narrow list."""
    return NAME if width >= ROOMY else NARROW_NAME


def visible_targets(columns: int, current: int, width: int) -> range:
    """The visible targets, the chosen one among them."""
    most = max(1, (width - name_width(width)) // CELL)
    first = max(0, min(current - most + 1, columns - most))
    return range(first, min(columns, first + most))


def heads(columns: Sequence[LabColumn], current: int, width: int) -> list[Line]:
    """Two lines above the matrix: the targets, and their protocols."""
    visible = visible_targets(len(columns), current, width)
    more = len(columns) - len(visible)
    first = name_width(width)
    names = [Span("  probe", "muted", first + 2)]
    how = [Span("", "", first + 2)]
    for n in visible:
        subject = columns[n].subject
        name = f"{'▸' if n == current else ' '}{subject.target.name}"
        names += [Span(name, "tab" if n == current else "strong", CELL - 1), Span(" ")]
        how += [Span(f" {subject.protocol}", "muted", CELL)]
    room = width - first - CELL * len(visible)
    names.append(Span(f"+{more}" if more else "what it measures" if room >= LEAST_TITLE else "", "muted"))
    return [_within(names, width + GUTTER), _within(how, width + GUTTER)]


GUTTER = 2
"""Columns of the marks in front of a row of the list."""


def _within(spans: Sequence[Span], width: int) -> Line:
    """A line of columns in this width: the last ones are narrower, or left out, if not all fit."""
    excess = line_columns(tuple(spans)) - width
    if excess <= 0 or not spans:
        return tuple(spans)
    *others, last = spans
    columns = line_columns((last,)) - excess
    return (*others, last._replace(width=columns)) if columns > 0 else _within(others, width)


def row(probe: Probe, cells: Sequence[Line], visible: range, current: int, width: int, *, is_marked: bool) -> Line:
    """A probe and its verdict at each target."""
    mark = Span("[x] " if is_marked else "[ ] ", "accent strong" if is_marked else "muted")
    spans: list[Span] = [mark, Span(probe.name, "strong" if is_marked else "", name_width(width) - len(mark.text))]
    for n, cell in zip(visible, cells, strict=True):
        spans += (Span(s.text, f"{s.style} lit", s.width) if n == current else s for s in cell)
    if width - name_width(width) - CELL * len(visible) >= LEAST_TITLE:
        spans.append(Span(probe.title, "muted"))
        return tuple(spans)
    return _within(spans, width)


def cell(result: ProbeResult | None, *, is_fresh: bool, now: float, state: str = "") -> Line:
    """A verdict with its samples; with its age if it is of an earlier run."""
    if state:
        return (Span(state, "accent", CELL - 1), Span(" "))
    if result is None:
        return (Span("  not run", "muted", CELL - 1), Span(" "))
    sign, style = PROBE_SIGNS[result.outcome.value]
    word = "unclear" if result.outcome.value == "inconclusive" else result.outcome.value
    share = f" {result.passes}/{result.n}" if result.n else ""
    age = " " if is_fresh else f" · {ago(now - result.at)}"
    text = f"{word}{share}"
    return (
        Span(f"{sign} ", style),
        Span(text, style if is_fresh else "", len(text)),
        Span(age, "muted", CELL - 2 - len(text)),
    )


def ago(seconds: float) -> str:
    """Age in one unit: ``3 d``."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"


def state_of(run: ColumnRun | None, probe: Probe) -> str:
    """State of a cell during a run: running or waiting; empty otherwise."""
    if run is None or probe not in run.probes:
        return ""
    if probe is run.running:
        return f"… {run.sample + 1} of {run.samples}"
    is_over = any(result.probe == probe.name for result in run.measurement.results)
    return "" if is_over else "· waiting"


# What is above.


def plan(probes: Sequence[Probe], of: int, samples: int, targets: int) -> Line:
    """Number of probes, samples, requests and tokens of the next run."""
    if not probes:
        return line(Span("no probe marked · space: mark one · a: mark all", "warning"))
    return line(
        Span(f"[x] {len(probes)} of {count(of, 'probe')}", "strong"),
        Span(f" · {count(samples, 'sample')} each · {estimate(probes, samples)}", "muted"),
        Span(f" · {count(targets, 'target')}" if targets > 1 else "", "muted"),
    )


def estimate(probes: Sequence[Probe], samples: int) -> str:
    """Requests and tokens that a run takes."""
    requests = sum(probe.requests for probe in probes) * samples
    tokens = sum(probe.tokens for probe in probes) * samples
    tokens = round(tokens, -3) if tokens >= PRECISE else tokens
    return f"at most {count(requests, 'request')}, about {tokens:,} tokens"


def going_on(run: ColumnRun, waiting: int, *, is_stopping: bool) -> Line:
    """Progress of a run."""
    probe = run.running
    name = probe.name if probe else "the profile"
    most = sum(probe.requests for probe in run.probes) * run.samples
    sent = len(run.measurement.exchanges)
    more = f" · {count(waiting, 'target')} still to do" if waiting else ""
    total = len(run.probes) * run.samples
    return line(
        Span("stopping … " if is_stopping else f"{run.column.subject.target.name}: {name} … ", "accent strong"),
        Span(f"{progress_bar(run.done, total)} {run.done} of {count(total, 'sample')}", "strong"),
        Span(f" · {sent} of at most {count(most, 'request')} sent{more}", "muted"),
    )


def question(target: Target, requests: str, model: str, *, is_set: bool) -> str:
    """Question asked before requests go to a real endpoint."""
    key = f"with the key in ${target.key_variable}" if target.key_variable else "without a key"
    key += ", which is not set" if target.key_variable and not is_set else ""
    host = urlsplit(target.url).netloc
    start = f"{requests[:1].upper()}{requests[1:]}"
    return f"{start} go to {host} ({model}) {key}. The requests may cost money. Tools are never run."


# One verdict.


def verdict_lines(
    probe: Probe, column: LabColumn | None, result: ProbeResult | None, shown_by: Sequence[Exchange], width: int
) -> list[Line]:
    """Everything about one verdict."""
    lines = wrap(f"{probe.name}: {probe.title}", width, "strong")
    if column is None or result is None:
        return [*lines, *wrap(f"not run yet; {estimate((probe,), 1)} per sample", width, "muted")]
    sign, style = PROBE_SIGNS[result.outcome.value]
    low, high = result.interval
    share = f"{result.passes} of {count(result.n, 'sample')} passed" if result.n else "nothing measured"
    sure = f" · 95 % interval {low:.0%}–{high:.0%}" if result.n else ""
    failed = f" · {result.unmeasured} not measured" if result.unmeasured and result.n else ""
    lines.append(line(Span(f"{sign} {result.outcome.value}  ", f"{style} strong"), Span(f"{share}{failed}{sure}", "")))
    lines += wrap(result.words, width, style if style != "muted" else "")
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(result.at))
    evidence = f"{count(len(result.evidence), 'exchange')} · enter: open" if result.evidence else "no exchange saved"
    lines += labelled_lines("kept", f"{evidence} · {when}", width, "muted")
    lines += (_exchange_line(exchange, n) for n, exchange in enumerate(shown_by, 1))
    facts = " · ".join(f"{name}: {fact_words(value)}" for name, value in result.facts.items())
    return lines + labelled_lines("learned", facts, width)


def _exchange_line(exchange: Exchange, number: int) -> Line:
    status = exchange.response.status if exchange.response else 0
    style = "ok" if 200 <= status < 300 else "error"
    return line(
        Span(f"{number:>12}  ", "muted"),
        Span(f"{status or '---'}  ", style),
        Span(exchange.note),
        Span(f"  {duration(exchange.duration)}", "muted"),
    )


# The profile.


def profile_lines(column: LabColumn | None, now: float, width: int) -> list[Line]:
    """Facts measured now beside those of the last profile, with differences marked."""
    if column is None:
        return wrap("no target yet · T: add one", width, "muted")
    profile, last = column.profile, column.last
    if profile is None and last is None:
        return wrap("not measured yet · r: run the marked probes · s: step through one", width, "muted")
    return [*_profile_head(column, now, width), *_facts(profile, last, width), *_profile_foot(column, width)]


def _profile_head(column: LabColumn, now: float, width: int) -> Iterator[Line]:
    profile, last = column.profile, column.last
    yield from wrap(f"{column.subject.model} · {column.subject.protocol}", width, "strong")
    stale = "" if profile or last is None else last.why_stale(now)
    if stale:
        yield from wrap(f"! stale: {stale}", width, "warning")
    if last is not None:
        heads = [Span("now", "muted", _side(width, profile, last) + 1)] if profile else []
        yield line(Span("", "", FACT + 2), *heads, Span(f"last {ago(now - last.verified_at)}", "muted"))


def _facts(profile: CapabilityProfile | None, last: CapabilityProfile | None, width: int) -> Iterator[Line]:
    from workbench.probes.profiles import NAMES

    now, before = profile.facts if profile else {}, last.facts if last else {}
    each = _side(width, profile, last)
    for name in dict.fromkeys((*NAMES, *now, *before)):
        new, old = now.get(name), before.get(name)
        sign, style = _difference(new, old) if profile and last else (" ", "")
        columns = [wrap(fact_words(new), each, style or ("" if new is not None else "muted"))] if profile else []
        columns += [wrap(fact_words(old), each, "" if profile is None and old is not None else "muted")] if last else []
        yield from _fact_rows(
            line(Span(f"{sign} ", f"{style} strong"), Span(name, "" if name in NAMES else "muted", FACT)), columns, each
        )


def _fact_rows(head: Line, columns: Sequence[Sequence[Line]], width: int) -> Iterator[Line]:
    """A fact in as many rows as its longest value needs."""
    for number, row in enumerate(zip_longest(*columns, fillvalue=())):
        first = line(Span("", "", FACT + 2)) if number else head
        spans = [Span("".join(span.text for span in part), part[0].style if part else "", width) for part in row]
        yield line(*first, *join_lines([(each,) for each in spans], Span(" ")))


def _difference(new: JsonValue, old: JsonValue) -> tuple[str, str]:
    if new == old:
        return " ", ""
    return ("+", "ok") if old is None else ("-", "warning") if new is None else ("~", "warning")


def _profile_foot(column: LabColumn, width: int) -> Iterator[Line]:
    saved, last = column.kept, column.last
    if saved is None:
        return
    yield ()
    if last is None:
        yield from wrap("the first profile of this target", width, "muted")
    else:
        yield from _changes(last, saved.profile, width)
    for change in saved.drift:
        yield from wrap(f"! drift: {change}", width, "warning")
    if saved.trouble:
        yield from wrap(f"✗ not saved: {saved.trouble}", width, "error")
    elif saved.profile.evidence:
        yield from wrap(f"saved; its exchanges are in {saved.profile.evidence}", width, "muted")


def _changes(last: CapabilityProfile, profile: CapabilityProfile, width: int) -> Iterator[Line]:
    """Counts of changed facts, and changed parts of the profile's key."""
    from workbench.probes.profiles import differences

    found = differences(last, profile)
    for part in found.key:
        yield from wrap(f"~ {part.name}: {fact_words(part.before)} → {fact_words(part.after)}", width, "warning")
    tally = (
        (len(found.facts), "~ {} changed"),
        (len(found.gained), "+ {} new"),
        (len(found.lost), "- {} not measured"),
    )
    words = "   ".join(text.format(number) for number, text in tally if number)
    yield from wrap(words or "= the same facts as in the last measurement", width, "strong" if words else "ok")


def _side(width: int, *sides: CapabilityProfile | None) -> int:
    """Columns of the facts of one profile."""
    return max(10, (width - FACT - 3) // max(1, sum(side is not None for side in sides)))
