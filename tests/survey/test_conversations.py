"""Conversations that a store spreads over objects are found and judged as one session; the rest is counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.formats.importers.store_samples import ANSWER, CALL, LITELLM, TOOL
from tests.survey.conftest import rows
from workbench.survey import Catalog, ObjectSelection, SurveyOptions
from workbench.survey.conversations import JoinCounts, Joiner
from workbench.survey.object_listing import StoredObject
from workbench.survey.run import RunResult


def payload(number: int, messages: list[dict[str, Any]], answer: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What LiteLLM stores of one request."""
    response = ANSWER | {"id": f"chatcmpl-{number}-aaaaaaaa", "choices": [{"index": 0, "message": answer}]}
    times = {"startTime": 1790000000.0 + number, "endTime": 1790000000.5 + number}
    return (
        LITELLM
        | times
        | {"id": f"r{number}", "trace_id": f"t{number}", "messages": messages, "response": response}
        | more
    )


def loop(first: int, task: str) -> list[dict[str, Any]]:
    """Requests of an agent that repeats the same failing call: each object has one request and its answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    made = []
    for step in range(6):
        call = CALL | {"id": f"call_{task[:3]}{first + step:016}"}
        answer = {"role": "assistant", "content": None, "tool_calls": [call]}
        made.append(payload(first + step, list(messages), answer, model_parameters={"tools": [TOOL]}))
        messages += [answer, {"role": "tool", "tool_call_id": call["id"], "content": "Error: no such file"}]
    return made


@pytest.fixture
def spread(tmp_path: Path) -> Path:
    folder = tmp_path / "spread"
    folder.mkdir()
    for number, value in enumerate([*loop(0, "read it"), *loop(100, "tell me")]):
        (folder / f"{number:03}.json").write_text(json.dumps(value), encoding="utf-8")
    return folder


def joined(options: SurveyOptions, folder: Path) -> SurveyOptions:
    return replace(options, root=str(folder), selection=ObjectSelection(joins=True))


def test_requests_of_one_agent_are_one_conversation(
    spread: Path, survey: Callable[..., RunResult], options: SurveyOptions, tmp_path: Path
) -> None:
    alone, together = Catalog(tmp_path / "alone"), Catalog(tmp_path / "together")
    survey(alone, replace(options, root=str(spread)))
    result = survey(together, joined(options, spread))
    assert result.commit is not None
    counts = result.commit.about["joined"]
    assert (counts["continuing"], counts["joined"], counts["without_earlier"]) == (10, 10, 0)
    assert (counts["units"], counts["objects"], counts["split"], counts["unread"]) == (2, 12, 0, 0)
    assert {row[13] for row in rows(together, "objects")} == {6}
    assert len(rows(alone, "exchanges")) == len(rows(together, "exchanges")) == 12
    found = [row for row in rows(together, "findings") if row[3] == "retry.loop"]
    assert len(found) == 2, "one loop a conversation, told once"
    assert len([row for row in rows(alone, "findings") if row[3] == "retry.loop"]) > 2


def test_what_could_not_be_joined_is_counted(
    spread: Path, survey: Callable[..., RunResult], options: SurveyOptions, tmp_path: Path
) -> None:
    for number in (0, 1, 2):
        (spread / f"{number:03}.json").unlink()
    result = survey(Catalog(tmp_path / "out"), joined(options, spread))
    assert result.commit is not None
    counts = result.commit.about["joined"]
    assert (counts["continuing"], counts["without_earlier"]) == (8, 1)


def test_a_place_of_a_finding_is_that_of_its_own_object(
    spread: Path, survey: Callable[..., RunResult], options: SurveyOptions, tmp_path: Path
) -> None:
    catalog = Catalog(tmp_path / "out")
    survey(catalog, joined(options, spread))
    objects = {row[0] for row in rows(catalog, "objects")}
    for row in rows(catalog, "findings"):
        assert row[0] in objects and row[1] == 0


def test_a_new_object_brings_its_conversation_back(
    spread: Path, survey: Callable[..., RunResult], options: SurveyOptions, tmp_path: Path
) -> None:
    last = spread / "005.json"
    data = last.read_bytes()
    last.unlink()
    catalog = Catalog(tmp_path / "out")
    survey(catalog, joined(options, spread))
    last.write_bytes(data)
    assert survey(catalog, joined(options, spread)).checked_objects == 6


def units_of(count: int, **keys: Callable[[int], list[Any]]) -> tuple[list[list[int]], JoinCounts]:
    """Numbers of the objects in each unit, for objects with these keys in the index pass."""
    with Joiner() as joiner:
        listing = [StoredObject(str(n), 5, "v") for n in range(count)]
        for batch in reversed(list(joiner.batches(listing))):
            rows = [
                {"uri": unit[0].uri, "is_read": True, "offers": [], "seeks": [], "named": []} for unit in batch.units
            ]
            joiner.add(batch, [row | {name: keys[name](int(row["uri"])) for name in keys} for row in rows])  # type: ignore[call-overload]
        return [[int(found.uri) for found in unit] for unit in joiner.units()], joiner.counts


def test_a_store_that_names_conversations_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.survey.parts.MOST_OBJECTS", 3)
    assert units_of(4, named=lambda n: [-7 - n // 2])[0] == [[0, 1], [2, 3]]


def test_a_conversation_that_is_too_large_is_judged_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.survey.conversations.MOST_OBJECTS", 2)
    units, counts = units_of(5, named=lambda n: [-1])
    assert ([len(unit) for unit in units], counts.split) == ([2, 2, 1], 1)


def test_of_conversations_with_the_same_opening_the_nearest_one_before_is_continued() -> None:
    """Objects 0, 2, 4 say the same and get the same answer; 1, 3, 5 continue it."""
    units, counts = units_of(6, offers=lambda n: [9] if n % 2 == 0 else [], seeks=lambda n: [[9]] if n % 2 else [])
    assert units == [[0, 1], [2, 3], [4, 5]]
    assert (counts.continuing, counts.joined, counts.without_earlier) == (3, 3, 0)
