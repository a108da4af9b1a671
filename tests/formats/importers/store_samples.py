"""Samples of what stores of agent traffic hold, written for these tests after published descriptions.

Every sample holds the same fault, a tool call without its result in the history of the request, unless its name says
otherwise. ``SAMPLES`` names for each the store, the source of its shape, and what must be read of it.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import struct
from typing import Any, NamedTuple

CALL = {"id": "call_7", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'}}
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "What is in a.txt?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "user", "content": "Well?"},
]
CHAT = {"model": "gpt-4.1", "messages": MESSAGES, "tools": [TOOL], "temperature": 0.2}
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1790000000,
    "model": "gpt-4.1-2025-04-14",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "I do not know."}, "finish_reason": "stop"},
    ],
    "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55},
}
REFUSED = {
    "error": {
        "message": "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: call_7",
        "type": "invalid_request_error",
        "param": "messages",
        "code": None,
    }
}
CLAUDE_TOOL = {"name": "read_file", "description": "Read a file", "input_schema": TOOL["function"]["parameters"]}  # type: ignore[index]
CLAUDE = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 200,
    "tools": [CLAUDE_TOOL],
    "messages": [
        {"role": "user", "content": "What is in a.txt?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_7", "name": "read_file", "input": {"path": "a.txt"}}],
        },
        {"role": "user", "content": "Well?"},
    ],
}
CLAUDE_ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-4-5",
    "content": [{"type": "text", "text": "I do not know."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 50, "output_tokens": 5},
}
CLAUDE_REFUSED = {
    "type": "error",
    "error": {
        "type": "invalid_request_error",
        "message": "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_7. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    },
    "request_id": "req_1",
}
BEDROCK = {key: value for key, value in CLAUDE.items() if key != "model"} | {"anthropic_version": "bedrock-2023-05-31"}
CONVERSE = {
    "messages": [
        {"role": "user", "content": [{"text": "What is in a.txt?"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "tooluse_7", "name": "read_file", "input": {"path": "a.txt"}}}],
        },
        {"role": "user", "content": [{"text": "Well?"}]},
    ],
    "toolConfig": {
        "tools": [
            {
                "toolSpec": {
                    "name": "read_file",
                    "description": "Read a file",
                    "inputSchema": {"json": TOOL["function"]["parameters"]},  # type: ignore[index]
                }
            }
        ]
    },
    "inferenceConfig": {"maxTokens": 200},
}
CONVERSE_ANSWER = {
    "output": {"message": {"role": "assistant", "content": [{"text": "I do not know."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 50, "outputTokens": 5, "totalTokens": 55},
    "metrics": {"latencyMs": 900},
}


class Sample(NamedTuple):
    """One sample.

    Attributes:
        importer: title of the importer that reads it.
        source: where its shape is published.
        data: the file.
        exchanges: how many exchanges it holds.
        fidelity: of each of them.
        rules: rules that must be found in it.
        damage: words of what could not be read.
    """

    importer: str
    source: str
    data: bytes
    exchanges: int = 1
    fidelity: str = "rebuilt"
    rules: frozenset[str] = frozenset({"closure.missing-result"})
    damage: str = ""


def one(value: Any) -> bytes:
    return json.dumps(value, indent=None).encode()


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def text(value: Any) -> str:
    return json.dumps(value)


LITELLM = {
    "id": "chatcmpl-1",
    "trace_id": "6f9e0c1e-0000-4000-8000-000000000001",
    "call_type": "acompletion",
    "cache_hit": None,
    "stream": False,
    "status": "success",
    "custom_llm_provider": "openai",
    "saved_cache_cost": 0.0,
    "startTime": 1790000000.1,
    "endTime": 1790000001.4,
    "completionStartTime": 1790000001.4,
    "response_time": 1.3,
    "model": "gpt-4.1",
    "metadata": {"user_api_key_hash": "88dc28", "user_api_key_alias": None, "requester_metadata": {}},
    "cache_key": None,
    "response_cost": 0.0002,
    "total_tokens": 55,
    "prompt_tokens": 50,
    "completion_tokens": 5,
    "request_tags": [],
    "end_user": "",
    "api_base": "https://api.openai.com/v1/",
    "model_group": "gpt-4.1",
    "model_id": "e0f7",
    "requester_ip_address": "127.0.0.1",
    "messages": MESSAGES,
    "response": ANSWER,
    "model_parameters": {"temperature": 0.2, "tools": [TOOL]},
    "hidden_params": {"model_id": "e0f7", "cache_key": None, "api_base": "https://api.openai.com/v1/"},
    "model_map_information": {"model_map_key": "gpt-4.1", "model_map_value": {"max_tokens": 32768}},
    "error_str": None,
    "error_information": {"error_code": "", "error_class": "", "llm_provider": ""},
    "response_cost_failure_debug_info": None,
    "guardrail_information": None,
}
LITELLM_FAILED = LITELLM | {
    "id": "chatcmpl-2",
    "status": "failure",
    "response": None,
    "error_str": "litellm.BadRequestError: OpenAIException - " + REFUSED["error"]["message"],  # type: ignore[operator]
    "error_information": {
        "error_code": "400",
        "error_class": "BadRequestError",
        "llm_provider": "openai",
        "error_message": "litellm.BadRequestError: OpenAIException - " + REFUSED["error"]["message"],  # type: ignore[operator]
        "traceback": "",
    },
}
CUT_ARGUMENTS = (
    '{"path": "a.txt", "content": "aaaa... (litellm_truncated skipped 2,900 chars. Increase MAX_STRING_LENGTH_PROMPT_'
    "IN_DB env var to store more) ...bbbb"
)
CUT_MESSAGES = [
    MESSAGES[0],
    MESSAGES[1] | {"tool_calls": [CALL | {"function": {"name": "read_file", "arguments": CUT_ARGUMENTS}}]},
    {"role": "tool", "tool_call_id": "call_7", "content": "written"},
]
SPEND_ROW = {
    "request_id": "chatcmpl-1",
    "call_type": "acompletion",
    "api_key": "88dc28",
    "spend": 0.0002,
    "total_tokens": 55,
    "prompt_tokens": 50,
    "completion_tokens": 5,
    "startTime": "2026-09-21T14:13:20.100Z",
    "endTime": "2026-09-21T14:13:21.400Z",
    "completionStartTime": "2026-09-21T14:13:21.400Z",
    "model": "gpt-4.1",
    "model_id": "e0f7",
    "model_group": "gpt-4.1",
    "custom_llm_provider": "openai",
    "api_base": "https://api.openai.com/v1/",
    "user": "",
    "metadata": {"status": "success", "user_api_key_alias": None},
    "cache_hit": "False",
    "cache_key": "",
    "request_tags": [],
    "team_id": None,
    "end_user": "",
    "session_id": "s-1",
    "status": "success",
    "messages": {},
    "response": ANSWER,
    "proxy_server_request": CHAT,
}
LANGFUSE = {
    "id": "obs-1",
    "trace_id": "trace-1",
    "project_id": "p-1",
    "environment": "default",
    "type": "GENERATION",
    "parent_observation_id": None,
    "start_time": "2026-09-21 14:13:20.100000",
    "end_time": "2026-09-21 14:13:21.400000",
    "name": "chat",
    "level": "DEFAULT",
    "status_message": None,
    "version": None,
    "user_id": "u-1",
    "session_id": "s-1",
    "provided_model_name": "gpt-4.1",
    "internal_model_id": None,
    "model_parameters": text({"temperature": 0.2}),
    "usage_details": {"input": 50, "output": 5, "total": 55},
    "cost_details": {"total": 0.0002},
    "input": text({"messages": MESSAGES, "tools": [TOOL]}),
    "output": text({"role": "assistant", "content": "I do not know."}),
    "tool_definitions": {},
    "tool_calls": [],
    "trace_name": "agent",
}
LANGFUSE_SPAN = LANGFUSE | {"id": "obs-2", "type": "SPAN", "input": text({"q": 1}), "output": text({"a": 2})}
LANGFUSE_OLD = {
    "id": "obs-1",
    "trace_id": "trace-1",
    "project_id": "p-1",
    "environment": "default",
    "type": "GENERATION",
    "parent_observation_id": "",
    "start_time": "2026-09-21 14:13:20.100000",
    "end_time": "2026-09-21 14:13:21.400000",
    "name": "litellm-acompletion",
    "metadata": {},
    "level": "DEFAULT",
    "status_message": "",
    "provided_model_name": "claude-sonnet-4-5",
    "model_parameters": '{"max_tokens":200}',
    "input": text(CLAUDE["messages"]),
    "output": text(CLAUDE_ANSWER),
    "usage_details": {"input": "50", "output": "5"},
    "prompt_name": "",
}
LANGSMITH = {
    "id": "0190f000-0000-7000-8000-000000000001",
    "tenant_id": "t-1",
    "session_id": "project-1",
    "trace_id": "0190f000-0000-7000-8000-000000000000",
    "dotted_order": "20260921T141320100000Z0190f000",
    "name": "ChatOpenAI",
    "run_type": "llm",
    "start_time": "2026-09-21T14:13:20.100000",
    "end_time": "2026-09-21T14:13:21.400000",
    "status": "success",
    "error": None,
    "is_root": False,
    "parent_run_id": "0190f000-0000-7000-8000-000000000000",
    "extra": text(
        {
            "invocation_params": {"model": "gpt-4.1", "temperature": 0.2, "tools": [TOOL], "_type": "openai-chat"},
            "metadata": {"ls_provider": "openai", "ls_model_name": "gpt-4.1", "ls_model_type": "chat"},
            "runtime": {"sdk": "langsmith-py"},
        }
    ),
    "inputs": text(
        {
            "messages": [
                [
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "HumanMessage"],
                        "kwargs": {"content": "What is in a.txt?", "type": "human"},
                    },
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "AIMessage"],
                        "kwargs": {
                            "content": "",
                            "type": "ai",
                            "tool_calls": [
                                {"name": "read_file", "args": {"path": "a.txt"}, "id": "call_7", "type": "tool_call"}
                            ],
                        },
                    },
                    {
                        "lc": 1,
                        "type": "constructor",
                        "id": ["langchain", "schema", "messages", "HumanMessage"],
                        "kwargs": {"content": "Well?", "type": "human"},
                    },
                ]
            ]
        }
    ),
    "outputs": text(
        {
            "generations": [
                [
                    {
                        "text": "I do not know.",
                        "generation_info": {"finish_reason": "stop"},
                        "type": "ChatGeneration",
                        "message": {
                            "lc": 1,
                            "type": "constructor",
                            "id": ["langchain", "schema", "messages", "AIMessage"],
                            "kwargs": {"content": "I do not know.", "type": "ai"},
                        },
                    }
                ]
            ],
            "llm_output": {"token_usage": {"prompt_tokens": 50, "completion_tokens": 5}, "model_name": "gpt-4.1"},
        }
    ),
    "total_tokens": 55,
    "prompt_tokens": 50,
    "completion_tokens": 5,
    "tags": [],
}
LANGSMITH_WRAPPED = LANGSMITH | {
    "name": "openai.chat.completions.create",
    "extra": {"metadata": {"ls_model_name": "gpt-4.1", "ls_provider": "openai"}},
    "inputs": CHAT,
    "outputs": ANSWER,
}
LANGSMITH_CHAIN = LANGSMITH | {
    "id": "0190f000-0000-7000-8000-000000000002",
    "run_type": "chain",
    "inputs": text({"x": 1}),
}
PHOENIX_ATTRIBUTES: dict[str, Any] = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt-4.1",
    "llm.provider": "openai",
    "llm.invocation_parameters": text({"temperature": 0.2}),
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "What is in a.txt?",
    "llm.input_messages.1.message.role": "assistant",
    "llm.input_messages.1.message.tool_calls.0.tool_call.id": "call_7",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "read_file",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments": '{"path": "a.txt"}',
    "llm.input_messages.2.message.role": "user",
    "llm.input_messages.2.message.content": "Well?",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "I do not know.",
    "llm.tools.0.tool.json_schema": text(TOOL),
    "llm.token_count.prompt": 50,
    "llm.token_count.completion": 5,
}
PHOENIX = {
    "id": "U3Bhbjox",
    "name": "ChatCompletion",
    "context": {"trace_id": "1234567890abcdef1234567890abcdef", "span_id": "1234567890abcdef"},
    "span_kind": "LLM",
    "parent_id": None,
    "start_time": "2026-09-21T14:13:20.100000+00:00",
    "end_time": "2026-09-21T14:13:21.400000+00:00",
    "status_code": "OK",
    "status_message": "",
    "attributes": PHOENIX_ATTRIBUTES,
    "events": [],
}
PHOENIX_FRAME = {
    "name": "ChatCompletion",
    "span_kind": "LLM",
    "parent_id": None,
    "start_time": 1790000000100,
    "end_time": 1790000001400,
    "status_code": "OK",
    "status_message": "",
    "events": [],
    "context.span_id": "1234567890abcdef",
    "context.trace_id": "1234567890abcdef1234567890abcdef",
    "attributes.llm.input_messages": [
        {"message.role": "user", "message.content": "What is in a.txt?"},
        {
            "message.role": "assistant",
            "message.tool_calls": [
                {
                    "tool_call.id": "call_7",
                    "tool_call.function.name": "read_file",
                    "tool_call.function.arguments": '{"path": "a.txt"}',
                }
            ],
        },
        {"message.role": "user", "message.content": "Well?"},
    ],
    "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": "I do not know."}],
    "attributes.llm.model_name": "gpt-4.1",
    "attributes.llm.invocation_parameters": text({"temperature": 0.2}),
    "attributes.llm.token_count.prompt": 50,
    "attributes.openinference.span.kind": "LLM",
}
HELICONE = {
    "response_id": "r-1",
    "response_created_at": "2026-09-21T14:13:21.400Z",
    "response_body": ANSWER,
    "response_status": 200,
    "request_id": "q-1",
    "request_created_at": "2026-09-21T14:13:20.100Z",
    "request_body": CHAT,
    "country_code": "DE",
    "request_path": "https://api.openai.com/v1/chat/completions",
    "request_user_id": "u-1",
    "request_properties": {"Helicone-Session-Id": "s-1"},
    "request_model": "gpt-4.1",
    "model_override": None,
    "response_model": "gpt-4.1",
    "helicone_user": "h-1",
    "provider": "OPENAI",
    "delay_ms": 1300,
    "time_to_first_token": None,
    "total_tokens": 55,
    "prompt_tokens": 50,
    "completion_tokens": 5,
    "signed_body_url": "https://example.invalid/q-1",
    "llmSchema": None,
    "cost": 0.0002,
}
HELICONE_NO_BODY = {k: v for k, v in HELICONE.items() if k not in ("request_body", "response_body")} | {
    "request_id": "q-2"
}
HELICONE_SIGNED = HELICONE_NO_BODY | {
    "request_id": "q-3",
    "signed_body_content": {"request": CLAUDE, "response": CLAUDE_ANSWER},
    "request_path": "/v1/messages",
    "provider": "ANTHROPIC",
}
BEDROCK_LOG = {
    "schemaType": "ModelInvocationLog",
    "schemaVersion": "1.0",
    "timestamp": "2026-09-21T14:13:20Z",
    "accountId": "123456789012",
    "identity": {"arn": "arn:aws:sts::123456789012:assumed-role/agent/s"},
    "region": "us-east-1",
    "requestId": "00000000-0000-4000-8000-000000000001",
    "operation": "Converse",
    "modelId": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "input": {"inputContentType": "application/json", "inputBodyJson": CONVERSE, "inputTokenCount": 50},
    "output": {
        "outputContentType": "application/json",
        "outputBodyJson": CONVERSE_ANSWER,
        "outputTokenCount": 5,
    },
}
BEDROCK_STREAM = BEDROCK_LOG | {
    "requestId": "00000000-0000-4000-8000-000000000002",
    "operation": "InvokeModelWithResponseStream",
    "input": {"inputContentType": "application/json", "inputBodyJson": BEDROCK, "inputTokenCount": 50},
    "output": {
        "outputContentType": "application/json",
        "outputBodyJson": [
            {"type": "message_start", "message": CLAUDE_ANSWER | {"content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I do not know."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ],
        "outputTokenCount": 5,
    },
}
BEDROCK_FAILED = BEDROCK_LOG | {
    "requestId": "00000000-0000-4000-8000-000000000003",
    "errorCode": "ValidationException",
    "output": {"outputContentType": "application/json"},
}
BEDROCK_ELSEWHERE = BEDROCK_LOG | {
    "requestId": "00000000-0000-4000-8000-000000000004",
    "input": {
        "inputContentType": "application/json",
        "inputBodyS3Path": "s3://bucket/AWSLogs/123456789012/BedrockModelInvocationLogs/us-east-1/2026/09/21/14/data/"
        "00000000-0000-4000-8000-000000000004_input.json.gz",
        "inputTokenCount": 90000,
    },
}
APIM_ROW = {
    "TenantId": "00000000-0000-0000-0000-000000000000",
    "TimeGenerated": "2026-09-21T14:13:20.1234567Z",
    "OperationName": "Microsoft.ApiManagement/GatewayLlmLogs",
    "Region": "Germany West Central",
    "CorrelationId": "c-1",
    "RequestId": "chatcmpl-1",
    "DeploymentName": "",
    "ModelName": "",
    "ApiVersion": "",
    "IsStreamCompletion": False,
    "SourceSystem": "Azure",
    "Type": "ApiManagementGatewayLlmLog",
}
APIM_TEXT = text(MESSAGES)
APIM = [
    APIM_ROW
    | {
        "SequenceNumber": 0,
        "DeploymentName": "gpt-4-1",
        "ModelName": "gpt-4.1",
        "ApiVersion": "2025-01-01-preview",
        "PromptTokens": 50,
        "CompletionTokens": 5,
        "TotalTokens": 55,
    },
    APIM_ROW | {"SequenceNumber": 1, "RequestMessages": APIM_TEXT[:60], "ResponseMessages": ""},
    APIM_ROW | {"SequenceNumber": 2, "RequestMessages": APIM_TEXT[60:], "ResponseMessages": ""},
    APIM_ROW
    | {
        "SequenceNumber": 3,
        "RequestMessages": "",
        "ResponseMessages": text([{"role": "assistant", "content": "I do not know."}]),
    },
]
APIM_EVENT = {
    "time": "2026-09-21T14:13:20.1234567Z",
    "resourceId": "/SUBSCRIPTIONS/0/RESOURCEGROUPS/G/PROVIDERS/MICROSOFT.APIMANAGEMENT/SERVICE/S",
    "operationName": "Microsoft.ApiManagement/GatewayLlmLogs",
    "category": "GatewayLlmLogs",
    "correlationId": "c-2",
    "properties": {
        "deploymentName": "gpt-4-1",
        "modelName": "gpt-4.1",
        "sequenceNumber": 0,
        "requestId": "chatcmpl-1",
        "requestMessages": MESSAGES,
        "responseMessages": [{"role": "assistant", "content": "I do not know."}],
        "promptTokens": 50,
    },
}
CLOUDFLARE = {
    "Cached": False,
    "Endpoint": "v1/chat/completions",
    "Gateway": "agents",
    "Metadata": {"team": "AI"},
    "Model": "gpt-4.1",
    "Provider": "openai",
    "RateLimited": False,
    "RequestBody": text(CHAT),
    "ResponseBody": text(ANSWER),
    "StatusCode": 200,
}
SEALED = {"type": "encrypted", "iv": "AAAAAAAAAAAAAAAA", "key": "BBBB", "data": "CCCC"}
CLOUDFLARE_SEALED = CLOUDFLARE | {"RequestBody": SEALED, "ResponseBody": SEALED, "Metadata": SEALED}
CLOUDFLARE_EMPTY = {k: v for k, v in CLOUDFLARE.items() if k not in ("RequestBody", "ResponseBody")}
BATCH_REQUEST = {"custom_id": "t-1", "method": "POST", "url": "/v1/chat/completions", "body": CHAT}
BATCH_RESULT = {
    "id": "batch_req_1",
    "custom_id": "t-1",
    "response": {"status_code": 200, "request_id": "req_1", "body": ANSWER},
    "error": None,
}
BATCH_REFUSED = {
    "id": "batch_req_1",
    "custom_id": "t-1",
    "response": {"status_code": 400, "request_id": "req_1", "body": REFUSED},
    "error": None,
}
BATCH_EXPIRED = {
    "id": "batch_req_2",
    "custom_id": "t-2",
    "response": None,
    "error": {
        "code": "batch_expired",
        "message": "This request could not be executed before the completion window expired.",
    },
}
CLAUDE_BATCH = {"requests": [{"custom_id": "t-1", "params": CLAUDE}]}
CLAUDE_RESULT = {"custom_id": "t-1", "result": {"type": "succeeded", "message": CLAUDE_ANSWER}}
CLAUDE_ERRORED = {"custom_id": "t-2", "result": {"type": "errored", "error": CLAUDE_REFUSED}}
CLAUDE_EXPIRED = {"custom_id": "t-3", "result": {"type": "expired"}}


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}}


def otlp(attributes: dict[str, Any], scope: str = "agent") -> dict[str, Any]:
    span = {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": "eee19b7ec3c1b174",
        "name": "chat gpt-4.1",
        "kind": 3,
        "startTimeUnixNano": "1790000000100000000",
        "endTimeUnixNano": "1790000001400000000",
        "attributes": [attribute(key, value) for key, value in attributes.items()],
        "status": {},
    }
    resource = {"attributes": [attribute("service.name", scope)]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": scope}, "spans": [span]}]}]}


def field(number: int, value: bytes | int | str, *, fixed: bool = False) -> bytes:
    """One field of a protobuf message."""
    if isinstance(value, int) and fixed:
        return varint(number << 3 | 1) + struct.pack("<Q", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def varint(value: int) -> bytes:
    made = b""
    while value >= 0x80:
        made += bytes([value & 0x7F | 0x80])
        value >>= 7
    return made + bytes([value])


def pair(key: str, value: str | int) -> bytes:
    return field(1, key) + field(2, field(1 if isinstance(value, str) else 3, value))


def otlp_protobuf(attributes: dict[str, Any]) -> bytes:
    """A message of spans as the collector writes it."""
    span = field(1, bytes.fromhex("5b8efff798038103d269b633813fc60c")) + field(2, bytes.fromhex("eee19b7ec3c1b174"))
    span += field(5, "chat gpt-4.1") + field(6, 3)
    span += field(7, 1790000000100000000, fixed=True) + field(8, 1790000001400000000, fixed=True)
    span += b"".join(field(9, pair(key, value)) for key, value in attributes.items()) + field(15, b"")
    resource = field(1, field(1, pair("service.name", "agent")))
    return field(1, resource + field(2, field(1, field(1, "agent")) + field(2, span)))


def table(*rows: dict[str, Any]) -> bytes:
    """Rows as CSV, with JSON text in columns that hold more than a text or a number."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    columns = list(rows[0])
    writer.writerow(columns)
    for row in rows:
        writer.writerow([v if isinstance(v := row[c], str | int | float) or v is None else text(v) for c in columns])
    return stream.getvalue().encode()


