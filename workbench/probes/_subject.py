"""What is probed: a model behind a target, and requests to it in its protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench import contracts, protocols
from workbench.contracts import Contract, choose
from workbench.convert import NormalRequest, fit_request, rename_fields
from workbench.ir import NOTHING, JsonValue, Message, ModelRequest, Text, ToolChoice, ToolDef
from workbench.protocols import Adapter, Param
from workbench.send import Target
from workbench.send.loop import ConversationLoop, Limits
from workbench.wire import Body, Exchange, Headers, HttpRequest, dumps

MAX_TOKENS = 2048
"""Of an answer: enough for a few calls with some thought before them, and within the window of small servers."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model behind a target.

    Attributes:
        protocol: that it is asked in.
        nonce: letters and digits that no model can know: other ones for each sample.
        parser: text format in which it writes calls, "" for the protocol's own form.
        thinking: how requests ask for reasoning; None to leave that to the model.
    """

    target: Target
    protocol: str
    model: str
    nonce: str
    parser: str = ""
    thinking: str | None = None

    @property
    def adapter(self) -> Adapter:
        """Of its protocol."""
        return protocols.get(self.protocol)

    @property
    def contract(self) -> Contract:
        """What is known of the provider beforehand."""
        clues = contracts.Clues(url=self.target.url or None, model=self.model)
        if self.target.contract:
            return contracts.get(self.target.contract, protocol=self.protocol, clues=clues)
        return choose(clues, self.protocol)[0]

    def request(
        self,
        words: str,
        tools: Sequence[ToolDef] = (),
        *,
        choice: str | ToolChoice | None = None,
        parallel: bool | None = None,
        stream: bool = False,
        system: str = "",
        messages: Sequence[Message] = (),
        params: Mapping[str, JsonValue] = NOTHING,
    ) -> HttpRequest:
        """A first request, or one behind ``messages``, as this protocol and provider write it.

        Args:
            params: more of ``adapters.PARAMS``; those that the protocol has no place for are left out.
        """
        meant = ModelRequest(
            protocol=self.protocol,
            model=self.model,
            messages=(*messages, *((Message("user", (Text(words),)),) if words else ())),
            system=(Text(system),) if system else (),
            tools=tuple(tools),
            tool_choice=ToolChoice(choice) if isinstance(choice, str) else choice,
            parallel=parallel,
            stream=stream,
            thinking=self.thinking,
            params={"max_tokens": MAX_TOKENS, **params},
        )
        return self.write(meant)

    def write(self, meant: ModelRequest) -> HttpRequest:
        """A request in normal form as this protocol and provider write it; what it cannot say is left out."""
        adapter = self.adapter
        params = tuple(Param(f"/{name}", value, name) for name, value in meant.params.items())
        fitted = fit_request(NormalRequest(meant, params), adapter.capabilities).normal
        assert isinstance(fitted, ModelRequest)
        fields = self.contract.term("params.fields")
        known = fields if isinstance(fields, list) else None
        body = rename_fields(dumps(adapter.write_request(replace(fitted, protocol=adapter.name))), known)
        headers = Headers((("content-type", "application/json"),))
        return HttpRequest("POST", adapter.path(fitted), headers, Body(body))

    def loop(self, request: HttpRequest, limits: Limits) -> ConversationLoop:
        """A loop that begins with a request."""
        exchange = Exchange(f"probe-{self.nonce}", request)
        return ConversationLoop(exchange, self.protocol, self.target.contract, self.parser, limits)
