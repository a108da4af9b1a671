"""One selection drives every pane: a place of an exchange, and what of each view belongs to it.

Every way of selecting (a node of the IR, a byte, a call, a ledger entry, a finding) makes the same ``Selection``; every
pane lights up what ``lights`` finds for it. Nothing here knows a widget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from workbench.chain.closure import CallLine, NodeRef
from workbench.chain.ledger import Entry
from workbench.decode import REQUEST, RESPONSE, Decoded, Place
from workbench.inspection import Detail
from workbench.rules import Finding
from workbench.tui.models.outline import WHOLE, Node, Outline

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """A place of an exchange.

    Attributes:
        exchange: index in the session, from zero.
        side: ``"request"`` or ``"response"``.
        pointer: absolute pointer into that side's body, or into the accumulated message of a stream.
        events: blocks of the stream it came in.
        spans: byte ranges in the content-decoded body; empty for what is not on the wire.
        related: pointers of the same side that belong to it.
    """

    exchange: int
    side: str = REQUEST
    pointer: str = ""
    events: tuple[int, ...] = ()
    spans: Spans = ()
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Opened:
    """An exchange prepared for the screen."""

    detail: Detail
    outline: Outline

    @property
    def index(self) -> int:
        return self.detail.row.index

    @property
    def decoded(self) -> Decoded:
        return self.detail.decoded


@dataclass(frozen=True, slots=True)
class Lights:
    """What belongs to a selection.

    Attributes:
        node: of the outline, None where the selection is on no node.
        nodes: further nodes: the result of a call, the call of a result.
        calls: lines of the closure.
        entries: entries of the ledger that stand at the selection.
        related_entries: entries of the same turn.
        spans: byte ranges of ``nodes`` on each side.
    """

    node: int | None = None
    nodes: frozenset[int] = frozenset()
    calls: frozenset[int] = frozenset()
    entries: frozenset[int] = frozenset()
    related_entries: frozenset[int] = frozenset()
    spans: dict[str, Spans] = field(default_factory=dict)


def open_detail(detail: Detail) -> Opened:
    """Prepare an exchange; takes as long as its history is, so not on the screen's thread."""
    return Opened(detail, Outline(detail.decoded, detail.ledger))


def at_start(opened: Opened) -> Selection:
    """Where to look first in an exchange without findings: the beginning of its answer, else its newest message."""
    nodes = opened.outline.nodes
    answer = next((n for n, node in enumerate(nodes) if node.side == RESPONSE and node.kind in ("part", "error")), None)
    newest = next((n for n in range(len(nodes) - 1, -1, -1) if nodes[n].kind == "message"), None)
    found = newest if answer is None else answer
    return Selection(opened.index) if found is None else at_node(opened, found)


def at_pointer(opened: Opened, side: str, pointer: str) -> Selection:
    """What is at a pointer."""
    place = opened.decoded.place(side, pointer)
    return Selection(opened.index, side, pointer, place.events, place.spans)


def at_node(opened: Opened, number: int) -> Selection:
    """A node of the outline."""
    node = opened.outline.nodes[number]
    place = _place(opened, node)
    return Selection(opened.index, node.side, node.pointer, place.events, place.spans)


def at_offset(opened: Opened, side: str, offset: int) -> Selection:
    """What a byte belongs to: the deepest value of a JSON body, the node a stream event went into."""
    decoded = opened.decoded
    if side == RESPONSE and decoded.events:
        return _at_event(opened, offset)
    index = decoded.request_index if side == REQUEST else decoded.response_index
    return at_pointer(opened, side, index.pointer_at(offset))


def at_finding(opened: Opened, finding: Finding) -> Selection:
    """A finding of this exchange."""
    place = opened.decoded.place(finding.side, finding.pointer)
    if finding.events:
        place = _overlap(place, opened.decoded.place_events(finding.events))
    spans = place.spans or ((finding.span,) if finding.span else ())
    return Selection(
        finding.exchange, finding.side, finding.pointer, finding.events or place.events, spans, finding.related
    )


