"""Lines of the tools screen: the verdict of each provider on a tool's schema, and the schema to declare instead."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.diff import compare
from workbench.safetext import cells
from workbench.tui.models.rowtable import Range
from workbench.tui.models.tabs import ROOMY
from workbench.tui.models.verdict_order import fold_line
from workbench.views import SCHEMA_SIGNS, Line, Span, count, line, link_addresses, plain, size, wrap
from workbench.wire import dumps, loads

if TYPE_CHECKING:
    from workbench.ir import JsonValue, ToolDef
    from workbench.rules import JudgedSchema
    from workbench.toolcalls.schemas import Issue, LoweredSchema, LoweringStep

VERDICTS = {
    "accepted": "accepted as declared",
    "refused": "refused as declared · no change makes it acceptable",
}

LEAST_REASONED = 45
"""Columns of a list from which on a row has a reason that must be cut."""

MOST = 4 * 80
"""Lines of a schema or check that one row may take."""


BRIEF_VERDICTS = {"changed": "change"}
"""Verdicts in a list, where the stable value is not plain."""

ORDER = ("refused", "changed", "accepted")
"""Verdicts of dialects, the worst first."""


FEW = 3
"""Dialects that accept a schema and are listed without being asked for."""


class ToolDeclaration(NamedTuple):
    """A declared tool. ``pointer`` is that of its schema in the request, or of the declaration without a schema."""

    tool: ToolDef
    pointer: str


class ToolJudgement(NamedTuple):
    """Judgement of one tool by every dialect.

    Attributes:
        judged: the verdicts.
        body: its schema as JSON.
        rows: rows of each dialect.
        why: reason that there is no judgement; "" if there is one.
    """

    judged: tuple[JudgedSchema, ...] = ()
    body: bytes = b""
    rows: tuple[tuple[DialectRow, ...], ...] = ()
    why: str = ""


class DialectRow(NamedTuple):
    """A note on how a dialect treats a schema.

    Attributes:
        head: its line.
        text: further texts, each with a style; JSON is laid out.
        pointer: place it is about, from the root of the schema; None if it is about no place.
        spans: byte ranges of that place in the schema's JSON.
        is_keyword: True if it is about a keyword at that place.
        source: where the fact comes from, in words of our own; its addresses are links.
    """

    head: Line
    text: tuple[tuple[str, str], ...] = ()
    pointer: str | None = None
    spans: tuple[Range, ...] = ()
    is_keyword: bool = False
    source: str = ""


def open_head(head: Line, text: Sequence[tuple[str, str]], width: int) -> Line:
    """The line of a row above its further lines; a text that would be cut is left out, as they repeat it."""
    if cells(plain(head)) <= width or not text:
        return head
    words = " ".join(each for each, _ in text)
    return tuple(span for span in head if not span.text.strip() or not words.startswith(span.text.strip()))


def headline(number: int, tools: int, judged: int, here: str | None) -> Line:
    """Number of the request, number of tools, and the request's contract."""
    progress = "" if judged >= tools else f" · {judged:,} checked"
    contract = f"   this request's contract: {here}" if here else ""
    words = f"   {count(tools, 'tool')} declared{progress}"
    return line(Span(f" Tools of request {number}", "strong"), Span(words, "muted"), Span(contract, "info"))


def tool_line(declared: ToolDeclaration, judgement: ToolJudgement | None) -> Line:
    """Line of a tool, with the number of dialects that accept it."""
    tool = declared.tool
    name = Span(tool.name if tool.name else "(no name)", "strong")
    if judgement is None:
        return line(Span("  "), name)
    if judgement.why:
        return line(Span("· ", "muted"), name, Span(f"  {judgement.why}", "muted"))
    tally = Counter(judged.verdict for judged in judgement.judged)
    worst = next(verdict for verdict in ORDER if tally[verdict])
    sign, style = SCHEMA_SIGNS[worst]
    return line(Span(f"{sign} ", style), name, Span(f"  {_tally(tally)}", "muted"))


