"""Content of a report in any markup: verdict, findings with their places, the exchanges.

All of it comes from the session without its secrets. Sizes are limited, and the report states what is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from workbench import contracts, regex
from workbench.characters import COMBINING, INVISIBLE, ODD_SPACES
from workbench.contracts import Edit, Finding, Severity, pages, refusal_of, refusal_words, split_evidence
from workbench.edits.repairs import verification, with_repairs
from workbench.errors import SessionFormatError
from workbench.formats.exporters import ExportSelection
from workbench.formats.exporters._private_text import RedactedSession
from workbench.formats.exporters._report_story import StoryText, story_texts
from workbench.formats.exporters._secret_removal import knowing
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, field
from workbench.rules import FindingsOfRows, InspectedExchange, Inspector, by_cause, judge
from workbench.wire import Exchange, HttpRequest, HttpResponse, Redactor, Summary, decode, decode_partial, dumps
from workbench.wire.session import Session

MOST_FINDINGS: Final = 100
MOST_EXCHANGES: Final = 300
MOST_BODIES: Final = 40
"""Limit of exchanges with bodies; those with findings first."""
MOST_OF_A_BODY: Final = 12_000
AROUND: Final = 240
"""Characters shown before and after the bytes of a finding."""
_MARKED: Final = 600

_ACTS: Final = regex.compile(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{INVISIBLE}{ODD_SPACES}]|(?<=[{COMBINING}]{{3}})[{COMBINING}]"
)


def visible(text: str) -> str:
    """Text with control and invisible characters as escapes; line ends and tabs are kept."""
    return _ACTS.sub(_escape, text)


def line(text: str) -> str:
    """The same on one line."""
    return visible(text).replace("\n", "\\n").replace("\t", " ")


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@dataclass(frozen=True, slots=True)
class RepairText:
    """A repair: its title, how it was checked, and each change as (place, old text, new text)."""

    title: str
    checked: str
    changes: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class FindingText:
    """A finding as text. ``excerpt``: the text before, at and after its bytes; empty without bytes."""

    number: int
    rule: str
    severity: str
    summary: str
    where: str
    exchange: int
    message: str
    evidence: str = ""
    why: str = ""
    says: str = ""
    began: str = ""
    source: str = ""
    excerpt: tuple[str, ...] = ()
    repairs: tuple[RepairText, ...] = ()


class StoryMark(NamedTuple):
    """Characters of a shown body that belong to a line of the story."""

    start: int
    end: int
    line: StoryText


@dataclass(frozen=True, slots=True)
class ExchangeText:
    """An exchange. ``bodies``: title and text of each side shown, with ``marks``; ``left_out``: what is missing."""

    number: int
    title: str
    facts: str
    verdict: str
    findings: tuple[int, ...]
    bodies: tuple[tuple[str, str], ...] = ()
    left_out: str = ""
    marks: tuple[tuple[StoryMark, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """A report. ``limits`` states what of the session is left out."""

    title: str
    about: tuple[tuple[str, str], ...]
    verdict: str
    is_broken: bool
    findings: tuple[FindingText, ...]
    exchanges: tuple[ExchangeText, ...]
    limits: tuple[str, ...] = ()
    story: tuple[StoryText, ...] = ()


@dataclass(slots=True)
class _SecretFreeSession:
    """A session without its secrets, read on demand."""

    inner: Session
    redactor: Redactor
    name: str = ""
    damage: tuple[str, ...] = ()
    about: Mapping[str, str] = field(default=NOTHING)
    is_live: bool = False

    @property
    def id(self) -> str:
        return self.inner.id

    def __len__(self) -> int:
        return len(self.inner)

    def summaries(self) -> Sequence[Summary]:
        return self.inner.summaries()

    def exchange(self, index: int) -> Exchange:
        return self.redactor.exchange(self.inner.exchange(index))

    def refresh(self) -> frozenset[int]:
        return frozenset()

    def close(self) -> None:
        """Do nothing: the caller closes the session."""


def report(selection: ExportSelection) -> Report:
    """Build the report of a selection. Raises SessionFormatError."""
    session = selection.session
    inspector = _inspector(selection)
    inspection = inspector.run()
    indices = set(selection.indices)
    selected = by_cause(FindingsOfRows(row.findings for row in inspection.rows if row.index in indices))
    order = sorted(selected, key=lambda f: (f.severity.rank, f.exchange))
    findings = tuple(
        _finding_text(inspector, n, f) for n, f in enumerate(with_repairs(inspector, order[:MOST_FINDINGS]), 1)
    )
    return Report(
        title=line(session.name) or "session",
        about=tuple((line(name), line(value)) for name, value in session.about.items()),
        verdict=_verdict(selected, len(selection.indices)),
        is_broken=any(f.severity is Severity.ERROR for f in selected),
        findings=findings,
        exchanges=_exchanges(
            inspector, selection.indices, findings, story := _story(inspector, selection.indices, findings)
        ),
        story=story,
        limits=(*_limits(len(selected), len(selection.indices)), *map(line, session.damage)),
    )


def _inspector(selection: ExportSelection) -> Inspector:
    """Inspector of the session without its secrets; a redacted session has its own."""
    session, own = selection.session, selection.inspector
    if isinstance(session, RedactedSession):
        return own
    safe = _SecretFreeSession(session, knowing(selection), session.name, tuple(session.damage), session.about)
    return Inspector(safe, provider=own.provider, protocol=own.protocol)


def _verdict(findings: Sequence[Finding], exchanges: int) -> str:
    counts = {s: sum(f.severity is s for f in findings) for s in Severity}
    named = [f"{count} {severity}{'s' if count != 1 and severity is not Severity.INFO else ''}"
             for severity, count in counts.items() if count]  # fmt: skip
    whole = f"{exchanges:,} exchange{'s' if exchanges != 1 else ''}"
    return f"{whole}: {', '.join(named)}" if named else f"{whole}: no rule finds a fault"


def _limits(findings: int, exchanges: int) -> list[str]:
    found = []
    if findings > MOST_FINDINGS:
        found.append(f"{findings - MOST_FINDINGS:,} more findings are not shown, only the {MOST_FINDINGS} most severe")
    if exchanges > MOST_EXCHANGES:
        found.append(f"{exchanges - MOST_EXCHANGES:,} more exchanges are not listed")
    if exchanges > MOST_BODIES:
        found.append(f"only {MOST_BODIES} exchanges are shown with bodies, those with findings first")
    return found


def _finding_text(inspector: Inspector, number: int, finding: Finding) -> FindingText:
    page = pages.page(finding.rule) if finding.rule in pages.slugs() else None
    row = inspector.rows[finding.exchange]
    refusal = refusal_of(finding, contracts.get(row.provider)) if row.provider else None
    began = finding.origin
    evidence, recorded = split_evidence(finding)
    is_recorded = bool(recorded)
    return FindingText(
        number=number,
        rule=finding.rule,
        severity=str(finding.severity),
        summary=page.summary if page else "",
        where=_where(finding),
        exchange=finding.exchange + 1,
        message=line(finding.message),
        evidence=line(evidence),
        why=page.why if page else "",
        says=f"{refusal.status} {line(decode(dumps(refusal.body)))}"
        if refusal and not is_recorded
        else line(refusal_words(finding)),
        began=f"exchange {began.exchange + 1}, {began.side} {began.pointer or '/'}: {line(began.words)}"
        if began
        else "",
        source=line(finding.source),
        excerpt=_excerpt(inspector, finding),
        repairs=tuple(RepairText(line(r.title), verification(r), _changes(r.edits)) for r in finding.repairs),
    )


def _where(finding: Finding) -> str:
    lasts = f" to {finding.last + 1}" if finding.last not in (None, finding.exchange) else ""
    parts = [f"exchange {finding.exchange + 1}{lasts}", f"{finding.side} {line(finding.pointer) or '(whole body)'}"]
    if finding.span:
        parts.append(f"bytes {finding.span[0]:,}–{finding.span[1]:,}")
    if finding.events:
        parts.append(f"stream events {finding.events[0]}–{finding.events[-1]}")
    if finding.places:
        parts.append(f"and {len(finding.places) - 1:,} more places")
    return ", ".join(parts)


def _changes(edits: Sequence[Edit]) -> tuple[tuple[str, str, str], ...]:
    return tuple((line(e.pointer) or "/", _value(e.old), _value(e.new)) for e in edits)


def _value(value: JsonValue) -> str:
    return "" if value is None else _clip(line(decode(dumps(value))), _MARKED)


def _excerpt(inspector: Inspector, finding: Finding) -> tuple[str, ...]:
    if finding.span is None:
        return ()
    try:
        decoded = inspector.detail(finding.exchange).decoded
    except SessionFormatError:
        return ()
    text = decoded.request_text if finding.side == "request" else decoded.response_text
    start, end = finding.span
    before, after = decode(text[max(0, start - 4 * AROUND) : start]), decode(text[end : end + 4 * AROUND])
    return visible(before[-AROUND:]), _clip(visible(decode(text[start:end])), _MARKED), visible(after[:AROUND])


def _clip(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room * 2 // 3]} … {text[-room // 3 :]}"


def _order(indices: Sequence[int], finding_texts: Sequence[FindingText]) -> list[int]:
    """The exchanges, those with findings first."""
    broken = {one.exchange - 1 for one in finding_texts}
    return sorted(indices, key=lambda index: (index not in broken, index))


def _story(inspector: Inspector, indices: Sequence[int], finding_texts: Sequence[FindingText]) -> tuple[StoryText, ...]:
    return tuple(story_texts(inspector, set(indices), set(_order(indices, finding_texts)[:MOST_BODIES])))


def _exchanges(
    inspector: Inspector, indices: Sequence[int], finding_texts: Sequence[FindingText], story: Sequence[StoryText]
) -> tuple[ExchangeText, ...]:
    by_exchange: dict[int, list[int]] = {}
    for one in finding_texts:
        by_exchange.setdefault(one.exchange - 1, []).append(one.number)
    first = _order(indices, finding_texts)
    with_bodies, listed = set(first[:MOST_BODIES]), sorted(first[:MOST_EXCHANGES])
    return tuple(
        _exchange(
            inspector,
            index,
            tuple(by_exchange.get(index, ())),
            [each for each in story if each.exchange == index],
            has_bodies=index in with_bodies,
        )
        for index in listed
    )


def _marks(side: HttpRequest | HttpResponse, body_text: str, story: Sequence[StoryText]) -> tuple[StoryMark, ...]:
    """Places of the lines of the story in the text of a body; of places inside one another the first."""
    text, _ = decode_partial(side.body)
    heads = len(visible("".join(f"{name}: {value}\n" for name, value in side.headers))) + 1
    found, free = [], 0
    for start, end, of in sorted((start, end, n) for n, each in enumerate(story) for start, end in each.spans):
        first = heads + len(visible(decode(text[: min(start, len(body_text) * 4)])))
        last = first + len(visible(decode(text[start:end])))
        if free <= first < last <= len(body_text):
            found.append(StoryMark(first, last, story[of]))
            free = last
    return tuple(found)


def _exchange(
    inspector: Inspector, index: int, findings: tuple[int, ...], story: Sequence[StoryText], *, has_bodies: bool
) -> ExchangeText:
    row = inspector.rows[index]
    summary = ExchangeText(index + 1, _title(row), _facts(row), _verdict_of(row), findings)
    if not has_bodies:
        return summary
    try:
        exchange = inspector.session.exchange(index)
    except SessionFormatError:
        return summary
    sides = (("Request", exchange.request), ("Response", exchange.response))
    bodies = [(name, *_body(side)) for name, side in sides if side]
    left_out = "; ".join(f"{name.lower()}: {lacks}" for name, _, lacks in bodies if lacks)
    by_name = tuple((name, text) for name, text, _ in bodies)
    marks = tuple(
        _marks(side, text, [each for each in story if each.side == name.lower()])
        for (name, side), (_, text) in zip([each for each in sides if each[1]], by_name, strict=True)
        if side
    )
    return ExchangeText(index + 1, summary.title, summary.facts, summary.verdict, findings, by_name, left_out, marks)


def _title(row: InspectedExchange) -> str:
    status = row.summary.status or row.summary.state
    return f"{line(row.summary.method)} {line(row.summary.url)[:200]} · {status}"


def _facts(row: InspectedExchange) -> str:
    facts = [row.protocol or "not a model exchange", line(row.model or ""), row.provider and f"contract {row.provider}"]
    if row.summary.started_at is not None:
        facts.append(f"{datetime.fromtimestamp(row.summary.started_at, UTC):%Y-%m-%d %H:%M:%S} UTC")
    if row.summary.duration is not None:
        facts.append(f"{row.summary.duration:.2f} s")
    facts.append(f"{row.summary.request_bytes:,} bytes sent, {row.summary.response_bytes:,} received")
    facts.append(f"{row.summary.origin}" + (f", {row.summary.state}" if row.summary.state != "complete" else ""))
    return " · ".join(fact for fact in facts if fact)


def _verdict_of(row: InspectedExchange) -> str:
    if row.provider is None:
        return ""
    return str(judge(row.findings, contracts.get(row.provider)).verdict)


def _body(side: HttpRequest | HttpResponse) -> tuple[str, str]:
    text, problem = decode_partial(side.body)
    heads = "".join(f"{name}: {value}\n" for name, value in side.headers)
    whole = decode(text[: MOST_OF_A_BODY * 4])
    cut = (
        f"{len(text):,} bytes, only the first are shown"
        if len(whole[:MOST_OF_A_BODY].encode("utf-8", "replace")) < len(text)
        else ""
    )
    return visible(f"{heads}\n{whole[:MOST_OF_A_BODY]}"), "; ".join(filter(None, (cut, problem and line(str(problem)))))
