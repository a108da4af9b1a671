"""Values that whoever made a recording has put in place of the real ones: what is wrong with them says little."""

from __future__ import annotations

import re

from workbench import regex
from workbench.contracts import Finding
from workbench.protocols import REQUEST
from workbench.rules.context import RuleContext

_WORD = regex.compile(
    rb"""["'\s<\[({*_.-]*(?:redacted|scrubbed|masked|sanitized|sanitised|anonymized|filtered|placeholder|removed|hidden"""
    rb"""|x{3,}|\*{3,})(?:[ _-](?:by[ _-])?\w{1,20})?["'\s>\])}*_.-]*""",
    re.IGNORECASE,
)
"""A whole value that says it is none: ``"REDACTED"``, ``<scrubbed>``, ``"***"``."""

LONGEST = 64
"""Bytes of a stand-in."""


def is_on_stand_in(case: RuleContext, finding: Finding) -> bool:
    """The bytes that a finding is on are nothing but a stand-in."""
    if finding.span is None:
        return False
    start, end = finding.span
    text = case.decoded.request_text if finding.side == REQUEST else case.decoded.response_text
    return end - start <= LONGEST and _WORD.fullmatch(text[start:end]) is not None
