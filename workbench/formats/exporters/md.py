"""Report in Markdown: findings, where they are, the provider's error, repairs, and the exchanges.

Text of the session is only in code spans and fenced blocks, each fence longer than any run of backticks in it, so that
it is shown unchanged and cannot act as markup.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from workbench import regex
from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._report import ExchangeText, FindingText, Report, report

TITLE = "Markdown report"
SUFFIX = ".md"

_RUN: Final = regex.compile("`+")
_MARKUP: Final = regex.compile(r"([\\`*_\[\]<>#|~&$@])")


def write(selection: ExportSelection) -> ExportResult:
    """Write the report. Raises SessionFormatError."""
    document = report(selection)
    return one_file("\n".join(_lines(document)).encode("utf-8", "backslashreplace") + b"\n", document.limits)


def _lines(report: Report) -> Iterator[str]:
    yield from (f"# {_span(report.title)}", "", f"**{_plain(report.verdict)}**", "")
    yield from (f"- {_span(name)}: {_span(value)}" for name, value in report.about)
    yield from (f"- {_span(note)}" for note in report.limits)
    if report.findings:
        yield from ("", "## Findings", "")
    for finding in report.findings:
        yield from _finding(finding)
    yield from ("", "## Exchanges", "")
    for exchange in report.exchanges:
        yield from _exchange(exchange)


def _finding(finding: FindingText) -> Iterator[str]:
    yield from (f"### {finding.number}. {_plain(finding.rule)} ({finding.severity})", "")
    if finding.summary:
        yield from (_plain(finding.summary), "")
    yield f"- Where: {_span(finding.where)}"
    yield f"- Finding: {_span(finding.message)}"
    facts = (
        ("Evidence", finding.evidence),
        ("Began", finding.began),
        ("Provider error", finding.says),
        ("Source", finding.source),
    )
    yield from (f"- {name}: {_span(text)}" for name, text in facts if text)
    if finding.why:
        yield from ("", _plain(finding.why))
    if finding.excerpt:
        before, at, after = finding.excerpt
        yield from ("", "Bytes of the finding, between the arrows:", "", *_fence(f"{before}\n→→→\n{at}\n←←←\n{after}"))
    for repair in finding.repairs:
        yield from ("", f"Repair: {_span(repair.title)} ({_plain(repair.checked)})", "")
        for place, old, new in repair.changes:
            yield f"- {_span(place)}: {_span(old) if old else 'nothing'} → {_span(new) if new else 'nothing'}"
    yield ""


def _exchange(exchange: ExchangeText) -> Iterator[str]:
    found = f" · findings {', '.join(map(str, exchange.findings))}" if exchange.findings else ""
    yield from (
        f"### Exchange {exchange.number}",
        "",
        f"{_span(exchange.title)} · {_plain(exchange.verdict)}{found}",
        "",
    )
    yield from (_span(exchange.facts), "")
    for title, text in exchange.bodies:
        yield from ("<details>", f"<summary>{title}</summary>", "", *_fence(text), "", "</details>", "")
    if exchange.left_out:
        yield from (_span(exchange.left_out), "")


def _plain(text: str) -> str:
    """Escape our own text for Markdown."""
    return _MARKUP.sub(r"\\\1", text.replace("\n", " "))


def _span(text: str) -> str:
    """A code span; its fence is longer than any run of backticks in the text."""
    if not text.strip():
        return "(empty)"
    fence = "`" * (_longest(text) + 1)
    return f"{fence} {text} {fence}" if text[0] == "`" or text[-1] == "`" else f"{fence}{text}{fence}"


def _fence(text: str) -> list[str]:
    fence = "`" * max(3, _longest(text) + 1)
    return [f"{fence}text", text, fence]


def _longest(text: str) -> int:
    return max(map(len, _RUN.findall(text)), default=0)
