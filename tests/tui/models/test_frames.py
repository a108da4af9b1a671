"""Connections, and exchanges that nothing decodes: their messages and events are rows that can be read and selected."""

from __future__ import annotations

import pytest

from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector
from workbench.tui.exchange_view import ExchangeView
from workbench.tui.models.ir import IrContent
from workbench.views.lines import plain

FILES = {
    "pydantic-ai/openai/test_openai_ws__test_tool_call_round.yaml": (None, 50, "< session.created"),
    "pydantic-ai/google/test_google_ws__test_tool_call_round.yaml": (None, 66, "> setup"),
    "pydantic-ai/xai/test_xai__test_xai_builtin_tools_with_custom_tools.xai.yaml": ("xai-grpc", 2, "> protobuf"),
}


@pytest.mark.parametrize(("name", "expected"), FILES.items(), ids=lambda value: str(value)[-40:])
def test_frames_are_rows(recordings, name, expected):
    protocol, count, first = expected
    opened = ExchangeView(Inspector(open_input(str(recordings / name))).detail(0))
    view = IrContent(opened)
    rows = [n for n, node in enumerate(view.nodes) if node.kind == "frame"]
    assert (opened.row.protocol, len(rows)) == (protocol, count)
    assert plain(view.head(rows[0])).startswith(first)
    for row in rows:
        assert plain(view.head(row)).strip()
        assert view.body(row, 80)
        assert view.selection(row).node == row
