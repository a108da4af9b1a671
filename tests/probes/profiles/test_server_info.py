"""What servers tell of themselves: models and chat templates, of servers that answer as real ones do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256

import pytest

from tests.send.hostile import Hostile, answer
from workbench.errors import UsageError
from workbench.probes.profiles.server_info import models, template_hash
from workbench.send.target import Target

TEMPLATE = "{%- for message in messages %}{{ message.content }}{%- endfor %}"
LISTED = {"object": "list", "data": [{"id": "qwen3"}, {"id": "gemma"}]}
HASH = sha256(TEMPLATE.encode()).hexdigest()[:16]


class Telling(Hostile):
    """Answers a method and a path, each with its JSON value; everything else with 404."""

    def __init__(self, routes: Mapping[str, object]) -> None:
        super().__init__(b"")
        self.routes = routes

    def _serve(self, connection):
        data = connection.recv(65536)
        self.asked.append((data, b""))
        route = " ".join(data.decode().split(" ")[:2])
        said = self.routes.get(route.partition("?")[0])
        status = "404 Not Found" if said is None else "200 OK"
        connection.sendall(said if isinstance(said, bytes) else answer(json.dumps(said).encode(), status))


@contextmanager
def telling(routes: Mapping[str, object], path: str = "", **more: str) -> Iterator[tuple[Telling, Target]]:
    server = Telling(routes)
    try:
        yield server, Target("here", "openai-chat", f"{server.url}{path}", **more)
    finally:
        server.close()


def hashed(routes: Mapping[str, object], path: str = "") -> str:
    with telling(routes, path) as (_, target):
        return asyncio.run(template_hash(target, "openai-chat", "qwen3:8b"))


TOLD = {
    "llama.cpp": ({"GET /props": {"chat_template": TEMPLATE, "default_generation_settings": {}}}, HASH),
    "Ollama": ({"POST /api/show": {"template": TEMPLATE, "modelfile": "FROM x"}}, HASH),
    "vLLM": ({"GET /tokenizer_info": {"tokenizer_class": "T", "chat_template": TEMPLATE}}, HASH),
    "SGLang": ({"GET /get_server_info": {"chat_template": TEMPLATE, "tp_size": 1}}, HASH),
    "one without": ({"GET /props": {"chat_template": None}, "POST /api/show": {"error": "no such endpoint"}}, ""),
    "one that tells nothing": ({}, ""),
    "what is no JSON": ({"GET /props": answer(b"<html>")}, ""),
}


@pytest.mark.parametrize("path", ["", "/v1", "/v1/"])
@pytest.mark.parametrize("server", TOLD)
def test_the_template_is_hashed_wherever_a_server_tells_it(server: str, path: str) -> None:
    routes, found = TOLD[server]
    assert hashed(routes, path) == found


def test_a_second_template_for_tools_and_a_renderer_count() -> None:
    both = {"GET /props": {"chat_template": TEMPLATE, "chat_template_tool_use": "{{ tools }}"}}
    rendered = {"POST /api/show": {"template": TEMPLATE, "renderer": "qwen3-coder"}}
    assert len({HASH, hashed(both), hashed(rendered)}) == 3


def test_a_template_belongs_to_the_model_that_is_asked_about() -> None:
    with telling({}) as (server, target):
        asyncio.run(template_hash(target, "openai-chat", "a/b&c"))
    heads = [head.split(b"\r\n")[0] for head, _ in server.asked]
    assert b"GET /props?model=a%2Fb%26c HTTP/1.1" in heads


LISTS = {
    "as OpenAI": ({"GET /v1/models": LISTED}, ("qwen3", "gemma")),
    "as Ollama": ({"GET /api/tags": {"models": [{"name": "qwen3:8b"}]}}, ("qwen3:8b",)),
    "as Gemini": ({"GET /v1beta/models": {"models": [{"name": "models/gemini-3"}]}}, ("gemini-3",)),
    "none": ({"GET /v1/models": {"object": "list", "data": []}}, ()),
    "wrong ones": ({"GET /v1/models": {"data": [1, {"id": 2}, {"id": ""}]}}, ()),
}


@pytest.mark.parametrize("how", LISTS)
def test_models_are_listed(how: str) -> None:
    routes, listed = LISTS[how]
    with telling(routes) as (_, target):
        assert asyncio.run(models(target, "openai-chat")) == listed


def test_the_key_goes_along_and_redirects_are_not_followed() -> None:
    with telling({}) as (other, _):
        away = f"HTTP/1.1 307 Temporary Redirect\r\nlocation: {other.url}/v1/models\r\ncontent-length: 0\r\n\r\n"
        with telling({"GET /v1/models": away.encode()}, key_variable="HERE_KEY") as (server, target):
            environ = {"HERE_KEY": "sk-of-here-alone"}
            assert asyncio.run(models(target, "openai-chat", environ=environ)) == ()
            assert b"bearer sk-of-here-alone" in server.asked[0][0].lower()
        assert other.asked == []


def test_a_key_that_is_not_set_is_said_or_left_to_the_probes() -> None:
    with telling({}, key_variable="HERE_KEY") as (server, target):
        with pytest.raises(UsageError, match="HERE_KEY is not set"):
            asyncio.run(models(target, "openai-chat", environ={}))
        assert asyncio.run(template_hash(target, "openai-chat", "m", environ={})) == ""
        assert server.asked == []


def test_nobody_is_asked_where_nobody_would_tell() -> None:
    known = Target("openai", "openai-chat", "https://api.openai.com/v1", "openai", key_variable="OPENAI_API_KEY")
    gone = Target("gone", "openai-chat", "http://127.0.0.1:9")
    for target in (Target("sim:openai", contract="openai"), known, gone):
        assert asyncio.run(template_hash(target, "openai-chat", "m", environ={"OPENAI_API_KEY": "k"})) == ""
    assert asyncio.run(models(gone, "openai-chat")) == ()
