"""What if: one request sent again with one thing different, to several targets at once.

In: an inspected request. Out: ``Variant`` values, and the outcome of each at a target. A variant that cannot be tried
says why. One file per family; a family module has ``VARIANTS``: functions from a ``Subject`` to ``Variant`` values.
It may import what ``trials`` may.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from workbench import plugins
from workbench.errors import UsageError
from workbench.rules.inspection import Inspector
from workbench.trials.whatif._outcome import Outcome, run
from workbench.trials.whatif._subject import Subject, Variant
from workbench.wire.exchange import HttpRequest

__all__ = ["UNCHANGED", "Outcome", "Subject", "Variant", "chosen", "run", "variants"]

UNCHANGED = "unchanged"
"""The name of the variant that is the request as it stands."""

Family = Callable[[Subject], Iterable[Variant]]

ORDER = ("repair", "reasoning", "results", "tools", "protocols")
"""The families that come first, in this order."""


def variants(inspector: Inspector, index: int, request: HttpRequest | None = None) -> tuple[Variant, ...]:
    """Every variant of a request, the request as it stands first.

    Args:
        inspector: of the session; exchanges up to ``index`` are inspected first.
        request: in the place of the one that was sent; None for that one.

    Raises:
        IndexError: the session has no such exchange.
        SessionFormatError: it cannot be read.
        LocalProtocolError: there is no request of a model.
    """
    subject = Subject.of(inspector, index, request)
    unchanged = Variant(UNCHANGED, "the request as it stands", subject.http)
    return (unchanged, *(variant for make in _families() for variant in make(subject)))


def chosen(made: Iterable[Variant], names: Iterable[str], spoken: Collection[str] = ()) -> tuple[Variant, ...]:
    """The variants of these names, or of a family ("reasoning"), or all ("all").

    Args:
        spoken: protocols that a target speaks: adapters of others are left out unless they are named; () for any.

    Raises:
        UsageError: there is no such variant.
    """
    every, asked = tuple(made), tuple(names)
    for name in asked:
        if not any(_is_named(variant, name) for variant in every):
            known = ", ".join(variant.name for variant in every)
            raise UsageError(f"no variant named {name!r}", hint=f"known: {known}")
    return tuple(
        variant
        for variant in every
        if variant.name in asked or (any(_is_named(variant, name) for name in asked) and _may_be_tried(variant, spoken))
    )


def _may_be_tried(variant: Variant, spoken: Collection[str]) -> bool:
    return not spoken or not variant.protocol or variant.protocol in spoken


def _is_named(variant: Variant, name: str) -> bool:
    return name == "all" or variant.name == name or variant.name.partition("=")[0] == name


def _families() -> Iterator[Family]:
    names = plugins.names(__name__)
    for name in sorted(names, key=lambda n: (ORDER.index(n) if n in ORDER else len(ORDER), n)):
        yield from getattr(plugins.load(__name__, name), "VARIANTS", ())
