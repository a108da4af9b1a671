"""Lines of the export screen: the formats, the preview, and the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui.models.rows import layout_rows
from workbench.views import BLANK, Line, Span, count, line, size, wrap

if TYPE_CHECKING:
    from workbench.formats.exporters import ExportProof, ExportResult

NAME = 13
"""Columns of a form's name."""

MOST_LINES = 2000
"""Lines of a file that are shown."""

MOST_BYTES = 8 * 1024 * 1024
"""Bytes of exchanges up to which a preview is made."""


class ExportScope(StrEnum):
    """Exchanges to export."""

    ONE = "this exchange"
    BRANCH = "the branch of this exchange"
    ALL = "the session"


class FormRow(NamedTuple):
    """A format: its name, its description, and the suffix of its file ("" for a folder)."""

    name: str
    title: str
    suffix: str


def forms() -> tuple[FormRow, ...]:
    """Every format, the test first."""
    from workbench.formats import exporters

    rows = [FormRow(name, *_form_title(exporters.load(name))) for name in exporters.names()]
    return tuple(sorted(rows, key=lambda row: (row.name != "pytest", row.name)))


def _form_title(form: object) -> tuple[str, str]:
    return getattr(form, "TITLE", ""), getattr(form, "SUFFIX", "")


def form_line(row: FormRow, *, is_refused: bool = False) -> Line:
    """Line of a format in the list; ``is_refused``: the request has to be repaired first."""
    refusal = (Span("  ✗ refused", "error"),) if is_refused else ()
    return line(Span(row.name, "strong", NAME), Span(row.title, "muted"), *refusal)


def summary(scope: ExportScope, exchanges: int, *, is_edited: bool, is_redacted: bool) -> Line:
    """Chosen scope and redaction."""
    what = f"{scope}{', edited' if is_edited and scope is ExportScope.ONE else ''}"
    more = f" ({count(exchanges, 'exchange')})" if scope is not ExportScope.ONE else ""
    private = Span("private text replaced by stand-ins", "ok") if is_redacted else Span("private text is kept", "muted")
    return line(Span(f"{what}{more}", "accent"), Span(" · no secrets · ", "muted"), private)


def default_name(row: FormRow, scope: ExportScope, index: int, session: str) -> str:
    """Suggested name for the file or folder."""
    stem = Path(session).stem or "session"
    number = "" if scope is ExportScope.ALL else f"-{index + 1}"
    return f"{stem}{number}{row.suffix}" if row.suffix else f"{stem}{number}-test"


def made_lines(result: ExportResult, width: int) -> list[Line]:
    """Preview of an export: omissions, files, and the text of the test or of the only file."""
    lines = list(_notes(result, width))
    files = result.files
    if "" not in files:
        lines += [line(Span(f"  {name}  ", "strong"), Span(size(len(data)), "muted")) for name, data in files.items()]
    first_name = next((name for name in files if name.endswith(".py")), next(iter(files), ""))
    data = files.get(first_name, b"")
    head = f" {first_name} " if first_name else f" {size(len(data))} "
    lines += [line(Span(f"──{head}".ljust(max(4, width - 1), "─"), "muted"))]
    return [*lines, *_text(data, width)]


def _notes(result: ExportResult, width: int) -> Iterator[Line]:
    for text in result.left_out:
        yield from wrap(f"✗ left out: {text}", width, "warning")
    for text in result.notes:
        yield from wrap(f"· {text}", width)


def _text(data: bytes, width: int) -> list[Line]:
    if b"\0" in data[:4096]:
        return [line(Span("  (no text)", "muted"))]
    return layout_rows(data, width - 1, MOST_LINES, is_source=True)


def trouble_lines(what: str, hint: str, width: int) -> list[Line]:
    """Reason why nothing can be written, and a hint."""
    return [*wrap(f"✗ {what}", width, "error"), *(wrap(hint, width, "muted", indent=2) if hint else ())]


def written_lines(paths: Sequence[Path], proof: ExportProof | None, is_trying: bool, width: int) -> list[Line]:
    """Path of the written export, and the outcome of its test."""
    where = paths[0].parent if len(paths) > 1 else paths[0] if paths else ""
    lines = wrap(f"✓ written: {where}", width, "ok")
    if is_trying:
        lines.append(line(Span("  running the test on the broken and on the fixed request …", "muted")))
    if proof is None:
        return [*lines, BLANK]
    for run in proof.runs:
        is_red = bool(run.failed)
        words = (
            f"{run.failed} of {count(run.failed + run.passed, 'test')} fail" if is_red else f"{run.passed} tests pass"
        )
        sign, word, style = ("✗", "red", "error") if is_red else ("✓", "green", "ok")
        lines.append(
            line(Span(f"  {sign} {word:<6}", style), f"on the {_ON.get(run.on, run.on)}: {run.problem or words}")
        )
        for text in run.lines:
            lines += wrap(text, width, "muted", indent=6, most=3)
    if proof.why_not:
        lines += wrap(f"✗ this is not a valid test: {proof.why_not}", width, "error")
    else:
        lines += wrap("✓ the test fails on the broken request and passes on the fixed one", width, "ok strong")
    return [*lines, BLANK]


_ON = {"broken": "broken request", "fixed": "fixed request"}
