"""A fourth draw of stores, written after the third one was read, with what must be read of each.

At first 11 of 25 were read right, 10 were refused, 3 had no finding and no word, and one log was taken for the text of
a model.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.formats.importers.store_draw import SAID, SCHEMA, SPAN
from tests.formats.importers.store_samples import (
    ANSWER,
    BEDROCK_LOG,
    CHAT,
    MESSAGES,
    NOTHING,
    REFUSED,
    TOOL,
    Sample,
    lines,
    one,
    otlp,
    text,
)
from tests.formats.importers.store_variants import RESPONSES, RESPONSES_ANSWER, quoted_table

PHOENIX: dict[str, Any] = {
    "llm": {
        "model_name": "gpt-4.1",
        "input_messages": [
            {"message": {"role": "user", "content": "What is in a.txt?"}},
            {
                "message": {
                    "role": "assistant",
                    "tool_calls": [
                        {
                            "tool_call": {
                                "id": "call_7",
                                "function": {"name": "read_file", "arguments": '{"path": "a.txt"}'},
                            }
                        }
                    ],
                }
            },
            {"message": {"role": "user", "content": "Well?"}},
        ],
        "output_messages": [{"message": {"role": "assistant", "content": "I do not know."}}],
    },
    "openinference": {"span": {"kind": "LLM"}},
}


def _value(v: Any) -> dict[str, Any]:
    if isinstance(v, dict):
        return {"kvlistValue": {"values": [{"key": k, "value": _value(x)} for k, x in v.items()]}}
    if isinstance(v, list):
        return {"arrayValue": {"values": [_value(x) for x in v]}}
    return {"stringValue": v}


STRUCTURED = otlp({"gen_ai.operation.name": "chat"})
STRUCTURED["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"] = [
    {"key": k, "value": _value(json.loads(v) if v[:1] == "[" else v)} for k, v in SPAN.items()
]
SPAN_ROW: dict[str, Any] = {
    "Timestamp": "2026-01-02 10:00:00.000000000",
    "TraceId": "t",
    "SpanId": "s",
    "ParentSpanId": "",
    "SpanName": "chat",
    "SpanKind": "Client",
    "ServiceName": "a",
    "ResourceAttributes": {},
    "SpanAttributes": SPAN,
    "Duration": 1300000000,
    "StatusCode": "Unset",
    "StatusMessage": "",
}

DRAWN_LATER: dict[str, Sample] = {
    "litellm-ui-detail.json": Sample(
        "recorded exchanges",
        "BerriAI/litellm GET /spend/logs/ui/{request_id}: three columns",
        one({"messages": MESSAGES, "response": ANSWER, "proxy_server_request": CHAT}),
        fidelity="re-serialised",
    ),
    "langfuse-clickhouse.jsonl": Sample(
        "Langfuse export",
        "langfuse ClickHouse observations, JSONEachRow (tool_definitions is a map)",
        lines(
            {
                "id": "o1",
                "trace_id": "t1",
                "project_id": "p",
                "environment": "default",
                "type": "GENERATION",
                "parent_observation_id": None,
                "start_time": "2026-01-02 10:00:00.000",
                "end_time": "2026-01-02 10:00:01.000",
                "name": "chat",
                "level": "DEFAULT",
                "provided_model_name": "gpt-4.1",
                "model_parameters": "{}",
                "input": text(MESSAGES),
                "output": text(SAID),
                "tool_definitions": {"read_file": text({"description": "Read a file", "parameters": SCHEMA})},
                "tool_calls": [],
                "tool_call_names": [],
            }
        ),
    ),
    "langsmith-responses.json": Sample(
        "LangSmith export",
        "docs.langchain.com wrap_openai with the Responses API",
        one(
            {
                "runs": [
                    {
                        "id": "r",
                        "run_type": "llm",
                        "trace_id": "t",
                        "dotted_order": "x",
                        "name": "ChatOpenAI",
                        "start_time": "2026-01-02T10:00:00",
                        "inputs": RESPONSES,
                        "outputs": RESPONSES_ANSWER,
                        "extra": {"metadata": {"ls_model_name": "gpt-4.1"}},
                    }
                ]
            }
        ),
    ),
    "phoenix-graphql.json": Sample(
        "OpenTelemetry spans (records)",
        "Arize-ai/phoenix GraphQL: edges of spans, attributes as JSON text",
        one(
            {
                "data": {
                    "node": {
                        "spans": {
                            "edges": [
                                {
                                    "node": {
                                        "id": "U3",
                                        "name": "ChatCompletion",
                                        "spanKind": "llm",
                                        "statusCode": "OK",
                                        "startTime": "2026-01-02T10:00:00Z",
                                        "endTime": "2026-01-02T10:00:01Z",
                                        "context": {"spanId": "a", "traceId": "t"},
                                        "attributes": text(PHOENIX),
                                    }
                                }
                            ]
                        }
                    }
                }
            }
        ),
    ),
    "raw_request_response_body": Sample(
        "recorded exchanges",
        "Helicone/helicone S3: organizations/…/raw_request_response_body",
        one({"request": text(CHAT), "response": text(ANSWER)}),
        fidelity="re-serialised",
    ),
    "bedrock-error.json.gz": Sample(
        "Bedrock invocation log",
        "docs.aws.amazon.com model-invocation-logging: errorCode",
        gzip.compress(lines(BEDROCK_LOG | {"output": {}, "errorCode": "ValidationException"})),
        fidelity="re-serialised",
    ),
    "apim-records.json": Sample(
        "Azure API Management log",
        "Event Hubs: records of GatewayLlmLogs",
        one(
            {
                "records": [
                    {
                        "time": "2026-01-02T10:00:00Z",
                        "category": "GatewayLlmLogs",
                        "resourceId": "/S",
                        "correlationId": "c1",
                        "operationName": "Microsoft.ApiManagement/GatewayLlmLogs",
                        "properties": {"sequenceNumber": n, "modelName": "gpt-4.1", "deploymentName": "d", **more},
                    }
                    for n, more in ((0, {"requestMessages": text(MESSAGES)}), (1, {"responseMessages": text([SAID])}))
                ]
            }
        ),
    ),
    "stored-completions.json": Sample(
        "recorded exchanges",
        "platform.openai.com GET /v1/chat/completions (stored): answers without their messages",
        one(
            {
                "object": "list",
                "data": [ANSWER | {"request_id": "req_1", "metadata": {}, "tools": [TOOL]}],
                "first_id": "a",
                "has_more": False,
            }
        ),
        fidelity="re-serialised",
        rules=NOTHING,
    ),
    "otlp-structured.json": Sample(
        "OpenTelemetry spans",
        "opentelemetry.io semconv 1.37: messages as STRUCTURED attributes of a span",
        one(STRUCTURED),
    ),
    "databricks.csv": Sample(
        "recorded exchanges",
        "docs.databricks.com AI gateway inference tables",
        quoted_table(
            {
                "request_date": "2026-01-02",
                "databricks_request_id": "d",
                "client_request_id": None,
                "request_time": "2026-01-02 10:00:00",
                "status_code": "400",
                "sampling_fraction": "1.0",
                "execution_duration_ms": "900",
                "request": CHAT,
                "response": REFUSED,
                "served_entity_id": "e",
                "logging_error_codes": "[]",
                "requester": "u",
            }
        ),
        fidelity="re-serialised",
    ),
    "honeyhive.jsonl": Sample(
        "recorded exchanges",
        "docs.honeyhive.ai export of events",
        lines(
            {
                "event_id": "e",
                "session_id": "s",
                "event_type": "model",
                "event_name": "openai.chat",
                "config": {
                    "provider": "openai",
                    "model": "gpt-4.1",
                    "hyperparameters": {"temperature": 0.2},
                    "tools": [TOOL],
                },
                "inputs": {"chat_history": MESSAGES},
                "outputs": SAID,
                "metadata": {},
                "start_time": 1790000000100,
                "end_time": 1790000001400,
                "duration": 1300,
            }
        ),
    ),
    "langwatch.json": Sample(
        "recorded exchanges",
        "docs.langwatch.ai GET /api/trace/{id}",
        one(
            {
                "trace_id": "t",
                "metadata": {},
                "timestamps": {},
                "spans": [
                    {
                        "span_id": "a",
                        "trace_id": "t",
                        "type": "llm",
                        "vendor": "openai",
                        "model": "gpt-4.1",
                        "input": {"type": "chat_messages", "value": MESSAGES},
                        "output": {"type": "chat_messages", "value": [SAID]},
                        "params": {"temperature": 0.2, "tools": [TOOL]},
                        "timestamps": {"started_at": 1790000000100, "finished_at": 1790000001400},
                    }
                ],
            }
        ),
    ),
    "logfire-query.json": Sample(
        "OpenTelemetry spans (records)",
        "logfire.pydantic.dev query API: columns with their values",
        one(
            {
                "columns": [
                    {"name": n, "datatype": "Utf8", "nullable": True, "values": [v]}
                    for n, v in (("trace_id", "t"), ("span_id", "s"), ("span_name", "chat"), ("attributes", text(SPAN)))
                ]
            }
        ),
    ),
    "clickhouse-compact.json": Sample(
        "OpenTelemetry spans (table)",
        "clickhouse.com JSONCompact of otel_traces",
        one({"meta": [{"name": k, "type": "String"} for k in SPAN_ROW], "data": [list(SPAN_ROW.values())], "rows": 1}),
    ),
    "tempo-v2.json": Sample(
        "OpenTelemetry spans (records)",
        "grafana.com/docs/tempo GET /api/v2/traces/{id}",
        one({"trace": {"resourceSpans": otlp(SPAN)["resourceSpans"]}, "metrics": {}}),
    ),
    "honeycomb.jsonl": Sample(
        "OpenTelemetry spans (records)",
        "docs.honeycomb.io query results: attributes are columns",
        lines(
            {
                "Timestamp": "2026-01-02T10:00:00Z",
                "trace.trace_id": "t",
                "trace.span_id": "s",
                "name": "chat",
                "duration_ms": 1300,
                **SPAN,
            }
        ),
    ),
    "datadog-ingest.json": Sample(
        "recorded exchanges",
        "docs.datadoghq.com LLM Observability API: spans of an app",
        one(
            {
                "data": {
                    "type": "span",
                    "attributes": {
                        "ml_app": "a",
                        "session_id": "1",
                        "spans": [
                            {
                                "parent_id": "undefined",
                                "trace_id": "t",
                                "span_id": "s",
                                "name": "openai",
                                "meta": {
                                    "kind": "llm",
                                    "model_name": "gpt-4.1",
                                    "model_provider": "openai",
                                    "input": {
                                        "messages": [
                                            MESSAGES[0],
                                            {
                                                "role": "assistant",
                                                "content": "",
                                                "tool_calls": [
                                                    {
                                                        "name": "read_file",
                                                        "arguments": {"path": "a.txt"},
                                                        "tool_id": "call_7",
                                                        "type": "function",
                                                    }
                                                ],
                                            },
                                            MESSAGES[2],
                                        ]
                                    },
                                    "output": {"messages": [SAID]},
                                },
                                "start_ns": 1790000000100000000,
                                "duration": 1300000000,
                            }
                        ],
                    },
                }
            }
        ),
    ),
    "es-otel.jsonl": Sample(
        "OpenTelemetry spans (records)",
        "elastic.co OTel-native documents of spans",
        lines(
            {
                "_index": ".ds-traces-generic.otel-default",
                "_id": "1",
                "_source": {
                    "@timestamp": "2026-01-02T10:00:00Z",
                    "name": "chat",
                    "kind": "Client",
                    "trace_id": "t",
                    "span_id": "s",
                    "duration": 1300000000,
                    "attributes": SPAN,
                    "resource": {"attributes": {"service.name": "a"}},
                    "status": {"code": "Unset"},
                },
            }
        ),
    ),
    "sentry.json": Sample(
        "OpenTelemetry spans (records)",
        "docs.sentry.io AI agents: data of gen_ai spans in a transaction",
        one(
            {
                "event_id": "e",
                "type": "transaction",
                "transaction": "POST /",
                "spans": [
                    {
                        "span_id": "s",
                        "trace_id": "t",
                        "op": "gen_ai.chat",
                        "description": "chat gpt-4.1",
                        "start_timestamp": 1790000000.1,
                        "timestamp": 1790000001.4,
                        "data": {
                            "gen_ai.operation.name": "chat",
                            "gen_ai.request.model": "gpt-4.1",
                            "gen_ai.request.messages": text(MESSAGES),
                            "gen_ai.request.available_tools": text([TOOL["function"]]),
                            "gen_ai.response.text": "I do not know.",
                        },
                    }
                ],
            }
        ),
    ),
    "posthog.jsonl": Sample(
        "recorded exchanges",
        "posthog.com/docs/llm-analytics: $ai_generation events",
        lines(
            {
                "uuid": "u",
                "event": "$ai_generation",
                "timestamp": "2026-01-02T10:00:00Z",
                "distinct_id": "d",
                "properties": {
                    "$ai_trace_id": "t",
                    "$ai_model": "gpt-4.1",
                    "$ai_provider": "openai",
                    "$ai_input": MESSAGES,
                    "$ai_output_choices": [SAID],
                    "$ai_tools": [TOOL],
                    "$ai_http_status": 200,
                    "$ai_latency": 1.3,
                },
            }
        ),
    ),
    "aws-spans.jsonl": Sample(
        "OpenTelemetry spans (records)",
        "docs.aws.amazon.com CloudWatch aws/spans: a span a line",
        lines(
            {
                "resource": {"attributes": {"service.name": "a"}},
                "scope": {"name": "x"},
                "traceId": "t",
                "spanId": "s",
                "name": "chat",
                "kind": "CLIENT",
                "startTimeUnixNano": 1790000000100000000,
                "endTimeUnixNano": 1790000001400000000,
                "attributes": SPAN,
                "status": {"code": "UNSET"},
            }
        ),
    ),
}
