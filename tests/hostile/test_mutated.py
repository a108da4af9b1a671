"""No valid traffic with one thing wrong in it ends in a traceback, wherever it is taken."""

from __future__ import annotations

import json
import os
import random
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.mutating import sessions
from tests.hostile.surfaces import RuleFailed, cause, raised, tried
from workbench import protocols, rules
from workbench.cli import _shell
from workbench.convert.convert import convert
from workbench.diff.comparison import compare_exchanges
from workbench.errors import WorkbenchError
from workbench.protocols.decode import DecodedExchange
from workbench.rules._shared.prefix import first_break
from workbench.rules.inspection import Inspector
from workbench.simulator import Simulator
from workbench.wire.exchange import Body, Exchange, HttpRequest, HttpResponse
from workbench.wire.session import MemorySession
from workbench.wire.stream import read_stream

pytestmark = pytest.mark.together("mutated")  # its sessions are converted once

FUZZ = int(os.environ.get("WORKBENCH_FUZZ", "1"))
"""Times as many sessions as are tried on every run."""


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(rules, "_failure", raised)


def test_the_sessions_are_of_every_protocol() -> None:
    spoken = {DecodedExchange(0, session.exchange(0)).protocol for session in sessions()}
    assert spoken >= set(protocols.protocols())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(4))
def test_one_thing_wrong_is_no_traceback(part: int) -> None:
    found = {
        f"{surface} of seed {seed}: {why}"
        for seed in range(part * 10_000, part * 10_000 + 15 * FUZZ)
        for surface, why, _ in tried(random.Random(seed))
    }
    assert found == set()


@pytest.mark.parametrize("kind", [TypeError, SystemExit])
def test_a_fault_would_be_seen(kind: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*args: object) -> None:
        raise kind(0)

    monkeypatch.setattr("workbench.rules.closure.RULES", ())
    monkeypatch.setattr("workbench.rules.closure.check", fault)
    with pytest.raises(RuleFailed) as seen:
        Inspector(sessions()[0]).run()
    assert cause(seen.value)
    assert [why for _, why, _ in tried(random.Random(0))]


def test_a_family_that_yields_no_finding_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.rules.closure.check", lambda case: [7])
    with pytest.raises(RuleFailed) as seen:
        Inspector(sessions()[0]).run()
    assert isinstance(seen.value.__cause__, TypeError)


def of(protocol_path: str, body: Any, answer: Any = None) -> Exchange:
    request = HttpRequest("POST", f"https://x.example{protocol_path}", body=Body(json.dumps(body).encode()))
    return Exchange("a", request, HttpResponse(200, body=Body(json.dumps(answer or {}).encode())))


@pytest.mark.parametrize("kind", [["enabled"], {}, None, 1, ""])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v2/chat", "thinking"), ("/v1/messages", "thinking"), ("/v1/chat/completions", "thinking"),
        ("/v1/responses", "reasoning"), ("/v2/chat", "response_format"), ("/v1/chat/completions", "response_format"),
    ],
)  # fmt: skip
def test_a_switch_of_another_type_converts_or_is_refused(path: str, field: str, kind: Any) -> None:
    said = {"model": "m", "messages": [{"role": "user", "content": "x"}], "input": "x", field: {"type": kind}}
    decoded = DecodedExchange(0, of(path, said))
    assert decoded.request is not None
    for protocol in protocols.protocols():
        try:
            convert(decoded, protocol, side="request")
        except WorkbenchError as refused:
            assert "\n" not in str(refused)


@pytest.mark.parametrize("schema", [{"type": []}, {"type": {}}, {"required": 7}, {"format": []}, {"maxLength": -3}])
@pytest.mark.parametrize("contract", ["deepseek", "openai", "gemini-openai", "mistral"])
def test_a_simulator_answers_any_schema(schema: Any, contract: str) -> None:
    tool = {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}},
    }
    for tools in ([tool], [{"type": "function", "function": {"name": "f", "parameters": schema}}]):
        said = {"model": "m", "messages": [{"role": "user", "content": "call f"}], "tools": tools}
        body = json.dumps(said | {"tool_choice": "required"}).encode()
        assert Simulator(contract).send("POST", "/v1/chat/completions", (), body).status in (200, 400, 422)


@pytest.mark.parametrize("function", ["x", 7, ["x"], None, True])
def test_a_tool_without_an_object_is_written_as_it_was(function: Any) -> None:
    said = {"model": "m", "messages": [], "tools": [{"type": "function", "function": function}]}
    adapter = protocols.get("openai-chat")
    body = json.dumps(said).encode()
    assert adapter.encode_request(adapter.decode_request(body), body) == body
    real = said | {"tools": [{"type": "function", "function": {"name": "f"}}]}
    with pytest.raises(WorkbenchError, match="changes the structure"):
        adapter.encode_request(adapter.decode_request(body), json.dumps(real).encode())


@pytest.mark.parametrize("kind", [[], {}, None, 3])
def test_a_block_of_no_type_is_compared_and_streamed(kind: Any) -> None:
    block = {"type": kind, "text": "a"}
    one, other = (
        DecodedExchange(
            0, of("/v1/messages", {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": said}]})
        )
        for said in ([block], [block, {"type": "text", "text": "b"}])
    )
    assert not compare_exchanges(one, other).is_same
    decoder = protocols.get("anthropic-messages").stream_decoder()
    events = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "b"}},
    ]
    lines = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    for event in read_stream(lines.encode(), "text/event-stream").events:
        decoder.feed(event)
        assert all(list(part.since(0)) is not None for part in decoder.growing)


@pytest.mark.parametrize("odd", [{"type": "text"}, {"type": "text", "text": None}, {"type": "text", "text": [7]}, 7])
def test_schemas_and_messages_that_change_into_no_text(odd: Any) -> None:
    made = []
    for words in (["path"], [odd], odd, [[odd]]):
        schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": words}
        tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
        body = {"model": "m", "messages": [{"role": "user", "content": words}], "tools": [tool]}
        made.append(DecodedExchange(len(made), of("/v2/chat", body)))
    for before, after in permutations(made, 2):
        assert first_break(before, after)


@pytest.mark.parametrize("url", ["http://[", "//[x", "https://a]b/", "", "\x00"])
def test_a_url_that_is_none(url: str) -> None:
    session = sessions()[0]
    broken = of("", {"model": "m", "messages": []})
    assert broken.request
    changed = Exchange("b", HttpRequest("POST", url, body=broken.request.body), broken.response)
    made = MemorySession("x", (session.exchange(0), changed, session.exchange(0)))
    assert not [f for f in Inspector(made).run().findings if f.rule == rules.FAILED]
    compare_exchanges(DecodedExchange(0, made.exchange(0)), DecodedExchange(1, made.exchange(1)))


@pytest.mark.parametrize(
    "head", ['{"workbench": "session", "version": -1}', '{"workbench": "session", "version": false}']
)
@pytest.mark.parametrize("command", ["check", "show", "matrix", "metrics", "fsck", "convert --to gemini"])
def test_a_session_of_no_version_is_one_line(
    head: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(head + '\n{"id": "a"}\n')
    first, *more = command.split()
    assert _shell.run([first, str(path), *more]) == 2
    assert capsys.readouterr().err.count("\n") == 1
