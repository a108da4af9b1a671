"""Lines of the edit screen: the outline of a request, and its header."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbench.edits import Element, ElementAction, ElementKind
from workbench.safetext import clip, from_bytes
from workbench.tui.models.headline import title_with_promise
from workbench.tui.models.matrix import said_of
from workbench.tui.models.tabs import TALL, Panes
from workbench.tui.models.tools import DialectRow
from workbench.views import REQUEST_SIGNS, Line, Span, count, line, size

if TYPE_CHECKING:
    from workbench.edits.branches import BranchNode
    from workbench.tui.models.edit_study import EditStudy

PANES: Panes = (
    ("outline", "Request"),
    ("value", "Value"),
    ("verdict", "Verdict"),
    ("chain", "Chain"),
    ("meaning", "Meaning"),
    ("bytes", "Bytes"),
)

PROMISE = "the recording is never modified"

MOST_SHOWN = 200
"""Bytes of a value shown in its row."""

WHOLE = Element("", ElementKind.OTHER, "the whole body", frozenset({ElementAction.VALUE}))
"""The only editable element of a body that cannot be read."""

STYLES: Mapping[ElementKind, str] = {
    ElementKind.MESSAGE: "role",
    ElementKind.SYSTEM: "role",
    ElementKind.CALL: "call",
    ElementKind.ARGUMENTS: "call",
    ElementKind.TOOL: "call",
    ElementKind.RESULT: "result",
    ElementKind.REASONING: "reasoning",
    ElementKind.PARAMETER: "key",
}
"""Kind → style of its word."""


class EditRow(NamedTuple):
    """A row of the outline.

    Attributes:
        number: number of the message that it is or belongs to, from one; 0 if none.
        is_folded: True if its parts are hidden.
    """

    element: Element
    depth: int = 0
    number: int = 0
    is_folded: bool = False

    @property
    def pointer(self) -> str:
        """Pointer of the element in the body."""
        return self.element.pointer

    @property
    def is_message(self) -> bool:
        """True for an element of the list of messages."""
        return bool(self.number) and not self.depth

    @property
    def name(self) -> str:
        """Short description of the element."""
        kind, label = self.element.kind, clip(self.element.label, 40)
        if self.is_message:
            return f"message {self.number}"
        inside = f" of message {self.number}" if self.number else ""
        named = kind in (ElementKind.PARAMETER, ElementKind.TOOL, ElementKind.CALL)
        return label if not self.pointer else f"{kind} {label}{inside}" if named else f"{kind}{inside}"


def outline(found: Sequence[Element], toggled: Collection[str]) -> list[EditRow]:
    """Every row. Contents of parameters are folded, others are not; ``toggled`` has the pointers of the exceptions."""
    return [EditRow(WHOLE), *_entries(found, toggled)]


def _entries(found: Iterable[Element], toggled: Collection[str], depth: int = 0, number: int = 0) -> Iterator[EditRow]:
    for element in found:
        step = element.pointer.rpartition("/")[2]
        is_message = (
            not depth
            and step.isdecimal()
            and element.kind not in (ElementKind.TOOL, ElementKind.PARAMETER, ElementKind.SYSTEM)
        )
        here = int(step) + 1 if is_message else number
        is_folded = bool(element.parts) and (element.kind is ElementKind.PARAMETER) != (element.pointer in toggled)
        yield EditRow(element, depth, here, is_folded)
        if not is_folded:
            yield from _entries(element.parts, toggled, depth + 1, here)


def deepest(numbers: Mapping[str, int], pointer: str) -> int:
    """Innermost row that contains the pointer; falls back to the row of the whole body.

    Args:
        numbers: row of each pointer that has one.
    """
    while pointer not in numbers:
        pointer = pointer.rpartition("/")[0]
    return numbers[pointer]


def entry_line(row: EditRow, value: bytes, mark: Line, digits: int) -> Line:
    """Line of a row: mark, message number, kind, and the start of its value.

    Args:
        value: bytes of a parameter or of the whole body; text of a tool result or a system prompt.
        mark: column with the sign of a finding or of a change.
        digits: number of digits of the highest message number.
    """
    element = row.element
    number = str(row.number) if row.is_message else ""
    sign = "⊞" if row.is_folded else " "
    margin = line(Span(f"{number} ", "muted", -(digits + 1)), Span(f"{'  ' * row.depth}{sign} "))
    style = STYLES.get(element.kind, "")
    if not element.pointer:
        text = line(Span(element.label, "strong"), Span(f"  {size(len(value))}", "muted"))
    elif element.kind is ElementKind.PARAMETER:
        text = line(Span(element.label, "key"), Span(f"  {from_bytes(value[:MOST_SHOWN])}", "muted", is_bytes=True))
    elif element.kind is ElementKind.MESSAGE:
        text = line(Span(element.label or "message", "role"))
    else:
        text = line(
            Span(f"{element.kind} ", style, max(10, len(element.kind) + 1)),
            Span("" if element.kind is ElementKind.SYSTEM else f"{element.label}  "),
            Span(from_bytes(value[:MOST_SHOWN]), "muted", is_bytes=True),
        )
    return (*mark, *margin, *text)


def mark_of(worst: str, *, is_changed: bool) -> Line:
    """Two columns: severity of the contract's finding on a row, and a sign if the row was changed."""
    sign, style = {"error": ("✗", "error"), "warning": ("!", "warning")}.get(worst, (" ", ""))
    return line(Span(sign, style), Span("~" if is_changed else " ", "warning"))


