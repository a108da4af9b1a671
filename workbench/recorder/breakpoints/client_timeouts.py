"""Client timeouts, as stated by the client or known of it: the time within which a pause has to end.

The SDKs made by Stainless (Anthropic's, OpenAI's, and what is built on them) state their timeout in a request header,
in seconds, and Google's do if one is set. In Python that is the longest silence; in JavaScript it ends with the head of
the response, and the runtime has limits of its own. Of agents the defaults are known, for a request that waits for its
response, and for a response that pauses; they may be configured.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench import regex
from workbench.wire import Headers

HEADERS = ("x-stainless-read-timeout", "x-stainless-timeout", "x-server-timeout")


class ClientDefault(NamedTuple):
    """Default timeouts of one client.

    Attributes:
        client: its name, before its version.
        head, body: seconds until the head of an answer is there, and between two pieces of its body; None if unlimited.
        source: the page that states them, or that they were measured.
    """

    client: str
    head: float | None
    body: float | None
    source: str


DEFAULTS: tuple[ClientDefault, ...] = (
    ClientDefault("Claude Code", 350.0, 300.0, "its default, measured with 2.1.330 (code.claude.com/docs/en/env-vars)"),
    ClientDefault(
        "Codex", None, 300.0, "its default, stream_idle_timeout_ms (developers.openai.com/codex/config-reference)"
    ),
    ClientDefault("Qwen Code", 120.0, 240.0, "its default, generationConfig.timeout and streamIdleTimeoutMs, measured"),
    ClientDefault("OpenCode", 300.0, 300.0, "its default, provider.ID.options.timeout (opencode.ai/docs/config)"),
    ClientDefault("pi", 600.0, None, "its SDK's default, measured with 0.73.1"),
    ClientDefault("aider", 600.0, 600.0, "its default, --timeout (Aider-AI/aider#276)"),
)
"""As of 2026-11."""

NODE_FETCH = ClientDefault("", 300.0, 300.0, "default of Node's fetch (openai/openai-node#2153)")
"""An SDK that Node runs, whatever it says itself."""

UNKNOWN = "unknown"

_SECONDS = regex.compile(r"[0-9]{1,7}(?:\.[0-9]{1,6})?")


class ClientTimeout(NamedTuple):
    """Client timeout in seconds (None if unknown) and how we know it."""

    seconds: float | None
    words: str


def client_timeout(headers: Headers, client: str, *, has_head: bool = False) -> ClientTimeout:
    """The shortest known timeout that applies to a client.

    Args:
        headers: of its request.
        client: its name, see ``clients.known_clients.client_of``.
        has_head: it has the head of its response, and waits for more of the body.
    """
    is_script = (headers.get("x-stainless-lang") or "") == "js"
    known = next((each for each in DEFAULTS if f"{client} ".startswith(f"{each.client} ")), None)
    if known is None and is_script and headers.get("x-stainless-runtime") == "node":
        known = NODE_FETCH
    limits = [] if is_script and has_head else _stated_timeouts(headers)
    if known and (seconds := known.body if has_head else known.head) is not None:
        limits.append(ClientTimeout(seconds, known.source))
    return min(limits, key=lambda limit: limit.seconds or 0, default=ClientTimeout(None, UNKNOWN))


def _stated_timeouts(headers: Headers) -> list[ClientTimeout]:
    said = ((name, headers.get(name) or "") for name in HEADERS)
    return [
        ClientTimeout(float(s), f"stated by the client ({name})")
        for name, s in said
        if _SECONDS.fullmatch(s) and float(s)
    ]
