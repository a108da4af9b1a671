"""Queries a server for its models and its chat template.

Requests go to the target's own host with its own key, like all requests to it; redirects are not followed. Known
providers are never asked for their template: they have no such endpoint.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from workbench import contracts
from workbench.errors import WireError, WorkbenchError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.send import HttpEndpoint, Outgoing, Target, authenticate, forwarded_headers, join_url, server_url
from workbench.wire import Body, HttpRequest, dumps, loads

SECONDS: Final = 5.0
MOST_BYTES: Final = 8 * 1024 * 1024
"""Most bytes of a response: Ollama's also contains the licence and the vocabulary of a model."""

MOST_MODELS: Final = 1000
DIGITS: Final = 16
"""Hexadecimal digits of a hash."""

_LISTS: Final = ("/v1/models", "/v1beta/models", "/api/tags")


@dataclass(frozen=True, slots=True)
class _TemplateSource:
    """Endpoint that returns the template, and the keys to combine."""

    path: str
    keys: tuple[str, ...]
    is_post: bool = False


_PLACES: Final = (
    _TemplateSource(
        "/props?model={model}", ("chat_template", "chat_template_tool_use")
    ),  # llama.cpp, tools/server/README.md
    _TemplateSource("/api/show", ("template", "renderer", "parser"), is_post=True),  # Ollama, docs/api.md
    _TemplateSource("/tokenizer_info", ("chat_template",)),  # vLLM with --enable-tokenizer-info-endpoint
    _TemplateSource("/get_server_info", ("chat_template",)),  # SGLang: the name or path that it was started with
)


async def models(target: Target, protocol: str, *, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Models that a target lists, in its order; empty if it lists none, or cannot be reached.

    Raises:
        UsageError: the variable of its key is not set.
    """
    if target.is_simulator:
        return ()
    async with _server_query(target, protocol, environ) as asking:
        for path in _LISTS:
            if names := _names(await asking.json(join_url(target.base(protocol), path))):
                return names
            if not asking.is_there:
                break
    return ()


async def template_hash(target: Target, protocol: str, model: str, *, environ: Mapping[str, str] = os.environ) -> str:
    """Hash of the chat template that a server reports for a model; empty if it reports none."""
    if target.is_simulator or contracts.endpoint(target.url) is not None:
        return ""
    try:
        async with _server_query(target, protocol, environ) as asking:
            for place in _PLACES:
                url = server_url(target.base(protocol), place.path.format(model=quote(model, safe="")))
                server_reply = await asking.json(url, dumps({"model": model}) if place.is_post else b"")
                if found := _hash(server_reply, place.keys):
                    return found
                if not asking.is_there:
                    break
    except WorkbenchError:
        pass  # the probes report problems with the key
    return ""


def _hash(server_reply: JsonValue, keys: tuple[str, ...]) -> str:
    fields = server_reply if isinstance(server_reply, dict) else {}
    templates = {key: fields[key] for key in keys if isinstance(fields.get(key), str) and fields[key]}
    # The one template of most servers is hashed as it is: what people hash themselves is the same.
    text = templates[keys[0]].encode("utf-8", "surrogatepass") if tuple(templates) == keys[:1] else dumps(templates)
    return sha256(text).hexdigest()[:DIGITS] if templates else ""


def _names(server_reply: JsonValue) -> tuple[str, ...]:
    fields = server_reply if isinstance(server_reply, dict) else {}
    for key, name in (("data", "id"), ("models", "name")):
        listed = fields.get(key)
        rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
        names = [row[name].removeprefix("models/") for row in rows if isinstance(row.get(name), str) and row[name]]
        if names:
            return tuple(dict.fromkeys(names))[:MOST_MODELS]
    return ()


@asynccontextmanager
async def _server_query(target: Target, protocol: str, environ: Mapping[str, str]) -> AsyncIterator[_ServerQuery]:
    endpoint = HttpEndpoint(SECONDS)
    try:
        yield _ServerQuery(target, protocol, environ, endpoint)
    finally:
        await endpoint.aclose()


@dataclass(slots=True)
class _ServerQuery:
    """Queries to one target.

    Attributes:
        is_there: it could be reached; after a failure no more queries are made.
    """

    target: Target
    protocol: str
    environ: Mapping[str, str]
    endpoint: HttpEndpoint
    is_there: bool = True

    async def json(self, url: str, body: bytes = b"") -> Any:
        """JSON value of a response; None for any other response, or none. Raises UsageError."""
        import httpx

        plain_request = HttpRequest("POST" if body else "GET", url, body=Body(body))
        request = replace(plain_request, headers=forwarded_headers(plain_request, self.protocol, is_converted=False)[0])
        key = authenticate(Outgoing(self.target, request, self.protocol), self.environ)
        try:
            response = await self.endpoint.open(request, key.headers)
            try:
                return await _read(response) if response.status_code == 200 else None
            finally:
                await response.aclose()
        except httpx.TransportError:
            self.is_there = False
        except (httpx.HTTPError, httpx.InvalidURL, WireError):
            pass
        return None


async def _read(response: Any) -> JsonValue:
    """Value of a body. Raises WireError."""
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > MOST_BYTES:
            return None
    return loads(body)
