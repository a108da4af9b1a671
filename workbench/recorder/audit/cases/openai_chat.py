"""OpenAI Chat Completions, and what DeepSeek, OpenRouter, Gemini and others add to it."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.recorder.audit.case import AuditCase, Theme
from workbench.recorder.audit.cases._speech import Speech, data, fill_in

_ASK = '{"model":"@MODEL@","messages":[{"role":"user","content":@TEXT@}]@MORE@@STREAM@}'
_CALL = '{"id":"@ID@","type":"function","function":{"name":"look","arguments":@ARGTEXT@}}'
_RESULT = '{"role":"tool","tool_call_id":"@ID@","content":@RESULT@}'
_TURN = (
    '{"model":"@MODEL@","messages":[{"role":"user","content":@TEXT@},{"role":"assistant","content":null@SAID@,'
    '"tool_calls":[@CALLS@]},@BACK@],"tools":[@TOOLS@]@MORE@@STREAM@}'
)
_TWO = _CALL.replace("@ID@", "@ID@1") + "," + _CALL.replace("@ID@", "@ID@2").replace("@ARGTEXT@", r'"{\"q\": \"y\"}"')
_TWO_RESULTS = _RESULT.replace("@ID@", "@ID@1") + "," + _RESULT.replace("@ID@", "@ID@2")
_CALLED = _TURN.replace("@CALLS@", _CALL).replace("@BACK@", _RESULT)


def _chunk(choice: str, more: str = "") -> str:
    at = '"id":"chatcmpl-audit","object":"chat.completion.chunk","created":1760000000,"model":"@MODEL@"'
    return data(fill_in("{%s,%s%s}", at, choice, more))


def _delta(delta: str, finish: str = "null") -> str:
    return _chunk(fill_in('"choices":[{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}]', delta, finish))


def _piece(text: str) -> str:
    return _delta(fill_in('{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}', text))


_USAGE = _chunk(
    '"choices":[]',
    ',"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":8},'
    '"completion_tokens_details":{"reasoning_tokens":2}}',
)
_DONE = data("[DONE]")

SPEECH = Speech(
    protocol="openai-chat",
    model="gpt-4o-mini",
    path="/v1/chat/completions",
    stream_path="/v1/chat/completions",
    ask=_ASK,
    stream=',"stream":true,"stream_options":{"include_usage":true}',
    called=_CALLED.replace("@SAID@", ""),
    parallel=_TURN.replace("@SAID@", "").replace("@CALLS@", _TWO).replace("@BACK@", _TWO_RESULTS),
    tool='{"type":"function","function":{"name":"look","description":"Looks.","parameters":@SCHEMA@@IN@}}',
    tools=',"tools":[@TOOLS@]',
    whole='{"id":"chatcmpl-audit","object":"chat.completion","created":1760000000,"model":"@MODEL@","choices":[{'
    '"index":0,'
    '"message":{"role":"assistant","content":@TEXT@,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":'
    '"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12},"system_fingerprint":"fp_audit'
    '"@MORE@}',
    opening=(_delta('{"role":"assistant","content":"","refusal":null}'),),
    delta=_delta('{"content":@TEXT@}'),
    closing=(_delta("{}", '"stop"'), _USAGE, _DONE),
    arguments=(
        _delta(
            '{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_0-audit_Z","type":"function",'
            '"function":{"name":"look","arguments":""}}]}'
        ),
        *map(_piece, (r'"{\"q\" : \"caf\\u00e9"', r'"\", \"n\":1.0"', '" }"')),
    ),
    error='{"error":{"message":@TEXT@,"type":"@TYPE@","param":null,"code":null}}',
    broken=data('{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}'),
    unknown=data('{"object":"audit.event","choices":[],"note":"a client passes over what it does not know"}'),
    odd_ids=("call_0-audit_Z", "call_" + "aZ0-_" * 7),
    query="/v1/chat/completions?api-version=2025-04-01-preview",
    listing="/v1/models/audit%2Fmodel?limit=2",
    headers=(("openai-organization", "org-audit"), ("openai-beta", "assistants=v2")),
    answer_headers=(
        ("x-request-id", "req_011audit"),
        ("x-ratelimit-remaining-requests", "41"),
        ("openai-processing-ms", "17"),
    ),
)

_ECHO = "DeepSeek and others refuse a turn with tool calls if its reasoning is not sent back"


def cases() -> Iterator[AuditCase]:
    """Cases of this protocol alone."""
    yield from _reasoning()
    yield from _history()
    yield from _fields()
    yield from _answers()


def _case(name: str, shows: str, assistant_text: str, why: str, rule: str, template: str = _CALLED) -> AuditCase:
    request = SPEECH.request(name, template.replace("@SAID@", assistant_text))
    return AuditCase(name, Theme.IDS, shows, request, SPEECH.answer(), why, rule, is_convertible="content" in name)


def _reasoning() -> Iterator[AuditCase]:
    missing = "reasoning.missing"
    yield _case(
        "reasoning-content",
        "reasoning_content is forwarded unchanged",
        r',"reasoning_content":" I look.\n\n"',
        _ECHO,
        missing,
    )
    yield _case(
        "empty-reasoning", "an empty reasoning_content is kept", ',"reasoning_content":""', _ECHO, "reasoning.empty"
    )
    details = (
        ',"reasoning":"I look.","reasoning_details":[{"type":"reasoning.text","text":"I look.","signature":"EqQB+/8=",'
        '"id":null,"format":"anthropic-claude-v1","index":0},{"type":"reasoning.encrypted","data":"gAAAA+/_-=","id":'
        '"rs_1","format":"openai-responses-v1","index":1}]'
    )
    yield _case("reasoning-details", "reasoning_details are forwarded unchanged", details, _ECHO, missing)
    signed = _CALLED.replace(
        '"type":"function","function":{"name":"look"',
        '"type":"function","extra_content":{"google":{"thought_signature":"CiQB0+/x=="}},"function":{"name":"look"',
        1,
    )
    why = "Gemini refuses a tool call if its thought signature is not sent back"
    yield _case("thought-signature", "a signature inside a tool call is kept", "", why, missing, signed)


def _history() -> Iterator[AuditCase]:
    def case(name: str, shows: str, template: str, why: str = "", rule: str = "") -> AuditCase:
        request = SPEECH.request(name, template)
        return AuditCase(name, Theme.TEXTS, shows, request, SPEECH.answer(), why, rule, is_convertible=True)

    plain = SPEECH.called
    yield case(
        "empty-result", "a tool result without content is kept", plain.replace("@RESULT@", '""'),
        "the provider refuses a tool call without its result", "closure.missing-result",
    )  # fmt: skip
    yield case(
        "text-and-call", "text next to a tool call is kept", plain.replace('"content":null', '"content":" Now.\\n"'),
        "the model reads a different assistant message", "gateway.dropped-field",
    )  # fmt: skip
    yield case(
        "empty-arguments", "a tool call without arguments is not changed", plain.replace("@ARGTEXT@", '""'),
        "the provider refuses the changed call", "args.empty",
    )  # fmt: skip
    parts = '[{"type":"text","text":"@MARK@ one"},{"type":"text","text":" two "},{"type":"text","text":"\\nthree"}]'
    yield case(
        "adjacent-texts", "adjacent text blocks are not merged", _ASK.replace("@TEXT@", parts),
        "the prompt changes, and the cached prompt is not used", "gateway.altered-shape",
    )  # fmt: skip
    systems = '"messages":[{"role":"system","content":"Be brief. "},{"role":"system","content":"Be polite."},'
    yield case(
        "two-systems", "two system messages are not merged", _ASK.replace('"messages":[', systems, 1),
        "the prompt changes, and the cached prompt is not used", "gateway.altered-shape",
    )  # fmt: skip
    roles = (
        '{"role":"developer","content":"Be brief."},{"role":"user","name":"ann","content":@TEXT@},{"role":"assistant",'
        '"content":"Yes.","refusal":null},{"role":"system","content":"Be polite. "},{"role":"user","content":"Go on."},'
        '{"role":"user","content":"Now."}'
    )
    yield case(
        "system-amid", "instructions, names and adjacent messages of one role keep their positions",
        _ASK.replace('{"role":"user","content":@TEXT@}', roles), "the model gets a different history",
        "content.system-position",
    )  # fmt: skip


def _fields() -> Iterator[AuditCase]:
    why, rule = "the provider ignores parameters that the client set", "gateway.dropped-field"

    def case(name: str, shows: str, more: str, text: str = '"@MARK@ hello"', why: str = why) -> AuditCase:
        request = SPEECH.request(name, MORE=more, TEXT=text)
        return AuditCase(name, Theme.FIELDS, shows, request, SPEECH.answer(), why, rule)

    yield case(
        "rare-parameters", "provider-specific parameters are kept", ',"reasoning_effort":"minimal","verbosity":"low","'
        'seed":0,'
        '"logit_bias":{"50256":-100},"n":1,"store":false,"metadata":{},"service_tier":"flex","prompt_cache_key":'
        '"audit",'
        '"safety_identifier":"u","user":"","stop":["\\n\\n"," END"],"max_completion_tokens":64,'
        '"parallel_tool_calls":false,'
        '"modalities":["text"],"prediction":{"type":"content","content":"Fi"},"logprobs":false',
    )  # fmt: skip
    yield case(
        "other-providers", "OpenRouter, Qwen and vLLM parameters are kept", ',"provider":{"order":["a"],'
        '"allow_fallbacks":'
        'false},"transforms":[],"reasoning":{"max_tokens":64,"exclude":false},"enable_thinking":true,"thinking":'
        '{"type":'
        '"enabled"},"chat_template_kwargs":{"enable_thinking":true},"extra_body":{"a":1},"top_k":20,"min_p":0.0',
    )  # fmt: skip
    yield case(
        "strict-tools", "all fields of a tool declaration are kept",
        ',"tools":[{"type":"function","function":{"name":"look",'
        '"description":"","strict":true,"parameters":{"type":"object","properties":{},"required":[],'
        '"additionalProperties":false}}},{"type":"custom","custom":{"name":"run","format":{"type":"grammar","grammar":'
        '{"syntax":"lark","definition":"start: /a+/"}}}}],"tool_choice":{"type":"function","function":{"name":"look"}}',
        why="the model calls the tool differently",
    )  # fmt: skip
    mark = '"cache_control":{"type":"ephemeral"}'
    yield case(
        "cache-control", "cache breakpoints are kept", "", fill_in('[{"type":"text","text":"@MARK@ cached",%s}]', mark),
        "without cache breakpoints nothing is cached, and every turn costs the full price",
    )  # fmt: skip
    yield case(
        "response-format", "the response schema is kept", ',"response_format":{"type":"json_schema",'
        '"json_schema":{"name":'
        '"answer","strict":true,"schema":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":["string",'
        '"null"]}},"required":["b","a"],"additionalProperties":false}}}',
        why="the model responds in a different format",
    )  # fmt: skip


def _answers() -> Iterator[AuditCase]:
    def case(name: str, shows: str, *events: str, why: str = "", rule: str = "") -> AuditCase:
        request = SPEECH.request(name, streams=True)
        return AuditCase(
            name, Theme.EVENTS, shows, request, SPEECH.stream_response(events), why, rule, is_convertible=True
        )

    opening, *_ = SPEECH.opening
    finish, usage, done = SPEECH.closing
    yield case(
        "streamed-reasoning", "reasoning_content in a stream is kept", opening,
        _delta(r'{"content":null,"reasoning_content":" I think.\n"}'), _delta('{"content":null,'
        '"reasoning_content":""}'),
        _delta('{"content":"Fine."}'), finish, usage, done, why=_ECHO, rule="reasoning.missing",
    )  # fmt: skip
    first, second = (
        _delta(
            fill_in(
                '{"tool_calls":[{"index":%s,"id":"call_%s","type":"function","function":{"name":"look",'
                '"arguments":""}}]}',
                n,
                n,
            )
        )
        for n in (0, 1)
    )
    pieces = [
        _delta(fill_in('{"tool_calls":[{"index":%s,"function":{"arguments":%s}}]}', n, text))
        for n, text in ((0, r'"{\"q\":"'), (1, r'"{\"q\":"'), (0, r'"\"x\"}"'), (1, r'"\"y\"}"'))
    ]
    yield case(
        "streamed-parallel", "two tool calls streamed in parallel are not merged", opening, first, second, *pieces,
        _delta("{}", '"tool_calls"'), usage, done, why="a tool call is lost, or two tool calls are mixed up", rule=
        "closure.missing-result",
    )  # fmt: skip
    yield case(
        "usage-and-done", "the usage chunk, which has no choices, and [DONE] are forwarded", opening,
        _delta('{"content":"Fine."}'), finish, usage, done,
        why="a client that counts tokens gets no usage, and a client that waits for [DONE] reconnects",
        rule="stream.no-terminator",
    )  # fmt: skip
    yield case(
        "provider-members", "fields that other servers add to chunks are kept", opening,
        _chunk('"choices":[{"index":0,"delta":{"content":"Fine."},"logprobs":null,"finish_reason":null,'
               '"native_finish_reason":null}]', ',"provider":"Audit","x_groq":{"id":"req_1"},"obfuscation":"aZ"'),
        finish, usage, done, why="the client does not see which provider served the request, or its request id",
    )  # fmt: skip
