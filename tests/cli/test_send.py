"""``workbench send``: what it says, what it sends, what it keeps, and how it ends."""

from __future__ import annotations

import gzip
import json
import os
import signal
import threading
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from tests.send.hostile import answer, hostile
from tests.send.test_unbound import SIGNED, history
from workbench.cli._send.send_report import LiveAnswer
from workbench.edits.branches import open_for
from workbench.formats.importers import open_input
from workbench.send.sending import BodyReceived, HeadReceived
from workbench.wire.exchange import Exchange, Headers, Origin, State
from workbench.wire.session import store

LOST = SESSIONS / "deepseek-reasoning-lost.jsonl"
LOOP = SESSIONS / "anthropic-tool-loop.jsonl"
URL = ("--as", "openai-chat")
SSE = "Content-Type: text/event-stream"
CHUNK = b'data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s}]}\n\n'
SAID = CHUNK % b'{"role":"assistant","content":"good \\u001b[31mmorning"}'
BOMB = gzip.compress(bytes(64 * 1024 * 1024 + 1), 1)
BODY = b'{"model":"m","messages":[{"role":"user","content":"hi"}]}'


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in os.environ if n.endswith("_API_KEY")]:
        monkeypatch.delenv(name)


def test_a_simulator_refuses_and_says_why(run: Run) -> None:
    done = run("send", LOST, "--target", "sim:deepseek")
    assert done.status == 1 and not done.err
    lines = done.out.splitlines()
    assert lines[0] == "POST sim:deepseek /v1/chat/completions"
    assert lines[1] == "  openai-chat · deepseek-v4-flash · 661 bytes · stream · no key"
    assert lines[2].startswith("  contract deepseek:v4: refuses with 400  reasoning.missing  /messages/1")
    assert lines[3].startswith("response: 400 · ")
    assert "  refused: The `reasoning_content` in the thinking mode must be passed back to the API." in lines
    assert lines[-1] == "recorded in the working session (shown in the app as a branch)"


def test_json_says_all_of_it(run: Run) -> None:
    done = run(
        "send", LOST, "--exchange", 1, "--target", "sim:deepseek", "--target", "sim:anthropic", "--format", "json"
    )
    told = json.loads(done.out)
    assert done.status == 0 and not done.err
    assert (told["path"], told["exchange"], told["protocol"]) == (str(LOST), 0, "openai-chat")
    assert told["recorded_in"] == "working session"
    own, other = told["sent"]
    assert (own["target"], own["protocol"], own["converted"], own["losses"]) == (
        "sim:deepseek",
        "openai-chat",
        False,
        [],
    )
    assert (own["status"], own["state"], own["attempts"], own["exit"]) == (200, "complete", 1, 0)
    assert own["before"]["verdict"] == "accepts" and own["before"]["contract"] == "deepseek:v4"
    assert [call["name"] for call in own["answer"]["calls"]] == ["list_dir"]
    assert own["answer"]["finish_reason"] == "tool_calls" and own["answer"]["reasoning"]
    assert [f["rule"] for f in own["findings"]] == ["closure.pending"]
    assert (other["protocol"], other["converted"]) == ("anthropic-messages", True)
    assert {loss["pointer"] for loss in other["losses"]} == {"", "/thinking/type"}


def test_without_a_name_the_longest_history_is_sent(run: Run) -> None:
    told = json.loads(run("send", LOST, "--target", "sim:generic", "--format", "json").out)
    assert told["exchange"] == 1


def test_what_is_sent_is_kept(run: Run, tmp_path: Path, own_home: Path) -> None:
    out = tmp_path / "sent.jsonl"
    words = ("send", LOST, "--exchange", 1, "--target", "sim:deepseek", "--target", "sim:generic", "--out", out)
    done = run(*words)
    assert done.status == 0 and done.out.endswith(f"recorded in {out}\n")
    kept = open_input(str(out))
    assert [s.origin for s in kept.summaries()][1:] == [Origin.RESENT, Origin.RESENT]
    root, first, second = (kept.exchange(n) for n in range(3))
    assert first.parent == second.parent == root.id and first.response and first.response.status == 200
    assert [e.meta["target"] for e in (first, second)] == ["sim:deepseek", "sim:generic"]
    again = run(*words)
    assert again.status == 2 and "exists" in again.err
    assert run(*words, "--force").status == 0
    assert not list(own_home.rglob("*.session"))
    assert run("send", LOST, "--target", "sim:generic").status == 0
    (beside,) = own_home.rglob("*.session")
    nodes = open_input(str(beside))
    assert nodes.exchange(len(nodes) - 1).origin is Origin.RESENT


