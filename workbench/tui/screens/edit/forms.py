"""Dialogs of the edit screen: add an element, choose a contract."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os.path import commonprefix

from workbench.tui.models.additions import Addition, AdditionChoice
from workbench.tui.screens.form import Field, FormOffer, FormScreen, FormSuggestion


class AddScreen(FormScreen[Addition]):
    """Answers with an element to add.

    Args:
        choices: kinds of elements, the likeliest first.
    """

    CSS_PATH = "../form.tcss"

    def __init__(self, choices: Sequence[AdditionChoice]) -> None:
        super().__init__()
        self.choices = choices
        self.fields = [
            Field("what", "Add", f"enter: {choices[0].name}"),
            Field("text", "Text", "tool: name of the tool · parameter: name = JSON"),
        ]

    def offer(self, field: str, text: str) -> FormOffer:
        if field == "text":
            return FormOffer((), why_not=f"{self._choice()}: {self._asks()}")
        return offer_names([FormSuggestion(c.name, c.name) for c in self.choices], text, "no such element can be added")

    def submit(self, field: str, text: str) -> None:
        choice = self._choice()
        if field == "what":
            self.put("what", choice)
            self.go("text")
        else:
            self.dismiss(Addition(choice, text))

    def _choice(self) -> str:
        """Name of the first choice that contains the typed text."""
        typed = self.value("what").strip().casefold()
        return next((c.name for c in self.choices if typed in c.name.casefold()), self.choices[0].name)

    def _asks(self) -> str:
        return next(c.asks for c in self.choices if c.name == self._choice())


class ContractChoiceScreen(FormScreen[str]):
    """Answers with the label of a contract.

    Args:
        own: contract of the exchange, the answer to an empty line.
        title: purpose of the contract.
    """

    CSS_PATH = "../form.tcss"

    def __init__(self, own: str, title: str = "Check with the contract") -> None:
        super().__init__()
        self.own = own
        self.fields = [Field("contract", title, f"enter: {own}")]

    def offer(self, field: str, text: str) -> FormOffer:
        from workbench.send import matrix

        labels = dict.fromkeys([self.own, *matrix.labels()])
        return offer_names([FormSuggestion(label, label) for label in labels], text, "no such contract")

    def submit(self, field: str, text: str) -> None:
        from workbench.send import matrix

        wanted = text.strip() or self.own
        if wanted in {self.own, *matrix.labels()}:
            self.dismiss(wanted)
        else:
            self.say(f"no contract '{wanted}'")


def offer_names(names: Iterable[FormSuggestion], typed: str, why_not: str) -> FormOffer:
    """Names that contain the typed text."""
    found = [each for each in names if typed.strip().casefold() in each.text.casefold()]
    completions = [each.text for each in found if each.text.startswith(typed.strip())] or [each.text for each in found]
    return FormOffer(found, commonprefix(completions), "" if found else why_not)  # noqa: RUF071 (letter by letter)
