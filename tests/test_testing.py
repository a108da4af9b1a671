"""The public strategies: what they make is what they say, and the example of their documentation runs."""

from __future__ import annotations

import builtins
import importlib
import re
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.convert import laws
from workbench import protocols, testing
from workbench.convert.convert import read_body
from workbench.ir import Carrier, Media, Message, ModelRequest, ModelResponse, Part, Reasoning, ToolCallIR, ToolResultIR

FEW = settings(
    max_examples=10,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
LOOK = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def test_the_example_of_the_documentation_runs() -> None:
    assert testing.__doc__
    lines = re.findall(r"^    (.*)$", testing.__doc__, re.MULTILINE)
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    settings(FEW)(names["test_the_gateway_reads_what_clients_send"])()


@FEW
@given(testing.requests())
def test_requests_are_in_normal_form(request: ModelRequest) -> None:
    roles = [message.role for message in request.messages]
    assert set(roles) <= {"user", "assistant", "tool", "system"}
    assert all(a != b for a, b in pairwise(roles) if b in ("assistant", "tool"))
    for message, before in zip(request.messages[1:], request.messages, strict=False):
        if message.role == "tool":
            assert [r.tool_call_id for _, r in message.tool_results()] == [c.id for _, c in before.tool_calls()]


@FEW
@given(testing.answers(stream=True))
def test_answers_are_in_normal_form(answer: ModelResponse) -> None:
    assert answer.is_stream and answer.messages
    assert all(message.role == "assistant" for message in answer.messages)


def parts(request: ModelRequest) -> list[Part]:
    def inner(message: Message) -> list[Part]:
        results = [p for p in message.parts if isinstance(p, ToolResultIR)]
        return [*message.parts, *(part for result in results for part in result.content)]

    return [part for message in request.messages for part in inner(message)]


SEEN: dict[str, Callable[[ModelRequest], bool]] = {
    "a call with its result": lambda r: any(isinstance(p, ToolResultIR) for p in parts(r)),
    "media": lambda r: any(isinstance(p, Media) for p in parts(r)),
    "a result that failed": lambda r: any(isinstance(p, ToolResultIR) and p.is_error for p in parts(r)),
    "arguments that do not parse": lambda r: any(isinstance(p, ToolCallIR) and p.error for p in parts(r)),
    "a custom call": lambda r: any(isinstance(p, ToolCallIR) and p.format == "custom" for p in parts(r)),
    "no ids": lambda r: any(isinstance(p, ToolCallIR) and p.id is None for p in parts(r)),
    "a choice of a tool": lambda r: r.tool_choice is not None and r.tool_choice.mode == "tool",
    "a parameter": lambda r: bool(r.params),
    **{
        f"reasoning in {carrier.value}": (
            lambda r, carrier=carrier: any(isinstance(p, Reasoning) and p.carrier is carrier for p in parts(r))
        )
        for carrier in Carrier
    },
}


class EverythingSeen(Exception):
    """No more examples are needed."""


def test_requests_hold_everything_in_time() -> None:
    missing = dict(SEEN)

    @settings(LOOK, max_examples=800, derandomize=True, phases=[Phase.generate])
    @given(testing.requests())
    def look(request: ModelRequest) -> None:
        for name, seen in [*missing.items()]:
            if seen(request):
                del missing[name]
        if not missing:
            raise EverythingSeen

    with pytest.raises(EverythingSeen):
        look()
    assert not missing


@pytest.mark.sampled(3)
@pytest.mark.parametrize("protocol", laws.names())
def test_bodies_are_the_protocols_own(protocol: str) -> None:
    adapter = protocols.get(protocol)

    @FEW
    @given(testing.request_bodies(protocol), testing.answer_bodies(protocol), testing.streams(protocol))
    def holds(request: bytes, answer: bytes, stream: bytes) -> None:
        assert adapter.decode_request(request).messages
        assert read_body(adapter, answer, "response").protocol == protocol
        assert read_body(adapter, stream, "response").protocol == protocol

    holds()


@FEW
@given(st.binary(max_size=40), st.data())
def test_chunks_are_the_same_bytes(body: bytes, data: st.DataObject) -> None:
    assert b"".join(data.draw(testing.chunked(body))) == body


@FEW
@given(testing.json_schemas(), testing.json_objects())
def test_schemas_and_objects_are_json(schema: dict[str, Any], value: dict[str, Any]) -> None:
    from workbench.wire.jsontext import dumps, loads

    assert loads(dumps(schema)) == schema and loads(dumps(value)) == value
    assert schema["type"] == "object" and set(schema["required"]) <= set(schema["properties"])


def test_without_hypothesis_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("hypothesis"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "workbench.testing")
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match="install the package 'hypothesis'"):
        importlib.import_module("workbench.testing")