def test_what_was_converted_is_not_edited_on(run: Run) -> None:
    assert run("send", LOST, "--exchange", 1, "--target", "sim:gemini").status == 0
    recorded = open_input(str(LOST))
    workspace = open_for(recorded)
    assert workspace.current(0) == workspace.root(0) and len(workspace.subtree(workspace.root(0))) == 3


def test_a_real_endpoint_is_asked_about(run: Run) -> None:
    with hostile(answer()) as server:
        done = run("send", LOST, "--target", server.url, *URL)
        assert done.status == 2 and not server.asked
        assert done.err == f"workbench: this sends to a real endpoint, {server.url}; add --yes to allow it\n"
        assert done.out.startswith(f"POST {server.url}/v1/chat/completions\n"), "it is shown what it would do"
        told = run("send", LOST, "--target", server.url, *URL, "--format", "json")
        assert (told.status, told.out) == (2, "") and not server.asked


def test_the_contract_of_a_url_can_be_named(run: Run) -> None:
    with hostile(answer(b'{"choices": []}')) as server:
        words = ("send", LOST, "--target", server.url, *URL, "--yes")
        assert "contract generic:deepseek: suspicious" in run(*words).out, (
            "the model's reasoning is missing, the host is nobody's"
        )
        assert "contract deepseek:v4: refuses" in run(*words, "--provider", "deepseek").out
        assert "contract generic: accepts" in run(*words, "--provider", "generic").out


def test_a_key_goes_there_and_stays_nowhere(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, out = "sk-live-0123456789abcdef", tmp_path / "sent.wb"
    body = b'{"choices": [{"message": {"role": "assistant", "content": "your key is %s"}}]}' % key.encode()
    with hostile(answer(body, "200 OK", f"X-Echo: {key}")) as server:
        words = ("send", LOST, "--target", server.url, *URL, "--key-variable", "MY_KEY", "--out", out)
        unset = run(*words, "--yes")
        assert unset.status == 2 and "MY_KEY is not set" in unset.err and not server.asked
        monkeypatch.setenv("MY_KEY", key)
        done = run(*words, "--yes", "--format", "json")
        assert server.heads[0]["authorization"] == f"Bearer {key}"
    assert done.status == 0 and json.loads(done.out)["sent"][0]["key_variable"] == "MY_KEY"
    assert key not in done.out + done.err and key.encode() not in out.read_bytes()
    assert key not in repr([open_input(str(out)).exchange(n) for n in range(2)])


def test_bytes_go_as_they_were_but_for_what_is_asked(run: Run, tmp_path: Path) -> None:
    odd = b'{ "model" :"m", "messages":[{"role":"user","content":"\\u00e9 `$x` \'\\""}] }'
    (tmp_path / "body.json").write_bytes(odd)
    with hostile(answer(b'{"choices": []}')) as server:
        run("send", tmp_path / "body.json", "--target", server.url, *URL, "--yes")
        run("send", "-", "--target", server.url, *URL, "--yes", "--model", "n", "--no-stream", stdin=odd)
    assert [body for _, body in server.asked] == [odd, odd.replace(b'"m"', b'"n"')]


def test_what_nobody_can_read_is_sent_on_purpose(run: Run) -> None:
    broken = b'{"model": "m", "messages": [\xff'
    with hostile(answer(b'{"error": {"message": "bad json"}}', "400 Bad Request")) as server:
        assert run("send", "-", "--target", "sim:openai", stdin=broken).status == 2, "nobody says what it is"
        done = run("send", "-", "--target", server.url, *URL, "--yes", stdin=broken)
    assert server.asked[0][1] == broken and done.status == 1
    assert "note: the body is sent unchanged:" in done.out and "refused: bad json" in done.out
    assert run("send", "-", "--target", "sim:openai", "--as", "openai-chat", stdin=broken).status == 1


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        (
            answer(b"", "302 Found", "Location: https://evil.example/x"),
            1,
            "redirect to evil.example not followed",
        ),
        (answer(b'{"error": {"message": "no such model"}}', "404 Not Found"), 1, "refused: no such model"),
        (answer(SAID, "200 OK", SSE, length=9999), 4, "the connection was lost during the response"),
        (answer(CHUNK % b"{}" + b'data: {"error": {"message": "overloaded"}}\n\n', "200 OK", SSE), 1, "overloaded"),
        (answer(SAID, "200 OK", SSE), 4, "the stream ends with neither a finish reason nor [DONE]"),
        (b"", 4, "Server disconnected without sending a response"),
        (answer(b"<html>", "200 OK"), 3, "cannot be decoded: response: "),
        (answer(gzip.compress(b"{}")[:12], "200 OK", "Content-Encoding: gzip"), 3, "gzip body is truncated after"),
        (answer(BOMB, "200 OK", "Content-Encoding: gzip"), 3, "exceeds 67,108,864 bytes and was not kept"),
    ],
)
def test_how_it_ends(run: Run, said: bytes, status: int, words: str) -> None:
    with hostile(said) as server:
        done = run("send", "-", "--target", server.url, *URL, "--yes", "--retries", 0, stdin=BODY)
    assert done.status == status and words in done.out


