"""Surveys: the same rules over a folder or a bucket of sessions, on this machine or a cluster, as tables.

In: a place with objects, and an engine. Out: a folder with tables (Parquet) of exchanges, findings, sessions, facts and
metrics, which hold places, counts and keyed hashes, and no text of the traffic.
It may import the core and the rooms up to ``send``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.survey import child
    from workbench.survey.catalog import Catalog, Commit
    from workbench.survey.checking import SurveyReport, check_survey
    from workbench.survey.committing import Examples
    from workbench.survey.failure_groups import (
        FILTERS,
        GROUPS,
        FailureGroup,
        FailurePlace,
        Overview,
        overview,
        places_of,
        status_words,
    )
    from workbench.survey.gate import Budget, RuleChange, budget_of, compare_runs, find_exceeded
    from workbench.survey.html import html_report
    from workbench.survey.judging import JudgeOptions, object_key
    from workbench.survey.keys import known_surveys
    from workbench.survey.object_listing import ObjectChanged, StoredObject, on_disk, time_of
    from workbench.survey.planning import ObjectSelection
    from workbench.survey.run import Progress, RunResult, SurveyOptions, commit_survey, run_survey
    from workbench.survey.schema import STATUSES, TABLES, VERSION
    from workbench.survey.tables import QUESTIONS, Answer, RulesVersion, ask, rules_of
    from workbench.survey.worker import WorkerLimits
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "FILTERS",
    "GROUPS",
    "QUESTIONS",
    "STATUSES",
    "TABLES",
    "VERSION",
    "Answer",
    "Budget",
    "Catalog",
    "Commit",
    "Examples",
    "FailureGroup",
    "FailurePlace",
    "JudgeOptions",
    "ObjectChanged",
    "ObjectSelection",
    "Overview",
    "Progress",
    "RuleChange",
    "RulesVersion",
    "RunResult",
    "StoredObject",
    "SurveyOptions",
    "SurveyReport",
    "WorkerLimits",
    "ask",
    "budget_of",
    "check_survey",
    "child",
    "commit_survey",
    "compare_runs",
    "find_exceeded",
    "html_report",
    "known_surveys",
    "object_key",
    "on_disk",
    "overview",
    "places_of",
    "rules_of",
    "run_survey",
    "status_words",
    "time_of",
]
