from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UnreadableInput
from workbench.formats.importers import claude_code
from workbench.wire.jsontext import loads
from workbench.wire.session import exchanges_of


def test_the_web_container_holds_the_same_entries(data: Path) -> None:
    session = claude_code.read((data / "claude-web.json").read_bytes(), "x")
    bodies = [loads(e.request.body.raw) for e in exchanges_of(session) if e.request]
    assert [len(b["messages"]) for b in bodies] == [1, 3]
    assert bodies[1]["messages"][2]["content"][0]["tool_use_id"] == "toolu_01"


def test_torn_lines_cost_only_themselves(data: Path) -> None:
    lines = (data / "claude-code.jsonl").read_bytes().splitlines()
    lines[8] = lines[8][:50]
    session = claude_code.read(b"\n".join(lines), "x")
    whole = claude_code.read((data / "claude-code.jsonl").read_bytes(), "x")
    assert session.damage[0].startswith("line 9: not JSON")
    assert list(exchanges_of(session)) == list(exchanges_of(whole))  # it only linked two branches to their fork


@pytest.mark.parametrize("text", [b"", b'{"type":"summary","leafUuid":"x"}\n', b'{"loglines": 5}', b'{"loglines": []}'])
def test_a_file_without_conversation_is_refused(text: bytes) -> None:
    with pytest.raises(UnreadableInput):
        claude_code.read(text, "x")


@pytest.mark.parametrize(
    ("head", "is_claude"),
    [
        (b'{"type":"summary","summary":"x","leafUuid":"y"}\n', True),
        (b'{"type":"file-history-snapshot","messageId":"m","snapshot":{}}\n{"x":1', True),
        (b'{"parentUuid":null,"type":"user","message":{"role":"user","content":"x"},"uuid":"u"}\n', True),
        (b'{"parentUuid":null,"sessionId":"s","type":"user","message":{"content":"' + b"x" * 65_536, True),
        (b'{"loglines": [{"type": "user"', True),
        (b'{"parentUuid":null,"uuid":"u","type":"user","message":{"role":"user","parts":[]}}\n', False),
        (b'{"type":"message","message":{"role":"user","content":[]}}\n', False),
        (b'{"role":"user","content":"x"}\n', False),
        (b'{"model":"m","messages":[]}', False),
        (b"text", False),
    ],
)
def test_sniff(head: bytes, is_claude: bool) -> None:
    assert (claude_code.sniff(head[:65_536]) > 0) == is_claude
