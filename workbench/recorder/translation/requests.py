"""Translates a client's request for the upstream: history restored, body converted and corrected, key moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from workbench import contracts, protocols
from workbench.contracts import Contract
from workbench.convert import INPUT, FreeTextLoss, read_declared_tools
from workbench.edits import with_body
from workbench.errors import LocalProtocolError, UsageError, WireError
from workbench.ir import Carrier, JsonValue, Message, ModelRequest, Part, Reasoning, Text, ToolDef
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.probes.profiles import (
    PARSER,
    REASONING,
    CapabilityProfile,
    Correction,
    choose,
    correct_outgoing,
    correction_value,
    profile_of_request,
)
from workbench.protocols import DecodedExchange
from workbench.recorder.translation import other_endpoints
from workbench.recorder.translation.changes import (
    CALL,
    CONVERSION,
    CORRECTION,
    LOSS,
    MODEL,
    NOTE,
    PASSED,
    TranslationChange,
)
from workbench.recorder.translation.history import put_reasoning_back, restore_history
from workbench.recorder.translation.keys import KEY_HEADERS, with_key
from workbench.recorder.translation.memory import ResponseMemory
from workbench.rules import refusals
from workbench.send import NoteKind, Outgoing, SendNote, Target, is_known, prepare, with_headers
from workbench.send import target as urls
from workbench.send.loop import LEFT_OUT
from workbench.terms import Scope
from workbench.toolcalls import formats
from workbench.wire import Body, Exchange, HttpRequest, JsonIndex, dumps, loads, patch

AT = "/response_format"
WORDS = "Answer with a JSON object, and nothing else. It must match this JSON schema: "


def in_words(outgoing: Outgoing, contract: Contract) -> list[patch.Change]:
    """Edits of a Chat Completions request; empty if it asks for no schema, or the contract refuses the edits too."""
    body = loads(outgoing.request.body.raw)
    schema = _schema(body)
    if schema is None:
        return []
    system_message = {"role": "system", "content": WORDS + dumps(schema).decode()}
    changes: list[patch.Change] = [
        patch.Replace(AT, {"type": "json_object"}),
        patch.Insert("/messages/0", system_message),
    ]
    changed = patch.apply(outgoing.request.body.raw, changes)
    trial = DecodedExchange(0, Exchange("tried", replace(outgoing.request, body=Body(changed))), outgoing.protocol)
    is_refused = any(finding.pointer.startswith(AT) for finding in refusals(trial, contract))
    return [] if is_refused else changes


def _schema(body: JsonValue) -> JsonValue:
    response_format = body.get("response_format") if isinstance(body, dict) else None
    inner = response_format.get("json_schema") if isinstance(response_format, dict) else None
    has_messages = isinstance(body, dict) and isinstance(body.get("messages"), list)
    return inner.get("schema") if isinstance(inner, dict) and has_messages else None


_SAID = ("messages", "input", "contents", "system", "instructions", "tools", "model", "stream")
"""Members of a body that are no parameters."""

_AGENT, _PAIRED = "user-agent", "reasoning.unpaired"


@dataclass(frozen=True, slots=True)
class TranslationUpstream:
    """An upstream of a translation: a target and its URL.

    Attributes:
        target: as it was named; profiles are stored under it.
        url: base URL of the protocol that is used here; ``http`` or ``https`` also for a WebSocket.
        is_socket: each request is made over a WebSocket.
    """

    target: Target
    url: str
    is_socket: bool = False

    def sent_to(self, protocol: str) -> Target:
        """The target with the URL at which it is reached: a simulator has none of its own."""
        return replace(self.target, url=self.url, protocol=protocol, others=())


@dataclass(frozen=True, slots=True)
class TranslationRules:
    """Settings of a translation.

    Attributes:
        spoken: protocol of the upstreams.
        model: replaces the model that clients request; empty to keep that.
        profiles: the newest of each key, to choose from.
        profile: used for every upstream and model; None to choose.
        on, off: corrections, as ``switched`` takes them.
        environ: of the process: keys of targets.
        now: seconds since the epoch, by which the age of profiles is known.
    """

    spoken: str
    model: str = ""
    profiles: Sequence[CapabilityProfile] = ()
    profile: CapabilityProfile | None = None
    on: Sequence[str] = ()
    off: Sequence[str] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    now: float = 0.0


class OwnReply(NamedTuple):
    """A response of our own: nothing was sent upstream."""

    status: int
    body: bytes
    changes: tuple[TranslationChange, ...] = ()


@dataclass(frozen=True, slots=True)
class TranslatedRequest:
    """A request for the upstream, with what is needed to translate its response.

    Attributes:
        client: protocol of the client.
        spoken: protocol of the upstream.
        request: absolute URL, headers with the key, body.
        changes: what was changed in it.
        is_plain: the response passes unchanged: it is not a model's, or the client can read it.
        is_passed: the body is sent unchanged.
        is_stream: the client asks for a stream.
        parser: text format in which the upstream's model writes tool calls; empty if none.
        tools: tools that the client declares.
        context: fingerprint of the messages before the response.
        is_array: the stream that the client asks for is one JSON array, and no events.
        contract: label of its contract; empty to choose one by URL and model.
        model: that is asked for; empty if the request names none.
        is_kept: a response that passes unchanged is remembered, too.
        is_uncounted: the client did not ask a stream for its token counts, which come in a chunk that some cannot read.
    """

    client: str
    spoken: str
    request: HttpRequest
    changes: tuple[TranslationChange, ...] = ()
    is_plain: bool = False
    is_passed: bool = False
    is_stream: bool = False
    parser: str = ""
    tools: tuple[ToolDef, ...] = ()
    context: str = ""
    is_array: bool = False
    is_uncounted: bool = False
    contract: str = ""
    model: str = ""
    is_kept: bool = False


def translate_request(
    http: HttpRequest, upstream: TranslationUpstream, rules: TranslationRules, memory: ResponseMemory
) -> TranslatedRequest | OwnReply:
    """The request for the upstream, or a response of our own.

    Args:
        http: ``url`` is path and query as the client sent them.
    """
    if other_endpoints.is_health_check(http.method, http.url):
        return OwnReply(200, b"")
    decoded = DecodedExchange(0, Exchange("client", http))
    client = decoded.protocol or ""
    is_known = client in protocols.protocols() and protocols.get(client).claims_url(http.url)
    if http.method != "POST" or not is_known:
        return _other_request(http, upstream, rules)
    try:
        if decoded.request is None:
            raise LocalProtocolError("; ".join(p.message for p in decoded.problems) or "the request has no body")
        return _translate(decoded, http, client, upstream, rules, memory)
    except (LocalProtocolError, UsageError, WireError) as error:
        return OwnReply(
            400, other_endpoints.error_body(client, 400, f"workbench: {error}"), (TranslationChange(NOTE, str(error)),)
        )


def _other_request(
    http: HttpRequest, upstream: TranslationUpstream, rules: TranslationRules
) -> TranslatedRequest | OwnReply:
    """A request that asks no model: passed on if client and upstream use the same protocol."""
    client = other_endpoints.family(http.url, http.headers)
    ours, theirs = protocols.get(client).serving.api, protocols.get(rules.spoken).serving.api
    if client != rules.spoken and not (ours and ours == theirs):
        status, body = other_endpoints.refusal(http.url, client, rules.spoken)
        return OwnReply(
            status, body, (TranslationChange(NOTE, f"answered by the recorder: the upstream uses {rules.spoken}"),)
        )
    return _pass_unchanged(http, client, upstream, rules, "unchanged: not a request to a model")


def _pass_unchanged(
    http: HttpRequest, client: str, upstream: TranslationUpstream, rules: TranslationRules, why: str
) -> TranslatedRequest:
    """A request that is passed on unchanged, except for its key if the upstream has its own."""
    request = replace(http, url=urls.join_url(upstream.url, http.url))
    target = upstream.sent_to(rules.spoken)
    own = with_key(Outgoing(target, request, rules.spoken), http.headers, "", rules.environ)
    headers = own.headers if own.is_own else http.headers
    changes = [TranslationChange(PASSED, why)]
    changes += [TranslationChange(NOTE, own.note)] if own.is_own and own.note else []
    return TranslatedRequest(
        client, rules.spoken, replace(request, headers=headers), tuple(changes), is_plain=True, is_passed=True
    )


def _translate(
    decoded: DecodedExchange,
    http: HttpRequest,
    client: str,
    upstream: TranslationUpstream,
    rules: TranslationRules,
    memory: ResponseMemory,
) -> TranslatedRequest | OwnReply:
    request, protocol = decoded.request, rules.spoken
    assert request is not None
    model = rules.model or upstream.target.model or request.model or ""
    corrections = _corrections(decoded, upstream, rules)
    parser = correction_value(corrections, PARSER) or ""
    contract = _contract(upstream, protocol, model)

    def is_wanted(part: Reasoning) -> bool:
        return _is_wanted(part, contract, corrections)

    is_same = client == protocol
    if is_same:
        is_owed = _is_replay_required(contract, corrections)
        own = put_reasoning_back(decoded, memory, contract, lambda part: is_owed and is_wanted(part))
        changes, context = own.changes, own.context
        if not changes and not any(each.is_on for each in corrections) and model == (request.model or ""):
            turn = _pass_unchanged(http, client, upstream, rules, f"unchanged: already in {protocol}")
            return replace(turn, is_kept=True, context=context)
        http = with_body(http, own.text, decoded.request_text)
        decoded = DecodedExchange(0, Exchange("client", http), client)
    else:
        back = restore_history(request, memory, is_wanted)
        context, changes = back.context, [TranslationChange(CONVERSION, f"from {client} to {protocol}"), *back.changes]
        decoded.request = _with_text_calls(back.request, parser, changes) if parser else back.request
    outgoing = prepare(decoded, upstream.sent_to(protocol), protocol=protocol, model=rules.model)
    changes += (TranslationChange(NOTE, note) for note in outgoing.notes if not _is_reported_elsewhere(note))
    changes += (
        TranslationChange(MODEL, note.removeprefix("model ")) for note in outgoing.notes if note.kind is NoteKind.MODEL
    )
    changes += (
        TranslationChange(LOSS, f"{loss.pointer or '/'}: {loss.what}: {loss.instead}") for loss in outgoing.losses
    )
    changes += _free_text_changes(outgoing, request)
    if outgoing.is_converted:
        outgoing = _with_needed_params(outgoing, request, contract)
        outgoing = (
            _without_refused_params(outgoing, contract, changes)
            if _label(upstream, rules) != contracts.GENERIC
            else outgoing
        )
    after = correct_outgoing(outgoing, corrections)
    changes += (TranslationChange(CORRECTION, note) for note in after.notes if note.kind is NoteKind.CORRECTION)
    key = with_key(after, http.headers, http.url, rules.environ)
    headers = with_headers(key.headers, tuple(item for item in http.headers if item[0].lower() == _AGENT))
    changes += [TranslationChange(NOTE, key.note)] if key.note else []
    return TranslatedRequest(
        client,
        protocol,
        replace(after.request, headers=headers),
        tuple(changes),
        is_plain=is_same and not parser,
        is_stream=request.stream,
        parser=parser,
        tools=request.tools,
        context=context,
        is_kept=is_same,
        is_array=request.stream and protocols.get(client).serving.is_array(http.url),
        contract=_label(upstream, rules),
        model=model,
        is_uncounted=request.stream and not protocols.get(client).traits.counts_stream(request.params),
    )


def _is_reported_elsewhere(note: SendNote) -> bool:
    """A note that is reported in another form, or about a key."""
    is_key = note.kind is NoteKind.HEADERS and set(note.subject) <= set(KEY_HEADERS)
    return is_key or note.kind in (NoteKind.CONVERSION, NoteKind.MODEL)


def _corrections(
    decoded: DecodedExchange, upstream: TranslationUpstream, rules: TranslationRules
) -> Sequence[Correction]:
    profile = rules.profile or profile_of_request(rules.profiles, upstream.target, decoded, rules.model, rules.spoken)
    return choose(profile, rules.now, rules.on, rules.off).decided


def _contract(upstream: TranslationUpstream, protocol: str, model: str) -> Contract:
    target = upstream.sent_to(protocol)
    return Outgoing(target, HttpRequest(url=target.base(protocol)), protocol, model=model).contract


def _label(upstream: TranslationUpstream, rules: TranslationRules) -> str:
    """Label of the contract; generic if only the client's model name could choose it: that is of its own provider."""
    target = upstream.target
    if target.contract or rules.model or target.model or is_known(target, upstream.url):
        return target.contract
    return contracts.GENERIC


