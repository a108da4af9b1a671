"""Bodies that say what few others do: one for each thing that some protocol can say and another one cannot."""

from __future__ import annotations

from typing import Any

CHAT, BLOCKS, CONVERSE, GEMINI = "openai-chat", "anthropic-messages", "bedrock-converse", "gemini"
COHERE, OLLAMA, RESPONSES = "cohere-v2", "ollama", "openai-responses"

PICTURE = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
TOOL = {"name": "f", "description": "d", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
ASK = {"role": "user", "content": "go"}
USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": [*content]}


def said(*content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [*content], **more}


def calls(*arguments: Any, **more: Any) -> dict[str, Any]:
    made = [
        {"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": text}}
        for n, text in enumerate(arguments)
    ]
    return {"role": "assistant", "content": None, "tool_calls": made, **more}


def result(call_id: str | None, content: Any = "1", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def blocks(*messages: Any, **more: Any) -> tuple[str, str, Any]:
    return BLOCKS, "request", {"model": "m", "max_tokens": 2048, "messages": [ASK, *messages], **more}


def chat(*messages: Any, **more: Any) -> tuple[str, str, Any]:
    return CHAT, "request", {"model": "m", "messages": [ASK, *messages], **more}


def converse(*content: Any, **more: Any) -> tuple[str, str, Any]:
    return CONVERSE, "request", {"messages": [{"role": "user", "content": [{"text": "go"}, *content]}], **more}


def gemini(*parts: Any, **more: Any) -> tuple[str, str, Any]:
    return GEMINI, "request", {"contents": [{"role": "user", "parts": [{"text": "go"}, *parts]}], **more}


def document(**more: Any) -> dict[str, Any]:
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}, **more}


def budget(tokens: int, most: int | None = None, **more: Any) -> tuple[str, str, Any]:
    body = {"thinking": {"type": "enabled", "budget_tokens": tokens}, **more}
    return blocks(**body, **({} if most is None else {"max_tokens": most}))


def answer(*content: Any, **more: Any) -> tuple[str, str, Any]:
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [*content]}
    usage = {"input_tokens": 5, "output_tokens": 7}
    return BLOCKS, "response", {**whole, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage, **more}


def choices(*messages: Any, finish: tuple[str | None, ...] = (), **more: Any) -> tuple[str, str, Any]:
    ends = [*finish, *(["stop"] * len(messages))]
    made = [
        {"index": n, "finish_reason": ends[n], "message": {"role": "assistant", **message}}
        for n, message in enumerate(messages)
    ]
    return CHAT, "response", {"id": "x1", "object": "chat.completion", "model": "m", "choices": made, **more}


def failed(**error: Any) -> tuple[str, str, Any]:
    return CHAT, "response", {"error": {"message": "no", **error}}


