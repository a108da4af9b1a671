"""Wires on which a rule does not find its fault, each with the reason; and rules without a fault here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Hole = tuple[str, str]
Holes = Mapping[Hole, str]

ANTHROPIC, CHAT, RESPONSES = "anthropic-messages", "openai-chat", "openai-responses"
GEMINI, OLLAMA, CONVERSE = "gemini", "ollama", "bedrock-converse"
COHERE, STEPS = "cohere-v2", "gemini-interactions"
REQUEST_WAYS = ("lone", "session", "unnamed")
ANSWER_WAYS = ("whole", "streamed", "unnamed")

OBJECTS = "arguments are an object on this wire, in streams too: text that is no JSON cannot stand there"
EMPTY_OBJECT = "no piece means an empty object there: args.schema says what it lacks"
NO_IDS = "calls have no ids on this wire"
MERGED = "the text is a message of its own: what comes first in a turn is not defined"
FIRST = "the message between joins the results as one turn of the user: closure.result-not-first names it there"
UNKNOWN = "it is not known what the provider makes of it"
ACCEPTED = "the provider accepts it"
NO_CHOICE = "there is no tool choice on this wire"
NO_PROOF = "the model of the sample owes no reasoning"
NO_BLOCK = "reasoning is no block among others on this wire"
BY_KEYS = "the provider's parser names the unknown keys: gateway.unknown-field"


def cannot(wires: Iterable[str], reason: str) -> Holes:
    """Wires that cannot have the fault."""
    return {(wire, ""): reason for wire in wires}


def misses(wires: Iterable[str], reason: str, ways: Iterable[str] = REQUEST_WAYS) -> Holes:
    """Wires on which the fault is not found."""
    return {(wire, way): reason for wire in wires for way in ways}


HOLES: Mapping[str, Holes] = {
    "closure.duplicate-id": cannot((GEMINI, OLLAMA), NO_IDS),
    "closure.id-format": cannot((GEMINI, OLLAMA), NO_IDS),
    "closure.duplicate-result": misses((GEMINI, OLLAMA), f"{NO_IDS}: the second result is an orphan"),
    "closure.not-adjacent": {
        **misses((ANTHROPIC, GEMINI, CONVERSE), FIRST),
        **misses((RESPONSES,), ACCEPTED),
        **misses((STEPS,), "steps are paired by their ids, wherever they stand"),
        **misses((OLLAMA,), "the chat template of the model decides, and none is known to refuse it"),
    },
    "closure.result-not-first": cannot((CHAT, RESPONSES, OLLAMA, COHERE, STEPS), MERGED),
    "closure.wrong-role": misses(
        (RESPONSES, STEPS), "results are items without a role: the foreign item has its own findings"
    ),
    "choice.unsupported": cannot((OLLAMA,), NO_CHOICE),
    "choice.without-tools": {
        **cannot((OLLAMA,), NO_CHOICE),
        **cannot((CONVERSE,), "the choice is in the object that holds the tools"),
    },
    "content.empty": {
        **misses((RESPONSES,), "null is the wrong type there: content.shape names it"),
        **misses((OLLAMA,), ACCEPTED),
        **misses((COHERE, STEPS), UNKNOWN),
    },
    "content.shape (part of another wire)": misses((GEMINI, CONVERSE), BY_KEYS),
    "reasoning.missing": cannot((CHAT, RESPONSES, GEMINI, OLLAMA, COHERE, STEPS), NO_PROOF),
    "reasoning.order": cannot((CHAT, RESPONSES, GEMINI, OLLAMA, COHERE, STEPS), NO_BLOCK),
    "schema.malformed (other wire)": misses((GEMINI, CONVERSE), BY_KEYS),
    "schema.duplicate-name": misses((CONVERSE,), UNKNOWN),
    "schema.name": misses((OLLAMA,), ACCEPTED),
    "schema.items-missing": {
        **misses((ANTHROPIC, OLLAMA, CONVERSE), ACCEPTED),
        **misses((COHERE, STEPS), UNKNOWN),
    },
    "schema.too-many-tools": misses((ANTHROPIC, OLLAMA, CONVERSE, COHERE, STEPS), "no limit is known"),
    "schema.tools-missing": {
        **misses((ANTHROPIC, CHAT, RESPONSES, GEMINI, OLLAMA), ACCEPTED),
        **misses((COHERE, STEPS), UNKNOWN),
    },
    "text.phantom-call of an answer": misses(
        (COHERE,), "what is said beside calls is a plan there, which no client runs", ANSWER_WAYS
    ),
    **{
        f"{rule} of an answer": cannot((GEMINI, OLLAMA), OBJECTS)
        for rule in ("args.double-encoded", "args.invalid-json", "args.truncated")
    },
    "args.empty of an answer": {
        **cannot((GEMINI, OLLAMA), OBJECTS),
        **misses((ANTHROPIC, CONVERSE, STEPS), EMPTY_OBJECT, ("streamed",)),
    },
}
"""Fault → (wire, way) of each hole, with its reason; the way is "" where the wire cannot have it."""

_HOPS = "it takes two recorders"
_CLIENT = "it is about a client and not about a wire; tests/rules/test_clients.py has every wire"
_STREAM = "tests/rules/test_streams_everywhere.py has the faults of streams on every wire and framing"
_MCP = "it is about tool servers, which have one wire"
_MEASURE = "it is about costs and counts, which tests/rules/test_costs.py and test_token_counts.py have on every wire"
_FACT = "it follows a fact of one provider: tests/contracts/test_relations.py has a broken and a healthy twin of each"
_HISTORY = "it takes an earlier answer: tests/rules/test_reasoning*.py have the carriers of every wire"
_ANSWER = "it is about what is no answer of the protocol: tests/rules/test_answers.py has every wire"
_SOCKET = "it is about WebSockets: tests/rules/test_sockets.py has it on each protocol that goes over one"
_NOTE = "it is a note on the recording, and no fault of a chain"

_OF_FACTS = (
    *("choice.thinking-conflict", "content.assistant-last", "content.image-in-result", "content.image-limit"),
    "content.mixed-turn",
    *("content.role-order", "content.system-position", "content.trailing-whitespace", "content.unsupported-part"),
    *("gateway.beta-header", "gateway.cache-limit", "params.conflict", "params.ignored", "params.missing"),
    *("schema.description", "schema.missing-parameters", "schema.property-name", "schema.strict", "schema.tool-type"),
    *("schema.unsupported-keyword", "tools.unsupported"),
)
_OF_HISTORIES = (
    *("reasoning.altered", "reasoning.by-reference", "reasoning.empty", "reasoning.fabricated", "reasoning.foreign"),
    *("reasoning.stale", "reasoning.unbound", "reasoning.unpaired", "retry.stale-partial", "state.lost"),
)
_OF_HOPS = ("gateway.altered-bytes", "gateway.altered-shape", "gateway.buffered", "gateway.dropped-field")
_OF_STREAMS = (
    *("block-order", "empty-choices", "encoding", "error-event", "finish-reason", "framing", "id", "index", "name"),
    *("no-terminator", "truncated", "unknown-field"),
)
_OF_TOOL_SERVERS = (
    *("capability", "framing", "list-changed", "no-answer", "output-schema", "protocol-error", "result-dropped"),
    *(
        "content-shadowed",
        "result-truncated",
        "structured-dropped",
        "args-changed",
        "arguments-refused",
        "called-twice",
    ),
    *("cancelled", "description-changed", "error-flag", "hidden-text", "injected-text", "name", "not-called"),
    *("pagination", "response-id", "result-altered", "result-duplicated", "schema-changed", "schema-rejected"),
    *("arguments", "auth", "http", "instructions", "lifecycle", "media-type", "message", "progress"),
    *("session-lost", "timeout", "tool-missing", "version", "wrong-call"),
)
_OF_SOCKETS = (
    *("beta-shape", "cancelled-call", "closed", "no-response", "refused-message", "tools-dropped"),
    *("two-responses", "unanswered-call", "unknown-message", "unused-result", "refused-handshake"),
)
_OF_ANSWERS = ("abandoned", "content-type", "cut", "error", "foreign", "none", "reshaped", "unread")
_OF_COUNTS = (
    *("cost.cache-break", "cost.tool-overhead", "usage.contradiction", "usage.over-limit", "usage.prompt-cut"),
)
_NOTES = ("contract.disagrees", "recording.refused", "recording.websocket-refused", "request.unread")

BEYOND: Mapping[str, str] = {
    **dict.fromkeys(_OF_FACTS, _FACT),
    **dict.fromkeys(_OF_HISTORIES, _HISTORY),
    **dict.fromkeys(_OF_HOPS, _HOPS),
    **{f"stream.{name}": _STREAM for name in _OF_STREAMS},
    **dict.fromkeys(("stream.client-misses", "stream.client-raises"), _CLIENT),
    **{f"mcp.{name}": _MCP for name in _OF_TOOL_SERVERS},
    **{f"socket.{name}": _SOCKET for name in _OF_SOCKETS},
    **{f"answer.{name}": _ANSWER for name in _OF_ANSWERS},
    **dict.fromkeys(_OF_COUNTS, _MEASURE),
    **dict.fromkeys(_NOTES, _NOTE),
    "call.choice-ignored": "it needs a choice in the request: tests/rules/test_calls_choice.py has every wire with one",
    "closure.pending": "it is no fault: the healthy answer of every wire has it",
    "text.call-in-reasoning": "tests/rules/test_text.py has every carrier of reasoning",
}
"""Rule → why no fault of it is written here."""
