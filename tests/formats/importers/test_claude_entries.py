from __future__ import annotations

from workbench.formats.importers._claude_entries import entries_of
from workbench.formats.importers._files import ImportDamage


def entry(**value: object):
    found = list(entries_of([(7, value)], ImportDamage()))
    return found[0] if found else None


def test_an_assistant_line_knows_its_turn_its_calls_and_its_envelope() -> None:
    found = entry(
        type="assistant",
        uuid="a",
        parentUuid="p",
        timestamp="2026-03-01T10:00:00Z",
        version="2.1",
        message={"id": "msg_1", "model": "m", "content": [{"type": "tool_use", "id": "t", "input": {}}]},
    )
    assert found
    assert (found.position, found.parent, found.turn, found.calls) == (7, "p", "msg_1", ("t",))
    assert found.content.blocks == (b'{"type":"tool_use","id":"t","input":{}}',)
    assert found.envelope == {"id": "msg_1", "model": "m"}
    assert (found.time, found.version, found.error) == (1772359200.0, "2.1", None)


def test_the_turn_falls_back_to_the_request_and_to_the_line() -> None:
    assert entry(type="assistant", uuid="a", requestId="req_1", message={"content": []}).turn == "req_1"
    assert entry(type="assistant", uuid="a", message={"content": []}).turn == "a"


def test_results_are_told_from_what_stands_beside_them() -> None:
    found = entry(
        type="user",
        uuid="u",
        message={"content": [{"type": "text", "text": "x"}, {"tool_use_id": "t", "type": "tool_result"}]},
    )
    assert found.results == ("t",)
    assert found.content.results == (b'{"tool_use_id":"t","type":"tool_result"}',)
    assert found.content.blocks == (b'{"type":"text","text":"x"}',)


def test_a_prompt_stays_a_string() -> None:
    assert entry(type="user", uuid="u", message={"content": "caf\u00e9"}).content.text == '"caf\u00e9"'.encode()


def test_an_api_error_of_the_client_is_no_answer() -> None:
    found = entry(
        type="assistant",
        uuid="a",
        isApiErrorMessage=True,
        message={"model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 529"}]},
    )
    assert found.error == "API Error: 529"


def test_sub_agents_are_chains_of_their_own() -> None:
    assert entry(type="user", uuid="u", isSidechain=True, agentId="x", message={"content": "a"}).chain == "x"
    assert entry(type="user", uuid="u", isSidechain=True, message={"content": "a"}).chain == "?"
    assert entry(type="user", uuid="u", isSidechain=False, agentId="x", message={"content": "a"}).chain == ""


def test_unknown_types_keep_their_place_and_say_nothing() -> None:
    found = entry(type="progress", uuid="u", parentUuid="p", data={"x": 1})
    assert (found.kind, found.parent, found.content.is_empty()) == ("other", "p", True)
    assert entry(type="summary", summary="x", leafUuid="y") is None
    assert entry(type="user", uuid="u", message="broken").kind == "other"
    assert entry(type="user", uuid="u", isVisibleInTranscriptOnly=True, message={"content": "x"}).kind == "other"


def test_compactions_are_found_in_both_forms() -> None:
    found = entry(type="system", uuid="b", subtype="compact_boundary", parentUuid=None, logicalParentUuid="z")
    assert (found.kind, found.resumes) == ("boundary", "z")
    assert entry(type="user", uuid="u", parentUuid=None, isCompactSummary=True, message={"content": "x"}).resumes
    assert entry(type="user", uuid="u", parentUuid="b", isCompactSummary=True, message={"content": "x"}).resumes is None


def test_entries_without_uuid_follow_each_other_and_repeated_ones_count_once() -> None:
    talk = {"type": "user", "message": {"content": "x"}}
    aside = {**talk, "isSidechain": True, "agentId": "a"}
    parents = [e.parent for e in entries_of(enumerate([talk, aside, talk, aside]), ImportDamage())]
    assert parents == [None, None, "entry 0", "entry 1"]
    assert len(list(entries_of(enumerate([{**talk, "uuid": "u"}] * 3), ImportDamage()))) == 1
