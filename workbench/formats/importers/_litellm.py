"""Shared by the importers of LiteLLM's logs: its marks in texts, and the URL of a call."""

from __future__ import annotations

from collections.abc import Mapping

from workbench import protocols
from workbench.formats.importers._log_stores import object_or_empty, scalar_text
from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.protocols import DecodedExchange
from workbench.wire import Body, Exchange, HttpResponse, dumps, loads, split_url

CUT_MARK = "litellm_truncated"
"""Part of the text that LiteLLM puts in the middle of a value that is longer than it stores (constants.py)."""

_CHAT = "/v1/chat/completions"
_SURE = 0.5

REDACTED = "redacted-by-litellm"

_PATHS = {
    "anthropic_messages": "/v1/messages",
    "aresponses": "/v1/responses",
    "responses": "/v1/responses",
    "atext_completion": "/v1/completions",
    "text_completion": "/v1/completions",
}
_OTHER_APIS = ("anthropic", "azure", "bedrock", "cohere", "gemini", "sagemaker", "vertex_ai", "watsonx")
"""Providers to which LiteLLM does not send Chat Completions: the host of the call says nothing of the logged view."""

_NO_MODEL = ("embedding", "image", "transcription", "speech", "moderation", "rerank", "search", "batch", "file")


def is_redacted(value: JsonValue) -> bool:
    """True for messages or a response that LiteLLM has replaced as a whole."""
    return REDACTED in repr(value if isinstance(value, str) else _beginning(value))


def _beginning(value: JsonValue) -> JsonValue:
    """The first item of a list; the first choice of a response."""
    choices = value.get("choices") if isinstance(value, dict) else None
    listed = choices if isinstance(choices, list) else value
    return listed[:1] if isinstance(listed, list) else listed


def calls_model(row: Mapping[str, JsonValue]) -> bool:
    """True for a call that generates text."""
    return not any(word in scalar_text(row.get("call_type")) for word in _NO_MODEL)


def url_of(row: Mapping[str, JsonValue]) -> str:
    """The path of the call as LiteLLM sees it; with the provider's host if it is sent there in that form."""
    path = _PATHS.get(scalar_text(row.get("call_type")), _CHAT)
    provider = scalar_text(row.get("custom_llm_provider")).lower()
    base = split_url(scalar_text(row.get("api_base")))
    if not base.hostname or (path == _CHAT and provider.startswith(_OTHER_APIS)):
        return path
    return f"{base.scheme}://{base.netloc}{path}"


def in_protocol_of(url: str, answer: JsonValue) -> JsonValue:
    """A response in the protocol of its call: LiteLLM stores some as Chat Completions, for any request.

    Observed of a proxy of version 1.80: calls of ``/v1/messages``.
    """
    if not isinstance(answer, dict) or split_url(url).path.endswith(_CHAT):
        return answer
    adapters = [adapter for adapter in protocols.every() if adapter.claims_url(url)]
    if not adapters or max(adapter.claims_response(answer) for adapter in adapters) >= _SURE:
        return answer
    of = max(protocols.every(), key=lambda adapter: adapter.claims_response(answer))
    read = DecodedExchange(0, Exchange("", response=HttpResponse(200, body=Body(dumps(answer)))), of.name).response
    if of.claims_response(answer) < _SURE or read is None or not read.messages:
        return answer
    from workbench.formats.importers._transcript import written_answer

    body, _ = written_answer(replace(read, protocol=adapters[0].name), adapters[0])
    value: JsonValue = loads(body)
    return value


def failure_of(row: Mapping[str, JsonValue]) -> tuple[JsonValue, int]:
    """(error, status) of a call that failed; (None, 0) for others."""
    about = object_or_empty(row.get("error_information")) or object_or_empty(
        object_or_empty(row.get("metadata")).get("error_information")
    )
    message = scalar_text(about.get("error_message")) or scalar_text(row.get("error_str"))
    if not message and scalar_text(row.get("status")) != "failure":
        return None, 0
    code = scalar_text(about.get("error_code"))
    status = int(code) if code.isascii() and code.isdigit() and 100 <= int(code) <= 599 else 0
    kind = scalar_text(about.get("error_class"))
    return {"message": message or "the call failed", **({"type": kind} if kind else {})}, status
