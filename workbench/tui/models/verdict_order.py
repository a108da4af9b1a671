"""Order of the contracts on the matrix screen: what refuses comes first, what accepts is one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ORDER = ("refuses", "suspicious", "unknown", "accepts")
"""Verdicts in the order of the list."""
FEW = 3
"""Contracts that accept the request and are listed without being asked for."""


class VerdictOrder:
    """Rows of the list: numbers of contracts, and None for the row that stands for those that accept.

    Attributes:
        rows: numbers in the order of the list; as given until every contract has its verdict.
        accepting: numbers of the contracts behind the row of those that accept.
    """

    def __init__(self) -> None:
        self.rows: Sequence[int | None] = ()
        self.accepting: Sequence[int] = ()
        self._is_open = False

    def arrange(self, contracts: int, verdicts: Mapping[int, str]) -> None:
        """Order the rows again. The first contract, that of the exchange, stays first.

        Args:
            verdicts: verdicts by number of the contract, as far as they are known.
        """
        if len(verdicts) < contracts:
            self.rows = range(contracts)
            return
        ordered = sorted(range(1, contracts), key=lambda number: ORDER.index(verdicts[number]))
        accepting = [number for number in ordered if verdicts[number] == "accepts"]
        if self._is_open or len(accepting) <= FEW:
            self.rows, self.accepting = [*range(min(1, contracts)), *ordered], ()
        else:
            self.rows = [0, *(number for number in ordered if number not in accepting), None]
            self.accepting = accepting

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
