"""Servers on this machine, told by what they say."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack

import pytest

from tests.send.hostile import Hostile, answer
from workbench.send import local
from workbench.send.local import PORTS, find_servers
from workbench.send.target_names import resolve
from workbench.simulator import Simulator


class Serving(Hostile):
    """Answers each path with its JSON value, and every other one with 404."""

    def __init__(self, routes):
        super().__init__(b"")
        self.routes = routes

    def _serve(self, connection):
        data = connection.recv(65536)
        path = data.split(b" ")[1].decode()
        self.asked.append((data, b""))
        said = self.routes.get(path)
        status = "404 Not Found" if said is None else "200 OK"
        connection.sendall(answer(said if isinstance(said, bytes) else json.dumps(said).encode(), status))


def models(*names, **more):
    return {"object": "list", "data": [{"id": name, "object": "model", **more} for name in names]}


TAGS = {"models": [{"name": "qwen3:8b"}]}


@pytest.mark.parametrize(
    ("routes", "server", "listed"),
    [
        ({"/v1/models": models("a", "b", owned_by="vllm")}, "vllm", ("a", "b")),
        ({"/v1/models": models("a", owned_by="sglang"), "/get_model_info": {"model_path": "a"}}, "sglang", ("a",)),
        (
            {"/v1/models": models("a"), "/props": {"default_generation_settings": {}}, "/api/tags": TAGS},
            "llama.cpp",
            ("a",),
        ),
        ({"/v1/models": models("qwen3:8b", owned_by="library"), "/api/tags": TAGS}, "ollama", ("qwen3:8b",)),
        ({"/api/tags": TAGS}, "ollama", ("qwen3:8b",)),
        (
            {"/v1/models": models("a"), "/api/v0/models": {"data": [{"id": "a", "publisher": "p", "arch": "qwen3"}]}},
            "lm-studio",
            ("a",),
        ),
        ({"/v1/models": models("x", owned_by="me")}, "", ("x",)),
    ],
)  # fmt: skip
def test_each_is_told_by_what_it_says(routes, server, listed):
    serving = Serving(routes)
    try:
        (there,) = asyncio.run(find_servers([serving.port]))
    finally:
        serving.close()
    assert (there.server, there.models, there.url) == (server, listed, serving.url)
    assert "openai-chat" in there.protocols
    assert there.target.url == serving.url and there.target.model == listed[0] and there.target.is_loopback
    assert not there.target.key_variable
    assert all(b"authorization" not in head.lower() for head, _ in serving.asked)


@pytest.mark.parametrize(
    "body", [b"<html>", b"[1", b"{}", b'{"data": 1}', b'{"data": [1, {"id": 2}]}', b"x" * 2_000_000]
)
def test_what_serves_no_models_is_passed_over(body):
    serving = Serving({"/v1/models": body, "/api/v0/models": b"null", "/props": b"[]"})
    try:
        assert asyncio.run(find_servers([serving.port])) == ()
    finally:
        serving.close()


def test_nobody_there_and_several_at_once():
    with ExitStack() as stack:
        one, other, gone = (Serving({"/v1/models": models(name, owned_by="vllm")}) for name in ("a", "b", "c"))
        stack.callback(one.close)
        stack.callback(other.close)
        gone.close()
        there = asyncio.run(find_servers([other.port, gone.port, one.port, one.port]))
    assert [each.models for each in there] == [("b",), ("a",)]


def test_a_simulator_that_is_served_is_one_that_nobody_knows(served):
    server = served(Simulator("vllm"))
    (there,) = asyncio.run(find_servers([server.port]))
    assert there.url == server.url and there.models


@pytest.mark.parametrize("name", PORTS)
def test_each_is_a_target_by_its_name(name):
    there = resolve(name)
    assert there.url == f"http://127.0.0.1:{PORTS[name]}" and there.is_loopback and not there.key_variable
    assert there.contract == name and "openai-chat" in there.protocols


def test_only_this_machine_is_asked():
    assert local.HOST == "127.0.0.1"
    assert sorted(PORTS.values()) == [1234, 8000, 8080, 11434, 30000]
