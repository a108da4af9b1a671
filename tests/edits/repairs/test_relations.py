"""Repairs of what relations refuse: one row for each kind, on requests of contracts that ship."""

from __future__ import annotations

import pytest

from tests.edits.repairs.test_repairs import exchange, inspecting
from workbench.edits import repairs

CHAT, RESPONSES = "https://api.openai.com/v1/chat/completions", "https://api.openai.com/v1/responses"
GO = {"role": "user", "content": "go"}
ROWS = [
    ("a value that is accepted instead", RESPONSES,
     {"model": "gpt-5", "input": [GO, {"role": "assistant", "content": [{"type": "input_text", "text": "a"}]}, GO]},
     "content.shape", "set input[1].content[0].type to 'output_text'"),
    ("a parameter of other models", CHAT, {"model": "gpt-5", "max_tokens": 9, "messages": [GO]},
     "params.unsupported", "remove max_tokens"),
    ("two that exclude each other", CHAT,
     {"model": "gpt-4.1", "max_tokens": 9, "max_completion_tokens": 9, "messages": [GO]},
     "params.conflict", "remove max_tokens"),
    ("a text that is too long", CHAT, {"model": "gpt-4.1", "prompt_cache_key": "x" * 70, "messages": [GO]},
     "params.unsupported", "shorten prompt_cache_key to 64 characters"),
]  # fmt: skip


@pytest.mark.parametrize(("url", "body", "slug", "title"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_a_relation_refuses_is_repaired(url, body, slug, title):
    inspector = inspecting(exchange(0, body, url=url))
    (finding,) = [f for f in inspector.rows[0].findings if f.rule == slug]
    (told,) = repairs.with_repairs(inspector, [finding])
    assert told.repairs[0].title == title
    assert all(repair.verified for repair in told.repairs)
