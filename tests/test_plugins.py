"""Parts of third parties: a package that is installed beside the program, found by its entry points."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench import children, plugins, protocols
from workbench.errors import UsageError

SESSION = Path(__file__).resolve().parents[1] / "sessions" / "anthropic-parallel-result-lost.jsonl"

ADAPTER = """
from workbench.protocols.openai_chat import adapter as chat


class Smoke:
    name = "smoke-signals"

    def __getattr__(self, name):
        return getattr(chat, name)

    def claims_url(self, url):
        return url.endswith("/smoke")


adapter = Smoke()
"""
ENTRY_POINTS = """
[workbench.adapters]
smoke_signals = smoke_adapter
[workbench.rules]
smoke = smoke_rules
[workbench.importers]
smoke = smoke_importer
"""
RULES = """
from workbench.rules import Rule, Severity

ALWAYS = Rule("smoke.seen", Severity.WARNING, "Smoke was seen.")
RULES = (ALWAYS,)


def check(case):
    yield case.finding(ALWAYS, "request", "", "smoke was seen")
"""
IMPORTER = """
from workbench.wire.exchange import Body, Exchange, HttpRequest
from workbench.wire.session import MemorySession

NAME, TITLE = "smoke", "smoke log"


def sniff(head):
    return 1.0 if head.startswith(b"SMOKE ") else 0.0


def read(data, name):
    request = HttpRequest("POST", "https://hill.example/smoke", body=Body(data[6:]))
    return MemorySession(name, (Exchange("1", request),))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder that Python takes for a place where a package of somebody else is installed."""
    info = tmp_path / "smoke-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: smoke\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    for name, text in (("smoke_adapter", ADAPTER), ("smoke_rules", RULES), ("smoke_importer", IMPORTER)):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_third_partys_importer_adapter_and_rules_are_used(installed: Path) -> None:
    log = b'SMOKE {"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    words = [sys.executable, "-m", "workbench", "check", "-"]
    places = [str(installed), str(Path(plugins.__file__).parent.parent)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run(words, input=log, capture_output=True, env=environment, cwd=installed.parent)
    assert b"smoke-signals" in done.stdout, done.stdout + done.stderr
    assert b"smoke.seen" in done.stdout
    without = subprocess.run(words, input=log, capture_output=True, cwd=installed.parent)
    assert b"smoke" not in without.stdout.replace(b"SMOKE", b"")


@pytest.mark.parametrize("package", plugins.PARTS)
def test_built_in_parts_are_the_files_of_their_package(package: str) -> None:
    names = plugins.built_in(package)
    assert names
    assert not [n for n in names if n.startswith("_")]
    for name in names:
        part = plugins.load(package, name)
        assert all(hasattr(part, needed) for needed in plugins.PARTS[package].needs)
    assert plugins.load(package, names[0]).__name__ == f"{package}.{names[0]}"


def test_a_part_that_is_not_there() -> None:
    with pytest.raises(UsageError, match=r"no adapters named 'nobody'.*anthropic_messages"):
        plugins.load(protocols.__name__, "nobody")


BROKEN = {
    "fails": "raise RuntimeError('not on\\nthis machine \x1b[2J')",
    "ends": "raise SystemExit(3)",
    "misspelt": "def ",
    "missing": None,
    "empty": "",
}


@pytest.mark.parametrize("package", plugins.PARTS)
def test_a_plug_in_that_cannot_be_used_is_named_and_left_out(package: str, tmp_path: Path) -> None:
    info = tmp_path / "bad-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n", encoding="utf-8")
    lines = [f"{name} = bad_{name}:object" for name in BROKEN]
    group = plugins.PARTS[package].group
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]), encoding="utf-8")
    for name, text in BROKEN.items():
        if text is not None:
            (tmp_path / f"bad_{name}.py").write_text(text, encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"from workbench import plugins\nassert plugins.names({package!r}) == plugins.built_in({package!r})\n"
        "from workbench.cli import main\nraise SystemExit(main(['check', sys.argv[1]]))"
    )
    done = subprocess.run(children.running(code, str(SESSION)), capture_output=True, text=True)
    said = done.stderr.splitlines()
    assert done.returncode == 1, done.stderr
    assert sorted(line.split("'")[1] for line in said) == sorted(BROKEN)
    assert all(line.startswith("workbench: the plug-in ") and f"of {group} is left out" in line for line in said)


IMPORTERS = {
    "no number": "def sniff(head):\n    return 'surely'\n",
    "a fault": "def sniff(head):\n    return head[10**9]\n",
    "an end": "def sniff(head):\n    raise SystemExit(7)\n",
    "a fault while it reads": "def sniff(head):\n    return 1.0\n",
}


@pytest.mark.parametrize("text", IMPORTERS.values(), ids=IMPORTERS)
def test_an_importer_that_fails_in_use_is_left_out_and_the_file_is_read(text: str, tmp_path: Path) -> None:
    info = tmp_path / "bad-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[workbench.importers]\nbad = bad_importer\n", encoding="utf-8")
    module = f"NAME, TITLE = 'bad', 'bad log'\n{text}\n\ndef read(data, name):\n    return {{}}[name]\n"
    (tmp_path / "bad_importer.py").write_text(module, encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from workbench.cli import main\nraise SystemExit(main(['check', sys.argv[1]]))"
    )
    done = subprocess.run(children.running(code, str(SESSION)), capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "closure.missing-result" in done.stdout
    (said,) = done.stderr.splitlines()
    assert said.startswith("workbench: the plug-in 'bad' of workbench.importers is left out: ")


def test_a_list_of_plug_ins_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(**wanted: str) -> None:
        raise ValueError("a file of somebody else")

    monkeypatch.setattr("importlib.metadata.entry_points", fault)
    monkeypatch.setattr(plugins, "_is_mentioned", lambda group: True)
    monkeypatch.setattr(plugins, "_failures", {})
    assert list(plugins._entries("workbench.rules")) == []
    assert plugins.failures() == (
        "every plug-in of workbench.rules is left out: ValueError while listing the installed packages",
    )
