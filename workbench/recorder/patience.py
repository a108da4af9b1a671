"""How long clients wait, as far as they say so or it is known: what a pause has to end within.

The SDKs that Stainless makes (Anthropic's and OpenAI's, for Python and JavaScript, and what is built on them) say their
timeout in a header of every request, in seconds. Of others the documented default is known; it may be configured.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.wire.exchange import Headers

HEADER = "x-stainless-timeout"

DEFAULTS: tuple[tuple[str, float, str], ...] = (
    ("Codex", 300.0, "its default, stream_idle_timeout_ms (developers.openai.com/codex/config-reference, 2026-11)"),
    ("OpenCode", 300.0, "its default, provider.ID.options.timeout (opencode.ai/docs/config, 2026-11)"),
)
"""Client → seconds, and where that is written down."""

_SECONDS = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,6})?")


class Patience(NamedTuple):
    """How long a client waits: ``seconds``, None where that is not known, and how it is known, in words."""

    seconds: float | None
    words: str


def patience(headers: Headers, client: str) -> Patience:
    """Of the client that sent these headers and is called so (see ``clients.client_of``)."""
    said = headers.get(HEADER) or ""
    if _SECONDS.fullmatch(said):
        return Patience(float(said), f"as it says itself ({HEADER})")
    for name, seconds, source in DEFAULTS:
        if client.startswith(name):
            return Patience(seconds, source)
    return Patience(None, "not known")
