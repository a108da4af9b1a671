"""Names that a place in a table may contain: words of the wire formats. Others are the user's, and are left out."""

from __future__ import annotations

_WORDS = (
    "additionalProperties annotations anyOf args arguments audio cache_control call_id candidates choices "
    "content contentBlock contentBlockIndex contents data delta detail document encrypted_content enum error "
    "file file_data file_id finishReason finish_reason format frequency_penalty function functionCall "
    "functionDeclarations functionResponse function_call generationConfig headers id image image_url index "
    "inlineData input inputSchema input_audio input_schema instructions is_error items json json_schema "
    "logit_bias logprobs maxOutputTokens maxTokens max_completion_tokens max_output_tokens max_tokens "
    "media_type message messages metadata model modelVersion name nullable object oneOf output "
    "parallel_tool_calls parameters parts presence_penalty previous_response_id prompt properties reasoning "
    "reasoning_content reasoning_details reasoning_effort refusal required response responseSchema "
    "response_format result role safetySettings schema seed signature source stop stopReason stopSequences "
    "stop_reason stop_sequences store stream stream_options strict summary system systemInstruction "
    "system_instruction temperature text thinking thinkingConfig thought thoughtSignature thought_signature "
    "toolChoice toolConfig toolResult toolSpec toolUse toolUseId tool_call_id tool_calls tool_choice tool_plan "
    "tool_use_id tools topK topP top_k top_logprobs top_p type url usage usageMetadata user verbosity "
)
WIRE_WORDS = frozenset(_WORDS.split())

_INSIDE = frozenset({"arguments", "args", "input", "parameters", "properties", "input_schema", "inputSchema", "json"})
"""Members whose inner names are those of the user's tools."""


def path_of(pointer: str) -> str:
    """A pointer without the user's names: numbers become ``*``, names that are none of the wire become ``?``."""
    steps = []
    is_inside = False
    for step in pointer.split("/")[1:]:
        if step.isdigit() or step == "-":
            steps.append("*")
        elif is_inside and step not in ("properties", "required", "items", "type", "enum", "format"):
            steps.append("?")
        else:
            steps.append(step if step in WIRE_WORDS else "?")
        is_inside |= step in _INSIDE and len(steps) > 2
    return "".join(f"/{step}" for step in steps)
