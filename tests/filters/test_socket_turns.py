"""Turns of WebSockets in filters, in ``metrics`` and in ``matrix``: each is an exchange as over HTTP."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.cli.conftest import Run, run  # noqa: F401  a fixture
from tests.filters.test_matching import facts_of, passing
from tests.rules.test_sockets import HEALTHY
from workbench.filters import Facts
from workbench.protocols import with_turns
from workbench.wire.exchange import Exchange
from workbench.wire.session import MemorySession, store


def exchanges() -> list[Exchange]:
    """Three connections, each followed by its two turns: Realtime (0 to 2), Live (3 to 5), Responses (6 to 8)."""
    named = ((n, HEALTHY[name]) for n, name in enumerate(("realtime", "live", "responses")))
    return [*with_turns(replace(each, id=f"c{n}", started_at=1.79e9 + 1000 * n) for n, each in named)]


@cache
def connections() -> list[Facts]:
    return facts_of(MemorySession("sockets", tuple(exchanges())))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("method:GET", [0, 3, 6]),
        ("status:101", [0, 3, 6]),
        ("status:200", [1, 2, 4, 5, 7, 8]),
        ("state:complete", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("host~googleapis", [3, 4, 5]),
        ("path:/v1/responses", [6, 7, 8]),
        ("protocol:openai-realtime", [1, 2]),
        ("protocol:gemini-live", [4, 5]),
        ("provider=openai", [7, 8]),
        ("model:gpt-realtime", [1, 2]),
        ("tool:", [1, 4, 7]),
        ("tool:list_dir", [1, 4]),
        ("finish:completed", [1, 2, 7, 8]),
        ("turn:2", [2, 5, 8]),
        ("conversation:3", [7, 8]),
        ("time:>0.3s", [1, 2, 5, 7, 8]),
        ("bytes:>1k", [1, 2, 5, 7, 8]),
        ("id:call_1", [1, 2, 7, 8]),
        ("id:resp_1", [1, 7, 8]),
        ("header:content-type", [1, 2, 4, 5, 7, 8]),
        ('text~"Two files"', [0, 2, 5]),
        ("text~setupComplete", [3]),
        ("severity:error", []),
    ],
)
def test_a_filter_selects_connections_and_their_turns(expression: str, expected: list[int]) -> None:
    assert passing(expression, connections()) == expected


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sockets.jsonl"
    store.save(tuple(exchanges()), path, form="text")
    return path


def test_metrics_count_turns_and_not_connections(run: Run, file: Path) -> None:  # noqa: F811
    groups = json.loads(run("metrics", file, "--format", "json").out)["groups"]
    counts = {each["name"]: (each["exchanges"], each["calls"], each["fitting"], each["broken"]) for each in groups}
    assert counts == {name: (2, 1, 1, 0) for name in ("gemini-live", "openai", "openai-realtime")}


@pytest.mark.parametrize(
    ("number", "protocol", "model"),
    [
        (3, "openai-realtime", "gpt-realtime"),
        (6, "gemini-live", "gemini-2.5-flash-native-audio-preview"),
        (9, "openai-responses", "gpt-5.2"),
    ],
)
def test_every_contract_judges_a_turn(run: Run, file: Path, number: int, protocol: str, model: str) -> None:  # noqa: F811
    answer = json.loads(run("matrix", file, "--exchange", number, "--format", "json").out)
    assert (answer["exchange"], answer["protocol"], answer["model"]) == (number - 1, protocol, model)
    verdicts = {each["contract"]: each["verdict"] for each in answer["contracts"]}
    assert verdicts[answer["provider"]] == verdicts["anthropic"] == "accepts"


def test_no_contract_judges_a_connection(run: Run, file: Path) -> None:  # noqa: F811
    done = run("matrix", file, "--exchange", 1)
    assert (done.status, done.err) == (2, "workbench: exchange 1: not a request to a model\n")
