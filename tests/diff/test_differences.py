"""Two bodies against one another: ranges that rebuild the second, and what happened in words."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.diff import ItemChangeKind, compare
from workbench.diff.meaning import ValueDifference

HISTORY = [
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm\n"}, {"type": "tool_use", "id": "a"}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "done"}]},
]
BODY = {"model": "m", "max_tokens": 10, "tools": [{"name": "read"}, {"name": "write"}], "messages": HISTORY}


def body(**changes: object) -> bytes:
    return json.dumps({**BODY, **changes}, ensure_ascii=False).encode()


def edited(edit: object) -> bytes:
    plain = copy.deepcopy(BODY)
    edit(plain)  # type: ignore[operator]
    return json.dumps(plain).encode()


def trim(plain: dict) -> None:
    plain["messages"][1]["content"][0]["thinking"] = "hm"


def swap(plain: dict) -> None:
    plain["messages"] = [plain["messages"][1], plain["messages"][0], plain["messages"][2]]


CASES = {
    "the history grows": (
        body(messages=[*HISTORY, {"role": "assistant", "content": "ok"}]),
        [(ItemChangeKind.ADDED, None, "/messages/3", "assistant")],
    ),
    "a turn is dropped": (body(messages=HISTORY[1:]), [(ItemChangeKind.REMOVED, "/messages/0", None, "user")]),
    "a parameter is added": (body(temperature=0), [(ItemChangeKind.ADDED, None, "/temperature", "temperature")]),
    "a parameter is another": (
        body(max_tokens=20),
        [(ItemChangeKind.CHANGED, "/max_tokens", "/max_tokens", "max_tokens")],
    ),
    "a tool is gone": (body(tools=[{"name": "write"}]), [(ItemChangeKind.REMOVED, "/tools/0", None, "read")]),
    "a tool is declared otherwise": (
        body(tools=[{"name": "read", "strict": True}, {"name": "write"}]),
        [(ItemChangeKind.CHANGED, "/tools/0", "/tools/0", "read")],
    ),
    "thinking is trimmed": (edited(trim), [(ItemChangeKind.CHANGED, "/messages/1", "/messages/1", "assistant")]),
    "messages change places": (edited(swap), [(ItemChangeKind.MOVED, "/messages/1", "/messages/0", "assistant")]),
}


@pytest.mark.parametrize("name", CASES)
def test_what_happened_is_named(name: str) -> None:
    after, expected = CASES[name]
    found = compare(body(), after)
    assert [(c.kind, c.before, c.after, c.label) for c in found.changes] == expected


def test_the_trimmed_character_is_found() -> None:
    found = compare(body(), edited(trim))
    assert found.changes[0].details == (
        ValueDifference(ItemChangeKind.CHANGED, "/messages/1/content/0/thinking", "hm\n", "hm"),
    )
    (hunk,) = found.hunks
    assert found.before[slice(*hunk.before)] == b"\\n"
    assert found.after[slice(*hunk.after)] == b""
    assert found.first == hunk.before[0]


SPELLINGS = {
    "whitespace": json.dumps(BODY, separators=(",", ":")).encode(),
    "key order": body(messages=[dict(reversed(m.items())) for m in HISTORY]),
    "escapes": body().replace(b"Fix", b"\\u0046ix"),
    "number spelling": body().replace(b"10", b"1e1"),
}


@pytest.mark.parametrize("how", SPELLINGS)
def test_the_same_meaning_in_other_bytes_is_called_so(how: str) -> None:
    found = compare(body(), SPELLINGS[how])
    assert found.changes
    assert {c.kind for c in found.changes} == {ItemChangeKind.RESPELLED}
    assert {s for c in found.changes for s in c.spelling} == {how}


def test_true_and_one_are_two_values() -> None:
    assert [c.kind for c in compare(b'{"stream": true}', b'{"stream": 1}').changes] == [ItemChangeKind.CHANGED]


def test_what_is_no_json_is_compared_as_bytes() -> None:
    found = compare(b"hello world", b"hello there")
    assert (found.is_read, found.changes, found.first) == (False, (), 6)
    assert compare(b"x", b"x").first is None


def test_the_shared_beginning_is_a_share_of_the_second_body() -> None:
    assert compare(b"abcd", b"abxyzxyz").unchanged_share == 0.25
    assert compare(b"abcd", b"abcd").unchanged_share == 1.0
    assert compare(b"abcd", b"").unchanged_share == 1.0


scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab\u00e9\n"\\', max_size=4)
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from("abc"), v), max_leaves=6
)
bodies = st.fixed_dictionaries(
    {}, optional={"messages": st.lists(values, max_size=5), "model": values, "n": values}
).map(lambda v: json.dumps(v).encode()) | st.binary(max_size=20)


@given(bodies, bodies)
def test_the_ranges_rebuild_the_second_body(before: bytes, after: bytes) -> None:
    found = compare(before, after)
    made, at = b"", 0
    for old, new in found.hunks:
        made += before[at : old[0]] + after[slice(*new)]
        at = old[1]
    assert made + before[at:] == after
    assert (found.first is None) == (not found.hunks) == (before == after)
    if found.is_read:
        assert bool(found.changes) or json.loads(before) == json.loads(after)
