"""Real traffic: every file opens, every exchange of our protocols decodes, and what is healthy has no error finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from workbench import adapters
from workbench.errors import UnreadableInput
from workbench.importers import open_input
from workbench.inspection import Inspection, Inspector
from workbench.rules import FAILED
from workbench.wire.encoding import decode_body
from workbench.wire.session import Session

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "recordings"
FILES = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.glob("*/*/*") if p.is_file())

TRUE_BREAKS = {
    "anthropic-sdk-python/anthropic/incomplete_partial_json_response.txt": (
        {"args.truncated", "stream.block-order"},
        "the output limit cuts the arguments of the call, and its block is never stopped",
    ),
    "pydantic-ai/anthropic/test_tool_search__test_tool_search_eval[anthropic].yaml": (
        {"args.schema"},
        "the model names an argument 'ticker' that is declared as 'symbol'; the tool answers with a validation error",
    ),
    "pydantic-ai/groq/test_groq__test_tool_use_failed_error_streaming.yaml": (
        {"stream.error-event"},
        "the provider refuses the call of its own model in the middle of the stream",
    ),
    "pydantic-ai/openrouter/test_openrouter__test_openrouter_stream_error.yaml": (
        {"stream.error-event"},
        "the upstream fails with 'Token limit reached' in the middle of the stream",
    ),
    "vercel-ai/anthropic/spliced-message-start.chunks.txt": (
        {"stream.block-order"},
        "a stream spliced from two messages: a second message_start",
    ),
    "vercel-ai/azure/azure-reasoning-encrypted-content.1.chunks.txt": (
        {"stream.block-order"},
        "four answers one after the other in what is one stream here",
    ),
    "vercel-ai/openai/openai-error.1.chunks.txt": (
        {"stream.error-event"},
        "the quota is exceeded, which the provider says in the running stream",
    ),
}
"""File → (rules that find an error in it, why that is right)."""

TRANSCRIPTS = ("gemini-cli/", "inspect_ai/", "inspect_scout/", "pi-mono/")
"""Folders whose files are transcripts of clients that no importer reads yet: refused by name, in one line."""


class Recording(NamedTuple):
    name: str
    session: Session
    result: Inspection


@pytest.fixture(params=[f for f in FILES if not f.startswith(TRANSCRIPTS)] or [None], scope="module")
def recording(request, recordings) -> Iterator[Recording]:
    """One file, opened and inspected."""
    session = open_input(str(recordings / request.param))
    yield Recording(request.param, session, Inspector(session).run())
    session.close()


def test_error_findings_are_true(recording):
    errors = [f for f in recording.result.findings if f.severity == "error"]
    expected, _ = TRUE_BREAKS.get(recording.name, (set(), ""))
    assert {f.rule for f in errors} == expected, [(f.exchange, f.rule, f.pointer, f.message) for f in errors]


def test_no_rule_fails(recording):
    assert not [f for f in recording.result.findings if f.rule == FAILED]


def test_every_exchange_of_our_protocols_is_decoded(recording):
    assert len(recording.result.rows) == len(recording.session)
    rows = [r for r in recording.result.rows if r.protocol in adapters.protocols()]
    assert not [(r.index, r.problems) for r in rows if r.problems]


def test_requests_come_out_byte_exact(recording):
    for row in recording.result.rows:
        sent = recording.session.exchange(row.index).request
        body = decode_body(sent.body) if sent and row.protocol in adapters.protocols() else b""
        if row.protocol and body.strip():
            adapter = adapters.get(row.protocol)
            assert adapter.encode_request(adapter.decode_request(body), body) == body


@pytest.mark.parametrize("name", [f for f in FILES if f.startswith(TRANSCRIPTS)] or [None])
def test_transcripts_of_other_clients_are_refused_in_one_line(recordings, name):
    with pytest.raises(UnreadableInput) as refused:
        open_input(str(recordings / name))
    assert str(refused.value).count("\n") == 0


def test_the_table_names_files_that_exist(recordings):
    assert not [name for name in TRUE_BREAKS if not (recordings / name).is_file()]
