"""Edits of requests: pure functions; only the edited bytes change.

In: a request and a change. Out: the edited request and the change that undoes it. ``elements`` lists what can be
edited, ``operations`` and ``additions`` edit it, ``request`` applies changes to bytes and undoes them; ``assessment``
judges an edit and finds the signatures that it invalidates.
It may import the core and the rooms up to ``rules``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.edits.request import (
    HEADERS,
    Change,
    SetHeader,
    Splice,
    apply_changes,
    apply_splices,
    diff_splices,
    inverse,
    json_problem,
    text_of,
    with_body,
)
from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.edits import additions, assessment, operations, repairs
    from workbench.edits.additions import insert_message
    from workbench.edits.assessment import EditAssessment, assess
    from workbench.edits.completion import PlaceOffer, PlaceOffers, complete, complete_text, say_place
    from workbench.edits.elements import Element, ElementAction, ElementKind, elements_of, parent_pointer
    from workbench.edits.message_parts import element_pointer, list_position, remove_parts
    from workbench.edits.notes import MAX_NOTE, Notebook, NotePlace, UserNote, open_notebook
    from workbench.edits.operations import Splices
    from workbench.edits.proposal import changes_between, repair_edits
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "HEADERS",
    "MAX_NOTE",
    "Change",
    "EditAssessment",
    "Element",
    "ElementAction",
    "ElementKind",
    "NotePlace",
    "Notebook",
    "PlaceOffer",
    "PlaceOffers",
    "SetHeader",
    "Splice",
    "Splices",
    "UserNote",
    "additions",
    "apply_changes",
    "apply_splices",
    "assess",
    "assessment",
    "changes_between",
    "complete",
    "complete_text",
    "diff_splices",
    "element_pointer",
    "elements_of",
    "insert_message",
    "inverse",
    "json_problem",
    "list_position",
    "open_notebook",
    "operations",
    "parent_pointer",
    "remove_parts",
    "repair_edits",
    "repairs",
    "say_place",
    "text_of",
    "with_body",
]
