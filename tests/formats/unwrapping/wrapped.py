"""Bodies of every protocol, and the ways in which people paste them."""

from __future__ import annotations

import base64
import json
import pprint
import shlex
from collections.abc import Callable, Mapping
from typing import Any

Body = dict[str, Any]
PATHS = {
    "anthropic-messages": "https://api.anthropic.com/v1/messages",
    "openai-chat": "https://api.openai.com/v1/chat/completions",
    "openai-responses": "https://api.openai.com/v1/responses",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent",
    "ollama": "http://localhost:11434/api/chat",
    "cohere-v2": "https://api.cohere.com/v2/chat",
    "bedrock-converse": "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse",
}

_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def request(protocol: str, text: str) -> Body:
    """A request with one tool and one message."""
    function = {"name": "read", "description": text, "parameters": _SCHEMA}
    chat = {"model": "m-1", "messages": [{"role": "user", "content": text}]}
    tools = {"tools": [{"type": "function", "function": function}]}
    return {
        "anthropic-messages": chat | {"max_tokens": 64, "tools": [{"name": "read", "input_schema": _SCHEMA}]},
        "openai-chat": chat | tools,
        "openai-responses": {"model": "m-1", "input": text, "tools": [{"type": "function", **function}]},
        "gemini": {
            "contents": [{"role": "user", "parts": [{"text": text}]}],
            "tools": [{"functionDeclarations": [function]}],
        },
        "ollama": chat | tools | {"stream": False, "options": {"num_ctx": 4096}},
        "cohere-v2": chat | tools,
        "bedrock-converse": {
            "messages": [{"role": "user", "content": [{"text": text}]}],
            "toolConfig": {"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": _SCHEMA}}}]},
        },
    }[protocol]


def answer(protocol: str, text: str) -> Body:
    """An answer with a text and a call."""
    arguments = json.dumps({"path": text})
    call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": arguments}}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return {
        "anthropic-messages": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m-1",
            "content": [
                {"type": "text", "text": text or "x"},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": text}},
            ],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 4},
        },
        "openai-chat": {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "m-1",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, "tool_calls": [call], "refusal": None},
                    "logprobs": None,
                    "finish_reason": "tool_calls",
                }
            ],
            "usage": usage,
        },
        "openai-responses": {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "m-1",
            "output": [
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": arguments}
            ],
            "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        },
        "gemini": {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [{"text": text or "x"}, {"functionCall": {"name": "read", "args": {"path": text}}}],
                    },
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4},
            "modelVersion": "m-1",
        },
        "ollama": {
            "model": "m-1",
            "created_at": "2026-01-01T00:00:00Z",
            "message": {
                "role": "assistant",
                "content": text,
                "tool_calls": [{"function": {"name": "read", "arguments": {"path": text}}}],
            },
            "done": True,
            "done_reason": "stop",
        },
        "cohere-v2": {
            "id": "1",
            "message": {"role": "assistant", "tool_calls": [call]},
            "finish_reason": "TOOL_CALL",
            "usage": {"tokens": {"input_tokens": 3, "output_tokens": 4}},
        },
        "bedrock-converse": {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "t1", "name": "read", "input": {"path": text}}}],
                }
            },
            "stopReason": "tool_use",
            "usage": {"inputTokens": 3, "outputTokens": 4, "totalTokens": 7},
        },
    }[protocol]


def plain(body: Body) -> str:
    return json.dumps(body, ensure_ascii=False)


def pretty(body: Body) -> str:
    return json.dumps(body, indent=2, ensure_ascii=False)


def _cmd(body: Body) -> str:
    r"""As Chrome copies for cmd: every special character behind a caret, quotes as ``\"``."""
    data = plain(body).replace("\\", "\\\\").replace('"', '\\"')
    data = "".join("^" + c if c in '^"&|<>%!\\()' else c for c in data)
    return f'curl ^"URL^" ^\n  -H ^"content-type: application/json^" ^\n  --data-raw ^"{data}^" ^\n  --compressed'


def _powershell(body: Body) -> str:
    data = plain(body).replace("`", "``").replace('"', '`"').replace("$", "`$")
    lines = [
        "$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession",
        'Invoke-WebRequest -UseBasicParsing -Uri "URL" `',
        '-Method "POST" `',
        "-WebSession $session `",
        '-Headers @{\n"authority"="api.example.com"\n  "accept"="*/*"\n} `',
        '-ContentType "application/json" `',
        f'-Body "{data}"',
    ]
    return "\n".join(lines)


def _ansi_quoted(body: Body) -> str:
    return "$'" + plain(body).replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


