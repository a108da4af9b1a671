"""What a session is known by: whatever form its file has, wherever it is, however far it has grown."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from workbench.formats.importers import open_input
from workbench.library import session_import
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse, State
from workbench.wire.session import MemorySession, exchanges_of, store
from workbench.wire.session.identity import file_name, former_ids, session_id
from workbench.wire.session.writer import SessionWriter

URL = "https://api.example.com/v1/messages"


def exchange(asked: bytes, answered: bytes | None = b"{}", *, at: float | None = 1_790_000_000.0) -> Exchange:
    response = None if answered is None else HttpResponse(200, body=Body(answered))
    state = State.INCOMPLETE if answered is None else State.COMPLETE
    return Exchange("0001", HttpRequest("POST", URL, body=Body(asked)), response, state=state, started_at=at)


def known_by(*exchanges: Exchange, name: str = "s") -> str:
    return session_id(MemorySession(name, exchanges))


def id_of(path: Path) -> str:
    with closing(store.open_session(path)) as session:
        return session_id(session)


def as_format_1(path: Path) -> None:
    """What an earlier version would have written."""
    if path.suffix == ".jsonl":
        head, rest = path.read_bytes().split(b"\n", 1)
        plain = {key: value for key, value in json.loads(head).items() if key != "id"} | {"version": 1}
        path.write_bytes(json.dumps(plain).encode() + b"\n" + rest)
        return
    with closing(sqlite3.connect(path)) as db:
        db.executescript("DELETE FROM meta WHERE key = 'identity'; UPDATE meta SET value = '1' WHERE key = 'version'")


@pytest.mark.parametrize("form", [".jsonl", ".wb"])
def test_every_session_that_is_begun_has_an_id_of_its_own(form: str, tmp_path: Path) -> None:
    one, other = tmp_path / f"one{form}", tmp_path / f"other{form}"
    for path in (one, other):
        store.save([exchange(b"{}")], path)
    assert id_of(one) != id_of(other)
    assert len(id_of(one)) == 32


@pytest.mark.parametrize("forms", [(".jsonl", ".wb", ".jsonl"), (".wb", ".jsonl", ".wb")])
def test_conversion_keeps_it(forms: tuple[str, ...], tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}{form}" for number, form in enumerate(forms)]
    store.save([exchange(b"{}")], paths[0])
    for source, out in pairwise(paths):
        with closing(store.open_session(source)) as session:
            session_import.save(session, out)
    assert len({id_of(path) for path in paths}) == 1


@pytest.mark.parametrize("form", [".jsonl", ".wb"])
def test_a_session_of_format_1_opens_and_keeps_its_id_when_it_is_converted(form: str, tmp_path: Path) -> None:
    path, out = tmp_path / f"old{form}", tmp_path / "new.wb"
    store.save([exchange(b'{"a": 1}')], path)
    as_format_1(path)
    with closing(store.open_session(path)) as session:
        assert session.id == ""
        derived = session_id(session)
        session_import.save(session, out)
    assert derived == known_by(exchange(b'{"a": 1}'))
    assert id_of(out) == derived
    assert not store.fsck(path).problems


def test_a_recording_of_format_1_keeps_its_id_when_more_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "old.wb"
    store.save([exchange(b"{}")], path)
    as_format_1(path)
    known = id_of(path)
    with SessionWriter(path) as writer:
        writer.append(replace(exchange(b"[]"), id="2"))
    assert id_of(path) == known
    report = store.fsck(path)
    assert (report.version, report.exchanges, report.problems) == (2, 2, ())


def test_a_recording_keeps_it_from_its_first_moment_on(tmp_path: Path) -> None:
    path = tmp_path / "live.wb"
    with SessionWriter(path) as writer, closing(store.open_session(path)) as session:
        known = session_id(session)
        assert known == writer.identity() != ""
        seq = writer.begin(exchange(b"{}", None))
        session.refresh()
        assert session_id(session) == known
        writer.finish(seq, exchange(b"{}"))
        session.refresh()
        assert session_id(session) == known
    shutil.copy(path, tmp_path / "copy.wb")
    assert id_of(tmp_path / "copy.wb") == known


def test_sessions_with_equal_ids_and_times_are_different_ones() -> None:
    one = exchange(b'{"model": "a"}', b'{"said": "x"}')
    others = [
        exchange(b'{"model": "b"}', b'{"said": "x"}'),
        exchange(b'{"model": "a"}', b'{"said": "y"}'),
        exchange(b'{"model": "a"}', b'{"said": "x"}', at=1_790_000_001.0),
        exchange(b'{"model": "a"}{"said"', b': "x"}'),
    ]
    assert len({known_by(first) for first in (one, *others)}) == 5
    assert known_by(one, others[0], name="renamed") == known_by(one)
    assert known_by() == ""


def test_an_answer_that_arrives_later_leaves_the_way_back() -> None:
    before, after = exchange(b"{}", None), exchange(b"{}")
    former = former_ids(MemorySession("s", (after,)))
    assert [f.is_certain for f in former if f.id == known_by(before)] == [True]


def test_examples_are_known_apart() -> None:
    paths = sorted((Path(__file__).parents[3] / "sessions").glob("*.jsonl"))
    assert len({id_of(path) for path in paths}) == len(paths) > 10


def test_an_exported_session_is_the_same_one(tmp_path: Path) -> None:
    har, out = tmp_path / "a.har", tmp_path / "a.wb"
    entry = {
        "startedDateTime": "2026-01-01T00:00:00Z",
        "request": {"method": "POST", "url": URL, "headers": [], "postData": {"text": "{}"}},
        "response": {"status": 200, "headers": [], "content": {"text": "{}"}},
    }
    har.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    with closing(open_input(str(har))) as session:
        session_import.save(session, out)
        assert id_of(out) == session_id(session) == known_by(*exchanges_of(session))


@pytest.mark.parametrize(
    "hostile", ["../../x", "a\0b", "x" * 999, 5, None, ["a"], "\u202ea", "'); DROP TABLE meta; --"]
)
def test_an_id_of_a_stranger_names_no_file_and_breaks_none(hostile: object, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    store.save([exchange(b"{}")], path)
    head, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(json.dumps(json.loads(head) | {"id": hostile}).encode() + b"\n" + rest)
    name = file_name(id_of(path))
    assert len(name) == 32
    assert name.isalnum()
    with closing(store.open_session(path)) as session:
        session_import.save(session, tmp_path / "a.wb")
    assert file_name(id_of(tmp_path / "a.wb")) == name
    assert not store.fsck(tmp_path / "a.wb").problems


def test_no_digest_of_a_secret_is_written(tmp_path: Path) -> None:
    """Whoever is given a redacted copy could test guesses at what was replaced."""
    secret = exchange(b'{"password": "hunter2", "key": "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAA"}')
    out = tmp_path / "a.wb"
    assert session_import.save(MemorySession("s", (secret,)), out).redactions
    assert id_of(out) != known_by(secret)
