"""Guided tour over an example: ten steps, each one key. It watches the screens and presses nothing itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from workbench.tui import keys
from workbench.tui.bars import Bar
from workbench.views import Line, mark_matches, wrap

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.wire.session import Session

EXAMPLE = "deepseek-reasoning-lost.jsonl"
"""The example that the tour goes through."""

LOOK_SECONDS = 0.1
"""Interval at which the tour looks where the person is."""

MOST_LINES = 5

FIRST, OUTSIDE = "SessionScreen", "HomeScreen"
"""Names of the classes of the screen on which the tour begins, and of that on which it is over once it has begun."""


class TourStep(NamedTuple):
    """One step.

    Attributes:
        key: id of the key to press.
        words: what is on the screen, and what the key does.
        screens: names of the classes of the screens to which the key leads.
        pane: id of the pane that it focuses; empty for any.
    """

    key: str
    words: str
    screens: tuple[str, ...] = ("SessionScreen",)
    pane: str = ""


STEPS = (
    TourStep(
        "session.ir",
        "The provider refused this request; the marked bytes are the cause. See the same bytes decoded",
        pane="ir",
    ),
    TourStep(
        "session.reasoning",
        "The selection is linked across all panes. See which reasoning was received, and whether it was sent back",
        pane="reasoning",
    ),
    TourStep("session.story", "See the whole session from top to bottom, and over time", ("StoryScreen",)),
    TourStep("pane.open", "The break is under the cursor. Open its line in the panes"),
    TourStep("session.repairs", "See the repairs of the finding and what each one changes", ("RepairsScreen",)),
    TourStep("repairs.apply", "Apply the repair: it creates a branch; the recording is not changed", ("EditScreen",)),
    TourStep("edit.send", "The contract accepts the request now. Send it", ("TargetScreen", "SendScreen")),
    TourStep("pane.open", "The first target is a simulator that refuses what the provider refuses", ("SendScreen",)),
    TourStep("pane.open", "This is what will be sent, byte for byte. Send it", ("AnswerScreen",)),
    TourStep("answer.export", "Both responses are shown side by side. Keep the repair as a test", ("ExportScreen",)),
)

END = (
    "That was the tour. enter writes the test: it fails on the broken request and passes on the repaired one · q: "
    "back · ?: help"
)


def open_example() -> Session:
    """The session of the tour."""
    from workbench.config import resources
    from workbench.formats.importers import open_input

    return open_input(str(resources.folder("sessions") / EXAMPLE))


class TourBar(Bar):
    """The lines of the tour on top of every screen."""

    DEFAULT_CSS = "TourBar { dock: top; background: $primary 20%; height: 2; }"


class Tour:
    """Shows where the person is in the tour.

    Attributes:
        step: number of the next step; that of all steps at the end.
    """

    def __init__(self, app: WorkbenchApp) -> None:
        self.app = app
        self.step = 0
        self._has_begun = False

    def begin(self) -> None:
        """Watch the screens from now on."""
        self._watch = self.app.set_interval(LOOK_SECONDS, self.look)

    @property
    def is_over(self) -> bool:
        """Every step is done."""
        return self.step >= len(STEPS)

    def look(self) -> None:
        """Go to the next step if the person has done this one, and show it on the current screen."""
        if not self.app.screen_stack or not self.app.screen.is_mounted:
            return
        self._has_begun = self._has_begun or self._is_first()
        if self._has_begun and type(self.app.screen).__name__ == OUTSIDE:
            self.end()
            return
        if not self.is_over and self._is_done(STEPS[self.step]):
            self.step += 1
        self._show()

    def _is_done(self, step: TourStep) -> bool:
        screen = self.app.screen
        is_there = type(screen).__name__ in step.screens
        return is_there and step.pane in ("", (screen.focused and screen.focused.id) or "")

    def _show(self) -> None:
        screen = self.app.screen
        bars = list(screen.query(TourBar))
        if not bars:
            screen.mount(TourBar())
            return
        lines = self.lines(screen.size.width)
        bars[0].styles.height = len(lines)
        bars[0].show(lines)

    def lines(self, width: int) -> list[Line]:
        """The next step in words."""
        if self.is_over:
            return wrap(END, width, "strong", indent=1, most=MOST_LINES)
        step = STEPS[self.step]
        row = self.app.keymap.row(keys.table()[step.key])
        head, press = f"Tour {self.step + 1} of {len(STEPS)} · ", f"press {row.show}"
        words = f"{head}{step.words}: {press} · {self._way_out()}"
        mark = re.compile(re.escape(row.show) + r"(?= ·)")
        return [mark_matches(each, mark, "accent strong") for each in wrap(words, width, indent=1, most=MOST_LINES)]

    def _way_out(self) -> str:
        """Key that leaves the screen, and the tour if it is the first one."""
        key = self.app.keymap.row(keys.table()["session.back"]).show
        return f"{key}: leave the tour" if self._is_first() else f"{key}: back"

    def _is_first(self) -> bool:
        return bool(self.app.screen_stack) and type(self.app.screen).__name__ == FIRST

    def end(self) -> None:
        """Show the tour no longer: the person has left its example."""
        self._watch.stop()
        self.app.tour = None
        for screen in self.app.screen_stack:
            screen.query(TourBar).remove()
