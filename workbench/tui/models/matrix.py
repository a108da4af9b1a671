"""Lines of the matrix screen: verdicts of all contracts on one request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.models.tabs import ROOMY
from workbench.tui.models.tools import DialectRow
from workbench.tui.models.verdict_order import fold_line
from workbench.views import REQUEST_SIGNS, Line, Span, count, line, progress_bar, size

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.convert import Loss
    from workbench.send import MatrixRow

LABEL = 22
"""Cells of a contract's name."""

WIDE = 100
"""Columns of a list that has room for the finding in words."""

WORDED = 50
"""Columns of a list that has room for the verdict in a word."""

NARROW_LABEL = 15
"""Cells of it in a narrow list, in which a longer name moves what follows."""

REFUSALS = ("refuses", "suspicious")
"""Verdicts that people look for, the worst first; the keys for refusals stop at them."""

SEVERITIES = {"error": ("✗ ", "error"), "warning": ("! ", "warning"), "info": ("· ", "info")}


class VerdictRow(NamedTuple):
    """Verdict of one contract, with its lines."""

    row: MatrixRow
    said: tuple[DialectRow, ...]


def headline(number: int, asked: int, rows: Iterable[MatrixRow], width: int) -> Line:
    """Number of the request, counts of the verdicts with the refusals first, and the number of contracts.

    A narrow line has the signs of the verdicts without their words.
    """
    tally = Counter(row.verdict.value for row in rows)
    done = tally.total()
    spans = [Span(f" Request {number} ", "strong")]
    if done < asked:
        spans.append(Span(f"  {progress_bar(done, asked)} {done:,} of {count(asked, 'contract')}  ·", "muted"))
    for verdict in (*REFUSALS, *(each for each in REQUEST_SIGNS if each not in REFUSALS)):
        if tally[verdict]:
            sign, style = REQUEST_SIGNS[verdict]
            word = verdict.removesuffix("s") if verdict != "suspicious" and tally[verdict] > 1 else verdict
            if width < ROOMY:
                spans += [Span(f"  {sign} {tally[verdict]:,}", style), Span("")]
                continue
            spans += [Span(f"  {sign} {tally[verdict]:,} {word}", style), Span("  ·", "muted")]
    is_told = done >= asked and width >= ROOMY
    return (*spans, Span(f"  {count(asked, 'contract')}", "muted")) if is_told else tuple(spans[:-1])


def cause(row: MatrixRow) -> str:
    """What a verdict is due to; empty if there is no finding."""
    found = row.finding
    return f"{found.rule} {found.pointer} {found.message}" if found else ""


def contract_line(
    label: str, verdict_row: VerdictRow | None, width: int, *, is_here: bool, is_repeated: bool = False
) -> Line:
    """Line of a contract: its verdict, and the rule behind it; in a narrow list the verdict is a sign.

    Args:
        is_repeated: the row above has the same cause, and says it in words.
    """
    style = "accent strong" if is_here else "strong"
    if verdict_row is None:
        return line(Span("  "), Span(f"{label} ", style, LABEL))
    row = verdict_row.row
    sign, shade = REQUEST_SIGNS[row.verdict.value]
    found = row.finding
    why = f"{found.rule}  {found.pointer or 'whole request'}" if found else row.note if row.verdict == "unknown" else ""
    if width < WORDED:
        name = Span(f"{label} ", style, NARROW_LABEL if len(label) < NARROW_LABEL else 0)
        return line(Span(f"{sign} ", shade), name, Span(found.rule if found else why, "muted"))
    words = "as above" if is_repeated else found.message if found else ""
    message = Span(f"  {words}", "muted") if width >= WIDE else Span("")
    return line(
        Span(f"{sign} ", shade),
        Span(f"{label} ", style, LABEL if width >= ROOMY else NARROW_LABEL),
        Span(f"{row.verdict.value} ", shade, 11),
        Span(why, "muted"),
        message,
    )


def accepting_line(names: Sequence[str], *, has_names: bool) -> Line:
    """Line that stands for the other contracts, which accept the request."""
    sign, style = REQUEST_SIGNS["accepts"]
    words = "1 other contract accepts" if len(names) == 1 else f"{len(names):,} other contracts accept"
    return fold_line(Span(f"{sign} ", style), f"{words} the request", names if has_names else ())


def said_of(row: MatrixRow) -> tuple[DialectRow, ...]:
    """Details of a contract: the provider's response, every finding, losses of the conversion."""
    first = row.finding
    ordered = ([first] if first else []) + [f for f in row.findings if f is not first]
    rows = [_finding(row, f, is_answer=f is first and row.refusal is not None) for f in ordered]
    if row.note and row.verdict != "unknown":
        rows.append(
            DialectRow(line(Span("· ", "info"), Span("note    ", "info"), Span(row.note, "muted")), ((row.note, ""),))
        )
    return (*rows, *map(_loss, row.losses))


def _finding(row: MatrixRow, finding: Finding, *, is_answer: bool) -> DialectRow:
    sign, style = SEVERITIES[finding.severity.value]
    head = line(
        Span(sign, style),
        Span(f"{finding.rule}  ", "strong"),
        Span(f"{finding.pointer or 'whole body'}  ", "muted"),
        Span(finding.message, "muted"),
    )
    text = [(finding.message, "")]
    if is_answer and row.refusal:
        refusal = finding.refusal or "(error text not known)"
        text.append((f"{row.title} responds {row.refusal.status}: {refusal}", "error"))
    if finding.evidence:
        text.append((finding.evidence, "muted"))
    source = f"source: {finding.source}" if finding.source else ""
    return DialectRow(head, tuple(text), finding.pointer, (finding.span,) if finding.span else (), True, source)


def _loss(loss: Loss) -> DialectRow:
    head = line(
        Span("- ", "warning"), Span("lost  ", "warning"), Span(loss.what, "strong"), Span(f"  {loss.pointer}", "muted")
    )
    return DialectRow(head, ((loss.what, ""), (loss.instead, "info")), None, ())


def body_title(row: MatrixRow) -> Line:
    """Title of the request as this contract gets it."""
    lost = count(len(row.losses), "loss") if row.losses else "no loss"
    how = f"as {row.protocol}, {lost}" if row.is_converted else f"{row.protocol}, unchanged"
    return line(f" Request · {how} · {size(len(row.body))} ")


def nothing_to_say(row: MatrixRow) -> str:
    """Text for a contract without findings."""
    return row.note if row.verdict == "unknown" else "passes all checks of this contract"
