"""Facts of capability profiles: names, meanings and values."""

from __future__ import annotations

from collections.abc import Mapping

FACTS: Mapping[str, str] = {
    # format
    "tool_call_format": "form of tool calls: anthropic, openai, responses, gemini, ollama …, json-text, xml, none",
    "parser": "text format of calls; empty for the protocol's own form",
    "parsed_from": "place of a call in text: text or reasoning",
    # schema
    "schema_level": "strict-json-schema, simple-object or string-only",
    "schema_required": "every required argument is present",
    "schema_enum": "an enum is obeyed",
    "schema_integer": "an integer is an integer",
    "schema_nested": "a nested object is as declared",
    "schema_array": "an array is as declared",
    # closure, parallel, repair
    "closes": "the answer uses the result of a call",
    "supports_parallel_tool_use": "one answer contains several calls, and their results are accepted",
    "error_repair": "reliable (at once), limited (after several errors) or none",
    "repair_tries": "errors before the call was right",
    "repair_limit": "errors after which the probe stopped",
    # reasoning
    "reasoning_carrier": "carrier of reasoning, or none",
    "requires_reasoning_replay": "without reasoning the next request is refused, or its answer degrades",
    "reasoning_replay": "way of sending reasoning back → taken, refused, needed, ignored, not tried",
    "reasoning_replay_scope": "never, optional, turn or conversation",
    # streaming
    "supports_streaming_tool_use": "a streamed call equals that of a whole response",
    "streams_arguments_whole": "the arguments of a streamed call are readable",
    "streams_finish_reason": "the finish reason of a stream with a call, as sent",
    "streams_usage": "streams contain token counts",
    "streams_deltas": "streams arrive in pieces",
    "streams_stable": "common clients assemble the same message from a stream",
    # arguments
    "argument_text": "strict, double-encoded, fenced, trailing text, repaired or broken",
    "argument_values": "kind of text that is hard to write → kept or changed",
    # text-format
    "text_formats": "form and place of calls → number",
    "text_format": "format of most calls in text; empty if none",
    # choice
    "tool_choice": "mode → honoured, ignored, refused, unsayable, unseen",
    # keywords
    "refused_keywords": "refused schema keywords",
    "unresolved_keywords": "keywords not tested for lack of requests",
    "ignored_keywords": "keywords that are accepted but not enforced",
    "strict_tools": "taken, refused or unsayable",
    # names
    "tool_names": "kind of name → taken, refused, changed, unseen",
    "call_ids": "kind of id → taken or refused",
    # large-results, context
    "large_results": "bytes of a result: accepted, read, tried",
    "context": "tokens of a history, estimated: kept, tried; trimming: none, silent, refused",
    # system, media, cancelled, canary
    "system_placement": "place of instructions → seen, ignored, refused, as top",
    "media_in_results": "a picture in a result: seen, ignored, refused, unsayable",
    "cancelled_calls": "after a cancelled call: taken, repeated, refused",
    "reasoning_seen": "replayed reasoning, in the turn and later: seen, unseen, refused",
}
"""Name → meaning."""
