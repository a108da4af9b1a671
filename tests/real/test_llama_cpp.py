"""llama.cpp's server: what probes find out about it is true, and how it deviates from the protocols is found."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.real.conftest import CALL, FINAL, TEMPLATE, THOUGHT, made, serving
from workbench.formats.importers import open_input
from workbench.protocols.decode import DecodedExchange
from workbench.send.outgoing import prepare
from workbench.send.sending import Sender
from workbench.send.target import Target
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import exchanges_of, store

CHAT, MESSAGES, RESPONSES = "openai-chat", "anthropic-messages", "openai-responses"
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


VERDICTS = {
    "format": "partial",  # a call comes, but never with the text that it was asked for
    "schema": "pass",  # the server's grammar sees to it, whatever the model says
    "closure": "fail",  # it says its sentence, and no receipt
    "parallel": "fail",  # it makes one call
    "repair": "fail",  # an error is a result like any other to it
    "reasoning": "inconclusive",  # it does not think
}
NATIVE = {CHAT: "openai", MESSAGES: "anthropic", RESPONSES: "responses"}
STREAMING = {CHAT: ("pass", set()), MESSAGES: ("partial", {"block"}), RESPONSES: ("partial", {"index"})}


@pytest.mark.parametrize("protocol", NATIVE)
def test_the_profile_says_the_truth(server: str, run: Run, protocol: str) -> None:
    done = run("probe", "--target", server, "--protocol", protocol, "--yes", "--retries", "0", "--format", "json")
    told = json.loads(done.out)
    verdict, words = STREAMING[protocol]
    found = {probe["probe"]: probe["verdict"] for probe in told["probes"]}
    assert found == {**VERDICTS, "streaming": verdict}, [(p["probe"], p["words"]) for p in told["probes"]]
    assert all(word in next(p["words"] for p in told["probes"] if p["probe"] == "streaming") for word in words)
    assert told["model"] == "sim-model"  # the only one that it lists
    profile = told["profile"]
    assert profile["chat_template_hash"] == sha256(TEMPLATE.read_bytes().rstrip()).hexdigest()[:16]
    assert profile["tool_call_format"] == NATIVE[protocol]
    assert profile["schema_level"] == "strict-json-schema"
    assert profile["supports_parallel_tool_use"] is False
    assert profile["supports_streaming_tool_use"] is True
    assert profile["error_repair"] == "none"


def test_reasoning_may_be_replayed_in_any_way(tools: Path, run: Run, tmp_path: Path) -> None:
    """As its template has it: thoughts of any turn are put into the prompt, and none is demanded."""
    with serving(tools, made(tools, tmp_path / "thinking.gguf", THOUGHT + CALL)) as url:
        for protocol in NATIVE:
            words = (
                "--target",
                url,
                "--protocol",
                protocol,
                "reasoning",
                "--yes",
                "--retries",
                "0",
                "--format",
                "json",
            )
            (told,) = json.loads(run("probe", *words).out)["probes"]
            assert told["verdict"] == "pass", told["words"]
            assert told["facts"]["requires_reasoning_replay"] is False
            assert set(told["facts"]["reasoning_replay"].values()) == {"taken", "ignored"}


def test_a_changed_template_is_another_profile(tools: Path, model: Path, server: str, run: Run, tmp_path: Path) -> None:
    changed = tmp_path / "changed.jinja"
    changed.write_bytes(TEMPLATE.read_bytes().replace(b"# Tools", b"# Functions"))
    words = ("--protocol", CHAT, "format", "--yes", "--retries", "0")
    with serving(tools, model, "--template", str(changed)) as other:
        for url in (server, other):
            run("probe", "--target", url, *words)
    assert "chat_template_hash" in run("profile", "diff", "1", "2").out


WORDS = [{"role": "user", "content": "Say it."}]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
CHAT_TOOL = {"type": "function", "function": {"name": "probe_echo", "description": "d", "parameters": SCHEMA}}
MESSAGES_TOOL = {"name": "probe_echo", "description": "d", "input_schema": SCHEMA}
RESPONSES_TOOL = {"type": "function", "name": "probe_echo", "description": "d", "parameters": SCHEMA}
CUT_CALL = {"id": "call_1", "type": "function", "function": {"name": "probe_echo", "arguments": '{"text": "na'}}
CUT = [
    *WORDS,
    {"role": "assistant", "content": None, "tool_calls": [CUT_CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
]
THREAD = {"type": "continue", "previous_message_id": "msg_1"}
RESULT = [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}]}]

DEVIATIONS: dict[str, tuple[str, Json, set[str]]] = {
    "a healthy call": (CHAT, {"messages": WORDS, "tools": [CHAT_TOOL]}, set()),
    "a healthy stream": (CHAT, {"messages": WORDS, "tools": [CHAT_TOOL], "stream": True}, set()),
    "blocks overlap, and a call has no input": (
        MESSAGES,
        {"messages": WORDS, "tools": [MESSAGES_TOOL], "max_tokens": 99, "stream": True},
        {"stream.block-order", "content.shape", "answer.reshaped"},
    ),
    "events without index, arguments without end": (
        RESPONSES,
        {"input": "Say it.", "tools": [RESPONSES_TOOL], "stream": True},
        {"stream.index", "stream.block-order"},
    ),
    "a call that is cut": (CHAT, {"messages": WORDS, "tools": [CHAT_TOOL], "max_tokens": 9}, {"args.truncated"}),
    "a cut call that is sent back": (
        CHAT,
        {"messages": CUT, "tools": [CHAT_TOOL]},
        {"args.invalid-json", "answer.error"},  # status 500 for a request that can never succeed
    ),
    "a call in the text, since no tool was declared": (CHAT, {"messages": WORDS}, {"text.unparsed-call"}),
    "a result without a call is taken": (
        CHAT,
        {"messages": [*WORDS, {"role": "tool", "tool_call_id": "call_9", "content": "ok"}], "tools": [CHAT_TOOL]},
        {"closure.orphan-result"},
    ),
    "a thread that nobody holds": (
        MESSAGES,
        {"messages": RESULT, "thread": THREAD, "max_tokens": 99},
        {"state.lost"},
    ),
}
PATHS = {CHAT: "/v1/chat/completions", MESSAGES: "/v1/messages", RESPONSES: "/v1/responses"}


async def asked(url: str) -> list[Exchange]:
    first, *others = PATHS
    target = Target("llama", first, url, "llama.cpp", others=tuple((name, url) for name in others))
    made = []
    for protocol, body, _ in DEVIATIONS.values():
        request = HttpRequest("POST", PATHS[protocol], body=Body(json.dumps({"model": "sim-model", **body}).encode()))
        outgoing = prepare(DecodedExchange(0, Exchange("x", request), protocol), target, protocol=protocol)
        async with Sender(retries=0) as sender:  # a connection each: the server ends idle ones when it likes
            made.append(await sender.send(outgoing))
    return made


def test_its_deviations_are_found(server: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "deviations.wb"
    store.save(asyncio.run(asked(server)), path)
    told = json.loads(run("check", path, "--provider", "llama.cpp", "--format", "json").out)
    found = [(f["exchange"], f["rule"]) for f in told["files"][0]["findings"] if f["severity"] != "info"]
    by_title = {title: {rule for n, rule in found if n == number} for number, title in enumerate(DEVIATIONS)}
    assert by_title == {title: rules for title, (_, _, rules) in DEVIATIONS.items()}


@pytest.mark.parametrize("protocol", NATIVE)
def test_a_conversation_goes_on_to_its_end(server: str, run: Run, tmp_path: Path, protocol: str) -> None:
    """The call that an exchange ends with is answered by hand, and the model says its sentence."""
    probed, out = tmp_path / "probed.wb", tmp_path / "out.wb"
    to = ("--target", server, "--yes", "--profile", "none")
    run("probe", "--target", server, "--protocol", protocol, "streaming", "--yes", "--out", probed)
    done = run(
        "continue", probed, *to, "--as", protocol, "--result", "probe_echo=naïve", "--out", out, "--format", "json"
    )
    told = json.loads(done.out)
    assert (done.status, told["reason"]) == (0, "done"), done.out
    assert [step["step"] for step in told["steps"]] == ["answer", "send"]
    last = list(exchanges_of(open_input(str(out))))[-1]
    assert FINAL in last.response.body.raw.decode()
