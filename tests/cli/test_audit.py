"""``workbench audit``: a gateway that it starts itself, in every form of its answer."""

from __future__ import annotations

import json
import socket
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import Run

ROOT = Path(__file__).resolve().parents[2]
CASES = ("--protocol", "openai-chat", "--case", "query", "key-order", "stream")


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _words(name: str, *options: str) -> list[str]:
    port = _free()
    started = (sys.executable, "-m", "tests.gateways", name, str(port), "{upstream}/v1")
    return ["audit", "--gateway", f"http://127.0.0.1:{port}", *CASES, *options, "--", *started]


@pytest.fixture(autouse=True)
def at_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_a_dirty_gateway_gets_a_score_card_and_a_session(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "audit.wb"
    done = run(*_words("drops-query", "--out", str(out)))
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0].endswith("3 cases, 2 passed unchanged")
    assert any(line.split() == ["✗", "path", "and", "method", "0", "of", "1", "query", "changed"] for line in lines)
    assert "  ✗ query changed /query (request)" in lines
    assert lines[-1].startswith("show the first one byte by byte: workbench compare ")

    compared = run("compare", str(out), "--format", "json")
    assert compared.status == 1
    pairs = json.loads(compared.out)["pairs"]
    assert [[d["kind"] for d in pair["damage"]] for pair in pairs] == [[], ["query changed"], []]
    assert b"sk-workbench-audit" not in out.read_bytes()

    again = run(*_words("clean", "--out", str(out)))
    assert (again.status, again.out) == (2, "")
    assert "already exists; choose another name, or use --force" in again.err


def test_the_same_as_json_and_junit(run: Run) -> None:
    done = run(*_words("sorts-keys", "--format", "json"))
    answer = json.loads(done.out)
    assert done.status == 1
    assert answer["protocols"] == [{"protocol": "openai-chat", "upstream": "openai-chat", "skipped": None}]
    assert {damage["kind"] for damage in answer["damages"]} == {"key order"}
    assert answer["damages"][0]["cases"][0]["case"] == "key-order"
    assert [case["passed"] for case in answer["cases"]] == [False, False, False]
    assert len(answer["themes"]) == 3

    done = run(*_words("drops-query", "--format", "junit"))
    suite = ET.fromstring(done.out)[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert [case.get("name") for case in suite] == ["key-order", "query", "stream"]


def test_places_that_are_alike_are_one_entry_and_other_cases_are_counted_apart(run: Run) -> None:
    lines = run(*_words("writes-json-anew", "--protocol", "anthropic-messages")).out.splitlines()
    spelling = next(line for line in lines if "spelling" in line)
    assert "0 of 2 " in spelling  # of either protocol
    assert spelling.endswith("(in 4 other cases)")
    assert sum(line.startswith("  ! whitespace") for line in lines) == 1
    assert not any(line.startswith("      also ,") for line in lines)


def test_what_fails_is_a_choice_and_a_clean_gateway_does_not(run: Run) -> None:
    assert run(*_words("sorts-keys", "--fail-on", "error")).status == 0
    done = run(*_words("clean"))
    assert (done.status, done.out.splitlines()[-1]) == (0, "nothing was changed, dropped, delayed or merged")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("--gateway", "http://127.0.0.1:1", "--port", "0"), 4, "nothing accepts connections at http://127.0.0.1:1"),
        (("--gateway", "http://127.0.0.1:1", "--", "/no/such"), 2, "command not found"),
        (("--gateway", "ftp://x"), 2, "is not the URL of a gateway"),
        (("--gateway", "http://x", "--protocol", "telnet"), 2, "'telnet' cannot be audited; available: anthropic-"),
        (("--gateway", "http://x", "--case", "nothing"), 2, "no case named 'nothing'"),
        (("--gateway", "http://x", "--header", "nothing"), 2, "--header needs NAME:VALUE"),
        (("--gateway", "http://x", "--key-variable", "NO_SUCH_KEY"), 2, "NO_SUCH_KEY is not set"),
        (("--gateway", "http://x", "--out", "/no/such/folder/a.wb"), 2, "no folder /no/such/folder"),
    ],
)
def test_what_cannot_be_audited_is_said_in_one_line(run: Run, words: tuple[str, ...], status: int, said: str) -> None:
    done = run("audit", *words)
    assert (done.status, done.out) == (status, "")
    assert said in done.err
    assert "Traceback" not in done.err
