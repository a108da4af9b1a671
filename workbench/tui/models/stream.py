"""Lines of the stream screen: the events, the accumulated message, and the messages that common clients build."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.errors import WireError
from workbench.ir import ModelResponse, Part, Reasoning, ToolCallIR
from workbench.protocols import Adapter
from workbench.protocols.clients import (
    Effect,
    Effects,
    Highlight,
    Steps,
    StreamStep,
    What,
    noun_of,
    text_of,
    usage_words,
)
from workbench.safetext import cells, from_bytes
from workbench.tui.models.rows import fold_text
from workbench.views import BLANK, Line, Span, count, duration, line, wrap
from workbench.wire import Framing, is_sealed, loads

if TYPE_CHECKING:
    from workbench.protocols import DecodedExchange
    from workbench.protocols.clients import ClientGroup

BEFORE, AFTER = 900, 300
"""Characters of a part that are shown before and after what an event added."""
MOST_KEPT = 16
"""Events whose lines are kept, so that a key lays out only what was not shown before."""
QUIET = 240
"""Characters that are shown of a part which the event did not touch."""
TYPE = 19
"""Columns for the type of an event: those of ``content_block_delta``."""
WITH_GAP = 80
"""Columns beside the type of an event from which the time since the event before is shown too."""
RAW = 4000
"""Bytes of an event that are shown."""

GLYPHS = {"anomaly": ("!", "warning"), "departs": ("≠", "error"), "": (" ", "")}
_PART = {ToolCallIR: ("◆", "call"), Reasoning: ("∴", "reasoning")}


class StreamTable:
    """One streamed response. Creating it takes time in proportion to the stream; lines are made when needed.

    While the response arrives, an event is listed once it is complete.
    """

    def __init__(self, decoded: DecodedExchange, adapter: Adapter, groups: Sequence[ClientGroup]) -> None:
        self.decoded = decoded
        is_incomplete = decoded.is_arriving and decoded.events and not decoded.events[-1].terminated
        self.events = decoded.events[:-1] if is_incomplete else decoded.events
        self.groups = groups
        self._row_cache: dict[tuple[int, int], list[Line]] = {}
        self.steps = Steps(adapter, self.events)
        self.effects = Effects(decoded.response, decoded.events, self.steps)

    def reuse_steps(self, before: StreamTable) -> bool:
        """Reuse the steps of an earlier, shorter state of the same stream. Returns False if it is another stream."""
        end = before.events[-1].end if before.events else 0
        known = before.decoded.response_text[:end]
        is_same = before.decoded.protocol == self.decoded.protocol and self.decoded.response_text.startswith(known)
        if not is_same or len(self.events) < len(before.events):
            return False
        self.steps = self.effects.steps = before.steps
        self.steps.grow(self.events)
        return True

    @cached_property
    def departures(self) -> dict[int, list[ClientGroup]]:
        """Groups of clients by the first event from which their message differs from ours."""
        found: dict[int, list[ClientGroup]] = {}
        for group in self.groups:
            if group.event is not None:
                found.setdefault(group.event, []).append(group)
        return found

    @cached_property
    def marks(self) -> tuple[int, ...]:
        """Events with an anomaly, or from which a client differs."""
        return tuple(sorted({*self.effects.anomalies, *self.departures} & set(range(len(self.events)))))

    def start(self, selected: int | None) -> int:
        """Event to look at first: the selected one, the first anomaly, else the last."""
        if selected is not None and 0 <= selected < len(self.events):
            return selected
        anomalous = [n for n in self.marks if n in self.effects.anomalies]
        return anomalous[0] if anomalous else len(self.events) - 1

    def next_mark(self, event: int, step: int) -> int | None:
        """The next marked event in a direction."""
        beyond = [n for n in self.marks if (n > event if step > 0 else n < event)]
        return (beyond[0] if step > 0 else beyond[-1]) if beyond else None

    # The events.

    @cached_property
    def _type_width(self) -> int:
        """Columns for the types, from the first events: they contain every type of most streams."""
        return min(TYPE, max((cells(self.effects.type_of(event)) for event in self.events[:200]), default=0))

    def row(self, number: int, width: int) -> Line:
        """An event on one line: number, arrival and gap, type, effect."""
        event = self.events[number]
        mark = "anomaly" if number in self.effects.anomalies else "departs" if number in self.departures else ""
        glyph, style = GLYPHS[mark]
        deeds = self.effects.of(number)
        quiet = all(d.what in (What.PING, What.COMMENT, What.NOTHING) for d in deeds)
        spans = [Span(f"{glyph} ", style), Span(str(number), "muted", -len(str(len(self.events)))), Span(" ")]
        if width >= 50:
            spans += self._times(number, has_gap=width - self._type_width >= WITH_GAP)
        if width >= 44:
            kind = _fit_kind(self.effects.type_of(event), self._type_width)
            spans += [Span(kind, "muted" if quiet else "role", self._type_width), Span("  ")]
        words = effect_words(deeds)
        return (*spans, Span(words, "muted" if quiet else style), *_added_text(deeds))

    def _times(self, number: int, *, has_gap: bool) -> list[Span]:
        at = self.decoded.arrival(self.events[number])
        if at is None:
            return []
        before = self.decoded.arrival(self.events[number - 1]) if number else None
        gap = "" if before is None else f"+{duration(at - before)}"
        return [Span(duration(at), "muted", -7), *([Span(gap, "muted", -8)] if has_gap else []), Span("  ")]

    def details(self, number: int, width: int, most: int) -> list[Line]:
        """Anomalies of an event, and its bytes; at most ``most`` lines."""
        lines: list[Line] = []
        for anomaly in self.effects.anomalies.get(number, ())[:4]:
            lines += wrap(f"! {anomaly.message}", width, "warning", indent=4, most=2)
        names = [name for group in self.departures.get(number, ()) for name in group.policies]
        if names:
            who = f"{len(names)} of {self._client_count} clients" if len(names) > 1 else names[0]
            does = "build" if len(names) > 1 else "builds"
            lines += wrap(f"≠ {who} {does} a different message from here on", width, "error", indent=4, most=2)
        lines += self._raw(number, width)
        if len(lines) > most:
            lines = [*lines[: most - 1], line(Span(f"    … {len(lines) - most + 1} more lines · z: zoom", "muted"))]
        return lines

    def _raw(self, number: int, width: int) -> list[Line]:
        """The bytes of an event, from those kept if they are."""
        lines = self._row_cache.get((number, width))
        if lines is None:
            lines = self._row_cache[number, width] = self._lay_out(number, width)
            if len(self._row_cache) > MOST_KEPT:
                self._row_cache.pop(next(iter(self._row_cache)))
        return lines

    def _lay_out(self, number: int, width: int) -> list[Line]:
        lines: list[Line] = []
        event = self.events[number]
        data = self.decoded.response_text[event.start : event.end]
        if event.data is not None and self.decoded.framing is Framing.AWS:
            of = "its data, decoded from base64" if is_sealed(event) else "its data"
            head = f"a message of {count(len(data), 'byte')}, named {event.name or '(nothing)'}; {of}:"
            lines += wrap(head, width, "muted", indent=4, most=2)
            data = event.data
        text = fold_text(data[:RAW], RAW)
        lines += [(margin, data._replace(is_bytes=True)) for margin, data in wrap(text, width, "string", indent=4)]
        if len(data) > RAW:
            lines.append(line(Span(f"    … {count(len(data) - RAW, 'more byte')}", "muted")))
        return lines

    def holds(self, number: int, wanted: str) -> bool:
        """True if an event, or the description of its effect, contains the text; case is ignored."""
        event = self.events[number]
        data = from_bytes(self.decoded.response_text[event.start : event.end])
        words = "; ".join(d.words for d in self.effects.of(number))
        return wanted in data.casefold() or wanted in words.casefold()

    def did(self, number: int) -> str:
        """Effects of an event, in words."""
        return effect_words(self.effects.of(number))

    # The message.

    def message(self, number: int, width: int) -> tuple[list[Line], int]:
        """The message after an event, with its addition highlighted, and the line at which that begins."""
        step = self.steps.step(number)
        rows: list[Line] = []
        first: int | None = None
        answer = step.after
        for m, message in enumerate(answer.messages):
            is_further = answer.itemized and m and answer.messages[m - 1].role == message.role
            if not is_further:
                choice = f"  choice {m + 1}" if m and not answer.itemized else ""
                rows.append(line(Span(message.role, "role"), Span(choice, "muted")))
            for p, part in enumerate(message.parts):
                highlight = step.lit.get((m, p))
                lines, inside = part_lines(part, highlight, width)
                if highlight is not None and first is None:
                    first = len(rows) + inside
                rows += lines
        if not answer.messages:
            rows.append(line(Span("no content yet", "muted")))
        rows += [BLANK, *self._ending(step, number, width)]
        return rows, first or 0

    def _ending(self, step: StreamStep, number: int, width: int) -> list[Line]:
        answer = step.after
        before = self.steps.after(number - 1)
        facts = [("finish reason", answer.finish_reason, before.finish_reason)]
        facts.append(("usage", _usage(answer), _usage(before)))
        facts.append(("the stream", _end_word(answer), _end_word(before)))
        lines = [
            line(Span(f"{label}  ", "muted"), Span(now, "lit" if now != then else ""))
            for label, now, then in facts
            if now is not None
        ]
        if answer.error:
            lines += wrap(f"error: {answer.error.message}", width, "error", most=6)
        return lines

    # The clients.

    @cached_property
    def _client_count(self) -> int:
        return sum(len(group.policies) for group in self.groups)

    @property
    def brief_agreement(self) -> str:
        """Number of clients that build another message, for a narrow title."""
        differing = sum(len(group.policies) for group in self.groups if not group.agrees)
        return f"{differing} of {self._client_count} differ" if differing else self.agreement

    @property
    def agreement(self) -> str:
        """Number of clients that build another message, in words."""
        if self.decoded.is_arriving:
            return "compared when the stream ends"
        if not self.groups:
            return f"clients cannot be compared for {self.decoded.protocol or 'an unknown protocol'}"
        names = self._client_count
        differing = sum(len(g.policies) for g in self.groups if not g.agrees)
        if not differing:
            return f"all {names} clients build this message" if names > 1 else "the one client builds this message"
        return f"{differing} of {names} clients build a different message"

    def group_line(self, number: int, *, is_open: bool = False) -> Line:
        """A group of clients on one line; its differences only if they are not listed below."""
        group = self.groups[number]
        names = ", ".join(group.policies)
        if group.agrees:
            return line(Span("✓ ", "ok"), Span(names, "strong"), Span("  same as shown", "muted"))
        where = "at the end" if group.event is None else f"from event {group.event}"
        return line(
            Span("≠ ", "error"), Span(names, "strong"), Span(f"  {where}  ", "muted"), "" if is_open else group.words
        )

    def group_body(self, number: int, width: int) -> list[Line]:
        """A group in full."""
        group = self.groups[number]
        lines: list[Line] = []
        if group.stopped:
            lines += wrap(group.words, width, "", indent=4, most=6)
        for difference in group.differences[:20]:
            lines += wrap(f"· {difference.words}", width, "", indent=4, most=6)
        for note in group.notes:
            lines += wrap(f"note: {note}", width, "muted", indent=4, most=3)
        return lines + wrap(f"as in {'; '.join(group.packages)}", width, "muted", indent=4, most=4)


def effect_words(effects: Sequence[Effect]) -> str:
    """Effects of an event in words; what the first is about is not named again."""
    words = [effect.words for effect in effects]
    about = words[0].partition(" ")[2] if words else ""
    return "; ".join([*words[:1], *(each.removesuffix(f" of {about}") for each in words[1:])])


def part_lines(part: Part, highlight: Highlight | None, width: int) -> tuple[list[Line], int]:
    """An accumulated part: its head and its text. The second value is the line of the highlighted text."""
    glyph, style = _PART.get(type(part), (" ", ""))
    head = [
        Span("▌ " if highlight is not None else "  ", "accent"),
        Span(f"{glyph} ", style),
        Span(noun_of(part), style),
    ]
    if isinstance(part, ToolCallIR):
        head.append(Span("  no id" if part.id is None else f"  {part.id or 'empty id'}", "muted"))
        head.append(_parses(part))
    if isinstance(part, Reasoning) and part.signature:
        head.append(Span(f"  signature of {len(part.signature):,} characters", "muted"))
    text = text_of(part)
    if highlight is None:
        start, end, light = max(0, len(text) - QUIET), len(text), Highlight(0, 0)
    else:
        start, end, light = max(0, highlight.start - BEFORE), min(len(text), highlight.end + AFTER), highlight
    lines, inside = _lit_lines(text, start, end, light, width)
    before = [line(Span(f"      … {count(start, 'character')} before", "muted"))] if start else []
    after = [line(Span(f"      … {count(len(text) - end, 'character')} after", "muted"))] if end < len(text) else []
    return [tuple(head), *before, *lines, *after], inside + 1 + len(before)


def _parses(call: ToolCallIR) -> Span:
    raw = call.raw or ""
    if not raw:
        return Span("  no arguments yet" if not call.input else "  arguments are an object", "muted")
    try:
        loads(raw)
    except WireError:
        return Span(f"  {count(len(raw), 'character')}, not JSON yet", "warning")
    return Span(f"  {count(len(raw), 'character')}, valid JSON", "ok")


def _lit_lines(text: str, start: int, end: int, highlight: Highlight, width: int) -> tuple[list[Line], int]:
    room, margin = max(8, width - 6), Span("      ")
    lines: list[Line] = []
    first, at = 0, start
    while at < end:
        stop = text.find("\n", at, min(at + room, end))
        to = min(at + room, end) if stop < 0 else stop
        while to > at + 1 and cells(text[at:to]) > room:
            to -= max(1, (cells(text[at:to]) - room) // 8)
        a, b = max(at, min(highlight.start, to)), max(at, min(highlight.end, to))
        if not first and a < b:
            first = len(lines) + 1
        sign = (Span(" ⏎", "muted"),) if stop >= 0 and stop == to else ()
        lines.append((margin, Span(text[at:a]), Span(text[a:b], "lit"), Span(text[b:to]), *sign))
        at = to + (stop >= 0 and stop == to)
    return lines, max(0, first - 1)


def _added_text(deeds: Sequence[Effect]) -> Line:
    """The characters that an event added, cut to the room."""
    text = next((d.text for d in deeds if d.what is What.ADDED), "")
    return (Span("  "), Span(text[:200], "string")) if text else ()


def _fit_kind(kind: str, width: int) -> str:
    """A type in a number of columns; of a longer one the part after its last dot is kept: ``….delta``, ``….done``."""
    head, dot, tail = kind.rpartition(".")
    room = width - len(tail) - 2
    return f"{head[:room]}….{tail}" if dot and cells(kind) > width and room > 3 else kind


def _usage(answer: ModelResponse) -> str | None:
    return (usage_words(answer.usage) or None) if answer.usage else None


def _end_word(answer: ModelResponse) -> str:
    return "ended" if answer.is_complete else "continues"
