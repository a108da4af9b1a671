"""Thinking switched off for one request, in the words of who is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.ir import JsonValue
from workbench.leaves import escape
from workbench.repairs import _shape
from workbench.repairs._fault import Fault
from workbench.wire.patch import Change, Insert, Replace

TITLE = "switch thinking off for this request"

_DISABLED: JsonValue = {"type": "disabled"}
_TEMPLATE: JsonValue = {"enable_thinking": False}
_CHAT: Mapping[str, Mapping[str, JsonValue]] = {
    **{name: {"thinking": _DISABLED} for name in ("deepseek", "kimi", "glm")},
    "qwen": {"enable_thinking": False},
    **{name: {"chat_template_kwargs": _TEMPLATE} for name in ("vllm", "sglang", "llama.cpp", "lm-studio")},
    "openrouter": {"reasoning": {"enabled": False}},
}
"""Contract → the switch it has on the chat wire, where many exist (``adapters/_chat/request.py`` cites them)."""

_SWITCHES: tuple[tuple[str, JsonValue], ...] = (
    ("/enable_thinking", False),
    ("/chat_template_kwargs/enable_thinking", False),
    ("/chat_template_kwargs/thinking", False),
    ("/think", False),
)


def off(fault: Fault) -> Iterator[tuple[Change, ...]]:
    """The ways to say it, the likeliest first: the switch that the request has, else the provider's own."""
    if fault.request.thinking == "off":
        return
    body = fault.body if isinstance(fault.body, dict) else {}
    if isinstance(body.get("thinking"), dict):
        yield (Replace("/thinking", _DISABLED),)  # a budget means nothing to what is off
    for pointer, value in _SWITCHES:
        if fault.value(pointer) is not None:
            yield (Replace(pointer, value),)
    is_chat = fault.request.protocol == "openai-chat"
    own = _CHAT.get(fault.contract.name, {}) if is_chat else _shape.thinking_off(fault.adapter)
    if own:
        yield tuple(change for key, value in own.items() for change in _said(f"/{escape(key)}", value, body.get(key)))


def _said(at: str, value: JsonValue, held: JsonValue) -> Iterator[Change]:
    """A member put where it belongs, beside what is there."""
    if held is None:
        yield Insert(at, value)
    elif isinstance(held, dict) and isinstance(value, dict) and "type" not in value:
        for key, inner in value.items():
            yield from _said(f"{at}/{escape(key)}", inner, held.get(key))
    elif held != value:
        yield Replace(at, value)
