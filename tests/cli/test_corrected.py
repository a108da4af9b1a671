"""Corrections on the command line: ``send``, ``continue``, ``profile gate``, ``probe --refresh`` and ``--shadow``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import SESSIONS, Run
from tests.send.loop.samples import TOOL, exchanged
from workbench.simulator import Simulator
from workbench.wire.exchange import Exchange
from workbench.wire.jsontext import dumps
from workbench.wire.session import store
from workbench.wire.session.writer import SessionWriter

URL = "https://api.openai.com/v1/chat/completions"
MODEL = Simulator("openai").names()[0]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    asked = {"model": MODEL, "messages": [{"role": "user", "content": "read it"}], "tools": [TOOL], "stream": True}
    path = tmp_path / "s.jsonl"
    store.save([Exchange("e0", exchanged(dumps(asked), url=URL).request)], path)
    return path


def test_nothing_is_corrected_where_nothing_was_measured(run: Run, session: Path) -> None:
    told = json.loads(run("send", session, "--target", "sim:openai", "--format", "json").out)["sent"][0]
    assert (told["profile"], told["corrections"], told["stream"]) == (None, [], True)


def test_what_was_measured_corrects_the_request_and_is_said(run: Run, session: Path) -> None:
    run("probe", "--target", "sim:openai", "streaming", "parallel", "--dial", "stream=cut")
    done = run("send", session, "--target", "sim:openai")
    assert "correction streaming-off" in done.out
    assert "note: streaming-off: streaming switched off" in done.out
    told = json.loads(run("send", session, "--target", "sim:openai", "--format", "json").out)["sent"][0]
    assert told["profile"]["model"] == MODEL
    assert {each["name"]: each["on"] for each in told["corrections"]}["streaming-off"] is True
    assert told["stream"] is False
    off = run("send", session, "--target", "sim:openai", "--no-correct", "streaming-off", "--format", "json")
    assert json.loads(off.out)["sent"][0]["stream"] is True
    none = run("send", session, "--target", "sim:openai", "--profile", "none", "--format", "json")
    assert json.loads(none.out)["sent"][0]["corrections"] == []


def test_a_correction_is_done_unmeasured_where_people_say_so(run: Run, session: Path) -> None:
    words = ("--correct", "serial-calls", "--correct", "schema-level=string-only", "--out", session.with_name("o.wb"))
    told = json.loads(run("send", session, "--target", "sim:openai", *words, "--format", "json").out)["sent"][0]
    assert [each["why"] for each in told["corrections"]] == ["requested", "requested"]
    sent = store.open_session(session.with_name("o.wb")).exchange(1).request
    assert sent and b'"parallel_tool_calls"' in sent.body.raw


def test_names_that_are_none_are_said(run: Run, session: Path) -> None:
    for words in (("--correct", "weather"), ("--no-correct", "weather"), ("--profile", "weather")):
        done = run("send", session, "--target", "sim:openai", *words)
        assert done.status == 2 and "weather" in done.err


def test_a_conversation_goes_on_as_was_measured(run: Run, session: Path) -> None:
    run("probe", "--target", "sim:openai", "--dial", "stream=cut")
    words = ("--target", "sim:openai", "--result", "read=42", "--format", "json")
    told = json.loads(run("continue", session, *words).out)
    assert (told["reason"], told["profile"]["model"]) == ("done", MODEL)
    assert {"streaming-off", "serial-calls", "error-feedback"} <= {each["name"] for each in told["corrections"]}
    states = [each["state"] for each in told["states"]]
    assert states[:4] == ["model selected", "capability profile loaded", "adapter and parser chosen", "request encoded"]
    assert states[-1] == "ended"
    assert any("streaming switched off" in note for note in told["steps"][0]["notes"])
    text = run("continue", session, *words[:4], "--states")
    assert "[arguments validated]\n  read: strict, validated" in text.out


def test_steps_need_a_terminal(run: Run, session: Path) -> None:
    done = run("continue", session, "--target", "sim:openai", "--step")
    assert done.status == 2 and "--states" in done.err


def test_tools_are_gated(run: Run, tmp_path: Path) -> None:
    run("probe", "--target", "sim:openai", "--samples", "4")
    tools = tmp_path / "tools.json"
    tools.write_bytes(
        dumps({"tools": [{"name": "read_file"}, {"name": "rm", "annotations": {"destructiveHint": True}}]})
    )
    done = run("profile", "gate", "openai", "--tools", tools)
    assert done.status == 1
    assert "stage 2 of 3" in done.out and "✓ read_file" in done.out and "✗ rm" in done.out
    told = json.loads(run("profile", "gate", "openai", "--tools", tools, "--format", "json").out)
    assert (told["stage"], [tool["enabled"] for tool in told["tools"]]) == ("idempotent", [True, False])
    tools.write_bytes(b"read_file: read-only\n")
    assert run("profile", "gate", "openai", "--tools", tools).status == 0
    for bad in (b"7", b"[{}]", b"a: b\n", b""):
        tools.write_bytes(bad)
        assert run("profile", "gate", "openai", "--tools", tools).status == 2
    assert run("profile", "gate", "openai").status == 2
    assert run("profile", "list", "--tools", tools).status == 2


def test_the_tools_of_a_session_are_gated(run: Run, session: Path) -> None:
    run("probe", "--target", "sim:openai", "format")
    assert "✓ read " in run("profile", "gate", "openai", "--tools", session).out


def test_a_refresh_measures_what_is_stale(run: Run) -> None:
    first = run("probe", "--target", "sim:openai", "format", "--refresh")
    assert first.status == 2 and "selects the probes itself" in first.err
    run("probe", "--target", "sim:openai", "format", "schema")
    again = run("probe", "--target", "sim:openai", "--refresh")
    assert "parallel: never measured" in again.err and "format:" not in again.err
    third = run("probe", "--target", "sim:openai", "--refresh", "--ttl", "0.0000000001")
    assert "format: measured 0 days ago" in third.err


def test_nothing_is_run_where_nothing_is_stale(run: Run) -> None:
    run("probe", "--target", "sim:deepseek")
    done = run("probe", "--target", "sim:deepseek", "--refresh")
    assert (done.status, done.out) == (0, "") and "no probe is stale" in done.err


def test_probing_beside_a_session_leaves_it_as_it_is(run: Run, tmp_path: Path) -> None:
    """While it is being written, too: not a byte of it, and no file beside it."""
    folder = tmp_path / "running"
    folder.mkdir()
    path = folder / "live.wb"
    asked = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}]}
    with SessionWriter(path) as writer:
        request = exchanged(dumps(asked), b"{}", url=URL)
        writer.append(Exchange("e0", request.request, request.response, meta={"target": "sim:openai"}))
        before = {each.name: each.read_bytes() for each in folder.iterdir() if not each.name.endswith("-shm")}
        done = run("probe", "--shadow", path, "--budget", "3", "--format", "json")
        after = {each.name: each.read_bytes() for each in folder.iterdir() if not each.name.endswith("-shm")}
    told = json.loads(done.out)
    assert (told["target"], told["protocol"], told["model"]) == ("sim:openai", "openai-chat", MODEL)
    assert after == before
    assert told["evidence"] and Path(told["evidence"]).parent != folder
    assert sum(len(probe["evidence"]) for probe in told["probes"]) <= 3
    assert "not run, because the budget of 3 requests is used up: schema, " in done.err


def test_what_a_session_talks_to_is_where_it_is_probed(tmp_path: Path, run: Run) -> None:
    from workbench.cli.probe import running_model

    asked = dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
    for url, target in (
        ("http://127.0.0.1:9/v1/chat/completions", "http://127.0.0.1:9"),
        ("http://127.0.0.1:9/api/openai/v1/chat/completions", "http://127.0.0.1:9/api/openai"),
        ("https://x.test/chat/completions", "https://x.test"),
    ):
        path = tmp_path / "s.jsonl"
        store.save([Exchange("e", exchanged(asked, url=url).request)], path)
        assert running_model(str(path)).target == target
        path.unlink()
    assert run("probe").status == 2


def test_reasoning_that_a_client_lost_is_put_back_where_it_is_needed(run: Run, tmp_path: Path) -> None:
    lost = tmp_path / "lost.jsonl"
    lost.write_bytes((SESSIONS / "deepseek-reasoning-lost.jsonl").read_bytes())
    refused = run("continue", lost, "--target", "sim:deepseek")
    assert refused.status == 1 and "reasoning_content" in refused.out
    run("probe", "--target", "sim:deepseek", "reasoning")
    for command in ("continue", "send"):
        done = run(command, lost, "--target", "sim:deepseek")
        assert done.status == 0 and "lost reasoning restored" in done.out
        assert run(command, lost, "--target", "sim:deepseek", "--no-correct", "reasoning-replay").status == 1


def aged(state: Path) -> None:
    """Every profile that was measured, a year older than it is."""
    from workbench.probes.profiles.store import ProfileStore
    from workbench.wire.jsontext import loads

    for path in ProfileStore.of_user().folder.glob("*.jsonl"):
        told = loads(path.read_bytes().splitlines()[-1])
        told["verified_at"] -= 365 * 86_400
        for probe in told["probes"]:
            probe["at"] -= 365 * 86_400
        path.write_bytes(dumps(told) + b"\n")
    assert list(state.rglob("*.jsonl"))


def test_a_stale_profile_wants_to_be_measured_first(run: Run, session: Path, state: Path) -> None:
    run("probe", "--target", "sim:openai", "streaming", "--dial", "stream=cut")
    aged(state)
    words = ("continue", session, "--target", "sim:openai", "--result", "read=42")
    done = run(*words, "--states")
    assert "[probe first]" in done.out and "streaming: measured 365 days ago" in done.out
    assert "stale, but used" in done.out
    assert "stale: format, schema" in run("send", session, "--target", "sim:openai").out
    told = json.loads(run(*words, "--refresh", "--format", "json").out)
    assert told["profile"]["stale"] == []
    assert "streaming-off" not in {each["name"] for each in told["corrections"]}  # it streams well now
    assert "[probe first]" not in run(*words, "--states").out
