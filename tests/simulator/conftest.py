"""Simulators for tests: bodies in, answers out, and served ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from workbench.simulator import Server, Simulator, serve

JSON = ("content-type", "application/json")
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
CHAT_TOOL = {"type": "function", "function": {"name": "list_dir", "parameters": SCHEMA}}
BLOCK_TOOL = {"name": "list_dir", "description": "List a folder", "input_schema": SCHEMA}


@pytest.fixture(scope="module")
def served() -> Iterator[Callable[[Simulator], Server]]:
    """``served(Simulator("openai"))``: on loopback until the end of the module."""
    with ExitStack() as stack:
        yield lambda simulator: stack.enter_context(serve(simulator))


def ask(simulator, path, body, method="POST", headers=()):
    """(status, parsed body) of one request without a socket."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    reply = simulator.send(method, path, (JSON, *headers), data)
    said = reply.body()
    return reply.status, json.loads(said) if said[:1] in (b"{", b"[") else said


def chat(words="list it", **more):
    return {"model": "m", "messages": [{"role": "user", "content": words}], "tools": [CHAT_TOOL], **more}


def block(words="list it", **more):
    asked = [{"role": "user", "content": words}]
    return {"model": "claude-sonnet-4-5", "max_tokens": 2000, "messages": asked, "tools": [BLOCK_TOOL], **more}
