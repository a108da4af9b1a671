"""The chain of tool calls: which calls are closed, and which reasoning is required in which request.

In: requests and responses as IR, in order, and what a provider requires, as plain values (``terms``). Out:
conversations, pairs of call and result, the reasoning ledger, and the same turn at several hops. It knows no protocol
and no provider. It may import the core and the rooms up to ``protocols``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.chain import closure, ledger
    from workbench.chain.cache_breakpoints import mark_of, marks, without_marks
    from workbench.chain.closure import CallLine, CallState, Closure, Flaw
    from workbench.chain.conversations import Conversation, Conversations
    from workbench.chain.hops import Hops, Peek
    from workbench.chain.leaf_differences import Fate, fates
    from workbench.chain.ledger import Entry, Ledger, ReplayOutcome
    from workbench.chain.passed_results import (
        LostPart,
        leaves,
        lost_parts,
        says_the_same,
        string_in,
        text_for_model,
        value_in,
    )
    from workbench.chain.tool_links import (
        MOST_KNOWN,
        RequestToolResult,
        ToolLink,
        ToolLinks,
        newest_messages,
        request_tool_results,
    )
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "MOST_KNOWN",
    "CallLine",
    "CallState",
    "Closure",
    "Conversation",
    "Conversations",
    "Entry",
    "Fate",
    "Flaw",
    "Hops",
    "Ledger",
    "LostPart",
    "Peek",
    "ReplayOutcome",
    "RequestToolResult",
    "ToolLink",
    "ToolLinks",
    "closure",
    "fates",
    "leaves",
    "ledger",
    "lost_parts",
    "mark_of",
    "marks",
    "newest_messages",
    "request_tool_results",
    "says_the_same",
    "string_in",
    "text_for_model",
    "value_in",
    "without_marks",
]
