"""Story screen: one session from top to bottom, and over time. Every place opens in the panes of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import getters
from textual.app import ComposeResult
from textual.screen import Screen

from workbench.safetext import visible
from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.list_search import ListSearch
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.models.time_lanes import HERE, SIGNS, TOOLS, ruler_line, time_map
from workbench.tui.screens.story.reading import StoryReading
from workbench.tui.service import is_open
from workbench.tui.widgets.lineview import LineView
from workbench.tui.widgets.story import StoryPane, TimePane
from workbench.views import Line, Span, Story, StoryItem, count, line

if TYPE_CHECKING:
    from workbench.tui.screens.session.screen import SessionScreen

MOST_LANES = 8
"""Lanes that the timeline shows at once beside the story."""

LOOK_SECONDS = 0.5
"""Interval at which a session that is still inspected or recorded is read further."""


class StoryScreen(Screen[StoryItem | None]):
    """Shows the story of a session. Dismissed with the item to open in the panes, or None.

    Args:
        session: the screen of the session.
    """

    CSS_PATH = "story.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.STORY
    BINDINGS = keys.bindings(keys.STORY)

    story = getters.query_one("#story", StoryPane)
    lanes = getters.query_one("#lanes", TimePane)

    def __init__(self, session: SessionScreen) -> None:
        super().__init__()
        self.session = session
        opened = session.opened
        self._start_at = opened.index if opened else None
        self.reading = StoryReading(session.inspecting.do_shown, lambda: session.state.findings, self.show_story)
        self.search = ListSearch(self, lambda: self.story, self._show_keys)

    def compose(self) -> ComposeResult:
        yield Headline()
        yield StoryPane(id="story")
        yield TimePane(id="lanes")
        yield Bar(id="ruler")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.story.why = "reading …"
        self.story.title(line(" Story "))
        self.show_story(Story())
        self._show_keys()
        self.story.focus()
        self.set_interval(LOOK_SECONDS, self.reading.go_on)
        self.reading.go_on()

    def show_story(self, story: Story) -> None:
        """Show what was read, and read further."""
        if not is_open(self):
            return
        read, is_first = self.story.story.read, not self.story.story.items
        self.story.show(story, self.reading.trouble or "reading …")
        if self._start_at is not None and (is_first or self._start_at >= story.read - 1):
            self._go_to_start(story)
        self._show_lanes()
        self._show_title()
        if story.read > read:
            self.reading.go_on()

    def _go_to_start(self, story: Story) -> None:
        """Put the cursor on the exchange that was open: on its break, else its first item."""
        numbers = [n for n, item in enumerate(story.items) if item.exchange == self._start_at and item.depth]
        broken = [n for n in numbers if story.items[n].kind == "finding"]
        if numbers:
            self.story.reveal((broken or numbers)[0])
            self._start_at = None

    def _show_lanes(self) -> None:
        state = self.session.state
        worst: dict[int, str] = {}
        for finding in state.findings:
            if finding.severity != "info" and worst.get(finding.exchange) != "error":
                worst[finding.exchange] = str(finding.severity)
        self.lanes.show(time_map(state.rows, worst))
        self.lanes.styles.max_height = MOST_LANES + 1
        item = self.story.current
        self.lanes.select(item.exchange if item else None)

    def _show_title(self) -> None:
        state = self.session.state
        read, total = self.reading.read, state.total
        progress = f"read {read:,} of {total:,}" if read < total else ""
        stopped = "stopped" if self.reading.is_stopped and progress else ""
        trouble = self.reading.trouble or progress or count(total, "exchange")
        facts = [trouble, stopped, self.session.branch_switch.words_of_all()]
        words = "".join(f" · {visible(fact)}" for fact in facts if fact)
        errors = sum(finding.severity == "error" for finding in state.findings)
        broken = Span(f" · ✗ {count(errors, 'error')}", "error") if errors else Span("")
        if state.is_done and not state.findings:
            broken = Span(" · ✓ no breaks found", "ok")
        title = line(Span(f" Story of {state.name}", "strong"), broken, Span(words, "muted"))
        self.query_one("#headline", Bar).show([title])
        self.query_one("#keys", KeyBar).run(bool(progress) and not stopped)

    def _show_keys(self) -> None:
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_STORY, *keys.STORY], self.search.words())

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        self._start_at = None
        if message.view is self.story and (item := self.story.current):
            self.lanes.select(item.exchange)

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        item = self.story.current
        if item is None:
            return
        if message.view is self.story and item.kind in ("conversation", "others", "attempts", "earlier"):
            self.story.fold()
        else:
            self.dismiss(item)

    def on_time_pane_selection(self, message: TimePane.Selection) -> None:
        """Go to the exchange that was selected in the lanes."""
        self._start_at = message.exchange
        self._go_to_start(self.story.story)

    def on_time_pane_window_change(self) -> None:
        times, window = self.lanes.times, self.lanes.window
        gutter = line(Span(" " * 2))
        self.query_one("#ruler", Bar).show([(*gutter, *ruler_line(times, window))])
        self.lanes.title(_legend(self.lanes.zoom, self.lanes.text_width))

    action_search = ActionOf("search", "ask")
    action_match = ActionOf("search")

    def action_break(self, step: int) -> None:
        """Go to the next break of the story, or the one before."""
        story, here = self.story.story, self.story.number or 0
        found = [n for n, item in enumerate(story.items) if item.kind == "finding"]
        further = [n for n in found if n > here] if step > 0 else [n for n in reversed(found) if n < here]
        if further:
            self.story.reveal(further[0])
            self.lanes.select(story.items[further[0]].exchange)
        else:
            self.notify(f"no {'further' if step > 0 else 'earlier'} break", markup=False)

    def action_fold(self) -> None:
        """Fold or unfold what is under the cursor."""
        self.story.fold()

    def action_fold_all(self) -> None:
        """Unfold everything; again: fold it."""
        self._is_unfolded = not self._is_unfolded
        self.story.fold_all(not self._is_unfolded)

    _is_unfolded = False

    def action_pane(self) -> None:
        """Go to the other pane."""
        (self.lanes if self.story.has_focus else self.story).focus()

    def action_zoom(self) -> None:
        """Show only the focused pane, or both again."""
        self.toggle_class("-zoom")

    def action_leave(self) -> None:
        """End the first of: the search, the reading, the zoom; else go back."""
        is_reading = self.reading.read < self.session.state.total and not self.reading.is_stopped
        if self.search.wanted:
            self.search.end()
        elif is_reading and not self.reading.trouble:
            self.reading.stop()
            self._show_title()
        elif self.has_class("-zoom"):
            self.toggle_class("-zoom")
        else:
            self.dismiss(None)

    def action_back(self) -> None:
        self.dismiss(None)


def _legend(zoom: int, width: int) -> Line:
    """Title of the lanes: what their signs mean."""
    words = " by conversation" if width >= 100 else ""
    part = f" · 1/{zoom} shown" if zoom > 1 else ""
    signs = [(SIGNS[""] * 2, "ok", "model"), (TOOLS * 2, "call", "tools"), (SIGNS["failed"] * 2, "error", "failed")]
    signs += [(HERE, "accent", "selected"), ("2", "call", "calls at once")] if width >= 82 else []
    spans = [Span(f" Timeline{words}{part} ")]
    if width >= 54:
        spans += [span for sign, style, word in signs for span in (Span(f"  {sign} ", style), Span(word))]
        spans.append(Span(" "))
    return line(*spans)
