"""Whatever a target cannot hold of a part has a line of loss: nothing that says something goes without a word."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench import protocols
from workbench.convert import convert
from workbench.convert._parts import fit_call, fit_extra, fit_media, fit_result, fit_text
from workbench.convert._request import fit_choice, fit_params, fit_thinking, fit_tools
from workbench.convert._response import fit_end, fit_error, fit_names, fit_stop, fit_usage
from workbench.convert.losses import FieldPlaces, LossReport
from workbench.convert.normal import Param
from workbench.convert.reasoning import fit_reasoning
from workbench.ir import (
    ApiError,
    Carrier,
    Media,
    Message,
    ModelRequest,
    ModelResponse,
    Opaque,
    Reasoning,
    Source,
    Text,
    ToolCallIR,
    ToolChoice,
    ToolDef,
    ToolResultIR,
    Usage,
)
from workbench.protocols import Capabilities
from workbench.protocols.decode import DecodedExchange
from workbench.wire.exchange import Body, Exchange, HttpRequest

TARGETS: dict[str, Capabilities] = {name: protocols.get(name).capabilities for name in protocols.protocols()}
POINTER = "/messages/0/content/0"


def said(value: object) -> Iterator[object]:
    """Every text, number and flag that a value holds, but for where it came from."""
    if isinstance(value, dict):
        for each in value.values():
            yield from said(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from said(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name not in ("source", "facts"):
                yield from said(getattr(value, field.name))
    elif value is not None and value != "":
        yield value


def held(value: object, markers: set[str]) -> set[str]:
    text = " ".join(map(str, said(value)))
    # The opaque data of redacted thinking moves into a reasoning block as the base64 of its bytes.
    return {marker for marker in markers if marker in text or b64encode(marker.encode()).decode() in text}


def optional(**strategies: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the fields."""
    return st.fixed_dictionaries({}, optional=strategies)


EXTRAS = st.sampled_from(
    [
        {},
        {"odd": "«extra»"},
        {"cache_control": {"type": "ephemeral", "ttl": "«ttl»"}},
        {"cache_control": {"type": "ephemeral", "scope": "«scope»"}, "deep": {"odd": ["«deep»"]}},
    ]
)
CARRIERS = st.sampled_from(list(Carrier))
MEDIA = st.builds(
    lambda kind, more, extra: Media(
        kind, **more, extra=extra, source=Source(fields={name: f"/{name}" for name in more})
    ),
    st.sampled_from(["image", "document", "file", "audio", "video", "«kind»"]),
    optional(
        media_type=st.sampled_from(["image/png", "image/jpg", "application/pdf", "image/«type»"]),
        data=st.just("«data»"),
        url=st.sampled_from(["https://a.example/«url»", "data:image/png;base64,«data»"]),
        file_id=st.just("«file»"),
    ),
    EXTRAS,
)
REASONING = st.builds(
    lambda carrier, text, more, extra: Reasoning(carrier, text, **more, extra=extra),
    CARRIERS,
    st.sampled_from([None, "", "«text»"]),
    optional(signature=st.just("«signature»"), data=st.sampled_from(["«data»", {"odd": "«data»"}])),
    EXTRAS,
)
CALLS = st.builds(
    lambda shape, extra: ToolCallIR("c1", "read", *shape, extra=extra),
    st.sampled_from(
        [
            ({"path": "«path»"}, "function", '{"path": "«path»"}'),
            ({"path": "«path»"}, "function"),
            ("«free»", "custom"),
            (None, "function", ""),
            (["«list»"], "function", '["«list»"]'),
            ({"n": 1.5}, "function", '{"n": 1.50000000000000000001}'),
            ({"a": "«last»"}, "function", '{"a": "«first»", "a": "«last»"}'),
        ]
    ),
    EXTRAS,
)
RESULTS = st.builds(
    lambda content, is_error, extra: ToolResultIR("c1", tuple(content), is_error, extra=extra),
    st.lists(
        st.sampled_from(
            [Text("«one»"), Text("«two»", {"odd": "«odd»"}), Opaque("json", {"a": "«json»"}), Opaque("«o»", 1)]
        )
        | MEDIA,
        max_size=3,
    ),
    st.sampled_from([None, True, False]),
    EXTRAS,
)
TOOLS = st.builds(
    lambda name, schema, kind, strict, extra: ToolDef(name, "«about»", schema, kind, strict, extra, "/tools/0"),
    st.sampled_from([None, "read"]),
    st.sampled_from([None, {"type": "object", "title": "«schema»"}, "«no schema»"]),
    st.sampled_from(["client", "server", "custom"]),
    st.sampled_from([None, True]),
    EXTRAS,
)


