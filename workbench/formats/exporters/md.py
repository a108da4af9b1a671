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
    made = report(selection)
    return one_file("\n".join(_lines(made)).encode("utf-8", "backslashreplace") + b"\n", made.limits)


def _lines(made: Report) -> Iterator[str]:
    yield from (f"# {_span(made.title)}", "", f"**{_plain(made.verdict)}**", "")
    yield from (f"- {_span(name)}: {_span(value)}" for name, value in made.about)
    yield from (f"- {_span(note)}" for note in made.limits)
    if made.findings:
        yield from ("", "## Findings", "")
    for told in made.findings:
        yield from _finding(told)
    yield from ("", "## Exchanges", "")
    for exchange in made.exchanges:
        yield from _exchange(exchange)


def _finding(told: FindingText) -> Iterator[str]:
    yield from (f"### {told.number}. {_plain(told.rule)} ({told.severity})", "")
    if told.summary:
        yield from (_plain(told.summary), "")
    yield f"- Where: {_span(told.where)}"
    yield f"- Finding: {_span(told.message)}"
    said = (
        ("Evidence", told.evidence),
        ("Began", told.began),
        ("Provider error", told.says),
        ("Source", told.source),
    )
    yield from (f"- {name}: {_span(text)}" for name, text in said if text)
    if told.why:
        yield from ("", _plain(told.why))
    if told.excerpt:
        before, at, after = told.excerpt
        yield from ("", "Bytes of the finding, between the arrows:", "", *_fence(f"{before}\n→→→\n{at}\n←←←\n{after}"))
    for repair in told.repairs:
        yield from ("", f"Repair: {_span(repair.title)} ({_plain(repair.checked)})", "")
        for place, old, new in repair.changes:
            yield f"- {_span(place)}: {_span(old) if old else 'nothing'} → {_span(new) if new else 'nothing'}"
    yield ""


def _exchange(shown: ExchangeText) -> Iterator[str]:
    found = f" · findings {', '.join(map(str, shown.findings))}" if shown.findings else ""
    yield from (f"### Exchange {shown.number}", "", f"{_span(shown.title)} · {_plain(shown.verdict)}{found}", "")
    yield from (_span(shown.facts), "")
    for title, text in shown.bodies:
        yield from ("<details>", f"<summary>{title}</summary>", "", *_fence(text), "", "</details>", "")
    if shown.left_out:
        yield from (_span(shown.left_out), "")


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
