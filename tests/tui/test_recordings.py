"""Real traffic: every exchange of every recording can be shown, and every finding leads to its bytes and its node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.errors import WorkbenchError
from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector
from workbench.tui.exchange_view import ExchangeView
from workbench.tui.models import wire
from workbench.tui.models.rowtable import StyledSpans

MOST = 2
"""Exchanges of one file, or a few more."""

FIRST = 40
"""Exchanges they are taken from: a transcript of hundreds repeats its history in each."""

WIDTH = 60


def exchanges(recordings: Path, step: int) -> Iterator[tuple[str, ExchangeView]]:
    for path in sorted(p for p in recordings.rglob("*") if p.is_file() and "LICENSES" not in p.parts)[::step]:
        try:
            session = open_input(str(path))
        except WorkbenchError:
            continue
        inspector, count = Inspector(session), min(len(session), FIRST)
        for index in range(0, count, max(1, count // MOST)):
            yield f"{path.name} {index + 1}", ExchangeView(inspector.detail(index))


def test_every_recorded_exchange_can_be_shown(recordings: Path, pytestconfig: pytest.Config) -> None:
    shown, step = 0, 1 if pytestconfig.getoption("--every") else 10
    for name, opened in exchanges(recordings, step):
        for view in opened.contents.values():
            assert view.nothing(WIDTH)
            for item in range(view.count()):
                view.head(item)
                view.body(item, WIDTH)
                selected = view.selection(item)
                if selected:  # the HTTP pane has lines that are no bytes of a body
                    opened.lights(selected)
        for finding in opened.row.findings:
            selection = opened.at_finding(finding)
            has_node = opened.lights(selection).node is not None
            assert has_node or not opened.decoded.protocol, (
                name,
                finding,
            )  # the body contains only an error has no messages
            assert bool(selection.spans) >= bool(finding.span), (name, finding)
        for side in ("request", "response"):
            show_wire(opened, side)
        shown += 1
    assert shown > 200 // step


def show_wire(opened: ExchangeView, side: str) -> None:
    body = wire.shown_body(opened.decoded, side)
    for way in wire.ways(opened.decoded, side):
        _look(way, body if way.received is None else way.received, opened)
    for offset in range(0, len(body), max(1, len(body) // 20)):
        opened.lights(opened.at_byte(side, offset))


def _look(way: wire.WireView, body: bytes, opened: ExchangeView) -> None:
    """Whatever the way, the rows are the body."""
    rows = way.make(body, WIDTH)
    while not rows.extend(5000):
        pass
    marks = (StyledSpans("lit", opened.at_start().spans),)
    for row in range(min(len(rows), 60)):
        rows.line(row, marks)
    assert b"".join(body[slice(*rows.bounds(n))] for n in range(len(rows))) == body
