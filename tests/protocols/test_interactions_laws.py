"""What the adapter of interactions owes for every leaf, on fixtures and generated bodies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.protocols import interaction_bodies as bodies
from tests.protocols import laws
from tests.protocols.laws import Subject
from workbench.ir import Message
from workbench.protocols.decode import REQUEST, RESPONSE
from workbench.protocols.gemini_interactions import adapter
from workbench.provenance import Leaf

NAME = adapter.name
FOLDER = Path(__file__).resolve().parent.parent / "data" / "gemini_interactions"
WHOLE = sorted(path for path in FOLDER.glob("*.json") if b'"error": {' not in path.read_bytes())
STREAMS = sorted(FOLDER.glob("*.sse"))
DERIVING = ("/type", "/role", "/status")
"""Leaves that say what kind of node it is: other values make other nodes."""


def chosen(found: Iterable[tuple[Message, Leaf]]) -> Iterator[tuple[Message, Leaf]]:
    """Leaves whose change changes nothing but a value. A signature that becomes empty is none any more."""
    for message, leaf in found:
        if not leaf.pointer.endswith(DERIVING):
            yield message, leaf


def check_stream(body: bytes) -> None:
    """Each leaf decodes from its place; changed, it is changed, and changed back, the stream is what it was."""
    subject = laws.check_places(body, RESPONSE, NAME)
    for message, leaf in chosen(subject.leaves()):
        if laws.is_structure(leaf):
            continue
        new = laws.other(leaf.value)
        changed = subject.encode(subject.with_leaf(message, leaf, new), body)
        after = Subject(changed, RESPONSE, NAME)
        if laws.shape(after) != laws.shape(subject):
            continue  # an opaque node became one that is understood
        again = [found for found in after.leaves() if laws.alike(found[1], leaf)]
        assert not again or laws.same(again[0][1].value, new), leaf.pointer
        if not subject.said.anomalies:
            assert not after.said.anomalies, leaf.pointer
        back = subject.encode(subject.said, changed)
        assert back == body or Subject(back, RESPONSE, NAME).said == subject.said, leaf.pointer


@pytest.mark.parametrize("path", WHOLE, ids=lambda p: p.name)
def test_fixtures(path: Path) -> None:
    laws.check(path.read_bytes(), REQUEST if "request" in path.name else RESPONSE, NAME, chosen)


@pytest.mark.parametrize("path", STREAMS, ids=lambda p: p.name)
def test_streamed_fixtures(path: Path) -> None:
    check_stream(path.read_bytes())


@given(bodies.REQUEST)
@settings(max_examples=40)
def test_generated_requests(body: Any) -> None:
    laws.check(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"), REQUEST, NAME, chosen)


@given(bodies.RESPONSE)
@settings(max_examples=40)
def test_generated_answers(body: Any) -> None:
    laws.check(json.dumps(body).encode(), RESPONSE, NAME, chosen)


@given(bodies.STREAM)
@settings(max_examples=30)
def test_generated_streams(body: bytes) -> None:
    check_stream(body)
