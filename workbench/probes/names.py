"""Names: accepted tool names and call ids, by length and by characters.

``tool_names``: kind of name → ``taken``, ``refused``, ``changed`` (the call has another name), ``unseen``
(accepted, but the model made no call). ``call_ids``: kind of id → ``taken``, ``refused``; {} in protocols without ids.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from workbench.ir import JsonValue
from workbench.lazy_dataclass import replace
from workbench.probes._drive import PlayedConversation, drive, follow, without_call
from workbench.probes._script import Ask, Probe, Sample, Script, Subject, failed, partly, passed
from workbench.probes._tools import ECHO, Toolbox
from workbench.send.loop import Limits
from workbench.wire import Body, Exchange, HttpRequest, dumps

NAMES: Mapping[str, str] = {
    "64 characters": "probe_" + "n" * 58,
    "65 characters": "probe_" + "n" * 59,
    "128 characters": "probe_" + "n" * 122,
    "dash": "probe-echo",
    "dot": "probe.echo",
    "slash": "probe/echo",
    "space": "probe echo",
    "digit first": "1_probe",
    "not ASCII": "prüfung",
}
IDS: Mapping[str, str] = {
    "short": "1",
    "64 characters": "call_" + "i" * 59,
    "128 characters": "call_" + "i" * 123,
    "odd characters": "call:1/ä b",
}

USUAL = ("64 characters", "dash")
"""Names that every client relies on."""


def script(subject: Subject) -> Script:
    """A usual name first; then the others, at once or one by one; then one call with changed ids."""
    request = subject.request(f"Call the tool that returns its text, with the text {subject.nonce}.", (ECHO,))
    box = Toolbox(subject.nonce)
    first = yield from drive(subject, request, "a tool with an ordinary name", box.run, limits=Limits(1))
    if not first.calls:
        return (yield from without_call(subject, first))
    names = yield from _try_all_names(subject)
    for kind, name in NAMES.items():
        if kind not in names:
            names[kind] = yield from _try_name(subject, request, kind, name)
    ids = yield from _ids(first, box)
    return evaluate(names, ids)


def _try_all_names(subject: Subject) -> Generator[Ask, Exchange, dict[str, str]]:
    """All names at once: if they are accepted, all are taken; else {}."""
    named = {f"probe_{n}": name for n, name in enumerate(NAMES.values())}
    tools = [replace(ECHO, name=stands_for) for stands_for in named]
    request = subject.request(f"Call one of your tools, with the text {subject.nonce}.", tools)
    for stands_for, name in named.items():
        request = _replace_string(request, stands_for, name)
    box = Toolbox(subject.nonce)
    played = yield from drive(subject, request, "tools with unusual names", box.run, limits=Limits(1))
    called_names = {call.call.name for call in played.calls}
    return {} if played.is_refused or not called_names <= set(NAMES.values()) else dict.fromkeys(NAMES, "taken")


def _try_name(subject: Subject, request: HttpRequest, kind: str, name: str) -> Generator[Ask, Exchange, str]:
    renamed_request = _replace_string(request, str(ECHO.name), name)
    box = Toolbox(subject.nonce)
    played = yield from drive(subject, renamed_request, f"the name of a tool: {kind}", box.run, limits=Limits(1))
    if played.is_refused:
        return "refused"
    called_names = {call.call.name for call in played.calls}
    return "unseen" if not called_names else "taken" if called_names == {name} else "changed"


def _ids(first: PlayedConversation, box: Toolbox) -> Generator[Ask, Exchange, dict[str, str]]:
    """The results of the first call, with other ids; {} if calls have none."""
    old = [call.call.id for call in first.calls if call.call.id]
    if not old or first.answers[0].request is None or first.calls[0].call.format == first.loop.parser:
        return {}
    fates: dict[str, str] = {}
    for kind, new in {"": "", **IDS}.items():

        def change(_: int, request: HttpRequest, new: str = new) -> HttpRequest:
            for number, one in enumerate(old):
                request = _replace_string(request, one, f"{new}{number or ''}") if new else request
            return request

        title = f"the id of a call: {kind or 'as received'}"
        played = yield from follow(first.before_results(), title, box.run, change=change)
        if not kind and played.is_refused:
            return {}
        if kind:
            fates[kind] = "refused" if played.is_refused else "taken"
    return fates


def _replace_string(request: HttpRequest, old: str, new: str) -> HttpRequest:
    """The request with one string value replaced wherever it occurs."""
    return HttpRequest(
        request.method, request.url, request.headers, Body(request.body.raw.replace(dumps(old), dumps(new)))
    )


def evaluate(names: Mapping[str, str], ids: Mapping[str, str]) -> Sample:
    """Verdict from the fates of names and ids."""
    facts: dict[str, JsonValue] = {"tool_names": dict(names), "call_ids": dict(ids)}
    bad = [f"{kind} {fate}" for kind, fate in names.items() if fate in ("refused", "changed")]
    bad_ids = [kind for kind, fate in ids.items() if fate == "refused"]
    problems = [f"names: {', '.join(bad)}"] if bad else []
    problems += [f"ids refused: {', '.join(bad_ids)}"] if bad_ids else []
    if any(names[kind] in ("refused", "changed") for kind in USUAL):
        return failed("; ".join(problems), **facts)
    return partly("; ".join(problems), **facts) if problems else passed("all names and ids are accepted", **facts)


probe = Probe("names", "which tool names and tool call ids are accepted?", 12 + len(IDS), script, tokens=6000)
