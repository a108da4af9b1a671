from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SESSIONS
from workbench import crashes
from workbench.cli import _files, main

HOSTILE = 'it\'s \x1b[2J "malicious"'


def fail(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    "error", [KeyError(HOSTILE), ValueError(f"no {HOSTILE!r} here"), TypeError("\x9b2J" * 1000), RecursionError()]
)
def test_the_line_and_the_report_quote_no_data(error: Exception, tmp_path: Path) -> None:
    said = crashes.report(fail(error))
    (file,) = (tmp_path / "workbench" / "crashes").iterdir()
    text = file.read_text()
    assert said.startswith(f"crashed: {type(error).__name__} at tests/test_crashes.py:")
    assert said.endswith(str(file))
    for written in (said, text.replace("\n", "")):
        assert written.isprintable()
        assert "malicious" not in written
        assert len(written) < 2000


def test_causes_are_told_and_a_circle_of_them_ends(tmp_path: Path) -> None:
    inner, outer = ValueError("inner"), TypeError("outer")
    outer.__cause__, inner.__context__ = inner, outer
    crashes.report(fail(outer))
    (file,) = (tmp_path / "workbench" / "crashes").iterdir()
    assert file.read_text().count("Error: ") == 2


def test_a_report_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "workbench").write_text("in the way")
    assert "no report could be written" in crashes.report(fail(ValueError()))


def test_the_words_are_those_of_the_interpreter(tmp_path: Path) -> None:
    """What Python raises of itself names types; what code raises may name anything."""
    for fault in (lambda: {} in {1}, lambda: [][0], lambda: None.malicious, lambda: int("malicious"), raising):  # type: ignore[attr-defined]
        try:
            fault()
        except Exception as error:
            crashes.report(error)
    texts = [file.read_text() for file in (tmp_path / "workbench" / "crashes").iterdir()]
    assert len(texts) == 5
    assert not [text for text in texts if "malicious" in text]
    assert sum("unhashable type" in text or "index out of range" in text for text in texts) == 2


def raising() -> None:
    raise TypeError("a malicious text without quotation marks")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["check", "/home/me/secret.wb", "--format", "json"], "workbench check … --format json"),
        (["send", "x", "--target", "https://me:pw@host", "--as=ollama"], "workbench send … --target … --as=ollama"),
        (["explain", "sk-secret"], "workbench explain …"),
        (["record", "--upstream", "a=https://x", "--", "agent", "--key", "k"], "workbench record --upstream … -- …"),
        (["secret.wb"], "workbench …"),
        (["show", "--format=sk-Secret", "--exchange", "7"], "workbench show --format=… --exchange 7"),
    ],
)
def test_the_command_is_told_without_what_was_typed_into_it(words: list[str], told: str, tmp_path: Path) -> None:
    crashes.report(fail(ValueError()), words)
    (file,) = (tmp_path / "workbench" / "crashes").iterdir()
    assert f"command: {told}\n" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


FAULTS = {
    "show": "workbench.cli.show.run",
    "check": "workbench.cli._files.inspector",
    "matrix": "workbench.send.matrix.rows",
    "fsck": "workbench.wire.session.store.fsck",
}


@pytest.mark.parametrize("command", FAULTS)
def test_no_command_ends_with_a_traceback(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fault(*args: object, **named: object) -> None:
        raise KeyError(HOSTILE)

    monkeypatch.setattr(FAULTS[command], fault)
    status = main([command, str(SESSIONS / "anthropic-tool-loop.jsonl")])
    said = capsys.readouterr().err
    assert status == crashes.STATUS == 70
    assert said.count("\n") == 1
    assert "crashed: KeyError at" in said
    assert "malicious" not in said
    assert len(list((tmp_path / "workbench" / "crashes").iterdir())) == 1


def test_a_fault_on_one_file_leaves_the_others_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, bad = SESSIONS / "anthropic-tool-loop.jsonl", SESSIONS / "gemini-response-lost.jsonl"
    open_file = _files.open_file

    def fault(path: str, *more: Any) -> object:
        if path == str(bad):
            raise RuntimeError("no")
        return open_file(path, *more)

    monkeypatch.setattr(_files, "open_file", fault)
    assert main(["check", "--format", "json", str(bad), str(whole)]) == 70
    said = capsys.readouterr()
    assert [file["path"] for file in json.loads(said.out)["files"]] == [str(whole)]
    assert said.err.count("crashed") == 1
