"""Stories on the Responses API, Gemini and Ollama's own protocol."""

from __future__ import annotations

import json

from tests.make_sessions.story import START, Json, Story, sse
from workbench.wire.exchange import Origin

RESPONSES = "https://api.openai.com/v1/responses"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro"
OLLAMA = "http://127.0.0.1:11434/api/chat"


def _schema(**properties: str) -> Json:
    return {
        "type": "object",
        "properties": {k: {"type": v} for k, v in properties.items()},
        "required": [*properties],
    }


def responses_call_interrupted() -> Story:
    story = Story(
        "coding agent",
        "The user interrupts a command: its call stays in the history without an output, and the session is stuck.",
        "https://github.com/openai/codex/issues/394",
    )
    model = "gpt-4.1"
    tool: Json = {"type": "function", "name": "bash", "description": "Run a shell command", "strict": False}
    base: Json = {
        "model": model,
        "store": False,
        "stream": True,
        "tools": [tool | {"parameters": _schema(cmd="string")}],
    }
    question: Json = {"role": "user", "content": "Retry the failed checks of my pull request."}
    item: Json = {
        "type": "function_call",
        "id": "fc_68f0a3c19d1c8190a2f5c6e0",
        "call_id": "call_F8pwMPCgihaegOtcP0Sj5VOj",
        "name": "bash",
        "arguments": json.dumps({"cmd": "gh run rerun --failed"}),
    }
    story.turn(RESPONSES, base | {"input": [question]}, sse(_responses_stream(model, item), named=True), seconds=1.1)
    sent = {key: item[key] for key in ("type", "call_id", "name", "arguments")}
    later: Json = {"role": "user", "content": "No, I switched to another mode. Retry."}
    refusal = f"No tool output found for function call {item['call_id']}."
    error = {"error": {"message": refusal, "type": "invalid_request_error", "param": "input", "code": None}}
    story.turn(RESPONSES, base | {"input": [question, sent, later]}, error, 400, 0.2)
    return story


