"""``workbench check``: the contract that scripts depend on."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench.contracts import pages
from workbench.wire.session import store

BROKEN = SESSIONS / "deepseek-reasoning-lost.jsonl"
HEALTHY = SESSIONS / "anthropic-tool-loop.jsonl"

FINDING_KEYS = ["rule", "severity", "exchange", "last", "side", "pointer", "events", "bytes", "message", "evidence"]


def test_json_has_the_promised_shape(run: Run) -> None:
    done = run("check", "--format", "json", BROKEN)
    answer = json.loads(done.out)
    (file,) = answer["files"]
    assert done.status == 1
    assert list(answer) == ["version", "files", "errors"]
    assert list(file) == ["path", "protocol", "provider", "exchanges", "findings", "contradictions"]
    assert file["protocol"] == "openai-chat"
    assert [e["status"] for e in file["exchanges"]] == [200, 400]
    assert list(file["exchanges"][0]) == [
        "index", "protocol", "provider", "model", "status", "conversation", "hop",
    ]  # fmt: skip
    finding = next(f for f in file["findings"] if f["rule"] == "reasoning.missing")
    assert list(finding) == [*FINDING_KEYS, "source", "basis", "kind", "contradicts", "origin", "repairs"]
    assert (finding["exchange"], finding["side"], finding["pointer"]) == (1, "request", "/messages/1")


def test_a_session_of_tool_servers_alone_is_checked(run: Run, tmp_path: Path) -> None:
    for name, status in (("failing", 1), ("passing", 0)):
        file = tmp_path / f"{name}.wb"
        store.save(getattr(pages.page("mcp.output-schema"), name).session().exchanges, file)
        done = run("check", file)
        assert done.status == status
        assert f"{file} · 4 exchanges · only exchanges with tool servers\n" in done.out
        assert "not a model exchange" not in done.out
    assert "no findings in 4 exchanges" in done.out


def test_bytes_of_a_finding_are_the_node(run: Run) -> None:
    finding = json.loads(run("check", "--format", "json", BROKEN).out)["files"][0]["findings"][0]
    wire = json.loads(run("show", "--as", "wire", "--format", "json", "--exchange", 2, BROKEN).out)
    body = wire["exchanges"][0]["request"]["body"].encode()
    node = json.loads(body[slice(*finding["bytes"])])
    assert node == json.loads(body)["messages"][1]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["check", str(HEALTHY)], 0),
        (["check", str(BROKEN)], 1),
        (["check", str(HEALTHY), str(BROKEN)], 1),
        (["check", "no-such-file"], 2),
        (["check", str(BROKEN), "no-such-file"], 2),
        (["check"], 2),
        (["check", "--provider", "nobody", str(HEALTHY)], 2),
        (["check", "--protocol", "smoke-signals", str(HEALTHY)], 2),
        (["check", "--format", "yaml", str(HEALTHY)], 2),
        (["check", "-", "-"], 2),
    ],
    ids=lambda v: " ".join(Path(w).name for w in v) if isinstance(v, list) else None,
)
def test_exit_status(run: Run, words: list[str], status: int) -> None:
    done = run(*words)
    assert done.status == status
    assert "Traceback" not in done.out + done.err


def test_a_text_in_which_nothing_is_recognised_is_not_called_clean(run: Run) -> None:
    """Anything at all would pass: that a model wrote it is a claim, and nobody has made it."""
    text = b"The quick brown fox jumps over the lazy dog."
    done = run("check", "-", stdin=text)
    assert (done.status, " · text · " in done.out) == (3, True)
    assert "read as plain text" in done.out
    assert "for text that a model wrote, use --protocol text" in done.out
    for form in ("json", "sarif", "junit"):
        assert run("check", "--format", form, "-", stdin=text).status == 3
    claimed = run("check", "--protocol", "text", "-", stdin=text)
    assert (claimed.status, "no findings in 1 exchange" in claimed.out) == (0, True)


ERROR_TEXT = b"""Error code: 400 - {'error': {'message': "An assistant message with 'tool_calls' must be
followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages:
call_1", 'type': 'invalid_request_error'}}"""


def test_a_pasted_error_text_is_not_what_a_model_wrote(run: Run) -> None:
    done = run("check", "-", stdin=ERROR_TEXT)
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "the text looks like an error message" in done.err
    assert (
        "closure.missing-result), not like a model's response; look up the message with workbench explain 'TEXT'"
        in done.err
    )
    long = b"I looked into it at length. " * 400 + ERROR_TEXT
    assert run("check", "-", stdin=long).status == 3
    assert run("check", "--protocol", "text", "-", stdin=long).status == 0


def test_every_readable_file_is_answered_and_the_others_are_named(run: Run) -> None:
    done = run("check", "--format", "json", "no-such-file", HEALTHY, BROKEN)
    answer = json.loads(done.out)
    assert [Path(f["path"]).name for f in answer["files"]] == [HEALTHY.name, BROKEN.name]
    assert [e["path"] for e in answer["errors"]] == ["no-such-file"]
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "complaint"),
    [(["--provider", "nobody"], "nobody"), (["--protocol", "openai-completions"], "recognised, but this version")],
)
def test_a_wrong_name_is_said_once(run: Run, words: list[str], complaint: str) -> None:
    done = run("check", *words, HEALTHY, BROKEN)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert complaint in done.err