def _is_wanted(part: Reasoning, contract: Contract, corrections: Sequence[Correction]) -> bool:
    """Reasoning of an earlier response is sent back: as measured, else as the contract says, else always."""
    if part.carrier is Carrier.ENCRYPTED_ITEM and not part.text and part.data is None:
        return False  # nothing but an id that the upstream may have forgotten
    if replay := correction_value(corrections, REASONING):
        return bool(replay != LEFT_OUT)
    refused, carriers = contract.term("reasoning.refused-carriers", ()), contract.term("reasoning.carriers")
    return part.carrier not in refused and (not isinstance(carriers, list) or part.carrier in carriers)


def _without_refused_params(outgoing: Outgoing, contract: Contract, changes: list[TranslationChange]) -> Outgoing:
    """Remove or replace parameters that the upstream is known to refuse: they come from another protocol."""
    changes_by_pointer, more = dict[str, patch.Change](), list[patch.Change]()
    for finding in refusals(DecodedExchange(0, Exchange("sent", outgoing.request), outgoing.protocol), contract):
        at = "/" + finding.pointer.split("/", 2)[1]
        if at[1:] in _SAID or at in changes_by_pointer:
            continue
        if at == AT and (system_message := in_words(outgoing, contract)):
            changes_by_pointer[at], *more = system_message
            changes.append(
                TranslationChange(CORRECTION, f"{at} requests JSON, with the schema in the prompt: {finding.message}")
            )
            continue
        value = _accepted_value(contract, finding.pointer)
        if value is not None and _is_refused_too(outgoing, contract, finding.pointer, value):
            value = None
        changes_by_pointer[at] = patch.Remove(at) if value is None else patch.Replace(finding.pointer, value)
        how = "left out" if value is None else f"{value!r}"
        changes.append(TranslationChange(CORRECTION, f"{at} is {how}: {finding.message}"))
    text = outgoing.request.body.raw
    return (
        replace(
            outgoing,
            request=with_body(outgoing.request, patch.apply(text, (*changes_by_pointer.values(), *more)), text),
        )
        if changes_by_pointer
        else outgoing
    )


