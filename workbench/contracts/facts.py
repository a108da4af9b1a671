"""A contract as it is in its file: facts and checks with the protocols, variants and models they hold for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from workbench import regex
from workbench.contracts.contract import Contract, EnforcedCheck, Fact
from workbench.contracts.model_facts import with_model_facts
from workbench.contracts.reader import Node
from workbench.contracts.relations import Consequence, Evidence, Relation, check_of, of_refused_params, read_relation
from workbench.contracts.scopes import Holds, matches, place_relations, read_scope, sample_name, sets
from workbench.contracts.signs import Sign, read_sign
from workbench.errors import ProfileError, UnreadableInput
from workbench.globs import matches_glob
from workbench.ir import NOTHING, JsonValue
from workbench.lazy_dataclass import dataclass, replace
from workbench.terms import ClosureTerms, Placement, ReasoningTerms, Scope

VERSION = 1

_KEY = regex.compile(r"[a-z]+(\.[a-z0-9]+(-[a-z0-9]+)*)+")
_DATE = regex.compile(r"\d{4}-\d\d(-\d\d)?")
_ADDRESS = regex.compile(r"https://\S+\Z")
_HTTPS = regex.compile(r"https://[a-z0-9.-]+(/[A-Za-z0-9._~/-]*)?")
_VARIABLE = regex.compile(r"[A-Z_][A-Z0-9_]*")
_KEY_PREFIX = regex.compile(r"[A-Za-z0-9_-]{4,}")
_LOWER = regex.compile(r"[^A-Z]+")
# One part of a call id differs from call to call, a count or enough letters: else no free id would ever be found.
_CALL_ID = regex.compile(
    r"(?=.*\{(?:n|[89]|[1-5][0-9]|6[0-4])\})(?:[A-Za-z0-9_.:-]|\{(?:n|name|[1-9]|[1-5][0-9]|6[0-4])\})+"
)


@dataclass(frozen=True, slots=True)
class Clues:
    """Clues in an exchange to the provider that responds, and to its mode.

    Attributes:
        url: absolute URL, or a path if the host is unknown.
        model: model name in the request.
        answered_as: model name in the response, which is more reliable.
        params: top-level fields of the request body.
        headers: response headers, by names in lower case.
        fields: top-level fields of the response body that the protocol does not define.
        error: text of the error response; "" if there is none.
    """

    url: str | None = None
    model: str | None = None
    answered_as: str | None = None
    params: Mapping[str, JsonValue] = NOTHING
    headers: Mapping[str, str] = NOTHING
    fields: Mapping[str, JsonValue] = NOTHING
    error: str = ""


@dataclass(frozen=True, slots=True)
class Variant:
    """An era or endpoint of a provider.

    Attributes:
        models: globs of request model names that are this variant.
        answers: globs of the model name in a response that show this variant.
        urls: globs of request URLs that reach it.
        params: fields of the request body, or pointers there, that switch it on: the value, or a list of values.
        why: why it is the default if nothing shows the variant (first variant of a file); empty string if it is not.
    """

    name: str
    title: str
    models: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    why: str = ""
    urls: tuple[str, ...] = ()
    params: Mapping[str, JsonValue] = NOTHING


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Endpoint of a provider.

    Attributes:
        url: the base URL, to which adapters append their paths.
        key: the environment variable that its SDK or documentation reads the key from.
        protocols: protocols that it supports there.
    """

    url: str
    key: str
    protocols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContractFile:
    """One ``profiles/NAME.yaml``, read and checked, not yet resolved.

    Attributes:
        models: globs of the provider's own model names, wherever they are served.
        unlike: globs (on the full name) of model names that look like its own and are not.
        protocols: protocols that it covers, its own first.
        native: protocols that choose this contract if neither host nor model does.
        endpoints: its endpoints, with the variable of the API key; () if it has none that needs only a key.
        signs: headers and fields that only its responses have.
        error_words: words in lower case that name it in an error text; its own name if absent.
        key_prefixes: beginnings that only its API keys have.
        call_ids: shape of its tool call ids (``{n}``: a count, ``{name}``: the function, ``{24}``: that many letters
            and digits); that of the protocol if empty.
        listed_models: model names that a simulator lists.
        includes: names of shared parts, whose facts, checks and relations are added to its own.
    """

    name: str
    title: str
    hosts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    native: tuple[str, ...] = ()
    note: str = ""
    variants: tuple[Variant, ...] = ()
    facts: tuple[tuple[Holds, Mapping[str, Fact]], ...] = ()
    checks: tuple[tuple[Holds, EnforcedCheck], ...] = ()
    relations: tuple[tuple[Holds, Relation], ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    signs: tuple[Sign, ...] = ()
    error_words: tuple[str, ...] = ()
    key_prefixes: tuple[str, ...] = ()
    call_ids: str = ""
    listed_models: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()

    def with_part(self, part: ContractFile) -> ContractFile:
        """The contract with a shared part: its own facts win, and its own checks and relations come first."""
        return replace(
            self,
            facts=(*part.facts, *self.facts),
            checks=(*self.checks, *part.checks),
            relations=(*self.relations, *part.relations),
        )

    def claims_model(self, model: str | None) -> bool:
        """True if the model is one of this provider's."""
        unlike = model is not None and any(matches_glob(model.lower(), glob) for glob in self.unlike)
        return not unlike and matches(model, self.models)

    def sample_models(self, protocol: str | None, variant: str) -> tuple[str, ...]:
        """A name for each pattern of models of which the contract knows a fact of its own."""
        scopes = (holds for holds, _ in self.facts if holds.models and holds.covers_some(protocol, variant))
        return tuple(dict.fromkeys(sample_name(glob) for holds in scopes for glob in holds.models))

    def speaks(self, protocol: str | None) -> bool:
        """True if the contract covers this protocol."""
        return protocol is None or not self.protocols or protocol in self.protocols

    def of_models(self, protocol: str | None, variant: str, model: str | None) -> tuple[Relation, ...]:
        """The refusals that name a model; they apply wherever the model is served."""
        of_models = [(holds, each) for holds, each in self.relations if holds.models]
        facts = [(holds, terms.get("params.refused")) for holds, terms in self.facts if holds.models]
        older = [fact for holds, fact in facts if fact and holds.covers(protocol, variant, model)][-1:]
        found = [each for fact in older for each in of_refused_params(fact.value, fact.source, fact.date)]
        found += place_relations(of_models, protocol, variant, model)
        refused = (each for each in found if each.then == Consequence.REFUSED and not each.when.url)
        return tuple(replace(each, evidence=Evidence.MODEL, has_instead=False) for each in refused)

    def on_tools(self, protocol: str | None, variant: str, model: str | None) -> tuple[Relation, ...]:
        """The relations on tools at named places, for a protocol that is not its own."""
        on_tools = (
            (replace(holds, protocols=()), each) for holds, each in self.relations if "tool." in each.place.name
        )
        return tuple(place_relations(on_tools, protocol, variant, model))

    @property
    def default(self) -> Variant | None:
        """The variant if nothing shows it: the first one, if it states why; None for the contract without a variant."""
        first = self.variants[0] if self.variants else None
        return first if first and first.why else None

    def variant(self, clues: Clues) -> tuple[str, str]:
        """The variant of an exchange, and how it was found, in words; ("", "") if there is none."""
        for variant in self.variants:
            if variant.urls and clues.url and any(matches_glob(clues.url, glob) for glob in variant.urls):
                return variant.name, f"variant {variant.name}, recognised by the URL"
        for variant in self.variants:
            for name, value in variant.params.items():
                if sets(clues.params, name, value):
                    return variant.name, f"variant {variant.name}, because the request sets {name}"
        for variant in self.variants:
            if matches(clues.answered_as, variant.answers + variant.models):
                return variant.name, f"variant {variant.name}, because the response names the model {clues.answered_as}"
        for variant in self.variants:
            if matches(clues.model, variant.models):
                return variant.name, f"variant {variant.name}, recognised by the model name {clues.model}"
        first = self.default
        return (first.name, f"variant {first.name}, {first.why}") if first else ("", "")

    def resolve(self, protocol: str | None, variant: str, model: str | None) -> Contract:
        """The contract for one protocol, variant and model. Facts further down in the file win."""
        own_protocol = protocol or (self.protocols[0] if self.protocols else None)
        terms = {
            k: f for holds, facts in self.facts if holds.covers(own_protocol, variant, model) for k, f in facts.items()
        }
        older = terms.get("params.refused")
        covered = self.speaks(own_protocol)
        notes = [self.note] if self.note else []
        if not covered:
            notes.append(f"the contract of {self.name} does not cover {own_protocol}")
        bare = Contract(
            name=self.name,
            title=self.title,
            protocol=own_protocol,
            variant=variant,
            enforces=tuple(check for holds, check in self.checks if holds.covers(own_protocol, variant, model)),
            relations=(
                *(of_refused_params(older.value, older.source, older.date) if older else ()),
                *with_model_facts(
                    self.name, own_protocol, model, place_relations(self.relations, own_protocol, variant, model)
                ),
            ),
            note="; ".join(notes),
            covers=covered,
            call_ids=self.call_ids,
            listed_models=self.listed_models,
        )
        return with_terms(bare, terms)


def with_terms(contract: Contract, terms: Mapping[str, Fact]) -> Contract:
    """The contract with these terms, and with the terms that the chain applies, as its fields."""
    closure, reasoning = _fields(terms, "closure."), _fields(terms, "reasoning.")
    return replace(contract, terms=terms, closure=ClosureTerms(**closure), reasoning=ReasoningTerms(**reasoning))


def load(text: bytes | str, name: str, vet: Callable[[Node], None] | None = None) -> ContractFile:
    """Read a contract.

    Args:
        text: the YAML text.
        name: its name in errors.
        vet: checks the whole once its form is correct; raises ProfileError.

    Raises:
        ProfileError: not YAML, or not a contract; with file and pointer.
    """
    from workbench.config import safeyaml  # with its parser: most contracts are in the cache

    try:
        root = Node(safeyaml.load(text, name=name), name)
    except UnreadableInput as error:
        raise ProfileError(error.what, where=error.where) from error
    if not isinstance(root.value, dict) or root.get("version").value != VERSION:
        raise root.fail(f"not a contract: it does not begin with version: {VERSION}")
    root.only(*_ROOT)
    surveyed = _date(root.get("surveyed"))
    sources = {key: _source(node, surveyed) for key, node in root.get("sources").members()}
    relation_rows = [_relation(node, sources) for node in root.get("relations").items()]
    file = ContractFile(
        name=root.get("name").text(),
        title=root.get("title").text(),
        hosts=root.get("hosts").texts(),
        models=root.get("models").texts(),
        unlike=root.get("unlike").texts(),
        protocols=root.get("protocols").texts(),
        native=root.get("native").texts(),
        note=root.get("note").text(""),
        variants=tuple(_variant(key, node) for key, node in root.get("variants").members()),
        facts=tuple(_block(node, sources) for node in root.get("facts").items()),
        checks=(
            *(_check(node, sources) for node in root.get("enforces").items()),
            *((replace(holds, protocols=check.protocols), check) for holds, _, check in relation_rows if check),
        ),
        relations=tuple((holds, relation) for holds, relation, _ in relation_rows),
        endpoints=tuple(_endpoint(node) for node in root.get("endpoints").items()),
        signs=tuple(read_sign(node) for node in root.get("signs").items()),
        error_words=_fitting(root.get("error-words"), _LOWER, "not in lower case"),
        key_prefixes=_fitting(root.get("key-prefixes"), _KEY_PREFIX, "not a key prefix"),
        call_ids=_call_ids(root.get("call-ids")),
        listed_models=root.get("listed-models").texts(),
        includes=root.get("includes").texts(),
    )
    if vet:
        vet(root)
    return file


_ROOT = (
    *("version", "name", "title", "hosts", "endpoints", "models", "unlike", "protocols", "native", "note", "surveyed"),
    *("variants", "sources", "facts", "enforces", "relations", "signs"),
    *("error-words", "key-prefixes", "call-ids", "listed-models", "includes"),
)


def _source(node: Node, surveyed: str) -> tuple[str, str]:
    node.only("title", "url", "date")
    title, url, date = node.get("title").text(), node.get("url").text(""), node.get("date")
    return (f"{title}, {url}" if url else title), surveyed if date.value is None else _date(date)


def _date(node: Node) -> str:
    date = node.text()
    if not _DATE.fullmatch(date):
        raise node.fail(f"not a day or month (2026-11-20, 2026-11): {date!r}")
    return date


def _variant(name: str, node: Node) -> Variant:
    node.only("title", "models", "answers", "why", "urls", "params")
    return Variant(
        name=name,
        title=node.get("title").text(),
        models=node.get("models").texts(),
        answers=node.get("answers").texts(),
        why=node.get("why").text(""),
        urls=node.get("urls").texts(),
        params={key: value.value for key, value in node.get("params").members()},
    )


def _endpoint(node: Node) -> Endpoint:
    node.only("url", "key", "protocols")
    url, key, protocols = node.get("url"), node.get("key"), node.get("protocols").texts()
    if not _HTTPS.fullmatch(url.text()):
        raise url.fail("not a base URL (https://HOST/PATH): a key is sent with TLS only, and to one host")
    if not _VARIABLE.fullmatch(key.text()):
        raise key.fail("not an environment variable name in capital letters")
    if not protocols:
        raise node.get("protocols").fail("missing")
    return Endpoint(url.text().rstrip("/"), key.text(), protocols)


def _fitting(node: Node, pattern: re.Pattern[str], problem: str) -> tuple[str, ...]:
    """The texts of a list, each of which fits the pattern. Raises ProfileError with the problem."""
    for each in node.items():
        if not pattern.fullmatch(each.text()):
            raise each.fail(f"{problem}: {each.text()!r}")
    return node.texts()


def _call_ids(node: Node) -> str:
    shape = node.text("")
    if shape and not _CALL_ID.fullmatch(shape):
        raise node.fail(
            "not a template of call ids: it must contain {n} (a counter), or {8} to {64} (that many letters and digits)"
        )
    return shape


def _block(node: Node, sources: Mapping[str, tuple[str, str]]) -> tuple[Holds, Mapping[str, Fact]]:
    node.only("for", "terms")
    return read_scope(node.get("for")), {key: _fact(key, fact, sources) for key, fact in node.get("terms").members()}


def _fact(key: str, node: Node, sources: Mapping[str, tuple[str, str]]) -> Fact:
    node.only("value", "source", "date", "note")
    if not _KEY.fullmatch(key):
        raise node.fail(f"not a valid name of a fact, such as closure.placement: {key!r}")
    if "value" not in (node.value or {}):
        raise node.fail("missing: value")
    source, date = _citation(node, sources)
    value = _name_sources(node.get("value"), sources) if key == "errors.other" else node.get("value").value
    fact = Fact(value, source, date, node.get("note").text(""))
    if key.startswith(("closure.", "reasoning.")):
        _convert(key, fact.value, node.get("value"))
    return fact


def _name_sources(node: Node, sources: Mapping[str, tuple[str, str]]) -> JsonValue:
    entries = (each.value for each in node.items())
    return [{**one, **_titles(one.get("source"), sources)} if isinstance(one, dict) else one for one in entries]


def _titles(cited: JsonValue, sources: Mapping[str, tuple[str, str]]) -> dict[str, JsonValue]:
    keys = [str(key) for key in (cited if isinstance(cited, list) else [cited]) if key]
    return {"source": "; ".join(sources.get(key, (key, ""))[0] for key in keys)} if keys else {}


def _check(node: Node, sources: Mapping[str, tuple[str, str]]) -> tuple[Holds, EnforcedCheck]:
    node.only("rule", "when", "for", "status", "message", "type", "param", "code", "body", "source", "date", "note")
    holds = read_scope(node.get("for"))
    source, date = _citation(node, sources)
    return holds, EnforcedCheck(
        rule=node.get("rule").text(),
        status=node.get("status").number(),
        template=node.get("message").text(),
        source=source,
        date=date,
        param=node.get("param").text(""),
        code=node.get("code").text(""),
        models=holds.models,
        protocols=holds.protocols,
        when=node.get("when").text(""),
        note=node.get("note").text(""),
        type=node.get("type").text(""),
        body=node.get("body").value,
    )


def _relation(node: Node, sources: Mapping[str, tuple[str, str]]) -> tuple[Holds, Relation, EnforcedCheck | None]:
    holds, (source, date) = read_scope(node.get("for")), _citation(node, sources)
    relation = read_relation(node, source, date)
    check = check_of(relation, node)
    return holds, relation, check and replace(check, models=holds.models, protocols=relation.seen_on or holds.protocols)


def _citation(node: Node, sources: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Titles of the sources of a fact, joined, and the newest of their dates (or the fact's own ``date``).

    A source is an id of the file's sources, or an address itself.
    """
    cited = node.get("source")
    keys = list(cited.items()) if isinstance(cited.value, list) else [cited]
    for key in keys:
        if key.text() not in sources and not _ADDRESS.match(key.text()):
            raise key.fail(f"no source named {key.value!r}")
    found = [sources.get(key.text(), (key.text(), "")) for key in keys]
    own = node.get("date")
    date = _date(own) if own.value is not None else max((date for _, date in found), default="")
    return "; ".join(title for title, _ in found), date


def _flag(value: JsonValue) -> bool:
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def _word(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise ValueError(value)
    return value


def _length(value: JsonValue) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise ValueError(value)
    return value


def _words(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(value)
    return tuple(_word(v) for v in value)


_TERMS: Mapping[str, Callable[[JsonValue], Any]] = {
    "closure.placement": Placement,
    "closure.results-first": _flag,
    "closure.calls-last": _flag,
    "closure.unique-ids": _word,
    "closure.id-pattern": _word,
    "closure.id-max-length": _length,
    "closure.call-role": _word,
    "closure.result-role": _word,
    "reasoning.carriers": _words,
    "reasoning.scope": Scope,
    "reasoning.thinking-default": _flag,
    "reasoning.exact": _word,
    "reasoning.required-when": _word,
    "reasoning.leading": _flag,
}
"""The terms that the chain applies, and what turns their values into fields of the same name."""


def _convert(key: str, value: JsonValue, node: Node) -> None:
    if key in _TERMS:
        try:
            _TERMS[key](value)
        except ValueError as error:
            raise node.fail(f"not a value of {key}: {value!r}") from error


def _fields(terms: Mapping[str, Fact], prefix: str) -> Mapping[str, Any]:
    """Keyword arguments of the terms class of a prefix."""
    if not terms:
        return NOTHING
    known = [k for k in _TERMS if k.startswith(prefix) and k in terms]
    return {k.removeprefix(prefix).replace("-", "_"): _TERMS[k](terms[k].value) for k in known}
