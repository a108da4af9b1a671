"""The pages of ``docs/how-to`` hold examples that work: each is put where its title says, in a copy, and tried."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.test_objects import classes
from tests.test_readme import ROOT
from tests.test_texts import is_participle

PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "how-to").glob("*.md"))}
BLOCK = re.compile(r'^```\w+ title="([^"\s]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)
PARTS = {
    title: text
    for page in PAGES.values()
    for title, text in BLOCK.findall(page)
    if title.startswith("workbench/") and title.endswith(".py")
}
"""Examples that become modules of the program."""
ELSEWHERE = {"protocol": "tests/toy/telegraph is its model, and tests/toy/test_telegraph.py its test"}
CHAT = {"method": "POST", "url": "https://hill.example/v1/chat/completions"}
CAT = {"type": "function", "function": {"name": "cat", "description": "Read.", "parameters": {"type": "object"}}}
ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
Run = Callable[..., str]

pytestmark = pytest.mark.together("how-to")  # one copy, whose modules are compiled once


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with the files of every page in it."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("workbench", "profiles"):
        shutil.copytree(ROOT / name, folder / name)
    for page in PAGES.values():
        for title, text in BLOCK.findall(page):
            target = folder / title
            assert target.parent.is_dir(), f"{title}: no such folder"
            assert not target.exists(), f"{title}: there is such a file already"
            target.write_text(text, encoding="utf-8")
    panes = folder / "workbench" / "tui" / "session_panes.py"
    row = re.search(r"```python\n(PaneRow\(.*?\n\))", PAGES["pane"], re.DOTALL)
    assert row
    text, added = re.subn(
        r"(?s)(\nPANES\b.*?)\n\)\n", lambda m: f"{m[1]}\n{row[1]},\n)\n", panes.read_text(encoding="utf-8"), count=1
    )
    assert added
    panes.write_text(text, encoding="utf-8")
    return folder


SERVER = """
import contextlib, io, json, sys, warnings
from workbench.cli import main

warnings.simplefilter("ignore")
for line in sys.stdin:
    words, given = json.loads(line)
    out, err = io.StringIO(), io.StringIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(words)
    print(json.dumps([status, out.getvalue(), err.getvalue()]), flush=True)
"""
"""Runs one command after another: each process would read all contracts for itself."""


@pytest.fixture(scope="module")
def run(copy: Path) -> Iterator[Run]:
    """What a command of the copy prints; all run in one process."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        cwd=copy,
        env=environment(copy),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        assert server.stdin and server.stdout

        def command(*words: str, stdin: str = "") -> str:
            print(json.dumps([words, stdin]), file=server.stdin, flush=True)
            status, out, err = json.loads(server.stdout.readline())
            assert status == 0, out + err
            return str(out)

        yield command


def environment(copy: Path) -> dict[str, str]:
    """Where the copy is what Python imports."""
    return os.environ | {"XDG_CONFIG_HOME": str(copy / "config"), "PYTHONPATH": str(copy)}


def session(folder: Path, body: dict[str, object], answer: dict[str, object] | None = None) -> str:
    """A file with one exchange."""
    exchange: dict[str, object] = {"id": "a", "request": CHAT | {"body": {"text": json.dumps(body)}}}
    if answer:
        exchange["response"] = {"status": 200, "body": {"text": json.dumps(answer)}}
    path = folder / "asked.jsonl"
    lines = ({"workbench": "session", "version": 2}, exchange)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return str(path)


def test_every_page_has_an_example_that_is_tried() -> None:
    tried = {name.removeprefix("test_").removesuffix("_works") for name in globals() if name.endswith("_works")}
    assert tried | set(ELSEWHERE) == {name.replace("-", "_") for name in PAGES}


