"""Lines of the arguments screen: the steps by which arguments of tool calls, and calls in text, are read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.diff import common
from workbench.safetext import cells
from workbench.toolcalls import input_type
from workbench.views import RESPONSE, SEVERITY_GLYPH, Line, Span, count, line, wrap

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.ir import JsonValue, NodeRef, ToolCallIR, ToolDef
    from workbench.toolcalls.arguments import LadderStep
    from workbench.toolcalls.formats import TextCall

RUNGS = {
    "strict": ("✓", "ok", "parsed unchanged"),
    "unwrapped": ("~", "warning", "is a JSON string with JSON inside"),
    "repaired": ("~", "warning", "the syntax was repaired"),
    "coerced": ("~", "warning", "values were converted to the schema's types"),
    "validated": ("✓", "ok", "matches the schema"),
    "refused": ("✗", "error", "not run; the model gets this error"),
    "typed": ("✓", "ok", "parsed from the text, typed by the tool's schema"),
}
"""LadderRung → sign, style and meaning."""

RUNG = 11
"""Columns of a rung's name."""

CONTEXT = 48
"""Characters shown before the first difference."""

MOST = 2000
"""Characters of a value that are shown."""

LINES = 12
"""Lines of either side."""


class LadderCall(NamedTuple):
    """A tool call whose arguments are shown.

    Attributes:
        side: "request" or "response".
        ref: the tool call, or the text part that contains it.
        name, id: as written.
        call: None if the call was found in text.
        tool: the declared tool of its name.
        found: the call as found in text.
        is_reasoning: True if that text is reasoning.
        findings: what is wrong with the call.
    """

    side: str
    ref: NodeRef
    name: str | None
    id: str | None
    call: ToolCallIR | None = None
    tool: ToolDef | None = None
    found: TextCall | None = None
    is_reasoning: bool = False
    findings: tuple[Finding, ...] = ()


class LadderRung(NamedTuple):
    """A step: ``name`` is one of ``RUNGS``; before and after are shown if they differ."""

    name: str
    before: JsonValue
    after: JsonValue
    note: str = ""


def rungs(steps: Sequence[LadderStep]) -> tuple[LadderRung, ...]:
    """The steps of a call in the protocol."""
    return tuple(LadderRung(str(step.rung), step.before, step.after, step.note) for step in steps)


def text_rungs(text_call: TextCall, steps: Sequence[LadderStep]) -> tuple[LadderRung, ...]:
    """The steps of a call in text: types by its format, then by the schema."""
    if text_call.input is None:
        return (LadderRung("refused", text_call.raw, None, "unreadable arguments"),)
    return (LadderRung("typed", text_call.raw, text_call.input), *rungs([s for s in steps if str(s.rung) != "strict"]))


def headline(number: int, subjects: Sequence[LadderCall]) -> Line:
    """Number of the exchange and of its calls."""
    in_text = sum(s.found is not None for s in subjects)
    apart = "" if not in_text else ", in text" if in_text == len(subjects) else f", {in_text:,} of them in text"
    text = f"   {count(len(subjects), 'call')}{apart}"
    return line(Span(f" Arguments of exchange {number}", "strong"), Span(text, "muted"))


def subject_line(subject: LadderCall, ladder_rungs: Sequence[LadderRung] | None) -> Line:
    """Line of a call: sign, name, verdict on its arguments, place and id."""
    sign, style, word = verdict(ladder_rungs)
    has_finding = ladder_rungs is not None and bool(subject.findings)
    first = Span(f"{_sign_of(subject.findings[0])[0]} ", _sign_of(subject.findings[0])[1]) if has_finding else None
    where = "response" if subject.side == RESPONSE else f"message {subject.ref.message + 1}"
    kind = f"{subject.found.format} in {'reasoning' if subject.is_reasoning else 'text'} " if subject.found else ""
    return line(
        first or Span(f"{sign} ", style),
        Span(f"{subject.name if subject.name else '(no name)'}  ", "strong"),
        Span(f"{word}  " if word else "", style),
        Span(f"{kind}· {where}" if kind else where, "muted"),
        Span(f"  {subject.id}" if subject.id else "", "muted"),
    )


def verdict(ladder_rungs: Sequence[LadderRung] | None) -> tuple[str, str, str]:
    """Sign, style and word of the highest rung."""
    if ladder_rungs is None:
        return " ", "muted", ""
    if not ladder_rungs:
        return "·", "muted", "free text"
    names = [rung.name for rung in ladder_rungs]
    if "refused" in names:
        after = ladder_rungs[-1].after
        return "✗", "error", str(after.get("error_code", "refused")) if isinstance(after, dict) else "unreadable"
    mended = [name for name in names if name in ("unwrapped", "repaired", "coerced")]
    if mended:
        return "~", "warning", ", ".join(mended)
    return ("✓", "ok", "valid") if "validated" in names else ("✓", "ok", "no schema")


def problems(subject: LadderCall) -> Sequence[tuple[Line, str]]:
    """Line and further text of each finding on a call, then of the faults in its markup if it is in text."""
    found = [(line(*_rule_line(one)), one.message) for one in subject.findings]
    faults = subject.found.problems if subject.found else ()
    return [*found, *((line(Span("! ", "warning"), Span(fault, "warning")), "") for fault in faults)]


