"""A third draw of stores: other versions, containers, packings and tools, after what their documents and code publish.

Written before the importers were tried on them, with what must be read of each: at first 23 of 52 were read right, 15
were refused, 6 were read in part, 5 were read as something else, and 3 had no finding and no word.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.formats.importers.store_samples import (
    ANSWER,
    BEDROCK,
    BEDROCK_LOG,
    CALL,
    CHAT,
    CLAUDE_ANSWER,
    CLAUDE_REFUSED,
    LITELLM,
    MESSAGES,
    NOTHING,
    PHOENIX_FRAME,
    REFUSED,
    TOOL,
    Sample,
    lines,
    one,
    otlp,
    text,
)
from tests.formats.importers.store_variants import CLOUDFLARE_CALL, quoted_table

SCHEMA = TOOL["function"]["parameters"]  # type: ignore[index]
SAID: dict[str, Any] = {"role": "assistant", "content": "I do not know."}
SPEND: dict[str, Any] = {
    "request_id": "chatcmpl-2283081b",
    "session_id": "1234567890",
    "call_type": "acompletion",
    "api_key": "",
    "cache_hit": "None",
    "startTime": "2025-01-24 09:20:46.847371",
    "endTime": "2025-01-24 09:20:46.851954",
    "completionStartTime": "2025-01-24 09:20:46.851954",
    "model": "gpt-4o",
    "user": "",
    "team_id": "",
    "organization_id": "",
    "metadata": text({"applied_guardrails": [], "usage_object": {"completion_tokens": 20}}),
    "cache_key": "Cache OFF",
    "spend": 0.000225,
    "total_tokens": 30,
    "prompt_tokens": 10,
    "completion_tokens": 20,
    "request_tags": "[]",
    "end_user": "",
    "api_base": "",
    "model_group": "",
    "model_id": "",
    "requester_ip_address": None,
    "custom_llm_provider": "openai",
    "messages": "{}",
    "response": "{}",
    "proxy_server_request": "{}",
    "status": "success",
    "mcp_namespaced_tool_name": None,
    "agent_id": None,
}


def _constructor(kind: str, **kw: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kw}


LANGCHAIN = [
    _constructor("HumanMessage", content="What is in a.txt?", type="human"),
    _constructor(
        "AIMessage",
        content="",
        type="ai",
        tool_calls=[{"name": "read_file", "args": {"path": "a.txt"}, "id": "call_7", "type": "tool_call"}],
        additional_kwargs={},
    ),
    _constructor("HumanMessage", content="Well?", type="human"),
]
_NOT_IN_FRAME = frozenset((
    "status_message", "events", "attributes.llm.invocation_parameters", "attributes.llm.token_count.prompt",
))  # fmt: skip
FRAME: dict[str, Any] = {
    **{name: value for name, value in PHOENIX_FRAME.items() if name not in _NOT_IN_FRAME},
    "context.span_id": "a1",
    "context.trace_id": "t1",
    "attributes.llm.tools": [{"tool.json_schema": text(TOOL)}],
}
ARIZE: dict[str, Any] = {k: v for k, v in FRAME.items() if k != "span_kind"}
BEDROCK_CALL: dict[str, Any] = {
    "schemaType": "ModelInvocationLog",
    "schemaVersion": "1.0",
    "timestamp": "2026-09-21T14:13:20Z",
    "accountId": "123456789012",
    "identity": {"arn": "arn:aws:iam::1:user/a"},
    "region": "us-east-2",
    "requestId": "q1",
    "operation": "InvokeModel",
    "modelId": "openai.gpt-oss-120b-1:0",
    "requestMetadata": {"team": "a"},
}
AZURE: dict[str, Any] = {
    "Tenant": "eastus",
    "callerIpAddress": "81.2.69.***",
    "category": "RequestResponse",
    "correlationId": "d427",
    "durationMs": 1021,
    "event": "ShoeboxCallResult",
    "location": "eastus",
    "operationName": "ChatCompletions_Create",
    "properties": {
        "apiName": "Azure OpenAI API version 2023-07-01-preview",
        "requestTime": 638515262815394150,
        "requestLength": 128,
        "responseTime": 638515262825606520,
        "responseLength": 1411,
        "objectId": "",
        "streamType": "Non-Streaming",
        "modelDeploymentName": "gpt-chat-pilot",
        "modelName": "gpt-35-turbo",
        "modelVersion": "0301",
    },
    "resourceId": "/SUBSCRIPTIONS/1/PROVIDERS/MICROSOFT.COGNITIVESERVICES/ACCOUNTS/O",
    "resultSignature": "200",
    "time": "2024-05-24T12:23:02.4350000Z",
}
GATEWAY: dict[str, Any] = {
    "DeploymentVersion": "0.44",
    "Level": 4,
    "Sku": "Basic",
    "callerIpAddress": "81.2.69.144",
    "category": "GatewayLogs",
    "correlationId": "9978",
    "durationMs": 176,
    "isRequestSuccess": True,
    "location": "East US",
    "operationName": "Microsoft.ApiManagement/GatewayLogs",
    "properties": {
        "apiId": "azure-openai-service-api",
        "apiRevision": "1",
        "backendMethod": "POST",
        "backendProtocol": "HTTP/1.1",
        "backendRequestBody": text(CHAT),
        "backendResponseBody": text(ANSWER) + "\n",
        "backendResponseCode": 200,
        "backendTime": 176,
        "backendUrl": "https://o.openai.azure.com/openai/deployments/p/chat/completions?api-version=2024-02-15-preview",
        "cache": "none",
        "clientProtocol": "HTTP/1.1",
        "clientTlsVersion": "1.3",
        "method": "POST",
        "operationId": "ChatCompletions_Create",
        "requestBody": text(CHAT),
        "requestSize": 536,
        "responseBody": text(ANSWER) + "\n",
        "responseCode": 200,
        "responseSize": 1604,
        "url": "https://x.azure-api.net/deployments/p/chat/completions?api-version=2024-02-15-preview",
    },
    "resourceId": "/SUB/A",
    "resultType": "Succeeded",
    "time": "2024-07-02T06:31:31.4465902Z",
    "truncated": 0,
}
GATEWAY_REFUSED = json.loads(json.dumps(GATEWAY))
GATEWAY_REFUSED["properties"] |= {
    "backendResponseBody": text(REFUSED),
    "responseBody": text(REFUSED),
    "responseCode": 400,
    "backendResponseCode": 400,
}
CLOUDFLARE: dict[str, Any] = {
    **CLOUDFLARE_CALL,
    "request_head": text(CHAT),
    "request_head_complete": True,
    "request_size": 900,
    "response_head": text(ANSWER),
    "response_head_complete": True,
    "response_size": 400,
}
SPAN: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.system": "openai",
    "gen_ai.request.model": "gpt-4.1",
    "gen_ai.input.messages": text(
        [
            {"role": "user", "parts": [{"type": "text", "content": "What is in a.txt?"}]},
            {
                "role": "assistant",
                "parts": [{"type": "tool_call", "id": "call_7", "name": "read_file", "arguments": {"path": "a.txt"}}],
            },
            {"role": "user", "parts": [{"type": "text", "content": "Well?"}]},
        ]
    ),
    "gen_ai.output.messages": text(
        [{"role": "assistant", "parts": [{"type": "text", "content": "I do not know."}], "finish_reason": "stop"}]
    ),
}


def _tags(a: dict[str, str]) -> list[dict[str, str]]:
    return [{"key": k, "type": "string", "value": v} for k, v in a.items()]


MLFLOW_SPAN: dict[str, Any] = {
    "trace_id": "YQ==",
    "span_id": "Yg==",
    "parent_span_id": "",
    "name": "Completions",
    "start_time_unix_nano": 1790000000100000000,
    "end_time_unix_nano": 1790000001400000000,
    "events": [],
    "status": {"code": "STATUS_CODE_OK", "message": ""},
    "attributes": {
        "mlflow.spanType": text("CHAT_MODEL"),
        "mlflow.spanInputs": text(CHAT),
        "mlflow.spanOutputs": text(ANSWER),
        "mlflow.traceRequestId": text("tr-1"),
    },
}
TENSORZERO: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "What is in a.txt?"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_call", "id": "call_7", "name": "read_file", "arguments": '{"path": "a.txt"}'}],
        },
        {"role": "user", "content": [{"type": "text", "text": "Well?"}]},
    ]
}
TENSORZERO_CALL: dict[str, Any] = {
    "id": "0197",
    "inference_id": "0196",
    "raw_request": text(CHAT),
    "raw_response": text(ANSWER),
    "system": None,
    "input_messages": text(TENSORZERO["messages"]),
    "output": text([{"type": "text", "text": "I do not know."}]),
    "model_name": "gpt-4.1",
    "model_provider_name": "openai",
    "input_tokens": 50,
    "output_tokens": 5,
    "response_time_ms": 900,
    "ttft_ms": None,
    "cached": False,
    "finish_reason": "stop",
    "timestamp": "2026-01-02T10:00:00Z",
}
KONG: dict[str, Any] = {
    "workspace": "w",
    "source": "upstream",
    "upstream_uri": "/v1/chat/completions",
    "upstream_status": "200",
    "client_ip": "1.2.3.4",
    "started_at": 1787113201719,
    "request": {
        "id": "9e",
        "uri": "/v1/chat/completions",
        "url": "http://localhost:8000/v1/chat/completions",
        "method": "POST",
        "size": 323,
        "headers": {"host": "localhost"},
        "querystring": {},
    },
    "response": {"status": 200, "size": 900, "headers": {"content-type": "application/json"}},
    "latencies": {"request": 900},
    "ai": {"proxy": {"meta": {"provider_name": "openai", "request_model": "gpt-4.1"}, "usage": {"prompt_tokens": 50}}},
}

DRAWN: dict[str, Sample] = {
    "litellm-pubsub-empty.json": Sample(
        "LiteLLM spend log",
        "BerriAI/litellm tests/logging_callback_tests/gcs_pub_sub_body/spend_logs_payload.json",
        one(SPEND),
        fidelity="sampled",
        rules=NOTHING,
        damage="not stored",
    ),
    "litellm-pubsub.json": Sample(
        "LiteLLM spend log",
        "same file, with store_prompts_in_spend_logs",
        one(
            SPEND
            | {
                "model": "gpt-4.1",
                "messages": text(MESSAGES),
                "response": text(ANSWER),
                "proxy_server_request": text({"body": CHAT}),
            }
        ),
    ),
    "litellm-old-s3.json": Sample(
        "recorded exchanges",
        "BerriAI/litellm integrations/s3.py before StandardLoggingPayload (docs of 1.40)",
        one(
            {
                "id": "chatcmpl-1",
                "call_type": "acompletion",
                "cache_hit": False,
                "startTime": "2024-05-01 10:00:00.1",
                "endTime": "2024-05-01 10:00:01.1",
                "model": "gpt-4.1",
                "user": "",
                "modelParameters": {"temperature": 0.2, "tools": [TOOL]},
                "messages": MESSAGES,
                "response": ANSWER,
                "usage": {"total_tokens": 55},
                "metadata": {},
            }
        ),
    ),
    "langfuse-batch.json": Sample(
        "recorded exchanges",
        "BerriAI/litellm langfuse_expected_request_body/completion.json",
        one(
            {
                "batch": [
                    {
                        "id": "a",
                        "type": "trace-create",
                        "body": {
                            "id": "t1",
                            "timestamp": "2025-05-26T21:13:16Z",
                            "name": "litellm-acompletion",
                            "input": {"messages": MESSAGES, "tools": [TOOL]},
                            "output": SAID,
                            "tags": [],
                        },
                        "timestamp": "2025-05-26T21:13:16Z",
                    },
                    {
                        "id": "b",
                        "type": "generation-create",
                        "body": {
                            "traceId": "t1",
                            "name": "litellm-acompletion",
                            "startTime": "2025-05-26T14:13:16.469836-07:00",
                            "metadata": {"hidden_params": {}},
                            "input": {"messages": MESSAGES, "tools": [TOOL]},
                            "output": SAID,
                            "level": "DEFAULT",
                            "id": "g1",
                            "endTime": "2025-05-26T14:13:16.795438-07:00",
                            "model": "gpt-4.1",
                            "modelParameters": {"temperature": 0.2},
                            "usage": {"input": 10},
                            "usageDetails": {"input": 10},
                        },
                        "timestamp": "2025-05-26T21:13:16Z",
                    },
                ],
                "metadata": {"batch_size": 2, "sdk_integration": "litellm"},
            }
        ),
    ),
    "langfuse-ui.csv": Sample(
        "Langfuse export",
        "langfuse.com export of the observations table in the UI (camel case columns)",
        quoted_table(
            {
                "id": "o1",
                "type": "GENERATION",
                "name": "chat",
                "startTime": "2026-01-02T10:00:00Z",
                "endTime": "2026-01-02T10:00:01Z",
                "timeToFirstToken": None,
                "level": "DEFAULT",
                "statusMessage": None,
                "traceId": "t1",
                "traceName": "agent",
                "providedModelName": "gpt-4.1",
                "modelParameters": {"temperature": 0.2},
                "input": {"messages": MESSAGES, "tools": [TOOL]},
                "output": SAID,
                "inputUsage": "50",
            }
        ),
    ),
    "langsmith-ui.csv": Sample(
        "recorded exchanges",
        "docs.langchain.com/langsmith export of runs: dataframe of list_runs to CSV",
        quoted_table(
            {
                "id": "r1",
                "name": "ChatOpenAI",
                "run_type": "llm",
                "start_time": "2026-01-02 10:00:00",
                "end_time": "2026-01-02 10:00:01",
                "status": "success",
                "error": None,
                "inputs": CHAT,
                "outputs": ANSWER,
                "session_name": "p",
                "tags": "[]",
            }
        ),
        fidelity="re-serialised",
    ),
    "langsmith-lc.jsonl.gz": Sample(
        "LangSmith export",
        "docs.langchain.com run data format; messages as constructors in a batch of one",
        gzip.compress(
            lines(
                {
                    "id": "r1",
                    "trace_id": "t",
                    "dotted_order": "2026Z1",
                    "parent_run_id": None,
                    "run_type": "llm",
                    "name": "ChatOpenAI",
                    "start_time": "2026-01-02T10:00:00",
                    "end_time": "2026-01-02T10:00:01",
                    "inputs": {"messages": [LANGCHAIN]},
                    "outputs": {
                        "generations": [
                            [
                                {
                                    "text": "I do not know.",
                                    "generation_info": {"finish_reason": "stop"},
                                    "type": "ChatGeneration",
                                    "message": _constructor("AIMessage", content="I do not know.", type="ai"),
                                }
                            ]
                        ],
                        "llm_output": {"model_name": "gpt-4.1", "token_usage": {"total_tokens": 55}},
                    },
                    "extra": {
                        "invocation_params": {
                            "model": "gpt-4.1",
                            "model_name": "gpt-4.1",
                            "stream": False,
                            "tools": [TOOL],
                            "_type": "openai-chat",
                        },
                        "metadata": {"ls_provider": "openai"},
                    },
                }
            )
        ),
    ),
    "phoenix-split.json": Sample(
        "Phoenix spans",
        "pandas to_json(orient='split') of get_spans_dataframe()",
        one({"columns": list(FRAME), "index": ["a1"], "data": [list(FRAME.values())]}),
    ),
    "phoenix-columns.json": Sample(
        "Phoenix spans",
        "pandas to_json() of get_spans_dataframe(): column by column",
        one({k: {"a1": v} for k, v in FRAME.items()}),
    ),
    "phoenix-frame.csv": Sample(
        "Phoenix spans",
        "pandas to_csv of get_spans_dataframe(): lists as Python writes them",
        quoted_table({k: (repr(v) if isinstance(v, list) else v) for k, v in FRAME.items()}),
    ),
    "arize-ax.jsonl": Sample("Phoenix spans", "arize.com/docs/ax export_model_to_df columns", lines(ARIZE)),
    "helicone-webhook.json": Sample(
        "recorded exchanges",
        "docs.helicone.ai/features/webhooks",
        one(
            {
                "request_id": "r1",
                "user_id": "u",
                "request_body": text(CHAT),
                "response_body": text(ANSWER),
                "metadata": {"cost": 0.1},
            }
        ),
        fidelity="exact bytes",
    ),
    "helicone-one.json": Sample(
        "Helicone export",
        "docs.helicone.ai GET /v1/request/{id}",
        one(
            {
                "data": {
                    "request_id": "r1",
                    "request_created_at": "2026-01-02T10:00:00Z",
                    "request_body": CHAT,
                    "request_path": "https://api.openai.com/v1/chat/completions",
                    "request_user_id": None,
                    "request_properties": {},
                    "request_model": "gpt-4.1",
                    "response_id": "x",
                    "response_created_at": "2026-01-02T10:00:01Z",
                    "response_body": ANSWER,
                    "response_status": 200,
                    "response_model": "gpt-4.1",
                    "helicone_user": None,
                    "provider": "OPENAI",
                    "delay_ms": 900,
                    "total_tokens": 55,
                },
                "error": None,
            }
        ),
        fidelity="re-serialised",
    ),
    "portkey.jsonl": Sample(
        "JSON Lines",
        "portkey.ai/docs/aigw/api-reference/logs/post-logs",
        lines(
            {
                "request": {
                    "url": "https://api.openai.com/v1/chat/completions",
                    "body": CHAT,
                    "method": "post",
                    "headers": {},
                },
                "response": {"body": ANSWER, "status": 200, "headers": {}, "response_time": 900},
                "metadata": {"trace_id": "t", "span_id": "s", "span_name": "llm"},
            },
            {
                "request": {
                    "url": "https://api.openai.com/v1/chat/completions",
                    "body": CHAT,
                    "method": "post",
                    "headers": {},
                },
                "response": {"body": REFUSED, "status": 400, "headers": {}, "response_time": 90},
                "metadata": {"trace_id": "t"},
            },
        ),
        exchanges=2,
        fidelity="re-serialised",
    ),
    "0a_input.json.gz": Sample(
        "JSON body",
        "docs.aws.amazon.com model-invocation-logging: the object that inputBodyS3Path names",
        gzip.compress(one(BEDROCK)),
        fidelity="exact bytes",
    ),
    "bedrock-gpt-oss.json": Sample(
        "Bedrock invocation log",
        "docs.aws.amazon.com model-invocation-logging with modelId openai.gpt-oss-120b-1:0",
        one(
            BEDROCK_CALL
            | {
                "input": {
                    "inputContentType": "application/json",
                    "inputBodyJson": {k: v for k, v in CHAT.items() if k != "model"},
                    "inputTokenCount": 50,
                },
                "output": {"outputContentType": "application/json", "outputBodyJson": ANSWER, "outputTokenCount": 5},
                "inferenceRegion": "us-east-2",
            }
        ),
        fidelity="re-serialised",
    ),
    "insights.csv": Sample(
        "recorded exchanges",
        "docs.aws.amazon.com CloudWatch Logs Insights: export of results to CSV",
        quoted_table(
            {
                "@timestamp": "2026-09-21 14:13:20.000",
                "@message": text(BEDROCK_LOG),
                "@logStream": "aws/bedrock/modelinvocations",
            }
        ),
        fidelity="re-serialised",
    ),
    "firehose-concat": Sample(
        "Bedrock invocation log",
        "docs.aws.amazon.com Firehose to S3: records are not separated",
        one(BEDROCK_LOG) + one(BEDROCK_LOG),
        exchanges=2,
        fidelity="re-serialised",
    ),
    "azure-requestresponse.json": Sample(
        "Azure OpenAI log",
        "elastic/integrations azure_openai test-open-ai-request-response.log",
        lines(
            AZURE
            | {
                "operationName": "Create_Thread",
                "properties": text(
                    {
                        "apiName": "Azure OpenAI API version 2024-02-15-preview",
                        "requestTime": 1,
                        "requestLength": 2,
                        "objectId": "",
                    }
                ),
            },
            AZURE,
        ),
        fidelity="sampled",
        rules=NOTHING,
        damage="no bod",
    ),
    "azure-bodies.json": Sample(
        "Azure OpenAI log",
        "Azure sample: backend_request_body and backend_response_body in the properties, which are text",
        lines(
            AZURE
            | {
                "properties": text(
                    AZURE["properties"]
                    | {
                        "modelName": "gpt-4.1",
                        "backend_request_body": text(CHAT),
                        "backend_response_body": text(ANSWER),
                    }
                )
            }
        ),
        fidelity="exact bytes",
    ),
    "apim-elastic.log": Sample(
        "JSON Lines",
        "elastic/integrations azure_openai test-open-ai-gateway.log",
        lines(GATEWAY, GATEWAY_REFUSED),
        exchanges=2,
        fidelity="exact bytes",
    ),
    "azurediagnostics.csv": Sample(
        "Azure OpenAI log",
        "AzureDiagnostics table, export of a query",
        quoted_table(
            {
                "TimeGenerated": "2026-01-02T10:00:00Z",
                "ResourceId": "/S",
                "Category": "RequestResponse",
                "OperationName": "ChatCompletions_Create",
                "CorrelationId": "c1",
                "ResultSignature": "200",
                "DurationMs": "900",
                "properties_s": AZURE["properties"],
            }
        ),
        fidelity="sampled",
        rules=NOTHING,
        damage="no bod",
    ),
    "appinsights.jsonl": Sample(
        "recorded exchanges",
        "learn.microsoft.com api-management-howto-app-insights: Request-Body, Response-Body in the properties",
        lines(
            {
                "time": "2026-01-02T10:00:00Z",
                "resourceId": "/S",
                "Properties": {
                    "API Name": "openai",
                    "Request-Body": text(CHAT),
                    "Response-Body": text(ANSWER),
                    "HTTP Method": "POST",
                },
                "OperationId": "o1",
                "Name": "POST /openai",
                "Url": "https://x.azure-api.net/openai/deployments/p/chat/completions?api-version=1",
                "Success": True,
                "ResultCode": "200",
                "DurationMs": 900,
                "Type": "AppRequests",
            }
        ),
        fidelity="exact bytes",
    ),
    "cloudflare-detail.json": Sample(
        "Cloudflare AI Gateway log",
        "developers.cloudflare.com GET /ai-gateway/gateways/{id}/logs/{id}",
        one({"success": True, "result": CLOUDFLARE, "errors": [], "messages": []}),
        fidelity="exact bytes",
    ),
    "cloudflare-detail-cut.json": Sample(
        "Cloudflare AI Gateway log",
        "same, with request_head_complete false",
        one(
            {"success": True, "result": CLOUDFLARE | {"request_head": text(CHAT)[:150], "request_head_complete": False}}
        ),
        fidelity="cut",
        rules=NOTHING,
        damage="truncated",
    ),
    "batch-errors.jsonl": Sample(
        "batch file",
        "platform.openai.com/docs/guides/batch: error file",
        lines(
            {
                "id": "batch_req_1",
                "custom_id": "t-1",
                "response": {"status_code": 400, "request_id": "r", "body": REFUSED},
                "error": None,
            },
            {
                "id": "batch_req_2",
                "custom_id": "t-2",
                "response": None,
                "error": {
                    "code": "batch_expired",
                    "message": "This request could not be executed before the completion window expired.",
                },
            },
        ),
        exchanges=2,
        fidelity="re-serialised",
        rules=frozenset({"answer.error"}),
    ),
    "claude-results.jsonl": Sample(
        "batch file",
        "docs.anthropic.com message batches results: succeeded, errored, expired, canceled",
        lines(
            {"custom_id": "a", "result": {"type": "succeeded", "message": CLAUDE_ANSWER}},
            {"custom_id": "b", "result": {"type": "errored", "error": CLAUDE_REFUSED}},
            {"custom_id": "c", "result": {"type": "expired"}},
            {"custom_id": "d", "result": {"type": "canceled"}},
        ),
        exchanges=4,
        fidelity="re-serialised",
        rules=frozenset({"answer.error"}),
    ),
    "jaeger.json": Sample(
        "OpenTelemetry spans (records)",
        "jaegertracing.io: JSON of the UI (GET /api/traces/{id})",
        one(
            {
                "data": [
                    {
                        "traceID": "t1",
                        "spans": [
                            {
                                "traceID": "t1",
                                "spanID": "s1",
                                "operationName": "chat gpt-4.1",
                                "references": [],
                                "startTime": 1790000000100000,
                                "duration": 1300000,
                                "tags": _tags(SPAN),
                                "logs": [],
                                "processID": "p1",
                                "warnings": None,
                            }
                        ],
                        "processes": {"p1": {"serviceName": "agent", "tags": []}},
                    }
                ],
                "total": 0,
                "limit": 0,
                "offset": 0,
                "errors": None,
            }
        ),
    ),
    "zipkin.json": Sample(
        "OpenTelemetry spans (records)",
        "zipkin.io/zipkin-api v2 JSON",
        one(
            [
                {
                    "traceId": "t1",
                    "id": "s1",
                    "kind": "CLIENT",
                    "name": "chat gpt-4.1",
                    "timestamp": 1790000000100000,
                    "duration": 1300000,
                    "localEndpoint": {"serviceName": "agent"},
                    "tags": SPAN,
                }
            ]
        ),
    ),
    "console.json": Sample(
        "OpenTelemetry spans (records)",
        "opentelemetry-sdk ConsoleSpanExporter (Python), spans one after another, indented",
        b"".join(
            json.dumps(
                {
                    "name": "chat gpt-4.1",
                    "context": {"trace_id": "0x5b8e", "span_id": "0xee19", "trace_state": "[]"},
                    "kind": "SpanKind.CLIENT",
                    "parent_id": None,
                    "start_time": "2026-01-02T10:00:00.1Z",
                    "end_time": "2026-01-02T10:00:01Z",
                    "status": {"status_code": "UNSET"},
                    "attributes": SPAN,
                    "events": [],
                    "links": [],
                    "resource": {"attributes": {"service.name": "a"}, "schema_url": ""},
                },
                indent=4,
            ).encode()
            + b"\n"
            for _ in range(2)
        ),
        exchanges=2,
    ),
    "logfire.json": Sample(
        "OpenTelemetry spans",
        "pydantic/logfire instrument_openai: request_data, response_data",
        one(
            otlp(
                {
                    "logfire.msg": "Chat Completion with 'gpt-4.1'",
                    "gen_ai.system": "openai",
                    "gen_ai.request.model": "gpt-4.1",
                    "request_data": text(CHAT),
                    "response_data": text({"message": SAID, "usage": {"total_tokens": 55}}),
                }
            )
        ),
    ),
    "kong.log": Sample(
        "recorded exchanges",
        "developer.konghq.com/ai-gateway/ai-audit-log-reference (ai.proxy.payload, file-log)",
        lines(
            {
                **KONG,
                "ai": {
                    "proxy": {
                        "payload": {"request": text(CHAT), "response": text(ANSWER)},
                        "meta": {"provider_name": "openai", "request_model": "gpt-4.1", "response_model": "gpt-4.1"},
                        "usage": {"prompt_tokens": 50, "completion_tokens": 5},
                    }
                },
            }
        ),
        fidelity="re-serialised",
    ),
    "weave.jsonl": Sample(
        "JSON Lines",
        "wandb/weave trace server, POST /calls/stream_query",
        lines(
            {
                "id": "c1",
                "project_id": "e/p",
                "op_name": "weave:///e/p/op/openai.chat.completions.create:abc",
                "trace_id": "t1",
                "parent_id": None,
                "started_at": "2026-01-02T10:00:00Z",
                "ended_at": "2026-01-02T10:00:01Z",
                "attributes": {"weave": {"client_version": "0.52"}},
                "inputs": {"self": "weave:///e/p/object/Completions:x", **CHAT},
                "output": ANSWER,
                "exception": None,
                "summary": {"usage": {}},
            },
            {
                "id": "c2",
                "project_id": "e/p",
                "op_name": "weave:///e/p/op/read_file:abc",
                "trace_id": "t1",
                "parent_id": None,
                "started_at": "2026-01-02T10:00:00Z",
                "attributes": {},
                "inputs": {"path": "a.txt"},
                "output": "x",
                "summary": {},
            },
        ),
        fidelity="re-serialised",
    ),
    "mlflow-frame.csv": Sample(
        "recorded exchanges",
        "mlflow.search_traces() to CSV (columns of MLflow 3)",
        quoted_table(
            {
                "trace_id": "tr-1",
                "trace": None,
                "client_request_id": None,
                "state": "OK",
                "request_time": "1790000000100",
                "execution_duration": "1300",
                "request": CHAT,
                "response": ANSWER,
                "trace_metadata": {},
                "tags": {},
                "spans": [MLFLOW_SPAN],
                "assessments": [],
            }
        ),
        fidelity="re-serialised",
    ),
    "braintrust.csv": Sample(
        "recorded exchanges",
        "braintrust.dev: download of logs as CSV",
        quoted_table(
            {
                "id": "b",
                "created": "2026-01-02T10:00:00Z",
                "input": MESSAGES,
                "output": SAID,
                "expected": None,
                "metadata": {"model": "gpt-4.1", "tools": [TOOL]},
                "span_attributes": {"type": "llm", "name": "Chat Completion"},
                "metrics": {"tokens": 55},
            }
        ),
    ),
    "opik.json": Sample(
        "recorded exchanges",
        "comet.com/docs/opik REST GET /v1/private/spans",
        one(
            {
                "page": 1,
                "size": 1,
                "total": 1,
                "content": [
                    {
                        "id": "s1",
                        "project_id": "p",
                        "trace_id": "t1",
                        "parent_span_id": None,
                        "name": "chat_completion_create",
                        "type": "llm",
                        "start_time": "2026-01-02T10:00:00Z",
                        "end_time": "2026-01-02T10:00:01Z",
                        "input": {"messages": MESSAGES, "tools": [TOOL]},
                        "output": {"choices": ANSWER["choices"]},
                        "metadata": {"created_from": "openai", "type": "openai_chat", "model": "gpt-4.1"},
                        "model": "gpt-4.1",
                        "provider": "openai",
                        "tags": ["openai"],
                        "usage": {"total_tokens": 55},
                    }
                ],
            }
        ),
    ),
    "tensorzero-chat.jsonl": Sample(
        "recorded exchanges",
        "tensorzero.com/docs/gateway/data-model ChatInference",
        lines(
            {
                "id": "0196",
                "function_name": "f",
                "variant_name": "gpt-4.1",
                "episode_id": "0196",
                "input": text(TENSORZERO),
                "output": text([{"type": "text", "text": "I do not know."}]),
                "tool_params": text(
                    {
                        "tools_available": [
                            {
                                "name": "read_file",
                                "description": "Read a file",
                                "parameters": SCHEMA,
                                "strict": False,
                            }
                        ],
                        "tool_choice": "auto",
                        "parallel_tool_calls": None,
                    }
                ),
                "inference_params": text({"chat_completion": {"temperature": 0.2}}),
                "processing_time_ms": 900,
                "timestamp": "2026-01-02T10:00:00Z",
                "tags": {},
            }
        ),
    ),
    "tensorzero-model.jsonl": Sample(
        "recorded exchanges",
        "tensorzero.com/docs/gateway/data-model ModelInference",
        lines(TENSORZERO_CALL),
        fidelity="re-serialised",
    ),
    "tensorzero-model.csv": Sample(
        "recorded exchanges", "the same as CSV from ClickHouse", quoted_table(TENSORZERO_CALL), fidelity="re-serialised"
    ),
    "openpipe.jsonl": Sample(
        "recorded exchanges",
        "docs.openpipe.ai/features/request-logs/exporting-logs",
        lines({"input": CHAT, "output": ANSWER, "tags": {"$sdk": "python"}}),
        fidelity="re-serialised",
    ),
    "agents-trace.jsonl": Sample(
        "JSON Lines",
        "openai-agents-python BackendSpanExporter items",
        lines(
            {"object": "trace", "id": "trace_1", "workflow_name": "w"},
            {
                "object": "trace.span",
                "id": "span_1",
                "trace_id": "trace_1",
                "parent_id": None,
                "started_at": "2026-01-02T10:00:00Z",
                "ended_at": "2026-01-02T10:00:01Z",
                "span_data": {
                    "type": "generation",
                    "input": MESSAGES,
                    "output": [SAID],
                    "model": "gpt-4.1",
                    "model_config": {"temperature": 0.2},
                    "usage": {"input_tokens": 50},
                },
                "error": None,
            },
            {
                "object": "trace.span",
                "id": "span_2",
                "trace_id": "trace_1",
                "parent_id": None,
                "started_at": "2026-01-02T10:00:00Z",
                "ended_at": "2026-01-02T10:00:01Z",
                "span_data": {"type": "function", "name": "read_file", "input": "{}", "output": "x"},
                "error": None,
            },
        ),
    ),
    "keywordsai.json": Sample(
        "recorded exchanges",
        "docs.keywordsai.co logs: prompt_messages, completion_message",
        one(
            {
                "model": "gpt-4.1",
                "prompt_messages": MESSAGES,
                "completion_message": SAID,
                "tools": [TOOL],
                "cost": 0.1,
                "generation_time": 3.5,
                "customer_params": {"customer_identifier": "u"},
            }
        ),
    ),
    "promptlayer.json": Sample(
        "recorded exchanges",
        "docs.promptlayer.com track request",
        one(
            {
                "function_name": "openai.chat.completions.create",
                "provider_type": "openai",
                "args": [],
                "kwargs": CHAT,
                "tags": [],
                "request_response": ANSWER,
                "request_start_time": 1790000000.1,
                "request_end_time": 1790000001.4,
            }
        ),
        fidelity="re-serialised",
    ),
    "humanloop.jsonl": Sample(
        "recorded exchanges",
        "humanloop.com/docs prompts log",
        lines(
            {
                "id": "log_1",
                "prompt": {
                    "id": "pr",
                    "model": "gpt-4.1",
                    "endpoint": "chat",
                    "tools": [
                        {
                            "name": "read_file",
                            "description": "Read a file",
                            "parameters": SCHEMA,
                        }
                    ],
                    "temperature": 0.2,
                },
                "messages": MESSAGES,
                "output_message": SAID,
                "output": "I do not know.",
                "provider_latency": 0.9,
                "source": "sdk",
                "created_at": "2026-01-02T10:00:00",
            }
        ),
    ),
    "prompts.csv": Sample(
        "recorded exchanges",
        "a table with columns messages and completion (known gap: no request, no response)",
        quoted_table({"ts": "2026-01-02", "model": "gpt-4.1", "prompt_messages": MESSAGES, "completion": SAID}),
    ),
    "messages.csv": Sample(
        "recorded exchanges",
        "a dataset with one column of messages",
        quoted_table({"id": "1", "model": "gpt-4.1", "messages": MESSAGES, "tools": [TOOL]}),
    ),
    "gcp-logging.jsonl": Sample(
        "OpenTelemetry spans (records)",
        "cloud.google.com logging: gen_ai events, one record a message, the span is in Cloud Trace",
        lines(
            *(
                {
                    "insertId": str(n),
                    "jsonPayload": p,
                    "labels": {"event.name": e, "gen_ai.system": "openai"},
                    "logName": "projects/p/logs/otel_genai",
                    "trace": "projects/p/traces/t1",
                    "spanId": "s1",
                    "timestamp": "2026-01-02T10:00:00Z",
                    "resource": {"type": "k8s"},
                }
                for n, (e, p) in enumerate(
                    [
                        ("gen_ai.user.message", {"content": "What is in a.txt?"}),
                        ("gen_ai.assistant.message", {"tool_calls": [CALL]}),
                        ("gen_ai.user.message", {"content": "Well?"}),
                        (
                            "gen_ai.choice",
                            {"index": 0, "message": {"content": "I do not know."}, "finish_reason": "stop"},
                        ),
                    ]
                )
            )
        ),
    ),
    "es-search.json": Sample(
        "recorded exchanges",
        "elastic.co _search answer over LiteLLM payloads",
        one(
            {
                "took": 3,
                "timed_out": False,
                "hits": {
                    "total": {"value": 1},
                    "hits": [{"_index": "litellm", "_id": "1", "_score": 1.0, "_source": LITELLM}],
                },
            }
        ),
    ),
    "es-dump.jsonl": Sample(
        "recorded exchanges",
        "elasticsearch-dump: a document a line",
        lines({"_index": "litellm", "_id": "1", "_source": LITELLM}),
    ),
    "splunk.jsonl": Sample(
        "recorded exchanges",
        "docs.splunk.com HEC: event",
        lines({"time": 1790000000, "host": "h", "sourcetype": "litellm", "event": LITELLM}),
    ),
    "datadog-litellm.json": Sample(
        "LiteLLM log",
        "BerriAI/litellm integrations/datadog: message is the payload as text",
        one(
            [
                {
                    "ddsource": "litellm",
                    "ddtags": "env:a",
                    "hostname": "h",
                    "message": text(LITELLM),
                    "service": "s",
                    "status": "info",
                }
            ]
        ),
    ),
    "kong-no-payload.log": Sample(
        "JSON Lines",
        "same, log_payloads off (the default)",
        lines(KONG, KONG),
        exchanges=2,
        fidelity="sampled",
        rules=NOTHING,
        damage="no bod",
    ),
}