ANSWER = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
}


def two(first: object, second: object) -> bytes:
    """A HAR of two exchanges, of which the second is of a protocol that is not decoded."""
    entries = [
        {
            "request": {"method": "POST", "url": url, "headers": [], "postData": {"text": json.dumps(body)}},
            "response": {"status": 200, "headers": [], "content": {"text": json.dumps(ANSWER)}},
        }
        for url, body in (
            ("https://x.example/v1/chat/completions", first),
            ("https://x.example/v1/completions", second),
        )
    ]
    return json.dumps({"log": {"version": "1.2", "creator": {}, "entries": entries}}).encode()


def test_what_was_not_judged_is_not_called_clean(run: Run) -> None:
    chat = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hi"}]}
    har = two(chat, {"model": "gpt-4.1", "input": []})
    done = run("check", "-", stdin=har)
    assert done.status == 3
    assert "request.unread" in done.out and "1 file, 2 exchanges: 0 errors, 2 warnings" in done.out
    case = ET.fromstring(run("check", "--format", "junit", "-", stdin=har).out).findall("testsuite/testcase")
    assert [c.find("skipped") is not None for c in case] == [False, True]
    (log,) = json.loads(run("check", "--format", "sarif", "-", stdin=har).out)["runs"]
    assert not log["invocations"][0]["executionSuccessful"]


