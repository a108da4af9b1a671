"""Probes of the user's own: one YAML or Python file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.probes.measuring import measured, outcomes, words
from workbench import probes
from workbench.errors import ProfileError, UsageError, WorkbenchError
from workbench.probes import Probe
from workbench.probes._yaml_probe import read

HEAD = "version: 1\nrequests:\n- words: Call probe_echo with the text {nonce}.\n"

PYTHON = """
from workbench.probes import Probe, Sample, Outcome, Ask

def script(subject):
    exchange = yield Ask("hello", subject.request("Say hello."), subject.protocol)
    return Sample(Outcome.PASS, f"status {exchange.response.status}", {"greets": True})

probe = Probe("greeting", "whether it greets", 1, script)
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "workbench" / "probes"
    folder.mkdir(parents=True)
    return folder


def written(expect: str, more: str = "  tools: [probe_echo]\n", head: str = HEAD) -> Probe:
    return read(f"{head}{more}  expect: {expect}\nfacts: {{f: 1}}\notherwise: {{f: 0}}\n".encode(), "own.yaml", "own")


EXPECTED: dict[str, tuple[str, dict[str, Any], str]] = {
    "nothing is looked at": ("{}", {}, "pass"),
    "a refusal does not hold": ("{}", {"refuses": ("tools",)}, "fail"),
    "a refusal that is expected": ("{status: 400}", {"refuses": ("tools",)}, "pass"),
    "another status": ("{status: 418}", {}, "fail"),
    "a text": ('{text: "probe_echo returned.*{nonce}"}', {}, "pass"),
    "several texts": ("{text: [returned, nowhere]}", {}, "fail"),
    "no such text": ("{no-text: returned}", {}, "fail"),
    "a call": ("{calls: [{name: probe_echo}]}", {"parallel": 1}, "pass"),
    "too many calls": ("{calls: [{name: probe_echo}]}", {"parallel": 2}, "fail"),
    "its arguments": (
        '{calls: [{name: probe_echo, arguments: {text: "Call probe_echo with the text {nonce}."}}]}',
        {"parallel": 1},
        "pass",
    ),
    "other arguments": ("{calls: [{name: probe_echo, arguments: {text: 1}}]}", {"parallel": 1}, "fail"),
    "no call": ("{calls: []}", {}, "fail"),
    "how it ends": ("{stop: stop}", {}, "pass"),
    "how it does not end": ("{stop: length}", {}, "fail"),
    "no findings": ("{findings: []}", {}, "pass"),
    "findings that are not there": ('{findings: ["args.*"]}', {}, "fail"),
    "findings": ('{findings: ["args.*"]}', {"arguments": "invalid-json"}, "pass"),
    "findings that should not be": ("{findings: []}", {"arguments": "invalid-json"}, "fail"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_written_probe_passes_where_everything_is_as_expected(name: str) -> None:
    expect, dials, outcome = EXPECTED[name]
    made = measured("generic", "openai-chat", (written(expect),), **dials)
    assert outcomes(made) == {"own": outcome}, words(made)
    assert made.facts == {"f": int(outcome == "pass")}


def test_some_of_several_requests_is_a_part() -> None:
    text = f"{HEAD}  tools: [probe_echo]\n  expect: {{calls: []}}\n- words: Say hello.\n  expect: {{calls: []}}\n"
    made = measured("generic", "openai-chat", (read(text.encode(), "own.yaml", "own"),), parallel=1)
    assert outcomes(made) == {"own": "partial"}
    assert made.results[0].words.startswith("request 1: the tool calls are probe_echo(")


def test_calls_are_told_what_the_file_says() -> None:
    more = "  tools: [{name: distance, schema: {type: object}}]\n  results: {distance: '{nonce} metres'}\n"
    made = measured("generic", "openai-chat", (written('{text: "{nonce} metres"}', more),))
    assert outcomes(made) == {"own": "pass"}, words(made)


def test_a_request_may_say_everything(mine: Path) -> None:
    more = (
        "  system: Be short.\n  tools: [probe_add, {name: f, strict: true}]\n  choice: f\n  stream: true\n"
        "  thinking: off\n  params: {temperature: 0}\n  turns: 2\n"
    )
    probe = written("{}", more)
    assert (probe.requests, probe.tokens) == (2, 1200)
    made = measured("generic", "openai-chat", (probe,))
    sent = made.exchanges[0].request
    assert sent is not None
    for piece in (b'"stream":true', b'"temperature":0', b"Be short.", b'"strict":true', b'"tool_choice":{'):
        assert piece in sent.body.raw


def test_what_says_nothing_of_the_model_is_no_failure() -> None:
    from workbench.simulator import HttpFault

    made = measured("generic", "openai-chat", (written("{status: 429}"),), http=HttpFault(429))
    assert outcomes(made) == {"own": "inconclusive"}


WRONG = {
    "no version": ("requests: []", "own.yaml#: not a probe: it must begin with 'version: 1'"),
    "no requests": ("version: 1", "own.yaml#/requests: 1 to 50 requests are needed"),
    "unknown key": (f"{HEAD}  verb: x\n", "own.yaml#/requests/0: unknown key 'verb'"),
    "no words": ("version: 1\nrequests: [{system: x}]", "own.yaml#/requests/0/words: missing"),
    "odd name": (
        "name: a b\n" + HEAD,
        "own.yaml#/name: a name may contain letters, digits, dots, dashes and underscores",
    ),
    "odd pattern": (
        f"{HEAD}  expect: {{text: '('}}\n",
        "own.yaml#/requests/0/expect/text: '(' is not a regular expression",
    ),
    "no such tool": (f"{HEAD}  tools: [probe_fly]\n", "own.yaml#/requests/0/tools/0: no built-in tool"),
    "odd choice": (f"{HEAD}  choice: fly\n", "own.yaml#/requests/0/choice: auto, none, any, or the name of a tool"),
    "odd thinking": (f"{HEAD}  thinking: deep\n", "own.yaml#/requests/0/thinking: on, off or adaptive"),
    "odd parameter": (f"{HEAD}  params: {{heat: 1}}\n", "own.yaml#/requests/0/params/heat: unknown parameter"),
    "odd turns": (f"{HEAD}  turns: 99\n", "own.yaml#/requests/0/turns: 1 to 20 turns"),
    "odd status": (f"{HEAD}  expect: {{status: ok}}\n", "own.yaml#/requests/0/expect/status: not a whole number"),
    "odd stream": (f"{HEAD}  stream: 3\n", "own.yaml#/requests/0/stream: neither true nor false"),
    "not YAML": ("version: [", "own.yaml"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_its_place(name: str) -> None:
    text, told = WRONG[name]
    with pytest.raises(WorkbenchError) as raised:
        read(text.encode(), "own.yaml", "own")
    assert str(raised.value).startswith(told)
    assert "\n" not in str(raised.value)


def test_own_probes_are_named_by_file_or_by_path(mine: Path, tmp_path: Path) -> None:
    (mine / "units.yaml").write_text(HEAD)
    (mine / "greeting.py").write_text(PYTHON)
    (mine / "notes.txt").write_text("no probe")
    elsewhere = tmp_path / "else.yaml"
    elsewhere.write_text(HEAD)
    assert set(probes.own_probes()) == {"units", "greeting"}
    chosen = probes.select(["greeting", "format", "units", str(elsewhere)])
    assert [probe.name for probe in chosen] == ["format", "greeting", "units", "else"]
    assert outcomes(measured("generic", "openai-chat", chosen[1:])) == dict.fromkeys(
        ("greeting", "units", "else"), "pass"
    )
    assert [probe.name for probe in probes.select(["all"])] == [probe.name for probe in probes.all_probes()]


def test_a_program_runs_only_when_it_is_named(mine: Path, tmp_path: Path) -> None:
    (mine / "units.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'ran')!r})\n{PYTHON}")
    probes.own_probes(), probes.all_probes(), probes.select(["all"])
    with pytest.raises(UsageError, match=r"no probe named 'unit'"):
        probes.select(["unit"])
    assert not (tmp_path / "ran").exists()
    probes.select(["units"])
    assert (tmp_path / "ran").exists()
    assert not list(mine.glob("__pycache__"))


BROKEN = {
    "does not parse": ("probe = (", r"bad\.py:1: SyntaxError"),
    "raises": ("\nraise ValueError('no')", r"bad\.py:2: ValueError: no"),
    "leaves": ("raise SystemExit(0)", r"bad\.py:1: SystemExit"),
    "holds none": ("x = 1", "bad.py: no object 'probe'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_program_that_is_no_probe(mine: Path, name: str) -> None:
    text, told = BROKEN[name]
    (mine / "bad.py").write_text(text)
    with pytest.raises(ProfileError, match=told):
        probes.select(["bad"])


def test_a_name_that_ships_is_not_taken_twice(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"name: format\n{HEAD}")
    with pytest.raises(UsageError, match="your probe 'format' has the same name as a built-in probe"):
        probes.select([str(path)])
    with pytest.raises(UsageError, match="No such file"):
        probes.select([str(tmp_path / "nowhere.yaml")])


def test_third_parties_add_probes_by_entry_points(tmp_path: Path) -> None:
    """A package beside the program, found in a process of its own."""
    info = tmp_path / "greeter-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greeter\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[workbench.probes]\ngreeting = greeter_probe\n")
    (tmp_path / "greeter_probe.py").write_text(PYTHON)
    code = "from workbench import probes; print([p.title for p in probes.select(['greeting'])])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.getcwd()])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['whether it greets']\n"
