from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.formats.importers._files import MAX_DAMAGE, ImportDamage, first_objects, objects, split


def test_lines_end_at_lf_and_crlf_alone() -> None:
    text = '{"a": "\u2028\u0085"}\r\n\n  {"b": 1} \n{"c": 1}'.encode()
    assert [(n, len(raw)) for n, raw in split(text)] == [(1, 14), (3, 8), (4, 8)]


def test_a_byte_order_mark_is_skipped() -> None:
    assert [line.value for line in objects(b'\xef\xbb\xbf{"a":1}\n', ImportDamage())] == [{"a": 1}]


def test_torn_lines_are_named_and_the_rest_is_read() -> None:
    damage = ImportDamage()
    found = [line.number for line in objects(b'{"a":1}\n{"b":\n[1]\n{"c":1}\n{"d', damage)]
    assert found == [1, 4]
    told = damage.as_lines()
    assert [line.split(":")[0] for line in told] == ["line 2", "line 3", "line 5"]
    assert "not a JSON object" in told[1]


def test_damage_is_counted_when_it_is_too_much_to_tell() -> None:
    damage = ImportDamage()
    assert list(objects(b"x\n" * (MAX_DAMAGE + 1_000), damage)) == []
    assert len(damage.as_lines()) == MAX_DAMAGE + 1
    assert damage.as_lines()[-1].startswith("1,000 more")


def test_the_first_objects_leave_out_the_line_that_the_head_cuts() -> None:
    head = b'{"a":1}\n{"b":"' + b"x" * 65_536
    assert first_objects(head[:65_536]) == [{"a": 1}]
    assert first_objects(b'{"a":1}\n{"b":2}') == [{"a": 1}, {"b": 2}]
    assert first_objects(b'{\n "a": 1\n}') == []


@given(st.binary())
def test_no_bytes_are_too_strange(data: bytes) -> None:
    damage = ImportDamage()
    lines = list(objects(data, damage))
    assert len(lines) + len(damage.lines) + damage.more == len(list(split(data)))
