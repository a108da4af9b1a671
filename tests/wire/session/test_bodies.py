"""A body is stored as pieces, most of them known from the body before it, and read back byte for byte."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest
from workbench.wire.jsontext import JsonIndex
from workbench.wire.session import SessionWriter, exchanges_of, pieces, store, untrusted_sqlite
from workbench.wire.session.bodies import BodyStore, whole


def element(dice: random.Random) -> object:
    text = "".join(dice.choices('ab ,"]}{[\\é0', k=dice.choice((0, 3, 900))))
    return dice.choice((text, {"role": "user", "content": text}, [text, {}], dice.randrange(10**6), None))


def body(dice: random.Random, messages: list[object]) -> bytes:
    members = {"messages": messages, "system": [element(random.Random(1)) for _ in range(3)], "x": "y" * 4200}
    if dice.random() < 0.8:
        members |= {"model": f"m-{dice.randrange(3)}", "tools": [element(random.Random(n)) for n in range(9)]}
    separators = dice.choice(((",", ":"), (", ", ": "), (" ,\n", " : ")))
    return json.dumps(members, separators=separators, ensure_ascii=dice.random() < 0.5).encode()


def edited(dice: random.Random, text: bytes) -> bytes:
    at = dice.randrange(len(text))
    return text[:at] + dice.choice((b"", b"3", b'"', b'],"messages":[', b"}")) + text[at + dice.randrange(3) :]


def model_of(text: bytes) -> object:
    index = JsonIndex(text)
    span = index.span("/model")
    return json.loads(index.text[slice(*span)]) if span else None


@given(st.integers(0, 2**40))
def test_any_sequence_of_bodies_is_read_back(seed: int) -> None:
    dice, messages = random.Random(seed), list[object]()
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(untrusted_sqlite.schema())
        bodies = BodyStore(db)
        for _ in range(8):
            messages += [element(dice) for _ in range(dice.randrange(4))]
            if messages and dice.random() < 0.2:
                del messages[dice.randrange(len(messages)) :]
            text = body(dice, messages)
            is_valid = dice.random() < 0.7
            text = text if is_valid else edited(dice, text)
            cut = bodies.cut(text)
            if is_valid:
                assert cut.model() == model_of(text)
            (ids,) = db.execute("SELECT pieces FROM body WHERE id = ?", (bodies.store(cut),)).fetchone()
            rows = [db.execute("SELECT size, data FROM piece WHERE id = ?", (n,)) for n in pieces.unpack_ids(ids)]
            assert b"".join(pieces.expand(data, size) for row in rows for size, data in row) == text


def conversation(turns: int) -> list[bytes]:
    dice = random.Random(4)
    messages = [{"role": "user", "content": "".join(dice.choices("abcd ", k=700))} for _ in range(turns)]
    tools = [{"name": f"tool {n}", "description": "d" * 300} for n in range(20)]
    return [json.dumps({"messages": messages[:n], "tools": tools, "model": "m"}).encode() for n in range(9, turns)]


def request(number: int, text: bytes) -> Exchange:
    return Exchange(f"e{number}", HttpRequest("POST", "https://a.example/v1/messages", Headers(), Body(text)))


def test_only_new_pieces_are_looked_up() -> None:
    asked = list[str]()
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(untrusted_sqlite.schema())
        bodies = BodyStore(db)
        texts = conversation(60)
        bodies.store(bodies.cut(texts[0]))
        db.set_trace_callback(asked.append)
        for text in texts[1:]:
            bodies.store(bodies.cut(text))
    assert sum("FROM piece" in line for line in asked) <= 2 * len(texts), "a new message, and perhaps what is around"


def test_pieces_of_an_undone_transaction_are_written_again(tmp_path: Path) -> None:
    path, texts = tmp_path / "s.wb", conversation(40)
    with SessionWriter(path) as writer:
        writer.append(request(0, texts[0]))
        with pytest.raises(RuntimeError), writer.together():
            writer.append(request(1, texts[1]))
            raise RuntimeError("the disk is full")
        for n, text in enumerate(texts[2:], 2):
            writer.append(request(n, text))
    assert store.fsck(path).problems == ()
    with closing(store.open_session(path)) as session:
        written = [each.request.body.raw for each in exchanges_of(session) if each.request]
    assert written == [texts[0], *texts[2:]]


def test_a_body_of_several_lists_has_alternating_pieces() -> None:
    (text,) = conversation(10)
    cut = pieces.cut(JsonIndex(text))
    assert b"".join(cut) == text
    assert [json.loads(piece)["role"] for piece in cut[1:18:2]] == ["user"] * 9
    assert whole(b"").pieces == []
