"""Folders in which known clients keep their sessions.

The folders are those of the clients' public documentation. Nothing in them is ever written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

EXPORT = "not read here: export one with 'opencode export'"


class ClientFolder(NamedTuple):
    """A folder of one client's sessions, and the files in it.

    Attributes:
        client: display name of the client.
        noun: word for one of the files.
        folder: below the home folder; or below the working directory when it begins with ``./``.
        pattern: file names below the folder, a pattern for each level.
        moved_by: environment variable that names another folder in place of ``folder``'s first ``moved`` parts.
        moved: number of parts of ``folder`` that the variable replaces.
        why_unlisted: why the files are not listed one by one; empty if they are.
    """

    client: str
    noun: str
    folder: str
    pattern: tuple[str, ...]
    moved_by: str = ""
    moved: int = 1
    why_unlisted: str = ""

    def root(self) -> Path:
        """The folder on this machine. It need not exist."""
        if self.folder.startswith("./"):
            return Path.cwd() / self.folder[2:]
        moved_to = os.environ.get(self.moved_by) if self.moved_by else None
        parts = self.folder.split("/")
        return Path(moved_to, *parts[self.moved :]) if moved_to else Path.home().joinpath(*parts)


KNOWN: tuple[ClientFolder, ...] = (  # a file belongs to the first place it fits
    ClientFolder(
        "Claude Code",
        "sub-agent session",
        ".claude/projects",
        ("*", "agent-*.jsonl"),
        "CLAUDE_CONFIG_DIR",
        why_unlisted="not listed: open one by its path",
    ),
    ClientFolder("Claude Code", "session", ".claude/projects", ("*", "*.jsonl"), "CLAUDE_CONFIG_DIR"),
    ClientFolder("claude-trace", "log", "./.claude-trace", ("log-*.jsonl",)),
    ClientFolder("claude-trace", "log", ".claude-trace", ("log-*.jsonl",)),
    ClientFolder("Codex CLI", "rollout", ".codex/sessions", ("*", "*", "*", "rollout-*.jsonl"), "CODEX_HOME"),
    ClientFolder("Codex CLI", "archived rollout", ".codex/archived_sessions", ("*.jsonl",), "CODEX_HOME"),
    ClientFolder(
        "OpenCode",
        "database",
        ".local/share/opencode",
        ("opencode.db",),
        "XDG_DATA_HOME",
        moved=2,
        why_unlisted=EXPORT,
    ),
    ClientFolder(
        "OpenCode",
        "session",
        ".local/share/opencode/storage/session",
        ("*", "ses_*.json"),
        "XDG_DATA_HOME",
        moved=2,
        why_unlisted=EXPORT,
    ),
    ClientFolder("Gemini CLI", "chat", ".gemini/tmp", ("*", "chats", "session-*.json*")),
    ClientFolder("Qwen Code", "chat", ".qwen/projects", ("*", "chats", "*.jsonl")),
    ClientFolder("pi", "session", ".pi/agent/sessions", ("*", "*.jsonl")),
)