def at_call(opened: Opened, line: CallLine) -> Selection:
    """A line of the closure: its call, or its result where there is no call."""
    refs = [r for r in (line.call, *line.results) if r is not None]
    return _at_ref(opened, refs[0]) if refs else Selection(opened.index)


def at_entry(opened: Opened, entry: Entry) -> Selection:
    """An entry of the ledger: its reasoning in this request, or the turn where it ought to be."""
    if entry.sent_part:
        return _at_ref(opened, entry.sent_part)
    if entry.message is None:
        return Selection(opened.index)
    return _at_ref(opened, NodeRef(REQUEST, entry.message, WHOLE))


def lights(opened: Opened, selection: Selection) -> Lights:
    """What of every view belongs to a selection of this exchange."""
    number = _node_of(opened, selection)
    ref = opened.outline.nodes[number].ref if number is not None else None
    lines = opened.detail.closure.lines
    calls = frozenset(n for n, line in enumerate(lines) if ref and _holds(line, ref))
    refs = {r for n in calls for r in (lines[n].call, *lines[n].results, lines[n].twin, lines[n].stands_for) if r}
    found = {opened.outline.by_ref(r) for r in refs if r != ref}
    found |= {opened.outline.by_pointer(selection.side, p) for p in selection.related}
    nodes = frozenset(n for n in found if n is not None and n != number)
    entries = opened.detail.ledger.entries
    stands = frozenset(n for n, e in enumerate(entries) if ref and _stands_at(e, ref))
    turn = frozenset(n for n, e in enumerate(entries) if ref and ref.side == REQUEST and e.message == ref.message)
    return Lights(number, nodes, calls, stands, turn - stands, _spans(opened, nodes))


def _at_ref(opened: Opened, ref: NodeRef) -> Selection:
    number = opened.outline.by_ref(ref)
    return Selection(opened.index) if number is None else at_node(opened, number)


def _at_event(opened: Opened, offset: int) -> Selection:
    events = opened.decoded.events
    event = max(0, bisect_right(events, offset, key=lambda e: e.start) - 1)
    number = opened.outline.by_event(event)
    pointer = "" if number is None else opened.outline.nodes[number].pointer
    if number is not None:
        whole = at_node(opened, number)
        if event in whole.events:
            return whole
    return Selection(opened.index, RESPONSE, pointer, (event,), opened.decoded.place_events((event,)).spans)


def _place(opened: Opened, node: Node) -> Place:
    decoded = opened.decoded
    if node.part is not None and node.message is not None:
        return decoded.place_of(node.side, node.message, node.part)
    if node.side == RESPONSE and decoded.events:
        parts = node.message.parts if node.message else ()
        return decoded.place_events(tuple(sorted({e for p in parts for e in p.source.events})))
    return decoded.place(node.side, node.pointer)


def _overlap(exact: Place, events: Place) -> Place:
    """The exact pieces that lie in the events named, or the events whole where none does."""
    blocks = sorted(events.spans)
    kept = []
    for start, end in exact.spans:
        at = bisect_right(blocks, (start, end)) - 1
        if any(a <= start and end <= b for a, b in blocks[max(at, 0) : at + 2]):
            kept.append((start, end))
    return Place(tuple(kept), events.events) if kept else events


def _node_of(opened: Opened, selection: Selection) -> int | None:
    found = opened.outline.by_pointer(selection.side, selection.pointer)
    if found is not None and opened.outline.nodes[found].kind == "side" and selection.events:
        by_event = opened.outline.by_event(selection.events[0])
        return found if by_event is None else by_event
    return found


def _holds(line: CallLine, ref: NodeRef) -> bool:
    return line.call == ref or ref in line.results


def _stands_at(entry: Entry, ref: NodeRef) -> bool:
    if entry.sent_part:
        return entry.sent_part == ref
    return ref == NodeRef(REQUEST, entry.message, WHOLE) if entry.message is not None else False


def _spans(opened: Opened, nodes: Iterable[int]) -> dict[str, Spans]:
    spans: dict[str, list[tuple[int, int]]] = {}
    for number in nodes:
        node = opened.outline.nodes[number]
        spans.setdefault(node.side, []).extend(_place(opened, node).spans)
    return {side: tuple(sorted(found)) for side, found in spans.items()}
