"""The chain of real traffic. Read by eye once; here so that it stays so."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.chain import closure, ledger
from workbench.chain.closure import CallState, Closure
from workbench.chain.conversations import Conversations
from workbench.chain.ledger import Entry, ReplayOutcome
from workbench.formats.importers import open_input
from workbench.protocols.decode import DecodedExchange
from workbench.terms import ClosureTerms, Placement, ReasoningTerms, Scope

BLOCKS = ClosureTerms(Placement.NEXT_MESSAGE, results_first=True, result_role="user")
CHAT = ClosureTerms(Placement.CONTIGUOUS, result_role="tool")
SIGNED = ReasoningTerms(("thinking",), Scope.TOOL_LOOP, exact="latest", required_when="on")
NEVER = ReasoningTerms()
FOR_GOOD = ReasoningTerms(("reasoning_content",), Scope.TOOL_TURNS, thinking_default=True)


class Chain:
    """What the chain says of a file, exchange by exchange."""

    def __init__(self, path: Path, terms: ClosureTerms, reasoning: ReasoningTerms = NEVER) -> None:
        session, grouped = open_input(str(path)), Conversations()
        self.lanes: list[int | None] = []
        self.closures: list[Closure] = []
        self.entries: list[tuple[Entry, ...]] = []
        for n in range(len(session)):
            decoded = DecodedExchange(n, session.exchange(n))
            found = grouped.add(decoded)
            self.lanes.append(None if found is None else found.id)
            received = found.before(n).received if found else ()
            self.closures.append(closure.derive(decoded.request, decoded.response, terms))
            self.entries.append(ledger.derive(decoded.request, decoded.response, received, reasoning).entries)
        self.states = {line.state for c in self.closures for line in c.lines}


def test_four_conversations_one_after_the_other(recordings: Path) -> None:
    chain = Chain(recordings / "pydantic-ai/anthropic/test_tool_search__test_tool_search_eval[anthropic].yaml", BLOCKS)
    assert chain.lanes == [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3]
    assert chain.states <= {CallState.CLOSED, CallState.PENDING}


def test_two_conversations_with_the_same_instructions(recordings: Path) -> None:
    path = recordings / "pydantic-ai/openrouter/test_cache__test_openrouter_cache_all_settings_real_api.yaml"
    assert Chain(path, CHAT).lanes == [0, 0, 1]


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("fantasy/anthropic/TestAnthropicCommon__claude-sonnet-4__multi_tool_streaming.yaml", BLOCKS),
        ("fantasy/openai/TestOpenAICommon__openai-gpt-5__multi_tool_streaming.yaml", CHAT),
        ("fantasy/groq/TestOpenAICompatibleCommon__groq-kimi-k2__multi_tool_streaming.yaml", CHAT),
    ],
)
def test_parallel_calls_are_closed_by_the_next_request(recordings: Path, name: str, terms: ClosureTerms) -> None:
    chain = Chain(recordings / name, terms)
    assert chain.lanes == [0, 0]
    assert [line.state for line in chain.closures[0].lines] == [CallState.PENDING] * 2
    assert [line.state for line in chain.closures[1].lines] == [CallState.CLOSED] * 2


def test_thinking_comes_back_with_its_signature(recordings: Path) -> None:
    path = recordings / "fantasy/anthropic/TestAnthropicThinking__claude-sonnet-4__thinking-streaming.yaml"
    (entry,) = Chain(path, BLOCKS, SIGNED).entries[1]
    assert (entry.received_in, entry.sent, entry.owed, entry.carrier) == (0, ReplayOutcome.SENT, True, "thinking")
    assert entry.received_events
    assert entry.signature


def test_reasoning_content_over_three_requests(recordings: Path) -> None:
    """The client makes a turn of its own up and puts an empty field into it."""
    chain = Chain(
        recordings / "pydantic-ai/deepseek/test_deepseek__test_deepseek_deferred_capability_with_thinking.yaml",
        CHAT,
        FOR_GOOD,
    )
    assert chain.lanes == [0, 0, 0]
    assert [(e.received_in, e.sent, e.owed) for e in chain.entries[2]] == [
        (0, ReplayOutcome.SENT, True),
        (None, ReplayOutcome.EMPTY, True),
        (1, ReplayOutcome.SENT, True),
    ]


def test_a_client_that_loses_the_first_piece_of_a_stream(recordings: Path) -> None:
    chain = Chain(recordings / "fantasy/openrouter/TestOpenRouterCommon__kimi__multi_tool_streaming.yaml", CHAT)
    (entry,) = chain.entries[1]
    assert (entry.sent, entry.differs) == (ReplayOutcome.ALTERED, "text")
    assert entry.text is not None
    assert entry.sent_text is not None
    assert entry.text.startswith(" The user")
    assert entry.sent_text.startswith(" user")
