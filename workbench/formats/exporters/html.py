"""Report as one self-contained HTML file: no script, nothing fetched, light and dark, printable.

A Content-Security-Policy allows only the page's own style. Text of the session is escaped; control and invisible
characters are written as escapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from workbench.formats.exporters import ExportResult, ExportSelection, one_file
from workbench.formats.exporters._report import (
    ExchangeText,
    FindingText,
    RepairText,
    Report,
    StoryMark,
    line,
    report,
)
from workbench.formats.exporters._report_story import StoryText
from workbench.views import ADDRESS

TITLE = "HTML report"
SUFFIX = ".html"

_STYLE: Final = """
:root { color-scheme: light dark; --text: #1c2024; --page: #fcfcfd; --soft: #60646c; --line: #d9d9e0; --box: #f0f0f3;
  --error: #b3261e; --warning: #8a5a00; --info: #1f5fa8; --mark: #ffe08a; --ok: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --text: #edeef0; --page: #111113; --soft: #a4a9b3; --line: #363a3f;
  --box: #1c1d20; --error: #ff9592; --warning: #ffca66; --info: #82b7ff; --mark: #6b4e00; --ok: #6fd08c; } }
body { margin: 2rem auto; max-width: 62rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color: var(--text); background: var(--page); }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem }
h3 { font-size: 1rem; margin: 0 0 .5rem }
.verdict { font-size: 1.1rem; margin: .5rem 0 1rem } .bad { color: var(--error) } .good { color: var(--ok) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0 }
dt { color: var(--soft) } dd { margin: 0; overflow-wrap: anywhere }
article { border: 1px solid var(--line); border-left-width: .3rem; border-radius: .3rem; padding: .8rem 1rem;
  margin: .8rem 0 }
.error { border-left-color: var(--error) } .warning { border-left-color: var(--warning) }
.info { border-left-color: var(--info) } .tag { font-weight: 600; margin-right: .5rem }
.error .tag { color: var(--error) } .warning .tag { color: var(--warning) } .info .tag { color: var(--info) }
pre { background: var(--box); padding: .6rem .8rem; border-radius: .3rem; font: .85rem/1.45 ui-monospace, monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; unicode-bidi: plaintext }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere }
mark { background: var(--mark); color: inherit; border-bottom: 2px solid var(--error) }
del { color: var(--error) } ins { color: var(--ok) } .soft { color: var(--soft) }
summary { cursor: pointer; overflow-wrap: anywhere } details { margin: .3rem 0; padding-left: .2rem }
section > details { border-top: 1px solid var(--line); padding: .4rem .2rem; margin: 0 }
.story ol { list-style: none; padding: 0; margin: 0; font-size: .9rem } .story li { overflow-wrap: anywhere }
.story a { color: inherit; text-decoration: none } .story a:hover { text-decoration: underline }
.story .error, .story .warning { border: 0 } .story .error { color: var(--error) }
@media (min-width: 80rem) { body { max-width: 110rem } header, main > section { max-width: 62rem; margin: auto }
  .linked { display: grid; grid-template-columns: 2fr 3fr; gap: 2rem }
  .story { position: sticky; top: 0; max-height: 100vh; overflow: auto } }
@media print { body { margin: 0; max-width: none; font-size: 10pt; background: none } h2, h3 { break-after: avoid }
  details::details-content { content-visibility: visible } }
