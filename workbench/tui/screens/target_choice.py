"""Chooses where requests are sent: an embedded simulator, a target of ``targets.yaml``, a URL."""

from __future__ import annotations

from collections.abc import Iterable
from os.path import commonprefix

from workbench.errors import WorkbenchError
from workbench.targets.target import Target, resolve
from workbench.tui.screens.form import Field, Form, Offer, Suggestion

URLS = ("http://", "https://")


class TargetScreen(Form[Target]):
    """Answers with a target; escape with None.

    Args:
        title: what is to be done with it, in a word or two.
        own: label of the contract that the request is read under: its simulator is the first choice.
        protocol: what the request is written in: a URL is taken to speak it unless another one is named.
    """

    def __init__(self, title: str, own: str, protocol: str) -> None:
        super().__init__()
        self.own, self.protocol = own, protocol
        hint = "tab completes · ↓ chooses · enter · esc"
        self.fields = [
            Field("target", title, hint),
            Field("protocol", "in the protocol", "asked of a URL only · enter", protocol),
        ]

    def offer(self, field: str, text: str) -> Offer:
        return offer_protocols(text) if field == "protocol" else offer_targets(text, self.own)

    def submit(self, field: str, text: str) -> None:
        target = self.value("target").strip() or f"sim:{self.own}"
        if field == "target" and target.startswith(URLS):
            self.go("protocol")
            return
        try:
            self.dismiss(resolve(target, self.value("protocol").strip()))
        except (WorkbenchError, OSError) as error:
            self.say(str(error))
            self.go("target" if field == "target" else field)


def offer_targets(text: str, own: str) -> Offer:
    """The targets whose name holds a text: the simulator of the own contract first, then those of the others."""
    from workbench import matrix

    typed = text.strip()
    if typed.startswith(URLS):
        return Offer((), why_not="a URL: enter goes on to the protocol it speaks")
    labels = dict.fromkeys([own, *matrix.labels()])
    made = [Suggestion(_simulator(label, is_own=label == own), f"sim:{label}") for label in labels]
    return _held(made, typed)


def offer_protocols(text: str) -> Offer:
    """The protocols whose name begins with a text; all of them where it is one already."""
    from workbench import adapters

    typed = text.strip()
    names = adapters.protocols()
    return _held([Suggestion(name, name) for name in names], "" if typed in names else typed)


def _held(made: Iterable[Suggestion], typed: str) -> Offer:
    found = [each for each in made if typed.casefold() in each.text.casefold()]
    begun = [each.text for each in found if each.text.startswith(typed)] or [each.text for each in found]
    why = "" if found else "nothing is called that: sim:CONTRACT, a URL, or a name of targets.yaml"
    return Offer(found, commonprefix(begun).rstrip(":"), why)  # noqa: RUF071 (of names, letter by letter)


def _simulator(label: str, *, is_own: bool) -> str:
    own = "the contract of this exchange · " if is_own else ""
    return f"{f'sim:{label}':<24} {own}simulated, nothing leaves this program"
