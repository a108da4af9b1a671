"""``show --as textcalls``: calls written as text, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench.cli import show
from workbench.toolcalls.formats import formats

BARE = "Ich liste sie.\n\n<function=Glob>\n<parameter=pattern>\n*.md\n</parameter>\n</function>\n</tool_call>"


def test_a_text_file(run: Run) -> None:
    out = run("show", "-", "--as", "textcalls", stdin=BARE.encode()).out
    assert "response  text, 94 characters, 1 call" in out
    assert '0–16        prose  "Ich liste sie.\\n\\n"' in out
    assert "16–94" in out
    assert "call   qwen3-coder  Glob" in out
    assert 'pattern = "*.md"  string' in out
    assert '! the opening tag around the call is missing  at 16–31: "<function=Glob>"' in out


def test_json_covers_the_text(run: Run) -> None:
    text = f"<think>é</think>\n{BARE}\n<|im_end|>"
    done = json.loads(run("show", "-", "--as", "textcalls", "--format", "json", stdin=text.encode()).out)
    (view,) = done["exchanges"]
    (read,) = view["texts"]
    assert view["parser"] is None
    assert "".join(p["text"] for p in read["pieces"]) == text
    assert all(text[p["start"] : p["end"]] == p["text"] for p in read["pieces"])
    (call,) = (p for p in read["pieces"] if p["kind"] == "call")
    assert (call["format"], call["name"], call["arguments"]) == ("qwen3-coder", "Glob", {"pattern": "*.md"})
    assert [p["problem"] for p in call["problems"]] == ["the opening tag around the call is missing"]


def test_arguments_are_typed_by_the_tools_of_the_request(run: Run, tmp_path: Path) -> None:
    text = "<tool_call>cat<arg_key>n</arg_key><arg_value>5</arg_value></tool_call>"
    tool = {"name": "cat", "parameters": {"type": "object", "properties": {"n": {"type": "string"}}}}
    entry = {
        "request": {
            "method": "POST",
            "url": "https://x.example/v1/chat/completions",
            "headers": [],
            "postData": {
                "text": json.dumps(
                    {
                        "model": "m",
                        "messages": [{"role": "user", "content": "go"}],
                        "tools": [{"type": "function", "function": tool}],
                    }
                )
            },
        },
        "response": {
            "status": 200,
            "headers": [],
            "content": {
                "text": json.dumps(
                    {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
                )
            },
        },
    }  # fmt: skip
    path = tmp_path / "a.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "creator": {}, "entries": [entry]}}))
    out = run("show", path, "--as", "textcalls").out
    assert "/choices/0/message/content  text, 70 characters, 1 call" in out
    assert 'n = "5"  string' in out


def test_the_parser_of_one_format(run: Run) -> None:
    text = b'For example <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call> does it.'
    assert "0 calls" in run("show", "-", "--as", "textcalls", stdin=text).out
    out = run("show", "-", "--as", "textcalls", "--parser", "hermes", stdin=text).out
    assert "1 call" in out
    assert "a = 1  integer" in out
    assert "0 calls" in run("show", "-", "--as", "textcalls", "--parser", "kimi", stdin=text).out


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--as", "textcalls", "--parser", "x"], "no text format named 'x'"), (["--parser", "glm"], "--as textcalls")],
)
def test_wrong_use(run: Run, words: list[str], said: str) -> None:
    done = run("show", "-", *words, stdin=b"a")
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_help_names_every_format() -> None:
    listed = (show.__doc__ or "").partition("FORMAT is one of\n")[2].partition("\n\n")[0].split()
    assert tuple(listed) == formats()
