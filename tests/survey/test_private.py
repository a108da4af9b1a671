"""Tables hold no text of the traffic: a mark in every string of every store is in none of their bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zstandard

from tests.formats.importers.store_samples import CHAT, CLAUDE, HELICONE, LANGFUSE, LITELLM, SPEND_ROW
from tests.survey.conftest import bytes_below
from workbench.survey import Catalog, JudgeOptions, SurveyOptions, html_report, overview
from workbench.survey.parts import part_of
from workbench.survey.rows import path_of
from workbench.survey.run import RunResult

MARK = "canary 5f3a: of nobody's business"
KEPT = (
    "model",
    "role",
    "type",
    "object",
    "run_type",
    "call_type",
    "status",
    "startTime",
    "endTime",
    "start_time",
    "type",
)
"""Members that say what a value is: with another one it would be another format."""


def marked(value: Any, name: str = "") -> Any:
    """The same value with the mark in every text, and in the names of the user's own members."""
    if isinstance(value, dict):
        return {key: marked(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [marked(inner, name) for inner in value]
    if isinstance(value, str) and name not in KEPT:
        held = _json(value)
        return json.dumps(marked(held)) if held is not None else f"{value} {MARK}"
    return value


def _json(text: str) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict | list) else None


def test_no_text_of_the_traffic_is_in_any_byte(
    tmp_path: Path, survey: Callable[..., RunResult], key_file: Path
) -> None:
    folder = tmp_path / "marked"
    folder.mkdir()
    for number, value in enumerate((CHAT, CLAUDE, LITELLM, SPEND_ROW, HELICONE, [LANGFUSE])):
        (folder / f"{number}.json").write_text(json.dumps(marked(value)), encoding="utf-8")
    odd = marked(CHAT) | {f"own {MARK}": {MARK: MARK}, "tool_choice": MARK, "response_format": {"type": MARK}}
    odd["tools"][0]["function"]["parameters"]["properties"][MARK] = {"type": MARK}
    odd["messages"][1]["tool_calls"][0]["function"] = {"name": MARK, "arguments": '{"' + MARK + '": }'}
    (folder / "odd.json").write_text(json.dumps(odd), encoding="utf-8")
    catalog = Catalog(tmp_path / "out")
    result = survey(
        catalog, SurveyOptions(str(folder), "local:1", JudgeOptions(b"", hides_uris=True), key_file=str(key_file))
    )
    found = overview(catalog)
    assert result.commit is not None and found is not None and len(found.groups) > 4
    words = [MARK, "canary", "5f3a", str(folder), "a.txt"]
    report = html_report(found).encode().replace(str(folder).encode(), b"")  # what the user has named
    commit = b'"root"'
    tables = [data for _, data in bytes_below(catalog.folder) if commit not in data]
    assert len(tables) > 5
    for data in (report, *tables, *map(_unpacked, tables)):
        assert not [word for word in words if word.encode() in data]


def _unpacked(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data) if data.startswith(b"\x28\xb5\x2f\xfd") else data


def test_parts_hold_no_text_either(tmp_path: Path, key_file: Path) -> None:
    from tests.survey.conftest import KEY
    from workbench.survey.judging import judge_unit
    from workbench.survey.object_listing import list_objects
    from workbench.survey.parts import Batch

    path = tmp_path / "body.json"
    path.write_text(json.dumps(marked(CHAT)), encoding="utf-8")
    [found] = list_objects(str(path))
    rows = list(judge_unit([found], JudgeOptions(KEY, hides_uris=True)))
    part = _unpacked(part_of(Batch("b", [[found]]), [rows]))
    assert b"canary" not in part and b"body.json" not in part and b"closure.missing-result" in part


def test_places_have_the_words_of_the_wire_only() -> None:
    assert path_of("/messages/3/tool_calls/0/function/arguments/customer/0/name") == (
        "/messages/*/tool_calls/*/function/arguments/?/*/?"
    )
    assert path_of("/tools/0/function/parameters/properties/ssn/type") == (
        "/tools/*/function/parameters/properties/?/type"
    )
    assert path_of("/jane_doe") == "/?"
    assert path_of("") == ""