def whole(fit: Callable[..., Any]) -> Callable[[Any, Capabilities, LossReport], Any]:
    return lambda part, capabilities, ledger: fit(part, POINTER, capabilities, ledger)


FITS: list[tuple[str, st.SearchStrategy[Any], Callable[[Any, Capabilities, LossReport], Any]]] = [
    ("extra", EXTRAS, whole(fit_extra)),
    ("text", st.builds(Text, st.sampled_from(["", " ", "«text»"]), EXTRAS), whole(fit_text)),
    ("media", MEDIA, lambda part, caps, ledger: fit_media(part, POINTER, caps.media.kinds, caps, ledger)),
    ("reasoning", REASONING, whole(fit_reasoning)),
    ("call", CALLS, whole(fit_call)),
    ("result", RESULTS, lambda part, caps, ledger: fit_result(Message("user", (part,)), part, caps, ledger)),
    (
        "tools",
        TOOLS,
        lambda tool, caps, ledger: fit_tools(ModelRequest("x", "m", (), tools=(tool,)), caps, ledger, FieldPlaces(b"")),
    ),
    (
        "params",
        st.sampled_from(
            [
                Param("/top_k", 7, "top_k"),
                Param("/odd", "«odd»"),
                Param("/effort", "«effort»", "effort"),
                Param("/service_tier", "«tier»", "service_tier"),
                Param("/format", {"schema": {"title": "«schema»"}, "name": "«name»"}, "response_schema"),
            ]
        ),
        lambda param, caps, ledger: fit_params((param,), caps, ledger),
    ),
]


@pytest.mark.parametrize(("drawn", "fit"), [row[1:] for row in FITS], ids=[row[0] for row in FITS])
@given(data=st.data())
def test_what_is_dropped_writes_a_loss(drawn: Any, fit: Any, data: st.DataObject) -> None:
    part = data.draw(drawn)
    markers = {word for each in map(str, said(part)) for word in _marked(each)}
    for target, capabilities in TARGETS.items():
        ledger = LossReport()
        gone = markers - held(fit(part, capabilities, ledger), markers)
        assert not gone or ledger.losses(), f"{target} drops {sorted(gone)}"


