from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.library.samples import entries, put
from tests.tool_hops import lost_structured
from tests.tui import samples
from workbench.config import resources
from workbench.library import session_summary
from workbench.library.session_summary import describe, describe_file
from workbench.wire.session import store


def test_a_broken_session_tells_its_first_break() -> None:
    told = describe(samples.example(samples.LOST_RESULT))
    assert told
    assert (told.severity, told.verdict, told.exchanges) == ("error", "closure.missing-result", 3)
    assert told.text.startswith("exchange 3: ")
    assert told.origin.startswith("anthropic · claude")
    assert told.client
    for words in ("Two calls in one turn", "constructed after https://github.com/"):
        assert words in told.about


def test_a_healthy_session_says_so() -> None:
    told = describe(samples.example(samples.TOOL_LOOP))
    assert told
    assert (told.severity, told.verdict, told.is_clean) == ("", "no breaks", True)


def test_what_was_not_judged_is_not_called_clean() -> None:
    other = samples.session(samples.exchange({"prompt": "hi"}, {"id": "v1"}, url="https://h/v1/completions"))
    told = describe(other)
    assert told
    assert (told.verdict, told.is_clean) == ("partly checked", False)


def test_when_the_time_is_over_it_claims_no_more_than_it_saw() -> None:
    told = describe(samples.example(samples.TOOL_LOOP), seconds=-1)
    assert told
    assert (told.verdict, told.is_clean) == ("no breaks so far", False)
    assert told.text.startswith("no breaks in the first 1 of 2 exchanges")


def test_it_stops_when_nobody_wants_it() -> None:
    assert describe(samples.example(samples.TOOL_LOOP), lambda: True) is None


def test_an_empty_session_is_not_called_clean(tmp_path: Path) -> None:
    store.save((), tmp_path / "empty.wb")
    told = describe_file(tmp_path / "empty.wb")
    assert told
    assert (told.verdict, told.exchanges, told.is_clean) == ("no exchanges yet", 0, False)


def test_a_file_that_is_too_large_for_a_line_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_summary, "MOST_BYTES", 100)
    path = put(tmp_path / "a.jsonl", entries())
    told = describe_file(path)
    assert told
    assert told.verdict == "not read"
    example = samples.example(samples.LOST_RESULT)
    store.save((example.exchange(n) for n in range(3)), tmp_path / "a.wb")
    recorded = describe_file(tmp_path / "a.wb")
    assert recorded
    assert recorded.verdict == "closure.missing-result"


@pytest.mark.parametrize("name", ["gone", "folder", "pipe", "binary", "empty", "nul\0"])
def test_what_cannot_be_read_says_why(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name == "pipe":
        os.mkfifo(path)
    elif name in ("binary", "empty"):
        path.write_bytes(b"\0\1\2" if name == "binary" else b"")
    told = describe_file(path)
    assert told
    assert told.verdict in ("cannot be read", "not read")
    assert told.text
    assert not told.is_clean


def test_every_example_is_told() -> None:
    for path in resources.folder("sessions").glob("*.jsonl"):
        told = describe_file(path)
        assert told
        assert told.exchanges
        assert told.origin


def test_tool_servers_are_named() -> None:
    told = describe(lost_structured().session())
    assert told and told.origin == "anthropic · claude-sonnet-4-5 · MCP sky, maps"
