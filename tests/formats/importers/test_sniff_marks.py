"""An importer that is not asked would not have claimed the file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SHARED
from workbench import plugins
from workbench.config import resources
from workbench.formats import importers
from workbench.formats.importers import _files, _sniff_marks

FOLDERS = (resources.folder("sessions"), SHARED / "recordings", SHARED / "seeds")
FILES = [path for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.is_file()]
NAMES = plugins.built_in("workbench.formats.importers")
KEYS = [mark for marks in _sniff_marks._MARKS.values() for mark in marks]


def claimed(head: bytes) -> set[str]:
    return {name for name in NAMES if importers.load(name).sniff(head) > 0}


def test_every_entry_is_an_importer() -> None:
    assert _sniff_marks._MARKS.keys() < set(NAMES)


def test_every_example_is_asked_for_by_who_claims_it() -> None:
    assert FILES
    for path in FILES:
        head = _files.open_source(str(path), None).head if path.stat().st_size else b""
        assert claimed(head) <= set(_sniff_marks.that_may_claim(NAMES, head)), path


@given(st.lists(st.sampled_from([*KEYS, b"{", b"}", b"[", b'"', b":", b",", b"\n", b"type", b"message", b" ", b"1"])))
def test_no_text_is_claimed_by_who_is_not_asked(parts: list[bytes]) -> None:
    head = b"".join(parts)
    assert claimed(head) <= set(_sniff_marks.that_may_claim(NAMES, head))


@pytest.mark.parametrize("name", ["gemini_cli", "codex"])
def test_letters_may_be_escaped(name: str) -> None:
    head = rb'{"\u0073essionId": "1", "startTime": 2, "\u0070ayload": {}, "\u0074ype": "session_meta"}' + b"\n"
    assert name in _sniff_marks.that_may_claim(NAMES, head)
    assert name not in _sniff_marks.that_may_claim(NAMES, head.replace(rb"\u00", b"%"))