CHOICES: dict[str, Any] = {
    "none": "none",
    "any": "required",
    "tool": {"type": "function", "function": {"name": "f"}},
    "tool that is not there": {"type": "function", "function": {"name": "g"}},
    "custom": {"type": "custom", "custom": {"name": "f"}},
    "unknown": "perhaps",
    "unknown object": {"type": "some_kind", "mode": "x"},
    **{
        f"{count} of the tools, {mode}": {
            "type": "allowed_tools",
            "allowed_tools": {"mode": mode, "tools": [{"type": "function", "function": {"name": "f"}}] * count},
        }
        for mode in ("auto", "required")
        for count in (0, 1, 2)
    },
    "one of the tools, without a name": {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [{"type": "mcp"}]},
    },
}
TOOLS: dict[str, Any] = {
    "no name": {"type": "function", "function": {"parameters": {}}},
    "no schema": {"type": "function", "function": {"name": "f"}},
    "schema of another type": {"type": "function", "function": {"name": "f", "parameters": "x"}},
    "strict": {"type": "function", "function": {"name": "f", "strict": True, "parameters": SCHEMA}},
    "not strict": {"type": "function", "function": {"name": "f", "strict": False, "parameters": SCHEMA}},
    "custom": {"type": "custom", "custom": {"name": "f", "description": "d", "format": {"type": "text"}}},
    "of a kind that nobody knows": {"type": "hologram", "name": "f", "depth": 3},
    "name with signs": {"type": "function", "function": {"name": "a b.c/d", "parameters": SCHEMA}},
    "long name": {"type": "function", "function": {"name": "n" * 70, "parameters": SCHEMA}},
}
PARAMETERS: dict[str, Any] = {
    "temperature": ["warm", True, 0.5],
    "top_p": [None, 1],
    "max_tokens": ["many", True, 7.5],
    "max_completion_tokens": [9],
    "stop": ["end", ["a", "b"], [1], []],
    "seed": [3, "x"],
    "n": [2, "two"],
    "user": ["me", 5],
    "service_tier": ["flex", 1],
    "reasoning_effort": ["none", "minimal", "low", "high", 3],
    "response_format": [
        {"type": "json_object"},
        {"type": "text"},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA, "strict": True, "description": "d"}},
        {"type": "json_schema", "json_schema": {"schema": SCHEMA}},
        {"type": "json_schema", "json_schema": {"name": "x"}},
    ],
    "parallel_tool_calls": [True, False],
    "a/b~c": [1],
    "metadata": [{"user_id": "me", "odd": {"deep": 1}}],
}
ARGUMENTS = (
    "",
    " ",
    "null",
    "[1]",
    "5",
    '"text"',
    '{"a": 1',
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": 2}}',
    '{"a": "1.5, \\"b\\": 2"}',
    '{"a": 1.5, "b": 1e5}',
    '{"a": 0.1234567890123456789}',
    '{"a": 1e400}',
    '{"a": -1e-400}',
    '{"a": 1E99999999999999999999}',
    '{"a": NaN}',
    '{"a": 12345678901234567890123}',
    '{"a": "\\ud83d"}',
)
RESULTS: dict[str, list[Any]] = {
    "nothing": [],
    "an empty text": [{"type": "text", "text": ""}],
    "a blank text": [{"type": "text", "text": " "}],
    "two texts": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
    "a picture alone": [{"type": "image", "source": PICTURE}],
    "a picture between texts": [
        {"type": "text", "text": "a"},
        {"type": "image", "source": PICTURE},
        {"type": "text", "text": "b"},
    ],
    "a document": [document(title="rules", context="c", citations={"enabled": True})],
    "a result of a search": [{"type": "search_result", "source": "s", "title": "t", "content": []}],
    "a marked text": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}],
    "a reference to a tool": [{"type": "tool_reference", "tool_name": "f"}],
}
MEDIA: dict[str, tuple[str, str, Any]] = {
    **{
        f"a picture of {kind}": blocks(user({"type": "image", "source": {**PICTURE, "media_type": kind}}))
        for kind in ("image/jpg", "image/jpeg", "image/tiff", "text/plain")
    },
    "a picture by address": blocks(user({"type": "image", "source": {"type": "url", "url": "https://x.example/a"}})),
    "a picture by id": blocks(user({"type": "image", "source": {"type": "file", "file_id": "file_1"}})),
    "a picture without a source": blocks(user({"type": "image", "source": {}})),
    "a document with a name": blocks(user(document(title="rules 2.0 (new)"))),
    "a document with a long name": blocks(user(document(title="r" * 300))),
    "a document without a name": blocks(user(document())),
    "a document of text": blocks(
        user({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "é"}})
    ),
    "a document of content": blocks(user({"type": "document", "source": {"type": "content", "content": "x"}})),
    "a file": chat(
        user({"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"}})
    ),
    "a file by id": chat(user({"type": "file", "file": {"file_id": "file_1", "filename": "a.pdf"}})),
    "a file by id and by data": chat(
        user({"type": "file", "file": {"file_id": "file_1", "file_data": "data:application/pdf;base64,AA"}})
    ),
    "sound": chat(user({"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}})),
    "sound of another kind": chat(user({"type": "input_audio", "input_audio": {"data": "AA", "format": "xyz"}})),
    "a picture with detail": chat(
        user({"type": "image_url", "image_url": {"url": "https://x.example/a.png", "detail": "high"}})
    ),
    "a picture as data without a type": chat(user({"type": "image_url", "image_url": {"url": "data:;base64,AA"}})),
    "a video": gemini({"fileData": {"fileUri": "https://x.example/v", "mimeType": "video/mp4"}}),
    "a video with a frame rate": gemini(
        {"inlineData": {"data": "AA", "mimeType": "video/mp4"}, "videoMetadata": {"fps": 5}}
    ),
    "sound of gemini": gemini({"inlineData": {"data": "AA", "mimeType": "audio/mp3"}}),
    "data without a type": gemini({"inlineData": {"data": "AA"}}),
    "a picture of converse": converse({"image": {"format": "png", "source": {"bytes": "AAAA"}}}),
    "a document of converse": converse({"document": {"format": "pdf", "name": "rules", "source": {"bytes": "AAAA"}}}),
    "a video of converse": converse({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/k"}}}}),
    "a mark of converse": converse({"cachePoint": {"type": "default", "ttl": "1h"}}, system=[{"text": "s"}]),
    "a mark with more": converse({"cachePoint": {"type": "default", "odd": 1}}),
    "a mark before all": converse(system=[{"cachePoint": {"type": "default"}}, {"text": "s"}]),
}
THINKING: dict[str, tuple[str, str, Any]] = {
    **{f"a budget of {tokens} of {most}": budget(tokens, most) for tokens in (0, 1023, 1024, 5000)
       for most in (1000, 1024, 1025, 4096, 5000, 5001)},
    "a budget, and no most": (BLOCKS, "request", {"model": "m", "messages": [ASK],
                                                  "thinking": {"type": "enabled", "budget_tokens": 9000}}),
    "adaptive": blocks(thinking={"type": "adaptive"}),
    "adaptive, with an effort": blocks(thinking={"type": "adaptive"}, output_config={"effort": "low"}),
    "on, without a budget": blocks(thinking={"type": "enabled"}),
    "off": blocks(thinking={"type": "disabled"}),
    "off, with an effort": blocks(thinking={"type": "disabled"}, output_config={"effort": "high"}),
    "off, with a budget": blocks(thinking={"type": "disabled", "budget_tokens": 2000}),
    "of another kind": blocks(thinking={"type": "perhaps", "odd": 1}),
    "a budget and an effort": budget(2000, 4096, output_config={"effort": "max"}),
    "a budget of gemini": gemini(generationConfig={"thinkingConfig": {"thinkingBudget": 0}}),
    "a dynamic budget": gemini(generationConfig={"thinkingConfig": {"thinkingBudget": -1, "includeThoughts": True}}),
    "a level": gemini(generationConfig={"thinkingConfig": {"thinkingLevel": "LOW"}}),
    "a switch": (OLLAMA, "request", {"model": "m", "messages": [ASK], "think": True}),
    "a switch with a word": (OLLAMA, "request", {"model": "m", "messages": [ASK], "think": "high"}),
    "a budget of cohere": (COHERE, "request", {"model": "m", "messages": [ASK],
                                               "thinking": {"type": "enabled", "token_budget": 64}}),
    "an effort of responses": (RESPONSES, "request", {"model": "m", "input": "go",
                                                      "reasoning": {"effort": "none", "summary": "auto"}}),
}  # fmt: skip
TURNS: dict[str, tuple[str, str, Any]] = {
    "roles": chat(
        {"role": "system", "content": "s"},
        {"role": "developer", "content": "d", "name": "n"},
        {"role": "assistant", "content": "a"},
        {"role": "system", "content": "late"},
        {"role": "narrator", "content": "x"},
        {"content": "y"},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": ""},
    ),
    "reasoning twice": chat(
        {
            "role": "assistant",
            "reasoning": "hm",
            "reasoning_content": "hm",
            "reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s", "format": "f"}],
            "content": "a <think>b</think>",
        }
    ),
    "a refusal": chat({"role": "assistant", "refusal": "no"}, said({"type": "refusal", "refusal": "never"})),
    "results without ids": chat(calls("{}", "{}"), result(None), result("c1")),
    "an id twice": chat(calls("{}"), result("c0"), calls("{}"), result("c0"), result("c9")),
    "an id with signs": chat(
        {
            "role": "assistant",
            "tool_calls": [{"id": "a b:c/é" * 20, "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        result("a b:c/é" * 20, name="other"),
    ),
    "an old call": chat(
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ),
    "a custom call": chat(
        {"role": "assistant", "tool_calls": [{"id": "c0", "type": "custom", "custom": {"name": "f", "input": "x y"}}]},
        result("c0"),
        tools=[TOOLS["custom"]],
    ),
    "sound that was said": chat({"role": "assistant", "audio": {"id": "a1"}, "content": "x", "annotations": [1]}),
    "a result of the past": chat(result("c7", [{"type": "text", "text": "x"}])),
    "order": blocks(said({"type": "text", "text": "a"}, USE, {"type": "text", "text": "b"}), user(
        {"type": "text", "text": "before"},
        {"type": "tool_result", "tool_use_id": "t1", "content": "1"},
        {"type": "text", "text": "behind"},
    )),
    "calls of a server": blocks(
        said(
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": 1}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            {"type": "mcp_tool_use", "id": "m1", "name": "f", "server_name": "s", "input": {}},
        ),
        tools=[{"type": "web_search_20250305", "name": "web_search"}, {**TOOL, "type": "custom", "strict": True}],
    ),
    "thinking of each kind": blocks(
        said(
            {"type": "thinking", "thinking": "a", "signature": "s"},
            {"type": "thinking", "thinking": "b", "signature": ""},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "thinking", "thinking": "", "signature": "t"},
            USE,
        )
    ),
    "a block of reasoning": (CONVERSE, "request", {"messages": [
        {"role": "user", "content": [{"text": "go"}]},
        {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "a", "signature": "s"}}},
            {"reasoningContent": {"redactedContent": "eA=="}},
            {"reasoningContent": {"redactedContent": "/w=="}},
            {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "status": "error", "content": [
            {"json": {"a": 1}}, {"text": "b"}, {"video": {"format": "mp4", "source": {"bytes": "AA"}}}]}}]}]}),
    "signatures of gemini": (GEMINI, "request", {"contents": [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [
            {"text": "a", "thought": True},
            {"text": "b", "thoughtSignature": "s1"},
            {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "s2"},
            {"functionCall": {"name": "f", "args": {"a": 2}}},
            {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "s3"}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "f", "response": {"output": "1"}}},
            {"functionResponse": {"name": "f", "response": {"error": "2"}, "parts": [
                {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "systemInstruction": {"parts": [{"text": "s"}, {"text": "t"}]}}),
    "items": (RESPONSES, "request", {"model": "m", "instructions": "s", "input": [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "1"}]},
        {"type": "custom_tool_call", "call_id": "c2", "name": "g", "input": "x"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "2"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "item_reference", "id": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"},
                                                             {"type": "refusal", "refusal": "no"}]}],
        "previous_response_id": "resp_0", "max_output_tokens": 5, "truncation": "auto", "tool_choice": "required"}),
    "a plan": (COHERE, "request", {"model": "m", "messages": [
        ASK, {"role": "assistant", "tool_plan": "p", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": [
            {"type": "document", "document": {"id": "d", "data": {"a": 1}}}, {"type": "document", "document": "x"}]}],
        "strict_tools": True, "k": 5, "tool_choice": "REQUIRED"}),
    "a result by name": (OLLAMA, "request", {"model": "m", "messages": [
        ASK, {"role": "assistant", "content": "", "thinking": "hm", "tool_calls": [
            {"function": {"name": "f", "arguments": {"a": 1}}}, {"function": {"name": "g", "arguments": {}}}]},
        {"role": "tool", "tool_name": "g", "content": "2"}, {"role": "tool", "tool_name": "f", "content": "1"},
        {"role": "user", "content": "look", "images": ["AAAA"]}], "options": {"num_predict": 5, "num_ctx": 9}}),
    "marks": blocks(
        user({"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h", "scope": "global"}}),
        system=[{"type": "text", "text": "s", "cache_control": {"type": "other"}}, {"type": "text", "text": "t"}],
        tools=[{**TOOL, "cache_control": {"type": "ephemeral", "ttl": "5m"}, "input_examples": [{"a": 1}]}],
    ),
    "choice beside parallel": blocks(tools=[TOOL], tool_choice={"type": "none", "disable_parallel_tool_use": True}),
    "one call at a time": blocks(tools=[TOOL], tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
    "an answer that was begun": blocks({"role": "assistant", "content": "so"}),
    "nothing at all": (CHAT, "request", {}),
}  # fmt: skip
ANSWERS: dict[str, tuple[str, str, Any]] = {
    **{
        f"stopped by {reason}": answer({"type": "text", "text": "a"}, stop_reason=reason)
        for reason in ("max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "odd", None)
    },
    "counts": answer(
        {"type": "text", "text": "a"},
        usage={
            "input_tokens": 5,
            "output_tokens": 7,
            "cache_read_input_tokens": 3,
            "cache_creation_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 2},
            "server_tool_use": {"web_search_requests": 1},
            "service_tier": "standard",
        },
    ),
    "no counts": answer({"type": "text", "text": "a"}, usage=None),
    "thinking": answer({"type": "thinking", "thinking": "a", "signature": "s"}, USE, stop_reason="tool_use"),
    "citations": answer({"type": "text", "text": "a", "citations": [{"type": "char_location", "cited_text": "x"}]}),
    "a container": answer(container={"id": "c", "expires_at": "x"}, context_management={"applied_edits": []}),
    "nothing": answer(),
    "two choices": choices({"content": "a"}, {"content": "b"}, finish=("stop", "length"), created=1),
    "a choice with more": choices({"content": "a", "logprobs": {"x": 1}, "audio": {"id": "a", "data": "AA"}}),
    "a call without an end": choices(calls("{}"), finish=(None,)),
    "a call that ends as a text": choices(calls('{"a": 1}', "[1]"), finish=("stop",)),
    "an end without a call": choices({"content": "a"}, finish=("tool_calls",)),
    "counts of chat": choices(
        {"content": "a", "reasoning_content": "hm"},
        usage={
            "prompt_tokens": 5,
            "completion_tokens": 7,
            "total_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 2, "audio_tokens": 0, "odd": 1},
            "completion_tokens_details": {"reasoning_tokens": 3, "accepted_prediction_tokens": 1},
            "cost": 0.5,
            "a/b": 1,
        },
        system_fingerprint="fp",
        service_tier="default",
        provider="p",
    ),
    "an error": failed(type="invalid_request_error", param="messages", code="bad"),
    "an error with more": failed(code=429, metadata={"raw": {"a": [1, None, ""]}, "provider_name": "p"}),
    "an error of messages": (
        BLOCKS,
        "response",
        {"type": "error", "error": {"type": "overloaded_error", "message": "no", "details": {"x": 1}},
         "request_id": "req_1"},
    ),
    "an error of gemini": (
        GEMINI,
        "response",
        {"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT", "details": [{"@type": "x", "a": 1}]}},
    ),
    "a blocked prompt": (GEMINI, "response", {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m"}),
    **{
        f"gemini stopped by {reason}": (
            GEMINI,
            "response",
            {"candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}, "finishReason": reason}],
             "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7, "thoughtsTokenCount": 2,
                               "toolUsePromptTokenCount": 1, "cachedContentTokenCount": 3, "totalTokenCount": 14}},
        )
        for reason in ("STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "MALFORMED_FUNCTION_CALL")
    },
    "an answer of converse": (
        CONVERSE,
        "response",
        {"output": {"message": {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "a", "signature": "s"}}},
            {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"a": 1}}}]}},
         "stopReason": "guardrail_intervened", "metrics": {"latencyMs": 5}, "trace": {"guardrail": {}},
         "usage": {"inputTokens": 5, "outputTokens": 7, "totalTokens": 12, "cacheReadInputTokens": 1}},
    ),
    "an answer of ollama": (
        OLLAMA,
        "response",
        {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": False, "done_reason": "load",
         "message": {"role": "assistant", "content": "a", "thinking": "hm",
                     "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.5}}}]}},
    ),
    "an answer of responses": (
        RESPONSES,
        "response",
        {"id": "resp_1", "object": "response", "status": "incomplete", "model": "m", "background": True,
         "incomplete_details": {"reason": "content_filter"}, "error": None, "output": [
             {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "a"}]},
             {"type": "message", "id": "msg_1", "role": "assistant", "status": "incomplete",
              "content": [{"type": "output_text", "text": "b", "annotations": [{"type": "url_citation"}]}]},
             {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"a": 1'},
             {"type": "mcp_call", "id": "mcp_1", "name": "g"}]},
    ),
    "an answer that waits": (
        RESPONSES,
        "response",
        {"id": "resp_1", "object": "response", "status": "in_progress", "model": "m", "output": []},
    ),
}  # fmt: skip

