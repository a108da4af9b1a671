"""Importer for Inspect evaluation logs (``.json`` or ``.eval``, a zip archive): one exchange per model event.

The bodies in ``call`` are the provider's own, as parsed JSON, and are used unchanged. Events without them, and logs
without events, are written in the protocol of the model's provider.

Unpacks members of a zip archive in memory, with limits; nothing is written to disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import BytesIO

from workbench import protocols, regex
from workbench.errors import UnreadableInput, WireError
from workbench.formats.importers._files import ImportDamage
from workbench.formats.importers._http import epoch
from workbench.formats.importers._inspect_sample import InspectSample, event_response, tools_of
from workbench.formats.importers._transcript import (
    SharedHistory,
    TranscriptSession,
    TranscriptTurn,
    protocol_of,
    reconstructed_exchange,
)
from workbench.formats.importers._values import as_list, mapping, rest, text
from workbench.ir import JsonValue, ModelRequest, Part
from workbench.lazy_dataclass import replace
from workbench.limits import MAX_DECODED_BODY
from workbench.wire import Body, Exchange, State, decode_body, loads

NAME = "inspect-log"
TITLE = "Inspect evaluation log"
_VERBATIM = ("headers", "original bytes", "streaming")
_LACKS = ("parameters", "headers", "streaming")
_LOG = regex.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"[a-z]{1,20}"\s*,\s*"eval"\s*:\s*\{')
_MEMBERS = regex.compile(rb"header\.json|_journal/|samples/|summaries\.json")
_ZIP = b"PK\x03\x04"
_CERTAIN = 0.5
_TOLD = (
    "events",
    "transcript",
    "messages",
    "attachments",
    "message_pool",
    "call_pool",
    "events_data",
    "store",
    "output",
)
"""Keys of a sample that its exchanges contain, or that are state of the tools."""


def sniff(head: bytes) -> float:
    """A log starts with version, status and eval; an archive has a member of a log."""
    if head.startswith(_ZIP):
        return 0.95 if _MEMBERS.search(head) else 0.0
    return 0.95 if _LOG.match(head) else 0.0


def read(data: bytes, name: str) -> TranscriptSession:
    """One exchange per model event of every sample. Raises UnreadableInput if no model was called."""
    damage = ImportDamage()
    turns: list[TranscriptTurn] = []
    for where, value, model in _samples(data, damage):
        sample = InspectSample(value, damage)
        sample_turns = list(_turns(sample, where, model))
        turns += sample_turns
        if not sample_turns and not {"messages", "events", "transcript"} & value.keys():
            damage.add(f"{where}: no model was called")
    if not turns:
        raise damage.refuse("no model was called")
    return TranscriptSession(name, turns, damage=damage.as_lines(), title=TITLE)


def _samples(data: bytes, damage: ImportDamage) -> Iterator[tuple[str, dict[str, JsonValue], str]]:
    """Yield (name, sample, evaluated model)."""
    if not data.startswith(_ZIP):
        log = mapping(loads(data))
        for number, sample in enumerate(as_list(log.get("samples")), 1):
            if isinstance(sample, dict):
                yield f"sample {_id(sample, number)}", sample, text(mapping(log.get("eval")).get("model"))
            else:
                damage.add(f"sample {number}: not an object")
        return
    archive = Archive(data)
    names = archive.names()
    header = next((n for n in ("header.json", "_journal/start.json") if n in names), None)
    model = text(mapping(_member(archive, header, damage).get("eval")).get("model")) if header else ""
    for number, name in enumerate((n for n in names if n.startswith("samples/") and n.endswith(".json")), 1):
        sample = _member(archive, name, damage)
        if sample:
            yield f"sample {_id(sample, number)}", sample, model


def _member(archive: Archive, name: str, damage: ImportDamage) -> dict[str, JsonValue]:
    try:
        return mapping(loads(archive.read(name)))
    except (WireError, UnreadableInput) as error:
        damage.add(f"{name!r:.100}: {error.what}")
        return {}


def _id(sample: dict[str, JsonValue], number: int) -> str:
    id, epoch_ = sample.get("id"), sample.get("epoch")
    call_id = str(id)[:80] if isinstance(id, str | int) and str(id).isprintable() else str(number)
    return f"{call_id} epoch {epoch_}" if isinstance(epoch_, int) and epoch_ != 1 else call_id


def _turns(sample: InspectSample, where: str, model: str) -> Iterator[TranscriptTurn]:
    about = rest(sample.value, *_TOLD)
    found = False
    for number, event in enumerate(sample.events(), 1):
        like = _like(event, f"{where} call {number}", where)
        like = like if found else _keeping(like, {"sample": about})
        found = True
        yield _from_call(sample, event, like, model) or _from_messages(sample, event, like, model)
    if not found:
        yield from _from_history(sample, where, model, about)


def _like(event: dict[str, JsonValue], id: str, where: str, *, note: str = "") -> Exchange:
    about = rest(event, "input", "input_refs", "tools", "output", "call", "event", "timestamp")
    call = mapping(event.get("call"))
    is_held = isinstance(call.get("request"), dict)
    words = "the provider's body, stored as parsed JSON" if is_held else note
    error = text(event.get("error"))
    like = reconstructed_exchange(
        id,
        lacks=_VERBATIM if is_held else _LACKS,
        note="; ".join(w for w in (words, f"failed: {error[:200]}" if error else "") if w),
        started_at=epoch(event.get("timestamp")),
        client="inspect_ai",
        state=State.INCOMPLETE if error or event.get("pending") is True else State.COMPLETE,
        meta={"sample_id": where, "event": about},
    )
    time = call.get("time", mapping(event.get("output")).get("time"))
    return replace(like, duration=float(time)) if isinstance(time, int | float) and 0 <= time < 1e9 else like


def _from_call(sample: InspectSample, event: dict[str, JsonValue], like: Exchange, model: str) -> TranscriptTurn | None:
    """The provider's own bodies; None if they were not kept."""
    call = mapping(event.get("call"))
    request, response = call.get("request"), call.get("response")
    if not isinstance(request, dict):
        return None
    named = text(request.get("model")) or text(event.get("model")) or model
    protocol = _claiming_protocol(request) or _protocol(event, model)
    return TranscriptTurn(
        like,
        protocol,
        model=named or None,
        url=protocols.get(protocol).path(ModelRequest(protocol, named or None, ())),
        request=partial(sample.call, event, "request"),
        response=partial(sample.call, event, "response") if isinstance(response, dict) and response else None,
    )


