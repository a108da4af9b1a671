"""Token counts are held against what was sent, against each other and against the limit, on every protocol."""

from __future__ import annotations

from typing import Any

import pytest

LONG = " ".join(f"line {n}: the rules of the house are kept." for n in range(400))
SHORT = "go"


def chat(text: str, limit: int | None, prompt: int, output: int, **more: Any) -> tuple[Any, Any]:
    request = {"model": "m", "messages": [{"role": "user", "content": text}]} | ({"max_tokens": limit} if limit else {})
    choice = {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": prompt, "completion_tokens": output, **more}
    return request, {"object": "chat.completion", "choices": [choice], "usage": usage}


def responses(text: str, limit: int | None, prompt: int, output: int, **more: Any) -> tuple[Any, Any]:
    request = {"model": "m", "input": [{"role": "user", "content": text}]}
    request |= {"max_output_tokens": limit} if limit else {}
    said = {"type": "output_text", "text": "hi", "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [said]}
    usage = {"input_tokens": prompt, "output_tokens": output, **more}
    return request, {"object": "response", "id": "r", "status": "completed", "output": [item], "usage": usage}


def messages(text: str, limit: int | None, prompt: int, output: int, **more: Any) -> tuple[Any, Any]:
    request = {"model": "m", "max_tokens": limit or 4096, "messages": [{"role": "user", "content": text}]}
    usage = {"input_tokens": prompt, "output_tokens": output, **more}
    content = [{"type": "text", "text": "hi"}]
    answer = {"type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": "end_turn"}
    return request, {**answer, "usage": usage}


def gemini(text: str, limit: int | None, prompt: int, output: int, **more: Any) -> tuple[Any, Any]:
    request = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    request |= {"generationConfig": {"maxOutputTokens": limit}} if limit else {}
    candidate = {"content": {"role": "model", "parts": [{"text": "hi"}]}, "finishReason": "STOP"}
    usage = {"promptTokenCount": prompt, "candidatesTokenCount": output, **more}
    return request, {"candidates": [candidate], "usageMetadata": usage}


def ollama(text: str, limit: int | None, prompt: int, output: int) -> tuple[Any, Any]:
    request = {"model": "m", "stream": False, "messages": [{"role": "user", "content": text}]}
    request |= {"options": {"num_predict": limit}} if limit else {}
    answer = {"model": "m", "message": {"role": "assistant", "content": "hi"}, "done": True, "done_reason": "stop"}
    return request, {**answer, "prompt_eval_count": prompt, "eval_count": output}


def converse(text: str, limit: int | None, prompt: int, output: int, **more: Any) -> tuple[Any, Any]:
    request = {"messages": [{"role": "user", "content": [{"text": text}]}]}
    request |= {"inferenceConfig": {"maxTokens": limit}} if limit else {}
    message = {"role": "assistant", "content": [{"text": "hi"}]}
    usage = {"inputTokens": prompt, "outputTokens": output, **more}
    return request, {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}


WIRES = {
    "openai-chat": (chat, "/usage/prompt_tokens", "/usage/completion_tokens"),
    "openai-responses": (responses, "/usage/input_tokens", "/usage/output_tokens"),
    "anthropic-messages": (messages, "/usage/input_tokens", "/usage/output_tokens"),
    "gemini": (gemini, "/usageMetadata/promptTokenCount", "/usageMetadata/candidatesTokenCount"),
    "ollama": (ollama, "/prompt_eval_count", "/eval_count"),
    "bedrock-converse": (converse, "/usage/inputTokens", "/usage/outputTokens"),
}


@pytest.fixture
def judge(inspect):
    """(rule, severity, pointer) of the findings on token counts."""

    def run(protocol: str, pair: tuple[Any, Any]) -> list[tuple[str, str, str]]:
        found = inspect(*pair, protocol=protocol)
        return [(f.rule.removeprefix("usage."), str(f.severity), f.pointer) for f in found if f.rule[:6] == "usage."]

    return run


@pytest.mark.parametrize("protocol", WIRES)
def test_faults_of_counts_have_their_names_and_places(judge, protocol):
    make, prompt, output = WIRES[protocol]
    assert judge(protocol, make(LONG, None, 300, 5)) == [("prompt-cut", "warning", prompt)]
    assert judge(protocol, make(SHORT, 50, 20, 52)) == [("over-limit", "warning", output)]
    assert judge(protocol, make(LONG, 50, len(LONG) // 4, 50)) == []


@pytest.mark.parametrize(
    ("limit", "output", "more", "expected"),
    [
        (32, 33, {}, []),  # the token that ends the turn is counted by some
        (1, 16, {}, []),  # OpenAI's Responses API takes no limit below 16, and gateways raise it
        (16, 112, {"completion_tokens_details": {"reasoning_tokens": 109}}, []),  # xAI limits the text alone
        (32, 40, {"completion_tokens_details": {"reasoning_tokens": 4}}, ["over-limit"]),
    ],
)
def test_a_limit_is_kept_though_more_is_counted(judge, limit, output, more, expected):
    request, answer = chat(SHORT, limit, 50, output)
    answer["usage"] |= {"total_tokens": 50 + output, **more}
    assert [rule for rule, *_ in judge("openai-chat", (request, answer))] == expected


CACHED = {"total_tokens": 25, "prompt_tokens_details": {"cached_tokens": 900}}
THOUGHT = {"total_tokens": 25, "completion_tokens_details": {"reasoning_tokens": 90}}
SUMS = [
    ("openai-chat", {"total_tokens": 25}, []),
    ("openai-chat", {"total_tokens": 24}, [("contradiction", "warning", "/usage/total_tokens")]),
    ("openai-chat", {"total_tokens": 99}, [("contradiction", "info", "/usage/total_tokens")]),
    ("openai-chat", CACHED, [("contradiction", "warning", "/usage/prompt_tokens_details/cached_tokens")]),
    ("openai-chat", THOUGHT, [("contradiction", "warning", "/usage/completion_tokens_details/reasoning_tokens")]),
    ("openai-chat", {**THOUGHT, "total_tokens": 115}, []),  # a server that counts reasoning beside the output
    ("openai-responses", {"total_tokens": 7}, [("contradiction", "warning", "/usage/total_tokens")]),
    ("openai-responses", {"input_tokens_details": {"cached_tokens": 20}, "total_tokens": 25}, []),
    ("anthropic-messages", {"cache_read_input_tokens": 900, "cache_creation_input_tokens": 0}, []),
    ("gemini", {"thoughtsTokenCount": 90, "totalTokenCount": 115}, []),
    (
        "gemini",
        {"cachedContentTokenCount": 21, "totalTokenCount": 25},
        [("contradiction", "warning", "/usageMetadata/cachedContentTokenCount")],
    ),
    ("bedrock-converse", {"cacheReadInputTokens": 900, "totalTokens": 925}, []),
    ("bedrock-converse", {"totalTokens": 3}, [("contradiction", "warning", "/usage/totalTokens")]),
]


@pytest.mark.parametrize(("protocol", "more", "expected"), SUMS)
def test_counts_agree_with_each_other(judge, protocol, more, expected):
    make, _, _ = WIRES[protocol]
    assert judge(protocol, make(SHORT, None, 20, 5, **more)) == expected


def test_text_that_repeats_itself_and_prompts_that_are_shortened_on_request_are_not_cut(judge):
    assert judge("openai-chat", chat("=" * 9000, None, 300, 5)) == []
    request, answer = responses(LONG, None, 300, 5)
    assert judge("openai-responses", ({**request, "truncation": "auto"}, answer)) == []


@pytest.mark.parametrize("raw", [float("inf"), float("nan"), True, "9", []])
def test_counts_that_are_no_counts_are_left_alone(judge, raw):
    assert judge("openai-chat", chat(SHORT, 5, 20, 5, total_tokens=raw)) == []


def test_the_finish_reason_of_a_cut_call_is_named_on_its_call(chat):
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": '{"city": "Os'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    found = [(f.rule, f.severity) for f in chat([{"role": "user", "content": "go"}], answer) if "finish" in f.rule]
    assert found == [("stream.finish-reason", "warning")]


def test_a_negative_count_and_no_output_for_a_text_contradict_themselves(judge):
    assert judge("openai-chat", chat(SHORT, 5, 20, 5, total_tokens=-1)) == [
        ("contradiction", "warning", "/usage/total_tokens")
    ]
    request, answer = chat(SHORT, None, 20, 0)
    answer["choices"][0]["message"]["content"] = "It is 21 C in Rome, and it will be so all day."
    assert judge("openai-chat", (request, answer)) == [("contradiction", "warning", "/usage/completion_tokens")]
    answer["choices"][0]["message"] |= {"content": "", "reasoning_content": "It is 21 C in Rome. " * 3}
    assert judge("openai-chat", (request, answer)) == [("contradiction", "warning", "/usage/completion_tokens")]
    answer["usage"]["prompt_tokens"] = 0  # nobody counts
    assert judge("openai-chat", (request, answer)) == []
