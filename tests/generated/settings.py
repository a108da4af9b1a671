"""Parameters that one model or provider refuses, and choices without tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.generated import Dice, Fault, Scene
from tests.generated.places import put
from tests.siblings.wires import Json, Wire

REFUSED = ("params.", "gateway.unknown-field", "choice.")

CHAT = "openai-chat"
BY_MODEL: tuple[tuple[str, str | None, str, str, Any], ...] = (
    (CHAT, "openai", "gpt-5", "temperature", 0.3),
    (CHAT, "openai", "gpt-5", "top_p", 0.8),
    (CHAT, "openai", "gpt-5", "max_tokens", 900),
    (CHAT, "openai", "gpt-5", "stop", ["END"]),
    (CHAT, "openai", "gpt-5-mini", "max_tokens", 900),
    (CHAT, "openai", "gpt-5-mini", "temperature", 0.1),
    (CHAT, "openai", "gpt-5-nano", "temperature", 0.1),
    (CHAT, "openai", "gpt-5", "presence_penalty", 0.4),
    (CHAT, "openai", "gpt-5", "frequency_penalty", 0.4),
    (CHAT, "openai", "gpt-5", "logprobs", True),
    (CHAT, "openai", "gpt-5", "logit_bias", {"50256": -100}),
    (CHAT, "openai", "o3", "temperature", 0.3),
    (CHAT, "openai", "o3", "max_tokens", 900),
    (CHAT, "openai", "o3", "stop", ["END"]),
    (CHAT, "openai", "o3-mini", "temperature", 0.7),
    (CHAT, "openai", "o3-mini", "parallel_tool_calls", False),
    (CHAT, "openai", "o4-mini", "temperature", 0.3),
    (CHAT, "openai", "o4-mini", "max_tokens", 900),
    (CHAT, "openai", "o4-mini", "top_p", 0.5),
    (CHAT, "openai", "o1", "temperature", 0.3),
    (CHAT, "openai", "gpt-4.1", "reasoning_effort", "low"),
    (CHAT, "openai", "gpt-4o", "reasoning_effort", "high"),
    ("openai-responses", "openai", "gpt-5", "temperature", 0.3),
    ("openai-responses", "openai", "gpt-5", "top_p", 0.3),
    ("openai-responses", "openai", "o3", "temperature", 0.3),
    ("openai-responses", "openai", "gpt-4.1", "reasoning", {"effort": "low"}),
    ("openai-responses", "openai", "gpt-5", "max_tokens", 900),
    ("openai-responses", "openai", "gpt-5", "stop", ["END"]),
    ("openai-responses", "openai", "gpt-5", "max_completion_tokens", 900),
    ("openai-responses", "openai", "gpt-5", "response_format", {"type": "json_object"}),
    (CHAT, "xai", "grok-4", "presence_penalty", 0.4),
    (CHAT, "xai", "grok-4", "frequency_penalty", 0.4),
    (CHAT, "xai", "grok-4", "stop", ["END"]),
    (CHAT, "xai", "grok-4", "reasoning_effort", "low"),
    (CHAT, "xai", "grok-3-mini", "presence_penalty", 0.4),
    (CHAT, "groq", "openai/gpt-oss-120b", "logprobs", True),
    (CHAT, "groq", "llama-3.3-70b-versatile", "logit_bias", {"1": 5}),
    (CHAT, "groq", "llama-3.3-70b-versatile", "n", 2),
    (CHAT, "groq", "llama-3.3-70b-versatile", "top_logprobs", 3),
    (CHAT, "groq", "llama-3.3-70b-versatile", "reasoning_effort", "low"),
    (CHAT, "mistral", "mistral-large-latest", "seed", 5),
    (CHAT, "mistral", "mistral-large-latest", "max_completion_tokens", 5),
    ("openai-responses", "openai", "o4-mini", "top_p", 0.3),
    ("openai-responses", "openai", "gpt-4o", "reasoning", {"effort": "high"}),
    ("anthropic-messages", "anthropic", "claude-fable-5", "top_p", 0.3),
    ("anthropic-messages", "anthropic", "claude-sonnet-5", "temperature", 0.3),
    ("anthropic-messages", "anthropic", "claude-opus-5-5", "tool_choice", {"type": "any"}),
    (CHAT, "deepseek", "deepseek-v4-pro", "tool_choice", "required"),
    ("anthropic-messages", "anthropic", "claude-opus-4-7", "temperature", 0.3),
    ("anthropic-messages", "anthropic", "claude-opus-4-7", "top_p", 0.3),
    ("anthropic-messages", "anthropic", "claude-opus-4-7", "top_k", 9),
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5", "stop", ["END"]),
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5", "max_completion_tokens", 9),
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5", "frequency_penalty", 0.2),
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5", "response_format", {"type": "json_object"}),
    ("anthropic-messages", "anthropic", "claude-sonnet-4-5", "temperature", 1.7),
    ("cohere-v2", "cohere", "command-a-03-2025", "top_p", 0.4),
    ("cohere-v2", "cohere", "command-a-03-2025", "max_completion_tokens", 9),
    ("cohere-v2", "cohere", "command-a-03-2025", "parallel_tool_calls", True),
    ("gemini", "gemini", "gemini-2.5-pro", "temperature", 0.4),
    ("gemini", "gemini", "gemini-2.5-pro", "max_tokens", 40),
    ("gemini", "gemini", "gemini-2.5-pro", "stream", True),
    ("gemini-interactions", "gemini-interactions", "gemini-3-flash-preview", "temperature", 0.4),
    ("gemini-interactions", "gemini-interactions", "gemini-3-flash-preview", "max_output_tokens", 40),
)
"""(protocol, contract, model, key, value) of what is documented or reported to be refused."""

THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
TOGETHER: tuple[tuple[str, str, Json], ...] = (
    ("anthropic-messages", "claude-sonnet-4-5", {**THINKING, "temperature": 0.2}),
    ("anthropic-messages", "claude-sonnet-4-5", {**THINKING, "top_k": 5}),
    ("anthropic-messages", "claude-sonnet-4-5", {**THINKING, "top_p": 0.2}),
    ("anthropic-messages", "claude-sonnet-4-5", {"temperature": 0.2, "top_p": 0.9}),
    ("anthropic-messages", "claude-opus-4-1", {"temperature": 0.2, "top_p": 0.9}),
    ("anthropic-messages", "claude-sonnet-4-5", {**THINKING, "tool_choice": {"type": "any"}}),
    ("anthropic-messages", "claude-sonnet-4-5", {"thinking": {"type": "enabled", "budget_tokens": 300}}),
    ("anthropic-messages", "claude-sonnet-4-5", {"thinking": {"type": "enabled", "budget_tokens": 9000}}),
    ("anthropic-messages", "claude-sonnet-4-5", {"thinking": {"type": "enabled"}}),
    ("openai-chat", "gpt-4.1", {"max_tokens": 9, "max_completion_tokens": 9}),
    ("openai-chat", "gpt-4.1", {"stream_options": {"include_usage": True}}),
    (
        "gemini",
        "gemini-3-pro",
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low", "thinkingBudget": 512}}},
    ),
    (
        "gemini",
        "gemini-2.5-flash",
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}}},
    ),
)


def models(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """Parameters that a model refuses."""
    for protocol, provider, model, key, value in BY_MODEL:
        if protocol == wire.name:
            scene = Scene.of(dice)
            body = scene.whole(wire, dice) | {key: value}
            body |= {"model": model} if "model" in body else {}
            yield Fault(
                "3 model refuses", wire, body, REFUSED, place=f"/{key}", provider=provider, note=f"{model} {key}"
            )
    for protocol, model, keys in TOGETHER:
        if protocol == wire.name:
            scene = Scene.of(dice)
            body = scene.whole(wire, dice) | keys
            body |= {"model": model} if "model" in body else {}
            yield Fault("3 model refuses", wire, body, REFUSED, note=f"{model} {sorted(keys)} {keys}"[:70])


PROVIDERS = (
    *("openai", "deepseek", "kimi", "glm", "qwen", "minimax", "mistral", "groq", "xai", "openrouter", "vllm", "sglang"),
    *("llama.cpp", "lm-studio", "gemini-openai", None),
)


def choices(wire: Wire, dice: Dice) -> Iterator[Fault]:
    """A choice among no tools."""
    table: dict[str, list[tuple[str, Any]]] = {
        "anthropic-messages": [
            ("tool_choice", {"type": "any"}),
            ("tool_choice", {"type": "auto"}),
            ("tool_choice", {"type": "tool", "name": "x"}),
        ],
        "openai-chat": [
            ("tool_choice", "required"),
            ("tool_choice", "auto"),
            ("tool_choice", {"type": "function", "function": {"name": "x"}}),
        ],
        "openai-responses": [
            ("tool_choice", "required"),
            ("tool_choice", "auto"),
            ("tool_choice", {"type": "function", "name": "x"}),
        ],
        "gemini": [("toolConfig", {"functionCallingConfig": {"mode": "ANY"}})],
        "cohere-v2": [("tool_choice", "REQUIRED")],
        "gemini-interactions": [("generation_config", {"tool_choice": "any"})],
    }  # fmt: skip
    for key, value in table.get(wire.name, ()):
        for provider in PROVIDERS if wire.name == "openai-chat" else (wire.provider,):
            body = wire.request([wire.user(dice.sentence())], ()) | {key: value}
            yield Fault(
                "7 choice without tools", wire, body, ("choice.",), provider=provider or "", note=f"{provider} {value}"
            )
    scene = Scene.of(dice)
    named: dict[str, tuple[str, Any]] = {
        "anthropic-messages": ("/tool_choice", {"type": "tool", "name": dice.key()}),
        "openai-chat": ("/tool_choice", {"type": "function", "function": {"name": dice.key()}}),
        "openai-responses": ("/tool_choice", {"type": "function", "name": dice.key()}),
        "gemini": ("/toolConfig", {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [dice.key()]}}),
        "bedrock-converse": ("/toolConfig/toolChoice", {"tool": {"name": dice.key()}}),
        "gemini-interactions": (
            "/generation_config",
            {"tool_choice": {"allowed_tools": {"mode": "any", "tools": [dice.key()]}}},
        ),
    }  # fmt: skip
    if wire.name in named:
        for _ in range(2):
            place, new = named[wire.name]
            yield Fault(
                "7 choice without tools",
                wire,
                put(scene.whole(wire, dice), place, new),
                ("choice.",),
                note="names no tool",
            )


MAKERS = (models, choices)