def _tally(tally: Counter[str]) -> str:
    if tally["accepted"] == tally.total():
        return "accepted everywhere"
    numbers = (
        (tally["refused"], "refuses the tool", "refuse the tool"),
        (tally["changed"], "needs a change", "need a change"),
    )
    first, *others = [(f"{number:,}", one if number == 1 else many) for number, one, many in numbers if number]
    further = "".join(f", {number} {does}" for number, does in others)
    return f"{first[0]} of {count(tally.total(), 'provider')} {first[1]}{further}"


def _reason(judged_schema: JudgedSchema) -> str:
    """First reason of a verdict; empty without one."""
    first = next((i for i in judged_schema.issues if i.effect == "refused"), next(iter(judged_schema.issues), None))
    where = f"{first.pointer}: " if first and first.pointer else ""
    return f"{where}{first.message}" if first else ""


def dialect_line(judged_schema: JudgedSchema, width: int, *, is_here: bool) -> Line:
    """Line of a dialect: its verdict, and the first reason; in a narrow list the verdict is a sign."""
    sign, style = SCHEMA_SIGNS[judged_schema.verdict]
    reason = _reason(judged_schema)
    is_roomy = width >= ROOMY
    name = Span(judged_schema.dialect.name, "accent strong" if is_here else "strong", 23 if is_roomy else 20)
    if width < LEAST_REASONED and cells(reason) > width - 23:
        return line(Span(f"{sign} ", style), name._replace(width=0))  # the details say it whole
    return line(
        Span(f"{sign} ", style),
        name if is_roomy or reason or is_here else name._replace(width=0),
        " ",
        *([Span(f"{BRIEF_VERDICTS.get(judged_schema.verdict, judged_schema.verdict)} ", style, 9)] if is_roomy else []),
        Span(("this request's contract" if is_roomy else "own contract") if is_here and not reason else "", "accent"),
        Span(reason, "muted"),
    )


def is_own(judged: JudgedSchema, provider: str | None) -> bool:
    """True for the dialect of a request's contract itself, or of one of its modes."""
    return bool(provider) and f"{judged.dialect.name} ".startswith(f"{provider} ")


class DialectRows:
    """Rows of the list of dialects: the request's own, then the worst; those that accept a schema are one row.

    Attributes:
        listed: number of dialects that have a row.
        hidden: number of dialects behind the last row.
    """

    def __init__(self) -> None:
        self.listed = self.hidden = 0
        self._is_open = False

    def arrange(self, judged_schemas: Sequence[JudgedSchema], provider: str | None = None, room: int = 0) -> None:
        """Set the dialects of a tool; those of the ``provider`` come first, and keep their rows.

        Args:
            room: rows in which all dialects are listed if they fit.
        """
        accepting = sum(one.verdict == "accepted" and not is_own(one, provider) for one in judged_schemas)
        is_listed = self._is_open or accepting <= FEW or len(judged_schemas) <= room
        self.hidden = 0 if is_listed else accepting
        self.listed = len(judged_schemas) - self.hidden

    def open(self) -> None:
        """Give each dialect a row, from the next arrangement on."""
        self._is_open = True

    def count(self) -> int:
        """Number of rows."""
        return self.listed + bool(self.hidden)

    def is_folded_at(self, row: int) -> bool:
        """The row stands for those that accept."""
        return bool(self.hidden) and row == self.listed


def accepting_line(names: Sequence[str], others: int, *, has_names: bool) -> Line:
    """Row that stands for the dialects that accept a schema unchanged."""
    sign, style = SCHEMA_SIGNS["accepted"]
    words = f"{len(names):,} {'others ' if others else ''}accept the tool unchanged"
    return fold_line(Span(f"{sign} ", style), words, names if has_names else ())


def verdict_words(judged_schema: JudgedSchema, *, is_short: bool = False) -> str:
    """Verdict of a dialect on a tool, in words; a short one without what the change is."""
    if is_short:
        return "accepted" if judged_schema.verdict == "accepted" else "refused"
    if judged_schema.verdict != "changed":
        return VERDICTS[judged_schema.verdict]
    steps = len(judged_schema.lowered.steps)
    how = f"after {count(steps, 'change')}" if steps else "in parts" if judged_schema.lowered.parts else "as changed"
    return f"refused as declared · accepted {how}"


