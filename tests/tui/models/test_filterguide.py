from __future__ import annotations

import pytest

from workbench.filters import parse
from workbench.filters.expression import FORMS, KEYS
from workbench.safetext import cells
from workbench.tui.models.glossary import filter_lines
from workbench.views.lines import plain


@pytest.mark.parametrize("width", [60, 76, 150])
def test_every_key_and_form_is_explained_within_the_width(width: int) -> None:
    made = [plain(each) for each in filter_lines(width)]
    text = " ".join(" ".join(made).split())
    for example in (*(key.example for key in KEYS), *(form for form, _ in FORMS)):
        assert example in text
        parse(example)
    assert all(key.says in text for key in KEYS)
    for each in filter_lines(width):
        assert sum(span.width or cells(span.text) for span in each) <= width
        assert all(cells(span.text) < span.width for span in each if span.width)  # none is cut