NOWHERE = FieldPlaces(b"")
THINKING = st.builds(
    lambda thinking, params: ModelRequest("x", "m", (), thinking=thinking, params=params),
    st.sampled_from([None, "on", "off", "adaptive", "«thinking»"]),
    optional(
        effort=st.sampled_from(["low", "«effort»"]),
        thinking_budget=st.sampled_from([0, 500, 1024, 5000]),
        max_tokens=st.sampled_from([900, 1024, 4096, 9000]),
    ),
)
CHOICES = st.builds(
    lambda choice, parallel, names: ModelRequest(
        "x", "m", (), tools=tuple(ToolDef(name, None, None) for name in names), tool_choice=choice, parallel=parallel
    ),
    st.none()
    | st.builds(ToolChoice, st.sampled_from(["auto", "none", "any"]))
    | st.builds(ToolChoice, st.just("tool"), st.sampled_from(["read", "write a file"]))
    | st.builds(
        lambda value: ToolChoice("other", value=value),
        st.sampled_from(
            [
                "«choice»",
                {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "read"}]},
                {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "read"}]},
                {"mode": "ANY", "allowedFunctionNames": ["read", "write"]},
            ]
        ),
    ),
    st.sampled_from([None, True, False]),
    st.sampled_from([(), ("read",), ("read", "write a file")]),
)
USAGES = st.builds(
    lambda counts, raw: ModelResponse("x", usage=Usage(7, 8, **counts, raw=raw)),
    optional(cache_read=st.sampled_from([0, 3]), cache_write=st.sampled_from([0, 4]), reasoning=st.just(5)),
    st.sampled_from([{}, {"input_tokens": 7, "odd": 9}, {"odd": {"deep": 1}, "cost": "«cost»"}]),
)
ERRORS = st.builds(
    lambda fields, details, is_raw, is_stream: ModelResponse(
        "x",
        error=ApiError(
            "no",
            **fields,
            details=details,
            raw={"error": {"message": "no", **fields, **details}} if is_raw else None,
            pointer="/error/message",
        ),
        is_stream=is_stream,
    ),
    optional(**{name: st.just(f"«{name}»") for name in ("type", "code", "param", "request_id")}),
    st.sampled_from([{}, {"failed_generation": "«made»"}]),
    st.booleans(),
    st.booleans(),
)
ENDS = st.builds(
    lambda stop, reason, parts, is_stream, is_complete, is_error: ModelResponse(
        "x",
        messages=(Message("assistant", parts),),
        finish_reason=reason if stop else None,
        stop=stop,
        error=ApiError("no") if is_error else None,
        is_stream=is_stream,
        is_complete=is_complete,
    ),
    st.sampled_from([None, "stop", "tool_calls", "length", "filter", "pause", "other"]),
    st.sampled_from(["stop", "tool_use", "«reason»"]),
    st.sampled_from([(), (ToolCallIR("c1", "read", {}, "function"),)]),
    *(st.booleans(),) * 3,
)
Kept = tuple[dict[str, Any], dict[str, Any]]
"""What was said and what of it is kept, by the words or the place that a loss would tell it with."""


def kept_thinking(request: ModelRequest, capabilities: Capabilities, ledger: LossReport) -> Kept:
    def by_place(switch: str | None, params: dict[str, Any]) -> dict[str, Any]:
        names = {NOWHERE.of(name): params.get(name) for name in ("effort", "thinking_budget")}
        return {NOWHERE.of("thinking"): switch, **names, "max_tokens": params.get("max_tokens")}

    params = {name: value for name, value in request.params.items() if name in capabilities.request.params}
    before = by_place(request.thinking, params)
    return before, by_place(fit_thinking(request, params, capabilities, ledger, NOWHERE), params)


def kept_choice(request: ModelRequest, capabilities: Capabilities, ledger: LossReport) -> Kept:
    """What every protocol does unasked (any number of calls, as the model likes) is kept when it is not said."""

    def by_place(choice: ToolChoice | None, parallel: bool | None) -> dict[str, Any]:
        asked = (choice.mode, choice.name) if choice and choice.mode != "auto" else None
        return {NOWHERE.of("tool_choice"): asked, NOWHERE.of("parallel"): False if parallel is False else None}

    names = {"write a file": "write_a_file"}
    fitted = fit_choice(request, request.tools, names, capabilities, ledger, NOWHERE)
    return by_place(request.tool_choice, request.parallel), by_place(*fitted)


def kept_usage(response: ModelResponse, capabilities: Capabilities, ledger: LossReport) -> Kept:
    def by_name(usage: Usage) -> dict[str, Any]:
        return {repr(name): getattr(usage, name) for name in ("cache_read", "cache_write", "reasoning")}

    before, after = response.usage, fit_usage(response, capabilities, ledger, NOWHERE)
    assert before and after
    odd = {f"/usage/{key}": value for key, value in before.raw.items() if key != "input_tokens"}
    return {**by_name(before), **odd}, by_name(after)


def kept_stop(response: ModelResponse, capabilities: Capabilities, ledger: LossReport) -> Kept:
    """A finish reason that is no usual one says more than the word it is read as."""
    reason, at = response.finish_reason or "", NOWHERE.of("finish_reason")
    kept = fit_stop(response, response.messages, capabilities, ledger, NOWHERE)
    return {at: reason if "«" in reason else response.stop}, {at: kept}


