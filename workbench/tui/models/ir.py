"""The IR pane: the decoded exchange as an outline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.characters import unusual
from workbench.contracts import Finding, Severity
from workbench.ir import Media, Opaque, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.tui.models.findings import is_break
from workbench.tui.models.outline import OutlineNode
from workbench.tui.models.pane_content import Items, PaneContent
from workbench.tui.selection import ExchangeSelection, Lights
from workbench.views import REQUEST, RESPONSE, SEVERITY_GLYPH, Line, Span, count, line, preview, wrap
from workbench.wire import dumps

if TYPE_CHECKING:
    from workbench.tui.exchange_view import ExchangeView

_EMPTY: Line = (Span('""', "muted"),)
_WORD = 9
"""Columns of the kind of a part."""


class IrContent(PaneContent):
    """Nodes of the outline, each with the worst break on it."""

    def __init__(self, exchange_view: ExchangeView) -> None:
        self.opened = exchange_view
        self.nodes = exchange_view.outline.nodes
        self.open_at_first = frozenset(n for n, node in enumerate(self.nodes) if node.kind == "problem")
        self._worst: dict[int, Severity] = {}
        for finding in filter(is_break, exchange_view.row.findings):
            self._note(finding)

    def _note(self, finding: Finding) -> None:
        number = self.opened.node_of(finding.side, finding.pointer, finding.events)
        if number is not None and (number not in self._worst or finding.severity.rank < self._worst[number].rank):
            self._worst[number] = finding.severity

    def count(self) -> int:
        return len(self.nodes)

    def head(self, item: int) -> Line:
        return node_line(self.nodes[item], self._worst.get(item))

    def body(self, item: int, width: int) -> list[Line]:
        return node_body(self.nodes[item], width, is_arriving=self.opened.decoded.is_arriving)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.opened.silence("empty"), width, "muted")

    def selection(self, item: int) -> ExchangeSelection:
        return self.opened.at_node(item)

    def highlights(self, lights: Lights) -> tuple[Items, Items]:
        return frozenset(() if lights.node is None else (lights.node,)), lights.nodes


def _frame_text(node: OutlineNode) -> str:
    """What a message of a connection adds: its delta, else its fields without its type and ids."""
    value = node.part.value if isinstance(node.part, Opaque) else None
    if not isinstance(value, dict) or "type" not in value:
        return node.text
    fields = {name: field for name, field in value.items() if name != "type" and not name.endswith(("_id", "_index"))}
    delta = fields.get("delta")
    return delta if isinstance(delta, str) else dumps(fields).decode("utf-8", "replace") if fields else ""


def node_line(node: OutlineNode, severity: Severity | None = None) -> Line:
    """The line of a node; ``severity`` of the worst finding on it."""
    glyph, style = _glyph(node)
    if severity:
        glyph, style = SEVERITY_GLYPH[severity], severity.value
    margin = Span("  " * max(0, node.depth - 1))
    sign = Span(f"{glyph} ", style)
    match node.kind:
        case "side":
            return line(Span(f"{node.side}  ", "strong"), Span(node.text, "muted"))
        case "message":
            return line(margin, sign if severity else "", *_role(node))
        case "frame":
            arrow = ">" if node.side == REQUEST else "<"
            kind = node.part.type if isinstance(node.part, Opaque) else ""
            return line(Span(f"{arrow} ", "muted"), Span(f"{kind}  ", "role"), *preview(_frame_text(node)))
        case "missing":
            return line(margin, Span("✗ ", "error"), Span("reasoning", "error", _WORD), Span("  missing", "error"))
        case "problem":
            return line(Span("✗ not decoded  ", "error"), Span(node.text, "muted"))
        case "error":
            return line(Span("✗ error    ", "error"), *preview(node.text, "error"))
        case "tools":
            return line(margin, Span("  tools    ", "role"), *preview(node.text))
        case "system":
            return line(margin, Span("  system   ", "role"), *preview(node.text))
    return line(margin, sign, *_part_spans(node, style))


def node_body(node: OutlineNode, width: int, *, is_arriving: bool = False) -> list[Line]:
    """Full content of a node; ``is_arriving`` if more of the response may follow."""
    lines: list[Line] = []
    for label, text in _facts(node, "yet" if is_arriving and node.side == RESPONSE else ""):
        lines += [line(Span("    "), Span(f"{label}  ", "muted"), text)]
    return lines + (wrap(node.text, width, indent=4, most=400) if node.text else [])


def _glyph(node: OutlineNode) -> tuple[str, str]:
    match node.part:
        case ToolCallIR():
            return "◆", "call"
        case ToolResultIR():
            return "◇", "result"
        case Reasoning():
            return "∴", "reasoning"
        case Media():
            return "▣", "info"
        case Opaque() if not node.is_known:
            return "?", "warning"
    return " ", ""


def _role(node: OutlineNode) -> Line:
    message, ref = node.message, node.ref
    if message is None or ref is None:
        return ()
    return line(Span(f"{ref.message + 1} ", "muted"), Span(message.role, "role"))


def _part_spans(node: OutlineNode, style: str) -> Line:
    text = preview(node.text)
    match node.part:
        case ToolCallIR(id=call_id, name=name, is_server=is_server):
            word = "server call" if is_server else "call"
            return line(Span(word, style, _WORD), " ", Span(_name_text(name), "strong"), " ", *text, *_id(call_id))
        case ToolResultIR(tool_call_id=call_id, is_error=is_error):
            word = "failed" if is_error else "result"
            return line(Span(word, "error" if is_error else style, _WORD), " ", *text, *_id(call_id))
        case Reasoning() as reasoning:
            return line(Span("reasoning", style, _WORD), " ", *_reasoning_text(reasoning, text))
        case Media(kind=kind, media_type=media_type):
            return line(Span(kind, style, _WORD), " ", Span(f"{media_type or ''} ", "muted"), *text)
        case Opaque(type=kind):
            return line(Span(kind or "unknown", style, max(_WORD, min(24, len(kind)))), " ", *text)
        case Text(text=""):
            text = _EMPTY
    return line(Span("text", style or "muted", _WORD), " ", *text)


def _reasoning_text(reasoning: Reasoning, text: Line) -> Line:
    """The text of reasoning; if it has none, what there is of it instead."""
    if reasoning.text is None and reasoning.data is not None:
        return line(Span("not readable (encrypted)", "muted"))
    if not reasoning.text and reasoning.signature:
        return line(Span(f"signature, {count(len(reasoning.signature), 'character')}", "muted"))
    if reasoning.text is None:
        return line(Span("without text", "muted"))
    return _EMPTY if reasoning.text == "" else text


def _name_text(name: str | None) -> str:
    """A name; in quotes if it begins or ends with a blank, which would be invisible."""
    if name is None:
        return "(no name)"
    return name if name and name == name.strip() else f'"{name}"'


def _id(value: str | None) -> Line:
    return line(Span("  no id" if value is None else f"  {value or 'empty id'}", "muted"))


def _facts(node: OutlineNode, yet: str) -> list[tuple[str, str]]:
    """Fields of a part other than its text."""
    facts: list[tuple[str, str | None]] = []
    match node.part:
        case ToolCallIR() as call:
            odd = "; ".join(unusual(f"{call.name or ''} {call.id or ''}"))
            facts = [("id", call.id), ("name", call.name), ("unusual characters", odd or None)]
            facts += [(f"arguments do not parse {yet}".rstrip() + ":", call.error)]
        case ToolResultIR() as result:
            flag = None if result.is_error is None else str(result.is_error).lower()
            facts = [("answers", result.tool_call_id), ("is_error", flag)]
        case Reasoning() as reasoning:
            signature = reasoning.signature
            facts = [("carrier", str(reasoning.carrier))]
            facts += [("signature", f"{len(signature)} characters" if signature else signature)]
        case Opaque() as opaque:
            facts = [("type", opaque.type)]
    return [(label, value) for label, value in facts if value is not None]