"""
_SIGNS: Final = {
    "call": "◆",
    "result": "◇",
    "reasoning": "∴",
    "error": "✗",
    "finding": "✗",
    "history": "!",
    "message": "›",
    "conversation": "⊟",
}
MOST_DEPTH: Final = 8
"""Steps by which a line of the story is indented, at most."""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write(selection: ExportSelection) -> ExportResult:
    """Write the report. Raises SessionFormatError."""
    document = report(selection)
    return one_file("\n".join(_page(document)).encode("utf-8", "backslashreplace") + b"\n", document.limits)


def _page(report: Report) -> Iterator[str]:
    title = escape(report.title)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title} · Workbench report</title>\n<style>{_STYLE}{_links(report)}</style>\n</head>"
    yield "<body>\n<header>"
    yield f"<h1>{title}</h1>"
    yield f'<p class="verdict {"bad" if report.is_broken else "good"}">{escape(report.verdict)}</p>'
    if report.about:
        yield f"<dl>{''.join(_row(name, escape(value)) for name, value in report.about)}</dl>"
    yield from (f'<p class="soft">{escape(note)}</p>' for note in report.limits)
    yield "</header>\n<main>"
    if report.findings:
        yield "<section>\n<h2>Findings</h2>"
        for finding in report.findings:
            yield from _finding(finding)
        yield "</section>"
    yield '<div class="linked">'
    yield from _story(report)
    yield "<section>\n<h2>Exchanges</h2>"
    for exchange in report.exchanges:
        yield from _exchange(exchange)
    yield "</section>\n</div>\n</main>\n</body>\n</html>"


def _finding(finding: FindingText) -> Iterator[str]:
    yield f'<article class="{escape(finding.severity)}" id="f{finding.number}">'
    yield f'<h3><span class="tag">{escape(finding.severity)}</span><code>{escape(finding.rule)}</code></h3>'
    yield f"<p><b>{escape(finding.message)}</b></p>"
    rows = (
        ("Where", f'<a href="#x{finding.exchange}">{escape(finding.where)}</a>'),
        ("Rule", escape(finding.summary)),
        ("Why", escape(finding.why)),
        ("Evidence", escape(finding.evidence)),
        ("Began", escape(finding.began)),
        ("Provider error", finding.says and f"<code>{escape(finding.says)}</code>"),
        ("Source", _with_links(finding.source)),
    )
    yield f"<dl>{''.join(_row(name, value) for name, value in rows if value)}</dl>"
    if finding.excerpt:
        before, at, after = map(escape, finding.excerpt)
        yield f"<pre>{before}<mark>{at or '⌶'}</mark>{after}</pre>"
    for repair in finding.repairs:
        yield from _repair(repair)
    yield "</article>"


def _with_links(source: str) -> str:
    """The source of a fact, in words of our own, with its addresses as links."""
    pieces, at = [], 0
    for found in ADDRESS.finditer(source):
        address = escape(found[0])
        pieces += [escape(source[at : found.start()]), f'<a href="{address}" rel="noopener noreferrer">{address}</a>']
        at = found.end()
    return "".join((*pieces, escape(source[at:])))


def _repair(repair: RepairText) -> Iterator[str]:
    yield f"<details open><summary>Repair: <b>{escape(repair.title)}</b>"
    yield f' <span class="soft">({escape(repair.checked)})</span></summary>'
    for place, old, new in repair.changes:
        removed = f"<del>− {escape(old)}</del>\n" if old else ""
        added = f"<ins>+ {escape(new)}</ins>" if new else ""
        yield f"<pre>{escape(place)}\n{removed}{added}</pre>"
    yield "</details>"


def _exchange(exchange: ExchangeText) -> Iterator[str]:
    found = "".join(f' <a href="#f{n}">finding {n}</a>' for n in exchange.findings)
    yield f'<details id="x{exchange.number}"><summary><b>{exchange.number}</b> {escape(exchange.title)}'
    yield f' <span class="soft">{escape(exchange.verdict)}</span>{found}</summary>'
    yield f'<p class="soft">{escape(exchange.facts)}</p>'
    seen: set[int] = set()
    for n, (title, text) in enumerate(exchange.bodies):
        marked = _mark_text(text, exchange.marks[n] if n < len(exchange.marks) else (), seen)
        yield f"<h3>{title}</h3>\n<pre>{marked}</pre>"
    if exchange.left_out:
        yield f'<p class="soft">{escape(exchange.left_out)}</p>'
    yield "</details>"


def _mark_text(text: str, marks: tuple[StoryMark, ...], seen: set[int]) -> str:
    """A body in which each line of the story has its place; the first one of a line is what links go to."""
    pieces, at = [], 0
    for start, end, story_line in marks:
        anchor = "" if story_line.number in seen else f' id="b{story_line.number}"'
        seen.add(story_line.number)
        pieces.append(f"{escape(text[at:start])}<span{anchor}{_classes(story_line)}>{escape(text[start:end])}</span>")
        at = end
    return "".join((*pieces, escape(text[at:])))


def _story(report: Report) -> Iterator[str]:
    """The story, each line a link to its bytes, else to its exchange."""
    marked = {mark.line.number for exchange in report.exchanges for marks in exchange.marks for mark in marks}
    if report.story:
        yield '<section class="story">\n<h2>Story</h2>\n<ol>'
        for entry in report.story:
            target = f"b{entry.number}" if entry.number in marked else f"x{entry.exchange + 1}"
            label = f"<b>{escape(line(entry.label))}</b> " if entry.label else ""
            note = f' <span class="soft">{escape(line(entry.note))}</span>' if entry.note else ""
            sign = _SIGNS.get(entry.kind, "")
            classes = _classes(entry, f"d{min(entry.depth, MOST_DEPTH)}", entry.severity)
            yield f'<li{classes}><span class="soft">{entry.exchange + 1}</span> {sign} '
            yield f'<a href="#{target}">{label}{escape(line(entry.text))}</a>{note}</li>'
        yield "</ol>\n</section>"


def _classes(item: StoryText, *more: str) -> str:
    names = " ".join((*(f"k{number}" for number in item.groups or (item.number,)), *filter(None, more)))
    return f' class="{names}"'


def _links(report: Report) -> str:
    """Rules of style: who points at a line of the story, or goes to its bytes, sees all that belongs to it."""
    groups = sorted({number for entry in report.story for number in entry.groups or (entry.number,)})
    depths = "".join(f".story .d{n}{{padding-left:{n}rem}}" for n in range(MOST_DEPTH + 1))
    return depths + "".join(f"body:has(.k{n}:is(:target,:hover)) .k{n}{{background:var(--mark)}}" for n in groups)


def _row(name: str, value: str) -> str:
    return f"<dt>{escape(name)}</dt><dd>{value}</dd>"
