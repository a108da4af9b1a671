"""A second sample of each store, in a variant the importers were not made from: other versions, containers, packings.

Written after published descriptions before the importers were tried on them: at first 9 of 25 were read right.
"""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
import struct
from collections.abc import Callable
from typing import Any

import zstandard

from tests.formats.importers.store_samples import (
    ANSWER,
    APIM_EVENT,
    APIM_ROW,
    BATCH_REQUEST,
    BEDROCK,
    BEDROCK_LOG,
    CALL,
    CHAT,
    CLAUDE,
    CLAUDE_ANSWER,
    CONVERSE,
    CONVERSE_ANSWER,
    GENAI,
    HELICONE,
    LANGSMITH,
    LITELLM,
    MESSAGES,
    NOTHING,
    PHOENIX_ATTRIBUTES,
    SPEND_ROW,
    TOOL,
    VLLM_OUTPUT,
    Sample,
    lines,
    one,
    otlp,
    otlp_protobuf,
    text,
)

RESPONSES_INPUT = [
    {"role": "user", "content": "What is in a.txt?"},
    {"type": "function_call", "call_id": "call_7", "name": "read_file", "arguments": '{"path": "a.txt"}'},
    {"role": "user", "content": "Well?"},
]
RESPONSES_ANSWER = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1790000000,
    "status": "completed",
    "model": "gpt-4.1-2025-04-14",
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I do not know.", "annotations": []}],
        }
    ],
    "usage": {"input_tokens": 50, "output_tokens": 5, "total_tokens": 55},
}
RESPONSES = {"model": "gpt-4.1", "input": RESPONSES_INPUT, "tools": [{"type": "function", **TOOL["function"]}]}  # type: ignore[dict-item]
GEMINI = {
    "contents": [
        {"role": "user", "parts": [{"text": "What is in a.txt?"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"path": "a.txt"}}}]},
        {"role": "user", "parts": [{"text": "Well?"}]},
    ],
    "tools": [{"functionDeclarations": [{"name": "read_file", "parameters": TOOL["function"]["parameters"]}]}],  # type: ignore[index]
}
GEMINI_ANSWER = {
    "candidates": [
        {"index": 0, "content": {"role": "model", "parts": [{"text": "I do not know."}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"promptTokenCount": 50, "candidatesTokenCount": 5, "totalTokenCount": 55},
    "modelVersion": "gemini-2.5-flash",
}

OBSERVATION = {
    "id": "obs-1",
    "traceId": "trace-1",
    "type": "GENERATION",
    "name": "chat",
    "startTime": "2026-09-21T14:13:20.100Z",
    "endTime": "2026-09-21T14:13:21.400Z",
    "level": "DEFAULT",
    "statusMessage": None,
    "parentObservationId": None,
    "providedModelName": "gpt-4.1",
    "modelParameters": {"temperature": 0.2},
    "input": text({"messages": MESSAGES, "tools": [TOOL]}),
    "output": text({"role": "assistant", "content": "I do not know."}),
    "usageDetails": {"input": 50, "output": 5},
}


def _snake(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"string_value": value} if isinstance(value, str) else {"int_value": str(value)}}
        for key, value in attributes.items()
    ]


def _prefixed(*messages: bytes) -> bytes:
    """Messages of the collector's file exporter with compression: each packed alone, with its length before it."""
    packed = [zstandard.ZstdCompressor().compress(message) for message in messages]
    return b"".join(struct.pack(">I", len(each)) + each for each in packed)


def quoted_table(*rows: dict[str, Any]) -> bytes:
    """Rows as CSV with all values in quotes, objects as JSON."""
    stream = io.StringIO()
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
    writer.writerow(list(rows[0]))
    for row in rows:
        writer.writerow([v if isinstance(v, str) else "" if v is None else json.dumps(v) for v in row.values()])
    return stream.getvalue().encode()


_LOG_EVENT = {"logStreamName": "aws/bedrock/modelinvocations", "timestamp": 1790000000100, "eventId": "1"}
_TABLE_COLUMNS = [
    "TimeGenerated",
    "CorrelationId",
    "SequenceNumber",
    "ModelName",
    "RequestMessages",
    "ResponseMessages",
]

DATADOG_CALL = {"name": "read_file", "arguments": {"path": "a.txt"}, "tool_id": "call_7", "type": "function"}


def _event(kind: str, **members: Any) -> dict[str, Any]:
    body = {"id": "g1", "traceId": "t1", "name": "chat", **members}
    return {"id": kind, "timestamp": "2026-09-21T14:13:20Z", "type": kind, "body": body}


def _value(value: Any) -> dict[str, Any]:
    """A value as OTLP has it."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _value(inner)} for key, inner in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(inner) for inner in value]}}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def _otlp_logs(*events: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    about = {"timeUnixNano": "1790000000100000000", "traceId": "5b8efff798038103", "spanId": "eee19b7ec3c1b174"}
    records = [{**about, "eventName": name, "body": _value(members)} for name, members in events]
    return {"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {}, "logRecords": records}]}]}


def _base64(value: str) -> str:
    return base64.b64encode(value.encode()).decode()


def _capture(encoding: str, encode: Callable[[str], str]) -> dict[str, Any]:
    def side(mode: str, value: Any) -> dict[str, str]:
        about = {"observedContentType": "application/json", "mode": mode}
        return {**about, "data": encode(text(value)), "encoding": encoding}

    sides = {"endpointInput": side("INPUT", CHAT), "endpointOutput": side("OUTPUT", ANSWER)}
    return {"captureData": sides, "eventMetadata": {"eventId": encoding}, "eventVersion": "0"}


AI_SDK = {
    "ai.operationId": "ai.generateText.doGenerate",
    "gen_ai.system": "openai.chat",
    "gen_ai.request.model": "gpt-4.1",
    "ai.prompt.messages": text(
        [
            {"role": "user", "content": [{"type": "text", "text": "What is in a.txt?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool-call", "toolCallId": "call_7", "toolName": "read_file", "input": {"path": "a.txt"}}
                ],
            },
            {"role": "user", "content": [{"type": "text", "text": "Well?"}]},
        ]
    ),
    "ai.prompt.tools": text([text({"name": "read_file", "inputSchema": TOOL["function"]["parameters"]})]),  # type: ignore[index]
    "ai.response.text": "I do not know.",
}

CLOUDFLARE_CALL: dict[str, Any] = {
    "id": "01K",
    "created_at": "2026-09-21T14:13:20.100Z",
    "provider": "openai",
    "model": "gpt-4.1",
    "model_type": "text",
    "path": "chat/completions",
    "request_type": "json",
    "request_content_type": "application/json",
    "response_content_type": "application/json",
    "status_code": 200,
    "success": True,
    "cached": False,
    "duration": 1300,
    "tokens_in": 50,
    "tokens_out": 5,
}
"""A row of the API of logs, without bodies."""

VARIANTS: dict[str, Sample] = {
    "mlflow-trace.json": Sample(
        "recorded exchanges",
        "mlflow.org/docs/latest/genai/tracing, spans of mlflow.openai.autolog()",
        one(
            {
                "info": {"trace_id": "tr-1", "request_time": "2026-09-21T14:13:20Z", "state": "OK"},
                "data": {
                    "spans": [
                        {
                            "name": "Completions",
                            "parent_span_id": None,
                            "attributes": {
                                "mlflow.spanType": text("CHAT_MODEL"),
                                "mlflow.spanInputs": text(CHAT),
                                "mlflow.spanOutputs": text(ANSWER),
                            },
                        }
                    ]
                },
            }
        ),
        fidelity="re-serialised",
    ),
    "datadog-spans.jsonl": Sample(
        "recorded exchanges",
        "docs.datadoghq.com/llm_observability, spans of kind llm (calls without the object that names the function)",
        lines(
            {
                "name": "openai.request",
                "status": "ok",
                "meta": {
                    "kind": "llm",
                    "model_name": "gpt-4.1",
                    "input": {
                        "messages": [MESSAGES[0], {"role": "assistant", "tool_calls": [DATADOG_CALL]}, MESSAGES[2]]
                    },
                    "output": {"messages": [{"role": "assistant", "content": "I do not know."}]},
                },
            }
        ),
    ),
    "apim-inner-id.json": Sample(
        "Azure API Management log",
        "learn.microsoft.com, diagnostic setting: a correlation id within the properties",
        lines(
            {key: value for key, value in APIM_EVENT.items() if key != "correlationId"}
            | {"properties": APIM_EVENT["properties"] | {"correlationId": "c-9"}}
        ),
    ),
    "litellm-responses.json.zst": Sample(
        "LiteLLM log",
        "LiteLLM 1.80, call_type aresponses (messages are the input items)",
        zstandard.ZstdCompressor().compress(
            one(
                {k: v for k, v in LITELLM.items() if k not in ("model_map_information", "cache_hit")}
                | {
                    "call_type": "aresponses",
                    "status_fields": {"llm_api_status": "success", "guardrail_status": "not_run"},
                    "cost_breakdown": {"total_cost": 0.0002},
                    "messages": RESPONSES_INPUT,
                    "response": RESPONSES_ANSWER,
                    "model_parameters": {"tools": RESPONSES["tools"]},
                }
            )
        ),
    ),
    "litellm-messages.json": Sample(
        "LiteLLM log",
        "a proxy of version 1.80: a call of /v1/messages is stored with a response of Chat Completions",
        one(
            LITELLM
            | {
                "call_type": "anthropic_messages",
                "custom_llm_provider": "anthropic",
                "model": "claude-sonnet-4-5",
                "model_group": "claude",
                "api_base": "https://api.anthropic.com/v1/messages",
                "messages": CLAUDE["messages"],
                "model_parameters": {"max_tokens": 200, "tools": CLAUDE["tools"], "stream": False},
            }
        ),
    ),
    "litellm-spend-page.json": Sample(
        "LiteLLM spend log",
        "docs.litellm.ai, GET /spend/logs/v2 (a page of rows; texts are JSON)",
        one(
            {
                "data": [
                    SPEND_ROW | {"messages": text(MESSAGES), "response": text(ANSWER), "proxy_server_request": "{}"}
                ],
                "total": 1,
                "page": 1,
                "page_size": 50,
                "total_pages": 1,
            }
        ),
    ),
    "langfuse-trace.json": Sample(
        "Langfuse export",
        "langfuse.com/faq/all/export-single-trace-or-session (Download JSON)",
        one(
            {
                "trace": {"id": "trace-1", "name": "agent", "sessionId": "s-1", "input": None, "output": None},
                "observations": [OBSERVATION | {"type": "SPAN", "id": "obs-0"}, OBSERVATION],
                "scores": [],
            }
        ),
    ),
    "langfuse-get-trace.json": Sample(
        "Langfuse export",
        "api.reference.langfuse.com, GET /api/public/traces/{id}",
        one(
            {
                "id": "trace-1",
                "timestamp": "2026-09-21T14:13:20.100Z",
                "name": "agent",
                "sessionId": "s-1",
                "observations": [OBSERVATION],
                "scores": [],
                "htmlPath": "/project/p/traces/trace-1",
            }
        ),
    ),
    "langsmith-query.json": Sample(
        "LangSmith export",
        "docs.langchain.com/langsmith, POST /runs/query (wrap_anthropic)",
        one(
            {
                "runs": [
                    LANGSMITH
                    | {
                        "name": "ChatAnthropic",
                        "extra": {"metadata": {"ls_provider": "anthropic", "ls_model_name": "claude-sonnet-4-5"}},
                        "inputs": CLAUDE,
                        "outputs": {"message": CLAUDE_ANSWER},
                    }
                ],
                "cursors": {"next": None},
                "parsed_query": None,
            }
        ),
    ),
    "phoenix-otlp.json": Sample(
        "Phoenix spans",
        "arize.com/docs/phoenix, GET /v1/projects/{id}/spans/otlpv1",
        one(
            {
                "data": [
                    {
                        "trace_id": "1234567890abcdef1234567890abcdef",
                        "span_id": "1234567890abcdef",
                        "name": "ChatCompletion",
                        "kind": "SPAN_KIND_INTERNAL",
                        "start_time_unix_nano": "1790000000100000000",
                        "end_time_unix_nano": "1790000001400000000",
                        "attributes": _snake(PHOENIX_ATTRIBUTES),
                        "status": {"code": 1},
                    }
                ],
                "next_cursor": None,
            }
        ),
    ),
    "otlp-zstd.json": Sample(
        "OpenTelemetry spans",
        "opentelemetry-collector-contrib fileexporter, format json with compression zstd",
        _prefixed(one(otlp(GENAI)), one(otlp(GENAI))),
        2,
    ),
    "otlp-zstd.pb": Sample(
        "OpenTelemetry spans (protobuf)",
        "opentelemetry-collector-contrib fileexporter, format proto with compression zstd",
        _prefixed(otlp_protobuf(GENAI)),
    ),
    "tempo.json": Sample(
        "OpenTelemetry spans",
        "grafana.com/docs/tempo/latest/api_docs, GET /api/traces/{id} (batches)",
        one({"batches": otlp(GENAI)["resourceSpans"]}),
    ),
    "bedrock-events.json": Sample(
        "Bedrock invocation log",
        "docs.aws.amazon.com, CloudWatch FilterLogEvents",
        one({"events": [_LOG_EVENT | {"message": text(BEDROCK_LOG), "ingestionTime": 1790000002000}]}),
        fidelity="re-serialised",
    ),
    "bedrock-export.gz": Sample(
        "Bedrock invocation log",
        "docs.aws.amazon.com, CloudWatch export to S3 (a time before each event)",
        gzip.compress(f"2026-09-21T14:13:20.100Z {text(BEDROCK_LOG)}\n".encode(), mtime=0),
        fidelity="re-serialised",
    ),
    "bedrock-firehose.json": Sample(
        "Bedrock invocation log",
        "docs.aws.amazon.com, CloudWatch subscription to Firehose",
        one(
            {
                "messageType": "DATA_MESSAGE",
                "owner": "123456789012",
                "logGroup": "/bedrock",
                "logStream": "aws/bedrock/modelinvocations",
                "subscriptionFilters": ["all"],
                "logEvents": [{"id": "1", "timestamp": 1790000000100, "message": text(BEDROCK_LOG)}],
            }
        ),
        fidelity="re-serialised",
    ),
    "apim-query.json": Sample(
        "Azure API Management log",
        "learn.microsoft.com/rest/api/loganalytics, Query: columns and rows",
        one(
            {
                "tables": [
                    {
                        "name": "PrimaryResult",
                        "columns": [{"name": name, "type": "string"} for name in _TABLE_COLUMNS],
                        "rows": [
                            [APIM_ROW["TimeGenerated"], "c-1", 0, "gpt-4.1", text(MESSAGES), None],
                            [
                                APIM_ROW["TimeGenerated"],
                                "c-1",
                                1,
                                "gpt-4.1",
                                None,
                                text([{"role": "assistant", "content": "I do not know."}]),
                            ],
                        ],
                    }
                ]
            }
        ),
    ),
    "PT1H.json": Sample(
        "Azure API Management log", "learn.microsoft.com, diagnostic setting to a storage account", lines(APIM_EVENT)
    ),
    "cloudflare-events.log.gz": Sample(
        "Cloudflare AI Gateway log",
        "developers.cloudflare.com, data set ai_gateway_events of 2026; bodies decrypted to objects",
        gzip.compress(
            lines(
                {
                    "Cached": False,
                    "Endpoint": "chat/completions",
                    "Gateway": "agents",
                    "Metadata": {},
                    "Metrics": {"cost": 0.0002, "durationMs": 1300},
                    "Model": "gpt-4.1",
                    "Provider": "openai",
                    "RateLimited": False,
                    "RequestBody": CHAT,
                    "RequestedModel": "cloudflare/auto",
                    "ResponseBody": ANSWER,
                    "RoutingDecisionID": "",
                    "StatusCode": 200,
                    "Timestamp": 1790000000100000000,
                }
            ),
            mtime=0,
        ),
        fidelity="re-serialised",
    ),
    "cloudflare-list.json": Sample(
        "Cloudflare AI Gateway log",
        "developers.cloudflare.com, GET /ai-gateway/gateways/{id}/logs (no bodies)",
        one(
            {
                "success": True,
                "result": [CLOUDFLARE_CALL | {"step": 0}],
                "result_info": {"count": 1, "page": 1},
            }
        ),
        1,
        "sampled",
        NOTHING,
        "no body",
    ),
    "helicone.csv": Sample(
        "Helicone export",
        "docs.helicone.ai/tools/export, --format csv --include-body",
        quoted_table(HELICONE),
        fidelity="re-serialised",
    ),
    "helicone-claude.json": Sample(
        "Helicone export",
        "docs.helicone.ai/tools/export, --format json",
        one(
            [
                {k: v for k, v in HELICONE.items() if k not in ("response_id", "response_created_at")}
                | {
                    "request_body": CLAUDE,
                    "response_body": CLAUDE_ANSWER,
                    "provider": "ANTHROPIC",
                    "request_model": "claude-sonnet-4-5",
                    "request_path": "https://api.anthropic.com/v1/messages",
                    "response_status": "200",
                }
            ]
        ),
        fidelity="re-serialised",
    ),
    "vllm-lines.jsonl": Sample(
        "vLLM server log",
        "docs.vllm.ai, VLLM_LOGGING_CONFIG_PATH with a JSON formatter",
        lines(
            {
                "asctime": "2026-09-21 14:13:21",
                "levelname": "INFO",
                "name": "vllm.entrypoints.logger",
                "message": VLLM_OUTPUT.decode().splitlines()[1].partition("] ")[2].replace("}}", "}"),
            }
        ),
        rules=frozenset({"text.malformed-call"}),
    ),
    "batch-responses.jsonl": Sample(
        "batch file",
        "platform.openai.com/docs/guides/batch with /v1/responses; request and result in one file",
        lines(
            BATCH_REQUEST | {"url": "/v1/responses", "body": RESPONSES},
            {
                "id": "batch_req_1",
                "custom_id": "t-1",
                "response": {"status_code": 200, "request_id": "r", "body": RESPONSES_ANSWER},
                "error": None,
            },
        ),
        fidelity="re-serialised",
    ),
    "batch-mistral.jsonl": Sample(
        "batch file",
        "docs.mistral.ai/capabilities/batch (no method and no url)",
        lines({"custom_id": "0", "body": {k: v for k, v in CHAT.items() if k != "model"}}),
        fidelity="re-serialised",
    ),
    "batch-bedrock.jsonl.out": Sample(
        "batch file",
        "docs.aws.amazon.com/bedrock/latest/userguide/batch-inference-results.html",
        lines(
            {"recordId": "CALL0000001", "modelInput": BEDROCK, "modelOutput": CLAUDE_ANSWER},
            {"recordId": "CALL0000002", "modelInput": CONVERSE, "modelOutput": CONVERSE_ANSWER},
            {
                "recordId": "CALL0000003",
                "modelInput": BEDROCK,
                "error": {"errorCode": 400, "errorMessage": "bad request"},
            },
        ),
        3,
        "re-serialised",
    ),
    "batch-gemini.jsonl": Sample(
        "JSON Lines",
        "ai.google.dev/gemini-api/docs/batch-api (key, request; key, response)",
        lines({"key": "t-1", "request": GEMINI}, {"key": "t-1", "response": GEMINI_ANSWER}),
        fidelity="re-serialised",
    ),
    "batch-vertex.jsonl": Sample(
        "batch file",
        "cloud.google.com, batch prediction from Cloud Storage (request, status, response, processed_time)",
        lines({"status": "", "processed_time": "2026-09-21T14:13:21Z", "request": GEMINI, "response": GEMINI_ANSWER}),
        fidelity="re-serialised",
    ),
    # written after published descriptions before they were tried, with 27 more: at first 22 of 36 were read right
    "langfuse-events.json": Sample(
        "recorded exchanges",
        "api.reference.langfuse.com, POST /api/public/ingestion: events as the server keeps them in blob storage",
        one(
            [
                _event("generation-create", model="gpt-4.1", input={"messages": MESSAGES, "tools": [TOOL]}),
                _event("generation-update", output={"role": "assistant", "content": "I do not know."}),
            ]
        ),
    ),
    "apim-gateway.json": Sample(
        "recorded exchanges",
        "learn.microsoft.com/azure/azure-monitor/reference/tables/apimanagementgatewaylogs (bodies in the diagnostic)",
        lines(
            {
                "category": "GatewayLogs",
                "correlationId": "c-5",
                "time": "2026-09-21T14:13:20Z",
                "resourceId": "/SUBSCRIPTIONS/1",
                "properties": {
                    "method": "POST",
                    "url": "https://gateway.example/openai/deployments/gpt-4.1/chat/completions",
                    "responseCode": 200,
                    "responseSize": 900,
                    "backendUrl": "https://one.openai.azure.com/openai/deployments/gpt-4.1/chat/completions",
                    "requestBody": text(CHAT),
                    "responseBody": text(ANSWER),
                },
            }
        ),
        fidelity="exact bytes",
    ),
    "otlp-logs.json": Sample(
        "OpenTelemetry spans",
        "opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events (the logs signal alone, without spans)",
        one(_otlp_logs(("gen_ai.client.inference.operation.details", GENAI))),
    ),
    "otlp-log-messages.json": Sample(
        "OpenTelemetry spans",
        "open-telemetry/semantic-conventions v1.36.0, docs/gen-ai/gen-ai-events.md (one log record a message)",
        one(
            _otlp_logs(
                ("gen_ai.user.message", {"content": "What is in a.txt?"}),
                ("gen_ai.assistant.message", {"tool_calls": [CALL]}),
                ("gen_ai.user.message", {"content": "Well?"}),
                ("gen_ai.choice", {"index": 0, "message": {"content": "I do not know."}, "finish_reason": "stop"}),
            )
        ),
    ),
    "otlp-ai-sdk.json": Sample(
        "OpenTelemetry spans", "ai-sdk.dev/docs/ai-sdk-core/telemetry, ai.generateText.doGenerate", one(otlp(AI_SDK))
    ),
    "otlp-no-content.json": Sample(
        "OpenTelemetry spans",
        "opentelemetry.io/docs/specs/semconv/gen-ai (content capture is off by default)",
        one(otlp({"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4.1"})),
        1,
        "sampled",
        NOTHING,
        "content capture was off",
    ),
    "datadog-export.json": Sample(
        "recorded exchanges",
        "docs.datadoghq.com/llm_observability/evaluations/export_api (a page of spans, tools with a bare schema)",
        one(
            {
                "data": [
                    {
                        "id": "1",
                        "type": "span",
                        "attributes": {
                            "span_kind": "llm",
                            "model_name": "gpt-4.1",
                            "input": {
                                "messages": [
                                    MESSAGES[0],
                                    {"role": "assistant", "tool_calls": [DATADOG_CALL]},
                                    MESSAGES[2],
                                ]
                            },
                            "output": {"messages": [{"role": "assistant", "content": "I do not know."}]},
                            "tool_definitions": [{"name": "read_file", "schema": TOOL["function"]["parameters"]}],  # type: ignore[index]
                        },
                    }
                ]
            }
        ),
    ),
    "braintrust.json": Sample(
        "recorded exchanges",
        "braintrust.dev/docs/api-reference, GET /v1/project_logs/{id}/fetch (tools in the metadata)",
        one(
            {
                "events": [
                    {"id": "a", "span_attributes": {"type": "task"}, "input": "x", "output": "y"},
                    {
                        "id": "b",
                        "span_attributes": {"type": "llm"},
                        "input": MESSAGES,
                        "output": ANSWER["choices"],
                        "metadata": {"model": "gpt-4.1", "tools": [TOOL]},
                    },
                ]
            }
        ),
    ),
    "sagemaker.jsonl": Sample(
        "JSON Lines",
        "docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture.html (encodings JSON and BASE64)",
        lines(_capture("JSON", str), _capture("BASE64", _base64)),
        2,
        "exact bytes",
    ),
    "vertex.csv": Sample(
        "recorded exchanges",
        "cloud.google.com/vertex-ai, request-response logging: rows of the BigQuery table",
        quoted_table(
            {"endpoint": "e", "request_id": "1", "full_request": text(GEMINI), "full_response": text(GEMINI_ANSWER)}
        ),
        fidelity="re-serialised",
    ),
}
