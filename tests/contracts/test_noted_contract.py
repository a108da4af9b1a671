"""What was read of a contract, and the contracts that agree on it."""

from __future__ import annotations

from dataclasses import replace

from workbench.contracts import Contract, EnforcedCheck, Fact, NotedContract, reads_same
from workbench.protocols import fact
from workbench.terms import ClosureTerms

ENFORCED = EnforcedCheck("closure.orphan-result", 400, "no call {id}", "docs", "2026-01")
MOST = Fact(4, "docs", "2026-01")
CONTRACT = Contract(
    "x",
    "X",
    closure=ClosureTerms(result_role="tool"),
    enforces=(ENFORCED,),
    terms={"limits.most": MOST, "other": Fact([], "docs", "2026-01")},
)


def agrees(contract: Contract, noted: NotedContract) -> bool:
    return all(reads_same(contract, CONTRACT, read) for read in noted.reads)


def test_what_is_read_is_what_the_contract_says() -> None:
    noted = NotedContract(CONTRACT)
    assert (noted.label, noted.title, noted.closure.result_role) == ("x", "X", "tool")
    assert (noted.term("limits.most"), noted.term("missing", 3)) == (4, 3)
    assert (noted.terms["limits.most"], noted.terms.get("missing"), "other" in noted.terms) == (MOST, None, True)
    assert dict(noted.terms) == CONTRACT.terms
    assert noted.check_for("closure.orphan-result") is ENFORCED


def test_contracts_agree_that_differ_in_nothing_that_was_read() -> None:
    noted = NotedContract(CONTRACT)
    assert noted.term("limits.most") == 4
    assert noted.closure.result_role == "tool"
    assert noted.check_for("closure.missing-result") is None
    same = replace(CONTRACT, name="y", enforces=(), closure=ClosureTerms(id_pattern="a+", result_role="tool"))
    assert agrees(same, noted)
    for other in (
        replace(CONTRACT, terms={}),
        replace(CONTRACT, terms={"limits.most": Fact(4.0, "docs", "2026-01")}),
        replace(CONTRACT, closure=ClosureTerms()),
        replace(CONTRACT, enforces=(replace(ENFORCED, rule="closure.missing-result"),)),
    ):
        assert not agrees(other, noted)


def test_a_term_that_is_missing_was_read_too() -> None:
    noted = NotedContract(CONTRACT)
    assert "missing" not in noted.terms
    assert not agrees(replace(CONTRACT, terms={"missing": MOST}), noted)


def test_a_group_of_terms_is_one_reading() -> None:
    noted = NotedContract(CONTRACT)
    assert dict(noted.terms_of("limits")) == {"limits.most": MOST}
    assert agrees(replace(CONTRACT, terms={"limits.most": MOST, "others": MOST}), noted)
    assert not agrees(replace(CONTRACT, terms={"limits.most": MOST, "limits.least": MOST}), noted)


def most(contract: Contract) -> object:
    return contract.term("limits.most")


def test_a_derived_fact_was_read_as_what_it_is_derived_from() -> None:
    fact(CONTRACT, most)  # known before anybody notes it
    for _ in range(2):
        noted = NotedContract(CONTRACT)
        assert fact(noted, most) == 4
        assert agrees(replace(CONTRACT, title="Y"), noted)
        assert not agrees(replace(CONTRACT, terms={}), noted)
