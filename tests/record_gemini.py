"""Records fixtures: requests as the official ``google-genai`` SDK writes them, answers of an upstream scripted here.

    python -m tests.record_gemini

The upstream listens on loopback. Its answers are written by hand after the published types of the protocol; what makes
the fixtures worth having is the other side: the bytes of a real client, replaying what it understood of the answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.record_anthropic import PIXEL, Json, Upstream

FOLDER = Path(__file__).resolve().parent / "data" / "gemini"
MODEL = "gemini-3-pro-preview"
SIGNATURE = "EqQBCkgIBxABGAIiQL8xVn4R0uKeJw=="
COUNTS = {
    "promptTokenCount": 412,
    "cachedContentTokenCount": 30,
    "candidatesTokenCount": 17,
    "thoughtsTokenCount": 79,
    "totalTokenCount": 508,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 412}],
}
READ = {
    "name": "read_file",
    "description": "Read a file",
    "parameters_json_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    },
}
LIST = {
    "name": "list_dir",
    "description": "List a folder",
    "parameters": {
        "type": "OBJECT",
        "properties": {"path": {"type": "STRING", "nullable": True}, "depth": {"type": "INTEGER", "maximum": 3}},
    },
}


def candidate(parts: Sequence[Json], reason: str | None = None, **more: object) -> Json:
    finish = {} if reason is None else {"finishReason": reason}
    return {"content": {"parts": list(parts), "role": "model"}, **finish, "index": 0, **more}


def answer(parts: Sequence[Json], reason: str | None = None, **more: object) -> Json:
    return {
        "candidates": [candidate(parts, reason, **more)],
        "usageMetadata": COUNTS,
        "modelVersion": MODEL,
        "responseId": "r1-fixture",
    }


def stream(chunks: Iterable[Sequence[Json]], reason: str = "STOP") -> bytes:
    """A healthy stream: one chunk after the other, then one with an empty text and the reason."""
    bodies = [*(answer(parts) for parts in chunks), answer([{"text": ""}], reason)]
    return b"".join(frame(body) for body in bodies)


def frame(body: Json) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\r\n\r\n"


THOUGHTS = [{"text": "**Two files**\n\n", "thought": True}, {"text": "so two calls: «naïve» 🗂️", "thought": True}]
CALL_A = {
    "functionCall": {"name": "read_file", "args": {"path": 'notes/éü "q".md', "a/b~c": [1, 2.5]}, "id": "0b3pdf3o"},
    "thoughtSignature": SIGNATURE,
}
CALL_B = {"functionCall": {"name": "list_dir", "args": {}, "id": "brynwdxm"}}
CALL_WITHOUT_ID = {"functionCall": {"name": "list_dir"}, "thoughtSignature": SIGNATURE}
CODE = [
    {"executableCode": {"language": "PYTHON", "code": "print(6 * 7)\n", "id": "c1"}},
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n", "id": "c1"}},
]
SEARCH = [
    {
        "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["tide tables"]}, "id": "s1"},
        "thoughtSignature": SIGNATURE,
    },
    {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {"suggestions": "<b>tides</b>"}, "id": "s1"}},
]
GROUNDING = {"webSearchQueries": ["tide tables"], "groundingChunks": [{"web": {"uri": "https://tides.example/"}}]}
REFUSAL = {
    "error": {
        "code": 400,
        "message": "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.\n",
        "status": "INVALID_ARGUMENT",
    }
}
OVERLOADED = {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}


def pieces(path: str, *texts: str) -> list[Sequence[Json]]:
    """Chunks that bring one argument in pieces."""
    last = len(texts) - 1
    entries = [
        {"jsonPath": path, "stringValue": t} | ({"willContinue": True} if n < last else {}) for n, t in enumerate(texts)
    ]
    return [[{"functionCall": {"partialArgs": [entry], "willContinue": True}}] for entry in entries]


STREAMED_CALL: list[Sequence[Json]] = [
    [{"functionCall": {"name": "read_file", "willContinue": True}, "thoughtSignature": SIGNATURE}],
    *pieces("$.path", "no", "tes/é", ".md", ""),
    *pieces("$.options.tags[0]", "東", "京"),
    [{"functionCall": {"partialArgs": [{"jsonPath": "$.options.depth", "numberValue": 2}], "willContinue": True}}],
    [{"functionCall": {"partialArgs": [{"jsonPath": "$.options.all", "boolValue": True}], "willContinue": True}}],
    [{"functionCall": {}}],
]


def loop(ask: Callable[..., Any]) -> None:
    """Question, two parallel calls, their results (an image, an error), answer, and on."""
    contents: list[Any] = [{"role": "user", "parts": [{"text": "Compare both, please. Ünï¢ode → ok?"}]}]
    common: Json = {
        "system_instruction": "Be brief.",
        "tools": [{"function_declarations": [READ, LIST]}],
        "thinking_config": {"include_thoughts": True, "thinking_budget": 1024},
    }
    contents.append(ask(contents, common))
    image = {"inline_data": {"mime_type": "image/png", "data": PIXEL}}
    read: Json = {"name": "read_file", "id": "0b3pdf3o", "response": {"output": "a\n"}, "parts": [image]}
    listed = {"name": "list_dir", "id": "brynwdxm", "response": {"error": "no such directory"}}
    contents.append({"role": "user", "parts": [{"function_response": read}, {"function_response": listed}]})
    chosen = {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["read_file"]}}
    more = {"tool_config": chosen, "stop_sequences": ["END"], "temperature": 0.5, "max_output_tokens": 4096}
    ask(contents, common | more)


def structured(ask: Callable[..., Any]) -> None:
    """A call without id and arguments, a structured result, a file of the user, a schema for the answer."""
    film = {"file_data": {"file_uri": "https://harbour.example/map.mp4", "mime_type": "video/mp4"}}
    contents: list[Any] = [{"role": "user", "parts": [film, {"text": "When is high water?"}]}]
    schema = {"type": "object", "properties": {"at": {"type": "string"}}}
    config: Json = {
        "tools": [{"function_declarations": [LIST]}],
        "response_mime_type": "application/json",
        "response_json_schema": schema,
        "safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    }
    contents.append(ask(contents, config))
    response = {"tides": [{"at": "12:04", "metres": 3.1}], "station": None}
    contents.append({"role": "user", "parts": [{"function_response": {"name": "list_dir", "response": response}}]})
    ask(contents, config)


def server(ask: Callable[..., Any]) -> None:
    """Tools that the provider runs, replayed in the next turn."""
    contents: list[Any] = [{"role": "user", "parts": [{"text": "When is high water?"}]}]
    config: Json = {
        "tools": [{"google_search": {}}, {"code_execution": {}}],
        "tool_config": {"include_server_side_tool_invocations": True},
    }
    contents += [ask(contents, config), {"role": "user", "parts": [{"text": "And tomorrow?"}]}]
    ask(contents, config)


def refused(ask: Callable[..., Any]) -> None:
    """An error instead of a response."""
    from google.genai.errors import APIError

    try:
        ask([{"role": "user", "parts": [{"text": "?"}]}], {"thinking_config": {"thinking_budget": 0}})
    except APIError:
        return
    raise AssertionError("the SDK took an error for an answer")


LAST = {"text": "", "thoughtSignature": SIGNATURE}
SCENARIOS: dict[str, tuple[Callable[[Callable[..., Any]], None], tuple[bytes | Json, ...]]] = {
    "loop-whole": (
        loop,
        (
            answer([*THOUGHTS, CALL_A, CALL_B], "STOP", finishMessage="Model generated function call(s)."),
            answer([{"text": "Both are read.", "thoughtSignature": SIGNATURE}], "MAX_TOKENS", avgLogprobs=-0.25),
        ),
    ),
    "loop-stream": (
        loop,
        (
            stream([*([thought] for thought in THOUGHTS), [{"text": 'I look at "a"\n'}], [CALL_A], [CALL_B]]),
            stream([[{"text": "Both "}], [{"text": "are read. 東"}], [{"text": "京"}], [LAST]]),
        ),
    ),
    "structured-whole": (
        structured,
        (
            answer([CALL_WITHOUT_ID], "STOP"),
            answer([{"text": '{"at": "12:04"}'}], "STOP", safetyRatings=[{"category": "HARM_CATEGORY_HARASSMENT"}]),
        ),
    ),
    "structured-stream": (
        structured,
        (stream(STREAMED_CALL), stream([[{"text": '{"at": '}], [{"text": '"12:04"}'}]])),
    ),
    "server-whole": (
        server,
        (answer([*SEARCH, *CODE, {"text": "At noon."}], "STOP", groundingMetadata=GROUNDING), answer([LAST], "STOP")),
    ),
    "server-stream": (
        server,
        (stream([[SEARCH[0]], [SEARCH[1]], CODE, [{"text": "At noon."}]]), stream([[{"text": "The same."}]])),
    ),
    "refused-whole": (refused, (REFUSAL,)),
    "refused-stream": (refused, (frame(answer([{"text": "Both "}])) + frame(OVERLOADED),)),
}


def client(url: str) -> Any:
    """The SDK's client for a server on loopback."""
    from google import genai

    return genai.Client(api_key="fixture", http_options={"base_url": url})


