"""A file that is about to be written is refused in one place, with one sentence for each reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import UsageError
from workbench.formats import output_files

THERE = "{out} already exists; choose another name, or use --force"
READ = "{out} is the input file; the input file is never overwritten: choose another name"


def refusal(out: Path, source: Path | None, *, is_forced: bool) -> str:
    try:
        output_files.refuse_source(out, source)
        output_files.refuse_existing(out, is_forced=is_forced)
    except UsageError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("name", "source", "is_forced", "expected"),
    [
        ("new.wb", "old.wb", False, ""),
        ("old.wb", None, True, ""),
        ("old.wb", None, False, THERE),
        ("old.wb", "old.wb", True, READ),
        ("hard.wb", "old.wb", True, READ),
        ("new.wb", "gone.wb", False, ""),
    ],
)
def test_a_file_is_replaced_only_if_it_may_be(
    tmp_path: Path, name: str, source: str | None, is_forced: bool, expected: str
) -> None:
    (tmp_path / "old.wb").write_bytes(b"x")
    (tmp_path / "hard.wb").hardlink_to(tmp_path / "old.wb")
    out = tmp_path / name
    found = refusal(out, tmp_path / source if source else None, is_forced=is_forced)
    assert found == expected.format(out=out)