def rows_of(judged_schema: JudgedSchema, spans: dict[str, Range]) -> tuple[DialectRow, ...]:
    """Rows of a dialect: what it refuses and ignores, the changes, and the check that remains to be done locally."""
    ordered = sorted(judged_schema.issues, key=lambda issue: issue.effect != "refused")
    rows = [_issue(issue, spans) for issue in ordered]
    return (*rows, *_change(judged_schema.lowered, spans, ""))


def _change(lowered: LoweredSchema, spans: dict[str, Range], part: str) -> tuple[DialectRow, ...]:
    rows = [_step(step, spans, part) for step in lowered.steps]
    if lowered.steps and lowered.check is not True:
        head = line(Span("= ", "info"), Span("remaining check", "info", 20), Span(_short(lowered.check), "muted"))
        advice = "Check the arguments locally with the original schema:"
        rows.append(DialectRow(head, ((advice, "muted"), (format_json(lowered.check), ""))))
    for issue in lowered.remaining:
        row = _issue(issue, spans, "still")
        rows.append(row)
    for name, inner in lowered.parts:
        head = line(Span("+ ", "ok"), Span("replacement tool", "ok", 20), Span(name, "strong"))
        rows.append(DialectRow(head, ((format_json(inner.schema), ""),)))
        rows += _change(inner, {}, f"{name}: ")
    return tuple(rows)


def _issue(issue: Issue, spans: dict[str, Range], word: str = "") -> DialectRow:
    is_refused = issue.effect == "refused"
    style = "error" if is_refused else "warning"
    head = line(
        Span("✗ " if is_refused else "! ", style),
        Span(f"{word or issue.effect} ", style, 8),
        Span(f"{issue.pointer or 'the schema'}  ", "strong"),
        Span(issue.message, "muted"),
    )
    source = f"source: {issue.source}" if issue.source else "not in any contract"
    is_keyword = bool(issue.keyword) and issue.pointer.endswith(f"/{issue.keyword}")
    spans_here = _spans(spans, issue.pointer)
    return DialectRow(head, ((issue.message, ""),), issue.pointer, spans_here, is_keyword, source)


def _step(step: LoweringStep, spans: dict[str, Range], part: str) -> DialectRow:
    style = {"exact": "ok", "local check": "info"}.get(step.effect, "warning")
    head = line(
        Span("~ ", style),
        Span("change ", style, 8),
        Span(f"{part}{step.pointer or 'the root'}  ", "strong"),
        Span(f"{step.what} → {step.instead}", "muted"),
    )
    meaning = {
        "exact": "exact: accepts the same values",
        "local check": (
            "local check: the schema checks less; the row 'remaining check' lists what you must validate yourself"
        ),
    }.get(step.effect, f"{step.effect}: some values of the original are no longer possible")
    text = ((step.what, "error"), (f"→ {step.instead}", "ok"), (meaning, style))
    return DialectRow(head, text, None if part else step.pointer, _spans(spans, step.pointer))


def _spans(spans: dict[str, Range], pointer: str) -> tuple[Range, ...]:
    return (spans[pointer],) if pointer in spans else ()


def body(row: DialectRow, width: int) -> list[Line]:
    """Further lines of a row; they repeat its first line only if that is cut."""
    is_whole = cells(plain(row.head)) <= width
    rest = [(text, style) for text, style in row.text if not (is_whole and text in plain(row.head))]
    lines = [each for text, style in rest for each in wrap(text, width, style, indent=4, most=MOST)]
    return lines + link_addresses(wrap(row.source, width, "muted", indent=4), row.source) if row.source else lines


def format_json(value: JsonValue) -> str:
    """Format JSON for reading."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}…"


def declared_title(judgement: ToolJudgement) -> Line:
    """Title of the declared schema."""
    return line(f" Declared · {size(len(judgement.body))} ") if judgement.body else line(" Declared ")


def new_ranges(declared: bytes, lowered: bytes) -> tuple[Range, ...]:
    """Ranges of a lowered schema that the declared one does not have, however that is spelled."""
    plain_form = dumps(loads(declared)) if declared else b""
    return tuple(hunk.after for hunk in compare(plain_form, lowered).hunks)


def lowered_title(judged_schema: JudgedSchema, lowered: bytes, declared: bytes) -> Line:
    """Title of the schema to declare instead."""
    same = "unchanged" if lowered == declared else size(len(lowered))
    return line(f" For {judged_schema.dialect.name} · {same} ")
