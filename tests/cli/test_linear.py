from __future__ import annotations

import io
import sys

import pytest

from tests.tui.samples import LOST_REASONING
from workbench.cli import main
from workbench.config import resources

FILE = str(resources.folder("sessions") / f"{LOST_REASONING}.jsonl")


@pytest.mark.parametrize(("words", "begins"), [((), "finding 1 of 1"), (("--exchange", "1"), "exchange 1 of 2")])
def test_keys_are_lines_where_the_input_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], begins: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\n/\ntool\n\nq\n4\n"))
    assert main(["open", FILE, "--linear", *words]) == 0
    said = capsys.readouterr().out
    assert begins in said and "IR 1 of" in said and "list_dir" in said
    assert "Reasoning" not in said, "q ends it"
