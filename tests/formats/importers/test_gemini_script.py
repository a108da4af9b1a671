from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import gemini_script, open_input
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Origin
from workbench.wire.session import exchanges_of


def test_each_line_is_an_answer(data: Path) -> None:
    whole, stream = exchanges_of(open_input(str(data / "script.responses.jsonl")))
    assert (whole.request, whole.origin, whole.meta["method"]) == (None, Origin.RECONSTRUCTED, "generateContent")
    assert (stream.meta["framing"], "importer added the framing" in stream.note) == ("synthesised", True)
    decoded = DecodedExchange(1, stream)
    assert decoded.protocol == "gemini"
    assert [c.name for m in decoded.messages("response") for _, c in m.tool_calls()] == ["write_file"]


def test_a_line_that_is_cut_costs_only_itself(data: Path) -> None:
    lines = (data / "script.responses.jsonl").read_bytes().splitlines()
    session = gemini_script.read(b"\n".join((lines[0], lines[1][:100], b'{"method":"generateContent"}')), "x")
    assert (len(session), len(session.damage)) == (1, 2)


@pytest.mark.parametrize(
    ("head", "is_script"),
    [
        (b'{"method":"generateContentStream","response":[]}\n', True),
        (b'{"method":"generateContentStream","response":[' + b" " * 70_000, True),
        (b'{"jsonrpc":"2.0","method":"tools/list"}\n', False),
        (b'{"method":"POST","response":{}}\n', False),
    ],
)
def test_sniff(head: bytes, is_script: bool) -> None:
    assert (gemini_script.sniff(head[:65_536]) > 0) == is_script


def test_a_script_without_responses_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="no response"):
        gemini_script.read(b'{"method":"generateContent","response":5}\n', "x")
