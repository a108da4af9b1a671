"""Exported tests: what a folder holds, what it says, and where it runs."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import SESSIONS
from tests.tool_hops import lost_structured, said
from workbench import contracts
from workbench.edits import repairs
from workbench.errors import LocalProtocolError
from workbench.formats import exporting
from workbench.formats.exporters import ExportResult, ExportSelection, load
from workbench.formats.importers import open_input
from workbench.pytest_plugin import _serve_tools
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Body, Exchange, ExchangeKind, Headers, HttpRequest, HttpResponse, Origin
from workbench.wire.session import MemorySession, exchanges_of, text

FORM = load("pytest")
URL = "https://api.deepseek.com/chat/completions"
CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
ASKED = {"role": "user", "content": "which files are here?"}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "a"}
TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}


def body(*messages: Any, **more: Any) -> bytes:
    return json.dumps({"model": "gpt-4.1", "tools": [TOOL], "messages": list(messages), **more}).encode()


GOOD = body(ASKED, {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT)
LOST = body(ASKED, {"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "user", "content": "so?"})


def session(*bodies: bytes, headers: Headers | None = None, url: str = "https://api.openai.com/v1/chat/completions"):
    made = (
        Exchange(f"e{n}", HttpRequest(url=url, headers=headers or Headers(), body=Body(data)))
        for n, data in enumerate(bodies, 1)
    )
    return MemorySession("made.jsonl", tuple(made))


def selected(
    held: MemorySession, *indices: int, broken: MemorySession | None = None, name: str = ""
) -> ExportSelection:
    every = tuple(range(len(broken))) if broken else ()
    given = ExportSelection(Inspector(broken), every) if broken else None
    return ExportSelection(Inspector(held), indices or tuple(range(len(held))), given, name)


def source(made: ExportResult) -> str:
    (name,) = (name for name in made.files if name.endswith(".py"))
    return made.files[name].decode()


def requests(made: ExportResult, name: str) -> list[bytes]:
    held = text.read(made.files[name], name)
    return [e.request.body.raw for e in exchanges_of(held) if e.request]


@pytest.fixture(scope="module")
def mended() -> ExportResult:
    """The example whose reasoning was lost, repaired."""
    opened = open_input(str(SESSIONS / "deepseek-reasoning-lost.jsonl"))
    fixed, _ = repairs.repair_session(Inspector(opened), opened)
    own = ExportSelection(Inspector(fixed), (0, 1), ExportSelection(Inspector(opened), (0, 1)), "a")
    return FORM.write(own)


def test_a_stranger_learns_what_was_wrong_and_what_is_right(mended: ExportResult) -> None:
    told = ast.get_docstring(ast.parse(source(mended))) or ""
    for words in (
        "deepseek refuses the broken request: reasoning.missing.",
        "reasoning.missing at /messages/1",
        "the provider responds 400: The `reasoning_content` in the thinking mode must be passed back to",
        "added: /messages/1/reasoning_content",
        "WORKBENCH_TRANSCRIPT=broken.jsonl pytest",
        "no network, no key",
    ):
        assert words in told
    assert "YOUR AGENT GOES HERE" in source(mended)
    assert mended.notes == ("broken: request 2 of broken.jsonl, as recorded in deepseek-reasoning-lost.jsonl",)
    assert all(len(line) <= 120 for line in source(mended).splitlines())


def test_the_transcript_holds_the_exact_bytes_and_what_was_said_before() -> None:
    odd = GOOD.replace(b'"model": "gpt-4.1"', b'"model" :\t"gpt-4.1"')
    made = FORM.write(selected(session(odd), broken=session(LOST)))
    assert requests(made, "transcript.jsonl") == [odd]
    assert requests(made, "broken.jsonl") == [LOST]
    assert '("closure.missing-result", "/messages/1/tool_calls/0")' in source(made)


def test_where_nothing_broken_is_given_a_fault_is_planted_and_named() -> None:
    made = FORM.write(selected(session(GOOD)))
    assert made.notes == ("broken: request 1 of broken.jsonl, planted: a tool call is missing",)
    assert "Broken (planted: a tool call is missing)" in source(made)
    plain = FORM.write(selected(session(json.dumps({"model": "gpt-4.1", "messages": [ASKED]}).encode())))
    assert plain.notes == ("broken: request 1 of broken.jsonl, planted: the body is truncated",)
    assert "openai cannot read the broken request." in source(plain)
    bare = FORM.write(selected(session(json.dumps({"model": "gpt-4.1", "messages": [ASKED]}).encode(), url="")))
    assert "the provider responds 400: " in source(bare)


def test_an_edited_request_is_held_against_the_recorded_one() -> None:
    lost, step, good = (
        Exchange(id, HttpRequest(url=URL, body=Body(data))) for id, data in zip("abc", EDITS, strict=True)
    )
    tree = MemorySession(
        "tree", (lost, replace(step, parent="a", origin=Origin.EDITED), replace(good, parent="b", origin=Origin.EDITED))
    )
    own = ExportSelection(Inspector(tree, provider="openai"), (2,))
    made = FORM.write(own)
    assert "as recorded before the 2 edits" in made.notes[0]
    assert requests(made, "broken.jsonl") == [EDITS[0]] and requests(made, "transcript.jsonl") == [GOOD]
    assert 'RULES = ("closure.missing-result", "params.unsupported")' in source(made)
    assert "openai refuses the broken request: closure.missing-result and params.unsupported." in source(made)
    assert '("params.unsupported", "/temperature") in ' in source(made)
    alone = ExportSelection(Inspector(session(GOOD), provider="openai"), (0,), made_of=(step, lost))
    assert requests(FORM.write(alone), "broken.jsonl") == [EDITS[0]]


EDITS = (LOST.replace(b"{", b'{"temperature": 9, ', 1), LOST, GOOD)

REFUSED: Mapping[str, tuple[ExportSelection, str]] = {
    "what is broken itself": (selected(session(LOST)), "exchange 1 is refused by openai: closure.missing-result"),
    "nothing differs": (selected(session(GOOD), broken=session(GOOD)), "no request differs"),
    "nothing is wrong": (
        selected(session(GOOD), broken=session(GOOD.replace(b"which", b"what"))),
        "the broken request has no fault",
    ),
    "no request": (
        selected(MemorySession("x", (Exchange("1", None, HttpResponse(200, Headers(), Body(b"hi"))),))),
        "not a request to a model",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_proves_nothing_is_not_written(case: str) -> None:
    selection, why = REFUSED[case]
    with pytest.raises(LocalProtocolError, match=why):
        FORM.write(selection)


def test_the_counterpart_of_a_lone_request_is_the_one_at_fault() -> None:
    made = FORM.write(selected(session(GOOD), broken=session(body(ASKED), LOST)))
    assert requests(made, "broken.jsonl")[-1] == LOST


def test_traffic_is_words_and_no_code() -> None:
    evil = 'x"""\nimport os; os.abort()\n"""\\' + "\x1b[2J‮"
    call = CALL | {"id": evil}
    lost = body(ASKED, {"role": "assistant", "content": evil, "tool_calls": [call]}, {"role": "user", "content": evil})
    good = body(ASKED, {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT)
    made = FORM.write(selected(session(good), broken=session(lost)))
    tree = ast.parse(source(made))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "abort"]
    assert source(made).replace("\n", "").isprintable()


def test_no_secret_leaves() -> None:
    key = "sk-" + "Zq8" * 12
    headers = Headers((("authorization", f"Bearer {key}"), ("cookie", "s=0123456789abcdef"), ("x-trace", "1")))
    made = FORM.write(selected(session(GOOD.replace(b"here", key.encode()), headers=headers)))
    whole = b"".join(made.files.values())
    assert key.encode() not in whole and b"0123456789abcdef" not in whole and b"authorization" not in whole
    assert b"x-trace" in whole
    assert any("a secret in the body is replaced" in note for note in made.notes)


def test_folders_of_other_names_have_tests_of_other_names() -> None:
    one, two = (FORM.write(selected(session(GOOD), name=name)) for name in ("one", "two"))
    assert one.files.keys() & two.files.keys() == {"transcript.jsonl", "broken.jsonl"}


def test_it_runs_wherever_it_lies(
    mended: ExportResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    give_contracts: Callable[[Path], None],
) -> None:
    """Beside others, read-only, from another folder, with warnings as errors, in worker processes, the hook filled."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own = tmp_path / "config" / "workbench" / "profiles" / "acme.yaml"
    own.parent.mkdir(parents=True)
    shipped = (Path(contracts.__file__).parents[2] / "profiles" / "openai.yaml").read_text(encoding="utf-8")
    own.write_text(shipped.replace("name: openai", "name: acme", 1), encoding="utf-8")
    contracts.forget()
    acme = FORM.write(ExportSelection(Inspector(session(GOOD), provider="acme"), (0,), name="acme"))
    own.unlink()
    contracts.forget()
    for name, made in (("acme", acme), ("lost", mended)):
        exporting.write_export(made, FORM, tmp_path / "out" / name)
    (written,) = (tmp_path / "out" / "lost").glob("test_*.py")
    hooked = written.read_text(encoding="utf-8").replace(
        "    return turn.body\n", "    return bytes(bytearray(turn.body))\n"
    )
    written.write_text(hooked, encoding="utf-8")
    for path in sorted((tmp_path / "out").rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    give_contracts(tmp_path / "home")
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
    words = ["-q", "-W", "error", "-n", "1", "-p", "xdist", "-p", "workbench.pytest_plugin", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-p", "no:cacheprovider"],
        cwd="/",
        env=environment
        | {"HOME": str(tmp_path / "home"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        | {"PYTHONPATH": str(Path(contracts.__file__).parents[2])},
        capture_output=True,
        text=True,
    )
    assert "8 passed" in done.stdout, done.stdout + done.stderr


def test_the_tool_servers_of_a_session_are_fakes_that_the_test_starts(tmp_path: Path) -> None:
    """The exported test is run: the fake servers answer over HTTP what was recorded, and no secret is in the folder."""
    secret = "sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT" * 2
    held = lost_structured()
    held.call("maps", "map", {"city": "Rome"}, {"content": [said(f"a map with {secret}")]}, use="t3")
    session = held.session()
    models = [n for n, one in enumerate(session.exchanges) if one.kind is ExchangeKind.HTTP]
    made = FORM.write(selected(session, *models))
    assert "recorded_tools" in source(made) and secret.encode() not in b"".join(made.files.values())
    for name, data in made.files.items():
        (tmp_path / name).write_bytes(data)
    (proof,) = FORM.prove([tmp_path])
    assert proof.why_not == "", proof
    with ExitStack() as stack:
        servers = _serve_tools(stack, tmp_path / "tools.jsonl")
        assert list(servers) == ["sky", "maps"]
        (unknown,) = servers["sky"].ask(("tools/call", {"name": "weather", "arguments": {"city": "Bern"}}))
        assert unknown["result"]["isError"] is True
