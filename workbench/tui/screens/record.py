"""Dialog that starts a recording.

Dialog of a running recording: how to point clients at it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import ModalScreen
from textual.worker import get_current_worker

from workbench import regex
from workbench.config import resources
from workbench.errors import UsageError, WorkbenchError
from workbench.library import paths
from workbench.recorder import client_settings
from workbench.tui.bars import Ways
from workbench.tui.host import host_of
from workbench.tui.models.recording import keys_used, recording_lines, settings
from workbench.tui.running import SIMULATED, Plan, RecorderTrouble, is_simulated
from workbench.tui.screens.choose import offer_new
from workbench.tui.screens.form import Field, FormOffer, FormScreen, FormSuggestion
from workbench.tui.screens.target_choice import offer_protocols
from workbench.tui.widgets.text import TextPane

if TYPE_CHECKING:
    from workbench.protocols.clients import Client
    from workbench.tui.running import StartedRecording


_NAMED = regex.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)", re.DOTALL)


UPSTREAMS = "names from the list below, https://… or name=URL"
"""What can be typed as upstreams."""


class RecorderStart(Message):
    """Start of a recorder: it listens, or an error."""

    def __init__(self, running: StartedRecording | None, error: Exception | None = None) -> None:
        super().__init__()
        self.running = running
        self.error = error


class RecordScreen(FormScreen["StartedRecording"]):
    """Asks for upstreams and a file, and starts a recorder. Answers with the recorder once it listens."""

    BINDINGS: ClassVar = []

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        name = time.strftime("%Y%m%d-%H%M%S", time.localtime(clock()))
        out = resources.state_folder("recordings") / f"{name}.wb"
        self.fields = [
            Field("upstreams", "What do you want to record?", "a client, or requests to providers", example=UPSTREAMS),
            Field("spoken", "Protocol", "empty or a protocol name", "", is_folded=True),
            Field("hop", "Hop name", "empty or a name", "", is_folded=True),
            Field("breaks", "Breakpoints", "empty, or closure, reasoning, filter:tool:bash", "", is_folded=True),
            Field("out", "Session file", "secrets are replaced before they are written", str(out), is_folded=True),
        ]
        self._is_starting = False
        self._appended: Path | None = None

    def offer(self, field: str, text: str) -> FormOffer:
        match field:
            case "out":
                return offer_new(text)
            case "spoken":
                return offer_protocols(text)._replace(why_not="no such protocol")
            case "hop":
                return FormOffer(())
            case "breaks":
                return _offer_breaks(text)
        return _offer_upstreams(text)

    def explain(self, field: str, text: str) -> str:
        match field:
            case "upstreams":
                return _start_words(text, self.value("spoken"))
            case "spoken":
                translated = f"requests are translated to {text.strip()}, and responses back to the client's protocol"
                return translated if text.strip() else "everything is forwarded in the client's own protocol, unchanged"
            case "hop":
                return "names this hop, to compare it with a recording at another hop, such as behind a gateway"
            case "breaks":
                return _break_words(text)
        return "appended to this file" if paths.expand(text).exists() else "a new file; enter on Home opens it"

    def submit(self, field: str, text: str) -> None:
        if self._is_starting:
            return
        faulty = "spoken"
        try:
            protocol = _protocol(self.value("spoken"))
            faulty = "upstreams"
            found = _upstreams_in(self.value("upstreams"), protocol)
            faulty = "breaks"
            breaks = kinds(self.value("breaks"))
        except WorkbenchError as error:
            self.go(faulty)
            self.say(str(error), field=faulty)
            return
        out = paths.expand(self.value("out"))
        if not self.value("out").strip():
            self.go("out")
            self.say("type the name of a session file", field="out")
        elif out.exists() and self._appended != out:
            self._appended = out
            self.go("out")
            self.say(f"{self.value('out').strip()} exists · enter again: append to it", "warning", "out")
        else:
            self._is_starting = True
            self.say("starting the recorder …", "")
            clients = client_settings.clients_in(self.value("upstreams"))
            self._start(Plan(found, out, self.value("hop").strip(), protocol, breaks, clients))

    @work(thread=True, group="record", exit_on_error=False)
    def _start(self, plan: Plan) -> None:
        app = self.app

        def trouble(text: str) -> None:
            app.post_message(RecorderTrouble(text))

        try:
            running = host_of(app).recordings.start(plan, trouble)
        except (WorkbenchError, OSError) as error:
            self.post_message(RecorderStart(None, error))
            return
        if get_current_worker().is_cancelled or not self.is_attached:
            running.recording.stop()  # the dialog was closed meanwhile
        else:
            self.post_message(RecorderStart(running))

    def on_recorder_start(self, message: RecorderStart) -> None:
        self._is_starting = False
        if message.running:
            self.dismiss(message.running)
        else:
            self.say(f"the recorder did not start: {message.error}")


def _protocol(text: str) -> str:
    """Protocol of the upstreams; empty for that of the clients. Raises UsageError for an unknown one."""
    from workbench import protocols

    name = text.strip()
    if name:
        protocols.get(name)
    return name


def _upstreams_in(text: str, protocol: str) -> dict[str, str]:
    """Upstreams by name: any target if a protocol is given; else simulators, providers and URLs."""
    if protocol:
        return targets(text, protocol)
    words = text.split()
    simulated = [word for word in words if is_simulated(word.rpartition("=")[2])]
    others = [word for word in words if word not in simulated]
    found = targets(" ".join(simulated), "") if simulated else {}
    more = client_settings.parse(" ".join(others)) if others or not simulated else {}
    if found.keys() & more.keys():
        raise _twice()
    return found | more


def _offer_upstreams(text: str) -> FormOffer:
    """Providers by name; simulators once the typed word starts with ``sim:``."""
    from workbench.send import matrix

    before, space, word = text.rpartition(" ")
    clients = client_settings.installed_clients()
    name, sign, target = word.rpartition("=")
    if "://" in target:
        return FormOffer(())
    if target.startswith(SIMULATED):
        known = {
            f"{name}{sign}{SIMULATED}{label}": "simulated, nothing leaves this machine" for label in matrix.labels()
        }
    else:
        known = {command: _client_words(client) for command, client in clients.items()}
        known |= {each: url for each, url in client_settings.known_upstreams().items() if each not in known}
    fitting = [each for each in known if each.startswith(word)]
    suggestions = [FormSuggestion(each, before + space + each, is_final=False, facts=known[each]) for each in fitting]
    why = "" if suggestions else f"no such provider; type a URL or {SIMULATED}CONTRACT"
    return FormOffer(suggestions, suggestions[0].text if len(suggestions) == 1 else "", why)


def _client_words(client: Client) -> str:
    """What is set to record an installed client."""
    return f"{client.name}, found on this machine: {client_settings.setting_words(client)}"


def _start_words(text: str, protocol: str) -> str:
    """What a recording of the typed upstreams will do; empty if they are not known yet."""
    if not text.strip():
        return "enter starts a proxy on this machine; your client must send its requests to this proxy"
    try:
        found = _upstreams_in(text, protocol.strip())
    except WorkbenchError:
        return ""
    return f"enter: listen on this machine, record, and forward to {', '.join(found.values())}"


def _break_words(text: str) -> str:
    try:
        armed = kinds(text)
    except WorkbenchError:
        return ""
    return f"pauses exchanges that break {', '.join(armed)} until you decide" if armed else "nothing is paused"


def targets(text: str, protocol: str) -> dict[str, str]:
    """Upstreams that speak a protocol, as name → target, from the words ``TARGET`` or ``NAME=TARGET``.

    Raises:
        UsageError: for an unknown target, or two upstreams of the same name.
    """
    from workbench.recorder import UNNAMED_UPSTREAM
    from workbench.send import resolve

    found = dict[str, str]()
    for word in text.split():
        named = _NAMED.fullmatch(word)
        name, target = (named[1], named[2]) if named else (UNNAMED_UPSTREAM, word)
        if name in found:
            raise _twice()
        resolve(target, protocol)
        found[name] = target
    if not found:
        raise UsageError("no upstream", hint="type a provider's name, a URL, or sim:CONTRACT")
    return found


def _twice() -> UsageError:
    return UsageError("two upstreams have the same name", hint="give each upstream a unique name: NAME=TARGET")


def kinds(text: str) -> tuple[str, ...]:
    """Breakpoints from names separated by commas. Raises UsageError for an unknown one."""
    from workbench.recorder.breakpoints import parse

    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        parse(name)
    return names


def _offer_breaks(text: str) -> FormOffer:
    from workbench.recorder.breakpoints import ALL, KINDS

    before, comma, word = text.rpartition(",")
    says = {**{name: kind.description for name, kind in KINDS.items()}, ALL: "all of these"}
    fitting = [name for name in says if name.startswith(word.strip())]
    suggestions = [
        FormSuggestion(n, f"{before}{comma}{' ' if comma else ''}{n}", is_final=False, facts=says[n]) for n in fitting
    ]
    return FormOffer(suggestions, suggestions[0].text if len(suggestions) == 1 and word.strip() else "")


class RecordingScreen(ModalScreen[Path]):
    """Answers with the session file to open, or None."""

    CSS_PATH = "text.tcss"
    BINDINGS: ClassVar = [
        ("enter", "open", "open"),
        ("y", "copy", "copy the variables"),
        ("escape,q", "dismiss(None)", "close"),
    ]

    def __init__(self, running: StartedRecording) -> None:
        super().__init__()
        self.running = running

    def compose(self) -> ComposeResult:
        yield TextPane(" recording · enter open · y copy the variables · esc back ")
        yield Ways(("enter", "open"), ("y", "copy the variables"), ("esc", "back"))

    def on_mount(self) -> None:
        self.query_one(TextPane).show(
            recording_lines(self.running.plan, self.running.recording.urls, keys_used(self.running.plan, os.environ))
        )

    def on_line_view_activation(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        self.dismiss(self.running.recording.out)

    def action_copy(self) -> None:
        self.app.copy_to_clipboard("\n".join(settings(self.running.plan.bases, self.running.recording.urls)))
        self.notify("variables copied, if the terminal allows it", markup=False)