def test_many_findings_with_the_same_words_are_folded(run: Run) -> None:
    call = {"id": "", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    turn = [{"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "user", "content": "go on"}]
    body = json.dumps({"model": "gpt-4.1", "messages": [{"role": "user", "content": "x"}, *turn * 30]}).encode()
    done = run("check", "-", stdin=body)
    assert "more of this kind" in done.out
    assert len(done.out.splitlines()) < 60
    assert len(json.loads(run("check", "--format", "json", "-", stdin=body).out)["files"][0]["findings"]) > 30


def test_warnings_fail_only_when_asked(run: Run) -> None:
    usage = {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": 1}}
    call = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    chunk = {"id": "c", "object": "chat.completion.chunk"}
    deltas = [{"delta": {"tool_calls": [call]}, "index": 0, "finish_reason": None}]
    end = [{"delta": {}, "index": 0, "finish_reason": "tool_calls"}]
    lines = [chunk | {"choices": deltas}, chunk | {"choices": end}, usage]
    body = "".join(f"data: {json.dumps(v)}\n\n" for v in lines) + "data: [DONE]\n\n"
    assert run("check", "-", stdin=body.encode()).status == 0
    assert run("check", "--fail-on", "warning", "-", stdin=body.encode()).status == 1


def test_text_says_what_where_and_what_the_provider_answers(run: Run) -> None:
    out = run("check", BROKEN).out
    assert "✗ error   reasoning.missing" in out
    assert "exchange 2 · request · /messages/1 · bytes" in out
    assert "must be passed back" in out
    assert "contract deepseek:v4 (" in out


def test_of_several_faults_the_provider_names_one(run: Run) -> None:
    body = {"model": "claude-sonnet-4-5", "messages": [{"role": "usr", "content": "go"}, {"content": "go"}]}
    for form in ("text", "junit"):
        out = run("check", "--provider", "anthropic", "--format", form, "-", stdin=json.dumps(body).encode()).out
        assert out.count("provider error: ") == 1 and "provider error: max_tokens: Field required" in out
        assert out.count("would also be refused: ") == 2


def test_an_asked_for_provider_reads_its_own_protocols(run: Run) -> None:
    """Arguments as an object are Ollama's, and what names ids beside them is a broken body of another."""
    call = {"id": "call_1", "function": {"name": "x", "arguments": {"a": 1}}}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "1"}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": [call]}, result]
    body = json.dumps({"model": "gpt-4.1", "messages": messages}).encode()
    for asked in ((), ("--provider", "openai")):
        out = run("check", *asked, "-", stdin=body).out
        assert "openai-chat · contract openai" in out and "args.not-object" in out


def test_where_it_began_is_in_every_form(run: Run) -> None:
    path = SESSIONS / "anthropic-compaction-orphan.jsonl"
    (finding, *_) = json.loads(run("check", "--format", "json", path).out)["files"][0]["findings"]
    origin, place = finding["origin"], f"exchange {finding['origin']['exchange'] + 1}"
    assert list(origin) == ["exchange", "hop", "side", "pointer", "message"]
    here = "here" if origin["exchange"] == finding["exchange"] else f"in {place}"
    line = f"began {here} · {origin['side']} · {origin['pointer']}: {origin['message']}"
    assert line in run("check", path).out
    assert line in run("check", "--format", "junit", path).out
    (log,) = json.loads(run("check", "--format", "sarif", path).out)["runs"]
    (related,) = log["results"][0]["relatedLocations"]
    assert related["logicalLocations"][0]["fullyQualifiedName"] == f"{place}/request{origin['pointer']}"


def test_sarif(run: Run) -> None:
    (log,) = json.loads(run("check", "--format", "sarif", BROKEN, "no-such-file").out)["runs"]
    (result, *_) = log["results"]
    assert (result["ruleId"], result["level"]) == ("reasoning.missing", "error")
    assert log["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert not log["invocations"][0]["executionSuccessful"]


def test_junit(run: Run) -> None:
    root = ET.fromstring(run("check", "--format", "junit", BROKEN, "no-such-file").out)
    broken, missing = root.findall("testsuite")
    assert [broken.get(k) for k in ("tests", "failures")] == ["2", "1"]
    assert [c.find("failure") is not None for c in broken] == [False, True]
    assert missing.find("testcase/error") is not None


HOSTILE = "a\x1b]52;c;ZXZpbA==\x07\x7f\x9b31m\u202e[/b][@click=app.quit]\u200b\U000e0041"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("more", ["", "\ud800"], ids=["", "surrogate"])
@pytest.mark.parametrize("how", ["text", "json", "sarif", "junit"])
def test_hostile_text_never_reaches_the_terminal_raw(run: Run, how: str, more: str) -> None:
    hostile = HOSTILE + more
    call = {"id": hostile, "type": "function", "function": {"name": hostile, "arguments": hostile}}
    messages = [{"role": hostile, "content": hostile}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    orphan = {"role": "tool", "tool_call_id": hostile + "2", "content": hostile}
    body = json.dumps({"model": hostile, "messages": [*messages, orphan], "tools": []}).encode()
    done = run("check", "--format", how, "-", stdin=body)
    assert done.status == 1
    assert not [c for c in done.out + done.err if not c.isprintable() and c != "\n"]
    for view in ("wire", "ir", "closure", "reasoning", "events"):
        shown = run("show", "--as", view, "--format", "json" if how == "json" else "text", "-", stdin=body)
        assert shown.status == 0
        assert not [c for c in shown.out + shown.err if not c.isprintable() and c != "\n"]


def test_rules_that_broke_leave_no_clean_verdict(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.rules import content

    def broken(_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(content, "check", broken)
    done = run("check", HEALTHY)
    assert done.status == 3
    assert "program.rule-failed" in done.out
    assert "Traceback" not in done.out + done.err


@pytest.mark.parametrize(
    ("expression", "status", "findings"),
    [("status:400", 1, True), ("text~model status:400", 1, True), ("status:200 -rule:reasoning", 0, False)],
)
def test_a_filter_keeps_the_findings_of_exchanges_that_match(
    run: Run, expression: str, status: int, findings: bool
) -> None:
    done = run("check", "--format", "json", "--filter", expression, BROKEN)
    whole = json.loads(run("check", "--format", "json", BROKEN).out)["files"][0]
    (file,) = json.loads(done.out)["files"]
    assert done.status == status
    assert file["exchanges"] == whole["exchanges"]
    assert file["findings"] == (whole["findings"] if findings else [])


def test_what_is_wrong_with_a_filter_is_pointed_at(run: Run) -> None:
    done = run("check", "--filter", "a stauts:4", BROKEN)
    assert done.status == 2
    assert done.out == ""
    line, marks, words = done.err.splitlines()
    assert line == "  a stauts:4"
    assert marks == "    ^^^^^^"
    assert "did you mean status?" in words


ALONE = [
    ('{"error":{"message":"The model x is gone","code":"model_not_found"}}', "model-unknown", "/error/message"),
    ('{"message":"Input is too long for requested model."}', "context-length", "/message"),
    ('[{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}]', "rate-limit",
     "/error/message"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "pointer"), ALONE, ids=[r[1] for r in ALONE])
def test_an_error_body_alone_says_its_kind(run: Run, tmp_path: Path, body: str, kind: str, pointer: str) -> None:
    path = tmp_path / "error.json"
    path.write_text(body, encoding="utf-8")
    done = run("check", "--format", "json", path)
    (finding,) = json.loads(done.out)["files"][0]["findings"]
    assert (finding["rule"], finding["kind"], finding["pointer"]) == ("answer.error", kind, pointer)
    assert done.status == 3  # nothing tells whose it is: no chain was judged
