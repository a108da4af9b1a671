"""What people paste into issues, chats and files, as they do it: read, refused with a hint, or said to be unread.

The samples are ours, written in the forms that public reports use. Of each read exchange the table has the protocol and
the sides that are there: q for a request with a body, a for an answer.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli._check.file_report import FileReport
from workbench.errors import UnreadableInput
from workbench.formats.importers import open_input
from workbench.rules.inspection import Inspector
from workbench.wire.exchange import Exchange

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "pasted"

READ = {
    "anthropic-debug": "anthropic-messages/q",
    "anthropic-debug-given": "anthropic-messages/q",
    "axios-error-dump": "openai-chat/q",
    "axios-error-full": "anthropic-messages/q",
    "base64-body": "openai-chat/q",
    "bom-crlf": "openai-chat/q",
    "bytes-chunks": "openai-chat/a",
    "bytes-lines": "openai-chat/a",
    "chrome-fetch": "openai-chat/q None/q",
    "chrome-node-fetch": "anthropic-messages/q",
    "curl-N-sse": "openai-chat/qa",
    "curl-apostrophe": "openai-chat/q",
    "curl-double-quotes": "openai-chat/q",
    "curl-i": "openai-chat/qa",
    "curl-multi": "openai-chat/q openai-chat/q openai-chat/q",
    "curl-v-full": "ollama/qa",
    "docker-sse": "openai-chat/a",
    "double-json": "openai-chat/q",
    "env-body-key": "openai-chat/qa",
    "escaped-inner": "openai-chat/q",
    "gcp-log-text": "openai-chat/q",
    "go-prefix-sse": "openai-chat/a",
    "http-file-vscode": "anthropic-messages/q",
    "httpie": "openai-chat/q",
    "issue-steps": "openai-chat/qa",
    "journald-sse": "openai-chat/a",
    "js-source-sdk": "openai-chat/q",
    "json-smart-quotes": "openai-chat/q",
    "json5": "openai-chat/q",
    "k8s-json-log": "openai-chat/q openai-chat/a",
    "litellm-color": "openai-chat/q",
    "litellm-verbose": "anthropic-messages/qa",
    "lmstudio-packets": "openai-chat/a",
    "lmstudio-received": "openai-chat/qa",
    "mail-quoted": "openai-chat/q",
    "nginx-body-log": "openai-chat/q",
    "node-openai-debug": "openai-chat/qa",
    "openai-debug": "openai-chat/qa",
    "pipe-logger": "openai-responses/q",
    "powershell-convert": "openai-chat/q",
    "powershell-irm": "openai-chat/q",
    "py-chunks": "openai-chat/a",
    "py-kwargs-source": "openai-chat/q",
    "py-print-anthropic": "anthropic-messages/a",
    "py-print-completion": "openai-chat/a",
    "py-print-gemini": "gemini/a",
    "py-print-responses": "openai-responses/a",
    "py-stream-events": "anthropic-messages/a",
    "python-requests-str": "openai-chat/q",
    "raw-both": "anthropic-messages/qa",
    "raw-sse-chunked": "openai-chat/a",
    "request-response-labels": "openai-chat/qa",
    "rest-client-response": "openai-chat/a",
    "slack-paste": "anthropic-messages/q",
    "terminal-transcript": "openai-chat/qa",
    "trailing-comma": "openai-chat/q",
    "two-json-pasted": "openai-chat/qa",
    "utf16-req": "openai-chat/q",
    "wget": "openai-chat/q",
    "wireshark-follow": "openai-chat/qa",
    "yaml-body": "openai-chat/q",
}

REFUSED = {
    "access-log": "the access log of a server",
    "csv": "comma-separated values",
    "curl-file": "the body is in the file payload.json",
    "curl-var-body": "the body is in $BODY",
    "html-page": "a web page",
    "httpx-info-only": "a log of requests without their bodies",
    "json-cut-in-fence": "line 5: an unclosed string",
    "json-elided": "JSON body (byte 68",
    "node-elided": "a nested value is missing ([Object])",
    "openai-error-py": "look up the message with workbench explain 'TEXT'",
    "py-print-message-only": "a single SDK message",
    "py-source-dynamic": "the name MODEL has no known value",
    "toml": "a TOML or INI file",
    "traceback": "a Python traceback",
    "xml": "XML",
    "yaml-k8s": "YAML",
}

UNREAD = ("model-answer", "ollama-debug", "prose", "rust-debug", "vllm-log")
MARKED = ("model-call", "model-think", "tool-call-with-curl")
"""Texts that a model wrote, and that show it."""


def sides(exchange: Exchange) -> str:
    request, response = exchange.request, exchange.response
    return ("q" if request and request.body.raw else "") + ("a" if response else "")


@pytest.mark.parametrize("name", READ)
def test_a_recording_in_something_else_is_read(name: str) -> None:
    session = open_input(str(SAMPLES / name))
    rows = Inspector(session).run().rows
    assert " ".join(f"{row.protocol}/{sides(session.exchange(row.index))}" for row in rows) == READ[name]


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_in_one_line_with_its_place(name: str) -> None:
    with pytest.raises(UnreadableInput) as caught:
        open_input(str(SAMPLES / name))
    line = str(caught.value)
    assert REFUSED[name] in line
    assert line.startswith(str(SAMPLES / name))
    assert "\n" not in line
    assert caught.value.hint or "the error is often" in line


@pytest.mark.parametrize("name", UNREAD)
def test_what_shows_nothing_of_a_model_is_not_called_clean(name: str) -> None:
    report = FileReport(name, Inspector(open_input(str(SAMPLES / name))).run())
    assert report.status("error") == 3
    claimed = Inspector(open_input(str(SAMPLES / name), protocol="text"), protocol="text").run()
    assert FileReport(name, claimed).status("error") == 0


@pytest.mark.parametrize("name", MARKED)
def test_text_with_a_call_or_a_section_is_what_a_model_wrote(name: str) -> None:
    report = FileReport(name, Inspector(open_input(str(SAMPLES / name))).run())
    assert report.protocol == "text"
    assert report.status("error") == ("call" in name)


def test_every_sample_is_in_a_table() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == {*READ, *REFUSED, *UNREAD, *MARKED}
