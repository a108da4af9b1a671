"""How long a client waits, by what it says and by what is known of it."""

from __future__ import annotations

import pytest

from workbench.recorder.breakpoints.gate import client_timeout, tool_timeout
from workbench.wire.exchange import Headers

JS = (("X-Stainless-Lang", "js"), ("X-Stainless-Runtime", "node"))
PYTHON = (("X-Stainless-Lang", "python"), ("X-Stainless-Read-Timeout", "600.0"))


@pytest.mark.parametrize(
    ("client", "headers", "head", "body"),
    [
        ("OpenAI SDK for Python 3.54.0", PYTHON, 600.0, 600.0),
        ("", (("x-stainless-timeout", "NOT_GIVEN"), ("x-stainless-read-timeout", "20")), 20.0, 20.0),
        ("google-genai 3.4.0", (("X-Server-Timeout", "30"),), 30.0, 30.0),
        ("OpenAI SDK for JavaScript", JS, 300.0, 300.0),
        ("OpenAI SDK for JavaScript", (*JS, ("X-Stainless-Timeout", "60")), 60.0, 300.0),
        ("OpenAI SDK for JavaScript", (JS[0], ("X-Stainless-Timeout", "60")), 60.0, None),
        ("Claude Code 2.1.330", (*JS, ("X-Stainless-Timeout", "600")), 350.0, 300.0),
        ("Claude Code 2.1.330", (*JS, ("X-Stainless-Timeout", "90")), 90.0, 300.0),
        ("Codex 0.169.0", (), None, 300.0),
        ("Qwen Code 0.24.4", JS, 120.0, 240.0),
        ("pi", (*JS, ("X-Stainless-Timeout", "600")), 600.0, None),
        ("piper 2", (), None, None),
        ("curl", (("X-Stainless-Timeout", "0"),), None, None),
        ("curl", (("X-Stainless-Timeout", "1e9"),), None, None),
    ],
)
def test_the_shortest_of_what_is_known(
    client: str, headers: tuple[tuple[str, str], ...], head: float | None, body: float | None
) -> None:
    sent = Headers(headers)
    assert client_timeout(sent, client).seconds == head
    assert client_timeout(sent, client, has_head=True).seconds == body


def test_it_says_how_it_knows() -> None:
    assert client_timeout(Headers(PYTHON), "").words == "stated by the client (x-stainless-read-timeout)"
    assert client_timeout(Headers(()), "Codex 1", has_head=True).words.startswith("its default, stream_idle_timeout_ms")
    assert client_timeout(Headers(()), "curl") == (None, "unknown")
    assert tool_timeout("Codex 0.169") == tool_timeout("codex-mcp-client") and tool_timeout("Codex").seconds == 120
    assert tool_timeout("curl") == (None, "unknown")