def test_nobody_there_is_a_failure_of_the_network(run: Run) -> None:
    with hostile(b"") as server:
        url = server.url
    done = run("send", "-", "--target", url, *URL, "--yes", "--retries", 0, stdin=BODY)
    assert done.status == 4 and f"failed: {url} cannot be reached" in done.out


def test_every_wait_is_seen(run: Run) -> None:
    refusal = answer(b"later", "429 Too Many Requests", "Retry-After: 0")
    with hostile(refusal, answer(b'{"choices": []}')) as server:
        done = run("send", "-", "--target", server.url, *URL, "--yes", stdin=BODY)
    assert done.status == 0 and "attempt 2" in done.out
    assert done.err == f"workbench: {server.url}: 429 Too Many Requests; attempt 1 failed, retrying in 0.0 s\n"


def test_what_came_before_an_interrupt_is_kept(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, own = tmp_path / "sent.jsonl", LiveAnswer.on_event

    def heard(self: LiveAnswer, event: object) -> None:
        own(self, event)  # type: ignore[arg-type]
        if isinstance(event, BodyReceived):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(LiveAnswer, "on_event", heard)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    head = f"HTTP/1.1 200 OK\r\n{SSE}\r\nConnection: close\r\n\r\n".encode()
    with hostile([head, SAID, threading.Event()]) as server:
        words = ("--yes", "--out", out, "--format", "json")
        done = run("send", "-", "--target", server.url, "--target", "sim:openai", *URL, *words, stdin=BODY)
        assert server.hung_up.wait(60)
    signal.signal(signal.SIGINT, before)
    first, second = json.loads(done.out)["sent"]
    assert done.status == 130
    assert (first["state"], first["note"], first["exit"]) == ("aborted", "interrupted", 130)
    assert (second["status"], second["exit"]) == (None, 130)
    assert first["answer"]["text"] == "good \x1b[31mmorning"
    kept = open_input(str(out))
    assert len(kept) == 2 and kept.exchange(1).state is State.ABORTED


def test_a_row_for_each_target(run: Run) -> None:
    words = ("--target", "sim:deepseek", "--target", "sim:generic", "--target", "sim:gemini")
    done = run("send", LOST, *words)
    assert done.status == 1
    assert [line for line in done.out.splitlines() if line.endswith(":")] == [
        "sim:deepseek:",
        "sim:generic:",
        "sim:gemini:",
    ]
    mixed = run("send", LOST, "--target", "sim:generic", "--target", "sim:gemini", "--as", "openai-chat")
    assert mixed.status == 2 and "sim:gemini: cannot be sent: sim:gemini does not support openai-chat" in mixed.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((LOST, "--target", "nobody"), "no target named 'nobody'"),
        ((LOST, "--target", "https://x.example"), "is unknown; use --as"),
        ((LOST, "--target", "sim:gemini", "--as", "openai-chat"), "does not support openai-chat"),
        ((LOST, "--target", "sim:openai", "--exchange", 9), "no exchange 9"),
        ((LOST, "--target", "sim:openai", "--retries", -1), "is out of range"),
        ((LOST, "--target", "deepseek", "--yes"), "DEEPSEEK_API_KEY is not set"),
        ((LOST, "--target", "sim:openai", "--out", LOST), "is the input file"),
        (("nowhere.json", "--target", "sim:openai"), "nowhere.json"),
    ],
)
def test_what_cannot_be_asked_is_one_line(run: Run, words: tuple[object, ...], said: str) -> None:
    done = run("send", *words)
    assert done.status == 2 and said in done.err and len(done.err.splitlines()) == 1


