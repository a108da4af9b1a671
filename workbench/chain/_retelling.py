"""Answers that a client tells to another provider in words of its own: thinking as text, other call ids.

What both sides share has to be strong: every call with its arguments, and the text down to its last word.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from workbench.fingerprint import ANSWERING, call_digest, visible_text
from workbench.ir import Message, ModelResponse

_ENOUGH = 20
"""Characters that end two texts alike and are no chance."""


def is_retold(answer: ModelResponse, following: Sequence[Message]) -> bool:
    """The messages begin with this answer, its reasoning made text or left out, and continue with something else."""
    run = list(takewhile(lambda message: message.role in ANSWERING, following))
    if not run or len(run) == len(following) or not answer.messages:
        return False
    calls = [call_digest(call) for message in answer.messages for _, call in message.tool_calls() if not call.is_server]
    shown = [call_digest(call) for message in run for _, call in message.tool_calls() if not call.is_server]
    said, told = _text(answer.messages), _text(run)
    if calls != shown or not told.endswith(said):
        return False
    return bool(calls) or len(said) >= _ENOUGH or (bool(said) and _first_thought(answer) in told)


def _text(messages: Sequence[Message]) -> str:
    return "".join(filter(None, map(visible_text, messages)))


def _first_thought(answer: ModelResponse) -> str:
    """The first of its reasoning that people can read; what no text holds where there is none."""
    found = (r.text.strip() for m in answer.messages for _, r in m.reasoning() if r.text and r.text.strip())
    return next(found, "\0")