def kept_end(response: ModelResponse, capabilities: Capabilities, ledger: LossReport) -> Kept:
    before = (response.stop, Usage(7, 8))
    return {"a stream": before}, {"a stream": fit_end(response, *before, capabilities, ledger, NOWHERE)}


def kept_names(response: ModelResponse, capabilities: Capabilities, ledger: LossReport) -> Kept:
    own = fit_names(response, capabilities, ledger, NOWHERE)
    return tuple(
        {NOWHERE.of(n): value for n, value in each.items()}
        for each in ({"id": response.id, "model": response.model}, own)
    )


def kept_error(response: ModelResponse, capabilities: Capabilities, ledger: LossReport) -> Kept:
    before, after = response.error, fit_error(response, capabilities, ledger, NOWHERE)
    assert before
    first, then = (
        {name: getattr(each, name) for name in ("type", "code", "param", "request_id")} for each in (before, after)
    )
    return {**first, **before.details}, {**then, **after.details}


BESIDE: list[tuple[str, st.SearchStrategy[Any], Callable[[Any, Capabilities, LossReport], Kept]]] = [
    ("thinking", THINKING, kept_thinking),
    ("choice", CHOICES, kept_choice),
    ("usage", USAGES, kept_usage),
    ("stop", ENDS, kept_stop),
    ("end", ENDS, kept_end),
    (
        "names",
        optional(id=st.just("«id»"), model=st.just("«model»")).map(lambda own: ModelResponse("x", **own)),
        kept_names,
    ),
    ("error", ERRORS, kept_error),
]


@pytest.mark.parametrize(("drawn", "fit"), [row[1:] for row in BESIDE], ids=[row[0] for row in BESIDE])
@given(data=st.data())
def test_what_is_dropped_beside_the_messages_is_told_by_name(drawn: Any, fit: Any, data: st.DataObject) -> None:
    whole = data.draw(drawn)
    for target, capabilities in TARGETS.items():
        ledger = LossReport()
        before, after = fit(whole, capabilities, ledger)
        told = [f"{loss.pointer} {loss.what}" for loss in ledger.losses()]
        for name, value in before.items():
            is_kept = value is None or after.get(name) == value
            assert is_kept or any(name in line for line in told), f"{target} drops {name} ({value}) and tells {told}"
        assert before != after or not [line for line in told if line.startswith("/")], f"{target} tells {told}"


def _marked(text: str) -> list[str]:
    return [f"«{piece.partition('»')[0]}»" for piece in text.split("«")[1:]]


@pytest.mark.parametrize(("target", "media_type"), list(product(sorted(TARGETS), ["image/x-foo", "image/png"])))
def test_an_image_of_any_type_arrives_or_is_lost_in_words(target: str, media_type: str) -> None:
    capabilities, ledger = TARGETS[target], LossReport()
    part = Media("image", media_type, "«data»")
    fitted = fit_media(part, POINTER, capabilities.media.kinds, capabilities, ledger)
    assert (fitted is None) == any(loss.instead == "left out" for loss in ledger.losses())
    types = capabilities.media.types.get("image")
    assert not (types and media_type not in types) or fitted is None


def test_an_image_of_an_unknown_type_is_a_loss_of_the_whole_conversion() -> None:
    url = {"type": "image_url", "image_url": {"url": "data:image/x-foo;base64,AAAA"}}
    body = '{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"look"},%s]}]}'
    request = HttpRequest(
        "POST", "https://api.openai.com/v1/chat/completions", body=Body((body % json.dumps(url)).encode())
    )
    made = convert(DecodedExchange(0, Exchange("1", request)), "bedrock-converse")
    assert [loss.pointer for loss in made.losses if "image/x-foo" in loss.what] == ["/messages/0/content/1"]


def test_a_loss_is_seen_by_the_law() -> None:
    """The law can fail: a part that loses a value in silence breaks it."""
    part = Media("image", "image/png", "«data»")
    markers = {"«data»"}
    assert held(replace(part, data=None), markers) == set()
    assert held(part, markers) == markers
