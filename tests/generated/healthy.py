"""Healthy but unusual requests and answers of every wire: nothing is wrong with any of them.

Each is what a vendor's documentation or SDK shows, in a form that few clients send.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.siblings.further_wires import ALL
from tests.siblings.wires import Call, Json, Result, Tool, Wire

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
DATA = f"data:image/png;base64,{PIXEL}"
WIRES = {wire.name: wire for wire in ALL}
NESTED = {
    "type": "object",
    "properties": {
        "where": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "At most so many"},
    },
    "required": ["where"],
}


class Sample(NamedTuple):
    """A healthy exchange: name, wire, request, answer (None for none), contract."""

    name: str
    wire: Wire
    request: Json
    answer: Any = None
    provider: str = ""


def samples() -> Iterator[Sample]:
    """All of them."""
    for wire in ALL:
        yield from _of_every_wire(wire)
    for of_wire in (_messages, _chat, _responses, _gemini, _converse, _ollama, _cohere, _interactions):
        yield from of_wire()


def _of_every_wire(wire: Wire) -> Iterator[Sample]:
    calls = tuple(Call(f"call_aaaaaa{n:02d}", "weather", {"city": f"City {n}"}) for n in range(12))
    results = tuple(Result(call.id, call.name, f"{n} degrees") for n, call in enumerate(calls))
    asked = wire.request([wire.user("Alle Städte — 東京, Zürich, Łódź 🌍")])
    yield Sample("twelve parallel calls", wire, asked, wire.answer(calls))
    yield Sample("twelve parallel calls, streamed", wire, asked, wire.stream(wire.events(calls)))
    history = [wire.user("all"), *wire.turn(calls), *wire.results(results)]
    yield Sample("twelve results", wire, wire.request(history), wire.answer((), "Cold and warm."))
    nested = Tool("find_place_2" if wire.name == "cohere-v2" else "find-place_2", NESTED)
    call = Call("call_bbbbbb01", nested.name, {"where": {"city": "Zürich", "zip": "8001"}, "tags": ["a"], "limit": 3})
    yield Sample("nested arguments", wire, wire.request([wire.user("where?")], (nested,)), wire.answer((call,)))
    odd = call._replace(arguments={"where": {"city": 'quote " and \\ and \n', "zip": ""}, "tags": []})
    asked = wire.request([wire.user("where?")], (nested,))
    yield Sample("odd characters in arguments", wire, asked, wire.stream(wire.events((odd,))))
    bare = Tool("now", {"type": "object", "properties": {}})
    asked = wire.request([wire.user("when?")], (bare,))
    yield Sample("a tool without arguments", wire, asked, wire.answer((Call("call_cccccc01", "now", {}),)))
    code = 'Use it so:\n\n```python\nweather(city=\'Oslo\')\n```\n\nThat prints the weather, e.g. `{"city": "Oslo"}`.'
    yield Sample("code in the answer", wire, wire.request([wire.user("how?")]), wire.answer((), code))
    talk = "A <tool_call> tag begins a call; the token <|im_end|> ends a turn. Neither is meant here."
    yield Sample("talk about tokens", wire, wire.request([wire.user("how?")]), wire.answer((), talk))
    turns = [
        m
        for n in range(4)
        for m in (
            *(wire.turn((), "It is cold.") if n else ()),
            wire.user(f"And city {n}?"),
            *wire.turn((calls[n],)),
            *wire.results((results[n],)),
        )
    ]
    yield Sample("four turns with calls", wire, wire.request(turns), wire.answer((), "All cold."))
    many = tuple(Tool(f"tool_{n}", NESTED) for n in range(60))
    yield Sample("sixty tools", wire, wire.request([wire.user("go")], many), wire.answer((), "Done."))
    yield Sample("no tools", wire, wire.request([wire.user("hi")], ()), wire.answer((), "Hello."))
    answer = wire.answer((), "It is 4 °C — “cold”, naïvely.")
    yield Sample("punctuation", wire, wire.request([wire.user("?")]), answer)


def _messages() -> Iterator[Sample]:
    wire = WIRES["anthropic-messages"]
    signature = "EqQB" + "Aq" * 120
    thinking = {"type": "enabled", "budget_tokens": 2048}
    thought = {"type": "thinking", "thinking": "I look.", "signature": signature}
    use = {"type": "tool_use", "id": "toolu_01A", "name": "weather", "input": {"city": "Oslo"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_01A", "content": [{"type": "text", "text": "cold"}]}

    def asked(*content: Any, **more: Any) -> Json:
        turn = {"role": "assistant", "content": list(content)}
        return wire.request([wire.user(), turn, {"role": "user", "content": [result]}], **more)

    yield Sample("thinking", wire, asked(thought, use, thinking=thinking))
    redacted = {"type": "redacted_thinking", "data": "EmwKAhgB" + "x" * 64}
    yield Sample("redacted thinking", wire, asked(redacted, thought, use, thinking=thinking))
    yield Sample("interleaved thinking", wire, asked(thought, {"type": "text", "text": "So."}, use, thinking=thinking))
    yield Sample("temperature 1 beside thinking", wire, asked(thought, use, thinking=thinking, temperature=1))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    shown = {**result, "content": [{"type": "text", "text": "see"}, image]}
    turns = [wire.user(), {"role": "assistant", "content": [use]}, {"role": "user", "content": [shown]}]
    yield Sample("an image in a result", wire, wire.request(turns))
    empty = {"type": "tool_result", "tool_use_id": "toolu_01A"}
    turns = [wire.user(), {"role": "assistant", "content": [use]}, {"role": "user", "content": [empty]}]
    yield Sample("a result without content", wire, wire.request(turns))
    failed = {**result, "is_error": True}
    behind = [failed, {"type": "text", "text": "Try again."}]
    turns = [wire.user(), {"role": "assistant", "content": [use]}, {"role": "user", "content": behind}]
    yield Sample("text behind a failed result", wire, wire.request(turns))
    cached = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    yield Sample("a cached system prompt", wire, wire.request([wire.user()], system=[cached]))
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3, "allowed_domains": ["example.org"]}
    yield Sample("a server tool", wire, {**wire.request([wire.user()], ()), "tools": [search]})
    prefill = wire.request([wire.user(), {"role": "assistant", "content": "{"}], ())
    yield Sample("a prefilled answer", wire, {**prefill, "model": "claude-sonnet-4-5"})
    answer = wire.answer((), "It is cold.")
    cite = {
        "type": "char_location",
        "cited_text": "cold",
        "document_index": 0,
        "document_title": None,
        "start_char_index": 0,
        "end_char_index": 4,
    }
    answer["content"][0]["citations"] = [cite]
    document = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "cold"},
        "citations": {"enabled": True},
    }
    yield Sample("citations", wire, wire.request([{"role": "user", "content": [document]}], ()), answer)
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 2000,
        "output_tokens": 9,
        "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
        "service_tier": "standard",
        "server_tool_use": {"web_search_requests": 1},
    }
    yield Sample("cached tokens", wire, wire.request([wire.user()]), wire.answer((), "Cold.") | {"usage": usage})
    refusal = wire.answer((), "I cannot.", "refusal")
    yield Sample("a refusal", wire, wire.request([wire.user()]), refusal)
    yield Sample(
        "a stop sequence",
        wire,
        wire.request([wire.user()], stop_sequences=["END"]),
        wire.answer((), "So.", "stop_sequence") | {"stop_sequence": "END"},
    )


def _chat() -> Iterator[Sample]:
    wire = WIRES["openai-chat"]
    tool = wire.tool(Tool())

    def asked(*messages: Json, **more: Any) -> Json:
        return wire.request(list(messages) or [wire.user()], **more)

    yield Sample("a developer message", wire, asked({"role": "developer", "content": "Be brief."}, wire.user()))
    yield Sample("names", wire, asked({"role": "user", "name": "ada_1", "content": "hi"}))
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": DATA, "detail": "low"}},
    ]
    yield Sample("an image", wire, asked({"role": "user", "content": parts}))
    yield Sample(
        "result as parts",
        wire,
        asked(
            wire.user(),
            *wire.turn(),
            {"role": "tool", "tool_call_id": "call_aaaaaaa1", "content": [{"type": "text", "text": "cold"}]},
        ),
    )
    refused = {"role": "assistant", "content": None, "refusal": "I cannot.", "annotations": []}
    answer = wire.answer((), "x")
    answer["choices"][0]["message"] = refused
    yield Sample("a refusal", wire, asked(), answer)
    two = wire.answer((), "one")
    two["choices"].append({**two["choices"][0], "index": 1})
    yield Sample("two choices", wire, asked(n=2), two)
    logged = wire.answer((), "a")
    token = {"token": "a", "logprob": -0.1, "bytes": [97], "top_logprobs": []}
    logged["choices"][0]["logprobs"] = {"content": [token], "refusal": None}
    yield Sample("log probabilities", wire, asked(logprobs=True, top_logprobs=2), logged)
    schema = {
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": schema}}
    yield Sample("structured output", wire, asked(response_format=form), wire.answer((), '{"a": null}'))
    strict = {"type": "function", "function": {"name": "weather", "strict": True, "parameters": schema}}
    yield Sample("a strict tool with a nullable field", wire, {**asked(), "tools": [strict]})
    custom = {"type": "custom", "custom": {"name": "shell", "description": "Runs a line."}}
    yield Sample("a custom tool", wire, {**asked(), "model": "gpt-5", "tools": [custom, tool]})
    named = {"type": "function", "function": {"name": "weather"}}
    yield Sample("a named choice", wire, asked(tool_choice=named), wire.answer(stop="stop"))
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 9,
        "total_tokens": 909,
        "prompt_tokens_details": {"cached_tokens": 880, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "accepted_prediction_tokens": 0},
    }
    yield Sample("cached tokens", wire, asked(), wire.answer((), "Cold.") | {"usage": usage, "service_tier": "default"})
    events = [
        *wire.events((), "Cold."),
        {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1", "choices": [], "usage": usage},
    ]
    yield Sample(
        "usage in a stream", wire, asked(stream=True, stream_options={"include_usage": True}), wire.stream(events)
    )
    thought = wire.answer((), "Cold.")
    thought["choices"][0]["message"]["reasoning_content"] = "It is winter."
    yield Sample("reasoning of DeepSeek", wire, {**asked(), "model": "deepseek-reasoner"}, thought, "deepseek")
    yield Sample(
        "options",
        wire,
        asked(
            seed=5,
            user="u1",
            metadata={"a": "b"},
            store=True,
            parallel_tool_calls=False,
            service_tier="auto",
        ),
    )


def _responses() -> Iterator[Sample]:
    wire = WIRES["openai-responses"]

    def asked(*items: Json, **more: Any) -> Json:
        return wire.request(list(items) or [wire.user()], **more)

    yield Sample("text as input", wire, {"model": "gpt-4.1", "input": "How is it?", "instructions": "Be brief."})
    yield Sample("a developer item", wire, asked({"role": "developer", "content": "Be brief."}, wire.user()))
    hidden = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAAB" + "k" * 120}
    call = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city":"Oslo"}',
    }
    output = {"type": "function_call_output", "call_id": "call_1", "output": "cold"}
    more = {"model": "gpt-5", "store": False, "include": ["reasoning.encrypted_content"]}
    yield Sample("encrypted reasoning", wire, asked(wire.user(), hidden, call, output) | more)
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"}
    yield Sample("an image in a result", wire, asked(wire.user(), call, {**output, "output": [image]}))
    hosted = [
        {"type": "web_search"},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {
            "type": "mcp",
            "server_label": "deepwiki",
            "server_url": "https://mcp.example.org/mcp",
            "require_approval": "never",
        },
    ]
    yield Sample("hosted tools", wire, {**asked(), "tools": hosted})
    searched = wire.answer((), "Cold.")
    searched["output"].insert(
        0,
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "weather"},
        },
    )
    cite = {"type": "url_citation", "url": "https://example.org", "title": "x", "start_index": 0, "end_index": 4}
    searched["output"][1]["content"][0]["annotations"] = [cite]
    yield Sample("a search with citations", wire, {**asked(), "tools": [{"type": "web_search"}]}, searched)
    yield Sample(
        "a refusal", wire, asked(), _with_part(wire.answer((), "x"), {"type": "refusal", "refusal": "I cannot."})
    )
    form = {
        "format": {
            "type": "json_schema",
            "name": "a",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
                "required": ["a"],
                "additionalProperties": False,
            },
        }
    }
    yield Sample("structured output", wire, asked(text=form), wire.answer((), '{"a": null}'))
    yield Sample(
        "a remembered conversation", wire, {"model": "gpt-4.1", "previous_response_id": "resp_1", "input": [output]}
    )
    grammar = {
        "type": "custom",
        "name": "patch",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/"},
    }
    yield Sample("a custom tool with a grammar", wire, {**asked(), "model": "gpt-5", "tools": [grammar]})
    shell = {
        "type": "local_shell_call",
        "id": "ls_1",
        "call_id": "call_9",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
    }
    shown = {"type": "local_shell_call_output", "id": "call_9", "output": "a.txt"}
    yield Sample(
        "a local shell",
        wire,
        {**asked(wire.user(), shell, shown), "model": "codex-mini-latest", "tools": [{"type": "local_shell"}]},
    )


def _with_part(answer: Json, part: Json) -> Json:
    answer["output"][0]["content"] = [part]
    return answer


def _gemini() -> Iterator[Sample]:
    wire = WIRES["gemini"]

    def asked(*contents: Json, **more: Any) -> Json:
        return wire.request(list(contents) or [wire.user()], **more)

    yield Sample(
        "snake case",
        wire,
        {
            "contents": [
                {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": PIXEL}}, {"text": "see"}]}
            ],
            "generation_config": {"max_output_tokens": 64, "stop_sequences": ["END"]},
            "system_instruction": {"parts": [{"text": "Brief."}]},
        },
    )
    yield Sample("no role", wire, {"contents": [{"parts": [{"text": "hi"}]}]})
    yield Sample("search as a tool", wire, {**asked(), "tools": [{"googleSearch": {}}]})
    yield Sample(
        "code execution",
        wire,
        {**asked(), "tools": [{"codeExecution": {}}]},
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
                            {"text": "1"},
                        ],
                    },
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 20, "totalTokenCount": 29},
        },
    )
    proof = "CiQB" + "Zm9v" * 40
    turn = {
        "role": "model",
        "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}, "thoughtSignature": proof}],
    }
    yield Sample("a thought signature", wire, asked(wire.user(), turn, *wire.results()))
    schema = {
        "type": "OBJECT",
        "properties": {"a": {"type": "STRING", "nullable": True}},
        "required": ["a"],
        "propertyOrdering": ["a"],
    }
    form = {"responseMimeType": "application/json", "responseSchema": schema, "thinkingConfig": {"thinkingBudget": 512}}
    yield Sample(
        "structured output",
        wire,
        wire.request([wire.user()], (), generationConfig=form),
        wire.answer((), '{"a": null}'),
    )
    yield Sample(
        "types in capitals",
        wire,
        {
            **asked(),
            "tools": [
                {
                    "functionDeclarations": [
                        {
                            "name": "weather",
                            "description": "W.",
                            "parameters": {
                                "type": "OBJECT",
                                "properties": {"city": {"type": "STRING"}},
                                "required": ["city"],
                            },
                        }
                    ]
                }
            ],
        },
    )
    answer = wire.answer((), "Cold.")
    answer["candidates"][0] |= {
        "groundingMetadata": {"webSearchQueries": ["x"]},
        "avgLogprobs": -0.2,
        "safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"}],
    }
    answer["usageMetadata"] |= {
        "cachedContentTokenCount": 80,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 90}],
    }
    yield Sample("grounding and cached tokens", wire, asked(), answer)
    choice = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather"]}}
    yield Sample("an allowed name", wire, asked(toolConfig=choice), wire.answer())


def _converse() -> Iterator[Sample]:
    wire = WIRES["bedrock-converse"]
    image = {"image": {"format": "png", "source": {"bytes": PIXEL}}}
    yield Sample("an image", wire, wire.request([{"role": "user", "content": [image, {"text": "see"}]}]))
    point = {"cachePoint": {"type": "default"}}
    yield Sample("a cache point", wire, wire.request([wire.user()], system=[{"text": "Be brief."}, point]))
    result = {"toolResult": {"toolUseId": "call_aaaaaaa1", "content": [{"json": {"a": 1}}, image], "status": "success"}}
    yield Sample(
        "json and image in a result",
        wire,
        wire.request([wire.user(), *wire.turn(), {"role": "user", "content": [result]}]),
    )
    yield Sample(
        "options",
        wire,
        wire.request(
            [wire.user()],
            inferenceConfig={"maxTokens": 64, "stopSequences": ["END"]},
            additionalModelRequestFields={"top_k": 5},
            requestMetadata={"a": "b"},
            performanceConfig={"latency": "standard"},
        ),
    )
    yield Sample(
        "a guardrail",
        wire,
        wire.request(
            [wire.user()], guardrailConfig={"guardrailIdentifier": "g1", "guardrailVersion": "1", "trace": "enabled"}
        ),
    )
    answer = wire.answer((), "Cold.")
    answer["usage"] |= {"cacheReadInputTokens": 80, "cacheWriteInputTokens": 0}
    yield Sample("cached tokens", wire, wire.request([wire.user()]), answer)


def _ollama() -> Iterator[Sample]:
    wire = WIRES["ollama"]
    yield Sample("images", wire, wire.request([{"role": "user", "content": "see", "images": [PIXEL]}]))
    yield Sample("thinking", wire, wire.request([wire.user()], think=True, keep_alive="5m"))
    yield Sample(
        "a format",
        wire,
        wire.request([wire.user()], (), format={"type": "object", "properties": {"a": {"type": "string"}}}),
        wire.answer((), '{"a": "b"}'),
    )
    yield Sample("options", wire, wire.request([wire.user()], options={"num_ctx": 8192, "seed": 1, "stop": ["END"]}))
    called = wire.whole()
    called["messages"][1]["tool_calls"][0] |= {"id": "call_1", "type": "function"}
    called["messages"][2]["tool_call_id"] = "call_1"
    yield Sample("ids as clients of OpenAI send them", wire, called)


def _cohere() -> Iterator[Sample]:
    wire = WIRES["cohere-v2"]
    system = {"role": "system", "content": "Be brief."}
    yield Sample(
        "documents", wire, wire.request([system, wire.user()], (), documents=[{"id": "1", "data": {"text": "cold"}}])
    )
    yield Sample("options", wire, wire.request([wire.user()], p=0.9, k=5, strict_tools=True))
    result = {
        "role": "tool",
        "tool_call_id": "call_aaaaaaa1",
        "content": [{"type": "document", "document": {"id": "d", "data": {"a": "b"}}}],
    }
    yield Sample("a document as result", wire, wire.request([wire.user(), *wire.turn(text="I look."), result]))
    cited = wire.answer((), "Cold.")
    cited["message"]["citations"] = [
        {
            "start": 0,
            "end": 4,
            "text": "Cold",
            "type": "TEXT_CONTENT",
            "sources": [{"type": "document", "id": "1", "document": {"text": "cold"}}],
        }
    ]
    yield Sample("citations", wire, wire.request([wire.user()]), cited)
    thinking = {"type": "enabled", "token_budget": 64}
    yield Sample(
        "thinking", wire, {**wire.request([wire.user()], thinking=thinking), "model": "command-a-reasoning-08-2025"}
    )


def _interactions() -> Iterator[Sample]:
    wire = WIRES["gemini-interactions"]
    model = "gemini-3-flash-preview"
    yield Sample("text as input", wire, {"model": model, "input": "How is it?", "system_instruction": "Be brief."})
    yield Sample(
        "content as input",
        wire,
        {
            "model": model,
            "input": [{"type": "text", "text": "see"}, {"type": "image", "data": PIXEL, "mime_type": "image/png"}],
        },
    )
    yield Sample("an agent", wire, {"agent": "deep-research-preview-04-2026", "input": "Find out.", "background": True})
    tools = [{"type": "google_search"}, {"type": "code_execution"}, {"type": "url_context"}]
    yield Sample("server tools", wire, {"model": model, "input": "go", "tools": tools})
    config = {"temperature": 0.4, "thinking_level": "low", "max_output_tokens": 64, "tool_choice": "auto"}
    yield Sample("settings", wire, wire.request([wire.user()], generation_config=config))
    result = {"type": "function_result", "call_id": "call_aaaaaaa1", "name": "weather", "result": {"degrees": 4}}
    yield Sample("an object as result", wire, {"model": model, "previous_interaction_id": "v1_x", "input": [result]})
    thought = {"type": "thought", "signature": "CiQB" + "Zm9v" * 30, "summary": [{"type": "text", "text": "I look."}]}
    yield Sample("a thought", wire, wire.request([wire.user(), thought, *wire.turn(), *wire.results()]))
