"""Conversations as one-line stories: ``uuid<parent: what``. See ``tree`` for the words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.importers._claude_entries import ClaudeEntry, entries_of
from workbench.formats.importers._claude_turns import Unit, newest, units_of
from workbench.formats.importers._files import ImportDamage
from workbench.ir import JsonValue
from workbench.wire.jsontext import loads


def content(words: str) -> list[JsonValue]:
    blocks: list[JsonValue] = []
    for word in words.split():
        name, _, id = word.partition("=")
        if name == "call":
            blocks.append({"type": "tool_use", "id": id, "name": "f", "input": {}})
        elif name == "result":
            blocks.append({"type": "tool_result", "tool_use_id": id, "content": "x"})
        elif name == "think":
            blocks.append({"type": "thinking", "thinking": "x", "signature": "s"})
        else:
            blocks.append({"type": "text", "text": word})
    return blocks


def entries(story: str) -> list[ClaudeEntry]:
    """Lines ``uuid<parent: user …``, ``uuid<parent: TURN …`` (a model's), ``uuid<parent: boundary [resumed]``."""
    values: list[JsonValue] = []
    for line in (line.strip() for line in story.splitlines() if line.strip()):
        place, _, said = line.partition(": ")
        uuid, _, parent = place.partition("<")
        who, _, words = said.partition(" ")
        value: dict[str, JsonValue] = {"uuid": uuid.lstrip("*"), "parentUuid": parent or None}
        value["timestamp"] = f"2026-03-01T10:00:{len(values):02d}Z"
        if uuid.startswith("*"):
            value |= {"isSidechain": True}
        if who == "boundary":
            value |= {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": words or None}
        elif who == "note":
            value |= {"type": "system", "subtype": "turn_duration"}
        elif who == "user":
            value |= {"type": "user", "message": {"role": "user", "content": content(words)}}
        else:
            value |= {"type": "assistant", "message": {"id": who, "model": "m", "content": content(words)}}
        values.append(value)
    return list(entries_of(enumerate(values, 1), ImportDamage()))


def tree(story: str) -> dict[str, Unit]:
    return {unit.first.turn or unit.first.uuid: unit for unit in units_of(entries(story))}


def before(unit: Unit) -> str:
    """The history in front of a unit: ``u`` or ``a`` for each message with its blocks."""
    held = loads(b"[" + unit.before.messages() + b"]") if unit.before else []
    return " ".join(m["role"][0] + ":" + ",".join(_word(b) for b in m["content"]) for m in held)


def _word(block: JsonValue) -> str:
    names = {"text": "text", "tool_use": "id", "tool_result": "tool_use_id", "thinking": "signature"}
    return str(block[names[block["type"]]])


PARALLEL = [
    "b<a: M1 call=1 \n c<b: M1 call=2 \n d<b: user result=1 \n e<c: user result=2 \n f<e: M2 done",
    "b<a: M1 call=1 \n d<b: user result=1 \n c<b: M1 call=2 \n e<c: user result=2 \n f<e: M2 done",
    "b<a: M1 call=1 \n c<b: M1 call=2 \n d<b: user result=1 \n e<c: user result=2 \n f<d: M2 done",
    "b<a: M1 call=1 call=2 \n d<b: user result=1 \n e<d: user result=2 \n f<e: M2 done",
    "b<a: M1 call=1 call=2 \n e<b: user result=1 result=2 \n f<e: M2 done",
]


@pytest.mark.parametrize("story", PARALLEL)
def test_parallel_calls_and_their_results_are_one_turn(story: str) -> None:
    units = tree("a: user go \n" + story)
    assert before(units["M2"]) == "u:go a:1,2 u:1,2"
    assert list(units) == ["a", "M1", "M2"]
    assert {u.branch for u in units.values()} == {""}


def test_results_written_out_of_order_keep_the_order_of_the_file() -> None:
    units = tree("a: user go\nb<a: M1 call=1\nc<b: M1 call=2\nd<c: user result=2\ne<b: user result=1\nf<e: M2 x")
    assert before(units["M2"]) == "u:go a:1,2 u:2,1"


def test_an_interrupted_call_stays_without_result() -> None:
    units = tree("a: user go\nb<a: M1 call=1\nc<b: user stop\nd<c: M2 well")
    assert before(units["M2"]) == "u:go a:1 u:stop"


def test_an_orphaned_result_stays_visible() -> None:
    units = tree("a: user go\nb<a: user result=9\nc<b: M1 x")
    assert before(units["M1"]) == "u:9,go"


def test_an_abandoned_branch_is_not_mixed_in() -> None:
    units = tree("a: user go\nb<a: M1 hi\nc<b: user old\nd<c: M2 x\ne<d: user older\nf<b: user new\ng<f: M3 y")
    assert before(units["M3"]) == "u:go a:hi u:new"
    assert before(units["M2"]) == "u:go a:hi u:old"
    assert {k: u.branch for k, u in units.items() if u.branch} == {
        "c": "abandoned 1",
        "M2": "abandoned 1",
        "e": "abandoned 1",
    }


def test_of_two_answers_to_one_call_the_abandoned_one_is_left_out() -> None:
    units = tree("a: user go\nb<a: M1 call=1\nc<b: user result=1\nd<b: user result=1\ne<d: M2 x")
    assert before(units["M2"]) == "u:go a:1 u:1"
    units = tree("a: user go\nb<a: M1 call=1\nc<b: user result=1\nd<c: user result=1\ne<d: M2 x")
    assert before(units["M2"]) == "u:go a:1 u:1,1"


def test_a_turn_that_stopped_after_its_reasoning_is_not_sent_again() -> None:
    units = tree("a: user go\nb<a: M1 think\nc<b: user again\nd<c: M2 think\ne<d: M2 yes\nf<e: user ok\ng<f: M3 x")
    assert before(units["M2"]) == "u:go,again"
    assert before(units["M3"]) == "u:go,again a:s,yes u:ok"


def test_a_compaction_starts_a_new_history_and_carries_the_conversation_on() -> None:
    units = tree("a: user go\nb<a: M1 hi\nc: boundary b\nd<c: user summary\ne<d: M2 x")
    assert before(units["M2"]) == "u:summary"
    assert {u.branch for u in units.values()} == {""}
    assert units["d"].model == "m"


def test_a_compaction_that_names_nothing_follows_what_stands_before_it() -> None:
    story = "a: user go\nb<a: M1 hi\nc: boundary\nd<c: user summary\ne<d: M2 x\nf: boundary\ng<f: user again"
    units = tree(story)
    assert units["f"].resumes is units["M2"]
    assert {u.branch for u in units.values()} == {""}


def test_entries_of_other_kinds_are_links() -> None:
    units = tree("a: user go\nb<a: M1 hi\nn<b: note\nm<n: note\nc<m: user more\nd<c: M2 x")
    assert before(units["M2"]) == "u:go a:hi u:more"


def test_an_entry_whose_parent_was_lost_follows_what_stands_before_it() -> None:
    units = tree("a: user go\nb<a: M1 hi\nd<lost: user more\ne<d: M2 x")
    assert before(units["M2"]) == "u:go a:hi u:more"


def test_sub_agents_are_conversations_of_their_own() -> None:
    story = (
        "a: user go\nb<a: M1 call=1\n*s: user one\n*t<s: S1 x\n*v: user two\n*w<v: S2 y\nc<b: user result=1\nd<c: M2 z"
    )
    units = tree(story)
    assert before(units["S1"]) == "u:one"
    assert before(units["S2"]) == "u:two"
    assert before(units["M2"]) == "u:go a:1 u:1"
    assert len({u.conversation for u in units.values()}) == 3
    assert {u.branch for u in units.values()} == {""}
    assert {u.first.uuid for u in newest(units.values()).values()} == {"t", "w", "d"}


def test_a_ring_of_parents_is_cut() -> None:
    units = tree("a<c: user one\nb<a: M1 x\nc<b: user two\nd<c: M2 y\nz<z: user self")
    assert before(units["M2"]).count(":") <= 3
    assert len(units) == 5


def test_a_long_session_is_linear() -> None:
    lines = ["u0: user go"]
    for n in range(1, 3_000):
        lines += [f"a{n}<u{n - 1}: M{n} call={n}", f"u{n}<a{n}: user result={n}"]
    units = units_of(entries("\n".join(lines)))
    assert units[-1].after and len(units) == 3_000


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcdefgh"),
            st.sampled_from(["", *"abcdefghx"]),
            st.sampled_from(
                ["user hi", "user result=1", "M1 call=1", "M1 call=2", "M2 x", "boundary a", "note", "M3 think"]
            ),
            st.booleans(),
        ),
        max_size=14,
    )
)
def test_no_tree_is_too_strange(lines: list[tuple[str, str, str, bool]]) -> None:
    found = entries("\n".join(f"{'*' * aside}{uuid}<{parent}: {what}" for uuid, parent, what, aside in lines))
    units = units_of(found)
    held = [e.uuid for u in units for e in (*u.entries, *u.answers)]
    assert sorted(held) == sorted(e.uuid for e in found)
    for unit in units:
        assert unit.after is None or loads(b"[" + unit.after.messages() + b"]")