def joined(chunks: Iterable[Any]) -> Any:
    """The content that an application keeps of a stream: every part but empty texts, streamed calls put together."""
    parts: list[Any] = []
    for chunk in chunks:
        for part in (chunk.candidates or [])[0].content.parts or []:
            call = part.function_call
            if call is not None and call.name is None:
                continue
            if part.text or part.thought_signature or call or part.text is None:
                parts.append(part.model_copy(update={"function_call": _plain(call)}) if call else part)
    return {"role": "model", "parts": parts}


def _plain(call: Any) -> Any:
    return call.model_copy(update={"partial_args": None, "will_continue": None})


def record(name: str) -> None:
    conversation, answers = SCENARIOS[name]
    upstream = Upstream(answers)
    sdk = client(upstream.url)  # it closes its connections when nobody holds it

    def ask(contents: list[Any], config: Json) -> Any:
        off = {"automatic_function_calling": {"disable": True}}
        arguments: Json = {"model": MODEL, "contents": contents, "config": config | off}
        if name.endswith("whole"):
            return sdk.models.generate_content(**arguments).candidates[0].content
        return joined(sdk.models.generate_content_stream(**arguments))

    conversation(ask)
    upstream.write(FOLDER, name)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for scenario in SCENARIOS:
        record(scenario)
