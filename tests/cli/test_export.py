"""``workbench export``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import SESSIONS, Run
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest
from workbench.wire.session import store

EXAMPLE = SESSIONS / "deepseek-reasoning-lost.jsonl"


def test_one_request_as_curl(run: Run) -> None:
    done = run("export", EXAMPLE, "--as", "curl", "--exchange", 2)
    assert done.status == 0
    assert done.out.startswith("curl --globoff")
    assert "https://api.deepseek.com/chat/completions" in done.out
    assert done.out.endswith("}'\n")
    assert done.err == "workbench: exchange 2: no key was recorded: add the header that carries $DEEPSEEK_API_KEY\n"


def test_every_request_into_a_file(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "requests.sh"
    assert run("export", EXAMPLE, "--as", "curl", "-o", out).status == 0
    written = out.read_text(encoding="utf-8")
    assert written.count("curl --globoff") == 2
    again = run("export", EXAMPLE, "--as", "curl", "-o", out, "--exchange", 1)
    assert again.status == 2 and "requests.sh exists" in again.err and out.read_text(encoding="utf-8") == written
    assert run("export", EXAMPLE, "--as", "curl", "-o", out, "--exchange", 1, "--force").status == 0
    assert out.read_text(encoding="utf-8").count("curl --globoff") == 1


def test_what_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = HttpRequest("POST", "/v1/x", Headers((("a b", "1"),)), Body(b"{}"))
    store.save((Exchange("1", HttpRequest("GET", "ftp://x/\x1b[2J")), Exchange("2", good)), path)
    done = run("export", path, "--as", "curl")
    assert done.status == 1
    assert done.out.startswith("curl ") and done.out.count("curl") == 1
    assert "exchange 1: the URL is no HTTP URL" in done.err
    assert "exchange 2: the host was not recorded: set BASE_URL" in done.err
    assert "left out: 'a b'" in done.err
    assert "\x1b" not in done.out + done.err


def test_usage(run: Run) -> None:
    assert run("export", EXAMPLE).status == 2
    assert run("export", EXAMPLE, "--as", "html").status == 2
    assert run("export", EXAMPLE, "--as", "curl", "--exchange", 99).status == 2