REQUESTS: Mapping[str, Callable[[Body], str]] = {
    "curl": lambda b: f"curl URL -H 'content-type: application/json' -d {shlex.quote(plain(b))}",
    "curl over lines": lambda b: (
        "$ curl -sS -XPOST \\\n  --url 'URL' \\\n  -H \"Authorization: Bearer $KEY\" \\\n"
        f" --data-raw {shlex.quote(pretty(b))}\n"
    ),
    "curl, ANSI quotes": lambda b: f"curl 'URL' -H 'x: y' --data-raw {_ansi_quoted(b)} --compressed",
    "curl, here-document": lambda b: f"curl URL -H 'x: y' -d @- <<'EOF'\n{plain(b)}\nEOF\n",
    "curl for cmd": _cmd,
    "curl, LiteLLM": lambda b: (
        f"POST Request Sent from LiteLLM:\ncurl -X POST \\\nURL \\\n-H 'Authorization: Be****ey' \\\n-d '{b!r}'\n"
    ),
    "HTTP": lambda b: (
        "POST URL HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(plain(b).encode())}\r\n\r\n{plain(b)}"
    ),
    ".http file": lambda b: f"### ask\nPOST URL\nContent-Type: application/json\n\n{pretty(b)}\n\n###\n",
    "fetch": lambda b: (
        'fetch("URL", {\n  "headers": {\n    "content-type": "application/json"\n  },\n  "body": '
        f'{json.dumps(plain(b))},\n  "method": "POST"\n}});'
    ),
    "fetch with stringify": lambda b: (
        f"const r = await fetch('URL', {{ method: 'POST', headers: {{ a: 'b' }}, body: JSON.stringify({plain(b)}) }})"
    ),
    "axios": lambda b: f"const data = JSON.stringify({pretty(b)});\naxios.post('URL', data, {{headers: {{a: 'b'}}}})",
    "requests": lambda b: (
        f"import requests\nurl = \"URL\"\npayload = {b!r}\nr = requests.post(url, headers={{'a': 'b'}}, json=payload)\n"
    ),
    "PowerShell": _powershell,
    "SDK debug log": lambda b: (
        "[2026-01-01 00:00:00 - openai._base_client:446 - DEBUG] Request options: {'method': 'post', 'url': 'URL', "
        f"'files': None, 'post_parser': <function Completions.create.<locals>.parser at 0x7f00>, 'json_data': {b!r}}}\n"
    ),
    "http.client": lambda b: (
        "send: b'POST URL HTTP/1.1\\r\\nHost: h\\r\\nContent-Type: application/json\\r\\n\\r\\n'\n"
        f"send: {plain(b).encode()!r}\n"
    ),
}
"""Ways to paste a request; URL stands for where it goes."""

BODIES: Mapping[str, Callable[[Body], str]] = {
    "Python repr": repr,
    "pprint": pprint.pformat,
    "repr of JSON": lambda b: repr(plain(b)),
    "repr of bytes": lambda b: repr(plain(b).encode()),
    "JSON in JSON": lambda b: json.dumps(plain(b)),
    "the inside of a JSON string": lambda b: json.dumps(plain(b))[1:-1],
    "fence": lambda b: f"# Bug\n\nIt fails when I send this:\n\n```json\n{pretty(b)}\n```\n\nWhat is wrong?\n",
    "indented fence": lambda b: (
        "1. send\n\n   ```json\n" + "".join(f"   {x}\n" for x in pretty(b).split("\n")) + "   ```\n"
    ),
    "JSON with comments": lambda b: "// what I send\n" + pretty(b).replace("\n", " // why\n", 1) + "\n/* end */",
    "trailing commas": lambda b: pretty(b).replace("\n}", ",\n}"),
    "single quotes": lambda b: "payload = " + repr(b),
    "log line": lambda b: f"2026-01-01 00:00:00,123 DEBUG my.client - sending: {plain(b)}\n",
    "docker log": lambda b: "".join(f"app-1  | {x}\n" for x in pretty(b).split("\n")),
    "Kubernetes log": lambda b: "".join(
        f"2026-01-01T00:00:00.123456789Z stdout F {x}\n" for x in pretty(b).split("\n")
    ),
    "numbered lines": lambda b: "".join(f"{n:4} | {x}\n" for n, x in enumerate(pretty(b).split("\n"), 1)),
    "quoted mail": lambda b: "".join(f"> {x}\n" for x in pretty(b).split("\n")),
    "log record": lambda b: json.dumps({"log": plain(b) + "\n", "stream": "stdout", "time": "t"}) + "\n",
    "colours": lambda b: "\x1b[32m" + plain(b) + "\x1b[0m",
    "base64": lambda b: base64.b64encode(plain(b).encode()).decode(),
    "JavaScript": lambda b: f"const payload = {pretty(b)};\n",
}
"""Ways to paste any body."""

ANSWERS: Mapping[str, Callable[[Body], str]] = {
    "HTTP": lambda b: f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{plain(b)}",
    "HTTP in chunks": lambda b: (
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{len(plain(b).encode()):x}\r\n{plain(b)}\r\n0\r\n\r\n"
    ),
    "curl -v": lambda b: (
        "*   Trying 1.2.3.4:443...\n* Connected to h\n> POST /v1/x HTTP/2\n> Host: h\n> Accept: */*\n>\n* upload done\n"
        "< HTTP/2 200\n< content-type: application/json\n<\n{ [5 bytes data]\n"
        f"{pretty(b)}\n* Connection #0 left intact\n"
    ),
    "SDK object": lambda b: _made("ChatCompletion", b),
}
"""Ways to paste an answer."""


def _made(name: str, value: Any) -> str:
    """As SDKs print their objects."""
    if isinstance(value, dict) and value and all(k.isidentifier() for k in value):
        return f"{name}({', '.join(f'{k}={_made(PART, v)}' for k, v in value.items())})"
    if isinstance(value, list):
        return f"[{', '.join(_made('Item', v) for v in value)}]"
    return repr(value)


PART = "Part"
