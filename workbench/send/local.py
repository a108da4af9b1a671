"""Model servers on this machine, searched on their default ports. Only loopback addresses are contacted.

A server is identified by its responses, not by its port: each has an endpoint that no other has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from workbench import contracts, protocols
from workbench.errors import WireError
from workbench.ir import JsonValue
from workbench.lazy_dataclass import dataclass
from workbench.send.endpoint import ssl_context_without_roots
from workbench.send.target import Target
from workbench.wire import loads

if TYPE_CHECKING:
    import httpx

HOST: Final = "127.0.0.1"

PORTS: Final[Mapping[str, int]] = {"vllm": 8000, "sglang": 30000, "llama.cpp": 8080, "ollama": 11434, "lm-studio": 1234}
"""Contract → default port of the server (documentation of each)."""

CONNECT_SECONDS: Final = 0.5
ANSWER_SECONDS: Final = 2.0
"""Local servers respond at once, but a busy one may take a moment."""

MOST_BYTES: Final = 1024 * 1024
MOST_MODELS: Final = 200

_MODELS, _TAGS, _PROPS = "/v1/models", "/api/tags", "/props"
_NATIVE, _INFO = "/api/v0/models", "/get_model_info"
_ASKED: Final = (_MODELS, _TAGS, _PROPS, _NATIVE, _INFO)


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that was found.

    Attributes:
        server: name of its contract; empty if unknown.
        url: base URL.
        models: that it lists, up to a limit.
        protocols: supported, its own first.
    """

    server: str
    url: str
    models: tuple[str, ...]
    protocols: tuple[str, ...]

    @property
    def target(self) -> Target:
        """The server as a target, with its first model."""
        first, *others = self.protocols
        model = self.models[0] if self.models else ""
        more = tuple((name, self.url) for name in others)
        return Target(self.server or self.url, first, self.url, self.server, model, others=more)


def usual_targets() -> Mapping[str, Target]:
    """Servers by name, at their default addresses; they need not run."""
    targets = {}
    for name, port in PORTS.items():
        if name in contracts.names():
            url = f"http://{HOST}:{port}"
            first, *others = contracts.protocols(name)
            targets[name] = Target(name, first, url, name, others=tuple((each, url) for each in others))
    return targets


async def find_servers(ports: Iterable[int] = tuple(PORTS.values())) -> tuple[LocalServer, ...]:
    """Servers that answer on these ports of this machine, in order; all are queried at once."""
    import asyncio

    import httpx

    limits = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    async with httpx.AsyncClient(timeout=limits, trust_env=False, verify=ssl_context_without_roots()) as client:
        replies = await asyncio.gather(*(_at(client, f"http://{HOST}:{port}") for port in dict.fromkeys(ports)))
    return tuple(each for each in replies if each)


async def _at(client: httpx.AsyncClient, url: str) -> LocalServer | None:
    """The server at a URL; None if it serves no models."""
    import asyncio

    first = await _answer(client, f"{url}{_MODELS}")
    if first is _SILENT:
        return None
    rest = await asyncio.gather(*(_answer(client, f"{url}{path}") for path in _ASKED[1:]))
    replies = dict(zip(_ASKED, (first, *rest), strict=True))
    server = next((name for name, is_one in _SIGNS.items() if is_one(replies)), "")
    models = _names(replies, server)
    if not server and not models:
        return None
    supported = contracts.protocols(server) if server in contracts.names() else (protocols.MOST_COMMON,)
    return LocalServer(server, url, models, supported)


_SILENT: Final = object()


async def _answer(client: httpx.AsyncClient, url: str) -> Any:
    """JSON value of a GET response; None for any other response, ``_SILENT`` if nothing listens."""
    import httpx

    try:
        async with client.stream("GET", url) as response:
            body = b""
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    return None
            return loads(body) if response.status_code == 200 else None
    except (httpx.ConnectError, httpx.ConnectTimeout):
        return _SILENT
    except (httpx.HTTPError, WireError):
        return None


Replies = Mapping[str, JsonValue]


def _owner(replies: Replies, name: str) -> bool:
    return any(model.get("owned_by") == name for model in _objects_at(replies[_MODELS], "data"))


_SIGNS: Final[Mapping[str, Callable[[Replies], bool]]] = {
    "llama.cpp": lambda replies: _has(replies[_PROPS], "default_generation_settings") or _owner(replies, "llamacpp"),
    "sglang": lambda replies: _has(replies[_INFO], "model_path") or _owner(replies, "sglang"),
    "vllm": lambda replies: _owner(replies, "vllm"),
    "lm-studio": lambda replies: any("publisher" in m or "arch" in m for m in _objects_at(replies[_NATIVE], "data")),
    "ollama": lambda replies: _has(replies[_TAGS], "models"),
}
"""Contract → what only this server returns. llama.cpp also answers ``/api/tags``, so it is checked before Ollama."""


def _has(value: JsonValue, key: str) -> bool:
    return isinstance(value, dict) and key in value


def _objects_at(value: JsonValue, key: str) -> list[dict[str, JsonValue]]:
    rows = value.get(key) if isinstance(value, dict) else None
    return [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []


def _names(replies: Replies, server: str) -> tuple[str, ...]:
    names = [model.get("id") for model in _objects_at(replies[_MODELS], "data")]
    if server == "ollama" and not names:
        names = [model.get("name") for model in _objects_at(replies[_TAGS], "models")]
    return tuple(dict.fromkeys(n for n in names if isinstance(n, str) and n))[:MOST_MODELS]
