"""Verdicts that ``check`` keeps: a file that is the same is not inspected again, and nothing else changes."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench.cli._check import files_check
from workbench.config import cache_files, resources
from workbench.library import program_digest, verdict_store

FORMATS = ("text", "json", "sarif", "junit")
LOST = "anthropic-parallel-result-lost.jsonl"


@pytest.fixture
def inspected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Paths of the files that were inspected."""
    paths: list[str] = []
    inspect = files_check.inspect_file

    def note(path: str, *args: object, **options: object) -> object:
        paths.append(path)
        return inspect(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(files_check, "inspect_file", note)
    return paths


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return Path(shutil.copy(SESSIONS / LOST, tmp_path))


def buckets() -> list[Path]:
    return sorted(resources.cache_folder().glob("verdicts-*"))


def test_the_second_check_says_the_same_without_an_inspection(run: Run, inspected: list[str]) -> None:
    files = sorted(map(str, SESSIONS.glob("*.jsonl")))
    first = {how: run("check", "--no-cache", "--format", how, *files) for how in FORMATS}
    run("check", *files)
    inspected.clear()
    for how in FORMATS:
        assert run("check", "--format", how, *files) == first[how]
    assert not inspected
    assert run("check", "--fail-on", "warning", *files).status == 1


def test_recordings_of_others_read_the_same(run: Run, recordings: Path, inspected: list[str]) -> None:
    files = [str(path) for path in sorted(recordings.rglob("*")) if path.is_file() and path.stat().st_size < 60_000][
        ::9
    ]
    first = run("check", "--no-cache", "--format", "json", *files)
    run("check", *files)
    before = len(inspected)
    assert run("check", "--format", "json", *files) == first
    assert len(inspected) - before < len(files) / 4  # errors, and those of which a part is elsewhere, are read again


def grow(path: Path) -> None:
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")


def keep_the_time(path: Path) -> None:
    was = path.stat()
    text = path.read_text()
    path.write_text(text.replace("claude-sonnet", "claude-sonmet"))
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


def begin_a_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").write_bytes(b"not in the file yet")


@pytest.mark.parametrize("change", [grow, keep_the_time, begin_a_log])
def test_a_file_that_changed_is_inspected(
    change: Callable[[Path], None], file: Path, run: Run, inspected: list[str]
) -> None:
    run("check", str(file))
    change(file)
    run("check", str(file))
    assert len(inspected) == 2


@pytest.mark.parametrize(
    "options", [("--provider", "openrouter"), ("--protocol", "anthropic-messages"), ("--filter", "status:4xx")]
)
def test_other_options_are_another_verdict(
    options: tuple[str, str], file: Path, run: Run, inspected: list[str]
) -> None:
    run("check", str(file))
    with_options = run("check", "--format", "json", str(file), *options)
    assert len(inspected) == 2
    assert run("check", "--format", "json", str(file), *options) == with_options
    assert len(inspected) == 2


def test_own_contracts_and_another_program_are_other_verdicts(
    file: Path, run: Run, inspected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("check", str(file))
    own = resources.own_folder("profiles")
    own.mkdir(parents=True)
    shutil.copy(resources.shipped_profiles()["mistral"], own / "mine.yaml")
    run("check", str(file))
    assert len(inspected) == 2
    monkeypatch.setattr(program_digest, "_program_files", lambda: "a later version")
    run("check", str(file))
    assert len(inspected) == 3


def test_nothing_is_read_or_kept_where_it_is_not_wanted(file: Path, run: Run, inspected: list[str]) -> None:
    for _ in range(2):
        run("check", "--no-cache", str(file))
    assert not buckets()
    run("check", str(file))
    run("check", "--no-cache", str(file))
    assert len(inspected) == 4


def test_a_verdict_is_for_the_user_alone_and_in_the_cache_alone(file: Path, run: Run) -> None:
    run("check", str(file))
    assert [stat.S_IMODE(path.stat().st_mode) for path in buckets()] == [0o600]
    assert [path.name for path in file.parent.iterdir()] == [LOST]
    assert file.read_bytes() == (SESSIONS / LOST).read_bytes()


def test_a_credential_is_not_kept(tmp_path: Path, run: Run, inspected: list[str]) -> None:
    secret = "sk-ant-api03-" + "aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5z" * 2
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": f"my key is {secret}"}]}
    path = tmp_path / "body.json"
    path.write_text(json.dumps(body))
    for _ in range(2):
        assert "secret.in-body" in run("check", str(path)).out
    assert len(inspected) == 2
    assert not buckets()


def cut(data: bytes) -> bytes:
    return data[:-7]


def empty(data: bytes) -> bytes:
    return b""


def change_the_verdict(data: bytes) -> bytes:
    return data[:-20] + bytes((data[-20] ^ 1,)) + data[-19:]


def change_the_key(data: bytes) -> bytes:
    return data[:25] + bytes((data[25] ^ 1,)) + data[26:]


def lengthen(data: bytes) -> bytes:
    return data[:69] + b"\xff\xff\xff\xff" + data[73:]


def put_something_else(data: bytes) -> bytes:
    return os.urandom(len(data))


SPOILED = (cut, empty, change_the_verdict, change_the_key, lengthen, put_something_else)


@pytest.mark.parametrize("spoil", SPOILED)
def test_what_was_cut_or_changed_is_no_verdict(
    spoil: Callable[[bytes], bytes], file: Path, run: Run, inspected: list[str]
) -> None:
    first = run("check", str(file))
    (bucket,) = buckets()
    bucket.write_bytes(spoil(bucket.read_bytes()))
    assert run("check", str(file)) == first
    assert len(inspected) == 2
    assert run("check", str(file)) == first
    assert len(inspected) == 2


@pytest.mark.parametrize("text", ["", "{}", '["tuple",1,2]', '["Inspection","n"]', '["tuple",["Inspection","n",5],5]'])
def test_a_verdict_of_another_shape_is_none(text: str, file: Path, run: Run, inspected: list[str]) -> None:
    first = run("check", str(file))
    (bucket,) = buckets()
    (key, _), *_ = verdict_store._records(bucket.read_bytes())
    cache_files.write(bucket.name, verdict_store._bucket({key: verdict_store.zlib.compress(text.encode())}))
    assert run("check", str(file)) == first
    assert len(inspected) == 2


def test_what_others_can_write_is_not_read(file: Path, run: Run, inspected: list[str]) -> None:
    run("check", str(file))
    buckets()[0].chmod(0o666)
    run("check", str(file))
    assert len(inspected) == 2


def test_the_verdicts_kept_first_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = {bytes([n]) * 32: bytes(200) for n in range(10)}
    monkeypatch.setattr(verdict_store, "MOST_OF_BUCKET", 1000)
    data = verdict_store._bucket(verdicts)
    assert len(data) <= 1000
    assert list(dict(verdict_store._records(data))) == [bytes([n]) * 32 for n in (7, 8, 9)]


def test_a_large_verdict_is_not_kept(file: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_store, "MOST_BYTES", 100)
    run("check", str(file))
    assert not buckets()


def test_a_cache_that_cannot_be_written_changes_nothing(file: Path, run: Run, own_home: Path) -> None:
    first = run("check", "--no-cache", str(file))
    shutil.rmtree(own_home / ".cache")
    (own_home / ".cache").write_text("a file in place of the folder")
    assert run("check", str(file)) == first


def test_files_of_a_folder_are_kept_as_found(tmp_path: Path, run: Run, inspected: list[str]) -> None:
    for name in (LOST, "ollama-call-in-text.jsonl"):
        shutil.copy(SESSIONS / name, tmp_path)
    (tmp_path / "notes.md").write_text("nothing")
    first = run("check", str(tmp_path))
    assert run("check", str(tmp_path)) == first
    assert [Path(path).name for path in inspected].count("notes.md") == 2
    assert len(inspected) == 4
