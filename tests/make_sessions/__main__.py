"""Writes the stories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.make_sessions import chat, long, messages, others
from tests.make_sessions.story import Story

FOLDER = Path(__file__).resolve().parents[2] / "sessions"

STORIES: Mapping[str, Callable[[], Story]] = {
    "anthropic-cancelled-call": messages.anthropic_cancelled_call,
    "anthropic-compaction-orphan": messages.anthropic_compaction_orphan,
    "anthropic-long-session": long.anthropic_long_session,
    "anthropic-parallel-result-lost": messages.anthropic_parallel_result_lost,
    "anthropic-prompt-cache-broken": messages.anthropic_prompt_cache_broken,
    "anthropic-text-before-results": messages.anthropic_text_before_results,
    "anthropic-thinking-trimmed": messages.anthropic_thinking_trimmed,
    "anthropic-tool-loop": messages.anthropic_tool_loop,
    "deepseek-reasoning-lost": chat.deepseek_reasoning_lost,
    "gateway-field-dropped": chat.gateway_field_dropped,
    "gemini-response-lost": others.gemini_response_lost,
    "gemini-signature-lost": others.gemini_signature_lost,
    "ollama-call-in-text": others.ollama_call_in_text,
    "openai-arguments-twice": chat.openai_arguments_twice,
    "openai-call-never-runs": chat.openai_call_never_runs,
    "openai-parallel-index-reused": chat.openai_parallel_index_reused,
    "responses-call-interrupted": others.responses_call_interrupted,
}


def write(folder: Path) -> None:
    """Write every story into a folder."""
    folder.mkdir(exist_ok=True)
    for name, tell in STORIES.items():
        tell().write(folder / f"{name}.jsonl")


if __name__ == "__main__":
    write(FOLDER)
