"""``workbench probe`` and ``workbench profile``."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.probes.profiles.test_server_info import telling
from workbench.formats.importers import open_input
from workbench.probes import CORE
from workbench.probes.profiles import NAMES


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_the_seven_probes_make_a_profile(run: Run) -> None:
    done = run("probe", "--target", "sim:deepseek", "--dial", "parallel=2")
    assert done.status == 0
    assert [line.split()[1] for line in done.out.splitlines() if line and line[0] in "✓!✗?"] == list(CORE)
    for name in NAMES:
        assert name in done.out


def test_json_has_the_profile_and_its_evidence(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "evidence.jsonl"
    done = run("probe", "--target", "sim:deepseek", "parallel", "--samples", "2", "--out", out, "--format", "json")
    told = json.loads(done.out)
    assert done.status == 1
    assert told["profile"]["supports_parallel_tool_use"] is False
    (probe,) = told["probes"]
    assert (probe["verdict"], probe["n"], probe["passes"]) == ("fail", 2, 0)
    assert told["evidence"] == str(out)
    session = open_input(str(out))
    assert len(session) == len(probe["evidence"])
    assert {row.origin.value for row in session.summaries()} == {"probe"}


def test_junit_is_for_ci(run: Run) -> None:
    done = run("probe", "--target", "sim:openai", "format", "parallel", "reasoning", "--format", "junit")
    suite = ET.fromstring(done.out)
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert [case.get("name") for case in suite] == ["format", "parallel", "reasoning"]


def test_what_cannot_be_measured_is_no_failure(run: Run) -> None:
    assert run("probe", "--target", "sim:openai", "format", "--dial", "http=429").status == 4
    mixed = run("probe", "--target", "sim:openai", "format", "reasoning")
    assert mixed.status == 3
    assert "? reasoning" in mixed.out


def test_profiles_are_listed_shown_and_compared(run: Run) -> None:
    assert "no profile yet" in run("profile", "list").out
    run("probe", "--target", "sim:deepseek", "parallel", "closure")
    run("probe", "--target", "sim:deepseek", "parallel", "--dial", "parallel=2")
    listed = run("profile", "list")
    assert listed.out.splitlines()[0].split() == ["1", "sim:deepseek", "·", "openai-chat", "·", "deepseek-v4-flash"]
    shown = run("profile", "show", "1")
    assert "supports_parallel_tool_use     yes" in shown.out
    assert "closes" in shown.out
    compared = run("profile", "diff", "deepseek")
    assert compared.status == 1
    assert "supports_parallel_tool_use     no -> yes" in compared.out
    told = json.loads(run("profile", "diff", "1@2", "1", "--format", "json").out)
    assert told["facts"] == [{"name": "supports_parallel_tool_use", "before": False, "after": True}]
    assert run("profile", "diff", "1", "1").status == 0


WRONG = {
    "no such probe": (("probe", "--target", "sim:openai", "weather"), "no probe named 'weather'"),
    "no such target": (("probe", "--target", "nobody"), "nobody"),
    "no samples": (("probe", "--target", "sim:openai", "--samples", "0"), "--samples 0"),
    "no such dial": (("probe", "--target", "sim:openai", "--dial", "colour=red"), "colour"),
    "no value": (("probe", "--target", "sim:openai", "--dial", "parallel"), "NAME=VALUE"),
    "another protocol": (("probe", "--target", "sim:openai", "--protocol", "gemini"), "does not support gemini"),
    "no profile": (("profile", "show", "nobody"), "no profiles match 'nobody'"),
    "too many names": (("profile", "list", "one"), "needs 0 names"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(run: Run, name: str) -> None:
    words, said = WRONG[name]
    done = run(*words)
    assert done.status == 2
    assert said in done.err


def test_a_real_endpoint_is_asked_about_with_an_estimate(run: Run) -> None:
    words = ("--protocol", "openai-chat", "--model", "m", "format", "--samples", "3")
    done = run("probe", "--target", "http://127.0.0.1:9/v1", *words)
    assert done.status == 2
    assert "at most 6 requests, about 3,000 tokens" in done.err
    assert "add --yes" in done.err


def test_an_endpoint_that_is_not_there_could_not_be_measured(run: Run) -> None:
    words = ("--protocol", "openai-chat", "--model", "m", "format", "--yes", "--retries", "0")
    done = run("probe", "--target", "http://127.0.0.1:9/v1", *words)
    assert done.status == 4
    assert "cannot be reached" in done.out


BRIEF = ("--protocol", "openai-chat", "format", "--yes", "--retries", "0")


def test_a_server_that_lists_its_models_is_asked_for_them(run: Run) -> None:
    with telling({"GET /v1/models": {"data": [{"id": "qwen3"}, {"id": "gemma"}]}}) as (_, target):
        words = ("probe", "--target", target.url, *BRIEF)
        done = run(*words)
        assert (done.status, done.out) == (2, "")
        assert "several models" in done.err and "--model: qwen3, gemma" in done.err
        assert "use --model NAME" in run(*words, "--no-ask").err


def test_a_changed_template_is_another_profile(run: Run) -> None:
    for template in ("{{ messages }}", "{{ messages }}{{ tools }}"):
        only = {"GET /v1/models": {"data": [{"id": "qwen3"}]}, "GET /props": {"chat_template": template}}
        reply = {"choices": [{"message": {"role": "assistant", "content": "No."}, "finish_reason": "stop"}]}
        with telling({**only, "POST /v1/chat/completions": reply}) as (_, target):
            assert "openai-chat, qwen3" in run("probe", "--target", target.url, *BRIEF).out
    assert len(run("profile", "list").out.split("template ")) == 3
    assert "chat_template_hash" in run("profile", "diff", "1", "2").out


def test_a_probe_of_ones_own_is_listed_and_run(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "workbench" / "probes"
    folder.mkdir(parents=True)
    (folder / "hello.yaml").write_text("version: 1\nrequests:\n- words: Say hello.\nfacts: {greets: true}\n")
    done = run("probe", "--target", "sim:openai", "hello", "--format", "json")
    told = json.loads(done.out)
    assert (done.status, told["probes"][0]["verdict"], told["profile"]["facts"]["greets"]) == (0, "pass", True)
    (folder / "hello.yaml").write_text("version: 1\nrequests:\n- wards: Say hello.\n")
    done = run("probe", "--target", "sim:openai", "hello")
    assert (done.status, done.err) == (2, "workbench: hello.yaml#/requests/0: unknown key 'wards'\n")


def test_help_lists_what_there_is(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench import probes

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "workbench" / "probes").mkdir(parents=True)
    (tmp_path / "workbench" / "probes" / "mine.py").write_text("raise SystemExit('it ran')")
    done = run("probe", "--help")
    assert done.status == 0
    for probe in probes.all_probes():
        assert f"  {probe.name:<14} {probe.title}" in done.out
    assert "  mine           from your probes folder: mine.py" in done.out
