"""Views: texts that the command line and the app share, as lines of styled text, independent of a screen.

In: findings, verdicts, losses, damage, outcomes and other values of the rooms above. Out: lines for people
(``views.lines``), which the app paints and the command line prints as text. It may import the core and the rooms up to
``rules``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.views import chain, words
    from workbench.views.chain import (
        call_body,
        call_line,
        closure_summary,
        entry_body,
        entry_line,
        reasoning_summary,
        received_words,
    )
    from workbench.views.lines import (
        ADDRESS,
        BLANK,
        JSON_GAPS,
        LINK,
        STYLES,
        Line,
        Span,
        behind,
        column_text,
        hang,
        id_line,
        is_longer,
        join_lines,
        line,
        line_columns,
        link_addresses,
        loss_line,
        loss_words,
        mark_matches,
        plain,
        strip_ends,
        whole_facts,
        whole_tail,
        wrap,
    )
    from workbench.views.parts import part_text, preview
    from workbench.views.progress import progress_bar, progress_line
    from workbench.views.story import StoryBuilder
    from workbench.views.story_items import Story, StoryItem
    from workbench.views.story_lines import story_body, story_digits, story_line
    from workbench.views.tool_passages import (
        ToolPassage,
        json_layout_lines,
        links_of,
        passage_facts,
        passage_line,
        passage_of,
        passage_words,
    )
    from workbench.views.words import (
        PROBE_SIGNS,
        RATES,
        REQUEST,
        REQUEST_SIGNS,
        RESPONSE,
        SCHEMA_SIGNS,
        SEVERITY_GLYPH,
        Rate,
        byte_range,
        count,
        duration,
        event_range,
        fact_words,
        money,
        origin_words,
        saving_words,
        share_of,
        size,
    )
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ADDRESS",
    "BLANK",
    "JSON_GAPS",
    "LINK",
    "PROBE_SIGNS",
    "RATES",
    "REQUEST",
    "REQUEST_SIGNS",
    "RESPONSE",
    "SCHEMA_SIGNS",
    "SEVERITY_GLYPH",
    "STYLES",
    "Line",
    "Rate",
    "Span",
    "Story",
    "StoryBuilder",
    "StoryItem",
    "ToolPassage",
    "behind",
    "byte_range",
    "call_body",
    "call_line",
    "chain",
    "closure_summary",
    "column_text",
    "count",
    "duration",
    "entry_body",
    "entry_line",
    "event_range",
    "fact_words",
    "hang",
    "id_line",
    "is_longer",
    "join_lines",
    "json_layout_lines",
    "line",
    "line_columns",
    "link_addresses",
    "links_of",
    "loss_line",
    "loss_words",
    "mark_matches",
    "money",
    "origin_words",
    "part_text",
    "passage_facts",
    "passage_line",
    "passage_of",
    "passage_words",
    "plain",
    "preview",
    "progress_bar",
    "progress_line",
    "reasoning_summary",
    "received_words",
    "saving_words",
    "share_of",
    "size",
    "story_body",
    "story_digits",
    "story_line",
    "strip_ends",
    "whole_facts",
    "whole_tail",
    "words",
    "wrap",
]
