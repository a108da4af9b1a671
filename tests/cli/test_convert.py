"""``workbench convert``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from workbench import protocols

LOOP = SESSIONS / "anthropic-tool-loop.jsonl"
CHAT = SESSIONS / "openai-call-never-runs.jsonl"
BODY = b'{"model":"m","max_tokens":5,"top_k":3,"messages":[{"role":"user","content":"hi"}],"system":"be kind"}'
ODD = (
    b'{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"f:0",'
    b'"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"f:0","content":"1"}]}'
)


def test_a_request_for_people(run: Run) -> None:
    done = run("convert", LOOP, "--to", "openai-chat")
    assert (done.status, done.err) == (0, "")
    head, _, body = done.out.partition("\n\n")
    assert head.splitlines()[:3] == [
        "request 1: anthropic-messages (from the URL) -> openai-chat",
        "1 other exchange in the file: select one with --exchange N",
        "path: /v1/chat/completions",
    ]
    assert "/thinking/type  the thinking switch ('adaptive'): left out" in head
    assert json.loads(body)["messages"][0] == {
        "role": "system",
        "content": "You read files and answer in one sentence.",
    }


def test_json_is_one_object_and_the_file_has_the_exact_bytes(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "body.json"
    done = run("convert", "-", "--to", "openai-chat", "--format", "json", "-o", out, stdin=BODY)
    said = json.loads(done.out)
    assert done.status == 0
    assert said["body"] == json.loads(out.read_bytes())
    assert (said["from"], said["protocol"], said["side"]) == ("anthropic-messages", "openai-chat", "request")
    assert (said["path"], said["exchange"], said["ids"], said["body_base64"]) == ("-", 0, {}, None)
    instead = "left out: the target has no such field"
    assert said["losses"] == [{"pointer": "/top_k", "what": "the parameter 'top_k'", "instead": instead}]
    protocols.get("openai-chat").decode_request(out.read_bytes())


def test_ids_that_had_to_change(run: Run) -> None:
    done = run("convert", "-", "--to", "anthropic-messages", "--format", "json", stdin=ODD)
    said = json.loads(done.out)
    assert said["ids"] == {"f_0": "f:0"}
    assert said["body"]["messages"][1]["content"][0]["id"] == "f_0"
    assert "f_0  was f:0" in run("convert", "-", "--to", "anthropic-messages", stdin=ODD).out


def test_a_stream_becomes_a_stream(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "answer.txt"
    done = run("convert", LOOP, "--to", "openai-chat", "--side", "response", "-o", out, "--format", "json")
    assert json.loads(done.out)["content_type"] == "text/event-stream"
    assert out.read_bytes().endswith(b"data: [DONE]\n\n")
    assert run("check", out).status == 0


def test_the_same_protocol_is_the_same_bytes(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "body.json"
    done = run("convert", "-", "--to", "anthropic-messages", "-o", out, stdin=BODY)
    assert out.read_bytes() == BODY
    assert "(unchanged)" in done.out and "lost: nothing" in done.out


def test_an_exchange_is_chosen(run: Run) -> None:
    done = run("convert", LOOP, "--to", "openai-chat", "--exchange", 2, "--format", "json")
    assert json.loads(done.out)["exchange"] == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((LOOP, "--to", "nonsense"), "no protocol named 'nonsense'"),
        ((LOOP, "--to", "openai-chat", "--exchange", 99), "no exchange 99"),
        ((LOOP, "--to", "openai-chat", "--protocol", "nonsense"), "no protocol named 'nonsense'"),
        (("-", "--to", "openai-chat", "--side", "response"), "no decodable response"),
        ((LOOP,), "--to"),
    ],
    ids=["target", "exchange", "protocol", "side", "no target"],
)
def test_usage(run: Run, words: tuple[object, ...], problem: str) -> None:
    done = run("convert", *words, stdin=BODY)
    assert done.status == 2 and not done.out
    assert problem in done.err


def test_hostile_text_is_shown_harmlessly(run: Run) -> None:
    body = b'{"model":"\\u001b[2J","max_tokens":1,"messages":[{"role":"user","content":"\\u202e\\u001b]0;x"}]}'
    done = run("convert", "-", "--to", "openai-chat", stdin=body)
    assert done.status == 0 and "\x1b" not in done.out and "\u202e" not in done.out


def test_no_file_is_replaced_unasked(run: Run, tmp_path: Path) -> None:
    source, out = tmp_path / "request.json", tmp_path / "out.json"
    source.write_bytes(BODY)
    out.write_text("mine")
    words = ("convert", source, "--to", "anthropic-messages", "-o")
    assert "out.json already exists" in run(*words, out).err and out.read_text() == "mine"
    assert run(*words, out, "--force").status == 0 and out.read_text() != "mine"
    assert "is the input file" in run(*words, source, "--force").err and source.read_bytes() == BODY


@pytest.mark.parametrize("leads_to", ["other.json", "nothing.json", "."])
@pytest.mark.parametrize(
    "words",
    ["convert F --to anthropic-messages", "minimize F --target sim:openai", "export F --as curl", "export F --as html"],
)
def test_nothing_is_written_through_a_link(run: Run, tmp_path: Path, words: str, leads_to: str) -> None:
    source, other, out = tmp_path / "request.json", tmp_path / "other.json", tmp_path / "link"
    source.write_bytes(BODY)
    other.write_text("mine")
    out.symlink_to(tmp_path / leads_to)
    before = sorted(tmp_path.iterdir())
    for force in ([], ["--force"]):
        done = run(*(source if word == "F" else word for word in words.split()), "-o", out, *force)
        assert done.status == 2
        assert "is a symbolic link" in done.err
    assert sorted(tmp_path.iterdir()) == before
    assert other.read_text() == "mine"
