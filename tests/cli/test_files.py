"""Opening what a command names, and inspecting it behind a bar where that takes long."""

from __future__ import annotations

import argparse
import io
import sys

import pytest

from workbench.cli import _files
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("count", "exchange", "is_terminal", "inspected"),
    [(4, None, True, 4), (9, 5, True, 5), (9, 99, True, 9), (3, None, True, 0), (9, 2, True, 0), (9, None, False, 0)],
)
def test_a_long_session_is_inspected_behind_a_bar(
    count: int, exchange: int | None, is_terminal: bool, inspected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_files, "MANY", 4)
    monkeypatch.setattr(sys, "stderr", said := (Terminal if is_terminal else io.StringIO)())
    session = MemorySession("s", tuple(Exchange(str(n)) for n in range(count)))
    made = _files.inspector(session, argparse.Namespace(provider=None, protocol=None, exchange=exchange))
    assert len(made.rows) == inspected and not made.session.damage
    assert ("inspecting" in said.getvalue()) == bool(inspected)
