"""Which types of which package are the grammar of which protocol and provider."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.grammars.merging import join
from tests.grammars.python_types import PythonTypes
from tests.grammars.services import from_botocore, from_discovery
from workbench.ir import JsonValue

Types = dict[str, JsonValue]


@dataclass(frozen=True)
class Extract:
    """Types with the names of the two that everything is reached from; "" for a side without one.

    Attributes:
        is_proto: JSON of protocol buffers.
        names_required: the source says which keys are required.
    """

    types: Types
    request: str
    answer: str = ""
    is_proto: bool = False
    names_required: bool = True


@dataclass(frozen=True)
class Source:
    """One package, in one or several releases.

    Attributes:
        package: name in the Python package index.
        read: makes an extract of the unpacked package.
        releases: pip's specifiers; "" is the newest. Keys that a later major release dropped are still known.
        beside: packages that it imports types from.
        is_lenient: a server whose models pass over keys that they do not know.
    """

    package: str
    read: Callable[[Path], Extract]
    releases: tuple[str, ...] = ("",)
    beside: tuple[str, ...] = ()
    is_lenient: bool = False


def python(
    folder: str, request: tuple[str, str], answer: tuple[str, str] = ("", ""), *, camel: bool = False, need: bool = True
) -> Callable[[Path], Extract]:
    """Reader of the classes (module, name) of a package."""

    def read(unpacked: Path) -> Extract:
        found = PythonTypes(unpacked / folder, camel=camel, need_models=need)
        asked = found.root(*request)
        return Extract(found.types, asked, found.root(*answer) if answer[0] else "")

    return read


def _cohere(unpacked: Path) -> Extract:
    found = PythonTypes(unpacked / "cohere")
    asked = found.method("v2/raw_client.py", "chat", ("request_options",))
    return Extract(found.types, asked, found.root("v2/types/v2chat_response.py", "V2ChatResponse"))


_GOOGLE = "GoogleCloudAiplatformV1beta1"


def _vertex(unpacked: Path) -> Extract:
    (file,) = unpacked.glob("googleapiclient/discovery_cache/documents/aiplatform.v1beta1.json")
    schemas = json.loads(file.read_bytes())["schemas"]
    roots = ("GenerateContentRequest", "GenerateContentResponse")
    return Extract(from_discovery(schemas, _GOOGLE, roots), *roots, is_proto=True)


_SHARED = (
    *("Content", "Part", "Tool", "ToolConfig", "FunctionDeclaration", "FunctionCallingConfig", "GenerationConfig"),
    *(
        "FunctionCall",
        "FunctionResponse",
        "Candidate",
        "GenerateContentResponse",
        "RetrievalConfig",
        "Blob",
        "FileData",
    ),
)


def _genai(unpacked: Path) -> Extract:
    """Types that the SDK for developers shares with Vertex under the same names, and what they refer to."""
    found = PythonTypes(unpacked / "google" / "genai", camel=True, need_models=False)
    for name in _SHARED:
        found.root("types.py", name)
    return Extract(found.types, "", "", names_required=False)


def _live(unpacked: Path) -> Extract:
    """A turn of a Live connection: its setup, with the contents of the conversation beside it."""
    found = PythonTypes(unpacked / "google" / "genai", camel=True, need_models=False)
    setup = found.root("types.py", "LiveClientSetup")
    for name in _SHARED:
        found.root("types.py", name)
    types: dict[str, Any] = found.types
    types[setup]["keys"]["contents"] = ["[]", "#Content"]
    return Extract(types, setup, "", is_proto=True, names_required=False)


def _beside_live(unpacked: Path) -> Extract:
    """Types of the API over HTTP that a Live connection shares."""
    return replace(_vertex(unpacked), request="", answer="")


_STEPS = Path("google/genai/_gaos")


def _interactions(unpacked: Path) -> Extract:
    """An interaction with a model, or with an agent: the keys of both, and those required by both."""
    found = PythonTypes(unpacked / _STEPS, need_models=False)
    at = "types/interactions"
    asked = found.root(f"{at}/createmodelinteraction.py", "CreateModelInteractionParam")
    agent = found.root(f"{at}/createagentinteraction.py", "CreateAgentInteractionParam")
    answer = found.root(f"{at}/interaction.py", "Interaction")
    types = join({asked: found.types[asked]}, {asked: found.types[agent]})
    return Extract({**found.types, **types}, asked, answer)


def _converse(unpacked: Path) -> Extract:
    file = unpacked / "botocore" / "data" / "bedrock-runtime" / "2023-09-30" / "service-2.json.gz"
    roots = ("ConverseRequest", "ConverseResponse")
    return Extract(from_botocore(json.loads(gzip.decompress(file.read_bytes()))["shapes"], roots), *roots)


_MESSAGES = python(
    "anthropic",
    ("types/beta/message_create_params.py", "MessageCreateParamsBase"),
    ("types/beta/beta_message.py", "BetaMessage"),
)


_read_responses = python(
    "openai",
    ("types/responses/response_create_params.py", "ResponseCreateParamsBase"),
    ("types/responses/response.py", "Response"),
)


def _responses(unpacked: Path) -> Extract:
    """Items of an answer come back as input: the keys that they have there are known in a request, too."""
    found = _read_responses(unpacked)
    types: dict[str, Any] = found.types
    items = [types[name[1:]] for name in types["Response"]["keys"]["output"][1][1:]]
    by_tag = {json.dumps(each["keys"].get("type")): each["keys"] for each in items}
    for each in (types[name[1:]] for name in types[found.request]["keys"]["input"][2][1][1:]):
        more = by_tag.get(json.dumps(each["keys"].get("type")), {})
        each["keys"] = dict(sorted((more | each["keys"]).items()))
    return found


_REALTIME = "types/realtime/realtime_"
_ITEMS = (
    *("conversation_item_system_message", "conversation_item_user_message", "conversation_item_assistant_message"),
    *("conversation_item_function_call", "conversation_item_function_call_output", "mcp_approval_response"),
    *("mcp_list_tools", "mcp_tool_call", "mcp_approval_request"),
)


def _realtime(unpacked: Path) -> Extract:
    """A turn of a Realtime connection: its session, the parameters of its response, and the conversation as input."""
    found = PythonTypes(unpacked / "openai")

    def param(name: str) -> str:
        words = "".join(word.capitalize() for word in f"realtime_{name}_param".split("_"))
        return found.root(f"{_REALTIME}{name}_param.py", words)

    session, response = param("session_create_request"), param("response_create_params")
    items = [f"#{param(name)}" for name in _ITEMS]
    types: dict[str, Any] = found.types
    turn = types[session]
    turn["keys"] = dict(sorted((types[response]["keys"] | turn["keys"] | {"input": ["[]", ["|", *items]]}).items()))
    turn["need"] = []
    return Extract(types, session)


def _typed_dicts(module: str, request: str, answer: tuple[str, str]) -> Callable[[Path], Extract]:
    """Reader of OpenRouter's components; a request is a typed dictionary, an answer a class."""
    return python("openrouter", (f"components/{module}.py", request), (f"components/{answer[0]}.py", answer[1]))


