"""``check --fix``: a repaired copy, and the original as it was."""

from __future__ import annotations

import copy
import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench.wire.session import store

OPEN_CALL = b"""{
  "model": "claude-sonnet-4-5",
  "max_tokens": 64,
  "tools": [{"name": "ls", "input_schema": {"type": "object"}}],
  "messages": [
    {"role": "user", "content": "look"},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}}]},
    {"role": "user", "content": [{"type": "text", "text": "stop \\u00e9"}]}
  ]
}
"""


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "request.json"
    path.write_bytes(OPEN_CALL)
    return path


def test_a_body_stays_a_body_and_every_other_byte_stays(run: Run, broken: Path) -> None:
    out = broken.with_name("out.json")
    done = run("check", broken, "--fix", "-o", out)
    assert done.status == 0, done
    assert "refuses -> accepts" in done.out
    assert "verified against the contract only" in done.out
    assert broken.read_bytes() == OPEN_CALL
    made = out.read_bytes()
    start, _, rest = OPEN_CALL.partition(b'"content": [{"type": "text"')
    assert made.startswith(start)
    assert made.endswith(b'{"type": "text"' + rest)
    added = made[len(start) : -len(rest)]
    assert b'"tool_use_id": "toolu_1"' in added and b'"is_error": true' in added
    assert run("check", out).status == 0


def test_json_says_what_was_done_and_is_about_the_copy(run: Run, broken: Path) -> None:
    out = broken.with_name("out.json")
    answer = json.loads(run("check", broken, "--fix", "-o", out, "--format", "json").out)
    (file,) = answer["files"]
    assert (file["path"], file["findings"]) == (str(out), [])
    (done,) = file["fixed"]
    assert (done["exchange"], done["before"], done["after"], done["remaining"]) == (0, "refuses", "accepts", [])
    (edit,) = done["repairs"][0]["edits"]
    assert (edit["op"], edit["pointer"], edit["old"]) == ("insert", "/messages/2/content/0", None)
    assert edit["bytes"][0] == edit["bytes"][1] == OPEN_CALL.index(b'{"type": "text"')


def test_a_session_stays_a_session_of_its_form(run: Run, tmp_path: Path) -> None:
    source, out = SESSIONS / "anthropic-thinking-trimmed.jsonl", tmp_path / "fixed.wb"
    before = source.read_bytes()
    done = run("check", source, "--fix", "-o", out)
    assert source.read_bytes() == before
    made, was = store.open_session(out), store.open_session(source)
    assert store.form_of(made) == store.form_of(was) == store.TEXT
    assert len(made) == len(was)
    edited = [n for n in range(len(made)) if made.exchange(n).request != was.exchange(n).request]
    assert edited
    for n in edited:
        exchange = made.exchange(n)
        assert "against the contract only" in exchange.note
        assert exchange.response is None or exchange.response.status < 400
    assert done.status == run("check", out).status == 0


WRONG = [
    (("--fix",), "-o OUT"),
    (("-o", "x.json"), "-o needs --fix"),
    (("--force",), "--force needs --fix"),
    (("--fix", "--force", "-o", "{itself}"), "never overwritten"),
    (("--fix", "-o", "{itself}"), "never overwritten"),
    (("--fix", "-o", "{folder}"), "not a regular file"),
    (("{itself}", "--fix", "-o", "x.json"), "one FILE"),
    (("--fix", "-o", "x.json", "--filter", "status:4xx"), "--filter"),
]


@pytest.mark.parametrize(("words", "complaint"), WRONG)
def test_what_cannot_be_done_is_said_in_one_line(
    run: Run, broken: Path, words: tuple[str, ...], complaint: str
) -> None:
    given = [w.format(itself=broken, folder=broken.parent) for w in words]
    done = run("check", broken, *given)
    assert (done.status, done.out) == (2, "")
    assert complaint in done.err and done.err.count("\n") == 1
    assert broken.read_bytes() == OPEN_CALL


