"""An exchange prepared for the screen, and every way to select something in it.

A node of the IR, a byte, a call, a ledger entry, a finding: each makes an ``ExchangeSelection``; ``lights`` finds the
items of every view that belong to it. It uses no widget, and is created in the inspector's thread.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from workbench.chain import CallLine, Entry
from workbench.contracts import Finding
from workbench.ir import Message, NodeRef, Part
from workbench.protocols import WirePlace
from workbench.protocols.mcp import place_in_response
from workbench.rules import Detail
from workbench.tui import session_panes
from workbench.tui.models.outline import WHOLE, Outline, OutlineNode
from workbench.tui.models.pane_content import PaneContent
from workbench.tui.models.signs import PROVISIONAL
from workbench.tui.selection import ExchangeSelection, Lights, Spans
from workbench.views import REQUEST, RESPONSE, SEVERITY_GLYPH
from workbench.wire import ExchangeKind


class ExchangeView:
    """One exchange. Creating it takes time in proportion to its history.

    Args:
        is_provisional: the exchanges before it are not inspected yet, so origins and causes are not known.
    """

    def __init__(self, detail: Detail, *, is_provisional: bool = False) -> None:
        self.detail, self.is_provisional = detail, is_provisional
        self.row = detail.row
        self.index = detail.row.index
        self.decoded = detail.decoded
        self.outline = Outline(detail.decoded, detail.ledger)
        self._streamed: dict[int, WirePlace] = {}  # found once: a part may have come in ten thousand pieces
        for number, node in enumerate(self.outline.nodes if self.decoded.events else ()):
            if node.side == RESPONSE and node.part:
                self._streamed[number] = self._find(node)
        self.found = {side: self._finding_spans(side) for side in (REQUEST, RESPONSE)}
        self.contents: Mapping[str, PaneContent] = session_panes.contents(self)

    def _finding_spans(self, side: str) -> Mapping[str, Spans]:
        """Byte ranges of the findings of a side, by severity, the worst first."""
        spans: dict[str, set[tuple[int, int]]] = {severity: set() for severity in SEVERITY_GLYPH}
        for finding in self.row.findings:
            if finding.side == side:
                spans[finding.severity].update(self.at_finding(finding).spans)
        return {severity: tuple(sorted(found)) for severity, found in spans.items()}

    def silence(self, claim: str) -> str:
        """Reason why a pane is empty: ``words`` if the whole exchange was read, else the part that was not read."""
        is_decoded = self.decoded.request is not None or self.decoded.response is not None
        if self.row.problems:
            return f"{'only partly decoded' if is_decoded else 'not decoded'}: {'; '.join(self.row.problems)}"
        return claim if is_decoded else f"nothing to decode: {self.decoded.protocol_from}"

    @property
    def provisional_word(self) -> str:
        """Sign and word of a provisional exchange, for titles; empty for others."""
        return PROVISIONAL if self.is_provisional else ""

    # Ways to select.

    def at_start(self) -> ExchangeSelection:
        """Initial selection if there are no findings: the first part of the response, else the newest message."""
        nodes = self.outline.nodes
        answers = (n for n, node in enumerate(nodes) if node.side == RESPONSE and node.kind in ("part", "error"))
        messages = (n for n in range(len(nodes) - 1, -1, -1) if nodes[n].kind == "message")
        found = next(answers, next(messages, None))
        return ExchangeSelection(self.index) if found is None else self.at_node(found)

    def at_node(self, number: int) -> ExchangeSelection:
        """Select a node of the outline."""
        node = self.outline.nodes[number]
        place = self._place(number)
        return ExchangeSelection(self.index, node.side, node.pointer, place.events, place.spans, node=number)

    def at_event(self, event: int) -> ExchangeSelection:
        """Select the part that a stream event belongs to; the event alone if it belongs to no part."""
        number = self.outline.by_event(event)
        if number is not None:
            whole = self.at_node(number)
            if event in whole.events:
                return whole
        pointer = "" if number is None else self.outline.nodes[number].pointer
        return ExchangeSelection(self.index, RESPONSE, pointer, (event,), self.decoded.place_events((event,)).spans)

    def at_byte(self, side: str, offset: int) -> ExchangeSelection:
        """Select the deepest JSON value that contains a byte, or the part that its stream event belongs to."""
        if side == RESPONSE and self.decoded.events:
            return self.at_event(max(0, bisect_right(self.decoded.events, offset, key=lambda e: e.start) - 1))
        index = self.decoded.request_index if side == REQUEST else self.decoded.response_index
        pointer = index.pointer_at(offset)
        place = self.decoded.place(side, pointer)
        return ExchangeSelection(self.index, side, pointer, place.events, place.spans)

    def at_pointer(self, side: str, pointer: str) -> ExchangeSelection:
        """Select a place by its pointer."""
        place = self.decoded.place(side, pointer)
        return ExchangeSelection(self.index, side, pointer, place.events, place.spans)

    def at_finding(self, finding: Finding) -> ExchangeSelection:
        """Select the place of a finding of this exchange."""
        place = self.decoded.place(finding.side, finding.pointer)
        if finding.events:
            place = _overlap(place, self.decoded.place_events(finding.events))
        spans = place.spans or ((finding.span,) if finding.span else ())
        events = finding.events or place.events
        return ExchangeSelection(finding.exchange, finding.side, finding.pointer, events, spans, finding.related)

    def at_call(self, line: CallLine) -> ExchangeSelection:
        """Select the call of a closure line, or its result if it has no call."""
        refs = [r for r in (line.call, *line.results) if r is not None]
        return self._at_ref(refs[0]) if refs else ExchangeSelection(self.index)

    def at_entry(self, entry: Entry) -> ExchangeSelection:
        """Select the reasoning of a ledger entry in this request, or the turn in which it is missing."""
        if entry.sent_part:
            return self._at_ref(entry.sent_part)
        if entry.message is None:
            return ExchangeSelection(self.index)
        return self._at_ref(NodeRef(REQUEST, entry.message, WHOLE))

    def _at_ref(self, ref: NodeRef) -> ExchangeSelection:
        number = self.outline.by_ref(ref)
        return ExchangeSelection(self.index) if number is None else self.at_node(number)

    def _place(self, number: int) -> WirePlace:
        return self._streamed.get(number) or self._find(self.outline.nodes[number])

    def _find(self, node: OutlineNode) -> WirePlace:
        if node.part is not None and node.message is not None:
            return self._place_of_part(node.side, node.message, node.part)
        if node.side == RESPONSE and self.decoded.exchange.kind is ExchangeKind.MCP:
            return place_in_response(self.decoded, node.pointer)
        if node.side == RESPONSE and self.decoded.events:
            parts = node.message.parts if node.message else ()
            return self.decoded.place_events(tuple(sorted({e for p in parts for e in p.source.events})))
        return self.decoded.place(node.side, node.pointer)

    def _place_of_part(self, side: str, message: Message, part: Part) -> WirePlace:
        """The bytes of a part; for a streamed part its deltas and all events that contained them."""
        whole = self.decoded.place_of(side, message, part)
        source = part.source
        fields = {(found, source.slices.get(name)): name for name, found in source.segments.items()}  # raw is input too
        pieces = {s for name in fields.values() for s in self.decoded.place_of(side, message, part, name).spans}
        return WirePlace(tuple(sorted(pieces)), whole.events) if pieces else whole

    # What belongs to a selection.

    def lights(self, selection: ExchangeSelection) -> Lights:
        """Items of every view that belong to a selection of this exchange."""
        number = self.node_at(selection)
        ref = self.outline.nodes[number].ref if number is not None else None
        lines, entries = self.detail.closure.lines, self.detail.ledger.entries
        calls = frozenset(n for n, line in enumerate(lines) if ref and (line.call == ref or ref in line.results))
        refs = {r for n in calls for r in (lines[n].call, *lines[n].results, lines[n].twin, lines[n].stands_for) if r}
        found = {self.outline.by_ref(r) for r in refs if r != ref}
        found |= {self.outline.by_pointer(selection.side, p) for p in selection.related}
        nodes = frozenset(n for n in found if n is not None and n != number)
        stands = frozenset(n for n, e in enumerate(entries) if ref and _is_at(e, ref))
        turn = frozenset(n for n, e in enumerate(entries) if ref and ref.side == REQUEST and e.message == ref.message)
        return Lights(number, nodes, calls, stands, turn - stands, self._spans(nodes))

    def refs(self, selection: ExchangeSelection) -> tuple[NodeRef, ...]:
        """The selected parts, then related ones, such as the call of a result."""
        number, nodes = self.node_at(selection), self.outline.nodes
        if number is None:
            return ()
        message = nodes[number].message if nodes[number].kind == "message" else None
        inside = [n for n, node in enumerate(nodes) if message and node.kind == "part" and node.message is message]
        numbers = inside or [number]
        found = (*numbers, *(n for one in numbers for n in sorted(self.lights(self.at_node(one)).nodes)))
        return tuple(ref for n in found if (ref := nodes[n].ref))

    def node_at(self, selection: ExchangeSelection) -> int | None:
        """The outline's node of a selection: the one it was created at, else the one at its place."""
        if selection.node is not None:
            return selection.node
        return self.node_of(selection.side, selection.pointer, selection.events)

    def node_of(self, side: str, pointer: str, events: tuple[int, ...] = ()) -> int | None:
        """The outline's node for a place: by its pointer, else by its stream events."""
        found = self.outline.by_pointer(side, pointer)
        if events and (found is None or self.outline.nodes[found].kind == "side"):
            by_event = self.outline.by_event(events[0])
            return found if by_event is None else by_event
        return found

    def _spans(self, nodes: Iterable[int]) -> dict[str, Spans]:
        spans: dict[str, list[tuple[int, int]]] = {}
        for number in nodes:
            spans.setdefault(self.outline.nodes[number].side, []).extend(self._place(number).spans)
        return {side: tuple(sorted(found)) for side, found in spans.items()}


def _overlap(exact: WirePlace, events: WirePlace) -> WirePlace:
    """The exact byte ranges inside the named events; the whole events if there are none."""
    blocks = sorted(events.spans)
    overlapping = []
    for start, end in exact.spans:
        at = bisect_right(blocks, (start, end)) - 1
        if any(a <= start and end <= b for a, b in blocks[max(at, 0) : at + 2]):
            overlapping.append((start, end))
    return WirePlace(tuple(overlapping), events.events) if overlapping else events


def _is_at(entry: Entry, ref: NodeRef) -> bool:
    if entry.sent_part:
        return entry.sent_part == ref
    return entry.message is not None and ref == NodeRef(REQUEST, entry.message, WHOLE)
