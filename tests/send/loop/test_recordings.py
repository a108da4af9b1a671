"""Recorded conversations continued from every answer: the request that follows says what the client's next one said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.thinning import Thin
from workbench.errors import WorkbenchError
from workbench.formats.importers import open_input
from workbench.ir import JsonValue, Message, Text, ToolCallIR, ToolResultIR
from workbench.protocols.decode import DecodedExchange
from workbench.send.loop import AnswerCall, ConversationLoop, RecordedResults, Send
from workbench.wire.exchange import Exchange
from workbench.wire.session import Session

LARGEST = 150_000
LONGEST = 40

OTHERWISE = {
    "test_openai_native_tool_search_with_deferred_capability": "its client sent other arguments than the model had",
    "test_google_instructions_only_with_tool_calls": "one call thrice in one answer, without ids",
}
"""Recordings whose client said something else, and what."""


def spoken(messages: tuple[Message, ...]) -> list[JsonValue]:
    """Calls and results: what has to be the same. Reasoning is not: many clients drop it."""
    parts = [part for message in messages for part in message.parts]
    calls = [(part.name, part.input) for part in parts if isinstance(part, ToolCallIR)]
    results = [_texts(part) for part in parts if isinstance(part, ToolResultIR)]
    return [calls, results]


def _texts(result: ToolResultIR) -> list[str]:
    return [part.text for part in result.content if isinstance(part, Text)]


def continued(session: Session) -> Iterator[tuple[DecodedExchange, DecodedExchange]]:
    """(what the loop would send, what was sent) for each answer with calls whose results are recorded behind it."""
    decoded = [DecodedExchange(n, session.exchange(n)) for n in range(len(session))]
    recording = RecordedResults(session)
    for before in decoded:
        if before.request is None or before.response is None or before.request.previous_id is not None:
            continue
        history = before.request.messages
        later = (d for d in decoded[before.index + 1 :] if d.request and d.request.messages[: len(history)] == history)
        after = next((d for d in later if d.request and len(d.request.messages) > len(history)), None)
        loop = ConversationLoop(before.exchange, before.protocol or "")
        if after is None or not loop.calls:
            continue
        while isinstance(step := loop.step, AnswerCall):
            found = recording.of(step.call, before.index)
            if found is None:
                break
            loop = loop.after(found.result)
        if isinstance(step, Send):
            yield DecodedExchange(before.index, Exchange("next", step.request), before.protocol), after


def test_what_follows_is_what_the_client_said(recordings: Path, thin: Thin) -> None:
    compared, different = 0, set[str]()
    for path in thin(sorted(p for p in recordings.rglob("*") if p.is_file() and p.stat().st_size < LARGEST), 2):
        try:
            session = open_input(str(path))
        except (WorkbenchError, OSError):
            continue
        for ours, theirs in continued(session) if len(session) <= LONGEST else ():
            assert ours.request and theirs.request
            made = spoken(ours.request.messages)
            compared += 1
            if made != spoken(theirs.request.messages[: len(ours.request.messages)]):
                different.add(path.name)
    assert compared > 30
    assert {name for name in different if not any(known in name for known in OTHERWISE)} == set()