def _responses_stream(model: str, item: Json) -> list[Json]:
    whole: Json = {"id": "resp_68f0a3c0b7a48190", "object": "response", "created_at": int(START), "model": model}
    usage = {"input_tokens": 212, "output_tokens": 24, "total_tokens": 236}
    started = item | {"arguments": "", "status": "in_progress"}
    text = str(item["arguments"])
    place: Json = {"item_id": item["id"], "output_index": 0}
    kind = "response.function_call_arguments"
    events: list[Json] = [
        {"type": "response.created", "response": whole | {"status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": started},
        *({"type": f"{kind}.delta", **place, "delta": text[n : n + 8]} for n in range(0, len(text), 8)),
        {"type": f"{kind}.done", **place, "arguments": text},
        {"type": "response.output_item.done", "output_index": 0, "item": item | {"status": "completed"}},
    ]
    done = whole | {"status": "completed", "output": [item | {"status": "completed"}], "usage": usage}
    events.append({"type": "response.completed", "response": done})
    return [event | {"sequence_number": n} for n, event in enumerate(events)]


def gemini_response_lost() -> Story:
    story = Story(
        "Gemini CLI",
        "Of two parallel calls one is cancelled and gets no response: the next request is refused for its count.",
        "https://github.com/google-gemini/gemini-cli/issues/3814",
    )
    declared = [{"name": "read_file", "description": "Read a file", "parameters": _schema(path="string")}]
    base: Json = {"tools": [{"functionDeclarations": declared}]}
    question: Json = {"role": "user", "parts": [{"text": "Compare setup.cfg with pyproject.toml."}]}
    calls = [{"functionCall": {"name": "read_file", "args": {"path": p}}} for p in ("setup.cfg", "pyproject.toml")]
    answer: Json = {
        "candidates": [{"content": {"role": "model", "parts": calls}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 96, "candidatesTokenCount": 31, "totalTokenCount": 127},
        "modelVersion": "gemini-2.5-pro",
        "responseId": "n4kfadT1Gq",
    }
    url = f"{GEMINI}:streamGenerateContent?alt=sse"
    story.turn(url, base | {"contents": [question]}, sse([answer]), seconds=2.1)
    result = {"functionResponse": {"name": "read_file", "response": {"output": "[metadata]\nname = demo\n"}}}
    history = [question, {"role": "model", "parts": calls}, {"role": "user", "parts": [result]}]
    refusal = (
        "Please ensure that the number of function response parts is equal to the number of function call parts"
        " of the function call turn."
    )
    error = {"error": {"code": 400, "message": refusal, "status": "INVALID_ARGUMENT"}}
    story.turn(url, base | {"contents": history}, error, 400, 0.3)
    return story


def gemini_signature_lost() -> Story:
    story = Story(
        "agent with its own history",
        "The client keeps the call and not the signature that came with it: Gemini 3 refuses the next request.",
        "https://github.com/thClaws/thClaws/issues/65",
        Origin.IMPORTED,
    )
    declared = [{"name": "read_file", "description": "Read a file", "parameters": _schema(path="string")}]
    base: Json = {"tools": [{"functionDeclarations": declared}]}
    question: Json = {"role": "user", "parts": [{"text": "Which version does pyproject.toml name?"}]}
    call: Json = {"functionCall": {"name": "read_file", "args": {"path": "pyproject.toml"}}}
    signed = call | {"thoughtSignature": "CikBVKhc7oRQ0Y3l5bWm4vJx2nTq8sZfHkLdPgRuWyEoAiNcMbVtXjGh"}
    answer: Json = {
        "candidates": [{"content": {"role": "model", "parts": [signed]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 71, "candidatesTokenCount": 18, "thoughtsTokenCount": 64, "totalTokenCount": 153,
        },
        "modelVersion": "gemini-3-pro-preview",
        "responseId": "p5mgabU2Hr",
    }  # fmt: skip
    url = f"{GEMINI.replace('gemini-2.5-pro', 'gemini-3-pro-preview')}:streamGenerateContent?alt=sse"
    story.turn(url, base | {"contents": [question]}, sse([answer]), seconds=2.4)
    result = {"functionResponse": {"name": "read_file", "response": {"output": '[project]\nversion = "1.4.0"\n'}}}
    history = [question, {"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}]
    refusal = (
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work"
        " correctly, and missing thought_signature may lead to degraded model performance. Additional data, function"
        " call `default_api:read_file` , position 2. Please refer to"
        " https://ai.google.dev/gemini-api/docs/thought-signatures for more details."
    )
    error = {"error": {"code": 400, "message": refusal, "status": "INVALID_ARGUMENT"}}
    story.turn(url, base | {"contents": history}, error, 400, 0.3)
    return story


def ollama_call_in_text() -> Story:
    story = Story(
        "home-made loop",
        "The model leaves out the opening tag of its call: the server takes the call for text, and the agent stops.",
        "https://github.com/ollama/ollama/issues/16686",
    )
    model = "qwen3-coder:30b"
    function = {"name": "glob", "description": "Find files by pattern", "parameters": _schema(pattern="string")}
    request: Json = {
        "model": model,
        "messages": [{"role": "user", "content": "Which Markdown files are here?"}],
        "tools": [{"type": "function", "function": function}],
    }
    said = "I'll list the files.\n\n<function=glob>\n<parameter=pattern>\n*.md\n</parameter>\n</function>\n</tool_call>"
    pieces = [said[n : n + 12] for n in range(0, len(said), 12)]
    head: Json = {"model": model, "created_at": "2026-09-21T10:13:21Z"}
    lines = [head | {"message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces]
    last: Json = {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    counts: Json = {"total_duration": 912_000_000, "prompt_eval_count": 287, "eval_count": 34}
    story.lines(OLLAMA, request, [*lines, head | last | counts], seconds=0.9)
    return story
