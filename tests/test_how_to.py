"""The pages of ``docs/how-to`` hold examples that work: each is put where its title says, in a copy, and tried."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
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


def run(copy: Path, *words: str, stdin: str = "", status: int = 0) -> str:
    """What a command of the copy prints."""
    environment = os.environ | {"XDG_CONFIG_HOME": str(copy / "config"), "PYTHONPATH": str(copy)}
    command = [sys.executable, *words] if words[0] == "-c" else [sys.executable, "-m", "workbench", *words]
    done = subprocess.run(
        command, cwd=copy, env=environment, input=stdin, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


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


def test_rule_works(copy: Path, tmp_path: Path) -> None:
    two = [CAT, {**CAT, "function": {**CAT["function"], "name": "Cat"}}]  # type: ignore[dict-item]
    said = run(copy, "check", session(tmp_path, ASKED | {"tools": two}))
    assert "naming.case-only" in said and "tools 'cat' and 'Cat' differ in case only" in said
    assert "Rename one of the tools." in run(copy, "explain", "naming.case-only")


def test_repair_works(copy: Path, tmp_path: Path) -> None:
    two = [CAT, {**CAT, "function": {**CAT["function"], "name": "Cat"}}]  # type: ignore[dict-item]
    said = run(copy, "check", session(tmp_path, ASKED | {"tools": two}))
    assert "remove the declaration of Cat" in said


def test_what_if_works(copy: Path, tmp_path: Path) -> None:
    said = run(copy, "matrix", session(tmp_path, ASKED | {"tools": [CAT]}), "openai", "--what-if", "descriptions")
    assert "descriptions=dropped" in said


def test_provider_works(copy: Path) -> None:
    assert "closure.missing-result" in run(copy, "explain", "call toolu_7 has no result")
    assert "Hill gateway" in run(copy, "explain", "hill")
    said = run(copy, "explain", "temperature is fixed", "--provider", "hill")
    assert "params.unsupported" in said


def test_importer_works(copy: Path) -> None:
    said = run(copy, "show", "-", stdin='HILL {"model": "m", "messages": [{"role": "user", "content": "up"}]}')
    assert "up" in said


def test_export_form_works(copy: Path, tmp_path: Path) -> None:
    run(copy, "export", session(tmp_path, ASKED), "--as", "models", "-o", str(tmp_path / "models.txt"))
    assert (tmp_path / "models.txt").read_text() == "1 m\n"


def test_text_format_works(copy: Path, tmp_path: Path) -> None:
    message = {"role": "assistant", "content": 'CALL cat {"path": "x"}'}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    said = run(copy, "show", session(tmp_path, ASKED | {"tools": [CAT]}, answer), "--as", "textcalls")
    assert "call-line" in said and "cat" in said


def test_probe_works(copy: Path) -> None:
    said = run(copy, "probe", str(copy / "greeting.py"), "--target", "sim:deepseek")
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
    assert run(copy, "-c", drive).split() == ["DeclarationsContent", "1", "cat", "Read."]


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
