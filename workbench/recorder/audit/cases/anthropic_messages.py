"""Anthropic Messages. Thinking blocks, signatures, cache breakpoints and beta headers as Claude Code sends them."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.recorder.audit.case import AuditCase, CaseRequest, Theme
from workbench.recorder.audit.cases._speech import Speech, data, fill_in, typed_event

_ASK = '{"model":"@MODEL@","max_tokens":64,"messages":[{"role":"user","content":@TEXT@}]@MORE@@STREAM@}'
_TURN = (
    '{"model":"@MODEL@","max_tokens":64,"messages":[{"role":"user","content":@TEXT@},'
    '{"role":"assistant","content":[@SAID@]},{"role":"user","content":[@BACK@]}],"tools":[@TOOLS@]@MORE@@STREAM@}'
)
_CALL = '{"type":"tool_use","id":"@ID@","name":"look","input":@ARGS@}'
_RESULT = '{"type":"tool_result","tool_use_id":"@ID@","content":@RESULT@}'
_TWO = _CALL.replace("@ID@", "@ID@1") + "," + _CALL.replace("@ID@", "@ID@2").replace("@ARGS@", '{"q":"y"}')
_TWO_RESULTS = _RESULT.replace("@ID@", "@ID@1") + "," + _RESULT.replace("@ID@", "@ID@2")

SPEECH = Speech(
    protocol="anthropic-messages",
    model="claude-sonnet-4-5",
    path="/v1/messages",
    stream_path="/v1/messages",
    ask=_ASK,
    stream=',"stream":true',
    called=_TURN.replace("@SAID@", _CALL).replace("@BACK@", _RESULT),
    parallel=_TURN.replace("@SAID@", _TWO).replace("@BACK@", _TWO_RESULTS),
    tool='{"name":"look","description":"Looks.","input_schema":@SCHEMA@@IN@}',
    tools=',"tools":[@TOOLS@]',
    whole='{"id":"msg_01audit","type":"message","role":"assistant","model":"@MODEL@","content":[{"type":"text",'
    '"text":@TEXT@}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":3}@MORE@}',
    opening=(
        typed_event(
            '{"type":"message_start","message":{"id":"msg_01audit","type":"message","role":"assistant","model":"'
            '@MODEL@",'
            '"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}'
        ),
        typed_event('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}'),
    ),
    delta=typed_event('{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"@T@"}}').replace(
        '"@T@"', "@TEXT@"
    ),
    closing=(
        typed_event('{"type":"content_block_stop","index":0}'),
        typed_event(
            '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":9,'
            '"cache_creation_input_tokens":0,"cache_read_input_tokens":2048,"output_tokens":3}}'
        ),
        typed_event('{"type":"message_stop"}'),
    ),
    arguments=(
        typed_event(
            '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01-audit_Z",'
            '"name":"look","input":{}}}'
        ),
        *(
            typed_event(
                fill_in(
                    '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":%s}}', p
                )
            )
            for p in ('""', r'"{\"q\" : \"caf\\u00e9"', r'"\", \"n\":1.0"', '" }"')
        ),
        typed_event('{"type":"content_block_stop","index":1}'),
    ),
    error='{"type":"error","error":{"type":"@TYPE@","message":@TEXT@},"request_id":"req_011audit"}',
    broken=typed_event('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
    unknown=typed_event('{"type":"audit_event","index":0,"note":"a client passes over what it does not know"}'),
    odd_ids=("toolu_01-audit_Z", "toolu_" + "aZ0-_" * 12),
    query="/v1/messages?beta=true",
    listing="/v1/models?limit=2&after_id=claude%2Faudit",
    headers=(("anthropic-version", "2023-06-01"),),
    answer_headers=(
        ("request-id", "req_011audit"),
        ("anthropic-ratelimit-requests-remaining", "41"),
        ("anthropic-organization-id", "5f0c-audit"),
    ),
)

_SIGNED = "EqQBCkYIBRgCKkDd+/aUdiT0=="
_THINKING = r'{"type":"thinking","thinking":" I look first.\n\n ","signature":"' + _SIGNED + '"}'
_EMPTY = '{"type":"thinking","thinking":"","signature":"' + _SIGNED + '"}'
_REDACTED = '{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIwxtE3rAFBa8cr3qpP=="}'
_RETHINK = "Claude refuses a thinking block that differs in any byte from the block that it returned"
_CACHED = "without cache breakpoints nothing is cached, and every turn costs the full price"


def cases() -> Iterator[AuditCase]:
    """Cases of this protocol alone."""
    yield from _reasoning()
    yield from _results()
    yield from _fields()
    yield from _headers()
    yield from _answers()


def _turn(
    name: str,
    theme: Theme,
    shows: str,
    assistant_text: str,
    back: str = _RESULT,
    why: str = "",
    rule: str = "",
    **values: str,
) -> AuditCase:
    template = _TURN.replace("@SAID@", assistant_text).replace("@BACK@", back)
    request = SPEECH.request(name, template, values)
    return AuditCase(name, theme, shows, request, SPEECH.answer(), why, rule, is_convertible=theme is not Theme.FIELDS)


def _ask(
    name: str, theme: Theme, shows: str, why: str = "", rule: str = "", template: str = _ASK, **values: str
) -> AuditCase:
    return AuditCase(name, theme, shows, SPEECH.request(name, template, values), SPEECH.answer(), why, rule)


def _reasoning() -> Iterator[AuditCase]:
    ids, altered = Theme.IDS, "reasoning.altered"
    on = ',"thinking":{"type":"enabled","budget_tokens":1024}'
    yield _turn(
        "signature", ids, "a signed thinking block is kept", f"{_THINKING},{_CALL}", why=_RETHINK, rule=altered, MORE=on
    )
    yield _turn(
        "empty-thinking", ids, "a thinking block without text keeps its signature", f"{_EMPTY},{_CALL}", why=_RETHINK,
        rule=altered, MORE=on,
    )  # fmt: skip
    yield _turn(
        "redacted-thinking",
        ids,
        "redacted thinking is kept",
        f"{_REDACTED},{_CALL}",
        why=_RETHINK,
        rule=altered,
        MORE=on,
    )
    yield _turn(
        "thinking-between", ids, "thinking keeps its position between tool calls and text",
        f'{_THINKING},{{"type":"text","text":"Now. "}},{_EMPTY},{_CALL}', why=_RETHINK, rule="reasoning.order", MORE=on,
    )  # fmt: skip


def _results() -> Iterator[AuditCase]:
    texts, missing = Theme.TEXTS, "closure.missing-result"
    yield _turn(
        "empty-result", texts, "a tool result without content is kept", _CALL,
        '{"type":"tool_result","tool_use_id":"@ID@"}', "the provider refuses a tool call without its result", missing,
    )  # fmt: skip
    yield _turn(
        "error-result", texts, "a failed tool call is still marked as failed", _CALL,
        '{"type":"tool_result","tool_use_id":"@ID@","is_error":true,"content":""}',
        "the model mistakes a failed call for a successful one", "gateway.dropped-field",
    )  # fmt: skip
    yield _turn(
        "result-blocks", texts, "the blocks of a tool result are not merged", _CALL,
        '{"type":"tool_result","tool_use_id":"@ID@","content":[{"type":"text","text":"a\\n"},{"type":"text",'
        '"text":" b"}]}'
        ',{"type":"text","text":"@MARK@ go on"}',
        "the model reads different text", "gateway.altered-shape",
    )  # fmt: skip
    yield _ask(
        "adjacent-texts", texts, "adjacent text blocks are not merged",
        "cache breakpoints and signatures then cover different text",
        "gateway.altered-shape",
        TEXT='[{"type":"text","text":"@MARK@ one"},{"type":"text","text":" two "},{"type":"text","text":"\\nthree"}]',
    )  # fmt: skip
    yield _ask(
        "two-systems", texts, "two text blocks of the system prompt are not merged", _CACHED, "gateway.altered-shape",
        MORE=',"system":[{"type":"text","text":"Be brief. "},{"type":"text","text":"Be polite."}]',
    )  # fmt: skip
    two = _ASK.replace('"content":@TEXT@}', '"content":@TEXT@},{"role":"user","content":"and this"}')
    yield _ask(
        "same-role",
        texts,
        "two user messages in a row are not merged",
        "the model gets a different history",
        template=two,
    )
    mid = _ASK.replace(
        '"content":@TEXT@}', '"content":@TEXT@},{"role":"assistant","content":"Yes."},{"role":"system","content":"Be '
        'brief."},{"role":"user","content":"Go on."}',
    )  # fmt: skip
    yield _ask(
        "system-amid",
        texts,
        "a system message between other messages keeps its position",
        "Claude Code sends such messages",
        template=mid,
    )


def _fields() -> Iterator[AuditCase]:
    fields, dropped = Theme.FIELDS, "gateway.dropped-field"
    mark = '"cache_control":{"type":"ephemeral","ttl":"1h"}'
    yield _ask(
        "cache-control", fields, "cache breakpoints in system, tools and messages are kept", _CACHED,
        "cost.cache-break",
        TEXT=fill_in('[{"type":"text","text":"@MARK@ cached",%s}]', mark),
        MORE=fill_in(',"system":[{"type":"text","text":"Be brief.",%s}],"tools":[{"name":"look","input_schema":{"type":'
        '"object"},%s}]', mark, mark),
    )  # fmt: skip
    yield _ask(
        "rare-parameters", fields, "the provider's own parameters are kept",
        "the provider ignores parameters that the client set", dropped,
        MORE=',"metadata":{"user_id":"user_audit"},"service_tier":"standard_only","stop_sequences":["\\n\\nHuman:",'
        '"END "],"top_k":40,"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"high"},'
        '"context_management":{"edits":[{"type":"clear_tool_uses_20250919","keep":{"type":"tool_uses","value":3}}]},'
        '"container":null,"mcp_servers":[]',
    )  # fmt: skip
    yield _ask(
        "tool-members", fields, "all fields of a tool declaration are kept", "the model calls the tool differently",
        dropped,
        MORE=',"tools":[{"name":"look","description":"","input_schema":{"type":"object"},"strict":true,"defer_loading":'
        'true,"input_examples":[{"q":"a"}],"eager_input_streaming":true,"allowed_callers":["direct"]},{"type":'
        '"web_search_20250305","name":"web_search","max_uses":2,"allowed_domains":["example.com"]}],'
        '"tool_choice":{"type":"auto","disable_parallel_tool_use":true}',
    )  # fmt: skip
    yield _ask(
        "documents", fields, "documents and citations are kept", "the model does not read the documents that were sent",
        dropped,
        TEXT='[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"@MARK@"},"title":"",'
        '"context":null,"citations":{"enabled":true}},{"type":"text","text":"Cite."}]',
    )  # fmt: skip
    yield _turn(
        "server-tools", fields, "server tool calls and their results are kept",
        '{"type":"server_tool_use","id":"srvtoolu_01audit",'
        '"name":"web_search","input":{"query":"x"},"caller":{"type":"direct"}},{"type":"web_search_tool_result",'
        '"tool_use_id":"srvtoolu_01audit","content":[{"type":"web_search_result","url":"https://example.com/?a=1&b=2",'
        '"title":"","encrypted_content":"EqgfCioIARgB+/8=","page_age":null}]},' + _CALL,
        why="the provider refuses a tool result without its call", rule=dropped,
    )  # fmt: skip


def _headers() -> Iterator[AuditCase]:
    why, rule = "without the beta header the request is refused, or the response differs", "gateway.beta-header"
    betas = "interleaved-thinking-2025-05-14,context-management-2025-06-27, fine-grained-tool-streaming-2025-05-14"
    name = "beta-header"
    request = SPEECH.request(name, headers=(("anthropic-beta", betas),))
    yield AuditCase(name, Theme.HEADERS, "the beta header is kept", request, SPEECH.answer(), why, rule)
    name = "beta-headers"
    twice = SPEECH.request(
        name, headers=(("anthropic-beta", "context-1m-2025-08-07"), ("anthropic-beta", "files-api-2025-04-14"))
    )
    yield AuditCase(name, Theme.HEADERS, "two beta headers are both kept", twice, SPEECH.answer(), why, rule)
    name = "count-tokens"
    body = '{"model":"@MODEL@","messages":[{"role":"user","content":"@MARK@ hello"}]}'
    count = CaseRequest("/v1/messages/count_tokens", SPEECH.text(body, name, {}).encode(), SPEECH.headers)
    answer = SPEECH.answer('{"input_tokens":9}')
    yield AuditCase(
        name,
        Theme.PATH,
        "a request to count tokens is forwarded",
        count,
        answer,
        "the client gets a different token count",
    )


def _answers() -> Iterator[AuditCase]:
    def case(name: str, theme: Theme, shows: str, *events: str, why: str = "", rule: str = "") -> AuditCase:
        request = SPEECH.request(name, streams=True)
        return AuditCase(name, theme, shows, request, SPEECH.stream_response(events), why, rule, is_convertible=True)

    def block(index: int, start: str, *deltas: str) -> tuple[str, ...]:
        at = f'"index":{index}'
        return (
            typed_event(fill_in('{"type":"content_block_start",%s,"content_block":%s}', at, start)),
            *(typed_event(fill_in('{"type":"content_block_delta",%s,"delta":%s}', at, delta)) for delta in deltas),
            typed_event(fill_in('{"type":"content_block_stop",%s}', at)),
        )

    start, *_ = SPEECH.opening
    *_, usage, stop = SPEECH.closing
    signature = fill_in('{"type":"signature_delta","signature":"%s"}', _SIGNED)
    thought = block(
        0,
        '{"type":"thinking","thinking":"","signature":""}',
        '{"type":"thinking_delta","thinking":" I think\\n"}',
        signature,
    )
    sealed = block(1, _REDACTED)
    text_block = block(2, '{"type":"text","text":""}', '{"type":"text_delta","text":"Fine. "}')
    yield case(
        "streamed-thinking", Theme.EVENTS, "thinking, its signature and redacted blocks are kept", start, *thought,
        *sealed, *text_block, usage, stop, why=_RETHINK, rule="reasoning.altered",
    )  # fmt: skip
    bare = block(0, '{"type":"thinking","thinking":"","signature":""}', signature)
    yield case(
        "signature-alone", Theme.EVENTS, "a signature without thinking text is kept", start, *bare,
        *block(1, '{"type":"text","text":""}', '{"type":"text_delta","text":"Fine."}'), usage, stop,
        why=_RETHINK, rule="reasoning.altered",
    )  # fmt: skip
    ping = data('{"type": "ping"}', "ping")
    yield case(
        "pings", Theme.EVENTS, "pings are forwarded", SPEECH.opening[0], ping, *SPEECH.events()[1:4], ping,
        *SPEECH.events()[4:], why="a client that waits for the next event times out",
    )  # fmt: skip
