"""Relay, bridge and relay: what they are started with, and how several upstreams are told apart."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack

import pytest

from tests.recorder.translation.bridging import Heard, blocks, upstream
from workbench.errors import UsageError
from workbench.recorder.translation.path import TranslationPath, hop_names, resolve_upstreams
from workbench.recorder.translation.requests import TranslationRules


def test_places_are_named_behind_what_people_say():
    assert hop_names("") == ("client", "upstream")
    assert hop_names("here") == ("here:client", "here:upstream")


def test_a_target_has_to_speak_the_protocol():
    with (
        ExitStack() as stack,
        pytest.raises(UsageError, match="sim:qwen does not support gemini; use --as openai-chat"),
    ):
        resolve_upstreams({"default": "sim:qwen"}, "gemini", stack)
    with ExitStack() as stack:
        found = resolve_upstreams({"a": "https://api.deepseek.com", "b": "sim:qwen"}, "openai-chat", stack)
        assert found["a"].url == "https://api.deepseek.com" and found["a"].target.key_variable == "DEEPSEEK_API_KEY"
        assert found["b"].url.startswith("http://127.0.0.1:") and found["b"].target.name == "sim:qwen"


def test_a_port_that_is_taken_ends_all_of_it():
    async def play():
        one = {"default": upstream()}
        async with TranslationPath(one, TranslationRules("openai-chat"), Heard()) as first:
            second = TranslationPath(one, TranslationRules("openai-chat"), Heard(), port=first.port)
            with pytest.raises(UsageError, match="cannot listen"):
                await second.start()

    asyncio.run(play())


async def asked(path, port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    body = json.dumps(blocks()).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    said = await reader.read()
    writer.close()
    return said


def test_several_upstreams_have_paths_of_their_own():
    async def play():
        with ExitStack() as stack:
            found = resolve_upstreams({"a": "sim:deepseek", "b": "sim:qwen"}, "openai-chat", stack)
            heard = Heard()
            async with TranslationPath(found, TranslationRules("openai-chat"), heard) as path:
                assert path.url("b") == f"http://127.0.0.1:{path.port}/b"
                for name in ("a", "b"):
                    assert b"200 OK" in await asked(f"/{name}/v1/messages", path.port)
                assert b"unknown upstream 'c'" in await asked("/c/v1/messages", path.port)
            ports = [heard.heads[key].url.partition("/v1/")[0] for key in heard.at("upstream")]
            assert ports == [found["a"].url, found["b"].url]

    asyncio.run(play())
