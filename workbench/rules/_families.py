"""Families of rules, the rules that they state, and what an exchange must have for a family to find anything."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType

from workbench import plugins
from workbench.ir import Message, ToolCallIR, ToolResultIR
from workbench.protocols import REQUEST
from workbench.rules._context import Rule, RuleContext

_PACKAGE = "workbench.rules"


def _is_answered(case: RuleContext) -> bool:
    return case.response is not None


def _has_status(case: RuleContext) -> bool:
    return case.decoded.exchange.response is not None


def _has_earlier(case: RuleContext) -> bool:
    """Exchanges came before it in the session."""
    return case.decoded.index > 0


def _uses_tools(case: RuleContext) -> bool:
    answered = case.response.messages if case.response else ()
    return any(map(_is_of_tools, (*case.decoded.messages(REQUEST), *answered)))


def _is_of_tools(message: Message) -> bool:
    return any(isinstance(part, ToolCallIR | ToolResultIR) for part in message.parts)


def _is_itemized(case: RuleContext) -> bool:
    return case.request is not None and case.request.itemized


def _continues_by_id(case: RuleContext) -> bool:
    return case.request is not None and bool(case.request.previous_id)


_Trait = Callable[[RuleContext], bool]

_NEEDS: Mapping[str, Sequence[_Trait]] = {
    "answers": (_has_status, _is_answered),
    "arguments": (_uses_tools,),
    "calls": (_is_answered,),
    "clients": (_is_answered,),
    "closure_alone": (_has_earlier, _uses_tools),
    "closure_ids": (_uses_tools,),
    "closure_items": (_is_itemized, _uses_tools),
    "gateway_stream": (_is_answered,),
    "made_up": (_is_answered, _has_earlier),
    "reasoning_items": (_is_itemized,),
    "recording": (_has_status,),
    "retry": (_has_earlier, _uses_tools),
    "retry_requests": (_has_earlier,),
    "sockets": (),
    "state": (_continues_by_id,),
    "streaming": (_is_answered,),
    "suspects": (_is_answered,),
    "text": (_is_answered,),
    "token_counts": (_is_answered,),
}
"""Built-in family → traits of which an exchange must have one: without, the family finds nothing, and is not imported.

A family without an entry is always asked. That no family finds anything where it is not asked is tested.
"""
_REVIEWS = frozenset(("clients", "common_defaults", "grammar", "recorded_answers", "suspects", "unread"))
_NO_CHECKS = _REVIEWS - {"unread"} | {"mcp"}
"""Built-in families with ``review``, and those without ``check``; tested, too."""


@cache
def families() -> Mapping[str, ModuleType]:
    """Name → module of every family, built-in and third-party."""
    return {name: family(name) for name in plugins.names(_PACKAGE)}


def family(name: str) -> ModuleType:
    """The module of a family."""
    return plugins.load(_PACKAGE, name)


def families_for(case: RuleContext, function: str) -> Iterator[str]:
    """Names of the families with a function ("check", "review") that may find something in an exchange."""
    known: dict[_Trait, bool] = {}
    for name in families_with(function):
        if case.asked is not None and function == "check" and not _is_of(name, case.asked):
            continue
        needs = _needs_of(name)
        if needs is None:
            yield name
            continue
        for trait in needs:
            if trait not in known:
                known[trait] = trait(case)
            if known[trait]:
                yield name
                break


@cache
def _is_of(name: str, asked: frozenset[str]) -> bool:
    """Rules that begin with one of these words may be of a family; of third parties' any may."""
    return name.partition("_")[0] in asked or name in plugins.third_party(_PACKAGE)


@cache
def _needs_of(name: str) -> Sequence[_Trait] | None:
    return None if name in plugins.third_party(_PACKAGE) else _NEEDS.get(name)


@cache
def families_with(function: str) -> tuple[str, ...]:
    """Names of the families that have a function."""
    return tuple(name for name in plugins.names(_PACKAGE) if _has(name, function))


def _has(name: str, function: str) -> bool:
    if name in plugins.third_party(_PACKAGE):
        return hasattr(family(name), function)
    return name in _REVIEWS if function == "review" else name not in _NO_CHECKS


@cache
def every_rule() -> Mapping[str, Rule]:
    """Slug → rule, sorted by slug."""
    rules = {rule.slug: rule for module in families().values() for rule in module.RULES}
    return dict(sorted(rules.items()))


@cache
def family_of(slug: str) -> ModuleType | None:
    """The family that states a rule; None if no family does.

    Imported families are asked first. They include the one that found something, so that its rule costs no import.
    """
    names = sorted(plugins.names(_PACKAGE), key=lambda name: f"{_PACKAGE}.{name}" not in sys.modules)
    return next((found for found in map(family, names) if any(rule.slug == slug for rule in found.RULES)), None)


def find_rule(slug: str) -> Rule | None:
    """The rule of a slug; None if there is none."""
    found = family_of(slug)
    return next(rule for rule in found.RULES if rule.slug == slug) if found else None


def get_rule(slug: str) -> Rule:
    """The rule of a slug. Raises KeyError."""
    found = find_rule(slug)
    if found is None:
        raise KeyError(slug)
    return found
