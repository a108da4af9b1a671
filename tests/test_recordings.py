"""Real traffic: every file opens, every exchange of our protocols decodes, and what is healthy has no error finding."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.recordings_table import listed, row_of, summary
from workbench.formats.importers import open_input
from workbench.rules import FAILED
from workbench.rules.inspection import Inspector

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "recordings"
FILES = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.glob("*/*/*") if p.is_file())

TRUE_BREAKS = {
    "anthropic-sdk-python/anthropic/incomplete_partial_json_response.txt": (
        {"args.truncated", "stream.block-order"},
        "the output limit cuts the arguments of the call, and its block is never stopped",
    ),
    "pydantic-ai/anthropic/test_tool_search__test_tool_search_eval[anthropic].yaml": (
        {"args.schema"},
        "the model names an argument 'ticker' that is declared as 'symbol'; the tool answers with a validation error",
    ),
    "pydantic-ai/google-vertex/test_multimodal_tool_returns__test_multimodal_tool_return_matrix"
    "[tool_return_content-url-image-google_vertex].yaml": (
        {"call.unknown-tool", "args.schema"},
        "the model calls 'list_files', which is not declared, and names an argument that is not declared either",
    ),
    "pydantic-ai/deepseek/test_deepseek_responses__test_deepseek_responses_rejects_interleaved_function_calls.yaml": (
        {"closure.not-adjacent", "reasoning.missing"},
        "a message between two calls parts the first from its output, which is refused; the reasoning is text",
    ),
    "pydantic-ai/groq/test_groq__test_tool_use_failed_error_streaming.yaml": (
        {"stream.error-event"},
        "the provider refuses the call of its own model in the middle of the stream",
    ),
    "pydantic-ai/openrouter/test_openrouter__test_openrouter_stream_error.yaml": (
        {"stream.error-event"},
        "the upstream fails with 'Token limit reached' in the middle of the stream",
    ),
    "pydantic-ai/anthropic/test_anthropic__test_anthropic_explicit_effort_xhigh_unsupported_model_errors.yaml": (
        {"params.unsupported"},
        "refused with 400: this model has no effort of that name",
    ),
    "pydantic-ai/bedrock/test_multimodal_tool_returns__test_multimodal_tool_return_matrix"
    "[direct-uploaded_file-document-bedrock_nova].yaml": (
        {"content.image-in-result"},
        "refused with 400: a result that holds a document",
    ),
    "pydantic-ai/openai/test_multimodal_tool_returns__test_multimodal_tool_return_matrix"
    "[direct-binary-audio-openai_chat].yaml": (
        {"content.unsupported-part"},
        "refused with 400: audio in a message to a model that takes none",
    ),
    "pydantic-ai/openai/test_multimodal_tool_returns__test_multimodal_tool_return_matrix"
    "[direct-url-audio-openai_responses].yaml": (
        {"content.unsupported-part"},
        "refused with 400: an audio file in the output of a call",
    ),
    "pydantic-ai/openai/test_openai__test_openai_web_search_tool_model_not_supported.yaml": (
        {"params.unsupported"},
        "refused with 400: this model cannot search the web",
    ),
    "pydantic-ai/openai/test_openai_responses__test_openai_responses_thinking_with_modified_history.yaml": (
        {"reasoning.unpaired"},
        "refused with 400: the client has put another text instead of the item that the reasoning led to",
    ),
    "vercel-ai/anthropic/spliced-message-start.chunks.txt": (
        {"stream.block-order"},
        "a stream spliced from two messages: a second message_start",
    ),
    "vercel-ai/openai/openai-error.1.chunks.txt": (
        {"stream.error-event"},
        "the quota is exceeded, which the provider says in the running stream",
    ),
}
"""File → (rules that find an error in it, why that is right)."""

UNNAMED = ("vercel-ai/google/google-429-retry-info.json",)
"""An error body alone, of which nothing tells a protocol."""

_ONE_ID = "one id stands for a call of the server and for its result"
_EXECUTION = "'execution' says who runs the tool: another word makes another node"
KNOWN_LEAVES = {
    "pydantic-ai/openai/test_capabilities__TestImageGenerationCapability.test_image_generation_local_fallback.yaml": (
        _ONE_ID
    ),
    "pydantic-ai/openai/test_openai_responses__test_openai_responses_image_generation_with_tools.yaml": _ONE_ID,
    "pydantic-ai/openai/test_tool_search__test_openai_client_tool_search_streaming.yaml": _EXECUTION,
    "pydantic-ai/openai/test_tool_search__test_openai_native_tool_search_with_deferred_capability.yaml": _EXECUTION,
}
"""File → why a leaf of it cannot be changed alone."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FILES or [None])
def test_every_exchange_has_a_row_no_rule_fails_and_error_findings_are_true(recordings, name):
    with closing(open_input(str(recordings / name))) as session:
        result = Inspector(session).run()
        assert len(result.rows) == len(session)
    assert not [f for f in result.findings if f.rule == FAILED]
    errors = [f for f in result.findings if f.severity == "error"]
    expected, _ = TRUE_BREAKS.get(name, (set(), ""))
    assert {f.rule for f in errors} == expected, [(f.exchange, f.rule, f.pointer, f.message) for f in errors]


def test_every_recording(recordings, record_property):
    """The table: everything decodes, what nobody touched comes out byte for byte, leaves can be changed in place."""
    rows = [row_of(recordings, name, protocol) for name, protocol in listed(recordings)]
    record_property("score", summary(rows))
    assert [row.line() for row in rows if not row.is_whole and not row.unread and row.name not in KNOWN_LEAVES] == []
    for row in rows:
        assert row.decoded.done == row.decoded.of, row.line()
        assert row.requests.done == row.requests.of, row.line()
        assert row.responses.done == row.responses.of, row.line()
        assert set(row.found) <= row.expected() or row.unread, row.line()
        assert row.found or row.unread or row.name in UNNAMED, row.line()


def test_the_table_names_files_that_exist(recordings):
    assert not [name for name in (*TRUE_BREAKS, *KNOWN_LEAVES, *UNNAMED) if not (recordings / name).is_file()]