def _is_refused_too(outgoing: Outgoing, contract: Contract, pointer: str, value: JsonValue) -> bool:
    """The upstream refuses the member with this value as well: it takes none from this model."""
    text = outgoing.request.body.raw
    trial = with_body(outgoing.request, patch.apply(text, (patch.Replace(pointer, value),)), text)
    found = refusals(DecodedExchange(0, Exchange("tried", trial), outgoing.protocol), contract)
    return any(finding.pointer == pointer for finding in found)


def _accepted_value(contract: Contract, pointer: str) -> JsonValue:
    """An accepted value of a parameter with refused values; None if there is none."""
    known = contract.term("params.refused")
    entries = known if isinstance(known, list) else ()
    values = (e["not-in"] for e in entries if isinstance(e, Mapping) and e.get("at") == pointer and e.get("not-in"))
    return next((value[0] for value in values), None)


def _is_replay_required(contract: Contract, corrections: Sequence[Correction]) -> bool:
    """A client of the upstream's own protocol has to send reasoning back: as measured, or as the contract says."""
    is_bound = contract.reasoning.scope is not Scope.NEVER or contract.check_for(_PAIRED) is not None
    return is_bound or correction_value(corrections, REASONING) is not None


def _with_needed_params(outgoing: Outgoing, request: ModelRequest, contract: Contract) -> Outgoing:
    """Ask for what other protocols return without being asked.

    Chat Completions count the tokens of a stream only on request. The Responses API returns reasoning that can be sent
    back only on request; without stored responses nothing else is left of it.
    """
    needed: dict[str, JsonValue] = {}
    traits = protocols.traits(outgoing.protocol)
    if outgoing.is_stream:
        needed.update(traits.usage_request)
    if _thinks(request, contract):
        needed.update(traits.reasoning_request)
    known, text = contract.term("params.fields"), outgoing.request.body.raw
    index = JsonIndex(text)
    missing = [
        patch.Insert(f"/{name}", value)
        for name, value in needed.items()
        if (not isinstance(known, list) or name in known) and not index.span(f"/{name}")
    ]
    return (
        replace(outgoing, request=with_body(outgoing.request, patch.apply(text, missing), text))
        if missing
        else outgoing
    )


