"""The reference of the file formats describes the files that the program reads."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.test_architecture import FLOORS, ROOMS
from workbench import contracts
from workbench.probes._yaml_probe import Expectation, WrittenRequest
from workbench.probes._yaml_probe import load_own as load_probe
from workbench.probes.profiles.profile import NAMES, of_json
from workbench.send import own_targets
from workbench.tui import keymap
from workbench.wire.exchange import (
    Body,
    Chunk,
    Exchange,
    ExchangeKind,
    Frame,
    Headers,
    HttpRequest,
    HttpResponse,
    Origin,
    Redaction,
    State,
)
from workbench.wire.jsontext import loads
from workbench.wire.session import text, untrusted_sqlite
from workbench.wire.session.store import open_session

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGE, re.DOTALL))

_HEADERS, _REDACTIONS = Headers((("a", "b"),)), (Redaction("url", 0, 1, "bearer"),)
WHOLE = Exchange(
    "1",
    HttpRequest(
        "PUT", "/", _HEADERS, Body(b"\xff", "gzip", (Chunk(1, 0.5),), False, "cut", 9, "00"), "1.1", _REDACTIONS
    ),
    HttpResponse(500, _HEADERS, Body(b"x"), "no", "1.1", _REDACTIONS),
    State.ABORTED,
    ExchangeKind.WEBSOCKET,
    Origin.PROBE,
    *(1.0, 2.0, "hop", "0", "branch", "client", "note"),
    frames=(Frame("sent", "text", b"x", 0.1),),
    meta={"note": 1},
)
"""An exchange in which nothing has its default."""


def section(title: str) -> str:
    """The text of a section of the page."""
    return re.split(r"^## ", PAGE.split(f"\n## {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def documented(title: str) -> set[str]:
    """The names in the first column of the tables of a section."""
    cells = re.findall(r"^\| ([^|]+) \|", section(title), re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own configuration directory, empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    folder = tmp_path / "workbench"
    folder.mkdir()
    return folder


def test_the_text_form_is_read_and_written_with_the_keys_of_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(EXAMPLES["two lines of a session in text form"], encoding="utf-8")
    session = open_session(path)
    exchange = session.exchange(0)
    assert not session.damage
    assert exchange.response and exchange.response.status == 400
    title = "Session, text form"
    words = set(re.findall(r"`([\w-]+)`", section(title)))
    full = loads(text.dump(WHOLE).encode())
    assert keys_of(full["frames"]) <= words
    assert keys_of(full | {"frames": []}) <= documented(title)
    assert {*ExchangeKind, *Origin, *State} - {State.OPEN} <= words


def keys_of(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(keys_of, value)) if value else set()
    return set(value).union(*map(keys_of, value.values())) if isinstance(value, dict) else set()


def test_every_table_and_column_of_the_sqlite_form_is_there() -> None:
    db = sqlite3.connect(":memory:")
    db.executescript(untrusted_sqlite.schema())
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section("Session, SQLite form"), re.MULTILINE))
    assert rows.keys() == set(tables)
    for table in tables:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        named = re.findall(r"`(\w+)`", rows[table])
        assert [name for name in named if name in columns] == columns
    db.close()


def test_a_capability_profile_has_the_keys_of_its_table() -> None:
    plain = loads(EXAMPLES["a line of a capability profile"].encode())
    profile = of_json(plain)
    assert profile.facts == {"tool_call_format": "anthropic", "closes": True}
    assert {*plain, *NAMES} == documented("Capability profile")
    assert profile.as_json() == plain


def test_the_contract_is_one_and_its_keys_are_those_of_the_schema(own: Path) -> None:
    (own / "profiles").mkdir()
    (own / "profiles" / "mine.yaml").write_text(EXAMPLES["a contract"], encoding="utf-8")
    contracts.forget()
    try:
        assert contracts.get("mine").title == "My gateway"
    finally:
        contracts.forget()
    schema = loads((ROOT / "profiles" / "contract.schema.json").read_bytes())
    assert documented("Contract") == set(schema["properties"])


def test_the_probe_is_one(tmp_path: Path) -> None:
    path = tmp_path / "units.yaml"
    path.write_text(EXAMPLES["a probe"], encoding="utf-8")
    probe = load_probe(path)
    assert (probe.name, probe.title) == ("units", "whether the model keeps to metric units")
    keys = {field.name for field in fields(WrittenRequest)} - {"expected"} | {
        "expect",
        *yaml.safe_load(EXAMPLES["a probe"]),
    }
    assert keys <= documented("Probe")
    expectations = {field.name.replace("_", "-") for field in fields(Expectation)}
    assert expectations <= set(re.findall(r"`([\w-]+)`", section("Probe").partition("| `expect` |")[2]))


def test_the_targets_are_read_with_every_key(own: Path) -> None:
    (own / "targets.yaml").write_text(EXAMPLES["targets.yaml"], encoding="utf-8")
    (target,) = own_targets.configured_targets().values()
    assert (target.url, target.key_variable) == ("https://gateway.example/v1", "GATEWAY_KEY")
    assert documented("targets.yaml") == set(own_targets.KEYS)


def test_the_keys_apply(own: Path) -> None:
    (own / "keys.yaml").write_text(EXAMPLES["keys.yaml"], encoding="utf-8")
    found = keymap.load(keymap.path())
    assert not found.problems
    assert found.changed == {"session.next-break": ("]", "f8"), "wire.headers": ()}


def test_the_page_on_the_architecture_has_the_rooms_in_their_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("\n## Rooms\n")[2].partition("\n## ")[0]
    shown = [(room, int(floor)) for room, floor in re.findall(r"^\| `(\w+)` \| (\d+) \|", table, re.MULTILINE)]
    assert shown == [(room, number) for number, floor in enumerate(FLOORS, 1) for room in floor]
    steps = page.partition("\n## How one request travels\n")[2].partition("\n## ")[0]
    modules = {
        name for row in re.findall(r"^\| \d+\. [^|]+\| ([^|]+) \|", steps, re.MULTILINE) for name in _quoted(row)
    }
    assert len(modules) > 12
    for module in modules:
        path = ROOT / "workbench" / module.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), module
    drawing = (ROOT / "docs" / "rooms.svg").read_text(encoding="utf-8")
    assert sorted(re.findall(r">(\w+)</text>", drawing)) == sorted(ROOMS)


def _quoted(text: str) -> list[str]:
    return re.findall(r"`([\w.]+)`", text)


def test_the_test_files_that_the_pages_name_exist() -> None:
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    named = {path for page in pages for path in re.findall(r"\btests/[\w/]+\.py\b", page.read_text("utf-8"))}
    assert "tests/contracts/test_pages.py" in named
    assert not [path for path in sorted(named) if "NAME" not in path and not (ROOT / path).is_file()]


def test_the_page_of_inputs_names_every_contract() -> None:
    page = (ROOT / "docs" / "guide" / "inputs.md").read_text(encoding="utf-8")
    assert [name for name in contracts.names() if f"`{name}`" not in page] == []