def parts(kind: str, **members: Any) -> dict[str, Any]:
    return {"type": kind, **members}


GENAI = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-4.1",
    "gen_ai.response.model": "gpt-4.1-2025-04-14",
    "gen_ai.input.messages": text(
        [
            {"role": "user", "parts": [parts("text", content="What is in a.txt?")]},
            {
                "role": "assistant",
                "parts": [parts("tool_call", id="call_7", name="read_file", arguments={"path": "a.txt"})],
            },
            {"role": "user", "parts": [parts("text", content="Well?")]},
        ]
    ),
    "gen_ai.output.messages": text(
        [{"role": "assistant", "parts": [parts("text", content="I do not know.")], "finish_reason": "stop"}]
    ),
    "gen_ai.usage.input_tokens": 50,
    "gen_ai.usage.output_tokens": 5,
}
OPENROUTER = {
    "trace.name": "OpenRouter Request",
    "span.type": "generation",
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "openai",
    "gen_ai.request.model": "openai/gpt-4.1",
    "gen_ai.response.model": "openai/gpt-4.1",
    "gen_ai.prompt": text({"messages": MESSAGES}),
    "gen_ai.completion": text({"completion": "I do not know.", "reasoning": ""}),
    "gen_ai.response.finish_reason": "stop",
    "gen_ai.usage.input_tokens": 50,
    "gen_ai.usage.output_tokens": 5,
}
VLLM_OLD = (
    b"INFO 09-21 14:13:19 [__init__.py:241] Automatically detected platform cuda.\n"
    b"INFO 09-21 14:13:20 [logger.py:41] Received request chatcmpl-7d2f: prompt: '<|im_start|>user\\nWhat is in a.txt?"
    b"<|im_end|>\\n<|im_start|>assistant\\n', params: SamplingParams(n=1, presence_penalty=0.0, temperature=0.7, "
    b"max_tokens=200), prompt_token_ids: None, prompt_embeds shape: None, lora_request: None.\n"
    b'INFO:     127.0.0.1:51234 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
)
VLLM_OUTPUT = (
    b"(APIServer pid=1) INFO 09-21 14:13:20 [logger.py:57] Received request chatcmpl-7d2f: params: SamplingParams(n=1)"
    b", lora_request: None.\n"
    b"(APIServer pid=1) INFO 09-21 14:13:21 [logger.py:80] Generated response chatcmpl-7d2f: output: '<tool_call>\\n"
    b'{"name": "read_file", "arguments": {"path": "it\\\'s.txt"}}\\n</tool_call>\', output_token_ids: None, '
    b"finish_reason: stop\n"
)
VLLM_NEW = (
    b"(APIServer pid=1) INFO 09-21 14:13:20 [logger.py:57] Received request chatcmpl-7d2f: params: SamplingParams(n=1, "
    b"temperature=0.7), lora_request: None.\n"
    b"(APIServer pid=1) DEBUG 09-21 14:13:20 [logger.py:45] Request chatcmpl-7d2f details: prompt: 'x', "
    b"prompt_token_ids: None, prompt_embeds shape: None.\n"
)
OTEL_ROW = {
    "Timestamp": "2026-09-21 14:13:20.100000000",
    "TraceId": "5b8efff798038103d269b633813fc60c",
    "SpanId": "eee19b7ec3c1b174",
    "ParentSpanId": "",
    "SpanName": "chat gpt-4.1",
    "SpanKind": "Client",
    "ServiceName": "agent",
    "ResourceAttributes": {"service.name": "agent"},
    "SpanAttributes": {key: str(value) for key, value in GENAI.items()},
    "Duration": 1300000000,
    "StatusCode": "Unset",
    "StatusMessage": "",
    "Events.Name": [],
    "Events.Attributes": [],
}


