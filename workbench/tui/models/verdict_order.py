"""Order of the contracts on the matrix screen: what refuses comes first, what accepts is one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.views import Line, Span, line

ORDER = ("refuses", "suspicious", "unknown", "accepts")
"""Verdicts in the order of the list."""
FEW = 3
"""Contracts that accept the request and are listed without being asked for."""


def fold_line(sign: Span, words: str, names: Iterable[str]) -> Line:
    """Row that stands for others: how many they are, the key that lists them, and names, if given: in a tall window."""
    facts = "  ".join(filter(None, ("  enter: list them", ", ".join(names))))
    return line(sign, Span(words, "strong"), Span(facts, "muted"))


class VerdictOrder:
    """Rows of the list: numbers of contracts, and None for the row that stands for those that accept.

    Attributes:
        rows: numbers in the order of the list; those without a verdict yet come last, as given.
        accepting: numbers of the contracts behind the row of those that accept.
    """

    def __init__(self) -> None:
        self.rows: Sequence[int | None] = ()
        self.accepting: Sequence[int] = ()
        self._is_open = False

    def arrange(self, contracts: int, verdicts: Mapping[int, str], causes: Mapping[int, str] | None = None) -> None:
        """Order the rows again. The first contract, that of the exchange, stays first.

        Args:
            verdicts: verdicts by number of the contract, as far as they are known.
            causes: what each verdict is due to; contracts of one verdict and one cause come one after the other.
        """
        found = causes or {}
        ordered = sorted(
            (number for number in range(1, contracts) if number in verdicts),
            key=lambda number: (ORDER.index(verdicts[number]), found.get(number, "")),
        )
        accepting = [number for number in ordered if verdicts[number] == "accepts"]
        refusing = [number for number in ordered if verdicts[number] != "accepts"]
        rest = [number for number in range(1, contracts) if number not in verdicts]
        is_listed = self._is_open or (not rest and len(accepting) <= FEW)
        self.accepting = () if is_listed else accepting
        folded = accepting if is_listed else [None][: len(accepting)]
        self.rows = [*range(min(1, contracts)), *refusing, *folded, *rest]

    def open(self) -> None:
        """List the contracts that accept, too, from the next arrangement on."""
        self._is_open = True

    def contract_at(self, row: int) -> int:
        """Number of the contract of a row; the first that accepts for the row that stands for all of them."""
        number = self.rows[row] if row < len(self.rows) else 0
        return self.accepting[0] if number is None else number

    def is_folded_at(self, row: int) -> bool:
        """The row stands for those that accept."""
        return row < len(self.rows) and self.rows[row] is None

    def row_of(self, contract: int) -> int:
        """Row that shows a contract."""
        return self.rows.index(None if contract in self.accepting else contract)
