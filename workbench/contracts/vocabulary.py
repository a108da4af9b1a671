"""Words of a contract that have to exist: its terms, the rules that it enforces, protocols and variants.

An unknown word would be a fact without effect, so a misspelling is refused with its place; so is a value that the term
cannot have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

from workbench import limits, plugins, regex
from workbench.config import resources
from workbench.contracts.reader import Node
from workbench.errors import did_you_mean
from workbench.lazy_dataclass import replace
from workbench.provenance import escape
from workbench.toolcalls.schemas import SUBTREES
from workbench.wire import loads

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

__all__ = ["FREE", "TERMS", "vet"]

FREE = ("note.", "x.")
"""Beginnings of a user's own terms, for readers and for rules of third parties: Workbench does not read them."""

_NAMES = {
    "answers": "format parsers unknown-tools without-parser",
    "args": "checked-on-replay container",
    "choice": "forced-with-thinking needs-tools parallel-switch values",
    "closure": (
        "call-role calls-last client-ids id-max-length id-pattern id-safe-length id-shapes item-prefixes "
        "open-at-end placement result-role results-alone results-first server-id-pattern unanswered "
        "unique-ids"
    ),
    "content": (
        "block-types dropped empty-message empty-text merges-same-role message-fields null role-order roles "
        "system-position system-role tool-result-types trailing-whitespace user-required"
    ),
    "cost": "cache-minimum",
    "errors": "body codes event frame index other",
    "gateway": "betas max-cache-marks own-betas passes-models refused-betas serves serves-tools turned-into",
    "limits": "body-bytes messages",
    "models": "aliases retired",
    "params": "beta-fields body-version fields ignored ignored-while-thinking refused required unknown-fields",
    "reasoning": (
        "bound-to bypass carriers display-default eras exact formats leading paired placeholders proof "
        "refused-carriers required-when restored-from-ids scope shared-with signature stripped-models switch "
        "thinking-default unbound-dropped without-calls"
    ),
    "record": "how",
    "routing": "hazard",
    "schema": (
        "accepted-keywords all-required all-tools closed-objects description-required dialect enum-strings enum-typed "
        "formats ignored-keywords items-required max-depth max-enum-values max-optional max-properties max-text "
        "max-tools max-unions name-pattern no-booleans no-empty-properties no-tuples no-typed-unions nullable "
        "parameters-required ref-alone ref-conflicts refs refused-keywords root root-object root-refused tool-types "
        "tools-with-history type-lists typed unique-names valid"
    ),
    "shapes": "ignored refused-keys refused-types refused-values required-keys",
    "state": "held",
    "stream": "arguments-unchecked call-shape comments error finish-with-named-tool",
    "usage": "tool-overhead",
}

TERMS = frozenset(f"{family}.{name}" for family, names in _NAMES.items() for name in names.split())
"""Every term that ``profiles/README.md`` documents."""

_MODE = regex.compile(rf"schema\.({'|'.join(SUBTREES)})\.")


def vet(root: Node) -> None:
    """Refuse unknown words of a well-formed contract. Raises ProfileError with file and pointer."""
    variants = tuple(name for name, _ in root.get("variants").members())
    for key in ("protocols", "native"):
        _all_known(root.get(key), "protocol", _protocols)
    for block in root.get("facts").items():
        _holds(block.get("for"), variants)
        for term, fact in block.get("terms").members():
            if not term.startswith(FREE):
                plain = _MODE.sub("schema.", term)
                _require_known(fact, plain, "term", lambda: TERMS, label=term)
                _fits(plain, fact.get("value"))
    for relation in root.get("relations").items():
        _holds(relation.get("for"), variants)
        _all_known(relation.get("seen-on"), "protocol", _protocols)
        _named_places(relation)
        if relation.get("rule").value is not None:
            _require_known(relation.get("rule"), relation.get("rule").text(), "rule", _rules)
    for check in root.get("enforces").items():
        _holds(check.get("for"), variants)
        _require_known(check.get("rule"), check.get("rule").text(), "rule", _rules)


def _holds(node: Node, variants: tuple[str, ...]) -> None:
    _all_known(node.get("protocols"), "protocol", _protocols)
    _all_known(node.get("variants"), "variant", lambda: variants)
    for glob in node.get("models").items():
        if glob.text().rpartition("/")[2] == "*":
            raise glob.fail('this pattern matches every model (the vendor before "/" is ignored): leave models out')


def _named_places(relation: Node) -> None:
    """Refuse a name of a place that no protocol has, in the place of a relation and in its conditions."""
    for node, place in ((relation.get("at"), relation.get("at").text()), *_conditions(relation.get("when"))):
        name = place.partition("/")[0]
        if name and name != "..":
            _require_known(node, name, "place", _places)


def _conditions(when: Node) -> Iterable[tuple[Node, str]]:
    return ((node, key) for key, node in when.members() if "." in key or "/" in key)


def _all_known(names: Node, kind: str, known: Callable[[], Iterable[str]]) -> None:
    for name in names.items():
        _require_known(name, name.text(), kind, known)


def _require_known(node: Node, name: str, kind: str, known: Callable[[], Iterable[str]], *, label: str = "") -> None:
    if name in known() or (kind == "rule" and name in _third_party_rules()):
        return
    near = did_you_mean(name, known())
    raise node.fail(f"no {kind} named {label or name!r}" + (f"; {near}" if near else ""))


def _fits(term: str, node: Node) -> None:
    """Refuse a value that is none of this term by the schema of contracts; patterns have to be regular expressions."""
    from jsonschema.exceptions import best_match

    if error := best_match(_values(term).iter_errors(node.value)):
        place = "".join(f"/{escape(str(step))}" for step in error.absolute_path)
        raise replace(node, pointer=node.pointer + place).fail(
            f"not a value of {term}: {error.message[: limits.SNIPPET]}"
        )
    if term.endswith("-pattern"):
        try:
            re.compile(str(node.value))
        except re.error as error:
            raise node.fail(f"not a regular expression: {error}") from error


@cache
def _values(term: str) -> Draft202012Validator:
    """Validator for the value of a term, from the schema of contracts."""
    from jsonschema import Draft202012Validator

    schema = loads(resources.contract_schema())
    declared = schema["$defs"]["terms"]["properties"].get(term, {})
    referred = schema["$defs"].get(declared.get("$ref", "").rpartition("/")[2], {})
    value = {"allOf": [part.get("properties", {}).get("value", True) for part in (declared, referred)]}
    return Draft202012Validator({"$defs": schema["$defs"], **value})


@cache
def _protocols() -> tuple[str, ...]:
    from workbench import protocols

    return (*protocols.protocols(), *protocols.elsewhere())


@cache
def _places() -> frozenset[str]:
    from workbench import protocols

    return frozenset(name for adapter in protocols.every() for name in adapter.traits.places)


@cache
def _rules() -> tuple[str, ...]:
    """The rules that ship: each has a page, and no family is imported to list them."""
    return resources.pages()


@cache
def _third_party_rules() -> frozenset[str]:
    """Slugs of the rules of plug-ins, asked for only where a rule does not ship."""
    return frozenset(rule.slug for module in plugins.third_party("workbench.rules").values() for rule in module.RULES)
