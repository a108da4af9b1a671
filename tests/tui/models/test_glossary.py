from __future__ import annotations

from pathlib import Path

import pytest

from workbench.config import resources
from workbench.tui.models.glossary import glossary_lines, parse_glossary
from workbench.views.lines import plain

PAGE = Path(__file__).resolve().parents[3] / "docs" / "glossary.md"
HEADER = ("| term | meaning |", "| --- | --- |")


def test_help_shows_every_term_of_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    groups = parse_glossary(page)
    rows = [row for row in page.splitlines() if row.startswith("| ") and row not in HEADER]
    assert sum(len(group.terms) for group in groups) == len(rows) > 80
    text = " ".join(" ".join(plain(row) for row in glossary_lines(78)).split())
    assert all(f"{term} {meaning}" in text for group in groups for term, meaning in group.terms)


@pytest.mark.parametrize("width", [58, 78, 200])
def test_glossary_fits_its_width(width: int) -> None:
    assert max(len(plain(row)) for row in glossary_lines(width)) <= width


def test_each_term_has_one_meaning() -> None:
    terms = [term for group in parse_glossary(resources.glossary()) for term, _ in group.terms]
    assert len(set(terms)) == len(terms)


def test_missing_page_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "workbench")
    assert "cannot be read" in plain(glossary_lines(78)[0])