BODIES: dict[str, tuple[str, str, Any]] = {
    **{f"choice: {name}": chat(tools=[FUNCTION], tool_choice=choice) for name, choice in CHOICES.items()},
    **{f"tool: {name}": chat(tools=[tool, FUNCTION]) for name, tool in TOOLS.items()},
    "tools with names that become one": chat(
        tools=[{"type": "function", "function": {"name": name}} for name in ("a.b", "a b", "a_b")],
        tool_choice={"type": "function", "function": {"name": "a b"}},
    ),
    **{
        f"parameter: {name} of {value!r:.60}": chat(**{name: value})
        for name, values in PARAMETERS.items()
        for value in values
    },
    **{f"arguments: {text}": chat(calls(text), result("c0")) for text in ARGUMENTS},
    **{
        f"result: {name}{', failed' if is_error else ''}": blocks(
            said(USE), user({"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": is_error})
        )
        for name, content in RESULTS.items()
        for is_error in (False, True)
    },
    **{f"media: {name}": body for name, body in MEDIA.items()},
    **{f"thinking: {name}": body for name, body in THINKING.items()},
    **{f"turns: {name}": body for name, body in TURNS.items()},
    **{f"answer: {name}": body for name, body in ANSWERS.items()},
}

UNREADABLE = ("turns: nothing at all",)
"""Names of bodies that are none of their protocol."""
