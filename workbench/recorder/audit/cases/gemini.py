"""Gemini ``generateContent``: thought signatures, the model in the path, streams without a terminal event."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.recorder.audit.case import AuditCase, Theme
from workbench.recorder.audit.cases._speech import Speech, data, fill_in

_ASK = '{"contents":[{"role":"user","parts":[{"text":@TEXT@}]}]@MORE@}'
_CALL = '{"functionCall":{"id":"@ID@","name":"look","args":@ARGS@}}'
_RESULT = '{"functionResponse":{"id":"@ID@","name":"look","response":{"result":@RESULT@}}}'
_TURN = (
    '{"contents":[{"role":"user","parts":[{"text":@TEXT@}]},{"role":"model","parts":[@SAID@]},{"role":"user","parts":'
    '[@BACK@]}],"tools":[{"functionDeclarations":[@TOOLS@]}]@MORE@}'
)
_TWO = _CALL.replace("@ID@", "@ID@1") + "," + _CALL.replace("@ID@", "@ID@2").replace("@ARGS@", '{"q":"y"}')
_TWO_RESULTS = _RESULT.replace("@ID@", "@ID@1") + "," + _RESULT.replace("@ID@", "@ID@2")
_ABOUT = (
    '"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3,"totalTokenCount":14,"thoughtsTokenCount":2},'
    '"modelVersion":"@MODEL@","responseId":"0audit-Z_"'
)


def _event(parts: str, finish: str = "", more: str = "") -> str:
    content = fill_in('"content":{"parts":[%s],"role":"model"}', parts)
    return data(fill_in('{"candidates":[{%s%s,"index":0}],%s%s}', content, finish, _ABOUT, more))


SPEECH = Speech(
    protocol="gemini",
    model="gemini-2.5-flash",
    path="/v1beta/models/@MODEL@:generateContent",
    stream_path="/v1beta/models/@MODEL@:streamGenerateContent?alt=sse",
    ask=_ASK,
    stream="",
    called=_TURN.replace("@SAID@", _CALL).replace("@BACK@", _RESULT),
    parallel=_TURN.replace("@SAID@", _TWO).replace("@BACK@", _TWO_RESULTS),
    tool='{"name":"look","description":"Looks.","parametersJsonSchema":@SCHEMA@@IN@}',
    tools=',"tools":[{"functionDeclarations":[@TOOLS@]}]',
    whole=fill_in(
        '{"candidates":[{"content":{"parts":[{"text":@TEXT@}],"role":"model"},"finishReason":"STOP","index":0,'
        '"avgLogprobs":'
        "-0.25}],%s@MORE@}",
        _ABOUT,
    ),
    opening=(_event('{"text":"","thought":true}'),),
    delta=_event('{"text":@TEXT@}'),
    closing=(_event('{"text":"","thoughtSignature":"CiQB0e2Kb+/x=="}', ',"finishReason":"STOP"'),),
    arguments=(
        _event(
            '{"functionCall":{"id":"call-audit_Z","name":"look","args":{"q":"caf\\u00e9","n":1.0}},"thoughtSignature":'
            '"CiQB0e2Kb+/x=="}'
        ),
    ),
    error='{"error":{"code":400,"message":@TEXT@,"status":"@TYPE@","details":[{"@type":'
    '"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"7.5s"}]}}',
    broken=data('{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}'),
    unknown=data('{"auditEvent":{"note":"a client passes over what it does not know"}}'),
    odd_ids=("call-audit_Z", "c" + "aZ0-_" * 11),
    query="/v1beta/models/@MODEL@:generateContent?alt=json&prettyPrint=false",
    listing="/v1beta/models/tuned%2Faudit?pageSize=2&pageToken=a%2Bb%3D",
    headers=(("x-goog-api-client", "google-genai-sdk/1.60.0 gl-python/3.11"),),
    answer_headers=(("x-goog-request-id", "0audit"), ("server-timing", "gfet4t7; dur=17")),
)

_SIGNED = "Gemini 3 refuses a tool call if its thought signature is not sent back byte for byte"


def cases() -> Iterator[AuditCase]:
    """Cases of this protocol alone."""
    signature = '"thoughtSignature":"CiQB0e2Kb+/x=="'
    yield _turn(
        "thought-signature", Theme.IDS, "the thought signature of a call is kept", _CALL[:-1] + f",{signature}}}",
        why=_SIGNED, rule="reasoning.missing",
    )  # fmt: skip
    yield _turn(
        "signed-text", Theme.IDS, "a thought signature on an empty text is kept",
        f'{{"text":"I look. ","thought":true}},{_CALL},{{"text":"",{signature}}}', why=_SIGNED, rule=
        "reasoning.missing",
    )  # fmt: skip
    yield _turn(
        "first-signature", Theme.IDS, "the first of several parallel calls keeps the signature",
        _TWO.replace("@ARGS@}},", fill_in("@ARGS@},%s},", signature)), _TWO_RESULTS,
        why=_SIGNED, rule="reasoning.misplaced",
    )  # fmt: skip
    yield _turn(
        "no-arguments", Theme.TEXTS, "a tool call without arguments is kept",
        '{"functionCall":{"name":"look","args":{}}}', '{"functionResponse":{"name":"look","response":{}}}',
        why="the provider refuses a tool call without its result", rule="closure.missing-result",
    )  # fmt: skip
    yield from _fields()
    yield from _texts()
    yield from _answers()


def _turn(
    name: str, theme: Theme, shows: str, assistant_text: str, back: str = _RESULT, why: str = "", rule: str = ""
) -> AuditCase:
    template = _TURN.replace("@SAID@", assistant_text).replace("@BACK@", back)
    return AuditCase(name, theme, shows, SPEECH.request(name, template), SPEECH.answer(), why, rule)


def _ask(
    name: str, theme: Theme, shows: str, why: str, template: str = _ASK, rule: str = "", **values: str
) -> AuditCase:
    return AuditCase(name, theme, shows, SPEECH.request(name, template, values), SPEECH.answer(), why, rule)


def _fields() -> Iterator[AuditCase]:
    fields, dropped = Theme.FIELDS, "gateway.dropped-field"
    why = "the provider ignores parameters that the client set"
    yield _ask(
        "rare-parameters", fields, "provider-specific parameters are kept", why, rule=dropped,
        MORE=',"generationConfig":{"thinkingConfig":{"thinkingBudget":-1,"includeThoughts":true},"temperature":1.0,'
        '"responseModalities":["TEXT"],"seed":0,"responseJsonSchema":{"type":["string","null"],"minLength":0}},'
        '"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}],'
        '"cachedContent":"cachedContents/a",'
        '"labels":{},"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["look"]}}',
    )  # fmt: skip
    yield _ask(
        "tool-kinds", fields, "tools that are not functions are kept", why, rule=dropped,
        MORE=',"tools":[{"googleSearch":{}},{"codeExecution":{}},{"urlContext":{}},{"functionDeclarations":[{'
        '"name":"look",'
        '"behavior":"NON_BLOCKING","parameters":{"type":"OBJECT","properties":{"q":{"type":"STRING","nullable":true}},'
        '"propertyOrdering":["q"]},"response":{"type":"OBJECT"}}]}]',
    )  # fmt: skip
    yield _ask(
        "snake-case", fields, "field names in snake case, which are also legal, are kept", why, rule=dropped,
        MORE=',"system_instruction":{"parts":[{"text":"Be brief."}]},"generation_config":{"max_output_tokens":64}',
    )  # fmt: skip


def _texts() -> Iterator[AuditCase]:
    three = _ASK.replace('{"text":@TEXT@}', '{"text":@TEXT@},{"text":" two "},{"text":"\\nthree"}')
    yield _ask(
        "adjacent-texts",
        Theme.TEXTS,
        "adjacent text blocks are not merged",
        "signatures move to another part",
        three,
        "gateway.altered-shape",
    )
    two = _ASK.replace("}]}]", '}]},{"role":"user","parts":[{"text":"and this"}]}]')
    yield _ask(
        "same-role", Theme.TEXTS, "two user turns in a row are not merged", "the model gets a different history", two
    )


def _answers() -> Iterator[AuditCase]:
    name = "streamed-signature"
    thought = _event('{"text":" I look.\\n","thought":true}')
    call = SPEECH.arguments[0]
    last = _event('{"text":""}', ',"finishReason":"STOP","finishMessage":""', ',"promptFeedback":{}')
    events = (thought, call, last)
    yield AuditCase(
        name, Theme.EVENTS, "thoughts and the signature of a call are kept", SPEECH.request(name, streams=True),
        SPEECH.stream_response(events), _SIGNED, "reasoning.missing", is_convertible=True,
    )  # fmt: skip
