"""What a tool result says of its call, and when two failures are one."""

from __future__ import annotations

import pytest

from workbench.ir import Opaque, Text, ToolResultIR
from workbench.rules._shared.outcomes import ResultOutcome, classify, without_echoes

FAILED, NOT_FOUND, EMPTY, NORMAL = (
    ResultOutcome[name] for name in ("FAILED", "NOT_FOUND", "EMPTY", "NORMAL")
)  # fmt: skip
KINDS = [
    ("[2026-01-01T10:00:11Z] build failed after 10.2s", FAILED),
    ("request 6ba7b810-9dad-11d1-80b4-00c04fd430c8 failed: timeout", FAILED),
    ("The connection to the database has timed out.", FAILED),
    ("Datei nicht gefunden", FAILED),
    ("No se encontró el archivo", FAILED),
    ("Não foi possível abrir o arquivo", FAILED),
    ("Fichier introuvable", FAILED),
    ("12 tests passed, 0 failed with warnings", NORMAL),
    ("The build has not failed.", NORMAL),
    ("Summary of the meeting: we talked about why the launch failed, and what to do\nNext: plan", NORMAL),
    ("The file has been updated.", NORMAL),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_the_words_of_a_result_tell_its_outcome(text, kind):
    assert classify(ToolResultIR("c", (Text(text),))).kind is kind


JSON = [([], EMPTY), ({"results": [], "total": 0}, EMPTY), ({"status": 404}, NOT_FOUND), ({"answer": 42}, NORMAL)]


@pytest.mark.parametrize(("value", "kind"), JSON)
def test_a_result_that_is_json_on_its_wire_is_read_as_its_text(value, kind):
    assert classify(ToolResultIR(None, (Opaque("json", value),), name="f")).kind is kind


def test_a_failure_is_the_same_without_what_it_repeats_of_the_arguments():
    marks = set()
    for path in ("/srv/a.txt", "/srv/other.txt"):
        read = classify(ToolResultIR("c", (Text(f"Error: permission denied: {path}"),)))
        marks.add(without_echoes(read.mark, read.kind, {"path": path}))
    assert len(marks) == 1
    normal = classify(ToolResultIR("c", (Text("/srv/a.txt is here"),)))
    assert without_echoes(normal.mark, normal.kind, {"path": "/srv/a.txt"}) == normal.mark