def _claiming_protocol(request: dict[str, JsonValue]) -> str | None:
    """Protocol of this request; its messages may be in the pool, its values in attachments."""
    named = next((a.name for a in protocols.every() if isinstance(request.get(a.import_hints.list_key), list)), None)
    if named:
        return named
    claims = sorted(((a.claims_request(request), a.name) for a in protocols.every()), reverse=True)
    return claims[0][1] if claims[0][0] >= _CERTAIN else None


def _protocol(event: dict[str, JsonValue], model: str) -> str:
    provider, slash, name = (text(event.get("model")) or model).partition("/")
    return protocol_of(provider if slash else "", name or provider)


def _from_messages(sample: InspectSample, event: dict[str, JsonValue], like: Exchange, model: str) -> TranscriptTurn:
    protocol = _protocol(event, model)
    system, history = sample.history_of(sample.input_of(event), protocol)
    return _written_turn(sample, event, like, model, TranscriptTurn(like, protocol, history, system=system))


def _written_turn(
    sample: InspectSample, event: dict[str, JsonValue], like: Exchange, model: str, turn: TranscriptTurn
) -> TranscriptTurn:
    """A turn with the model, tools and response of an event."""
    named = (text(event.get("model")) or model).partition("/")
    output = mapping(sample.whole(mapping(event.get("output"))))
    for _ in list(sample.damage.objects(output.get("choices"), "a choice"))[1:]:
        sample.damage.leave_out("a second choice of a response")
    return replace(
        turn,
        model=named[2] or named[0] or None,
        tools=tools_of(list(sample.damage.objects(sample.whole(as_list(event.get("tools"))), "a tool"))),
        answer=event_response(output, turn.protocol),
    )


