"""Checks that do not run again where nothing changed that they read: requests repeat their tools and parameters too.

A check that reads no messages, no sizes and no answer declares that with ``reads_fields``. Where it finds nothing,
it is not run again for the requests that continue this one with the same fields.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import wraps
from typing import TypeAlias, TypeVar

from workbench.contracts import Finding
from workbench.protocols import DecodedExchange
from workbench.rules.context import RuleContext

T = TypeVar("T")
Check: TypeAlias = Callable[[RuleContext], Iterable[Finding]]


def reads_fields(check: Check) -> Check:
    """Declare that a check reads these of a case and nothing else.

    The contract; the URL, the announced betas and the origin of the request; its fields beside the messages.
    """

    @wraps(check)
    def run_if_changed(case: RuleContext) -> Iterable[Finding]:
        silent = case.silent_checks
        if silent is None:
            return check(case)
        return () if check in silent else _listen(check, case, silent)

    return run_if_changed


def _listen(check: Check, case: RuleContext, silent: set[object]) -> Iterator[Finding]:
    """The findings of a check, which is noted if it has none."""
    is_silent = True
    for finding in check(case):
        is_silent = False
        yield finding
    if is_silent:
        silent.add(check)


def fact_of_fields(decoded: DecodedExchange, find: Callable[..., T], *terms: Hashable) -> T:
    """``find(decoded, *terms)``, computed once for requests that differ in their messages alone.

    Args:
        find: a function of a module, which reads no more of the request than its fields beside the messages.
    """
    if decoded.request_reading is None:
        return find(decoded, *terms)
    known, key = decoded.request_reading.found_of_fields, (find, terms)
    if key not in known:
        known[key] = find(decoded, *terms)
    return known[key]  # type: ignore[no-any-return]
