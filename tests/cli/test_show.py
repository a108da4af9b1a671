"""``workbench show``: every view in both forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench.wire.digests import BodyDigest, to_meta
from workbench.wire.exchange import Exchange, HttpRequest, HttpResponse, Origin
from workbench.wire.session.store import save

BROKEN = SESSIONS / "deepseek-reasoning-lost.jsonl"
STREAM = SESSIONS / "anthropic-tool-loop.jsonl"


@pytest.mark.parametrize(
    ("path", "view", "exchange", "expected"),
    [
        (BROKEN, "wire", 2, ["> POST https://api.deepseek.com/chat/completions", "< 400", '"tool_call_id"']),
        (BROKEN, "ir", 1, ["reasoning (reasoning_content)", "tool call  'call_00_", "finish reason: tool_calls"]),
        (BROKEN, "closure", 2, ["● closed", "list_dir", "closed 1 of 1"]),
        (BROKEN, "reasoning", 2, ["from exchange 1", "missing", "required"]),
        (STREAM, "events", 1, ["message_start", "content_block_delta", "message_stop"]),
        (BROKEN, "events", 2, ["the response is not a stream"]),
        (STREAM, "reasoning", 2, ["✓ sent"]),
    ],
)
def test_text(run: Run, path: object, view: str, exchange: int, expected: list[str]) -> None:
    done = run("show", path, "--as", view, "--exchange", exchange)
    assert done.status == 0
    for words in expected:
        assert words in done.out


@pytest.mark.sampled(6)
@pytest.mark.parametrize("view", ["wire", "ir", "closure", "reasoning", "events"])
@pytest.mark.parametrize("path", sorted(SESSIONS.glob("*.jsonl")), ids=lambda p: p.stem)
def test_json_of_every_example(run: Run, path: object, view: str) -> None:
    answer = json.loads(run("show", path, "--as", view, "--format", "json").out)
    assert answer["as"] == view
    assert [e["index"] for e in answer["exchanges"]] == list(range(len(answer["exchanges"])))


def test_events_say_when_they_arrived(run: Run) -> None:
    events = json.loads(run("show", STREAM, "--as", "events", "--format", "json", "--exchange", 1).out)
    times = [e["at"] for e in events["exchanges"][0]["events"]]
    assert times[0] == pytest.approx(0.7)
    assert times == sorted(times)
    assert "0.700 s" in run("show", STREAM, "--as", "events", "--exchange", 1).out


def test_events_say_what_they_did_and_where_clients_depart(run: Run) -> None:
    reused = SESSIONS / "openai-parallel-index-reused.jsonl"
    view = json.loads(run("show", reused, "--as", "events", "--format", "json").out)["exchanges"][0]
    assert view["events"][2]["did"] == [
        "begins call search_docs",
        "adds 27 characters to arguments of call search_docs",
    ]
    assert view["events"][2]["anomalies"] == ["a second tool call starts at index 0, which is already in use"]
    by_name = {name: group for group in view["clients"] for name in group["names"]}
    assert by_name["langchain"]["agree"]
    assert by_name["openai-node"]["event"] == 2
    assert by_name["llm"]["raises"]["error"] == "JSONDecodeError"
    text = run("show", reused, "--as", "events").out
    assert "[begins call search_docs; adds 27 characters" in text
    assert "✓ vercel-openai-compatible, langchain  build this message" in text
    assert "≠ openai-python, naive loop  differ from event 2: call 1 `search_docs`: id `call_0call_1`" in text


@pytest.mark.parametrize("number", [0, 3, -1])
def test_an_exchange_that_is_not_there(run: Run, number: int) -> None:
    done = run("show", BROKEN, "--exchange", number)
    assert (done.status, done.err) == (
        2, f"workbench: no exchange {number} in {BROKEN.name}; choose 1 to 2\n",
    )  # fmt: skip


def test_pointers_of_the_ir_lead_to_the_bytes(run: Run) -> None:
    ir = json.loads(run("show", BROKEN, "--as", "ir", "--format", "json", "--exchange", 2).out)["exchanges"][0]
    (call,) = [p for m in ir["request"]["messages"] for p in m["parts"] if p["part"] == "ToolCallIR"]
    assert call["pointer"] == "/messages/1/tool_calls/0"
    assert call["input"] == {"path": "."}


def test_what_is_not_decoded_says_so(run: Run) -> None:
    request = {"method": "POST", "url": "https://x.example/v1/completions", "postData": {"text": '{"prompt": []}'}}
    entry = {"request": request, "response": {"status": 200, "content": {"text": "{}"}}}
    body = json.dumps({"log": {"version": "1.2", "creator": {}, "entries": [entry]}}).encode()
    for view in ("ir", "closure", "reasoning"):
        assert "not decoded: " in run("show", "--as", view, "-", stdin=body).out


@pytest.mark.parametrize("command", [("show",), ("check",), ("show", "--format", "json")])
def test_what_its_maker_says_of_a_session_is_said(run: Run, command: tuple[str, ...]) -> None:
    told = run(*command, BROKEN).out
    for words in ("The client keeps the call but", "https://github.com/", "constructed: requests"):
        assert words in told


@pytest.mark.parametrize("view", ["ir", "events"])
def test_the_frames_of_a_connection_are_listed(run: Run, view: str) -> None:
    frames = [("sent", {"type": "session.update"}), ("received", {"type": "session.updated", "x": "\x1b[31m"})]
    cassette = {"interactions": [{"kind": "message", "direction": d, "data": json.dumps(v)} for d, v in frames]}
    said = run("show", "--as", view, "-", stdin=json.dumps(cassette).encode()).out
    assert "openai-realtime" in said
    assert "0 > session.update  [" in said
    assert "1 < session.updated  [" in said
    assert "\x1b" not in said
    held = json.loads(run("show", "--as", "events", "--format", "json", "-", stdin=json.dumps(cassette).encode()).out)
    assert [f["type"] for f in held["exchanges"][0]["frames"]] == ["session.update", "session.updated"]


def test_binary_bodies_are_shown_in_hex(run: Run) -> None:
    call = {"request_sample": {"json": {"a": 1}, "raw": "\x00\x01\u00ff"}, "response_sample": {"json": {}, "raw": "x"}}
    said = run("show", "--as", "wire", "-", stdin=json.dumps({"interactions": [call]}).encode()).out
    assert "\x00" not in said


def test_what_passed_the_recorder_is_shown_in_words(run: Run, tmp_path: Path) -> None:
    passed = {"request": BodyDigest("a" * 64, "a" * 64, 1_234, 1_234), "response": BodyDigest("b" * 64, "c" * 64, 9, 4)}
    exchange = Exchange("1", HttpRequest(), HttpResponse(), origin=Origin.RECORDED, meta=to_meta(passed))
    save([exchange], tmp_path / "a.wb")
    lines = run("show", "--as", "wire", tmp_path / "a.wb").out.splitlines()
    assert f"  request received and forwarded: equal; SHA-256 {'a' * 64} of 1,234 bytes" in lines
    assert (
        f"  response received and forwarded: differ (9 bytes in, 4 bytes out); SHA-256 {'b' * 64} of 9 bytes" in lines
    )
    assert f"  response forwarded: SHA-256 {'c' * 64} of 4 bytes" in lines
    (shown,) = json.loads(run("show", "--as", "wire", "--format", "json", tmp_path / "a.wb").out)["exchanges"]
    assert shown["digests"]["request"]["equal"] and not shown["digests"]["response"]["equal"]
    assert (shown["digests"]["response"]["in"], shown["digests"]["response"]["bytes_out"]) == ("b" * 64, 4)


def test_the_story_of_a_session_as_text(run: Run) -> None:
    lines = run("show", BROKEN, "--as", "story").out.splitlines()
    call = next(n for n, line in enumerate(lines) if "◆ list_dir" in line)
    assert "README.md" in lines[call + 1]
    assert "after 2.0 s" in lines[call + 1]
    assert "reasoning.missing" in lines[-1]
    of_second = run("show", BROKEN, "--as", "story", "--exchange", 2).out
    assert "reasoning.missing" in of_second
    assert "Which files" not in of_second


def test_the_story_of_a_session_as_json(run: Run) -> None:
    answer = json.loads(run("show", BROKEN, "--as", "story", "--format", "json").out)
    kinds = [item["kind"] for item in answer["items"]]
    assert kinds == ["conversation", "message", "reasoning", "call", "result", "error", "finding"]
    result = answer["items"][4]
    assert (result["exchange"], result["side"], result["pointer"]) == (1, "request", "/messages/2")
    assert result["depth"] == answer["items"][3]["depth"] + 1
