"""Dialog that chooses a target: a simulator, a target of the user, a provider, a URL, or a local server."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from os.path import commonprefix

from textual.widgets import Input

from workbench.errors import WorkbenchError
from workbench.send import Target, is_set, providers, resolve
from workbench.tui.bars import Ways
from workbench.tui.models.send import key_words, where
from workbench.tui.screens.form import Field, FormOffer, FormScreen, FormSuggestion, ways
from workbench.views import count

URLS = ("http://", "https://")

SIMULATORS = "sim:"
"""Input that lists all simulators."""

LOCAL = "local:"
"""Input that searches for servers on this machine."""

KEYLESS = "$"
"""Input that lists all providers whose API key is not set."""

LISTS = (SIMULATORS, LOCAL, KEYLESS)
"""Inputs that are no target, but list some."""


class TargetScreen(FormScreen[Target]):
    """Answers with a target; escape answers None.

    Args:
        title: purpose of the target, in a few words that end before it.
        own: contract of the request; its simulator is the first choice.
        protocol: protocol of the request, and of a URL unless another one is typed.
        basis: why the simulator of this contract is the first choice.
        use: what a simulator does when it is chosen.
    """

    def __init__(
        self,
        title: str,
        own: str,
        protocol: str,
        *,
        basis: str = "this exchange's contract",
        use: str = "checks the request and responds",
    ) -> None:
        super().__init__()
        self.basis, self.use = basis, use
        self.own, self.spoken = own, protocol
        self._here: dict[str, Target] = {}
        self.fields = [
            Field("target", title, "", example="a name from the list below, or https://…"),
            Field("protocol", "Protocol of this URL", "", protocol),
        ]

    def on_mount(self) -> None:
        self._show_protocol()

    def on_input_changed(self, message: Input.Changed) -> None:
        super().on_input_changed(message)
        self._show_protocol()

    def _show_protocol(self) -> None:
        """Ask for the protocol of a URL only: every other target knows its own."""
        is_shown = self.value("target").strip().startswith(URLS)
        self.parts.put_away("protocol", is_shown=is_shown)
        self.query_one(Ways).name_ways(*ways(is_shown))

    def offer(self, field: str, text: str) -> FormOffer:
        if field == "protocol":
            return offer_protocols(text)
        return self._offer_local() if text.strip() == LOCAL else self._offer_targets(text)

    def explain(self, field: str, text: str) -> str:
        name = self.value("target").strip() or f"sim:{self.own}"
        try:
            target = self._here.get(name) or resolve(name, self.value("protocol").strip())
        except (WorkbenchError, OSError):
            return ""
        if target.is_simulator:
            return f"enter: {target.name} {self.use}, offline"
        state = is_set(target.key_variable, os.environ) if target.key_variable else True
        return f"enter: a preview for {where(target)} · {key_words(target, is_set=state)}; nothing is sent yet"

    def _offer_targets(self, text: str) -> FormOffer:
        return offer_targets(text, self.own, self.spoken, self.basis)

    def _offer_local(self) -> FormOffer:
        """Model servers that respond on this machine."""
        import asyncio

        from workbench.send import local

        found = [each.target for each in asyncio.run(local.find_servers())]
        self._here |= {each.url: each for each in found}
        why = "" if found else "no model server found on the usual ports of this machine; type the URL of a server"
        return FormOffer([_suggestion(each, each.url) for each in found], why_not=why)

    def submit(self, field: str, text: str) -> None:
        target = self.value("target").strip() or f"sim:{self.own}"
        if target in self._here:
            self.dismiss(self._here[target])
        elif target in LISTS:
            self.say("choose one below with ↓, or type a name or a URL")
        elif field == "target" and target.startswith(URLS):
            self.go("protocol")
        else:
            self._try(field, target)

    def _try(self, field: str, target: str) -> None:
        protocol = self.value("protocol").strip() if target.startswith(URLS) else ""
        try:
            self.dismiss(resolve(target, protocol))
        except (WorkbenchError, OSError) as error:
            self.say(str(error))


def offer_targets(text: str, own: str, protocol: str = "", basis: str = "") -> FormOffer:
    """Targets with a text in their name: the simulator of the own contract, then what works now, then the rest.

    A simulator is named with the protocol of the request, ``spoken``, or with the one it is converted to. An endpoint
    works now if its API key is set, or if it needs none. Of the rest, targets of the user and of the provider of the
    own contract come first; without a text, one suggestion stands for the other simulators, and one for the other
    providers whose key is not set.

    Args:
        basis: why the own contract comes first.
    """
    from workbench.send import is_set, matrix, own_targets

    typed = text.strip()
    if typed.startswith(URLS):
        return FormOffer((), why_not="a URL · enter: choose the protocol of the URL")
    labels = dict.fromkeys([own, *matrix.labels()])
    first, *others = [_simulator(label, protocol, basis if label == own else "") for label in labels]
    kin = [each for each in others if _provider(each.text) == _provider(first.text)]
    strangers = [each for each in others if each not in kin]
    if not typed and strangers:
        facts = f"{len(strangers):,} simulators of other contracts"
        strangers = [FormSuggestion(SIMULATORS, SIMULATORS, is_final=False, facts=facts)]
    try:
        mine = tuple(own_targets.configured_targets().values())
        trouble = []
    except (WorkbenchError, OSError) as error:
        mine, trouble = (), [FormSuggestion(f"targets.yaml: {error}", typed, is_final=False)]
    usable: list[FormSuggestion] = []
    near: list[FormSuggestion] = []
    unusable: list[FormSuggestion] = []
    for each in (*mine, *providers().values()):
        works = not each.key_variable or is_set(each.key_variable, os.environ)
        is_own = each in mine or each.name == _provider(first.text)
        (usable if works else near if is_own else unusable).append(_suggestion(each, each.name))
    if not typed and unusable:
        facts = f"{count(len(unusable), 'provider')}: API key not set"
        unusable = [FormSuggestion(KEYLESS, KEYLESS, is_final=False, facts=facts)]
    here = FormSuggestion(LOCAL, LOCAL, is_final=False, facts="look for model servers on this machine")
    return _matching([first, *usable, here, *kin, *strangers, *near, *unusable], typed, trouble)._replace(
        default="" if typed else first.text
    )


def offer_protocols(text: str) -> FormOffer:
    """Protocols that contain a text; all of them if the text is the name of one."""
    from workbench import protocols

    typed = text.strip()
    names = protocols.protocols()
    return _matching([FormSuggestion(name, name) for name in names], "" if typed in names else typed)


def _suggestion(target: Target, text: str) -> FormSuggestion:
    """Suggestion of an endpoint: name; state of its API key, URL, model, protocols."""
    from workbench.send import is_set

    state = "set" if is_set(target.key_variable, os.environ) else "not set"
    key = f"${target.key_variable} {state}" if target.key_variable else "no key"
    facts = " · ".join(f for f in (key, target.url, target.model, ", ".join(target.protocols)) if f)
    return FormSuggestion(target.name, text, facts=facts)


def _matching(suggestions: Iterable[FormSuggestion], typed: str, more: Iterable[FormSuggestion] = ()) -> FormOffer:
    """Suggestions with a text in what they insert; with the name of a variable (``$…``) in their facts."""
    is_variable, wanted = typed.startswith(KEYLESS), typed.casefold()
    found = [each for each in suggestions if wanted in (each.facts if is_variable else each.text).casefold()]
    completions = [each.text for each in found if each.text.startswith(typed)] or [each.text for each in found]
    why = "" if found else "unknown target; use sim:CONTRACT, a URL or a name from targets.yaml"
    shared = commonprefix(completions).rstrip(":")  # noqa: RUF071 (of names, letter by letter)
    return FormOffer([*more, *found], shared, why)


def _provider(name: str) -> str:
    """Provider of a simulator, without the variant."""
    return name.removeprefix("sim:").partition(":")[0]


def _simulator(label: str, protocol: str, basis: str) -> FormSuggestion:
    accepted = _protocols(label)
    is_converted = protocol and accepted and protocol not in accepted
    spoken_there = f"converted to {accepted[0]}" if is_converted else protocol or next(iter(accepted), "any protocol")
    facts = f"{spoken_there} · {basis}" if basis else spoken_there
    return FormSuggestion(f"sim:{label}", f"sim:{label}", facts=facts)


@cache
def _protocols(label: str) -> tuple[str, ...]:
    """Protocols that a simulator accepts; kept, as the list of targets is made again after every key."""
    return resolve(f"sim:{label}").protocols
