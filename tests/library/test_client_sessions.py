from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.library.samples import entries, put
from workbench.library.client_sessions import find


def test_sessions_of_clients_are_found_newest_first_with_their_project(home: Path) -> None:
    projects = home / ".claude/projects"
    put(projects / "-home-ann-demo/a.jsonl", entries("/home/ann/demo"), at=1000)
    put(projects / "-home-ann-other/b.jsonl", entries("C:\\work\\other"), at=3000)
    put(home / ".claude-trace/log-1.jsonl", at=2000)
    found = find().sessions
    assert [(f.client, f.project, f.modified) for f in found] == [
        ("Claude Code", "other", 3000),
        ("claude-trace", "home", 2000),
        ("Claude Code", "demo", 1000),
    ]


def test_sessions_of_every_client_are_listed(home: Path) -> None:
    put(home / ".codex/sessions/2026/01/02/rollout-1.jsonl", b'{"payload":{"cwd":"/home/ann/demo"}}', at=6)
    put(home / ".codex/archived_sessions/rollout-2.jsonl", b'{"payload":{"cwd":"/home/ann/old"}}', at=5)
    put(home / ".gemini/tmp/demo-project/chats/session-1.json", at=4)
    put(home / ".gemini/tmp/demo-project/chats/session-2.jsonl", at=3)
    put(home / ".qwen/projects/-home-ann-q/chats/a.jsonl", entries("/home/ann/q"), at=2)
    put(home / ".pi/agent/sessions/--p--/b.jsonl", b'{"type":"session","cwd":"/home/ann/p"}', at=1)
    assert [(f.client, f.project) for f in find().sessions] == [
        ("Codex CLI", "demo"),
        ("Codex CLI", "old"),
        ("Gemini CLI", "demo-project"),
        ("Gemini CLI", "demo-project"),
        ("Qwen Code", "q"),
        ("pi", "p"),
    ]


def test_what_is_not_listed_is_named_with_the_reason(home: Path) -> None:
    put(home / ".claude/projects/p/agent-1.jsonl")
    put(home / ".local/share/opencode/opencode.db")
    put(home / ".local/share/opencode/storage/session/p/ses_1.json")
    assert find() == (
        (),
        (
            "1 Claude Code sub-agent session not listed: open it by its path (~/.claude/projects)",
            "1 OpenCode database not listed: export a session with 'opencode export' and open that file "
            "(~/.local/share/opencode)",
            "1 OpenCode session not listed: export a session with 'opencode export' and open that file "
            "(~/.local/share/opencode/storage/session)",
        ),
    )


def test_no_more_than_some_are_listed(home: Path) -> None:
    for n in range(5):
        put(home / f".claude/projects/p/{n}.jsonl", at=n)
    found = find(most=2)
    assert [f.path.name for f in found.sessions] == ["4.jsonl", "3.jsonl"]
    assert found.notes == ("3 older sessions not listed: open it by its path",)


def test_nothing_there_is_no_trouble() -> None:
    assert find() == ((), ())


def test_a_folder_that_may_not_be_looked_at_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = os.scandir

    def refuse(path: Path) -> object:
        if str(path).endswith("projects"):
            raise PermissionError(13, "Permission denied", str(path))
        return honest(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert find().notes == (
        "~/.claude/projects cannot be read: Permission denied",
        "~/.qwen/projects cannot be read: Permission denied",
    )


@pytest.mark.parametrize("cwd", ["", "/", "\x1b]0;x\x07\n", 'say "cwd"', "日本語/项目", "a" * 100_000, "\ud800"])
def test_any_project_name_will_do(cwd: str, home: Path) -> None:
    put(home / ".claude/projects/-p/a.jsonl", entries(cwd))
    (found,) = find().sessions
    assert found.project


def test_what_is_no_file_is_not_listed(home: Path) -> None:
    (home / ".claude/projects/p/x.jsonl").mkdir(parents=True)
    (home / ".claude/projects/p/y.jsonl").symlink_to("nowhere")
    os.mkfifo(home / ".claude/projects/p/z.jsonl")
    put(home / ".claude/projects/file")
    assert find().sessions == ()


def test_files_of_others_stay_as_they_are(home: Path) -> None:
    path = put(home / ".claude/projects/p/a.jsonl", entries(), at=1000)
    os.chmod(path, 0o400)
    before = path.stat()
    find()
    after = path.stat()
    assert (before.st_mtime_ns, before.st_size, before.st_mode) == (after.st_mtime_ns, after.st_size, after.st_mode)
    assert [p.name for p in path.parent.iterdir()] == ["a.jsonl"]
