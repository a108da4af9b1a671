"""Telegraph: a protocol that nobody speaks, as the model of a new one.

``POST /telegraph/wire``. A request is a log of entries by who wrote them; a tool call is an errand with a ticket. A
response is a telegram with a reply and a toll. A stream has events of its own: ``open``, ``words``, ``errand``,
``orders`` (the arguments of an errand, as text in pieces) and ``close``.

Such a package is all that a protocol needs. Workbench finds it by the entry point ``workbench.adapters``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from telegraph.reading import PARAMS, read_request, read_response
from telegraph.socket import TelegraphTurns, claims_message
from telegraph.stream import StreamDecoder
from telegraph.writing import StreamWriter, write_request, write_response

from workbench import regex
from workbench.ir import JsonValue, Message, ModelRequest, ModelResponse
from workbench.protocols import (
    AnswerCapabilities,
    Capabilities,
    Param,
    RequestCapabilities,
    ToolCapabilities,
    TransportSdk,
)
from workbench.protocols.common.codec import Codec, CodecAdapter
from workbench.protocols.declaration import BaseVariable, ErrorStyle, ImportHints, Serving, endpoint

_EVENTS = ("open", "words", "errand", "orders", "close")


def _request_nodes(request: ModelRequest) -> Sequence[Message]:
    """Everything of a request that can be edited in place: its own keys as a message without parts, then the log."""
    keys = {} if request.model is None else {"operator": request.model}
    tools = (
        Message("", (), extra={"do": t.name, "about": t.description, "takes": t.schema}, pointer=t.pointer)
        for t in request.tools
    )
    return (Message("", request.system, extra=keys | dict(request.params)), *tools, *request.messages)


def _response_nodes(response: ModelResponse) -> Sequence[Message]:
    keys = {"telegram": response.id, "operator": response.model, "ended": response.finish_reason}
    return (Message("", (), extra={k: v for k, v in keys.items() if v is not None}), *response.messages)


def _params(request: ModelRequest) -> Iterator[Param]:
    return (Param(f"/{key}", value, PARAMS.get(key, "")) for key, value in request.params.items())


class Telegraph(CodecAdapter):
    """The adapter. What it does not state has the default of ``AdapterDefaults``."""

    name = "telegraph"
    capabilities = Capabilities(
        tools=ToolCapabilities(arguments="object", choices=frozenset(("auto",))),
        request=RequestCapabilities(
            params=frozenset(PARAMS.values()), one_text=frozenset(("user", "assistant", "tool", "answer"))
        ),
        answer=AnswerCapabilities(usage_fields=frozenset(), error_fields=frozenset(("type",))),
    )
    codec = Codec(
        url=regex.compile(r"/telegraph/wire(?:[?]|$)"),
        path="/telegraph/wire",
        read_request=read_request,
        read_response=read_response,
        decoder=StreamDecoder,
        request_nodes=_request_nodes,
        response_nodes=_response_nodes,
        params=_params,
        write_request=write_request,
        write_response=write_response,
        writer=StreamWriter,
        key="log",
    )
    serving = Serving(
        call_id="ticket-{8}",
        answer_id="tg-{12}",
        errors=ErrorStyle(
            body={"fault": {"kind": "{type}", "message": "{message}"}},
            types={400: "garbled", 404: "no such office"},
            without_model="no operator is named",
        ),
        endpoints=(endpoint("GET", "/telegraph/operators", lambda names, _: {"operators": list(names)}),),
        list_key="log",
        variable=BaseVariable("TELEGRAPH_URL"),
    )
    sdk = TransportSdk(
        "telegraph",
        ("import httpx", "import telegraph"),
        "telegraph.Office(transport=Recorded())",
        "client.wire(log=[])",
        "client.wire(log=[], live=True)",
    )
    import_hints = ImportHints(providers=("telegraph",))
    splitter = TelegraphTurns

    # Recognise it

    def claims_request(self, value: JsonValue) -> float:
        return 0.95 if isinstance(value, dict) and isinstance(value.get("log"), list) and "operator" in value else 0.0

    def claims_response(self, value: JsonValue) -> float:
        return 0.95 if isinstance(value, dict) and "telegram" in value and "reply" in value else 0.0

    def claims_message(self, value: dict[str, JsonValue]) -> bool:
        return claims_message(value)

    def claims_event(self, event: str | None, value: JsonValue) -> float:
        return 0.95 if event in _EVENTS and isinstance(value, dict) else 0.0


adapter = Telegraph()
