"""The session screen as text, for screen readers: a key moves, and what it moved to is said in lines.

It has the lists of the session screen (exchanges, wire, IR, reasoning, closure, findings, HTTP, story) with the same
keys. A place is said as "name of the list, number of number: its line", then the further lines of the item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui import keys, session_panes
from workbench.tui.keymap import Keymap
from workbench.tui.models import findings, timeline
from workbench.views import REQUEST, RESPONSE, Line, column_text, plain

if TYPE_CHECKING:
    from workbench.contracts import Finding
    from workbench.rules import Inspector
    from workbench.tui.exchange_view import ExchangeView
    from workbench.views import Story

WIDTH = 240
"""Columns of a line; a screen reader needs none, a braille display breaks it again."""

WIRE_WIDTH = 100
"""The same for bytes: about a value a line."""

ACTIONS = {
    "session.next-break": "next break",
    "session.previous-break": "previous break",
    "pane.down": "next line",
    "pane.up": "previous line",
    "pane.first": "first line",
    "pane.last": "last line",
    "pane.open": "read the whole line",
    "session.next-exchange": "next exchange",
    "session.previous-exchange": "previous exchange",
    **{f"session.{row.id}": row.word for row in session_panes.PANES},
    "session.side": "request or response on the wire",
    "session.story": "story of the session",
    "session.repairs": "repairs of the finding",
    "session.search": "search this list",
    "session.next-match": "next match",
    "session.previous-match": "previous match",
    "global.help": "show these keys",
    "session.back": "quit",
}
"""Ids of the key table that work here, with what they do."""


REPAIRED_COPY = "workbench check FILE --fix -o OUT writes a repaired copy"
"""What is said after the repairs, which this mode only reads."""


class SpokenList(NamedTuple):
    """A list: its name, the number of its items, the line of one, and its further lines."""

    name: str
    size: int
    head: Callable[[int], Line]
    body: Callable[[int], Sequence[Line]]


class LinearReader:
    """Reads a session aloud, a place at a time.

    Args:
        inspector: of the session; everything is inspected first.
        keymap: the keys of the user.

    Attributes:
        is_over: the person has left.
        is_asking: the next line of input is the text of a search.
    """

    def __init__(self, inspector: Inspector, keymap: Keymap) -> None:
        from workbench.rules import by_cause

        for _ in inspector.steps():
            pass
        self.inspector, self.keymap = inspector, keymap
        self.found: Sequence[Finding] = list(by_cause(f for row in inspector.rows for f in row.findings))
        self.exchange, self.side, self.name, self.wanted = 0, REQUEST, "exchanges", ""
        self.cursors: dict[str, int] = {}
        self.is_over = self.is_asking = False
        self._opened: ExchangeView | None = None

    # What is said.

    def begin(self) -> list[str]:
        """The session in a sentence, and its first break."""
        rows = len(self.inspector.rows)
        tally = findings.tally(self.found) or "no findings"
        words = f"{self.inspector.session.name}: {rows:,} exchange{'s' * (rows != 1)}, {tally}. ? lists the keys."
        number = findings.first_break(self.found)
        return [words] if number is None else [words, *self._go_to_finding(number)]

    def press(self, key: str) -> list[str]:
        """What a key does, in lines; a key that does nothing here says so."""
        id = self._ids.get(key)
        if id is None:
            return [f"{keys.readable(key)} does nothing here; ? lists the keys"]
        if id in {f"session.{row.id}" for row in session_panes.PANES}:
            return self._show(id.partition(".")[2])
        return self._do(id)

    def _do(self, id: str) -> list[str]:
        name = id.partition(".")[2]
        step = -1 if name.startswith(("previous", "up")) else 1
        match name:
            case "next-break" | "previous-break":
                return self._break(step)
            case "down" | "up":
                return self._move(self._cursor + step)
            case "first" | "last":
                return self._move(0 if name == "first" else self._list.size - 1)
            case "open":
                return self._say(is_whole=True)
            case "next-exchange" | "previous-exchange":
                return self.go_to_exchange(self.exchange + step)
            case "side":
                self.side = RESPONSE if self.side == REQUEST else REQUEST
                return self._show("wire")
            case "story":
                return self._show("story")
            case "search":
                self.is_asking = True
                return ["search for:"]
            case "next-match" | "previous-match":
                return self._match(step)
            case "repairs":
                return self._repairs()
            case "help":
                return [f"{key} {ACTIONS[id]}" for key, id in self._ids.items()]
        self.is_over = True
        return []

    def search(self, text: str) -> list[str]:
        """Search the list for a text, from the next line on."""
        self.is_asking, self.wanted = False, text
        return self._match(1) if text else self._say()

    @cached_property
    def _ids(self) -> dict[str, str]:
        """Key as people read it → id of its action."""
        table = keys.table()
        return {name: id for id in ACTIONS for name in self.keymap.row(table[id]).names}

    def _say(self, *, is_whole: bool = False) -> list[str]:
        """The item under the cursor; ``is_whole``: with its further lines."""
        current, item = self._list, self._cursor
        if not current.size:
            return [f"{current.name}: {' '.join(plain(each) for each in current.body(0)) or 'empty'}"]
        sentences = [f"{current.name} {item + 1:,} of {current.size:,}: {_text(current.head(item))}"]
        return [*sentences, *map(_text, current.body(item))] if is_whole else sentences

    # Places.

    def _show(self, name: str) -> list[str]:
        self.name = name
        if name == "exchanges":
            self.cursors[name] = self.exchange
        return self._say(is_whole=name == "findings")

    def _move(self, item: int) -> list[str]:
        last = self._list.size - 1
        if not 0 <= item <= last:
            return [f"{'end' if item > 0 else 'beginning'} of {self._list.name}"]
        self.cursors[self.name] = item
        if self.name == "exchanges":
            self._open(item)
        if self.name == "findings":
            self._open(self.found[item].exchange)
        return self._say(is_whole=self.name == "findings")

    def go_to_exchange(self, index: int) -> list[str]:
        """Open an exchange, and say it."""
        if not 0 <= index < len(self.inspector.rows):
            return ["no more exchanges"]
        self._open(index)
        return self._show("exchanges")

    def _open(self, index: int) -> None:
        if index != self.exchange or self._opened is None:
            self.exchange, self._opened = index, None
            self.cursors = {name: at for name, at in self.cursors.items() if name in ("exchanges", "findings", "story")}

    def _break(self, step: int) -> list[str]:
        here = self.cursors.get("findings") if self.name == "findings" else None
        number = findings.next_of(findings.worst(self.found), self.found, here, self.exchange, step)
        return [f"no {'further' if step > 0 else 'earlier'} break"] if number is None else self._go_to_finding(number)

    def _go_to_finding(self, number: int) -> list[str]:
        self._open(self.found[number].exchange)
        self.cursors["findings"] = number
        return self._show("findings")

    def _repairs(self) -> list[str]:
        """The repairs of the finding under the cursor, and how to get one."""
        from workbench.tui.repair_offers import offered_repairs

        if not self.found:
            return ["no findings"]
        offers = offered_repairs(self.inspector, self.found[self.cursors.get("findings", 0)])
        sentences = [f"repair {n} of {len(offers)}: {offer.repair.title}" for n, offer in enumerate(offers, 1)]
        return [*sentences, REPAIRED_COPY] if sentences else ["no repair of this finding is known"]

    def _match(self, step: int) -> list[str]:
        current = self._list
        if not self.wanted:
            return ["no search yet; / starts one"]
        order = [(self._cursor + step * n) % current.size for n in range(1, current.size + 1)] if current.size else []
        found = next((item for item in order if self._is_match(current, item)), None)
        if found is not None:
            return self._move(found)
        others = (self._list_of(name) for name in self._names if name != self.name)
        seen = [other.name for other in others if any(self._is_match(other, item) for item in range(other.size))]
        return [f"no match in {current.name}; found in {', '.join(seen)}" if seen else f"no match in {current.name}"]

    def _is_match(self, spoken_list: SpokenList, item: int) -> bool:
        lines = (spoken_list.head(item), *spoken_list.body(item))
        return any(self.wanted.casefold() in plain(each).casefold() for each in lines)

    # Lists.

    @property
    def _cursor(self) -> int:
        return min(self.cursors.get(self.name, 0), max(0, self._list.size - 1))

    @property
    def exchange_view(self) -> ExchangeView:
        """The open exchange."""
        from workbench.tui.exchange_view import ExchangeView

        self._opened = self._opened or ExchangeView(self.inspector.detail(self.exchange))
        return self._opened

    @property
    def _names(self) -> list[str]:
        return [*(row.id for row in session_panes.PANES), "story"]

    @property
    def _list(self) -> SpokenList:
        return self._list_of(self.name)

    def _list_of(self, name: str) -> SpokenList:
        match name:
            case "exchanges":
                return SpokenList("exchange", len(self.inspector.rows), self._exchange_line, lambda item: ())
            case "findings":
                return SpokenList("finding", len(self.found), self._finding_line, self._finding_body)
            case "story":
                return SpokenList("story", len(self._story.items), self._story_line, lambda item: ())
            case "wire":
                lines = self._wire_lines()
                return SpokenList(f"{self.side} {self.exchange + 1}", len(lines), lines.__getitem__, lambda item: ())
        view = self.exchange_view.contents[name]
        body = (lambda item: view.body(item, WIDTH)) if view.count() else (lambda item: view.nothing(WIDTH))
        return SpokenList(session_panes.row(name).title, view.count(), view.head, body)

    def _exchange_line(self, item: int) -> Line:
        row = self.inspector.rows[item]
        return timeline.row_line(row.summary, row, "", WIDTH, 1)

    def _finding_line(self, item: int) -> Line:
        return findings.finding_line(self.found[item], is_open=True)

    def _finding_body(self, item: int) -> Sequence[Line]:
        return findings.finding_body(self.found[item], WIDTH) if self.found else ()

    def _wire_lines(self) -> list[Line]:
        from workbench.tui.models.rows import layout_rows
        from workbench.tui.models.wire import shown_body

        return layout_rows(shown_body(self.exchange_view.decoded, self.side), WIRE_WIDTH, 100_000)

    @cached_property
    def _story(self) -> Story:
        from workbench.views import StoryBuilder

        builder = StoryBuilder()
        for row in self.inspector.rows:
            builder.add(row, self.inspector.read_exchange(row.index))
        return builder.story(self.found)

    def _story_line(self, item: int) -> Line:
        from workbench.views import story_line

        return story_line(self._story.items[item], WIDTH, 1, is_open=None)


def _text(line: Line) -> str:
    """A line as people hear it: without the space that aligns columns."""
    return " ".join(column_text(line).split())


def sayings(reader: LinearReader, typed: Iterator[str]) -> Iterator[str]:
    """Everything that is said for typed keys; a search takes the next word as its text."""
    yield from reader.begin()
    for each in typed:
        yield from reader.search(each) if reader.is_asking else reader.press(each)
        if reader.is_over:
            return