def _thinks(request: ModelRequest, contract: Contract) -> bool:
    """Reasoning is requested, or returned by default."""
    return request.thinking != "off" and (request.thinking is not None or contract.reasoning.thinking_default)


def _free_text_changes(outgoing: Outgoing, request: ModelRequest) -> Iterator[TranslationChange]:
    """A change for free-text tools that became functions."""
    free = read_declared_tools(request.tools).free_text
    if free and any(isinstance(loss, FreeTextLoss) for loss in outgoing.losses):
        names = ", ".join(map(repr, sorted(free)))
        system_message = (
            f"{names}: the free-text input is sent as the string argument {INPUT!r} of a function, and converted "
            "back in the response"
        )
        yield TranslationChange(CORRECTION, system_message)


def _with_text_calls(request: ModelRequest, parser: str, changes: list[TranslationChange]) -> ModelRequest:
    """The request for a model that reads and writes tool calls as text, with its history in that form."""
    form = formats.get(parser)

    def as_text(message: Message) -> Message:
        calls = [part for _, part in message.tool_calls()]
        results = [part for _, part in message.tool_results()]
        if not calls and not results:
            return message
        changes.append(
            TranslationChange(CALL, f"{len(calls)} calls and {len(results)} results are sent as {parser} text")
        )
        rest = [p for p in message.parts if not any(p is other for other in (*calls, *results))]
        texts: list[Part] = [Text(form.render(calls))] if calls else []
        texts += [Text(form.render_results(results))] if results else []
        parts = (*texts, *rest) if results else (*rest, *texts)
        return replace(message, role="user" if results else message.role, parts=parts)

    return replace(request, messages=tuple(as_text(message) for message in request.messages))