def _chat(folder: str, request: str = "CompletionCreateParamsBase", answer: str = "ChatCompletion"):  # type: ignore[no-untyped-def]
    asked = ("types/chat/completion_create_params.py", request)
    return python(folder, asked, ("types/chat/chat_completion.py", answer))


GRAMMARS: Mapping[tuple[str, str], tuple[Source, ...]] = {
    ("openai-chat", ""): (Source("openai", _chat("openai")),),
    ("openai-chat", "groq"): (Source("groq", _chat("groq", "CompletionCreateParams")),),
    ("openai-chat", "cerebras"): (
        Source("cerebras-cloud-sdk", _chat("cerebras/cloud/sdk", "CompletionCreateParams", "ChatCompletionResponse")),
    ),
    ("openai-chat", "mistral"): (
        Source(
            "mistralai",
            python(
                "mistralai",
                ("client/models/chatcompletionrequest.py", "ChatCompletionRequestTypedDict"),
                ("client/models/chatcompletionresponse.py", "ChatCompletionResponseTypedDict"),
            ),
        ),
    ),
    ("openai-chat", "vllm"): (
        Source(
            "vllm",
            python(
                "vllm",
                ("entrypoints/openai/chat_completion/protocol.py", "ChatCompletionRequest"),
                ("entrypoints/openai/chat_completion/protocol.py", "ChatCompletionResponse"),
            ),
            beside=("openai",),
            is_lenient=True,
        ),
    ),
    ("openai-chat", "sglang"): (
        Source(
            "sglang",
            python(
                "sglang",
                ("srt/entrypoints/openai/protocol.py", "ChatCompletionRequest"),
                ("srt/entrypoints/openai/protocol.py", "ChatCompletionResponse"),
            ),
            beside=("openai",),
            is_lenient=True,
        ),
    ),
    ("openai-responses", "vllm"): (
        Source(
            "vllm",
            python("vllm", ("entrypoints/openai/responses/protocol.py", "ResponsesRequest")),
            beside=("openai",),
            is_lenient=True,
        ),
    ),
    ("openai-chat", "together"): (Source("together", _chat("together"), is_lenient=True),),
    ("openai-chat", "fireworks"): (
        Source(
            "fireworks-ai",
            python(
                "fireworks",
                ("types/chat/completion_create_params.py", "CompletionCreateParamsBase"),
                ("types/chat/completion_create_response.py", "CompletionCreateResponse"),
            ),
        ),
    ),
    ("openai-chat", "perplexity"): (
        Source(
            "perplexityai",
            python("perplexity", ("types/chat/completion_create_params.py", "CompletionCreateParamsBase")),
            is_lenient=True,
        ),
    ),
    ("openai-chat", "openrouter"): (
        Source(
            "openrouter",
            _typed_dicts("chatrequest", "ChatRequestTypedDict", ("chatresult", "ChatResult")),
            is_lenient=True,
        ),
    ),
    ("openai-responses", ""): (Source("openai", _responses),),
    ("openai-responses", "openrouter"): (
        Source(
            "openrouter",
            _typed_dicts(
                "responsesrequest", "ResponsesRequestTypedDict", ("openresponsesresult", "OpenResponsesResult")
            ),
            is_lenient=True,
        ),
    ),
    ("openai-responses", "sglang"): (
        Source(
            "sglang",
            python("sglang", ("srt/entrypoints/openai/protocol.py", "ResponsesRequest")),
            beside=("openai",),
            is_lenient=True,
        ),
    ),
    ("anthropic-messages", ""): (Source("anthropic", _MESSAGES, ("", "<1")),),
    ("anthropic-messages", "fireworks"): (
        Source("fireworks-ai", python("fireworks", ("types/message_create_params.py", "MessageCreateParams"))),
    ),
    ("anthropic-messages", "openrouter"): (
        Source(
            "openrouter",
            python("openrouter", ("components/messagesrequest.py", "MessagesRequestTypedDict")),
            is_lenient=True,
        ),
    ),
    ("anthropic-messages", "vllm"): (
        Source(
            "vllm",
            python("vllm", ("entrypoints/anthropic/protocol.py", "AnthropicMessagesRequest")),
            beside=("openai",),
            is_lenient=True,
        ),
    ),
    ("anthropic-messages", "sglang"): (
        Source(
            "sglang",
            python("sglang", ("srt/entrypoints/anthropic/protocol.py", "AnthropicMessagesRequest")),
            beside=("openai",),
            is_lenient=True,
        ),
    ),
    ("gemini", ""): (Source("google-api-python-client", _vertex), Source("google-genai", _genai)),
    ("gemini-live", ""): (Source("google-genai", _live), Source("google-api-python-client", _beside_live)),
    ("openai-realtime", ""): (Source("openai", _realtime),),
    ("gemini-interactions", ""): (Source("google-genai", _interactions),),
    ("ollama", ""): (
        Source(
            "ollama", python("ollama", ("_types.py", "ChatRequest"), ("_types.py", "ChatResponse")), is_lenient=True
        ),
    ),
    ("cohere-v2", ""): (Source("cohere", _cohere),),
    ("bedrock-converse", ""): (Source("botocore", _converse),),
}
"""(protocol, contract) → its sources; the contract is "" for the protocol's own vendor."""

VENDORS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic-messages": "anthropic",
    "gemini": "gemini",
    "gemini-live": "gemini-live",
    "openai-realtime": "openai-realtime",
    "gemini-interactions": "gemini-interactions",
    "ollama": "ollama",
    "cohere-v2": "cohere",
    "bedrock-converse": "bedrock",
}
"""Protocol → the contract of its own vendor."""
