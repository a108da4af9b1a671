"""Where known clients keep what they did, as data in one place.

The folders are those of the clients' public documentation. Nothing in them is ever written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

EXPORT = "not read here: write one out with 'opencode export'"


class Place(NamedTuple):
    """Files of one client.

    Attributes:
        client: its name, as people know it.
        noun: what one of the files is.
        folder: below the home folder; or below the working directory when it begins with ``./``.
        pattern: file names below the folder, a pattern for each level.
        moved_by: environment variable that names another folder in place of ``folder``'s first ``moved`` parts.
        moved: how many parts of ``folder`` the variable stands for.
        why_not: why the files are not listed one by one, "" where they are.
    """

    client: str
    noun: str
    folder: str
    pattern: tuple[str, ...]
    moved_by: str = ""
    moved: int = 1
    why_not: str = ""

    def root(self) -> Path:
        """The folder on this machine. It need not exist."""
        if self.folder.startswith("./"):
            return Path.cwd() / self.folder[2:]
        moved_to = os.environ.get(self.moved_by) if self.moved_by else None
        parts = self.folder.split("/")
        return Path(moved_to, *parts[self.moved :]) if moved_to else Path.home().joinpath(*parts)


KNOWN: tuple[Place, ...] = (  # a file belongs to the first place it fits
    Place(
        "Claude Code",
        "sub-agent session",
        ".claude/projects",
        ("*", "agent-*.jsonl"),
        "CLAUDE_CONFIG_DIR",
        why_not="left out of the list: open one by its path",
    ),
    Place("Claude Code", "session", ".claude/projects", ("*", "*.jsonl"), "CLAUDE_CONFIG_DIR"),
    Place("claude-trace", "log", "./.claude-trace", ("log-*.jsonl",)),
    Place("claude-trace", "log", ".claude-trace", ("log-*.jsonl",)),
    Place("Codex CLI", "rollout", ".codex/sessions", ("*", "*", "*", "rollout-*.jsonl"), "CODEX_HOME"),
    Place("Codex CLI", "archived rollout", ".codex/archived_sessions", ("*.jsonl",), "CODEX_HOME"),
    Place(
        "OpenCode",
        "database",
        ".local/share/opencode",
        ("opencode.db",),
        "XDG_DATA_HOME",
        moved=2,
        why_not=EXPORT,
    ),
    Place(
        "OpenCode",
        "session",
        ".local/share/opencode/storage/session",
        ("*", "ses_*.json"),
        "XDG_DATA_HOME",
        moved=2,
        why_not=EXPORT,
    ),
    Place("Gemini CLI", "chat", ".gemini/tmp", ("*", "chats", "session-*.json*")),
    Place("Qwen Code", "chat", ".qwen/projects", ("*", "chats", "*.jsonl")),
    Place("pi", "session", ".pi/agent/sessions", ("*", "*.jsonl")),
)