def _from_history(
    sample: InspectSample, where: str, model: str, about: dict[str, JsonValue]
) -> Iterator[TranscriptTurn]:
    """Exchanges of a log without events: each response with the messages before it, and the final messages.

    The first exchange has the sample's metadata.
    """
    protocol = _protocol({}, model)
    system: tuple[Part, ...] = ()
    history: SharedHistory | None = None
    answered: SharedHistory | None = None
    beside = {"sample": about}
    count = 0
    for message in as_list(sample.value.get("messages")):
        entry = mapping(message)
        before = history
        if entry.get("role") == "assistant":
            count += 1
            event: dict[str, JsonValue] = {"output": {"choices": [{"message": entry}], "model": entry.get("model")}}
            like = _like(event, f"{where} answer {count}", where, note="the log has no events")
            yield _written_turn(
                sample, event, _keeping(like, beside), model, TranscriptTurn(like, protocol, history, system=system)
            )
            beside = {}
        system, history = sample.extend(system, history, message, protocol)
        if entry.get("role") == "assistant" and history is not before:
            answered = history
    if history is not answered:
        like = _like({"pending": True}, f"{where} end", where, note="the log ends here; this next request was not sent")
        yield _written_turn(
            sample, {}, _keeping(like, beside), model, TranscriptTurn(like, protocol, history, system=system)
        )


def _keeping(like: Exchange, more: dict[str, JsonValue]) -> Exchange:
    return replace(like, meta={**like.meta, **more}) if more else like


MAX_MEMBERS = 200_000
"""Limit of members in one archive; an Inspect log has one for each sample."""

MAX_UNPACKED = 4 * MAX_DECODED_BODY
"""Limit of unpacked bytes of one archive: a hostile archive can list the same bytes a thousand times."""

_LOCAL_HEADER = 30
_STORED = 0
_CODINGS = {8: "deflate", 93: "zstd"}


class Archive:
    """A zip archive. Raises UnreadableInput if its directory cannot be read."""

    def __init__(self, data: bytes) -> None:
        import zipfile

        self._data = data
        self._budget = MAX_UNPACKED
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                members = archive.infolist()
        except Exception as error:  # zipfile raises many types for damaged archives
            raise UnreadableInput(
                "the directory of the zip archive cannot be read", hint="the file may be truncated"
            ) from error
        if len(members) > MAX_MEMBERS:
            raise UnreadableInput(f"a zip archive with more than {MAX_MEMBERS:,} members")
        self._members = {m.filename: m for m in members if not m.is_dir()}

    def names(self) -> tuple[str, ...]:
        """Names of the members in directory order."""
        return tuple(self._members)

    def read(self, name: str) -> bytes:
        """Unpack a member.

        Raises:
            WireError: damaged, encrypted, of an unknown compression method, or too large.
        """
        member = self._members[name]
        start = member.header_offset
        header = self._data[start : start + _LOCAL_HEADER]
        if start < 0 or len(header) < _LOCAL_HEADER or not header.startswith(b"PK\x03\x04"):
            raise WireError("the member is not at the offset given in the directory")
        begin = (
            start + _LOCAL_HEADER + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        )
        raw = self._data[begin : begin + max(member.compress_size, 0)]
        if member.flag_bits & 1:
            raise WireError("the member is encrypted")
        if member.compress_type == _STORED:
            unpacked = raw
        elif member.compress_type in _CODINGS:
            unpacked = decode_body(Body(raw, encoding=_CODINGS[member.compress_type]))
        else:
            raise WireError(f"compression method {member.compress_type} is not supported")
        self._budget -= len(unpacked)
        if self._budget < 0:
            raise WireError(f"the files in the archive unpack to more than {MAX_UNPACKED:,} bytes")
        return unpacked
