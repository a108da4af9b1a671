"""``workbench export``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from tests.planted import KINDS
from tests.wire.test_planted import private
from workbench.errors import LocalProtocolError
from workbench.formats import exporters
from workbench.formats.exporters import ExportProof, ExportRun, as_pytest
from workbench.wire.exchange import Body, Exchange, Headers, HttpRequest, HttpResponse
from workbench.wire.redaction import Redactor
from workbench.wire.session import store

EXAMPLE = SESSIONS / "deepseek-reasoning-lost.jsonl"


def test_one_request_as_curl(run: Run) -> None:
    done = run("export", EXAMPLE, "--as", "curl", "--exchange", 2)
    assert done.status == 0
    assert done.out.startswith("curl --globoff")
    assert "https://api.deepseek.com/chat/completions" in done.out
    assert done.out.endswith("}'\n")
    assert done.err == "workbench: exchange 2: no key was recorded: add the header with $DEEPSEEK_API_KEY\n"


def test_every_request_into_a_file(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "requests.sh"
    assert run("export", EXAMPLE, "--as", "curl", "-o", out).status == 0
    written = out.read_text(encoding="utf-8")
    assert written.count("curl --globoff") == 2
    again = run("export", EXAMPLE, "--as", "curl", "-o", out, "--exchange", 1)
    assert again.status == 2 and "requests.sh already exists" in again.err
    assert out.read_text(encoding="utf-8") == written
    assert run("export", EXAMPLE, "--as", "curl", "-o", out, "--exchange", 1, "--force").status == 0
    assert out.read_text(encoding="utf-8").count("curl --globoff") == 1


def test_what_cannot_be_written_is_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = HttpRequest("POST", "/v1/x", Headers((("a b", "1"),)), Body(b"{}"))
    store.save((Exchange("1", HttpRequest("GET", "ftp://x/\x1b[2J")), Exchange("2", good)), path)
    done = run("export", path, "--as", "curl")
    assert done.status == 1
    assert done.out.startswith("curl ") and done.out.count("curl") == 1
    assert "exchange 1: the URL is not an HTTP URL" in done.err
    assert "exchange 2: the host was not recorded: set BASE_URL" in done.err
    assert "HTTP does not allow: 'a b'" in done.err
    assert "\x1b" not in done.out + done.err


def test_some_exchanges(run: Run, tmp_path: Path) -> None:
    counts = {"1": 1, "1-2": 2, "2,1": 2, "2": 1}
    for wanted, count in counts.items():
        assert run("export", EXAMPLE, "--as", "curl", "--exchange", wanted).out.count("curl --globoff") == count
    both = run("export", EXAMPLE, "--as", "curl", "--exchange", 1, "--exchange", 2)
    assert both.out.count("curl --globoff") == 2
    for wrong in ("0", "two", "2-9", "-1", "1,,2"):
        done = run("export", EXAMPLE, "--as", "curl", f"--exchange={wrong}")
        assert done.status == 2 and "exchange" in done.err and not done.out


def test_our_own_forms(run: Run, tmp_path: Path) -> None:
    shown = run("export", EXAMPLE, "--as", "text", "--exchange", 2)
    assert shown.out.startswith('{"workbench": "session"') and len(shown.out.splitlines()) == 2
    assert "give a file name with -o OUT" in run("export", EXAMPLE, "--as", "session").err
    out = tmp_path / "s.wb"
    assert run("export", EXAMPLE, "--as", "session", "-o", out) == (0, "", "")
    assert out.read_bytes().startswith(b"SQLite format 3")
    again = json.loads(run("check", out, "--format", "json").out)["files"][0]
    assert [len(again["exchanges"]), [f["rule"] for f in again["findings"]]] == [2, ["reasoning.missing"]]


def test_json(run: Run, tmp_path: Path) -> None:
    shown = json.loads(run("export", EXAMPLE, "--as", "curl", "--exchange", 2, "--format", "json").out)
    assert shown["text"].startswith("curl ") and shown["output"] is None and shown["files"] == []
    assert shown["notes"] == ["exchange 2: no key was recorded: add the header with $DEEPSEEK_API_KEY"]
    out = tmp_path / "a.sh"
    written = json.loads(run("export", EXAMPLE, "--as", "curl", "-o", out, "--format", "json").out)
    assert (written["text"], written["files"], written["proof"]) == (None, [str(out)], None)


def test_a_test_is_written_and_tried(run: Run, tmp_path: Path) -> None:
    """In truth, in processes of its own; everything else about it is tested without running it."""
    fixed, out = tmp_path / "fixed.jsonl", tmp_path / "test"
    assert run("check", EXAMPLE, "--fix", "-o", fixed).status == 0
    done = run("export", fixed, "--as", "pytest", "--broken", EXAMPLE, "--redact", "-o", out)
    assert done.status == 0, done
    assert "red   on broken.jsonl: 2 of 4 tests fail" in done.out
    assert "reasoning.missing" in done.out
    assert "green on transcript.jsonl: 4 tests pass" in done.out
    assert "broken: request 2 of broken.jsonl" in done.err
    assert "hidden ones" in fixed.read_text(encoding="utf-8")
    assert not [path for path in out.iterdir() if path.is_file() and "hidden ones" in path.read_text(encoding="utf-8")]


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[ExportProof]:
    """What the test comes to when it is tried."""
    proofs = [ExportProof((ExportRun("broken", 2, 2, ("test_a: no",)), ExportRun("fixed", 4)))]
    monkeypatch.setattr(as_pytest, "prove", lambda folders: proofs)
    return proofs


def test_what_proves_nothing_is_said_and_left(run: Run, tmp_path: Path, tried: list[ExportProof]) -> None:
    fixed, out = tmp_path / "fixed.jsonl", tmp_path / "test"
    run("check", EXAMPLE, "--fix", "-o", fixed)
    tried[:] = [ExportProof((ExportRun("broken", 4), ExportRun("fixed", 4)), "the test passes on the broken request")]
    done = run("export", fixed, "--as", "pytest", "-o", out, "--format", "json")
    assert done.status == 1
    why = "the test passes on the broken request"
    assert done.err.endswith(f"{out} is not a valid test ({why}); the folder is kept for inspection\n")
    proof = json.loads(done.out)["proof"]
    assert proof["holds"] is False and [r["on"] for r in proof["runs"]] == ["broken", "fixed"]
    assert (out / "transcript.jsonl").is_file()


def test_a_folder_is_replaced_only_when_that_is_said(run: Run, tmp_path: Path, tried: list[ExportProof]) -> None:
    fixed, out = tmp_path / "fixed.jsonl", tmp_path / "test"
    run("check", EXAMPLE, "--fix", "-o", fixed)
    assert run("export", fixed, "--as", "pytest", "-o", out).status == 0
    (out / "mine.py").write_text("", encoding="utf-8")
    assert "exists and is not empty" in run("export", fixed, "--as", "pytest", "-o", out).err
    again = run("export", fixed, "--as", "pytest", "--broken", EXAMPLE, "-o", out, "--force")
    assert again.status == 0
    assert sorted(path.name.partition("_missing")[0] for path in out.iterdir()) == [
        "broken.jsonl", "mine.py", "test_reasoning", "transcript.jsonl",
    ]  # fmt: skip
    inside = run("export", out / "transcript.jsonl", "--as", "pytest", "-o", out, "--force")
    assert inside.status == 2 and "is an input file" in inside.err


def test_what_is_refused_is_no_test(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "test"
    done = run("export", EXAMPLE, "--as", "pytest", "-o", out)
    assert done.status == 1 and done.out == "" and not out.exists()
    assert "exchange 2 is refused by deepseek: reasoning.missing at /messages/1" in done.err
    assert done.err.count("\n") == 1


def test_every_form_is_told_in_the_help(run: Run) -> None:
    told = run("export", "--help").out
    assert [name for name in exporters.names() if f"\n  {name} " not in told] == []


def test_usage(run: Run, tmp_path: Path) -> None:
    assert run("export", EXAMPLE).status == 2
    assert run("export", EXAMPLE, "--as", "papyrus").status == 2
    assert run("export", EXAMPLE, "--as", "curl", "--exchange", 99).status == 2
    assert "pytest is a folder" in run("export", EXAMPLE, "--as", "pytest").err
    assert "--broken needs" in run("export", EXAMPLE, "--as", "curl", "--broken", EXAMPLE).err
    assert "is a folder" in run("export", EXAMPLE, "--as", "text", "-o", tmp_path).err
    assert run("export", EXAMPLE, "--as", "curl", "-o", tmp_path / "no" / "where").status == 4
    assert run("export", EXAMPLE, "--as", "curl", "--provider", "nobody").status == 2


def with_secrets(path: Path) -> Path:
    """A session whose tool result holds every kind of secret, in the plain."""
    dump = "\n".join(f"SERVICE_{n}_API_KEY={secret}" for n, secret in enumerate(KINDS.values()))
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": f"{dump}\nmy grandmother is Amelia"}]}
    url = "https://api.openai.com/v1/chat/completions"
    head = Headers((("content-type", "application/json"),))
    request = HttpRequest("POST", url, head, Body(json.dumps(body).encode()))
    answer = {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": dump}}]}
    response = HttpResponse(200, head, Body(json.dumps(answer).encode()))
    store.save((Exchange("1", request, response),), path, _Blind(), form=store.TEXT)
    return path


class _Blind(Redactor):
    def exchange(self, exchange: Exchange) -> Exchange:
        return exchange


@pytest.mark.parametrize("form", [name for name in exporters.names() if exporters.load(name).SUFFIX])
def test_no_kind_of_secret_is_in_any_form_and_what_is_private_stays_so(form: str, run: Run, tmp_path: Path) -> None:
    source = with_secrets(tmp_path / "s.jsonl")
    source.chmod(0o600)
    for more in ((), ("--redact",)):
        out = tmp_path / f"out{len(more)}"
        done = run("export", source, "--as", form, "-o", out, *more)
        assert done.status == 0, done.err
        assert out.stat().st_mode & 0o777 == 0o600
        text = out.read_bytes()
        whole = store.open_session(out).exchange(0).request.body.raw if form == "session" else text  # type: ignore[union-attr]
        assert not [kind for kind, secret in KINDS.items() if private(secret).encode() in whole]
        assert b"Amelia" not in whole or not more
    source.chmod(0o644)
    assert run("export", source, "--as", form, "-o", out, "--force").status == 0
    assert run("export", source, "--as", form, "-o", tmp_path / "open").status == 0
    assert (tmp_path / "open").stat().st_mode & 0o077


def test_a_finding_that_depends_on_a_secret_is_named_and_nothing_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_is_the_same(*_: object, **__: object) -> None:
        raise LocalProtocolError("they differ")

    monkeypatch.setattr("workbench.formats.exporters._private_text._same", none_is_the_same)
    found = [
        ("x.by-secret", "error", 0, "request", "/a", (), None),
        ("x.by-word", "error", 0, "request", "/b", (), None),
    ]
    told = iter([found, found[1:], []])
    monkeypatch.setattr("workbench.formats.exporters._private_text._findings", lambda inspector: next(told))
    out = tmp_path / "out.md"
    done = run("export", EXAMPLE, "--as", "md", "--redact", "-o", out)
    assert "/a: x.by-secret is no longer found after its secret is replaced" in done.err
    assert "/b: x.by-word is no longer found after private text is replaced" in done.err
    assert (done.status, out.exists()) == (1, True)
