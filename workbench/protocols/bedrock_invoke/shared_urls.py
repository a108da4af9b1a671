"""URLs that models of several makers share, each with the body of its own protocol: the body tells whose it is.

Bedrock's InvokeModel passes a body on as it is. Facts: Amazon Bedrock User Guide, "Inference request parameters and
response fields for foundation models"; Amazon Nova User Guide, "Using the Invoke API".
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.ir import JsonValue

INVOKE, CONVERSE, CHAT = "bedrock-invoke", "bedrock-converse", "openai-chat"
_CONVERSE_KEYS = ("schemaVersion", "inferenceConfig", "toolConfig")
_CONVERSE_EVENTS = ("messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop")


def protocol_of(request: JsonValue, answer: JsonValue) -> str:
    """The protocol of a body at such a URL.

    Args:
        request: its parsed body; None where there is none.
        answer: the parsed answer, or the first event of its stream.
    """
    if isinstance(request, dict):
        return _of_request(request)
    if not isinstance(answer, dict):
        return INVOKE
    if isinstance(answer.get("output"), dict) or any(key in answer for key in _CONVERSE_EVENTS):
        return CONVERSE
    return CHAT if isinstance(answer.get("choices"), list) else INVOKE


def _of_request(request: Mapping[str, JsonValue]) -> str:
    messages = request.get("messages")
    if not isinstance(messages, list) or "anthropic_version" in request:
        return INVOKE
    if any(key in request for key in _CONVERSE_KEYS):
        return CONVERSE
    contents = [m.get("content") for m in messages if isinstance(m, dict)]
    blocks = [b for content in contents if isinstance(content, list) for b in content if isinstance(b, dict)]
    if blocks and not any("type" in block for block in blocks):
        return CONVERSE
    return CHAT
