"""Session files: both forms hold everything, convert without loss, and survive what happens to files."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import SessionFormatError
from workbench.wire.exchange import (
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    Redaction,
    State,
)
from workbench.wire.session import exchanges_of, sqlite, store, text, writer

FORMS = (".jsonl", ".wb")


def history(turns: int) -> bytes:
    messages = [{"role": "user", "content": f"turn {n} " + "words " * 60} for n in range(turns)]
    return json.dumps({"model": "m-1", "tools": [{"name": "t" * 50}], "messages": messages}).encode()


RICH = Exchange(
    id="ex-1",
    request=HttpRequest(
        "POST",
        "https://api.example.com/v1/messages?beta=true",
        Headers((("Host", "api.example.com"), ("X-Dup", "1"), ("x-dup", "2"), ("latin", "caf\u00e9"))),
        Body(history(30), chunks=(Chunk(4000, 0.001), Chunk(len(history(30)), 0.25))),
        "HTTP/1.1",
    ),
    response=HttpResponse(
        200,
        Headers((("content-type", "text/event-stream"),)),
        Body(b"event: x\r\ndata: {}\r\n\r\n", note="n", is_raw=False, original_length=9, original_digest="ab"),
        "OK",
        "HTTP/1.1",
        (Redaction("body", 1, 2, "bearer"),),
    ),
    state=State.ABORTED,
    origin=Origin.RESENT,
    started_at=1_790_000_000.125,
    duration=1.5,
    hop="gateway",
    parent="ex-0",
    branch="what if",
    client="agent/1.0",
    note="a note",
    meta={"n": 1},
)
BINARY = Exchange("ex-2", HttpRequest("GET", "/"), HttpResponse(503, body=Body(b"\xff\x00\x1b[2J", encoding="br")))
SOCKET = Exchange(
    "ex-3",
    HttpRequest("GET", "wss://x.example/v1/realtime"),
    kind=ExchangeKind.WEBSOCKET,
    state=State.INCOMPLETE,
    frames=(Frame("sent", "text", b'{"a": 1}', 0.5), Frame("received", "binary", b"\x80", None)),
)
EVERY = (RICH, BINARY, SOCKET, Exchange("ex-4"))


def contents(path: Path) -> list[Exchange]:
    session = store.open_session(path)
    try:
        return list(exchanges_of(session))
    finally:
        session.close()


def write(path: Path, exchanges: Sequence[Exchange]) -> Path:
    (text if path.suffix == ".jsonl" else writer).write(exchanges, path)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_everything_comes_back(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"s{form}", EVERY)
    assert contents(path) == list(EVERY)
    report = store.fsck(path)
    assert (report.exchanges, report.problems) == (4, ())


@pytest.mark.parametrize("half", ["\ud800", "caf\u00e9 \udfff", "\udcc3\udca9"])
@pytest.mark.parametrize("form", FORMS)
def test_half_a_character_comes_back_wherever_it_stands(form: str, half: str, tmp_path: Path) -> None:
    body = Body(b"{}", half, note=half, original_digest=half)
    exchange = Exchange(
        half,
        HttpRequest(half, half, Headers(((half, half),)), body, half),
        HttpResponse(200, Headers((("content-type", half),)), body, half, half),
        hop=half, parent=half, branch=half, client=half, note=half,
        frames=(Frame(half, half, b"x"),), meta={half: [half]},
    )  # fmt: skip
    path = write(tmp_path / f"s{form}", [exchange])
    assert contents(path) == [exchange]
    assert store.fsck(path).problems == ()
    with closing(store.open_session(path)) as session:
        assert [(s.id, s.url, s.content_type) for s in session.summaries()] == [(half, half, half)]


def test_half_a_character_in_a_text_body_is_its_three_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [Exchange("a", HttpRequest(body=Body(b"hi there")))])
    path.write_text(path.read_text().replace("hi there", "hi \\ud800"))
    assert [e.request and e.request.body.raw for e in contents(path)] == [b"hi \xed\xa0\x80"]


@pytest.mark.parametrize("form", FORMS)
def test_the_list_says_of_each_exchange_what_is_known_without_its_body(form: str, tmp_path: Path) -> None:
    with closing(store.open_session(write(tmp_path / f"s{form}", [RICH, Exchange("none")]))) as session:
        first, second = session.summaries()
    size = len(history(30))
    assert (first.index, first.id, first.method, first.url) == (0, "ex-1", "POST", RICH.request and RICH.request.url)
    assert (first.status, first.state, first.content_type) == (200, State.ABORTED, "text/event-stream")
    assert (first.request_bytes, first.response_bytes) == (size, 22)
    assert first.model == ("m-1" if form == ".wb" else None), "a text session is not read for its list"
    assert (second.index, second.id, second.method, second.url, second.status) == (1, "none", "", "", None)
    assert (second.request_bytes, second.response_bytes, second.model, second.content_type) == (0, 0, None, "")


def test_a_line_without_what_every_exchange_has_says_what_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [Exchange("a"), Exchange("b")])
    head, first, second = path.read_text().splitlines()
    nameless = {key: value for key, value in json.loads(first).items() if key != "id"}
    path.write_text("\n".join((head, json.dumps(nameless), second)))
    with closing(store.open_session(path)) as session:
        assert [e.id for e in exchanges_of(session)] == ["b"]
        assert "not an exchange: 'id' is missing" in session.damage[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"parent": {}},
        {"response": {"status": 1e30, "body": {"text": ""}}},
        {"response": {"body": {"text": "", "original_length": "x"}}},
    ],
)
def test_values_that_no_exchange_has_leave_their_line_out(changed: dict[str, object], tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [Exchange("a"), Exchange("b")])
    head, first, second = path.read_text().splitlines()
    path.write_text("\n".join((head, json.dumps(json.loads(first) | changed), second)))
    with closing(store.open_session(path)) as session:
        assert [e.id for e in exchanges_of(session)] == ["b"]
        assert session.damage[0].startswith("line 2 is damaged")


def test_the_forms_convert_into_each_other_without_loss(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", EVERY)
    second = write(tmp_path / "b.wb", contents(first))
    third = write(tmp_path / "c.jsonl", contents(second))
    assert third.read_bytes() == first.read_bytes()


bodies = st.builds(
    Body,
    raw=st.binary(max_size=200) | st.integers(0, 40).map(history) | st.text(max_size=80).map(lambda t: t.encode()),
    encoding=st.sampled_from(["", "gzip", "br"]),
    chunks=st.lists(st.builds(Chunk, st.integers(0, 2**40), st.floats(0, 1e6)), max_size=3).map(tuple),
)
headers = st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=3).map(lambda i: Headers(tuple(i)))
printable = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def sessions(draw: st.DrawFn) -> list[Exchange]:
    return [
        Exchange(
            f"e{n}",
            draw(st.none() | st.builds(HttpRequest, printable, printable, headers, bodies)),
            draw(st.none() | st.builds(HttpResponse, st.integers(100, 999), headers, bodies, printable)),
            started_at=draw(st.none() | st.floats(0, 4e9)),
            note=draw(printable),
        )
        for n in range(draw(st.integers(0, 4)))
    ]


@given(sessions())
@settings(max_examples=40, deadline=None)
def test_any_session_survives_both_forms(tmp_path_factory: pytest.TempPathFactory, exchanges: list[Exchange]) -> None:
    folder = tmp_path_factory.mktemp("any")
    for form in FORMS:
        assert contents(write(folder / f"s{form}", exchanges)) == exchanges


def test_a_history_that_repeats_is_stored_once(tmp_path: Path) -> None:
    exchanges = [Exchange(f"e{n}", HttpRequest(body=Body(history(n)))) for n in range(1, 300)]
    path = write(tmp_path / "s.wb", exchanges)
    raw = sum(len(e.request.body.raw) for e in exchanges if e.request)
    assert path.stat().st_size < raw / 20
    assert contents(path) == exchanges


def test_the_list_reads_no_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "s.wb", EVERY)
    session = store.open_session(path)
    monkeypatch.setattr(sqlite.SqliteSession, "_piece", lambda *_: pytest.fail("a piece was read"))
    rows = session.summaries()
    session.close()
    assert [r.id for r in rows] == ["ex-1", "ex-2", "ex-3", "ex-4"]
    assert (rows[0].model, rows[0].request_bytes, rows[1].status) == ("m-1", len(history(30)), 503)


@pytest.mark.parametrize("model", [b'"\\ud800x"', b'"\xff"', b'"a\nb"', b'"\\q"', b"[[", b'"a\\u0000b"'])
def test_no_body_is_too_odd_to_be_written(model: bytes, tmp_path: Path) -> None:
    raw = b'{"model":' + model + b"}"
    path = write(tmp_path / "odd.wb", [Exchange("1", HttpRequest(body=Body(raw)))])
    with closing(store.open_session(path)) as session:
        assert [exchange.request and exchange.request.body.raw for exchange in exchanges_of(session)] == [raw]


def test_reading_leaves_no_side_files(tmp_path: Path) -> None:
    path = write(tmp_path / "s.wb", EVERY)
    os.chmod(tmp_path, stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert len(contents(path)) == 4
    finally:
        os.chmod(tmp_path, stat.S_IRWXU)
    assert [p.name for p in tmp_path.iterdir()] == ["s.wb"]


def test_a_writer_that_is_killed_loses_nothing_it_had_written(tmp_path: Path) -> None:
    path = tmp_path / "s.wb"
    script = (
        "import os, signal, sys, pathlib\n"
        "from workbench.wire.session.writer import SessionWriter\n"
        "from workbench.wire.exchange import *\n"
        "w = SessionWriter(pathlib.Path(sys.argv[1]))\n"
        "for n in range(20): w.append(Exchange(f'e{n}', HttpRequest(body=Body(b'{}' * n))))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)])
    assert done.returncode == -9
    assert [e.id for e in contents(path)] == [f"e{n}" for n in range(20)]
    with writer.SessionWriter(path) as more:
        assert more.append(Exchange("e20")) == 20
    assert len(contents(path)) == 21


@pytest.mark.parametrize("keep", [0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_torn_recording_opens_with_what_is_whole(tmp_path: Path, keep: float) -> None:
    exchanges = [Exchange(f"e{n}", HttpRequest(body=Body(os.urandom(3000)))) for n in range(60)]
    path = write(tmp_path / "s.wb", exchanges)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    report = store.fsck(path)
    assert report.problems
    assert not any("Traceback" in p for p in report.problems)
    whole = [e for e in contents(path) if e.state is not State.INCOMPLETE]
    assert all(e in exchanges for e in whole)


def test_a_flipped_byte_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "s.wb", [Exchange("e", HttpRequest(body=Body(os.urandom(5000))))])
    data = bytearray(path.read_bytes())
    at = data.rindex(contents(path)[0].request.body.raw[100:200])  # type: ignore[union-attr]
    data[at] ^= 1
    path.write_bytes(bytes(data))
    problems = store.fsck(path).problems
    assert any("digest" in p for p in problems)
    assert {p.partition(":")[0] for p in problems if p.startswith("exchange")} == {"exchange 1"}


def test_a_torn_text_session_names_the_line(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", EVERY)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[1], b"{oops", lines[2], lines[3][: len(lines[3]) // 2]]))
    session = store.open_session(path)
    assert len(session) == 2
    assert [d.split(" is damaged")[0] for d in session.damage] == ["line 3", "line 5"]


@pytest.mark.parametrize("form", FORMS)
def test_a_session_of_a_newer_version_says_update(form: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"s{form}", EVERY)
    if form == ".jsonl":
        path.write_bytes(path.read_bytes().replace(b'"version": 2', b'"version": 99', 1))
    else:
        with closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE meta SET value = '99' WHERE key = 'version'")
            db.commit()
    with pytest.raises(SessionFormatError, match=r"newer version.*update Workbench"):
        store.open_session(path)


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", b'{"workbench": "session"}', b"SQLite format 3\x00", b"SQLite format 3\x00" + b"\x00" * 5000],
)
def test_what_is_no_session_is_refused_in_one_line(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(data)
    with pytest.raises(SessionFormatError) as caught:
        store.open_session(path)
    assert "\n" not in str(caught.value)


def test_another_programs_database_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE t (x)")
        db.commit()
    before = path.read_bytes()
    with pytest.raises(SessionFormatError):
        writer.SessionWriter(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("form", FORMS)
def test_saving_redacts_and_is_all_or_nothing(form: str, tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "Ab3d" * 20
    path = tmp_path / f"s{form}"
    secret = Exchange("e", HttpRequest(headers=Headers((("x-api-key", key),)), body=Body(key.encode())))
    written = store.save([secret], path)
    assert (written.exchanges, written.redactions) == (1, 2)
    assert key.encode() not in path.read_bytes()
    (kept,) = contents(path)
    assert kept.request and len(kept.request.redactions) == 2

    def broken() -> object:
        yield secret
        raise OSError(28, "No space left on device")

    before = path.read_bytes()
    with pytest.raises(OSError, match="No space"):
        store.save(broken(), path)  # type: ignore[arg-type]
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.wb"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="not a file; choose a file name"):
        store.save((), pipe)
    assert pipe.is_fifo()
