"""Attacks on what runs for long: patterns, references, broken arguments; and files of the user that are torn."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main
from workbench.toolcalls.arguments.ladder import climb
from workbench.tui import editor

SESSION = Path(__file__).resolve().parents[2] / "sessions" / "anthropic-tool-loop.jsonl"


def doubled(levels: int) -> Any:
    """A schema of few lines that means two to the power of its levels."""
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**defs, f"d{levels}": {"type": "object"}}, "$ref": "#/$defs/d0"}


def deep(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


SCHEMAS = {
    "a pattern that backtracks": {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
    "patterns of names": {"patternProperties": {"^(a|a)*$": {"type": "string"}}},
    "references that double": doubled(40),
    "a reference to itself": {"$ref": "#"},
    "a schema thousands deep": deep(400),
    "a schema of many alternatives": {"anyOf": [{"properties": {"a": {"const": n}}} for n in range(20_000)]},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_that_never_ends_is_left(schema: Any) -> None:
    ladder = climb(None, {"a": "a" * 40 + "!", "a" * 40 + "!": 1}, schema)
    assert ladder.problem or ladder.faults or ladder.value is not None


@pytest.mark.parametrize("token", ["[", '{"a":', '\\"', "{'a': ", "```json ", "]{"])
def test_broken_arguments_are_repaired_or_left(token: str) -> None:
    raw = token * 2000
    ladder = climb(raw, raw, {"type": "object"})
    assert ladder.error or ladder.problem or ladder.value is not None


TORN = (b"\x00\xff", b"[", b"a: [", b"- 1\n", b"'", b'{"a":', b"\xff\xfe{", b"a: &x [*x]\n", b"7", b"")


@pytest.mark.parametrize("name", ["targets.yaml", "keys.yaml", "prices.yaml", "profiles/mine.yaml"])
def test_files_of_the_user_that_are_torn_are_named_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = tmp_path / "workbench" / name
    path.parent.mkdir(parents=True)
    for text in TORN:
        path.write_bytes(text)
        for words in (["targets"], ["keys"], ["check", str(SESSION)], ["metrics", str(SESSION)]):
            status = main(words)
            said = capsys.readouterr().err
            assert status in (0, 1, 2, 3), (words, text, said)
            assert "Traceback" not in said
            assert "crashed" not in said
            assert all(line.startswith("workbench: ") for line in said.splitlines())


def test_a_session_of_a_newer_version_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"workbench": "session", "version": 99}) + "\n")
    for command in ("check", "fsck", "show"):
        assert main([command, str(path)]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "newer version" in said


@pytest.mark.parametrize("named", ["true; touch pwned", "true && touch pwned", "$(touch pwned)", "`touch pwned`"])
def test_no_shell_reads_the_name_of_an_editor(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", named)
    assert editor._command() == shlex.split(named)
    assert "shell=True" not in Path(editor.__file__).read_text()
