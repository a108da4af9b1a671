"""``open_input``: detection by content, one clear line for what cannot be read."""

from __future__ import annotations

import gzip
import io
import os
import shutil
from pathlib import Path

import pytest
import zstandard

from workbench import plugins
from workbench.errors import UnreadableInput
from workbench.formats import importers
from workbench.formats.importers import open_input
from workbench.wire.session import exchanges_of, store

FORMATS = [
    ("request.json", "JSON body", 1),
    ("response.json", "JSON body", 1),
    ("error.json", "JSON body", 1),
    ("messages.sse", "event stream", 1),
    ("model-text.txt", "model text", 1),
    ("chat.chunks.txt", "JSON Lines", 1),
    ("requests.jsonl", "JSON Lines", 2),
    ("ollama.ndjson", "JSON Lines", 1),
    ("vcrpy.yaml", "VCR cassette", 2),
    ("parsed.yaml", "VCR cassette", 1),
    ("go.yaml", "VCR cassette", 1),
    ("r.yml", "VCR cassette", 1),
    ("ruby.yml", "VCR cassette", 2),
    ("cassette.json", "VCR cassette", 1),
    ("browser.har", "HAR archive", 6),
    ("claude-code.jsonl", "Claude Code session", 7),
    ("claude-web.json", "Claude Code session", 2),
    ("claude-trace.jsonl", "claude-trace log", 2),
]


@pytest.mark.parametrize(("file", "title", "count"), FORMATS)
def test_content_decides_and_not_the_name(data: Path, tmp_path: Path, file: str, title: str, count: int) -> None:
    misleading = tmp_path / "holiday.png"
    shutil.copyfile(data / file, misleading)
    session = open_input(str(misleading))
    assert (session.format, len(session), session.name) == (title, count, "holiday.png")  # type: ignore[attr-defined]
    assert len(session.summaries()) == count


@pytest.mark.parametrize(("file", "title", "count"), FORMATS)
def test_standard_input_reads_the_same(data: Path, file: str, title: str, count: int) -> None:
    session = open_input("-", stdin=io.BytesIO((data / file).read_bytes()))
    by_path = open_input(str(data / file))
    assert list(exchanges_of(session)) == list(exchanges_of(by_path))
    assert session.name == "standard input"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("file", ["browser.har", "request.json", "claude-code.jsonl"])
def test_compressed_files_open_as_what_they_hold(data: Path, tmp_path: Path, file: str, pack) -> None:
    packed = tmp_path / file
    packed.write_bytes(pack((data / file).read_bytes()))
    assert list(exchanges_of(open_input(str(packed)))) == list(exchanges_of(open_input(str(data / file))))


@pytest.mark.parametrize("form", ["session.sqlite", "session.jsonl"])
def test_own_sessions_open_from_a_file_a_pipe_and_compressed(data: Path, tmp_path: Path, form: str) -> None:
    path = tmp_path / form
    original = list(exchanges_of(open_input(str(data / "vcrpy.yaml"))))
    store.save(original, path)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    opened = [open_input(str(path)), open_input(str(packed)), open_input("-", stdin=io.BytesIO(path.read_bytes()))]
    for session in opened:
        assert [e.id for e in exchanges_of(session)] == [e.id for e in original]
        session.close()


DEEP_LIST = b"[" * 10_000 + b"]" * 10_000
DEEP_BODY = b'{"model":"m","messages":' + b'[{"a":' * 10_000 + b"1" + b"}]" * 10_000 + b"}"
BOMB = b"interactions:\n- &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
    b"- &%c [%s]\n" % (98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(9)
)

