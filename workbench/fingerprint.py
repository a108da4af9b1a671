"""Fingerprints: what a message says, as a number, without what clients change between requests.

Left out: system messages, reasoning, cache markers, where one message ends and the next begins, string or block,
key order in arguments, whitespace at the ends of texts, reminders that a client appends. Fingerprints hold within one
process only.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench import regex
from workbench.ir import JsonValue, Media, Message, Opaque, Part, Reasoning, Text, ToolCallIR, ToolResultIR
from workbench.named_tuple import NamedTuple

ANSWERING = frozenset({"assistant", "model"})
"""Roles of what a model said."""

SYSTEM = frozenset({"system", "developer"})
"""Roles of instructions: they may change between requests of one conversation."""

_MARKERS = frozenset({"cache_control"})
_REMINDER = regex.compile(r"[\w-]*(?:reminder|environment)[\w-]*")
_MAX_TAG = 64
_MAX_REMINDERS = 16
_COUNTER = regex.compile(r"[^0-9A-Za-z]\d{1,4}$")
_UNIQUE_LENGTH = 16


class Item(NamedTuple):
    """One thing that was said.

    Attributes:
        is_answer: the model said it.
        plain: fingerprint without call ids (clients and gateways rewrite them).
        exact: fingerprint with them.
        call_id: of a call that names one.
    """

    is_answer: bool
    plain: int
    exact: int
    call_id: str | None


def items(message: Message, *, is_answer: bool) -> list[Item]:
    """Items of a message, in order."""
    found: list[Item] = []
    for content, call_id in _fingerprints(message.parts, is_answer=is_answer):
        plain = hash((is_answer, content))
        found.append(Item(is_answer, plain, hash((plain, call_id)) if call_id else plain, call_id))
    return found


def _fingerprints(parts: Iterable[Part], *, is_answer: bool) -> list[tuple[int, str | None]]:
    """Of each thing that was said; neighbouring texts are one."""
    found: list[tuple[int, str | None]] = []
    texts = ""
    for part in parts:
        if isinstance(part, Text):
            texts += part.text if is_answer else without_reminders(part.text)
        elif not isinstance(part, Reasoning):
            if text := texts.strip():
                found.append((hash(text), None))
            texts = ""
            found.append(_other(part))
    if text := texts.strip():
        found.append((hash(text), None))
    return found


def _other(part: Part) -> tuple[int, str | None]:
    match part:
        case ToolCallIR():
            return call_digest(part), part.id
        case ToolResultIR():
            return hash(("result", tuple([n for n, _ in _fingerprints(part.content, is_answer=True)]))), None
        case Media():
            return hash((part.kind, part.data, part.url, part.file_id)), None
        case Opaque():
            return hash(("opaque", part.type)), None
    return 0, None


def call_digest(call: ToolCallIR, *, is_loose: bool = False) -> int:
    """Name and arguments of a call, its id left out; if loose, also the length of whitespace in texts."""
    arguments = digest(call.input, is_loose=is_loose) if call.error is None else hash((call.raw or "").strip())
    return hash(("call", call.name, arguments))


def digest(value: JsonValue, *, is_loose: bool = False) -> int:
    """A JSON value without key order and cache markers. Walks without recursion: arguments may be nested deeply."""
    tokens: list[JsonValue] = []
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            keys = sorted(node.keys() - _MARKERS, reverse=True)
            tokens.append(("{", len(keys)))
            for key in keys:
                stack += (node[key], key)
        elif isinstance(node, list | tuple):
            tokens.append(("[", len(node)))
            stack.extend(reversed(node))
        elif is_loose and isinstance(node, str):
            tokens.append(" ".join(node.split()))
        else:
            tokens.append(node)
    return hash(tuple(tokens))


def without_reminders(text: str) -> str:
    """A user's text without the tagged reminders that a client put behind it."""
    text = text.strip()
    for _ in range(_MAX_REMINDERS):
        close = text.rfind("</", max(0, len(text) - _MAX_TAG)) if text.endswith(">") else -1
        tag = text[close + 2 : -1]
        opened = text.rfind(f"<{tag}>", 0, close) if close >= 0 and _REMINDER.fullmatch(tag) else -1
        if opened < 0:
            return text
        text = text[:opened].rstrip()
    return text


def visible_text(message: Message) -> str:
    """Text of a message that people can read."""
    return "".join(p.text for p in message.parts if isinstance(p, Text)).strip()


def looks_unique(call_id: str) -> bool:
    """The id alone tells conversations apart: long, and no counter (``call_0``, ``functions.read:12``)."""
    return len(call_id) >= _UNIQUE_LENGTH and not _COUNTER.search(call_id)