def test_a_file_that_is_there_stays_unless_it_may_go(run: Run, broken: Path) -> None:
    out = broken.with_name("out.json")
    out.write_text("mine")
    refused = run("check", broken, "--fix", "-o", out)
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "out.json already exists; choose another name, or use --force" in refused.err and out.read_text() == "mine"
    assert run("check", broken, "--fix", "-o", out, "--force").status == 0
    assert b"is_error" in out.read_bytes()


def test_what_needs_no_repair_is_copied_and_said(run: Run, broken: Path) -> None:
    first, second = broken.with_name("first.json"), broken.with_name("second.json")
    run("check", broken, "--fix", "-o", first)
    done = run("check", first, "--fix", "-o", second)
    assert done.status == 0 and f"written: {second} (unchanged copy: nothing to repair)" in done.out
    assert second.read_bytes() == first.read_bytes()


def test_what_cannot_be_repaired_is_said_and_fails(run: Run, tmp_path: Path) -> None:
    path, out = tmp_path / "bad.json", tmp_path / "out.json"
    path.write_text('{"model": "claude-sonnet-4-5", "max_tokens": 5, "messages": []}')
    done = run("check", path, "--fix", "-o", out)
    assert done.status == run("check", path).status
    assert f"written: {out} (unchanged copy: nothing could be repaired)" in done.out
    assert out.read_bytes() == path.read_bytes()


def test_repairs_are_in_every_form_of_the_answer(run: Run, broken: Path) -> None:
    title = "add an error result for tool call 'toolu_1'"
    text = run("check", broken).out
    assert f"repair: {title} (verified against the contract only" in text
    (finding,) = json.loads(run("check", broken, "--format", "json").out)["files"][0]["findings"]
    assert finding["repairs"][0]["title"] == title
    assert all(r["verified"] for r in finding["repairs"])
    (result,) = json.loads(run("check", broken, "--format", "sarif").out)["runs"][0]["results"]
    assert result["properties"]["repairs"] == finding["repairs"]
    assert title in run("check", broken, "--format", "junit").out


ORPHANED = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 64,
    "tools": [{"name": "ls", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": f"toolu_{n}", "name": "ls", "input": {}} for n in "12"],
        },
        {"role": "user", "content": [{"type": "text", "text": "stop"}, {"type": "text", "text": "now"}]},
    ],
}
MOVED = ORPHANED | {
    "messages": [
        *ORPHANED["messages"][:2],
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "here"},
                *({"type": "tool_result", "tool_use_id": f"toolu_{n}", "content": n} for n in "12"),
            ],
        },
    ]
}


@pytest.mark.parametrize("body", [ORPHANED, MOVED], ids=["open", "behind text"])
def test_edits_fit_one_after_another(run: Run, tmp_path: Path, body: dict[str, Any]) -> None:
    """Whoever applies them needs no more than a list and a dictionary."""
    path = tmp_path / "request.json"
    path.write_text(json.dumps(body))
    findings = json.loads(run("check", path, "--format", "json").out)["files"][0]["findings"]
    whole = [r for f in findings for r in f["repairs"] if r["verified"]]
    assert any(len(r["edits"]) > 1 for r in whole)
    for repair in whole:
        path.write_text(json.dumps(after(body, repair["edits"])))
        assert run("check", path).status == 0, repair["title"]


def after(body: Any, edits: list[dict[str, Any]]) -> Any:
    made = copy.deepcopy(body)
    for edit in edits:
        *way, last = (int(s) if s.isdecimal() else s for s in edit["pointer"].split("/")[1:])
        inside = reduce(lambda value, step: value[step], way, made)
        assert edit["op"] == "insert" or inside[last] == edit["old"]
        if edit["op"] == "remove":
            del inside[last]
        elif edit["op"] == "insert" and isinstance(inside, list):
            inside.insert(last, edit["new"])
        else:
            inside[last] = edit["new"]
    return made