def headline(
    number: int, node: BranchNode, study: EditStudy | None, notice: Span, window: tuple[int, int]
) -> list[Line]:
    """Header of the edit screen: request and branch, contract and verdict, and a notice if there is one.

    Args:
        number: number of the exchange, from one.
        notice: text shown below the others; an empty one is left out.
        window: columns and rows of the window; in a low one the title takes one row.
    """
    width, height = window
    named = f"{clip(node.name, 30)} · " if node.name else ""
    what = f"branch · {named}{node.title}" if node.parent is not None else "as recorded · an edit creates a branch"
    first = title_with_promise(
        f"Edit of request {number}  {what}", (PROMISE, ""), "ok", width, 2 if height >= TALL else 1
    )
    return [first, verdict_line(study), *([line(notice)] if notice.text else [])]


def verdict_line(study: EditStudy | None) -> Line:
    """The contract, its verdict with the rule behind it, and the size of the changes."""
    if study is None:
        return line(Span(" checking …", "muted"))
    row, loose = study.told, len(study.meant.unbound)
    sign, style = REQUEST_SIGNS[row.verdict.value]
    why = f" · {row.finding.rule}" if row.finding else ""
    problem = study.meant.problem
    return line(
        Span(f" contract {study.contract} ", "muted"),
        Span(f"{sign} {row.verdict}{why}", f"{style} strong"),
        Span(f" · ✗ {clip(problem, 80)}" if problem else "", "error"),
        Span(f" · ! {count(loose, 'signature')} unbound" if loose else "", "warning"),
        Span(f" · {changed_words(study)}", "muted"),
    )


def changed_words(study: EditStudy) -> str:
    """Number of changes from the recorded request, and both sizes."""
    found = study.difference
    if found.first is None:
        return "headers changed" if study.is_changed else "unchanged"
    changes = count(len(found.changes), "change") if found.is_read else count(len(found.hunks), "range")
    return f"{changes} · {size(len(found.before))} → {size(len(found.after))}"


def study_notes(study: EditStudy) -> tuple[DialectRow, ...]:
    """All notes on the edited request: why it was not checked, findings of the contract, invalidated signed blocks."""
    if study.meant.problem:
        head = line(Span("✗ ", "error"), Span("not checked  ", "error"), Span(study.meant.problem))
        more = "you can send it unchanged to see the response · R: edit its bytes"
        return (DialectRow(head, ((study.meant.problem, ""), (more, "muted"))),)
    loose = (_unbound(pointer) for pointer in study.meant.unbound)
    return (*said_of(study.told), *loose)


def _unbound(pointer: str) -> DialectRow:
    """Note on a signed block whose signature an earlier edit may have invalidated."""
    head = line(Span("! ", "warning"), Span("signature unbound  ", "warning"), Span(pointer, "muted"))
    why = "content before this signed block has changed, so its signature may be invalid: the provider may refuse it"
    return DialectRow(head, ((why, ""), ("the Send screen can drop it", "muted")), pointer)
