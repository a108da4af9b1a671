"""Probes, their subject, scripts and samples. A script does no I/O and runs no real tool.

A script is a generator: it yields an ``Ask`` and receives the ``Exchange``, until it returns a ``Sample``. The caller
may show the pending request, change it, or send another one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from workbench import contracts, protocols
from workbench.contracts import Contract, choose
from workbench.convert import NormalRequest, fit_request, rename_fields
from workbench.errors import UsageError
from workbench.ir import NOTHING, JsonValue, Message, ModelRequest, Text, ToolChoice, ToolDef
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.protocols import Adapter, Param
from workbench.send import Target
from workbench.send.loop import ConversationLoop, Limits
from workbench.wire import Body, Exchange, Headers, HttpRequest, dumps

if TYPE_CHECKING:
    from workbench.simulator import ScriptedModel


MAX_TOKENS = 2048
"""Token limit of an answer: enough for some thought and a few calls, and small enough for small servers."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model behind a target.

    Attributes:
        protocol: of the requests.
        nonce: letters and digits that no model can know, new for each sample.
        parser: text format of its calls; empty for the protocol's own form.
        thinking: setting of requests; None for the model's default.
    """

    target: Target
    protocol: str
    model: str
    nonce: str
    parser: str = ""
    thinking: str | None = None

    @property
    def adapter(self) -> Adapter:
        """Adapter of its protocol."""
        return protocols.get(self.protocol)

    @property
    def contract(self) -> Contract:
        """Contract of the provider."""
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
        """A first request, or one after ``messages``, in the form of this protocol and provider.

        Args:
            params: more of ``protocols.PARAMS``; those that the protocol does not support are dropped.
        """
        model_request = ModelRequest(
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
        return self.write(model_request)

    def write(self, model_request: ModelRequest) -> HttpRequest:
        """Encode a request in normal form for this protocol and provider; unsupported parts are dropped."""
        adapter = self.adapter
        params = tuple(Param(f"/{name}", value, name) for name, value in model_request.params.items())
        normal = fit_request(NormalRequest(model_request, params), adapter.capabilities).normal
        assert isinstance(normal, ModelRequest)
        body = rename_fields(
            dumps(adapter.write_request(replace(normal, protocol=adapter.name))), self.contract.knows_field
        )
        headers = Headers((("content-type", "application/json"),))
        return HttpRequest("POST", adapter.path(normal), headers, Body(body))

    def loop(self, request: HttpRequest, limits: Limits) -> ConversationLoop:
        """A loop that begins with a request."""
        exchange = Exchange(f"probe-{self.nonce}", request)
        return ConversationLoop(exchange, self.protocol, self.target.contract, self.parser, limits)


MOST_SAMPLES = 1000
"""Most samples of each probe in one run."""


def probe_protocols(target: Target) -> tuple[str, ...]:
    """Protocols in which a target can be probed, its own first."""
    return tuple(name for name in target.protocols if name in protocols.protocols())


def subject_of(target: Target, protocol: str = "", model: str = "") -> Subject:
    """The model behind a target; for a simulator its first, if none is named.

    Raises:
        UsageError: the target does not support the protocol, or the model is unknown.
    """
    known = probe_protocols(target)
    chosen_protocol = protocol or (known[0] if known else protocols.MOST_COMMON)
    protocols.get(chosen_protocol)
    if known and chosen_protocol not in known:
        raise UsageError(f"{target.name} does not support {chosen_protocol}", hint=f"supported: {', '.join(known)}")
    return Subject(target, chosen_protocol, model or target.model or _first_model(target), "")


def _first_model(target: Target) -> str:
    if not target.is_simulator:
        raise UsageError(f"which model of {target.name}?", hint="use --model NAME")
    from workbench.simulator import Simulator

    return Simulator(target.contract).names()[0]


def scripted_model(dials: Iterable[str] = ()) -> ScriptedModel:
    """Model of a simulator; it corrects its calls unless a dial says otherwise.

    Args:
        dials: ``"parallel=2"`` …: names and values as of ``workbench simulate``.

    Raises:
        UsageError: no such dial, or no such value.
    """
    from workbench.config import safeyaml
    from workbench.simulator import ScriptedModel, dials_of

    dial_values: dict[str, JsonValue] = {"mends": 1}
    for text in dials:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(
                (f"the dial {text!r:.60} does not have the form NAME=VALUE"),
                hint="workbench simulate --help lists the dials",
            )
        dial_values[name] = value if name == "http" else safeyaml.load(value.encode(), name="the dial")
    return ScriptedModel(dials_of(dial_values))


class Outcome(StrEnum):
    """Result of one sample."""

    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"  # could not be measured: network, key, rate limit, or no usable answer


@dataclass(frozen=True, slots=True)
class Ask:
    """A request to send.

    Attributes:
        title: its purpose, in words.
        protocol: of the request.
    """

    title: str
    request: HttpRequest
    protocol: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Result of one run of a script.

    Attributes:
        words: explanation, in one sentence.
        facts: learned, by the names of the profile (``supports_parallel_tool_use`` …) and finer ones.
    """

    outcome: Outcome
    words: str
    facts: Mapping[str, JsonValue] = field(default=NOTHING)


Script: TypeAlias = Generator[Ask, Exchange, Sample]


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe.

    Attributes:
        name: as typed by the user: ``"parallel"``.
        title: the question that it answers.
        requests: most requests of one sample.
        script: creates the script for a subject.
        is_core: one of the seven that make a profile; the others add finer facts.
        tokens: of one sample, roughly, for the estimate before a run.
    """

    name: str
    title: str
    requests: int
    script: Callable[[Subject], Script]
    is_core: bool = False
    tokens: int = 1000


def passed(words: str, **facts: JsonValue) -> Sample:
    """A sample that shows the capability."""
    return Sample(Outcome.PASS, words, facts)


def partly(words: str, **facts: JsonValue) -> Sample:
    """A sample that shows a part of the capability."""
    return Sample(Outcome.PARTIAL, words, facts)


def failed(words: str, **facts: JsonValue) -> Sample:
    """A sample that shows the lack of the capability."""
    return Sample(Outcome.FAIL, words, facts)


def unclear(words: str, **facts: JsonValue) -> Sample:
    """A sample that shows nothing."""
    return Sample(Outcome.INCONCLUSIVE, words, facts)
