"""Regression over fixed transcripts: ``workbench check DIR/*`` on a folder of recordings, for every adapter."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from workbench import protocols
from workbench.probes.selftest.healthy import sessions
from workbench.wire.exchange import Body, Exchange
from workbench.wire.jsontext import dumps, loads
from workbench.wire.session import exchanges_of, store

LABELS = ("generic",)


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A transcript in each protocol, as a team would keep them."""
    folder = tmp_path_factory.mktemp("transcripts")
    for healthy in sessions(LABELS):
        kept = list(exchanges_of(healthy.session))
        protocol = max((p for p in protocols.protocols() if p in healthy.name), key=len)
        path = folder / f"{protocol}.jsonl"
        if not path.exists():
            store.save(kept, path)
    return folder


def test_every_adapter_has_a_transcript(transcripts: Path) -> None:
    assert {path.stem for path in transcripts.iterdir()} == set(protocols.protocols())


def test_a_folder_of_transcripts_passes(run: Run, transcripts: Path) -> None:
    done = run("check", *sorted(transcripts.iterdir()), "--fail-on", "error", "--format", "junit")
    assert done.status == 0
    assert {suite.get("failures") for suite in ET.fromstring(done.out).iter("testsuite")} == {"0"}


def test_one_that_broke_is_named(run: Run, transcripts: Path, tmp_path: Path) -> None:
    """A client that began to drop results: its transcript fails, and the others do not."""
    for path in transcripts.iterdir():
        kept = list(exchanges_of(store.open_session(path)))
        if path.stem == "openai-chat":
            kept = [*kept[:1], *map(without_results, kept[1:])]
        store.save(kept, tmp_path / path.name)
    done = run("check", *sorted(tmp_path.iterdir()), "--fail-on", "error")
    assert done.status == 1
    assert "closure.missing-result" in done.out
    assert run("check", tmp_path / "openai-chat.jsonl").status == 1
    assert run("check", tmp_path / "anthropic-messages.jsonl").status == 0


def without_results(exchange: Exchange) -> Exchange:
    from dataclasses import replace

    assert exchange.request
    body = loads(exchange.request.body.raw)
    body["messages"] = [message for message in body["messages"] if message["role"] != "tool"]
    return replace(exchange, request=replace(exchange.request, body=Body(dumps(body))))
