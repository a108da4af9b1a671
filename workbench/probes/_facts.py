"""Facts of capability profiles: names, meanings and values."""

from __future__ import annotations

from collections.abc import Mapping

FACTS: Mapping[str, str] = {
    # format
    "tool_call_format": "format of tool calls: anthropic, openai, responses, gemini, ollama …, json-text, xml, none",
    "parser": "text format of calls; empty for the protocol's own format",
    "parsed_from": "where a call in text occurs: text or reasoning",
    # schema
    "schema_level": "strict-json-schema, simple-object or string-only",
    "schema_required": "every required argument is present",
    "schema_enum": "a value follows its enum",
    "schema_integer": "an integer argument is an integer",
    "schema_nested": "a nested object matches the schema",
    "schema_array": "an array matches the schema",
    # closure, parallel, repair
    "closes": "the response uses the tool result",
    "supports_parallel_tool_use": "one response contains several calls, and their results are accepted",
    "error_repair": "reliable (at once), limited (after several errors) or none",
    "repair_tries": "errors before the call was correct",
    "repair_limit": "errors after which the probe stopped",
    # reasoning
    "reasoning_carrier": "carrier of reasoning, or none",
    "requires_reasoning_replay": "without reasoning the next request is refused, or its response gets worse",
    "reasoning_replay": "way of sending reasoning back → taken (accepted), refused, needed, ignored, not tried",
    "reasoning_replay_scope": "never, optional, turn or conversation",
    # streaming
    "supports_streaming_tool_use": "a streamed call equals the same call in a single body",
    "streams_arguments_whole": "the arguments of a streamed call are readable",
    "streams_finish_reason": "the finish reason of a stream with a call, as sent",
    "streams_usage": "streams contain token counts",
    "streams_deltas": "streams arrive in several pieces",
    "streams_stable": "common clients assemble the same message from a stream",
    # arguments
    "argument_text": "strict, double-encoded, fenced, trailing text, repaired or broken",
    "argument_values": "kind of difficult text → kept or changed",
    # text-format
    "text_formats": "format and position of calls → number",
    "text_format": "format of most calls in text; empty if none",
    # choice
    "tool_choice": "mode → honoured, ignored, refused, unsayable (the protocol has no word for it), unseen",
    # keywords
    "refused_keywords": "refused schema keywords",
    "unresolved_keywords": "keywords not tested for lack of requests",
    "ignored_keywords": "keywords that are accepted but not enforced",
    "strict_tools": "taken (accepted), refused or unsayable",
    # names
    "tool_names": "kind of name → taken (accepted), refused, changed, unseen",
    "call_ids": "kind of id → taken (accepted) or refused",
    # large-results, context
    "large_results": "size of a tool result in bytes: accepted, read, tried",
    "context": "tokens of a history, estimated: kept, tried; trimming: none, silent, refused",
    # system, media, cancelled, canary
    "system_placement": "position of instructions → seen, ignored, refused, as top (like the system prompt)",
    "media_in_results": "an image in a tool result: seen, ignored, refused, unsayable",
    "cancelled_calls": "after a cancelled call: taken (accepted), repeated, refused",
    "reasoning_seen": "replayed reasoning, in the turn and later: seen, unseen, refused",
}
"""Name → meaning."""
