"""Where the objects of a healthy request are on each wire, and changing a value there."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from tests.siblings.wires import Json

TOOL = {
    "anthropic-messages": "/tools/0",
    "openai-chat": "/tools/0",
    "openai-responses": "/tools/0",
    "gemini": "/tools/0/functionDeclarations/0",
    "ollama": "/tools/0",
    "bedrock-converse": "/toolConfig/tools/0/toolSpec",
    "cohere-v2": "/tools/0",
    "gemini-interactions": "/tools/0",
}
FUNCTION = TOOL | dict.fromkeys(("openai-chat", "ollama", "cohere-v2"), "/tools/0/function")
SCHEMA = {name: f"{at}/parameters" for name, at in FUNCTION.items()} | {
    "anthropic-messages": "/tools/0/input_schema",
    "bedrock-converse": "/toolConfig/tools/0/toolSpec/inputSchema/json",
}
CALL = {
    "anthropic-messages": "/messages/1/content/0",
    "openai-chat": "/messages/1/tool_calls/0",
    "openai-responses": "/input/1",
    "gemini": "/contents/1/parts/0/functionCall",
    "ollama": "/messages/1/tool_calls/0",
    "bedrock-converse": "/messages/1/content/0/toolUse",
    "cohere-v2": "/messages/1/tool_calls/0",
    "gemini-interactions": "/input/1",
}
ARGUMENTS = {
    "anthropic-messages": "/messages/1/content/0/input",
    "openai-chat": "/messages/1/tool_calls/0/function/arguments",
    "openai-responses": "/input/1/arguments",
    "gemini": "/contents/1/parts/0/functionCall/args",
    "ollama": "/messages/1/tool_calls/0/function/arguments",
    "bedrock-converse": "/messages/1/content/0/toolUse/input",
    "cohere-v2": "/messages/1/tool_calls/0/function/arguments",
    "gemini-interactions": "/input/1/arguments",
}
RESULT = {
    "anthropic-messages": "/messages/2/content/0",
    "openai-chat": "/messages/2",
    "openai-responses": "/input/2",
    "gemini": "/contents/2/parts/0/functionResponse",
    "ollama": "/messages/2",
    "bedrock-converse": "/messages/2/content/0/toolResult",
    "cohere-v2": "/messages/2",
    "gemini-interactions": "/input/2",
}
TURN = {
    "anthropic-messages": "/messages/1",
    "openai-chat": "/messages/1",
    "openai-responses": "/input/1",
    "gemini": "/contents/1",
    "ollama": "/messages/1",
    "bedrock-converse": "/messages/1",
    "cohere-v2": "/messages/1",
    "gemini-interactions": "/input/1",
}
USER = {name: at.replace("1", "0") for name, at in TURN.items()}


def at(value: Any, pointer: str) -> Any:
    """The value at a pointer."""
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def put(body: Json, pointer: str, new: Any) -> Json:
    """A copy with a value at a pointer; without it where the new one is ``...``."""
    made = copy.deepcopy(body)
    holder, _, last = pointer.rpartition("/")
    node = at(made, holder)
    key: Any = int(last) if isinstance(node, list) else last
    if new is ...:
        del node[key]
    else:
        node[key] = new
    return made


def of(table: Mapping[str, str], name: str) -> str:
    return table[name]