def test_no_escape_of_an_answer_reaches_the_terminal(run: Run) -> None:
    with hostile(answer(SAID + b"data: [DONE]\n\n", "200 OK", SSE)) as server:
        done = run("send", "-", "--target", server.url, *URL, "--yes", stdin=BODY)
    assert "\x1b" not in done.out + done.err and "morning" in done.out


class _Plan:
    """As much of an outgoing request as ``Live`` asks for."""

    class target:
        name = "t"

    protocol = "openai-chat"


def test_text_is_shown_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    live = LiveAnswer(_Plan, is_shown=True)  # type: ignore[arg-type]
    live.on_event(HeadReceived(200, Headers((("content-type", "text/event-stream"),)), 0.0))
    live.on_event(BodyReceived(SAID, 0.1))
    first = capsys.readouterr().err
    live.on_event(BodyReceived(CHUNK % b'{"content":"\\nagain"}', 0.2))
    live.end()
    rest = capsys.readouterr().err
    assert "good" in first and "\x1b" not in first and rest.endswith("\nagain\n") and "good" not in rest
    assert live.has_shown


def test_what_is_coded_is_not_shown_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    live = LiveAnswer(_Plan, is_shown=True)  # type: ignore[arg-type]
    headers = (("content-type", "text/event-stream"), ("content-encoding", "gzip"))
    live.on_event(HeadReceived(200, Headers(headers), 0.0))
    live.on_event(BodyReceived(b"\x1f\x8b", 0.1))
    live.end()
    assert capsys.readouterr().err == "" and not live.has_shown


def test_lines_of_json_are_shown_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    class plan(_Plan):
        protocol = "ollama"

    live = LiveAnswer(plan, is_shown=True)  # type: ignore[arg-type]
    live.on_event(HeadReceived(200, Headers((("content-type", "application/x-ndjson"),)), 0.0))
    line = b'{"model":"m","message":{"role":"assistant","content":"%s"},"done":false}\n'
    live.on_event(BodyReceived(line % b"one " + (line % b"two")[:30], 0.1))
    live.on_event(BodyReceived((line % b"two")[30:], 0.2))
    live.end()
    assert capsys.readouterr().err == "one two\n"


def test_signed_blocks_that_an_edit_unbound_are_named_and_left_out(run: Run, tmp_path: Path) -> None:
    before, edited = history("list it"), history("list all of it")
    path = tmp_path / "edited.jsonl"
    made = Exchange("b", edited, origin=Origin.EDITED, parent="a")
    store.save((Exchange("a", before, origin=Origin.RECORDED), made), path)
    words = ("send", path, "--exchange", 2, "--target", "sim:anthropic")
    done = run(*words)
    assert "  invalid signature: /messages/1/content/0  an edit before this block invalidates its signature" in done.out
    assert "  --drop-unbound sends the request without these blocks" in done.out
    done = run(*words, "--drop-unbound", "--out", tmp_path / "out.jsonl")
    assert done.status == 0 and "unbound:" not in done.out
    assert "  removed: /messages/1/content/0 (an edit invalidated its signature)" in done.out
    sent = open_input(str(tmp_path / "out.jsonl")).exchange(1).request
    assert sent and SIGNED.encode() not in sent.body.raw
    told = json.loads(run(*words, "--format", "json").out)["sent"][0]
    assert told["unbound"] == ["/messages/1/content/0"] and told["dropped"] == []


@pytest.mark.parametrize("out", ["/dev/full", "/nowhere/at-all/x.wb"])
def test_nothing_is_sent_whose_answer_could_not_be_kept(run: Run, out: str) -> None:
    done = run("send", SESSIONS / "deepseek-reasoning-lost.jsonl", "--target", "sim:deepseek", "--out", out)
    assert (done.status, done.out) == (2, "")
    assert f"{out} cannot be written" in done.err
