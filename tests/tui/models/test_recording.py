from __future__ import annotations

from pathlib import Path

from workbench.tui.models.recording import recording_lines, settings
from workbench.tui.running import Plan

UPSTREAMS = {"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}
URLS = {"anthropic": "http://127.0.0.1:4000/anthropic", "openai": "http://127.0.0.1:4000/openai"}


def test_settings_can_be_pasted_into_a_shell() -> None:
    assert "export ANTHROPIC_BASE_URL=http://127.0.0.1:4000/anthropic" in settings(UPSTREAMS, URLS)
    assert "export OPENAI_BASE_URL=http://127.0.0.1:4000/openai/v1" in settings(UPSTREAMS, URLS)


def test_what_clients_are_to_be_told() -> None:
    text = "\n".join(recording_lines(Plan(UPSTREAMS, Path("/x/y.wb")), URLS, ["no file gets any"]))
    assert "http://127.0.0.1:4000/anthropic → https://api.anthropic.com" in text
    assert "Claude Code: ANTHROPIC_BASE_URL=http://127.0.0.1:4000/anthropic claude" in text
    assert "/x/y.wb" in text


def test_a_provider_nobody_knows_is_offered_to_every_variable() -> None:
    given = settings({"default": "https://h"}, {"default": "http://127.0.0.1:4000"})
    assert "export OPENAI_BASE_URL=http://127.0.0.1:4000/v1" in given
    assert "export ANTHROPIC_BASE_URL=http://127.0.0.1:4000" in given