def test_rule_works(run: Run, tmp_path: Path) -> None:
    two = [CAT, {**CAT, "function": {**CAT["function"], "name": "Cat"}}]  # type: ignore[dict-item]
    said = run("check", session(tmp_path, ASKED | {"tools": two}))
    assert "naming.case-only" in said and "tools 'cat' and 'Cat' differ in case only" in said
    assert "Rename one of the tools." in run("explain", "naming.case-only")


def test_repair_works(run: Run, tmp_path: Path) -> None:
    two = [CAT, {**CAT, "function": {**CAT["function"], "name": "Cat"}}]  # type: ignore[dict-item]
    said = run("check", session(tmp_path, ASKED | {"tools": two}))
    assert "remove the declaration of Cat" in said


def test_what_if_works(run: Run, tmp_path: Path) -> None:
    said = run("matrix", session(tmp_path, ASKED | {"tools": [CAT]}), "openai", "--what-if", "descriptions")
    assert "descriptions=dropped" in said


def test_provider_works(run: Run) -> None:
    assert "closure.missing-result" in run("explain", "call toolu_7 has no result")
    assert "Hill gateway" in run("explain", "hill")
    said = run("explain", "temperature is fixed", "--provider", "hill")
    assert "params.unsupported" in said


def test_importer_works(run: Run) -> None:
    said = run("show", "-", stdin='HILL {"model": "m", "messages": [{"role": "user", "content": "up"}]}')
    assert "up" in said


def test_export_form_works(run: Run, tmp_path: Path) -> None:
    run("export", session(tmp_path, ASKED), "--as", "models", "-o", str(tmp_path / "models.txt"))
    assert (tmp_path / "models.txt").read_text() == "1 m\n"


def test_text_format_works(run: Run, tmp_path: Path) -> None:
    message = {"role": "assistant", "content": 'CALL cat {"path": "x"}'}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    said = run("show", session(tmp_path, ASKED | {"tools": [CAT]}, answer), "--as", "textcalls")
    assert "call-line" in said and "cat" in said


def test_probe_works(run: Run, copy: Path) -> None:
    said = run("probe", str(copy / "greeting.py"), "--target", "sim:deepseek")
    assert "greeting" in said and "pass" in said


def test_pane_works(copy: Path, tmp_path: Path) -> None:
    drive = f"""
import asyncio
from pathlib import Path
from workbench.tui.app import WorkbenchApp
from workbench.wire.session.store import open_session
async def main():
    app = WorkbenchApp(open_session(Path({session(tmp_path, ASKED | {"tools": [CAT]})!r})))
    async with app.run_test(size=(160, 48)) as pilot:
        for _ in range(500):
            await pilot.pause(0.01)
            view = next((pane.content for pane in app.screen.query("#declarations")), None)
            if view:
                break
        print(type(view).__name__, view.count(), view.head(0)[0].text, view.body(0, 80)[0][0].text)
asyncio.run(main())
"""
    command = [sys.executable, "-c", drive]
    done = subprocess.run(command, cwd=copy, env=environment(copy), capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.split() == ["DeclarationsContent", "1", "cat", "Read."]


@pytest.mark.together("source")  # parsed once
@pytest.mark.parametrize("title", PARTS)
def test_an_example_keeps_the_rules_of_its_room(title: str, tmp_path: Path) -> None:
    """Imports through fronts, names that no other class has and that are no participles, and lint."""
    tree = ast.parse(PARTS[title])
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    others = [name for name in modules if name.count(".") > 1 and name.split(".")[1] != title.split("/")[1]]
    assert [name for name in others if not ROOT.joinpath(*name.split(".")).is_dir()] == []
    defined = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    assert [name for name in (Path(title).stem, *defined) if is_participle(name)] == []
    taken = {name.rpartition(".")[2] for name in classes()}
    assert [name for name in defined if name in taken] == []
    lint = [sys.executable, "-m", "ruff", "check", "-q", "--stdin-filename", str(ROOT / title), "-"]
    done = subprocess.run(lint, input=PARTS[title], cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout
