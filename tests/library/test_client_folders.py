from __future__ import annotations

from pathlib import Path

import pytest

from workbench.library.client_sessions import KNOWN, ClientFolder


@pytest.mark.parametrize(
    ("place", "variable", "value", "folder"),
    [
        (
            ClientFolder("Claude Code", "session", ".claude/projects", ("*",), "CLAUDE_CONFIG_DIR"),
            "",
            "",
            ".claude/projects",
        ),
        (
            ClientFolder("x", "s", ".claude/projects", ("*",), "CLAUDE_CONFIG_DIR"),
            "CLAUDE_CONFIG_DIR",
            "/c",
            "/c/projects",
        ),
        (ClientFolder("x", "s", ".local/share/o", ("*",), "XDG_DATA_HOME", moved=2), "XDG_DATA_HOME", "/d", "/d/o"),
        (ClientFolder("x", "log", "./.claude-trace", ("*",)), "", "", ".claude-trace"),
    ],
)
def test_folders_are_where_the_client_says(
    place: ClientFolder, variable: str, value: str, folder: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setenv(variable, value)
    assert place.root() == home / folder


def test_what_is_not_listed_says_why() -> None:
    listed = {place.client for place in KNOWN if not place.why_unlisted}
    assert listed == {"Claude Code", "claude-trace", "Codex CLI", "Gemini CLI", "Qwen Code", "pi"}
