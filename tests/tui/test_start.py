"""What the first paint waits for."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "httpx",
    "jsonschema",
    "yaml",
    "json_repair",
    "pygments",
    "rich.markdown",
    "textual.widgets._markdown",
    "msgspec",
    "zstandard",
    "brotli",
)
LATER = (
    "workbench.ir",
    "workbench.tui.screens.session.exchange_filter",
    "workbench.tui.screens.session.notes",
    "workbench.tui.exchange_view",
    "workbench.tui.widgets.exchange",
    "workbench.tui.widgets.wire",
    "workbench.tui.models.wire",
    "workbench.wire.exchange",
)
CORE = (
    "workbench.rules.inspection",
    "workbench.protocols.decode",
    "workbench.rules",
    "workbench.adapters",
    "workbench.importers",
)


@pytest.mark.parametrize("screen", ["session", "home"])
def test_the_first_screen_is_cheap(screen: str) -> None:
    code = f"import workbench.tui.app, workbench.tui.screens.{screen}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & set(HEAVY)
    assert not loaded & set(CORE), "the core is imported by the thread that inspects"
    assert not loaded & set(LATER), "these come after the first paint"


def test_garbage_is_looked_for_again_once_the_app_is_there() -> None:
    code = """
import gc
from workbench.tui import app, start
def show(self):
    assert not gc.isenabled()
    self.on_ready()
    assert gc.isenabled()
app.WorkbenchApp.run = show
assert start.run(None) == 0
assert gc.isenabled()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_does_not_wait_for_the_core_either() -> None:
    code = f"""
import sys
for stream in (sys.stdin, sys.stdout, sys.stderr):
    stream.isatty = lambda: True
from workbench.tui import start
start.run = lambda *a, **k: 0
from workbench.cli import main
assert main(["open", "any.jsonl"]) == 0
print(*(set(sys.modules) & set({CORE!r})), flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