REFUSED = [
    ("empty", b"", "the file is empty"),
    ("blank", b" \n\t\n", "the file is empty"),
    ("only a byte order mark", b"\xef\xbb\xbf", "the file is empty"),
    ("cut body", b'{"model": "m", "messages": [{"role": "us', "JSON body"),
    ("cut body, line", b'{"model": "m",\n "messages": [\n  {"role": "us', "line 3"),
    ("deep list", DEEP_LIST, "nested deeper"),
    ("deep body", DEEP_BODY, "nested deeper"),
    ("other JSON", b'{"name": "demo", "version": "1.0.0", "private": true}', "neither a request nor a response"),
    ("list of numbers", b"[[1, 2], [3]]", "no request or response"),
    ("JSON array", b'["x"]', "a JSON array"),
    ("alias bomb", BOMB, "nodes"),
    ("broken YAML", b"interactions:\n- request: {\n  body: 'x\n", "VCR cassette"),
    ("no list", b"interactions: !!python/object/apply:os.system ['true']\nx: 1\n", "has no interaction"),
    ("object tag", b"interactions: !!python/object/new:os.system {a: b}\n", "no list of interactions"),
    ("empty cassette", b"interactions: []\n", "has no interaction"),
    ("HAR without entries", b'{"log": {"version": "1.2"}}', "/log/entries"),
    ("cut HAR", b'{"log": {"entries": [{"request": {', "HAR archive"),
    ("Latin-1 text", "caf\u00e9 au lait".encode("latin-1"), "not UTF-8 text: line 1, byte 3"),
    ("UTF-16 text", "hello".encode("utf-16"), "UTF-16 text"),
    ("binary", bytes(range(256)), "unknown binary format"),
    ("cut gzip", gzip.compress(b'{"model": "m", "messages": []}' * 50)[:40], "gzip"),
    ("corrupt zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 40, "zstd"),
    ("zip", b"PK\x03\x04rest of it", "a zip archive"),
    ("foreign SQLite", b"SQLite format 3\x00" + b"\0" * 200, "Workbench session"),
    ("newer session", b'{"workbench": "session", "version": 99}\n', "newer version"),
    (
        "transcript without talk",
        b'{"type":"summary","summary":"x","leafUuid":"y"}\n',
        "the file contains no conversation entry",
    ),
    ("cut loglines", b'{"loglines": [{"type": "user", ', "Claude Code session"),
    ("bad lines only", b'{"a": 1}\n{"b": \n{"c"\n', "line 2"),
]


@pytest.mark.parametrize(("content", "reason"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(UnreadableInput) as caught:
        open_input(str(path))
    line = str(caught.value)
    assert reason in line
    assert line.startswith(str(path))
    assert "\n" not in line
    assert len(line) < len(str(path)) + 1_000


def test_a_missing_file_a_folder_and_an_impossible_name(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    for path, reason in [
        (str(tmp_path / "gone"), "no such file"),
        (str(file / "below"), "no such file"),
        (str(tmp_path), "a folder"),
        ("a\0b", "not a file name"),
        ("x" * 5_000, "not a file name"),
    ]:
        with pytest.raises(UnreadableInput, match=reason):
            open_input(path)


def test_a_file_that_may_not_be_read_is_an_io_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")

    def refuse(*args: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(PermissionError):
        open_input(str(file))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are a thing of POSIX")
def test_a_pipe_opens(data: Path, tmp_path: Path) -> None:
    """``workbench check <(command)`` hands over a path that can be read once and has no size."""
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=((data / "browser.har").read_bytes(),))
    writer.start()
    session = open_input(str(pipe))
    writer.join()
    assert len(session) == 6


def test_a_last_resort_does_not_hide_a_better_claim() -> None:
    """Cut JSON is readable as text, and that would pass a broken recording off as something said."""
    with pytest.raises(UnreadableInput, match="JSON body"):
        open_input("-", stdin=io.BytesIO(b'{"id": "x", "choices": [{'))


def test_a_broken_call_that_a_model_wrote_is_text() -> None:
    text = b'{"name": "get_weather", "arguments": {"city": "Paris"}'
    session = open_input("-", stdin=io.BytesIO(text))
    response = session.exchange(0).response
    assert response and response.body.raw == text
    assert session.exchange(0).note == "model text"


def test_many_megabytes_on_one_line_open(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b'{"model":"m","messages":[{"role":"user","content":"' + b"a" * 34_000_000 + b'"}]}')
    assert open_input(str(path)).summaries()[0].request_bytes > 34_000_000
    path.write_bytes(b"a" * 12_000_000)
    assert open_input(str(path)).summaries()[0].response_bytes == 12_000_000


def test_every_importer_says_what_it_is() -> None:
    titles = set()
    for name in plugins.names(importers.__name__):
        importer = importers.load(name)
        assert importer.NAME.replace("-", "_") in (name, name.removeprefix("workbench_"))
        assert importer.sniff(b"") == 0.0 or name == "model_text"
        titles.add(importer.TITLE)
    assert len(titles) == len(plugins.names(importers.__name__))
