"""Takes every screen at five sizes, to be judged by people who have not seen the code.

    python -m tests.pictures.look FOLDER [SCREEN…] [--theme light] [--ascii] [--plain]

Writes ``SCREEN-80x24.txt`` (and with ``--svg`` the picture) for each screen and size; one app is resized for all sizes.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from textual.pilot import Pilot

from tests.pictures.__main__ import MENDED, SENT, plain
from tests.survey.conftest import Quiet, in_process
from tests.tool_hops import lost_structured
from tests.tui.driving import screen_text, until
from tests.tui.holding import Holder
from tests.tui.writing import BROKEN, Recorder, user
from workbench.config import resources
from workbench.formats.importers import open_input
from workbench.survey import Catalog, JudgeOptions, ObjectSelection, SurveyOptions, WorkerLimits, run_survey
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.session.screen import SessionScreen
from workbench.tui.screens.surveying import SurveyScreen
from workbench.tui.widgets.home import HomePane
from workbench.wire.session import store

SIZES = ((120, 40), (40, 20), (80, 24), (160, 50), (240, 60))
"""The first is the size in which the keys are pressed."""


class Screen(NamedTuple):
    """A screen: an example or a way to make one ("" for Home), keys, and a text that is waited for at the end.

    A key that begins with ``~`` is a text to wait for.
    """

    example: str | Callable[[Path], AbstractContextManager[dict[str, Any]]]
    keys: tuple[str, ...] = ()
    shows: str = ""


LOST = "deepseek-reasoning-lost"


@contextmanager
def a_survey(folder: Path) -> Iterator[dict[str, Any]]:
    """The survey of all examples."""
    examples = str(resources.folder("sessions"))
    options = SurveyOptions(examples, "local:1", JudgeOptions(b""), WorkerLimits(), ObjectSelection())
    run_survey(Catalog(folder / "survey"), options, Quiet(), in_process)
    yield {"survey": folder / "survey"}


@contextmanager
def tool_servers(folder: Path) -> Iterator[dict[str, Any]]:
    """A session with two tool servers."""
    yield {"source": lost_structured().session(), "exchange": 7}


@contextmanager
def a_recording(folder: Path) -> Iterator[dict[str, Any]]:
    """A live session with a paused request."""
    os.environ["XDG_RUNTIME_DIR"] = str(folder)
    with closing(Recorder(folder / "live.wb")) as recorder, closing(Holder(recorder.writer.path)) as holder:
        recorder.whole(user("hello"))
        request, now = recorder.sent[recorder.asks(*BROKEN)].request, time.time()
        assert request
        words = {"rule": "closure.missing-result", "words": "no result", "pointer": "/messages/1/content/0"}
        reasons = [{"kind": "closure", **words}]
        holder.hold(7, request.body.raw, exchange="e1", reasons=reasons, since=now, times_out_at=now + 600)
        yield {"source": partial(store.open_session, recorder.writer.path)}


SCREENS = {
    "home": Screen(""),
    "record": Screen("", ("r",), "record?"),
    "explain": Screen("", ("e",)),
    "session": Screen(LOST),
    "session-long": Screen("anthropic-long-session"),
    "session-healthy": Screen("anthropic-tool-loop"),
    "session-hops": Screen("gateway-field-dropped"),
    "http": Screen(LOST, ("7",)),
    "tour": Screen("", ("t",)),
    "stream": Screen("openai-parallel-index-reused", ("t",)),
    "diff": Screen("anthropic-compaction-orphan", ("d",)),
    "compare": Screen(
        "anthropic-compaction-orphan", ("d", "~1024", "q", "D", "~Compare exchange", "enter"), "bytes  /max_tokens"
    ),
    "compare-dialog": Screen("anthropic-compaction-orphan", ("D",), "Compare exchange"),
    "repairs": Screen(LOST, ("~restore the reasoning", "f"), "Repair 1"),
    "edit": Screen(LOST, MENDED, "accepts"),
    "send-dialog": Screen(LOST, (*MENDED, "~accepts", "s"), "Send to"),
    "send-before": Screen(LOST, (*MENDED, "~accepts", "s", "~Send to", "enter"), "passes all"),
    "send-answer": Screen(LOST, (*MENDED, "~accepts", *SENT), "accepted"),
    "branches": Screen(LOST, (*MENDED, "~accepts", *SENT, "~accepted", "B")),
    "continue": Screen("anthropic-cancelled-call", ("C",)),
    "minimize": Screen("anthropic-cancelled-call", ("M", "enter"), "minimal"),
    "whatif": Screen(LOST, ("V",), "✓"),
    "matrix": Screen(LOST, ("m",)),
    "conversion": Screen("anthropic-thinking-trimmed", ("c",)),
    "tools": Screen(LOST, ("T",)),
    "arguments": Screen("openai-arguments-twice", ("A",)),
    "passages": Screen("anthropic-cancelled-call", ("R",)),
    "story": Screen("anthropic-long-session", ("S",), "Timeline by"),
    "export": Screen("anthropic-compaction-orphan", ("x",)),
    "breaks": Screen(LOST, ("P",)),
    "lab": Screen("anthropic-long-session", ("L", "~does the model", "r"), "pass"),
    "metrics": Screen("anthropic-long-session", ("$",)),
    "help": Screen(LOST, ("question_mark",)),
    "palette": Screen(LOST, ("colon",)),
    "copy": Screen(LOST, ("y",)),
    "note": Screen(LOST, ("a",)),
    "filter": Screen(LOST, ("ampersand",)),
    "search": Screen(LOST, ("slash",)),
    "jump": Screen(LOST, ("number_sign",)),
    "lab-dialog": Screen("", ("l",)),
    "lab-step": Screen("anthropic-long-session", ("L", "~does the model", "s"), "whole body"),
    "correcting": Screen("anthropic-tool-loop", ("C", "~Continue this", "enter")),
    "survey": Screen(a_survey),
    "survey-places": Screen(a_survey, ("enter",)),
    "live": Screen(a_recording, ("1",), "paused"),
    "paused": Screen(a_recording, ("~paused", "P")),
    "hops": Screen(tool_servers, ("R",), "is marked"),
}


@contextmanager
def material(screen: Screen, folder: Path) -> Iterator[dict[str, Any]]:
    """Arguments of the app."""
    if not isinstance(screen.example, str):
        with screen.example(folder) as made:
            yield made
    else:
        path = str(resources.folder("sessions") / f"{screen.example}.jsonl")
        yield {"source": open_input(path) if screen.example else None}


async def at_rest(pilot: Pilot[None]) -> None:
    """Until the first screen has all that it shows."""
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    if app.source is not None:
        await until(pilot, lambda: isinstance(app.screen, SessionScreen) and app.screen.opened)
    elif app._survey is not None:
        await until(pilot, lambda: isinstance(app.screen, SurveyScreen) and app.screen.found is not None)
    else:
        pane = app.screen.query_one(HomePane)
        await until(pilot, lambda: pane.rows and not pane.pending_summaries())


async def take(name: str, folder: Path, theme: str, suffix: str, *, svg: bool, is_ascii: bool = False) -> None:
    """One screen at all sizes."""
    screen = SCREENS[name]
    with material(screen, Path(os.environ["HOME"])) as made:
        await photograph(WorkbenchApp(**made, theme=theme, is_ascii=is_ascii), screen, folder, f"{name}{suffix}", svg)


async def photograph(app: WorkbenchApp, screen: Screen, folder: Path, name: str, svg: bool) -> None:
    """The screen that the keys lead to, at all sizes."""
    async with app.run_test(size=SIZES[0], notifications=True) as pilot:
        await at_rest(pilot)
        for key in (*screen.keys, f"~{screen.shows}"):
            if key.startswith("~"):
                try:
                    await until(pilot, lambda wanted=key[1:]: wanted in screen_text(app))  # type: ignore[misc]
                except AssertionError:
                    print(name, "never shows", key)
            else:
                await pilot.press(key)
                await pilot.pause()
        for _ in range(10):
            await pilot.pause(0.05)
        for width, height in SIZES:
            await pilot.resize_terminal(width, height)
            for _ in range(6):
                await pilot.pause(0.03)
            stem = f"{name}-{width}x{height}"
            (folder / f"{stem}.txt").write_text(screen_text(app) + "\n", encoding="utf-8")
            if svg:
                (folder / f"{stem}.svg").write_text(plain(app.export_screenshot(title=stem)), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("screens", nargs="*")
    parser.add_argument("--theme", default="dark")
    parser.add_argument("--ascii", action="store_true")
    parser.add_argument("--plain", action="store_true", help="as with NO_COLOR")
    parser.add_argument("--svg", action="store_true")
    args = parser.parse_intermixed_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.plain:
        os.environ["NO_COLOR"] = "1"
    suffix = "".join(
        f"-{way}" for way in (args.theme, "plain" * args.plain, "ascii" * args.ascii) if way not in ("dark", "")
    )
    for name in args.screens or SCREENS:
        with tempfile.TemporaryDirectory() as home:
            os.environ |= {"HOME": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home, "TEXTUAL_ANIMATIONS": "none"}
            asyncio.run(take(name, args.folder, args.theme, suffix, svg=args.svg, is_ascii=args.ascii))


if __name__ == "__main__":
    main()
