"""OpenAI Responses, as Codex sends it: items with ids, encrypted reasoning, numbered events."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.recorder.audit.case import AuditCase, Theme
from workbench.recorder.audit.cases._speech import Speech, fill_in, typed_event

_ASK = '{"model":"@MODEL@","input":[{"role":"user","content":@TEXT@}]@MORE@@STREAM@}'
_CALL = (
    '{"type":"function_call","id":"fc_0audit","call_id":"@ID@","name":"look","arguments":@ARGTEXT@,'
    '"status":"completed"}'
)
_RESULT = '{"type":"function_call_output","call_id":"@ID@","output":@RESULT@}'
_TURN = '{"model":"@MODEL@","input":[{"role":"user","content":@TEXT@},@SAID@],"tools":[@TOOLS@]@MORE@@STREAM@}'
_TWO = (
    _CALL.replace("@ID@", "@ID@1")
    + ","
    + _CALL.replace("@ID@", "@ID@2").replace("fc_0audit", "fc_1audit").replace("@ARGTEXT@", r'"{\"q\": \"y\"}"')
)
_TWO_RESULTS = _RESULT.replace("@ID@", "@ID@1") + "," + _RESULT.replace("@ID@", "@ID@2")

_HEAD = (
    '"id":"resp_0audit","object":"response","created_at":1760000000,"model":"@MODEL@","parallel_tool_calls":true,'
    '"tool_choice":"auto","tools":[],"temperature":1.0,"top_p":1.0,"metadata":{},"error":null,'
    '"incomplete_details":null,'
    '"instructions":null'
)
_MESSAGE = (
    '{"id":"msg_0audit","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text",'
    '"annotations":[],"logprobs":[],"text":@TEXT@}]}'
)
_USAGE = (
    '"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":8},"output_tokens":3,"output_tokens_details":'
    '{"reasoning_tokens":2},"total_tokens":12}'
)
_AT = '"item_id":"msg_0audit","output_index":0,"content_index":0'
_DELTA = fill_in(
    'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,%s,'
    '"logprobs":[],'
    '"delta":@TEXT@}\n\n',
    _AT,
)
_FINE = _MESSAGE.replace("@TEXT@", '"Fine."')
_PENDING = (
    '{"id":"fc_1audit","type":"function_call","status":"in_progress","call_id":"call_0-audit_Z","name":"look",%s}'
)


def _completed_event(*items: str) -> str:
    text = '{"type":"response.completed","sequence_number":9,"response":{%s,"status":"completed","output":[%s],%s}}'
    return typed_event(fill_in(text, _HEAD, ",".join(items), _USAGE))


def _item(kind: str, index: int, item: str) -> str:
    return typed_event(
        fill_in('{"type":"response.output_item.%s","sequence_number":2,"output_index":%s,"item":%s}', kind, index, item)
    )


def _argument(text: str) -> str:
    at = '"sequence_number":7,"item_id":"fc_1audit","output_index":1'
    return typed_event(fill_in('{"type":"response.function_call_arguments.delta",%s,"delta":%s}', at, text))


SPEECH = Speech(
    protocol="openai-responses",
    model="gpt-5-mini",
    path="/v1/responses",
    stream_path="/v1/responses",
    ask=_ASK,
    stream=',"stream":true',
    called=_TURN.replace("@SAID@", f"{_CALL},{_RESULT}"),
    parallel=_TURN.replace("@SAID@", f"{_TWO},{_TWO_RESULTS}"),
    tool='{"type":"function","name":"look","description":"Looks.","strict":false,"parameters":@SCHEMA@@IN@}',
    tools=',"tools":[@TOOLS@]',
    whole=fill_in('{%s,"status":"completed","output":[%s],%s@MORE@}', _HEAD, _MESSAGE, _USAGE),
    opening=(
        typed_event(
            fill_in(
                '{"type":"response.created","sequence_number":0,"response":{%s,"status":"in_progress","output":['
                '],"usage":null}}',
                _HEAD,
            )
        ),
        _item(
            "added", 0, '{"id":"msg_0audit","type":"message","status":"in_progress","role":"assistant","content":[]}'
        ),
        typed_event(
            fill_in(
                '{"type":"response.content_part.added","sequence_number":3,%s,"part":{"type":"output_text",'
                '"annotations":[],'
                '"logprobs":[],"text":""}}',
                _AT,
            )
        ),
    ),
    delta=_DELTA,
    closing=(
        typed_event(
            fill_in('{"type":"response.output_text.done","sequence_number":5,%s,"text":"Fine.","logprobs":[]}', _AT)
        ),
        typed_event(
            fill_in(
                '{"type":"response.content_part.done","sequence_number":6,%s,"part":{"type":"output_text",'
                '"annotations":[],'
                '"logprobs":[],"text":"Fine."}}',
                _AT,
            )
        ),
        _item("done", 0, _FINE),
        _completed_event(_FINE),
    ),
    arguments=(
        _item("added", 1, fill_in(_PENDING, '"arguments":""')),
        *map(_argument, (r'"{\"q\" : \"caf\\u00e9"', r'"\", \"n\":1.0"', '" }"')),
        typed_event(
            '{"type":"response.function_call_arguments.done","sequence_number":8,"item_id":"fc_1audit",'
            '"output_index":1,'
            r'"arguments":"{\"q\" : \"caf\\u00e9\", \"n\":1.0 }"}'
        ),
        _item(
            "done",
            1,
            (fill_in(_PENDING, r'"arguments":"{\"q\" : \"caf\\u00e9\", \"n\":1.0 }"')).replace(
                "in_progress", "completed"
            ),
        ),
    ),
    error='{"error":{"message":@TEXT@,"type":"@TYPE@","param":null,"code":null}}',
    broken=typed_event(
        '{"type":"error","sequence_number":5,"code":"server_error","message":"The server had an error","param":null}'
    ),
    unknown=typed_event(
        '{"type":"response.audit_event","sequence_number":5,"note":"a client passes over what it does not know"}'
    ),
    odd_ids=("call_0-audit_Z", "call_" + "aZ0-_" * 11),
    query="/v1/responses?api-version=preview",
    listing="/v1/responses/resp_0%2Faudit?include=reasoning.encrypted_content&stream=false",
    headers=(("openai-organization", "org-audit"), ("openai-beta", "responses=experimental")),
    answer_headers=(
        ("x-request-id", "req_011audit"),
        ("x-ratelimit-remaining-requests", "41"),
        ("openai-processing-ms", "17"),
    ),
)

_SEALED = "gAAAAABo+/_-audit=="
_BOUND = "without its encrypted reasoning, a tool call is refused or the model starts thinking again"


def cases() -> Iterator[AuditCase]:
    """Cases of this protocol alone."""
    yield from _requests()
    yield from _fields()
    yield from _answers()


def _requests() -> Iterator[AuditCase]:
    def case(name: str, theme: Theme, shows: str, assistant_text: str, why: str, rule: str = "") -> AuditCase:
        request = SPEECH.request(
            name,
            _TURN.replace("@SAID@", assistant_text),
            MORE=',"store":false,"include":["reasoning.encrypted_content"]',
        )
        return AuditCase(name, theme, shows, request, SPEECH.answer(), why, rule)

    reasoning = '{"type":"reasoning","id":"rs_0audit","summary":[%s],"encrypted_content":"' + _SEALED + '"%s}'
    both = f"{_CALL},{_RESULT}"
    yield case(
        "encrypted-reasoning", Theme.IDS, "encrypted reasoning is forwarded unchanged", 
        fill_in(reasoning, "", "") + f",{both}", _BOUND, "reasoning.missing",
    )  # fmt: skip
    reasoning_item = fill_in(reasoning, '{"type":"summary_text","text":"**Looking** \\n"}', ',"content":null')
    yield case(
        "reasoning-summary", Theme.IDS, "summaries and encrypted reasoning remain together",
        f"{reasoning_item},{both}", _BOUND, "reasoning.altered",
    )  # fmt: skip
    custom = (
        '{"type":"custom_tool_call","id":"ctc_0audit","call_id":"call_c","name":"run","input":"*** Begin'
        '\\n\\t é \\n*** End\\n"},'
        '{"type":"custom_tool_call_output","call_id":"call_c","output":"done\\n"}'
    )
    yield case(
        "custom-calls", Theme.IDS, "tool calls with free-text input are kept", custom,
        "Codex uses such calls to edit files", "closure.missing-result",
    )  # fmt: skip
    yield case(
        "item-references", Theme.IDS, "item references are kept",
        f'{{"type":"item_reference","id":"rs_0audit"}},{both}', "the provider cannot find the item",
        "state.lost",
    )  # fmt: skip
    parts = '[{"type":"input_text","text":" a\\n"},{"type":"input_text","text":""}]'
    yield case(
        "result-parts", Theme.TEXTS, "the parts of a tool result are not merged",
        f"{_CALL},{_RESULT}".replace("@RESULT@", parts), "the model reads different text", "gateway.altered-shape",
    )  # fmt: skip
    yield case(
        "empty-result", Theme.TEXTS, "an empty tool result is kept", f"{_CALL},{_RESULT}".replace("@RESULT@", '""'),
        "the provider refuses a tool call without its result", "closure.missing-result",
    )  # fmt: skip
    roles = (
        '{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief. "}]},{"type":"message",'
        '"id":"msg_1audit","role":"assistant","status":"completed","phase":"commentary","content":[{'
        '"type":"output_text",'
        '"text":"Yes.","annotations":[]}]},{"role":"user","content":"Now."}'
    )
    yield case(
        "system-amid",
        Theme.TEXTS,
        "instructions between other items keep their positions",
        roles,
        "the model gets a different history",
    )


def _fields() -> Iterator[AuditCase]:
    why, rule = "the provider ignores parameters that the client set", "gateway.dropped-field"

    def case(name: str, shows: str, more: str, why: str = why, rule: str = rule) -> AuditCase:
        return AuditCase(name, Theme.FIELDS, shows, SPEECH.request(name, MORE=more), SPEECH.answer(), why, rule)

    yield case(
        "rare-parameters", "provider-specific parameters are kept", ',"reasoning":{"effort":"minimal","summary":"auto"'
        '},"text":'
        '{"verbosity":"low","format":{"type":"text"}},"truncation":"disabled","service_tier":"flex","max_tool_calls":3,'
        '"prompt_cache_key":"audit","client_metadata":{"x":"1"},"background":false,"instructions":"","metadata":{}',
    )  # fmt: skip
    yield case(
        "previous-response", "previous_response_id is kept", ',"previous_response_id":"resp_0audit",'
        '"store":true',
        "the model does not get the earlier conversation", "state.lost",
    )  # fmt: skip
    yield case(
        "tool-kinds", "tools that are not functions are kept", ',"tools":[{"type":"web_search"},{"type":"custom",'
        '"name":"run",'
        '"format":{"type":"grammar","syntax":"lark","definition":"start: /a+/"}},{"type":"namespace","name":"ns"'
        ',"tools":'
        '[{"type":"function","name":"a","strict":true,"parameters":{"type":"object"}}]},{"type":"mcp",'
        '"server_label":"m",'
        '"server_url":"https://example.com/mcp","require_approval":"never"}],"tool_choice":{"type":"allowed_tools",'
        '"mode":"auto","tools":[{"type":"web_search"}]}', "the model cannot call these tools",
    )  # fmt: skip


def _answers() -> Iterator[AuditCase]:
    reasoning = '{"id":"rs_0audit","type":"reasoning","summary":[%s],"encrypted_content":"%s"}'
    summary = '{"type":"summary_text","text":"**Looking** "}'
    at = '"item_id":"rs_0audit","output_index":0,"summary_index":0'
    first = _item("added", 0, fill_in(reasoning, "", "gAAAA"))
    call_event = typed_event(
        fill_in('{"type":"response.reasoning_summary_text.delta","sequence_number":3,%s,"delta":"**Looking** "}', at)
    )
    name = "streamed-reasoning"
    finished_item = fill_in(reasoning, summary, _SEALED)
    message = _FINE
    events = (
        SPEECH.opening[0], first, call_event, _item("done", 0, finished_item),
        _item("added", 1, message), _item("done", 1, message), _completed_event(finished_item, message),
    )  # fmt: skip
    yield AuditCase(
        name, Theme.EVENTS, "encrypted reasoning in a stream is kept", SPEECH.request(name, streams=True),
        SPEECH.stream_response(events), _BOUND, "reasoning.missing", is_convertible=True,
    )  # fmt: skip
