from __future__ import annotations

from pathlib import Path

import pytest

from workbench.tui import crashes

HOSTILE = 'it\'s \x1b[2J "hostile"'


def fail(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    "error", [KeyError(HOSTILE), ValueError(f"no {HOSTILE!r} here"), TypeError("\x9b2J" * 1000), RecursionError()]
)
def test_the_line_and_the_report_quote_no_data(error: Exception, tmp_path: Path) -> None:
    said = crashes.report(fail(error))
    (file,) = (tmp_path / "workbench" / "crashes").iterdir()
    text = file.read_text()
    assert said.startswith(f"crashed: {type(error).__name__} at tests/tui/test_crashes.py:")
    assert said.endswith(str(file))
    for written in (said, text.replace("\n", "")):
        assert written.isprintable()
        assert "hostile" not in written
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