def _rule_line(finding: Finding) -> Line:
    sign, style = _sign_of(finding)
    return line(Span(f"{sign} ", style), Span(finding.rule, f"{style} strong"))


def _sign_of(finding: Finding) -> tuple[str, str]:
    return SEVERITY_GLYPH[finding.severity], finding.severity.value


def rung_line(rung: LadderRung, width: int) -> Line:
    """A rung in one line; without its meaning if that is cut: ``rung_body`` has it then."""
    sign, style, meaning = _meaning(rung)
    is_cut = cells(meaning) + RUNG + 2 > width
    return line(
        Span(f"{sign} ", style),
        Span(f"{rung.name} ", f"{style} strong", RUNG),
        Span("" if is_cut else meaning, "muted"),
    )


def _meaning(rung: LadderRung) -> tuple[str, str, str]:
    """Sign, style and meaning. Arguments that are no object fail the strict step, whatever they are."""
    if rung.name == "strict" and not isinstance(rung.after, dict):
        return "✗", "error", f"{input_type(rung.after)}, not an object"
    sign, style, meaning = RUNGS.get(rung.name, ("·", "info", ""))
    return sign, style, rung.note or meaning


def is_told_next(ladder_rungs: Sequence[LadderRung], number: int) -> bool:
    """A failed strict step whose value the next rung shows as its beginning."""
    rung, following = ladder_rungs[number], ladder_rungs[number + 1 : number + 2]
    return _meaning(rung)[1] == "error" and any(rung.after == after.before for after in following)


def rung_body(rung: LadderRung, width: int) -> list[Line]:
    """Arguments before and after a rung, differences marked; for a refusal the error that the model gets."""
    _, _, meaning = _meaning(rung)
    lines = wrap(meaning, width, "muted", indent=4) if cells(meaning) + RUNG + 2 > width else []
    return lines + _values(rung, width)


def _values(rung: LadderRung, width: int) -> list[Line]:
    if rung.name == "refused":
        lines = _laid_out(rung.after)
        was = [*_side("  ", _text(rung.before), (0, 0), "string", "", width)] if rung.before is not None else []
        return [*was, *(line for text in lines for line in wrap(text, width, "info", indent=4, most=LINES))]
    if rung.name in ("strict", "typed"):
        return _read(rung, width)
    if rung.before == rung.after:
        return []
    before = _text(rung.before)
    if rung.name == "unwrapped" and not isinstance(rung.after, str):
        before = json.dumps(rung.before, ensure_ascii=False)  # the quotes and escapes are what was taken off
    return _change_lines(before, rung.after, width)


def _read(rung: LadderRung, width: int) -> list[Line]:
    """Argument text and its parsed value; only the value if the protocol sends arguments as an object."""
    style = _meaning(rung)[1]
    value = [row for text in _laid_out(rung.after) for row in wrap(text, width, style, indent=4, most=LINES)]
    if not isinstance(rung.before, str) or rung.before in (rung.after, *_laid_out(rung.after)):
        return value[: 3 * LINES]
    return [*_side("  ", rung.before, (0, 0), "string", "", width), *value[: 3 * LINES]]


def _change_lines(was: str, after: JsonValue, width: int) -> list[Line]:
    now = max((_text(after, compact=c) for c in (False, True)), key=lambda text: common(was, text))
    first = common(was, now)
    rest = common(was[first:][::-1], now[first:][::-1])
    return [
        *_side("- ", was, (first, len(was) - rest), "error", "broken", width),
        *_side("+ ", now, (first, len(now) - rest), "ok", "related", width),
    ]


def _text(value: JsonValue, *, compact: bool = False) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else None)


def _laid_out(value: JsonValue) -> list[str]:
    if value is None:
        return []
    return [json.dumps(value, ensure_ascii=False, indent=2)]


def _side(sign: str, text: str, differs: tuple[int, int], style: str, mark: str, width: int) -> Iterator[Line]:
    """A text in rows, with its differing part marked; a long text begins shortly before the difference."""
    start = max(0, differs[0] - CONTEXT) if len(text) > MOST else 0
    at, end, count = start, min(len(text), start + MOST), 0
    while at < end and count < LINES:
        stop = min(end, at + max(8, width - 4))
        while cells(text[at:stop]) > max(8, width - 4):
            stop -= 1
        yield line(
            Span("    " if count else f"  {sign}", style),
            *(
                Span(text[a:b].replace("\n", "⏎"), f"{style} {mark}" if marked and mark else style)
                for a, b, marked in _pieces(at, stop, differs)
            ),
        )
        at, count = max(stop, at + 1), count + 1
    if at < len(text):
        yield line(Span(f"    … {len(text) - at:,} more characters", "muted"))


def _pieces(start: int, end: int, differs: tuple[int, int]) -> Iterator[tuple[int, int, bool]]:
    a, b = (min(max(edge, start), end) for edge in differs)
    for first, last, marked in ((start, a, False), (a, b, True), (b, end, False)):
        if first < last:
            yield first, last, marked
