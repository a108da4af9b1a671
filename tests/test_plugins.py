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


def test_a_plug_in_that_cannot_be_used_is_named_and_left_out(tmp_path: Path) -> None:
    info = tmp_path / "bad-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n", encoding="utf-8")
    names = [f"{name} = bad_{name}:object" for name in BROKEN]
    lines = [line for part in plugins.PARTS.values() for line in (f"[{part.group}]", *names)]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    for name, text in BROKEN.items():
        if text is not None:
            (tmp_path / f"bad_{name}.py").write_text(text, encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from workbench import plugins\n"
        "for each in plugins.PARTS:\n"
        "    assert plugins.names(each) == plugins.built_in(each), each\n"
        "from workbench.cli import main\nraise SystemExit(main(['check', sys.argv[1]]))"
    )
    done = subprocess.run(children.running(code, str(SESSION)), capture_output=True, text=True)
    said = done.stderr.splitlines()
    assert done.returncode == 1, done.stderr
    assert all(line.startswith("workbench: the plug-in ") for line in said)
    for part in plugins.PARTS.values():
        own = [line for line in said if f"of {part.group} is left out" in line]
        assert sorted(line.split("'")[1] for line in own) == sorted(BROKEN), part.group
    assert len(said) == len(BROKEN) * len(plugins.PARTS)


IMPORTERS = {
    "gives_no_number": "def sniff(head):\n    return 'surely'\n",
    "fails": "def sniff(head):\n    return head[10**9]\n",
    "ends": "def sniff(head):\n    raise SystemExit(7)\n",
    "fails_as_it_reads": "def sniff(head):\n    return 1.0\n",
}


def test_importers_that_fail_in_use_are_left_out_and_the_file_is_read(tmp_path: Path) -> None:
    info = tmp_path / "bad-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bad\nVersion: 1.0\n", encoding="utf-8")
    entries = "\n".join(f"{name} = bad_{name}" for name in IMPORTERS)
    (info / "entry_points.txt").write_text(f"[workbench.importers]\n{entries}\n", encoding="utf-8")
    for name, text in IMPORTERS.items():
        module = f"NAME, TITLE = '{name}', 'bad log'\n{text}\n\ndef read(data, name):\n    return {{}}[name]\n"
        (tmp_path / f"bad_{name}.py").write_text(module, encoding="utf-8")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from workbench.cli import main\nraise SystemExit(main(['check', sys.argv[1]]))"
    )
    done = subprocess.run(children.running(code, str(SESSION)), capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "closure.missing-result" in done.stdout
    said = done.stderr.splitlines()
    assert sorted(line.split("'")[1] for line in said) == sorted(IMPORTERS)
    assert all(" of workbench.importers is left out: " in line for line in said)


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
