"""Known clients, as data in one place: how to set the base URL of each, and its User-Agent.

A base URL has the form that the client expects, with the prefix of its paths ("/v1"). An upstream
without a path stands for the provider's server, and the client's usual path is added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import NamedTuple

from workbench import regex
from workbench.lazy_dataclass import dataclass, field

PROVIDERS: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
"""Provider → URL that a client uses if nothing else is set.

The contracts hold these URLs too (a test compares them). They are repeated because this room may not import contracts,
and because ``workbench record -- CLIENT`` would start 30 to 40 ms later for each contract it had to read.
"""


class Variable(NamedTuple):
    """An environment variable that holds a base URL: the provider it is for, the path usual there."""

    name: str
    provider: str
    path: str = ""


Bases = Callable[[str, str], str]
"""``bases(provider, path)``: the base URL for a client that wants the path; "" where the provider is not recorded."""


@dataclass(frozen=True, slots=True)
class Extra:
    """Further settings that point a client at the recorder.

    Attributes:
        variables: further ones, with their values.
        arguments: put in front of the client's own; ``{file}`` stands for the path of ``file``.
        file: text of a file that one of the arguments names.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    file: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """A known client.

    Attributes:
        name: as people call it.
        commands: names of its program.
        variables: where it takes its base URLs from.
        extra: makes what it needs beside variables.
        advice: what a person has to know or do, "" for nothing.
    """

    name: str
    commands: tuple[str, ...]
    variables: tuple[Variable, ...] = ()
    extra: Callable[[Bases], Extra] = lambda bases: Extra()
    providers: tuple[str, ...] = ()
    advice: str = ""

    def reaches(self) -> tuple[str, ...]:
        """The providers it may talk to."""
        return self.providers or tuple(dict.fromkeys(v.provider for v in self.variables))


def _codex(bases: Bases) -> Extra:
    """Codex takes no variable; ``-c`` sets a value of its config.toml, written as TOML (a JSON string is one)."""
    url = bases("openai", "/v1")
    return Extra(arguments=("-c", f"openai_base_url={json.dumps(url)}")) if url else Extra()


def _opencode(bases: Bases) -> Extra:
    """OpenCode merges OPENCODE_CONFIG_CONTENT into its configuration, last (opencode.ai/docs/config)."""
    urls = {
        "anthropic": bases("anthropic", "/v1"),
        "openai": bases("openai", "/v1"),
        "google": bases("gemini", "/v1beta"),
    }
    providers = {name: {"options": {"baseURL": url}} for name, url in urls.items() if url}
    return Extra(variables={"OPENCODE_CONFIG_CONTENT": json.dumps({"provider": providers})})


def _pi(bases: Bases) -> Extra:
    """Pi loads extensions named on the command line; one may give a provider another base URL (its extensions.md)."""
    urls = {"anthropic": bases("anthropic", ""), "openai": bases("openai", "/v1"), "google": bases("gemini", "/v1beta")}
    lines = [
        f"  pi.registerProvider({json.dumps(name)}, {{ baseUrl: {json.dumps(url)} }});"
        for name, url in urls.items()
        if url
    ]
    text = "\n".join(("export default function (pi) {", *lines, "}\n"))
    return Extra(arguments=("--extension", "{file}"), file=text)


ANTHROPIC = Variable("ANTHROPIC_BASE_URL", "anthropic")
OPENAI = Variable("OPENAI_BASE_URL", "openai", "/v1")
OPENAI_OLD = Variable("OPENAI_API_BASE", "openai", "/v1")
GEMINI = Variable("GOOGLE_GEMINI_BASE_URL", "gemini")

SDKS = Client("the SDKs", (), (ANTHROPIC, OPENAI, OPENAI_OLD, GEMINI))
"""Variables that an unknown program most likely reads: those of the official SDKs and of LiteLLM."""

CLIENTS: tuple[Client, ...] = (
    Client("Claude Code", ("claude",), (ANTHROPIC,)),
    Client(
        "Codex",
        ("codex",),
        extra=_codex,
        providers=("openai",),
        advice="with a ChatGPT login, or a provider from config.toml, Codex does not use openai_base_url: "
        "log in with an API key, or set base_url of that provider",
    ),
    Client("Qwen Code", ("qwen",), (OPENAI,), advice="OPENAI_BASE_URL is used only with --auth-type openai"),
    Client(
        "OpenCode",
        ("opencode",),
        extra=_opencode,
        providers=("anthropic", "openai", "gemini"),
        advice="other providers: set provider.NAME.options.baseURL in opencode.json",
    ),
    Client("Gemini CLI", ("gemini",), (GEMINI,), advice="it uses GOOGLE_GEMINI_BASE_URL only with an API key"),
    Client(
        "pi",
        ("pi",),
        extra=_pi,
        providers=("anthropic", "openai", "gemini"),
        advice="other providers, or if pi is already running: set providers.NAME.baseUrl in ~/.pi/agent/models.json",
    ),
    Client(
        "llm",
        ("llm",),
        (OPENAI, ANTHROPIC, GEMINI),
        advice="models from extra-openai-models.yaml keep their api_base: change it in that file",
    ),
    Client("aider", ("aider",), (OPENAI_OLD, OPENAI, ANTHROPIC, Variable("ANTHROPIC_API_BASE", "anthropic"), GEMINI)),
)


def client_for(command: str) -> Client:
    """The client that a command starts; ``SDKS`` for an unknown program."""
    name = PurePath(command).name.removesuffix(".js")
    return next((c for c in CLIENTS if name in c.commands), SDKS)


def _agents(*products: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple(
        (re.compile(rf"(?i)(?:^|\s){product}(?![\w-])(?:[/ ]v?(\d[\w.+-]*))?"), name) for product, name in products
    )


AGENTS = _agents(
    ("claude-cli", "Claude Code"),
    (r"codex[\w-]*", "Codex"),
    ("QwenCode", "Qwen Code"),
    ("opencode", "OpenCode"),
    (r"GeminiCLI[\w-]*", "Gemini CLI"),
    (r"pi(?:-coding-agent)?", "pi"),
    ("aider", "aider"),
)
"""User-Agent → client. Looked for first: agents often name the SDK below them too."""

LIBRARIES = _agents(
    ("litellm", "LiteLLM"),
    (r"(?:Async)?Anthropic/Python", "Anthropic SDK for Python"),
    (r"(?:Async)?Anthropic/JS", "Anthropic SDK for JavaScript"),
    (r"(?:Async)?OpenAI/Python", "OpenAI SDK for Python"),
    (r"(?:Async)?OpenAI/JS", "OpenAI SDK for JavaScript"),
    ("google-genai-sdk", "Google Gen AI SDK"),
)
"""User-Agent → library: somebody is behind it."""

_PRODUCT = regex.compile(r"[!-~]{1,60}")


def client_of(user_agent: str, started: str = "") -> str:
    """Name of the client of a request: "Claude Code 2.1.329".

    Args:
        user_agent: of the request.
        started: the client that was started, "" where that is not known: it is behind a library that says no more.

    Returns:
        The first product of an unknown agent; empty if there is none.
    """
    for agent, name in AGENTS:
        if found := agent.search(user_agent):
            return _with_version(name, found)
    for agent, name in LIBRARIES:
        if found := agent.search(user_agent):
            return started or _with_version(name, found)
    product = _PRODUCT.match(user_agent)
    return product[0] if product else ""


def _with_version(name: str, found: re.Match[str]) -> str:
    return f"{name} {found[1]}" if found[1] else name
