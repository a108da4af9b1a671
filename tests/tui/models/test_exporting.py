"""Lines of the export screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.formats.exporters import ExportProof, ExportResult, ExportRun
from workbench.tui.models import exporting
from workbench.tui.models.exporting import ExportScope, FormRow
from workbench.views.lines import Line, plain

CURL, TEST = FormRow("curl", "cURL command", ".sh"), FormRow("pytest", "pytest test", "")


def words(lines: list[Line]) -> str:
    return "\n".join(map(plain, lines))


def test_the_test_comes_first_then_every_form_by_name() -> None:
    names = [row.name for row in exporting.forms()]
    assert names[0] == "pytest" and names[1:] == sorted(names[1:])


@pytest.mark.parametrize(
    ("row", "scope", "session", "name"),
    [
        (CURL, ExportScope.ONE, "a/log.jsonl", "log-3.sh"),
        (CURL, ExportScope.ALL, "log.jsonl", "log.sh"),
        (TEST, ExportScope.BRANCH, "log.har", "log-3-test"),
        (TEST, ExportScope.ALL, "", "session-test"),
    ],
)
def test_what_it_may_be_called(row: FormRow, scope: ExportScope, session: str, name: str) -> None:
    assert exporting.default_name(row, scope, 2, session) == name


def test_what_is_chosen_is_said() -> None:
    told = plain(exporting.summary(ExportScope.ONE, 1, is_edited=True, is_redacted=False))
    assert told == "this exchange, edited · no secrets · private text is kept"
    told = plain(exporting.summary(ExportScope.ALL, 7, is_edited=True, is_redacted=True))
    assert told == "the session (7 exchanges) · no secrets · private text replaced by stand-ins"


def test_what_would_be_written() -> None:
    folder = ExportResult({"t.jsonl": b"{}\n", "test_it.py": b"import os\n"}, ("a note",), ("exchange 2: why",))
    told = words(exporting.made_lines(folder, 60))
    for said in ("✗ left out: exchange 2: why", "· a note", "  t.jsonl  3 B", "── test_it.py ──", "import os"):
        assert said in told
    assert "(no text)" in words(exporting.made_lines(ExportResult({"": b"SQLite\0"}), 60))
    long = words(exporting.made_lines(ExportResult({"": b"x\n" * (exporting.MOST_LINES + 5)}), 60))
    assert long.endswith("… more lines")


def test_what_became_of_it() -> None:
    paths = [Path("out/a"), Path("out/b")]
    assert "running the test" in words(exporting.written_lines(paths, None, True, 80))
    runs = (ExportRun("broken", 2, 1, ("test_a: no",)), ExportRun("fixed", 3))
    told = words(exporting.written_lines(paths, ExportProof(runs), False, 80))
    assert told.startswith("✓ written: out\n  ✗ red   on the broken request: 1 of 3 tests fail\n      test_a: no")
    assert "✓ green on the fixed request: 3 tests pass\n✓ the test fails on the broken request" in told
    blind = words(
        exporting.written_lines(
            paths, ExportProof((ExportRun("broken", 3),), "the test passes on the broken request"), False, 80
        )
    )
    assert "✗ this is not a valid test: the test passes on the broken request" in blind
