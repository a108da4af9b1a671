"""What a run leaves out by name is there."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent


def test_the_list_of_slow_tests_names_tests() -> None:
    places = [name.partition("::") for name in (TESTS / "slow_tests.txt").read_text(encoding="utf-8").split()]
    texts = {path: (TESTS.parent / path).read_text(encoding="utf-8") for path, _, _ in places}
    assert [f"{path}::{name}" for path, _, name in places if f"def {name}(" not in texts[path]] == []