def _apim_rows() -> list[dict[str, Any]]:
    columns = dict.fromkeys(name for row in APIM for name in row)
    return [{name: row.get(name) for name in columns} for row in APIM]


NOTHING: frozenset[str] = frozenset()
SPEC = "docs.litellm.ai/docs/proxy/logging_spec"
FIELDS = "langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields"
BEDROCK_DOCS = "docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html"
APIM_DOCS = "learn.microsoft.com/azure/azure-monitor/reference/tables/apimanagementgatewayllmlog"

SAMPLES: dict[str, Sample] = {
    "litellm-s3.json": Sample("LiteLLM log", SPEC, one(LITELLM)),
    "litellm-s3.json.gz": Sample("LiteLLM log", SPEC, gzip.compress(one(LITELLM), mtime=0)),
    "litellm-failure.json": Sample(
        "LiteLLM log", SPEC, one(LITELLM_FAILED), rules=frozenset({"closure.missing-result"})
    ),
    "litellm-list.json": Sample(
        "LiteLLM log",
        "docs.litellm.ai/docs/observability/generic_api (batches of payloads)",
        one([LITELLM, LITELLM_FAILED]),
        2,
    ),
    "litellm-lines.jsonl": Sample("LiteLLM log", SPEC, lines(LITELLM, LITELLM | {"id": "chatcmpl-3"}), 2),
    "litellm-off.json": Sample(
        "LiteLLM log",
        "docs.litellm.ai/docs/proxy/logging (turn_off_message_logging)",
        one(
            LITELLM
            | {
                "messages": [{"role": "user", "content": "redacted-by-litellm"}],
                "response": {"text": "redacted-by-litellm"},
            }
        ),
        1,
        "sampled",
        NOTHING,
        "redacted",
    ),
    "litellm-spend.json": Sample("LiteLLM spend log", "litellm schema.prisma, LiteLLM_SpendLogs", one([SPEND_ROW])),
    "litellm-spend-cut.jsonl": Sample(
        "LiteLLM spend log",
        "BerriAI/litellm#14637",
        lines(SPEND_ROW | {"messages": CUT_MESSAGES, "proxy_server_request": {}}),
        1,
        "cut",
        NOTHING,
        "truncated",
    ),
    "litellm-spend-empty.json": Sample(
        "LiteLLM spend log",
        "BerriAI/litellm#34747",
        one([SPEND_ROW | {"messages": {}, "proxy_server_request": {}, "response": {}}]),
        1,
        "sampled",
        NOTHING,
        "LiteLLM did not log them",
    ),
    "langfuse-v2.jsonl": Sample("Langfuse export", FIELDS, lines(LANGFUSE, LANGFUSE_SPAN)),
    "langfuse-v2.jsonl.gz": Sample("Langfuse export", FIELDS, gzip.compress(lines(LANGFUSE), mtime=0)),
    "langfuse-old.json": Sample("Langfuse export", FIELDS + " (observations/)", one([LANGFUSE_OLD])),
    "langfuse-api.json": Sample(
        "Langfuse export",
        "api.reference.langfuse.com, GET /api/public/observations",
        one(
            {
                "data": [
                    {
                        "id": "obs-1",
                        "traceId": "trace-1",
                        "type": "GENERATION",
                        "startTime": "2026-09-21T14:13:20.100Z",
                        "endTime": "2026-09-21T14:13:21.400Z",
                        "name": "chat",
                        "model": "gpt-4.1",
                        "modelParameters": {"temperature": 0.2},
                        "input": MESSAGES,
                        "output": {"role": "assistant", "content": "I do not know."},
                        "usageDetails": {"input": 50, "output": 5},
                        "level": "DEFAULT",
                        "parentObservationId": None,
                        "promptId": None,
                    }
                ],
                "meta": {"page": 1, "limit": 50},
            }
        ),
    ),
    "langsmith-rows.jsonl": Sample(
        "LangSmith export", "docs.langchain.com/langsmith/run-data-format", lines(LANGSMITH, LANGSMITH_CHAIN)
    ),
    "langsmith-wrapped.json": Sample(
        "LangSmith export", "docs.langchain.com/langsmith/log-llm-trace", one([LANGSMITH_WRAPPED])
    ),
    "phoenix-spans.json": Sample(
        "Phoenix spans",
        "arize.com/docs/phoenix, GET /v1/projects/{id}/spans",
        one({"data": [PHOENIX], "next_cursor": None}),
    ),
    "phoenix-frame.jsonl": Sample(
        "Phoenix spans", "arize.com/docs/phoenix/how-to/extract-data-from-spans (dataframe)", lines(PHOENIX_FRAME)
    ),
    "helicone.jsonl": Sample(
        "Helicone export",
        "docs.helicone.ai/tools/export; Helicone/helicone export tool",
        lines(HELICONE, HELICONE_SIGNED, HELICONE_NO_BODY),
        3,
        "re-serialised",
        damage="no body",
    ),
    "helicone-api.json": Sample(
        "Helicone export",
        "docs.helicone.ai, POST /v1/request/query-clickhouse",
        one({"data": [HELICONE], "error": None}),
        fidelity="re-serialised",
    ),
    "bedrock.json.gz": Sample(
        "Bedrock invocation log",
        BEDROCK_DOCS,
        gzip.compress(lines(BEDROCK_LOG, BEDROCK_STREAM, BEDROCK_FAILED), mtime=0),
        3,
        "re-serialised",
    ),
    "bedrock-elsewhere.jsonl": Sample(
        "Bedrock invocation log",
        BEDROCK_DOCS + " (bodies above 100 kB)",
        lines(BEDROCK_ELSEWHERE),
        1,
        "re-serialised",
        NOTHING,
        "in another S3 object",
    ),
    "apim-rows.jsonl": Sample("Azure API Management log", APIM_DOCS, lines(*APIM)),
    "apim-rows-shuffled.json": Sample("Azure API Management log", APIM_DOCS, one(APIM[::-1])),
    "apim-part.json": Sample(
        "Azure API Management log", APIM_DOCS, one([APIM[0], *APIM[2:]]), 1, "cut", NOTHING, "SequenceNumber 1"
    ),
    "apim-event.json": Sample(
        "Azure API Management log",
        "learn.microsoft.com/azure/api-management/api-management-howto-llm-logs (storage account)",
        one({"records": [APIM_EVENT]}),
    ),
    "cloudflare.json": Sample(
        "Cloudflare AI Gateway log",
        "developers.cloudflare.com/ai-gateway/observability/logging/logpush",
        lines(CLOUDFLARE, CLOUDFLARE | {"Model": "gpt-4.1-mini"}),
        2,
        "exact bytes",
    ),
    "cloudflare-sealed.log.gz": Sample(
        "Cloudflare AI Gateway log",
        "developers.cloudflare.com/ai-gateway/observability/logging/logpush (encrypted)",
        gzip.compress(lines(CLOUDFLARE_SEALED, CLOUDFLARE_EMPTY), mtime=0),
        2,
        "sampled",
        NOTHING,
        "encrypted",
    ),
    "openai-batch.jsonl": Sample(
        "batch file", "platform.openai.com/docs/guides/batch", lines(BATCH_REQUEST), fidelity="re-serialised"
    ),
    "openai-batch-output.jsonl": Sample(
        "batch file",
        "platform.openai.com/docs/guides/batch",
        lines(BATCH_RESULT, BATCH_EXPIRED),
        2,
        "re-serialised",
        NOTHING,
    ),
    "openai-batch-refused.jsonl": Sample(
        "batch file",
        "platform.openai.com/docs/guides/batch",
        lines(BATCH_REQUEST, BATCH_REFUSED),
        fidelity="re-serialised",
    ),
    "claude-batch.json": Sample(
        "batch file", "docs.claude.com/en/api/creating-message-batches", one(CLAUDE_BATCH), fidelity="re-serialised"
    ),
    "claude-batch-results.jsonl": Sample(
        "batch file",
        "docs.claude.com/en/api/retrieving-message-batch-results",
        lines(CLAUDE_RESULT, CLAUDE_ERRORED, CLAUDE_EXPIRED),
        3,
        "re-serialised",
        frozenset({"answer.error"}),
    ),
    "otlp.json": Sample("OpenTelemetry spans", "opentelemetry.io/docs/specs/semconv/gen-ai", one(otlp(GENAI))),
    "otlp-lines.json": Sample(
        "OpenTelemetry spans",
        "opentelemetry-collector file exporter (one document a line)",
        lines(otlp(GENAI), otlp(GENAI)),
        2,
    ),
    "langfuse.csv": Sample("Langfuse export", FIELDS + " (notes on CSV)", table(LANGFUSE, LANGFUSE_SPAN)),
    "litellm-spend.csv": Sample("LiteLLM spend log", "psql \\\\copy of LiteLLM_SpendLogs", table(SPEND_ROW)),
    "apim.csv": Sample("Azure API Management log", APIM_DOCS + " (export of a query)", table(*_apim_rows())),
    "otlp.binpb": Sample(
        "OpenTelemetry spans (protobuf)", "opentelemetry-proto; awss3exporter otlp_proto", otlp_protobuf(GENAI)
    ),
    "otlp.binpb.gz": Sample(
        "OpenTelemetry spans (protobuf)",
        "awss3exporter with gzip",
        gzip.compress(otlp_protobuf(PHOENIX_ATTRIBUTES), mtime=0),
    ),
    "otlp-file.binpb": Sample(
        "OpenTelemetry spans (protobuf)",
        "collector file exporter, format proto",
        2 * (struct.pack(">I", len(otlp_protobuf(GENAI))) + otlp_protobuf(GENAI)),
        2,
    ),
    "otel-rows.jsonl": Sample(
        "OpenTelemetry spans (table)", "opentelemetry-collector-contrib clickhouseexporter", lines(OTEL_ROW)
    ),
    "openrouter.json": Sample(
        "OpenTelemetry spans", "openrouter.ai/docs/guides/features/broadcast/s3", one(otlp(OPENROUTER, "openrouter"))
    ),
    "vllm-broken.log": Sample(
        "vLLM server log",
        "vllm entrypoints/logger.py, log_outputs",
        VLLM_OUTPUT.replace(b"}}", b"}"),
        rules=frozenset({"text.malformed-call"}),
    ),
    "vllm-outputs.log": Sample(
        "vLLM server log", "vllm entrypoints/logger.py, log_outputs", VLLM_OUTPUT, rules=NOTHING
    ),
}
"""Name of a file → what is in it."""

REFUSED_SAMPLES = {
    "vllm-old.log": VLLM_OLD,
    "vllm-new.log": VLLM_NEW,
}
"""Files that hold nothing that can be checked, and must say so."""
