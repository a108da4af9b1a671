"""A report of a survey as one HTML file, for people who do not open a terminal. It names no text of the traffic."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from workbench.survey.failure_groups import FailureGroup, Overview, status_words

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1b1f24;background:#fff}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d0d7de}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}svg{vertical-align:middle}code{font-size:13px}
.error{color:#b42318}.warning{color:#8a5a00}.note{background:#f6f8fa;padding:.6rem 1rem;border-left:4px solid #8a5a00}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}.note{background:#161b22}
th,td{border-color:#30363d}.error{color:#ff8a80}.warning{color:#e3b341}}
"""
_WIDTH, _HEIGHT = 120, 22


def html_report(found: Overview) -> str:
    """The report."""
    about = found.commit.about
    when = datetime.fromtimestamp(about["committed"], UTC).strftime("%Y-%m-%d %H:%M UTC")
    rows = "".join(_row(group, found.weeks) for group in found.groups)
    table = (
        f"<table><thead><tr><th>rule<th>{escape(found.by)}<th class=n>sessions<th class=n>findings<th>weeks</tr>"
        f"</thead><tbody>{rows}</tbody></table>"
        if rows
        else "<p>No failures were found.</p>"
    )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Survey of {escape(str(about['root']))}</title><style>{_STYLE}</style>"
        f"<h1>Survey of <code>{escape(str(about['root']))}</code></h1>"
        f"<p>Run {about['run']}, {when}; rules <code>{escape(str(about['rules']))}</code>; "
        f"{found.judged_exchanges:,} exchanges judged.</p>{_unjudged_note(found)}{table}</html>\n"
    )


def _unjudged_note(found: Overview) -> str:
    words = f"Objects: {escape(status_words(found.objects))}."
    undecided = found.exchanges.get("undecided", 0)
    words += f" {undecided:,} exchanges have no clear verdict." if undecided else ""
    words += (
        "" if found.commit.is_complete else " <strong>The run is incomplete: objects are without a result.</strong>"
    )
    return f"<p class=note>{words}</p>"


def _row(group: FailureGroup, weeks: Sequence[str]) -> str:
    return (
        f"<tr><td class={escape(group.severity)}><code>{escape(group.rule)}</code><td>{escape(group.name or '–')}"
        f"<td class=n>{group.sessions:,}<td class=n>{group.findings:,}<td>{_sparkline(group, weeks)}</tr>"
    )


def _sparkline(group: FailureGroup, weeks: Sequence[str]) -> str:
    """Bars for the weeks of a group; the title says the numbers."""
    if not group.weeks:
        return "–"
    most, step = max(group.weeks.values()), _WIDTH / len(weeks)
    bars = []
    for number, week in enumerate(weeks):
        high = _HEIGHT * group.weeks.get(week, 0) / most
        bars.append(
            f"<rect x={number * step:.1f} y={_HEIGHT - high:.1f} width={max(step - 1, 1):.1f} height={high:.1f} "
            "fill=currentColor />"
        )
    numbers = ", ".join(f"{week}: {group.weeks[week]:,}" for week in weeks if week in group.weeks)
    return f"<svg width={_WIDTH} height={_HEIGHT} role=img><title>{escape(numbers)}</title>{''.join(bars)}</svg>"
