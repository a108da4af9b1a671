"""Chooses where requests are sent: a simulator, a target of the user's own, a provider, a URL, this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from os.path import commonprefix

from workbench.errors import WorkbenchError
from workbench.send import Target, providers, resolve
from workbench.tui.screens.form import Field, FormOffer, FormScreen, FormSuggestion

URLS = ("http://", "https://")

LOCAL = "local:"
"""What is typed to have servers on this machine looked for."""

NAME = 24
"""Columns of a target's name."""


class TargetScreen(FormScreen[Target]):
    """Answers with a target; escape with None.

    Args:
        title: what is to be done with it, in a word or two.
        own: label of the contract that the request is read under: its simulator is the first choice.
        protocol: what the request is written in: a URL is taken to speak it unless another one is named.
    """

    def __init__(self, title: str, own: str, protocol: str) -> None:
        super().__init__()
        self.own = own
        self._here: dict[str, Target] = {}
        hint = "tab completes · ↓ chooses · enter · esc"
        self.fields = [
            Field("target", title, hint),
            Field("protocol", "in the protocol", "asked of a URL only · enter", protocol),
        ]

    def offer(self, field: str, text: str) -> FormOffer:
        if field == "protocol":
            return offer_protocols(text)
        return self._offer_local() if text.strip() == LOCAL else offer_targets(text, self.own)

    def _offer_local(self) -> FormOffer:
        """The servers that answer on this machine."""
        import asyncio

        from workbench.send import local

        found = [each.target for each in asyncio.run(local.find_servers())]
        self._here |= {each.url: each for each in found}
        why = "" if found else "no server answers on its usual port of this machine: type its URL"
        return FormOffer([FormSuggestion(line_of(each), each.url) for each in found], why_not=why)

    def submit(self, field: str, text: str) -> None:
        target = self.value("target").strip() or f"sim:{self.own}"
        if target in self._here:
            self.dismiss(self._here[target])
        elif target == LOCAL:
            self.say("choose one of the servers below with ↓, or type a URL")
        elif field == "target" and target.startswith(URLS):
            self.go("protocol")
        else:
            self._try(field, target)

    def _try(self, field: str, target: str) -> None:
        spoken = self.value("protocol").strip() if target.startswith(URLS) else ""
        try:
            self.dismiss(resolve(target, spoken))
        except (WorkbenchError, OSError) as error:
            self.say(str(error))


def offer_targets(text: str, own: str) -> FormOffer:
    """The targets whose name holds a text: the own contract's simulator, endpoints, the other simulators."""
    from workbench.send import configured, matrix

    typed = text.strip()
    if typed.startswith(URLS):
        return FormOffer((), why_not="a URL: enter continues to its protocol")
    labels = dict.fromkeys([own, *matrix.labels()])
    first, *others = [FormSuggestion(_simulator(label, is_own=label == own), f"sim:{label}") for label in labels]
    try:
        mine = tuple(configured.configured_targets().values())
        trouble = []
    except (WorkbenchError, OSError) as error:
        mine, trouble = (), [FormSuggestion(f"targets.yaml: {error}", typed, is_final=False)]
    known = [FormSuggestion(line_of(each), each.name) for each in (*mine, *providers().values())]
    here = FormSuggestion(f"{LOCAL:<{NAME}} look for model servers on this machine", LOCAL, is_final=False)
    return _matching([first, *known, here, *others], typed, trouble)._replace(default="" if typed else first.text)


def offer_protocols(text: str) -> FormOffer:
    """The protocols whose name begins with a text; all of them where it is one already."""
    from workbench import protocols

    typed = text.strip()
    names = protocols.protocols()
    return _matching([FormSuggestion(name, name) for name in names], "" if typed in names else typed)


def line_of(target: Target) -> str:
    """An endpoint in one line: its name, whether its key is set, where it is, what it speaks."""
    from workbench.send import is_set

    state = "set" if is_set(target.key_variable, os.environ) else "not set"
    key = f"${target.key_variable} {state}" if target.key_variable else "no key"
    told = " · ".join(f for f in (key, target.url, target.model, ", ".join(target.protocols)) if f)
    return f"{target.name:<{NAME}} {told}"


def _matching(made: Iterable[FormSuggestion], typed: str, more: Iterable[FormSuggestion] = ()) -> FormOffer:
    found = [each for each in made if typed.casefold() in each.text.casefold()]
    begun = [each.text for each in found if each.text.startswith(typed)] or [each.text for each in found]
    why = "" if found else "nothing is called that: sim:CONTRACT, a URL, or a name of targets.yaml"
    shared = commonprefix(begun).rstrip(":")  # noqa: RUF071 (of names, letter by letter)
    return FormOffer([*more, *found], shared, why)


def _simulator(label: str, *, is_own: bool) -> str:
    own = "the contract of this exchange · " if is_own else ""
    return f"{f'sim:{label}':<{NAME}} {own}simulated, nothing leaves this program"
