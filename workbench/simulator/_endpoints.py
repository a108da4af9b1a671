"""The paths of providers: those that ask a model, and the small ones that clients call beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from workbench import protocols as adapters
from workbench.ir import JsonValue
from workbench.protocols.common import undecoded

MODEL, COUNT, STORED = "model", "count", "stored"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A small endpoint.

    Attributes:
        protocol: whose it is; "" for every server.
        methods: those it takes.
        path: what the path has to match, at its end; the first group is a name.
        kind: ``COUNT`` and ``STORED`` are answered by the simulator, others by ``BODIES``.
    """

    protocol: str
    methods: tuple[str, ...]
    path: re.Pattern[str]
    kind: str


def _endpoint(protocol: str, methods: str, path: str, kind: str) -> Endpoint:
    return Endpoint(protocol, tuple(methods.split()), re.compile(path + r"/?\Z"), kind)


ENDPOINTS: tuple[Endpoint, ...] = (
    _endpoint("anthropic-messages", "POST", r"/messages/count_tokens", COUNT),
    _endpoint("anthropic-messages", "GET", r"/models", "anthropic-models"),
    _endpoint("anthropic-messages", "GET", r"/models/([^/]+)", "anthropic-model"),
    _endpoint("gemini", "POST", r"/(?:models|tunedModels)/([^/:]+):countTokens", COUNT),
    _endpoint("gemini", "GET", r"/v1[a-z0-9]*/models", "gemini-models"),
    _endpoint("gemini", "GET", r"/v1[a-z0-9]*/models/([^/:]+)", "gemini-model"),
    _endpoint("gemini-interactions", "GET DELETE", r"/interactions/([^/]+)", STORED),
    _endpoint("gemini-interactions", "GET", r"/v1[a-z0-9]*/models", "gemini-models"),
    _endpoint("gemini-interactions", "GET", r"/v1[a-z0-9]*/models/([^/:]+)", "gemini-model"),
    _endpoint("openai-responses", "POST", r"/responses/input_tokens", COUNT),
    _endpoint("openai-responses", "GET DELETE", r"/responses/([^/]+)", STORED),
    _endpoint("openai-responses", "GET", r"/models", "openai-models"),
    _endpoint("openai-responses", "GET", r"/models/(.+)", "openai-model"),
    _endpoint("openai-chat", "GET", r"/models", "openai-models"),
    _endpoint("openai-chat", "GET", r"/models/(.+)", "openai-model"),
    _endpoint("openai-chat", "GET", r"/api/v0/models", "openai-models"),
    _endpoint("openai-chat", "GET", r"/props", "props"),
    _endpoint("openai-chat", "GET", r"/version", "version"),
    _endpoint("openai-chat", "GET", r"/get_model_info", "model-info"),
    _endpoint("ollama", "GET", r"/api/tags", "ollama-tags"),
    _endpoint("ollama", "GET", r"/api/ps", "ollama-ps"),
    _endpoint("ollama", "POST", r"/api/show", "ollama-show"),
    _endpoint("ollama", "GET", r"/api/version", "version"),
    _endpoint("cohere-v2", "GET", r"/v1/models", "cohere-models"),
    _endpoint("", "GET HEAD", r"/(?:health|healthz|ping)", "health"),
    _endpoint("", "GET HEAD", r"", "root"),
)
"""Every small endpoint; the first that fits answers."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-4-5"),
    "deepseek": ("deepseek-v4-flash", "deepseek-v4-pro"),
    "gemini": ("gemini-3-pro", "gemini-3.5-flash", "gemini-3.5-flash-lite"),
    "gemini-interactions": ("gemini-3-pro", "gemini-3.5-flash"),
    "gemini-openai": ("gemini-3-pro", "gemini-3.5-flash"),
    "glm": ("glm-5", "glm-4.7"),
    "groq": ("openai/gpt-oss-120b", "qwen/qwen3-32b"),
    "kimi": ("kimi-k3", "kimi-k2.6"),
    "minimax": ("MiniMax-M2.5", "MiniMax-M2"),
    "mistral": ("mistral-large-latest", "magistral-medium-latest"),
    "openai": ("gpt-5.4", "gpt-5-mini", "gpt-4.1"),
    "openrouter": ("anthropic/claude-sonnet-4.6", "deepseek/deepseek-v4-flash"),
    "qwen": ("qwen3-max", "qwen3-coder-plus"),
    "xai": ("grok-4",),
}
"""Contract → models that are listed, beside those that were asked for; any other name is answered too."""


class Route(NamedTuple):
    """What a request asks for.

    Attributes:
        protocol: whose path it is, and whose error bodies refuse it.
        kind: ``MODEL``, the kind of an endpoint, ``"method"`` (not with this method), ``"options"``, "" for nothing.
        target: path and query as the protocol has them.
        name: what the path names.
        methods: those that would do, where the method does not.
        foreign: the protocol that has the path, where the contract does not speak it.
    """

    protocol: str
    kind: str
    target: str
    name: str = ""
    methods: tuple[str, ...] = ()
    foreign: str = ""


def route(method: str, target: str, headers: Mapping[str, str], protocols: Sequence[str]) -> Route:
    """Where a request leads.

    Args:
        headers: by names in lower case.
        protocols: those the contract covers, its own first; () for every one.
    """
    spoken = tuple(protocols) or _by_default()
    ordered = _preferred(target, headers, spoken)
    path = target.partition("?")[0]
    if method == "OPTIONS":
        return Route(ordered[0], "options", target)
    wrong: tuple[str, ...] = ()
    for protocol in (*ordered, ""):
        for endpoint in ENDPOINTS:
            found = endpoint.path.search(path) if endpoint.protocol == protocol else None
            if found and (endpoint.path.pattern != r"/?\Z" or path in ("", "/")):
                if method in endpoint.methods:
                    name = unquote(found[1]) if found.re.groups else ""
                    return Route(protocol or ordered[0], endpoint.kind, target, name)
                wrong = wrong or endpoint.methods
    for protocol in ordered:
        adapter = adapters.get(protocol)
        claimed = next((t for t in _spellings(target) if adapter.claims_url(t)), None)
        if claimed is not None:
            return Route(protocol, MODEL if method == "POST" else "method", claimed, methods=("POST",))
    foreign = _foreign(method, target, spoken)
    if foreign:
        return Route(ordered[0], "", target, foreign=foreign)
    return Route(ordered[0], "method" if wrong else "", target, methods=wrong)


def _foreign(method: str, target: str, spoken: Sequence[str]) -> str:
    """The protocol that would answer this, of those that are not spoken; "" for none."""
    path = target.partition("?")[0]
    for name in (n for n in adapters.protocols() if n not in spoken):
        endpoints = (e for e in ENDPOINTS if e.protocol == name and method in e.methods)
        if adapters.get(name).claims_url(target) or any(e.path.search(path) for e in endpoints):
            return name
    return undecoded.name_url(path) or ""


def _by_default() -> tuple[str, ...]:
    """Every protocol, those of most clients first."""
    first = ("openai-chat", "openai-responses", "anthropic-messages", "gemini", "ollama")
    return (*first, *(name for name in adapters.protocols() if name not in first))


def _spellings(target: str) -> tuple[str, ...]:
    """The target as it came, and with the version that some base URLs leave out."""
    path, mark, query = target.partition("?")
    versioned = re.sub(r"/messages(/?)\Z", r"/v1/messages\1", path)
    versioned = re.sub(r"/chat(/?)\Z", r"/v2/chat\1", versioned) if not path.endswith("/api/chat") else versioned
    return (target, versioned + mark + query)


def _preferred(target: str, headers: Mapping[str, str], protocols: tuple[str, ...]) -> tuple[str, ...]:
    """The protocols, first the one that the request itself points at: small endpoints have the same path in several."""
    pointed = ""
    if "anthropic-version" in headers or "/anthropic/" in target:
        pointed = "anthropic-messages"
    elif "x-goog-api-key" in headers:
        pointed = "gemini"
    return (pointed, *(p for p in protocols if p != pointed)) if pointed in protocols else protocols


def _anthropic_model(name: str) -> JsonValue:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def _openai_model(name: str) -> JsonValue:
    return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "workbench"}


def _gemini_model(name: str) -> JsonValue:
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "inputTokenLimit": 1_048_576,
        "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }


def _ollama_model(name: str) -> JsonValue:
    details = {"format": "gguf", "family": "workbench", "parameter_size": "0B", "quantization_level": "F16"}
    about = {"modified_at": "2026-01-01T00:00:00Z", "size": 0, "digest": "0" * 64, "details": details}
    return {"name": name, "model": name, **about}


def _anthropic_models(names: Sequence[str], _: str) -> JsonValue:
    listed = [_anthropic_model(n) for n in names]
    return {"data": listed, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _ollama_show(names: Sequence[str], _: str) -> JsonValue:
    about = {"general.architecture": "workbench", "workbench.context_length": 131_072}
    capabilities = ["completion", "tools", "thinking"]
    details = _ollama_model(names[0])["details"]
    return {"modelfile": "", "template": "", "details": details, "model_info": about, "capabilities": capabilities}


def _props(names: Sequence[str], _: str) -> JsonValue:
    settings = {"n_ctx": 131_072, "params": {}}
    return {"default_generation_settings": settings, "total_slots": 1, "model_path": names[0], "chat_template": ""}


BODIES: Mapping[str, Callable[[Sequence[str], str], JsonValue]] = {
    "anthropic-models": _anthropic_models,
    "anthropic-model": lambda _, name: _anthropic_model(name),
    "openai-models": lambda names, _: {"object": "list", "data": [_openai_model(n) for n in names]},
    "openai-model": lambda _, name: _openai_model(name),
    "gemini-models": lambda names, _: {"models": [_gemini_model(n) for n in names]},
    "gemini-model": lambda _, name: _gemini_model(name),
    "ollama-tags": lambda names, _: {"models": [_ollama_model(n) for n in names]},
    "ollama-ps": lambda _names, _: {"models": []},
    "ollama-show": _ollama_show,
    "cohere-models": lambda names, _: {"models": [{"name": n, "endpoints": ["chat"]} for n in names]},
    "model-info": lambda names, _: {"model_path": names[0], "is_generation": True},
    "props": _props,
    "version": lambda _names, _: {"version": "0.0.0-workbench"},
    "health": lambda _names, _: {"status": "ok"},
    "root": lambda _names, _: {"status": "ok"},
}
"""Kind of endpoint → its body, from the models that are listed and the name in the path."""

COUNTED: Mapping[str, Callable[[int], JsonValue]] = {
    "anthropic-messages": lambda n: {"input_tokens": n},
    "gemini": lambda n: {"totalTokens": n, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": n}]},
    "openai-responses": lambda n: {"object": "response.input_tokens", "input_tokens": n},
}
"""Protocol → what its endpoint that counts tokens answers."""
