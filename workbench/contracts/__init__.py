"""Contracts: what providers accept, enforce and ignore, as data with source and date.

In: the files in ``profiles`` and the pages of the rules. Out: contracts by name or by clues of an exchange, finding
types, verdicts, and the rule and place behind an error text. It knows a rule only by its page.
It may import the core and the rooms up to ``protocols``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.contracts.choosing import SIMULATED, Choice, Servers, choose, choose_contract, clues_of
from workbench.contracts.common_practice import COMMON_SOURCE, is_most, soften, states
from workbench.contracts.contract import Contract, EnforcedCheck, Fact
from workbench.contracts.facts import Clues
from workbench.contracts.finding import (
    BESIDE,
    Basis,
    Breaks,
    Contradiction,
    Edit,
    FaultId,
    FaultOrigin,
    Finding,
    Repair,
    Severity,
    WireOrder,
    refusal_words,
    split_evidence,
)
from workbench.contracts.loading import (
    GENERIC,
    broken_files,
    demand,
    endpoint,
    endpoints,
    files,
    forget,
    forgotten_with,
    get,
    key_owner,
    key_variable,
    names,
    of_model,
    protocols,
    read,
    resolve,
    variants,
    warnings,
)
from workbench.contracts.verdict import UNREAD, Judgement, Refusal, Verdict, refusal_of
from workbench.fronts import late, lazy

if TYPE_CHECKING:
    from workbench.contracts import error_texts, loading, pages
    from workbench.contracts.answer_forms import (
        FORM_WORDS,
        AnswerForm,
        AnswerPiece,
        ClientEffect,
        FailingClient,
        known_answer_forms,
    )
    from workbench.contracts.coverage import (
        MEANINGS,
        UNKNOWN,
        PlaceFact,
        coverage_counts,
        coverage_lines,
        coverage_markdown,
        place_facts,
        words_known,
    )
    from workbench.contracts.describe import Part, as_json, lines
    from workbench.contracts.error_place import LONGEST, ErrorPlace, NamedIds, find_place, named_ids, names_whole
    from workbench.contracts.error_texts import TELLING, Match, explain, find_matches, match_by_kind
    from workbench.contracts.model_facts import ModelFact, facts_of, is_listed
    from workbench.contracts.noted_contract import NotedContract, Read, reads_same
    from workbench.contracts.pointer_patterns import Place, PlacedValue, index_of, names_of, passes_filter
    from workbench.contracts.reader import Node
    from workbench.contracts.relations import Condition, Consequence, Evidence, Relation, When, rule_of
    from workbench.contracts.scopes import matches, model_family
    from workbench.contracts.template import Template, plain_text
    from workbench.contracts.value_tests import Test
    from workbench.contracts.verdict import dotted_path, fill, judge, known_values
else:
    __getattr__ = lazy(__name__)
    Match, explain, find_matches, match_by_kind = late(
        f"{__name__}.error_texts", "Match", "explain", "find_matches", "match_by_kind"
    )
    ErrorPlace, NamedIds, find_place, named_ids, names_whole = late(
        f"{__name__}.error_place", "ErrorPlace", "NamedIds", "find_place", "named_ids", "names_whole"
    )

__all__ = [
    "BESIDE",
    "COMMON_SOURCE",
    "FORM_WORDS",
    "GENERIC",
    "LONGEST",
    "MEANINGS",
    "SIMULATED",
    "TELLING",
    "UNKNOWN",
    "UNREAD",
    "AnswerForm",
    "AnswerPiece",
    "Basis",
    "Breaks",
    "Choice",
    "ClientEffect",
    "Clues",
    "Condition",
    "Consequence",
    "Contract",
    "Contradiction",
    "Edit",
    "EnforcedCheck",
    "ErrorPlace",
    "Evidence",
    "Fact",
    "FailingClient",
    "FaultId",
    "FaultOrigin",
    "Finding",
    "Judgement",
    "Match",
    "ModelFact",
    "NamedIds",
    "Node",
    "NotedContract",
    "Part",
    "Place",
    "PlaceFact",
    "PlacedValue",
    "Read",
    "Refusal",
    "Relation",
    "Repair",
    "Servers",
    "Severity",
    "Template",
    "Test",
    "Verdict",
    "When",
    "WireOrder",
    "as_json",
    "broken_files",
    "choose",
    "choose_contract",
    "clues_of",
    "coverage_counts",
    "coverage_lines",
    "coverage_markdown",
    "demand",
    "dotted_path",
    "endpoint",
    "endpoints",
    "error_texts",
    "explain",
    "facts_of",
    "files",
    "fill",
    "find_matches",
    "find_place",
    "forget",
    "forgotten_with",
    "get",
    "index_of",
    "is_listed",
    "is_most",
    "judge",
    "key_owner",
    "key_variable",
    "known_answer_forms",
    "known_values",
    "lines",
    "loading",
    "match_by_kind",
    "matches",
    "model_family",
    "named_ids",
    "names",
    "names_of",
    "names_whole",
    "of_model",
    "pages",
    "passes_filter",
    "place_facts",
    "plain_text",
    "protocols",
    "read",
    "reads_same",
    "refusal_of",
    "refusal_words",
    "resolve",
    "rule_of",
    "soften",
    "split_evidence",
    "states",
    "variants",
    "warnings",
    "words_known",
]
