"""Hostile files, through the whole program: shown safely or refused in one clear line, never a traceback."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.cli import main

DEEP = 10_000
LONG = 5_000_000

ALIAS_BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
OBJECT_TAG = """\
version: 1
interactions:
- request:
    method: POST
    uri: https://x.example/v1/messages
    headers: {}
    body: !!python/object/apply:os.system ['touch pwned']
  response:
    status: {code: 200, message: OK}
    headers: {}
    body: {string: !!python/object/new:os.system ['touch pwned']}
"""
MARKUP = "[/b][@click=app.quit]x[/][link=file:///etc/passwd]y"
ESCAPES = "\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://x\x1b\\\x1b[2J\x9b31m\x90+q\x1b"
HIDDEN = "\u202eevil\u2066\u200b\u00ad\ufeff\U000e0041"


def request(text: str) -> bytes:
    call = {"type": "tool_use", "id": text, "name": text, "input": {text: text}}
    result = {"type": "tool_result", "tool_use_id": text, "content": text}
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": text, "signature": text}, call]},
        {"role": text, "content": [result, {"type": text, text: text}]},
    ]
    tools = [{"name": text, "description": text, "input_schema": {"type": text}}]
    return json.dumps({"model": text, "max_tokens": 1, "system": text, "tools": tools, "messages": messages}).encode()


def cassette(body: bytes) -> bytes:
    head = {"method": "POST", "uri": f"https://x.example/v1/messages?{MARKUP}", "headers": {"x": [ESCAPES]}}
    answer = {"status": {"code": 200, "message": ESCAPES}, "headers": {}, "body": {"string": HIDDEN}}
    return json.dumps(
        {"version": 1, "interactions": [{"request": head | {"body": body.decode()}, "response": answer}]}
    ).encode()


FILES: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "only a byte order mark": lambda: b"\xef\xbb\xbf",
    "zeros": lambda: b"\0" * 5000,
    "binary": lambda: bytes(range(256)) * 40,
    "markup": lambda: request(MARKUP),
    "escape sequences": lambda: request(ESCAPES),
    "hidden characters": lambda: request(HIDDEN),
    "lone surrogate": lambda: request("\ud83d"),
    "markup and escapes in a cassette": lambda: cassette(request(MARKUP + ESCAPES)),
    "deep arrays": lambda: b'{"model": "m", "messages": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": lambda: b'{"messages":' * DEEP + b"1" + b"}" * DEEP,
    "deep and open": lambda: b"[" * DEEP,
    "deep YAML": lambda: b"version: 1\ninteractions: " + b"[" * DEEP,
    "deep arguments": lambda: chat_call("[" * DEEP),
    "one long line": lambda: (
        b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "' + b"x" * LONG + b'"}]}'
    ),
    "one long line of nothing": lambda: b"x" * LONG,
    "a long stream line": lambda: b"data: " + b"x" * 5_000_000 + b"\n\n",
    "alias bomb": lambda: ALIAS_BOMB.encode(),
    "alias bomb in a cassette": lambda: (ALIAS_BOMB + "version: 1\ninteractions: [*a11]\n").encode(),
    "object tags": lambda: OBJECT_TAG.encode(),
    "truncated gzip": lambda: gzip.compress(request("hello") * 50)[:200],
    "truncated JSON": lambda: request("hello")[:-30],
    "truncated stream": lambda: b'event: message_start\ndata: {"type": "message_start", "mess',
    "not UTF-8": lambda: request("hello").replace(b"hello", b"\xff\xfe\x80"),
    "UTF-16": lambda: request("hello").decode().encode("utf-16"),
    "wrong types": lambda: b'{"model": 7, "messages": {"a": [null]}, "tools": "x", "max_tokens": []}',
    "wrong types inside": lambda: b'{"model": "m", "messages": [null, 1, [], {"role": {}, "content": {"a": 1}}]}',
    "a HAR of nonsense": lambda: b'{"log": {"version": "1.2", "entries": [1, {}, {"request": {"url": 3}}]}}',
    "a session of nonsense": lambda: (
        b'{"workbench": "session", "version": 1}\n{"id": []}\n[]\nnull\n{"id": "x", "request": 3}\n'
    ),
    "HTML": lambda: b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>",
}


def chat_call(arguments: str) -> bytes:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}]
    return json.dumps({"model": "gpt-4.1", "messages": messages}).encode()


@pytest.fixture(params=list(FILES), ids=lambda n: n.replace(" ", "-"))
def hostile(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "input"
    path.write_bytes(FILES[request.param]())
    return path


@pytest.mark.sampled(4)
@pytest.mark.parametrize("words", [("check",), ("show", "--as", "ir")], ids=lambda w: w[0])
def test_safe_or_refused_in_one_line(
    hostile: Path,
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    status = main([*words, str(hostile)])
    out, err = capsys.readouterr()
    assert status in (0, 1, 2, 3)
    assert "Traceback" not in out + err
    assert not [c for c in out + err if not c.isprintable() and c != "\n"]
    assert not (tmp_path / "pwned").exists()
    if status == 2:
        assert err.count("\n") == 1
        assert err.startswith("workbench: ")
        assert len(err) < 1000


@pytest.mark.parametrize("view", ["wire", "closure", "reasoning", "events"])
@pytest.mark.parametrize(
    "name", ["markup", "escape sequences", "hidden characters", "markup and escapes in a cassette"]
)
def test_every_view_goes_through_the_gate(
    name: str, view: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILES[name]())))
    assert main(["show", "--as", view, "-"]) == 0
    assert not [c for c in capsys.readouterr().out if not c.isprintable() and c != "\n"]
