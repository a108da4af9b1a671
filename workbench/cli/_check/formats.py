"""Output formats of ``check``: text, JSON, SARIF, JUnit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from workbench import __version__, contracts
from workbench.cli._check.file_report import FileReport, place_json, repair_json
from workbench.cli._output import about_lines, cut, emit, emit_json, number
from workbench.contracts import UNREAD, Basis, FaultOrigin, Finding, Severity, Verdict, refusal_words, split_evidence
from workbench.rules import ContradictedFact, InspectedExchange, judge
from workbench.views import SEVERITY_GLYPH, origin_words

Errors = Sequence[dict[str, str]]
ALIKE = 3
"""Findings with the same message that are printed; the rest are counted."""

LONG = 400
"""Characters of evidence and of provider errors, which are longer than a snippet."""


def text(reports: Sequence[FileReport], errors: Errors, unclaimed: Sequence[str] = ()) -> None:
    """Print the findings for people, the worst first."""
    for report in reports:
        emit(_headline(report))
        for line in _file_lines(report):
            emit(line)
        emit()
    errors_, warnings = (sum(r.count(s) for r in reports) for s in (Severity.ERROR, Severity.WARNING))
    exchanges = sum(len(r.inspection.rows) for r in reports)
    total = f"{number(len(reports), 'file')}, {number(exchanges, 'exchange')}: "
    total += f"{number(errors_, 'error')}, {number(warnings, 'warning')}"
    total += f", {number(len(errors), 'file')} not readable" if errors else ""
    emit(total + (f"; {number(len(unclaimed), 'other file')} in the folder" if unclaimed else ""))


def _headline(report: FileReport) -> str:
    rows = report.inspection.rows
    own_row = next((r for r in rows if r.provider == report.provider), None)
    tools = "only exchanges with tool servers" if any(row.is_judged for row in rows) else ""
    known = report.protocol or tools or "no exchanges with a model"
    if own_row and report.provider:
        known += f" · contract {report.provider} ({own_row.provider_from})"
    return f"{report.path} · {number(len(rows), 'exchange')} · {known}"


def _file_lines(report: FileReport) -> Iterator[str]:
    yield from about_lines(report.inspection.about)
    for line in report.inspection.damage:
        yield f"  ! {line}"
    for row in report.inspection.rows:
        for problem in row.problems:
            if not any(problem.endswith(f.message) for f in row.findings):
                yield f"  ! exchange {row.index + 1}: {cut(problem)}"
        if row.protocol is None and not row.problems and not row.is_judged:
            yield f"  · exchange {row.index + 1}: {cut(row.protocol_from)}"
    yield from _lines_without_repeats(
        sorted(report.inspection.findings, key=lambda f: f.severity.rank), refused_for(report)
    )
    for fact in report.contradicted:
        yield f"  · {_contradiction_line(fact)}"
    if not report.inspection.findings:
        judged = sum(r.is_judged for r in report.inspection.rows)
        undecided = len(report.undecided_rows)
        yield f"  no findings in {number(judged, 'exchange')}" + (f"; {undecided:,} not checked" if undecided else "")


def _contradiction_line(fact: ContradictedFact) -> str:
    """``contract gemini, content.role-order (source, date): contradicted by 3 accepted requests (HOST), first …``."""
    known = ", ".join(filter(None, (fact.source, fact.date)))
    rule = fact.rule if fact.fact in ("", fact.rule) else f"{fact.rule}, {fact.fact}"
    count = number(len(fact.exchanges), "accepted request")
    first = f"first in exchange {fact.exchanges[0] + 1}"
    return cut(f"contract {fact.contract}, {rule}: contradicted by {count} ({fact.by}), {first}; {known}".rstrip("; "))


def refused_for(report: FileReport) -> Mapping[int, Finding]:
    """Exchange → the finding that its provider names in its error, if several apply."""
    by_exchange: dict[int, Finding] = {}
    refused: dict[int, list[Finding]] = {}
    for finding in report.inspection.findings:
        if finding.check:
            refused.setdefault(finding.exchange, []).append(finding)
    for row in report.inspection.rows:
        own = refused.get(row.index)
        if row.provider and own:
            clues = contracts.Clues(model=row.model)
            judged = judge(own, contracts.get(row.provider, protocol=row.protocol, clues=clues))
            if judged.verdict is Verdict.REFUSES and judged.finding:
                by_exchange[row.index] = judged.finding
    return by_exchange


def _lines_without_repeats(findings: Sequence[Finding], answered: Mapping[int, Finding]) -> Iterator[str]:
    """Lines of the findings; of more than ``ALIKE`` with the same message, the rest are counted."""
    alike = Counter((f.rule, f.severity, f.message) for f in findings)
    counts: Counter[tuple[str, Severity, str]] = Counter()
    for finding in findings:
        key = (finding.rule, finding.severity, finding.message)
        counts[key] += 1
        if counts[key] <= ALIKE:
            yield from finding_lines(finding, answered.get(finding.exchange))
        if counts[key] == ALIKE and alike[key] > ALIKE:
            yield f"      … and {alike[key] - ALIKE:,} more of this kind (--format json lists all)"


def finding_lines(finding: Finding, answered: Finding | None = None) -> Iterator[str]:
    """Lines of one finding. ``answered``: the finding that the provider names in its error."""
    yield f"  {SEVERITY_GLYPH[finding.severity]} {finding.severity:<7} {finding.rule}"
    yield f"      {place(finding)}"
    yield f"      {finding.message}"
    if finding.places:
        yield f"      also at: {_other_places(finding)}"
    if evidence := split_evidence(finding)[0]:
        yield f"      seen: {cut(evidence, LONG)}"
    if finding.basis is Basis.COMMON and finding.severity is not Severity.INFO:
        yield "      basis: most providers refuse this; unknown for this provider"
    if finding.origin:
        yield f"      began {cut(origin_words(finding, in_full=True), LONG)}"
    if refusal := refusal_words(finding):
        is_second = answered not in (None, finding) and finding.check and finding.severity is Severity.ERROR
        verb = "would also be refused" if is_second else "provider error"
        yield f"      {verb}: {cut(refusal, LONG)}"
    if finding.repairs:
        from workbench.edits.repairs import verification

        others = f"; {number(len(finding.repairs) - 1, 'other repair')}" if len(finding.repairs) > 1 else ""
        yield f"      repair: {cut(finding.repairs[0].title)} ({verification(finding.repairs[0])}{others})"


def place(finding: Finding) -> str:
    """``exchange 2 to 9 · request · /messages/1 · bytes 187–301`` (exchanges from one)."""
    lasts = "" if finding.last in (None, finding.exchange) else f" to {(finding.last or 0) + 1}"
    words = [f"exchange {finding.exchange + 1}{lasts}", finding.side, finding.pointer or "whole body"]
    if finding.events:
        first, last = min(finding.events), max(finding.events)
        words.append(f"stream event {first}" if first == last else f"stream events {first}–{last}")
    if finding.span:
        words.append(f"bytes {finding.span[0]}–{finding.span[1]}")
    return " · ".join(words)


def _other_places(finding: Finding) -> str:
    """The places of a finding behind the first; of more than ``ALIKE``, the rest are counted."""
    others = finding.places[1:]
    places = [f"exchange {p.exchange + 1} · {p.pointer or 'whole body'}" for p in others[:ALIKE]]
    more = len(others) - len(places)
    return "; ".join(places) + (f"; … and {more:,} more (--format json lists all)" if more else "")


def as_json(reports: Sequence[FileReport], errors: Errors, unclaimed: Sequence[str] = ()) -> None:
    """Print one JSON object, as ``--help`` documents it."""
    others = {"unclaimed": list(unclaimed)} if unclaimed else {}
    files = [report.as_json() for report in reports]
    emit_json({"version": __version__, "files": files, "errors": list(errors), **others})


def sarif(reports: Sequence[FileReport], errors: Errors) -> None:
    """Print SARIF 2.1.0, for code-scanning services."""
    level = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
    found = [(r, f) for r in reports for f in r.inspection.findings]
    slugs = sorted({f.rule for _, f in found})
    rules = [{"id": s, "helpUri": f"urn:workbench:rule:{s}"} for s in slugs]
    results = [
        {
            "ruleId": f.rule,
            "ruleIndex": slugs.index(f.rule),
            "level": level[f.severity],
            "message": {"text": f"{f.message} ({place(f)})"},
            "locations": [_sarif_location(r.path, f)],
            **({"relatedLocations": [_sarif_origin(r.path, f.origin)]} if f.origin else {}),
            "properties": {
                "basis": f.basis.value,
                "exchange": f.exchange,
                "last": f.exchange if f.last is None else f.last,
                **({"places": [place_json(p) for p in f.places]} if f.places else {}),
                **({"repairs": [repair_json(e) for e in f.repairs]} if f.repairs else {}),
            },
        }
        for r, f in found
    ]
    failures = [{"level": "error", "message": {"text": e["message"]}} for e in errors]
    failures += [{"level": "warning", "message": {"text": line}} for r in reports for line in _not_judged(r)]
    run = {
        "tool": {"driver": {"name": "workbench", "version": __version__, "rules": rules}},
        "results": results,
        "invocations": [{"executionSuccessful": not failures, "toolExecutionNotifications": failures}],
    }
    emit_json({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})


def _not_judged(report: FileReport) -> Iterator[str]:
    yield from (f"{report.path}: {line}" for line in report.inspection.damage)
    yield from (f"{report.path}: exchange {r.index + 1}: {'; '.join(reasons(r))}" for r in report.undecided_rows)


def reasons(row: InspectedExchange) -> tuple[str, ...]:
    """Reasons why an exchange was not checked completely."""
    return row.problems or tuple(f.message for f in row.findings if f.rule in UNREAD)


def _sarif_location(path: str, finding: Finding) -> dict[str, object]:
    logical = f"exchange {finding.exchange + 1}/{finding.side}{finding.pointer}"
    return {
        "physicalLocation": {"artifactLocation": {"uri": path.replace("\\", "/")}},
        "logicalLocations": [{"fullyQualifiedName": logical}],
    }


def _sarif_origin(path: str, origin: FaultOrigin) -> dict[str, object]:
    """Origin of the damage, as a related location."""
    logical = f"exchange {origin.exchange + 1}/{origin.side}{origin.pointer}"
    hop = f" at hop {origin.hop}" if origin.hop else ""
    return {
        "physicalLocation": {"artifactLocation": {"uri": path.replace("\\", "/")}},
        "logicalLocations": [{"fullyQualifiedName": logical}],
        "message": {"text": f"began{hop}: {origin.words}"},
    }
