"""The three output formats of a score card."""

from __future__ import annotations

import shlex
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.cli._output import cut, emit, emit_json, number, write
from workbench.lazy_dataclass import dataclass
from workbench.safetext import visible
from workbench.views import SEVERITY_GLYPH

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.recorder.audit import AuditResult, CardEntry, CardRow, CaseDamage, CaseVerdict, ScoreCard

MOST_CASES = 3
"""Names of cases in one line of text."""

MOST_PLACES = 4
"""Further places in one line of text."""

WORDS = 160


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Values of a report: gateway, upstream, result, and the file with both sightings."""

    gateway: str
    upstream: str
    audit: AuditResult
    card: ScoreCard
    out: str | None


def print_in(how: str, report: AuditReport) -> None:
    """Print it as ``text``, ``json`` or ``junit``."""
    if how == "json":
        emit_json(_as_json(report))
    elif how == "junit":
        _junit(report)
    else:
        for line in _lines(report):
            emit(line)


# As text.


def _lines(report: AuditReport) -> Iterator[str]:
    card = report.card
    yield f"{report.gateway} · {number(card.of, 'case')}, {card.passed:,} passed unchanged"
    for protocol, upstream in report.audit.ways.items():
        yield f"  {protocol}" + (f" → {upstream} upstream, compared by meaning" if upstream != protocol else "")
    for protocol, why in report.audit.skipped.items():
        yield f"  {protocol} skipped: {cut(why, 120)}"
    if report.audit.strays:
        yield f"  requests that the gateway sent by itself: {cut(', '.join(report.audit.strays), WORDS)}"
    for side, title in (("request", "requests"), ("response", "responses")):
        yield ""
        yield title
        yield from _table([row for row in card.rows if row.theme.side == side])
    yield ""
    if not card.entries:
        yield "nothing was changed, dropped, delayed or merged"
    for entry in card.entries:
        yield from _entry_lines(entry)
    if report.out and card.entries:
        first = card.entries[0].verdicts[0].exchanges
        yield ""
        yield _where(shlex.quote(report.out), first)


def _where(out: str, first: tuple[int, ...]) -> str:
    if len(first) < 2:
        return f"workbench open {out}"
    return f"show the first one byte by byte: workbench compare {out}#{first[0] + 1} {out}#{first[-1] + 1}"


def _table(rows: list[CardRow]) -> Iterator[str]:
    """Rows of the score card, worst first."""
    from workbench.diff.damage import damage_words  # loaded by what made the report

    for row in sorted(rows, key=lambda row: (row.is_clean, row.passed / row.of if row.of else 1.0)):
        sign = "✓" if row.is_clean else "✗"
        more = f" (in {number(row.elsewhere, 'other case')})" if row.elsewhere else ""
        kinds = cut(", ".join(map(damage_words, row.kinds)), 80)
        yield f"  {sign} {row.theme:<26} {row.passed:>3} of {row.of:<3}  {kinds}{more}".rstrip()


def _entry_lines(entry: CardEntry) -> Iterator[str]:
    from workbench.diff.damage import damage_words  # loaded by what made the report

    first = entry.first
    place = f" {first.was or first.at}" if first.was or first.at else ""
    yield f"  {SEVERITY_GLYPH[first.severity]} {damage_words(first.kind)}{cut(place, 60)} ({first.side})"
    names = list(dict.fromkeys(verdict.case.name for verdict in entry.verdicts))
    more = f" and {len(names) - MOST_CASES:,} more" if len(names) > MOST_CASES else ""
    yield f"      in {', '.join(names[:MOST_CASES])}{more}: {cut(first.words, WORDS)}".rstrip(": ")
    further = [cut(at, 60) for at in entry.places[1:] if at]
    if further:
        rest = f" and {len(further) - MOST_PLACES:,} more" if len(further) > MOST_PLACES else ""
        yield f"      also at {', '.join(further[:MOST_PLACES])}{rest}"
    if entry.why:
        rule = f" (workbench explain {entry.rule})" if entry.rule else ""
        yield f"      {entry.why}{rule}"


# As JSON.


def _as_json(report: AuditReport) -> JsonValue:
    audit, card = report.audit, report.card
    protocols: list[JsonValue] = [
        {"protocol": name, "upstream": upstream, "skipped": None} for name, upstream in audit.ways.items()
    ]
    protocols += [{"protocol": name, "upstream": None, "skipped": why} for name, why in audit.skipped.items()]
    return {
        "gateway": report.gateway,
        "upstream": report.upstream,
        "protocols": protocols,
        "passed": card.passed,
        "of": card.of,
        "themes": [
            {
                "theme": str(row.theme),
                "side": row.theme.side,
                "passed": row.passed,
                "of": row.of,
                "elsewhere": row.elsewhere,
                "kinds": list(row.kinds),
            }
            for row in card.rows
        ],
        "damages": [_entry_json(entry) for entry in card.entries],
        "cases": [
            {"protocol": v.protocol, "case": v.case.name, "theme": str(v.case.theme), "passed": not v.damages}
            for v in audit.verdicts
        ],
        "strays": list(audit.strays),
    }


def _entry_json(entry: CardEntry) -> JsonValue:
    first = entry.first
    return {
        "kind": str(first.kind),
        "side": first.side,
        "severity": str(first.severity),
        "theme": str(first.theme),
        "was": first.was,
        "at": first.at,
        "words": first.words,
        "places": first.places,
        "shapes": list(entry.places),
        "why": entry.why,
        "rule": entry.rule or None,
        "cases": [
            {
                "protocol": verdict.protocol,
                "case": verdict.case.name,
                "shows": verdict.case.shows,
                "exchanges": list(verdict.exchanges),
            }
            for verdict in entry.verdicts
        ],
    }


# As JUnit XML: a suite a protocol, a case a case.


def _junit(report: AuditReport) -> None:
    root = ET.Element("testsuites", name="workbench audit")
    for protocol in report.audit.ways:
        verdicts = [verdict for verdict in report.audit.verdicts if verdict.protocol == protocol]
        failing = sum(any(_is_error(found) for found in verdict.damages) for verdict in verdicts)
        suite = ET.SubElement(root, "testsuite", name=protocol, tests=str(len(verdicts)), failures=str(failing))
        for verdict in verdicts:
            _junit_case(suite, verdict)
    for protocol, why in report.audit.skipped.items():
        suite = ET.SubElement(root, "testsuite", name=protocol, tests="1", skipped="1")
        case = ET.SubElement(suite, "testcase", name="hello", classname=protocol)
        ET.SubElement(case, "skipped", message=visible(why))
    ET.indent(root)
    write(ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n")


def _junit_case(suite: ET.Element, verdict: CaseVerdict) -> None:
    case = ET.SubElement(
        suite, "testcase", name=verdict.case.name, classname=f"{verdict.protocol}.{verdict.case.theme}"
    )
    broken = [found for found in verdict.damages if _is_error(found)]
    if broken:
        failure = ET.SubElement(case, "failure", message=visible(_damage_text(broken[0])), type=str(broken[0].kind))
        failure.text = "\n".join(visible(_damage_text(found)) for found in broken)
    rest = [found for found in verdict.damages if not _is_error(found)]
    if rest:
        ET.SubElement(case, "system-out").text = "\n".join(visible(_damage_text(found)) for found in rest)


def _is_error(damage: CaseDamage) -> bool:
    return damage.severity == "error"


def _damage_text(damage: CaseDamage) -> str:
    from workbench.diff.damage import damage_words  # loaded by what made the report

    return f"{damage_words(damage.kind)} {damage.was or damage.at} ({damage.side}): {damage.words}"
