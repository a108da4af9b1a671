"""No change of a file, however strange, ends in anything but exchanges or one clear error."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config import safeyaml
from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input
from workbench.formats.importers._files import ImportDamage, objects
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of, store

FOLDER = Path(__file__).resolve().parents[2] / "data" / "importers"

STRANGE = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        5,
        10**30,
        1.5,
        float("inf"),
        "",
        "x",
        "\ud83d",
        "\x1b]8;;",
        [],
        {},
        [[]],
        [None],
        [1, 2],
        {"": None},
    ]
)
"""Values of every type, for places where another type is expected."""


def test_random_bytes_open_or_are_refused(tmp_path: Path) -> None:
    @given(st.binary(min_size=1, max_size=300) | st.text(min_size=1).map(lambda t: t.encode("utf-8", "replace")))
    @settings(max_examples=20, deadline=None)
    def check(data: bytes) -> None:
        consume(data)

    check()


@pytest.mark.parametrize("name", sorted(p.name for p in FOLDER.iterdir()))
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_a_cut_file_opens_in_part_or_is_refused(name: str, data: st.DataObject) -> None:
    whole = (FOLDER / name).read_bytes()
    consume(whole[: data.draw(st.integers(1, len(whole)))])


@pytest.mark.parametrize("name", sorted(p.name for p in FOLDER.iterdir() if p.suffix not in (".sse", ".txt")))
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_a_value_of_another_type_costs_no_more_than_its_exchange(name: str, data: st.DataObject) -> None:
    values = parsed(name)
    chosen = data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1, max_size=3))
    changed = [mutate(v, data) if n in chosen else v for n, v in enumerate(values)]
    consume(b"\n".join(dumps(v) for v in changed))


def parsed(name: str) -> list[Any]:
    """The values a fixture holds; cassettes as the JSON that they could be too."""
    content = (FOLDER / name).read_bytes()
    if name.endswith((".yaml", ".yml")):
        return [without_bytes(safeyaml.load(content, name=name))]
    if name.endswith((".jsonl", ".ndjson")):
        return [line.value for line in objects(content, ImportDamage())]
    return [loads(content)]


def without_bytes(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_bytes(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_bytes(v) for v in value]
    return value.decode("latin-1") if isinstance(value, bytes) else value


def mutate(value: Any, data: st.DataObject) -> Any:
    """A copy with one node, at any depth, replaced by something strange."""
    root = [copy.deepcopy(value)]
    holder: Any = root
    key: Any = 0
    while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.integers(0, 5)):
        holder = holder[key]
        key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else list(range(len(holder)))))
    holder[key] = data.draw(STRANGE)
    return root[0]


def consume(content: bytes) -> None:
    """Open, list and read everything, or be refused in one line."""
    try:
        session = open_input("-", stdin=io.BytesIO(content))
    except UnreadableInput as error:
        assert "\n" not in str(error)
        return
    rows = session.summaries()
    exchanges = list(exchanges_of(session))
    assert len(rows) == len(exchanges) == len({e.id for e in exchanges}) > 0
    assert all("\n" not in line and line for line in session.damage)
    session.close()


def test_whatever_was_opened_can_be_written(tmp_path: Path) -> None:
    for number, path in enumerate(sorted(FOLDER.iterdir())):
        for form in ("sqlite", "jsonl"):
            target = tmp_path / f"{number}.{form}"
            written = store.save(exchanges_of(open_input(str(path))), target)
            again = open_input(str(target))
            assert written.exchanges == len(again) == len(open_input(str(path)))
            again.close()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", sorted(p.name for p in FOLDER.iterdir() if p.suffix in (".json", ".jsonl")))
@pytest.mark.parametrize("deep", ["[" * 450 + "]" * 450, '{"a":' * 450 + "1" + "}" * 450], ids=["lists", "objects"])
def test_a_value_that_is_deep_costs_no_more_than_its_exchange(name: str, deep: str) -> None:
    """Wherever it stands: at every place of a fixture that holds a text or a number, one after the other."""
    values = parsed(name)
    places = [place for n, value in enumerate(values) for place in leaves(value, (n,))]
    for place in places[:: max(1, len(places) // 40)]:
        changed = copy.deepcopy(values)
        holder: Any = changed
        for step in place[:-1]:
            holder = holder[step]
        holder[place[-1]] = "\0deep"
        consume(b"\n".join(dumps(v) for v in changed).replace(b'"\\u0000deep"', deep.encode()))


def leaves(value: Any, at: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [place for key, inner in value.items() for place in leaves(inner, (*at, key))]
    if isinstance(value, list):
        return [place for n, inner in enumerate(value) for place in leaves(inner, (*at, n))]
    return [at]
