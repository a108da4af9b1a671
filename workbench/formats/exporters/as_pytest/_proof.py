"""Runs exported test folders: all on the broken transcripts, all on the fixed ones, each run in a clean process.

Clean means: no conftest, plugins, options, contracts or keys of the person who exports, and a scratch working
directory. Only the compiled form of the shipped contracts is copied, which saves each run a second.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from workbench import children
from workbench.contracts import loading
from workbench.formats.exporters import ExportProof, ExportRun
from workbench.formats.exporters.as_pytest._text import BROKEN, TRANSCRIPT, VARIABLE

MISSING: Final = "pytest is not installed here: python -m pip install 'pytest>=8.4', then export again"

_SECONDS: Final = 120
_SECONDS_EACH: Final = 10
_INHERITED: Final = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "LD_LIBRARY_PATH")
_OPTIONS: Final = (
    "-q", "-W", "error", "-p", "no:cacheprovider", "-p", "workbench.pytest_plugin", "--noconftest", "--tb=line",
    "--import-mode=importlib",
    "--color=no", "-o", "junit_family=xunit1",
)  # fmt: skip
_LONGEST: Final = 300


def prove(folders: Sequence[Path]) -> list[ExportProof]:
    """Run the tests of folders twice; a proof is red on the broken transcript and green on the fixed one."""
    if find_spec("pytest") is None:
        return [ExportProof((), f"the test was not run: {MISSING}") for _ in folders]
    with tempfile.TemporaryDirectory() as scratch:
        running = [
            _TestProcess(folders, on, file, Path(scratch)) for on, file in (("broken", BROKEN), ("fixed", TRANSCRIPT))
        ]
        red, green = (run.wait() for run in running)
    return [_proof(red[folder], green[folder]) for folder in map(Path.resolve, folders)]


def _proof(red: ExportRun, green: ExportRun) -> ExportProof:
    if problem := red.problem or green.problem:
        why = f"the test could not be run: {problem}"
    elif green.failed or not green.passed:
        why = f"the test fails on the fixed request: {green.lines[0] if green.lines else 'no test ran'}"
    elif not red.failed:
        why = "the test passes on the broken request"
    else:
        why = ""
    return ExportProof((red, green), why)


class _TestProcess:
    """One pytest process on some folders."""

    def __init__(self, folders: Sequence[Path], on: str, transcript: str, scratch: Path) -> None:
        self.on = on
        self.folders = [folder.resolve() for folder in folders]
        self.root = Path(os.path.commonpath(self.folders))
        self.home = scratch / on
        self.home.mkdir()
        loading.copy_compiled(self.home)
        (self.home / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        self.report = self.home / "report.xml"
        where = (f"--rootdir={self.root}", "-c", str(self.home / "pytest.ini"), f"--junitxml={self.report}")
        command = children.running_module("pytest", *_OPTIONS, *where, *map(str, self.folders))
        self.output = (self.home / "output").open("wb")
        self.process = subprocess.Popen(
            command, cwd=self.home, env=self._environment(transcript), stdin=subprocess.DEVNULL,
            stdout=self.output, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def _environment(self, transcript: str) -> dict[str, str]:
        """Environment with only the paths of programs and of this package."""
        return {name: os.environ[name] for name in _INHERITED if name in os.environ} | {
            "HOME": str(self.home),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            VARIABLE: transcript,
        }

    def wait(self) -> dict[Path, ExportRun]:
        """Folder → results of its tests, after the process has ended."""
        problem = ""
        try:
            status = self.process.wait(_SECONDS + _SECONDS_EACH * len(self.folders))
        except subprocess.TimeoutExpired:
            self.process.kill()
            status, problem = self.process.wait(), "the test run timed out"
        self.output.close()
        if not problem and status not in (0, 1):
            problem = self._last_words() or f"pytest exited with status {status}"
        found = defaultdict[Path, list[tuple[str, str, str]]](list)
        for folder, kind, name, why in self._cases() if not problem else ():
            found[folder].append((kind, name, why))
        return {folder: self._test_run(found[folder], problem) for folder in self.folders}

    def _test_run(self, cases: list[tuple[str, str, str]], problem: str) -> ExportRun:
        lines = tuple(f"{name}: {why}" for kind, name, why in cases if kind)
        broken = [f"{name}: {why}" for kind, name, why in cases if kind == "error"]
        passed = sum(not kind for kind, _, _ in cases)
        return ExportRun(self.on, passed, len(cases) - passed, lines, problem or (broken[0] if broken else ""))

    def _cases(self) -> Iterator[tuple[Path, str, str, str]]:
        """(folder, empty or "failure" or "error", test, reason) of each test."""
        from xml.etree import ElementTree

        for case in ElementTree.parse(self.report).getroot().iter("testcase"):
            file = case.get("file") or f"{(case.get('name') or '').replace('.', '/')}.py"
            bad = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
            why = _one_line((bad.get("message") if bad is not None else "") or "")
            kind = "" if bad is None else "error" if bad.tag != "failure" else bad.tag
            yield (self.root / file).resolve().parent, kind, case.get("name") or "", why

    def _last_words(self) -> str:
        output = (self.home / "output").read_text(encoding="utf-8", errors="replace")
        return _one_line(next((line for line in reversed(output.splitlines()) if line.strip()), ""))


def _one_line(text: str) -> str:
    """The first line, shortened."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
