"""Lines of the minimising screen: progress, remaining parts of the request, and fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.ir import JsonValue, Message, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.safetext import clip, visible
from workbench.tui.models.tabs import ROOMY
from workbench.views import Line, Span, count, line, progress_bar, size, wrap
from workbench.wire import dumps

if TYPE_CHECKING:
    from workbench.contracts import Edit
    from workbench.trials.minimize import JudgedBody, MinimalFix
    from workbench.tui.minimize_run import SearchProgress
    from workbench.tui.models.rowtable import Range

KIND, SIZE = 12, 8
"""Columns of the kind and of the size of a remaining part."""

MOST_PIECES = 500
"""Remaining parts listed, at most; nobody reads a longer list."""


MOST_SHOWN = 2000
"""Characters of a value that is shown, at most."""

MOST_EDITS = 8
"""Changes shown of one fix, at most."""


class RemainingPart(NamedTuple):
    """A remaining part of a request: a message, a tool, or a parameter."""

    kind: str
    text: str
    octets: int
    span: Range | None


def pieces(view: JudgedBody) -> tuple[RemainingPart, ...]:
    """Remaining parts of a request, in the order of the wire."""
    request, value = view.decoded_exchange.request, view.value
    if request is None or not isinstance(value, dict):
        return (RemainingPart("bytes", "unreadable body", len(view.text), None),)
    found = list[tuple[str, str, str]]()
    for key, inner in value.items():
        pointer = f"/{key}"
        messages = [m for m in request.messages if m.pointer.startswith(f"{pointer}/")]
        tools = [t for t in request.tools if t.pointer.startswith(f"{pointer}/")]
        if messages:
            found += ((message.role, _message_text(message), message.pointer) for message in messages)
        elif tools:
            found += (("tool", tool.name or "(no name)", tool.pointer) for tool in tools)
        else:
            found.append((key, _short(inner), pointer))
    return tuple(_piece(view, *each) for each in found[:MOST_PIECES])


def _piece(view: JudgedBody, kind: str, text: str, pointer: str) -> RemainingPart:
    span = view.decoded_exchange.request_index.span(pointer)
    return RemainingPart(kind, text, span[1] - span[0] if span else 0, span)


def _message_text(message: Message) -> str:
    return ", ".join(_part(part) for part in message.parts) or "nothing"


def _part(part: object) -> str:
    match part:
        case ToolCallIR():
            return f"call {part.name or part.id or ''}".strip()
        case ToolResultIR():
            return f"result of {part.tool_call_id or part.name or 'a call'}"
        case Reasoning():
            return "reasoning"
        case Text():
            return f"text {_short(part.text)}"
    return type(part).__name__.lower()


def _short(value: JsonValue) -> str:
    if isinstance(value, dict | list):
        return ("{…}" if value else "{}") if isinstance(value, dict) else count(len(value), "element")
    return clip(_json(value), 48)


def _json(value: JsonValue) -> str:
    return dumps(value).decode("utf-8", "replace")


def _short_json(value: JsonValue) -> str:
    """A value as JSON, its opaque strings by their beginning and length."""
    from workbench.tui.models.rows import fold_text

    return visible(fold_text(dumps(value), MOST_SHOWN))


def piece_line(piece: RemainingPart) -> Line:
    """Line of a remaining part: kind, size and text in columns, so that only the text is wrapped."""
    return line(
        Span(f" {clip(visible(piece.kind), KIND - 1)}", "muted", KIND + 1),
        Span(size(piece.octets), "muted", -SIZE),
        Span(f"  {visible(piece.text)}"),
    )


def facts(search_progress: SearchProgress | None, why: str, *, is_stopped: bool) -> Line:
    """Progress of a minimisation."""
    if why:
        return line(Span(visible(why), "error"))
    if search_progress is None:
        return line(Span("reading the request …", "muted"))
    result = search_progress.result
    asked = (
        f"{search_progress.calls} of {count(search_progress.budget, 'request')}, {count(result.checks, 'local check')}"
    )
    if search_progress.is_over and result.failure is None:
        return line(
            Span(f"{result.note or 'the request does not fail'} · ", "ok"),
            Span(f"nothing to minimise · {asked}", "muted"),
        )
    sizes = f"{size(len(result.original))} → {size(len(result.text))}, -{100 * result.removed_share:.1f} %"
    if not search_progress.is_over:
        going = f"{progress_bar(search_progress.calls, search_progress.budget)} {search_progress.stage} … "
        state = Span("stopped · " if is_stopped else going, "warning" if is_stopped else "accent")
    else:
        state = Span("minimal · " if result.is_minimal else "not minimal yet · ", "ok")
    return line(state, Span(sizes, "strong"), Span(f" · {asked}", "muted"))


def failure(search_progress: SearchProgress | None, width: int) -> Line:
    """Line of the failure that is preserved: verdict and status, the rule, then the provider's words.

    Type and code are for a failure without a rule; a narrow line has no words.
    """
    if search_progress is None or search_progress.result.failure is None:
        return line()
    reason = search_progress.result.failure
    verdict = f"{reason.verdict} {reason.status}" if reason.status else reason.verdict
    names = (reason.rule,) if reason.rule else (reason.type, reason.code)
    facts = dict.fromkeys(fact for fact in (verdict, *names) if fact)
    words = f" · {reason.readable_words}" if reason.words and width >= ROOMY else ""
    return line(Span(f" ✗ {visible(' · '.join(facts))}", "error"), Span(visible(words), "muted"))


def question(host: str, budget: int, key: str) -> str:
    """Question asked before requests go to a real endpoint."""
    return (
        f"At most {count(budget, 'request')} of this session go to {visible(host)}, {key}. Each request may cost "
        "money. Requests that the contract can decide are not sent. Tools are never run."
    )


def edit_line(mended: MinimalFix, target: str) -> Line:
    """Title of a fix, and the target's response to it."""
    sign, style, words = {
        True: ("✓", "ok", f"{target} accepts"),
        False: ("✗", "error", f"{target} still refuses"),
        None: ("·", "muted", "not sent to the target"),
    }[mended.accepted]
    return line(
        Span(f" {sign} ", style, 3),
        Span(visible(mended.repair.title)),
        Span(f" · {size(mended.size)} · {words}", "muted"),
    )


def edit_body(mended: MinimalFix, width: int) -> list[Line]:
    """The changes of a fix, before and after."""
    lines = list[Line]()
    for edit in mended.repair.edits[:MOST_EDITS]:
        lines += wrap(f"{edit.op} {visible(edit.pointer)}", width, "muted", indent=4, most=2)
        lines += _sides(edit, width)
    more = len(mended.repair.edits) - MOST_EDITS
    if more > 0:
        lines += wrap(f"… and {count(more, 'further change')}", width, "muted", indent=4)
    return lines


def _sides(edit: Edit, width: int) -> list[Line]:
    old = wrap(f"- {_short_json(edit.old)}", width, "error", indent=4, most=4) if edit.op != "insert" else []
    new = wrap(f"+ {_short_json(edit.new)}", width, "ok", indent=4, most=4) if edit.op != "remove" else []
    return [*old, *new]
